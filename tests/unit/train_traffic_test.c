/* A training step as traffic of weir fabric: groups, bytes and times by hand, and no time is lost
 * on the way. */
#include "study/train_traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

/* 64 devices: tensor 4, context 2, data 2, pipeline 4; 8192 hidden units, 64 micro-batches. */
static const char path[] = "examples/train/llama3-70b-64.yaml";

static void read_both(weir_train_scenario *train, weir_fabric_scenario *fabric)
{
    weir_text document = {0}, cluster = {0}, traffic = {0}, candidates = {0};
    weir_err err = {0};
    if (weir_train_scenario_read(path, NULL, 0, train, &err) != WEIR_OK ||
        weir_train_traffic_text(train, &cluster, &traffic, &err) != WEIR_OK ||
        weir_train_candidates_text(train, &candidates, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_text_printf(&document, "cluster: %s\ntraffic: %s\ncandidates: %s\n", cluster.p, traffic.p,
                     candidates.p);
    if (weir_fabric_scenario_parse("made", document.p, document.n, NULL, 0, fabric, &err) !=
        WEIR_OK) {
        fail_msg("%s\n%s", err.text, document.p);
    }
    weir_text_clear(&document);
    weir_text_clear(&cluster);
    weir_text_clear(&traffic);
    weir_text_clear(&candidates);
}

static void groups_and_bytes_are_those_of_the_plan(void **state)
{
    (void)state;
    weir_train_scenario train;
    weir_fabric_scenario fabric;
    read_both(&train, &fabric);
    /* tensor 4 and context 2 stay in nodes of 8; what is seen and what is hidden of the others */
    assert_int_equal(fabric.phase_count, 4);
    const weir_phase *data = &fabric.phases[0], *pipeline = &fabric.phases[2];
    assert_string_equal(data->axis, "data");
    assert_int_equal(data->group_size, 4);   /* data x context */
    assert_int_equal(data->group_stride, 4); /* over the tensor ranks */
    assert_string_equal(pipeline->axis, "pipeline");
    assert_int_equal(pipeline->collective, WEIR_COLLECTIVE_SEND_RECV);
    assert_int_equal(pipeline->group_size, 4);
    assert_int_equal(pipeline->group_stride, 16); /* tensor x context x data */
    assert_int_equal(pipeline->times, 2 * 64 * 5);
    /* 8192 tokens over context 2 and, sequence parallel, tensor 4; 8192 units of 2 bytes */
    double bytes = pipeline[0].bytes + pipeline[1].bytes;
    assert_true(fabs(bytes / (8192.0 / 8 * 8192 * 2) - 1) < 1e-12);
    weir_fabric_scenario_clear(&fabric);
    weir_train_scenario_clear(&train);
}

/* What devices wait for in the step blocks in the phases, what is hidden runs beside computing. */
static void what_is_exposed_blocks(void **state)
{
    (void)state;
    weir_train_scenario train;
    weir_fabric_scenario fabric;
    weir_train_step step;
    weir_err err = {0};
    weir_train_scratch *scratch = weir_train_scratch_new();
    read_both(&train, &fabric);
    assert_int_equal(weir_train_step_of(&train.job, scratch, &step, &err), WEIR_OK);
    static const weir_train_axis axes[] = {WEIR_AXIS_DATA, WEIR_AXIS_PIPELINE};
    for (uint32_t i = 0; i < 2; i++) {
        const weir_phase *seen = &fabric.phases[2 * i], *hidden = seen + 1;
        double share = step.axis[axes[i]].exposed_s / step.axis[axes[i]].seconds;
        assert_true(share > 0.05 && share < 0.95);
        assert_false(seen->overlap);
        assert_true(hidden->overlap);
        assert_true(fabs(seen->bytes / (seen->bytes + hidden->bytes) / share - 1) < 1e-9);
        assert_true(seen->compute_s <= 0 && hidden->compute_s > 0);
    }
    weir_train_scratch_free(scratch);
    weir_fabric_scenario_clear(&fabric);
    weir_train_scenario_clear(&train);
}

static void the_cluster_keeps_its_parts(void **state)
{
    weir_train_scenario train;
    weir_fabric_scenario fabric;
    read_both(&train, &fabric);
    assert_int_equal(fabric.cluster.nodes, 8);
    assert_int_equal(fabric.cluster.devices, 8);
    assert_string_equal(fabric.cluster.nic->id, "cx7-400g");
    assert_true(fabric.cluster.nic->bytes_per_s == 50e9);
    assert_string_equal(fabric.cluster.node_link->id, "nvlink4");
    assert_string_equal(fabric.cluster.library, "nccl-2.27");
    assert_int_equal(fabric.candidate_count, 4);
    weir_fabric_scenario_clear(&fabric);
    weir_train_scenario_clear(&train);
}

static void computing_and_exposed_traffic_make_the_step(void **state)
{
    weir_train_scenario train;
    weir_fabric_scenario fabric;
    weir_train_step step;
    weir_err err = {0};
    weir_train_scratch *scratch = weir_train_scratch_new();
    read_both(&train, &fabric);
    assert_int_equal(weir_train_step_of(&train.job, scratch, &step, &err), WEIR_OK);
    double sum = step.axis[WEIR_AXIS_DATA].exposed_s + step.axis[WEIR_AXIS_PIPELINE].exposed_s;
    for (uint32_t i = 0; i < fabric.phase_count; i++) {
        sum += fabric.phases[i].compute_s * fabric.phases[i].times;
    }
    assert_true(fabs(sum / step.step_s - 1) < 1e-9);
    weir_train_scratch_free(scratch);
    weir_fabric_scenario_clear(&fabric);
    weir_train_scenario_clear(&train);
}

static void a_job_inside_one_node_has_no_traffic(void **state)
{
    weir_train_scenario train;
    weir_text cluster = {0}, traffic = {0};
    weir_err err = {0};
    assert_int_equal(
        weir_train_scenario_read("examples/train/llama3-8b-8.yaml", NULL, 0, &train, &err),
        WEIR_OK);
    assert_int_equal(weir_train_traffic_text(&train, &cluster, &traffic, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "found no traffic between nodes"));
    weir_train_scenario_clear(&train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_and_bytes_are_those_of_the_plan),
        cmocka_unit_test(what_is_exposed_blocks),
        cmocka_unit_test(the_cluster_keeps_its_parts),
        cmocka_unit_test(computing_and_exposed_traffic_make_the_step),
        cmocka_unit_test(a_job_inside_one_node_has_no_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
