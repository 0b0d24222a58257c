/* What a step has before and behind its schedule, and the gradients that are reduced beside it: as
 * train_tail.c has it in closed form. */
#include "train/train_program_inside.h"

#include <math.h>

static draft_exchange key_of(weir_train_axis axis, uint32_t pass, uint32_t slot, uint32_t piece,
                             weir_comm_kind comm)
{
    return (draft_exchange){.axis = (uint8_t)axis,
                            .pass = (uint8_t)pass,
                            .slot = (uint16_t)slot,
                            .piece = (uint8_t)piece,
                            .from = WEIR_NONE,
                            .to = WEIR_NONE,
                            .comm = comm};
}

static uint32_t position_of(const draft_writer *w, uint32_t slot)
{
    return w->d->timing.schedule.position[w->stage * w->d->chunks + slot];
}

static weir_wire wire_of(const draft_writer *w, uint32_t slot, weir_collective_kind kind,
                         double bytes)
{
    return weir_train_tail_wire(w->d->play->job, kind,
                                w->d->timing.costs.chunk[position_of(w, slot)], bytes);
}

static weir_piece part_of(const weir_wire *wire, double share)
{
    weir_wire part = weir_wire_times(*wire, share);
    return (weir_piece){
        .seconds = part.seconds, .bytes = part.bytes, .parts = part.parts, .count = 1};
}

/* Behind the last exchange on the lane of data, and behind `before`. */
static void put_data(draft_writer *w, const draft_exchange *key, const weir_piece *piece,
                     uint32_t before)
{
    uint32_t made = draft_put_exchange(w, key, LANE_DATA, piece);
    draft_follow(w, made, before);
    w->program->last_data = made;
}

/* --- before --- */

/* Parameters of all chunks, one after the other; a chunk's first pass begins within its own. */
static void put_gathers(draft_writer *w)
{
    const draft *d = w->d;
    double at = 0;
    for (uint32_t c = 0; c < d->chunks; c++) {
        weir_wire wire =
            wire_of(w, c, WEIR_COLLECTIVE_ALL_GATHER, d->play->job->stack.gathered_bytes);
        double first_s = fmax(0, d->timing.ready_s[position_of(w, c)] - at);
        double share = wire.seconds > 0 ? fmin(1, first_s / wire.seconds) : 1;
        const weir_piece parts[2] = {part_of(&wire, share), part_of(&wire, 1 - share)};
        for (uint32_t i = 0; i < 2; i++) {
            const draft_exchange key =
                key_of(WEIR_AXIS_DATA, PASS_GATHER, c, i, WEIR_COMM_ALL_GATHER);
            put_data(w, &key, &parts[i], w->program->last);
            if (i == 0) {
                w->program->rows[c].gathered = w->program->last_data;
            }
        }
        if (first_s > wire.seconds) { /* another stage that holds it has it later */
            draft_put_delay(w, w->program->last_data, first_s - wire.seconds);
            w->program->rows[c].gathered = w->program->delayed;
        }
        at += wire.seconds;
    }
}

/* --- beside --- */

static bool is_gradient(const weir_task *task)
{
    return task->kind == WEIR_TASK_BACKWARD || task->kind == WEIR_TASK_WGRAD;
}

static bool reduces_beside(const draft_writer *w)
{
    const weir_train_job *job = w->d->play->job;
    bool is_done = job->plan.zero >= 3 && job->plan.accumulates_sharded;
    return job->stack.overlaps_gradients && !is_done;
}

static double buckets_of(const draft_writer *w, uint32_t slot)
{
    const weir_train_stack *s = &w->d->play->job->stack;
    const weir_chunk_cost *chunk = w->d->timing.costs.chunk[position_of(w, slot)];
    double bytes = (chunk->dense_parameters + chunk->expert_parameters) * s->reduced_bytes;
    return s->bucket_bytes > 0 ? fmax(1, ceil(bytes / s->bucket_bytes)) : 1;
}

/* When the first bucket of the chunk is there, in time of the schedule. */
static double first_bucket_s(const draft_writer *w, uint32_t slot)
{
    uint32_t position = position_of(w, slot);
    const weir_chunk_cost *chunk = w->d->timing.costs.chunk[position];
    double pass_s = chunk->dgrad.seconds + chunk->wgrad.seconds;
    return w->d->timing.played.gradient_s[position] - pass_s * (1 - 1 / buckets_of(w, slot));
}

/* Its first bucket comes in the last task that begins before that. */
static void find_rows(draft_writer *w, uint32_t slot)
{
    const weir_schedule *s = &w->d->timing.schedule;
    const double *start_s = w->d->timing.played.start_s;
    uint32_t row = s->first[w->stage + 1] - 1, first = s->first[w->stage];
    while (row > first && !(is_gradient(&s->tasks[row]) && s->tasks[row].chunk == slot)) {
        row--;
    }
    w->program->rows[slot].last_gradient = row;
    while (row > first && start_s[row] > first_bucket_s(w, slot)) {
        row--;
    }
    w->program->rows[slot].first_bucket = row;
    w->program->rows[slot].gathered = w->program->rows[slot].ready = WEIR_NONE;
}

static weir_wire reduction_of(const draft_writer *w, uint32_t slot)
{
    return wire_of(w, slot, w->d->timing.tail.reduction, w->d->play->job->stack.reduced_bytes);
}

/* When the first bucket is there: that is within this task. */
static void put_first_bucket(draft_writer *w, uint32_t row, uint32_t slot)
{
    double begin_s = w->d->timing.played.start_s[row], at_s = first_bucket_s(w, slot);
    double from_s = fmax(begin_s, w->program->delayed_s);
    draft_put_delay(w, w->program->last, fmax(0, at_s - from_s));
    w->program->delayed_s = fmax(from_s, at_s);
    w->program->rows[slot].ready = w->program->delayed;
}

/* Of the chunks whose first bucket comes in this task the one that comes first; WEIR_NONE: all have
 * come. */
static uint32_t next_bucket(const draft_writer *w, uint32_t row)
{
    uint32_t best = WEIR_NONE;
    for (uint32_t c = 0; c < w->d->chunks; c++) {
        const draft_slot *slot = &w->program->rows[c];
        bool is_left = slot->first_bucket == row && slot->ready == WEIR_NONE;
        if (is_left && (best == WEIR_NONE || first_bucket_s(w, c) < first_bucket_s(w, best))) {
            best = c;
        }
    }
    return best;
}

void draft_put_before(draft_writer *w)
{
    w->begun_s = 0;
    w->program->delayed_s = 0;
    w->program->last_data = w->program->delayed = WEIR_NONE;
    for (uint32_t c = 0; c < w->d->chunks; c++) {
        find_rows(w, c);
    }
    if (w->d->timing.ready_s) {
        put_gathers(w);
    }
}

void draft_put_ready(draft_writer *w, uint32_t row)
{
    const weir_task *task = &w->d->timing.schedule.tasks[row];
    uint32_t *gathered = &w->program->rows[task->chunk].gathered;
    if (task->kind == WEIR_TASK_FORWARD) {
        draft_wait_for(w, *gathered);
        *gathered = WEIR_NONE;
    }
    uint32_t slot = reduces_beside(w) ? next_bucket(w, row) : WEIR_NONE;
    while (slot != WEIR_NONE && !w->failed) {
        put_first_bucket(w, row, slot);
        slot = next_bucket(w, row);
    }
}

void draft_put_reduced(draft_writer *w, uint32_t row)
{
    uint32_t slot = w->d->timing.schedule.tasks[row].chunk;
    if (!reduces_beside(w) || row != w->program->rows[slot].last_gradient) {
        return;
    }
    /* All buckets but the last since the first one was there, the last one now; chunk by chunk. */
    weir_wire wire = reduction_of(w, slot);
    double last = 1 / buckets_of(w, slot);
    const weir_piece parts[2] = {part_of(&wire, 1 - last), part_of(&wire, last)};
    const uint32_t before[2] = {w->program->rows[slot].ready, w->program->last};
    for (uint32_t i = 0; i < 2; i++) {
        const draft_exchange key = key_of(WEIR_AXIS_DATA, PASS_REDUCE, slot, i,
                                          weir_train_comm_kind(w->d->timing.tail.reduction));
        put_data(w, &key, &parts[i], before[i]);
    }
}

/* --- behind --- */

static void put_reductions(draft_writer *w)
{
    const weir_train_job *job = w->d->play->job;
    bool is_done = job->plan.zero >= 3 && job->plan.accumulates_sharded;
    for (uint32_t c = 0; c < w->d->chunks && !reduces_beside(w) && !is_done; c++) {
        weir_wire wire = reduction_of(w, c);
        const weir_piece piece = part_of(&wire, 1);
        const draft_exchange key = key_of(WEIR_AXIS_DATA, PASS_REDUCE, c, 1,
                                          weir_train_comm_kind(w->d->timing.tail.reduction));
        draft_put_exposed(w, &key, &piece);
    }
}

static void put_meeting(draft_writer *w, weir_train_axis axis, uint32_t pass, uint32_t number,
                        double seconds)
{
    const draft_exchange key = key_of(axis, pass, 0, number, WEIR_COMM_ALL_REDUCE);
    const weir_piece piece = {.seconds = seconds, .count = 1};
    draft_put_meet(w);
    draft_put_exposed(w, &key, &piece);
}

/* All stages meet. */
static void put_barrier(draft_writer *w, uint32_t number, double seconds)
{
    put_meeting(w, weir_train_norm_axis(w->d->play->job), PASS_NORM, number, seconds);
}

/* Without a barrier: of the stage's own ranks, then joined to that of the stages before, and handed
 * on. */
static void put_norm_so_far(draft_writer *w)
{
    const weir_piece piece = {.seconds = w->d->timing.tail.hop_s, .bytes = 4, .count = 1};
    draft_exchange key = key_of(WEIR_AXIS_PIPELINE, PASS_MESSAGE, 0, 2, WEIR_COMM_SEND);
    key.is_message = true;
    put_meeting(w, WEIR_AXIS_DATA, PASS_STAGE_NORM, 0, w->d->timing.tail.norm_s);
    if (w->stage > 0) {
        key.from = w->stage - 1;
        key.to = w->stage;
        draft_wait_for(w, draft_put_message(w, &key, &piece));
        draft_put_time(w, WEIR_STEP_COMPUTE, WEIR_CAUSE_COMPUTE_OTHER, 0);
    }
    if (w->stage + 1 < w->d->stages) {
        key.from = w->stage;
        key.to = w->stage + 1;
        draft_put_message(w, &key, &piece);
    }
}

static void put_idle(draft_writer *w, weir_cause cause, double seconds)
{
    if (seconds > 0) {
        draft_put_time(w, WEIR_STEP_IDLE, cause, seconds);
    }
}

/* Parameters gathered where nothing hides them; with a barrier all stages wait for the longest. */
static void put_gathered(draft_writer *w, bool has_barrier)
{
    const weir_train_tail *tail = &w->d->timing.tail;
    double last_s = has_barrier ? tail->after_s : tail->behind_s[w->stage];
    if (last_s > 0 && has_barrier) {
        put_barrier(w, 1, 0);
    }
    if (last_s > 0) {
        const draft_exchange key = key_of(WEIR_AXIS_DATA, PASS_GATHER, 0, 2, WEIR_COMM_ALL_GATHER);
        weir_piece piece = {.seconds = tail->gather_s[w->stage],
                            .bytes = tail->gather_bytes[w->stage],
                            .count = w->d->chunks};
        for (uint32_t c = 0; c < w->d->chunks; c++) {
            weir_wire wire =
                wire_of(w, c, WEIR_COLLECTIVE_ALL_GATHER, w->d->play->job->stack.gathered_bytes);
            weir_wire_parts_add(&piece.parts, &wire.parts, 1);
        }
        draft_put_exposed(w, &key, &piece);
    }
}

void draft_put_begin(draft_writer *w)
{
    const double *begin_s = w->d->timing.begin_s;
    if (begin_s && begin_s[w->stage] > 0) {
        draft_put_time(w, WEIR_STEP_IDLE, WEIR_CAUSE_COUNT, begin_s[w->stage]);
    }
}

void draft_put_behind(draft_writer *w)
{
    const draft *d = w->d;
    bool has_barrier = weir_train_has_barrier(d->play->job);
    w->begun_s = 0;
    put_reductions(w);
    draft_wait_for(w, w->program->last_data);
    if (has_barrier) {
        put_barrier(w, 0, d->timing.tail.norm_s);
    } else {
        put_norm_so_far(w);
    }
    put_idle(w, WEIR_CAUSE_DEPENDENCY_HOST, d->play->job->stack.step_s);
    put_idle(w, WEIR_CAUSE_DEPENDENCY_DATA, d->play->job->data_wait_s);
    put_idle(w, WEIR_CAUSE_DEPENDENCY_STRAGGLER, d->jitter_s);
    draft_put_time(w, WEIR_STEP_COMPUTE, WEIR_CAUSE_CACHE_OPTIMIZER,
                   d->timing.tail.stage_optimizer_s[w->stage]);
    put_gathered(w, has_barrier);
    if (has_barrier) {
        put_barrier(w, 2, 0);
    }
}
