#include "fabric/topology_inside.h"

#include <math.h>

enum { MOST_PORTS = 1 << 16, MOST_PLANES = 64, MOST_CABLES = 1 << 29 };

static const char *const switch_names[] = {"leaf", "spine", "core"};

/* The most ports down, with a whole number of them up, so that down / up has the right bandwidth
 * and both fit the radix. ratio: oversubscription x bandwidth of an uplink / of a downlink. */
static bool split_ports(uint32_t radix, double ratio, uint32_t *down, uint32_t *up)
{
    for (uint32_t d = radix; d > 0; d--) {
        double u = d / ratio;
        double whole = nearbyint(u);
        if (whole >= 1 && fabs(u - whole) <= 1e-9 * u && d + whole <= radix) {
            *down = d;
            *up = (uint32_t)whole;
            return true;
        }
    }
    return false;
}

static weir_code split_tier(const weir_clos *clos, uint32_t tier, const double bytes_per_s[3],
                            uint32_t ports[2], weir_err *err)
{
    if (clos->radix[tier] == 0 || clos->radix[tier] > MOST_PORTS) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a %s with %u ports; it needs a radix of 2 to %d",
                            switch_names[tier], clos->radix[tier], MOST_PORTS);
    }
    if (tier + 1 == clos->tiers) {
        ports[0] = clos->radix[tier];
        ports[1] = 0;
        return WEIR_OK;
    }
    double over = clos->oversubscription[tier] == 0 ? 1 : clos->oversubscription[tier];
    if (!(over > 0) || isinf(over)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a %s with an oversubscription of %g; it must be above 0 (1: none)",
                            switch_names[tier], over);
    }
    /* Equal ones may be infinite. */
    double ratio = bytes_per_s[tier + 1] == bytes_per_s[tier]
                       ? over
                       : over * bytes_per_s[tier + 1] / bytes_per_s[tier];
    if (!split_ports(clos->radix[tier], ratio, &ports[0], &ports[1])) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a %s with %u ports cannot have %g ports down for each one up, which "
                            "an oversubscription of %g needs; more ports, or less of it",
                            switch_names[tier], clos->radix[tier], ratio, over);
    }
    return WEIR_OK;
}

/* The widest trunk that divides the uplinks and leaves a port for each of `below` switches. */
static weir_code choose_trunk(const weir_clos *clos, uint32_t tier, uint32_t up, uint32_t below,
                              uint32_t *trunk, weir_err *err)
{
    uint32_t radix = clos->radix[tier + 1], asked = clos->trunk[tier];
    if (asked && up % asked != 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u cables from each %s to each %s; it must divide the %u uplinks",
                            asked, switch_names[tier], switch_names[tier + 1], up);
    }
    for (uint32_t t = asked ? asked : up; t > 0; t--) {
        if (up % t == 0 && (uint64_t)t * below <= radix) {
            *trunk = t;
            return WEIR_OK;
        }
        if (asked) {
            break;
        }
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%u switches of the tier below need a %s with %llu ports; it has %u: a "
                        "larger radix, another tier, or more oversubscription",
                        below, switch_names[tier + 1],
                        (unsigned long long)below * (asked ? asked : 1), radix);
}

static void take_cables(const weir_clos *clos, double bytes_per_s[3])
{
    double last = 0;
    for (int i = 0; i < 3; i++) {
        bytes_per_s[i] = clos->cable[i].bytes_per_s == 0 ? last : clos->cable[i].bytes_per_s;
        last = bytes_per_s[i];
    }
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Leaves of one network, from the nodes and the ports that point down. */
static void count_leaves(clos_shape *c, uint32_t nodes)
{
    if (c->wiring == WEIR_CLOS_PLAIN) {
        c->leaves = divide_up(nodes * c->nics, c->leaf_down);
    } else {
        c->leaves = divide_up(nodes, c->leaf_down) * (c->wiring == WEIR_CLOS_RAILS ? c->nics : 1);
    }
}

/* --- fitted: ports for what is attached, not for what a full tree could take --- */

/* Of `all` things in bins of `room`: how many in each if they are spread evenly over as few bins,
 * in whole sets; where whole sets need more bins, one is filled after the other. */
static uint32_t spread(uint32_t all, uint32_t room, uint32_t set)
{
    uint32_t whole = room - room % set;
    if (all <= room || whole == 0 || divide_up(all, whole) > divide_up(all, room)) {
        return all > 0 && all < room ? all : room;
    }
    uint32_t each = divide_up(all, divide_up(all, whole));
    return divide_up(each, set) * set;
}

/* Uplinks for the downlinks that are in use, in the proportion of a full switch; in whole trunks
 * where their width is asked for and the ports allow it. */
static uint32_t fit_uplinks(const weir_clos *clos, uint32_t tier, uint32_t used,
                            const uint32_t ports[2])
{
    uint32_t up = (uint32_t)(((uint64_t)used * ports[1] + ports[0] - 1) / ports[0]);
    uint32_t trunk = clos->trunk[tier] ? clos->trunk[tier] : 1;
    uint64_t whole = (uint64_t)divide_up(up, trunk) * trunk;
    return whole + used <= clos->radix[tier] ? (uint32_t)whole : up;
}

/* The fewest switches above, then the fewest uplinks, which become whole trunks. room: for uplinks;
 * radix: ports of a switch above, for `below` switches. */
static bool fit_trunk(uint32_t room, uint32_t below, uint32_t radix, uint32_t *up, uint32_t *trunk)
{
    for (uint32_t switches = 1; switches <= *up; switches++) {
        uint32_t width = divide_up(*up, switches);
        if ((uint64_t)width * below <= radix && (uint64_t)width * switches <= room) {
            *up = width * switches;
            *trunk = width;
            return true;
        }
    }
    return false;
}

static void fit_leaves(clos_shape *c, const weir_clos *clos, uint32_t nodes)
{
    const uint32_t ports[2] = {c->leaf_down, c->leaf_up};
    bool is_plain = c->wiring == WEIR_CLOS_PLAIN;
    c->leaf_down = spread(is_plain ? nodes * c->nics : nodes, c->leaf_down, is_plain ? c->nics : 1);
    c->leaf_up = c->tiers > 1 ? fit_uplinks(clos, 0, c->leaf_down, ports) : 0;
}

static void fit_spines(clos_shape *c, const weir_clos *clos)
{
    const uint32_t ports[2] = {c->spine_down, c->spine_up};
    bool has_rails = c->wiring == WEIR_CLOS_RAILS;
    c->pod_leaves = spread(c->leaves, c->pod_leaves, has_rails ? c->nics : 1);
    c->spine_down = c->pod_leaves * c->trunk[0];
    c->spine_up = fit_uplinks(clos, 1, c->spine_down, ports);
}

/* Cables from each switch of a tier to each of the `below`'s next one; uplinks may become more. */
static weir_code take_trunk(const weir_clos *clos, uint32_t tier, uint32_t used, uint32_t below,
                            uint32_t *up, uint32_t *trunk, weir_err *err)
{
    bool is_fitted = clos->is_fitted && clos->trunk[tier] == 0 &&
                     fit_trunk(clos->radix[tier] - used, below, clos->radix[tier + 1], up, trunk);
    return is_fitted ? WEIR_OK : choose_trunk(clos, tier, *up, below, trunk, err);
}

/* --- tiers above leaves --- */

/* Wider trunks make smaller pods, which is worth it only where one pod is enough. */
static uint32_t pod_trunk(const clos_shape *c)
{
    for (uint32_t trunk = c->leaf_up; trunk > 1; trunk--) {
        if (c->leaf_up % trunk == 0 && c->spine_down % trunk == 0 &&
            (uint64_t)trunk * c->leaves <= c->spine_down) {
            return trunk;
        }
    }
    return 1;
}

static weir_code shape_pods(clos_shape *c, const weir_clos *clos, weir_err *err)
{
    uint32_t trunk = clos->trunk[0] ? clos->trunk[0] : pod_trunk(c);
    bool is_fitted =
        clos->is_fitted && clos->trunk[0] == 0 &&
        fit_trunk(clos->radix[0] - c->leaf_down, c->leaves, c->spine_down, &c->leaf_up, &trunk);
    if (!is_fitted && (c->leaf_up % trunk != 0 || c->spine_down % trunk != 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u cables from each leaf to each spine; it must divide the %u uplinks "
                            "of a leaf and the %u downlinks of a spine",
                            trunk, c->leaf_up, c->spine_down);
    }
    c->trunk[0] = trunk;
    c->pod_leaves = c->spine_down / trunk;
    if (c->wiring == WEIR_CLOS_RAILS && c->leaves > c->pod_leaves && c->pod_leaves % c->nics != 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "pods of %u leaves cannot hold whole groups of %u rails; the downlinks "
                            "of a spine must be a multiple of the rails",
                            c->pod_leaves, c->nics);
    }
    if (clos->is_fitted) {
        fit_spines(c, clos);
    }
    c->pods = divide_up(c->leaves, c->pod_leaves);
    c->pod_spines = c->leaf_up / trunk;
    weir_code code = take_trunk(clos, 1, c->spine_down, c->pods, &c->spine_up, &c->trunk[1], err);
    if (code == WEIR_OK) { /* so pods are not more than ports: no product overflows */
        c->spines = c->pods * c->pod_spines;
        c->cores = c->pod_spines * (c->spine_up / c->trunk[1]);
    }
    return code;
}

static weir_code shape_upper(clos_shape *c, const weir_clos *clos, weir_err *err)
{
    c->pods = 1;
    c->pod_leaves = c->leaves;
    if (c->tiers == 3) {
        return shape_pods(c, clos, err);
    }
    if (c->tiers == 2) {
        weir_code code =
            take_trunk(clos, 0, c->leaf_down, c->leaves, &c->leaf_up, &c->trunk[0], err);
        if (code == WEIR_OK) {
            c->pod_spines = c->leaf_up / c->trunk[0];
            c->spines = c->pod_spines;
        }
        return code;
    }
    if (c->leaves > 1) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "one tier of %u leaves with %u ports, which nothing joins; a larger "
                            "radix, a second tier, or rails only",
                            c->leaves, c->leaf_down);
    }
    return WEIR_OK;
}

/* Nothing that is counted or multiplied below leaves 32 bits. */
static bool is_small(const clos_shape *c, uint32_t nodes)
{
    uint64_t leaves = (uint64_t)c->networks * c->leaves, spines = (uint64_t)c->networks * c->spines;
    return (uint64_t)nodes * c->nics * c->planes <= MOST_CABLES && leaves <= MOST_CABLES &&
           leaves * c->leaf_up <= MOST_CABLES && spines <= MOST_CABLES &&
           spines * c->spine_up <= MOST_CABLES;
}

weir_code shape_clos(weir_topology *t, const weir_clos *clos,
                     uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    clos_shape *c = &t->clos;
    double bytes_per_s[3];
    take_cables(clos, bytes_per_s);
    if (clos->tiers < 1 || clos->tiers > 3) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a Clos network of %u tiers; 1, 2 or 3",
                            clos->tiers);
    }
    if (clos->planes > MOST_PLANES || (uint64_t)t->node.nics * MOST_PLANES > MOST_CABLES) {
        return weir_err_set(err, WEIR_ERR_LIMIT,
                            "%u planes and %u NICs in each node; at most %d and %d", clos->planes,
                            t->node.nics, MOST_PLANES, MOST_CABLES / MOST_PLANES);
    }
    for (uint32_t i = 0; i < clos->tiers; i++) {
        if (!(bytes_per_s[i] > 0)) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "cables below a %s carry %g bytes/s; it must be more than 0",
                                switch_names[i], bytes_per_s[i]);
        }
    }
    uint32_t ports[3][2] = {{0}};
    for (uint32_t i = 0; i < clos->tiers; i++) {
        weir_code code = split_tier(clos, i, bytes_per_s, ports[i], err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    c->wiring = clos->wiring;
    c->tiers = clos->tiers;
    c->planes = clos->planes ? clos->planes : 1;
    c->nics = t->node.nics;
    c->networks = c->planes * (clos->wiring == WEIR_CLOS_RAIL_ONLY ? c->nics : 1);
    c->leaf_down = ports[0][0];
    c->leaf_up = ports[0][1];
    c->spine_down = ports[1][0];
    c->spine_up = ports[1][1];
    uint32_t nodes = counts[WEIR_VERTEX_DEVICE] / t->node.devices;
    if (clos->is_fitted) {
        fit_leaves(c, clos, nodes);
    }
    count_leaves(c, nodes);
    weir_code code = shape_upper(c, clos, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (!is_small(c, nodes)) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "a Clos network with over %d cables", MOST_CABLES);
    }
    counts[WEIR_VERTEX_LEAF] = c->networks * c->leaves;
    counts[WEIR_VERTEX_SPINE] = c->networks * c->spines;
    counts[WEIR_VERTEX_CORE] = c->networks * c->cores;
    return WEIR_OK;
}

uint32_t clos_place(const clos_shape *c, uint32_t nic)
{
    uint32_t node = nic / c->nics, rail = nic % c->nics;
    switch (c->wiring) {
    case WEIR_CLOS_RAILS:
        return (node / c->leaf_down * c->nics + rail) * c->leaf_down + node % c->leaf_down;
    case WEIR_CLOS_RAIL_ONLY:
        return node;
    case WEIR_CLOS_PLAIN:
        break;
    }
    return nic;
}

uint32_t clos_network(const clos_shape *c, uint32_t nic, uint32_t plane)
{
    return c->wiring == WEIR_CLOS_RAIL_ONLY ? nic % c->nics * c->planes + plane : plane;
}

static weir_code lay_ports(weir_topology *t, const weir_listed_cable *how, uint32_t nics,
                           weir_err *err)
{
    const clos_shape *c = &t->clos;
    for (uint32_t nic = 0; nic < nics; nic++) {
        for (uint32_t plane = 0; plane < c->planes; plane++) {
            uint32_t leaf =
                clos_network(c, nic, plane) * c->leaves + clos_place(c, nic) / c->leaf_down;
            weir_code code = topology_cable(t, node_port_vertex(t, nic),
                                            t->first_vertex[WEIR_VERTEX_LEAF] + leaf, how, err);
            if (code != WEIR_OK) {
                return code;
            }
        }
    }
    return WEIR_OK;
}

static weir_code lay_uplinks(weir_topology *t, const weir_listed_cable *how, weir_err *err)
{
    const clos_shape *c = &t->clos;
    for (uint32_t i = 0; i < c->networks * c->leaves; i++) {
        uint32_t network = i / c->leaves, pod = i % c->leaves / c->pod_leaves;
        for (uint32_t j = 0; j < c->leaf_up; j++) {
            uint32_t spine = network * c->spines + pod * c->pod_spines + j / c->trunk[0];
            weir_code code = topology_cable(t, t->first_vertex[WEIR_VERTEX_LEAF] + i,
                                            t->first_vertex[WEIR_VERTEX_SPINE] + spine, how, err);
            if (code != WEIR_OK) {
                return code;
            }
        }
    }
    return WEIR_OK;
}

static weir_code lay_cores(weir_topology *t, const weir_listed_cable *how, weir_err *err)
{
    const clos_shape *c = &t->clos;
    for (uint32_t i = 0; i < c->networks * c->spines; i++) {
        uint32_t network = i / c->spines, within = i % c->spines % c->pod_spines;
        for (uint32_t k = 0; k < c->spine_up; k++) {
            uint32_t core =
                network * c->cores + within * (c->spine_up / c->trunk[1]) + k / c->trunk[1];
            weir_code code = topology_cable(t, t->first_vertex[WEIR_VERTEX_SPINE] + i,
                                            t->first_vertex[WEIR_VERTEX_CORE] + core, how, err);
            if (code != WEIR_OK) {
                return code;
            }
        }
    }
    return WEIR_OK;
}

weir_code lay_clos(weir_topology *t, const weir_clos *clos, weir_err *err)
{
    static const weir_tier tiers[3] = {WEIR_TIER_BETWEEN_NODES, WEIR_TIER_BETWEEN_RACKS,
                                       WEIR_TIER_HALL};
    double bytes_per_s[3];
    take_cables(clos, bytes_per_s);
    weir_listed_cable how[3];
    for (int i = 0; i < 3; i++) {
        how[i] = (weir_listed_cable){.cable = clos->cable[i], .tier = tiers[i]};
        how[i].cable.bytes_per_s = bytes_per_s[i];
    }
    uint32_t nics = weir_topology_devices(t) / t->node.devices * t->node.nics;
    t->clos.port = t->count;
    weir_code code = lay_ports(t, &how[0], nics, err);
    t->clos.up = t->count;
    if (code == WEIR_OK && t->clos.tiers > 1) {
        code = lay_uplinks(t, &how[1], err);
    }
    t->clos.core = t->count;
    return code == WEIR_OK && t->clos.tiers > 2 ? lay_cores(t, &how[2], err) : code;
}
