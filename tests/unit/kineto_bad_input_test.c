/* kineto_bad_input_test.c: what is wrong with a trace is told with its place, and the rest is read.
 *
 * A line of blanks and one caret stands under the byte, in the line above, where the reader must
 * stumble; it is no part of the input. Each input is read as it stands and, where its meaning does
 * not hang on its newlines, with CRLF, on one line, and behind so much good text that the window
 * has slid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "import/kineto_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL                                                                                     \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":10.5,\"dur\":5,"   \
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}"
/* An event with one odd part: the name, or the times, or the arguments. */
#define NAMED(name)                                                                                \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":20,"        \
    "\"dur\":5,\"args\":{\"device\":0,\"stream\":7}}"
#define TIMED(times)                                                                               \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"odd\",\"pid\":0,\"tid\":7," times                 \
    "\"args\":{\"device\":0,\"stream\":7}}"
#define ARGUED(arguments)                                                                          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"odd\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":5,"   \
    "\"args\":{\"device\":0," arguments "}}"
#define OPEN  "{\"traceEvents\": [\n"
#define CLOSE "]}\n"

enum { LINES_MATTER = 1, CUT = 2, HAS_BASE = 4 };

typedef struct {
    const char *what;
    const char *kind; /* of the diagnostic */
    bool loss;
    uint32_t survivors;
    unsigned flags;
    const char *text;
} bad_input;

static const bad_input INPUTS[] = {
    {"an unescaped quote in a name", "repaired-event", false, 3, 0,
     OPEN KERNEL ",\n"
                 "  " NAMED("{\"device\": \"cpu\"}(12): run") ",\n"
                                                              "  ^\n"
                                                              "  " KERNEL "\n" CLOSE},
    {"a quote and a newline in a name", "repaired-event", false, 2, LINES_MATTER,
     OPEN NAMED("m.impl(\"x\", \"IMPL\")\n(1): <module>") ",\n" KERNEL "\n" CLOSE},
    {"no comma between two events", "missing-comma", false, 2, 0,
     OPEN KERNEL "\n"
                 "    " KERNEL "\n"
                 "    ^\n" CLOSE},
    {"words between two events", "text-between-events", true, 2, 0,
     OPEN KERNEL ",\n"
                 " oops ,\n"
                 " ^\n" KERNEL "\n" CLOSE},
    {"an event that another one interrupts", "malformed-event", true, 2, LINES_MATTER,
     OPEN KERNEL ",\n"
                 "  {\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"half\",\"pid\n"
                 "  ^\n"
                 "  " KERNEL "\n" CLOSE},
    {"an event without its braces' content", "malformed-event", true, 2, 0,
     OPEN KERNEL ",\n"
                 "  {\"ph\":\"X\",\"ts\"},\n"
                 "  ^\n"
                 "  " KERNEL "\n" CLOSE},
    {"nesting deeper than the limit", "malformed-event", true, 2, 0, NULL},
    {"a file that ends inside an event", "cut-event", true, 1, CUT,
     OPEN KERNEL ",\n"
                 "\t{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ha\n"
                 "\t^\n"},
    {"a number written as a string", "number-as-string", false, 2, 0,
     OPEN TIMED("\"ts\":\"20.5\",\"dur\":5,") ",\n"
                                              "^\n" KERNEL "\n" CLOSE},
    {"NaN for a number", "impossible-number", false, 2, 0,
     OPEN ARGUED("\"stream\":NaN") ",\n"
                                   "^\n" KERNEL "\n" CLOSE},
    {"a number beyond int64", "impossible-number", false, 2, 0,
     OPEN ARGUED("\"stream\":10159970886766084423") ",\n"
                                                    "^\n" KERNEL "\n" CLOSE},
    {"a negative duration", "negative-duration", false, 2, 0,
     OPEN TIMED("\"ts\":20,\"dur\":-3,") ",\n"
                                         "^\n" KERNEL "\n" CLOSE},
    {"no time stamps from the driver", "zero-timestamp", true, 1, 0,
     OPEN TIMED("\"ts\":0,\"dur\":0,") ",\n"
                                       "^\n" KERNEL "\n" CLOSE},
    {"a duration of years", "impossible-duration", true, 1, 0,
     OPEN TIMED("\"ts\":20,\"dur\":1000000000000,") ",\n"
                                                    "^\n" KERNEL "\n" CLOSE},
    {"a moment in the year 2255", "impossible-timestamp", true, 1, 0,
     OPEN TIMED("\"ts\":9000000000000000,\"dur\":5,") ",\n"
                                                      "^\n" KERNEL "\n" CLOSE},
    {"a moment that no int64 holds", "missing-timestamp", true, 1, 0,
     OPEN TIMED("\"ts\":99999999999999999999,\"dur\":5,") ",\n"
                                                          "^\n" KERNEL "\n" CLOSE},
    {"no start", "missing-timestamp", true, 1, 0,
     OPEN TIMED("\"dur\":5,") ",\n"
                              "^\n" KERNEL "\n" CLOSE},
    {"no duration", "missing-duration", false, 2, 0,
     OPEN TIMED("\"ts\":20,") ",\n"
                              "^\n" KERNEL "\n" CLOSE},
    {"a control byte in a name", "control-byte", false, 2, 0,
     OPEN NAMED("a\x1b[31mb") ",\n"
                              "^\n" KERNEL "\n" CLOSE},
    {"a byte that is no UTF-8", "invalid-utf8", false, 2, 0,
     OPEN NAMED("config.py(0): \xff") ",\n"
                                      "^\n" KERNEL "\n" CLOSE},
    {"an escape that JSON does not know", "bad-escape", false, 2, 0,
     OPEN NAMED("torch\\cuda\\_init") ",\n"
                                      "^\n" KERNEL "\n" CLOSE},
    {"a comma before a closing brace", "trailing-comma", false, 2, 0,
     OPEN ARGUED("\"stream\":7,") ",\n"
                                  "^\n" KERNEL "\n" CLOSE},
    {"a category that nobody has seen", "unknown-category", false, 1, 0,
     OPEN "{\"ph\":\"X\",\"cat\":\"quantum\",\"name\":\"q\",\"pid\":0,\"ts\":1,\"dur\":1},\n"
          "^\n" KERNEL "\n" CLOSE},
    {"damage before the events", "malformed-metadata", true, 1, 0,
     "{\"distributedInfo\": {\"rank\": ]],\n"
     "                              ^\n"
     "\"traceEvents\": [\n" KERNEL "\n" CLOSE},
    {"damage behind the events", "malformed-metadata", true, 1, CUT,
     OPEN KERNEL "\n"
                 "], \"traceName\" 7 }\n"
                 "               ^\n"},
    {"a second document", "text-after-end", true, 1, 0,
     OPEN KERNEL "\n]}  {\"traceEvents\": [\n"
                 "    ^\n" KERNEL "\n" CLOSE},
    {"words before the end of the array", "text-between-events", true, 1, HAS_BASE,
     OPEN KERNEL ",\n"
                 "  oops\n"
                 "  ^\n"
                 "],\n\"baseTimeNanoseconds\": 1700000000000000000}\n"},
    {"a damaged last event", "malformed-event", true, 1, HAS_BASE,
     OPEN KERNEL ",\n"
                 "  {\"ph\":\"X\",\"cat\":\"kernel\",\"name\"\n"
                 "  ^\n"
                 "],\n\"baseTimeNanoseconds\": 1700000000000000000}\n"},
};

/* What is wrong, and the sentence behind the place. */
static const struct {
    const char *what, *text, *message;
} REFUSED[] = {
    {"prose", "\n\n  dear diary\n  ^\n",
     "found 'dear diary\\x0a', expected a JSON object or array"},
    {"a web page", "<!DOCTYPE html><html>\n^\n", "found '<!DOCTYPE html><h...', expected a JSON"},
    {"a string", "\"traceEvents\"\n^\n", "found '\"traceEvents\"\\x0a', expected a JSON object"},
};

/* --- the variants of an input --- */

typedef struct {
    weir_text text;
    uint64_t line, column; /* where the caret stands; 0 = there is none */
} input;

static bool is_caret_line(const char *line, size_t n)
{
    size_t caret = strspn(line, " \t");
    return caret + 1 == n && line[caret] == '^';
}

/* newline: what ends a line; filler_count: good lines behind the first. */
static input input_make(const char *text, const char *newline, uint32_t filler_count)
{
    static const char filler[] =
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"pid\":1,"
        "\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"Python id\":1}},";
    input in = {0};
    uint64_t line = 0;
    size_t line_at = 0;
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (is_caret_line(text, n)) {
            bool one_line = strcmp(newline, " ") == 0;
            in.line = one_line ? 1 : line;
            in.column = (one_line ? line_at : 0) + n;
        } else {
            line_at = in.text.n;
            weir_text_bytes(&in.text, text, n);
            weir_text_add(&in.text, weir_str_from(newline));
            line++;
            for (uint32_t i = 0; line == 1 && i < filler_count; i++, line++) {
                weir_text_add(&in.text, weir_str_from(filler));
                weir_text_add(&in.text, weir_str_from(newline));
            }
        }
        text += n + (text[n] == '\n');
    }
    assert_false(in.text.failed);
    return in;
}

/* --- reading --- */

typedef struct {
    kineto_shard shard;
    weir_err err;
    weir_code code;
    uint32_t survivors;
} reading;

static reading read_input(const input *in)
{
    static const weir_kineto_options options;
    reading r = {0};
    weir_source *source = NULL;
    assert_int_equal(kineto_shard_init(&r.shard, WEIR_STR("bad.json"), NULL, &r.err), WEIR_OK);
    assert_int_equal(weir_source_memory(in->text.p, in->text.n, "bad.json", &source, &r.err),
                     WEIR_OK);
    r.code = kineto_file_read(&r.shard, source, &options, &r.err);
    weir_source_close(source);
    if (r.code == WEIR_OK) {
        assert_int_equal(weir_timeline_seal(r.shard.shard, &r.err), WEIR_OK);
        r.survivors = weir_timeline_spans(r.shard.shard).count;
    }
    return r;
}

static const weir_diag *diag_find(const weir_diags *diags, const char *kind)
{
    for (uint32_t i = 0; i < diags->count; i++) {
        if (strcmp(diags->items[i].kind, kind) == 0) {
            return &diags->items[i];
        }
    }
    return NULL;
}

static void check(const bad_input *row, const char *variant, input *in)
{
    reading r = read_input(in);
    const weir_diag *diag = diag_find(&r.shard.diags, row->kind);
    char place[80] = "bad.json:";
    if (in->line) {
        snprintf(place, sizeof place, "bad.json:%" PRIu64 ":%" PRIu64 ":", in->line, in->column);
    }
    bool base = r.shard.base_ns == INT64_C(1700000000000000000);
    bool good = r.code == WEIR_OK && diag && diag->count == 1 && diag->loss == row->loss &&
                r.survivors == row->survivors && strstr(diag->places[0].text, place) &&
                r.shard.cut == ((row->flags & CUT) != 0) && base == ((row->flags & HAS_BASE) != 0);
    if (!good) {
        print_error("%s, %s: expected %s at %s, %u events, cut %d, base %d\n", row->what, variant,
                    row->kind, place, row->survivors, (row->flags & CUT) != 0,
                    (row->flags & HAS_BASE) != 0);
        print_error("    found code %d %s, %u events, cut %d, base %d\n", r.code, r.err.text,
                    r.survivors, r.shard.cut, base);
        for (uint32_t i = 0; i < r.shard.diags.count; i++) {
            const weir_diag *d = &r.shard.diags.items[i];
            print_error("    %s x %" PRIu64 " loss %d at %s\n", d->kind, d->count, d->loss,
                        d->place_count ? d->places[0].text : "?");
        }
    }
    assert_true(good);
    kineto_shard_clear(&r.shard);
    weir_text_clear(&in->text);
}

/* 600 braces: too many to be written down. */
static weir_text deep_text(void)
{
    weir_text text = {0};
    weir_text_add(&text, WEIR_STR(OPEN KERNEL ",\n  {\"ph\":\"X\",\"deep\":"));
    for (int i = 0; i < 600; i++) {
        weir_text_add(&text, WEIR_STR("{\"a\":"));
    }
    weir_text_add(&text, WEIR_STR("1"));
    for (int i = 0; i < 601; i++) {
        weir_text_char(&text, '}');
    }
    weir_text_add(&text, WEIR_STR(",\n  ^\n" KERNEL "\n" CLOSE));
    return text;
}

static void in_every_form(const char *newline, uint32_t filler_count, const char *variant)
{
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        const bad_input *row = &INPUTS[i];
        bool as_it_stands = strcmp(newline, "\n") == 0 && filler_count == 0;
        if ((row->flags & LINES_MATTER) && !as_it_stands) {
            continue;
        }
        weir_text deep = {0};
        if (!row->text) {
            deep = deep_text();
        }
        input in = input_make(row->text ? row->text : deep.p, newline, filler_count);
        check(row, variant, &in);
        weir_text_clear(&deep);
    }
}

static void each_kind_of_damage_is_told_with_its_place(void **state)
{
    in_every_form("\n", 0, "as it stands");
}

static void carriage_returns_do_not_shift_places(void **state)
{
    in_every_form("\r\n", 0, "with CRLF");
}

static void on_one_line_the_column_is_the_byte(void **state)
{
    in_every_form(" ", 0, "on one line");
}

/* 24,000 lines of 101 bytes: the window of 1 MiB has slid twice. */
static void places_are_right_after_the_window_slid(void **state)
{
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        if (INPUTS[i].text && strncmp(INPUTS[i].text, OPEN, sizeof OPEN - 1) == 0 &&
            !(INPUTS[i].flags & LINES_MATTER)) {
            input lines = input_make(INPUTS[i].text, "\n", 24000);
            check(&INPUTS[i], "after a slide", &lines);
            input line = input_make(INPUTS[i].text, " ", 24000);
            check(&INPUTS[i], "after a slide on one line", &line);
        }
    }
}

static void what_is_no_trace_is_refused_with_its_place(void **state)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        input in = input_make(REFUSED[i].text, "\n", 0);
        reading r = read_input(&in);
        char start[80];
        snprintf(start, sizeof start, "bad.json:%" PRIu64 ":%" PRIu64 ": ", in.line, in.column);
        assert_int_equal(r.code, WEIR_ERR_INPUT);
        if (strncmp(r.err.text, start, strlen(start)) != 0 ||
            !strstr(r.err.text, REFUSED[i].message)) {
            fail_msg("%s: %s", REFUSED[i].what, r.err.text);
        }
        assert_int_equal(r.err.line, in.line);
        assert_int_equal(r.err.column, in.column);
        kineto_shard_clear(&r.shard);
        weir_text_clear(&in.text);
    }
}

static void an_empty_file_and_other_json_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {{"", "bad.json: is empty, expected a trace"},
                {"{\"ms_per_token\": 3}", "found a JSON object without an array \"traceEvents\""},
                {"{\"traceEvents\": 3}", "found a JSON object without an array \"traceEvents\""},
                {"{\"a\": \"traceEvents", "found a JSON object without an array \"traceEvents\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        input in = {0};
        weir_text_add(&in.text, weir_str_from(rows[i].text));
        reading r = read_input(&in);
        assert_int_equal(r.code, WEIR_ERR_INPUT);
        if (!strstr(r.err.text, rows[i].message)) {
            fail_msg("'%s': %s", rows[i].text, r.err.text);
        }
        kineto_shard_clear(&r.shard);
        weir_text_clear(&in.text);
    }
}

/* Each prefix of a good file is read up to where it ends. */
static void any_prefix_of_a_trace_is_read(void **state)
{
    static const char text[] = OPEN KERNEL ",\n" KERNEL ",\n" KERNEL "\n],\n\"traceName\": \"x\"}";
    for (size_t n = sizeof OPEN; n < sizeof text; n++) {
        input in = {0};
        weir_text_bytes(&in.text, text, n);
        reading r = read_input(&in);
        size_t whole = (n - (sizeof OPEN - 1) + 2) / (sizeof KERNEL - 1 + 2);
        assert_int_equal(r.code, WEIR_OK);
        assert_int_equal(r.survivors, whole > 3 ? 3 : whole);
        assert_int_equal(r.shard.cut, n + 1 < sizeof text);
        kineto_shard_clear(&r.shard);
        weir_text_clear(&in.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_damage_is_told_with_its_place),
        cmocka_unit_test(carriage_returns_do_not_shift_places),
        cmocka_unit_test(on_one_line_the_column_is_the_byte),
        cmocka_unit_test(places_are_right_after_the_window_slid),
        cmocka_unit_test(what_is_no_trace_is_refused_with_its_place),
        cmocka_unit_test(an_empty_file_and_other_json_are_refused),
        cmocka_unit_test(any_prefix_of_a_trace_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
