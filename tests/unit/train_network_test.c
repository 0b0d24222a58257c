/* Factors of a step's traffic on networks: none where nothing is short, the share where it is. */
#include "study/train_network.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define JOB                                                                                        \
    "model: llama3-8b\n"                                                                           \
    "cluster: {accelerator: h100-sxm, nodes: 32, devices: 8, node_link: nvlink4, nic: cx7-400g, "  \
    "library: nccl-2.27}\n"                                                                        \
    "stack: nemo-24.12\n"                                                                          \
    "plan: {sequence: 8192, micro_batch: 1, global_batch: 64, tensor: 8, pipeline: 4, zero: 1, "   \
    "precision: bf16}\n"

static weir_code factors_on(const char *network, double factor[WEIR_AXIS_COUNT], weir_err *err)
{
    weir_train_scenario s = {0};
    char text[1024];
    snprintf(text, sizeof text, JOB "network: %s\n", network);
    if (weir_train_scenario_parse("test.yaml", text, strlen(text), NULL, 0, &s, err) != WEIR_OK) {
        fail_msg("%s", err->text);
    }
    weir_code code = weir_train_network_factors(&s, factor, err);
    weir_train_scenario_clear(&s);
    return code;
}

static void must_be_near(double found, double expected, double share)
{
    if (!(fabs(found - expected) <= share * expected)) {
        fail_msg("found %g, expected %g", found, expected);
    }
}

static void a_network_that_is_never_short_changes_nothing(void **state)
{
    (void)state;
    double factor[WEIR_AXIS_COUNT];
    weir_err err = {0};
    assert_int_equal(factors_on("{kind: rail-only, switch: tomahawk5-400g}", factor, &err),
                     WEIR_OK);
    for (int a = 0; a < WEIR_AXIS_COUNT; a++) {
        must_be_near(factor[a], 1, 0.02);
    }
}

/* Stages are 64 devices apart: every message leaves its leaf, whose uplinks carry a fourth of what
 * its devices can send. Tensor ranks stay in their node. */
static void oversubscribed_uplinks_stretch_what_leaves_the_leaf(void **state)
{
    (void)state;
    double thin[WEIR_AXIS_COUNT], wide[WEIR_AXIS_COUNT];
    weir_err err = {0};
    const char *clos = "{kind: clos, tiers: 2, switch: tomahawk5-400g, oversubscription: %d, "
                       "routing: spray}";
    char text[128];
    snprintf(text, sizeof text, clos, 1);
    assert_int_equal(factors_on(text, wide, &err), WEIR_OK);
    snprintf(text, sizeof text, clos, 4);
    assert_int_equal(factors_on(text, thin, &err), WEIR_OK);
    must_be_near(wide[WEIR_AXIS_PIPELINE], 1, 0.02);
    must_be_near(thin[WEIR_AXIS_TENSOR], 1, 0);
    assert_true(thin[WEIR_AXIS_PIPELINE] > 1.2);
    assert_true(thin[WEIR_AXIS_PIPELINE] <= 4.01);
}

static void traffic_of_axes_has_their_groups(void **state)
{
    (void)state;
    weir_train_scenario s = {0};
    weir_err err = {0};
    weir_phase phases[WEIR_AXIS_COUNT];
    weir_train_axis axes[WEIR_AXIS_COUNT];
    uint32_t count;
    assert_int_equal(weir_train_scenario_parse("test.yaml", JOB, strlen(JOB), NULL, 0, &s, &err),
                     WEIR_OK);
    assert_int_equal(weir_train_phases(&s.job, phases, axes, &count, &err), WEIR_OK);
    assert_int_equal(count, 2); /* tensor ranks stay in their node */
    assert_int_equal(axes[0], WEIR_AXIS_DATA);
    assert_int_equal(phases[0].group_size, 8);
    assert_int_equal(phases[0].group_stride, 8);
    assert_int_equal(axes[1], WEIR_AXIS_PIPELINE);
    assert_int_equal(phases[1].group_size, 4);
    assert_int_equal(phases[1].group_stride, 64);
    /* activations of 8192 tokens, 4096 wide, 2 bytes: 64 MiB, of which a rank sends an eighth */
    must_be_near(phases[1].bytes, 8192 * 4096 * 2 / 8.0, 1e-9);
    weir_train_scenario_clear(&s);
}

static void a_network_that_cannot_be_built_is_told(void **state)
{
    (void)state;
    double factor[WEIR_AXIS_COUNT];
    weir_err err = {0};
    assert_int_equal(factors_on("{kind: clos, tiers: 1, switch: quantum2-400g}", factor, &err),
                     WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "test.yaml: network: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_that_is_never_short_changes_nothing),
        cmocka_unit_test(oversubscribed_uplinks_stretch_what_leaves_the_leaf),
        cmocka_unit_test(traffic_of_axes_has_their_groups),
        cmocka_unit_test(a_network_that_cannot_be_built_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
