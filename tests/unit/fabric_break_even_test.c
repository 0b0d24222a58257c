/* Break-evens that are played against their closed forms. */
#include "study/fabric_break_even.h"

#include "fabric/circuit_rule.h"
#include "study/fabric_study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* network-oracles.md, E9: a ring of circuits of 50 GB/s between 8 blocks of one device; each sends
 * 100 MB to its neighbour, then 100 MB to the block k further on. Either the ring stays and the
 * second message crosses k circuits, or circuits are set again. */
static weir_fabric_scenario read_ring(uint32_t distance)
{
    weir_fabric_scenario scenario = {0};
    weir_err err = {0};
    weir_text text = {0};
    weir_text_printf(
        &text,
        "name: e9\n"
        "cluster:\n"
        "  {nodes: 8, devices: 1, node_link: none,\n"
        "   nic: {rate: 400 Gb/s, latency: 0 s, watts: 0 W}}\n"
        "traffic:\n"
        "  phases:\n"
        "    - {name: near, compute: 1 s, pattern: ring, bytes: 100 MB, axis: a}\n"
        "    - {name: far, pattern: shift, degree: %u, bytes: 100 MB, axis: a}\n"
        "candidates:\n"
        "  - name: F\n"
        "    kind: ocs-phase\n"
        "    blocks: leaf\n"
        "    uplinks: 1\n"
        "    efficiency: 1\n"
        "    module: 400g-dr4\n"
        "    lengths: [0 m, 0 m, 0 m]\n"
        "    switch: {ports: 2, rate: 400 Gb/s, latency: 0 s, watts: 0 W}\n"
        "    ocs: {ports: 16, circulators: false, switching: 1 ms, linkup: 0 s, loss: 0 dB,\n"
        "          watts: 0 W}\n",
        distance);
    if (weir_fabric_scenario_parse("e9.yaml", text.p, text.n, NULL, 0, &scenario, &err) !=
        WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_text_clear(&text);
    return scenario;
}

typedef struct {
    const weir_fabric_scenario *scenario;
    double stays_s; /* the step where circuits stay */
} search;

static double step_at(const weir_fabric_scenario *scenario, double switch_s, double changing)
{
    weir_fabric_variant variant = {0};
    weir_fabric_play play = {0};
    weir_err err = {0};
    assert_int_equal(weir_fabric_variant_make(scenario, &variant, &err), WEIR_OK);
    variant.scenario.candidates[0].switch_s = switch_s;
    weir_fabric_wish wish = {.scenario = &variant.scenario, .changing_share = changing};
    if (weir_fabric_play_run(&wish, &play, &err) != WEIR_OK || play.refused) {
        fail_msg("%s%s", err.text, play.refused ? play.refused : "");
    }
    double step_s = play.step_s;
    weir_fabric_play_clear(&play);
    weir_fabric_variant_clear(&variant);
    return step_s;
}

static weir_code saved(void *context, double switch_s, double *value, weir_err *err)
{
    const search *s = context;
    (void)err;
    *value = step_at(s->scenario, switch_s, 0) - s->stays_s;
    return WEIR_OK;
}

static void circuits_are_set_again_up_to_the_time_of_the_closed_form(void **state)
{
    static const struct {
        uint32_t distance;
        double expected_s;
    } cases[] = {{2, 2e-3}, {4, 6e-3}}; /* (k - 1) m / B, as the oracles print them */
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        weir_fabric_scenario scenario = read_ring(cases[i].distance);
        search s = {&scenario, step_at(&scenario, 1000, 0)};
        weir_fabric_difference function = {&s, saved};
        weir_fabric_bracket bracket = {1e-6, 1, 0.01, true};
        double root = 0;
        int sign = 0;
        assert_int_equal(weir_fabric_bisect(&function, &bracket, &root, &sign, NULL), WEIR_OK);
        assert_int_equal(sign, -1);
        assert_true(fabs(root / cases[i].expected_s - 1) < 0.01);
        double closed_s = weir_circuit_break_even_s(cases[i].distance, 100e6, 50e9);
        assert_true(fabs(root / closed_s - 1) < 0.01);
        weir_fabric_scenario_clear(&scenario);
    }
}

/* The step is its parts: 1 s of computing, 2 ms, the setting, 2 ms; forwarding takes 4 x 2 ms. The
 * links' latencies (100 ns a module, each way of a message has two to five) are all that is left.
 */
static void the_step_waits_for_circuits_as_long_as_they_take(void **state)
{
    (void)state;
    weir_fabric_scenario scenario = read_ring(4);
    assert_true(fabs(step_at(&scenario, 3e-3, 0) - 1.007) < 3e-6);
    assert_true(fabs(step_at(&scenario, 1000, 0) - 1.010) < 3e-6);
    weir_fabric_scenario_clear(&scenario);
}

/* Without computing both settings of a step are waited for: the job repeats. 2 + 2 ms and twice
 * half a millisecond; slack of a quarter hides as much of one of them. */
static void circuits_are_set_back_for_the_next_step(void **state)
{
    (void)state;
    weir_fabric_scenario scenario = read_ring(4);
    weir_fabric_variant variant = {0};
    assert_int_equal(weir_fabric_variant_make(&scenario, &variant, NULL), WEIR_OK);
    variant.scenario.phases[0].compute_s = 0;
    assert_true(fabs(step_at(&variant.scenario, 0.5e-3, 0) - 5e-3) < 3e-6);
    variant.scenario.phases[0].slack_s = 0.25e-3;
    assert_true(fabs(step_at(&variant.scenario, 0.5e-3, 0) - 4.75e-3) < 3e-6);
    weir_fabric_variant_clear(&variant);
    weir_fabric_scenario_clear(&scenario);
}

/* Traffic that changes needs circuits to be set before a share of its repetitions. */
static void traffic_that_changes_waits_for_its_share_of_settings(void **state)
{
    (void)state;
    weir_fabric_scenario scenario = read_ring(2);
    weir_fabric_variant variant = {0};
    assert_int_equal(weir_fabric_variant_make(&scenario, &variant, NULL), WEIR_OK);
    variant.scenario.phase_count = 1; /* only the neighbours */
    variant.scenario.phases[0].compute_s = 0;
    variant.scenario.phases[0].times = 100;
    double stays_s = step_at(&variant.scenario, 3e-3, 0);
    assert_true(fabs(stays_s - 100 * 2e-3) < 100e-6);
    for (uint32_t tenths = 1; tenths <= 10; tenths += 3) {
        double changes_s = step_at(&variant.scenario, 3e-3, tenths / 10.0);
        double settings = 10.0 * tenths;
        assert_true(fabs(changes_s - stays_s - settings * 3e-3) <= 3.001e-3);
    }
    weir_fabric_variant_clear(&variant);
    weir_fabric_scenario_clear(&scenario);
}

/* What never crosses a circuit waits for none, however its partners change. */
static void traffic_inside_nodes_waits_for_no_circuits(void **state)
{
    static const char text[] =
        "name: t\n"
        "cluster: {nodes: 4, devices: 2, node_link: nvlink4,\n"
        "          nic: {rate: 400 Gb/s, latency: 0 s, watts: 0 W}}\n"
        "traffic:\n"
        "  phases:\n"
        "    - {name: inside, collective: all_reduce, group: {size: 2}, bytes: 1 MB, times: 50,\n"
        "       axis: tensor}\n"
        "    - {name: between, pattern: shift, degree: 2, bytes: 100 MB, times: 10, axis: data}\n"
        "candidates:\n"
        "  - {name: F, kind: ocs-job, blocks: leaf, uplinks: 2, efficiency: 1, module: 400g-dr4,\n"
        "     switch: {ports: 4, rate: 400 Gb/s, latency: 0 s, watts: 0 W},\n"
        "     ocs: {ports: 16, circulators: false, switching: 1 ms, linkup: 0 s, loss: 0 dB,\n"
        "           watts: 0 W}}\n";
    (void)state;
    weir_fabric_scenario scenario = {0};
    weir_err err = {0};
    if (weir_fabric_scenario_parse("t.yaml", text, strlen(text), NULL, 0, &scenario, &err) !=
        WEIR_OK) {
        fail_msg("%s", err.text);
    }
    double more_s = step_at(&scenario, 3e-3, 1) - step_at(&scenario, 3e-3, 0);
    assert_true(fabs(more_s - 10 * 3e-3) <= 3.001e-3); /* ten, the first perhaps set before */
    weir_fabric_scenario_clear(&scenario);
}

/* Built and planned once, played with one share of changing traffic after the other. */
static void what_is_kept_plays_as_what_is_built_anew(void **state)
{
    static const double shares[] = {1, 0.25, 0.5, 0.9, 0.25};
    (void)state;
    weir_fabric_scenario scenario = read_ring(2);
    scenario.phase_count = 1;         /* only the neighbours */
    scenario.phases[0].compute_s = 0; /* else it hides the settings */
    scenario.phases[0].times = 100;
    weir_fabric_play kept = {0};
    weir_err err = {0};
    double before_s = 0;
    uint32_t differ = 0;
    for (uint32_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        weir_fabric_wish wish = {.scenario = &scenario, .changing_share = shares[i], .kept = &kept};
        weir_fabric_play play = {0};
        assert_int_equal(weir_fabric_play_run(&wish, &play, &err), WEIR_OK);
        assert_null(play.refused);
        double step_s = step_at(&scenario, scenario.candidates[0].switch_s, shares[i]);
        assert_memory_equal(&play.step_s, &step_s, sizeof step_s);
        weir_fabric_play_clear(&play);
        assert_non_null(kept.network.layout);
        differ += fabs(step_s - before_s) > 0;
        before_s = step_s;
    }
    assert_true(differ > 2);
    weir_fabric_play_clear(&kept);
    weir_fabric_scenario_clear(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circuits_are_set_again_up_to_the_time_of_the_closed_form),
        cmocka_unit_test(the_step_waits_for_circuits_as_long_as_they_take),
        cmocka_unit_test(circuits_are_set_back_for_the_next_step),
        cmocka_unit_test(traffic_that_changes_waits_for_its_share_of_settings),
        cmocka_unit_test(traffic_inside_nodes_waits_for_no_circuits),
        cmocka_unit_test(what_is_kept_plays_as_what_is_built_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
