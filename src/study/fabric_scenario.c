#include "study/fabric_scenario.h"

#include "fabric/cable_list.h"
#include "study/scenario_inside.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* base: the document's root, or a tree made from it. */
static weir_code make(const weir_yaml *doc, const weir_yaml_node *base,
                      const weir_setting *settings, uint32_t setting_count,
                      weir_fabric_scenario *made, weir_err *err)
{
    scenario_reader r = {.source = {doc, made->arena}, .scenario = made};
    const weir_yaml_node *root;
    made->file = weir_arena_copy(made->arena, weir_str_from(weir_yaml_name(doc)));
    if (!made->file) {
        return scenario_no_memory(err);
    }
    weir_code code = weir_settings_apply(base, settings, setting_count, made->arena, &root, err);
    if (code == WEIR_OK) {
        code = weir_parts_load(&made->parts, err);
    }
    if (code == WEIR_OK) {
        code = weir_accelerators_load(&made->accelerators, err);
    }
    return code == WEIR_OK ? read_sections(&r, root, err) : code;
}

/* What is read, to where. */
typedef struct {
    const weir_setting *settings;
    uint32_t setting_count;
    weir_fabric_scenario *scenario;
} reading;

static weir_code read_doc(const weir_yaml *doc, void *context, weir_err *err)
{
    reading *to = context;
    weir_fabric_scenario made = {.arena = weir_arena_new()};
    weir_code code =
        made.arena ? make(doc, weir_yaml_root(doc), to->settings, to->setting_count, &made, err)
                   : scenario_no_memory(err);
    if (code == WEIR_OK) {
        *to->scenario = made;
    } else {
        weir_fabric_scenario_clear(&made);
    }
    return code;
}

weir_code weir_fabric_scenario_read(const char *path, const weir_setting *settings,
                                    uint32_t setting_count, weir_fabric_scenario *scenario,
                                    weir_err *err)
{
    reading to = {settings, setting_count, scenario};
    return scenario_read_file(path, read_doc, &to, err);
}

weir_code weir_fabric_scenario_parse(const char *name, const char *bytes, size_t n,
                                     const weir_setting *settings, uint32_t setting_count,
                                     weir_fabric_scenario *scenario, weir_err *err)
{
    reading to = {settings, setting_count, scenario};
    return scenario_read_bytes(name, bytes, n, read_doc, &to, err);
}

/* --- jobs that share a fabric ------------------------------------------------------------- */

static bool has_name(const weir_yaml_node *candidates, weir_str name)
{
    for (const weir_yaml_node *c = candidates->first; c; c = c->next) {
        const weir_yaml_node *found = weir_yaml_find(c, "name");
        if (found && weir_str_eq(found->text, name)) {
            return true;
        }
    }
    return false;
}

/* The names that a job's own candidates have must be those of the shared ones. */
static weir_code check_names(const weir_yaml *doc, const weir_yaml_node *own,
                             const weir_yaml_node *shared, const char *shared_path, weir_err *err)
{
    for (const weir_yaml_node *c = own->first; c; c = c->next) {
        const weir_yaml_node *name = weir_yaml_find(c, "name");
        if (name && !has_name(shared, name->text)) {
            return weir_yaml_fail(doc, name, err,
                                  "found a candidate '%.60s', expected one of %.200s: the jobs of "
                                  "a mix share their candidates",
                                  name->text.p, shared_path);
        }
    }
    for (const weir_yaml_node *c = shared->first; c; c = c->next) {
        const weir_yaml_node *name = weir_yaml_find(c, "name");
        if (name && !has_name(own, name->text)) {
            return weir_yaml_fail(doc, own, err,
                                  "found no candidate '%.60s', which %.200s has: the jobs of a mix "
                                  "share their candidates",
                                  name->text.p, shared_path);
        }
    }
    return WEIR_OK;
}

/* The tree of doc with the candidates of shared in place of its own. */
static weir_code swap_candidates(const weir_yaml *doc, const weir_yaml *shared, weir_arena *arena,
                                 const weir_yaml_node **tree, weir_err *err)
{
    const char *path = weir_yaml_name(shared);
    const weir_yaml_node *root = weir_yaml_root(doc), *candidates;
    const weir_yaml_node *own = weir_yaml_find(root, "candidates");
    weir_code code = weir_yaml_need(shared, weir_yaml_root(shared), "candidates",
                                    WEIR_YAML_SEQUENCE, &candidates, err);
    if (code == WEIR_OK && own) {
        code = check_names(doc, own, candidates, path, err);
    }
    if (code != WEIR_OK || root->kind != WEIR_YAML_MAPPING) {
        *tree = root; /* no mapping: reading it will say so */
        return code;
    }
    const char *origin = weir_arena_copy(arena, weir_str_from(path));
    weir_yaml_node *copy = origin ? weir_settings_copy(candidates, origin, true, arena) : NULL;
    weir_yaml_node *over = weir_arena_alloc(arena, 1, sizeof *over);
    if (!copy || !over) {
        return scenario_no_memory(err);
    }
    *over = *root;
    over->first = copy;
    over->count = 1;
    *tree = weir_settings_overlay(over, root, arena);
    return *tree ? WEIR_OK : scenario_no_memory(err);
}

/* Switches, planes and cables follow the NICs: with others it would be another fabric. */
static weir_code check_nics(const weir_fabric_scenario *job, const weir_fabric_scenario *first,
                            weir_err *err)
{
    const weir_nic_part *a = first->cluster.nic, *b = job->cluster.nic;
    if (a == b || (a && b && a->bytes_per_s == b->bytes_per_s && strcmp(a->name, b->name) == 0)) {
        return WEIR_OK;
    }
    return weir_fabric_reject(job, job->cluster.place, err,
                              "found nic '%s' of %g Gb/s, expected '%s' of %g Gb/s as in %.200s: "
                              "the jobs of a mix share their fabric",
                              b ? b->id : "none", b ? b->bytes_per_s * 8 / 1e9 : 0,
                              a ? a->id : "none", a ? a->bytes_per_s * 8 / 1e9 : 0, first->file);
}

static weir_code check_cluster(const weir_fabric_scenario *job, const weir_fabric_scenario *first,
                               weir_err *err)
{
    const weir_cluster *a = &first->cluster, *b = &job->cluster;
    if (a->nodes == b->nodes && a->devices == b->devices && a->nics == b->nics) {
        return check_nics(job, first, err);
    }
    return weir_fabric_reject(
        job, b->place, err,
        "found %u nodes of %u devices and %u nics, expected %u of %u and %u as "
        "in %.200s: the jobs of a mix share their fabric",
        b->nodes, b->devices, b->nics, a->nodes, a->devices, a->nics, first->file);
}

static weir_code read_on(const weir_yaml *doc, const weir_yaml *shared,
                         const weir_setting *settings, uint32_t setting_count,
                         weir_fabric_scenario *scenario, weir_err *err)
{
    weir_fabric_scenario made = {.arena = weir_arena_new()}, first = {0};
    const weir_yaml_node *tree = NULL;
    weir_code code =
        made.arena ? swap_candidates(doc, shared, made.arena, &tree, err) : scenario_no_memory(err);
    if (code == WEIR_OK) {
        code = make(doc, tree, settings, setting_count, &made, err);
    }
    if (code == WEIR_OK) {
        reading to = {settings, setting_count, &first};
        code = read_doc(shared, &to, err);
    }
    if (code == WEIR_OK) {
        code = check_cluster(&made, &first, err);
    }
    weir_fabric_scenario_clear(&first);
    if (code == WEIR_OK) {
        *scenario = made;
    } else {
        weir_fabric_scenario_clear(&made);
    }
    return code;
}

weir_code weir_fabric_scenario_read_mixed(const char *path, const char *candidates_path,
                                          const weir_setting *settings, uint32_t setting_count,
                                          weir_fabric_scenario *scenario, weir_err *err)
{
    weir_yaml *doc = NULL, *shared = NULL;
    weir_code code = weir_yaml_read(path, &doc, err);
    if (code == WEIR_OK) {
        code = weir_yaml_read(candidates_path, &shared, err);
    }
    if (code == WEIR_OK) {
        code = read_on(doc, shared, settings, setting_count, scenario, err);
    }
    weir_yaml_free(doc);
    weir_yaml_free(shared);
    return code;
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
