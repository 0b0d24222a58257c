/* A training step as traffic of weir fabric: groups, bytes and times by hand, and no time is lost
 * on the way. */
#include "study/fabric_play.h"
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

static const weir_phase *find_phase(const weir_fabric_scenario *fabric, const char *name)
{
    for (uint32_t i = 0; i < fabric->phase_count; i++) {
        if (strcmp(fabric->phases[i].name, name) == 0) {
            return &fabric->phases[i];
        }
    }
    fail_msg("no phase %s", name);
    return NULL;
}

static double bytes_of(const weir_phase *phase)
{
    return phase->bytes * phase->times;
}

static void groups_and_bytes_are_those_of_the_plan(void **state)
{
    (void)state;
    weir_train_scenario train;
    weir_fabric_scenario fabric;
    read_both(&train, &fabric);
    /* tensor 4 and context 2 stay in nodes of 8; what is seen and what is hidden of the others */
    const weir_phase *data = find_phase(&fabric, "data"),
                     *data_hidden = find_phase(&fabric, "data hidden"),
                     *pipeline = find_phase(&fabric, "pipeline"),
                     *hidden = find_phase(&fabric, "pipeline hidden");
    assert_int_equal(data->group_size, 4);   /* data x context */
    assert_int_equal(data->group_stride, 4); /* over the tensor ranks */
    assert_int_equal(pipeline->collective, WEIR_COLLECTIVE_SEND_RECV);
    assert_int_equal(pipeline->group_size, 4);
    assert_int_equal(pipeline->group_stride, 16); /* tensor x context x data */
    /* 64 micro-batches through 20 chunks on 4 stages, there and back; the ends hand over once.
     * 8192 tokens over context 2 and, sequence parallel, tensor 4; 8192 units of 2 bytes */
    double sent = 2 * 64 * 19.0 / 4 * (8192.0 / 8 * 8192 * 2);
    assert_true(fabs((bytes_of(pipeline) + bytes_of(hidden)) / sent - 1) < 1e-9);
    assert_true(pipeline->times + hidden->times == 2 * 64 * 19 / 4);
    /* 70.6e9 parameters over 4 stages and tensor 4: gradients of 2 bytes reduced, parameters of 2
     * gathered; a reduction of S takes 3/4 S on a ring of 4, here of 2 in each of 2 nodes */
    double reduced = 70.6e9 / 16 * (2 + 2);
    assert_true(fabs((bytes_of(data) + bytes_of(data_hidden)) / reduced - 1) < 0.02);
    weir_fabric_scenario_clear(&fabric);
    weir_train_scenario_clear(&train);
}

/* --- what a network makes of it --- */

static double play_s(const weir_train_scenario *train, weir_fabric_scenario *fabric, double rate,
                     double *waiting_s)
{
    weir_fabric_play play = {0};
    weir_err err = {0};
    weir_nic_part nic = *fabric->cluster.nic;
    const weir_nic_part *kept = fabric->cluster.nic;
    const weir_fabric_wish wish = {.scenario = fabric, .library = train->job.network.library};
    nic.bytes_per_s *= rate;
    fabric->cluster.nic = &nic;
    fabric->candidates[0].efficiency = 1; /* the closed form of the step has no switches */
    if (weir_fabric_play_run(&wish, &play, &err) != WEIR_OK || play.refused) {
        fail_msg("%s %s", err.text, play.refused ? play.refused : "");
    }
    double step_s = play.step_s;
    *waiting_s = step_s;
    for (uint32_t i = 0; i < fabric->phase_count; i++) {
        *waiting_s -= fabric->phases[i].compute_s * fabric->phases[i].times;
    }
    weir_fabric_play_clear(&play);
    fabric->cluster.nic = kept;
    return step_s;
}

static void expect_near(double value, double expected, double tolerance, double rate)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("rate x %g: %g, expected %g +- %g", rate, value, expected, tolerance);
    }
}

/* Clos 1:1 of the scenario's NICs: the network's wait is the step's exposed traffic within 0.2 % of
 * the step; slower ones show more, and the step stays within 2 % of the training step there. */
static void a_network_of_the_same_rate_exposes_the_same(void **state)
{
    (void)state;
    static const double rates[] = {2, 1, 0.5, 0.25};
    weir_train_scenario train;
    weir_fabric_scenario fabric;
    weir_err err = {0};
    weir_train_scratch *scratch = weir_train_scratch_new();
    double before_s = 0;
    read_both(&train, &fabric);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        weir_train_job job = train.job;
        weir_train_step step;
        double waiting_s;
        job.network.nic_bytes_per_s *= rates[i];
        assert_int_equal(weir_train_step_of(&job, scratch, &step, &err), WEIR_OK);
        double exposed_s =
            step.axis[WEIR_AXIS_DATA].exposed_s + step.axis[WEIR_AXIS_PIPELINE].exposed_s;
        expect_near(play_s(&train, &fabric, rates[i], &waiting_s), step.step_s, 0.02 * step.step_s,
                    rates[i]);
        assert_true(waiting_s > before_s);
        before_s = waiting_s;
        if (rates[i] >= 1 && rates[i] <= 1) {
            expect_near(waiting_s, exposed_s, 0.002 * step.step_s, rates[i]);
        }
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
    assert_true(fabs(sum / step.step_s - 1) < 1e-4); /* the norm of a few bytes is computing */
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
        cmocka_unit_test(a_network_of_the_same_rate_exposes_the_same),
        cmocka_unit_test(the_cluster_keeps_its_parts),
        cmocka_unit_test(computing_and_exposed_traffic_make_the_step),
        cmocka_unit_test(a_job_inside_one_node_has_no_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
