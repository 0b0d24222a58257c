/* Planned, steady, erratic (DESIGN 2.6): per device and cause over steps, never pooled over ranks.
 */
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>
#include <string.h>

/* The 10th percentile by nearest rank; under 10 values the minimum. values are sorted. */
static int64_t tenth_percentile(const weir_sort_pair *values, uint32_t n)
{
    return (int64_t)values[n < 10 ? 0 : (n + 9) / 10 - 1].key;
}

/* What of cause c in step s of device d was planned. */
static int64_t planned_ns(const ledger_run *run, weir_device_id d, uint32_t s, int c)
{
    const step_account *step = &run->device[d].steps[s];
    const weir_ledger_plan *plan = run->in->plan;
    if (!plan) {
        return step->planned.ns[c];
    }
    int64_t row = run->has_markers ? run->steps[s] - plan->first_step : 0;
    if (row < 0 || row >= plan->step_count) {
        return 0;
    }
    int64_t ns = plan->causes[(size_t)d * plan->step_count + (size_t)row].ns[c];
    return ns < step->causes.ns[c] ? ns : step->causes.ns[c];
}

static bool cause_control(const ledger_run *run, weir_device_id d, int c, weir_sort_pair *values,
                          weir_control *control)
{
    const ledger_device *device = &run->device[d];
    int64_t times = run->devices[d].multiplicity;
    for (uint32_t s = 0; s < device->step_count; s++) {
        int64_t rest = device->steps[s].causes.ns[c] - planned_ns(run, d, s, c);
        values[s] = (weir_sort_pair){(uint64_t)rest, s};
    }
    if (!weir_sort_pairs(values, device->step_count)) {
        return false;
    }
    int64_t floor = tenth_percentile(values, device->step_count);
    for (uint32_t s = 0; s < device->step_count; s++) {
        int64_t planned = planned_ns(run, d, s, c);
        int64_t rest = device->steps[s].causes.ns[c] - planned;
        int64_t steady = rest < floor ? rest : floor;
        control->planned.ns[c] += planned * times;
        control->steady.ns[c] += steady * times;
        control->erratic.ns[c] += (rest - steady) * times;
    }
    return true;
}

static bool device_control(const ledger_run *run, weir_device_id d, weir_control *control)
{
    const ledger_device *device = &run->device[d];
    int64_t times = run->devices[d].multiplicity;
    if (device->step_count < 2) { /* one step tells nothing about the others */
        for (uint32_t s = 0; s < device->step_count; s++) {
            for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
                int64_t planned = run->in->plan ? planned_ns(run, d, s, c) : 0;
                control->planned.ns[c] += planned * times;
                control->unknown.ns[c] += (device->steps[s].causes.ns[c] - planned) * times;
            }
        }
        return true;
    }
    weir_sort_pair *values = malloc(device->step_count * sizeof *values);
    bool ok = values != NULL;
    for (int c = 0; ok && c < WEIR_CAUSE_COUNT; c++) {
        ok = cause_control(run, d, c, values, control);
    }
    free(values);
    return ok;
}

/* A place is a cause on an axis (what travels or waits for others) or on a rank (the rest). */
typedef struct {
    weir_cause cause;
    const char *axis; /* NULL: on a rank */
    int32_t rank;
    int64_t ns;
} place;

static int place_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const place *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static bool is_on_axis(weir_cause cause)
{
    return weir_cause_wait(cause) == WEIR_WAIT_COMMUNICATION ||
           cause == WEIR_CAUSE_DEPENDENCY_STRAGGLER || cause == WEIR_CAUSE_DEPENDENCY_BUBBLE;
}

/* Adds what lies on axes; there are few of them. */
static uint32_t axis_places(const ledger_run *run, place *places, uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const ledger_device *device = &run->device[d];
        for (uint32_t i = 0; i < device->line_count; i++) {
            const weir_line *line = &device->lines[i];
            int64_t ns = ledger_in_window(device, line);
            if (!is_on_axis((weir_cause)line->cause) || ns == 0) {
                continue;
            }
            const char *axis = line->instance == WEIR_NONE
                                   ? "unknown"
                                   : ledger_axis(run, &run->in->match->instances[line->instance]);
            uint32_t k = 0;
            while (k < n && (places[k].cause != line->cause || strcmp(places[k].axis, axis) != 0)) {
                k++;
            }
            if (k == n && n < most) {
                places[n++] = (place){(weir_cause)line->cause, axis, -1, 0};
            }
            if (k < n) {
                places[k].ns += ns * run->devices[d].multiplicity;
            }
        }
    }
    return n;
}

enum { AXIS_PLACES = 256 };

static weir_code places_count(ledger_run *run, weir_err *err)
{
    size_t most = AXIS_PLACES + run->device_count * (size_t)WEIR_CAUSE_COUNT;
    place *places = malloc(most * sizeof *places);
    if (!places) {
        return LEDGER_NO_MEMORY(err);
    }
    uint32_t n = axis_places(run, places, AXIS_PLACES);
    for (uint32_t d = 0; d < run->result->device_count; d++) {
        const weir_device_row *row = &run->result->devices[d];
        for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
            bool waits = weir_cause_wait((weir_cause)c) != WEIR_WAIT_COMPUTE;
            if (waits && !is_on_axis((weir_cause)c) && row->account.causes.ns[c]) {
                places[n++] = (place){(weir_cause)c, NULL, row->rank,
                                      row->account.causes.ns[c] * row->multiplicity};
            }
        }
    }
    bool ok = weir_sort(places, n, sizeof *places, place_compare, NULL);
    int64_t all = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        all += places[i].ns;
    }
    for (uint32_t i = 0; i < n && 2 * sum < all; i++) {
        sum += places[i].ns;
        run->result->control.places_for_half = i + 1;
    }
    free(places);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}

weir_code ledger_control(ledger_run *run, weir_err *err)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (!device_control(run, d, &run->result->control)) {
            return LEDGER_NO_MEMORY(err);
        }
    }
    return places_count(run, err);
}
