/* What is reported of a training step: figures by hand from the step, conservation, refusals. */
#include "study/train_study.h"

#include "base/text.h"
#include "model/model_flop.h"
#include "report/train_text.h"
#include "result/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CLUSTER                                                                                    \
    "cluster: {accelerator: h100-sxm, nodes: 4, devices: 8, node_link: nvlink4, nic: cx7-400g, "   \
    "library: nccl-2.27}\n"
#define PLAN                                                                                       \
    "plan: {sequence: 8192, micro_batch: 1, global_batch: 32, tensor: 2, pipeline: 4, chunks: 2, " \
    "schedule: interleaved, zero: 1, precision: bf16}\n"
#define SMALL "name: small\nmodel: llama3-8b\n" CLUSTER "stack: nemo-24.12\n" PLAN

typedef struct {
    weir_train_scenario scenario;
    weir_result *result;
    weir_spmd_run run;
    weir_lines lines;
} studied;

static weir_code study(const char *text, const weir_train_options *options, studied *s,
                       weir_err *err)
{
    memset(s, 0, sizeof *s);
    s->result = weir_result_new();
    assert_non_null(s->result);
    if (weir_train_scenario_parse("test.yaml", text, strlen(text), NULL, 0, &s->scenario, err) !=
        WEIR_OK) {
        fail_msg("%s", err->text);
    }
    return weir_train_study(&s->scenario, options, s->result, &s->run, &s->lines, err);
}

static studied must_study(const char *text, const weir_train_options *options)
{
    studied s;
    weir_err err = {0};
    if (study(text, options, &s, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return s;
}

static void clear(studied *s)
{
    weir_lines_clear(&s->lines);
    weir_spmd_run_clear(&s->run);
    weir_result_free(s->result);
    weir_train_scenario_clear(&s->scenario);
}

static void assert_near(double found, double expected, double share)
{
    if (!(fabs(found - expected) <= share * fabs(expected))) {
        fail_msg("found %.12g, expected %.12g", found, expected);
    }
}

/* 32 sequences of 8192 tokens a step; an H100's dense peak is 989.4e12 in bf16 (datasheet). */
static void rates_follow_from_the_step(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL, &options);
    const weir_training_result *t = s.result->training;
    assert_near(t->step_s, t->closed_step_s, 1e-6);
    assert_near(t->tokens, 32 * 8192.0, 0);
    assert_near(t->tokens_per_s, 32 * 8192.0 / t->step_s, 1e-12);
    assert_near(t->tokens_per_s_per_device, t->tokens_per_s / 32, 1e-12);
    assert_near(t->mfu, t->model_tflops_per_device / 989.4, 2e-3);
    double token = weir_flop_train_token(&s.scenario.model, 8192, false);
    assert_near(t->model_tflops_per_device, token * t->tokens / t->step_s / 32 * 1e-12, 1e-3);
    assert_true(t->hfu >= t->mfu);
    assert_int_equal(t->devices, 32);
    assert_int_equal(s.result->window.nodes, 4);
    assert_int_equal(s.result->window.devices, 32);
    assert_true(s.result->simulated);
    clear(&s);
}

/* The band of the preset for what the plan is: its respects, and the half width as a share. */
static double band_of(const char *text, const char *basis)
{
    const weir_train_options options = {.ignores_memory = true};
    studied s = must_study(text, &options);
    const weir_training_result *t = s.result->training;
    double share = t->high_s / t->step_s - 1;
    if (!strstr(t->band_basis, basis) || t->band_outside != (share == 0)) {
        fail_msg("found \"%s\", expected \"%s\" in it", t->band_basis, basis);
    }
    assert_near(t->step_s - t->low_s, t->high_s - t->step_s, 1e-9);
    clear(&s);
    return share;
}

#define WITH(cluster, plan)                                                                        \
    "model: llama3-8b\nstack: nemo-24.12\ncluster: {accelerator: " cluster "}\n"                   \
    "plan: {sequence: 8192, micro_batch: 1, zero: 1, " plan "}\n"

static void a_headline_carries_the_band_of_its_stratum(void **state)
{
    (void)state;
    double usual = band_of(SMALL, "dense, 16-bit, pipeline, < 512 GPUs: 90 % of ");
    assert_true(usual > 0.01 && usual < 1);
    band_of(WITH("h100-sxm, nodes: 1", "global_batch: 64, precision: fp8"),
            "dense, FP8, one stage, < 512 GPUs: 90 % of ");
    band_of(WITH("h100-sxm, nodes: 64", "global_batch: 512, tensor: 4, pipeline: 2"),
            "dense, 16-bit, pipeline, >= 512 GPUs: 90 % of ");
    band_of("model: mixtral-8x7b\nstack: nemo-24.12\ncluster: {accelerator: h100-sxm, nodes: 8}\n"
            "plan: {sequence: 4096, global_batch: 256, pipeline: 4, expert: 8}\n",
            "moe, pipeline, < 512 GPUs: 90 % of ");
}

static void a_band_is_wider_where_less_is_known(void **state)
{
    (void)state;
    double usual = band_of(WITH("h100-sxm, nodes: 1", "global_batch: 64"), "dense, 16-bit, ");
    double sheet = band_of(WITH("h100-sxm, nodes: 1, kernels: datasheet", "global_batch: 64"),
                           "kernels of the datasheet: 90 % of ");
    double other = band_of(WITH("h800-sxm, nodes: 1", "global_batch: 64"),
                           "an accelerator not compared: 90 % of ");
    double slow = band_of("model: gpt2\nstack: nemo-24.12\ncluster: {accelerator: h100-sxm, nodes: "
                          "8}\nplan: {sequence: 128, global_batch: 64}\n",
                          "low MFU: 90 % of ");
    assert_true(sheet >= usual);
    assert_near(other, sheet, 1e-12);
    assert_true(slow > usual);
}

static void beyond_twice_the_largest_run_there_is_no_band(void **state)
{
    (void)state;
    double share = band_of(WITH("h100-sxm, nodes: 4096", "global_batch: 32768, tensor: 8"),
                           "more than twice the devices of any published row");
    assert_near(share, 0, 0);
}

static void mfu_counts_what_was_asked_for(void **state)
{
    (void)state;
    const weir_train_options palm = {.flops = WEIR_FLOPS_PALM},
                             megatron = {.flops = WEIR_FLOPS_MEGATRON};
    studied a = must_study(SMALL, &palm), b = must_study(SMALL, &megatron);
    const weir_training_result *t = a.result->training;
    double flop = weir_flop_palm_token(&a.scenario.model, 8192) * t->tokens;
    assert_near(t->model_tflops_per_device, flop / t->step_s / 32 * 1e-12, 1e-12);
    assert_string_equal(t->flops, "palm");
    t = b.result->training;
    flop = 32 * 8192 * weir_flop_megatron_token(&b.scenario.model, 8192, 128256);
    assert_near(t->model_tflops_per_device, flop / t->step_s / 32 * 1e-12, 1e-12);
    assert_string_equal(t->flops, "megatron");
    clear(&a);
    clear(&b);
}

static void limits_say_where_their_key_is_written(void **state)
{
    (void)state;
    studied s;
    weir_err err = {0};
    const char *text =
        "name: x\nmodel: llama3-8b\n" CLUSTER "stack: nemo-24.12\nsteps: 1000\n"
        "plan: {sequence: 8192, micro_batch: 1, global_batch: 65536, zero: 1, precision: bf16}\n";
    const weir_train_options options = {.ignores_memory = true};
    assert_int_equal(study(text, &options, &s, &err), WEIR_ERR_LIMIT);
    assert_non_null(strstr(err.text, "test.yaml:5:8: steps: found "));
    clear(&s);
}

/* Of messages that hold both ends, too. */
static void no_more_traffic_is_exposed_than_there_is(void **state)
{
    (void)state;
    static const char *const stacks[] = {"nemo-24.12", "megatron-2022-selective", "megatron-core"};
    for (int k = 0; k < 3; k++) {
        char text[1024];
        snprintf(text, sizeof text, "name: x\nmodel: llama3-8b\n" CLUSTER "stack: %s\n" PLAN,
                 stacks[k]);
        studied s = must_study(text, &(weir_train_options){.ignores_memory = true});
        const weir_training_result *t = s.result->training;
        for (uint32_t i = 0; i < t->traffic_count; i++) {
            const weir_training_traffic_row *row = &t->traffic[i];
            assert_true((double)row->exposed_ns * 1e-9 <= row->seconds * (1 + 1e-4));
            assert_true(row->bytes_per_s <= row->available_bytes_per_s);
        }
        clear(&s);
    }
}

static const weir_training_traffic_row *row_of(const studied *s, const char *axis, const char *tier)
{
    const weir_training_result *t = s->result->training;
    for (uint32_t i = 0; i < t->traffic_count; i++) {
        if (strcmp(t->traffic[i].axis, axis) == 0 && strcmp(t->traffic[i].tier, tier) == 0) {
            return &t->traffic[i];
        }
    }
    return NULL;
}

/* Four nodes of eight: stages two by two in a node, so that of seven hand-overs three leave one; a
 * message of 1,024 tokens is 1024 x 4096 x 2 bytes, 16 micro-batches go there and back over each,
 * shared out over 8 stages. Shards of eight ranks stay in a node. No rate is above its link's. */
static void an_axis_has_a_row_for_each_kind_of_link(void **state)
{
    (void)state;
    static const char *const plans[] = {"pipeline: 8", "zero: 3, shard_ranks: 8",
                                        "tensor: 2, pipeline: 2, zero: 1"};
    for (int k = 0; k < 3; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "name: x\nmodel: llama3-8b\n" CLUSTER
                 "plan: {sequence: 1024, global_batch: 64, %s}\n",
                 plans[k]);
        studied s = must_study(text, &(weir_train_options){.ignores_memory = true});
        const weir_training_result *t = s.result->training;
        for (uint32_t i = 0; i < t->traffic_count; i++) {
            const weir_training_traffic_row *row = &t->traffic[i];
            double ways = strcmp(row->axis, "pipeline") == 0 ? 2 : 1;
            assert_true(ways * row->bytes_per_device / row->seconds <=
                        row->available_bytes_per_s * (1 + 1e-12));
            assert_true(row->bytes_per_s <= row->available_bytes_per_s * (1 + 1e-12));
        }
        if (k == 0) {
            double message = 1024.0 * 4096 * 2, each = 2.0 * 16 * message / 8;
            assert_true(fabs(row_of(&s, "pipeline", "in_node")->bytes_per_device / each - 4) <
                        1e-9);
            assert_true(fabs(row_of(&s, "pipeline", "between_nodes")->bytes_per_device / each - 3) <
                        1e-9);
        }
        if (k == 1) {
            assert_non_null(row_of(&s, "data", "in_node"));
            assert_null(row_of(&s, "data", "between_nodes"));
        }
        clear(&s);
    }
}

/* One NIC at three tenths: all data ranks wait for it, in takes as in exposed. */
static void with_a_bad_link_traffic_is_that_of_the_played_step(void **state)
{
    (void)state;
    static const char plan[] =
        "name: x\nmodel: llama3-8b\n" CLUSTER "plan: {sequence: 1024, global_batch: 64}\n";
    char text[1024];
    snprintf(text, sizeof text, "%sdisturb: {broken: [{link: nic 3, rate: 0.3}]}\n", plan);
    studied calm = must_study(plan, &(weir_train_options){.ignores_memory = true});
    studied bad = must_study(text, &(weir_train_options){.ignores_memory = true});
    const weir_training_traffic_row *one = row_of(&calm, "data", "between_nodes");
    const weir_training_traffic_row *other = row_of(&bad, "data", "between_nodes");
    assert_true(other->seconds > 2 * one->seconds);
    assert_true(other->seconds < one->seconds / 0.3);
    assert_true((double)other->exposed_ns * 1e-9 <= other->seconds * (1 + 1e-4));
    assert_true(fabs(other->bytes_per_s * other->seconds / one->bytes_per_device - 1) < 1e-9);
    weir_text report = {0};
    weir_err err = {0};
    assert_int_equal(weir_report_train(&report, bad.result, false, &err), WEIR_OK);
    assert_non_null(strstr(report.p, "light: of the undisturbed step"));
    weir_text_clear(&report);
    clear(&bad);
    clear(&calm);
}

/* Exposed traffic of the axes is all communication of the ledger. */
static void traffic_adds_up_to_the_ledger(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL, &options);
    const weir_training_result *t = s.result->training;
    int64_t exposed_ns = 0;
    for (uint32_t i = 0; i < t->traffic_count; i++) {
        assert_true(t->traffic[i].available_bytes_per_s > 0);
        exposed_ns += t->traffic[i].exposed_ns;
    }
    int64_t mean_ns = s.result->total.waits.ns[WEIR_WAIT_COMMUNICATION] / 32;
    assert_true(exposed_ns <= mean_ns && exposed_ns >= mean_ns - (int64_t)t->traffic_count);
    clear(&s);
}

/* Llama 3 8B: 32 layers on four stages, a table of words at either end. */
static void stages_share_out_the_model(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL, &options);
    const weir_training_result *t = s.result->training;
    uint32_t layers = 0, critical = 0;
    double parameters = 0;
    assert_int_equal(t->stage_row_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const weir_training_stage_row *row = &t->stage_rows[i];
        layers += row->layers;
        critical += row->is_critical;
        parameters += row->parameters * 2; /* two tensor ranks */
        assert_true(row->busy_ns + row->bubble_ns <= row->wall_ns);
        assert_true(row->memory_bytes <= t->memory_bytes.total * (1 + 1e-9));
    }
    assert_int_equal(layers, 32);
    assert_int_equal(critical, 1);
    assert_near(parameters, 8.03e9, 0.01); /* 8.03 billion (Meta's model card) */
    clear(&s);
}

static void what_does_not_fit_is_refused_with_what_would(void **state)
{
    (void)state;
    studied s;
    weir_err err = {0};
    const weir_train_options options = {0}, all = {.ignores_memory = true};
    const char *text = "model: llama3-70b\n" CLUSTER "stack: nemo-24.12\n"
                       "plan: {sequence: 8192, micro_batch: 1, global_batch: 32, tensor: 4, "
                       "precision: bf16}\n";
    assert_int_equal(study(text, &options, &s, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "test.yaml: the plan does not fit into memory: found "));
    assert_non_null(strstr(err.text, "parameters "));
    assert_non_null(strstr(err.text, " with plan."));
    clear(&s);
    s = must_study(text, &all);
    assert_true(s.result->training->memory_bytes.total > s.result->training->memory_bytes.capacity);
    clear(&s);
}

static void a_slow_device_makes_it_slower_than_foretold(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL "disturb: {slow: [{device: 3, factor: 1.5}]}\n", &options);
    const weir_training_result *t = s.result->training;
    assert_true(t->step_s > 1.05 * t->closed_step_s);
    assert_true(s.result->straggler_count > 0);
    assert_true(s.result->verdict.blames);
    assert_int_equal(s.result->verdict.rank, 3);
    assert_int_equal(s.result->verdict.reason, WEIR_REASON_SLOW_DEVICE);
    assert_string_equal(s.result->verdict.node, "node 0");
    assert_non_null(strstr(s.result->verdict.sentence, "its kernels take 1.50 times as long"));
    clear(&s);
}

static void a_device_that_is_fast_is_not_blamed(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL "disturb: {slow: [{device: 3, factor: 0.9}]}\n", &options);
    assert_false(s.result->verdict.blames);
    clear(&s);
}

static void a_weak_link_is_blamed_on_its_device(void **state)
{
    (void)state;
    static const char *const links[] = {"{link: nic 3, rate: 0.02}",
                                        "{link: node link 3, rate: 0.1}",
                                        "{link: nic 3, at: 100 ms, until: 400 ms}"};
    const weir_train_options options = {0};
    for (uint32_t i = 0; i < sizeof links / sizeof *links; i++) {
        char text[1024];
        snprintf(text, sizeof text, SMALL "disturb: {broken: [%s]}\n", links[i]);
        studied s = must_study(text, &options);
        assert_true(s.result->training->step_s > 1.01 * s.result->training->closed_step_s);
        assert_true(s.result->verdict.blames);
        assert_int_equal(s.result->verdict.rank, 3);
        assert_int_equal(s.result->verdict.reason, WEIR_REASON_SLOW_LINK);
        clear(&s);
    }
}

static void a_link_that_never_works_again_is_an_error(void **state)
{
    (void)state;
    studied s;
    weir_err err = {0};
    const weir_train_options options = {0};
    assert_int_equal(study(SMALL "disturb: {broken: [{link: nic 3}]}\n", &options, &s, &err),
                     WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "the step never ends: found nic 3 without a rate"));
    clear(&s);
}

static void nobody_is_blamed_for_a_plan(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL, &options);
    assert_true(s.result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER] > 0);
    assert_false(s.result->verdict.blames);
    clear(&s);
}

static void the_ledger_holds_all_time_of_all_devices(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL "steps: 2\n", &options);
    int64_t sum = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        sum += s.result->total.causes.ns[c];
    }
    assert_int_equal(sum, s.result->total.wall_ns);
    assert_int_equal(sum, s.run.end_ns * 32);
    assert_int_equal(s.result->step_count, 2);
    assert_int_equal(s.result->critical_path.length_ns, s.run.end_ns);
    clear(&s);
}

static void json_and_text_are_written(void **state)
{
    (void)state;
    const weir_train_options options = {0};
    studied s = must_study(SMALL, &options);
    weir_text json = {0}, text = {0};
    weir_err err = {0};
    assert_int_equal(weir_result_json(&json, s.result, &err), WEIR_OK);
    assert_non_null(strstr(json.p, "\"command\": \"train\""));
    assert_non_null(strstr(json.p, "\"training\": {"));
    assert_int_equal(weir_report_train(&text, s.result, false, &err), WEIR_OK);
    assert_int_equal(strncmp(text.p, "SIMULATED  small: 32 NVIDIA H100", 32), 0);
    assert_non_null(strstr(text.p, "pipeline: takes is of what is sent and received"));
    assert_null(strstr(text.p, "light: of the undisturbed step"));
    for (const char *line = text.p; *line;) { /* 80 columns */
        size_t n = strcspn(line, "\n");
        assert_true(n <= 80);
        line += n + (line[n] != '\0');
    }
    weir_text_clear(&json);
    weir_text_clear(&text);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_follow_from_the_step),
        cmocka_unit_test(a_headline_carries_the_band_of_its_stratum),
        cmocka_unit_test(a_band_is_wider_where_less_is_known),
        cmocka_unit_test(beyond_twice_the_largest_run_there_is_no_band),
        cmocka_unit_test(mfu_counts_what_was_asked_for),
        cmocka_unit_test(no_more_traffic_is_exposed_than_there_is),
        cmocka_unit_test(limits_say_where_their_key_is_written),
        cmocka_unit_test(an_axis_has_a_row_for_each_kind_of_link),
        cmocka_unit_test(with_a_bad_link_traffic_is_that_of_the_played_step),
        cmocka_unit_test(traffic_adds_up_to_the_ledger),
        cmocka_unit_test(stages_share_out_the_model),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_would),
        cmocka_unit_test(a_slow_device_makes_it_slower_than_foretold),
        cmocka_unit_test(a_device_that_is_fast_is_not_blamed),
        cmocka_unit_test(a_weak_link_is_blamed_on_its_device),
        cmocka_unit_test(a_link_that_never_works_again_is_an_error),
        cmocka_unit_test(nobody_is_blamed_for_a_plan),
        cmocka_unit_test(the_ledger_holds_all_time_of_all_devices),
        cmocka_unit_test(json_and_text_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
