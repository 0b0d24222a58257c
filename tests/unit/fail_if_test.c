#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/fail_if.h"

#include <string.h>

static bool is_met(const char *text, const weir_result *result)
{
    weir_err err = {0};
    fail_condition condition;
    assert_int_equal(fail_if_parse(text, &condition, &err), WEIR_OK);
    return fail_if_met(&condition, result);
}

/* dependency is exactly 30 % of the time, communication.all_reduce a third. */
static weir_result thirty_percent(void)
{
    weir_result result = {0};
    result.total.wall_ns = 3000;
    result.total.waits.ns[WEIR_WAIT_DEPENDENCY] = 900;
    result.total.causes.ns[WEIR_CAUSE_COMMUNICATION_ALL_REDUCE] = 1000;
    return result;
}

static void relations_differ_where_the_share_is_the_limit(void **state)
{
    weir_result result = thirty_percent();
    assert_false(is_met("dependency>30%", &result));
    assert_true(is_met("dependency>=30%", &result));
    assert_true(is_met("dependency <= 30 %", &result));
    assert_false(is_met("dependency<30%", &result));
    assert_true(is_met("dependency>29.999999%", &result));
    assert_true(is_met("dependency<30.000001%", &result));
}

static void a_cause_is_named_with_its_wait(void **state)
{
    weir_result result = thirty_percent();
    assert_true(is_met("communication.all_reduce>33.333333%", &result));
    assert_false(is_met("communication.all_reduce>33.333334%", &result));
    assert_false(is_met("communication>0%", &result));
}

static void shares_of_long_runs_do_not_overflow(void **state)
{
    weir_result result = {0};
    result.total.wall_ns = INT64_MAX;
    result.total.waits.ns[WEIR_WAIT_CACHE] = INT64_MAX / 2;
    assert_true(is_met("cache<50%", &result));
    assert_true(is_met("cache>49.999999%", &result));
}

static void the_share_is_shown_in_tenths_of_a_percent(void **state)
{
    weir_result result = thirty_percent();
    weir_err err = {0};
    fail_condition condition;
    assert_int_equal(fail_if_parse("communication.all_reduce>1%", &condition, &err), WEIR_OK);
    assert_int_equal(fail_if_permille(&condition, &result), 333);
    result.total.wall_ns = 0;
    assert_int_equal(fail_if_permille(&condition, &result), 0);
}

static void what_is_no_condition_is_refused(void **state)
{
    static const char *const BAD[] = {"dependency",       "dependency>30",  "dependancy>30%",
                                      "dependency>%",     ">30%",           "dependency=30%",
                                      "dependency>30%%",  "dependency.>3%", "dependency>-3%",
                                      "dependency.nap>3%"};
    for (uint32_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        weir_err err = {0};
        fail_condition condition = {.text = "untouched"};
        assert_int_equal(fail_if_parse(BAD[i], &condition, &err), WEIR_ERR_USAGE);
        assert_non_null(strstr(err.text, "--fail-if"));
        assert_string_equal(condition.text, "untouched");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relations_differ_where_the_share_is_the_limit),
        cmocka_unit_test(a_cause_is_named_with_its_wait),
        cmocka_unit_test(shares_of_long_runs_do_not_overflow),
        cmocka_unit_test(the_share_is_shown_in_tenths_of_a_percent),
        cmocka_unit_test(what_is_no_condition_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
