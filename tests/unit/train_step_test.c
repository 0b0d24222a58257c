/* train_step.h: limits that need no model of kernels, counts by hand, and properties of random
 * plans. "TM" is reference/training-model.md. */
#include "model/model_flop.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "train/train_layer.h"
#include "train_job_sample.h"

#include <cmocka.h>

static job_sample sample;

static void load(const char *model)
{
    sample_clear(&sample);
    assert_true(sample_make(model, &sample));
}

static weir_train_step step_of(const weir_train_job *job)
{
    weir_train_step step;
    weir_err err = {0};
    weir_train_fault fault = {0};
    if (!weir_train_is_sound(job, weir_train_devices(&job->plan), &fault)) {
        fail_msg("%s: %s", fault.key, fault.text);
    }
    if (weir_train_step_of(job, sample.scratch, &step, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return step;
}

static void expect(const char *what, double found, double expected, double allowed_share)
{
    if (!(fabs(found - expected) <= allowed_share * fabs(expected) + 1e-12)) {
        fail_msg("%s: found %.12g, expected %.12g", what, found, expected);
    }
}

static double communication(const weir_train_step *step)
{
    double sum = 0;
    for (int i = 0; i < WEIR_CAUSE_COUNT; i++) {
        sum += weir_cause_wait((weir_cause)i) == WEIR_WAIT_COMMUNICATION ? step->cause_s[i] : 0;
    }
    return sum;
}

static void batch(weir_train_plan *plan, uint32_t micro_batches)
{
    plan->micro_batches = micro_batches;
    plan->global_batch = micro_batches * plan->micro_batch * plan->data;
}

/* --- limits --- */

static void one_device_only_computes(void **state)
{
    (void)state;
    load("llama3-8b");
    weir_train_step step = step_of(&sample.job);
    assert_true(communication(&step) <= 0);
    assert_true(step.bubble_share < 1e-12);
    assert_true(step.hidden_s <= 0);
    /* never faster than the roofline's arithmetic: 989.4 TFLOP/s */
    assert_true(step.step_s > step.flop / 989.4e12);
    assert_true(step.step_s < 4 * step.flop / 989.4e12);
}

static void an_infinite_network_leaves_no_communication(void **state)
{
    (void)state;
    load("mixtral-8x7b");
    sample.job.plan.tensor = 2;
    sample.job.plan.sequence_parallel = true;
    sample.job.plan.pipeline = 4;
    sample.job.plan.data = 8;
    sample.job.plan.expert = 8;
    sample.job.plan.zero = 1;
    batch(&sample.job.plan, 8);
    weir_train_step with = step_of(&sample.job);
    sample.job.network.is_infinite = true;
    weir_train_step without = step_of(&sample.job);
    assert_true(communication(&with) > 0);
    assert_true(communication(&without) <= 0);
    assert_true(without.step_s < with.step_s);
    expect("bytes", without.axis[WEIR_AXIS_EXPERT].bytes, with.axis[WEIR_AXIS_EXPERT].bytes, 1e-9);
}

static void replicas_with_full_overlap_scale_flat(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.zero = 1;
    sample.job.stack.overlaps_gradients = true;
    sample.job.stack.overlaps_parameters = true;
    double before = 0;
    for (uint32_t data = 8; data <= 1024; data *= 2) {
        sample.job.plan.data = data;
        batch(&sample.job.plan, 8);
        weir_train_step step = step_of(&sample.job);
        /* the optimiser's share shrinks, the last bucket stays: 1 % at most */
        if (before > 0) {
            expect("step", step.step_s - step.optimizer_s, before, 0.01);
        }
        before = step.step_s - step.optimizer_s;
    }
}

static void uniform_stages_have_the_bubble_of_the_formula(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.model.vocab = 128; /* next to nothing at the ends */
    sample.job.network.is_infinite = true;
    sample.job.plan.pipeline = 4;
    for (uint32_t m = 4; m <= 64; m *= 4) {
        batch(&sample.job.plan, m);
        weir_train_step step = step_of(&sample.job);
        /* (p - 1) / (m + p - 1): TM section 7; the ends have a norm and a loss besides */
        expect("bubble", step.bubble_share, 3.0 / (m + 3), 0.03);
    }
}

/* 1F1B with two stages and one micro-batch hands over twice, one after the other. */
static void messages_that_block_wait_for_the_host(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.pipeline = 2;
    double without_s = step_of(&sample.job).step_s;
    sample.job.stack.hand_over_s = 0.25;
    expect("with", step_of(&sample.job).step_s, without_s + 2 * 0.25, 1e-9);
    sample.job.stack.overlaps_pipeline = true;
    expect("beside passes", step_of(&sample.job).step_s, without_s, 1e-2);
    sample.job.stack.overlaps_pipeline = false;
    sample.job.network.is_infinite = true;
    weir_train_step step = step_of(&sample.job);
    assert_true(communication(&step) == 0);
}

/* 4 stages of 8 layers and 128,256 words: the head alone has the FLOPs of 2.24 layers (2 h V over
 * 2 h (2 h + 2 x 1024 + 3 f) + 2 s h). 1F1B takes the longest stage for each micro-batch and the
 * others once. */
static void a_vocabulary_that_is_spread_holds_up_no_stage(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.pipeline = 4;
    batch(&sample.job.plan, 64);
    weir_train_step at_ends = step_of(&sample.job);
    sample.job.plan.spreads_vocabulary = true;
    weir_train_step spread = step_of(&sample.job);
    expect("FLOPs", spread.model_flop, at_ends.model_flop, 1e-3);
    double at_end = 64 * (8 + 2.24) + 3 * 8, evenly = (64 + 3) * (8 + 2.24 / 4);
    expect("steps", spread.step_s / at_ends.step_s, evenly / at_end, 0.03);
    expect("bubble", spread.bubble_share, 3.0 / (64 + 3), 0.08);
}

/* --- counts --- */

static void tensor_ranks_send_what_the_table_says(void **state)
{
    (void)state;
    load("llama3-70b");
    weir_train_plan *plan = &sample.job.plan;
    plan->tensor = 8;
    plan->sequence_parallel = true;
    double whole = step_of(&sample.job).axis[WEIR_AXIS_TENSOR].bytes;
    uint32_t layers = sample.model.layers;
    sample.model.layers = layers / 2;
    double half = step_of(&sample.job).axis[WEIR_AXIS_TENSOR].bytes;
    /* TM section 5: 2 AG + 2 RS forward; 2 AG + 2 RS + 2 AG of saved inputs backward: 10 times
     * S = 2 x 4096 x 8192 bytes, of which a ring moves 7/8 */
    expect("per layer", (whole - half) / (layers - layers / 2), 10 * 2.0 * 4096 * 8192 * 7 / 8,
           1e-9);
}

static void without_sequence_parallelism_four_all_reduces(void **state)
{
    (void)state;
    load("llama3-70b");
    sample.job.plan.tensor = 8;
    for (int sums = 0; sums < 2; sums++) {
        sample.job.network.has_node_reduction = sums;
        double whole = step_of(&sample.job).axis[WEIR_AXIS_TENSOR].bytes;
        sample.model.layers -= 1;
        double less = step_of(&sample.job).axis[WEIR_AXIS_TENSOR].bytes;
        sample.model.layers += 1;
        /* 2 forward, 2 backward, each S, of which a ring moves 2 x 7/8; to switches that sum a
         * device sends what it has and its part of the sum */
        double each = sums ? 1 + 1.0 / 8 : 2 * 7.0 / 8;
        expect("per layer", whole - less, 4 * 2.0 * 4096 * 8192 * each, 1e-9);
    }
}

static void stages_hand_over_two_bytes_a_value(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.pipeline = 4;
    batch(&sample.job.plan, 8);
    weir_train_step step = step_of(&sample.job);
    /* 3 boundaries, forward and back, 8 micro-batches, over 4 devices: 12 messages each of
     * 2 x 4096 x 4096 bytes */
    expect("messages", step.axis[WEIR_AXIS_PIPELINE].bytes, 12 * 2.0 * 4096 * 4096, 1e-9);
}

static void replicas_reduce_and_gather_all_parameters(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.data = 8;
    sample.job.plan.zero = 1;
    batch(&sample.job.plan, 1);
    weir_train_step step = step_of(&sample.job);
    /* 8.030 B parameters (8,030,261,248), 2 bytes reduced and 2 gathered, 7/8 of it moves; the
     * vocabulary of 128,256 is a multiple of 128 already */
    expect("data", step.axis[WEIR_AXIS_DATA].bytes, 8030261248.0 * 4 * 7 / 8, 1e-6);
}

static void shared_out_parameters_are_gathered_twice_and_reduced_once(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.data = 8;
    sample.job.plan.zero = 3;
    sample.job.plan.regathers = true;
    sample.job.plan.accumulates_sharded = true;
    batch(&sample.job.plan, 2);
    weir_train_step step = step_of(&sample.job);
    /* each of 2 micro-batches; the final norm's 4,096 values are not gathered */
    expect("data", step.axis[WEIR_AXIS_DATA].bytes, 2 * 8030261248.0 * 6 * 7 / 8, 1e-5);
}

static void flop_are_those_of_the_model(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.pipeline = 2;
    sample.job.plan.data = 2;
    batch(&sample.job.plan, 4);
    weir_train_step step = step_of(&sample.job);
    double token = weir_flop_train_token(&sample.model, 4096, false);
    expect("model FLOP", step.model_flop, token * 4096 * 8, 1e-9);
    sample.job.plan.recompute = WEIR_RECOMPUTE_PLAN_FULL;
    weir_train_step again = step_of(&sample.job);
    expect("model FLOP", again.model_flop, step.model_flop, 1e-12);
    assert_true(again.flop > 1.2 * step.flop);
    assert_true(again.cause_s[WEIR_CAUSE_COMPUTE_REDUNDANT] > 0.15 * again.step_s);
}

/* 4096 tokens of a layer from 1000 to 600 features: its gradient sums over tokens, along which
 * neither operand's blocks run; a scale of the whole matrix serves in both directions. */
static void blocks_are_quantised_along_tokens_too(void **state)
{
    (void)state;
    load("llama3-8b");
    static const weir_op_list list = {.count = 1,
                                      .op = {{.kind = WEIR_OP_GEMM,
                                              .pass = WEIR_PASS_WGRAD,
                                              .m = 600,
                                              .n = 1000,
                                              .k = 4096,
                                              .batch = 1}}};
    static const weir_gemm_format formats[] = {WEIR_GEMM_FP8_BLOCK, WEIR_GEMM_FP8};
    for (uint32_t i = 0; i < 2; i++) {
        double seconds[2];
        for (uint32_t fused = 0; fused < 2; fused++) {
            weir_pass_cost cost = {0};
            sample.job.plan.format = formats[i];
            sample.job.stack.fused_quantise = fused == 1;
            seconds[fused] =
                weir_train_kernels(&sample.job, &list, WEIR_PASS_WGRAD, false, &cost).all;
        }
        double values = i == 0 ? 4096 * (600.0 + 1000) : 0;
        expect("quantising", seconds[0] - seconds[1],
               weir_quantise_s(sample.kernels, formats[i], values), 1e-9);
    }
}

/* --- the host --- */

static void a_slow_host_sets_the_pace(void **state)
{
    (void)state;
    load("llama3-8b");
    sample.job.plan.sequence = 128;
    weir_train_step fast = step_of(&sample.job);
    sample.job.stack.launch_s = 1e-3;
    weir_train_step slow = step_of(&sample.job);
    sample.job.stack.graphs = true;
    weir_train_step graphs = step_of(&sample.job);
    assert_true(fast.cause_s[WEIR_CAUSE_DEPENDENCY_LAUNCH] <= 0);
    assert_true(slow.cause_s[WEIR_CAUSE_DEPENDENCY_LAUNCH] > 0.5 * slow.step_s);
    expect("graphs", graphs.step_s, fast.step_s, 1e-12);
}

/* Where the host is the pace of all passes, layers take launches alone; what is computed again is
 * launched like a forward pass. */
static void backward_passes_are_launched_faster(void **state)
{
    (void)state;
    load("llama3-8b");
    weir_train_chains chains = *sample.job.chains;
    sample.job.chains = &chains;
    sample.job.stack.launch_s = 1;
    double launched[3], again[2];
    for (uint32_t i = 0; i < 3; i++) {
        chains.host.backward_launch = 0.5 + 0.25 * i;
        launched[i] = step_of(&sample.job).cause_s[WEIR_CAUSE_DEPENDENCY_LAUNCH];
    }
    assert_true(launched[1] > 1.1 * launched[0]);
    expect("in proportion", launched[2] - launched[1], launched[1] - launched[0], 1e-6);
    double backward = 2 * (launched[2] - launched[0]), forward = launched[2] - backward;
    for (uint32_t i = 0; i < 2; i++) {
        chains.host.backward_launch = 0.5 + 0.5 * i;
        sample.job.plan.recompute = WEIR_RECOMPUTE_PLAN_FULL;
        again[i] = step_of(&sample.job).cause_s[WEIR_CAUSE_DEPENDENCY_LAUNCH];
    }
    assert_true(again[0] > launched[0] + 0.9 * forward && again[0] < launched[0] + forward);
    expect("again", again[1] - again[0], launched[2] - launched[0], 1e-3);
}

/* --- experts --- */

static void a_loaded_rank_takes_longer_in_proportion(void **state)
{
    (void)state;
    load("mixtral-8x7b");
    weir_train_plan *plan = &sample.job.plan;
    plan->data = 8;
    plan->expert = 8;
    batch(plan, 1);
    weir_train_step even = step_of(&sample.job);
    double before = even.step_s;
    for (double load_ratio = 1.05; load_ratio <= 2; load_ratio += 0.05) {
        plan->expert_load = load_ratio;
        weir_train_step step = step_of(&sample.job);
        assert_true(step.step_s > before);
        assert_true(step.step_s < even.step_s * load_ratio); /* attention stays as it is */
        expect("model FLOP", step.model_flop, even.model_flop, 1e-3);
        before = step.step_s;
    }
}

static double work_s(const weir_train_step *step)
{
    double sum = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        weir_wait wait = weir_cause_wait((weir_cause)c);
        sum += wait == WEIR_WAIT_COMPUTE || wait == WEIR_WAIT_CACHE ? step->cause_s[c] : 0;
    }
    return sum;
}

/* The mean rank computes what it did before, and waits for the busiest. */
static void others_wait_for_the_busiest_experts(void **state)
{
    (void)state;
    load("mixtral-8x7b");
    weir_train_plan *plan = &sample.job.plan;
    plan->data = 8;
    plan->expert = 8;
    batch(plan, 1);
    weir_train_step even = step_of(&sample.job);
    plan->expert_load = 1.5;
    weir_train_step step = step_of(&sample.job);
    expect("work", work_s(&step), work_s(&even), 1e-3);
    expect("FLOP", step.flop, even.flop, 1e-3);
    double exchanged = step.cause_s[WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL] -
                       even.cause_s[WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL];
    double waited = step.cause_s[WEIR_CAUSE_DEPENDENCY_STRAGGLER] -
                    even.cause_s[WEIR_CAUSE_DEPENDENCY_STRAGGLER];
    assert_true(exchanged > 0 && waited > 0);
    expect("longer", step.step_s - even.step_s, exchanged + waited, 1e-3);
}

/* Experts calculate their capacity, whoever has how many rows: half of twice the mean is for
 * nothing. */
static void rows_that_fill_up_capacity_are_redundant(void **state)
{
    (void)state;
    load("mixtral-8x7b");
    weir_train_plan *plan = &sample.job.plan;
    plan->data = 8;
    plan->expert = 8;
    batch(plan, 1);
    weir_train_step even = step_of(&sample.job);
    plan->capacity = 2;
    weir_train_step padded = step_of(&sample.job);
    double redundant = padded.cause_s[WEIR_CAUSE_COMPUTE_REDUNDANT];
    assert_true(redundant > 0);
    expect("work", work_s(&padded) - redundant, work_s(&even), 1e-3);
    expect("model FLOP", padded.model_flop, even.model_flop, 1e-3);
    assert_true(padded.flop > 1.5 * even.flop);
    plan->expert_load = 1.9;
    expect("step", step_of(&sample.job).cause_s[WEIR_CAUSE_DEPENDENCY_STRAGGLER],
           padded.cause_s[WEIR_CAUSE_DEPENDENCY_STRAGGLER], 1e-9);
}

static void odd_numbers_of_tokens_cost_no_more(void **state)
{
    (void)state;
    load("llama3-8b");
    double even = step_of(&sample.job).step_s;
    sample.job.plan.sequence = 4098;
    expect("step", step_of(&sample.job).step_s, even, 0.02);
}

/* --- activations on the host --- */

static double copied_s(const weir_train_step *step)
{
    return step->cause_s[WEIR_CAUSE_CACHE_OFFLOAD];
}

/* H100: 55 GB/s in either direction. Of one device and one micro-batch, all of its activations go
 * and come; what does not fit beside computing is seen. */
static void activations_on_the_host_are_copied_beside_computing(void **state)
{
    (void)state;
    load("llama3-8b");
    weir_train_step kept = step_of(&sample.job);
    double bytes = weir_train_memory_kept(&sample.job, 0);
    sample.job.plan.offload_share = 0.2;
    weir_train_step few = step_of(&sample.job);
    expect("hidden", few.step_s, kept.step_s, 1e-12);
    sample.job.plan.offload_share = 1;
    weir_train_step all = step_of(&sample.job);
    assert_true(copied_s(&all) > 0);
    expect("longer", all.step_s - kept.step_s, copied_s(&all), 1e-9);
    double computed = work_s(&kept) - kept.cause_s[WEIR_CAUSE_CACHE_OPTIMIZER];
    expect("copied", copied_s(&all), 2 * bytes / 55e9 - computed, 1e-9);
}

/* --- properties --- */

static uint64_t random_state = 11;

static uint32_t draw(uint32_t count)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % count;
}

/* Returns false where what was drawn does not fit. */
static bool draw_plan(weir_train_plan *plan)
{
    weir_train_fault fault;
    plan->tensor = 1u << draw(4);
    plan->sequence_parallel = plan->tensor > 1 && draw(2);
    plan->context = 1u << draw(2);
    plan->pipeline = 1u << draw(4);
    plan->data = 1u << draw(5);
    plan->chunks = plan->pipeline > 1 ? 1u << draw(2) : 1;
    plan->schedule = plan->chunks > 1 ? WEIR_SCHEDULE_INTERLEAVED
                     : draw(2)        ? WEIR_SCHEDULE_ONE_F_ONE_B
                                      : WEIR_SCHEDULE_ZB_H1;
    plan->zero = plan->pipeline > 1 ? draw(2) : draw(4);
    plan->regathers = draw(2);
    plan->accumulates_sharded = draw(2);
    plan->expert = sample.model.experts > 0 ? 1u << draw(4) : 1;
    plan->recompute = draw(2) ? WEIR_RECOMPUTE_PLAN_FULL : WEIR_RECOMPUTE_PLAN_NONE;
    plan->context_kind = draw(2) ? WEIR_CONTEXT_RING : WEIR_CONTEXT_ALL_GATHER;
    batch(plan, plan->pipeline * (1 + draw(3)));
    return weir_train_is_sound(&sample.job, weir_train_devices(plan), &fault);
}

static void causes_add_up_and_faster_parts_never_hurt(void **state)
{
    (void)state;
    static const char *const models[] = {"llama3-8b", "mixtral-8x7b"};
    for (uint32_t m = 0; m < 2; m++) {
        load(models[m]);
        weir_train_stack *stack = &sample.job.stack;
        for (uint32_t i = 0; i < 200; i++) {
            if (!draw_plan(&sample.job.plan)) {
                continue;
            }
            stack->overlaps_gradients = draw(2);
            stack->overlaps_parameters = draw(2);
            stack->overlaps_tensor = draw(2);
            stack->overlaps_pipeline = draw(2);
            stack->post_validation = i % 2;
            weir_train_step step = step_of(&sample.job);
            double sum = 0;
            for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
                assert_true(step.cause_s[c] >= -1e-9);
                sum += step.cause_s[c];
            }
            expect("causes", sum, step.step_s, 1e-9);
            assert_true(step.schedule_s <= step.step_s * (1 + 1e-9));
            weir_train_network before = sample.job.network;
            sample.job.network.nic_bytes_per_s *= 2;
            sample.job.network.node_bytes_per_s *= 2;
            weir_train_step faster = step_of(&sample.job);
            sample.job.network = before;
            assert_true(faster.step_s <= step.step_s * (1 + 1e-9));
            stack->gemm_factor = 0.5;
            faster = step_of(&sample.job);
            stack->gemm_factor = 1;
            assert_true(faster.step_s <= step.step_s * (1 + 1e-9));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_device_only_computes),
        cmocka_unit_test(an_infinite_network_leaves_no_communication),
        cmocka_unit_test(replicas_with_full_overlap_scale_flat),
        cmocka_unit_test(uniform_stages_have_the_bubble_of_the_formula),
        cmocka_unit_test(messages_that_block_wait_for_the_host),
        cmocka_unit_test(a_vocabulary_that_is_spread_holds_up_no_stage),
        cmocka_unit_test(tensor_ranks_send_what_the_table_says),
        cmocka_unit_test(without_sequence_parallelism_four_all_reduces),
        cmocka_unit_test(stages_hand_over_two_bytes_a_value),
        cmocka_unit_test(replicas_reduce_and_gather_all_parameters),
        cmocka_unit_test(shared_out_parameters_are_gathered_twice_and_reduced_once),
        cmocka_unit_test(flop_are_those_of_the_model),
        cmocka_unit_test(blocks_are_quantised_along_tokens_too),
        cmocka_unit_test(a_slow_host_sets_the_pace),
        cmocka_unit_test(backward_passes_are_launched_faster),
        cmocka_unit_test(a_loaded_rank_takes_longer_in_proportion),
        cmocka_unit_test(others_wait_for_the_busiest_experts),
        cmocka_unit_test(rows_that_fill_up_capacity_are_redundant),
        cmocka_unit_test(activations_on_the_host_are_copied_beside_computing),
        cmocka_unit_test(odd_numbers_of_tokens_cost_no_more),
        cmocka_unit_test(causes_add_up_and_faster_parts_never_hurt),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sample_clear(&sample);
    return failed;
}
