#include "study/fabric_scenario.h"

#include "fabric/cable_list.h"
#include "scenario/preset.h"
#include "study/scenario_inside.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PRESETS = 256 };

typedef struct {
    const char *name;
    uint64_t seed;
    const weir_yaml_node *cluster, *traffic, *candidates, *economics;
} raw_scenario;

#define AT(member) offsetof(raw_scenario, member)

static const weir_key top_keys[] = {
    {.name = "name",
     .type = WEIR_KEY_TEXT,
     .offset = AT(name),
     .help = "what reports call it",
     .shown = "the file's name",
     .example = "dense 405B on 16,384 GPUs"},
    {.name = "seed",
     .type = WEIR_KEY_UINT64,
     .offset = AT(seed),
     .unset = "1",
     .help = "of all that is drawn: jitter, the ways of ECMP",
     .example = "1"},
    {.name = "cluster",
     .type = WEIR_KEY_NODE,
     .offset = AT(cluster),
     .needed = WEIR_KEY_ALWAYS,
     .help = "what all candidates have in common",
     .example = "{nodes: 8, nic: cx7-400g}"},
    {.name = "traffic",
     .type = WEIR_KEY_NODE,
     .offset = AT(traffic),
     .needed = WEIR_KEY_ALWAYS,
     .help = "what is sent",
     .example = "{phases: [...]}"},
    {.name = "candidates",
     .type = WEIR_KEY_NODE,
     .offset = AT(candidates),
     .needed = WEIR_KEY_ALWAYS,
     .help = "the networks that are compared",
     .example = "[{name: a, kind: clos, switch: tomahawk5-400g}]"},
    {.name = "economics",
     .type = WEIR_KEY_NODE,
     .offset = AT(economics),
     .help = "what time, power and years cost",
     .shown = "presets/prices",
     .example = "{gpu_hour: 2.95 USD}"},
};

static const weir_key_table top = {
    .title = "The file",
    .about = "One YAML document.",
    .keys = top_keys,
    .count = sizeof top_keys / sizeof *top_keys,
};

/* --- for the files that read sections ----------------------------------------------------- */

weir_code scenario_no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a scenario");
}

weir_code scenario_open(scenario_reader *r, const weir_yaml_node *node, const char **path,
                        weir_source **source, weir_err *err)
{
    static const weir_key file = {.name = "file", .type = WEIR_KEY_TEXT};
    weir_err inner = {0};
    weir_text joined = {0};
    const char *name;
    weir_code code = weir_key_read(&r->source, node, &file, &name, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_text_printf(&joined, "%s%s", name[0] == '/' ? "" : r->folder, name);
    *path = joined.failed ? NULL : weir_arena_copy(r->source.arena, weir_str_from(joined.p));
    weir_text_clear(&joined);
    if (!*path) {
        return scenario_no_memory(err);
    }
    code = weir_source_open(*path, 0, source, &inner);
    if (code == WEIR_ERR_IO) {
        return weir_yaml_fail(r->source.doc, node, err, "found '%.100s', expected a file: %.250s",
                              name, inner.text);
    }
    return code == WEIR_OK ? code : weir_err_set(err, code, "%s", inner.text);
}

weir_code scenario_read_id(scenario_reader *r, const weir_yaml_node *node, const char *folder,
                           const char **id, weir_err *err)
{
    const char *known[MOST_PRESETS], *path;
    uint32_t state = 0, count = 0, at;
    size_t skip = strlen(folder) + 1;
    while ((path = weir_preset_next(folder, &state)) && count < MOST_PRESETS) {
        weir_str name = {path + skip, (uint32_t)(strlen(path) - skip - strlen(".yaml"))};
        known[count] = weir_arena_copy(r->source.arena, name);
        if (!known[count++]) {
            return scenario_no_memory(err);
        }
    }
    if (count == 0) {
        return weir_yaml_fail(r->source.doc, node, err, "presets/%s is empty", folder);
    }
    weir_code code = weir_yaml_choice(r->source.doc, node, known, count, &at, err);
    if (code == WEIR_OK) {
        *id = known[at];
    }
    return code;
}

/* --- the whole ---------------------------------------------------------------------------- */

static weir_code read_sections(scenario_reader *r, const weir_yaml_node *root, weir_err *err)
{
    weir_fabric_scenario *s = r->scenario;
    raw_scenario raw = {0};
    weir_code code = weir_keys_read(&r->source, root, &top, 0, &raw, err);
    if (code == WEIR_OK) {
        s->name = raw.name ? raw.name : s->file;
        s->seed = raw.seed;
        code = scenario_read_cluster(r, raw.cluster, err);
    }
    if (code == WEIR_OK) {
        code = scenario_read_traffic(r, raw.traffic, err);
    }
    if (code == WEIR_OK) {
        code = scenario_read_candidates(r, raw.candidates, err);
    }
    if (code == WEIR_OK) {
        code = scenario_read_economics(r, raw.economics, err);
    }
    return code;
}

static weir_code make(weir_yaml *doc, const weir_setting *settings, uint32_t setting_count,
                      weir_fabric_scenario *made, weir_err *err)
{
    scenario_reader r = {.source = {doc, made->arena}, .scenario = made};
    const char *name = weir_yaml_name(doc), *slash = strrchr(name, '/');
    const weir_yaml_node *root;
    weir_str folder = {name, slash ? (uint32_t)(slash - name) + 1 : 0};
    r.folder = weir_arena_copy(made->arena, folder);
    made->file = weir_arena_copy(made->arena, weir_str_from(name));
    if (!r.folder || !made->file) {
        return scenario_no_memory(err);
    }
    weir_code code = weir_settings_apply(doc, settings, setting_count, made->arena, &root, err);
    if (code == WEIR_OK) {
        code = weir_parts_load(&made->parts, err);
    }
    if (code == WEIR_OK) {
        code = weir_accelerators_load(&made->accelerators, err);
    }
    return code == WEIR_OK ? read_sections(&r, root, err) : code;
}

/* Takes doc. */
static weir_code read_doc(weir_yaml *doc, const weir_setting *settings, uint32_t setting_count,
                          weir_fabric_scenario *scenario, weir_err *err)
{
    weir_fabric_scenario made = {.arena = weir_arena_new()};
    weir_code code =
        made.arena ? make(doc, settings, setting_count, &made, err) : scenario_no_memory(err);
    weir_yaml_free(doc);
    if (code == WEIR_OK) {
        *scenario = made;
    } else {
        weir_fabric_scenario_clear(&made);
    }
    return code;
}

weir_code weir_fabric_scenario_read(const char *path, const weir_setting *settings,
                                    uint32_t setting_count, weir_fabric_scenario *scenario,
                                    weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_read(path, &doc, err);
    return code == WEIR_OK ? read_doc(doc, settings, setting_count, scenario, err) : code;
}

weir_code weir_fabric_scenario_parse(const char *name, const char *bytes, size_t n,
                                     const weir_setting *settings, uint32_t setting_count,
                                     weir_fabric_scenario *scenario, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_code code = weir_yaml_parse(name, bytes, n, &doc, err);
    return code == WEIR_OK ? read_doc(doc, settings, setting_count, scenario, err) : code;
}

void weir_fabric_scenario_clear(weir_fabric_scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        weir_demand_clear(&scenario->phases[i].demand);
    }
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        weir_cable_list_clear(&scenario->candidates[i].list);
    }
    weir_parts_free(scenario->parts);
    weir_accelerators_free(scenario->accelerators);
    weir_arena_free(scenario->arena);
    *scenario = (weir_fabric_scenario){0};
}

weir_code weir_fabric_reject(const weir_fabric_scenario *scenario, weir_place place, weir_err *err,
                             const char *fmt, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    const char *file = weir_source_shown_name(scenario->file);
    if (place.line == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: %s", file, sentence);
    }
    if (err && err->code == WEIR_OK) {
        err->line = place.line;
        err->column = place.column;
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "%s:%u:%u: %s", file, place.line, place.column,
                        sentence);
}

const char *weir_traffic_pattern_name(weir_traffic_pattern pattern)
{
    static const char *const names[] = {
#define X(pattern, name) name,
        WEIR_TRAFFIC_PATTERNS(X)
#undef X
    };
    return names[pattern];
}

void weir_fabric_scenario_describe(weir_text *page)
{
    const weir_key_table *const tables[] = {
        &top,
        &scenario_cluster_keys,
        &scenario_traffic_keys,
        &scenario_phase_keys,
        &scenario_group_keys,
        &scenario_slow_keys,
        &scenario_broken_keys,
        &scenario_candidate_keys,
        &scenario_economics_keys,
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        weir_keys_describe(tables[i], page);
    }
}
