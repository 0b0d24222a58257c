/* Plain unions over everything recorded for a device, whatever the window and what is hidden. */
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>

typedef struct {
    int64_t until; /* covered up to here */
    int64_t sum;
} cover;

static void cover_add(cover *c, int64_t begin, int64_t end)
{
    begin = begin > c->until ? begin : c->until;
    if (end > begin) {
        c->sum += end - begin;
        c->until = end;
    }
}

weir_code ledger_intervals(ledger_run *run, weir_device_id id)
{
    const weir_device *device = &run->devices[id];
    const weir_lane *first = &run->lanes[device->first_lane];
    const weir_lane *last = first + device->lane_count - 1;
    uint32_t begin = first->first_span, n = last->first_span + last->span_count - begin;
    weir_sort_pair *order = malloc((n + (size_t)1) * sizeof *order);
    if (!order) {
        return WEIR_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = (weir_sort_pair){(uint64_t)run->spans.start_ns[begin + i], begin + i};
    }
    if (!weir_sort_pairs(order, n)) {
        free(order);
        return WEIR_ERR_MEMORY;
    }
    enum { COMPUTE, COMMUNICATION, COPY, EITHER, ANY, COVERS };
    cover covers[COVERS];
    for (int c = 0; c < COVERS; c++) {
        covers[c] = (cover){INT64_MIN, 0};
    }
    for (uint32_t i = 0; i < n; i++) {
        weir_span_id s = (weir_span_id)order[i].value;
        int64_t from = run->spans.start_ns[s], to = ledger_end(run, s);
        weir_class cls = (weir_class)run->in->classes->cls[s];
        cover_add(&covers[ANY], from, to);
        if (cls == WEIR_CLASS_COPY) {
            cover_add(&covers[COPY], from, to);
        } else {
            cover_add(&covers[EITHER], from, to);
            cover_add(&covers[cls == WEIR_CLASS_COMM ? COMMUNICATION : COMPUTE], from, to);
        }
    }
    free(order);
    ledger_device *d = &run->device[id];
    d->intervals.busy_ns = covers[ANY].sum;
    d->intervals.compute_ns = covers[COMPUTE].sum;
    d->intervals.communication_ns = covers[COMMUNICATION].sum;
    d->intervals.copy_ns = covers[COPY].sum;
    d->intervals.communication_under_compute_ns =
        covers[COMPUTE].sum + covers[COMMUNICATION].sum - covers[EITHER].sum;
    return WEIR_OK;
}
