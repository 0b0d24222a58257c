/* plan_ring.c: rings and chains, as many side by side as there are NICs to use.
 *
 * Between nodes a ring goes along one rail: ring r leaves node k on rail r and node k + 1 on the
 * next rail, in turn, because who hands on inside a node is not who took in (NCCL's "alternating
 * rings"). Where the number of nodes is odd, one edge of each ring changes rails. Inside a node the
 * ring is a chain over all members. A broadcast or a reduce leaves the edge at the root out.
 *
 * Where devices are joined without switches each ring has a twin the other way round, if the way
 * back is as short everywhere: on a torus, or on circuits that come in pairs, not on those that go
 * one way. On a torus plan_torus.c uses all dimensions. Rings of a mesh: Walecki's decomposition of
 * the complete graph into Hamiltonian cycles (Alspach, The wonderful Walecki construction, 2008).
 */
#include "collective/plan_inside.h"

#include <math.h>
#include <stdlib.h>

/* 0, 1, -1, 2, -2, ... from start, modulo count. */
static uint32_t zigzag(uint32_t start, uint32_t i, uint32_t count)
{
    return (start + (i % 2 ? (i + 1) / 2 : count - i / 2)) % count;
}

/* The members of a node from `enter` to `leave`, which differ, all others between. */
static uint32_t *push_chain(const planner *p, uint32_t node, const uint32_t ends[2], uint32_t *at)
{
    uint32_t c = plan_members_of(p, node), enter = ends[0], leave = ends[1];
    if (c < 2) {
        *at++ = plan_member(p, node, 0);
        return at;
    }
    bool is_mesh = p->wiring == PLAN_WIRING_MESHED && c % 2 == 0 && leave == (enter + c / 2) % c;
    bool goes_down = leave == (enter + 1) % c;
    for (uint32_t i = 0; i < c; i++) {
        uint32_t member = is_mesh ? zigzag(enter, i, c) : (enter + (goes_down ? c - i : i)) % c;
        bool is_kept = is_mesh || goes_down || member != leave;
        if (is_kept) {
            *at++ = plan_member(p, node, member);
        }
    }
    if (!is_mesh && !goes_down) {
        *at++ = plan_member(p, node, leave);
    }
    return at;
}

/* The rail on which ring `ring` goes from node to the next. */
static uint32_t rail_of(const planner *p, uint32_t ring, uint32_t node)
{
    uint32_t shift = p->wiring == PLAN_WIRING_MESHED && p->least % 2 == 0 ? p->least / 2 : 1;
    return (ring + (node % 2 ? shift : 0)) % p->least;
}

static void over_nodes(const planner *p, uint32_t ring, uint32_t *sequence)
{
    uint32_t *at = sequence;
    for (uint32_t k = 0; k < p->nodes; k++) {
        uint32_t c = plan_members_of(p, k);
        uint32_t ends[2] = {rail_of(p, ring, (k + p->nodes - 1) % p->nodes), rail_of(p, ring, k)};
        if (c > 1 && ends[0] == ends[1]) {
            ends[0] = (ends[1] + 1) % c;
        }
        at = push_chain(p, k, ends, at);
    }
}

/* Rings that differ, without those the other way round. */
static uint32_t ring_count(const planner *p)
{
    if (p->nodes > 1 && p->least > 1) {
        return p->least;
    }
    bool is_mesh = p->nodes == 1 && p->wiring == PLAN_WIRING_MESHED && p->count > 2;
    return is_mesh ? 2 * ((p->count - 1) / 2) : 1;
}

static void fill_sequence(const planner *p, uint32_t ring, uint32_t *sequence)
{
    uint32_t n = p->count;
    if (p->nodes > 1 && p->least > 1) {
        over_nodes(p, ring, sequence);
        return;
    }
    bool is_mesh = p->nodes == 1 && p->wiring == PLAN_WIRING_MESHED && n > 2;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = i;
        if (is_mesh) {
            place = i + 1 < n ? zigzag(ring / 2, i, n - 1) : n - 1;
        }
        sequence[ring % 2 ? n - 1 - i : i] = p->order[place];
    }
}

/* Whether the ring's edge from one to another is left out: nothing comes back to the root of a
 * broadcast, nothing leaves that of a reduce. */
static bool is_open(const planner *p, uint32_t from, uint32_t to)
{
    uint32_t root = p->order[0];
    return (p->job->kind == WEIR_COLLECTIVE_BROADCAST && to == root) ||
           (p->job->kind == WEIR_COLLECTIVE_REDUCE && from == root);
}

/* --- the other way round --- */

/* Links a byte crosses between nodes; 0: it passes a switch, NAN: nothing joins the two directly.
 */
static weir_code direct_links(planner *p, uint32_t from, uint32_t to, double *links)
{
    weir_err err = {0};
    weir_route route;
    weir_code code = weir_layout_find(p->layout, p->job->road, from, to, 0, &route, &err);
    *links = code == WEIR_OK ? 0 : NAN;
    for (uint32_t i = 0; code == WEIR_OK && i < route.path.count; i++) {
        weir_link_id link = route.path.links[i];
        if (plan_link_tier(p, link) == WEIR_TIER_IN_NODE) {
            continue;
        }
        weir_vertex_kind end = weir_layout_ends(p->layout, link).to;
        if (end != WEIR_VERTEX_DEVICE && end != WEIR_VERTEX_NIC) {
            *links = 0;
            return WEIR_OK;
        }
        *links += route.path.bytes_per_unit ? route.path.bytes_per_unit[i] : 1;
    }
    return code == WEIR_OK || code == WEIR_ERR_INPUT ? WEIR_OK
                                                     : weir_err_set(p->err, code, "%s", err.text);
}

/* Whether the ring has a twin: all its edges between nodes are as short the other way. */
static weir_code find_twins(planner *p, const uint32_t *sequence, bool *has_twins)
{
    const weir_topology *t = weir_layout_topology(p->layout, p->job->road);
    uint32_t edges = 0;
    *has_twins = p->count > 2 && p->nodes == 1 && p->wiring == PLAN_WIRING_RING;
    for (uint32_t i = 0; i < p->count && p->nodes > 2; i++) {
        uint32_t from = sequence[i], to = sequence[(i + 1) % p->count];
        double there, back;
        if (p->nodes < p->count && weir_topology_node_of(t, from) == weir_topology_node_of(t, to)) {
            continue;
        }
        weir_code code = direct_links(p, from, to, &there);
        code = code == WEIR_OK ? direct_links(p, to, from, &back) : code;
        if (code == WEIR_OK && isnan(there) && isnan(back)) {
            continue; /* over a third device, both ways */
        }
        if (code != WEIR_OK || !(there > 0) || !(fabs(back - there) <= 1e-9 * there)) {
            return code;
        }
        edges++;
    }
    *has_twins |= edges > 0;
    return WEIR_OK;
}

static weir_code load_ring(planner *p, uint32_t ring, bool is_twin, uint32_t *sequence,
                           double bytes)
{
    weir_code code = WEIR_OK;
    fill_sequence(p, ring, sequence);
    for (uint32_t i = 0; i < p->count && code == WEIR_OK; i++) {
        const uint32_t ends[2] = {sequence[i], sequence[(i + 1) % p->count]};
        const uint32_t pair[2] = {ends[is_twin], ends[!is_twin]};
        if (!is_open(p, pair[0], pair[1])) {
            code = plan_load_rail(p, &p->drafts[0], pair, bytes);
        }
    }
    return code;
}

static weir_code load_rings(planner *p, uint32_t *sequence, double *bytes)
{
    uint32_t rings = ring_count(p);
    bool has_twins;
    fill_sequence(p, 0, sequence);
    weir_code code = find_twins(p, sequence, &has_twins);
    *bytes = p->job->bytes * weir_collective_bus_factor(p->job->kind, p->count) / rings /
             (has_twins ? 2 : 1);
    for (uint32_t r = 0; r < rings && code == WEIR_OK; r++) {
        code = load_ring(p, r, false, sequence, *bytes);
        if (code == WEIR_OK && has_twins) {
            code = load_ring(p, r, true, sequence, *bytes);
        }
    }
    return code;
}

weir_code plan_ring(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    if (kind == WEIR_COLLECTIVE_ALL_TO_ALL || kind == WEIR_COLLECTIVE_SEND_RECV) {
        return plan_refuse(p, "it passes everything on to everybody");
    }
    bool is_torus;
    weir_code code = plan_torus(p, &is_torus);
    if (code != WEIR_OK || is_torus) {
        return code;
    }
    double bytes;
    uint32_t *sequence = calloc(p->count, sizeof *sequence);
    if (!sequence) {
        return weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory for a ring of %u", p->count);
    }
    code = load_rings(p, sequence, &bytes);
    free(sequence);
    return code == WEIR_OK ? plan_round_of(p, bytes, 1) : code;
}
