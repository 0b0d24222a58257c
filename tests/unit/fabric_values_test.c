/* What links are worth: by hand, and against the same step played with the tier widened. */
#include "study/fabric_study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    weir_fabric_scenario scenario;
    weir_result *result;
    weir_lines lines;
} studied;

static void study(studied *s, const char *text)
{
    weir_err err = {0};
    *s = (studied){.result = weir_result_new()};
    weir_fabric_options options = {.threads = 1, .details = true};
    if (weir_fabric_scenario_parse("t.yaml", text, strlen(text), NULL, 0, &s->scenario, &err) !=
            WEIR_OK ||
        weir_fabric_study(&s->scenario, &options, s->result, NULL, &s->lines, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
}

static void clear(studied *s)
{
    weir_lines_clear(&s->lines);
    weir_result_free(s->result);
    weir_fabric_scenario_clear(&s->scenario);
}

static void assert_near(double found, double expected, double share)
{
    if (!(fabs(found - expected) <= share * fabs(expected))) {
        fail_msg("found %.12g, expected %.12g", found, expected);
    }
}

/* 500 MB at 50 GB/s through one port: 10 ms, three times a step, half of the peak by efficiency. */
static void a_port_that_all_wait_for_is_worth_its_share_of_the_step(void **state)
{
    (void)state;
    studied s;
    study(&s,
          "name: t\n"
          "cluster: {nodes: 4, devices: 1, nic: cx7-400g}\n"
          "candidates:\n"
          "  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g, efficiency: 0.5}\n"
          "traffic:\n"
          "  phases:\n"
          "    - {name: s, compute: 1 ms, pattern: shift, degree: 1, bytes: 500 MB, times: 3}\n");
    const weir_fabric_result *fabric = s.result->fabric;
    double step_s = 3 * 20e-3;
    assert_int_equal(fabric->value_count, 1);
    const weir_fabric_value_row *row = &fabric->values[0];
    assert_string_equal(row->tier, "between_nodes");
    assert_int_equal(row->multiplicity, 8); /* 4 cables, both ways */
    assert_near(row->structure_s_per_percent, step_s * 0.01, 1e-9);
    assert_near(row->marginal_s_per_percent, step_s * (1 - 1 / 1.01), 1e-9);
    assert_near(row->loss_s_per_percent, step_s * (1 / 0.99 - 1), 1e-9);
    /* played: ends are whole ns */
    assert_near(row->marginal_s_per_percent,
                fabric->candidates[0].marginal_s_per_percent[WEIR_TIER_BETWEEN_NODES], 1e-5);
    clear(&s);
}

/* Half of 64 ports up, 32 hosts each on two leaves: sprayed, ports and uplinks are full at once. */
static void at_a_tie_more_gains_nothing_and_less_costs(void **state)
{
    (void)state;
    studied s;
    study(&s, "name: t\n"
              "cluster: {nodes: 64, devices: 1, nic: cx7-400g}\n"
              "candidates:\n"
              "  - {name: A, kind: clos, tiers: 2, switch: quantum2-400g, routing: spray,\n"
              "     efficiency: 1}\n"
              "traffic:\n"
              "  phases:\n"
              "    - {name: s, pattern: shift, degree: 32, bytes: 500 MB}\n");
    const weir_fabric_result *fabric = s.result->fabric;
    assert_true(fabric->value_count >= 1);
    const weir_fabric_value_row *row = &fabric->values[0];
    assert_near(row->structure_s_per_percent, 10e-3 * 0.01, 1e-9);
    assert_true(fabs(row->marginal_s_per_percent) < 1e-12);
    assert_near(row->loss_s_per_percent, 10e-3 * (1 / 0.99 - 1), 1e-9);
    clear(&s);
}

/* 64 hosts, 16 of 48 up: between leaves 11 uplinks carry what 32 send; ports are not full. */
static void the_oversubscribed_tier_has_all_the_value(void **state)
{
    (void)state;
    studied s;
    study(&s, "name: t\n"
              "cluster: {nodes: 64, devices: 1, nic: cx7-400g}\n"
              "candidates:\n"
              "  - {name: A, kind: clos, tiers: 2, switch: quantum2-400g, routing: spray,\n"
              "     oversubscription: 3, efficiency: 1}\n"
              "traffic:\n"
              "  phases:\n"
              "    - {name: s, pattern: shift, degree: 32, bytes: 500 MB}\n");
    const weir_fabric_result *fabric = s.result->fabric;
    double step_s = 10e-3 * 32 / 11;
    assert_int_equal(fabric->value_count, 1);
    const weir_fabric_value_row *row = &fabric->values[0];
    assert_string_equal(row->tier, "between_racks");
    assert_int_equal(row->multiplicity, 2 * 11 * 2);
    assert_near(row->structure_s_per_percent, step_s * 0.01, 1e-9);
    assert_near(row->marginal_s_per_percent, step_s * (1 - 1 / 1.01), 1e-9);
    assert_near(row->marginal_s_per_percent,
                fabric->candidates[0].marginal_s_per_percent[WEIR_TIER_BETWEEN_RACKS], 1e-5);
    clear(&s);
}

/* Three senders, one receiver: 1.5 GB through its port at 50 GB/s, 30 ms twice, after 20 ms. */
static void the_port_of_an_incast_is_worth_all_by_itself(void **state)
{
    (void)state;
    studied s;
    study(&s, "name: t\n"
              "cluster: {nodes: 4, devices: 1, nic: cx7-400g}\n"
              "candidates:\n"
              "  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g, efficiency: 1}\n"
              "traffic:\n"
              "  phases:\n"
              "    - {name: s, compute: 10 ms, pattern: incast, bytes: 500 MB, times: 2}\n");
    const weir_fabric_result *fabric = s.result->fabric;
    double moving_s = 2 * 30e-3, step_s = moving_s + 20e-3;
    assert_int_equal(fabric->single_count, 1);
    const weir_fabric_single_row *row = &fabric->singles[0];
    assert_string_equal(row->link, fabric->values[0].link);
    assert_string_equal(row->tier, "between_nodes");
    assert_near(row->pace_share, moving_s / step_s, 1e-4); /* latency is part of the step */
    assert_near(row->structure_s_per_percent, moving_s * 0.01, 1e-9);
    assert_near(row->marginal_s_per_percent, moving_s * (1 - 1 / 1.01), 1e-9);
    assert_near(row->loss_s_per_percent, moving_s * (1 / 0.99 - 1), 1e-9);
    clear(&s);
}

/* Four ports are full at once: one alone gains nothing, and costs as much as all. */
static void one_of_many_that_are_full_gains_nothing(void **state)
{
    (void)state;
    studied s;
    study(&s, "name: t\n"
              "cluster: {nodes: 4, devices: 1, nic: cx7-400g}\n"
              "candidates:\n"
              "  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g, efficiency: 1}\n"
              "traffic:\n"
              "  phases:\n"
              "    - {name: s, pattern: shift, degree: 1, bytes: 500 MB}\n");
    const weir_fabric_result *fabric = s.result->fabric;
    assert_true(fabric->single_count >= 1);
    assert_true(fabs(fabric->singles[0].marginal_s_per_percent) < 1e-12);
    assert_near(fabric->singles[0].loss_s_per_percent, 10e-3 * (1 / 0.99 - 1), 1e-9);
    assert_near(fabric->singles[0].pace_share, 1, 1e-3);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_that_all_wait_for_is_worth_its_share_of_the_step),
        cmocka_unit_test(at_a_tie_more_gains_nothing_and_less_costs),
        cmocka_unit_test(the_oversubscribed_tier_has_all_the_value),
        cmocka_unit_test(the_port_of_an_incast_is_worth_all_by_itself),
        cmocka_unit_test(one_of_many_that_are_full_gains_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
