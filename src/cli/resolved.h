/* resolved.h: which scenario was simulated, as results say it: its keys and values as --set takes
 * them, their hash, the files, and a hash for each kind of preset that was looked at. */
#ifndef WEIR_CLI_RESOLVED_H
#define WEIR_CLI_RESOLVED_H

#include "codec/yaml.h"
#include "result/result.h"

typedef struct {
    const weir_yaml_node *root; /* the scenario with its settings */
    const char *const *inputs;
    uint32_t input_count;
    const char *const *presets; /* folders ("links/") and files ("transport.yaml") below presets/ */
    uint32_t preset_count;
} resolved_request;

/* Presets only where the result has none yet. */
weir_code resolved_note(const resolved_request *request, weir_result *result, weir_err *err);

#endif
