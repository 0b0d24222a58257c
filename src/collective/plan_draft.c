/* plan_draft.c: bytes on links become bodies, bodies become rounds. */
#include "collective/plan_inside.h"

#include "base/grow.h"
#include "base/sort.h"
#include "fabric/ecmp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weir_code no_memory(planner *p)
{
    return weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory to plan a collective of %u", p->count);
}

/* --- loading --- */

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
    for (uint32_t i = 0; i < route->path.count && code == WEIR_OK; i++) {
        weir_link_id link = route->path.links[i];
        double share = route->path.bytes_per_unit ? route->path.bytes_per_unit[i] : 1;
        if (draft->bytes[link] != 0) {
            draft->bytes[link] += share * bytes;
        } else {
            code = plan_load_link(p, draft, link, share * bytes);
        }
    }
    return code;
}

static weir_code find_route(planner *p, const uint32_t pair[2], weir_route *route, weir_err *err)
{
    uint64_t flow = ecmp_mix(p->job->flow) ^ ((uint64_t)pair[0] << 32 | pair[1]);
    return weir_layout_find(p->layout, p->job->road, pair[0], pair[1], flow, route, err);
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

/* 1 + tier x 2 + whether the network's efficiency holds there (PCIe of a NIC included). */
static uint8_t link_traits(planner *p, weir_link_id link)
{
    if (!p->known[link]) {
        const weir_topology *t = weir_layout_topology(p->layout, p->job->road);
        weir_link ends =
            weir_topology_link(t, link - weir_layout_first_link(p->layout, p->job->road));
        uint32_t number;
        bool is_network = ends.tier != WEIR_TIER_IN_NODE ||
                          weir_topology_vertex(t, ends.from, &number) == WEIR_VERTEX_NIC ||
                          weir_topology_vertex(t, ends.to, &number) == WEIR_VERTEX_NIC;
        p->known[link] = (uint8_t)(1 + 2 * ends.tier + is_network);
    }
    return p->known[link];
}

static weir_tier tier_of(planner *p, weir_link_id link)
{
    return (weir_tier)((link_traits(p, link) - 1) / 2);
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
        tiers |= 1u << tier_of(p, route.path.links[i]);
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

/* --- bodies --- */

static double efficiency(planner *p, weir_link_id link)
{
    const weir_collective_choice *c = p->choice;
    double transport = p->job->transport_efficiency > 0 ? p->job->transport_efficiency : 1;
    bool is_network = (link_traits(p, link) - 1) % 2;
    double found = is_network ? c->network_efficiency * transport : c->node_efficiency;
    return found > 0 ? found : 1;
}

/* Touched links in order of their numbers. */
static bool sort_touched(plan_draft *draft)
{
    weir_sort_pair *pairs = malloc((draft->count + (size_t)1) * sizeof *pairs);
    if (!pairs) {
        return false;
    }
    for (uint32_t i = 0; i < draft->count; i++) {
        pairs[i] = (weir_sort_pair){draft->touched[i], 0};
    }
    bool is_sorted = weir_sort_pairs(pairs, draft->count);
    for (uint32_t i = 0; i < draft->count && is_sorted; i++) {
        draft->touched[i] = (weir_link_id)pairs[i].key;
    }
    free(pairs);
    return is_sorted;
}

static void draft_empty(plan_draft *draft)
{
    for (uint32_t i = 0; i < draft->count; i++) {
        draft->bytes[draft->touched[i]] = 0;
    }
    draft->count = 0;
}

weir_code plan_body(planner *p, plan_draft *draft, double unit_bytes)
{
    if (draft->count == 0) {
        return WEIR_OK;
    }
    weir_plan *plan = &p->plan;
    weir_link_id *links = weir_arena_alloc(plan->arena, draft->count, sizeof *links);
    double *amounts = weir_arena_alloc(plan->arena, draft->count, sizeof *amounts);
    if (!links || !amounts || !sort_touched(draft) ||
        !weir_grow(&plan->bodies, plan->body_count, &plan->body_room, sizeof *plan->bodies)) {
        return no_memory(p);
    }
    for (uint32_t i = 0; i < draft->count; i++) {
        links[i] = draft->touched[i];
        amounts[i] = draft->bytes[links[i]] / unit_bytes / efficiency(p, links[i]);
    }
    plan->bodies[plan->body_count++] = (weir_body){
        .path = {.count = draft->count, .links = links, .bytes_per_unit = amounts},
        .size = unit_bytes,
    };
    draft_empty(draft);
    return WEIR_OK;
}

weir_code plan_class_bodies(planner *p, double unit_bytes)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < PLAN_DRAFTS && code == WEIR_OK; i++) {
        code = plan_body(p, &p->drafts[i], unit_bytes);
    }
    return code;
}

/* --- rounds --- */

/* Bytes of the round's bodies by link, as seconds; the slowest link. */
static weir_code sum_links(planner *p, const weir_round *round, weir_link_id *slowest)
{
    weir_code code = WEIR_OK;
    *slowest = WEIR_NONE;
    for (uint32_t b = 0; b < round->body_count; b++) {
        const weir_body *body = &p->plan.bodies[round->first_body + b];
        for (uint32_t i = 0; i < body->path.count && code == WEIR_OK; i++) {
            weir_link_id link = body->path.links[i];
            double rate = weir_net_bytes_per_s(p->net, link);
            double needed = body->size * body->path.bytes_per_unit[i];
            code = plan_load_link(p, &p->sums, link, needed / rate);
            if (*slowest == WEIR_NONE || p->sums.bytes[link] > p->sums.bytes[*slowest]) {
                *slowest = link;
            }
        }
    }
    return code;
}

/* A body on its links numbered 0 .. count - 1 of a net of its own: sums.bytes holds their places.
 */
static weir_code add_small(planner *p, const weir_body *body, weir_bodies *play)
{
    weir_link_id *links = calloc(body->path.count, sizeof *links);
    if (!links) {
        return no_memory(p);
    }
    weir_body small = *body;
    double *amounts = calloc(body->path.count, sizeof *amounts);
    small.path.count = 0;
    for (uint32_t i = 0; i < body->path.count && amounts; i++) {
        double place = p->sums.bytes[body->path.links[i]];
        if (place > 0) { /* else it never binds */
            links[small.path.count] = (weir_link_id)place - 1;
            amounts[small.path.count++] = body->path.bytes_per_unit[i];
        }
    }
    small.path.links = links;
    small.path.bytes_per_unit = amounts;
    weir_body_id id;
    weir_code code = amounts ? weir_bodies_add(play, &small, &id, p->err) : no_memory(p);
    free(amounts);
    free(links);
    return code;
}

static weir_code small_net(planner *p, weir_net **net)
{
    weir_net *made = weir_net_new();
    weir_code code = made ? WEIR_OK : no_memory(p);
    for (uint32_t i = 0; i < p->sums.count && code == WEIR_OK; i++) {
        weir_link_id link = p->sums.touched[i], number;
        code = weir_net_add(made, weir_net_bytes_per_s(p->net, link), 0, &number, p->err);
        p->sums.bytes[link] = i + 1.0;
    }
    if (code != WEIR_OK) {
        weir_net_free(made);
        return code;
    }
    weir_net_seal(made);
    *net = made;
    return WEIR_OK;
}

/* Independent bodies share links as the engine shares them, on a net of just these links. */
static weir_code play_round(planner *p, weir_round *round)
{
    weir_net *net = NULL;
    weir_bodies *play = NULL;
    weir_code code = small_net(p, &net);
    code = code == WEIR_OK ? weir_bodies_new(net, &play, p->err) : code;
    for (uint32_t b = 0; b < round->body_count && code == WEIR_OK; b++) {
        code = add_small(p, &p->plan.bodies[round->first_body + b], play);
    }
    code = code == WEIR_OK ? weir_bodies_run(play, p->err) : code;
    weir_body_end end;
    while (code == WEIR_OK && weir_bodies_take(play, &end)) {
        double end_s = end.stalled_by == WEIR_NONE ? end.end_s : INFINITY;
        round->alone_s = end_s > round->alone_s ? end_s : round->alone_s;
    }
    weir_bodies_free(play);
    weir_net_free(net);
    return code;
}

static weir_code time_round(planner *p, weir_round *round, weir_link_id *slowest)
{
    weir_code code = sum_links(p, round, slowest);
    if (code == WEIR_OK && round->body_count > 1) {
        code = play_round(p, round);
    } else if (code == WEIR_OK && *slowest != WEIR_NONE) {
        round->alone_s = p->sums.bytes[*slowest];
    }
    if (p->sums.bytes) {
        draft_empty(&p->sums);
    }
    return code;
}

static bool is_same_load(const weir_body *a, const weir_body *b)
{
    size_t n = a->path.count;
    return a->path.count == b->path.count &&
           memcmp(a->path.links, b->path.links, n * sizeof *a->path.links) == 0 &&
           memcmp(a->path.bytes_per_unit, b->path.bytes_per_unit,
                  n * sizeof *a->path.bytes_per_unit) == 0;
}

/* Notes the link that set the pace, for pace_tier. */
static void note_pace(planner *p, weir_link_id slowest, double alone_s)
{
    if (slowest == WEIR_NONE) {
        return;
    }
    weir_tier tier = tier_of(p, slowest);
    p->tier_s[tier] += alone_s;
    if (alone_s > p->tier_round_s[tier] || p->tier_round_s[tier] == 0) {
        p->tier_round_s[tier] = alone_s;
        p->tier_link[tier] = slowest;
    }
}

weir_code plan_end_round(planner *p, double steps)
{
    weir_plan *plan = &p->plan;
    uint32_t first = 0;
    if (plan->round_count) {
        const weir_round *last = &plan->rounds[plan->round_count - 1];
        first = last->first_body + last->body_count;
    }
    if (!weir_grow(&plan->rounds, plan->round_count, &plan->round_room, sizeof *plan->rounds)) {
        return no_memory(p);
    }
    weir_round *round = &plan->rounds[plan->round_count];
    *round = (weir_round){first, plan->body_count - first, steps, 0};
    weir_link_id slowest;
    weir_code code = time_round(p, round, &slowest);
    if (code == WEIR_OK) {
        note_pace(p, slowest, round->alone_s);
        plan->round_count++;
    }
    return code;
}

/* The body just made has the load of the round before: that round takes longer by as much. */
static bool is_again(const weir_plan *plan, double *size)
{
    if (plan->round_count == 0) {
        return false;
    }
    const weir_round *last = &plan->rounds[plan->round_count - 1];
    const weir_body *body = &plan->bodies[plan->body_count - 1];
    *size = body->size;
    return last->body_count == 1 && last->first_body + 2 == plan->body_count &&
           is_same_load(&plan->bodies[last->first_body], body);
}

weir_code plan_round_of(planner *p, double unit_bytes, double steps)
{
    weir_plan *plan = &p->plan;
    uint32_t before = plan->body_count;
    weir_code code = plan_body(p, &p->drafts[0], unit_bytes);
    if (code != WEIR_OK) {
        return code;
    }
    double size;
    if (plan->body_count == before || !is_again(plan, &size)) {
        return plan_end_round(p, steps);
    }
    weir_round *last = &plan->rounds[plan->round_count - 1];
    weir_body *body = &plan->bodies[last->first_body];
    double more_s = last->alone_s / body->size * size;
    body->size += size;
    last->alone_s += more_s;
    last->latency_s += steps;
    plan->body_count--;
    weir_link_id slowest;
    code = sum_links(p, last, &slowest);
    draft_empty(&p->sums);
    note_pace(p, slowest, more_s);
    return code;
}

weir_code plan_finish(planner *p)
{
    weir_plan *plan = &p->plan;
    double steps = 0;
    for (uint32_t i = 0; i < plan->round_count; i++) {
        steps += plan->rounds[i].latency_s;
    }
    for (uint32_t i = 0; i < plan->round_count; i++) {
        plan->rounds[i].latency_s *= p->choice->latency_s / steps;
    }
    plan->pace_link = WEIR_NONE;
    for (uint32_t tier = 0; tier < WEIR_TIER_COUNT; tier++) {
        if (p->tier_s[tier] > 0 &&
            (plan->pace_link == WEIR_NONE || p->tier_s[tier] > p->tier_s[plan->pace_tier])) {
            plan->pace_tier = (weir_tier)tier;
            plan->pace_link = p->tier_link[tier];
        }
    }
    return WEIR_OK;
}

void plan_drafts_free(planner *p)
{
    for (uint32_t i = 0; i < PLAN_DRAFTS; i++) {
        free(p->drafts[i].bytes);
        free(p->drafts[i].touched);
    }
    free(p->sums.bytes);
    free(p->sums.touched);
}
