/* markers.h: the step markers of each rank (ProfilerStep#N, vLLM and SGLang steps). */
#ifndef WEIR_LEDGER_MARKERS_H
#define WEIR_LEDGER_MARKERS_H

#include "ledger/run.h"

typedef struct {
    int64_t number; /* N of ProfilerStep#N, else the position */
    int64_t begin_ns, end_ns;
} step_marker;

typedef struct {
    step_marker *markers; /* of all ranks, by rank, in time order */
    uint32_t *first;      /* rank_count + 1 */
} step_markers;

weir_code markers_find(const ledger_run *run, step_markers *found, weir_err *err);
void markers_clear(step_markers *found);

#endif
