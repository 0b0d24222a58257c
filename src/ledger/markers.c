#include "ledger/markers.h"

#include <stdlib.h>
#include <string.h>

typedef enum { MARK_NONE = 0, MARK_PROFILER, MARK_STEP, MARK_EXECUTE, MARK_KINDS } mark_kind;

/* "ProfilerStep#12", "ProfilerStep # 12", ... */
static bool profiler_number(weir_str name, int64_t *number)
{
    uint32_t i = WEIR_STR("ProfilerStep").n;
    while (i < name.n && (name.p[i] == ' ' || name.p[i] == '#')) {
        i++;
    }
    *number = 0;
    uint32_t digits = i;
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && *number < INT32_MAX; i++) {
        *number = *number * 10 + (name.p[i] - '0');
    }
    return i > digits && i == name.n;
}

static mark_kind mark_of(weir_str name, int64_t *number)
{
    *number = -1;
    if (weir_str_starts(name, WEIR_STR("ProfilerStep"))) {
        return profiler_number(name, number) ? MARK_PROFILER : MARK_NONE;
    }
    if (weir_str_starts(name, WEIR_STR("step["))) { /* SGLang: step[DECODE bs=32] */
        return MARK_STEP;
    }
    bool vllm =
        weir_str_starts(name, WEIR_STR("execute_")) && weir_str_has(name, WEIR_STR("context"));
    return vllm ? MARK_EXECUTE : MARK_NONE;
}

typedef struct {
    uint8_t kind;
    int64_t number;
} name_mark;

/* Markers of one kind on one lane; nested ones are part of the outer. out may be NULL: count only.
 */
static uint32_t lane_markers(const ledger_run *run, const weir_lane *lane, const name_mark *marks,
                             mark_kind kind, step_marker *out)
{
    uint32_t n = 0;
    int64_t open_until = INT64_MIN;
    for (uint32_t s = lane->first_span; s < lane->first_span + lane->span_count; s++) {
        const name_mark *mark = &marks[run->spans.name[s]];
        bool host =
            run->spans.kind[s] == WEIR_SPAN_ANNOTATION || run->spans.kind[s] == WEIR_SPAN_OP;
        if (mark->kind != kind || !host || run->spans.start_ns[s] < open_until ||
            run->spans.flags[s] & WEIR_SPAN_OPEN) {
            continue;
        }
        open_until = ledger_end(run, s);
        if (out) {
            out[n] = (step_marker){kind == MARK_PROFILER ? mark->number : (int64_t)n,
                                   run->spans.start_ns[s], open_until};
        }
        n++;
    }
    return n;
}

/* Lanes stand by kind, then by rank: the first thread of rank, or where it would stand. */
static uint32_t first_thread(const ledger_run *run, weir_rank_id rank)
{
    uint32_t low = 0, high = run->lane_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const weir_lane *lane = &run->lanes[middle];
        if (lane->kind < WEIR_LANE_THREAD ||
            (lane->kind == WEIR_LANE_THREAD && lane->rank < rank)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The thread of rank with most markers of kind. */
static const weir_lane *rank_lane(const ledger_run *run, weir_rank_id rank, const name_mark *marks,
                                  mark_kind kind, uint32_t *count)
{
    const weir_lane *best = NULL;
    *count = 0;
    for (uint32_t i = first_thread(run, rank); i < run->lane_count && run->lanes[i].rank == rank;
         i++) {
        const weir_lane *lane = &run->lanes[i];
        uint32_t n = lane_markers(run, lane, marks, kind, NULL);
        if (n > *count) {
            *count = n;
            best = lane;
        }
    }
    return best;
}

/* ProfilerStep, unless there is at most one of it and the engine marks its own steps. */
static mark_kind kind_choose(const uint64_t totals[MARK_KINDS], uint32_t ranks)
{
    mark_kind engine = totals[MARK_STEP]      ? MARK_STEP
                       : totals[MARK_EXECUTE] ? MARK_EXECUTE
                                              : MARK_NONE;
    if (totals[MARK_PROFILER] > ranks || engine == MARK_NONE) {
        return totals[MARK_PROFILER] ? MARK_PROFILER : MARK_NONE;
    }
    return engine;
}

static name_mark *names_mark(const ledger_run *run, bool *any)
{
    const weir_timeline *t = run->in->timeline;
    uint32_t n = weir_timeline_name_count(t);
    name_mark *marks = calloc(n, sizeof *marks);
    *any = false;
    for (uint32_t i = 0; marks && i < n; i++) {
        marks[i].kind = (uint8_t)mark_of(weir_timeline_name(t, i), &marks[i].number);
        *any = *any || marks[i].kind;
    }
    return marks;
}

static weir_code markers_collect(const ledger_run *run, const name_mark *marks, step_markers *found,
                                 weir_err *err)
{
    uint64_t totals[MARK_KINDS] = {0};
    for (int kind = MARK_PROFILER; kind < MARK_KINDS; kind++) {
        for (uint32_t r = 0; r < run->rank_count; r++) {
            uint32_t n;
            rank_lane(run, r, marks, (mark_kind)kind, &n);
            totals[kind] += n;
        }
    }
    mark_kind kind = kind_choose(totals, run->rank_count);
    found->markers = calloc(totals[kind] + 1, sizeof *found->markers);
    if (!found->markers) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t r = 0; kind != MARK_NONE && r < run->rank_count; r++) {
        uint32_t n;
        const weir_lane *lane = rank_lane(run, r, marks, kind, &n);
        if (lane) {
            lane_markers(run, lane, marks, kind, found->markers + found->first[r]);
        }
        found->first[r + 1] = found->first[r] + n;
    }
    return WEIR_OK;
}

weir_code markers_find(const ledger_run *run, step_markers *found, weir_err *err)
{
    *found = (step_markers){0};
    found->first = calloc(run->rank_count + (size_t)1, sizeof *found->first);
    bool any;
    name_mark *marks = names_mark(run, &any);
    weir_code code = found->first && marks ? WEIR_OK : LEDGER_NO_MEMORY(err);
    if (code == WEIR_OK && any) {
        code = markers_collect(run, marks, found, err);
    }
    free(marks);
    if (code != WEIR_OK) {
        markers_clear(found);
    }
    return code;
}

void markers_clear(step_markers *found)
{
    free(found->markers);
    free(found->first);
    *found = (step_markers){0};
}
