/* scenario_cluster.c: what is bought once for all candidates: nodes, devices, NICs, the library. */
#include "study/scenario_inside.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 1 << 20 };

typedef struct {
    uint32_t nodes, devices, nics;
    const weir_yaml_node *accelerator, *node_link, *nic, *pcie, *library;
} raw_cluster;

#define AT(member) offsetof(raw_cluster, member)

static const weir_key keys[] = {
    {.name = "accelerator",
     .type = WEIR_KEY_NODE,
     .offset = AT(accelerator),
     .help = "what computes; a name of presets/accelerators. It prices waiting",
     .shown = "not named",
     .example = "h100-sxm"},
    {.name = "nodes",
     .type = WEIR_KEY_UINT,
     .offset = AT(nodes),
     .needed = WEIR_KEY_ALWAYS,
     .min = 1,
     .max = MOST_DEVICES,
     .help = "how many there are",
     .example = "2048"},
    {.name = "devices",
     .type = WEIR_KEY_UINT,
     .offset = AT(devices),
     .min = 1,
     .max = 4096,
     .unset = "8",
     .help = "of each node; 72 for a rack that is one link domain. At most 1048576 in all",
     .example = "8"},
    {.name = "node_link",
     .type = WEIR_KEY_NODE,
     .offset = AT(node_link),
     .help = "what joins the devices of a node; a name of presets/links, a mapping with a preset's "
             "keys, or `none`",
     .shown = "`none`",
     .example = "nvlink4"},
    {.name = "nics",
     .type = WEIR_KEY_UINT,
     .offset = AT(nics),
     .min = 1,
     .max = 4096,
     .help = "of each node; divides the devices, or is divided by them",
     .shown = "one for each device",
     .example = "8"},
    {.name = "nic",
     .type = WEIR_KEY_NODE,
     .offset = AT(nic),
     .needed = WEIR_KEY_ALWAYS,
     .help = "a name of presets/nics, or a mapping with a preset's keys",
     .example = "cx7-400g"},
    {.name = "pcie",
     .type = WEIR_KEY_NODE,
     .offset = AT(pcie),
     .help = "between a device and its NIC; a name of presets/links, or a mapping",
     .shown = "it never binds",
     .example = "pcie5-x16"},
    {.name = "library",
     .type = WEIR_KEY_NODE,
     .offset = AT(library),
     .help = "what chooses algorithms and costs latency; a name of presets/collectives",
     .shown = "closed forms without latency",
     .example = "nccl-2.27"},
};

const weir_key_table scenario_cluster_keys = {
    .title = "cluster",
    .about = "What all candidates have in common.",
    .keys = keys,
    .count = sizeof keys / sizeof *keys,
};

static weir_code read_accelerator(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    uint32_t count;
    const weir_accelerator *all = weir_accelerators_list(r->scenario->accelerators, &count);
    const char *id;
    weir_code code = scenario_read_id(r, node, "accelerators", &id, err);
    for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
        if (strcmp(all[i].id, id) == 0) {
            r->scenario->cluster.accelerator = &all[i];
        }
    }
    return code;
}

static weir_code check_counts(scenario_reader *r, const raw_cluster *raw,
                              const weir_yaml_node *node, weir_err *err)
{
    uint64_t devices = (uint64_t)raw->nodes * raw->devices;
    if (devices > MOST_DEVICES) {
        return weir_yaml_fail(r->source.doc, weir_yaml_find(node, "nodes"), err,
                              "found %u nodes x %u devices = %llu, expected at most %d in all",
                              raw->nodes, raw->devices, (unsigned long long)devices, MOST_DEVICES);
    }
    if (raw->nics && raw->nics % raw->devices != 0 && raw->devices % raw->nics != 0) {
        uint32_t works =
            raw->nics < raw->devices ? raw->nics : raw->nics / raw->devices * raw->devices;
        while (raw->nics < raw->devices && raw->devices % works != 0) {
            works--;
        }
        return weir_yaml_fail(r->source.doc, weir_yaml_find(node, "nics"), err,
                              "found %u nics for %u devices, expected a number that divides the "
                              "devices or is a multiple of them, such as %u",
                              raw->nics, raw->devices, works);
    }
    return WEIR_OK;
}

weir_code scenario_read_cluster(scenario_reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_cluster raw = {0};
    weir_cluster *made = &r->scenario->cluster;
    weir_parts *parts = r->scenario->parts;
    const weir_yaml *doc = r->source.doc;
    weir_code code = weir_keys_read(&r->source, node, &scenario_cluster_keys, 0, &raw, err);
    if (code == WEIR_OK) {
        code = check_counts(r, &raw, node, err);
    }
    if (code == WEIR_OK && raw.accelerator) {
        code = read_accelerator(r, raw.accelerator, err);
    }
    bool linked = raw.node_link && !(raw.node_link->kind == WEIR_YAML_SCALAR &&
                                     weir_str_eq(raw.node_link->text, WEIR_STR("none")));
    if (code == WEIR_OK && linked) {
        code = weir_parts_read_link(parts, doc, raw.node_link, &made->node_link, err);
    }
    if (code == WEIR_OK && linked && made->node_link->wiring == WEIR_NODE_UNLINKED) {
        return weir_yaml_reject(doc, raw.node_link,
                                "a link that joins devices of a node; where the host does that: "
                                "node_link: none and pcie: pcie5-x16",
                                err);
    }
    if (code == WEIR_OK) {
        code = weir_parts_read_nic(parts, doc, raw.nic, &made->nic, err);
    }
    if (code == WEIR_OK && raw.pcie) {
        code = weir_parts_read_link(parts, doc, raw.pcie, &made->pcie, err);
    }
    if (code == WEIR_OK && raw.library) {
        code = scenario_read_id(r, raw.library, "collectives", &made->library, err);
    }
    made->nodes = raw.nodes;
    made->devices = raw.devices;
    made->nics = raw.nics ? raw.nics : raw.devices;
    made->place = scenario_place(node);
    return code;
}
