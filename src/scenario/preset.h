/* preset.h: the documents under presets/ that are built into the binary.
 *
 * Every document is parsed anew: what a caller gets is its own. About 15 microseconds for a small
 * file, a millisecond for the kernel families.
 *
 * Not here: what the documents mean (machine/, classify/). */
#ifndef WEIR_SCENARIO_PRESET_H
#define WEIR_SCENARIO_PRESET_H

#include "codec/yaml.h"

/* path: below presets/, "kernels.yaml". Errors call the file "presets/kernels.yaml". Owned by the
 * caller (weir_yaml_free). */
weir_code weir_preset_open(const char *path, weir_yaml **doc, weir_err *err);

/* The path of the next preset in folder ("accelerators"), in order of path, or NULL at the end.
 * *state is 0 at first. */
const char *weir_preset_next(const char *folder, uint32_t *state);

#endif
