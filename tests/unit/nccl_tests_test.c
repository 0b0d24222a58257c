/* Reading nccl-tests output. Texts are shaped after logs that people published: eth-cscs/cscs-docs
 * (Alps, nccl-tests 2.17), NVIDIA/nccl issue 1453, rccl-tests on MI308X, Open MPI and srun labels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/nccl_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    weir_nccl_tests tests;
    weir_diags diags;
    weir_err err;
    weir_code code;
} reading;

static reading read_as(const char *name, const char *text)
{
    reading r = {0};
    weir_source *source;
    assert_int_equal(weir_source_memory(text, strlen(text), name, &source, &r.err), WEIR_OK);
    r.code = weir_nccl_tests_read(source, name, &r.tests, &r.diags, &r.err);
    weir_source_close(source);
    return r;
}

static reading read_good(const char *name, const char *text)
{
    reading r = read_as(name, text);
    if (r.code != WEIR_OK) {
        fail_msg("%s", r.err.text);
    }
    return r;
}

static void reading_clear(reading *r)
{
    weir_nccl_tests_clear(&r->tests);
    weir_diags_clear(&r->diags);
}

static uint64_t counted(const reading *r, const char *kind)
{
    for (uint32_t i = 0; i < r->diags.count; i++) {
        if (strcmp(r->diags.items[i].kind, kind) == 0) {
            return r->diags.items[i].count;
        }
    }
    return 0;
}

static void expect_figure(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

#define HEADING                                                                                    \
    "#                                           out-of-place                 in-place\n"          \
    "#       size  count  type  redop  root  time  algbw  busbw #wrong  time algbw busbw #wrong\n" \
    "#        (B)  (elements)               (us)  (GB/s)  (GB/s)        (us) (GB/s) (GB/s)\n"

#define ALPS                                                                                       \
    "# Collective test starting: all_reduce_perf\n"                                                \
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 1\n"          \
    "#\n# Using devices\n"                                                                         \
    "#  Rank  0 Group  0 Pid 204199 on  nid005471 device  0 [0009:01:00] NVIDIA GH200 120GB\n"     \
    "#  Rank  1 Group  0 Pid 204200 on  nid005471 device  1 [0019:01:00] NVIDIA GH200 120GB\n"     \
    "#  Rank  2 Group  0 Pid 204201 on  nid005471 device  2 [0029:01:00] NVIDIA GH200 120GB\n"     \
    "#  Rank  3 Group  0 Pid 204202 on  nid005471 device  3 [0039:01:00] NVIDIA GH200 120GB\n"     \
    "#  Rank  4 Group  0 Pid 155254 on  nid005487 device  0 [0009:01:00] NVIDIA GH200 120GB\n"     \
    "#  Rank  5 Group  0 Pid 155255 on  nid005487 device  1 [0019:01:00] NVIDIA GH200 120GB\n"     \
    "#  Rank  6 Group  0 Pid 155256 on  nid005487 device  2 [0029:01:00] NVIDIA GH200 120GB\n"     \
    "#  Rank  7 Group  0 Pid 155257 on  nid005487 device  3 [0039:01:00] NVIDIA GH200 120GB\n"     \
    "NCCL version 2.27.7+cuda12.9\n#\n" HEADING                                                    \
    "           8          2  float  sum  -1   17.93    0.00    0.00  0  17.72   0.00   0.00  0\n" \
    "     1048576     262144  float  sum  -1   164.3    6.38   11.17  0  187.7   5.59   9.77  0\n" \
    "   134217728   33554432  float  sum  -1  1916.4   70.04  122.57  0 1907.8  70.35 123.11  0\n" \
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 19.7866 \n#\n"                        \
    "# Collective test concluded: all_reduce_perf\n"

static void reads_ranks_hosts_and_both_placements(void **state)
{
    reading r = read_good("log", ALPS);
    assert_int_equal(r.tests.run_count, 1);
    const weir_nccl_run *run = &r.tests.runs[0];
    assert_int_equal(run->kind, WEIR_COMM_ALL_REDUCE);
    assert_string_equal(run->test, "all_reduce_perf");
    assert_string_equal(run->device, "NVIDIA GH200 120GB");
    assert_string_equal(run->library, "2.27.7+cuda12.9");
    assert_int_equal(run->ranks, 8);
    assert_int_equal(run->hosts, 2);
    assert_int_equal(run->least_ranks, 8); /* 122.57 / 70.04 = 1.75 */
    assert_int_equal(run->most_ranks, 8);
    assert_int_equal(run->row_count, 6);
    expect_figure(run->average_busbw_bytes_per_s, 19.7866e9);
    assert_int_equal(run->rows[4].bytes, 134217728);
    expect_figure(run->rows[4].time_s, 1916.4e-6);
    expect_figure(run->rows[4].algbw_bytes_per_s, 70.04e9);
    expect_figure(run->rows[4].busbw_bytes_per_s, 122.57e9);
    assert_false(run->rows[4].is_in_place);
    assert_true(run->rows[5].is_in_place);
    expect_figure(run->rows[5].busbw_bytes_per_s, 123.11e9);
    assert_int_equal(run->line, 1);
    assert_int_equal(r.diags.count, 0);
    reading_clear(&r);
}

static void reads_several_runs_of_one_file(void **state)
{
    reading r =
        read_good("all.log", "$ srun ./all_reduce_perf -b 8\n" ALPS "bash: some other line\n"
                             "# Collective test starting: alltoall_perf\n" HEADING
                             "  268435456 16777216 float none -1 520935 0.52 0.51 0 "
                             "520935 0.52 0.51 N/A\n" ALPS);
    assert_int_equal(r.tests.run_count, 3);
    assert_int_equal(r.tests.runs[0].ranks, 8);
    assert_int_equal(r.tests.runs[1].kind, WEIR_COMM_ALL_TO_ALL);
    assert_int_equal(r.tests.runs[1].ranks, 0);
    assert_int_equal(r.tests.runs[1].row_count, 2);
    assert_int_equal(r.tests.runs[2].ranks, 8);
    assert_int_equal(r.tests.runs[2].hosts, 2);
    reading_clear(&r);
}

/* nccl issue 1453: 29.5 / 15.39 is 1.917, which is 24 ranks and no other number. */
static void says_how_many_ranks_the_quotient_allows(void **state)
{
    reading r =
        read_good("x.log", "# Collective test starting: all_reduce_perf\n" HEADING
                           "1048576 1 float sum -1 1626.5 0.64 1.24 0 1 0.64 1.24 0\n"
                           "33554432 1 float sum -1 2180.1 15.39 29.50 0 1 15.39 29.50 0\n");
    assert_int_equal(r.tests.runs[0].least_ranks, 24);
    assert_int_equal(r.tests.runs[0].most_ranks, 24);
    reading_clear(&r);
    r = read_good("x.log", "# Collective test starting: all_gather_perf\n" HEADING
                           "1048576 1 float none -1 16 0.64 0.60 0 16 0.64 0.60 0\n");
    assert_int_equal(r.tests.runs[0].least_ranks, 13); /* (0.605, 0.635) is 1 - 1/n at most 0.953 */
    assert_int_equal(r.tests.runs[0].most_ranks, 21);
    reading_clear(&r);
    r = read_good("x.log", "# Collective test starting: broadcast_perf\n" HEADING
                           "1048576 1 float none 0 16 60.00 60.00 0 16 60.00 60.00 0\n");
    assert_int_equal(r.tests.runs[0].least_ranks, 0);
    reading_clear(&r);
}

static void labels_colours_and_line_ends_do_not_matter(void **state)
{
    static const char *const labels[] = {
        "0: ",      "[1,0]<stdout>:",       "[1,0]<stdout>: ", "nccl-launcher-0 | ",
        "\x1b[32m", "2024-05-01T10:00:00Z "};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        char text[8192] = "";
        size_t n = 0;
        const char *lines[] = {
            "# Collective test starting: reduce_scatter_perf",
            "#  Rank  0 Group  0 Pid 1 on host-a device  0 [0x07] NVIDIA H100",
            "#  Rank  1 Group  0 Pid 2 on host-b device  0 [0x07] NVIDIA H100",
            "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
            " 1024 256 bfloat16 sum -1 10.0 0.10 0.05 0 11.0 0.09 0.05 0",
            "# Avg bus bandwidth : 0.05"};
        for (size_t k = 0; k < 6; k++) {
            n +=
                (size_t)snprintf(text + n, sizeof text - n, "%s%s\x1b[0m\r\n", labels[i], lines[k]);
        }
        reading r = read_good("log", text);
        const weir_nccl_run *run = &r.tests.runs[0];
        assert_int_equal(r.tests.run_count, 1);
        assert_int_equal(run->kind, WEIR_COMM_REDUCE_SCATTER);
        assert_int_equal(run->ranks, 2);
        assert_int_equal(run->hosts, 2);
        assert_int_equal(run->row_count, 2);
        assert_int_equal(run->rows[0].bytes, 1024);
        assert_string_equal(run->device, "NVIDIA H100");
        reading_clear(&r);
    }
}

static void old_headings_have_other_columns(void **state)
{
    reading r = read_good(
        "old.log",
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 8 step: 2(factor)\n"
        "#   Rank  0 Pid  123 on  dgx device  0 [0x07] Tesla V100-SXM2-32GB\n"
        "#       size         count    type   redop     time   algbw   busbw  error     time   "
        "algbw   busbw  error\n"
        "    67108864      16777216   float     sum    1026   65.41  114.46  1e-06    1022   65.66 "
        " 114.90  1e-06\n");
    const weir_nccl_run *run = &r.tests.runs[0];
    assert_int_equal(run->row_count, 2);
    expect_figure(run->rows[0].time_s, 1026e-6);
    expect_figure(run->rows[1].busbw_bytes_per_s, 114.90e9);
    assert_int_equal(run->ranks, 1);
    reading_clear(&r);
    r = read_good("alltoall.txt", "# size count type redop root time algbw busbw #wrong\n"
                                  "1024 16 half none -1 12.5 0.08 0.07 0\n");
    assert_int_equal(r.tests.runs[0].row_count, 1);
    assert_int_equal(r.tests.runs[0].kind, WEIR_COMM_ALL_TO_ALL); /* by the name of the file */
    reading_clear(&r);
}

static void torn_rows_are_counted_and_the_rest_is_read(void **state)
{
    reading r = read_good("cut.log", "# Collective test starting: all_reduce_perf\n" HEADING
                                     "1024 256 float sum -1 10.0 0.10 0.19 0 11.0 0.09 0.17 0\n"
                                     "2048 512 float sum -1 10.0 0.20 0.38 0 11.0 0.1\n"
                                     "4096 1024 float sum -1 10.\n"
                                     "8192 2048 float sum -1 inf nan nan 0 12.0 0.68 1.27 0\n"
                                     "16384 4096 float sum -1 12.0 1.36 2.5 7 12.0 1.36 2.5 0\n"
                                     "# Avg bus ban");
    assert_int_equal(counted(&r, "cut-row"), 2);
    assert_int_equal(counted(&r, "impossible-row"), 1);
    assert_int_equal(counted(&r, "wrong-result"), 1);
    assert_int_equal(weir_diags_lost(&r.diags), 3);
    const weir_nccl_run *run = &r.tests.runs[0];
    assert_int_equal(run->row_count, 2 + 1 + 1 + 2); /* the first placement of 2048 is whole */
    assert_int_equal(run->rows[2].bytes, 2048);
    assert_int_equal(run->rows[4].wrong, 7);
    assert_non_null(strstr(r.diags.items[0].places[0].text, "cut.log:6:1"));
    reading_clear(&r);
}

static void every_process_being_rank_0_is_told(void **state)
{
    reading r =
        read_good("x", "#  Rank  0 Group  0 Pid 1 on a device  0 [0x07] NVIDIA H100\n"
                       "#  Rank  0 Group  0 Pid 2 on a device  1 [0x07] NVIDIA H100\n" HEADING
                       "1024 16 float sum -1 12.5 0.08 0.00 0 12.5 0.08 0.00 0\n");
    assert_int_equal(r.tests.runs[0].ranks, 1);
    assert_true(r.tests.runs[0].is_rank_repeated);
    assert_int_equal(counted(&r, "rank-seen-twice"), 1);
    reading_clear(&r);
}

static void the_kind_is_implied_where_only_one_fits(void **state)
{
    reading r =
        read_good("x", "#  Rank  0 Group  0 Pid 1 on a device  0 [0x07] NVIDIA H100\n"
                       "#  Rank  1 Group  0 Pid 2 on a device  1 [0x07] NVIDIA H100\n"
                       "#  Rank  2 Group  0 Pid 2 on a device  2 [0x07] NVIDIA H100\n"
                       "#  Rank  3 Group  0 Pid 2 on a device  3 [0x07] NVIDIA H100\n" HEADING
                       "1024 16 float sum -1 12.5 80.00 120.00 0 12.5 80.00 120.00 0\n");
    assert_int_equal(r.tests.runs[0].kind, WEIR_COMM_ALL_REDUCE);
    assert_int_equal(r.tests.runs[0].least_ranks, 4);
    assert_int_equal(r.tests.runs[0].most_ranks, 4);
    reading_clear(&r);
}

/* 2 x 31 / 32 = 1.9375: above 1 is an all-reduce, of however many; three ranks are listed. */
static void the_kind_of_sums_does_not_need_the_listed_ranks(void **state)
{
    (void)state;
    reading r =
        read_good("x", "#  Rank  0 Group  0 Pid 1 on a device  0 [0x07] NVIDIA H100\n"
                       "#  Rank  1 Group  0 Pid 2 on a device  1 [0x07] NVIDIA H100\n"
                       "#  Rank  2 Group  0 Pid 2 on a device  2 [0x07] NVIDIA H100\n" HEADING
                       "8192 16 float sum -1 12.5 160.00 310.00 0 12.5 160.00 310.00 0\n");
    assert_int_equal(r.tests.runs[0].kind, WEIR_COMM_ALL_REDUCE);
    assert_int_equal(r.tests.runs[0].ranks, 3);
    assert_int_equal(r.tests.runs[0].least_ranks, 32);
    assert_int_equal(r.tests.runs[0].most_ranks, 32);
    reading_clear(&r);
}

static void what_has_no_rows_is_refused(void **state)
{
    static const char *const texts[] = {"", "hello\n",
                                        "# Collective test starting: all_reduce_perf\n",
                                        "1024 256 128 float\n", "\0\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        reading r = read_as("some.log", texts[i]);
        assert_int_equal(r.code, WEIR_ERR_INPUT);
        assert_non_null(strstr(r.err.text, "some.log: no row of nccl-tests"));
        assert_int_equal(r.tests.run_count, 0);
        reading_clear(&r);
    }
}

static void long_lines_are_cut_and_memory_stays_bounded(void **state)
{
    enum { LONG = 200000 };
    char *text = malloc(LONG + 200);
    assert_non_null(text);
    memset(text, 'x', LONG);
    strcpy(text + LONG, "\n1024 256 float sum -1 10.0 0.10 0.19 0 11.0 0.09 0.17 0\n");
    reading r = read_good("long", text);
    assert_int_equal(counted(&r, "oversized-line"), 1);
    assert_int_equal(r.tests.runs[0].row_count, 2);
    reading_clear(&r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_ranks_hosts_and_both_placements),
        cmocka_unit_test(reads_several_runs_of_one_file),
        cmocka_unit_test(says_how_many_ranks_the_quotient_allows),
        cmocka_unit_test(labels_colours_and_line_ends_do_not_matter),
        cmocka_unit_test(old_headings_have_other_columns),
        cmocka_unit_test(torn_rows_are_counted_and_the_rest_is_read),
        cmocka_unit_test(every_process_being_rank_0_is_told),
        cmocka_unit_test(the_kind_is_implied_where_only_one_fits),
        cmocka_unit_test(the_kind_of_sums_does_not_need_the_listed_ranks),
        cmocka_unit_test(what_has_no_rows_is_refused),
        cmocka_unit_test(long_lines_are_cut_and_memory_stays_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
