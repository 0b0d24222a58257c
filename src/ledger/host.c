/* What a host thread was doing: enclosing spans and what their names say (DESIGN 2.4). */
#include "base/grow.h"
#include "ledger/run.h"

#include <stdlib.h>

/* Spans of a thread nest: the stack of those still open gives each its parent. A span that ends
 * after its parent (rounding of old writers) keeps it: the overlap is all that is asked for. */
static bool lane_parents(const ledger_run *run, const weir_lane *lane, weir_span_id **stack,
                         uint32_t *capacity)
{
    uint32_t depth = 0, base = run->spans.device_count;
    for (uint32_t s = lane->first_span; s < lane->first_span + lane->span_count; s++) {
        while (depth && ledger_end(run, (*stack)[depth - 1]) <= run->spans.start_ns[s]) {
            depth--;
        }
        run->parent[s - base] = depth ? (*stack)[depth - 1] : WEIR_NONE;
        if (!weir_grow(stack, depth, capacity, sizeof **stack)) {
            return false;
        }
        (*stack)[depth++] = s;
    }
    return true;
}

/* Copies to pageable memory return when they are done, whatever the call is named (CUDA Runtime
 * API, "API synchronization behavior"): the record of the copy tells. */
static void copies_find(ledger_run *run)
{
    for (uint32_t s = 0; s < run->spans.device_count; s++) {
        weir_span_id call = run->in->match->launch[s];
        if (run->spans.kind[s] == WEIR_SPAN_MEMCPY && call != WEIR_NONE &&
            ledger_end(run, s) <= ledger_end(run, call)) {
            run->blocks[call - run->spans.device_count] = 1;
        }
    }
}

weir_host_activity ledger_host_activity(const ledger_run *run, weir_span_id span)
{
    return run->blocks[span - run->spans.device_count]
               ? WEIR_HOST_SYNC
               : (weir_host_activity)run->host_activity[run->spans.name[span]];
}

/* 1 + the cause that the name tells; 0: none. */
static uint8_t told_cause(weir_str name)
{
    weir_str prefix = weir_str_from(WEIR_TOLD_PREFIX);
    weir_cause cause;
    bool is_told = weir_str_starts(name, prefix) &&
                   weir_cause_find((weir_str){name.p + prefix.n, name.n - prefix.n}, &cause);
    return is_told ? (uint8_t)(1 + cause) : 0;
}

weir_code ledger_hosts(ledger_run *run, weir_err *err)
{
    const weir_timeline *t = run->in->timeline;
    uint32_t hosts = run->spans.count - run->spans.device_count,
             names = weir_timeline_name_count(t);
    run->parent = malloc((hosts + (size_t)1) * sizeof *run->parent);
    run->host_activity = calloc(names + (size_t)1, 1);
    run->told_cause = calloc(names + (size_t)1, 1);
    run->blocks = calloc(hosts + (size_t)1, 1);
    bool ok = run->parent && run->host_activity && run->told_cause && run->blocks;
    if (ok) {
        copies_find(run);
    }
    weir_span_id *stack = NULL;
    uint32_t capacity = 0;
    for (uint32_t i = 0; ok && i < run->lane_count; i++) {
        if (run->lanes[i].kind == WEIR_LANE_THREAD) {
            ok = lane_parents(run, &run->lanes[i], &stack, &capacity);
        }
    }
    free(stack);
    uint8_t *seen = calloc(names + (size_t)1, 1);
    ok = ok && seen;
    for (uint32_t s = run->spans.device_count; ok && s < run->spans.count; s++) {
        weir_name_id name = run->spans.name[s];
        if (!seen[name]) {
            seen[name] = 1;
            run->host_activity[name] = (uint8_t)weir_host_names_classify(
                run->in->host_names, (weir_span_kind)run->spans.kind[s],
                weir_timeline_name(t, name));
            run->told_cause[name] = told_cause(weir_timeline_name(t, name));
        }
    }
    free(seen);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}

static bool is_graph_launch(weir_str name)
{
    return weir_str_has(name, WEIR_STR("GraphLaunch"));
}

/* Graph launches that launched nothing that was recorded. */
weir_code ledger_orphans(ledger_run *run, weir_err *err)
{
    const weir_timeline *t = run->in->timeline;
    uint32_t hosts = run->spans.count - run->spans.device_count, n = 0;
    uint8_t *used = calloc(hosts + (size_t)1, 1);
    uint8_t *is_graph = calloc(weir_timeline_name_count(t) + (size_t)1, 1);
    run->orphan_first = calloc(run->rank_count + (size_t)1, sizeof *run->orphan_first);
    bool ok = used && is_graph && run->orphan_first;
    for (uint32_t i = 0; ok && i < weir_timeline_name_count(t); i++) {
        is_graph[i] = is_graph_launch(weir_timeline_name(t, i));
    }
    for (uint32_t s = 0; ok && s < run->spans.device_count; s++) {
        weir_span_id launch = run->in->match->launch[s];
        if (launch != WEIR_NONE) {
            used[launch - run->spans.device_count] = 1;
        }
    }
    for (int fill = 0; ok && fill < 2; fill++) { /* count, then fill */
        n = 0;
        for (uint32_t i = 0; i < run->lane_count; i++) { /* by rank, so in order of rank */
            const weir_lane *lane = &run->lanes[i];
            for (uint32_t k = 0; lane->kind == WEIR_LANE_THREAD && k < lane->span_count; k++) {
                weir_span_id s = lane->first_span + k;
                if (run->spans.kind[s] == WEIR_SPAN_RUNTIME && !used[s - run->spans.device_count] &&
                    is_graph[run->spans.name[s]]) {
                    if (fill) {
                        run->orphans[n] = (weir_sort_pair){(uint64_t)run->spans.start_ns[s], s};
                        run->orphan_first[lane->rank + 1] = n + 1;
                    }
                    n++;
                }
            }
        }
        if (!fill) {
            run->orphans = malloc((n + (size_t)1) * sizeof *run->orphans);
            ok = run->orphans != NULL;
        }
    }
    for (uint32_t r = 1; ok && r <= run->rank_count; r++) {
        run->orphan_first[r] = run->orphan_first[r] < run->orphan_first[r - 1]
                                   ? run->orphan_first[r - 1]
                                   : run->orphan_first[r];
    }
    for (uint32_t r = 0; ok && r < run->rank_count; r++) { /* of several threads */
        ok = weir_sort_pairs(run->orphans + run->orphan_first[r],
                             run->orphan_first[r + 1] - run->orphan_first[r]);
    }
    free(used);
    free(is_graph);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}
