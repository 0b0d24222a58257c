/* A table says which key of which model type goes to which field; what the keys cannot say (which
 * layers are of experts, which see a window) is worked out behind it.
 *
 * Defaults and what the model code fixes: transformers 4.57.1,
 * src/transformers/models/TYPE/configuration_TYPE.py and modeling_TYPE.py. */
#include "model/model_config.h"

#include "model/model_config_inside.h"

#include <string.h>

#define AT(member) offsetof(weir_model, member)

bool weir_model_config_is(const weir_yaml_node *root)
{
    return root->kind == WEIR_YAML_MAPPING && weir_yaml_find(root, "model_type") != NULL;
}

static bool is_null(const weir_yaml_node *node)
{
    return node->kind == WEIR_YAML_SCALAR &&
           (node->text.n == 0 || weir_str_eq(node->text, WEIR_STR("null")));
}

const weir_yaml_node *model_config_member(const weir_yaml_node *root, const char *key)
{
    const weir_yaml_node *member = weir_yaml_find(root, key);
    return member && !is_null(member) ? member : NULL;
}

/* --- single values ------------------------------------------------------------------------ */

static weir_code read_flag(const weir_yaml *doc, const weir_yaml_node *node, bool *out,
                           weir_err *err)
{
    bool on = node->kind == WEIR_YAML_SCALAR && weir_str_eq(node->text, WEIR_STR("true"));
    if (!on && !(node->kind == WEIR_YAML_SCALAR && weir_str_eq(node->text, WEIR_STR("false")))) {
        return weir_yaml_reject(doc, node, "true or false", err);
    }
    *out = on;
    return WEIR_OK;
}

/* gelu_new, gelu_pytorch_tanh, gelu_fast ... cost the same. */
static weir_code read_activation(const weir_yaml *doc, const weir_yaml_node *node,
                                 weir_activation *out, weir_err *err)
{
    static const char *const words[] = {"silu", "gelu", "relu"};
    uint32_t which;
    if (node->kind == WEIR_YAML_SCALAR && weir_str_starts(node->text, WEIR_STR("gelu"))) {
        *out = WEIR_ACTIVATION_GELU;
        return WEIR_OK;
    }
    if (node->kind == WEIR_YAML_SCALAR && weir_str_eq(node->text, WEIR_STR("swish"))) {
        *out = WEIR_ACTIVATION_SILU;
        return WEIR_OK;
    }
    weir_code code = weir_yaml_choice(doc, node, words, 3, &which, err);
    if (code == WEIR_OK) {
        static const weir_activation activations[] = {WEIR_ACTIVATION_SILU, WEIR_ACTIVATION_GELU,
                                                      WEIR_ACTIVATION_RELU};
        *out = activations[which];
    }
    return code;
}

static weir_code read_value(const weir_yaml *doc, const weir_yaml_node *node,
                            const model_config_key *key, weir_model *model, weir_err *err)
{
    char *to = (char *)model + key->field;
    uint64_t value;
    weir_code code;
    switch (key->type) {
    case MODEL_CONFIG_FLAG:
        return read_flag(doc, node, (bool *)(void *)to, err);
    case MODEL_CONFIG_ACTIVATION:
        return read_activation(doc, node, (weir_activation *)(void *)to, err);
    case MODEL_CONFIG_UINT:
        code = weir_yaml_uint(doc, node, UINT32_MAX, &value, err);
        if (code == WEIR_OK) {
            *(uint32_t *)(void *)to = (uint32_t)value;
        }
        return code;
    }
    return WEIR_ERR_INTERNAL;
}

/* --- the file ----------------------------------------------------------------------------- */

static weir_code find_family(const weir_yaml *doc, const weir_yaml_node *root, uint32_t *family,
                             weir_err *err)
{
    const weir_yaml_node *type;
    const char *names[MODEL_FAMILY_COUNT];
    weir_code code = weir_yaml_need(doc, root, "model_type", WEIR_YAML_SCALAR, &type, err);
    if (code != WEIR_OK) {
        return code;
    }
    for (uint32_t i = 0; i < MODEL_FAMILY_COUNT; i++) {
        names[i] = model_families[i].type;
    }
    return weir_yaml_choice(doc, type, names, MODEL_FAMILY_COUNT, family, err);
}

static weir_code read_keys(const weir_yaml *doc, const weir_yaml_node *root, uint32_t family,
                           weir_model *model, weir_err *err)
{
    for (uint32_t i = 0; i < model_config_key_count; i++) {
        const model_config_key *key = &model_config_keys[i];
        if (!(key->families >> family & 1)) {
            continue;
        }
        const weir_yaml_node *node = weir_yaml_find(root, key->name);
        if (!node && key->alias) {
            node = weir_yaml_find(root, key->alias);
        }
        if (node && is_null(node) && key->null_clears) {
            *(uint32_t *)(void *)((char *)model + key->field) = 0;
            continue;
        }
        if (!node || is_null(node)) {
            if (key->needed >> family & 1) {
                return weir_yaml_need(doc, root, key->name, WEIR_YAML_ANY, &node, err)
                           ? WEIR_ERR_INPUT
                           : weir_yaml_reject(doc, node, "a value: it is needed here", err);
            }
            continue;
        }
        weir_code code = read_value(doc, node, key, model, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

/* The sentence goes to the key that the field was read from. */
static weir_code report(const weir_yaml *doc, const weir_yaml_node *root, uint32_t family,
                        const weir_model_fault *fault, weir_err *err)
{
    for (uint32_t i = 0; i < model_config_key_count; i++) {
        const model_config_key *key = &model_config_keys[i];
        if (key->field == fault->field && (key->families >> family & 1)) {
            const weir_yaml_node *node = weir_yaml_find(root, key->name);
            if (!node && key->alias) {
                node = weir_yaml_find(root, key->alias);
            }
            return weir_yaml_fail(doc, node ? node : root, err, "key '%s': %s", key->name,
                                  fault->text);
        }
    }
    return weir_yaml_fail(doc, root, err, "%s", fault->text);
}

weir_code weir_model_config_node(const weir_yaml *doc, const weir_yaml_node *root,
                                 weir_model *model, weir_err *err)
{
    uint32_t family;
    weir_model_fault fault;
    if (root->kind != WEIR_YAML_MAPPING) {
        return weir_yaml_reject(doc, root, "an object with a model's dimensions", err);
    }
    weir_code code = find_family(doc, root, &family, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_model made = model_families[family].base;
    if ((code = read_keys(doc, root, family, &made, err))) {
        return code;
    }
    if (made.layers == 0 || made.layers > WEIR_MODEL_MAX_LAYERS) {
        (void)weir_model_is_sound(&made, &fault);
        return report(doc, root, family, &fault, err);
    }
    if ((code = model_config_finish(doc, root, family, &made, err))) {
        return code;
    }
    weir_model_complete(&made);
    if (!weir_model_is_sound(&made, &fault)) {
        return report(doc, root, family, &fault, err);
    }
    *model = made;
    return WEIR_OK;
}

weir_code weir_model_config_parse(const char *name, const char *bytes, size_t n, weir_model *model,
                                  weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_parse(name, bytes, n, &doc, err);
    if (code == WEIR_OK) {
        code = weir_model_config_node(doc, weir_yaml_root(doc), model, err);
    }
    weir_yaml_free(doc);
    return code;
}

weir_code weir_model_config_read(const char *path, weir_model *model, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_read(path, &doc, err);
    if (code == WEIR_OK) {
        code = weir_model_config_node(doc, weir_yaml_root(doc), model, err);
    }
    weir_yaml_free(doc);
    return code;
}
