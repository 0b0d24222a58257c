/* train_cluster.c: on what is trained: the cluster of weir fabric, where what an accelerator
 * usually comes with need not be written, and the network between its nodes. */
#include "study/train_inside.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    uint32_t kernels;
} raw_cluster;

static const char *const kernel_choices[] = {"measured", "datasheet"};

static const weir_key keys[] = {
    {.name = "kernels",
     .type = WEIR_KEY_CHOICE,
     .offset = offsetof(raw_cluster, kernels),
     .words = kernel_choices,
     .word_count = sizeof kernel_choices / sizeof *kernel_choices,
     .unset = "measured",
     .help = "times of kernels: fitted to measurements where there are any, or what the datasheet "
             "alone tells",
     .example = "datasheet"},
};

const weir_key_table train_cluster_keys = {
    .title = "cluster, in training",
    .about = "All keys of `cluster` above. `accelerator` is needed; `devices`, `node_link`, `nic` "
             "and `library` are those of the accelerator's usual node (presets/hosts.yaml) where "
             "they are not written. Besides:",
    .keys = keys,
    .count = sizeof keys / sizeof *keys,
};

/* --- what is not written ------------------------------------------------------------------ */

/* The name of the accelerator, one of presets/accelerators. */
static weir_code read_name(train_reader *r, const weir_yaml_node *cluster, const char **name,
                           weir_err *err)
{
    scenario_reader ids = {.source = r->source};
    const weir_yaml_node *named = weir_yaml_find(cluster, "accelerator");
    if (!named) {
        return weir_yaml_fail(r->source.doc, cluster, err,
                              "found no accelerator, expected accelerator: h100-sxm or another one "
                              "of presets/accelerators");
    }
    return scenario_read_id(&ids, named, "accelerators", name, err);
}

/* The cluster's own keys over those of a usual node of its accelerator. */
static weir_code add_host(train_reader *r, const weir_yaml_node *node, const weir_yaml_node **whole,
                          weir_err *err)
{
    static const char *const about[] = {"source", NULL}, *const ours[] = {"kernels", NULL};
    weir_arena *arena = r->source.arena;
    const char *name = NULL;
    weir_code code = read_name(r, node, &name, err);
    if (code != WEIR_OK) {
        return code;
    }
    const weir_yaml_node *host = weir_yaml_find(weir_yaml_root(r->shelf->hosts), name);
    const weir_yaml_node *under =
        host ? scenario_plain_members(host, about, weir_yaml_name(r->shelf->hosts), arena) : NULL;
    *whole = scenario_plain_members(node, ours, NULL, arena);
    if (*whole && !host && !weir_yaml_find(node, "nic")) {
        return weir_yaml_fail(
            r->source.doc, node, err,
            "found no nic, which is needed: presets/hosts.yaml has no usual node "
            "of %.60s, expected for example nic: cx7-400g, and node_link: nvlink4 "
            "or, where the host joins the devices, pcie: pcie5-x16",
            name);
    }
    if (*whole && host) {
        *whole = under ? weir_settings_overlay(*whole, under, arena) : NULL;
    }
    return *whole ? WEIR_OK : scenario_no_memory(err);
}

/* A part with keys of its own is added to the parts: to the scenario's, not to the shelf's. */
static bool has_own_parts(const weir_yaml_node *cluster)
{
    for (const weir_yaml_node *m = cluster->first; m; m = m->next) {
        if (m->kind == WEIR_YAML_MAPPING) {
            return true;
        }
    }
    return false;
}

static weir_code take_parts(train_reader *r, bool own, weir_parts **parts, weir_err *err)
{
    weir_code code = WEIR_OK;
    if (own && !r->scenario->parts) {
        code = weir_parts_load(&r->scenario->parts, err);
    }
    *parts = r->scenario->parts ? r->scenario->parts : r->shelf->parts;
    return code;
}

/* --- links -------------------------------------------------------------------------------- */

/* Of a device to all others of its node: by what joins them, or through the host, over the links
 * that it has to it. 0: over their NICs. */
static double node_rate(const weir_cluster *c)
{
    const weir_link_part *link = c->node_link;
    if (!link) {
        return c->pcie ? c->pcie->bytes_per_s : 0;
    }
    double cables = link->wiring == WEIR_NODE_MESHED ? c->devices - 1.0
                    : link->wiring == WEIR_NODE_RING ? 2
                                                     : 1;
    return link->bytes_per_s * cables;
}

/* Of a device to its NICs, and on from them. */
static double nic_rate(const weir_cluster *c)
{
    double share = c->nic->bytes_per_s * c->nics / c->devices;
    return c->pcie && c->pcie->bytes_per_s < share ? c->pcie->bytes_per_s : share;
}

static weir_code note_links(train_reader *r, weir_err *err)
{
    const weir_cluster *c = &r->scenario->cluster;
    weir_train_network *net = &r->scenario->job.network;
    const weir_link_part *joins = c->node_link ? c->node_link : c->pcie;
    bool is_switched = c->node_link && c->node_link->wiring == WEIR_NODE_SWITCHED;
    *net = (weir_train_network){.devices_per_node = c->devices,
                                .node_bytes_per_s = node_rate(c),
                                .nic_bytes_per_s = nic_rate(c),
                                .node_transport = joins ? joins->id : NULL,
                                .network_transport = c->nic->id,
                                .has_node_reduction = is_switched};
    for (uint32_t a = 0; a < WEIR_AXIS_COUNT; a++) {
        net->factor[a] = 1;
    }
    return c->library ? train_shelf_library(r->shelf, c->library, &net->library, err) : WEIR_OK;
}

weir_code train_read_cluster(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_cluster raw = {0};
    const weir_yaml_node *whole = NULL, *written = weir_yaml_find(node, "kernels");
    weir_fabric_scenario shell = {.file = r->scenario->file,
                                  .accelerators = r->shelf->accelerators,
                                  .arena = r->source.arena};
    scenario_reader reader = {.source = r->source, .scenario = &shell};
    weir_code code = WEIR_OK;
    if (node->kind != WEIR_YAML_MAPPING) {
        return weir_yaml_reject(r->source.doc, node,
                                "a mapping such as {accelerator: h100-sxm, "
                                "nodes: 8}",
                                err);
    }
    if (written) {
        code = weir_key_read(&r->source, written, &keys[0], &raw.kernels, err);
    }
    if (code == WEIR_OK) {
        code = add_host(r, node, &whole, err);
    }
    if (code == WEIR_OK) {
        code = take_parts(r, has_own_parts(whole), &shell.parts, err);
    }
    if (code == WEIR_OK) {
        code = scenario_read_cluster(&reader, whole, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    r->scenario->cluster = shell.cluster;
    code = note_links(r, err);
    return code == WEIR_OK ? train_shelf_kernels(r->shelf, shell.cluster.accelerator,
                                                 raw.kernels == 1, &r->scenario->job.kernels, err)
                           : code;
}

/* --- network ------------------------------------------------------------------------------ */

/* `clos3-400g` or a candidate's mapping, as a list of one candidate with a name. */
static const weir_yaml_node *list_of_one(const weir_yaml_node *node, weir_arena *arena)
{
    weir_yaml_node *list = weir_arena_alloc(arena, 1, sizeof *list);
    weir_yaml_node *base = weir_arena_alloc(arena, 1, sizeof *base);
    weir_yaml_node *name = weir_arena_alloc(arena, 1, sizeof *name);
    weir_yaml_node *preset = weir_arena_alloc(arena, 1, sizeof *preset);
    if (!list || !base || !name || !preset) {
        return NULL;
    }
    bool is_preset = node->kind == WEIR_YAML_SCALAR;
    *list = *base = *name = *preset = *node;
    name->kind = WEIR_YAML_SCALAR;
    name->key = WEIR_STR("name");
    name->text = is_preset ? node->text : WEIR_STR("network");
    name->first = name->next = NULL;
    name->count = 0;
    preset->key = WEIR_STR("preset");
    preset->next = NULL;
    if (is_preset) {
        name->next = preset;
    }
    *base = (weir_yaml_node){.kind = WEIR_YAML_MAPPING,
                             .line = node->line,
                             .column = node->column,
                             .origin = node->origin,
                             .count = is_preset ? 2 : 1,
                             .first = name};
    const weir_yaml_node *whole = is_preset ? base : weir_settings_overlay(node, base, arena);
    weir_yaml_node *only = weir_arena_alloc(arena, 1, sizeof *only);
    if (!whole || !only) {
        return NULL;
    }
    *only = *whole;
    only->next = NULL;
    list->kind = WEIR_YAML_SEQUENCE;
    list->first = only;
    list->count = 1;
    list->next = NULL;
    return list;
}

weir_code train_read_network(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    weir_train_scenario *s = r->scenario;
    if (!node || train_is_word(node, "ideal")) {
        return WEIR_OK;
    }
    if (node->kind == WEIR_YAML_SEQUENCE) {
        return weir_yaml_reject(r->source.doc, node,
                                "a name of presets/fabrics or a mapping with a candidate's keys",
                                err);
    }
    s->network = (weir_fabric_scenario){.file = s->file,
                                        .name = s->name,
                                        .seed = s->seed,
                                        .cluster = s->cluster,
                                        .steps = s->steps,
                                        .accelerators = r->shelf->accelerators,
                                        .arena = s->arena};
    scenario_reader reader = {.source = r->source, .scenario = &s->network};
    s->has_network = true;
    weir_code code = take_parts(r, true, &s->network.parts, err);
    const weir_yaml_node *list = code == WEIR_OK ? list_of_one(node, r->source.arena) : NULL;
    if (code == WEIR_OK && !list) {
        return scenario_no_memory(err);
    }
    if (code == WEIR_OK) {
        code = scenario_read_candidates(&reader, list, err);
    }
    return code == WEIR_OK ? scenario_read_economics(&reader, NULL, err) : code;
}
