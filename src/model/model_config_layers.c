/* Which layers of a config.json are of experts and which see a window; widths of several keys. */
#include "model/model_config_inside.h"

/* --- single keys -------------------------------------------------------------------------- */

static weir_code uint_or(const weir_yaml *doc, const weir_yaml_node *root, const char *key,
                         uint32_t *value, weir_err *err)
{
    const weir_yaml_node *node = model_config_member(root, key);
    uint64_t read = *value;
    weir_code code = node ? weir_yaml_uint(doc, node, UINT32_MAX, &read, err) : WEIR_OK;
    if (code == WEIR_OK) {
        *value = (uint32_t)read;
    }
    return code;
}

static bool says(const weir_yaml_node *root, const char *key, const char *word)
{
    const weir_yaml_node *node = model_config_member(root, key);
    return node && node->kind == WEIR_YAML_SCALAR && weir_str_eq(node->text, weir_str_from(word));
}

static void mark_all(weir_model *model, uint8_t bit)
{
    for (uint32_t i = 0; i < model->layers; i++) {
        model->layer[i] |= bit;
    }
}

/* --- windows ------------------------------------------------------------------------------ */

/* layer_types: ["sliding_attention", "full_attention", ...]. */
static weir_code mark_listed(const weir_yaml *doc, const weir_yaml_node *list, weir_model *model,
                             weir_err *err)
{
    static const char *const words[] = {"full_attention", "sliding_attention"};
    uint32_t i = 0, which;
    if (list->kind != WEIR_YAML_SEQUENCE || list->count != model->layers) {
        return weir_yaml_fail_key(doc, list, err,
                                  "key 'layer_types': found %u items, expected a list of %u",
                                  list->count, model->layers);
    }
    for (const weir_yaml_node *n = list->first; n; n = n->next, i++) {
        weir_code code = weir_yaml_choice(doc, n, words, 2, &which, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (which) {
            model->layer[i] |= WEIR_LAYER_WINDOW;
        }
    }
    return WEIR_OK;
}

/* Qwen: only with use_sliding_window, and from max_window_layers on. */
static weir_code qwen_windows(const weir_yaml *doc, const weir_yaml_node *root, weir_model *model,
                              weir_err *err)
{
    uint32_t from = 28; /* Qwen2Config */
    weir_code code = uint_or(doc, root, "max_window_layers", &from, err);
    for (uint32_t i = from; i < model->layers && code == WEIR_OK; i++) {
        model->layer[i] |= WEIR_LAYER_WINDOW;
    }
    return code;
}

static weir_code mark_windows(const weir_yaml *doc, const weir_yaml_node *root, uint32_t family,
                              weir_model *model, weir_err *err)
{
    bool is_qwen = family == MODEL_QWEN2 || family == MODEL_QWEN2_MOE || family == MODEL_QWEN3 ||
                   family == MODEL_QWEN3_MOE;
    const weir_yaml_node *list = model_config_member(root, "layer_types");
    if (is_qwen && !says(root, "use_sliding_window", "true")) {
        model->window = 0;
    }
    if (model->window == 0) {
        return WEIR_OK;
    }
    if (list && (is_qwen || family == MODEL_GPT_OSS || family == MODEL_GEMMA2)) {
        return mark_listed(doc, list, model, err);
    }
    if (family == MODEL_GPT_OSS || family == MODEL_GEMMA2) {
        for (uint32_t i = 0; i < model->layers; i += 2) {
            model->layer[i] |= WEIR_LAYER_WINDOW;
        }
        return WEIR_OK;
    }
    /* The mixtures of Qwen have no max_window_layers in their model code: all layers alike. */
    if (family == MODEL_QWEN2 || family == MODEL_QWEN3) {
        return qwen_windows(doc, root, model, err);
    }
    mark_all(model, WEIR_LAYER_WINDOW);
    return WEIR_OK;
}

/* --- experts ------------------------------------------------------------------------------ */

static weir_code deepseek_experts(const weir_yaml *doc, const weir_yaml_node *root, uint32_t family,
                                  weir_model *model, weir_err *err)
{
    uint32_t first = family == MODEL_DEEPSEEK_V3 ? 3 : 0;
    uint32_t shared = family == MODEL_DEEPSEEK_V3 ? 1 : 2;
    uint32_t every = 1; /* moe_layer_freq, of the model code that came with the weights */
    const weir_yaml_node *freq = model_config_member(root, "moe_layer_freq");
    weir_code code;
    if ((code = uint_or(doc, root, "first_k_dense_replace", &first, err)) ||
        (code = uint_or(doc, root, "n_shared_experts", &shared, err)) ||
        (code = uint_or(doc, root, "moe_layer_freq", &every, err))) {
        return code;
    }
    if (every == 0) {
        return weir_yaml_reject(doc, freq, "a whole number, at least 1", err);
    }
    for (uint32_t i = first; i < model->layers && model->experts > 0; i++) {
        if (i % every == 0) {
            model->layer[i] |= WEIR_LAYER_MOE;
        }
    }
    uint64_t width = (uint64_t)shared * model->expert_ffn;
    model->shared_ffn = width > UINT32_MAX ? UINT32_MAX : (uint32_t)width;
    return WEIR_OK;
}

static weir_code qwen_experts(const weir_yaml *doc, const weir_yaml_node *root, weir_model *model,
                              weir_err *err)
{
    uint32_t every = 1;
    const weir_yaml_node *step = model_config_member(root, "decoder_sparse_step");
    const weir_yaml_node *dense = model_config_member(root, "mlp_only_layers");
    weir_code code = uint_or(doc, root, "decoder_sparse_step", &every, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (every == 0) {
        return weir_yaml_reject(doc, step, "a whole number, at least 1", err);
    }
    for (uint32_t i = 0; i < model->layers && model->experts > 0; i++) {
        if ((i + 1) % every == 0) {
            model->layer[i] |= WEIR_LAYER_MOE;
        }
    }
    if (!dense) {
        return WEIR_OK;
    }
    if (dense->kind != WEIR_YAML_SEQUENCE) {
        return weir_yaml_reject(doc, dense, "a list of layers", err);
    }
    for (const weir_yaml_node *n = dense->first; n && code == WEIR_OK; n = n->next) {
        uint64_t layer;
        code = weir_yaml_uint(doc, n, model->layers - 1, &layer, err);
        if (code == WEIR_OK) {
            model->layer[layer] &= (uint8_t)~WEIR_LAYER_MOE;
        }
    }
    return code;
}

/* --- OPT ---------------------------------------------------------------------------------- */

/* The embedding of positions has two rows more than positions (OPTLearnedPositionalEmbedding);
 * shapes that only opt-350m has are refused. */
static weir_code finish_opt(const weir_yaml *doc, const weir_yaml_node *root, weir_model *model,
                            weir_err *err)
{
    uint32_t width = model->hidden;
    weir_code code = uint_or(doc, root, "word_embed_proj_dim", &width, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (width != model->hidden) {
        return weir_yaml_fail(doc, model_config_member(root, "word_embed_proj_dim"), err,
                              "key 'word_embed_proj_dim': found %u, expected the hidden size %u: "
                              "projected embeddings are not supported",
                              width, model->hidden);
    }
    if (says(root, "layer_norm_elementwise_affine", "false")) {
        return weir_yaml_reject(doc, model_config_member(root, "layer_norm_elementwise_affine"),
                                "true: norms without weights are not supported", err);
    }
    model->final_norm = !says(root, "do_layer_norm_before", "false") &&
                        !says(root, "_remove_final_layer_norm", "true");
    model->position_rows = model->max_positions < UINT32_MAX - 2 ? model->max_positions + 2 : 0;
    return WEIR_OK;
}

weir_code model_config_finish(const weir_yaml *doc, const weir_yaml_node *root, uint32_t family,
                              weir_model *model, weir_err *err)
{
    weir_code code = mark_windows(doc, root, family, model, err);
    if (code != WEIR_OK) {
        return code;
    }
    switch (family) {
    case MODEL_MIXTRAL:
    case MODEL_GPT_OSS:
        mark_all(model, WEIR_LAYER_MOE);
        return WEIR_OK;
    case MODEL_DEEPSEEK_V2:
    case MODEL_DEEPSEEK_V3:
        return deepseek_experts(doc, root, family, model, err);
    case MODEL_QWEN2_MOE:
    case MODEL_QWEN3_MOE:
        return qwen_experts(doc, root, model, err);
    case MODEL_OPT:
        return finish_opt(doc, root, model, err);
    case MODEL_GPT2:
    case MODEL_BLOOM:
        if (model->ffn == 0 && model->hidden <= UINT32_MAX / 4) {
            model->ffn = 4 * model->hidden;
        }
        return WEIR_OK;
    default:
        return WEIR_OK;
    }
}
