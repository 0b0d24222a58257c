/* plan_switches.c: sums made in switches: inside the node (NVLS), in the network (SHARP).
 *
 * NVLS, g devices: each one fetches the sum of its g-th through the switch, for which all hand
 * theirs up, and sends it to all at once: S + S/g bytes up and down (NCCL, device/all_reduce.h).
 * SHARP: leaf and spine hand on one sum for all that is below them: the links are those of the
 * routes from all members to the first one, and back, each used once. */
#include "collective/plan_inside.h"

#include <stdlib.h>

/* The device's own link to the node's switch and the link of the next member from there. */
static weir_code load_switch(planner *p, uint32_t device, uint32_t next, const double bytes[2])
{
    weir_route route;
    weir_code code =
        weir_layout_find(p->layout, p->job->road, device, next, p->job->flow, &route, p->err);
    if (code != WEIR_OK) {
        return code;
    }
    if (route.path.count != 2) {
        return plan_refuse(p, "the devices of a node do not meet at one switch");
    }
    weir_link_id links[2] = {route.path.links[0], route.path.links[1]};
    bool is_up_first = weir_layout_link(p->layout, links[0]).from == device;
    code = plan_load_link(p, &p->drafts[0], links[is_up_first ? 0 : 1], bytes[0]);
    return code == WEIR_OK ? plan_load_link(p, &p->drafts[0], links[is_up_first ? 1 : 0], bytes[1])
                           : code;
}

/* What the devices of each node hand up to its switch and get from it. */
static weir_code load_switches(planner *p)
{
    double bytes = p->job->bytes;
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < p->nodes; k++) {
        uint32_t c = plan_members_of(p, k);
        bool reduces = p->job->kind != WEIR_COLLECTIVE_ALL_GATHER;
        bool gathers = p->job->kind != WEIR_COLLECTIVE_REDUCE_SCATTER;
        double both[2] = {(reduces ? bytes : 0) + (gathers ? bytes / c : 0),
                          (gathers ? bytes : 0) + (reduces ? bytes / c : 0)};
        for (uint32_t i = 0; i < c && c > 1 && code == WEIR_OK; i++) {
            code = load_switch(p, plan_member(p, k, i), plan_member(p, k, i + 1), both);
        }
    }
    return code;
}

static bool is_half(weir_collective_kind kind)
{
    return kind == WEIR_COLLECTIVE_ALL_GATHER || kind == WEIR_COLLECTIVE_REDUCE_SCATTER;
}

weir_code plan_node_reduction(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    if (kind != WEIR_COLLECTIVE_ALL_REDUCE && !is_half(kind)) {
        return plan_refuse(p, "it does all_reduce, all_gather and reduce_scatter");
    }
    if (p->most < 2) {
        return plan_refuse(p, "the group has no two devices in one node");
    }
    weir_code code = load_switches(p);
    double share = p->job->bytes / p->least;
    if (p->nodes > 1 && code == WEIR_OK) {
        code = is_half(kind)
                   ? plan_load_rails(p, &p->drafts[0], share * (p->nodes - 1.0) / p->nodes)
                   : plan_load_trees(p, &p->drafts[0], p->job->bytes);
    }
    return code == WEIR_OK ? plan_round_of(p, p->nodes > 1 ? share : p->job->bytes, 1) : code;
}

/* --- in the network --- */

/* Raises what a link of a rail's tree carries to `bytes` x its share of the route. */
static weir_code cover_route(planner *p, const uint32_t pair[2], double bytes)
{
    weir_route route;
    plan_draft *rail = &p->drafts[1];
    weir_code code =
        weir_layout_find(p->layout, p->job->road, pair[0], pair[1], p->job->flow, &route, p->err);
    for (uint32_t i = 0; code == WEIR_OK && i < route.path.count; i++) {
        weir_link_id link = route.path.links[i];
        double share = route.path.bytes_per_unit ? route.path.bytes_per_unit[i] : 1;
        double carried = rail->bytes ? rail->bytes[link] : 0;
        code = plan_load_link(p, rail, link, share * bytes - carried);
    }
    return code;
}

/* Adds one way of a rail's tree to the body, and empties it for the next. */
static weir_code add_cover(planner *p)
{
    plan_draft *rail = &p->drafts[1];
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < rail->count && code == WEIR_OK; i++) {
        weir_link_id link = rail->touched[i];
        code = plan_load_link(p, &p->drafts[0], link, rail->bytes[link]);
        rail->bytes[link] = 0;
    }
    rail->count = 0;
    return code;
}

static weir_code load_reduction(planner *p, double bytes, bool is_down)
{
    weir_code code = WEIR_OK;
    for (uint32_t r = 0; r < p->least && code == WEIR_OK; r++) {
        uint32_t root = plan_member(p, 0, r);
        for (uint32_t k = 1; k < p->nodes && code == WEIR_OK; k++) {
            uint32_t member = plan_member(p, k, r);
            const uint32_t pair[2] = {is_down ? root : member, is_down ? member : root};
            code = cover_route(p, pair, bytes);
        }
        code = code == WEIR_OK ? add_cover(p) : code;
    }
    return code;
}

weir_code plan_network_reduction(planner *p)
{
    weir_collective_kind kind = p->job->kind;
    if (kind == WEIR_COLLECTIVE_ALL_TO_ALL || kind == WEIR_COLLECTIVE_SEND_RECV) {
        return plan_refuse(p, "it sums and copies");
    }
    if (p->nodes < 2) {
        return plan_refuse(p, "the group is in one node");
    }
    double bytes = p->job->bytes, share = bytes / p->least;
    weir_code code = WEIR_OK;
    if (is_half(kind)) {
        code = plan_load_rails(p, &p->drafts[0], share * (p->nodes - 1.0) / p->nodes);
    }
    if (kind == WEIR_COLLECTIVE_ALL_REDUCE || kind == WEIR_COLLECTIVE_REDUCE) {
        code = load_reduction(p, share, false);
    }
    if (code == WEIR_OK &&
        (kind == WEIR_COLLECTIVE_ALL_REDUCE || kind == WEIR_COLLECTIVE_BROADCAST)) {
        code = load_reduction(p, share, true);
    }
    double passes = kind == WEIR_COLLECTIVE_ALL_REDUCE ? 2 : 1;
    if (p->most > 1 && code == WEIR_OK) {
        code = p->job->has_node_reduction
                   ? load_switches(p)
                   : plan_load_nodes(p, &p->drafts[0], passes * bytes * (p->most - 1.0) / p->most);
    }
    return code == WEIR_OK ? plan_round_of(p, share, 1) : code;
}
