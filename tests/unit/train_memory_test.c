/* train_memory.h: shares of states by hand, published activations, passes in flight as schedules
 * play them, remedies that keep their word. */
#include "train/train_memory.h"

#include "base/arena.h"
#include "model/model_memory.h"
#include "train/schedule.h"
#include "train/train_shape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "train_job_sample.h"

static const double MiB = 1024.0 * 1024;

static void expect(const char *what, double found, double expected, double allowed_share)
{
    if (!(fabs(found - expected) <= allowed_share * fabs(expected))) {
        fail_msg("%s: found %.9g, expected %.9g", what, found, expected);
    }
}

static void begin(const char *model, job_sample *s)
{
    if (!sample_make(model, s)) {
        fail_msg("no sample of %s", model);
    }
}

static void keeps_as_many_passes_as_schedules_do(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < WEIR_SCHEDULE_COUNT; kind++) {
        uint32_t seen = 0;
        for (uint32_t p = 1; p <= 6; p++) {
            for (uint32_t m = 1; m <= 24; m++) {
                for (uint32_t v = 1; v <= 3; v++) {
                    weir_schedule_fault fault;
                    if (!weir_schedule_is_possible((weir_schedule_kind)kind, p, v, m, &fault)) {
                        continue;
                    }
                    weir_err err = {0};
                    weir_arena *arena = weir_arena_new();
                    const weir_schedule_wish wish = {.kind = (weir_schedule_kind)kind,
                                                     .stages = p,
                                                     .chunks = v,
                                                     .micro_batches = m};
                    const weir_train_plan plan = {.schedule = (weir_schedule_kind)kind,
                                                  .pipeline = p,
                                                  .chunks = v,
                                                  .micro_batches = m};
                    weir_schedule schedule;
                    assert_int_equal(weir_schedule_search(&wish, arena, &schedule, &err), WEIR_OK);
                    for (uint32_t s = 0; s < p; s++) {
                        double ours = weir_train_in_flight(&plan, s);
                        if (ours != schedule.peak[s]) {
                            fail_msg("%s, %u stages, %u chunks, %u micro-batches, stage %u: found "
                                     "%g, expected %u",
                                     weir_schedule_kind_name((weir_schedule_kind)kind), p, v, m, s,
                                     ours, schedule.peak[s]);
                        }
                    }
                    weir_arena_free(arena);
                    seen++;
                }
            }
        }
        assert_true(seen > 5);
    }
}

/* GPT-3 as Megatron ran it: 96 layers on 8 stages of 3 chunks, 8 tensor ranks. */
static void gpt3(job_sample *s)
{
    begin("gpt3-175b", s);
    weir_train_plan *p = &s->job.plan;
    p->tensor = p->pipeline = 8;
    p->chunks = 3;
    p->schedule = WEIR_SCHEDULE_INTERLEAVED;
    p->sequence = 2048;
    p->global_batch = p->micro_batches = 64;
    p->sequence_parallel = true;
    p->recompute = WEIR_RECOMPUTE_PLAN_SELECTIVE;
    p->recompute_parts = WEIR_RECOMPUTE_CORE;
    s->job.stack.attention = WEIR_ATTENTION_UNFUSED;
    s->job.stack.dropout = true;
}

static void has_the_layer_of_korthikanti_in_flight(void **state)
{
    (void)state;
    job_sample s;
    gpt3(&s);
    weir_op_shape shape = weir_train_shape(&s.job);
    double layer = weir_activations_layer(&s.model, 0, &shape, WEIR_RECOMPUTE_CORE).total;
    expect("a layer", layer / MiB, 102.0, 1e-12); /* 34 x 2048 x 12288 / 8 */
    /* L (1 + (p - 1) / (p v)) = 96 (1 + 7/24) = 124 layers; 12.35 GiB in their table. */
    expect("in flight", weir_train_in_flight(&s.job.plan, 0) * 96 / 24, 124, 1e-12);
    weir_train_memory memory;
    weir_train_memory_stage(&s.job, 0, &memory);
    expect("stage 0", memory.activations / MiB, 12.35 * 1024, 0.04); /* theirs has layers alone */
    s.job.plan.schedule = WEIR_SCHEDULE_ONE_F_ONE_B;
    s.job.plan.chunks = 1;
    assert_true(weir_train_in_flight(&s.job.plan, 0) * 96 / 8 == 96);
    sample_clear(&s);
}

/* Of llama3-8b on 8 devices: 8,030,261,248 parameters. */
static void zero_shares_states_out(void **state)
{
    (void)state;
    static const double all = 8030261248.0;
    job_sample s;
    begin("llama3-8b", &s);
    s.job.plan.data = s.job.plan.global_batch = 8;
    s.job.stack.vocab_multiple = 1;
    s.job.stack.shard_bytes = 2;
    static const struct {
        double parameters, gradients, optimizer; /* bytes of a parameter on each device */
    } rows[] = {{2, 4, 12}, {2, 4, 12.0 / 8}, {2, 4.0 / 8, 12.0 / 8}, {2.0 / 8, 4.0 / 8, 12.0 / 8}};
    weir_train_memory memory;
    s.job.plan.regathers = s.job.plan.accumulates_sharded = true;
    for (uint32_t zero = 0; zero < 4; zero++) {
        s.job.plan.zero = zero;
        weir_train_memory_of(&s.job, &memory);
        expect("parameters", memory.parameters, all * rows[zero].parameters, 1e-12);
        expect("gradients", memory.gradients, all * rows[zero].gradients, 1e-12);
        expect("optimizer", memory.optimizer, all * rows[zero].optimizer, 1e-12);
    }
    s.job.plan.shard_ranks = 4; /* two groups of four */
    weir_train_memory_of(&s.job, &memory);
    expect("HSDP", memory.optimizer, all * 12 / 4, 1e-12);
    s.job.stack.shard_bytes = 0; /* FSDP: the master weights are the share */
    weir_train_memory_of(&s.job, &memory);
    assert_true(memory.parameters == 0);
    s.job.plan.regathers = s.job.plan.accumulates_sharded = false;
    weir_train_memory_of(&s.job, &memory);
    assert_true(memory.buffers >= 2 * all); /* whole in 16 bits, and gradients whole in 32 */
    expect("accumulated whole", memory.gradients, all * 4 / 4 + all * 4, 1e-12);
    sample_clear(&s);
}

static void parts_add_up(void **state)
{
    (void)state;
    job_sample s;
    gpt3(&s);
    s.job.stack.fragmentation = 1.1;
    s.job.stack.context_bytes = 1e9;
    s.job.stack.communicator_bytes = 0.25e9; /* tensor and pipeline communicate */
    for (uint32_t stage = 0; stage < 8; stage++) {
        weir_train_memory m;
        weir_train_memory_stage(&s.job, stage, &m);
        expect("allocated", m.allocated,
               m.parameters + m.gradients + m.optimizer + m.activations + m.buffers, 1e-12);
        /* a tenth, rounded up to a whole byte */
        assert_true(fabs(m.total - (m.allocated * 1.1 + 1.5e9)) < 1.01);
    }
    sample_clear(&s);
}

static void dualpipe_has_weights_of_both_directions(void **state)
{
    (void)state;
    job_sample s;
    begin("llama3-8b", &s);
    s.job.plan.pipeline = 4;
    s.job.plan.global_batch = s.job.plan.micro_batches = 16;
    weir_train_memory once, twice;
    weir_train_memory_stage(&s.job, 1, &once);
    s.job.plan.schedule = WEIR_SCHEDULE_DUALPIPE;
    weir_train_memory_stage(&s.job, 1, &twice); /* stages 1 and 2 have eight layers each */
    expect("weights", twice.parameters, 2 * once.parameters, 1e-12);
    expect("states: two devices have each weight", twice.optimizer, once.optimizer, 1e-12);
    weir_train_memory_stage(&s.job, 0, &twice);
    weir_train_memory_stage(&s.job, 3, &once);
    expect("the same at both ends", twice.parameters, once.parameters, 1e-12);
    sample_clear(&s);
}

static void quantised_inputs_take_less(void **state)
{
    (void)state;
    job_sample s;
    begin("llama3-8b", &s);
    s.job.plan.format = WEIR_GEMM_FP8;
    weir_train_memory plain, kept;
    weir_train_memory_of(&s.job, &plain);
    s.job.stack.keeps_quantised = true;
    weir_train_memory_of(&s.job, &kept);
    /* Of each token and layer: two norms' outputs and the network's product a byte less,
     * attention's output a byte more, which the projection reads. */
    double less = 32 * 4096.0 * (2 * 4096 + 14336 - 4096);
    expect("activations", plain.activations - kept.activations, less, 1e-9);
    s.job.stack.copy_bytes = 2;
    weir_train_memory_of(&s.job, &plain);
    /* 32 layers of 218,112,000 parameters */
    expect("copies", plain.parameters - kept.parameters, 2 * 32 * 218112000.0, 1e-12);
    sample_clear(&s);
}

/* DeepSpeed fetches matrices, at most stage3_max_live_parameters; here the largest is the embedding
 * of 128,256 words x 4096 features, more than a million. */
static void matrices_are_fetched_one_by_one(void **state)
{
    (void)state;
    job_sample s;
    begin("llama3-8b", &s);
    s.job.plan.data = 8;
    s.job.plan.global_batch = 8;
    s.job.plan.zero = 3;
    s.job.plan.regathers = s.job.plan.accumulates_sharded = true;
    s.job.stack.reduced_bytes = 2;
    weir_train_memory layers, matrices;
    weir_train_memory_of(&s.job, &layers);
    s.job.stack.live_parameters = 1e6;
    weir_train_memory_of(&s.job, &matrices);
    /* layers: two of 218,112,000 and 2 x 525,336,576 + 4096 beside them; gradients of the latter */
    double ends = 2 * 525336576.0 + 4096, matrix = 525336576.0;
    expect("gathered", layers.buffers - matrices.buffers,
           2 * (2 * 218112000.0 + ends - matrix) + 2 * (ends - matrix), 1e-9);
    sample_clear(&s);
}

/* Seven replicas share 8,030,261,248 parameters out, which seven does not divide, and a fiftieth of
 * all that is no whole number either. */
static void bytes_are_whole(void **state)
{
    (void)state;
    job_sample s;
    begin("llama3-8b", &s);
    s.job.plan.data = 7;
    s.job.plan.global_batch = 7;
    s.job.plan.zero = 1;
    s.job.stack.state_bytes = 10;
    s.job.stack.fragmentation = 1.02;
    weir_train_memory m;
    weir_train_memory_of(&s.job, &m);
    const double found[] = {m.parameters, m.gradients,     m.optimizer, m.activations, m.buffers,
                            m.context,    m.fragmentation, m.allocated, m.total};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        assert_true(found[i] == floor(found[i]));
    }
    assert_true(m.optimizer == ceil(10 * 8030261248.0 / 7));
    assert_true(m.total == m.parameters + m.gradients + m.optimizer + m.activations + m.buffers +
                               m.fragmentation + m.context);
    sample_clear(&s);
}

/* Each remedy is computed by the change that it names. */
static void remedies_keep_their_word(void **state)
{
    (void)state;
    job_sample s;
    begin("llama3-70b", &s);
    weir_train_plan *p = &s.job.plan;
    p->tensor = 2;
    p->data = 8;
    p->zero = 1;
    p->micro_batch = 2;
    p->global_batch = 64;
    p->micro_batches = 4;
    s.job.stack.shard_bytes = 2;
    weir_train_memory before, after;
    weir_train_memory_of(&s.job, &before);
    weir_memory_remedy remedies[8];
    uint32_t count = weir_train_memory_remedies(&s.job, remedies, 8);
    assert_true(count >= 5);
    for (uint32_t i = 0; i < count; i++) {
        job_sample other = s;
        weir_train_plan *q = &other.job.plan;
        uint32_t number = (uint32_t)strtoul(remedies[i].value, NULL, 10);
        const char *key = remedies[i].key;
        q->tensor = strcmp(key, "plan.tensor") == 0 ? number : q->tensor;
        q->pipeline = strcmp(key, "plan.pipeline") == 0 ? number : q->pipeline;
        q->context = strcmp(key, "plan.context") == 0 ? number : q->context;
        q->zero = strcmp(key, "plan.zero") == 0 ? number : q->zero;
        q->micro_batch = strcmp(key, "plan.micro_batch") == 0 ? number : q->micro_batch;
        q->sequence_parallel = strcmp(key, "plan.sequence_parallel") == 0;
        if (strcmp(key, "plan.recompute") == 0) {
            q->recompute = strcmp(remedies[i].value, "full") == 0 ? WEIR_RECOMPUTE_PLAN_FULL
                                                                  : WEIR_RECOMPUTE_PLAN_SELECTIVE;
            q->recompute_parts =
                WEIR_RECOMPUTE_CORE | WEIR_RECOMPUTE_NORMS | WEIR_RECOMPUTE_ACTIVATION;
        }
        q->data = 16 / (q->tensor * q->pipeline * q->context);
        q->micro_batches = q->global_batch / (q->data * q->micro_batch);
        weir_train_memory_of(&other.job, &after);
        expect(key, remedies[i].total, after.total, 1e-12);
        assert_true(after.total < before.total);
        assert_true(i == 0 || remedies[i].total >= remedies[i - 1].total);
    }
    assert_true(weir_train_memory_remedies(&s.job, remedies, 1) == 1);
    assert_true(weir_train_memory_remedies(&s.job, remedies, 0) == 0);
    sample_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_as_many_passes_as_schedules_do),
        cmocka_unit_test(has_the_layer_of_korthikanti_in_flight),
        cmocka_unit_test(zero_shares_states_out),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(dualpipe_has_weights_of_both_directions),
        cmocka_unit_test(quantised_inputs_take_less),
        cmocka_unit_test(matrices_are_fetched_one_by_one),
        cmocka_unit_test(bytes_are_whole),
        cmocka_unit_test(remedies_keep_their_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
