#include "report/perfetto_lane.h"

#include <stdlib.h>

void perfetto_lane_begin(perfetto_lane *lane, perfetto_writer *w, uint64_t parent, weir_str name,
                         uint32_t order, bool nests)
{
    *lane = (perfetto_lane){
        .writer = w, .parent = parent, .name = name, .order = order, .nests = nests};
}

static void end_until(perfetto_lane *lane, uint32_t i, int64_t now_ns)
{
    while (lane->tracks[i].depth > 0) {
        int64_t end_ns = lane->tracks[i].ends_ns[lane->tracks[i].depth - 1];
        if (end_ns > now_ns) {
            return;
        }
        perfetto_end(lane->writer, lane->tracks[i].track, end_ns);
        lane->tracks[i].depth--;
    }
}

static bool fits(const perfetto_lane *lane, uint32_t i, int64_t end_ns)
{
    uint32_t depth = lane->tracks[i].depth;
    return depth == 0 || (lane->nests && end_ns <= lane->tracks[i].ends_ns[depth - 1]);
}

static bool push(perfetto_lane *lane, uint32_t i, int64_t end_ns)
{
    if (lane->tracks[i].depth == lane->tracks[i].capacity) {
        uint32_t capacity = lane->tracks[i].capacity > 0 ? 2 * lane->tracks[i].capacity : 16;
        int64_t *ends_ns = realloc(lane->tracks[i].ends_ns, capacity * sizeof(*ends_ns));
        if (ends_ns == NULL) {
            lane->writer->failed_memory = true;
            return false;
        }
        lane->tracks[i].ends_ns = ends_ns;
        lane->tracks[i].capacity = capacity;
    }
    lane->tracks[i].ends_ns[lane->tracks[i].depth++] = end_ns;
    return true;
}

static uint32_t find_track(perfetto_lane *lane, int64_t begin_ns, int64_t end_ns)
{
    uint32_t i = 0;
    for (; i < lane->track_count; i++) {
        end_until(lane, i, begin_ns);
        if (fits(lane, i, end_ns)) {
            return i;
        }
    }
    if (i < PERFETTO_LANE_TRACKS) {
        lane->tracks[i].track = perfetto_track(lane->writer, lane->parent, lane->name, lane->order);
        lane->track_count++;
    }
    return i;
}

void perfetto_lane_add(perfetto_lane *lane, perfetto_event *event, int64_t end_ns)
{
    uint32_t i = find_track(lane, event->at_ns, end_ns);
    if (i == PERFETTO_LANE_TRACKS) {
        event->track = lane->tracks[0].track;
        perfetto_instant(lane->writer, event);
    } else if (push(lane, i, end_ns)) {
        event->track = lane->tracks[i].track;
        perfetto_begin(lane->writer, event);
    }
}

void perfetto_lane_finish(perfetto_lane *lane)
{
    for (uint32_t i = 0; i < lane->track_count; i++) {
        end_until(lane, i, INT64_MAX);
        free(lane->tracks[i].ends_ns);
    }
    *lane = (perfetto_lane){0};
}
