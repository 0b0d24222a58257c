/* Which replicas are played as one, and the devices that play them. */
#include "train/train_program_inside.h"

#include <stdlib.h>

/* --- ranks in the plan's order --- */

static uint32_t size_of(const weir_train_plan *plan, weir_train_axis axis)
{
    switch (axis) {
    case WEIR_AXIS_TENSOR:
        return plan->tensor;
    case WEIR_AXIS_CONTEXT:
        return plan->context;
    case WEIR_AXIS_DATA:
        return plan->data;
    case WEIR_AXIS_PIPELINE:
        return plan->pipeline;
    default:
        return 1; /* expert ranks are carved out of the others */
    }
}

uint32_t weir_train_rank(const weir_train_plan *plan, weir_train_place place)
{
    uint32_t rank = 0, stride = 1;
    for (int i = 0; i < WEIR_AXIS_COUNT; i++) {
        weir_train_axis axis = plan->order[i];
        uint32_t at = axis == WEIR_AXIS_TENSOR     ? place.tensor
                      : axis == WEIR_AXIS_CONTEXT  ? place.context
                      : axis == WEIR_AXIS_DATA     ? place.data
                      : axis == WEIR_AXIS_PIPELINE ? place.stage
                                                   : 0;
        rank += at * stride;
        stride *= size_of(plan, axis);
    }
    return rank;
}

weir_train_place weir_train_place_of(const weir_train_plan *plan, uint32_t rank)
{
    weir_train_place place = {0};
    for (int i = 0; i < WEIR_AXIS_COUNT; i++) {
        weir_train_axis axis = plan->order[i];
        uint32_t size = size_of(plan, axis), at = rank % size;
        rank /= size;
        place.tensor = axis == WEIR_AXIS_TENSOR ? at : place.tensor;
        place.context = axis == WEIR_AXIS_CONTEXT ? at : place.context;
        place.data = axis == WEIR_AXIS_DATA ? at : place.data;
        place.stage = axis == WEIR_AXIS_PIPELINE ? at : place.stage;
    }
    return place;
}

/* --- columns --- */

/* Replicas that share one set of experts: as far as they are not ranks of one replica. */
static uint32_t replicas_that_share(const draft *d)
{
    const weir_train_plan *plan = &d->play->job->plan;
    uint64_t ranks = (uint64_t)plan->expert * plan->expert_tensor;
    uint64_t share = ranks / d->inner;
    return plan->expert <= 1 || share < 1 ? 1 : share > plan->data ? plan->data : (uint32_t)share;
}

static void touch(const draft *d, uint8_t *touched, uint32_t rank)
{
    touched[weir_train_place_of(&d->play->job->plan, rank).data] = 1;
}

static void touch_all(const draft *d, uint8_t *touched)
{
    const weir_train_play *play = d->play;
    for (uint32_t i = 0; i < play->slow_count; i++) {
        touch(d, touched, play->slow[i].device);
    }
    for (uint32_t i = 0; i < play->link_count; i++) {
        touch(d, touched, play->links[i].device);
    }
}

/* Of a set of replicas that share experts: each one by itself where one of them is touched. */
static bool is_set_touched(const draft *d, const uint8_t *touched, uint32_t set, uint32_t share)
{
    for (uint32_t k = set * share; k < (set + 1) * share && k < d->play->job->plan.data; k++) {
        if (touched[k]) {
            return true;
        }
    }
    return false;
}

static void add_column(draft *d, draft_column column)
{
    column.first_device = d->devices;
    d->devices += d->stages * draft_ranks_of(d, &column);
    d->columns[d->column_count++] = column;
}

static void make_columns(draft *d, const uint8_t *touched)
{
    const weir_train_play *play = d->play;
    uint32_t data = play->job->plan.data, share = replicas_that_share(d);
    draft_column rest = {.replica = WEIR_NONE, .experts = WEIR_NONE};
    for (uint32_t k = 0; k < data; k++) {
        bool is_open = play->unfolded || is_set_touched(d, touched, k / share, share);
        if (is_open || play->jitter > 0) {
            add_column(d, (draft_column){k, 1, k / share, is_open, 0});
        } else {
            rest.replica = rest.replica == WEIR_NONE ? k : rest.replica;
            rest.times++;
        }
    }
    if (rest.times) {
        add_column(d, rest);
    }
}

/* --- devices --- */

static uint32_t rank_at(const draft *d, const draft_column *column, uint32_t stage, uint32_t inner)
{
    const weir_train_plan *plan = &d->play->job->plan;
    const weir_train_place place = {.tensor = inner % plan->tensor,
                                    .context = inner / plan->tensor,
                                    .data = column->replica,
                                    .stage = stage};
    return weir_train_rank(plan, place);
}

static void fill_device(const draft *d, const draft_column *column, uint32_t stage, uint32_t inner,
                        uint32_t *tables[4])
{
    const weir_train_job *job = d->play->job;
    uint32_t device = draft_device(d, column, stage, inner);
    uint32_t rank = rank_at(d, column, stage, inner);
    tables[0][device] = rank;
    tables[1][device] = column->times * (column->is_open ? 1 : d->inner);
    tables[2][device] = stage;
    tables[3][device] = rank / (job->network.devices_per_node ? job->network.devices_per_node : 1);
}

static weir_code fill_devices(draft *d, weir_err *err)
{
    uint32_t *tables[4];
    for (int i = 0; i < 4; i++) {
        tables[i] = weir_arena_alloc(d->arena, (size_t)d->devices + 1, sizeof *tables[i]);
        if (!tables[i]) {
            return DRAFT_NO_MEMORY(err);
        }
    }
    for (uint32_t c = 0; c < d->column_count; c++) {
        for (uint32_t s = 0; s < d->stages; s++) {
            for (uint32_t i = 0; i < draft_ranks_of(d, &d->columns[c]); i++) {
                fill_device(d, &d->columns[c], s, i, tables);
            }
        }
    }
    weir_train_program *out = d->out;
    out->devices = d->devices;
    out->stage_of_device = tables[2];
    out->spmd.devices = d->devices;
    out->spmd.rank_of_device = tables[0];
    out->spmd.times_of_device = tables[1];
    out->spmd.program_of_device = tables[2];
    out->spmd.node_of_device = tables[3];
    return WEIR_OK;
}

/* Every rank draws its own jitter, whoever plays it. */
static weir_code fill_draws(draft *d, weir_err *err)
{
    size_t ranks = (size_t)d->column_count * d->stages * d->inner;
    if (!(d->play->jitter > 0)) {
        return WEIR_OK;
    }
    uint32_t *first = weir_arena_alloc(d->arena, (size_t)d->devices + 1, sizeof *first);
    uint32_t *numbers = weir_arena_alloc(d->arena, ranks + 1, sizeof *numbers);
    if (!first || !numbers) {
        return DRAFT_NO_MEMORY(err);
    }
    uint32_t count = 0, device = 0;
    for (uint32_t c = 0; c < d->column_count; c++) { /* devices are numbered in this order */
        const draft_column *column = &d->columns[c];
        for (uint32_t s = 0; s < d->stages; s++) {
            for (uint32_t i = 0; i < d->inner; i++) {
                if (i == 0 || column->is_open) {
                    first[device++] = count;
                }
                numbers[count++] = rank_at(d, column, s, i);
            }
        }
    }
    first[device] = count;
    d->out->spmd.first_draw = first;
    d->out->spmd.draw_numbers = numbers;
    return WEIR_OK;
}

/* A rank that is slow is a device of an open column. */
static weir_code fill_slow(draft *d, weir_err *err)
{
    const weir_train_play *play = d->play;
    weir_slow_device *slow = weir_arena_alloc(d->arena, (size_t)play->slow_count + 1, sizeof *slow);
    if (!slow) {
        return DRAFT_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < play->slow_count; i++) {
        weir_train_place place = weir_train_place_of(&play->job->plan, play->slow[i].device);
        uint32_t c = 0;
        while (c + 1 < d->column_count && d->columns[c].replica != place.data) {
            c++;
        }
        uint32_t inner = place.context * play->job->plan.tensor + place.tensor;
        slow[i].device = draft_device(d, &d->columns[c], place.stage, inner);
        slow[i].factor = play->slow[i].factor;
    }
    d->out->spmd.slow = slow;
    d->out->spmd.slow_count = play->slow_count;
    return WEIR_OK;
}

weir_code draft_columns(draft *d, weir_err *err)
{
    uint32_t data = d->play->job->plan.data;
    uint8_t *touched = calloc((size_t)data + 1, 1);
    d->columns = weir_arena_alloc(d->arena, (size_t)data + 1, sizeof *d->columns);
    weir_code code = touched && d->columns ? WEIR_OK : DRAFT_NO_MEMORY(err);
    if (code == WEIR_OK) {
        touch_all(d, touched);
        make_columns(d, touched);
        code = fill_devices(d, err);
    }
    code = code == WEIR_OK ? fill_draws(d, err) : code;
    code = code == WEIR_OK ? fill_slow(d, err) : code;
    free(touched);
    return code;
}
