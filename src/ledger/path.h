/* path.h: the critical path between the files that walk it and the one that sums it (private). */
#ifndef WEIR_LEDGER_PATH_H
#define WEIR_LEDGER_PATH_H

#include "ledger/run.h"

typedef struct {
    int64_t begin_ns, end_ns; /* aligned */
    weir_span_id span;
    weir_rank_id rank;
    weir_lane_id lane; /* WEIR_NONE: between spans */
    uint8_t cause;
} path_segment;

/* segments: latest first, gapless. Fills length, causes and ranks of result->critical_path. */
weir_code path_sum(ledger_run *run, const path_segment *segments, uint32_t count, weir_err *err);
/* Fills its segments, in time order. */
weir_code path_publish(ledger_run *run, const path_segment *segments, uint32_t count,
                       weir_err *err);
/* What a device could be slower without making the window longer: its waiting for others. */
weir_code path_slack(const ledger_run *run, weir_err *err);

#endif
