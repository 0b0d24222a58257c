/* path_inside.h: the walk of the critical path (private to its files). */
#ifndef WEIR_LEDGER_PATH_INSIDE_H
#define WEIR_LEDGER_PATH_INSIDE_H

#include "base/sort.h"
#include "ledger/path.h"

/* Device spans of one device by end, and blocking calls of one rank by end; made when first asked.
 */
typedef struct {
    weir_sort_pair *pairs; /* key: end (own clock) */
    uint32_t count;
    bool made;
} by_end;

typedef struct {
    ledger_run *run;
    path_segment *segments; /* latest first */
    uint32_t count, capacity;
    by_end *device_ends, *sync_ends;
    uint8_t *launches;   /* by lane: kernels are launched from it */
    uint8_t *has_events; /* by rank: its files record waits for events */
    int64_t begin_ns;    /* aligned: where the path ends */
    int64_t t;           /* aligned: explained from here on */
    bool failed;
} path;

/* --- path.c --- */

int64_t path_aligned(const path *p, weir_rank_id rank, int64_t local);
/* Adds [max(from, begin), t) and moves t there. */
void path_add(path *p, int64_t from, weir_cause cause, weir_span_id span, weir_rank_id rank);

/* --- path_ends.c --- */

/* The span of the device, or the blocking call of the rank's launching threads, that ends last at
 * or before that moment of its clock; WEIR_NONE: none, or no memory (p->failed). */
weir_span_id path_device_last_ended(path *p, weir_device_id d, int64_t local);
weir_span_id path_sync_last_ended(path *p, weir_rank_id rank, int64_t local);
void path_ends_free(path *p);

/* --- path_host.c --- */

/* From a launching thread at moment t back to the span that a blocking call awaited, or WEIR_NONE.
 */
weir_span_id path_host_back(path *p, const weir_lane *thread);

#endif
