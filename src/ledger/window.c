/* Which part of the run is looked at, on each device (DESIGN 2.1, "Window"). */
#include "base/sort.h"
#include "ledger/markers.h"
#include "ledger/run.h"

#include <stdlib.h>
#include <string.h>

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* First start and last end of everything recorded for a device. */
static void device_extent(const ledger_run *run, weir_device_id d)
{
    ledger_device *device = &run->device[d];
    device->first_ns = INT64_MAX;
    device->last_ns = INT64_MIN;
    for (uint32_t i = 0; i < run->devices[d].lane_count; i++) {
        const weir_lane *lane = &run->lanes[run->devices[d].first_lane + i];
        for (uint32_t s = lane->first_span; s < lane->first_span + lane->span_count; s++) {
            int64_t begin = run->spans.start_ns[s], end = ledger_end(run, s);
            device->first_ns = begin < device->first_ns ? begin : device->first_ns;
            device->last_ns = end > device->last_ns ? end : device->last_ns;
        }
    }
}

/* Spans of a device that have a launch, by launch; starts are turned into the earliest start from
 * there on, ends into the latest end up to there. */
typedef struct {
    weir_sort_pair *launches; /* key: launch start, value: span */
    int64_t *earliest_start, *latest_end;
    uint32_t count;
} launch_order;

static void launch_order_clear(launch_order *order)
{
    free(order->launches);
    free(order->earliest_start);
    free(order->latest_end);
    *order = (launch_order){0};
}

static weir_code launch_order_build(const ledger_run *run, weir_device_id d, launch_order *order,
                                    weir_err *err)
{
    *order = (launch_order){0};
    const weir_lane *first = &run->lanes[run->devices[d].first_lane];
    const weir_lane *last = first + run->devices[d].lane_count - 1;
    uint32_t begin = first->first_span, end = last->first_span + last->span_count;
    size_t n = end - begin + (size_t)1;
    order->launches = malloc(n * sizeof *order->launches);
    order->earliest_start = malloc(n * sizeof *order->earliest_start);
    order->latest_end = malloc(n * sizeof *order->latest_end);
    if (!order->launches || !order->earliest_start || !order->latest_end) {
        launch_order_clear(order);
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t s = begin; s < end; s++) {
        weir_span_id launch = run->in->match->launch[s];
        if (launch != WEIR_NONE) {
            int64_t at = run->spans.start_ns[launch];
            order->launches[order->count++] = (weir_sort_pair){(uint64_t)at, s};
        }
    }
    if (!weir_sort_pairs(order->launches, order->count)) {
        launch_order_clear(order);
        return LEDGER_NO_MEMORY(err);
    }
    int64_t start = INT64_MAX, stop = INT64_MIN;
    for (uint32_t i = order->count; i-- > 0;) {
        int64_t at = run->spans.start_ns[order->launches[i].value];
        start = at < start ? at : start;
        order->earliest_start[i] = start;
    }
    for (uint32_t i = 0; i < order->count; i++) {
        int64_t at = ledger_end(run, (weir_span_id)order->launches[i].value);
        stop = at > stop ? at : stop;
        order->latest_end[i] = stop;
    }
    return WEIR_OK;
}

/* How many launches begin before t. */
static uint32_t launches_before(const launch_order *order, int64_t t)
{
    uint32_t low = 0, high = order->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)order->launches[middle].key < t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where the step that begins with a marker at t begins on the device. */
static int64_t step_begin(const ledger_device *device, const launch_order *order, int64_t t)
{
    if (order->count == 0) {
        return t;
    }
    uint32_t i = launches_before(order, t);
    return i < order->count ? order->earliest_start[i] : device->last_ns;
}

/* Where the last step ends on the device: with the last span launched before its marker ends. */
static int64_t last_end(const launch_order *order, const step_marker *marker)
{
    if (order->count == 0) {
        return marker->end_ns;
    }
    uint32_t i = launches_before(order, marker->end_ns);
    return i ? order->latest_end[i - 1] : marker->end_ns;
}

static const step_marker *marker_of(const step_markers *found, weir_rank_id rank, int64_t number)
{
    for (uint32_t i = found->first[rank]; found->markers && i < found->first[rank + 1]; i++) {
        if (found->markers[i].number == number) {
            return &found->markers[i];
        }
    }
    return NULL;
}

/* A cut file has the steps after whose end something was still launched on the device. */
static bool step_is_complete(const ledger_run *run, weir_rank_id rank, const launch_order *order,
                             const step_marker *marker)
{
    if (!marker) {
        return false;
    }
    return !run->ranks[rank].cut || order->count == 0 ||
           launches_before(order, marker->end_ns) < order->count;
}

static weir_code device_bounds(ledger_run *run, const step_markers *found, weir_device_id d,
                               weir_err *err)
{
    ledger_device *device = &run->device[d];
    weir_rank_id rank = run->devices[d].rank;
    launch_order order;
    weir_code code = launch_order_build(run, d, &order, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t n = 0;
    const step_marker *last = NULL;
    for (; n < run->step_total; n++) {
        const step_marker *marker = marker_of(found, rank, run->steps[n]);
        if (!step_is_complete(run, rank, &order, marker)) {
            break;
        }
        last = marker;
        device->bounds[n] = step_begin(device, &order, marker->begin_ns);
    }
    device->step_count = n;
    if (last) {
        const step_marker *next = last + 1;
        bool has_next = next < found->markers + found->first[rank + 1];
        device->bounds[n] =
            has_next ? step_begin(device, &order, next->begin_ns) : last_end(&order, last);
    }
    for (uint32_t i = 1; i <= n; i++) { /* a step never ends before it begins */
        device->bounds[i] =
            device->bounds[i] < device->bounds[i - 1] ? device->bounds[i - 1] : device->bounds[i];
    }
    launch_order_clear(&order);
    return WEIR_OK;
}

/* Does every rank that must have step `number` have it? */
static bool step_is_common(const ledger_run *run, const step_markers *found, int64_t number)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        weir_rank_id rank = run->devices[d].rank;
        if (!run->ranks[rank].cut && !marker_of(found, rank, number)) {
            return false;
        }
    }
    return true;
}

static uint32_t marker_count(const step_markers *found, weir_rank_id rank)
{
    return found->first[rank + 1] - found->first[rank];
}

/* The longest run of consecutive steps that all ranks have; where all are cut, that of the longest.
 */
static weir_code steps_choose(ledger_run *run, const step_markers *found, weir_err *err)
{
    uint32_t total = found->first[run->rank_count], model = WEIR_NONE;
    for (uint32_t d = 0; d < run->device_count; d++) {
        weir_rank_id rank = run->devices[d].rank;
        bool first = model == WEIR_NONE, whole = !run->ranks[rank].cut;
        bool better = !first && run->ranks[model].cut &&
                      (whole || marker_count(found, rank) > marker_count(found, model));
        model = first || better ? rank : model;
    }
    run->steps = calloc(total + (size_t)1, sizeof *run->steps);
    if (!run->steps) {
        return LEDGER_NO_MEMORY(err);
    }
    uint32_t best = 0, best_begin = 0, length = 0;
    for (uint32_t i = found->first[model]; i < found->first[model + 1]; i++) {
        int64_t number = found->markers[i].number;
        const weir_ledger_options *o = run->options;
        bool wanted = !o->has_steps || (number >= o->first_step && number <= o->last_step);
        length = wanted && step_is_common(run, found, number) ? length + 1 : 0;
        if (length > best) {
            best = length;
            best_begin = i + 1 - length;
        }
    }
    for (uint32_t i = 0; i < best; i++) {
        run->steps[i] = found->markers[best_begin + i].number;
    }
    run->step_total = best;
    return WEIR_OK;
}

/* Without markers: from the first to the last device activity of the set, on the aligned clock. */
static void whole_window(ledger_run *run)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;
    const weir_match *m = run->in->match;
    for (uint32_t d = 0; d < run->device_count; d++) {
        int64_t first = weir_match_to_aligned(m, run->devices[d].rank, run->device[d].first_ns);
        int64_t last = weir_match_to_aligned(m, run->devices[d].rank, run->device[d].last_ns);
        begin = first < begin ? first : begin;
        end = last > end ? last : end;
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        run->device[d].step_count = 1;
        run->device[d].bounds[0] = weir_match_to_local(m, run->devices[d].rank, begin);
        run->device[d].bounds[1] = weir_match_to_local(m, run->devices[d].rank, end);
    }
}

static void window_clip(ledger_run *run)
{
    const weir_ledger_options *o = run->options;
    for (uint32_t d = 0; d < run->device_count; d++) {
        ledger_device *device = &run->device[d];
        weir_rank_id rank = run->devices[d].rank;
        for (uint32_t i = 0; o->has_window && device->step_count && i <= device->step_count; i++) {
            device->bounds[i] = clamp(device->bounds[i],
                                      weir_match_to_local(run->in->match, rank, o->window_begin_ns),
                                      weir_match_to_local(run->in->match, rank, o->window_end_ns));
        }
        device->begin_ns = device->step_count ? device->bounds[0] : 0;
        device->end_ns = device->step_count ? device->bounds[device->step_count] : 0;
    }
}

/* Is step s empty on every device? */
static bool step_is_empty(const ledger_run *run, uint32_t s)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        const ledger_device *device = &run->device[d];
        if (s < device->step_count && device->bounds[s] < device->bounds[s + 1]) {
            return false;
        }
    }
    return true;
}

/* Steps outside the window are not steps without waiting: they are left out. */
static weir_code steps_trim(ledger_run *run, weir_err *err)
{
    uint32_t first = 0, end = run->step_total;
    while (first < end && step_is_empty(run, first)) {
        first++;
    }
    while (end > first && step_is_empty(run, end - 1)) {
        end--;
    }
    if (first == end) {
        return weir_err_set(err, WEIR_ERR_USAGE, "--window: nothing was recorded there");
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        ledger_device *device = &run->device[d];
        uint32_t n = device->step_count, drop = first < n ? first : n;
        memmove(device->bounds, device->bounds + drop, (n - drop + 1) * sizeof *device->bounds);
        device->step_count = (n < end ? n : end) - drop;
        device->begin_ns = device->step_count ? device->bounds[0] : 0;
        device->end_ns = device->step_count ? device->bounds[device->step_count] : 0;
    }
    for (uint32_t s = first; run->steps && s < end; s++) {
        run->steps[s - first] = run->steps[s];
    }
    run->step_total = end - first;
    return WEIR_OK;
}

static weir_code no_such_steps(const ledger_run *run, const step_markers *found, weir_err *err)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint32_t i = 0; found->markers && i < found->first[run->rank_count]; i++) {
        low = found->markers[i].number < low ? found->markers[i].number : low;
        high = found->markers[i].number > high ? found->markers[i].number : high;
    }
    if (low > high) {
        return weir_err_set(err, WEIR_ERR_USAGE, "--steps: the trace has no step markers");
    }
    return weir_err_set(err, WEIR_ERR_USAGE,
                        "--steps %lld..%lld: no such step is complete on all ranks; the trace has "
                        "markers %lld to %lld",
                        (long long)run->options->first_step, (long long)run->options->last_step,
                        (long long)low, (long long)high);
}

static weir_code bounds_new(ledger_run *run, uint32_t steps, weir_err *err)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        run->device[d].bounds = calloc(steps + (size_t)1, sizeof *run->device[d].bounds);
        run->device[d].steps = calloc(steps, sizeof *run->device[d].steps);
        if (!run->device[d].bounds || !run->device[d].steps) {
            return LEDGER_NO_MEMORY(err);
        }
    }
    return WEIR_OK;
}

weir_code ledger_windows(ledger_run *run, weir_err *err)
{
    step_markers found;
    weir_code code = markers_find(run, &found, err);
    if (code != WEIR_OK) {
        return code;
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        device_extent(run, d);
    }
    if (found.markers) {
        code = steps_choose(run, &found, err);
    }
    run->has_markers = code == WEIR_OK && run->step_total > 0;
    if (code == WEIR_OK && run->options->has_steps && !run->has_markers) {
        code = no_such_steps(run, &found, err);
    }
    if (code == WEIR_OK && found.markers && !run->has_markers && found.first[run->rank_count]) {
        weir_result_note(run->result, "no step is complete on all ranks: the whole recording is "
                                      "shown instead of steps");
    }
    if (!run->has_markers) {
        run->step_total = 1;
    }
    code = code == WEIR_OK ? bounds_new(run, run->step_total, err) : code;
    if (code == WEIR_OK && !run->has_markers) {
        whole_window(run);
    }
    for (uint32_t d = 0; code == WEIR_OK && run->has_markers && d < run->device_count; d++) {
        code = device_bounds(run, &found, d, err);
    }
    if (code == WEIR_OK) {
        window_clip(run);
        code = run->options->has_window ? steps_trim(run, err) : WEIR_OK;
    }
    markers_clear(&found);
    return code;
}
