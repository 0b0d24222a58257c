/* What the critical path is made of: its length by cause and by rank, its segments, the slack. */
#include "base/sort.h"
#include "ledger/path.h"

#include <stdlib.h>

enum { MOST_SEGMENTS = 200000 };

static int share_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct weir_rank_share *x = a, *y = b;
    if (x->ns != y->ns) {
        return x->ns > y->ns ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

weir_code path_sum(ledger_run *run, const path_segment *segments, uint32_t count, weir_err *err)
{
    weir_result *r = run->result;
    r->critical_path.ranks =
        weir_arena_alloc(r->arena, run->rank_count + (size_t)1, sizeof *r->critical_path.ranks);
    if (!r->critical_path.ranks) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < run->rank_count; i++) {
        r->critical_path.ranks[i].rank = run->ranks[i].number;
    }
    for (uint32_t i = 0; i < count; i++) {
        const path_segment *s = &segments[i];
        int64_t ns = s->end_ns - s->begin_ns;
        r->critical_path.length_ns += ns;
        r->critical_path.causes.ns[s->cause] += ns;
        r->critical_path.waits.ns[weir_cause_wait((weir_cause)s->cause)] += ns;
        r->critical_path.ranks[s->rank].ns += ns;
    }
    if (!weir_sort(r->critical_path.ranks, run->rank_count, sizeof *r->critical_path.ranks,
                   share_compare, NULL)) {
        return LEDGER_NO_MEMORY(err);
    }
    r->critical_path.rank_count = 0;
    while (r->critical_path.rank_count < run->rank_count &&
           r->critical_path.ranks[r->critical_path.rank_count].ns > 0) {
        r->critical_path.rank_count++;
    }
    return WEIR_OK;
}

weir_code path_publish(ledger_run *run, const path_segment *segments, uint32_t count, weir_err *err)
{
    weir_result *r = run->result;
    const weir_timeline *t = run->in->timeline;
    uint32_t n = count < MOST_SEGMENTS ? count : MOST_SEGMENTS;
    if (n < count) {
        weir_result_note(r, "the critical path has %u segments; the last %u are given", count, n);
    }
    r->critical_path.segments =
        weir_arena_alloc(r->arena, n + (size_t)1, sizeof *r->critical_path.segments);
    if (!r->critical_path.segments) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        const path_segment *s = &segments[n - 1 - i];
        weir_str name = s->span == WEIR_NONE ? (weir_str){"", 0}
                                             : weir_timeline_name(t, run->spans.name[s->span]);
        const weir_lane *lane = s->lane == WEIR_NONE ? NULL : &run->lanes[s->lane];
        const char *text = !lane ? "" : lane->kind == WEIR_LANE_STREAM ? "stream" : "thread";
        r->critical_path.segments[i] = (weir_path_segment){
            .rank = run->ranks[s->rank].number,
            .lane = lane ? weir_result_printf(r, "%s %lld", text, (long long)lane->number) : "",
            .name = weir_result_copy(r, name),
            .begin_ns = s->begin_ns,
            .end_ns = s->end_ns,
            .cause = (weir_cause)s->cause,
            .span = s->span,
        };
    }
    r->critical_path.segment_count = n;
    return WEIR_OK;
}

weir_code path_slack(const ledger_run *run, weir_err *err)
{
    weir_sort_pair *slack = malloc((run->device_count + (size_t)1) * sizeof *slack);
    if (!slack) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        const weir_causes *c = &run->result->devices[d].account.causes;
        int64_t ns = c->ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER] + c->ns[WEIR_CAUSE_DEPENDENCY_BUBBLE] +
                     c->ns[WEIR_CAUSE_DEPENDENCY_TAIL];
        slack[d] = (weir_sort_pair){(uint64_t)ns, d};
    }
    bool ok = weir_sort_pairs(slack, run->device_count);
    uint64_t all = 0, below = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        all += run->devices[d].multiplicity;
    }
    uint32_t at = 0;
    while (ok && at < run->device_count &&
           below + run->devices[slack[at].value].multiplicity <= (all - 1) / 2) {
        below += run->devices[slack[at++].value].multiplicity;
    }
    run->result->critical_path.slack_ns = ok && at < run->device_count ? (int64_t)slack[at].key : 0;
    free(slack);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}
