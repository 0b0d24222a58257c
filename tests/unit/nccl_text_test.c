#include "report/nccl_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "result/json.h"

static void assert_has(const weir_text *text, const char *part)
{
    if (strstr(text->p, part) == NULL) {
        fail_msg("not found: %s\nin:\n%s", part, text->p);
    }
}

/* Two sizes: 1 GiB at half of what is foretold, 12,345 bytes of which nothing is foretold. */
static weir_result *sample(void)
{
    static weir_nccl_size_row rows[] = {
        {1073741824, 0.02, 100e9, 0.01, 200e9, 400e9, 0.5, "ring", "simple"},
        {12345, 0.0001, 1e9, NAN, NAN, NAN, NAN, NULL, NULL}};
    static weir_nccl_finding_row findings[] = {
        {"part_of_nics", 1073741824, "It is about what 4 of 8 NICs carry.", "NCCL_IB_HCA.", NULL},
        {"slow", 0, "An \033[31mescape.", NULL, NULL}};
    static weir_nccl_run_row runs[] = {{.title = "all_reduce_perf, 16 ranks on 2 hosts",
                                        .ranks = 16,
                                        .nodes = 2,
                                        .plateau_share = 0.5,
                                        .latency_factor = NAN,
                                        .seeming_nic_bytes_per_s = 25e9,
                                        .rows = rows,
                                        .row_count = 2,
                                        .findings = findings,
                                        .finding_count = 2}};
    weir_result *r = weir_result_new();
    r->command = "fabric";
    r->compared = runs;
    r->compared_count = 1;
    return r;
}

static void says_first_what_was_found_then_each_size(void **state)
{
    weir_result *r = sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_report_compared(&text, r, false, &err), WEIR_OK);
    assert_int_equal(strncmp(text.p, "MEASURED  all_reduce_perf, 16 ranks on 2 hosts\n", 47), 0);
    assert_has(&text, "\n- It is about what 4 of 8 NICs carry. Check: NCCL_IB_HCA.\n");
    assert_has(&text, "\n  1 GiB   20.0 ms       100       200    400     50 %  ring simple\n");
    assert_has(&text, "\n12345 B    100 us      1.00         -      -\n");
    assert_ptr_equal(strchr(text.p, '\033'), NULL);
    weir_text_clear(&text);
    weir_result_free(r);
}

static void leaves_what_is_not_foretold_empty_in_csv(void **state)
{
    weir_result *r = sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_report_compared_csv(&text, r, &err), WEIR_OK);
    assert_has(&text, "\n\"all_reduce_perf, 16 ranks on 2 hosts\",1073741824,0.02,100000000000,"
                      "0.01,200000000000,400000000000,0.5,ring,simple\n");
    assert_has(&text, ",12345,0.0001,1000000000,,,,,,\n");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void writes_findings_and_sizes_as_json(void **state)
{
    weir_result *r = sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_result_json(&text, r, &err), WEIR_OK);
    assert_has(&text, "\"plateau_share\": 0.5,\n   \"latency_factor\": null,");
    assert_has(&text, "{\"kind\": \"part_of_nics\", \"from_bytes\": 1073741824, "
                      "\"sentence\": \"It is about what 4 of 8 NICs carry.\", "
                      "\"check\": \"NCCL_IB_HCA.\", \"source\": null}");
    assert_has(&text, "\"foretold_s\": null");
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_first_what_was_found_then_each_size),
        cmocka_unit_test(leaves_what_is_not_foretold_empty_in_csv),
        cmocka_unit_test(writes_findings_and_sizes_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
