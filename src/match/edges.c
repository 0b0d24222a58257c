#include "match/launch.h"

#include "base/sort.h"

#include <stdlib.h>

/* Device clocks and host clocks of one machine are converted by the profiler to about 1 us. */
static const int64_t CLOCK_GRAIN_NS = 1000;

/* Launch times along each stream, made monotone so that they can be searched: a stream runs in the
 * order of its launches, but several threads may launch and some launches are not recorded. */
typedef struct {
    int64_t *latest;   /* by device span: latest launch of it and those before it in its stream */
    int64_t *earliest; /* ... earliest launch of it and those after it */
} launch_times;

static bool times_init(launch_times *times, const weir_timeline *t, const weir_span_id *launch)
{
    weir_spans spans = weir_timeline_spans(t);
    size_t count = (size_t)spans.device_count + 1;
    times->latest = malloc(count * sizeof *times->latest);
    times->earliest = malloc(count * sizeof *times->earliest);
    if (!times->latest || !times->earliest) {
        return false;
    }
    for (uint32_t s = 0; s < spans.device_count; s++) {
        int64_t before =
            s > 0 && spans.lane[s - 1] == spans.lane[s] ? times->latest[s - 1] : INT64_MIN;
        int64_t own = launch[s] == WEIR_NONE ? INT64_MIN : spans.start_ns[launch[s]];
        times->latest[s] = own > before ? own : before;
    }
    for (uint32_t s = spans.device_count; s-- > 0;) {
        bool last = s + 1 == spans.device_count || spans.lane[s + 1] != spans.lane[s];
        int64_t after = last ? INT64_MAX : times->earliest[s + 1];
        int64_t own = launch[s] == WEIR_NONE ? INT64_MAX : spans.start_ns[launch[s]];
        times->earliest[s] = own < after ? own : after;
    }
    return true;
}

static void times_clear(launch_times *times)
{
    free(times->latest);
    free(times->earliest);
}

/* The last span of the stream that was launched before the moment. */
static weir_span_id last_before(const weir_lane *lane, const launch_times *times, int64_t moment)
{
    uint32_t low = lane->first_span, high = lane->first_span + lane->span_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times->earliest[middle] < moment) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > lane->first_span ? low - 1 : WEIR_NONE;
}

/* The first span of the stream that was launched after the moment. */
static weir_span_id first_after(const weir_lane *lane, const launch_times *times, int64_t moment)
{
    uint32_t low = lane->first_span, end = lane->first_span + lane->span_count, high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times->latest[middle] <= moment) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end ? low : WEIR_NONE;
}

/* Where the devices of each rank begin in the table of devices (they are sorted by rank). */
static const weir_device *find_device(const weir_device *devices, uint32_t count, weir_rank_id rank,
                                      int64_t number)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (devices[middle].rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && devices[low].rank == rank; low++) {
        if (devices[low].number == number) {
            return &devices[low];
        }
    }
    return NULL;
}

static const weir_lane *find_stream(const weir_timeline *t, const weir_device *device,
                                    int64_t number)
{
    uint32_t count;
    const weir_lane *lanes = weir_timeline_lanes(t, &count);
    for (uint32_t l = 0; device && l < device->lane_count; l++) {
        if (lanes[device->first_lane + l].number == number) {
            return &lanes[device->first_lane + l];
        }
    }
    return NULL;
}

static bool edge_of_wait(const weir_timeline *t, const launch_index *index,
                         const launch_times *times, const weir_event_wait *wait, weir_edge *edge)
{
    weir_spans spans = weir_timeline_spans(t);
    uint32_t device_count;
    const weir_device *devices = weir_timeline_devices(t, &device_count);
    weir_span_id waited = launch_find(index, wait->rank, wait->wait_correlation, INT64_MAX);
    weir_span_id recorded = launch_find(index, wait->rank, wait->record_correlation, INT64_MAX);
    if (waited == WEIR_NONE || recorded == WEIR_NONE) {
        return false;
    }
    const weir_device *device = find_device(devices, device_count, wait->rank, wait->device);
    const weir_lane *from = find_stream(t, device, wait->recorded_stream);
    const weir_lane *to = find_stream(t, device, wait->waiting_stream);
    if (!from || !to || from == to) {
        return false;
    }
    edge->before = last_before(from, times, spans.start_ns[recorded]);
    edge->after = first_after(to, times, spans.start_ns[waited]);
    if (edge->before == WEIR_NONE || edge->after == WEIR_NONE) {
        return false;
    }
    /* What contradicts the event is not its span: some record of that stream was lost. */
    int64_t end = spans.start_ns[edge->before] + spans.dur_ns[edge->before];
    return spans.start_ns[edge->after] >= end - CLOCK_GRAIN_NS;
}

static int compare_edges(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_edge *x = a, *y = b;
    if (x->after != y->after) {
        return x->after < y->after ? -1 : 1;
    }
    return x->before < y->before ? -1 : x->before > y->before;
}

static uint32_t drop_doubles(weir_edge *edges, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || compare_edges(&edges[kept - 1], &edges[i], NULL) != 0) {
            edges[kept++] = edges[i];
        }
    }
    return kept;
}

weir_code launch_edges(const weir_timeline *t, const launch_index *index,
                       const weir_span_id *launch, weir_edge **edges, uint32_t *edge_count,
                       weir_err *err)
{
    uint32_t wait_count, count = 0;
    const weir_event_wait *waits = weir_timeline_event_waits(t, &wait_count);
    *edges = NULL;
    *edge_count = 0;
    if (wait_count == 0) {
        return WEIR_OK;
    }
    launch_times times = {NULL, NULL};
    weir_edge *found = malloc(wait_count * sizeof *found);
    bool done = found && times_init(&times, t, launch);
    for (uint32_t i = 0; done && i < wait_count; i++) {
        count += edge_of_wait(t, index, &times, &waits[i], &found[count]);
    }
    done = done && weir_sort(found, count, sizeof *found, compare_edges, NULL);
    times_clear(&times);
    if (!done) {
        free(found);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u event waits", wait_count);
    }
    *edges = found;
    *edge_count = drop_doubles(found, count);
    return WEIR_OK;
}
