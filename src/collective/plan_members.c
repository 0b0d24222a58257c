/* plan_members.c: which members of a collective share a node or a rack, and how fast their links
 * are. */
#include "collective/plan_inside.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

static weir_code no_memory(weir_err *err, uint32_t count)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to plan a collective of %u", count);
}

static weir_code tier_between(planner *p, uint32_t from, uint32_t to, weir_tier *tier)
{
    weir_route route;
    weir_code code =
        weir_layout_find(p->layout, p->job->road, from, to, p->job->flow, &route, p->err);
    if (code != WEIR_OK) {
        return code;
    }
    *tier = WEIR_TIER_IN_NODE;
    for (uint32_t i = 0; i < route.path.count; i++) {
        weir_tier found = weir_layout_tier(p->layout, route.path.links[i]);
        *tier = found > *tier ? found : *tier;
    }
    return WEIR_OK;
}

/* Whether a route is one hop from device to device. */
static bool is_one_cable(const planner *p, const weir_route *route)
{
    if (route->path.count != 1) {
        return false;
    }
    weir_link_ends ends = weir_layout_ends(p->layout, route->path.links[0]);
    return ends.from == WEIR_VERTEX_DEVICE && ends.to == WEIR_VERTEX_DEVICE;
}

/* Members of a node whose ways lead over the network are no better than members of two nodes. */
static weir_code find_wiring(planner *p, bool *is_linked)
{
    uint32_t node = 0;
    while (node < p->nodes && plan_members_of(p, node) < 2) {
        node++;
    }
    *is_linked = true;
    if (node == p->nodes) {
        return WEIR_OK;
    }
    const uint32_t *members = p->order + p->first[node];
    weir_tier tier;
    weir_code code = tier_between(p, members[0], members[1], &tier);
    if (code != WEIR_OK || tier != WEIR_TIER_IN_NODE) {
        *is_linked = false;
        return code;
    }
    weir_route route;
    code = weir_layout_find(p->layout, p->job->road, members[0], members[1], 0, &route, p->err);
    if (code == WEIR_OK && is_one_cable(p, &route)) {
        p->wiring = PLAN_WIRING_MESHED;
        if (plan_members_of(p, node) > 3) {
            code = weir_layout_find(p->layout, p->job->road, members[0], members[2], 0, &route,
                                    p->err);
            p->wiring = route.path.count == 1 ? PLAN_WIRING_MESHED : PLAN_WIRING_RING;
        }
    }
    return code;
}

static void count_members(planner *p)
{
    p->least = WEIR_NONE;
    p->most = 0;
    for (uint32_t k = 0; k < p->nodes; k++) {
        uint32_t count = plan_members_of(p, k);
        p->least = count < p->least ? count : p->least;
        p->most = count > p->most ? count : p->most;
    }
}

/* pairs: (node, rank), sorted by node. Nodes come in the order of their first rank. */
static weir_code order_nodes(planner *p, const weir_sort_pair *pairs, weir_sort_pair *nodes)
{
    uint32_t n = p->count;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || pairs[i].key != pairs[i - 1].key) {
            nodes[p->nodes++] = (weir_sort_pair){pairs[i].value, i};
        }
    }
    if (!weir_sort_pairs(nodes, p->nodes)) {
        return no_memory(p->err, n);
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < p->nodes; k++) {
        p->first[k] = at;
        uint64_t i = nodes[k].value, node = pairs[i].key;
        for (; i < n && pairs[i].key == node; i++) {
            p->order[at++] = p->job->members[pairs[i].value];
        }
    }
    p->first[p->nodes] = at;
    return WEIR_OK;
}

static void make_each_its_node(planner *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        p->order[i] = p->job->members[i];
        p->first[i] = i;
    }
    p->first[p->count] = p->nodes = p->count;
}

static weir_code look_at_links(planner *p)
{
    bool is_linked;
    weir_code code = find_wiring(p, &is_linked);
    if (code != WEIR_OK) {
        return code;
    }
    if (!is_linked) {
        make_each_its_node(p);
    }
    count_members(p);
    if (p->nodes == p->count && p->count > 1) {
        weir_route route;
        code =
            weir_layout_find(p->layout, p->job->road, p->order[0], p->order[1], 0, &route, p->err);
        p->is_direct = code == WEIR_OK && route.path.count > 0 &&
                       weir_layout_ends(p->layout, route.path.links[0]).to == WEIR_VERTEX_DEVICE;
    }
    return code;
}

weir_code plan_group_members(planner *p)
{
    const weir_topology *t = weir_layout_topology(p->layout, p->job->road);
    uint32_t n = p->count;
    weir_sort_pair *pairs = calloc(2 * (size_t)n, sizeof *pairs);
    p->order = calloc(n, sizeof *p->order);
    p->first = calloc((size_t)n + 1, sizeof *p->first);
    weir_code code = pairs && p->order && p->first ? WEIR_OK : no_memory(p->err, n);
    for (uint32_t i = 0; i < n && code == WEIR_OK; i++) {
        uint32_t device = p->job->members[i];
        if (device >= weir_layout_devices(p->layout)) {
            code = weir_err_set(p->err, WEIR_ERR_INPUT,
                                "device %u in a collective; devices are 0 to %u", device,
                                weir_layout_devices(p->layout) - 1);
        } else {
            pairs[i] = (weir_sort_pair){weir_topology_node_of(t, device), i};
        }
    }
    if (code == WEIR_OK && !weir_sort_pairs(pairs, n)) {
        code = no_memory(p->err, n);
    }
    code = code == WEIR_OK ? order_nodes(p, pairs, pairs + n) : code;
    free(pairs);
    return code == WEIR_OK ? look_at_links(p) : code;
}

uint32_t plan_member(const planner *p, uint32_t node, uint32_t index)
{
    return p->order[p->first[node] + index % plan_members_of(p, node)];
}

weir_code plan_find_racks(planner *p, uint32_t *first, uint32_t *racks)
{
    *racks = 1;
    first[0] = 0;
    for (uint32_t k = 1; k < p->nodes; k++) {
        weir_tier tier;
        weir_code code =
            tier_between(p, plan_member(p, first[*racks - 1], 0), plan_member(p, k, 0), &tier);
        if (code != WEIR_OK) {
            return code;
        }
        if (tier > WEIR_TIER_BETWEEN_NODES) {
            first[(*racks)++] = k;
        }
    }
    first[*racks] = p->nodes;
    return WEIR_OK;
}

/* --- raw rates --- */

/* What leaves a NIC for the network belongs to the devices behind it, in equal parts. */
static double rate_of_nic(const weir_topology *t, uint32_t nic)
{
    const weir_net *net = weir_topology_net(t);
    double rate = 0;
    uint32_t devices = 0;
    for (uint32_t i = 0; i < weir_net_count(net); i++) {
        weir_link link = weir_topology_link(t, i);
        devices += link.to == nic && link.tier == WEIR_TIER_IN_NODE;
        if (link.from == nic && link.tier != WEIR_TIER_IN_NODE) {
            rate += weir_net_bytes_per_s(net, i);
        }
    }
    return devices ? rate / devices : rate;
}

static void measure_rates(const weir_topology *t, uint32_t device, weir_collective_shape *shape)
{
    const weir_net *net = weir_topology_net(t);
    shape->node_bytes_per_s = shape->network_bytes_per_s = 0;
    for (uint32_t i = 0; i < weir_net_count(net); i++) {
        weir_link link = weir_topology_link(t, i);
        double rate = weir_net_bytes_per_s(net, i);
        uint32_t number;
        if (link.from != device) {
            continue;
        }
        if (link.tier != WEIR_TIER_IN_NODE) {
            shape->network_bytes_per_s += rate;
        } else if (weir_topology_vertex(t, link.to, &number) == WEIR_VERTEX_NIC) {
            shape->network_bytes_per_s += fmin(rate, rate_of_nic(t, link.to));
        } else {
            shape->node_bytes_per_s += rate;
        }
    }
}

/* Whether the node of member i stood among those before; only first members of runs are looked at,
 * and none where nodes come in order. */
static bool is_seen(const weir_topology *t, const uint32_t *members, uint32_t i)
{
    uint32_t node = weir_topology_node_of(t, members[i]), last = WEIR_NONE;
    for (uint32_t j = 0; j < i; j++) {
        uint32_t other = weir_topology_node_of(t, members[j]);
        if (other != last && other == node) {
            return true;
        }
        last = other;
    }
    return false;
}

void weir_plan_measure(const weir_layout *layout, const weir_collective_job *job,
                       weir_collective_shape *shape)
{
    const weir_topology *t = weir_layout_topology(layout, job->road);
    shape->kind = job->kind;
    shape->bytes = job->bytes;
    shape->ranks = job->count;
    shape->nodes = 0;
    uint32_t last = WEIR_NONE, highest = 0;
    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t node = weir_topology_node_of(t, job->members[i]);
        if (node != last && (i == 0 || node > highest || !is_seen(t, job->members, i))) {
            shape->nodes++;
        }
        highest = i == 0 || node > highest ? node : highest;
        last = node;
    }
    measure_rates(t, job->count ? job->members[0] : WEIR_NONE, shape);
}
