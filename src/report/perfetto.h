/* perfetto.h: a timeline and its ledger as a Perfetto trace (protobuf, TrackEvent).
 *
 * Written in a stream: memory stays small whatever the number of spans.
 *
 * Not here: which moments and lanes are worth seeing is decided by the caller's request. */
#ifndef WEIR_REPORT_PERFETTO_H
#define WEIR_REPORT_PERFETTO_H

#include "result/lines.h"
#include "result/result.h"
#include "weir/timeline.h"

#include <stdio.h>

typedef struct {
    const weir_timeline *timeline;
    const weir_lines *lines;
    const weir_result *result; /* critical_path.segments, steps, blamed rank */
    /* Moments of a rank's clock -> the clock that all share. */
    int64_t (*to_aligned)(const void *context, weir_rank_id rank, int64_t local_ns);
    const void *context;
    bool all;                          /* every lane over the whole window; else the worst step */
    int64_t begin_ns, end_ns;          /* aligned, of the worst step; used unless all */
    const weir_fabric_link_row *links; /* of a simulated run: a counter each */
    uint32_t link_count;
    weir_rank_id full[2]; /* ranks whose own lanes are drawn in full; WEIR_NONE = none */
} weir_perfetto_request;

/* Writes to out, which the caller opened (binary) and closes. */
weir_code weir_perfetto_write(FILE *out, const weir_perfetto_request *request, weir_err *err);

#endif
