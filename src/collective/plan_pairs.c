/* plan_pairs.c: independent messages, all at once: one body for each set of tiers that they cross.
 *
 * RAILS is what PXN does for an all-to-all, told in two steps (NVIDIA, Doubling all2all performance
 * with NCCL 2.12, 2022): over the links of the node to the device on the receiver's rail, then
 * along the rail; messages inside the node go beside the second step. */
#include "collective/plan_inside.h"

/* Few pairs are loaded faster than they are found to be regular. */
enum { SITES_FROM = 128 };

static weir_code load_all_pairs(planner *p, double bytes)
{
    bool is_done = false;
    weir_code code = p->count < SITES_FROM ? WEIR_OK : plan_load_sites(p, bytes, &is_done);
    if (code != WEIR_OK || is_done) {
        return code;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t j = 0; j < p->count && code == WEIR_OK; j++) {
            const uint32_t pair[2] = {p->order[i], p->order[j]};
            code = i == j ? code : plan_load_class(p, pair, bytes);
        }
    }
    return code;
}

static weir_code all_pairs_round(planner *p, double bytes)
{
    weir_code code = load_all_pairs(p, bytes);
    code = code == WEIR_OK ? plan_class_bodies(p, bytes) : code;
    return code == WEIR_OK ? plan_end_round(p, 1) : code;
}

/* The root sends to all, or gets from all. */
static weir_code star_round(planner *p, bool is_reduce)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 1; i < p->count && code == WEIR_OK; i++) {
        const uint32_t pair[2] = {p->order[is_reduce ? i : 0], p->order[is_reduce ? 0 : i]};
        code = plan_load_class(p, pair, p->job->bytes);
    }
    code = code == WEIR_OK ? plan_class_bodies(p, p->job->bytes) : code;
    return code == WEIR_OK ? plan_end_round(p, 1) : code;
}

static weir_code neighbours_round(planner *p)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < p->count && code == WEIR_OK; i++) {
        const uint32_t pair[2] = {p->job->members[i], p->job->members[(i + 1) % p->count]};
        code = plan_load_class(p, pair, p->job->bytes);
    }
    code = code == WEIR_OK ? plan_class_bodies(p, p->job->bytes) : code;
    return code == WEIR_OK ? plan_end_round(p, 1) : code;
}

weir_code plan_direct(planner *p)
{
    double part = p->job->bytes / p->count;
    weir_code code;
    switch (p->job->kind) {
    case WEIR_COLLECTIVE_SEND_RECV:
        return neighbours_round(p);
    case WEIR_COLLECTIVE_BROADCAST:
        return star_round(p, false);
    case WEIR_COLLECTIVE_REDUCE:
        return star_round(p, true);
    case WEIR_COLLECTIVE_ALL_REDUCE:
        code = all_pairs_round(p, part);
        return code == WEIR_OK ? all_pairs_round(p, part) : code;
    default:
        return all_pairs_round(p, part);
    }
}

/* Every member hands each other member of its node what is meant for that one's rail elsewhere. */
static weir_code forward_round(planner *p, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < p->nodes; k++) {
        for (uint32_t i = 0; i < p->least; i++) {
            for (uint32_t j = 0; j < p->least && code == WEIR_OK; j++) {
                const uint32_t pair[2] = {plan_member(p, k, i), plan_member(p, k, j)};
                code = plan_load(p, &p->drafts[0], pair, bytes);
            }
        }
    }
    return code == WEIR_OK ? plan_round_of(p, bytes, 1) : code;
}

static weir_code load_inside(planner *p, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < p->nodes; k++) {
        for (uint32_t i = 0; i < p->least; i++) {
            for (uint32_t j = 0; j < p->least && code == WEIR_OK; j++) {
                const uint32_t pair[2] = {plan_member(p, k, i), plan_member(p, k, j)};
                code = i == j ? code : plan_load_class(p, pair, bytes);
            }
        }
    }
    return code;
}

/* Along the rails, for all members of the own node; beside it, messages inside the node. */
static weir_code rail_round(planner *p, double bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t from = 0; from < p->nodes; from++) {
        for (uint32_t to = 0; to < p->nodes; to++) {
            for (uint32_t r = 0; r < p->least && code == WEIR_OK; r++) {
                const uint32_t pair[2] = {plan_member(p, from, r), plan_member(p, to, r)};
                code = from == to ? code : plan_load_class(p, pair, p->least * bytes);
            }
        }
    }
    code = code == WEIR_OK ? load_inside(p, bytes) : code;
    code = code == WEIR_OK ? plan_class_bodies(p, bytes) : code;
    return code == WEIR_OK ? plan_end_round(p, 1) : code;
}

weir_code plan_rails(planner *p)
{
    if (p->job->kind != WEIR_COLLECTIVE_ALL_TO_ALL) {
        return plan_refuse(p, "it does all_to_all");
    }
    if (p->least != p->most) {
        return plan_refuse(p, "it needs as many devices of the group in each node");
    }
    double bytes = p->job->bytes / p->count;
    weir_code code = WEIR_OK;
    if (p->least > 1 && p->nodes > 1) {
        code = forward_round(p, bytes * (p->nodes - 1));
    }
    return code == WEIR_OK ? rail_round(p, bytes) : code;
}
