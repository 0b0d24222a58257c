/* Finding spans, lines and edges by time and by span: binary searches that several files ask for.
 */
#include "ledger/run.h"

weir_span_id ledger_first_after(const ledger_run *run, const weir_lane *lane, int64_t t)
{
    uint32_t low = lane->first_span, high = lane->first_span + lane->span_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (run->spans.start_ns[middle] <= t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

weir_span_id ledger_innermost(const ledger_run *run, const weir_lane *lane, int64_t t)
{
    weir_span_id after = ledger_first_after(run, lane, t);
    weir_span_id s = after > lane->first_span ? after - 1 : WEIR_NONE;
    while (s != WEIR_NONE && ledger_end(run, s) <= t) {
        s = run->parent[s - run->spans.device_count];
    }
    return s;
}

weir_span_id ledger_producer(const ledger_run *run, weir_span_id span)
{
    const weir_match *m = run->in->match;
    uint32_t low = 0, high = m->edge_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->edges[middle].after < span) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    weir_span_id best = WEIR_NONE;
    for (; low < m->edge_count && m->edges[low].after == span; low++) {
        weir_span_id before = m->edges[low].before;
        if (best == WEIR_NONE || ledger_end(run, before) > ledger_end(run, best)) {
            best = before;
        }
    }
    return best;
}

uint32_t ledger_line_at(const ledger_device *d, int64_t t)
{
    uint32_t low = 0, high = d->line_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->lines[middle].end_ns <= t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < d->line_count && d->lines[low].begin_ns <= t ? low : d->line_count;
}

int64_t ledger_in_window(const ledger_device *device, const weir_line *line)
{
    int64_t begin = line->begin_ns > device->begin_ns ? line->begin_ns : device->begin_ns;
    int64_t end = line->end_ns < device->end_ns ? line->end_ns : device->end_ns;
    return end > begin ? end - begin : 0;
}
