/* The schedule's tasks of a stage, piece by piece, with messages between stages. */
#include "train/train_program_inside.h"

#include <math.h>

/* --- passes --- */

static const weir_pass_cost *cost_of(const draft_writer *w, const weir_task *task, bool weights)
{
    uint32_t position = w->d->timing.schedule.position[w->stage * w->d->chunks + task->chunk];
    const weir_chunk_cost *chunk = w->d->timing.costs.chunk[position];
    bool is_wgrad = weights || task->kind == WEIR_TASK_WGRAD;
    return task->kind == WEIR_TASK_FORWARD ? &chunk->forward
           : is_wgrad                      ? &chunk->wgrad
                                           : &chunk->dgrad;
}

/* Parts of a pass: hidden pieces begin with it, or with its pair; then what the device does by
 * itself; then its exposed exchanges, for which it meets others. */
typedef enum { PART_HIDDEN = 0, PART_OWN, PART_EXCHANGES } pass_part;

static pass_part part_of(const weir_piece *piece)
{
    bool is_beside = piece->kind == WEIR_PIECE_HIDDEN || piece->kind == WEIR_PIECE_COPIED;
    return is_beside ? PART_HIDDEN : piece->kind == WEIR_PIECE_EXCHANGE ? PART_EXCHANGES : PART_OWN;
}

static void put_piece(draft_writer *w, const weir_piece *piece, const draft_exchange *key)
{
    switch ((weir_piece_kind)piece->kind) {
    case WEIR_PIECE_COMPUTE:
        draft_put_time(w, WEIR_STEP_COMPUTE, (weir_cause)piece->cause, piece->seconds);
        return;
    case WEIR_PIECE_IDLE:
        draft_put_time(w, WEIR_STEP_IDLE, (weir_cause)piece->cause, piece->seconds);
        return;
    case WEIR_PIECE_EXCHANGE:
        draft_put_exposed(w, key, piece);
        return;
    case WEIR_PIECE_HIDDEN:
        draft_put_hidden(w, key, piece);
        return;
    case WEIR_PIECE_COPIED:
        draft_put_copy(w, piece->seconds);
        return;
    }
}

/* Of a pair the all-to-alls are hidden from its beginning on, as far as the pair is shorter than
 * its parts; the rest is exposed. */
static void put_overlapped(draft_writer *w, const weir_piece *piece, draft_exchange key,
                           pass_part part)
{
    double *left_s = part == PART_HIDDEN ? &w->saved_s : &w->saved_behind_s;
    double hidden_s = fmin(*left_s, piece->seconds), share = hidden_s / piece->seconds;
    weir_piece one = *piece;
    *left_s -= hidden_s;
    if (part == PART_HIDDEN && hidden_s > 0) {
        one.seconds = hidden_s;
        one.bytes = piece->bytes * share;
        one.parts = (weir_wire_parts){0};
        weir_wire_parts_add(&one.parts, &piece->parts, share);
        draft_put_hidden(w, &key, &one);
    } else if (part == PART_EXCHANGES && hidden_s < piece->seconds) {
        one.seconds = piece->seconds - hidden_s;
        one.bytes = piece->bytes * (1 - share);
        one.parts = (weir_wire_parts){0};
        weir_wire_parts_add(&one.parts, &piece->parts, 1 - share);
        key.variant = (uint8_t)(key.variant + VARIANT_REST);
        draft_put_exposed(w, &key, &one);
    }
}

static void put_part(draft_writer *w, const weir_pass_cost *cost, uint32_t pass, uint32_t slot,
                     pass_part part)
{
    for (uint32_t i = 0; i < cost->count; i++) {
        const weir_piece *piece = &cost->piece[i];
        const draft_exchange key = {.axis = piece->axis,
                                    .pass = (uint8_t)pass,
                                    .variant = w->pair,
                                    .piece = (uint8_t)i,
                                    .slot = (uint16_t)slot,
                                    .from = WEIR_NONE,
                                    .to = WEIR_NONE,
                                    .comm = piece->comm};
        bool is_overlapped = w->pair > 0 && part_of(piece) == PART_EXCHANGES &&
                             piece->seconds > 0 && weir_train_is_expert_wire(piece);
        if (is_overlapped && part != PART_OWN) {
            put_overlapped(w, piece, key, part);
        } else if (part_of(piece) == part) {
            put_piece(w, piece, &key);
        }
    }
}

/* Its layers exchange something within the stage, hidden or not. */
static bool meets_inside(const weir_pass_cost *cost)
{
    for (uint32_t i = 0; i < cost->count; i++) {
        const weir_piece *piece = &cost->piece[i];
        bool is_inside = piece->axis == WEIR_AXIS_TENSOR || piece->axis == WEIR_AXIS_CONTEXT;
        bool is_wire = piece->kind == WEIR_PIECE_EXCHANGE || piece->kind == WEIR_PIECE_HIDDEN;
        if (is_wire && is_inside) {
            return true;
        }
    }
    return false;
}

/* --- messages --- */

/* The cell (stage x chunks + slot) that holds a position: where two do, the one whose slot is the
 * same. WEIR_NONE: none does. */
static uint32_t holder_of(const draft *d, uint32_t position, uint32_t slot)
{
    uint32_t found = WEIR_NONE;
    for (uint32_t i = 0; i < d->stages * d->chunks; i++) {
        bool is_better = found == WEIR_NONE || (i % d->chunks == slot);
        if (d->timing.schedule.position[i] == position && is_better) {
            found = i;
        }
    }
    return found;
}

weir_code draft_peers(draft *d, weir_err *err)
{
    uint32_t cells = d->stages * d->chunks;
    d->peers = weir_arena_alloc(d->arena, 2 * (size_t)cells, sizeof *d->peers);
    if (!d->peers) {
        return DRAFT_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t position = d->timing.schedule.position[i];
        for (uint32_t side = 0; side < 2; side++) { /* 0: the position behind; 1: the one before */
            uint32_t other = side == 0      ? holder_of(d, position + 1, i % d->chunks)
                             : position > 0 ? holder_of(d, position - 1, i % d->chunks)
                                            : WEIR_NONE;
            bool is_own = other != WEIR_NONE && other / d->chunks == i / d->chunks;
            d->peers[side * cells + i] = is_own ? WEIR_NONE : other;
        }
    }
    return WEIR_OK;
}

static double message_s(const draft *d, uint32_t cell, uint32_t peer)
{
    return weir_schedule_hop_s(d->timing.costs.hop_s, d->stages, cell / d->chunks,
                               peer / d->chunks);
}

static weir_piece message_of(const draft *d, uint32_t cell, uint32_t peer)
{
    uint32_t one = cell / d->chunks, other = peer / d->chunks;
    uint32_t first = one < other ? one : other, apart = one < other ? other - one : one - other;
    return (weir_piece){.seconds = message_s(d, cell, peer),
                        .bytes = d->timing.costs.send_bytes,
                        .parts = d->timing.costs.hop_parts[apart == 1 ? first : d->stages - 1],
                        .count = 1};
}

/* What a task's message to another stage takes; 0: there is none. */
static double sent_s(const draft_writer *w, const weir_task *task)
{
    uint32_t cell = w->stage * w->d->chunks + task->chunk, cells = w->d->stages * w->d->chunks;
    uint32_t peer = w->d->peers[(task->kind == WEIR_TASK_FORWARD ? 0 : cells) + cell];
    return peer == WEIR_NONE || task->kind == WEIR_TASK_WGRAD ? 0 : message_s(w->d, cell, peer);
}

/* WEIR_NONE: none is sent (received). */
static uint32_t put_message(draft_writer *w, const weir_task *task, bool sends)
{
    const draft *d = w->d;
    uint32_t cell = w->stage * d->chunks + task->chunk, cells = d->stages * d->chunks;
    bool is_forward = task->kind == WEIR_TASK_FORWARD;
    uint32_t peer = d->peers[(is_forward == sends ? 0 : cells) + cell];
    if (peer == WEIR_NONE || task->kind == WEIR_TASK_WGRAD) {
        return WEIR_NONE;
    }
    uint32_t from = sends ? cell : peer, to = sends ? peer : cell;
    const draft_exchange key = {.axis = WEIR_AXIS_PIPELINE,
                                .pass = PASS_MESSAGE,
                                .piece = !is_forward,
                                .slot = (uint16_t)(to % d->chunks),
                                .is_message = true,
                                .from = from / d->chunks,
                                .to = to / d->chunks,
                                .comm = WEIR_COMM_SEND};
    const weir_piece piece = message_of(d, cell, peer);
    return draft_put_message(w, &key, &piece);
}

/* --- tasks --- */

/* task: the first of a pair. */
static double saved_of(const draft_writer *w, const weir_task *task)
{
    const weir_pair_share *pair = w->d->timing.costs.pair;
    const uint32_t *position = w->d->timing.schedule.position + w->stage * w->d->chunks;
    return pair ? weir_pair_saved_s(&pair[position[task[0].chunk]], &pair[position[task[1].chunk]])
                : 0;
}

/* Gradients of inputs and of weights, where both are one task, take turns layer by layer. */
static void put_pass(draft_writer *w, const weir_task *task, pass_part part)
{
    const weir_pass_cost *cost = cost_of(w, task, false);
    if (part == PART_EXCHANGES && meets_inside(cost)) {
        draft_put_meet(w);
    }
    put_part(w, cost, task->kind, task->chunk, part);
    if (task->kind == WEIR_TASK_BACKWARD) {
        put_part(w, cost_of(w, task, true), PASS_WEIGHTS, task->chunk, part);
    }
}

static void put_passes(draft_writer *w, const weir_task *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        w->pair = (uint8_t)(count == 1 ? 0 : i + 1);
        put_pass(w, &tasks[i], PART_HIDDEN);
    }
    for (uint32_t i = 0; i < count; i++) {
        w->pair = (uint8_t)(count == 1 ? 0 : i + 1);
        put_pass(w, &tasks[i], PART_OWN);
        put_pass(w, &tasks[i], PART_EXCHANGES);
    }
}

/* Tasks [row, row + count): one, or a pair, which begins when what both need is there. */
static void put_run(draft_writer *w, uint32_t row, uint32_t count)
{
    const weir_task *tasks = &w->d->timing.schedule.tasks[row];
    double blocked_s = 0;
    w->begun_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        draft_wait_for(w, put_message(w, &tasks[i], false));
    }
    for (uint32_t i = 0; i < count; i++) {
        draft_put_ready(w, row + i);
    }
    put_passes(w, tasks, count);
    if (w->wait_count > 0) { /* nothing to do, and yet it waits */
        draft_put_time(w, WEIR_STEP_COMPUTE, WEIR_CAUSE_COMPUTE_OTHER, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        draft_put_reduced(w, row + i);
        put_message(w, &tasks[i], true);
        blocked_s = fmax(blocked_s, sent_s(w, &tasks[i]));
    }
    if (blocked_s > 0 && !w->d->play->job->stack.overlaps_pipeline) {
        draft_put_time(w, WEIR_STEP_IDLE, WEIR_CAUSE_DEPENDENCY_SYNC, blocked_s);
    }
}

void draft_put_tasks(draft_writer *w)
{
    const weir_schedule *schedule = &w->d->timing.schedule;
    uint32_t end = schedule->first[w->stage + 1];
    for (uint32_t i = schedule->first[w->stage]; i < end;) {
        const weir_task *task = &schedule->tasks[i];
        bool is_pair = task->paired && i + 1 < end;
        w->saved_s = w->saved_behind_s = is_pair ? saved_of(w, task) : 0;
        put_run(w, i, is_pair ? 2 : 1);
        i += is_pair ? 2 : 1;
    }
    w->pair = 0;
}
