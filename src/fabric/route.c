#include "fabric/route.h"

#include "base/grow.h"
#include "fabric/route_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- putting a path together --- */

weir_code route_add(weir_router *r, weir_link_id link, double weight, weir_err *err)
{
    uint32_t place = r->place[link];
    if (place != WEIR_NONE && place >= r->leg) {
        r->weights[place] += weight;
        return WEIR_OK;
    }
    bool is_full = r->count >= r->link_room || r->count >= r->weight_room;
    if (is_full && (!weir_grow(&r->links, r->count, &r->link_room, sizeof *r->links) ||
                    !weir_grow(&r->weights, r->count, &r->weight_room, sizeof *r->weights))) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a path of %u links", r->count);
    }
    r->place[link] = r->count;
    r->links[r->count] = link;
    r->weights[r->count++] = weight;
    return WEIR_OK;
}

bool route_is_alive(const weir_router *r, const route_way *way)
{
    for (uint32_t i = 0; r->dead_count && i < way->count; i++) {
        if (r->dead[way->links[i]]) {
            return false;
        }
    }
    return true;
}

static bool make_alive(const weir_router *r, const route_ways *ways, uint64_t index, route_way *way)
{
    way->count = 0;
    return ways->make(ways->context, index, way) && route_is_alive(r, way);
}

weir_code route_add_way(weir_router *r, const route_way *way, weir_err *err)
{
    for (uint32_t i = 0; i < way->count; i++) {
        weir_code code = route_add(r, way->links[i], 1, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    double latency_s =
        weir_net_route_latency_s(weir_topology_net(r->topology), way->links, way->count);
    r->leg_s = latency_s > r->leg_s ? latency_s : r->leg_s;
    r->leg_weight += 1;
    return WEIR_OK;
}

static weir_code take_range(weir_router *r, const route_ways *ways, const uint64_t range[2],
                            weir_err *err)
{
    weir_code code = WEIR_OK;
    route_way way;
    for (uint64_t i = range[0]; i < range[1] && code == WEIR_OK; i++) {
        if (make_alive(r, ways, i, &way)) {
            code = route_add_way(r, &way, err);
        }
    }
    return code;
}

weir_code route_take_all(weir_router *r, const route_ways *ways, weir_err *err)
{
    const uint64_t usual[2] = {0, ways->usual}, rest[2] = {ways->usual, ways->all};
    weir_code code = take_range(r, ways, usual, err);
    return code == WEIR_OK && r->leg_weight == 0 ? take_range(r, ways, rest, err) : code;
}

/* The way that `number` picks among those alive in a range; false: none is alive. */
static bool pick_alive(const weir_router *r, const route_ways *ways, const uint64_t range[2],
                       uint64_t number, route_way *way)
{
    uint64_t alive = 0;
    for (uint64_t i = range[0]; i < range[1]; i++) {
        alive += make_alive(r, ways, i, way);
    }
    if (alive == 0) {
        return false;
    }
    uint64_t skip = number % alive, i = range[0];
    while (!make_alive(r, ways, i, way) || skip-- > 0) {
        i++;
    }
    return true;
}

weir_code route_take_one(weir_router *r, const route_ways *ways, uint64_t index, uint64_t number,
                         weir_err *err)
{
    const uint64_t usual[2] = {0, ways->usual}, rest[2] = {ways->usual, ways->all};
    route_way way;
    bool is_found = make_alive(r, ways, index, &way) ||
                    (r->dead_count && (pick_alive(r, ways, usual, number, &way) ||
                                       pick_alive(r, ways, rest, number, &way)));
    return is_found ? route_add_way(r, &way, err) : WEIR_OK;
}

static void begin_path(weir_router *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        r->place[r->links[i]] = WEIR_NONE;
    }
    r->count = r->leg = 0;
    r->leg_weight = r->leg_s = r->latency_s = 0;
}

/* Weights become shares of a byte. */
static void end_leg(weir_router *r)
{
    for (uint32_t i = r->leg; i < r->count; i++) {
        r->weights[i] /= r->leg_weight;
    }
    r->leg = r->count;
    r->latency_s += r->leg_s;
    r->leg_weight = r->leg_s = 0;
}

/* --- inside a node --- */

static weir_code ring_way(weir_router *r, const uint32_t pair[2], bool is_down, weir_err *err)
{
    const node_shape *s = &r->topology->node;
    uint32_t n = s->devices, first = pair[0] / n * n, at = pair[0] - first;
    weir_code code = WEIR_OK;
    double latency_s = 0;
    while (at != pair[1] - first && code == WEIR_OK) {
        uint32_t next = (at + (is_down ? n - 1 : 1)) % n;
        weir_link_id link = s->first + 2 * (first + (is_down ? next : at)) + (is_down ? 1 : 0);
        latency_s += weir_net_latency_s(weir_topology_net(r->topology), link);
        code = route_add(r, link, 1, err);
        at = next;
    }
    r->leg_weight += 1;
    r->leg_s = latency_s > r->leg_s ? latency_s : r->leg_s;
    return code;
}

static weir_code ring_ways(weir_router *r, const uint32_t pair[2], weir_err *err)
{
    uint32_t n = r->topology->node.devices, up = (pair[1] + n - pair[0]) % n;
    weir_code code = WEIR_OK;
    if (2 * up <= n) {
        code = ring_way(r, pair, false, err);
    }
    if (2 * up >= n && code == WEIR_OK) {
        code = ring_way(r, pair, true, err);
    }
    return code;
}

static bool make_node_way(const void *context, uint64_t index, route_way *way)
{
    const route_ways *ways = context;
    const weir_topology *t = ways->router->topology;
    (void)index; /* there is one */
    if (t->node.wiring == WEIR_NODE_MESHED) {
        route_way_push(way, node_mesh_link(t, ways->from, ways->to));
    } else {
        route_way_push(way, t->node.first + 2 * ways->from);
        route_way_push(way, t->node.first + 2 * ways->to + 1);
    }
    return true;
}

static weir_code node_leg(weir_router *r, uint32_t from, uint32_t to, uint64_t flow, weir_err *err)
{
    const uint32_t pair[2] = {from, to};
    bool is_ring = r->topology->node.wiring == WEIR_NODE_RING;
    if (!is_ring) {
        route_ways ways = {r, from, to, 1, 1, make_node_way, &ways};
        weir_code code = route_take_all(r, &ways, err);
        if (code != WEIR_OK || r->leg_weight > 0) {
            return code;
        }
    } else if (r->dead_count == 0) {
        return ring_ways(r, pair, err);
    }
    return route_graph(r, pair, flow, true, err);
}

/* --- a path --- */

static weir_code network_leg(weir_router *r, uint32_t from, uint32_t to, uint64_t flow,
                             weir_err *err)
{
    const uint32_t pair[2] = {from, to};
    switch (r->topology->kind) {
    case WEIR_FABRIC_NODE:
        return WEIR_OK;
    case WEIR_FABRIC_CLOS:
        return route_clos(r, from, to, flow, err);
    case WEIR_FABRIC_DRAGONFLY:
        return route_dragonfly(r, from, to, flow, err);
    case WEIR_FABRIC_LIGHT: {
        weir_code code = route_light(r, from, to, flow, err);
        if (code != WEIR_OK || r->leg_weight > 0 || r->dead_count == 0) {
            return code;
        }
        return route_graph(r, pair, flow, false, err); /* whatever is left */
    }
    case WEIR_FABRIC_TORUS:
        if (r->routing.choice != WEIR_ROUTE_ECMP) {
            weir_code code = r->routing.choice == WEIR_ROUTE_FIXED
                                 ? route_torus(r, from, to, err)
                                 : route_torus_all(r, from, to, err);
            if (code != WEIR_OK || r->leg_weight > 0) {
                return code;
            }
        }
        return route_graph(r, pair, flow, false, err);
    case WEIR_FABRIC_LIST:
        return route_graph(r, pair, flow, false, err);
    }
    return WEIR_OK;
}

/* The device of from's node through which PXN goes, or from itself. */
static uint32_t rail_device(const weir_router *r, uint32_t from, uint32_t to)
{
    const weir_topology *t = r->topology;
    uint32_t n = t->node.devices, count;
    if (!r->routing.has_pxn ||
        node_nics(t, from, &count) % t->node.nics == node_nics(t, to, &count) % t->node.nics) {
        return from;
    }
    return from / n * n + to % n;
}

static weir_code find_legs(weir_router *r, const uint32_t pair[2], uint64_t flow, bool *is_found,
                           weir_err *err)
{
    uint32_t from = pair[0], to = pair[1];
    const node_shape *node = &r->topology->node;
    bool is_inside =
        node->wiring != WEIR_NODE_UNLINKED && from / node->devices == to / node->devices;
    weir_code code = WEIR_OK;
    uint32_t through = is_inside ? to : rail_device(r, from, to);
    if (through != from) {
        code = node_leg(r, from, through, flow, err);
        *is_found = r->leg_weight > 0;
        if (code != WEIR_OK || !*is_found) {
            return code;
        }
        end_leg(r);
    }
    if (through != to) {
        code = network_leg(r, through, to, flow, err);
        *is_found = r->leg_weight > 0;
        if (*is_found) {
            end_leg(r);
        }
    }
    return code;
}

static weir_code tell_apart(const weir_router *r, uint32_t from, uint32_t to, weir_err *err)
{
    const weir_topology *t = r->topology;
    bool are_rails = !r->routing.has_pxn &&
                     ((t->kind == WEIR_FABRIC_CLOS && t->clos.wiring == WEIR_CLOS_RAIL_ONLY) ||
                      (t->kind == WEIR_FABRIC_LIGHT && (t->clos.wiring == WEIR_CLOS_RAIL_ONLY ||
                                                        t->light.ends == WEIR_LIGHT_NICS)));
    char dead[80] = "";
    if (r->dead_count) {
        snprintf(dead, sizeof dead, "; dead links: %u", r->dead_count);
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "nothing joins device %u (node %u) to device %u "
                        "(node %u)%s%s",
                        from, weir_topology_node_of(t, from), to, weir_topology_node_of(t, to),
                        are_rails ? "; rails are separate networks: PXN would change rails inside "
                                    "the node"
                                  : "",
                        dead);
}

weir_code weir_router_find(weir_router *router, uint32_t from, uint32_t to, uint64_t flow,
                           weir_route *route, weir_err *err)
{
    weir_router *r = router;
    uint32_t devices = weir_topology_devices(r->topology);
    if (from >= devices || to >= devices) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a path from device %u to %u; devices are 0 to %u",
                            from, to, devices - 1);
    }
    begin_path(r);
    bool is_found = from == to;
    const uint32_t pair[2] = {from, to};
    weir_code code = is_found ? WEIR_OK : find_legs(r, pair, flow, &is_found, err);
    if (code == WEIR_OK && !is_found && r->routing.has_pxn) {
        /* The detour through the node is cut: the network itself may still do. */
        begin_path(r);
        r->routing.has_pxn = false;
        code = find_legs(r, pair, flow, &is_found, err);
        r->routing.has_pxn = true;
    }
    if (code != WEIR_OK) {
        return code;
    }
    if (!is_found) {
        return tell_apart(r, from, to, err);
    }
    *route =
        (weir_route){.path = {.count = r->count, .links = r->links, .bytes_per_unit = r->weights},
                     .latency_s = r->latency_s};
    return WEIR_OK;
}

/* --- the router --- */

static weir_code check_routing(const weir_topology *t, const weir_routing *routing, weir_err *err)
{
    if (routing->has_pxn && (t->node.wiring == WEIR_NODE_UNLINKED || t->node.nics == 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "PXN on a network whose devices have no links inside their node; give "
                            "the nodes links, or leave it off");
    }
    if (routing->has_valiant && (t->kind != WEIR_FABRIC_DRAGONFLY || t->dragonfly.groups < 3)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "Valiant routing needs a dragonfly of 3 groups or more");
    }
    return WEIR_OK;
}

weir_code weir_router_new(const weir_topology *topology, const weir_routing *routing,
                          weir_router **router, weir_err *err)
{
    weir_code code = check_routing(topology, routing, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_router *r = calloc(1, sizeof *r);
    size_t links = topology->count ? topology->count : 1;
    if (r) {
        r->dead = calloc(links, 1);
        r->place = malloc(links * sizeof *r->place);
    }
    if (!r || !r->dead || !r->place) {
        weir_router_free(r);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for routes over %zu links", links);
    }
    memset(r->place, 0xff, links * sizeof *r->place);
    r->topology = topology;
    r->routing = *routing;
    if (r->routing.queue_pairs == 0) {
        r->routing.queue_pairs = 1;
    }
    *router = r;
    return WEIR_OK;
}

void weir_router_free(weir_router *router)
{
    if (router) {
        free(router->links);
        free(router->weights);
        free(router->place);
        free(router->dead);
        route_fields_free(router->fields);
        route_blocks_free(router->blocks);
        free(router->box);
        free(router->stems);
        free(router);
    }
}

void weir_router_set_dead(weir_router *router, weir_link_id link, bool is_dead)
{
    if (router->dead[link] != is_dead) {
        router->dead[link] = is_dead;
        router->dead_count += is_dead ? 1 : -1u;
        route_fields_forget(router->fields);
        route_blocks_forget(router->blocks);
    }
}
