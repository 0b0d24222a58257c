/* light.c: blocks of nodes, leaves and spines, and the circuits that join them. */
#include "fabric/topology_inside.h"

#include <stdlib.h>

enum { ENDLESS_PORTS = 1 << 16, MOST_LINKS = 1 << 28 };

/* Ports of a leaf that a node takes. */
static uint32_t ports_of_node(const clos_shape *c)
{
    return c->wiring == WEIR_CLOS_RAIL_ONLY ? 1 : c->nics;
}

/* A block takes whole nodes. */
static weir_code whole_nodes(weir_topology *t, uint32_t nodes, weir_err *err)
{
    clos_shape *c = &t->clos;
    uint32_t each = ports_of_node(c);
    if (c->leaf_down < each) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a leaf with %u ports down and nodes with %u NICs; circuits join "
                            "blocks of whole nodes: more ports, planes, or rails",
                            c->leaf_down, c->nics);
    }
    c->leaf_down -= c->leaf_down % each;
    uint64_t nics = (uint64_t)nodes * each;
    c->leaves = (uint32_t)((nics + c->leaf_down - 1) / c->leaf_down);
    return WEIR_OK;
}

static weir_code need_ports(const light_shape *s, const char *what, uint32_t switches,
                            uint32_t spare, weir_err *err)
{
    if (s->uplinks <= (uint64_t)switches * spare) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%u ends of circuits on a %s, whose %u switches have %u ports each left "
                        "for them; fewer uplinks, or more oversubscription",
                        s->uplinks, what, switches, spare);
}

static weir_code shape_leaves(weir_topology *t, weir_clos lower,
                              uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    uint32_t nodes = counts[WEIR_VERTEX_DEVICE] / t->node.devices;
    clos_shape *c = &t->clos;
    lower.tiers = 2;
    lower.radix[1] = ENDLESS_PORTS;
    weir_code code = shape_clos(t, &lower, counts, err);
    if (code == WEIR_OK) {
        code = whole_nodes(t, nodes, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    t->light.uplinks = t->light.uplinks ? t->light.uplinks : c->leaf_up;
    t->light.blocks = c->leaves;
    t->light.block_nodes = c->leaf_down / ports_of_node(c);
    c->tiers = 1;
    c->leaf_up = c->spines = c->pods = 0;
    return need_ports(&t->light, "leaf", 1, lower.radix[0] - c->leaf_down, err);
}

static weir_code shape_spines(weir_topology *t, weir_clos lower,
                              uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    uint32_t nodes = counts[WEIR_VERTEX_DEVICE] / t->node.devices;
    clos_shape *c = &t->clos;
    lower.tiers = 3;
    lower.trunk[1] = 0;
    lower.radix[2] = ENDLESS_PORTS;
    weir_code code = shape_clos(t, &lower, counts, err);
    if (code == WEIR_OK) {
        code = whole_nodes(t, nodes, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    c->pods = (c->leaves + c->pod_leaves - 1) / c->pod_leaves;
    c->spines = c->pods * c->pod_spines;
    t->light.uplinks = t->light.uplinks ? t->light.uplinks : c->pod_spines * c->spine_up;
    t->light.blocks = c->pods;
    t->light.block_nodes = c->pod_leaves * (c->leaf_down / ports_of_node(c));
    c->tiers = 2;
    c->spine_up = 0;
    return need_ports(&t->light, "pod", c->pod_spines, lower.radix[1] - c->spine_down, err);
}

weir_code shape_light(weir_topology *t, const weir_light *light,
                      uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    light_shape *s = &t->light;
    weir_clos lower = light->clos;
    if (lower.wiring == WEIR_CLOS_RAILS) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "circuits between leaves whose rails are joined by spines; rails only, "
                            "or leaves of whole nodes");
    }
    *s = (light_shape){
        .ends = light->ends, .uplinks = light->uplinks, .transit_share = light->transit_share};
    if (!(light->circuit.bytes_per_s > 0) || !(light->transit_share >= 0) ||
        !(light->transit_share <= 1)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "circuits of %g bytes/s, of which %g goes over a third block; more "
                            "than 0 and 0..1 are due",
                            light->circuit.bytes_per_s, light->transit_share);
    }
    if (light->ends == WEIR_LIGHT_NICS) {
        s->uplinks = light->uplinks ? light->uplinks : 2;
        s->blocks = counts[WEIR_VERTEX_DEVICE] / t->node.devices;
        s->block_nodes = 1;
        s->networks = t->node.nics;
        return WEIR_OK;
    }
    weir_code code = light->ends == WEIR_LIGHT_LEAVES ? shape_leaves(t, lower, counts, err)
                                                      : shape_spines(t, lower, counts, err);
    s->networks = t->clos.networks;
    counts[WEIR_VERTEX_LEAF] = t->clos.networks * t->clos.leaves;
    counts[WEIR_VERTEX_SPINE] = t->clos.networks * t->clos.spines;
    counts[WEIR_VERTEX_CORE] = 0;
    return code;
}

uint32_t light_spine(const weir_topology *t, uint32_t block, uint32_t end)
{
    uint32_t spines = t->clos.pod_spines;
    uint32_t spine = (uint32_t)((uint64_t)end * spines / t->light.dealt);
    return block * spines + spine;
}

static uint32_t end_vertex(const weir_topology *t, uint32_t network, uint32_t block, uint32_t end)
{
    switch (t->light.ends) {
    case WEIR_LIGHT_NICS:
        return node_port_vertex(t, block * t->node.nics + network);
    case WEIR_LIGHT_LEAVES:
        return t->first_vertex[WEIR_VERTEX_LEAF] + network * t->clos.leaves + block;
    case WEIR_LIGHT_PODS:
        break;
    }
    return t->first_vertex[WEIR_VERTEX_SPINE] + network * t->clos.spines +
           light_spine(t, block, end);
}

/* --- the circuits --- */

void light_clear(light_shape *light)
{
    free(light->circuits);
    free(light->from_end);
    free(light->to_end);
    free(light->out_start);
    free(light->out);
    free(light->in_start);
    free(light->in);
}

static weir_code keep_circuits(light_shape *s, const weir_light *light, weir_err *err)
{
    size_t count = (size_t)light->count + 1, blocks = (size_t)s->blocks + 1;
    s->count = light->count;
    s->circuits = calloc(count, sizeof *s->circuits);
    s->from_end = calloc(count, sizeof *s->from_end);
    s->to_end = calloc(count, sizeof *s->to_end);
    s->out_start = calloc(blocks, sizeof *s->out_start);
    s->in_start = calloc(blocks, sizeof *s->in_start);
    s->out = calloc(count, sizeof *s->out);
    s->in = calloc(count, sizeof *s->in);
    if (!s->circuits || !s->from_end || !s->to_end || !s->out_start || !s->in_start || !s->out ||
        !s->in) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u circuits", light->count);
    }
    for (uint32_t k = 0; k < light->count; k++) {
        weir_light_circuit c = light->circuits[k];
        if (c.from >= s->blocks || c.to >= s->blocks || c.from == c.to) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "a circuit from block %u to block %u; two different ones below %u "
                                "are due",
                                c.from, c.to, s->blocks);
        }
        s->circuits[k] = c;
        s->from_end[k] = s->out_start[c.from]++;
        s->to_end[k] = s->in_start[c.to]++;
        s->dealt = s->out_start[c.from] > s->dealt ? s->out_start[c.from] : s->dealt;
        s->dealt = s->in_start[c.to] > s->dealt ? s->in_start[c.to] : s->dealt;
    }
    return WEIR_OK;
}

/* Counts become the lists' beginnings. */
static void list_circuits(light_shape *s)
{
    uint32_t out = 0, in = 0;
    for (uint32_t b = 0; b <= s->blocks; b++) {
        uint32_t leave = s->out_start[b], arrive = s->in_start[b];
        s->out_start[b] = out;
        s->in_start[b] = in;
        out += leave;
        in += arrive;
    }
    for (uint32_t k = 0; k < s->count; k++) {
        s->out[s->out_start[s->circuits[k].from] + s->from_end[k]] = k;
        s->in[s->in_start[s->circuits[k].to] + s->to_end[k]] = k;
    }
}

static weir_code check_ends(const light_shape *s, const weir_light *light, weir_err *err)
{
    for (uint32_t b = 0; b < s->blocks && !light->turns; b++) {
        uint32_t leave = s->out_start[b], arrive = s->in_start[b];
        if (leave > s->uplinks || arrive > s->uplinks) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "block %u has %u circuits that leave and %u that arrive; it has "
                                "ports for %u",
                                b, leave, arrive, s->uplinks);
        }
    }
    return WEIR_OK;
}

static bool is_way_back(const light_shape *s, uint32_t k)
{
    return k > 0 && s->circuits[k].from == s->circuits[k - 1].to &&
           s->circuits[k].to == s->circuits[k - 1].from;
}

static weir_code lay_circuits(weir_topology *t, const weir_light *light, uint32_t network,
                              weir_err *err)
{
    const light_shape *s = &t->light;
    weir_listed_cable how = {.cable = light->circuit, .tier = WEIR_TIER_HALL};
    bool is_back = false;
    how.cable.is_optical = true;
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < s->count && code == WEIR_OK; k++) {
        weir_light_circuit c = s->circuits[k];
        is_back = !is_back && is_way_back(s, k);
        t->cables -= is_back;
        code = topology_link(t, end_vertex(t, network, c.from, s->from_end[k]),
                             end_vertex(t, network, c.to, s->to_end[k]), &how, err);
    }
    return code;
}

weir_code lay_light(weir_topology *t, const weir_light *light, weir_err *err)
{
    light_shape *s = &t->light;
    weir_code code = WEIR_OK;
    if ((uint64_t)light->count * s->networks > MOST_LINKS) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "%u circuits on each of %u networks; at most %d",
                            light->count, s->networks, MOST_LINKS);
    }
    if (s->ends == WEIR_LIGHT_NICS) {
        t->devices_forward = !t->node.has_pcie;
    } else {
        weir_clos lower = light->clos;
        code = lay_clos(t, &lower, err);
    }
    if (code == WEIR_OK) {
        code = keep_circuits(s, light, err);
    }
    if (code == WEIR_OK) {
        code = check_ends(s, light, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    list_circuits(s);
    s->first = t->count;
    for (uint32_t network = 0; network < s->networks && code == WEIR_OK; network++) {
        code = lay_circuits(t, light, network, err);
    }
    return code;
}
