/* Operations of a program, and the exchanges that they name. */
#include "train/train_program_inside.h"

#include "base/grow.h"

#include <math.h>

/* --- exchanges --- */

static uint32_t *index_of(const draft *d, const draft_exchange *key)
{
    size_t row = ((size_t)key->variant * PASS_KINDS + key->pass) * d->chunks + key->slot;
    return &d->first_exchange[row * WEIR_PIECES_MAX + key->piece];
}

static bool is_same(const draft_exchange *a, const draft_exchange *b)
{
    return a->axis == b->axis && a->comm == b->comm && a->is_message == b->is_message &&
           a->from == b->from && a->to == b->to;
}

static uint32_t add_exchange(draft *d, const draft_exchange *key)
{
    draft_exchange made = *key;
    made.seconds = weir_arena_alloc(d->arena, d->stages, sizeof *made.seconds);
    made.bytes = weir_arena_alloc(d->arena, d->stages, sizeof *made.bytes);
    made.count = weir_arena_alloc(d->arena, d->stages, sizeof *made.count);
    made.parts = weir_arena_alloc(d->arena, d->stages, sizeof *made.parts);
    if (!made.seconds || !made.bytes || !made.count || !made.parts ||
        !weir_grow(&d->exchanges, d->exchange_count, &d->exchange_room, sizeof *d->exchanges)) {
        return WEIR_NONE;
    }
    for (uint32_t s = 0; s < d->stages; s++) {
        made.seconds[s] = NAN;
    }
    uint32_t *first = index_of(d, key);
    made.next = *first;
    *first = d->exchange_count;
    d->exchanges[d->exchange_count] = made;
    return d->exchange_count++;
}

static uint32_t find_exchange(draft *d, const draft_exchange *key)
{
    uint32_t id = *index_of(d, key);
    while (id != WEIR_NONE && !is_same(&d->exchanges[id], key)) {
        id = d->exchanges[id].next;
    }
    return id == WEIR_NONE ? add_exchange(d, key) : id;
}

/* --- operations --- */

static uint32_t put(draft_writer *w, const weir_program_op *op)
{
    draft_program *p = w->program;
    if (!weir_grow(&p->ops, p->count, &p->room, sizeof *p->ops)) {
        w->failed = true;
        return WEIR_NONE;
    }
    p->ops[p->count] = (draft_op){.op = *op};
    p->ops[p->count].op.step = w->step;
    return p->count++;
}

void draft_follow(draft_writer *w, uint32_t op, uint32_t before)
{
    if (op != WEIR_NONE && before != WEIR_NONE) {
        draft_op *row = &w->program->ops[op];
        row->after[row->op.after_count++] = before;
    }
}

/* Pieces are rounded together: their ends are, so that a pass is as long as its sum. */
static int64_t take_ns(draft_writer *w, double seconds)
{
    int64_t from_ns = weir_ns_from_s(w->begun_s);
    w->begun_s += seconds;
    return weir_ns_from_s(w->begun_s) - from_ns;
}

void draft_wait_for(draft_writer *w, uint32_t op)
{
    if (op != WEIR_NONE && w->wait_count < DRAFT_WAITS) {
        w->waits[w->wait_count++] = op;
    }
}

static void follow_waits(draft_writer *w, uint32_t op)
{
    for (uint32_t i = 0; i < w->wait_count; i++) {
        draft_follow(w, op, w->waits[i]);
    }
}

/* An op on lane COMPUTE is the one that others follow; it waits for what was put off until it. */
static void lead(draft_writer *w, uint32_t op)
{
    follow_waits(w, op);
    w->wait_count = 0;
    w->program->last = op;
}

void draft_put_time(draft_writer *w, weir_program_kind kind, weir_cause cause, double seconds)
{
    const weir_program_op op = {.kind = kind,
                                .lane = LANE_COMPUTE,
                                .name = cause == WEIR_CAUSE_COUNT ? "delay"
                                                                  : weir_cause_short_name(cause),
                                .duration_ns = take_ns(w, seconds),
                                .cause = cause};
    lead(w, put(w, &op));
}

void draft_put_meet(draft_writer *w)
{
    if (w->d->inner > 1 && w->d->play->jitter > 0) {
        const weir_program_op op = {.kind = WEIR_STEP_IDLE,
                                    .lane = LANE_COMPUTE,
                                    .name = "ranks in step",
                                    .cause = WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                                    .meets = true};
        lead(w, put(w, &op));
    }
}

void draft_put_delay(draft_writer *w, uint32_t before, double seconds)
{
    const weir_program_op op = {.kind = WEIR_STEP_IDLE,
                                .lane = LANE_DELAY,
                                .name = "delay",
                                .duration_ns = weir_ns_from_s(seconds),
                                .cause = WEIR_CAUSE_COUNT};
    uint32_t made = put(w, &op);
    draft_follow(w, made, before);
    follow_waits(w, made);
    w->program->delayed = made;
}

static const char *name_of(const draft_exchange *key)
{
    static const char *const names[WEIR_AXIS_COUNT] = {"tensor", "context", "expert", "data",
                                                       "pipeline"};
    return names[key->axis];
}

uint32_t draft_put_exchange(draft_writer *w, const draft_exchange *key, uint32_t lane,
                            const weir_piece *piece)
{
    uint32_t id = find_exchange(w->d, key);
    if (id == WEIR_NONE) {
        w->failed = true;
        return WEIR_NONE;
    }
    draft_exchange *exchange = &w->d->exchanges[id];
    exchange->seconds[w->stage] = piece->seconds;
    exchange->bytes[w->stage] = piece->bytes;
    exchange->count[w->stage] = piece->count;
    exchange->parts[w->stage] = piece->parts;
    const weir_program_op op = {
        .kind = WEIR_STEP_EXCHANGE, .lane = lane, .name = name_of(key), .exchange = id};
    return put(w, &op);
}

void draft_put_exposed(draft_writer *w, const draft_exchange *key, const weir_piece *piece)
{
    weir_piece whole = *piece; /* of whole ns, as what is beside it */
    whole.seconds = (double)take_ns(w, piece->seconds) * 1e-9;
    lead(w, draft_put_exchange(w, key, LANE_COMPUTE, &whole));
}

void draft_put_copy(draft_writer *w, double seconds)
{
    uint32_t before = w->program->last;
    const weir_program_op op = {.kind = WEIR_STEP_COMPUTE,
                                .lane = LANE_COPY,
                                .name = weir_cause_short_name(WEIR_CAUSE_CACHE_OFFLOAD),
                                .duration_ns = weir_ns_from_s(seconds),
                                .cause = WEIR_CAUSE_CACHE_OFFLOAD};
    uint32_t made = put(w, &op);
    draft_follow(w, made, before);
    follow_waits(w, made);
}

uint32_t draft_put_message(draft_writer *w, const draft_exchange *key, const weir_piece *piece)
{
    uint32_t before = w->program->last;
    uint32_t lane = key->from == w->stage ? LANE_SEND : LANE_RECEIVE;
    uint32_t made = draft_put_exchange(w, key, lane, piece);
    draft_follow(w, made, before);
    return made;
}

void draft_put_hidden(draft_writer *w, const draft_exchange *key, const weir_piece *piece)
{
    uint32_t before = w->program->last;
    uint32_t made = draft_put_exchange(w, key, LANE_HIDDEN, piece);
    draft_follow(w, made, before);
    follow_waits(w, made);
}
