/* model_memory.h: published cache sizes and activation bytes. */
#include "model/model_memory.h"
#include "model/model_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double GiB = 1024.0 * 1024 * 1024;

static weir_model preset(const char *id)
{
    weir_model model;
    weir_err err = {0};
    if (weir_model_preset(id, &model, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return model;
}

static void expect_near(const char *what, double found, double expected, double allowed)
{
    double off = found > expected ? found - expected : expected - found;
    if (!(off <= allowed)) {
        fail_msg("%s: found %.10g, expected %.10g", what, found, expected);
    }
}

static void has_the_caches_that_deepseek_published(void **state)
{
    (void)state;
    /* C. Zhao et al., "Insights into DeepSeek-V3", ISCA 2025, table 1: kB of a token in BF16. */
    static const struct {
        const char *id;
        double kilobytes;
    } table[] = {{"deepseek-v3", 70.272}, {"qwen2.5-72b", 327.680}, {"llama3-405b", 516.096}};
    for (uint32_t i = 0; i < 3; i++) {
        weir_model m = preset(table[i].id);
        assert_true(weir_kv_bytes_token(&m, 2, 1) == table[i].kilobytes * 1000);
    }
}

static void keeps_at_least_a_head_on_each_rank(void **state)
{
    (void)state;
    weir_model m = preset("llama3-8b"); /* 32 layers, 8 heads of 128 */
    assert_true(weir_kv_bytes_token(&m, 2, 1) == 131072);
    assert_true(weir_kv_bytes_token(&m, 2, 8) == 16384);
    assert_true(weir_kv_bytes_token(&m, 2, 16) == 16384);
    assert_true(weir_kv_bytes_token(&m, 1, 0) == 65536);
    weir_model v3 = preset("deepseek-v3"); /* latents are on every rank */
    assert_true(weir_kv_bytes_token(&v3, 2, 8) == 70272);
}

static void keeps_no_more_than_windows(void **state)
{
    (void)state;
    weir_model m = preset("gpt-oss-20b"); /* 12 of 24 layers see 128 tokens; 8 heads of 64 */
    double row = 2 * 8 * 64 * 2;
    assert_true(weir_kv_bytes_sequence(&m, 100, 2, 1) == 24 * 100 * row);
    assert_true(weir_kv_bytes_sequence(&m, 8192, 2, 1) == row * 12 * (8192 + 128));
}

/* GPT as Megatron ran it in 2021: unfused scores, dropout, biases. */
static weir_op_shape gpt_shape(uint32_t sequences, bool sequence_parallel)
{
    return (weir_op_shape){.sequences = sequences,
                           .length = 2048,
                           .tensor = 8,
                           .sequence_parallel = sequence_parallel,
                           .unfused_core = true,
                           .dropout = true};
}

static void is_the_formula_of_korthikanti_tensor_by_tensor(void **state)
{
    (void)state;
    static const char *const ids[] = {"gpt-22b", "gpt3-175b", "gpt-530b", "gpt-1t"};
    static const struct {
        bool sequence;
        uint32_t recompute;
        weir_korthikanti form;
    } rows[] = {{false, 0, WEIR_KORTHIKANTI_TENSOR},
                {true, 0, WEIR_KORTHIKANTI_SEQUENCE},
                {false, WEIR_RECOMPUTE_CORE, WEIR_KORTHIKANTI_TENSOR_SELECTIVE},
                {true, WEIR_RECOMPUTE_CORE, WEIR_KORTHIKANTI_SELECTIVE},
                {false, WEIR_RECOMPUTE_FULL, WEIR_KORTHIKANTI_FULL}};
    for (uint32_t i = 0; i < 4; i++) {
        weir_model m = preset(ids[i]);
        for (uint32_t j = 0; j < 5; j++) {
            weir_op_shape shape = gpt_shape(2, rows[j].sequence);
            double formula = weir_activations_korthikanti(&m, &shape, rows[j].form);
            double found = weir_activations_layer(&m, 3, &shape, rows[j].recompute).total;
            expect_near(ids[i], found, formula, formula * 1e-12);
        }
    }
}

static void has_the_totals_of_the_megatron_runs(void **state)
{
    (void)state;
    /* reference/training-model.md 13: GiB with tensor parallelism alone, and with sequence
     * parallelism and selective recomputation; stage 0 of an interleaved schedule holds
     * L (1 + (p - 1) / (p v)) layers. 8 tensor ranks, the paper's table 3. */
    static const struct {
        const char *id;
        uint32_t sequences, p, v;
        double none, selective;
    } runs[] = {{"gpt-22b", 4, 1, 1, 59.25, 9.56},
                {"gpt3-175b", 1, 8, 3, 66.84, 12.35},
                {"gpt-530b", 1, 35, 3, 114.02, 23.08},
                {"gpt-1t", 1, 64, 1, 131.25, 26.56}};
    for (uint32_t i = 0; i < 4; i++) {
        weir_model m = preset(runs[i].id);
        weir_op_shape tensor = gpt_shape(runs[i].sequences, false);
        weir_op_shape sequence = gpt_shape(runs[i].sequences, true);
        double layers =
            runs[i].v > 1 ? m.layers * (1 + (runs[i].p - 1.0) / (runs[i].p * runs[i].v)) : m.layers;
        double none = layers * weir_activations_layer(&m, 0, &tensor, 0).total / GiB;
        double selective =
            layers * weir_activations_layer(&m, 0, &sequence, WEIR_RECOMPUTE_CORE).total / GiB;
        expect_near(runs[i].id, none, runs[i].none, 0.0051);
        expect_near(runs[i].id, selective, runs[i].selective, 0.0051);
    }
    /* The same place: GPT-3 175B, t = 8, 34 x 2048 x 12288 / 8 = 102.0 MiB of a layer. */
    weir_model m = preset("gpt3-175b");
    weir_op_shape shape = gpt_shape(1, true);
    expect_near("175B layer",
                weir_activations_layer(&m, 0, &shape, WEIR_RECOMPUTE_CORE).total / (1024 * 1024),
                102.0, 0.05);
}

static void counts_modern_layers_as_the_reference_does(void **state)
{
    (void)state;
    /* reference/training-model.md 6, of a token: 8h / t + 2 (nq + 2 nkv) d / t + 2 nq d / t +
     * 4 nq / t + 6 f / t; drop 2h of each norm computed again, 2f of the activation. */
    weir_model m = preset("llama3-70b");
    double h = 8192, f = 28672, t = 8, tokens = 8192;
    weir_op_shape shape = {.sequences = 1, .length = 8192, .tensor = 8, .sequence_parallel = true};
    double token = (8 * h + 2 * (64 + 16) * 128 + 2 * 64 * 128 + 4 * 64 + 6 * f) / t;
    assert_true(weir_activations_layer(&m, 0, &shape, 0).total == tokens * token);
    double less = (2 * 2 * h + 2 * f) / t;
    assert_true(
        weir_activations_layer(&m, 0, &shape, WEIR_RECOMPUTE_NORMS | WEIR_RECOMPUTE_ACTIVATION)
            .total == tokens * (token - less));
    shape.context = 2;
    assert_true(weir_activations_layer(&m, 0, &shape, 0).total == tokens / 2 * token);
}

static void keeps_rows_of_experts(void **state)
{
    (void)state;
    /* The same section: T k (2h + 6 fe + 2h), whatever the expert parallelism, x imbalance; router
     * 4 T E. DeepSeek-V3: latents 2 (rq + rkv + dr), their norms 2 (rq + rkv). */
    weir_model m = preset("deepseek-v3");
    weir_op_shape shape = {.sequences = 1, .length = 4096, .expert = 64, .expert_load = 1.5};
    weir_activation_bytes b = weir_activations_layer(&m, 60, &shape, 0);
    assert_true(b.experts == 4096 * 8 * 1.5 * (4 * 7168 + 6 * 2048));
    assert_true(b.router == 4096.0 * 256 * 4);
    assert_true(b.network == 4096.0 * 6 * 2048);
    assert_true(b.latents == 4096.0 * 2 * (1536 + 512 + 64 + 1536 + 512));
    assert_true(b.qkv == 4096.0 * 2 * 128 * (192 + 192 + 128));
    b = weir_activations_layer(&m, 60, &shape, WEIR_RECOMPUTE_UP | WEIR_RECOMPUTE_EXPERTS);
    assert_true(b.qkv == 0 && b.experts == 0);
    b = weir_activations_layer(&m, 60, &shape, WEIR_RECOMPUTE_FULL);
    assert_true(b.total == 4096.0 * 7168 * 2);
}

/* Rows that were weighted before the last product are summed as they are: 4096 tokens x 2 experts
 * x 4096 features of 2 bytes less. */
static void keeps_no_results_of_experts_that_were_weighted(void **state)
{
    (void)state;
    weir_model m = preset("mixtral-8x7b");
    weir_op_shape shape = {.sequences = 1, .length = 4096, .tensor = 1};
    double late = weir_activations_layer(&m, 0, &shape, 0).total;
    shape.early_weights = true;
    double early = weir_activations_layer(&m, 0, &shape, 0).total;
    expect_near("results", late - early, 4096.0 * 2 * 4096 * 2, 1);
}

/* MaxText's save_qkv_proj keeps the layer's input, queries, keys and values: of llama3-8b 4096 +
 * 4096 + 2 x 1024 features of 2 bytes a token, and attention's sums of exponentials. */
static void keeps_projections_of_attention_alone(void **state)
{
    (void)state;
    weir_model m = preset("llama3-8b");
    weir_op_shape shape = {.sequences = 1, .length = 4096, .tensor = 1};
    uint32_t again =
        WEIR_RECOMPUTE_CORE | WEIR_RECOMPUTE_NORMS | WEIR_RECOMPUTE_NETWORK | WEIR_RECOMPUTE_OUTPUT;
    weir_activation_bytes kept = weir_activations_layer(&m, 0, &shape, again);
    expect_near("kept", kept.total - kept.core, 4096.0 * 2 * (4096 + 4096 + 2 * 1024), 1);
}

static void keeps_logits_of_the_last_stage(void **state)
{
    (void)state;
    /* Korthikanti, section 4.3: 4 s b h / t (1 + v / h) of final norm, head and logits. */
    weir_model m = preset("gpt-22b");
    weir_op_shape shape = gpt_shape(4, true);
    double sbh = 2048.0 * 4 * 6144;
    expect_near("head", weir_activations_head(&m, &shape), 4 * sbh / 8 * (1 + 51200.0 / 6144), 1);
    /* And s b h p / t of the embedding's dropout for p micro-batches in flight. */
    assert_true(weir_activations_embedding(&m, &shape) == sbh / 8);
}

static void adds_up_in_every_preset(void **state)
{
    (void)state;
    uint32_t at = 0;
    char id[WEIR_MODEL_ID];
    while (weir_model_preset_next(&at, id)) {
        weir_model m = preset(id);
        weir_op_shape shape = {.sequences = 1, .length = 2048};
        double all = 0;
        for (uint32_t i = 0; i < m.layers; i++) {
            weir_activation_bytes b = weir_activations_layer(&m, i, &shape, 0);
            double sum = b.norms + b.latents + b.qkv + b.core + b.output + b.masks + b.network +
                         b.router + b.experts;
            assert_true(sum == b.total);
            assert_true(b.total > weir_activations_layer(&m, i, &shape, WEIR_RECOMPUTE_FULL).total);
            all += b.total;
        }
        assert_true(all > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_caches_that_deepseek_published),
        cmocka_unit_test(keeps_at_least_a_head_on_each_rank),
        cmocka_unit_test(keeps_no_more_than_windows),
        cmocka_unit_test(is_the_formula_of_korthikanti_tensor_by_tensor),
        cmocka_unit_test(has_the_totals_of_the_megatron_runs),
        cmocka_unit_test(counts_modern_layers_as_the_reference_does),
        cmocka_unit_test(keeps_rows_of_experts),
        cmocka_unit_test(keeps_no_results_of_experts_that_were_weighted),
        cmocka_unit_test(keeps_projections_of_attention_alone),
        cmocka_unit_test(keeps_logits_of_the_last_stage),
        cmocka_unit_test(adds_up_in_every_preset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
