/* scenario_candidate.c: candidate networks: presets below, parts resolved, files beside. */
#include "study/scenario_inside.h"

#include "fabric/cable_list.h"
#include "scenario/preset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- presets ------------------------------------------------------------------------------ */

/* The candidate's keys over those of its preset. */
static weir_code merge_preset(scenario_reader *r, const weir_yaml_node *node,
                              const weir_yaml_node **merged, weir_err *err)
{
    const weir_yaml_node *named = weir_yaml_find(node, "preset");
    static const char *const own[] = {"name", NULL}; /* what it calls itself */
    weir_arena *arena = r->source.arena;
    const char *id;
    char path[160];
    weir_yaml *preset = NULL;
    if (!named) {
        *merged = node;
        return WEIR_OK;
    }
    weir_code code = scenario_read_id(r, named, "fabrics", &id, err);
    if (code != WEIR_OK) {
        return code;
    }
    snprintf(path, sizeof path, "fabrics/%.140s.yaml", id);
    code = weir_preset_open(path, &preset, err);
    if (code != WEIR_OK) {
        return code;
    }
    const char *origin = weir_arena_copy(arena, weir_str_from(weir_yaml_name(preset)));
    weir_yaml_node *copy =
        origin ? weir_settings_copy(weir_yaml_root(preset), origin, true, arena) : NULL;
    const weir_yaml_node *under = copy ? scenario_plain_members(copy, own, origin, arena) : NULL;
    weir_yaml_free(preset);
    *merged = under ? weir_settings_overlay(node, under, arena) : NULL;
    return *merged ? WEIR_OK : scenario_no_memory(err);
}

/* --- parts -------------------------------------------------------------------------------- */

static bool is_none(const weir_yaml_node *node)
{
    return !node || (node->kind == WEIR_YAML_SCALAR && weir_str_eq(node->text, WEIR_STR("none")));
}

static weir_code read_parts(scenario_reader *r, const scenario_raw_candidate *raw,
                            weir_candidate *made, weir_err *err)
{
    weir_parts *parts = r->scenario->parts;
    const weir_yaml *doc = r->source.doc;
    weir_code code = WEIR_OK;
    if (raw->sw) {
        code = weir_parts_read_switch(parts, doc, raw->sw, &made->sw, err);
    }
    if (code == WEIR_OK && !is_none(raw->module)) {
        code = weir_parts_read_module(parts, doc, raw->module, &made->module, err);
    }
    if (code == WEIR_OK && !is_none(raw->circuit_module)) {
        code = weir_parts_read_module(parts, doc, raw->circuit_module, &made->circuit_module, err);
    }
    if (code == WEIR_OK && !is_none(raw->copper)) {
        code = weir_parts_read_module(parts, doc, raw->copper, &made->copper, err);
    }
    if (code == WEIR_OK && made->copper && made->copper->kind != WEIR_MODULE_COPPER) {
        return weir_yaml_reject(doc, raw->copper, "a cable without light", err);
    }
    if (code == WEIR_OK && made->circuit_module &&
        made->circuit_module->kind == WEIR_MODULE_COPPER) {
        return weir_yaml_reject(doc, raw->circuit_module, "a module with light", err);
    }
    if (code == WEIR_OK && made->module && made->module->kind == WEIR_MODULE_COPPER) {
        return weir_yaml_reject(doc, raw->module, "a module with light (copper goes to 'copper')",
                                err);
    }
    if (code == WEIR_OK && raw->ocs) {
        code = weir_parts_read_ocs(parts, doc, raw->ocs, &made->ocs, err);
    }
    return code;
}

/* What a key of the candidate overrules, else the part's figure, which must be known then. */
static weir_code take_time(scenario_reader *r, const scenario_raw_candidate *raw, const char *key,
                           double of_part, double *value, weir_err *err)
{
    if (isnan(*value) && isnan(of_part)) {
        return weir_yaml_fail(r->source.doc, raw->ocs, err,
                              "'%.80s' has no known %s time, expected the key '%s' beside it",
                              raw->candidate.ocs->id, key, key);
    }
    *value = isnan(*value) ? of_part : *value;
    return WEIR_OK;
}

/* --- single kinds ------------------------------------------------------------------------- */

static weir_code read_twist(scenario_reader *r, const weir_yaml_node *node, uint32_t twist[3][3],
                            weir_err *err)
{
    static const weir_key cell = {.name = "twist", .type = WEIR_KEY_UINT, .min = 0, .max = 1 << 20};
    static const char due[] = "'none' or a row for each dimension, such as [[0, 4], [0, 0]]";
    uint32_t i = 0;
    if (node->kind != WEIR_YAML_SEQUENCE || node->count > 3) {
        return weir_yaml_reject(r->source.doc, node, due, err);
    }
    for (const weir_yaml_node *row = node->first; row; row = row->next, i++) {
        uint32_t j = 0;
        if (row->kind != WEIR_YAML_SEQUENCE || row->count > 3) {
            return weir_yaml_reject(r->source.doc, row, "a row of at most 3 numbers", err);
        }
        for (const weir_yaml_node *n = row->first; n; n = n->next, j++) {
            weir_code code = weir_key_read(&r->source, n, &cell, &twist[i][j], err);
            if (code != WEIR_OK) {
                return code;
            }
        }
    }
    return WEIR_OK;
}

static weir_code check_size(scenario_reader *r, const weir_yaml_node *node,
                            const weir_candidate *made, weir_err *err)
{
    uint64_t places = 1,
             devices = (uint64_t)r->scenario->cluster.nodes * r->scenario->cluster.devices;
    for (int i = 0; i < 3; i++) {
        places *= made->size[i] ? made->size[i] : 1; /* below 2^60 */
    }
    if (places != devices) {
        return weir_yaml_fail(r->source.doc, node, err,
                              "found %llu places, expected one for each of the %llu devices",
                              (unsigned long long)places, (unsigned long long)devices);
    }
    return WEIR_OK;
}

static weir_code read_cables(scenario_reader *r, const weir_yaml_node *node, weir_candidate *made,
                             weir_err *err)
{
    weir_source *source = NULL;
    const char *path;
    uint32_t devices = r->scenario->cluster.nodes * r->scenario->cluster.devices;
    weir_code code = scenario_open(r, node, &path, &source, err);
    if (code == WEIR_OK) {
        code = weir_cable_list_read(source, path, devices, &made->list, err);
    }
    weir_source_close(source);
    return code;
}

static weir_code read_circuits(scenario_reader *r, const weir_yaml_node *node,
                               const scenario_raw_candidate *raw, weir_candidate *made,
                               weir_err *err)
{
    if (!made->sw && made->block != WEIR_BLOCK_NIC) {
        const weir_yaml_node *missing;
        return weir_yaml_need(r->source.doc, node, "switch", WEIR_YAML_ANY, &missing, err);
    }
    weir_code code = take_time(r, raw, "switching", made->ocs->switch_s, &made->switch_s, err);
    if (code == WEIR_OK) {
        code = take_time(r, raw, "linkup", made->ocs->linkup_s, &made->linkup_s, err);
    }
    return code;
}

/* --- candidates --------------------------------------------------------------------------- */

static weir_code check_name(scenario_reader *r, const weir_yaml_node *node, const char *name,
                            weir_err *err)
{
    const weir_fabric_scenario *s = r->scenario;
    for (uint32_t i = 0; i < s->candidate_count; i++) {
        if (strcmp(s->candidates[i].name, name) == 0) {
            return weir_yaml_reject(r->source.doc, weir_yaml_find(node, "name"),
                                    "a name that no other candidate has", err);
        }
    }
    return WEIR_OK;
}

static weir_code read_candidate(scenario_reader *r, const weir_yaml_node *written,
                                weir_candidate *made, weir_err *err)
{
    scenario_raw_candidate raw = {
        .candidate = {.efficiency = NAN, .switch_s = NAN, .linkup_s = NAN, .slot_s = NAN}};
    const weir_yaml_node *node = NULL, *kind_node = NULL;
    uint32_t kind = 0;
    if (written->kind != WEIR_YAML_MAPPING) {
        return weir_yaml_reject(r->source.doc, written, "a mapping", err);
    }
    weir_code code = merge_preset(r, written, &node, err);
    if (code == WEIR_OK) {
        code = weir_yaml_need(r->source.doc, node, "kind", WEIR_YAML_ANY, &kind_node, err);
    }
    if (code == WEIR_OK) {
        code = weir_yaml_choice(r->source.doc, kind_node, scenario_candidate_keys.kinds,
                                WEIR_CANDIDATE_KIND_COUNT, &kind, err);
    }
    if (code == WEIR_OK) {
        code = weir_keys_read(&r->source, node, &scenario_candidate_keys, kind, &raw, err);
    }
    if (code == WEIR_OK) {
        code = check_name(r, node, raw.candidate.name, err);
    }
    if (code == WEIR_OK) {
        code = read_parts(r, &raw, &raw.candidate, err);
    }
    if (code == WEIR_OK && raw.ocs) {
        code = read_circuits(r, node, &raw, &raw.candidate, err);
    }
    if (code == WEIR_OK && !is_none(raw.twist)) {
        code = read_twist(r, raw.twist, raw.candidate.twist, err);
    }
    if (code == WEIR_OK && raw.candidate.size[0]) {
        code = check_size(r, weir_yaml_find(node, "size"), &raw.candidate, err);
    }
    if (code == WEIR_OK && raw.cables) {
        code = read_cables(r, raw.cables, &raw.candidate, err);
    }
    if (code == WEIR_OK) {
        raw.candidate.routing.seed = r->scenario->seed;
        raw.candidate.place = scenario_place(written);
        *made = raw.candidate;
    }
    return code;
}

weir_code scenario_read_candidates(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_fabric_scenario *s = r->scenario;
    if (node->kind != WEIR_YAML_SEQUENCE || node->count == 0) {
        return weir_yaml_reject(r->source.doc, node, "a list of at least one network", err);
    }
    weir_code code = WEIR_OK;
    s->candidates = weir_arena_alloc(r->source.arena, node->count, sizeof *s->candidates);
    if (!s->candidates) {
        return scenario_no_memory(err);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        code = read_candidate(r, n, &s->candidates[s->candidate_count], err);
        s->candidate_count += code == WEIR_OK;
    }
    return code;
}
