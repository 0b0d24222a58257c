/* kineto_events.h: the events of one rank of a simulated run (private to report/).
 *
 * Not here: files (kineto_writer.c). */
#ifndef WEIR_REPORT_KINETO_EVENTS_H
#define WEIR_REPORT_KINETO_EVENTS_H

#include "base/text.h"
#include "report/kineto_writer.h"

typedef struct {
    const weir_kineto_request *request;
    const weir_rank *rank;
    weir_rank_id id;
    weir_device_id device;
    weir_spans spans;
    const weir_lane *lanes;
    const weir_group *groups;
    uint32_t lane_count;
    weir_span_id *order; /* device spans by start */
    uint32_t count;
    weir_text out;
} kineto_rank;

/* The whole document into out. */
void kineto_write_events(kineto_rank *r);

#endif
