/* schedule.c: which schedules are possible, and their lists for all stages. */
#include "train/schedule.h"

#include "train/schedule_inside.h"

#include <math.h>
#include <stdio.h>

const char *weir_schedule_kind_name(weir_schedule_kind kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        WEIR_TRAIN_SCHEDULES(X)
#undef X
    };
    return kind < WEIR_SCHEDULE_COUNT ? names[kind] : "?";
}

/* --- what is possible --- */

static bool is_v_shaped(weir_schedule_kind kind)
{
    return kind == WEIR_SCHEDULE_ZB_V || kind == WEIR_SCHEDULE_DUALPIPE_V;
}

static bool check_chunks(weir_schedule_kind kind, uint32_t chunks, weir_schedule_fault *fault)
{
    bool is_any = kind == WEIR_SCHEDULE_INTERLEAVED;
    uint32_t needed = is_v_shaped(kind) ? 2 : 1;
    if (chunks > 0 && (is_any || chunks == needed)) {
        return true;
    }
    fault->key = "plan.chunks";
    if (is_any) {
        snprintf(fault->text, sizeof fault->text, "found 0, expected at least 1");
    } else {
        snprintf(fault->text, sizeof fault->text, "found %u for %s, expected %u%s", chunks,
                 weir_schedule_kind_name(kind), needed,
                 needed == 1 ? " or schedule: interleaved" : "");
    }
    return false;
}

static bool check_dual(weir_schedule_kind kind, uint32_t stages, uint32_t micro_batches,
                       weir_schedule_fault *fault)
{
    bool is_v = is_v_shaped(kind);
    uint32_t least = 2 * stages;
    if (!is_v && stages % 2 != 0) {
        fault->key = "plan.pipeline";
        snprintf(fault->text, sizeof fault->text,
                 "found %u for dualpipe, which has two directions, expected an even number such as "
                 "%u",
                 stages, stages + 1);
        return false;
    }
    if (micro_batches < least || (!is_v && micro_batches % 2 != 0)) {
        fault->key = "plan.micro_batches";
        snprintf(fault->text, sizeof fault->text,
                 "found %u for %u stages of %s, expected at least %u%s such as %u", micro_batches,
                 stages, weir_schedule_kind_name(kind), least, is_v ? "" : " and an even number",
                 micro_batches < least ? least : micro_batches + 1);
        return false;
    }
    return true;
}

bool weir_schedule_is_possible(weir_schedule_kind kind, uint32_t stages, uint32_t chunks,
                               uint32_t micro_batches, weir_schedule_fault *fault)
{
    if (!check_chunks(kind, chunks, fault)) {
        return false;
    }
    if (stages == 0 || micro_batches == 0) {
        fault->key = stages == 0 ? "plan.pipeline" : "plan.micro_batches";
        snprintf(fault->text, sizeof fault->text, "found 0, expected at least 1");
        return false;
    }
    if (chunks > 1 && kind == WEIR_SCHEDULE_INTERLEAVED && micro_batches % stages != 0) {
        uint32_t near = micro_batches / stages * stages;
        fault->key = "plan.micro_batches";
        snprintf(fault->text, sizeof fault->text,
                 "found %u for %u stages of interleaved 1F1B, expected a multiple of them such as "
                 "%u",
                 micro_batches, stages, near > 0 ? near : stages);
        return false;
    }
    bool is_dual = kind == WEIR_SCHEDULE_DUALPIPE || kind == WEIR_SCHEDULE_DUALPIPE_V;
    return !is_dual || check_dual(kind, stages, micro_batches, fault);
}

uint32_t schedule_position(weir_schedule_kind kind, uint32_t stages, uint32_t stage, uint32_t chunk)
{
    if (chunk == 1 && is_v_shaped(kind)) {
        return 2 * stages - 1 - stage;
    }
    if (chunk == 1 && kind == WEIR_SCHEDULE_DUALPIPE) {
        return stages - 1 - stage;
    }
    return chunk * stages + stage;
}

/* --- searched lists --- */

static double wgrad_share(const weir_schedule_wish *wish)
{
    return wish->wgrad_share > 0 ? fmin(wish->wgrad_share, 1) : 1;
}

weir_code schedule_clock_of(const weir_schedule_wish *wish, weir_arena *arena,
                            schedule_clock *clock, weir_err *err)
{
    enum { TICKS = 1 << 20 }; /* of the longest pass */
    uint32_t cells = wish->stages * wish->chunks;
    clock->cell = weir_arena_alloc(arena, cells, sizeof *clock->cell);
    if (!clock->cell) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to search a schedule");
    }
    double longest = 0;
    for (uint32_t i = 0; i < cells && wish->times; i++) {
        const weir_pass_times *t = &wish->times[i];
        longest = fmax(longest, fmax(t->forward_s, fmax(t->dgrad_s, t->wgrad_s)));
    }
    double scale = longest > 0 ? TICKS / longest : 0;
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t at =
            schedule_position(wish->kind, wish->stages, i / wish->chunks, i % wish->chunks);
        const weir_pass_times *t = wish->times ? &wish->times[at] : NULL;
        clock->cell[i] =
            t && longest > 0
                ? (schedule_ticks){{llround(t->forward_s * scale), llround(t->dgrad_s * scale),
                                    llround(t->wgrad_s * scale)}}
                : (schedule_ticks){{TICKS, TICKS, TICKS}};
    }
    clock->send = llround(wish->send_s * scale);
    clock->wgrad_kept = llround(wgrad_share(wish) * SCHEDULE_KEPT_UNIT);
    return WEIR_OK;
}

static void write_order(schedule_writer *w, const uint8_t *order, bool is_v, uint32_t *next)
{
    static const weir_task_kind kinds[] = {WEIR_TASK_FORWARD, WEIR_TASK_DGRAD, WEIR_TASK_WGRAD};
    uint32_t each = SCHEDULE_KINDS * w->chunks * w->micro_batches;
    for (uint32_t i = 0; i < each; i++) {
        uint32_t kind = order[i] / 2, leg = order[i] % 2;
        /* backwards go the other way through the chunks */
        uint32_t chunk = is_v && kind > 0 ? 1 - leg : leg;
        schedule_put(w, kinds[kind], chunk, next[order[i]]++);
    }
}

static weir_code write_searched(schedule_writer *w, const weir_schedule_wish *wish, uint32_t *first,
                                weir_arena *arena, weir_err *err)
{
    uint32_t each = SCHEDULE_KINDS * w->chunks * w->micro_batches;
    bool is_v = wish->kind == WEIR_SCHEDULE_ZB_V;
    schedule_clock clock;
    uint8_t *order = weir_arena_alloc(arena, (size_t)each * w->stages, 1);
    if (!order) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to search a schedule");
    }
    weir_code code = schedule_clock_of(wish, arena, &clock, err);
    if (code == WEIR_OK) {
        code = is_v ? schedule_search_v(wish, &clock, arena, order, err)
                    : schedule_search_zero(wish, &clock, arena, order, err);
    }
    for (uint32_t s = 0; code == WEIR_OK && s < w->stages; s++) {
        uint32_t next[2 * SCHEDULE_KINDS] = {0};
        first[s] = w->count;
        write_order(w, order + (size_t)s * each, is_v, next);
    }
    return code;
}

/* --- lists --- */

typedef void (*stage_writer)(schedule_writer *w, uint32_t stage);

/* NULL: it is searched. */
static stage_writer writer_of(weir_schedule_kind kind, uint32_t chunks)
{
    switch (kind) {
    case WEIR_SCHEDULE_GPIPE:
        return schedule_write_gpipe;
    case WEIR_SCHEDULE_ONE_F_ONE_B:
        return schedule_write_1f1b;
    case WEIR_SCHEDULE_INTERLEAVED:
        return chunks > 1 ? schedule_write_interleaved : schedule_write_1f1b;
    case WEIR_SCHEDULE_DUALPIPE:
        return schedule_write_dualpipe;
    case WEIR_SCHEDULE_DUALPIPE_V:
        return schedule_write_dualpipe_v;
    default:
        return NULL;
    }
}

/* share: of a pass's activations, kept from dgrad to wgrad. */
static void count_peaks(weir_schedule *schedule, double share, uint32_t *peak)
{
    uint32_t late = (uint32_t)lround(share * SCHEDULE_KEPT_UNIT);
    const uint32_t freed[] = {0, SCHEDULE_KEPT_UNIT, SCHEDULE_KEPT_UNIT - late, late};
    for (uint32_t s = 0; s < schedule->stages; s++) {
        uint32_t kept = 0, most = 0;
        for (uint32_t i = schedule->first[s]; i < schedule->first[s + 1]; i++) {
            uint8_t kind = schedule->tasks[i].kind;
            kept += kind == WEIR_TASK_FORWARD ? SCHEDULE_KEPT_UNIT : 0;
            kept -= freed[kind];
            most = kept > most ? kept : most;
        }
        peak[s] = (most + SCHEDULE_KEPT_UNIT - 1) / SCHEDULE_KEPT_UNIT;
        schedule->in_flight = peak[s] > schedule->in_flight ? peak[s] : schedule->in_flight;
    }
}

weir_code weir_schedule_search(const weir_schedule_wish *wish, weir_arena *arena,
                               weir_schedule *schedule, weir_err *err)
{
    weir_schedule_fault fault = {0};
    weir_schedule_kind kind = wish->kind;
    uint32_t p = wish->stages, m = wish->micro_batches;
    if (!weir_schedule_is_possible(kind, p, wish->chunks, m, &fault)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: %s", fault.key, fault.text);
    }
    uint32_t chunks = kind == WEIR_SCHEDULE_DUALPIPE ? 2 : wish->chunks;
    weir_task *tasks = weir_arena_alloc(arena, (size_t)chunks * m * 3 * p, sizeof *tasks);
    uint32_t *first = weir_arena_alloc(arena, p + 1, sizeof *first);
    uint32_t *position = weir_arena_alloc(arena, (size_t)p * chunks, sizeof *position);
    uint32_t *peak = weir_arena_alloc(arena, p, sizeof *peak);
    if (!tasks || !first || !position || !peak) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a schedule");
    }
    schedule_writer w = {p, chunks, m, tasks, 0};
    stage_writer writer = writer_of(kind, chunks);
    weir_code code = writer ? WEIR_OK : write_searched(&w, wish, first, arena, err);
    if (code != WEIR_OK) {
        return code;
    }
    for (uint32_t i = 0; i < p * chunks; i++) {
        position[i] = schedule_position(kind, p, i / chunks, i % chunks);
    }
    for (uint32_t s = 0; writer && s < p; s++) {
        first[s] = w.count;
        writer(&w, s);
    }
    first[p] = w.count;
    *schedule = (weir_schedule){.kind = kind,
                                .stages = p,
                                .chunks = chunks,
                                .micro_batches = m,
                                .first = first,
                                .tasks = tasks,
                                .position = position,
                                .peak = peak};
    count_peaks(schedule, wgrad_share(wish), peak);
    return WEIR_OK;
}
