/* schedule_zero_v.c: the zero-bubble V schedule, searched for the mean times of all stages within
 * the memory of p micro-batches: the heuristic of Qi et al. (2401.10241, section 6, and the
 * authors' program, which takes mean times too; it finds no list for many that differ).
 *
 * A stage holds the chunks at positions s and 2 p - 1 - s. A pass goes over two legs: away from
 * the first stage (0) and back (1); backwards too begin at the first stage. After a start that is
 * counted, each round gives every stage a dgrad, then a forward; gradients of weights fill gaps.
 * Two choices are tried both ways, each again with the gaps of the try before allowed. */
#include "train/schedule_inside.h"

#include <string.h>

enum { F = 0, B, W };

typedef struct {
    uint32_t count[SCHEDULE_KINDS][2];
    int64_t free; /* when its last task ends */
    int64_t idle; /* since its first forward */
    int64_t kept;
    uint32_t written;
    uint32_t weights; /* row of order up to which dgrads have their wgrad */
    int64_t allowed;  /* idle time of the try before; below 0: none */
} v_stage;

typedef struct {
    schedule_ticks mean; /* of a chunk */
    int64_t send, wgrad_kept;
    uint32_t stages, micro_batches;
    int64_t limit;
    bool fills_forward, fills_backward;
    bool is_broken; /* a task came before what it needs */
    v_stage *stage;
    int64_t *end[2]; /* of F, B; by (leg x stages + stage) x micro_batches + micro-batch; below 0:
                        not yet */
    uint8_t *order;  /* by stage x 6 x micro_batches */
    int64_t most_allowed;
} v_draft;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t *end_of(const v_draft *d, uint32_t stage, uint32_t kind, uint32_t leg, uint32_t i)
{
    return &d->end[kind][(leg * d->stages + stage) * d->micro_batches + i];
}

/* When what the stage's next pass of the leg needs from a neighbour is there; below 0: not yet. */
static int64_t there(const v_draft *d, uint32_t stage, uint32_t kind, uint32_t leg)
{
    uint32_t i = d->stage[stage].count[kind][leg];
    bool is_first = leg == 0 ? stage == 0 : stage + 1 == d->stages;
    if (is_first || i >= d->micro_batches) {
        return 0;
    }
    int64_t end = *end_of(d, leg == 0 ? stage - 1 : stage + 1, kind, leg, i);
    return end < 0 ? end : end + d->send;
}

/* Whether the stage itself has done what comes before the pass. */
static bool is_behind_own(const v_draft *d, uint32_t stage, uint32_t kind, uint32_t leg)
{
    const v_stage *s = &d->stage[stage];
    uint32_t i = s->count[kind][leg];
    uint32_t before = kind == F   ? (leg == 0 ? d->micro_batches : s->count[F][0])
                      : kind == W ? s->count[B][leg]
                      : leg == 0  ? s->count[F][1]
                                  : s->count[B][0];
    return i < before && i < d->micro_batches;
}

static void put(v_draft *d, uint32_t stage, uint32_t kind, uint32_t leg)
{
    v_stage *s = &d->stage[stage];
    int64_t at = kind == W ? 0 : there(d, stage, kind, leg);
    if (at < 0 || !is_behind_own(d, stage, kind, leg)) {
        d->is_broken = true;
        return;
    }
    int64_t start = later(s->free, at);
    s->idle += s->count[F][0] > 0 ? start - s->free : 0;
    s->free = start + d->mean.of[kind];
    if (kind != W) {
        *end_of(d, stage, kind, leg, s->count[kind][leg]) = s->free;
    }
    s->kept += kind == F   ? SCHEDULE_KEPT_UNIT
               : kind == B ? d->wgrad_kept - SCHEDULE_KEPT_UNIT
                           : -d->wgrad_kept;
    s->count[kind][leg]++;
    d->order[(size_t)stage * 6 * d->micro_batches + s->written++] = (uint8_t)(2 * kind + leg);
}

static bool has_weights(const v_draft *d, uint32_t stage)
{
    const v_stage *s = &d->stage[stage];
    return s->count[W][0] + s->count[W][1] < s->count[B][0] + s->count[B][1];
}

/* The leg of the oldest dgrad without its wgrad. */
static uint32_t oldest(v_draft *d, uint32_t stage)
{
    v_stage *s = &d->stage[stage];
    const uint8_t *order = d->order + (size_t)stage * 6 * d->micro_batches;
    uint32_t row = s->weights;
    while (order[row] / 2 != B) {
        row++;
    }
    s->weights = row;
    return order[row] % 2;
}

static void put_weights(v_draft *d, uint32_t stage)
{
    uint32_t leg = oldest(d, stage);
    put(d, stage, W, leg);
    d->stage[stage].weights++;
}

static void free_memory(v_draft *d, uint32_t stage, int64_t needed)
{
    while (d->stage[stage].kept + needed > d->limit && has_weights(d, stage)) {
        put_weights(d, stage);
    }
}

/* Gradients of weights while the stage waits; in part too if the stage would idle more than all. */
static void fill(v_draft *d, uint32_t stage, int64_t at, bool fills_part)
{
    const v_stage *s = &d->stage[stage];
    while (has_weights(d, stage) && s->free + d->mean.of[W] <= at) {
        put_weights(d, stage);
    }
    int64_t most = d->most_allowed - s->allowed;
    for (uint32_t j = 0; j < d->stages; j++) {
        most = later(most, d->stage[j].idle);
    }
    if (fills_part && has_weights(d, stage) && at - s->free > most - s->idle) {
        put_weights(d, stage);
    }
}

/* Forwards until the first backward could come: as many as fit before the first one is back. */
static void begin(v_draft *d)
{
    uint32_t p = d->stages, m = d->micro_batches;
    for (uint32_t i = 0; i < p; i++) {
        put(d, i, F, 0);
    }
    for (uint32_t i = p; i-- > 0 && !d->is_broken;) {
        v_stage *s = &d->stage[i];
        int64_t at = there(d, i, F, 1), more = SCHEDULE_KEPT_UNIT * (2 + 2 * (int64_t)i);
        while (i + 1 < p && s->kept + more <= d->limit && s->free + d->mean.of[F] <= at &&
               s->count[F][0] < m) {
            for (uint32_t j = 0; j <= i; j++) {
                put(d, j, F, 0);
            }
        }
        put(d, i, F, 1);
    }
    uint32_t leg = 0;
    for (uint32_t i = 1; i < p && !d->is_broken; i++) {
        const v_stage *s = &d->stage[i], *before = s - 1;
        while (!d->is_broken &&
               (s->count[F][0] + s->count[F][1] < before->count[F][0] + before->count[F][1] ||
                (s->count[F][1] <= before->count[F][1] && before->count[F][1] < m))) {
            for (uint32_t j = p; j-- > i;) {
                if (d->stage[j].count[F][leg] < m) {
                    put(d, j, F, leg);
                }
            }
            leg = 1 - leg;
        }
    }
}

/* The leg of the stage's next dgrad: back, if its gradient is on its way. */
static uint32_t backward_leg(const v_draft *d, uint32_t stage)
{
    const v_stage *s = &d->stage[stage];
    if (s->count[B][1] >= s->count[B][0]) {
        return 0;
    }
    return s->count[B][0] >= d->micro_batches || there(d, stage, B, 1) >= 0 ? 1 : 0;
}

static void put_backward(v_draft *d, uint32_t stage, uint32_t leg)
{
    fill(d, stage, there(d, stage, B, leg), leg == 1 || d->fills_backward);
    put(d, stage, B, leg);
}

/* WEIR_NONE: none now. */
static uint32_t forward_leg(const v_draft *d, uint32_t stage)
{
    const v_stage *s = &d->stage[stage];
    if (s->count[F][1] >= d->micro_batches) {
        return WEIR_NONE;
    }
    if (s->count[F][1] >= s->count[F][0]) {
        return 0;
    }
    if (there(d, stage, F, 1) >= 0) {
        return 1;
    }
    bool has_next = s->count[F][0] < d->micro_batches && there(d, stage, F, 0) >= 0;
    return has_next ? 0 : WEIR_NONE;
}

static void one_round(v_draft *d, uint8_t *legs)
{
    for (uint32_t i = 0; i < d->stages; i++) {
        free_memory(d, i, d->wgrad_kept - SCHEDULE_KEPT_UNIT);
        legs[i] = (uint8_t)backward_leg(d, i);
    }
    for (uint32_t i = d->stages; i-- > 0;) {
        if (legs[i] == 1) {
            put_backward(d, i, 1);
        }
    }
    for (uint32_t i = 0; i < d->stages; i++) {
        if (legs[i] == 0) {
            put_backward(d, i, 0);
        }
    }
    for (uint32_t i = 0; i < d->stages; i++) {
        uint32_t leg = forward_leg(d, i);
        if (leg != WEIR_NONE) {
            free_memory(d, i, SCHEDULE_KEPT_UNIT);
            fill(d, i, there(d, i, F, leg), d->fills_forward);
            put(d, i, F, leg);
        }
    }
}

/* The most that a stage idles between its first task and its last; INT64_MAX: no such list. */
static int64_t draft_order(v_draft *d, uint8_t *legs)
{
    size_t cells = 2 * (size_t)d->stages * d->micro_batches;
    d->is_broken = false;
    for (uint32_t i = 0; i < d->stages; i++) {
        d->stage[i] = (v_stage){.allowed = d->stage[i].allowed};
    }
    for (size_t i = 0; i < cells; i++) {
        d->end[F][i] = d->end[B][i] = -1;
    }
    begin(d);
    for (uint32_t i = 0; i < 2 * d->micro_batches && !d->is_broken; i++) {
        one_round(d, legs);
    }
    int64_t most = 0;
    for (uint32_t i = 0; i < d->stages && !d->is_broken; i++) {
        while (has_weights(d, i)) {
            put_weights(d, i);
        }
        most = later(most, d->stage[i].idle);
        d->is_broken |= d->stage[i].written != 6 * d->micro_batches;
    }
    return d->is_broken ? INT64_MAX : most;
}

/* Once as it comes, then with what a stage idles less than the most of the try before, as long as
 * that helps. */
static int64_t improve(v_draft *d, uint8_t *legs, int64_t best, uint8_t *order)
{
    enum { TRIES = 16 };
    int64_t last = INT64_MAX;
    d->most_allowed = -1;
    for (uint32_t i = 0; i < d->stages; i++) {
        d->stage[i].allowed = -1;
    }
    for (uint32_t t = 0; t < TRIES; t++) {
        int64_t most = draft_order(d, legs);
        if (most < best) {
            best = most;
            memcpy(order, d->order, 6 * (size_t)d->stages * d->micro_batches);
        }
        if (most >= last) {
            break;
        }
        last = d->most_allowed = most;
        for (uint32_t i = 0; i < d->stages; i++) {
            d->stage[i].allowed = d->stage[i].idle;
        }
    }
    return best;
}

static schedule_ticks mean_of(const schedule_clock *clock, uint32_t cells)
{
    schedule_ticks mean = {{0}};
    for (uint32_t k = 0; k < SCHEDULE_KINDS; k++) {
        for (uint32_t i = 0; i < cells; i++) {
            mean.of[k] += clock->cell[i].of[k];
        }
        mean.of[k] /= cells > 0 ? cells : 1;
    }
    return mean;
}

weir_code schedule_search_v(const weir_schedule_wish *wish, const schedule_clock *clock,
                            weir_arena *arena, uint8_t *order, weir_err *err)
{
    size_t p = wish->stages, m = wish->micro_batches;
    v_draft d = {.mean = mean_of(clock, 2 * wish->stages),
                 .send = clock->send,
                 .wgrad_kept = clock->wgrad_kept,
                 .stages = wish->stages,
                 .micro_batches = wish->micro_batches,
                 .limit = 2 * (int64_t)p * SCHEDULE_KEPT_UNIT,
                 .stage = weir_arena_alloc(arena, p, sizeof *d.stage),
                 .order = weir_arena_alloc(arena, 6 * p * m, 1)};
    uint8_t *legs = weir_arena_alloc(arena, p, 1);
    int64_t *ends = weir_arena_alloc(arena, 4 * p * m, sizeof *ends);
    if (!d.stage || !d.order || !legs || !ends) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to search a schedule");
    }
    d.end[F] = ends;
    d.end[B] = ends + 2 * p * m;
    int64_t best = INT64_MAX;
    for (uint32_t choice = 0; choice < 4; choice++) {
        d.fills_backward = (choice & 2) == 0;
        d.fills_forward = (choice & 1) == 0;
        best = improve(&d, legs, best, order);
    }
    if (best == INT64_MAX) {
        return weir_err_set(err, WEIR_ERR_INTERNAL, "no zero-bubble V schedule was found");
    }
    return WEIR_OK;
}
