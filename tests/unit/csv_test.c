#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "result_sample.h"

static weir_text csv_of(const weir_result *r, weir_by by)
{
    weir_text text = {0};
    weir_err err = {0};
    assert_int_equal(weir_report_csv(&text, r, by, &err), WEIR_OK);
    return text;
}

/* The field-th field of line, both counted from 0; the sample has no quotes. */
static weir_str field_of(const weir_text *text, int line, int field)
{
    const char *p = text->p;
    for (; line > 0; line--) {
        p = strchr(p, '\n') + 1;
    }
    for (; field > 0; field--) {
        p += strcspn(p, ",\n") + 1;
    }
    return (weir_str){p, (uint32_t)strcspn(p, ",\n")};
}

static void assert_field(const weir_text *text, int line, int field, const char *expected)
{
    weir_str found = field_of(text, line, field);
    if (!weir_str_eq(found, weir_str_from(expected))) {
        fail_msg("line %d, field %d: %.*s, not %s", line, field, (int)found.n, found.p, expected);
    }
}

static uint32_t count_of(const char *text, char what)
{
    uint32_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == what;
    }
    return count;
}

static void gives_each_device_a_row_with_all_waits_and_causes(void **state)
{
    weir_result *r = sample_sleeper();
    weir_text text = csv_of(r, WEIR_BY_DEFAULT);
    (void)state;
    assert_int_equal(count_of(text.p, '\n'), 5);
    assert_int_equal(count_of(text.p, ','), 5 * (4 + 1 + 4 + WEIR_CAUSE_COUNT + 3 - 1));
    static const char *const names[] = {
        "rank",     "node",           "device",           "multiplicity",
        "wall_ns",  "compute_ns",     "communication_ns", "dependency_ns",
        "cache_ns", "compute.gemm_ns"};
    static const char *const values[] = {"2",          "ip-172-31-5-7", "0",        "1",
                                         "3291000000", "60000000",      "37000000", "3094000000",
                                         "100000000",  "60000000"};
    for (int i = 0; i < 10; i++) {
        assert_field(&text, 0, i, names[i]);
        assert_field(&text, 3, i, values[i]);
    }
    assert_field(&text, 0, 9 + WEIR_CAUSE_DEPENDENCY_STRAGGLER, "dependency.straggler_ns");
    assert_field(&text, 1, 9 + WEIR_CAUSE_DEPENDENCY_STRAGGLER, "2990000000");
    assert_field(&text, 3, 9 + WEIR_CAUSE_DEPENDENCY_STRAGGLER, "0");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void quotes_as_rfc_4180_says(void **state)
{
    weir_result *r = sample_empty(1, 0);
    (void)state;
    weir_kernel_row kernels[] = {
        {"void k<int, 4>(\"x\")\033[2J", NULL, WEIR_CAUSE_COMPUTE_OTHER, "math", 3, 5}};
    r->kernels = kernels;
    r->kernel_count = 1;
    weir_text text = csv_of(r, WEIR_BY_KERNEL);
    assert_string_equal(text.p, "name,family,class,cause,count,ns\n"
                                "\"void k<int, 4>(\"\"x\"\")\\x1b[2J\",,math,compute.other,3,5\n");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void leaves_fields_empty_that_are_not_known(void **state)
{
    weir_result *r = sample_sleeper();
    (void)state;
    r->collectives[0].bytes = 0;
    r->collectives[0].tier = NULL;
    r->collectives[0].algorithm_bandwidth_bytes_per_s = 0;
    weir_text text = csv_of(r, WEIR_BY_AXIS);
    assert_string_equal(
        text.p, "axis,kind,group,tier,ranks,complete,instances,bytes,transfer_ns,arrival_wait_ns,"
                "unsplit_ns,exposed_ns,algorithm_bandwidth_bytes_per_s,"
                "bus_bandwidth_bytes_per_s\n"
                "world,all_to_all,default_pg,,4,true,13,,148000000,9000000000,0,9118000000,,"
                "1500000000\n");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void the_control_parts_of_each_cause_add_up(void **state)
{
    weir_result *r = sample_sleeper();
    weir_text text = csv_of(r, WEIR_BY_CAUSE);
    (void)state;
    assert_int_equal(count_of(text.p, '\n'), 1 + WEIR_CAUSE_COUNT);
    assert_non_null(strstr(text.p, "dependency,dependency.straggler,8970000000,897000000,"
                                   "6279000000,1794000000,0\n"));
    weir_text_clear(&text);
    weir_result_free(r);
}

static void has_a_table_of_nodes_and_one_of_steps(void **state)
{
    weir_result *r = sample_sleeper();
    weir_node_row node = {"a,b", 4, r->total};
    weir_step_row step = {7, 0, 0, r->total};
    (void)state;
    r->nodes = &node;
    r->steps = &step;
    r->node_count = r->step_count = 1;
    weir_text text = csv_of(r, WEIR_BY_NODE);
    assert_non_null(strstr(text.p, "\n\"a,b\",4,13164000000,240000000,148000000,"));
    weir_text_clear(&text);
    text = csv_of(r, WEIR_BY_STEP);
    assert_non_null(strstr(text.p, "\n7,13164000000,240000000,148000000,"));
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_each_device_a_row_with_all_waits_and_causes),
        cmocka_unit_test(quotes_as_rfc_4180_says),
        cmocka_unit_test(leaves_fields_empty_that_are_not_known),
        cmocka_unit_test(the_control_parts_of_each_cause_add_up),
        cmocka_unit_test(has_a_table_of_nodes_and_one_of_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
