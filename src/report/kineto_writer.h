/* kineto_writer.h: a simulated run as traces of torch.profiler (Kineto), one file for each rank
 * that was played, so that `weir trace DIR` finds the same ledger in them (DESIGN 7.3).
 *
 * A device that stands for many is one file. Idle time of the host is reproduced by late launches;
 * args."weir cause" names the cause of a span, and of what the host did before a launch; without it
 * the four waits are still the same.
 *
 * Not here: reading (import/kineto.h). */
#ifndef WEIR_REPORT_KINETO_WRITER_H
#define WEIR_REPORT_KINETO_WRITER_H

#include "result/result.h"
#include "timeline/gaps.h"

/* Of a weir_spmd_run: {.timeline = run.timeline, .cause = run.cause, .gaps = &run.gaps}. */
typedef struct {
    const weir_timeline *timeline;
    const uint8_t *cause; /* by device span: weir_cause */
    const weir_gaps *gaps;
    bool is_plain; /* without args."weir cause": as a profiler would write it */
} weir_kineto_request;

/* dir is made where it does not exist; files rankN.json.gz in it are replaced. */
weir_code weir_kineto_write(const char *dir, const weir_kineto_request *request, weir_err *err);

#endif
