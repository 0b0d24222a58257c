#include "study/fabric_study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* As in fabric_study_test.c: a ring of four devices sends 1.5 GB at 50 GB/s in 30 ms after 10 ms of
 * computing, on B at half that rate in 60 ms. GH200 has no price of an hour in presets/prices. */
#define PRICED "{rate: 400 Gb/s, watts: 25 W, price: 1000 USD}"
#define SCENARIO(nic)                                                                              \
    "name: t\n"                                                                                    \
    "cluster: {accelerator: gh200, nodes: 2, devices: 2, node_link: none, nic: " nic "}\n"         \
    "economics: {electricity: 0.1 USD/kWh, pue: 1.5, life: 4 years, hours: 8000}\n"                \
    "traffic:\n"                                                                                   \
    "  phases:\n"                                                                                  \
    "    - {name: gradients, compute: 10 ms, collective: all_reduce, algorithm: ring,\n"           \
    "       bytes: 1 GB, axis: data}\n"                                                            \
    "candidates:\n"                                                                                \
    "  - {name: A, kind: clos, tiers: 1, efficiency: 1,\n"                                         \
    "     switch: {like: tomahawk5-400g, id: dear, price: 10000 USD}}\n"                           \
    "  - {name: B, kind: clos, tiers: 1, efficiency: 0.5,\n"                                       \
    "     switch: {like: tomahawk5-400g, id: cheap, price: 2000 USD}}\n"

static weir_result *study(const char *text, const char *hour)
{
    const weir_setting settings[] = {{"economics.gpu_hour", hour}};
    weir_fabric_scenario scenario = {0};
    weir_fabric_options options = {.threads = 1};
    weir_result *result = weir_result_new();
    weir_err err = {0};
    if (weir_fabric_scenario_parse("t.yaml", text, strlen(text), settings, hour ? 1 : 0, &scenario,
                                   &err) != WEIR_OK ||
        weir_fabric_study(&scenario, &options, result, NULL, NULL, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_fabric_scenario_clear(&scenario);
    return result;
}

/* A costs (10000 - 2000) / 4 = 2000 USD a year more; four devices wait 30 of 40 ms or 60 of 70 ms
 * of 8000 h: 3428.6 h less on A, so that it pays from 0.58 USD an hour on. */
static void without_an_hours_price_the_hour_that_decides_is_told(void **state)
{
    (void)state;
    weir_result *result = study(SCENARIO(PRICED), NULL);
    const weir_fabric_result *fabric = result->fabric;
    assert_int_equal(fabric->recommended, 0);
    assert_true(isnan(fabric->candidates[0].total_usd_per_year));
    assert_true(fabs(fabric->candidates[0].network_usd_per_year -
                     fabric->candidates[1].network_usd_per_year - 2000) < 1e-6);
    assert_string_equal(fabric->unpriced,
                        "no price of a device's hour (gpu_hour:gh200); B costs least in network "
                        "and power, 2.00 k$ a year less, and wins below $ 0.58 a device's hour");
    weir_result_free(result);
}

/* Nobody sells NICs of 123 Gb/s: no price goes by their rate. */
static void a_part_without_a_price_is_named_and_never_free(void **state)
{
    (void)state;
    weir_result *result = study(SCENARIO("{rate: 123 Gb/s, id: nameless}"), "2 USD");
    const weir_fabric_result *fabric = result->fabric;
    assert_true(isnan(fabric->candidates[0].total_usd_per_year));
    assert_true(isnan(fabric->candidates[0].usd));
    assert_true(isnan(fabric->candidates[0].watts));
    assert_string_equal(fabric->unpriced, "no price of nameless; no watts of nameless");
    weir_result_free(result);
}

static void nothing_is_missing_where_all_is_known(void **state)
{
    (void)state;
    weir_result *result = study(SCENARIO(PRICED), "0.5 USD");
    assert_null(result->fabric->unpriced);
    /* No candidate says which copper joins its four NICs. */
    assert_non_null(strstr(result->fabric->price_note,
                           "; 4 copper cables of each are not in the bills (`copper` names their "
                           "part)."));
    assert_int_equal(result->fabric->recommended, 1); /* below 0.58 USD */
    weir_result_free(result);
}

/* Leaves of four devices with one cable up: their NICs have four times what the cable has. */
static void the_bottleneck_is_a_link_of_the_tier_that_gains_most(void **state)
{
    (void)state;
    static const char text[] =
        "name: t\n"
        "cluster: {nodes: 8, devices: 1, node_link: none, nic: cx7-400g}\n"
        "traffic:\n"
        "  phases:\n"
        "    - {name: a, pattern: shift, degree: 4, bytes: 1 GB}\n"
        "candidates:\n"
        "  - {name: A, kind: clos, tiers: 2, oversubscription: [4, 1], efficiency: 1,\n"
        "     switch: {like: tomahawk5-400g, id: small, ports: 5}}\n";
    weir_fabric_scenario scenario = {0};
    weir_fabric_options options = {.threads = 1, .details = true};
    weir_result *result = weir_result_new();
    weir_err err = {0};
    if (weir_fabric_scenario_parse("t.yaml", text, strlen(text), NULL, 0, &scenario, &err) !=
            WEIR_OK ||
        weir_fabric_study(&scenario, &options, result, NULL, NULL, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    const weir_fabric_candidate_row *row = &result->fabric->candidates[0];
    /* 4 GB leave each leaf over one cable of 50 GB/s: 80 ms, and 1 % of them. */
    assert_true(fabs(row->bottleneck.marginal_s_per_percent - 0.080 * (1 - 1 / 1.01)) < 1e-8);
    assert_string_equal(row->bottleneck.tier, "between_racks");
    assert_string_equal(row->bottleneck.link, "leaf 0 -> spine 0");
    assert_true(row->marginal_s_per_percent[WEIR_TIER_BETWEEN_NODES] < 1e-9);
    weir_result_free(result);
    weir_fabric_scenario_clear(&scenario);
}

static bool is_told(const char *text, const char *words)
{
    weir_result *result = study(text, NULL);
    bool told = false;
    for (uint32_t i = 0; i < result->note_count; i++) {
        told = told || strstr(result->notes[i], words);
    }
    weir_result_free(result);
    return told;
}

#define FOUR_NICS                                                                                  \
    "name: t\n"                                                                                    \
    "cluster: {nodes: 4, devices: 1, node_link: none, nic: cx7-400g}\n"                            \
    "traffic: {phases: [{name: a, pattern: shift, bytes: 1 GB}]}\n"

/* Four NICs hang on a leaf: four uplinks do at 1:1, but a trunk of 16 is the least. */
static void uplinks_beyond_the_need_are_told(void **state)
{
    (void)state;
    static const char fitted[] =
        FOUR_NICS "candidates: [{name: A, kind: clos, tiers: 2, switch: quantum2-400g}]\n";
    static const char trunks[] = FOUR_NICS
        "candidates: [{name: A, kind: clos, tiers: 2, switch: quantum2-400g, trunk: [16, 0]}]\n";
    assert_false(is_told(fitted, "the uplinks that their NICs need"));
    assert_true(is_told(trunks, "leaves have 4 times the uplinks that their NICs need at 1:1"));
}

/* A NIC of 400 Gb/s over six ends with modules of 400 Gb/s each. */
static void circuits_beyond_the_rate_of_the_nics_are_told(void **state)
{
    (void)state;
    static const char circuits[] =
        FOUR_NICS "candidates: [{name: A, kind: ocs-job, blocks: nic, uplinks: 6, ocs: palomar,\n"
                  "              module: 400g-fr4-ocs, design: uniform}]\n";
    assert_true(is_told(circuits, "modules of circuits have 6 times the rate of the NICs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_hours_price_the_hour_that_decides_is_told),
        cmocka_unit_test(a_part_without_a_price_is_named_and_never_free),
        cmocka_unit_test(nothing_is_missing_where_all_is_known),
        cmocka_unit_test(uplinks_beyond_the_need_are_told),
        cmocka_unit_test(circuits_beyond_the_rate_of_the_nics_are_told),
        cmocka_unit_test(the_bottleneck_is_a_link_of_the_tier_that_gains_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
