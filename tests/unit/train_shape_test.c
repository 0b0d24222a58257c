/* train_shape.h: weights of positions add up to the model; shares by hand. */
#include "train/train_shape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "train_job_sample.h"

static void begin(const char *model, job_sample *s)
{
    if (!sample_make(model, s)) {
        fail_msg("no sample of %s", model);
    }
    s->job.stack.vocab_multiple = 1;
}

static double sum_of_positions(const job_sample *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->job.plan.pipeline * s->job.plan.chunks; i++) {
        weir_train_weights w = weir_train_weights_at(&s->job, i);
        sum += w.dense + w.expert;
    }
    return sum;
}

static void expect(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * expected)) {
        fail_msg("found %.12g, expected %.12g", found, expected);
    }
}

static void positions_add_up_to_the_model(void **state)
{
    (void)state;
    /* totals of the published checkpoints; reference/training-model.md 13 */
    static const struct {
        const char *id;
        double parameters;
    } rows[] = {{"llama3-8b", 8030261248.0}, {"mixtral-8x7b", 46702792704.0}};
    for (uint32_t i = 0; i < 2; i++) {
        job_sample s;
        begin(rows[i].id, &s);
        expect(sum_of_positions(&s), rows[i].parameters);
        s.job.plan.pipeline = 4;
        s.job.plan.chunks = 2;
        expect(sum_of_positions(&s), rows[i].parameters);
        s.job.plan.spreads_vocabulary = true;
        expect(sum_of_positions(&s), rows[i].parameters);
        sample_clear(&s);
    }
}

static void a_tied_head_elsewhere_is_a_copy(void **state)
{
    (void)state;
    job_sample s;
    begin("gpt3-175b", &s);
    assert_true(s.model.tied);
    double once = sum_of_positions(&s);
    s.job.plan.pipeline = 2;
    expect(sum_of_positions(&s), once + (double)s.model.vocab * s.model.hidden);
    sample_clear(&s);
}

static void one_position_is_what_all_of_them_say(void **state)
{
    (void)state;
    job_sample s;
    begin("deepseek-v3", &s);
    weir_train_weighing weighing;
    s.job.plan.pipeline = 16;
    s.job.plan.expert = 64;
    weir_train_weigh(&s.job, &weighing);
    for (uint32_t i = 0; i < 16; i++) {
        weir_train_weights one = weir_train_weights_at(&s.job, i);
        weir_train_weights same = weir_train_weights_of(&s.job, &weighing, i);
        assert_true(one.dense == same.dense && one.expert == same.expert);
    }
    /* The first stage has three dense layers and one mixture: 256 / 64 experts of 3 x 7168 x 2048.
     */
    expect(weir_train_weights_at(&s.job, 0).expert, 4 * 3 * 7168.0 * 2048);
    sample_clear(&s);
}

static void experts_are_shared_out_over_their_own_replicas(void **state)
{
    (void)state;
    weir_train_plan plan = {.tensor = 2,
                            .context = 2,
                            .data = 8,
                            .pipeline = 1,
                            .expert = 4,
                            .expert_tensor = 1,
                            .zero = 1};
    assert_int_equal(weir_train_expert_replicas(&plan), 8); /* 2 x 2 x 8 devices / 4 */
    assert_int_equal(weir_train_dense_shards(&plan), 16);
    assert_int_equal(weir_train_expert_shards(&plan), 8);
    plan.shard_ranks = 4;
    assert_int_equal(weir_train_dense_shards(&plan), 4);
    assert_int_equal(weir_train_expert_shards(&plan), 4);
    plan.zero = 0;
    assert_int_equal(weir_train_dense_shards(&plan), 1);
    assert_int_equal(weir_train_expert_shards(&plan), 1);
}

static void the_shape_has_the_facts_of_the_stack(void **state)
{
    (void)state;
    job_sample s;
    begin("llama3-8b", &s);
    s.job.plan.format = WEIR_GEMM_FP8;
    weir_op_shape shape = weir_train_shape(&s.job);
    assert_true(shape.bytes.operand == 1 && shape.bytes.kept == 0);
    assert_true(shape.bytes.loss == 4 && !shape.split_activation);
    s.job.stack.keeps_quantised = true;
    s.job.stack.fused_loss = s.job.stack.fused_activation = false;
    shape = weir_train_shape(&s.job);
    assert_true(shape.bytes.kept == 1);
    assert_true(shape.bytes.loss == 14 && shape.split_activation);
    s.job.stack.logit_bytes = 10;
    assert_true(weir_train_shape(&s.job).bytes.loss == 10);
    sample_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_add_up_to_the_model),
        cmocka_unit_test(a_tied_head_elsewhere_is_a_copy),
        cmocka_unit_test(one_position_is_what_all_of_them_say),
        cmocka_unit_test(experts_are_shared_out_over_their_own_replicas),
        cmocka_unit_test(the_shape_has_the_facts_of_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
