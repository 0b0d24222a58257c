#include "study/sim_planned.h"

#include <stdlib.h>

#define NO_MEMORY(err) weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for what was planned")

bool sim_is_disturbed(const weir_spmd *spmd)
{
    return spmd->slow_count || spmd->jitter > 0 || (spmd->changes && spmd->changes->count);
}

/* The thread of a rank has one marker for each step, without gaps (sim/spmd_steps.c). */
static const weir_lane *markers_of(const weir_timeline *t, weir_rank_id rank)
{
    uint32_t low = 0, high;
    const weir_lane *lanes = weir_timeline_lanes(t, &high);
    uint32_t count = high;
    while (low < high) { /* by kind, then by rank */
        uint32_t middle = low + (high - low) / 2;
        bool is_before = lanes[middle].kind < WEIR_LANE_THREAD || lanes[middle].rank < rank;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low < count && lanes[low].rank == rank ? &lanes[low] : NULL;
}

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The lines of one device of the steady run, added to the step that each falls into. */
static void cut_lines(const weir_timeline *t, const weir_lines *lines, weir_device_id device,
                      weir_causes *steps)
{
    uint32_t count;
    const weir_device *devices = weir_timeline_devices(t, &count);
    const weir_lane *markers = markers_of(t, devices[device].rank);
    weir_spans spans = weir_timeline_spans(t);
    uint32_t s = 0;
    for (uint64_t i = lines->first[device]; markers && i < lines->first[device + 1]; i++) {
        const weir_line *line = &lines->lines[i];
        int64_t first_ns = spans.start_ns[markers->first_span];
        for (int64_t at = max_ns(line->begin_ns, first_ns); at < line->end_ns;) {
            while (s + 1 < markers->span_count &&
                   spans.start_ns[markers->first_span + s + 1] <= at) {
                s++;
            }
            bool is_last = s + 1 == markers->span_count;
            int64_t until = is_last ? line->end_ns : spans.start_ns[markers->first_span + s + 1];
            until = until < line->end_ns ? until : line->end_ns;
            steps[s].ns[line->cause] += until - at;
            at = until;
        }
    }
}

static uint32_t first_step(const weir_spmd *spmd)
{
    uint32_t low = UINT32_MAX;
    for (uint32_t p = 0; p < spmd->program_count; p++) {
        for (uint32_t k = 0; k < spmd->programs[p].count; k++) {
            low = spmd->programs[p].ops[k].step < low ? spmd->programs[p].ops[k].step : low;
        }
    }
    return low;
}

/* By rank: its device; WEIR_NONE: it has none. From malloc; NULL: no memory. */
static uint32_t *devices_of_ranks(const weir_timeline *t)
{
    uint32_t ranks, count;
    (void)weir_timeline_ranks(t, &ranks);
    const weir_device *devices = weir_timeline_devices(t, &count);
    uint32_t *device_of = malloc((ranks + (size_t)1) * sizeof *device_of);
    for (uint32_t r = 0; device_of && r < ranks; r++) {
        device_of[r] = WEIR_NONE;
    }
    for (uint32_t d = 0; device_of && d < count; d++) {
        device_of[devices[d].rank] = d;
    }
    return device_of;
}

static weir_code plan_devices(const weir_spmd_run *run, const weir_spmd_run *steady,
                              const weir_lines *lines, weir_ledger_plan *plan, weir_err *err)
{
    uint32_t count;
    const weir_device *devices = weir_timeline_devices(run->timeline, &count);
    const weir_lane *markers = markers_of(steady->timeline, 0);
    plan->step_count = markers ? markers->span_count : 1;
    weir_causes *causes = calloc((size_t)count * plan->step_count + 1, sizeof *causes);
    uint32_t *device_of = devices_of_ranks(steady->timeline);
    if (!causes || !device_of) {
        free(causes);
        free(device_of);
        return NO_MEMORY(err);
    }
    for (uint32_t d = 0; d < count; d++) {
        uint32_t device = run->device_of_rank[devices[d].rank];
        uint32_t other = device_of[steady->rank_of_device[device]];
        if (other != WEIR_NONE) {
            cut_lines(steady->timeline, lines, other, causes + (size_t)d * plan->step_count);
        }
    }
    free(device_of);
    plan->causes = causes;
    return WEIR_OK;
}

weir_code sim_planned_make(const weir_spmd *spmd, const weir_spmd_run *run, uint32_t threads,
                           weir_ledger_plan *plan, weir_err *err)
{
    weir_spmd calm = *spmd;
    weir_spmd_run steady = {0};
    weir_lines lines = {0};
    calm.slow_count = 0;
    calm.jitter = 0;
    calm.changes = NULL;
    calm.link_series = false;
    weir_result *result = weir_result_new();
    weir_code code = result ? weir_spmd_play(&calm, &steady, err) : NO_MEMORY(err);
    if (code == WEIR_OK) {
        const weir_ledger_options options = {.threads = threads};
        code = weir_sim_ledger_build(&calm, &steady, &options, result, &lines, err);
    }
    if (code == WEIR_OK) {
        plan->first_step = first_step(spmd);
        code = plan_devices(run, &steady, &lines, plan, err);
    }
    weir_lines_clear(&lines);
    weir_result_free(result);
    weir_spmd_run_clear(&steady);
    return code;
}
