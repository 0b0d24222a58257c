/* model_count.h and model_tensors.h: published parameter counts, and two ways that must agree.
 *
 * Counts with nine or more digits are those that the model's card, paper or checkpoint prints; they
 * are not computed by the code under test. "T13" is reference/training-model.md section 13, "cal"
 * column params_b of data/training/calibration.csv (source llm_foundry). */
#include "model/model_count.h"
#include "model/model_source.h"
#include "model/model_tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static void counts_what_checkpoints_hold(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        uint64_t parameters;
    } published[] = {
        {"llama2-7b", 6738415616},         {"llama2-13b", 13015864320},
        {"llama2-70b", 68976648192},       {"llama3-8b", 8030261248},
        {"llama3-70b", 70553706496},       {"llama3-405b", 405853388800},
        {"llama3.2-1b", 1235814400},       {"llama3.2-3b", 3212749824},
        {"mistral-7b", 7241732096},        {"mixtral-8x7b", 46702792704},
        {"mixtral-8x22b", 140620634112},   {"qwen2-7b", 7615616512},
        {"qwen2-72b", 72706203648},        {"qwen3-8b", 8190735360},
        {"qwen3-0.6b", 596049920},         {"qwen3-32b", 32762123264},
        {"qwen3-30b-a3b", 30532122624},    {"qwen3-235b-a22b", 235093634560},
        {"deepseek-v2-lite", 15706484224}, {"deepseek-v2", 235741434880},
        {"gemma-7b", 8537680896},          {"gemma2-9b", 9241705984},
        {"gemma2-27b", 27227128320},       {"phi3-mini", 3821079552},
        {"gpt-neox-20b", 20554567680},     {"gpt2", 124439808},
        {"gpt2-xl", 1557611200},           {"bloom-176b", 176247271424},
        {"bloom-7b1", 7069016064},         {"opt-6.7b", 6658473984},
        {"gpt-oss-120b", 116829156672},    {"gpt-oss-20b", 20914757184},
    };
    for (uint32_t i = 0; i < sizeof published / sizeof *published; i++) {
        weir_model model = preset(published[i].id);
        uint64_t found = weir_count_model(&model).main;
        if (found != published[i].parameters) {
            fail_msg("%s: found %llu, expected %llu", published[i].id, (unsigned long long)found,
                     (unsigned long long)published[i].parameters);
        }
    }
}

static void counts_the_totals_of_the_reference(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double total, active; /* T13, 1e9; active 0: not given */
    } reference[] = {
        {"gpt3-175b", 174.616, 0},
        {"llama3-8b", 8.030, 0},
        {"llama3-70b", 70.554, 0},
        {"llama3-405b", 405.853, 0},
        {"mixtral-8x7b", 46.703, 12.880},
        {"deepseek-v3", 671.026, 37.552},
        {"qwen3-235b-a22b", 235.094, 22.191},
    };
    for (uint32_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        weir_model model = preset(reference[i].id);
        weir_model_count count = weir_count_model(&model);
        expect_near(reference[i].id, (double)count.main * 1e-9, reference[i].total, 0.0005);
        if (reference[i].active > 0) {
            expect_near(reference[i].id, (double)count.active * 1e-9, reference[i].active, 0.0005);
        }
    }
    /* Its checkpoint has 671,026,419,200 without the multi-token module: 58 layers hold 256 biases
     * that correct the routing and are no parameters (buffers of the model code). */
    weir_model v3 = preset("deepseek-v3");
    assert_true(weir_count_model(&v3).main + UINT64_C(58) * 256 == UINT64_C(671026419200));
}

static void counts_learned_positions_as_the_measured_runs_print_them(void **state)
{
    (void)state;
    /* cal: the models were run with texts of 512 to 64 Ki tokens; the table grows with them. */
    static const struct {
        const char *id;
        uint32_t positions;
        double parameters; /* 1e9 */
    } runs[] = {
        {"mpt-125m", 512, 0.1241},  {"mpt-125m", 65536, 0.1741}, {"mpt-350m", 4096, 0.3581},
        {"mpt-760m", 2048, 0.7605}, {"mpt-1b", 65536, 1.4460},   {"mpt-3b", 8192, 2.6676},
        {"mpt-7b", 1024, 6.6547},   {"mpt-7b", 4096, 6.6672},    {"mpt-7b", 65536, 6.9189},
        {"mpt-13b", 2048, 12.8540}, {"mpt-30b", 8192, 30.0193},  {"mpt-70b", 2048, 64.8624}};
    for (uint32_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        weir_model model = preset(runs[i].id);
        model.position_rows = runs[i].positions;
        double found = (double)weir_count_model(&model).main * 1e-9;
        expect_near(runs[i].id, found, runs[i].parameters, 0.00006);
    }
}

static void counts_models_of_the_megatron_papers(void **state)
{
    (void)state;
    /* Table 1 of SC 2021, in 1e9, one decimal. */
    static const struct {
        const char *id;
        double parameters;
    } table[] = {{"megatron-1.7b", 1.7},     {"megatron-3.6b", 3.6},     {"megatron-7.5b", 7.5},
                 {"megatron-18.4b", 18.4},   {"megatron-39.1b", 39.1},   {"megatron-76.1b", 76.1},
                 {"megatron-145.6b", 145.6}, {"megatron-310.1b", 310.1}, {"megatron-529.6b", 529.6},
                 {"megatron-1008b", 1008.0}};
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
        weir_model model = preset(table[i].id);
        double found = (double)weir_count_model(&model).main * 1e-9;
        expect_near(table[i].id, found, table[i].parameters, 0.0501);
    }
}

typedef struct {
    uint64_t elements;
    uint32_t seen;
} sum;

static void add(void *context, const weir_tensor *tensor)
{
    sum *s = context;
    uint64_t n = 1;
    for (uint32_t i = 0; i < tensor->dim_count; i++) {
        n *= tensor->dims[i];
    }
    s->elements += n;
    s->seen++;
}

static void has_tensors_that_add_up_to_the_count_in_every_preset(void **state)
{
    (void)state;
    uint32_t at = 0, presets = 0;
    char id[WEIR_MODEL_ID];
    while (weir_model_preset_next(&at, id)) {
        weir_model model = preset(id);
        sum s = {0};
        weir_model_tensors(&model, add, &s);
        if (s.elements != weir_count_model(&model).main) {
            fail_msg("%s: tensors hold %llu, count is %llu", id, (unsigned long long)s.elements,
                     (unsigned long long)weir_count_model(&model).main);
        }
        presets++;
    }
    assert_true(presets >= 60);
}

typedef struct {
    const char *name;
    uint64_t dims[3];
    uint32_t dim_count, found;
} wanted;

static void look(void *context, const weir_tensor *tensor)
{
    wanted *w = context;
    if (strcmp(tensor->name, w->name) == 0) {
        w->found++;
        assert_int_equal(tensor->dim_count, w->dim_count);
        for (uint32_t i = 0; i < w->dim_count; i++) {
            assert_int_equal(tensor->dims[i], w->dims[i]);
        }
    }
}

static void names_tensors_as_checkpoints_do(void **state)
{
    (void)state;
    /* Of the checkpoints' index files. */
    static const struct {
        const char *id;
        wanted tensor;
    } known[] = {
        {"llama3-8b", {"model.layers.31.self_attn.k_proj.weight", {1024, 4096}, 2, 0}},
        {"llama3-8b", {"lm_head.weight", {128256, 4096}, 2, 0}},
        {"mixtral-8x7b",
         {"model.layers.0.block_sparse_moe.experts.7.w2.weight", {4096, 14336}, 2, 0}},
        {"mixtral-8x7b", {"model.layers.0.block_sparse_moe.gate.weight", {8, 4096}, 2, 0}},
        {"deepseek-v3", {"model.layers.60.self_attn.kv_a_proj_with_mqa.weight", {576, 7168}, 2, 0}},
        {"deepseek-v3", {"model.layers.60.self_attn.q_b_proj.weight", {24576, 1536}, 2, 0}},
        {"deepseek-v3", {"model.layers.60.self_attn.kv_b_proj.weight", {32768, 512}, 2, 0}},
        {"deepseek-v3", {"model.layers.3.mlp.experts.255.down_proj.weight", {7168, 2048}, 2, 0}},
        {"deepseek-v3", {"model.layers.3.mlp.shared_experts.up_proj.weight", {2048, 7168}, 2, 0}},
        {"deepseek-v3", {"model.layers.2.mlp.gate_proj.weight", {18432, 7168}, 2, 0}},
        {"qwen3-8b", {"model.layers.0.self_attn.q_norm.weight", {128}, 1, 0}},
        {"qwen2-7b", {"model.layers.0.self_attn.v_proj.bias", {512}, 1, 0}},
        {"gpt-neox-20b",
         {"gpt_neox.layers.43.attention.query_key_value.weight", {18432, 6144}, 2, 0}},
        {"gpt2", {"transformer.h.11.attn.c_attn.weight", {768, 2304}, 2, 0}},
        {"gpt2", {"transformer.wpe.weight", {1024, 768}, 2, 0}},
        {"opt-6.7b", {"model.decoder.embed_positions.weight", {2050, 4096}, 2, 0}},
        {"opt-6.7b", {"model.decoder.layers.0.fc1.bias", {16384}, 1, 0}},
        {"bloom-176b",
         {"transformer.h.69.self_attention.query_key_value.weight", {43008, 14336}, 2, 0}},
        {"gpt-oss-120b", {"model.layers.0.mlp.experts.gate_up_proj", {128, 2880, 5760}, 3, 0}},
        {"gpt-oss-120b", {"model.layers.0.self_attn.sinks", {64}, 1, 0}},
        {"gemma2-9b", {"model.layers.41.post_feedforward_layernorm.weight", {3584}, 1, 0}},
        {"phi3-mini", {"model.layers.0.mlp.gate_up_proj.weight", {16384, 3072}, 2, 0}},
        {"qwen2-57b-a14b", {"model.layers.0.mlp.shared_expert_gate.weight", {1, 3584}, 2, 0}},
    };
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++) {
        weir_model model = preset(known[i].id);
        wanted w = known[i].tensor;
        weir_model_tensors(&model, look, &w);
        if (w.found != 1) {
            fail_msg("%s: %u tensors '%s'", known[i].id, w.found, w.name);
        }
    }
}

static void splits_layers_over_ranks(void **state)
{
    (void)state;
    /* Llama 3 70B over 8: q 8 heads, k and v 1 head, of 128; network 3584 wide. */
    weir_model llama = preset("llama3-70b");
    weir_rank_count rank = weir_count_layer_rank(&llama, 0, &(weir_weight_split){.tensor = 8});
    uint64_t h = 8192;
    assert_true(rank.dense == h * 128 * (8 + 2) + 8 * 128 * h + 3 * h * 3584 + 2 * h);
    assert_int_equal(rank.expert, 0);
    /* Over 16, its 8 key-value heads are held twice. */
    rank = weir_count_layer_rank(&llama, 0, &(weir_weight_split){.tensor = 16});
    assert_true(rank.dense == h * 128 * (4 + 2) + 4 * 128 * h + 3 * h * 1792 + 2 * h);
    /* DeepSeek-V3: 8 of 256 experts on each of 32 ranks. */
    weir_model v3 = preset("deepseek-v3");
    rank = weir_count_layer_rank(&v3, 60, &(weir_weight_split){.expert = 32});
    assert_true(rank.expert == UINT64_C(8) * 3 * 7168 * 2048);
    assert_true(rank.dense + 32 * rank.expert == weir_count_layer(&v3, 60).total);
    /* One rank holds everything, of every preset. */
    uint32_t at = 0;
    char id[WEIR_MODEL_ID];
    while (weir_model_preset_next(&at, id)) {
        weir_model model = preset(id);
        rank = weir_count_layer_rank(&model, model.layers - 1, &(weir_weight_split){0});
        assert_true(rank.dense + rank.expert == weir_count_layer(&model, model.layers - 1).total);
    }
}

static void counts_a_multi_token_module(void **state)
{
    (void)state;
    /* A block like the last, 2h x h and three norms: the V3 report's 14 B with the shared embedding
     * and head (1.85 B) are 11.6 B of its own and those. */
    weir_model v3 = preset("deepseek-v3");
    weir_model_count count = weir_count_model(&v3);
    uint64_t block = weir_count_layer(&v3, 60).total;
    assert_true(count.mtp == block + UINT64_C(2) * 7168 * 7168 + 3 * 7168);
    assert_true(count.total == count.main + count.mtp);
    expect_near("with embedding and head",
                (double)(count.mtp + count.embedding + count.head) * 1e-9, 14, 0.55);
}

static void pads_the_vocabulary(void **state)
{
    (void)state;
    weir_model model = preset("gpt2");
    assert_int_equal(weir_vocab_padded(&model, 128, 1), 50304);
    assert_int_equal(weir_vocab_padded(&model, 128, 8), 51200); /* Megatron's 51,200 */
    assert_int_equal(weir_vocab_padded(&model, 0, 0), 50257);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_checkpoints_hold),
        cmocka_unit_test(counts_the_totals_of_the_reference),
        cmocka_unit_test(counts_learned_positions_as_the_measured_runs_print_them),
        cmocka_unit_test(counts_models_of_the_megatron_papers),
        cmocka_unit_test(has_tensors_that_add_up_to_the_count_in_every_preset),
        cmocka_unit_test(names_tensors_as_checkpoints_do),
        cmocka_unit_test(splits_layers_over_ranks),
        cmocka_unit_test(counts_a_multi_token_module),
        cmocka_unit_test(pads_the_vocabulary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
