#include "fabric/topology.h"

#include "base/grow.h"
#include "fabric/topology_inside.h"

#include <stdlib.h>

static const char *const tier_names[] = {
#define X(tier, name) name,
    WEIR_TIERS(X)
#undef X
};

static const char *const vertex_names[] = {
#define X(kind, name) name,
    WEIR_VERTEX_KINDS(X)
#undef X
};

/* --- for the builders --- */

weir_code topology_set_vertices(weir_topology *t, const uint32_t counts[WEIR_VERTEX_KIND_COUNT],
                                weir_err *err)
{
    uint32_t sum = 0;
    for (int kind = 0; kind < WEIR_VERTEX_KIND_COUNT; kind++) {
        t->first_vertex[kind] = sum;
        if (__builtin_add_overflow(sum, counts[kind], &sum) || sum > WEIR_NONE / 2) {
            return weir_err_set(err, WEIR_ERR_LIMIT,
                                "this network has more than %u devices and switches",
                                WEIR_NONE / 2);
        }
    }
    t->first_vertex[WEIR_VERTEX_KIND_COUNT] = sum;
    return WEIR_OK;
}

uint32_t topology_vertex_count(const weir_topology *t, weir_vertex_kind kind)
{
    return t->first_vertex[kind + 1] - t->first_vertex[kind];
}

weir_code topology_link(weir_topology *t, uint32_t from, uint32_t to, const weir_listed_cable *how,
                        weir_err *err)
{
    if (!weir_grow(&t->links, t->count, &t->room, sizeof *t->links)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for link %u of the network", t->count);
    }
    weir_link_id link;
    weir_code code = weir_net_add(t->net, how->cable.bytes_per_s, how->cable.latency_s, &link, err);
    if (code == WEIR_OK) {
        t->links[t->count++] = (weir_link){from, to, t->cables++, how->tier, how->cable.is_optical};
    }
    return code;
}

weir_code topology_cable(weir_topology *t, uint32_t from, uint32_t to, const weir_listed_cable *how,
                         weir_err *err)
{
    weir_code code = topology_link(t, from, to, how, err);
    if (code == WEIR_OK) {
        t->cables--;
        code = topology_link(t, to, from, how, err);
    }
    return code;
}

/* --- explicit lists --- */

static weir_code shape_list(weir_topology *t, const weir_cable_list *list,
                            uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    if (list->devices == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a list of cables with 0 devices; there must be one at least");
    }
    counts[WEIR_VERTEX_DEVICE] = list->devices;
    counts[WEIR_VERTEX_ROUTER] = list->switches;
    t->devices_forward = list->devices_forward;
    return WEIR_OK;
}

static weir_code lay_list(weir_topology *t, const weir_cable_list *list, weir_err *err)
{
    uint32_t ends = t->first_vertex[WEIR_VERTEX_KIND_COUNT];
    for (uint32_t i = 0; i < list->count; i++) {
        const weir_listed_cable *c = &list->cables[i];
        if (c->from >= ends || c->to >= ends) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "cable %u joins %u and %u; with %u devices and %u switches ends "
                                "are 0 to %u",
                                i, c->from, c->to, list->devices, list->switches, ends - 1);
        }
        if (c->from == c->to) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "cable %u joins %u with itself; it needs two ends", i, c->from);
        }
        weir_code code = c->is_one_way ? topology_link(t, c->from, c->to, c, err)
                                       : topology_cable(t, c->from, c->to, c, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

/* --- building --- */

static weir_code shape(weir_topology *t, const weir_fabric *fabric,
                       uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    bool has_nodes = fabric->kind <= WEIR_FABRIC_LIGHT;
    weir_code code =
        has_nodes ? shape_nodes(t, &fabric->nodes, fabric->kind != WEIR_FABRIC_NODE, counts, err)
                  : WEIR_OK;
    if (code != WEIR_OK) {
        return code;
    }
    switch (fabric->kind) {
    case WEIR_FABRIC_NODE:
        return WEIR_OK;
    case WEIR_FABRIC_CLOS:
        return shape_clos(t, &fabric->clos, counts, err);
    case WEIR_FABRIC_DRAGONFLY:
        return shape_dragonfly(t, &fabric->dragonfly, counts, err);
    case WEIR_FABRIC_LIGHT:
        return shape_light(t, &fabric->light, counts, err);
    case WEIR_FABRIC_TORUS:
        return shape_torus(t, &fabric->torus, counts, err);
    case WEIR_FABRIC_LIST:
        return shape_list(t, &fabric->list, counts, err);
    }
    return weir_err_set(err, WEIR_ERR_USAGE, "there is no fabric of kind %d", (int)fabric->kind);
}

static weir_code lay(weir_topology *t, const weir_fabric *fabric, weir_err *err)
{
    weir_code code = t->node.devices ? lay_nodes(t, &fabric->nodes, err) : WEIR_OK;
    if (code != WEIR_OK) {
        return code;
    }
    switch (fabric->kind) {
    case WEIR_FABRIC_NODE:
        break;
    case WEIR_FABRIC_CLOS:
        return lay_clos(t, &fabric->clos, err);
    case WEIR_FABRIC_DRAGONFLY:
        return lay_dragonfly(t, &fabric->dragonfly, err);
    case WEIR_FABRIC_LIGHT:
        return lay_light(t, &fabric->light, err);
    case WEIR_FABRIC_TORUS:
        return lay_torus(t, &fabric->torus, err);
    case WEIR_FABRIC_LIST:
        return lay_list(t, &fabric->list, err);
    }
    return WEIR_OK;
}

weir_code weir_topology_new(const weir_fabric *fabric, weir_topology **topology, weir_err *err)
{
    weir_topology *t = calloc(1, sizeof *t);
    if (!t || !(t->net = weir_net_new())) {
        free(t);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a network");
    }
    t->kind = fabric->kind;
    uint32_t counts[WEIR_VERTEX_KIND_COUNT] = {0};
    weir_code code = shape(t, fabric, counts, err);
    if (code == WEIR_OK) {
        code = topology_set_vertices(t, counts, err);
    }
    if (code == WEIR_OK) {
        code = lay(t, fabric, err);
    }
    if (code != WEIR_OK) {
        weir_topology_free(t);
        return code;
    }
    weir_net_seal(t->net);
    *topology = t;
    return WEIR_OK;
}

void weir_topology_free(weir_topology *topology)
{
    if (topology) {
        weir_net_free(topology->net);
        light_clear(&topology->light);
        free(topology->links);
        free(topology);
    }
}

weir_code weir_light_measure(const weir_fabric *fabric, weir_light_blocks *blocks, weir_err *err)
{
    weir_topology t = {.kind = fabric->kind};
    uint32_t counts[WEIR_VERTEX_KIND_COUNT] = {0};
    weir_code code =
        fabric->kind == WEIR_FABRIC_LIGHT
            ? shape(&t, fabric, counts, err)
            : weir_err_set(err, WEIR_ERR_USAGE, "blocks of a network without circuits");
    if (code == WEIR_OK) {
        bool has_spines = t.light.ends == WEIR_LIGHT_PODS;
        *blocks = (weir_light_blocks){t.light.blocks, t.light.block_nodes, t.light.networks,
                                      has_spines ? t.clos.pod_spines : 0, t.light.uplinks};
    }
    return code;
}

/* --- reading --- */

uint32_t weir_topology_links_below_light(const weir_topology *topology)
{
    return topology->light.first;
}

bool weir_topology_is_circuit(const weir_topology *topology, weir_link_id link)
{
    return topology->kind == WEIR_FABRIC_LIGHT && link >= topology->light.first;
}

uint32_t weir_topology_node_links(const weir_topology *topology)
{
    uint32_t count = 0;
    while (count < topology->count && topology->links[count].tier == WEIR_TIER_IN_NODE) {
        count++;
    }
    return count;
}

const weir_net *weir_topology_net(const weir_topology *topology)
{
    return topology->net;
}

uint32_t weir_topology_devices(const weir_topology *topology)
{
    return topology_vertex_count(topology, WEIR_VERTEX_DEVICE);
}

uint32_t weir_topology_node_of(const weir_topology *topology, uint32_t device)
{
    return topology->node.devices ? device / topology->node.devices : device;
}

weir_link weir_topology_link(const weir_topology *topology, weir_link_id link)
{
    return topology->links[link];
}

weir_vertex_kind weir_topology_vertex(const weir_topology *topology, uint32_t vertex,
                                      uint32_t *number)
{
    uint32_t kind = 0;
    while (vertex >= topology->first_vertex[kind + 1]) {
        kind++;
    }
    *number = vertex - topology->first_vertex[kind];
    return (weir_vertex_kind)kind;
}

weir_fabric_counts weir_topology_counts(const weir_topology *topology)
{
    weir_fabric_counts counts = {0};
    for (int kind = 0; kind < WEIR_VERTEX_KIND_COUNT; kind++) {
        counts.vertices[kind] = topology_vertex_count(topology, (weir_vertex_kind)kind);
    }
    for (uint32_t i = 0; i < topology->count; i++) {
        const weir_link *link = &topology->links[i];
        bool is_way_back = i > 0 && link->cable == link[-1].cable;
        if (is_way_back) {
            continue;
        }
        uint32_t number;
        counts.ports[weir_topology_vertex(topology, link->from, &number)]++;
        counts.ports[weir_topology_vertex(topology, link->to, &number)]++;
        counts.cables[link->tier]++;
        counts.optical_cables[link->tier] += link->is_optical;
    }
    return counts;
}

/* How many cables before this one join the same two, and whether any other does. Parallel cables
 * are laid close together, but not always side by side: the whole list is read. */
static uint32_t cables_before(const weir_topology *t, weir_link_id link, bool *has_others)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->links[i].from == t->links[link].from && t->links[i].to == t->links[link].to &&
            i != link) {
            before += i < link;
            *has_others = true;
        }
    }
    return before;
}

void weir_topology_name(const weir_topology *topology, weir_link_id link, weir_text *name)
{
    const weir_link *l = &topology->links[link];
    uint32_t from, to;
    weir_vertex_kind from_kind = weir_topology_vertex(topology, l->from, &from);
    weir_vertex_kind to_kind = weir_topology_vertex(topology, l->to, &to);
    weir_text_printf(name, "%s %u -> %s %u", vertex_names[from_kind], from, vertex_names[to_kind],
                     to);
    bool has_others = false;
    uint32_t before = cables_before(topology, link, &has_others);
    if (has_others) {
        weir_text_printf(name, " (cable %u)", before);
    }
}

/* --- a name read back --- */

static bool take(weir_str *text, weir_str part)
{
    bool has = weir_str_starts(*text, part);
    if (has) {
        *text = (weir_str){text->p + part.n, text->n - part.n};
    }
    return has;
}

static bool take_number(weir_str *text, uint32_t *number)
{
    uint32_t digits = 0;
    uint64_t value = 0;
    while (digits < text->n && text->p[digits] >= '0' && text->p[digits] <= '9' && digits < 10) {
        value = value * 10 + (uint64_t)(text->p[digits++] - '0');
    }
    *text = (weir_str){text->p + digits, text->n - digits};
    *number = (uint32_t)value;
    return digits > 0 && value < WEIR_NONE;
}

static bool take_vertex(const weir_topology *t, weir_str *text, uint32_t *vertex)
{
    for (int kind = 0; kind < WEIR_VERTEX_KIND_COUNT; kind++) {
        weir_str rest = *text;
        uint32_t number;
        if (take(&rest, weir_str_from(vertex_names[kind])) && take(&rest, WEIR_STR(" ")) &&
            take_number(&rest, &number)) {
            *text = rest;
            *vertex = t->first_vertex[kind] + number;
            return number < topology_vertex_count(t, (weir_vertex_kind)kind);
        }
    }
    return false;
}

weir_link_id weir_topology_find_link(const weir_topology *topology, weir_str name)
{
    uint32_t from, to, cable = 0;
    bool is_name = take_vertex(topology, &name, &from) && take(&name, WEIR_STR(" -> ")) &&
                   take_vertex(topology, &name, &to);
    if (is_name && name.n > 0) {
        is_name = take(&name, WEIR_STR(" (cable ")) && take_number(&name, &cable) &&
                  weir_str_eq(name, WEIR_STR(")"));
    }
    for (uint32_t i = 0; is_name && i < topology->count; i++) {
        if (topology->links[i].from == from && topology->links[i].to == to && cable-- == 0) {
            return i;
        }
    }
    return WEIR_NONE;
}

const char *weir_tier_name(weir_tier tier)
{
    return tier_names[tier];
}
