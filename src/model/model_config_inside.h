/* model_config_inside.h: what the files that read a config.json share: the tables of model types
 * and of keys, and the part behind the tables.
 *
 * Not here: anything for callers outside (model_config.h). */
#ifndef WEIR_MODEL_MODEL_CONFIG_INSIDE_H
#define WEIR_MODEL_MODEL_CONFIG_INSIDE_H

#include "codec/yaml.h"
#include "model/model.h"

/* X(enumerator, model_type) */
#define MODEL_FAMILIES(X)                                                                          \
    X(LLAMA, "llama")                                                                              \
    X(MISTRAL, "mistral")                                                                          \
    X(MIXTRAL, "mixtral")                                                                          \
    X(QWEN2, "qwen2")                                                                              \
    X(QWEN2_MOE, "qwen2_moe")                                                                      \
    X(QWEN3, "qwen3")                                                                              \
    X(QWEN3_MOE, "qwen3_moe")                                                                      \
    X(DEEPSEEK_V2, "deepseek_v2")                                                                  \
    X(DEEPSEEK_V3, "deepseek_v3")                                                                  \
    X(GPT_OSS, "gpt_oss")                                                                          \
    X(PHI3, "phi3")                                                                                \
    X(GEMMA, "gemma")                                                                              \
    X(GEMMA2, "gemma2")                                                                            \
    X(GPT_NEOX, "gpt_neox")                                                                        \
    X(GPT2, "gpt2")                                                                                \
    X(OPT, "opt")                                                                                  \
    X(BLOOM, "bloom")

typedef enum {
#define X(name, text) MODEL_##name,
    MODEL_FAMILIES(X)
#undef X
        MODEL_FAMILY_COUNT
} model_family;

typedef struct {
    const char *type; /* model_type */
    weir_model base;  /* what the model code fixes, and defaults of keys that need not be there */
} model_family_base;

typedef enum {
    MODEL_CONFIG_UINT = 0,
    MODEL_CONFIG_FLAG,
    MODEL_CONFIG_ACTIVATION
} model_config_type;

typedef struct {
    const char *name, *alias; /* alias: an older name, or NULL */
    model_config_type type;
    size_t field;      /* offset in weir_model */
    uint32_t families; /* bit set: it has a meaning for */
    uint32_t needed;   /* bit set: it must be there for */
    bool null_clears;  /* null says 0 and not "the default" */
} model_config_key;

extern const model_family_base model_families[MODEL_FAMILY_COUNT];
extern const model_config_key model_config_keys[];
extern const uint32_t model_config_key_count;

/* The member, or NULL where it is not there or null. */
const weir_yaml_node *model_config_member(const weir_yaml_node *root, const char *key);

/* Which layers are of experts and which see a window; widths that follow from several keys.
 * model->layers is 1 to WEIR_MODEL_MAX_LAYERS. */
weir_code model_config_finish(const weir_yaml *doc, const weir_yaml_node *root, uint32_t family,
                              weir_model *model, weir_err *err);

#endif
