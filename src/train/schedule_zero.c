/* schedule_zero.c: zero-bubble schedules of one chunk a stage, searched for given times within a
 * memory: the heuristic of Qi et al. 2401.10241, section 3.1.
 *
 * It is searched for the times of the median stage, as their program did for the published runs;
 * the list is then played with those of each stage.
 *
 * Micro-batch by micro-batch all stages get a forward (if they may) and a dgrad. Gradients of
 * weights fill gaps: whole, or, if a stage has already idled less than another, in part. Three
 * choices are tried both ways, the shortest of the eight lists is taken. Not by their ILP. */
#include "base/sort.h"
#include "train/schedule_inside.h"

#include <string.h>

enum { F = 0, B, W };

typedef struct {
    uint32_t count[SCHEDULE_KINDS];
    int64_t free; /* when its last task ends */
    int64_t idle; /* since its first forward */
    int64_t begin;
    int64_t kept;
} zero_stage;

typedef struct {
    schedule_ticks median; /* of the stages' passes */
    int64_t send, wgrad_kept;
    uint32_t stages, micro_batches;
    int64_t limit;
    bool idles_first;    /* forwards before the first backward must end before it could begin */
    bool backward_first; /* a forward waits if the stage behind has its next backward sooner */
    bool fills_late;     /* a gap that costs nothing yet is filled all the same */
    zero_stage *stage;
    int64_t *forward_end, *backward_end; /* by stage x micro_batches + micro-batch */
    uint8_t *order;                      /* by stage x 3 x micro_batches */
    int64_t most_idle;
    uint32_t *wanted; /* forwards, by stage */
} zero_draft;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When what the stage's next forward (dgrad) needs from its neighbour is there. */
static int64_t there(const zero_draft *d, uint32_t stage, uint32_t kind)
{
    uint32_t m = d->micro_batches, i = d->stage[stage].count[kind];
    if (kind == F && stage > 0) {
        return d->forward_end[(stage - 1) * m + i] + d->send;
    }
    if (kind == B && stage + 1 < d->stages) {
        return d->backward_end[(stage + 1) * m + i] + d->send;
    }
    return 0;
}

static void put(zero_draft *d, uint32_t stage, uint32_t kind)
{
    zero_stage *s = &d->stage[stage];
    uint32_t m = d->micro_batches, i = s->count[kind];
    int64_t start = later(s->free, kind == W ? 0 : there(d, stage, kind));
    if (s->count[F] > 0) {
        s->idle += start - s->free;
        d->most_idle = later(d->most_idle, s->idle);
    } else {
        s->begin = start;
    }
    s->free = start + d->median.of[kind];
    if (kind == F) {
        s->kept += SCHEDULE_KEPT_UNIT;
        d->forward_end[stage * m + i] = s->free;
    } else if (kind == B) {
        s->kept -= SCHEDULE_KEPT_UNIT - d->wgrad_kept;
        d->backward_end[stage * m + i] = s->free;
    } else {
        s->kept -= d->wgrad_kept;
    }
    d->order[3 * stage * m + s->count[F] + s->count[B] + s->count[W]] = (uint8_t)(2 * kind);
    s->count[kind]++;
}

static bool has_weights(const zero_draft *d, uint32_t stage)
{
    return d->stage[stage].count[W] < d->stage[stage].count[B];
}

/* Gradients of weights, as long as the stage waits. */
static void fill(zero_draft *d, uint32_t stage, uint32_t kind)
{
    const zero_stage *s = &d->stage[stage];
    int64_t at = there(d, stage, kind);
    while (has_weights(d, stage) && s->free + d->median.of[W] <= at) {
        put(d, stage, W);
    }
    if (has_weights(d, stage) && s->free < at &&
        (d->fills_late || at - s->free > d->most_idle - s->idle)) {
        put(d, stage, W);
    }
}

/* How many forwards each stage runs before its first dgrad, beside one; then all of that. */
static void begin(zero_draft *d)
{
    int64_t last = 0;
    for (uint32_t j = 0; j < d->stages; j++) {
        put(d, j, F);
        d->wanted[j] = 0;
    }
    for (uint32_t j = d->stages; j-- > 0;) {
        const zero_stage *s = &d->stage[j];
        int64_t end = s->free, kept = s->kept + SCHEDULE_KEPT_UNIT;
        bool is_last = j + 1 == d->stages;
        int64_t at = is_last ? end : last + d->send;
        int64_t until = is_last || !d->idles_first ? at - 1 : at - d->median.of[F];
        while (s->count[F] + d->wanted[j] < d->micro_batches && kept <= d->limit && end <= until) {
            end += d->median.of[F];
            kept += SCHEDULE_KEPT_UNIT;
            d->wanted[j]++;
        }
        last = later(end, at) + d->median.of[B];
    }
    for (uint32_t j = 1; j < d->stages; j++) {
        uint32_t before = d->wanted[j - 1];
        bool has_all = d->stage[j].count[F] + d->wanted[j] == d->micro_batches;
        uint32_t most = has_all || before == 0 ? before : before - 1;
        d->wanted[j] = d->wanted[j] < most ? d->wanted[j] : most;
    }
    for (uint32_t j = 0; j < d->stages; j++) {
        for (uint32_t i = 0; i < d->wanted[j]; i++) {
            put(d, j, F);
        }
    }
    for (uint32_t j = d->stages; j-- > 0;) {
        put(d, j, B);
    }
}

/* The stage's next forward can wait: the stage behind it has enough, and would send its next
 * gradient before a forward were done here. */
static bool forward_waits(const zero_draft *d, uint32_t stage)
{
    const zero_stage *s = &d->stage[stage], *behind = s + 1;
    if (!d->backward_first || stage + 1 >= d->stages || s->count[F] < behind->count[F] + 2) {
        return false;
    }
    int64_t next = behind->free + d->median.of[F] + d->median.of[B] + d->send;
    if (s->free >= next) {
        return true;
    }
    int64_t kept = s->kept + SCHEDULE_KEPT_UNIT, freed = 0;
    for (uint32_t w = s->count[W]; kept > d->limit && w < s->count[B]; w++) {
        freed += d->median.of[W];
        kept -= d->wgrad_kept;
    }
    return s->free + d->median.of[F] + freed > next && next - s->free <= d->most_idle - s->idle;
}

static void one_round(zero_draft *d)
{
    for (uint32_t j = 0; j < d->stages; j++) {
        d->wanted[j] = d->stage[j].count[F] < d->micro_batches && !forward_waits(d, j) ? 1 : 0;
    }
    for (uint32_t j = d->stages - 1; j-- > 0;) {
        d->wanted[j] = d->wanted[j] < d->wanted[j + 1] ? d->wanted[j] : d->wanted[j + 1];
    }
    for (uint32_t j = 0; j < d->stages; j++) {
        if (d->wanted[j] == 0) {
            continue;
        }
        while (d->stage[j].kept + SCHEDULE_KEPT_UNIT > d->limit && has_weights(d, j)) {
            put(d, j, W);
        }
        fill(d, j, F);
        put(d, j, F);
    }
    for (uint32_t j = d->stages; j-- > 0;) {
        fill(d, j, B);
        while (j == 0 && d->stage[0].count[F] == d->micro_batches && has_weights(d, 0)) {
            put(d, 0, W); /* nobody waits for the first stage's dgrads */
        }
        put(d, j, B);
    }
}

/* The longest time of a stage from its first task to its last. */
static int64_t draft_order(zero_draft *d)
{
    int64_t longest = 0;
    memset(d->stage, 0, d->stages * sizeof *d->stage);
    d->most_idle = 0;
    begin(d);
    for (uint32_t i = 1; i < d->micro_batches; i++) {
        one_round(d);
    }
    for (uint32_t j = 0; j < d->stages; j++) {
        while (has_weights(d, j)) {
            put(d, j, W);
        }
        longest = later(longest, d->stage[j].free - d->stage[j].begin);
    }
    return longest;
}

static int by_ticks(const void *a, const void *b, const void *context)
{
    int64_t one, other;
    (void)context;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return one < other ? -1 : one > other;
}

/* ticks: room for those of each stage. */
static bool find_median(const schedule_clock *clock, uint32_t stages, int64_t *ticks,
                        schedule_ticks *median)
{
    bool is_found = true;
    for (uint32_t kind = 0; kind < SCHEDULE_KINDS; kind++) {
        for (uint32_t i = 0; i < stages; i++) {
            ticks[i] = clock->cell[i].of[kind];
        }
        is_found = is_found && weir_sort(ticks, stages, sizeof *ticks, by_ticks, NULL);
        median->of[kind] = ticks[stages / 2];
    }
    return is_found;
}

weir_code schedule_search_zero(const weir_schedule_wish *wish, const schedule_clock *clock,
                               weir_arena *arena, uint8_t *order, weir_err *err)
{
    uint32_t p = wish->stages, m = wish->micro_batches;
    size_t cells = (size_t)p * m;
    int64_t copies = wish->kind == WEIR_SCHEDULE_ZB_H1 ? p : 2 * (int64_t)p - (wish->times ? 0 : 1);
    zero_draft d = {.send = clock->send,
                    .wgrad_kept = clock->wgrad_kept,
                    .stages = p,
                    .micro_batches = m,
                    .limit = copies * SCHEDULE_KEPT_UNIT,
                    .stage = weir_arena_alloc(arena, p, sizeof *d.stage),
                    .forward_end = weir_arena_alloc(arena, 2 * cells, sizeof *d.forward_end),
                    .order = weir_arena_alloc(arena, 3 * cells, 1),
                    .wanted = weir_arena_alloc(arena, p, sizeof *d.wanted)};
    if (!d.stage || !d.forward_end || !d.order || !d.wanted ||
        !find_median(clock, p, d.forward_end, &d.median)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to search a schedule");
    }
    d.backward_end = d.forward_end + cells;
    int64_t best = INT64_MAX;
    for (uint32_t choice = 0; choice < 8; choice++) {
        d.idles_first = (choice & 4) == 0;
        d.backward_first = (choice & 2) == 0;
        d.fills_late = (choice & 1) == 0;
        int64_t longest = draft_order(&d);
        if (longest < best) {
            best = longest;
            memcpy(order, d.order, 3 * cells);
        }
    }
    return WEIR_OK;
}
