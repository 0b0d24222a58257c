/* plan_load.c: bytes of a connection, on the links of its route. */
#include "collective/plan_inside.h"

#include "base/grow.h"
#include "fabric/ecmp.h"

#include <stdlib.h>

static weir_code no_memory(planner *p)
{
    return weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory to plan a collective of %u", p->count);
}

/* 1 + tier x 2 + whether it is the network's (PCIe of a NIC included). */
static uint8_t link_traits(planner *p, weir_link_id link)
{
    if (!p->known[link]) {
        weir_tier tier = weir_layout_tier(p->layout, link);
        bool is_network = tier != WEIR_TIER_IN_NODE;
        if (!is_network) {
            weir_link_ends ends = weir_layout_ends(p->layout, link);
            is_network = ends.from == WEIR_VERTEX_NIC || ends.to == WEIR_VERTEX_NIC;
        }
        p->known[link] = (uint8_t)(1 + 2 * tier + is_network);
    }
    return p->known[link];
}

weir_tier plan_link_tier(planner *p, weir_link_id link)
{
    return (weir_tier)((link_traits(p, link) - 1) / 2);
}

bool plan_link_is_network(planner *p, weir_link_id link)
{
    return (link_traits(p, link) - 1) % 2;
}

static weir_code draft_begin(planner *p, plan_draft *draft)
{
    if (!draft->bytes) {
        draft->bytes = calloc((size_t)weir_net_count(p->net) + 1, sizeof *draft->bytes);
    }
    return draft->bytes ? WEIR_OK : no_memory(p);
}

weir_code plan_load_link(planner *p, plan_draft *draft, weir_link_id link, double bytes)
{
    weir_code code = draft_begin(p, draft);
    if (code != WEIR_OK || !(bytes > 0)) {
        return code;
    }
    if (draft->bytes[link] == 0) {
        if (!weir_grow(&draft->touched, draft->count, &draft->room, sizeof *draft->touched)) {
            return no_memory(p);
        }
        draft->touched[draft->count++] = link;
    }
    draft->bytes[link] += bytes;
    return WEIR_OK;
}

static weir_code load_route(planner *p, plan_draft *draft, const weir_route *route, double bytes)
{
    weir_code code = draft_begin(p, draft);
    const double *shares = route->path.bytes_per_unit;
    for (uint32_t i = 0; i < route->path.count && code == WEIR_OK; i++) {
        weir_link_id link = route->path.links[i];
        double more = shares ? shares[i] * bytes : bytes, so_far = draft->bytes[link];
        if (so_far != 0) {
            draft->bytes[link] = so_far + more;
        } else {
            code = plan_load_link(p, draft, link, more);
        }
    }
    return code;
}

static weir_code find_route(planner *p, const uint32_t pair[2], weir_route *route, weir_err *err)
{
    uint64_t flow = ecmp_mix(p->job->flow) ^ ((uint64_t)pair[0] << 32 | pair[1]);
    return weir_layout_find(p->layout, p->job->road, pair[0], pair[1], flow, route, err);
}

weir_code plan_find(planner *p, const uint32_t pair[2], weir_route *route)
{
    return find_route(p, pair, route, p->err);
}

weir_code plan_load(planner *p, plan_draft *draft, const uint32_t pair[2], double bytes)
{
    if (pair[0] == pair[1] || !(bytes > 0)) {
        return WEIR_OK;
    }
    weir_route route;
    weir_code code = find_route(p, pair, &route, p->err);
    return code == WEIR_OK ? load_route(p, draft, &route, bytes) : code;
}

/* The device of `like`'s node that stands where `device` does in its own; device itself: none. */
static uint32_t counterpart(const planner *p, uint32_t device, uint32_t like)
{
    uint32_t at[2] = {0, 0}, node[2] = {0, 0};
    for (uint32_t k = 0; k < p->nodes; k++) {
        for (uint32_t i = 0; i < plan_members_of(p, k); i++) {
            uint32_t found = plan_member(p, k, i);
            for (uint32_t which = 0; which < 2; which++) {
                if (found == (which ? like : device)) {
                    at[which] = i;
                    node[which] = k;
                }
            }
        }
    }
    return at[0] < plan_members_of(p, node[1]) ? plan_member(p, node[1], at[0]) : device;
}

weir_code plan_load_rail(planner *p, plan_draft *draft, const uint32_t pair[2], double bytes)
{
    weir_err err = {0};
    weir_route route;
    if (pair[0] == pair[1] || !(bytes > 0)) {
        return WEIR_OK;
    }
    weir_code code = find_route(p, pair, &route, &err);
    if (code == WEIR_OK) {
        return load_route(p, draft, &route, bytes);
    }
    uint32_t through = code == WEIR_ERR_INPUT ? counterpart(p, pair[0], pair[1]) : pair[0];
    if (through == pair[0] || through == pair[1]) {
        return weir_err_set(p->err, code, "%s", err.text);
    }
    const uint32_t legs[2][2] = {{pair[0], through}, {through, pair[1]}};
    code = plan_load(p, draft, legs[0], bytes);
    return code == WEIR_OK ? plan_load(p, draft, legs[1], bytes) : code;
}

weir_code plan_load_class(planner *p, const uint32_t pair[2], double bytes)
{
    weir_route route;
    weir_code code = find_route(p, pair, &route, p->err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t tiers = 0;
    for (uint32_t i = 0; i < route.path.count; i++) {
        tiers |= 1u << plan_link_tier(p, route.path.links[i]);
    }
    return load_route(p, &p->drafts[tiers], &route, bytes);
}

weir_code plan_load_nodes(planner *p, plan_draft *draft, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < p->nodes; k++) {
        uint32_t c = plan_members_of(p, k);
        for (uint32_t i = 0; i < c && c > 1 && code == WEIR_OK; i++) {
            /* Steps ahead to the first and last one that gets a part, and how far apart. */
            uint32_t last = p->wiring == PLAN_WIRING_SWITCHED ? 1 : c - 1;
            uint32_t by = p->wiring == PLAN_WIRING_RING && c > 2 ? c - 2 : 1;
            double part = bytes / (p->wiring == PLAN_WIRING_MESHED ? c - 1 : last > 1 ? 2 : 1);
            for (uint32_t s = 1; s <= last && code == WEIR_OK; s += by) {
                const uint32_t pair[2] = {plan_member(p, k, i), plan_member(p, k, i + s)};
                code = plan_load(p, draft, pair, part);
            }
        }
    }
    return code;
}

weir_code plan_load_rails(planner *p, plan_draft *draft, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t r = 0; r < p->least && p->nodes > 1; r++) {
        for (uint32_t k = 0; k < p->nodes && code == WEIR_OK; k++) {
            const uint32_t pair[2] = {plan_member(p, k, r), plan_member(p, (k + 1) % p->nodes, r)};
            code = plan_load_rail(p, draft, pair, bytes);
        }
    }
    return code;
}
