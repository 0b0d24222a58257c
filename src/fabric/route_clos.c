#include "base/grow.h"
#include "fabric/ecmp.h"
#include "fabric/route_inside.h"

/* What a way on a Clos network chooses, each digit below its width. Usual ways: the NIC of the same
 * number at both ends, the same cable of a trunk up and down; the last three digits are 0. */
enum { SLOT, PLANE, UP, CORE, OTHER_SLOT, DOWN, CORE_DOWN, DIGITS };

typedef struct {
    const weir_router *router;
    uint32_t from, to;
    uint32_t width[DIGITS];
} clos_pair;

static uint64_t number_of(const clos_pair *p, const uint32_t digit[DIGITS])
{
    uint64_t number = 0;
    for (int i = DIGITS - 1; i >= 0; i--) {
        number = number * p->width[i] + digit[i];
    }
    return number;
}

static void digits_of(const clos_pair *p, uint64_t number, uint32_t digit[DIGITS])
{
    for (int i = 0; i < DIGITS; i++) {
        uint32_t width = p->width[i];
        digit[i] = width > 1 ? (uint32_t)(number % width) : 0; /* divisions take long */
        number = width > 1 ? number / width : number;
    }
}

/* The cable `shift` further on in the same trunk. */
static uint32_t sibling(uint32_t cable, uint32_t shift, uint32_t trunk)
{
    return cable / trunk * trunk + (cable % trunk + shift) % trunk;
}

static void push_tree(const clos_shape *c, const uint32_t leaf[2], uint32_t network,
                      const uint32_t digit[DIGITS], route_way *way)
{
    uint32_t trunk = c->trunk[0], up = digit[UP], down = sibling(up, digit[DOWN], trunk);
    uint32_t pod[2] = {leaf[0] / c->pod_leaves, leaf[1] / c->pod_leaves};
    route_way_push(way, c->up + 2 * ((network * c->leaves + leaf[0]) * c->leaf_up + up));
    if (pod[0] != pod[1]) {
        uint32_t spines = network * c->spines + up / trunk;
        uint32_t core = digit[CORE], core_down = sibling(core, digit[CORE_DOWN], c->trunk[1]);
        uint32_t from = spines + pod[0] * c->pod_spines, to = spines + pod[1] * c->pod_spines;
        route_way_push(way, c->core + 2 * (from * c->spine_up + core));
        route_way_push(way, c->core + 2 * (to * c->spine_up + core_down) + 1);
    }
    route_way_push(way, c->up + 2 * ((network * c->leaves + leaf[1]) * c->leaf_up + down) + 1);
}

static bool find_leaves(const clos_pair *p, const uint32_t digit[DIGITS], uint32_t nic[2],
                        uint32_t leaf[2])
{
    const weir_topology *t = p->router->topology;
    const clos_shape *c = &t->clos;
    uint32_t count;
    nic[0] = node_nics(t, p->from, &count) + digit[SLOT];
    nic[1] = node_nics(t, p->to, &count);
    nic[1] += (digit[SLOT] + digit[OTHER_SLOT]) % count;
    leaf[0] = clos_place(c, nic[0]) / c->leaf_down;
    leaf[1] = clos_place(c, nic[1]) / c->leaf_down;
    return clos_network(c, nic[0], digit[PLANE]) == clos_network(c, nic[1], digit[PLANE]);
}

static bool make_way(const void *context, uint64_t index, route_way *way)
{
    const clos_pair *p = context;
    const weir_topology *t = p->router->topology;
    const clos_shape *c = &t->clos;
    uint32_t digit[DIGITS], nic[2], leaf[2];
    digits_of(p, index, digit);
    uint32_t plane = digit[PLANE];
    if (!find_leaves(p, digit, nic, leaf)) {
        return false;
    }
    route_way_push(way, node_pcie_link(t, p->from, nic[0]));
    if (nic[0] != nic[1]) { /* devices that share a NIC meet there */
        route_way_push(way, c->port + 2 * (nic[0] * c->planes + plane));
        if (leaf[0] != leaf[1]) {
            push_tree(c, leaf, clos_network(c, nic[0], plane), digit, way);
        }
        route_way_push(way, c->port + 2 * (nic[1] * c->planes + plane) + 1);
    }
    weir_link_id pcie = node_pcie_link(t, p->to, nic[1]);
    route_way_push(way, pcie == WEIR_NONE ? pcie : pcie + 1);
    return true;
}

/* Leaves are compared for the first NIC and plane: other NICs of a device may sit on other leaves,
 * but their ways then differ in the same digits. */
static void set_widths(clos_pair *p)
{
    const weir_topology *t = p->router->topology;
    const clos_shape *c = &t->clos;
    uint32_t count, deepest = 0;
    uint32_t first[2] = {node_nics(t, p->from, &count), node_nics(t, p->to, &count)};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = clos_place(c, first[0] + i) / c->leaf_down;
        uint32_t b = clos_place(c, first[1] + i) / c->leaf_down;
        uint32_t depth = a == b ? 0 : a / c->pod_leaves == b / c->pod_leaves ? 1 : 2;
        deepest = depth > deepest ? depth : deepest;
    }
    for (int i = 0; i < DIGITS; i++) {
        p->width[i] = 1;
    }
    p->width[SLOT] = count;
    p->width[PLANE] = c->planes;
    if (p->router->dead_count && c->wiring != WEIR_CLOS_RAIL_ONLY) {
        p->width[OTHER_SLOT] = count;
        deepest = count > 1 ? c->tiers - 1 : deepest;
    }
    if (deepest > 0) {
        p->width[UP] = c->leaf_up;
        p->width[DOWN] = c->trunk[0];
    }
    if (deepest > 1) {
        p->width[CORE] = c->spine_up;
        p->width[CORE_DOWN] = c->trunk[1];
    }
}

/* --- all ways ---
 *
 * Usual ways of one port and one uplink differ in their two core links only: each of the others is
 * added once, with the number of ways that are alive. Links come in the order in which going
 * through the ways one by one would first meet them. */

struct clos_stem {
    route_way way;         /* over one of the cores */
    uint32_t core;         /* where in the way its core links stand; 0: it has none */
    weir_link_id first[2]; /* to and from core 0 */
    double ways;           /* alive */
    double core_s[2]; /* latencies of the core links that were met last; so much in all is noted */
    bool is_cut;      /* no way of it is alive */
};

static void make_stem(const clos_pair *p, uint64_t number, clos_stem *stem)
{
    const weir_topology *t = p->router->topology;
    uint32_t digit[DIGITS], nic[2], leaf[2];
    *stem = (clos_stem){.core = 0};
    digits_of(p, number, digit);
    if (!make_way(p, number, &stem->way)) {
        stem->is_cut = true;
        return;
    }
    (void)find_leaves(p, digit, nic, leaf);
    if (nic[0] != nic[1] && leaf[0] / t->clos.pod_leaves != leaf[1] / t->clos.pod_leaves) {
        stem->core = node_pcie_link(t, p->from, nic[0]) == WEIR_NONE ? 2 : 3;
        stem->first[0] = stem->way.links[stem->core];
        stem->first[1] = stem->way.links[stem->core + 1];
    }
    for (uint32_t i = 0; i < stem->way.count; i++) {
        bool is_core = stem->core && (i == stem->core || i == stem->core + 1);
        stem->is_cut |= !is_core && p->router->dead[stem->way.links[i]];
    }
}

/* The slowest way sets the pace: links of one latency are looked at once. */
static void note_latency(weir_router *r, clos_stem *stem)
{
    const weir_net *net = weir_topology_net(r->topology);
    double up_s = weir_net_latency_s(net, stem->way.links[stem->core]);
    double down_s = weir_net_latency_s(net, stem->way.links[stem->core + 1]);
    if (up_s < stem->core_s[0] || up_s > stem->core_s[0] || down_s < stem->core_s[1] ||
        down_s > stem->core_s[1]) {
        double latency_s = weir_net_route_latency_s(net, stem->way.links, stem->way.count);
        r->leg_s = latency_s > r->leg_s ? latency_s : r->leg_s;
    }
    stem->core_s[0] = up_s;
    stem->core_s[1] = down_s;
}

/* The way of a stem over one core. */
static weir_code add_core(weir_router *r, clos_stem *stem, uint32_t core, weir_err *err)
{
    weir_link_id *links = &stem->way.links[stem->core];
    if (stem->core) {
        links[0] = stem->first[0] + 2 * core;
        links[1] = stem->first[1] + 2 * core;
        if (r->dead_count && (r->dead[links[0]] || r->dead[links[1]])) {
            return WEIR_OK;
        }
    }
    weir_code code = WEIR_OK;
    if (stem->ways == 0) {
        code = route_add_way(r, &stem->way, err);
    } else {
        r->leg_weight += 1;
        if (stem->core) {
            note_latency(r, stem);
            code = route_add(r, links[0], 1, err);
            code = code == WEIR_OK ? route_add(r, links[1], 1, err) : code;
        }
    }
    stem->ways += 1;
    return code;
}

static weir_code take_usual(weir_router *r, const clos_pair *p, weir_err *err)
{
    uint32_t count = p->width[SLOT] * p->width[PLANE] * p->width[UP];
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < count; i++) {
        if (!weir_grow(&r->stems, i, &r->stem_room, sizeof *r->stems)) {
            return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u ways", count);
        }
        make_stem(p, i, &r->stems[i]);
    }
    for (uint32_t core = 0; core < p->width[CORE]; core++) {
        for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
            code = r->stems[i].is_cut ? code : add_core(r, &r->stems[i], core, err);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const clos_stem *stem = &r->stems[i];
        for (uint32_t k = 0; k < stem->way.count && stem->ways > 1 && code == WEIR_OK; k++) {
            bool is_core = stem->core && (k == stem->core || k == stem->core + 1);
            code = is_core ? code : route_add(r, stem->way.links[k], stem->ways - 1, err);
        }
    }
    return code;
}

/* --- a leg --- */

static weir_code take_hashed(weir_router *r, const clos_pair *p, const route_ways *ways,
                             uint64_t flow, weir_err *err)
{
    uint32_t pairs = r->routing.queue_pairs, ports = p->width[SLOT] * p->width[PLANE];
    weir_code code = WEIR_OK;
    for (uint32_t q = 0; q < pairs && code == WEIR_OK; q++) {
        uint64_t h = ecmp_hash(flow * pairs + q, r->routing.seed), more = ecmp_mix(h);
        /* Queue pairs are dealt out over ports in turn, as NCCL does, and hashed from there on. */
        uint32_t port = (uint32_t)((ecmp_hash(flow, ~r->routing.seed) + q) % ports);
        const uint32_t digit[DIGITS] = {
            port % p->width[SLOT],
            port / p->width[SLOT],
            (uint32_t)(h % p->width[UP]),
            (uint32_t)((h >> 32) % p->width[CORE]),
            0,
            (uint32_t)(more % p->width[DOWN]),
            (uint32_t)((more >> 32) % p->width[CORE_DOWN]),
        };
        code = route_take_one(r, ways, number_of(p, digit), more, err);
    }
    return code;
}

static weir_code take_fixed(weir_router *r, const clos_pair *p, const route_ways *ways,
                            weir_err *err)
{
    const weir_topology *t = r->topology;
    uint32_t count, first = node_nics(t, p->to, &count);
    uint32_t ports = p->width[SLOT] * p->width[PLANE];
    weir_code code = WEIR_OK;
    for (uint32_t port = 0; port < ports && code == WEIR_OK; port++) {
        uint32_t slot = port % p->width[SLOT];
        uint32_t d = clos_place(&t->clos, first + slot);
        const uint32_t digit[DIGITS] = {slot, port / p->width[SLOT], d % p->width[UP],
                                        d / p->width[UP] % p->width[CORE]};
        code = route_take_one(r, ways, number_of(p, digit), d, err);
    }
    return code;
}

weir_code route_clos(weir_router *r, uint32_t from, uint32_t to, uint64_t flow, weir_err *err)
{
    clos_pair p = {.router = r, .from = from, .to = to};
    set_widths(&p);
    route_ways ways = {r, from, to, 1, 1, make_way, &p};
    for (int i = 0; i < DIGITS; i++) {
        ways.all *= p.width[i];
        ways.usual *= i < OTHER_SLOT ? p.width[i] : 1;
    }
    switch (r->routing.choice) {
    case WEIR_ROUTE_ECMP:
        return take_hashed(r, &p, &ways, flow, err);
    case WEIR_ROUTE_FIXED:
        return take_fixed(r, &p, &ways, err);
    case WEIR_ROUTE_SPRAY:
        break;
    }
    weir_code code = p.width[CORE] > 1 ? take_usual(r, &p, err) : WEIR_OK;
    return code == WEIR_OK && r->leg_weight == 0 ? route_take_all(r, &ways, err) : code;
}
