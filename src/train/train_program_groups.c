/* Groups and plans of the exchanges of a played step. */
#include "train/train_program_inside.h"

#include <math.h>

/* Members of one group so far. */
typedef struct {
    draft *d;
    const draft_exchange *exchange;
    weir_exchange_group *groups;
    uint32_t group_count;
    uint32_t *members; /* of all groups; those of the open one begin at `first` */
    uint32_t member_count, first;
    weir_plan *alone; /* by stage: the plan of groups that no changing link touches */
} grouping;

static uint32_t ranks_of(const draft *d, const draft_exchange *exchange)
{
    const weir_train_plan *plan = &d->play->job->plan;
    if (exchange->is_message) {
        return 2;
    }
    if (exchange->pass == PASS_NORM) { /* of the model, and over replicas with shards of states */
        return d->stages * d->inner * plan->data;
    }
    if (exchange->pass == PASS_STAGE_NORM) {
        return d->inner * plan->data;
    }
    switch (exchange->axis) {
    case WEIR_AXIS_TENSOR:
        return plan->tensor;
    case WEIR_AXIS_CONTEXT:
        return plan->context;
    case WEIR_AXIS_EXPERT:
        return plan->expert;
    case WEIR_AXIS_DATA:
        return plan->data * plan->context;
    default:
        return d->stages;
    }
}

/* --- plans --- */

static weir_collective_kind kind_of(weir_comm_kind comm)
{
    switch (comm) {
    case WEIR_COMM_ALL_GATHER:
        return WEIR_COLLECTIVE_ALL_GATHER;
    case WEIR_COMM_REDUCE_SCATTER:
        return WEIR_COLLECTIVE_REDUCE_SCATTER;
    case WEIR_COMM_ALL_TO_ALL:
        return WEIR_COLLECTIVE_ALL_TO_ALL;
    case WEIR_COMM_SEND:
    case WEIR_COMM_RECV:
    case WEIR_COMM_SEND_RECV:
        return WEIR_COLLECTIVE_SEND_RECV;
    default:
        return WEIR_COLLECTIVE_ALL_REDUCE;
    }
}

/* What so many of them would take with hardly anything to move. */
static double latency_of(const draft *d, const draft_exchange *exchange, uint32_t stage)
{
    weir_train_axis axis = (weir_train_axis)exchange->axis;
    double one_s = weir_train_collective_s(d->play->job, axis, kind_of(exchange->comm), 8);
    double all_s = one_s * (exchange->count[stage] > 0 ? exchange->count[stage] : 1);
    return fmin(all_s, exchange->seconds[stage]);
}

static bool make_plan(draft *d, const draft_exchange *exchange, uint32_t stage, weir_plan *plan)
{
    weir_round *round = weir_arena_alloc(d->arena, 1, sizeof *round);
    if (!round) {
        return false;
    }
    double latency_s = latency_of(d, exchange, stage);
    weir_axis_span span = weir_train_span(d->play->job, (weir_train_axis)exchange->axis);
    bool is_near = exchange->bytes[stage] > 0
                       ? 2 * exchange->parts[stage].near_s > exchange->seconds[stage]
                       : span.nodes <= 1;
    *round = (weir_round){.latency_s = latency_s, .alone_s = exchange->seconds[stage] - latency_s};
    *plan = (weir_plan){.rounds = round,
                        .round_count = 1,
                        .pace_link = WEIR_NONE,
                        .pace_tier = is_near ? WEIR_TIER_IN_NODE : WEIR_TIER_BETWEEN_NODES};
    return true;
}

/* --- groups --- */

static void add_member(grouping *g, const draft_column *column, uint32_t stage, uint32_t inner)
{
    g->members[g->member_count++] = draft_device(g->d, column, stage, inner);
}

static bool close_group(grouping *g, uint32_t stage)
{
    draft *d = g->d;
    const draft_exchange *exchange = g->exchange;
    const uint32_t *members = g->members + g->first;
    uint32_t count = g->member_count - g->first;
    uint64_t stands_for = 0;
    if (count == 0) {
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        stands_for += d->out->spmd.times_of_device[members[i]];
    }
    uint32_t ranks = ranks_of(d, exchange);
    uint64_t times = stands_for / (ranks ? ranks : 1);
    const draft_group group = {exchange, stage, members, count};
    const weir_plan *plan = draft_plan_over_links(d, &group, &g->alone[stage]);
    g->groups[g->group_count++] = (weir_exchange_group){.members = members,
                                                        .count = count,
                                                        .plan = plan,
                                                        .ranks = ranks > count ? ranks : count,
                                                        .times = times ? (uint32_t)times : 1};
    g->first = g->member_count;
    return plan != NULL;
}

/* Ranks of one stage and column that run in step: groups of tensor, or of context ranks. */
static bool group_inside(grouping *g, const draft_column *column, uint32_t stage)
{
    uint32_t tensor = g->d->play->job->plan.tensor, context = g->d->play->job->plan.context;
    bool is_tensor = g->exchange->axis == WEIR_AXIS_TENSOR, ok = true;
    uint32_t groups = is_tensor ? context : tensor, size = is_tensor ? tensor : context;
    if (!column->is_open) {
        add_member(g, column, stage, 0);
        return close_group(g, stage);
    }
    for (uint32_t i = 0; ok && i < groups; i++) {
        for (uint32_t k = 0; k < size; k++) {
            add_member(g, column, stage, is_tensor ? i * tensor + k : k * tensor + i);
        }
        ok = close_group(g, stage);
    }
    return ok;
}

static void add_stage(grouping *g, const draft_column *column, uint32_t stage)
{
    for (uint32_t i = 0; i < draft_ranks_of(g->d, column); i++) {
        add_member(g, column, stage, i);
    }
}

static bool group_stage(grouping *g, uint32_t stage)
{
    const draft *d = g->d;
    bool ok = true;
    for (uint32_t c = 0; ok && c < d->column_count; c++) {
        const draft_column *column = &d->columns[c];
        if (g->exchange->axis == WEIR_AXIS_TENSOR || g->exchange->axis == WEIR_AXIS_CONTEXT) {
            ok = group_inside(g, column, stage);
            continue;
        }
        add_stage(g, column, stage);
        bool shares = c + 1 < d->column_count && column->experts != WEIR_NONE &&
                      d->columns[c + 1].experts == column->experts;
        if (g->exchange->axis == WEIR_AXIS_EXPERT && !shares) {
            ok = close_group(g, stage);
        }
    }
    return ok && close_group(g, stage);
}

static bool group_message(grouping *g)
{
    const draft *d = g->d;
    bool ok = true;
    for (uint32_t c = 0; c < d->column_count; c++) {
        for (uint32_t i = 0; ok && i < draft_ranks_of(d, &d->columns[c]); i++) {
            add_member(g, &d->columns[c], g->exchange->from, i);
            add_member(g, &d->columns[c], g->exchange->to, i);
            ok = close_group(g, g->exchange->from);
        }
    }
    return ok;
}

/* All devices meet. */
static bool group_all(grouping *g)
{
    for (uint32_t c = 0; c < g->d->column_count; c++) {
        for (uint32_t s = 0; s < g->d->stages; s++) {
            add_stage(g, &g->d->columns[c], s);
        }
    }
    return close_group(g, 0);
}

static bool group_exchange(draft *d, const draft_exchange *exchange, weir_exchange *out)
{
    grouping g = {.d = d,
                  .exchange = exchange,
                  .groups = weir_arena_alloc(d->arena, (size_t)d->devices + 1, sizeof *g.groups),
                  .members = weir_arena_alloc(d->arena, (size_t)d->devices + 1, sizeof *g.members),
                  .alone = weir_arena_alloc(d->arena, d->stages, sizeof *g.alone)};
    bool ok = g.groups && g.members && g.alone;
    double bytes = 0;
    for (uint32_t s = 0; ok && s < d->stages; s++) {
        if (!isnan(exchange->seconds[s])) {
            ok = make_plan(d, exchange, s, &g.alone[s]);
            bytes = fmax(bytes, exchange->bytes[s]);
            if (ok && !exchange->is_message && exchange->pass != PASS_NORM) {
                ok = group_stage(&g, s);
            }
        }
    }
    ok = ok && (!exchange->is_message || group_message(&g));
    ok = ok && (exchange->pass != PASS_NORM || group_all(&g));
    const char *axis = weir_train_axis_name((weir_train_axis)exchange->axis);
    *out = (weir_exchange){.name = axis,
                           .axis = axis,
                           .kind = exchange->comm,
                           .is_message = exchange->is_message,
                           .is_eager = exchange->is_message,
                           .bytes = (uint64_t)bytes,
                           .groups = g.groups,
                           .group_count = g.group_count};
    return ok;
}

static double near_of(const draft *d, const draft_exchange *exchange)
{
    double near_s = 0, all_s = 0, bytes = 0;
    for (uint32_t s = 0; s < d->stages; s++) {
        if (!isnan(exchange->seconds[s])) {
            near_s += fmin(exchange->parts[s].near_s, exchange->seconds[s]);
            all_s += exchange->seconds[s];
            bytes += exchange->bytes[s];
        }
    }
    return bytes > 0 && all_s > 0 ? near_s / all_s : NAN;
}

weir_code draft_groups(draft *d, weir_err *err)
{
    weir_exchange *exchanges =
        weir_arena_alloc(d->arena, (size_t)d->exchange_count + 1, sizeof *exchanges);
    uint8_t *axes = weir_arena_alloc(d->arena, (size_t)d->exchange_count + 1, 1);
    double *near = weir_arena_alloc(d->arena, (size_t)d->exchange_count + 1, sizeof *near);
    if (!exchanges || !axes || !near) {
        return DRAFT_NO_MEMORY(err);
    }
    for (uint32_t e = 0; e < d->exchange_count; e++) {
        if (!group_exchange(d, &d->exchanges[e], &exchanges[e])) {
            return DRAFT_NO_MEMORY(err);
        }
        axes[e] = d->exchanges[e].axis;
        near[e] = near_of(d, &d->exchanges[e]);
    }
    d->out->spmd.exchanges = exchanges;
    d->out->spmd.exchange_count = d->exchange_count;
    d->out->axis_of_exchange = axes;
    d->out->near_of_exchange = near;
    return WEIR_OK;
}
