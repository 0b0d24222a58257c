#include "report/fabric_csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_sample.h"

/* How many fields each line has (the sample has no comma within quotes but in because-columns). */
static uint32_t fields_of(const char *line)
{
    uint32_t fields = 1;
    bool quoted = false;
    for (; *line != '\n' && *line != '\0'; line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    return fields;
}

static void assert_rectangular(const weir_text *text, uint32_t lines)
{
    uint32_t expected = fields_of(text->p), found = 0;
    for (const char *line = text->p; *line != '\0'; line = strchr(line, '\n') + 1) {
        if (fields_of(line) != expected) {
            fail_msg("%u fields, not %u: %s", fields_of(line), expected, line);
        }
        found++;
    }
    assert_int_equal(found, lines);
}

static void assert_has(const weir_text *text, const char *part)
{
    if (strstr(text->p, part) == NULL) {
        fail_msg("not found: %s\nin:\n%s", part, text->p);
    }
}

static void each_candidate_has_a_row_and_a_refused_one_its_reason(void **state)
{
    weir_result *r = fabric_sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_report_candidates_csv(&text, r, &err), WEIR_OK);
    assert_rectangular(&text, 5);
    assert_int_equal(strncmp(text.p, "candidate,kind,recommended,refused,step_s,", 42), 0);
    assert_has(&text, "\nA clos 1:1,clos,false,,1,0.91,1.09,64000000000,58880000000,5120000000,0,0,"
                      "5120000000,512000000,4608000000,0,0,6,192,0,0,64,192,128,3840,256,0,0,0,4,");
    assert_has(&text, "\nB ocs per job,ocs-job,true,,1.01,");
    assert_has(&text, "\nD torus,torus,false,4 x 4 x 3 are 48 places for 64 devices.,,,");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void a_sweep_has_its_keys_first_and_refused_points_in_place(void **state)
{
    const char *keys[] = {"cluster.nodes", "candidates.0.oversubscription"};
    const char *first[] = {"8", "[1, 3]"}, *second[] = {"0", "[1, 1]"};
    weir_result *r = fabric_sample();
    weir_fabric_point points[] = {{first, NULL, r->fabric},
                                  {second, "No nodes, no traffic.", NULL}};
    weir_fabric_sweep sweep = {keys, 2, points, 2};
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    r->sweep = &sweep;
    assert_int_equal(weir_report_candidates_csv(&text, r, &err), WEIR_OK);
    assert_rectangular(&text, 6);
    assert_int_equal(strncmp(text.p, "cluster.nodes,candidates.0.oversubscription,candidate,", 54),
                     0);
    assert_has(&text, "\n8,\"[1, 3]\",A clos 1:1,clos,");
    assert_has(&text, "\n0,\"[1, 1]\",,,false,\"No nodes, no traffic.\",,");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void traffic_leaves_what_is_not_known_empty(void **state)
{
    weir_result *r = fabric_sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_report_traffic_csv(&text, r, &err), WEIR_OK);
    assert_rectangular(&text, 4);
    assert_has(&text, "\ngradients,data,94000000000,64000000,6.1,1,2,0.3,20000000000,50000000000,"
                      "0.97,light,\"few partners that stay, big messages\",false\n");
    assert_has(&text, "\nenterprise,contrast,1000000,10000,20,0.05,30,0.02,,,0.1,packets,");
    weir_text_clear(&text);
    weir_result_free(r);
}

/* 4 + 2 switches and 256 modules; 80 + 40 + 128 k$ at the low prices. */
static void a_bill_ends_with_its_sum(void **state)
{
    weir_result *r = fabric_sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_report_bill_csv(&text, &r->fabric->candidates[0], &err), WEIR_OK);
    assert_rectangular(&text, 5);
    assert_has(&text, "\nswitch,tomahawk5-400g,leaf,4,2000,80000,100000,120000,"
                      "\"list price, 2025\"\n");
    assert_has(&text, "\ntotal,,,262,6072,248000,354800,436000,\n");
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_candidate_has_a_row_and_a_refused_one_its_reason),
        cmocka_unit_test(a_sweep_has_its_keys_first_and_refused_points_in_place),
        cmocka_unit_test(traffic_leaves_what_is_not_known_empty),
        cmocka_unit_test(a_bill_ends_with_its_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
