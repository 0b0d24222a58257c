/* Sweeps: order of rows, reasons, and that threads change nothing. */
#include "study/train_sweep.h"

#include "report/train_sweep_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

static const char base[] = "name: eight\n"
                           "model: llama3-8b\n"
                           "cluster: {accelerator: h100-sxm, nodes: 1}\n"
                           "plan: {sequence: 8192, global_batch: 64, zero: 3}\n";

static weir_code sweep_on(const char *const *texts, uint32_t count, uint32_t threads,
                          weir_arena *arena, weir_train_sweep *sweep, weir_err *err)
{
    weir_sweep_axis axes[WEIR_SWEEP_AXES];
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(weir_sweep_parse(texts[i], arena, &axes[i], err), WEIR_OK);
    }
    const weir_train_sweep_request request = {.name = "job.yaml",
                                              .bytes = base,
                                              .n = sizeof base - 1,
                                              .axes = axes,
                                              .axis_count = count,
                                              .threads = threads};
    return weir_train_sweep_run(&request, arena, sweep, err);
}

static void the_last_key_goes_round_first(void **state)
{
    static const char *const axes[] = {"plan.tensor=1,2", "plan.micro_batch=1,2,4"};
    weir_arena *arena = weir_arena_new();
    weir_train_sweep sweep;
    weir_err err = {0};
    assert_int_equal(sweep_on(axes, 2, 1, arena, &sweep, &err), WEIR_OK);
    assert_string_equal(sweep.scenario_name, "eight");
    assert_int_equal(sweep.row_count, 6);
    assert_string_equal(sweep.rows[1].values[0], "1");
    assert_string_equal(sweep.rows[1].values[1], "2");
    assert_string_equal(sweep.rows[3].values[0], "2");
    assert_string_equal(sweep.rows[3].values[1], "1");
    weir_arena_free(arena);
}

static void the_waits_of_a_row_add_up_to_its_step(void **state)
{
    static const char *const axes[] = {"plan.tensor=1,8"};
    weir_arena *arena = weir_arena_new();
    weir_train_sweep sweep;
    weir_err err = {0};
    assert_int_equal(sweep_on(axes, 1, 1, arena, &sweep, &err), WEIR_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const weir_train_sweep_row *row = &sweep.rows[i];
        double sum = 0;
        for (int w = 0; w < WEIR_WAIT_COUNT; w++) {
            sum += row->wait_s[w];
        }
        assert_true(fabs(sum / row->step_s - 1) < 1e-9);
        assert_true(fabs(row->tokens_per_s * row->step_s - 64 * 8192) < 1e-3);
        assert_true(fabs(row->tokens_per_s_per_device * 8 - row->tokens_per_s) < 1e-6);
    }
    weir_arena_free(arena);
}

static void what_is_wrong_with_all_plans_alike_is_an_error(void **state)
{
    (void)state;
    static const char *const axes[] = {"plan.tensr=2,4"};
    weir_arena *arena = weir_arena_new();
    weir_train_sweep sweep;
    weir_err err = {0};
    assert_int_equal(sweep_on(axes, 1, 1, arena, &sweep, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text,
                        "--sweep: no plan is possible: found unknown key 'tensr', expected "
                        "'tensor'");
    weir_arena_free(arena);
}

static void plans_that_make_no_sense_say_why(void **state)
{
    static const char *const axes[] = {"plan.tensor=3,8"};
    weir_arena *arena = weir_arena_new();
    weir_train_sweep sweep;
    weir_err err = {0};
    assert_int_equal(sweep_on(axes, 1, 1, arena, &sweep, &err), WEIR_OK);
    assert_non_null(strstr(sweep.rows[0].refused, "found 3, by which the heads (32)"));
    assert_null(strstr(sweep.rows[0].refused, "--set"));
    assert_null(sweep.rows[1].refused);
    assert_int_equal(sweep.best, 1);
    weir_arena_free(arena);
}

static void what_does_not_fit_is_never_best(void **state)
{
    static const char *const axes[] = {"plan.micro_batch=1,8"};
    weir_arena *arena = weir_arena_new();
    weir_train_sweep sweep;
    weir_err err = {0};
    assert_int_equal(sweep_on(axes, 1, 1, arena, &sweep, &err), WEIR_OK);
    assert_true(sweep.rows[0].fits == (sweep.rows[0].memory_bytes <= sweep.rows[0].capacity_bytes));
    assert_false(sweep.rows[1].fits);
    assert_true(sweep.best != 1);
    weir_arena_free(arena);
}

static void threads_change_nothing(void **state)
{
    static const char *const axes[] = {"plan.tensor=1,2,3,4,8", "plan.micro_batch=1,2,3,4",
                                       "plan.recompute=none,full"};
    weir_text csv[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        weir_arena *arena = weir_arena_new();
        weir_train_sweep sweep;
        weir_err err = {0};
        assert_int_equal(sweep_on(axes, 3, i ? 3 : 1, arena, &sweep, &err), WEIR_OK);
        assert_int_equal(weir_report_train_sweep_csv(&csv[i], &sweep, &err), WEIR_OK);
        weir_arena_free(arena);
    }
    assert_string_equal(csv[0].p, csv[1].p);
    weir_text_clear(&csv[0]);
    weir_text_clear(&csv[1]);
}

static void a_key_given_twice_is_refused(void **state)
{
    static const char *const axes[] = {"plan.tensor=1,2", "plan.tensor=4"};
    weir_arena *arena = weir_arena_new();
    weir_train_sweep sweep;
    weir_err err = {0};
    assert_int_equal(sweep_on(axes, 2, 1, arena, &sweep, &err), WEIR_ERR_USAGE);
    assert_string_equal(err.text, "--sweep: plan.tensor is given twice");
    weir_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_key_goes_round_first),
        cmocka_unit_test(the_waits_of_a_row_add_up_to_its_step),
        cmocka_unit_test(what_is_wrong_with_all_plans_alike_is_an_error),
        cmocka_unit_test(plans_that_make_no_sense_say_why),
        cmocka_unit_test(what_does_not_fit_is_never_best),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_key_given_twice_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
