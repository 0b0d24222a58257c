#include "cli/fabric.h"
#include "cli/resolved.h"
#include "codec/yaml.h"

#include <string.h>

/* Parts refer to prices, libraries to transports, so that all of them count. */
static const char *const PRESETS[] = {"accelerators/", "collectives/", "fabrics/",      "links/",
                                      "nics/",         "ocs/",         "optics/",       "prices/",
                                      "switches/",     "traffic.yaml", "transport.yaml"};

/* The files of a mix, or the one that was played. */
static weir_code note(const fabric_options *o, const weir_yaml_node *root, weir_result *result,
                      weir_err *err)
{
    uint32_t count = o->mix_count > 0 ? o->mix_count : 1;
    const char **inputs = weir_arena_alloc(result->arena, count, sizeof *inputs);
    if (!inputs)
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = o->mix_count > 0 ? o->mix[i].path : o->scenario;
    const resolved_request request = {root, inputs, count, PRESETS,
                                      sizeof PRESETS / sizeof *PRESETS};
    return resolved_note(&request, result, err);
}

weir_code fabric_note_scenario(const fabric_run_state *run, weir_result *result, weir_err *err)
{
    const fabric_options *o = run->options;
    const char *path = o->mix_count > 0 ? o->mix[0].path : o->scenario;
    weir_yaml *doc = NULL;
    const weir_yaml_node *root = NULL;
    weir_code code = strcmp(path, "-") == 0
                         ? weir_yaml_parse("standard input", run->input.p ? run->input.p : "",
                                           run->input.n, &doc, err)
                         : weir_yaml_read(path, &doc, err);
    if (code == WEIR_OK)
        code = weir_settings_apply(weir_yaml_root(doc), o->settings, o->setting_count,
                                   result->arena, &root, err);
    if (code == WEIR_OK && run->point_count > 0)
        code = weir_settings_apply(root, run->point, run->point_count, result->arena, &root, err);
    if (code == WEIR_OK)
        code = note(o, root, result, err);
    weir_yaml_free(doc);
    return code;
}
