/* plan_draft.c: bytes on links become bodies, bodies become rounds. */
#include "collective/plan_inside.h"

#include "base/grow.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weir_code no_memory(planner *p)
{
    return weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory to plan a collective of %u", p->count);
}

/* --- bodies --- */

/* Of the links inside nodes, and of the network's. */
static void find_efficiencies(const planner *p, double found[2])
{
    const weir_collective_choice *c = p->choice;
    double transport = p->job->transport_efficiency > 0 ? p->job->transport_efficiency : 1;
    found[0] = c->node_efficiency > 0 ? c->node_efficiency : 1;
    found[1] = c->network_efficiency * transport > 0 ? c->network_efficiency * transport : 1;
}

static bool sort_few(plan_draft *draft)
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

/* Touched links in order of their numbers; many of them by a mark for each link of the net. */
static bool sort_touched(const planner *p, plan_draft *draft)
{
    uint32_t words = weir_net_count(p->net) / 64 + 1, count = 0;
    if (draft->count < words) {
        return sort_few(draft);
    }
    uint64_t *marks = calloc(words, sizeof *marks);
    if (!marks) {
        return false;
    }
    for (uint32_t i = 0; i < draft->count; i++) {
        marks[draft->touched[i] / 64] |= (uint64_t)1 << draft->touched[i] % 64;
    }
    for (uint32_t w = 0; w < words; w++) {
        for (uint64_t left = marks[w]; left; left &= left - 1) {
            draft->touched[count++] = 64 * w + (uint32_t)__builtin_ctzll(left);
        }
    }
    free(marks);
    return true;
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
    if (!links || !amounts || !sort_touched(p, draft) ||
        !weir_grow(&plan->bodies, plan->body_count, &plan->body_room, sizeof *plan->bodies)) {
        return no_memory(p);
    }
    double efficiencies[2];
    find_efficiencies(p, efficiencies);
    for (uint32_t i = 0; i < draft->count; i++) {
        links[i] = draft->touched[i];
        amounts[i] =
            draft->bytes[links[i]] / unit_bytes / efficiencies[plan_link_is_network(p, links[i])];
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

/* The slowest link of a body that nobody else shares links with: seconds. */
static double find_slowest(const planner *p, const weir_body *body, weir_link_id *slowest)
{
    double most_s = 0;
    *slowest = body->path.count ? body->path.links[0] : WEIR_NONE;
    for (uint32_t i = 0; i < body->path.count; i++) {
        weir_link_id link = body->path.links[i];
        double s = body->size * body->path.bytes_per_unit[i] / weir_net_bytes_per_s(p->net, link);
        if (s > most_s) {
            most_s = s;
            *slowest = link;
        }
    }
    return most_s;
}

/* Bytes of the round's bodies by link, as seconds; the slowest link. Of several bodies. */
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
    *slowest = WEIR_NONE;
    if (round->body_count == 1) {
        round->alone_s = find_slowest(p, &p->plan.bodies[round->first_body], slowest);
        return WEIR_OK;
    }
    weir_code code = sum_links(p, round, slowest);
    if (code == WEIR_OK && round->body_count > 1) {
        code = play_round(p, round);
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
    weir_tier tier = plan_link_tier(p, slowest);
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
    find_slowest(p, body, &slowest);
    note_pace(p, slowest, more_s);
    return WEIR_OK;
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
