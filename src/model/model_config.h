/* model_config.h: a model's dimensions from a config.json as Hugging Face writes it.
 *
 * Known model types: llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe deepseek_v2 deepseek_v3
 * gpt_oss phi3 gemma gemma2 gpt_neox gpt2 opt bloom. What a file does not say is as in the
 * configuration classes of transformers 4.57.1, except the dimensions without which there is no
 * model (hidden size, layers, heads, vocabulary, widths): those must be written. Other keys than
 * the needed ones are passed over, as these files have many. `null` is the same as not written,
 * except where it says something (no window, no compressed queries).
 *
 * Cost: that of parsing the file, tens of microseconds. Not here: weights, tokenizers. */
#ifndef WEIR_MODEL_MODEL_CONFIG_H
#define WEIR_MODEL_MODEL_CONFIG_H

#include "codec/yaml.h"
#include "model/model.h"

/* root: the mapping. *model is untouched on failure; errors say file, line and column. */
weir_code weir_model_config_node(const weir_yaml *doc, const weir_yaml_node *root,
                                 weir_model *model, weir_err *err);
/* The same of a file. */
weir_code weir_model_config_read(const char *path, weir_model *model, weir_err *err);
/* The same of bytes; name (ending in .json) is what errors call them. */
weir_code weir_model_config_parse(const char *name, const char *bytes, size_t n, weir_model *model,
                                  weir_err *err);

/* True where the mapping looks like a config.json: it has a `model_type`. */
bool weir_model_config_is(const weir_yaml_node *root);

#endif
