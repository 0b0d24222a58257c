/* train_check.h: every sentence, and that the values which they name work. */
#include "train/train_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "train_job_sample.h"

static void begin(const char *model, job_sample *s)
{
    if (!sample_make(model, s)) {
        fail_msg("no sample of %s", model);
    }
}

/* data and micro_batches follow, as the scenario's reader lets them. */
static void complete(weir_train_plan *p, uint64_t devices)
{
    uint64_t replica = (uint64_t)p->tensor * p->context * p->pipeline;
    p->data = (uint32_t)(devices / replica > 0 ? devices / replica : 1);
    p->micro_batches = p->global_batch / (p->micro_batch * p->data);
}

static void expect_fault(job_sample *s, uint64_t devices, const char *key, const char *part)
{
    weir_train_fault fault = {0};
    complete(&s->job.plan, devices);
    if (weir_train_is_sound(&s->job, devices, &fault)) {
        fail_msg("%s: found nothing, expected \"%s\"", key, part);
    }
    assert_string_equal(fault.key, key);
    if (!strstr(fault.text, part)) {
        fail_msg("%s: found \"%s\", expected \"%s\" in it", key, fault.text, part);
    }
}

/* 32 layers, 32 heads, 8 key-value heads, networks of 14336. */
static void names_key_value_and_what_works(void **state)
{
    (void)state;
    job_sample s;
    begin("llama3-8b", &s);
    weir_train_plan *p = &s.job.plan, plan = s.job.plan;
    p->tensor = 12;
    expect_fault(&s, 24, "plan.tensor", "found 12");
    *p = plan;
    p->tensor = 8;
    p->pipeline = 4;
    expect_fault(&s, 16, "plan.pipeline", "pipeline 2 fits");
    p->pipeline = 3;
    expect_fault(&s, 64, "plan.pipeline", "pipeline 2 fits");
    *p = plan;
    p->global_batch = 30;
    expect_fault(&s, 8, "plan.global_batch", "a multiple of 8 such as 32");
    *p = plan;
    p->pipeline = 64;
    p->global_batch = 64;
    expect_fault(&s, 64, "plan.pipeline", "pipeline 32 fits");
    p->pipeline = 16;
    p->chunks = 4;
    p->schedule = WEIR_SCHEDULE_INTERLEAVED;
    expect_fault(&s, 16, "plan.chunks",
                 "16 stages x 4 chunks = 64 for 32 layers, expected at most "
                 "32; chunks 2 fits");
    p->pipeline = 4;
    p->chunks = 2;
    p->global_batch = 6;
    expect_fault(&s, 4, "plan.global_batch", "such as 4");
    *p = plan;
    p->global_batch = 8;
    p->zero = 3;
    p->shard_ranks = 3;
    expect_fault(&s, 8, "plan.shard_ranks", "such as 2");
    *p = plan;
    p->context = 16;
    p->tensor = 2;
    p->context_kind = WEIR_CONTEXT_ULYSSES;
    expect_fault(&s, 32, "plan.context", "expected 4 or context_kind: ring");
    *p = plan;
    p->recompute = WEIR_RECOMPUTE_PLAN_BLOCK;
    p->recompute_layers = 33;
    expect_fault(&s, 1, "plan.recompute_layers", "at most the 32");
    *p = plan;
    p->format = WEIR_GEMM_FP4;
    expect_fault(&s, 1, "plan.precision", "does not calculate in");
    sample_clear(&s);
}

static void names_what_is_wrong_with_experts(void **state)
{
    (void)state;
    job_sample s;
    begin("mixtral-8x7b", &s); /* 8 experts */
    s.job.plan.global_batch = 4;
    s.job.plan.expert = 3;
    expect_fault(&s, 4, "plan.expert", "found 3");
    s.job.plan.expert = 8;
    expect_fault(&s, 4, "plan.expert", "divisor of the 4 devices of a pipeline stage; expert 4");
    sample_clear(&s);
}

static void layouts_may_leave_chunks_empty(void **state)
{
    (void)state;
    job_sample s;
    weir_train_fault fault = {0};
    begin("llama3-8b", &s);
    weir_train_plan *p = &s.job.plan;
    p->pipeline = 34;
    p->global_batch = 34;
    complete(p, 34);
    assert_false(weir_train_is_sound(&s.job, 34, &fault));
    p->layout = WEIR_LAYOUT_AS_LAYERS; /* embedding and head are a place each: 32 + 2 */
    assert_true(weir_train_is_sound(&s.job, 34, &fault));
    p->layout = WEIR_LAYOUT_LESS;
    p->first_layers = p->last_layers = 1;
    assert_true(weir_train_is_sound(&s.job, 34, &fault));
    p->layout = WEIR_LAYOUT_LIST;
    p->pipeline = 3;
    p->chunk_layers[0] = 20;
    p->chunk_layers[1] = 12; /* the head alone is last */
    complete(p, 3);
    assert_true(p->global_batch % 3 == 1);
    p->global_batch = 33;
    complete(p, 3);
    assert_true(weir_train_is_sound(&s.job, 3, &fault));
    p->chunk_layers[2] = 1;
    assert_false(weir_train_is_sound(&s.job, 3, &fault));
    assert_string_equal(fault.key, "plan.chunk_layers");
    sample_clear(&s);
}

static void sequences_end_where_learned_positions_do(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint32_t most;
    } models[] = {{"gpt2", 1024},
                  {"opt-175b", 2048}}; /* of OPT's 2,050 rows two are no positions */
    weir_train_fault fault = {0};
    job_sample s;
    for (uint32_t i = 0; i < 2; i++) {
        begin(models[i].model, &s);
        s.job.plan.sequence = models[i].most;
        assert_true(weir_train_is_sound(&s.job, 1, &fault));
        s.job.plan.sequence++;
        expect_fault(&s, 1, "plan.sequence", "or model.max_positions");
        s.job.plan.pairs = 512 * 512; /* packed documents of 1,023 tokens begin anew */
        assert_true(weir_train_is_sound(&s.job, 1, &fault));
        sample_clear(&s);
    }
    begin("bloom-7b1", &s); /* ALiBi, 2,048 positions in its training */
    s.job.plan.sequence = 4096;
    assert_true(weir_train_is_sound(&s.job, 1, &fault));
    sample_clear(&s);
    begin("llama2-7b", &s); /* rotary, 4,096 positions */
    s.job.plan.sequence = 8192;
    assert_true(weir_train_is_sound(&s.job, 1, &fault));
    sample_clear(&s);
}

/* The last number of a sentence. */
static uint64_t last_number(const char *text)
{
    uint64_t number = 0;
    for (const char *at = text; *at; at++) {
        if (*at >= '0' && *at <= '9') {
            char *end;
            number = strtoull(at, &end, 10);
            at = end - 1;
        }
    }
    return number;
}

static void obey(weir_train_plan *p, const weir_train_fault *fault)
{
    struct {
        const char *key;
        uint32_t *member;
    } keys[] = {{"plan.tensor", &p->tensor},
                {"plan.context", &p->context},
                {"plan.pipeline", &p->pipeline},
                {"plan.expert", &p->expert},
                {"plan.global_batch", &p->global_batch},
                {"plan.expert_tensor", &p->expert_tensor},
                {"plan.shard_ranks", &p->shard_ranks}};
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i].key, fault->key) == 0) {
            uint64_t value = fault->works > 0 ? fault->works : last_number(fault->text);
            if (value == *keys[i].member || value == 0) {
                fail_msg("%s: told to set %llu again: %s", fault->key, (unsigned long long)value,
                         fault->text);
            }
            *keys[i].member = (uint32_t)value;
            return;
        }
    }
    fail_msg("no such key: %s: %s", fault->key, fault->text);
}

/* xorshift64: the same plans everywhere. */
static uint64_t below(uint64_t *random, uint64_t bound)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % bound;
}

/* Whoever does as he is told, sentence by sentence, has a plan that works. */
static void doing_as_told_ends_in_a_sound_plan(void **state)
{
    (void)state;
    static const char *const models[] = {"llama3-8b", "mixtral-8x7b"};
    uint64_t random = 88172645463325252u;
    for (uint32_t i = 0; i < 2; i++) {
        job_sample s;
        begin(models[i], &s);
        const weir_train_plan plan = s.job.plan;
        for (uint32_t round = 0; round < 3000; round++) {
            weir_train_plan *p = &s.job.plan;
            uint64_t devices = 1 + below(&random, 512);
            *p = plan;
            p->tensor = 1 + (uint32_t)below(&random, 40);
            p->context = 1 + (uint32_t)below(&random, 6);
            p->pipeline = 1 + (uint32_t)below(&random, 48);
            p->global_batch = 1 + (uint32_t)below(&random, 4096);
            p->zero = (uint32_t)below(&random, 4);
            p->shard_ranks = (uint32_t)below(&random, 9);
            p->expert = i == 1 ? 1 + (uint32_t)below(&random, 12) : 1;
            weir_train_fault fault = {0};
            complete(p, devices);
            uint32_t told = 0;
            while (!weir_train_is_sound(&s.job, devices, &fault)) {
                if (++told > 12) {
                    fail_msg("round %u: still %s: %s", round, fault.key, fault.text);
                }
                obey(p, &fault);
                complete(p, devices);
            }
        }
        sample_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_key_value_and_what_works),
        cmocka_unit_test(names_what_is_wrong_with_experts),
        cmocka_unit_test(layouts_may_leave_chunks_empty),
        cmocka_unit_test(sequences_end_where_learned_positions_do),
        cmocka_unit_test(doing_as_told_ends_in_a_sound_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
