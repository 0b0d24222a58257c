/* limits_test.c: hostile files meet a stated limit, in bounded memory and in linear time.
 *
 * Inputs are written into a pipe, never held; what grows with them is the kernel's business. A test
 * that hangs is ended by ctest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/kineto.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct {
    const char *head, *part, *tail; /* part is written count times; %u in it counts */
    uint32_t count;
    int fd;
} writer;

static void *write_all(void *context)
{
    const writer *w = context;
    FILE *out = fdopen(w->fd, "w");
    fputs(w->head, out);
    const char *number = strstr(w->part, "%u");
    for (uint32_t i = 0; i < w->count && !ferror(out); i++) {
        if (number) {
            fprintf(out, "%.*s%u%s", (int)(number - w->part), w->part, i, number + 2);
        } else {
            fputs(w->part, out);
        }
    }
    fputs(w->tail, out);
    fclose(out);
    return NULL;
}

typedef struct {
    weir_code code;
    weir_err err;
    uint32_t spans, device_spans;
    weir_diags diags;
    uint64_t peak;
} reading;

static reading read_hostile(writer w, uint64_t max_bytes)
{
    int ends[2];
    char path[64];
    pthread_t thread;
    reading r = {0};
    assert_int_equal(pipe(ends), 0);
    w.fd = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    const char *paths[] = {path};
    weir_budget *budget = weir_budget_new(max_bytes);
    weir_timeline *t = weir_timeline_new(budget);
    weir_kineto_options options = {.threads = 1};
    r.code = weir_kineto_read(t, paths, 1, &options, &r.diags, &r.err);
    close(ends[0]);
    pthread_join(thread, NULL);
    if (r.code == WEIR_OK) {
        r.spans = weir_timeline_spans(t).count;
        r.device_spans = weir_timeline_spans(t).device_count;
    }
    r.peak = weir_budget_peak(budget);
    weir_timeline_free(t);
    weir_budget_free(budget);
    return r;
}

static uint64_t count_of(const reading *r, const char *kind)
{
    for (uint32_t i = 0; i < r->diags.count; i++) {
        if (strcmp(r->diags.items[i].kind, kind) == 0) {
            return r->diags.items[i].count;
        }
    }
    return 0;
}

#define KERNEL(name, more)                                                                         \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":5,"         \
    "\"dur\":1,\"args\":{\"device\":0,\"stream\":7" more "}}"
#define OPEN  "{\"traceEvents\":[\n"
#define CLOSE "\n" KERNEL("last", "") "]}\n"

/* What is dropped costs one event, and the event behind it is read. */
static void huge_and_deep_values_cost_one_event(void **state)
{
    static const struct {
        const char *what, *kind;
        writer w;
    } rows[] = {
        {"1,000,000 brackets",
         "malformed-event",
         {OPEN "{\"ph\":\"X\",\"a\":", "[", "1},\n" CLOSE, 1000000, 0}},
        {"a string of 100 MB",
         "oversized-event",
         {OPEN "{\"ph\":\"X\",\"name\":\"", "0123456789abcdefghij", "\"},\n" CLOSE, 5000000, 0}},
        {"a key of 100 MB",
         "oversized-event",
         {OPEN "{\"", "0123456789abcdefghij", "\":1},\n" CLOSE, 5000000, 0}},
        {"40 MB of words",
         "text-between-events",
         {OPEN "oops ", "words and ] and } ,\n", CLOSE, 2000000, 0}},
        {"brackets before the events",
         "malformed-metadata",
         {"{\"a\":", "[", "1,\n\"traceEvents\":[" CLOSE, 1000000, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reading r = read_hostile(rows[i].w, 0);
        if (r.code != WEIR_OK || r.device_spans != 1 || count_of(&r, rows[i].kind) != 1) {
            fail_msg("%s: code %d %s, %u spans, %llu %s", rows[i].what, r.code, r.err.text,
                     r.device_spans, (unsigned long long)count_of(&r, rows[i].kind), rows[i].kind);
        }
        weir_diags_clear(&r.diags);
    }
}

/* Each of these made some scanner start over again and again. */
static void no_text_makes_the_reader_start_over(void **state)
{
    static const writer rows[] = {
        /* odd quotes in skipped events, all on one line */
        {"{\"traceEvents\":[", "{\"ph\":\"i\",\"name\":\"a\"b\",\"pid\":1},", CLOSE, 300000, 0},
        {"{\"traceEvents\":[", "{\"ph\":\"X\",\"name\":\"x ,", CLOSE, 500000, 0},
        {OPEN, "{", CLOSE, 20000000, 0},
        {OPEN "{\"ph\":\"X\",\"name\":\"", "\" ", CLOSE, 6000000, 0},
        {OPEN, "{                                                               ", CLOSE, 500000,
         0},
        {"{", "\"traceEvents\":{", CLOSE, 1000000, 0},
        {OPEN "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"ts\":1,\"dur\":1,\"args\":{"
              "\"Process Group Name\":\"0\",\"Process Group Ranks\":\"",
         "11111111111111111111", "e\"}},\n" CLOSE, 700000, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reading r = read_hostile(rows[i], 0);
        assert_true(r.code == WEIR_OK || r.code == WEIR_ERR_INPUT);
        weir_diags_clear(&r.diags);
    }
}

static void ten_million_names_end_in_the_limit(void **state)
{
    const writer w = {OPEN, KERNEL("kernel_%u", "") ",\n", CLOSE, 10000000, 0};
    reading r = read_hostile(w, 64 << 20);
    assert_int_equal(r.code, WEIR_ERR_LIMIT);
    assert_string_equal(r.err.text,
                        "the trace needs more memory than --max-memory allows (64 MiB)");
    assert_true(r.peak <= 64 << 20);
    weir_diags_clear(&r.diags);
}

static void a_million_losses_are_counted_and_ten_shown(void **state)
{
    const writer w = {OPEN, KERNEL("k", "},,,{") ",\n", CLOSE, 300000, 0};
    reading r = read_hostile(w, 0);
    assert_int_equal(r.code, WEIR_OK);
    uint64_t lost = 0;
    for (uint32_t i = 0; i < r.diags.count; i++) {
        lost += r.diags.items[i].count;
        assert_true(r.diags.items[i].place_count <= WEIR_DIAG_PLACES);
    }
    assert_true(lost >= 300000);
    weir_diags_clear(&r.diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_and_deep_values_cost_one_event),
        cmocka_unit_test(no_text_makes_the_reader_start_over),
        cmocka_unit_test(ten_million_names_end_in_the_limit),
        cmocka_unit_test(a_million_losses_are_counted_and_ten_shown),
    };
    signal(SIGPIPE, SIG_IGN); /* a refused file is not read to its end */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        printf("peak memory %ld KiB\n", usage.ru_maxrss);
    }
    return failed;
}
