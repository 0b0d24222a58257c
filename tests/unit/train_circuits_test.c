/* What circuits could serve a training step: bytes, times and partners by hand. */
#include "study/train_circuits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "study/train_scenario.h"

#include <cmocka.h>

static weir_train_scenario scenario;
static weir_training_circuit_row rows[WEIR_TRAIN_CIRCUITS_MAX];
static uint32_t count;

static void list(const char *path, uint32_t ports, double duty_share)
{
    weir_err err = {0};
    const weir_train_light light = {.ports = ports, .duty_share = duty_share};
    weir_train_scenario_clear(&scenario);
    if (weir_train_scenario_read(path, NULL, 0, &scenario, &err) != WEIR_OK ||
        weir_train_circuits_of(&scenario.job, &light, rows, &count, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
}

static const weir_training_circuit_row *find(const char *axis, const char *phase)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].axis, axis) == 0 && strcmp(rows[i].phase, phase) == 0) {
            return &rows[i];
        }
    }
    fail_msg("no %s %s", axis, phase);
    return NULL;
}

static void expect(double found, double expected, double allowed_share)
{
    if (!(fabs(found - expected) <= allowed_share * fabs(expected))) {
        fail_msg("found %.12g, expected %.12g", found, expected);
    }
}

/* 64 devices: tensor 4, context 2 in nodes of 8; data 2 and 4 stages of 5 chunks across them. */
static void a_pipeline_has_two_neighbours_and_a_pair_of_nodes_one(void **state)
{
    (void)state;
    list("examples/train/llama3-70b-64.yaml", 8, 0);
    assert_int_equal(count, 4); /* there, back, gradients, parameters; the rest stays in nodes */
    const weir_training_circuit_row *forward = find("pipeline", "forward");
    assert_int_equal(forward->partners, 2);
    assert_int_equal(forward->ports, 8);
    expect(forward->times, 64 * 19 / 4.0, 1e-12); /* 19 hand-overs of 64 micro-batches, 4 stages */
    expect(forward->bytes_per_device / forward->times, 8192.0 / 8 * 8192 * 2, 1e-12);
    assert_int_equal(find("data", "gradients")->partners, 1); /* data 2: two nodes */
    /* 70.6e9 / 16 parameters of 2 bytes, a ring of 4 in 2 nodes: 3/4 of them by 2 devices' NICs */
    expect(find("data", "gradients")->bytes_per_device, 70.6e9 / 16 * 2 * 0.75 / 2, 0.02);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].circuits, WEIR_CIRCUITS_STAY);
        assert_true(isnan(rows[i].setting_s));
    }
}

/* Experts on 64 devices, 8 nodes: 7 of 8 ports, and the most bytes. Then one port is left. */
static void what_is_left_over_is_set_each_time(void **state)
{
    (void)state;
    list("examples/train/deepseek-v3-2048.yaml", 8, 0.9);
    assert_int_equal(find("expert", "forward")->partners, 7);
    assert_string_equal(find("expert", "forward")->collective, "all_to_all");
    assert_int_equal(find("expert", "forward")->circuits, WEIR_CIRCUITS_STAY);
    assert_int_equal(find("expert", "backward")->circuits, WEIR_CIRCUITS_STAY); /* the same ones */
    const weir_training_circuit_row *pipeline = find("pipeline", "backward");
    assert_int_equal(pipeline->circuits, WEIR_CIRCUITS_SET);
    /* a message of 4096 tokens x 7168 units of 2 bytes: 58.7 MB in 1.17 ms at 50 GB/s; a ninth */
    expect(pipeline->setting_s, 4096.0 * 7168 * 2 / 50e9 / 9, 1e-9);
}

static void more_partners_than_ports_go_on_packets(void **state)
{
    (void)state;
    list("examples/train/deepseek-v3-2048.yaml", 4, 0.9);
    assert_int_equal(find("expert", "forward")->circuits, WEIR_CIRCUITS_PACKETS);
    assert_int_equal(find("pipeline", "forward")->circuits, WEIR_CIRCUITS_STAY); /* 2 */
    assert_int_equal(find("data", "gradients")->circuits, WEIR_CIRCUITS_STAY);   /* and 2 of 4 */
    list("examples/train/deepseek-v3-2048.yaml", 1, 0.9);
    assert_int_equal(find("data", "gradients")->circuits, WEIR_CIRCUITS_PACKETS);
}

static void one_node_asks_for_no_circuits(void **state)
{
    (void)state;
    list("examples/train/llama3-8b-8.yaml", 8, 0.9);
    assert_int_equal(count, 0);
}

/* Phases of an axis add up to what the step says of it. */
static void phases_add_up_to_the_step(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "examples/train/llama3-70b-64.yaml", "examples/train/llama3-405b-2304.yaml",
        "examples/train/mixtral-8x7b-64.yaml", "examples/train/deepseek-v3-2048.yaml"};
    weir_train_scratch *scratch = weir_train_scratch_new();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        weir_train_step step;
        weir_err err = {0};
        list(paths[i], 8, 0);
        assert_int_equal(weir_train_step_of(&scenario.job, scratch, &step, &err), WEIR_OK);
        for (int axis = 0; axis < WEIR_AXIS_COUNT; axis++) {
            double bytes = 0;
            for (uint32_t r = 0; r < count; r++) {
                bool is_it = strcmp(rows[r].axis, weir_train_axis_name((weir_train_axis)axis)) == 0;
                bytes += is_it ? rows[r].bytes_per_device : 0;
            }
            if (weir_train_span(&scenario.job, (weir_train_axis)axis).nodes > 1) {
                expect(bytes, step.axis[axis].bytes, 1e-9);
            }
        }
    }
    weir_train_scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_has_two_neighbours_and_a_pair_of_nodes_one),
        cmocka_unit_test(what_is_left_over_is_set_each_time),
        cmocka_unit_test(more_partners_than_ports_go_on_packets),
        cmocka_unit_test(one_node_asks_for_no_circuits),
        cmocka_unit_test(phases_add_up_to_the_step),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weir_train_scenario_clear(&scenario);
    return failed;
}
