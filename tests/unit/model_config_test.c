/* model_config.h: files of Hugging Face become the models that presets write out, and errors say
 * where.
 *
 * The files (tests/fuzz/corpus/model_config) have the keys and values of the published ones. */
#include "model/model_config.h"
#include "model/model_count.h"
#include "model/model_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static weir_model parse(const char *text)
{
    weir_model model;
    weir_err err = {0};
    if (weir_model_config_parse("config.json", text, strlen(text), &model, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return model;
}

static void expect_error(const char *text, const char *sentence)
{
    static const weir_model before = {.layers = 7};
    weir_model model = before;
    weir_err err = {0};
    assert_int_equal(weir_model_config_parse("config.json", text, strlen(text), &model, &err),
                     WEIR_ERR_INPUT);
    assert_string_equal(err.text, sentence);
    assert_memory_equal(&model, &before, sizeof model);
}

static void reads_published_files_as_presets_say(void **state)
{
    (void)state;
    static const char *const ids[] = {
        "llama3-8b",      "llama3.2-1b", "mistral-7b", "mixtral-8x7b",    "qwen2-7b",
        "qwen2-57b-a14b", "qwen3-0.6b",  "phi3-mini",  "qwen3-235b-a22b", "deepseek-v2-lite",
        "deepseek-v3",    "gpt-oss-20b", "gemma-7b",   "gemma2-9b",       "gpt-neox-20b",
        "gpt2-xl",        "opt-6.7b",    "bloom-176b"};
    for (uint32_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char path[128];
        weir_model read, preset;
        weir_err err = {0};
        snprintf(path, sizeof path, "tests/fuzz/corpus/model_config/%s.json", ids[i]);
        if (weir_model_config_read(path, &read, &err) != WEIR_OK ||
            weir_model_preset(ids[i], &preset, &err) != WEIR_OK) {
            fail_msg("%s", err.text);
        }
        memset(preset.id, 0, sizeof preset.id);
        /* Dimensions without a meaning may differ: the width of dense layers that do not exist. */
        if (weir_model_moe_layers(&read) == read.layers) {
            read.ffn = preset.ffn;
        }
        const unsigned char *a = (const unsigned char *)&read, *b = (const unsigned char *)&preset;
        for (size_t at = 0; at < offsetof(weir_model, activation); at++) {
            if (a[at] != b[at]) {
                fail_msg("%s: differs in the member at byte %zu", ids[i], at);
            }
        }
        assert_int_equal(read.activation, preset.activation);
        assert_int_equal(read.positions, preset.positions);
        assert_int_equal(read.norm, preset.norm);
        assert_memory_equal(read.layer, preset.layer, sizeof read.layer);
        assert_true(read.gated == preset.gated && read.tied == preset.tied &&
                    read.qk_norm == preset.qk_norm && read.sinks == preset.sinks &&
                    read.parallel_residual == preset.parallel_residual &&
                    read.shared_gate == preset.shared_gate);
        assert_true(weir_count_model(&read).total == weir_count_model(&preset).total);
    }
}

static void has_the_defaults_of_the_configuration_classes(void **state)
{
    (void)state;
    /* transformers 4.57.1: LlamaConfig.num_key_value_heads None, head_dim None. */
    weir_model m = parse("{\"model_type\": \"llama\", \"hidden_size\": 4096, "
                         "\"num_hidden_layers\": 32, \"num_attention_heads\": 32, "
                         "\"intermediate_size\": 11008, \"vocab_size\": 32000}");
    assert_int_equal(m.kv_heads, 32);
    assert_int_equal(m.head_dim, 128);
    assert_int_equal(m.max_positions, 2048);
    assert_false(m.tied);
    assert_true(weir_count_model(&m).main == UINT64_C(6738415616)); /* LLaMA 7B */
    /* Qwen3Config.head_dim 128; MistralConfig.num_key_value_heads 8 and sliding_window 4096;
     * GPT2Config.n_inner None: 4 n_embd. */
    m = parse("{\"model_type\": \"mistral\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
              "\"num_attention_heads\": 8, \"intermediate_size\": 64, \"vocab_size\": 10}");
    assert_int_equal(m.kv_heads, 8);
    assert_int_equal(weir_model_window(&m, 1), 4096);
    /* Qwen2Attention: getattr(config, "head_dim", hidden_size // num_attention_heads). */
    m = parse("{\"model_type\": \"qwen2\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
              "\"num_attention_heads\": 8, \"num_key_value_heads\": 4, \"head_dim\": 32, "
              "\"intermediate_size\": 64, \"vocab_size\": 10}");
    assert_int_equal(m.head_dim, 32);
    m = parse("{\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_layer\": 12, \"n_head\": 12, "
              "\"vocab_size\": 50257}");
    assert_int_equal(m.ffn, 3072);
    assert_true(weir_count_model(&m).main == UINT64_C(124439808)); /* GPT-2 */
}

static void tells_null_from_not_written_where_it_matters(void **state)
{
    (void)state;
    weir_model m = parse("{\"model_type\": \"mistral\", \"hidden_size\": 64, "
                         "\"num_hidden_layers\": 2, \"num_attention_heads\": 8, "
                         "\"num_key_value_heads\": null, \"head_dim\": null, "
                         "\"sliding_window\": null, \"intermediate_size\": 64, "
                         "\"vocab_size\": 10}");
    assert_int_equal(weir_model_window(&m, 1), 0);
    assert_int_equal(m.kv_heads, 8); /* as many as heads */
    assert_int_equal(m.head_dim, 8);
}

#define QWEN3                                                                                      \
    "\"hidden_size\": 64, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, "                  \
    "\"num_key_value_heads\": 4, \"intermediate_size\": 64, \"vocab_size\": 10, "

static void marks_layers_of_experts_and_windows(void **state)
{
    (void)state;
    /* Qwen3-MoE: every second layer, and not the last one. */
    weir_model m = parse("{" QWEN3 "\"moe_intermediate_size\": 32, \"num_experts\": 4, "
                         "\"num_experts_per_tok\": 2, \"decoder_sparse_step\": 2, "
                         "\"mlp_only_layers\": [3], \"model_type\": \"qwen3_moe\"}");
    assert_int_equal(weir_model_moe_layers(&m), 1);
    assert_true(weir_model_is_moe(&m, 1));
    /* Qwen3: windows from a layer on, only where they are used. */
    m = parse("{" QWEN3 "\"use_sliding_window\": true, \"sliding_window\": 16, "
              "\"max_window_layers\": 3, \"model_type\": \"qwen3\"}");
    assert_int_equal(weir_model_window(&m, 2), 0);
    assert_int_equal(weir_model_window(&m, 3), 16);
    m = parse("{" QWEN3 "\"use_sliding_window\": false, \"sliding_window\": 16, "
              "\"max_window_layers\": 0, \"model_type\": \"qwen3\"}");
    assert_int_equal(weir_model_window(&m, 3), 0);
    m = parse("{" QWEN3 "\"use_sliding_window\": true, \"sliding_window\": 16, "
              "\"layer_types\": [\"full_attention\", \"sliding_attention\", \"full_attention\", "
              "\"full_attention\"], \"model_type\": \"qwen3\"}");
    assert_int_equal(weir_model_window(&m, 1), 16);
    assert_int_equal(weir_model_window(&m, 3), 0);
}

static void names_the_nearest_model_type(void **state)
{
    (void)state;
    expect_error("{\"model_type\": \"lama\"}", "config.json:1:16: found 'lama', expected 'llama'");
    expect_error("{\"model_type\": \"deepseek_v4\"}",
                 "config.json:1:16: found 'deepseek_v4', expected 'deepseek_v2' or 'deepseek_v3'");
    expect_error("{\"hidden_size\": 1}",
                 "config.json:1:1: found no key 'model_type', which is needed here");
}

static void says_where_a_file_is_wrong(void **state)
{
    (void)state;
    expect_error("{\"model_type\": \"llama\"}",
                 "config.json:1:1: found no key 'hidden_size', which is needed here");
    expect_error("{\"model_type\": \"llama\",\n \"hidden_size\": null}",
                 "config.json:2:17: found 'null', expected a value: it is needed here");
    expect_error("{\"model_type\": \"llama\",\n \"hidden_size\": \"big\"}",
                 "config.json:2:17: found 'big', expected a whole number up to 4294967295");
    expect_error("{" QWEN3 "\n\"tie_word_embeddings\": 3, \"model_type\": \"qwen3\"}",
                 "config.json:2:24: found '3', expected true or false");
    expect_error("{" QWEN3 "\n\"hidden_act\": \"sillu\", \"model_type\": \"qwen3\"}",
                 "config.json:2:15: found 'sillu', expected 'silu'");
    expect_error("{" QWEN3 "\"use_sliding_window\": true, \"sliding_window\": 16,\n"
                 "\"layer_types\": [\"full_attention\"], \"model_type\": \"qwen3\"}",
                 "config.json:2:1: key 'layer_types': found 1 items, expected a list of 4");
    expect_error("{" QWEN3 "\"moe_intermediate_size\": 32, \"num_experts\": 4,\n"
                 "\"num_experts_per_tok\": 5, \"model_type\": \"qwen3_moe\"}",
                 "config.json:2:24: key 'num_experts_per_tok': found 5 experts for each token, "
                 "expected 1 to 4");
    expect_error("{" QWEN3 "\"moe_intermediate_size\": 32,\n"
                 "\"decoder_sparse_step\": 0, \"model_type\": \"qwen3_moe\"}",
                 "config.json:2:24: found '0', expected a whole number, at least 1");
    expect_error("[1]", "config.json:1:1: found a list, expected an object with a model's "
                        "dimensions");
}

static void says_which_dimensions_do_not_fit(void **state)
{
    (void)state;
    expect_error("{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_hidden_layers\": 2,\n"
                 "\"num_attention_heads\": 32, \"num_key_value_heads\": 12, "
                 "\"intermediate_size\": 64, \"vocab_size\": 10}",
                 "config.json:2:51: key 'num_key_value_heads': found 12 key-value heads for 32 "
                 "heads, expected a divisor such as 8");
    expect_error(
        "{\"model_type\": \"gpt_neox\", \"hidden_size\": 100, \"num_hidden_layers\": 2,\n"
        "\"num_attention_heads\": 32, \"intermediate_size\": 64, \"vocab_size\": 10}",
        "config.json:2:24: key 'num_attention_heads': found 32 heads for 100 hidden units, "
        "expected a divisor such as 25, or the width of a head");
    expect_error(
        "{\"model_type\": \"gpt_neox\", \"hidden_size\": 64,\n"
        "\"num_hidden_layers\": 1025,\n"
        "\"num_attention_heads\": 32, \"intermediate_size\": 64, \"vocab_size\": 10}",
        "config.json:2:22: key 'num_hidden_layers': found 1025 layers, expected 1 to 1024");
    expect_error("{\"model_type\": \"opt\", \"hidden_size\": 1024, \"num_hidden_layers\": 2, "
                 "\"num_attention_heads\": 16, \"ffn_dim\": 64, \"vocab_size\": 10,\n"
                 "\"word_embed_proj_dim\": 512}",
                 "config.json:2:24: key 'word_embed_proj_dim': found 512, expected the hidden size "
                 "1024: projected embeddings are not supported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_published_files_as_presets_say),
        cmocka_unit_test(has_the_defaults_of_the_configuration_classes),
        cmocka_unit_test(tells_null_from_not_written_where_it_matters),
        cmocka_unit_test(marks_layers_of_experts_and_windows),
        cmocka_unit_test(names_the_nearest_model_type),
        cmocka_unit_test(says_where_a_file_is_wrong),
        cmocka_unit_test(says_which_dimensions_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
