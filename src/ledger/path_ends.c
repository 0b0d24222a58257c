/* path_ends.c: which span of a device, or which blocking call of a rank, ended last before a
 * moment. */
#include "base/sort.h"
#include "ledger/path_inside.h"

#include <stdlib.h>

static bool ends_make(path *p, by_end *ends, weir_span_id first, uint32_t n)
{
    ends->pairs = malloc((n + (size_t)1) * sizeof *ends->pairs);
    if (!ends->pairs) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        ends->pairs[i] = (weir_sort_pair){(uint64_t)ledger_end(p->run, first + i), first + i};
    }
    ends->count = n;
    ends->made = true;
    return weir_sort_pairs(ends->pairs, n);
}

/* The span that ends last at or before t, or WEIR_NONE. Of several that end together the one that
 * began last: it was most likely launched right before what waits for it. */
static weir_span_id last_ended(const path *p, const by_end *ends, int64_t t)
{
    uint32_t low = 0, high = ends->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)ends->pairs[middle].key <= t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    weir_span_id best = low ? (weir_span_id)ends->pairs[low - 1].value : WEIR_NONE;
    for (uint32_t i = low; i-- > 0 && ends->pairs[i].key == ends->pairs[low - 1].key;) {
        weir_span_id other = (weir_span_id)ends->pairs[i].value;
        best = p->run->spans.start_ns[other] > p->run->spans.start_ns[best] ? other : best;
    }
    return best;
}

weir_span_id path_device_last_ended(path *p, weir_device_id d, int64_t local)
{
    by_end *ends = &p->device_ends[d];
    if (!ends->made) {
        const weir_device *device = &p->run->devices[d];
        const weir_lane *first = &p->run->lanes[device->first_lane];
        const weir_lane *last = first + device->lane_count - 1;
        p->failed =
            p->failed || !ends_make(p, ends, first->first_span,
                                    last->first_span + last->span_count - first->first_span);
    }
    return p->failed ? WEIR_NONE : last_ended(p, ends, local);
}

/* Blocking calls of the rank's launching threads; pairs NULL: they are only counted. */
static uint32_t syncs_list(const path *p, weir_rank_id rank, weir_sort_pair *pairs)
{
    const ledger_run *run = p->run;
    uint32_t n = 0;
    for (uint32_t l = 0; l < run->lane_count; l++) {
        const weir_lane *lane = &run->lanes[l];
        bool wanted = p->launches[l] && lane->rank == rank;
        for (uint32_t k = 0; wanted && k < lane->span_count; k++) {
            weir_span_id s = lane->first_span + k;
            if (run->spans.kind[s] != WEIR_SPAN_RUNTIME ||
                ledger_host_activity(run, s) != WEIR_HOST_SYNC) {
                continue;
            }
            if (pairs) {
                pairs[n] = (weir_sort_pair){(uint64_t)ledger_end(run, s), s};
            }
            n++;
        }
    }
    return n;
}

weir_span_id path_sync_last_ended(path *p, weir_rank_id rank, int64_t local)
{
    by_end *ends = &p->sync_ends[rank];
    if (!ends->made && !p->failed) {
        uint32_t n = syncs_list(p, rank, NULL);
        ends->pairs = malloc((n + (size_t)1) * sizeof *ends->pairs);
        if (ends->pairs) {
            ends->count = syncs_list(p, rank, ends->pairs);
            ends->made = true;
        }
        p->failed = !ends->pairs || !weir_sort_pairs(ends->pairs, n);
    }
    return p->failed ? WEIR_NONE : last_ended(p, ends, local);
}

void path_ends_free(path *p)
{
    for (uint32_t d = 0; p->device_ends && d < p->run->device_count; d++) {
        free(p->device_ends[d].pairs);
    }
    for (uint32_t r = 0; p->sync_ends && r < p->run->rank_count; r++) {
        free(p->sync_ends[r].pairs);
    }
    free(p->device_ends);
    free(p->sync_ends);
}
