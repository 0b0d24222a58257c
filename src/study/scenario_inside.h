/* scenario_inside.h: between the files that read a scenario: one reader, one function a section. */
#ifndef WEIR_STUDY_SCENARIO_INSIDE_H
#define WEIR_STUDY_SCENARIO_INSIDE_H

#include "study/fabric_scenario.h"

typedef struct {
    weir_key_source source;
    weir_fabric_scenario *scenario; /* what is being filled */
} scenario_reader;

/* As the tables read them, before what members mean together is looked at. */
typedef struct {
    weir_phase phase;
    uint32_t of_nodes;
    const weir_yaml_node *group, *demand;
} scenario_raw_phase;

typedef struct {
    uint32_t steps;
    double jitter;
    const weir_yaml_node *phases, *slow, *broken;
} scenario_raw_traffic;

typedef struct {
    weir_candidate candidate;
    const weir_yaml_node *preset, *sw, *module, *copper, *circuit_module, *twist, *cables, *ocs;
} scenario_raw_candidate;

/* Nowhere for what another input has (--set, a preset). */
static inline weir_place scenario_place(const weir_yaml_node *node)
{
    return node->origin ? (weir_place){0} : (weir_place){node->line, node->column};
}

/* What --set or the document has for a section; NULL: nothing. Each fills its part of scenario;
 * traffic and candidates need the cluster. */
weir_code scenario_read_cluster(scenario_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code scenario_read_traffic(scenario_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code scenario_read_candidates(scenario_reader *r, const weir_yaml_node *node, weir_err *err);
weir_code scenario_read_economics(scenario_reader *r, const weir_yaml_node *node, weir_err *err);

/* A document that is read once and freed: of a file, of bytes that errors call name. */
typedef weir_code (*scenario_reading)(const weir_yaml *doc, void *context, weir_err *err);
weir_code scenario_read_file(const char *path, scenario_reading read, void *context, weir_err *err);
weir_code scenario_read_bytes(const char *name, const char *bytes, size_t n, scenario_reading read,
                              void *context, weir_err *err);

/* A file beside the scenario, named by node. Owned. */
weir_code scenario_open(scenario_reader *r, const weir_yaml_node *node, const char **path,
                        weir_source **source, weir_err *err);
/* An error unless node names a file FOLDER/ID.yaml of the presets; *id in the arena. */
weir_code scenario_read_id(scenario_reader *r, const weir_yaml_node *node, const char *folder,
                           const char **id, weir_err *err);
/* Members of a mapping, {value: X, ...} as X, without those that are named (NULL at the end), each
 * called origin by errors where it is not NULL. NULL: no memory. */
const weir_yaml_node *scenario_plain_members(const weir_yaml_node *mapping,
                                             const char *const *without, const char *origin,
                                             weir_arena *arena);
weir_code scenario_no_memory(weir_err *err);

extern const weir_key_table scenario_cluster_keys, scenario_traffic_keys, scenario_phase_keys,
    scenario_group_keys, scenario_slow_keys, scenario_broken_keys, scenario_candidate_keys,
    scenario_economics_keys;

#endif
