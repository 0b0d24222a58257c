/* Links of devices that change while a step runs: a net of its own, on which a link carries a
 * second of an exchange in a second while nothing is wrong with it.
 *
 * Each axis has a link of its own at a device, and all of them change together: exchanges of
 * different axes do not slow each other down here, as they do not elsewhere. */
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

static bool uses(const draft *d, const weir_train_link *link, weir_train_axis axis)
{
    weir_axis_span span = weir_train_span(d->play->job, axis);
    return (span.nodes <= 1) == link->is_node_link;
}

weir_code draft_links(draft *d, weir_err *err)
{
    const weir_train_play *play = d->play;
    uint32_t rows = play->link_count * WEIR_AXIS_COUNT;
    weir_link_changes *changes = weir_arena_alloc(d->arena, 1, sizeof *changes);
    weir_link_change *items = weir_arena_alloc(d->arena, 2 * (size_t)rows + 1, sizeof *items);
    d->link_of = weir_arena_alloc(d->arena, (size_t)rows + 1, sizeof *d->link_of);
    d->device_of_link = weir_arena_alloc(d->arena, (size_t)rows + 1, sizeof *d->device_of_link);
    d->out->net = weir_net_new();
    if (!changes || !items || !d->link_of || !d->device_of_link || !d->out->net) {
        return DRAFT_NO_MEMORY(err);
    }
    uint32_t count = 0;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < rows && code == WEIR_OK; i++) {
        const weir_train_link *link = &play->links[i / WEIR_AXIS_COUNT];
        d->link_of[i] = WEIR_NONE;
        d->device_of_link[i] = device_of(d, link->device);
        if (!uses(d, link, (weir_train_axis)(i % WEIR_AXIS_COUNT))) {
            continue;
        }
        code = weir_net_add(d->out->net, 1, 0, &d->link_of[i], err);
        items[count++] = (weir_link_change){d->link_of[i], link->at_s, link->share};
        if (isfinite(link->until_s)) {
            items[count++] = (weir_link_change){d->link_of[i], link->until_s, 1};
        }
    }
    weir_net_seal(d->out->net);
    *changes = (weir_link_changes){items, count};
    d->out->spmd.net = d->out->net;
    d->out->spmd.changes = count ? changes : NULL;
    return code;
}

/* Links of changing devices that a group has. */
static uint32_t find_links(const draft *d, const draft_exchange *exchange, const uint32_t *members,
                           uint32_t count, weir_link_id *links)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < d->play->link_count; i++) {
        uint32_t row = i * WEIR_AXIS_COUNT + exchange->axis;
        for (uint32_t k = 0; k < count && d->link_of[row] != WEIR_NONE; k++) {
            if (members[k] == d->device_of_link[row]) {
                links[found++] = d->link_of[row];
                break;
            }
        }
    }
    return found;
}

const weir_plan *draft_plan_over_links(draft *d, const draft_exchange *exchange,
                                       const weir_plan *alone, const uint32_t *members,
                                       uint32_t count)
{
    uint32_t most = d->play->link_count;
    if (most == 0 || !(alone->rounds[0].alone_s > 0)) {
        return alone;
    }
    weir_link_id *links = weir_arena_alloc(d->arena, most, sizeof *links);
    uint32_t found = links ? find_links(d, exchange, members, count, links) : 0;
    if (found == 0) {
        return links ? alone : NULL;
    }
    weir_plan *plan = weir_arena_alloc(d->arena, 1, sizeof *plan);
    weir_round *round = weir_arena_alloc(d->arena, 1, sizeof *round);
    weir_body *body = weir_arena_alloc(d->arena, 1, sizeof *body);
    if (!plan || !round || !body) {
        return NULL;
    }
    *body = (weir_body){.path = {.count = found, .links = links}, .size = alone->rounds[0].alone_s};
    *round = alone->rounds[0];
    round->body_count = 1;
    *plan = *alone;
    plan->rounds = round;
    plan->bodies = body;
    plan->body_count = 1;
    plan->pace_link = links[0];
    return plan;
}
