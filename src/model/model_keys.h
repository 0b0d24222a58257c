/* model_keys.h: dimensions written out with Weir's own keys, in a scenario or a preset.
 *
 * Not here: presets by name, config.json (model_source.h). */
#ifndef WEIR_MODEL_MODEL_KEYS_H
#define WEIR_MODEL_MODEL_KEYS_H

#include "codec/yaml.h"
#include "model/model.h"

/* root: a mapping with the keys of weir_model_keys. */
weir_code model_keys_read(const weir_yaml *doc, const weir_yaml_node *root, weir_model *model,
                          weir_err *err);

#endif
