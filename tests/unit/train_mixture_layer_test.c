/* train_mixture_layer_test.c: a mixture layer beside measurements: Megatron-LM's own benchmark of
 * one layer (tests/functional_tests/test_cases/common/moe_perf, baseline.json; also in
 * ../shared/data/kernels/megatron_moe_layer.csv): 8 H100, EP 8, 4096 tokens a rank, balanced.
 * Layers run alone there, so kernels are isolated ones. Nothing here was fitted to it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/sort.h"
#include "train/train_layer.h"
#include "train/train_shape.h"
#include "train_job_sample.h"

#include <cmocka.h>

enum { CASES = 8, PASSES = 2 };

static const struct {
    const char *model;
    weir_gemm_format format;
    bool deepep;
    double measured_s[PASSES]; /* forward, backward */
} cases[CASES] = {
    {"mixtral-8x7b", WEIR_GEMM_16, false, {4.327e-3, 7.684e-3}},
    {"mixtral-8x7b", WEIR_GEMM_FP8_BLOCK, false, {3.788e-3, 6.618e-3}},
    {"mixtral-8x7b", WEIR_GEMM_16, true, {4.636e-3, 7.854e-3}},
    {"mixtral-8x7b", WEIR_GEMM_FP8_BLOCK, true, {4.101e-3, 6.827e-3}},
    {"deepseek-v3", WEIR_GEMM_16, false, {7.119e-3, 10.483e-3}},
    {"deepseek-v3", WEIR_GEMM_FP8_BLOCK, false, {7.609e-3, 10.126e-3}},
    {"deepseek-v3", WEIR_GEMM_16, true, {5.682e-3, 9.055e-3}},
    {"deepseek-v3", WEIR_GEMM_FP8_BLOCK, true, {6.035e-3, 8.602e-3}},
};

static job_sample sample;

/* Their deepseek has 32 experts, four on each rank; a dense layer of the model is not wanted. */
static void begin(uint32_t number)
{
    const weir_kernel_options options = {.isolated = true};
    weir_err err = {0};
    assert_true(sample_make(cases[number].model, &sample));
    weir_kernel_times_free(sample.kernels);
    sample.kernels = NULL;
    assert_int_equal(
        weir_kernel_times_open_with(sample_accelerator(sample.accelerators, "h100-sxm"), &options,
                                    &sample.kernels, &err),
        WEIR_OK);
    weir_train_job *job = &sample.job;
    job->kernels = sample.kernels;
    sample.model.experts = sample.model.experts > 32 ? 32 : sample.model.experts;
    job->plan.data = job->plan.expert = job->plan.global_batch = 8;
    job->plan.format = cases[number].format;
    job->stack.expert_deepep = cases[number].deepep;
    job->stack.launch_s = 25e-6; /* of a kernel of Transformer Engine, with its Python */
    job->stack.expert_sync_s = 100e-6;
}

static double exchanges_s(const weir_pass_cost *pass)
{
    double sum = 0;
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        sum += piece->cause == WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL ? piece->seconds : 0;
    }
    return sum;
}

/* What is behind the norm of the network and before its residual. */
static void network_of(uint32_t layer, bool backward, weir_op_list *network)
{
    weir_op_list all;
    weir_op_shape shape = weir_train_shape(&sample.job);
    weir_ops_layer(&sample.model, layer, &shape, backward, &all);
    network->count = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        if (all.op[i].part >= WEIR_MODEL_PART_ROUTER &&
            all.op[i].part <= WEIR_MODEL_PART_SHARED_DOWN) {
            network->op[network->count++] = all.op[i];
        }
    }
}

static void calculate(double seconds[PASSES])
{
    const weir_train_job *job = &sample.job;
    uint32_t layer = sample.model.layers - 1;
    weir_op_list forward, backward;
    weir_layer_cost cost;
    weir_pass_cost ignored = {0};
    weir_train_layer_cost(job, layer, false, &cost);
    network_of(layer, false, &forward);
    network_of(layer, true, &backward);
    double there_s = exchanges_s(&cost.forward);
    seconds[0] = weir_train_kernels(job, &forward, WEIR_PASS_FORWARD, false, &ignored).all +
                 there_s + weir_train_read_idle_s(job, &forward, there_s);
    seconds[1] = weir_train_kernels(job, &backward, WEIR_PASS_DGRAD, false, &ignored).all +
                 weir_train_kernels(job, &backward, WEIR_PASS_WGRAD, false, &ignored).all +
                 exchanges_s(&cost.dgrad);
}

static int order(const void *a, const void *b, const void *context)
{
    (void)context;
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void a_layer_takes_what_was_measured(void **state)
{
    (void)state;
    double errors[CASES * PASSES];
    for (uint32_t i = 0; i < CASES; i++) {
        double seconds[PASSES];
        begin(i);
        calculate(seconds);
        for (uint32_t pass = 0; pass < PASSES; pass++) {
            double error = fabs(log(seconds[pass] / cases[i].measured_s[pass]));
            if (error > 0.25) {
                fail_msg("case %u, pass %u: found %g s, measured %g s", i, pass, seconds[pass],
                         cases[i].measured_s[pass]);
            }
            errors[i * PASSES + pass] = error;
        }
        sample_clear(&sample);
    }
    assert_true(weir_sort(errors, CASES * PASSES, sizeof *errors, order, NULL));
    assert_true((errors[CASES - 1] + errors[CASES]) / 2 < 0.12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_layer_takes_what_was_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
