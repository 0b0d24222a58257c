/* perfetto_lane.h: puts the spans of one lane on tracks, so that slices nest (private to report/).
 *
 * Perfetto draws slices of a track as a stack: one that begins inside another must end inside it.
 * Streams may overlap (programmatic dependent launch), so a span that does not fit goes to a
 * further track of the same name, which the viewer draws as one lane.
 *
 * Cost: O(spans x tracks of the lane), tracks <= 64; beyond, a span becomes an instant. */
#ifndef WEIR_REPORT_PERFETTO_LANE_H
#define WEIR_REPORT_PERFETTO_LANE_H

#include "report/perfetto_writer.h"

enum { PERFETTO_LANE_TRACKS = 64 };

typedef struct {
    perfetto_writer *writer;
    uint64_t parent;
    weir_str name; /* borrowed */
    uint32_t order;
    bool nests; /* host threads: a call inside a call; streams: no */
    struct {
        uint64_t track;
        int64_t *ends_ns; /* of the open slices, outermost first */
        uint32_t depth, capacity;
    } tracks[PERFETTO_LANE_TRACKS];
    uint32_t track_count;
} perfetto_lane;

void perfetto_lane_begin(perfetto_lane *lane, perfetto_writer *w, uint64_t parent, weir_str name,
                         uint32_t order, bool nests);
/* Adds event (its track is chosen here) from event->at_ns to end_ns. Calls come in the order of
 * begins, at equal begins the longer one first. */
void perfetto_lane_add(perfetto_lane *lane, perfetto_event *event, int64_t end_ns);
void perfetto_lane_finish(perfetto_lane *lane); /* ends what is open, frees */

#endif
