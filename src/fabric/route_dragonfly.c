#include "fabric/ecmp.h"
#include "fabric/route_inside.h"

/* What a way on a dragonfly chooses, each digit below its width: the NIC, the cable between two
 * groups; with Valiant the group between (counted without the two ends) and the second cable; last,
 * used only where links are dead, another NIC of the receiver. */
enum { SLOT, CABLE, GROUP, CABLE_ON, OTHER_SLOT, DIGITS };

typedef struct {
    const weir_router *router;
    uint32_t from, to;
    uint32_t width[DIGITS];
} dragonfly_pair;

static void push_local(const dragonfly_shape *s, uint32_t from, uint32_t to, route_way *way)
{
    if (from != to) {
        route_way_push(way, dragonfly_local_link(s, from, to));
    }
}

/* Over cable `which` to another group; returns the router where it arrives. */
static uint32_t push_global(const dragonfly_shape *s, uint32_t router, uint32_t group,
                            uint32_t which, route_way *way)
{
    uint32_t from = router / s->routers;
    push_local(s, router, dragonfly_gate(s, from, group, which), way);
    route_way_push(way, dragonfly_global_link(s, from, group, which));
    return dragonfly_gate(s, group, from, which);
}

/* The group that is number `index` among those that are neither a nor b. */
static uint32_t third_group(uint32_t a, uint32_t b, uint32_t index)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    index += index >= low;
    return index + (index >= high);
}

static bool make_way(const void *context, uint64_t index, route_way *way)
{
    const dragonfly_pair *p = context;
    const weir_topology *t = p->router->topology;
    const dragonfly_shape *s = &t->dragonfly;
    uint32_t digit[DIGITS], count;
    for (int i = 0; i < DIGITS; i++) {
        digit[i] = (uint32_t)(index % p->width[i]);
        index /= p->width[i];
    }
    uint32_t nic[2] = {node_nics(t, p->from, &count) + digit[SLOT],
                       node_nics(t, p->to, &count) + (digit[SLOT] + digit[OTHER_SLOT]) % count};
    uint32_t at = nic[0] / s->nics, end = nic[1] / s->nics, end_group = end / s->routers;
    route_way_push(way, node_pcie_link(t, p->from, nic[0]));
    if (nic[0] != nic[1]) { /* devices that share a NIC meet there */
        route_way_push(way, s->port + 2 * nic[0]);
        if (at / s->routers != end_group) {
            uint32_t which = digit[CABLE];
            if (p->router->routing.has_valiant) {
                uint32_t middle = third_group(at / s->routers, end_group, digit[GROUP]);
                at = push_global(s, at, middle, which, way);
                which = digit[CABLE_ON];
            }
            at = push_global(s, at, end_group, which, way);
        }
        push_local(s, at, end, way);
        route_way_push(way, s->port + 2 * nic[1] + 1);
    }
    weir_link_id pcie = node_pcie_link(t, p->to, nic[1]);
    route_way_push(way, pcie == WEIR_NONE ? pcie : pcie + 1);
    return true;
}

static void set_widths(dragonfly_pair *p)
{
    const weir_topology *t = p->router->topology;
    const dragonfly_shape *s = &t->dragonfly;
    uint32_t count, leaving = 0;
    uint32_t first[2] = {node_nics(t, p->from, &count), node_nics(t, p->to, &count)};
    uint32_t group_nics = s->nics * s->routers;
    for (uint32_t i = 0; i < count; i++) {
        leaving += (first[0] + i) / group_nics != (first[1] + i) / group_nics;
    }
    for (int i = 0; i < DIGITS; i++) {
        p->width[i] = 1;
    }
    p->width[SLOT] = count;
    p->width[OTHER_SLOT] = p->router->dead_count ? count : 1;
    if (leaving || (p->width[OTHER_SLOT] > 1 && s->groups > 1)) {
        p->width[CABLE] = s->bundle;
        if (p->router->routing.has_valiant) {
            p->width[GROUP] = s->groups - 2;
            p->width[CABLE_ON] = s->bundle;
        }
    }
}

/* One usual way for each queue pair, drawn; or for each NIC, by the receiver's number. */
static weir_code take_some(weir_router *r, const dragonfly_pair *p, const route_ways *ways,
                           uint64_t flow, weir_err *err)
{
    bool is_drawn = r->routing.choice == WEIR_ROUTE_ECMP;
    uint32_t slots = p->width[SLOT], count = is_drawn ? r->routing.queue_pairs : slots;
    uint64_t start = is_drawn ? ecmp_hash(flow, ~r->routing.seed) : 0;
    weir_code code = WEIR_OK;
    for (uint32_t q = 0; q < count && code == WEIR_OK; q++) {
        uint64_t h = is_drawn ? ecmp_hash(flow * count + q, r->routing.seed) : p->to;
        uint64_t way = h % (ways->usual / slots) * slots + (start + q) % slots;
        code = route_take_one(r, ways, way, ecmp_mix(h), err);
    }
    return code;
}

weir_code route_dragonfly(weir_router *r, uint32_t from, uint32_t to, uint64_t flow, weir_err *err)
{
    dragonfly_pair p = {.router = r, .from = from, .to = to};
    set_widths(&p);
    route_ways ways = {r, from, to, 1, 1, make_way, &p};
    for (int i = 0; i < DIGITS; i++) {
        ways.all *= p.width[i];
        ways.usual *= i < OTHER_SLOT ? p.width[i] : 1;
    }
    weir_code code = r->routing.choice == WEIR_ROUTE_SPRAY ? route_take_all(r, &ways, err)
                                                           : take_some(r, &p, &ways, flow, err);
    if (code != WEIR_OK || r->leg_weight > 0) {
        return code;
    }
    /* The cables between the two groups, or to them, are dead: whatever is shortest now. */
    const uint32_t pair[2] = {from, to};
    return route_graph(r, pair, flow, false, err);
}
