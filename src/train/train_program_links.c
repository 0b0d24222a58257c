/* Links of devices that change while a step runs: a net of its own, on which a link carries a
 * second of an exchange in a second while nothing is wrong with it.
 *
 * Over such a link goes what of an exchange hangs on the rate of links of its kind (train_stage.h),
 * its NIC's and its node link's one behind the other; latency and what waits for other links does
 * not. So one bad link costs what it would if all of that kind were as bad, and no more.
 *
 * Each exchange has a link of its own at a device, and all of them change together: exchanges do
 * not slow each other down here, as they do not elsewhere. */
#include "train/train_program_inside.h"

#include <math.h>

/* Devices of the tensor and context ranks are one in a closed column; those that links name are
 * open. */
static uint32_t device_of(const draft *d, uint32_t rank)
{
    const weir_train_plan *plan = &d->play->job->plan;
    weir_train_place place = weir_train_place_of(plan, rank);
    uint32_t c = 0;
    while (c + 1 < d->column_count && d->columns[c].replica != place.data) {
        c++;
    }
    return draft_device(d, &d->columns[c], place.stage,
                        place.context * plan->tensor + place.tensor);
}

/* A dead link costs what one of half its rate does, until it is found that nothing goes on. */
weir_train_job draft_job_with_links(const weir_train_play *play)
{
    enum { DEAD = 2 };
    weir_train_job job = *play->job;
    for (uint32_t i = 0; i < play->link_count; i++) {
        const weir_train_link *link = &play->links[i];
        double *weakest = link->is_node_link ? &job.network.weak_node_link : &job.network.weak_nic;
        double share = link->share > 0 ? link->share : 1.0 / DEAD;
        *weakest = *weakest > 0 ? fmin(*weakest, share) : share;
    }
    return job;
}

/* By how much an exchange of that stage takes longer, over 1 / share - 1. */
static double part_of(const draft_exchange *exchange, uint32_t stage, bool is_node_link)
{
    const weir_wire_parts *parts = &exchange->parts[stage];
    bool is_there = !isnan(exchange->seconds[stage]);
    return !is_there ? 0 : is_node_link ? parts->node_link_s : parts->nic_s;
}

static bool hangs_on(const draft *d, const draft_exchange *exchange, bool is_node_link)
{
    bool any = false;
    for (uint32_t s = 0; s < d->stages && !any; s++) {
        any = part_of(exchange, s, is_node_link) > 0;
    }
    return any;
}

/* A link of its own for each exchange at it. */
static weir_code add_links(draft *d, uint32_t entry, weir_link_change *items, uint32_t *count,
                           weir_err *err)
{
    const weir_train_link *link = &d->play->links[entry];
    weir_code code = WEIR_OK;
    for (uint32_t e = 0; e < d->exchange_count && code == WEIR_OK; e++) {
        weir_link_id *id = &d->link_of[(size_t)entry * d->exchange_count + e];
        *id = WEIR_NONE;
        if (!hangs_on(d, &d->exchanges[e], link->is_node_link)) {
            continue;
        }
        code = weir_net_add(d->out->net, 1, 0, id, err);
        items[(*count)++] = (weir_link_change){*id, link->at_s, link->share};
        if (isfinite(link->until_s)) {
            items[(*count)++] = (weir_link_change){*id, link->until_s, 1};
        }
    }
    return code;
}

weir_code draft_links(draft *d, weir_err *err)
{
    const weir_train_play *play = d->play;
    size_t rows = (size_t)play->link_count * d->exchange_count;
    weir_link_changes *changes = weir_arena_alloc(d->arena, 1, sizeof *changes);
    weir_link_change *items = weir_arena_alloc(d->arena, 2 * rows + 1, sizeof *items);
    d->link_of = weir_arena_alloc(d->arena, rows + 1, sizeof *d->link_of);
    d->device_of_link =
        weir_arena_alloc(d->arena, (size_t)play->link_count + 1, sizeof *d->device_of_link);
    d->out->net = weir_net_new();
    if (!changes || !items || !d->link_of || !d->device_of_link || !d->out->net) {
        return DRAFT_NO_MEMORY(err);
    }
    uint32_t count = 0;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < play->link_count && code == WEIR_OK; i++) {
        d->device_of_link[i] = device_of(d, play->links[i].device);
        code = add_links(d, i, items, &count, err);
    }
    weir_net_seal(d->out->net);
    *changes = (weir_link_changes){items, count};
    d->out->spmd.net = d->out->net;
    d->out->spmd.changes = count ? changes : NULL;
    return code;
}

/* A plan that is being written. */
typedef struct {
    weir_plan plan;
    double left_s; /* of the exchange that no round has yet */
} over_links;

/* Changing links of that kind that a group has move what hangs on them, at once. */
static void add_round(const draft *d, const draft_group *group, bool is_node_link, over_links *out)
{
    const draft_exchange *exchange = group->exchange;
    size_t row = (size_t)(exchange - d->exchanges);
    double part_s = fmin(part_of(exchange, group->stage, is_node_link), out->left_s);
    weir_round round = {.first_body = out->plan.body_count, .alone_s = part_s};
    for (uint32_t i = 0; i < d->play->link_count && part_s > 0; i++) {
        bool is_member = false;
        for (uint32_t k = 0; k < group->count && !is_member; k++) {
            is_member = group->members[k] == d->device_of_link[i];
        }
        if (is_member && d->play->links[i].is_node_link == is_node_link) {
            weir_link_id *link = &d->link_of[i * (size_t)d->exchange_count + row];
            out->plan.bodies[out->plan.body_count++] =
                (weir_body){.path = {.count = 1, .links = link}, .size = part_s};
            out->plan.pace_link = *link;
        }
    }
    round.body_count = out->plan.body_count - round.first_body;
    if (round.body_count > 0) {
        out->plan.rounds[out->plan.round_count++] = round;
        out->left_s -= part_s;
    }
}

const weir_plan *draft_plan_over_links(draft *d, const draft_group *group, const weir_plan *alone)
{
    enum { ROUNDS = 3 };
    const weir_round *whole = &alone->rounds[0];
    over_links made = {.plan = *alone, .left_s = whole->latency_s + whole->alone_s};
    if (d->play->link_count == 0 || !(made.left_s > 0)) {
        return alone;
    }
    weir_plan *plan = weir_arena_alloc(d->arena, 1, sizeof *plan);
    made.plan.rounds = weir_arena_alloc(d->arena, ROUNDS, sizeof *made.plan.rounds);
    made.plan.bodies =
        weir_arena_alloc(d->arena, (size_t)d->play->link_count + 1, sizeof *made.plan.bodies);
    if (!plan || !made.plan.rounds || !made.plan.bodies) {
        return NULL;
    }
    made.plan.round_count = made.plan.body_count = 1; /* what no link holds up */
    add_round(d, group, false, &made);
    add_round(d, group, true, &made);
    if (made.plan.round_count == 1) {
        return alone;
    }
    double latency_s = fmin(whole->latency_s, made.left_s), rest_s = made.left_s - latency_s;
    made.plan.bodies[0] = (weir_body){.latency_s = rest_s};
    made.plan.rounds[0] = (weir_round){.body_count = 1, .latency_s = latency_s, .alone_s = rest_s};
    *plan = made.plan;
    return plan;
}
