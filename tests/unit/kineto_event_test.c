/* kineto_event_test.c: the fields of one event, in any order, strictly and tolerantly read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/json_scan.h"
#include "import/kineto_event.h"
#include "import/kineto_ranks.h"

#include <stdlib.h>
#include <string.h>

static bool wants_all(void *context, const kineto_event *event)
{
    return true;
}

/* The views stay good until the next call. */
static const char *parse(kineto_event *event, const char *text, bool tolerant)
{
    static char window[4096 + WEIR_JSON_PAD];
    const kineto_event_options options = {tolerant, false, wants_all, NULL};
    size_t n = strlen(text);
    assert_true(n <= 4096);
    memset(window, '"', sizeof window);
    memcpy(window, text, n);
    return kineto_event_parse(event, window + 1, window + n, &options);
}

#define HEAD  "\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"pid\":3,\"tid\":\"stream 7\","
#define TIMES "\"ts\":1700000000000000.250,\"dur\":12.5"
#define ARGS                                                                                       \
    "\"args\":{\"External id\":5,\"device\":3,\"stream\":7,\"correlation\":99,\"grid\":[4,2,1],"   \
    "\"block\":[128,1,1],\"registers per thread\":64,\"graph id\":11,"                             \
    "\"Collective name\":\"allreduce\",\"In msg nelems\":1024,\"Group size\":8,"                   \
    "\"Process Group Ranks\":\"[0, 1]\",\"Seq\":17}"

static void expect_all_fields(const kineto_event *e)
{
    assert_int_equal(e->phase, 'X');
    assert_int_equal(e->category, KINETO_KERNEL);
    assert_true(weir_str_eq(e->name, WEIR_STR("nccl")));
    assert_int_equal(e->ts_ns, INT64_C(1700000000000000250));
    assert_int_equal(e->dur_ns, 12500);
    assert_int_equal(e->pid.number, 3);
    assert_int_equal(e->tid.number, 7);
    assert_true(weir_str_eq(e->tid.label, WEIR_STR("stream")));
    assert_int_equal(e->external, 5);
    assert_int_equal(e->correlation, 99);
    assert_int_equal(e->device, 3);
    assert_int_equal(e->stream, 7);
    assert_int_equal(e->shape.grid[1], 2);
    assert_int_equal(e->shape.block[0], 128);
    assert_int_equal(e->shape.registers, 64);
    assert_int_equal(e->shape.graph_id, 11);
    assert_true(e->has_comm);
    assert_true(weir_str_eq(e->comm.collective, WEIR_STR("allreduce")));
    assert_true(weir_str_eq(e->comm.group_ranks, WEIR_STR("\"[0, 1]\"")));
    assert_int_equal(e->comm.in_elements, 1024);
    assert_int_equal(e->comm.seq, 17);
}

static void all_fields_are_read_in_any_order(void **state)
{
    kineto_event e;
    for (int tolerant = 0; tolerant < 2; tolerant++) {
        assert_non_null(parse(&e, "{" HEAD TIMES "," ARGS "}", tolerant));
        expect_all_fields(&e);
        assert_non_null(parse(&e, "{" ARGS "," TIMES "," HEAD "\"bp\":\"e\"}", tolerant));
        expect_all_fields(&e);
    }
}

static void shapes_before_the_name_of_their_operation_are_kept(void **state)
{
    kineto_event e;
    assert_non_null(parse(&e,
                          "{\"args\":{\"External id\":1,\"Input Dims\":[[2,3]],\"Input type\":"
                          "[\"float\"]},\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ph\":\"X\"}",
                          false));
    assert_true(weir_str_eq(e.dims, WEIR_STR("[[2,3]]")));
    assert_true(weir_str_eq(e.types, WEIR_STR("[\"float\"]")));
}

static void the_byte_behind_the_brace_is_returned(void **state)
{
    kineto_event e;
    static const char text[] = "{" HEAD TIMES "} ,";
    const char *after = parse(&e, text, false);
    assert_non_null(after);
    assert_string_equal(text + sizeof text - 3, " ,");
    assert_int_equal(after[-1], '}');
    assert_int_equal(after[0], ' ');
}

static void what_nobody_wants_is_skipped(void **state)
{
    static const char *const rows[] = {
        "{\"ph\":\"s\",\"id\":4,\"name\":\"ac2g\",\"x\":[{}]}",
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a\",\"args\":{\"a\":\"}\"}}",
        "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"a\",\"args\":{}}",
        "{\"ph\":\"C\",\"name\":\"counter\",\"args\":{\"a\":1}}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kineto_event e;
        const char *after = parse(&e, rows[i], false);
        assert_non_null(after);
        assert_true(e.skipped);
        assert_int_equal(after[0], '"'); /* all of it */
    }
}

/* A cut at any byte is no event, and reads nothing behind the window. */
static void a_cut_event_is_none(void **state)
{
    static const char text[] = "{" HEAD TIMES "," ARGS "}";
    char cut[sizeof text];
    kineto_event e;
    for (size_t n = 1; n + 1 < sizeof text; n++) {
        memcpy(cut, text, n);
        cut[n] = '\0';
        assert_null(parse(&e, cut, false));
        assert_null(parse(&e, cut, true));
    }
}

static void quotes_and_newlines_in_names_are_survived_tolerantly(void **state)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"{\"ph\":\"X\",\"name\":\"{\"device\": \"cpu\"}(12): run\",\"pid\":1}",
         "{\"device\": \"cpu\"}(12): run"},
        {"{\"ph\":\"X\",\"name\":\"m.impl(\"x\",\n\"IMPL\")\",\"ts\":1}",
         "m.impl(\"x\",\n\"IMPL\")"},
        {"{\"ph\":\"X\",\"name\":\"a \"quoted\" end\"}", "a \"quoted\" end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kineto_event e;
        assert_null(parse(&e, rows[i].text, false));
        assert_non_null(parse(&e, rows[i].text, true));
        assert_true(weir_str_eq(e.name, weir_str_from(rows[i].name)));
    }
}

static void odd_numbers_are_counted(void **state)
{
    kineto_event e;
    assert_non_null(
        parse(&e,
              "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":\"5\",\"dur\":NaN,"
              "\"args\":{\"stream\":99999999999999999999,\"device\":null,}}",
              false));
    assert_int_equal(e.odd_strings, 1);
    assert_int_equal(e.odd_numbers, 2);
    assert_int_equal(e.odd_commas, 1);
    assert_false(e.has_dur);
    assert_int_equal(e.ts_ns, 5000);
    assert_int_equal(e.device, INT64_MIN);
}

static void the_next_event_and_the_end_of_all_are_found(void **state)
{
    static const char text[] =
        "x {\"a\":1}, \"args\": {\"name\": 3}\n  {\n  \"ph\": \"X\"},{\"name\":1}";
    char window[sizeof text + WEIR_JSON_PAD];
    memset(window, 0, sizeof window);
    memcpy(window, text, sizeof text);
    const char *end = window + sizeof text - 1;
    const char *first = kineto_event_find(window, window, end);
    assert_ptr_equal(first, strstr(window, "{\n"));
    assert_ptr_equal(kineto_event_find(window, first + 1, end), strstr(window, "{\"name\":1"));
    static const char tail[] = "{\"grid\":[1,1], \"a\": [2]}, oops ] ,\n \"traceName\": \"x\"}";
    memset(window, 0, sizeof window);
    memcpy(window, tail, sizeof tail);
    end = window + sizeof tail - 1;
    assert_ptr_equal(kineto_events_end_find(window, window, end, false), strstr(window, "] ,\n"));
    memcpy(window, "{\"a\":[1]}\n ]\n}\n", 16);
    end = window + 15;
    assert_null(kineto_events_end_find(window, window, end, false));
    assert_ptr_equal(kineto_events_end_find(window, window, end, true), strstr(window, "]\n}"));
}

static void lists_of_ranks_are_sorted_and_cut_ones_are_none(void **state)
{
    static const struct {
        const char *text;
        uint32_t count;
        int32_t first, last;
    } rows[] = {
        {"[3, 1, 2]", 3, 1, 3},     {"\"[0, 8]\"", 2, 0, 8},
        {"[1, 1, 1, 4]", 2, 1, 4},  {"[]", 0, 0, 0},
        {"[0, 1, ...]", 0, 0, 0},   {"", 0, 0, 0},
        {"[99999999999]", 0, 0, 0}, {"[-1, 7]", 1, 7, 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t count;
        int32_t *ranks = kineto_ranks_parse(weir_str_from(rows[i].text), &count);
        assert_int_equal(count, rows[i].count);
        if (count) {
            assert_int_equal(ranks[0], rows[i].first);
            assert_int_equal(ranks[count - 1], rows[i].last);
        }
        free(ranks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_are_read_in_any_order),
        cmocka_unit_test(shapes_before_the_name_of_their_operation_are_kept),
        cmocka_unit_test(the_byte_behind_the_brace_is_returned),
        cmocka_unit_test(what_nobody_wants_is_skipped),
        cmocka_unit_test(a_cut_event_is_none),
        cmocka_unit_test(quotes_and_newlines_in_names_are_survived_tolerantly),
        cmocka_unit_test(odd_numbers_are_counted),
        cmocka_unit_test(the_next_event_and_the_end_of_all_are_found),
        cmocka_unit_test(lists_of_ranks_are_sorted_and_cut_ones_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
