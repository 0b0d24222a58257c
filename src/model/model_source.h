/* model_source.h: a model by name, by dimensions written out, or by its config.json.
 *
 * In a scenario `model:` is one of
 *   llama3-8b                          a preset of presets/models
 *   ./my-model/config.json             a file of Hugging Face, beside the scenario
 *   {preset: llama3-405b, layers: 21}  a preset with keys of its own
 *   {layers: 32, hidden: 4096, ...}    all dimensions (weir_model_keys says which)
 *
 * Not here: what the dimensions mean (model.h). */
#ifndef WEIR_MODEL_MODEL_SOURCE_H
#define WEIR_MODEL_MODEL_SOURCE_H

#include "model/model.h"
#include "scenario/keys.h"

/* The keys of dimensions written out; presets/models have the same. */
extern const weir_key_table weir_model_keys;

/* The preset of that id; an unknown one names the nearest. *model is untouched on failure. */
weir_code weir_model_preset(const char *id, weir_model *model, weir_err *err);

/* The next preset's id in alphabetical order, or false at the end; *state is 0 at first. */
bool weir_model_preset_next(uint32_t *state, char id[WEIR_MODEL_ID]);

/* The value of a scenario's `model`. folder: what paths are relative to ("" or NULL: the working
 * folder). *model is untouched on failure; errors say file, line and column. */
weir_code weir_model_read(const weir_yaml *doc, const weir_yaml_node *node, const char *folder,
                          weir_model *model, weir_err *err);

#endif
