#include "report/report.h"
#include "result/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "result_sample.h"

/* Expected texts were read by eye: each figure is of result_sample.h. */
static void assert_report(weir_result *r, weir_text_options options, const char *expected)
{
    weir_text text = {0};
    weir_err err = {0};
    assert_int_equal(weir_report_text(&text, r, &options, &err), WEIR_OK);
    assert_string_equal(text.p, expected);
    weir_text_clear(&text);
}

/* What follows the first screen. */
static void assert_table(weir_result *r, weir_text_options options, const char *expected)
{
    weir_text text = {0};
    weir_err err = {0};
    assert_int_equal(weir_report_text(&text, r, &options, &err), WEIR_OK);
    assert_true(text.n > strlen(expected));
    assert_string_equal(text.p + text.n - strlen(expected), expected);
    weir_text_clear(&text);
}

static void fits_the_sleeper_on_one_screen(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    assert_int_equal(weir_verdict_compose(r, NULL), WEIR_OK);
    assert_report(r, (weir_text_options){0},
                  "MEASURED  4 ranks, 1 node, 3 steps of 1.097 s\n"
                  "Rank 2 (node ip-172-31-5-7) makes the others wait: 68 % of the time ranks wait\n"
                  "for it in all-to-alls, 997 ms a step. Its host is late (the host had not\n"
                  "launched the next kernel); not its GPU or the network.\n"
                  "\n"
                  "compute         1.8 %  .................  gemm 2\n"
                  "communication   1.1 %  .................  all_to_all 1 (in node)\n"
                  "dependency     94.0 %  ################.  straggler 68, host 26\n"
                  "cache           3.0 %  #................  activations 3\n"
                  "  of the waiting: planned 10 %, steady 70 %, erratic 20 %; half in 1 place\n"
                  "\n"
                  "waited for  a step  axis   why                       origin\n"
                  "  rank 2    997 ms  world  late host: launches late  itself\n"
                  "axis, a step  exposed  transfer  arrival  bus GB/s\n"
                  "  world        760 ms   12.3 ms   750 ms       1.5\n"
                  "Critical path: dependency 94 %, cache 6 %; rank 2 97 %.\n"
                  "Kernels classed: by name 100 %.\n");
    weir_result_free(r);
}

static void says_only_what_is_known_of_one_gpu(void **state)
{
    weir_result *r = sample_empty(1, 1);
    (void)state;
    r->window.step_ns = 1000 * SAMPLE_MS;
    sample_spend(r, 0, WEIR_CAUSE_COMPUTE_GEMM, 820);
    sample_spend(r, 0, WEIR_CAUSE_CACHE_ACTIVATIONS, 180);
    r->efficiency.peak_share_in_compute = 0.61;
    assert_int_equal(weir_verdict_compose(r, NULL), WEIR_OK);
    assert_report(r, (weir_text_options){0},
                  "MEASURED  1 rank, 1 node, 1 step of 1.000 s\n"
                  "It is computing: 82 % of the time, at 61 % of peak. Next: cache, 18 %\n"
                  "(activations).\n"
                  "\n"
                  "compute        82.0 %  ##############...  gemm 82; 61 % of peak\n"
                  "communication   0.0 %  .................\n"
                  "dependency      0.0 %  .................\n"
                  "cache          18.0 %  ###..............  activations 18\n"
                  "  of the waiting: planned, steady, erratic unknown (one step)\n"
                  "\n"
                  "Kernels classed: by name 100 %.\n");
    weir_result_free(r);
}

static void says_first_what_was_lost(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    weir_diags_add(&r->diags, "cut-file", true, WEIR_STR("/a/b/rank3.json"), 3, 7,
                   WEIR_STR("\"na\033"));
    weir_diags_add(&r->diags, "bad-number", false, WEIR_STR("rank1.json"), 9, 1, WEIR_STR("x"));
    weir_result_note(r, "one");
    weir_result_note(r, "two");
    weir_result_note(r, "three");
    r->clock.hosts = 2;
    r->clock.residual_ns = 6000;
    r->efficiency.mfu = 0.28;
    r->efficiency.ladder_count = 2;
    r->efficiency.ladder[0] = (weir_ladder_step){"kernels", 0.18};
    r->efficiency.ladder[1] = (weir_ladder_step){"stragglers", 0.54};
    assert_report(r, (weir_text_options){0},
                  "MEASURED  4 ranks, 1 node, 3 steps of 1.097 s\n"
                  "Lost: 1 cut-file (rank3.json:3:7: \"na\\x1b).\n"
                  "\n"
                  "compute         1.8 %  .................  gemm 2\n"
                  "communication   1.1 %  .................  all_to_all 1 (in node)\n"
                  "dependency     94.0 %  ################.  straggler 68, host 26\n"
                  "cache           3.0 %  #................  activations 3\n"
                  "  of the waiting: planned 10 %, steady 70 %, erratic 20 %; half in 1 place\n"
                  "\n"
                  "waited for  a step  axis   why                       origin\n"
                  "  rank 2    997 ms  world  late host: launches late  itself\n"
                  "axis, a step  exposed  transfer  arrival  bus GB/s\n"
                  "  world        760 ms   12.3 ms   750 ms       1.5\n"
                  "MFU 28 = 100 - kernels 18 - stragglers 54\n"
                  "Critical path: dependency 94 %, cache 6 %; rank 2 97 %.\n"
                  "Repaired or assumed: 1 bad-number.\n"
                  "Clocks: 2 hosts, all linked, +-6.0 us. Kernels classed: by name 100 %.\n"
                  "Note: one\n"
                  "Note: two\n"
                  "1 more note with --json.\n");
    weir_result_free(r);
}

static void names_the_blamed_rank_before_its_victims(void **state)
{
    weir_result *r = sample_sleeper();
    weir_straggler_row itself = r->stragglers[0];
    (void)state;
    r->stragglers[0].rank = 3;
    r->stragglers[0].waited_for_ns = 5970 * SAMPLE_MS;
    itself.waited_for_ns = 3000 * SAMPLE_MS;
    sample_straggler(r, itself);
    assert_int_equal(weir_verdict_compose(r, NULL), WEIR_OK);
    weir_text text = {0};
    weir_text_options options = {.top = 2};
    assert_int_equal(weir_report_text(&text, r, &options, NULL), WEIR_OK);
    assert_non_null(strstr(text.p, "waited for  a step  axis   why                       origin\n"
                                   "  rank 2    333 ms  world  late host: launches late  itself\n"
                                   "  rank 3    663 ms  world  waited for rank 2         2\n"));
    weir_text_clear(&text);
    weir_result_free(r);
}

static void lists_ranks_and_says_what_was_left_out(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    assert_table(r, (weir_text_options){.by = WEIR_BY_RANK, .top = 3},
                 "\nrank    wall  comp.  comm.  dep.  cache  most waiting\n"
                 "   0  3.29 s    1.8    1.1  94.0    3.0  straggler 91 %\n"
                 "   1  3.29 s    1.8    1.1  94.0    3.0  straggler 91 %\n"
                 "   2  3.29 s    1.8    1.1  94.0    3.0  host 94 %\n"
                 "1 more (--top N)\n");
    weir_result_free(r);
}

static void lists_causes_most_first(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    assert_table(r, (weir_text_options){.by = WEIR_BY_CAUSE},
                 "\ncause                     share %   a step  planned  steady  erratic %\n"
                 "dependency.straggler         68.1   748 ms     10.0    70.0       20.0\n"
                 "dependency.host              25.9   284 ms     10.0    70.0       20.0\n"
                 "cache.activations             3.0  33.3 ms     10.0    70.0       20.0\n"
                 "compute.gemm                  1.8  20.0 ms     10.0    70.0       20.0\n"
                 "communication.all_to_all      1.1  12.3 ms     10.0    70.0       20.0\n");
    weir_result_free(r);
}

static void lists_nodes_steps_and_collectives(void **state)
{
    weir_result *r = sample_sleeper();
    weir_node_row node = {"ip-172-31-5-7", 4, r->total};
    weir_step_row step = {7, 0, 0, r->total};
    (void)state;
    r->nodes = &node;
    r->steps = &step;
    r->node_count = r->step_count = 1;
    assert_table(r, (weir_text_options){.by = WEIR_BY_NODE},
                 "\nnode           GPUs  comp.  comm.  dep.  cache  most waiting\n"
                 "ip-172-31-5-7     4    1.8    1.1  94.0    3.0  straggler 68 %\n");
    assert_table(r, (weir_text_options){.by = WEIR_BY_STEP},
                 "\nstep    wall  comp.  comm.  dep.  cache  most waiting\n"
                 "   7  3.29 s    1.8    1.1  94.0    3.0  straggler 68 %\n");
    assert_table(r, (weir_text_options){.by = WEIR_BY_AXIS},
                 "\naxis   kind        group     ranks  times   bytes  transfer  arrival  GB/s\n"
                 "world  all_to_all  defau...      4     13  1.0 MB    148 ms   9.00 s   1.5\n");
    weir_result_free(r);
}

static void lists_kernels_and_those_that_no_family_knows(void **state)
{
    weir_result *r = sample_sleeper();
    weir_kernel_row kernels[] = {
        {"sm90_gemm", "cutlass-gemm", WEIR_CAUSE_COMPUTE_GEMM, "math", 12, 300 * SAMPLE_MS},
        {"evil\033[2J_kernel", NULL, WEIR_CAUSE_COMPUTE_OTHER, "math", 3, 100 * SAMPLE_MS}};
    (void)state;
    assert_table(r, (weir_text_options){.by = WEIR_BY_KERNEL},
                 "\nNothing recorded to make this table of.\n");
    r->kernels = kernels;
    r->kernel_count = 2;
    assert_table(r, (weir_text_options){.by = WEIR_BY_KERNEL},
                 "\n  time     %  times  cause  kernel\n"
                 "300 ms  75.0     12  gemm   sm90_gemm\n"
                 "100 ms  25.0      3  other  evil\\x1b[2J_kernel\n");
    assert_report(r, (weir_text_options){.unknown_kernels = true},
                  "Kernels that no family matches: 25 % of the kernel time, 1 name.\n"
                  "  time     %  times  kernel\n"
                  "100 ms  25.0      3  evil\\x1b[2J_kernel\n");
    weir_result_free(r);
}

static void colours_change_nothing_but_escape_codes(void **state)
{
    weir_result *r = sample_sleeper();
    weir_text plain = {0}, coloured = {0};
    weir_text_options options = {.by = WEIR_BY_RANK};
    (void)state;
    assert_int_equal(weir_report_text(&plain, r, &options, NULL), WEIR_OK);
    options.colour = true;
    assert_int_equal(weir_report_text(&coloured, r, &options, NULL), WEIR_OK);
    assert_true(coloured.n > plain.n);
    size_t kept = 0;
    for (size_t i = 0; i < coloured.n; i++) {
        if (coloured.p[i] == '\033') {
            i += strcspn(coloured.p + i, "m");
        } else {
            coloured.p[kept++] = coloured.p[i];
        }
    }
    coloured.p[kept] = '\0';
    assert_string_equal(coloured.p, plain.p);
    weir_text_clear(&plain);
    weir_text_clear(&coloured);
    weir_result_free(r);
}

static void no_line_is_wider_than_80_columns(void **state)
{
    weir_result *r = sample_sleeper();
    weir_text text = {0};
    (void)state;
    assert_int_equal(weir_verdict_compose(r, NULL), WEIR_OK);
    r->window.nodes = 64;
    r->window.devices = 8;
    r->devices[0].node = "a-host-whose-name-is-very-long.example.com";
    sample_add(&r->devices[0].account, WEIR_CAUSE_COMMUNICATION_REDUCE_SCATTER, 90000000);
    r->stragglers[0].node = r->devices[0].node;
    r->stragglers[0].axis = "a-long-axis";
    r->stragglers[0].host_cause = WEIR_CAUSE_DEPENDENCY_SYNC;
    r->collectives[0].kind = WEIR_COMM_REDUCE_SCATTER;
    r->collectives[0].instances = 99999;
    for (int by = WEIR_BY_DEFAULT; by <= WEIR_BY_CAUSE; by++) {
        weir_text_options options = {.by = (weir_by)by};
        assert_int_equal(weir_report_text(&text, r, &options, NULL), WEIR_OK);
    }
    for (char *line = text.p; *line != '\0'; line += strcspn(line, "\n") + 1) {
        if (strcspn(line, "\n") > 80) {
            fail_msg("%.*s", (int)strcspn(line, "\n"), line);
        }
    }
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_the_sleeper_on_one_screen),
        cmocka_unit_test(says_only_what_is_known_of_one_gpu),
        cmocka_unit_test(says_first_what_was_lost),
        cmocka_unit_test(names_the_blamed_rank_before_its_victims),
        cmocka_unit_test(lists_ranks_and_says_what_was_left_out),
        cmocka_unit_test(lists_causes_most_first),
        cmocka_unit_test(lists_nodes_steps_and_collectives),
        cmocka_unit_test(lists_kernels_and_those_that_no_family_knows),
        cmocka_unit_test(colours_change_nothing_but_escape_codes),
        cmocka_unit_test(no_line_is_wider_than_80_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
