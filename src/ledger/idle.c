/* Why a device was idle (DESIGN 2.4): the launch of the next span, and what its thread did before.
 */
#include "ledger/run.h"

#include <string.h>

static void part_write(line_writer *w, int64_t begin, int64_t end, weir_cause cause)
{
    const line_part part = {
        .begin_ns = begin, .end_ns = end, .cause = cause, .span = WEIR_NONE, .instance = WEIR_NONE};
    ledger_line(w, &part);
}

static bool activity_cause(weir_host_activity activity, weir_cause *cause)
{
    switch (activity) {
    case WEIR_HOST_DATA:
        *cause = WEIR_CAUSE_DEPENDENCY_DATA;
        return true;
    case WEIR_HOST_ALLOCATOR:
        *cause = WEIR_CAUSE_DEPENDENCY_ALLOCATOR;
        return true;
    case WEIR_HOST_COMPILE:
        *cause = WEIR_CAUSE_DEPENDENCY_COMPILE;
        return true;
    case WEIR_HOST_CHECKPOINT:
        *cause = WEIR_CAUSE_DEPENDENCY_CHECKPOINT;
        return true;
    case WEIR_HOST_SYNC:
        *cause = WEIR_CAUSE_DEPENDENCY_SYNC;
        return true;
    case WEIR_HOST_OTHER:
    case WEIR_HOST_COUNT:
        break;
    }
    return false;
}

/* The innermost span around t whose name says something, from span s outwards. */
static bool chain_cause(const ledger_run *run, weir_span_id s, int64_t t, weir_cause *cause)
{
    for (; s != WEIR_NONE; s = run->parent[s - run->spans.device_count]) {
        uint8_t told = run->told_cause[run->spans.name[s]];
        if (told && ledger_end(run, s) > t) {
            *cause = (weir_cause)(told - 1);
            return true;
        }
        if (ledger_end(run, s) > t && activity_cause(ledger_host_activity(run, s), cause)) {
            return true;
        }
    }
    return false;
}

/* What the process's other threads do at t, where the launching thread does nothing. A thread that
 * waits for the device tells nothing about why the device waits. *until: lowered to where that may
 * change. */
static void others_cause(const ledger_run *run, const weir_lane *thread, int64_t t, int64_t *until,
                         weir_cause *cause)
{
    const weir_lane *lane = thread, *end = run->lanes + run->lane_count;
    while (lane[-1].kind == WEIR_LANE_THREAD && lane[-1].rank == thread->rank &&
           lane[-1].group == thread->group) { /* a device lane always stands before: it ends */
        lane--;
    }
    for (; lane < end && lane->rank == thread->rank && lane->group == thread->group; lane++) {
        if (lane == thread) {
            continue;
        }
        weir_span_id s = ledger_innermost(run, lane, t), next = ledger_first_after(run, lane, t);
        if (s != WEIR_NONE && ledger_end(run, s) < *until) {
            *until = ledger_end(run, s);
        }
        if (next < lane->first_span + lane->span_count && run->spans.start_ns[next] < *until) {
            *until = run->spans.start_ns[next];
        }
        weir_cause found;
        if (s != WEIR_NONE && chain_cause(run, s, t, &found) &&
            found != WEIR_CAUSE_DEPENDENCY_SYNC) {
            *cause = found;
            return;
        }
    }
}

void ledger_host_parts(const ledger_run *run, const weir_lane *thread, int64_t t, int64_t end,
                       ledger_host_visitor visit, void *context)
{
    weir_span_id innermost = ledger_innermost(run, thread, t), held_span = WEIR_NONE;
    uint32_t next = ledger_first_after(run, thread, t),
             last = thread->first_span + thread->span_count;
    weir_cause held = WEIR_CAUSE_DEPENDENCY_HOST;
    int64_t begin = t;
    while (t < end) {
        int64_t until = end;
        if (innermost != WEIR_NONE && ledger_end(run, innermost) < until) {
            until = ledger_end(run, innermost);
        }
        if (next < last && run->spans.start_ns[next] < until) {
            until = run->spans.start_ns[next];
        }
        weir_cause cause = WEIR_CAUSE_DEPENDENCY_HOST;
        bool told = innermost != WEIR_NONE && chain_cause(run, innermost, t, &cause);
        if (!told &&
            (innermost == WEIR_NONE || run->spans.kind[innermost] == WEIR_SPAN_ANNOTATION)) {
            others_cause(run, thread, t, &until, &cause); /* an annotation is no activity */
        }
        if (begin < t && (cause != held || innermost != held_span)) {
            visit(context, begin, t, held, held_span);
            begin = t;
        }
        held = cause;
        held_span = innermost;
        t = until;
        while (next < last && run->spans.start_ns[next] <= t) { /* who started last is innermost */
            innermost = next++;
        }
        while (innermost != WEIR_NONE && ledger_end(run, innermost) <= t) {
            innermost = run->parent[innermost - run->spans.device_count];
        }
    }
    if (begin < end) {
        visit(context, begin, end, held, held_span);
    }
}

/* A gap that began while the launching thread waited for the device in a blocking call. */
typedef struct {
    line_writer *w;
    bool in_sync;
} gap;

static void gap_host_part(void *context, int64_t begin, int64_t end, weir_cause cause,
                          weir_span_id innermost)
{
    const gap *g = context;
    (void)innermost;
    bool host = cause == WEIR_CAUSE_DEPENDENCY_HOST;
    part_write(g->w, begin, end, host && g->in_sync ? WEIR_CAUSE_DEPENDENCY_SYNC : cause);
}

static bool is_in_sync(const ledger_run *run, const weir_lane *thread, int64_t t)
{
    weir_cause cause;
    weir_span_id s = ledger_innermost(run, thread, t);
    return s != WEIR_NONE && chain_cause(run, s, t, &cause) && cause == WEIR_CAUSE_DEPENDENCY_SYNC;
}

/* A graph was launched between the launches of the spans around the gap, and none of its kernels
 * is in the trace: profilers under-record replays, the gap may have been work. */
static int64_t unrecorded_graph(const line_writer *w, weir_span_id next, weir_span_id previous,
                                int64_t end)
{
    const ledger_run *run = w->run;
    weir_rank_id rank = run->devices[w->id].rank;
    const weir_span_id *launch = run->in->match->launch;
    int64_t from = previous != WEIR_NONE && launch[previous] != WEIR_NONE
                       ? ledger_end(run, launch[previous])
                       : 0;
    int64_t to =
        next != WEIR_NONE && launch[next] != WEIR_NONE ? run->spans.start_ns[launch[next]] : end;
    uint32_t low = run->orphan_first[rank], high = run->orphan_first[rank + 1], last = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)run->orphans[middle].key < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < last && (int64_t)run->orphans[low].key < to) {
        return (int64_t)run->orphans[low].key;
    }
    return INT64_MAX;
}

static void gap_explain(line_writer *w, int64_t begin, int64_t end, weir_span_id next,
                        weir_span_id previous)
{
    const ledger_run *run = w->run;
    weir_span_id launch = run->in->match->launch[next];
    if (launch == WEIR_NONE) {
        part_write(w, begin, end, WEIR_CAUSE_DEPENDENCY_UNKNOWN);
        return;
    }
    int64_t l0 = run->spans.start_ns[launch], l1 = ledger_end(run, launch);
    if (previous != WEIR_NONE && run->in->match->launch[previous] == launch) {
        l0 = l1 = begin; /* inside a graph: launched already, although the call may still run */
    }
    const weir_lane *thread = &run->lanes[run->spans.lane[launch]];
    gap g = {w, is_in_sync(run, thread, begin)};
    int64_t t = begin, until = l0 < end ? l0 : end;
    if (t < until) {
        ledger_host_parts(run, thread, t, until, gap_host_part, &g);
        t = until;
    }
    until = l1 < end ? l1 : end;
    if (t < until) {
        part_write(w, t, until, WEIR_CAUSE_DEPENDENCY_LAUNCH);
        t = until;
    }
    weir_span_id producer = ledger_producer(run, next);
    int64_t produced = producer == WEIR_NONE ? INT64_MIN : ledger_end(run, producer);
    until = produced < end ? produced : end;
    if (t < until) {
        part_write(w, t, until, WEIR_CAUSE_DEPENDENCY_STREAM);
        t = until;
    }
    part_write(w, t, end, WEIR_CAUSE_DEPENDENCY_TURNAROUND);
}

/* What is not known is asked of launches and host. */
static void idle_unknown(line_writer *w, int64_t begin, int64_t end, weir_span_id next,
                         weir_span_id previous)
{
    int64_t unknown = unrecorded_graph(w, next, previous, end);
    int64_t until = unknown < begin ? begin : unknown < end ? unknown : end;
    if (next == WEIR_NONE) {
        part_write(w, begin, until, WEIR_CAUSE_DEPENDENCY_TAIL);
    } else if (begin < until) {
        gap_explain(w, begin, until, next, previous);
    }
    part_write(w, until, end, WEIR_CAUSE_DEPENDENCY_UNKNOWN);
}

uint32_t ledger_gap_at(const ledger_run *run, weir_device_id device, int64_t t)
{
    const weir_gaps *gaps = run->in->gaps;
    uint32_t low = gaps ? gaps->first[device] : 0, high = gaps ? gaps->first[device + 1] : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gaps->gaps[middle].end_ns <= t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void ledger_idle(line_writer *w, int64_t begin, int64_t end, weir_span_id next,
                 weir_span_id previous)
{
    const weir_gaps *gaps = w->run->in->gaps;
    uint32_t last = gaps ? gaps->first[w->id + 1] : 0;
    for (uint32_t i = ledger_gap_at(w->run, w->id, begin);
         i < last && gaps->gaps[i].begin_ns < end && begin < end; i++) {
        const weir_gap *known = &gaps->gaps[i];
        if (begin < known->begin_ns) {
            idle_unknown(w, begin, known->begin_ns, next, previous);
            begin = known->begin_ns;
        }
        int64_t until = known->end_ns < end ? known->end_ns : end;
        if (begin < until) {
            part_write(w, begin, until, known->cause);
            begin = until;
        }
    }
    if (begin < end) {
        idle_unknown(w, begin, end, next, previous);
    }
}
