#include "study/fabric_judge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const weir_circuit_rule rule = {
    .bytes_per_s = 50e9, .delay_s = 10e-3, .duty_share = 0.9, .ports = 4};

static void assert_judged(const weir_judge_flow *flow, weir_carrier expected, const char *clause)
{
    weir_text because = {0};
    assert_int_equal(weir_fabric_judge_flow(&rule, 0.01, flow, &because), expected);
    assert_string_equal(because.p, clause);
    weir_text_clear(&because);
}

/* 9 d B = 9 x 10 ms x 50 GB/s = 4.5 GB: network-oracles.md, E10. */
static void a_circuit_pays_from_nine_times_what_passes_while_it_is_set(void **state)
{
    (void)state;
    weir_judge_flow flow = {{.bytes = 4e9, .slack_s = 1, .persistence = 0, .fan_out = 1}, 0.5};
    assert_judged(&flow, WEIR_CARRIER_PACKETS_BYTES,
                  "4.00 GB to a partner, and a circuit pays from 4.50 GB for each time that it is "
                  "set");
    flow.flow.bytes = 5e9;
    assert_judged(&flow, WEIR_CARRIER_LIGHT,
                  "5.00 GB to each of 1 partner, enough for each time that circuits are set");
    flow.flow.bytes = 4e9;
    flow.flow.persistence = 0.5; /* set every second period: 8 GB each time */
    assert_judged(&flow, WEIR_CARRIER_LIGHT,
                  "4.00 GB to each of 1 partner, enough for each time that circuits are set");
}

static void partners_need_ports_and_settings_need_slack(void **state)
{
    (void)state;
    weir_judge_flow flow = {{.bytes = 9e9, .slack_s = 1, .persistence = 0, .fan_out = 5}, 0.5};
    assert_judged(&flow, WEIR_CARRIER_PACKETS_FAN_OUT,
                  "5 partners at a time, more than the 4 circuits");
    flow.flow.fan_out = 4;
    flow.flow.slack_s = 4e-3;
    assert_judged(&flow, WEIR_CARRIER_PACKETS_SLACK,
                  "circuits would be waited for: 10 ms to set them, 4.0 ms of computing before");
}

static void traffic_that_stays_suits_light_unless_its_circuit_is_idle(void **state)
{
    (void)state;
    weir_judge_flow flow = {{.bytes = 1e6, .persistence = 1, .fan_out = 2}, 0.2};
    assert_judged(&flow, WEIR_CARRIER_LIGHT, "1.00 MB to each of 2 partners, always the same");
    flow.use_share = 0.004;
    assert_judged(&flow, WEIR_CARRIER_PACKETS_BYTES,
                  "a circuit of its own would be idle 99.6 % of the time");
}

static void the_built_in_kinds_have_their_figures(void **state)
{
    (void)state;
    weir_contrast contrast = {0};
    weir_err err = {0};
    assert_int_equal(weir_contrast_load(&contrast, &err), WEIR_OK);
    assert_int_equal(contrast.count, 3);
    assert_string_equal(contrast.rows[0].name, "enterprise");
    assert_true(contrast.rows[0].is_contrast);
    assert_true(contrast.rows[0].message_bytes == 10e3); /* Benson et al., IMC 2010 */
    assert_true(contrast.rows[0].fan_out == 6);          /* Kandula et al., IMC 2009: 2 + 4 */
    assert_true(isnan(contrast.rows[0].synchrony));
    assert_true(contrast.duty_share == 0.9);
    weir_contrast_clear(&contrast);
}

static const char scenario_text[] =
    "name: t\n"
    "cluster: {nodes: 8, devices: 2, node_link: nvlink4, nic: cx7-400g}\n"
    "candidates:\n"
    "  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g}\n"
    "traffic:\n"
    "  phases:\n"
    "    - {name: t, compute: 1 ms, collective: all_reduce, group: {size: 2}, bytes: 8 MB,\n"
    "       axis: tensor}\n"
    "    - {name: s1, compute: 2 ms, pattern: shift, degree: 2, bytes: 30 MB, axis: stage}\n"
    "    - {name: s2, compute: 6 ms, pattern: shift, degree: 2, bytes: 60 MB, axis: stage}\n"
    "    - {name: x1, pattern: shift, degree: 2, bytes: 1 MB, axis: moving}\n"
    "    - {name: x2, pattern: shift, degree: 4, bytes: 1 MB, axis: moving}\n"
    "    - {name: in, pattern: incast, degree: 15, bytes: 1 GB, axis: gathered}\n";

static void figures_of_an_axis_are_those_of_its_phases(void **state)
{
    (void)state;
    weir_fabric_scenario scenario = {0};
    weir_err err = {0};
    weir_result *result = weir_result_new();
    if (weir_fabric_scenario_parse("t.yaml", scenario_text, strlen(scenario_text), NULL, 0,
                                   &scenario, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_fabric_result fabric = {0};
    weir_judge_input input = {&scenario, {.rule = rule}, NULL};
    result->fabric = &fabric;
    assert_int_equal(weir_fabric_judge(&input, result, &err), WEIR_OK);
    assert_int_equal(fabric.traffic_count, 4 + 3);
    const weir_fabric_traffic_row *tensor = &fabric.traffic[0], *stage = &fabric.traffic[1];
    const weir_fabric_traffic_row *moving = &fabric.traffic[2];
    assert_string_equal(tensor->because, "it never leaves its node");
    assert_string_equal(tensor->suits, "packets");
    assert_true(isnan(tensor->peak_to_mean));
    /* 16 devices send 30 MB, then 60 MB; each needs 60 MB in 6 ms, or 30 MB in 2 ms. */
    assert_true(stage->bytes == 16 * 90e6);
    assert_true(stage->message_bytes == 45e6);
    assert_true(stage->needed_bytes_per_s == 30e6 / 2e-3);
    assert_true(stage->fan_out == 1);
    assert_true(isnan(stage->duty)); /* nothing was played */
    /* A node sends to one of seven others: its cell is 7 times the mean. */
    assert_true(fabs(stage->peak_to_mean - 7) < 1e-9);
    /* Same partners, 30 and 60 MB: 1 - 1/2 30/45 both ways; other partners: nothing stays. */
    assert_true(fabs(stage->persistence - (1 - 0.5 * 30 / 45)) < 1e-9);
    assert_true(fabs(moving->persistence) < 1e-9);
    assert_string_equal(moving->suits, "packets");
    /* 15 senders on 8 nodes, all to the first device: its node hears from 7 others. */
    assert_string_equal(fabric.traffic[3].suits, "packets");
    assert_string_equal(fabric.traffic[3].because,
                        "7 partners at a time, more than the 4 circuits");
    weir_result_free(result);
    weir_fabric_scenario_clear(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circuit_pays_from_nine_times_what_passes_while_it_is_set),
        cmocka_unit_test(partners_need_ports_and_settings_need_slack),
        cmocka_unit_test(traffic_that_stays_suits_light_unless_its_circuit_is_idle),
        cmocka_unit_test(the_built_in_kinds_have_their_figures),
        cmocka_unit_test(figures_of_an_axis_are_those_of_its_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
