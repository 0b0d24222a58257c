/* path_host.c: the critical path on the host: what a launching thread did, back to the blocking
 * call that held it and to the work of the device which that call awaited. */
#include "ledger/path_inside.h"

typedef struct {
    path *p;
    weir_rank_id rank;
    uint32_t first;
} host_walk;

static void host_walk_part(void *context, int64_t begin, int64_t end, weir_cause cause,
                           weir_span_id innermost)
{
    host_walk *w = context;
    path *p = w->p;
    int64_t kept = p->t;
    p->t = path_aligned(p, w->rank, end);
    path_add(p, path_aligned(p, w->rank, begin), cause, innermost, w->rank);
    p->t = p->failed ? p->t : kept;
}

/* The thread's doings over [local, t), backwards. */
static void host_add(path *p, const weir_lane *thread, int64_t local)
{
    int64_t now = weir_match_to_local(p->run->in->match, thread->rank, p->t);
    int64_t low = weir_match_to_local(p->run->in->match, thread->rank, p->begin_ns);
    local = local < low ? low : local;
    if (local >= now) {
        return;
    }
    host_walk w = {p, thread->rank, p->count};
    ledger_host_parts(p->run, thread, local, now, host_walk_part, &w);
    for (uint32_t a = w.first, b = p->count; a + 1 < b; a++, b--) {
        path_segment swap = p->segments[a];
        p->segments[a] = p->segments[b - 1];
        p->segments[b - 1] = swap;
    }
    /* rounding of clocks may leave a nanosecond at either end */
    if (!p->failed && p->count > w.first) {
        p->segments[w.first].end_ns = p->t;
        p->t = p->segments[p->count - 1].begin_ns;
    }
}

weir_span_id path_host_back(path *p, const weir_lane *thread)
{
    const ledger_run *run = p->run;
    weir_rank_id rank = thread->rank;
    while (p->t > p->begin_ns && !p->failed) {
        int64_t now = weir_match_to_local(run->in->match, rank, p->t);
        weir_span_id sync = path_sync_last_ended(p, rank, now);
        if (sync == WEIR_NONE) {
            host_add(p, thread, weir_match_to_local(run->in->match, rank, p->begin_ns));
            break;
        }
        host_add(p, thread, ledger_end(run, sync));
        weir_span_id awaited = WEIR_NONE;
        for (uint32_t d = 0; d < run->device_count; d++) {
            if (run->devices[d].rank == rank) {
                weir_span_id s = path_device_last_ended(p, d, ledger_end(run, sync));
                bool later = s != WEIR_NONE && (awaited == WEIR_NONE ||
                                                ledger_end(run, s) > ledger_end(run, awaited));
                awaited = later ? s : awaited;
            }
        }
        int64_t begin = run->spans.start_ns[sync];
        if (awaited != WEIR_NONE && ledger_end(run, awaited) > begin) {
            path_add(p, path_aligned(p, rank, ledger_end(run, awaited)), WEIR_CAUSE_DEPENDENCY_SYNC,
                     sync, rank);
            return awaited;
        }
        int64_t before = p->t;
        path_add(p, path_aligned(p, rank, begin), WEIR_CAUSE_DEPENDENCY_SYNC, sync, rank);
        thread = &run->lanes[run->spans.lane[sync]];
        if (p->t == before) { /* a call without duration: step over it */
            path_add(p, p->t - 1, WEIR_CAUSE_DEPENDENCY_HOST, WEIR_NONE, rank);
        }
    }
    return WEIR_NONE;
}
