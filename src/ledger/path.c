/* The critical path over all ranks (DESIGN 2.9): backwards from the end of the window, each time to
 * what the moment had to wait for: the span before on its stream, an event, a launch and what its
 * thread did before it, the last member of a collective, the work that a blocking call awaited. */
#include "base/grow.h"
#include "ledger/path_inside.h"

#include <stdlib.h>

int64_t path_aligned(const path *p, weir_rank_id rank, int64_t local)
{
    return weir_match_to_aligned(p->run->in->match, rank, local);
}

static weir_rank_id rank_of(const path *p, weir_span_id span)
{
    return p->run->lanes[p->run->spans.lane[span]].rank;
}

void path_add(path *p, int64_t from, weir_cause cause, weir_span_id span, weir_rank_id rank)
{
    from = from < p->begin_ns ? p->begin_ns : from;
    if (from >= p->t) {
        return;
    }
    if (!weir_grow(&p->segments, p->count, &p->capacity, sizeof *p->segments)) {
        p->failed = true;
        p->t = p->begin_ns;
        return;
    }
    weir_lane_id lane = span == WEIR_NONE ? WEIR_NONE : p->run->spans.lane[span];
    p->segments[p->count++] = (path_segment){from, p->t, span, rank, lane, (uint8_t)cause};
    p->t = from;
}

/* Idle time that begins with a message is the message's, which holds its sender. */
static weir_cause gap_cause(const path *p, weir_device_id d, const weir_gap *gap)
{
    const ledger_device *device = &p->run->device[d];
    uint32_t at = ledger_line_at(device, gap->begin_ns);
    weir_span_id span = at < device->line_count ? device->lines[at].span : WEIR_NONE;
    bool is_held = span != WEIR_NONE && p->run->in->classes->cls[span] == WEIR_CLASS_COMM &&
                   p->run->spans.start_ns[span] == gap->begin_ns;
    return is_held ? (weir_cause)device->lines[at].cause : gap->cause;
}

/* Idle time of the device: what is known of [from, t), the rest has that cause. */
static void idle_add(path *p, weir_device_id d, int64_t from, weir_cause rest)
{
    const weir_gaps *gaps = p->run->in->gaps;
    weir_rank_id rank = p->run->devices[d].rank;
    from = from < p->begin_ns ? p->begin_ns : from;
    uint32_t first = gaps ? gaps->first[d] : 0;
    uint32_t i =
        gaps ? ledger_gap_at(p->run, d, weir_match_to_local(p->run->in->match, rank, p->t)) : 0;
    i += gaps && i < gaps->first[d + 1]; /* the one around t counts, too */
    for (; i > first && p->t > from; i--) {
        const weir_gap *gap = &gaps->gaps[i - 1];
        int64_t begin = path_aligned(p, rank, gap->begin_ns);
        int64_t end = path_aligned(p, rank, gap->end_ns);
        if (begin >= p->t) {
            continue;
        }
        path_add(p, end > from ? end : from, rest, WEIR_NONE, rank);
        path_add(p, begin > from ? begin : from, gap_cause(p, d, gap), WEIR_NONE, rank);
    }
    path_add(p, from, rest, WEIR_NONE, rank);
}

static bool sends(const path *p, weir_span_id span)
{
    const weir_comm *comm = weir_timeline_comm_of(p->run->in->timeline, span);
    uint32_t count;
    const weir_rank *ranks = weir_timeline_ranks(p->run->in->timeline, &count);
    return comm && comm->src_rank == ranks[rank_of(p, span)].number;
}

/* The span of the member that arrived last; of several at that moment this one, of a message the
 * one that sends. */
static weir_span_id last_arrived(const path *p, const weir_instance *i, weir_span_id span)
{
    const weir_member *members = p->run->in->match->members;
    weir_span_id last = members[i->last_member].span;
    int64_t at = path_aligned(p, rank_of(p, last), p->run->spans.start_ns[last]);
    if (path_aligned(p, rank_of(p, span), p->run->spans.start_ns[span]) != at) {
        return last;
    }
    return !i->is_message || sends(p, span) || !sends(p, last) ? span : last;
}

/* The work of span itself, from t back to its start, or to the arrival of who came last: then the
 * path goes on with that member's span. Returns the span whose start is to be explained. */
static weir_span_id work_back(path *p, weir_span_id span)
{
    const ledger_run *run = p->run;
    weir_rank_id rank = rank_of(p, span);
    weir_cause cause = (weir_cause)run->in->classes->cause[span];
    uint32_t member = run->in->match->member_of_span[span];
    bool comm = run->in->classes->cls[span] == WEIR_CLASS_COMM;
    if (!comm || member == WEIR_NONE) {
        path_add(p, path_aligned(p, rank, run->spans.start_ns[span]),
                 comm ? WEIR_CAUSE_COMMUNICATION_UNSPLIT : cause, span, rank);
        return span;
    }
    const weir_instance *i = &run->in->match->instances[run->in->match->members[member].instance];
    const member_split *split = &run->split[member];
    path_add(p, path_aligned(p, rank, split->unsplit_ns), WEIR_CAUSE_COMMUNICATION_UNSPLIT, span,
             rank);
    path_add(p, path_aligned(p, rank, split->arrived_ns), cause, span, rank);
    if (!i->complete || !i->split) {
        path_add(p, path_aligned(p, rank, run->spans.start_ns[span]),
                 i->is_message ? WEIR_CAUSE_DEPENDENCY_BUBBLE : WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                 span, rank);
        return span;
    }
    return last_arrived(p, i, span);
}

/* Of what a device span awaited before it started: the end of its stream's span before, and events.
 */
static weir_span_id device_predecessor(const path *p, weir_span_id span)
{
    const ledger_run *run = p->run;
    const weir_lane *lane = &run->lanes[run->spans.lane[span]];
    weir_span_id best = span > lane->first_span ? span - 1 : WEIR_NONE;
    weir_span_id producer = ledger_producer(run, span);
    if (producer != WEIR_NONE &&
        (best == WEIR_NONE || ledger_end(run, producer) > ledger_end(run, best))) {
        best = producer;
    }
    return best;
}

/* Where the file records no event waits: a span that was queued and did not start although its
 * stream was free waited for what its device finished last before it started. */
static weir_span_id inferred_producer(path *p, weir_span_id span)
{
    const ledger_run *run = p->run;
    weir_span_id any = path_device_last_ended(p, run->lanes[run->spans.lane[span]].device,
                                              run->spans.start_ns[span]);
    return any != span ? any : WEIR_NONE;
}

/* What the start of span had to wait for: the span to go on with, or WEIR_NONE at the end. */
static weir_span_id start_back(path *p, weir_span_id span)
{
    const ledger_run *run = p->run;
    weir_rank_id rank = rank_of(p, span);
    int64_t start = run->spans.start_ns[span];
    weir_span_id launch = run->in->match->launch[span];
    weir_span_id before = device_predecessor(p, span);
    int64_t ended = before == WEIR_NONE ? INT64_MIN : ledger_end(run, before);
    ended = ended > start ? start : ended;
    weir_device_id d = run->lanes[run->spans.lane[span]].device;
    if (launch == WEIR_NONE && run->in->gaps) { /* a simulation: nothing is missing */
        idle_add(p, d, before == WEIR_NONE ? p->begin_ns : path_aligned(p, rank, ended),
                 WEIR_CAUSE_DEPENDENCY_UNKNOWN);
        return before;
    }
    if (launch == WEIR_NONE) { /* no evidence: the device's last work before */
        weir_span_id any = path_device_last_ended(p, d, start);
        before = any != WEIR_NONE && any != span && ledger_end(run, any) > ended ? any : before;
        if (before == WEIR_NONE || before == span) {
            return WEIR_NONE;
        }
        ended = ledger_end(run, before) > start ? start : ledger_end(run, before);
        path_add(p, path_aligned(p, rank, ended), WEIR_CAUSE_DEPENDENCY_UNKNOWN, WEIR_NONE, rank);
        return before;
    }
    /* Inside its launch call a span was queued at some moment since the call began: then what ended
     * after that moment binds (graph launches on ROCm last as long as their kernels). */
    int64_t called = run->spans.start_ns[launch], returned = ledger_end(run, launch);
    int64_t launched = returned <= start ? returned : called < start ? called : start;
    weir_span_id producer = p->has_events[rank] ? WEIR_NONE : inferred_producer(p, span);
    if (producer != WEIR_NONE && ledger_end(run, producer) > ended) {
        before = producer;
        ended = ledger_end(run, producer);
    }
    if (ended >= launched) {
        path_add(p, path_aligned(p, rank, ended), WEIR_CAUSE_DEPENDENCY_TURNAROUND, WEIR_NONE,
                 rank);
        return before;
    }
    if (returned <= start) {
        path_add(p, path_aligned(p, rank, returned), WEIR_CAUSE_DEPENDENCY_TURNAROUND, WEIR_NONE,
                 rank);
    }
    path_add(p, path_aligned(p, rank, called), WEIR_CAUSE_DEPENDENCY_LAUNCH, launch, rank);
    return path_host_back(p, &run->lanes[run->spans.lane[launch]]);
}

/* Where the path ends: the span that runs where its device's window ends, or that ended there last,
 * on whichever device that is latest. *end_ns: when (aligned). */
static weir_span_id last_of_all(path *p, int64_t *end_ns)
{
    const ledger_run *run = p->run;
    weir_span_id last = WEIR_NONE;
    *end_ns = INT64_MIN;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const ledger_device *device = &run->device[d];
        int64_t end = device->end_ns;
        uint32_t at = ledger_line_at(device, end - 1);
        weir_span_id span = at < device->line_count ? device->lines[at].span : WEIR_NONE;
        if (span == WEIR_NONE) {
            span = path_device_last_ended(p, d, end);
            end = span == WEIR_NONE ? 0 : ledger_end(run, span);
        }
        end = path_aligned(p, run->devices[d].rank, end);
        if (device->step_count && span != WEIR_NONE && end > *end_ns) {
            last = span;
            *end_ns = end;
        }
    }
    return last;
}

static void path_walk(path *p, weir_device_id d)
{
    const ledger_run *run = p->run;
    int64_t ended;
    weir_span_id span = last_of_all(p, &ended);
    weir_rank_id rank = span == WEIR_NONE ? run->devices[d].rank : rank_of(p, span);
    if (span != WEIR_NONE) {
        idle_add(p, run->lanes[run->spans.lane[span]].device, ended, WEIR_CAUSE_DEPENDENCY_TAIL);
    }
    uint64_t steps = 0, most = 4 * (uint64_t)run->spans.count + 16;
    while (span != WEIR_NONE && p->t > p->begin_ns && !p->failed && steps++ < most) {
        span = work_back(p, span);
        rank = rank_of(p, span);
        span = start_back(p, span);
    }
    path_add(p, p->begin_ns, WEIR_CAUSE_DEPENDENCY_UNKNOWN, WEIR_NONE, rank);
}

static weir_code path_prepare(path *p, weir_device_id *last, weir_err *err)
{
    const ledger_run *run = p->run;
    p->device_ends = calloc(run->device_count + (size_t)1, sizeof *p->device_ends);
    p->sync_ends = calloc(run->rank_count + (size_t)1, sizeof *p->sync_ends);
    p->launches = calloc(run->lane_count + (size_t)1, 1);
    p->has_events = calloc(run->rank_count + (size_t)1, 1);
    if (!p->device_ends || !p->sync_ends || !p->launches || !p->has_events) {
        return LEDGER_NO_MEMORY(err);
    }
    uint32_t wait_count;
    const weir_event_wait *waits = weir_timeline_event_waits(run->in->timeline, &wait_count);
    for (uint32_t i = 0; i < wait_count; i++) {
        p->has_events[waits[i].rank] = 1;
    }
    for (uint32_t s = 0; s < run->spans.device_count; s++) {
        weir_span_id launch = run->in->match->launch[s];
        if (launch != WEIR_NONE) {
            p->launches[run->spans.lane[launch]] = 1;
        }
    }
    p->begin_ns = INT64_MAX;
    p->t = INT64_MIN;
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->device[d].step_count == 0) {
            continue;
        }
        int64_t begin = path_aligned(p, run->devices[d].rank, run->device[d].begin_ns);
        int64_t end = path_aligned(p, run->devices[d].rank, run->device[d].end_ns);
        p->begin_ns = begin < p->begin_ns ? begin : p->begin_ns;
        if (end > p->t) {
            p->t = end;
            *last = d;
        }
    }
    return WEIR_OK;
}

weir_code ledger_path(ledger_run *run, weir_err *err)
{
    path p = {.run = run};
    weir_device_id last = WEIR_NONE;
    weir_code code = path_prepare(&p, &last, err);
    if (code == WEIR_OK && last != WEIR_NONE) {
        path_walk(&p, last);
        code = p.failed ? LEDGER_NO_MEMORY(err) : path_sum(run, p.segments, p.count, err);
    }
    code = code == WEIR_OK ? path_slack(run, err) : code;
    if (code == WEIR_OK && run->options->segments) {
        code = path_publish(run, p.segments, p.count, err);
    }
    path_ends_free(&p);
    free(p.launches);
    free(p.has_events);
    free(p.segments);
    return code;
}
