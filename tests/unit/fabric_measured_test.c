#include "study/fabric_study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Scenarios of systems that were measured (data/collectives/measured.csv; the step is one
 * collective). The bound is the one that the accuracy of large sizes is held to. */
static const double bound = 0.12;

static void all_reduce(const char *cluster, const char *phase, weir_result **result,
                       weir_fabric_scenario *scenario)
{
    weir_text text = {0};
    weir_err err = {0};
    weir_fabric_options options = {.threads = 1};
    *scenario = (weir_fabric_scenario){0};
    *result = weir_result_new();
    weir_text_printf(&text,
                     "name: t\ncluster: {accelerator: h100-sxm, nodes: 2, devices: 8, "
                     "library: nccl-2.27, %s}\n"
                     "traffic:\n  phases:\n    - {name: g, collective: all_reduce, %s}\n"
                     "candidates:\n  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g}\n",
                     cluster, phase);
    if (weir_fabric_scenario_parse("t.yaml", text.p, text.n, NULL, 0, scenario, &err) != WEIR_OK ||
        weir_fabric_study(scenario, &options, *result, NULL, NULL, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_text_clear(&text);
}

static double step_s(const char *cluster, const char *phase, bool *told)
{
    weir_result *result = NULL;
    weir_fabric_scenario scenario;
    all_reduce(cluster, phase, &result, &scenario);
    double seconds = result->fabric->candidates[0].step_s;
    *told = false;
    for (uint32_t i = 0; i < result->note_count; i++) {
        *told = *told || strstr(result->notes[i], "the nearest in rate");
    }
    weir_result_free(result);
    weir_fabric_scenario_clear(&scenario);
    return seconds;
}

/* Azure ND H100 v5, 8 GPUs, "NVLink4 NVLS": 4029.3 us for 1 GiB, 31391.4 us for 8 GiB (479 GB/s of
 * bus bandwidth). A ring cannot: 7/8 x 2 x 8 GiB over 370 GB/s (nccl-tests issue 212) is 40.6 ms.
 */
static void eight_h100_reduce_in_their_switches_as_measured(void **state)
{
    (void)state;
    static const char links[] = "node_link: nvlink4, nic: cx7-400g";
    bool told;
    double one_gib_s = step_s(links, "group: {size: 8, stride: 1}, bytes: 1 GiB", &told);
    assert_true(fabs(one_gib_s / 4029.3e-6 - 1) <= bound);
    assert_false(told);
    double eight_gib_s = step_s(links, "group: {size: 8, stride: 1}, bytes: 8 GiB", &told);
    assert_true(fabs(eight_gib_s / 31391.4e-6 - 1) <= bound);
    assert_true(eight_gib_s < 0.9 * 40.6e-3);
}

/* AWS p5.48xlarge, 2 x 8 GPUs, EFA: 601.5 us for 64 MiB, 4607.6 us for 1 GiB, 17286 us for 4 GiB.
 */
static void two_nodes_over_efa_take_what_was_measured(void **state)
{
    (void)state;
    static const struct {
        const char *phase;
        double seconds;
    } rows[] = {
        {"bytes: 64 MiB", 601.5e-6}, {"bytes: 1 GiB", 4607.6e-6}, {"bytes: 4 GiB", 17286e-6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool told;
        double seconds = step_s("node_link: nvlink4, nic: efa-p5", rows[i].phase, &told);
        assert_true(fabs(seconds / rows[i].seconds - 1) <= bound);
        assert_false(told);
    }
}

/* A ConnectX-7 may speak InfiniBand or Ethernet: the library has both, not the card. */
static void links_that_the_library_does_not_know_go_by_their_rate_and_that_is_told(void **state)
{
    (void)state;
    bool card_told, own_told;
    double card_s = step_s("node_link: nvlink4, nic: cx7-400g", "bytes: 1 GiB", &card_told);
    double own_s = step_s("node_link: {kind: switched, rate: 450 GB/s}, nic: {rate: 400 Gb/s}",
                          "bytes: 1 GiB", &own_told);
    assert_true(fabs(own_s / card_s - 1) < 1e-6);
    assert_true(card_told);
    assert_true(own_told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_h100_reduce_in_their_switches_as_measured),
        cmocka_unit_test(two_nodes_over_efa_take_what_was_measured),
        cmocka_unit_test(links_that_the_library_does_not_know_go_by_their_rate_and_that_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
