/* model_source.h: a model by name, by file, by dimensions written out. */
#include "model/model_source.h"

#include "model/model_count.h"
#include "scenario/preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The `model` of a scenario: its error, or "" and the model. */
static void read(const char *text, const char *folder, weir_model *model, weir_err *err)
{
    weir_yaml *doc = NULL;
    if (weir_yaml_parse("train.yaml", text, strlen(text), &doc, err) == WEIR_OK) {
        const weir_yaml_node *node = weir_yaml_find(weir_yaml_root(doc), "model");
        weir_code code = weir_model_read(doc, node, folder, model, err);
        assert_int_equal(code, err->code);
    }
    weir_yaml_free(doc);
}

static weir_model good(const char *text)
{
    weir_model model = {0};
    weir_err err = {0};
    read(text, "tests/fuzz/corpus", &model, &err);
    if (err.code != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return model;
}

static void expect_error(const char *text, const char *sentence)
{
    static const weir_model before = {.layers = 7};
    weir_model model = before;
    weir_err err = {0};
    read(text, "", &model, &err);
    assert_string_equal(err.text, sentence);
    assert_memory_equal(&model, &before, sizeof model);
}

static void takes_the_name_of_a_preset(void **state)
{
    (void)state;
    weir_model m = good("model: llama3-70b\n");
    assert_string_equal(m.id, "llama3-70b");
    assert_int_equal(m.layers, 80);
    assert_int_equal(m.kv_heads, 8);
}

static void takes_a_file_beside_the_scenario(void **state)
{
    (void)state;
    weir_model m = good("model: model_config/deepseek-v3.json\n");
    assert_int_equal(m.kv_rank, 512);
    assert_int_equal(m.mtp_layers, 1);
}

static void takes_a_file_written_into_the_scenario(void **state)
{
    (void)state;
    weir_model m = good("model: {model_type: gpt2, n_embd: 768, n_layer: 12, n_head: 12, "
                        "vocab_size: 50257}\n");
    assert_true(weir_count_model(&m).main == UINT64_C(124439808));
}

static void takes_dimensions_written_out(void **state)
{
    (void)state;
    /* GPT-3: 12 h^2 + 13 h in each of 96 layers, 2 h behind them, 51,200 words, 2,048 positions. */
    weir_model m = good("model: {layers: 96, hidden: 12288, heads: 96, ffn: 49152, gated: no, "
                        "activation: gelu, norm: layer, norm_bias: yes, qkv_bias: yes, "
                        "output_bias: yes, ffn_bias: yes, vocab: 51200, tied: yes, "
                        "positions: learned, max_positions: 2048}\n");
    uint64_t h = 12288;
    assert_true(weir_count_model(&m).main == 96 * (12 * h * h + 13 * h) + 2 * h + 53248 * h);
    assert_int_equal(m.head_dim, 128);
}

static void takes_a_preset_with_keys_of_its_own(void **state)
{
    (void)state;
    weir_model whole = good("model: llama3-405b\n");
    weir_model m = good("model: {preset: llama3-405b, layers: 21}\n");
    assert_int_equal(m.layers, 21);
    assert_int_equal(m.hidden, 16384);
    assert_true(weir_count_model(&whole).main - weir_count_model(&m).main ==
                105 * weir_count_layer(&m, 0).total);
    m = good("model: {preset: deepseek-v3, mtp_layers: 0, dense_layers: 1}\n");
    assert_int_equal(m.mtp_layers, 0);
    assert_int_equal(weir_model_moe_layers(&m), 60);
}

static void marks_layers_by_intervals(void **state)
{
    (void)state;
    weir_model m = good("model: {layers: 6, hidden: 64, heads: 4, ffn: 64, vocab: 10, experts: 4, "
                        "experts_per_token: 1, expert_ffn: 32, moe_interval: 2, dense_layers: 2, "
                        "window: 8, window_interval: 3}\n");
    static const bool moe[] = {false, false, false, true, false, true};
    static const uint32_t windows[] = {8, 8, 0, 8, 8, 0};
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(weir_model_is_moe(&m, i), moe[i]);
        assert_int_equal(weir_model_window(&m, i), windows[i]);
    }
}

static void says_what_was_expected(void **state)
{
    (void)state;
    expect_error("model: lama3-8b\n",
                 "train.yaml:1:8: found 'lama3-8b', expected a model of presets/models such as "
                 "'llama3-8b', or a file ending in .json");
    expect_error("model: {preset: llama3-405, layers: 2}\n",
                 "train.yaml:1:17: found 'llama3-405', expected a model of presets/models such as "
                 "'llama3-405b', or a file ending in .json");
    expect_error(
        "model: {layers: 2}\n",
        "train.yaml:1:8: found no key 'hidden', which is needed here, for example hidden: 4096");
    expect_error("model: {layers: 2, hiden: 3}\n",
                 "train.yaml:1:20: found unknown key 'hiden', expected 'hidden'");
    expect_error("model: {preset: llama3-8b, kv_heads: 5}\n",
                 "train.yaml:1:38: key 'kv_heads': found 5 key-value heads for 32 heads, expected "
                 "a divisor such as 4");
    expect_error(
        "model: {layers: 2, hidden: 64, heads: 4, ffn: 64, vocab: 10, experts: 4, "
        "expert_ffn: 8}\n",
        "train.yaml:1:8: key 'experts_per_token': found 0 experts for each token, expected "
        "1 to 4");
    expect_error("model: nowhere/config.json\n",
                 "train.yaml:1:8: found 'nowhere/config.json', expected a file: "
                 "nowhere/config.json: cannot be opened");
    expect_error("model: {preset: llama3-8b, confidence: sure}\n",
                 "train.yaml:1:40: found 'sure', expected one of verified, secondary, memory, "
                 "derived, fitted");
    expect_error("model: [1]\n",
                 "train.yaml:1:8: found a list, expected a model's name, file or dimensions");
    weir_err err = {0};
    weir_model model;
    assert_int_equal(weir_model_preset("gpt3-175", &model, &err), WEIR_ERR_USAGE);
    assert_string_equal(err.text, "found model 'gpt3-175', expected one of presets/models such as "
                                  "'gpt3-175b'");
}

static void says_of_every_preset_where_it_is_from(void **state)
{
    (void)state;
    uint32_t at = 0, presets = 0;
    char id[WEIR_MODEL_ID];
    while (weir_model_preset_next(&at, id)) {
        weir_model model;
        weir_err err = {0};
        if (weir_model_preset(id, &model, &err) != WEIR_OK) {
            fail_msg("%s", err.text);
        }
        assert_string_equal(model.id, id);
        char path[WEIR_MODEL_ID + 16];
        weir_yaml *doc = NULL;
        snprintf(path, sizeof path, "models/%s.yaml", id);
        assert_int_equal(weir_preset_open(path, &doc, &err), WEIR_OK);
        static const char *const needed[] = {"name", "source", "url", "confidence"};
        for (uint32_t i = 0; i < 4; i++) {
            if (!weir_yaml_find(weir_yaml_root(doc), needed[i])) {
                fail_msg("%s has no '%s'", path, needed[i]);
            }
        }
        weir_yaml_free(doc);
        presets++;
    }
    assert_true(presets >= 60);
}

static void describes_its_keys(void **state)
{
    (void)state;
    weir_text page = {0};
    weir_keys_describe(&weir_model_keys, &page);
    assert_non_null(strstr(page.p, "| `kv_rank` |"));
    weir_text_clear(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_name_of_a_preset),
        cmocka_unit_test(takes_a_file_beside_the_scenario),
        cmocka_unit_test(takes_a_file_written_into_the_scenario),
        cmocka_unit_test(takes_dimensions_written_out),
        cmocka_unit_test(takes_a_preset_with_keys_of_its_own),
        cmocka_unit_test(marks_layers_by_intervals),
        cmocka_unit_test(says_what_was_expected),
        cmocka_unit_test(says_of_every_preset_where_it_is_from),
        cmocka_unit_test(describes_its_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
