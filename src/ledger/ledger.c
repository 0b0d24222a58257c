#include "ledger/ledger.h"

#include "base/thread.h"
#include "ledger/cause_of_late.h"
#include "ledger/run.h"
#include "result/verdict.h"

#include <stdlib.h>

static void run_clear(ledger_run *run)
{
    for (uint32_t d = 0; run->device && d < run->device_count; d++) {
        free(run->device[d].bounds);
        free(run->device[d].steps);
        free(run->device[d].lines);
    }
    free(run->device);
    free(run->steps);
    free(run->split);
    free(run->last_is_seen);
    free(run->parent);
    free(run->host_activity);
    free(run->told_cause);
    free(run->blocks);
    free(run->orphans);
    free(run->orphan_first);
    free(run->beside_comm);
    late_memo_free(run->memo, run->device_count);
}

static weir_code run_init(ledger_run *run, weir_err *err)
{
    const weir_timeline *t = run->in->timeline;
    run->spans = weir_timeline_spans(t);
    run->ranks = weir_timeline_ranks(t, &run->rank_count);
    run->devices = weir_timeline_devices(t, &run->device_count);
    run->lanes = weir_timeline_lanes(t, &run->lane_count);
    run->groups = weir_timeline_groups(t, &run->group_count);
    if (run->device_count == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "no device activity: none of the files has a kernel or a copy (was the "
                            "profiler told to record the GPU, ProfilerActivity.CUDA?)");
    }
    run->device = calloc(run->device_count, sizeof *run->device);
    run->beside_comm = calloc(run->spans.device_count + (size_t)1, 1);
    return run->device && run->beside_comm ? ledger_axes(run, err) : LEDGER_NO_MEMORY(err);
}

static void sweep_task(void *context, uint32_t d)
{
    ledger_run *run = context;
    ledger_sweep(run, d);
    if (ledger_intervals(run, d) != WEIR_OK) {
        run->device[d].failed = true;
    }
}

static weir_code sweep_all(ledger_run *run, weir_err *err)
{
    weir_thread_for(run->device_count, run->options->threads, sweep_task, run);
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->device[d].failed) {
            return LEDGER_NO_MEMORY(err);
        }
    }
    return WEIR_OK;
}

/* What a reader should know before trusting the numbers. */
static void notes_add(const ledger_run *run)
{
    weir_result *r = run->result;
    const weir_match *m = run->in->match;
    uint32_t without = 0, cut = 0;
    for (uint32_t k = 0; k < run->rank_count; k++) {
        bool has = false;
        for (uint32_t d = 0; d < run->device_count && !has; d++) {
            has = run->devices[d].rank == k;
        }
        without += !has;
        cut += run->ranks[k].cut;
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->device[d].step_count == 0) {
            weir_result_note(r,
                             "rank %d was cut before its first step was complete: its row is empty",
                             run->ranks[run->devices[d].rank].number);
        }
    }
    if (without) {
        weir_result_note(r, "%u of %u ranks have no device activity and no row", without,
                         run->rank_count);
    }
    if (cut) {
        weir_result_note(r, "%u of %u files end before their document does", cut, run->rank_count);
    }
    if (m->refused) {
        weir_result_note(r,
                         "clocks: the residual of %lld us exceeds the waits between hosts: "
                         "waiting and transfer between them are not split",
                         (long long)(m->residual_ns / 1000));
    }
    for (uint32_t c = 0; c < m->clock_count; c++) {
        if (!m->clocks[c].linked && m->clock_count > 1) {
            weir_str node = weir_timeline_name(run->in->timeline, m->clocks[c].node);
            weir_result_note(r, "clocks: nothing links host %.*s to the others", (int)node.n,
                             node.p);
        }
    }
    if (!run->has_markers && r->note_count < 64) {
        weir_result_note(r, "no step markers: the window is all that was recorded "
                            "(torch.profiler writes them with schedule= and step())");
    }
}

static weir_code clock_describe(const ledger_run *run, weir_err *err)
{
    const weir_match *m = run->in->match;
    weir_result *r = run->result;
    r->clock.nodes = weir_arena_alloc(r->arena, m->clock_count + (size_t)1, sizeof *r->clock.nodes);
    if (!r->clock.nodes) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < m->clock_count; i++) {
        const weir_clock *clock = &m->clocks[i];
        const char *node = weir_result_copy(r, weir_timeline_name(run->in->timeline, clock->node));
        r->clock.nodes[i] = (struct weir_clock_row){
            .node = node ? node : "",
            .linked = clock->linked,
            .offset_ns = clock->offset_ns,
            .drift = clock->drift,
            .drift_origin_ns = clock->drift_origin_ns + weir_timeline_origin_ns(run->in->timeline),
        };
    }
    r->clock.node_count = m->clock_count;
    run->result->clock.aligned = m->aligned;
    run->result->clock.hosts = m->clock_count;
    run->result->clock.max_offset_ns = m->max_offset_ns;
    run->result->clock.residual_ns = m->residual_ns;
    return WEIR_OK;
}

static weir_code lines_publish(ledger_run *run, weir_lines *lines, weir_err *err)
{
    uint64_t total = 0;
    uint32_t n = run->device_count;
    for (uint32_t d = 0; d < n; d++) {
        total += run->device[d].line_count;
    }
    *lines = (weir_lines){.device_count = n};
    lines->lines = malloc((total + 1) * sizeof *lines->lines);
    lines->first = calloc(n + (size_t)1, sizeof *lines->first);
    lines->begin_ns = calloc(n + (size_t)1, sizeof *lines->begin_ns);
    lines->end_ns = calloc(n + (size_t)1, sizeof *lines->end_ns);
    if (!lines->lines || !lines->first || !lines->begin_ns || !lines->end_ns) {
        weir_lines_clear(lines);
        return LEDGER_NO_MEMORY(err);
    }
    uint64_t at = 0;
    for (uint32_t d = 0; d < n; d++) {
        const ledger_device *device = &run->device[d];
        lines->begin_ns[d] = device->begin_ns;
        lines->end_ns[d] = device->end_ns;
        lines->first[d] = at;
        for (uint32_t i = 0; i < device->line_count; i++) {
            weir_line line = device->lines[i];
            line.begin_ns = line.begin_ns > device->begin_ns ? line.begin_ns : device->begin_ns;
            line.end_ns = line.end_ns < device->end_ns ? line.end_ns : device->end_ns;
            if (line.begin_ns < line.end_ns) {
                lines->lines[at++] = line;
            }
        }
    }
    lines->first[n] = at;
    return WEIR_OK;
}

static weir_code run_all(ledger_run *run, weir_lines *lines, weir_err *err)
{
    weir_code (*const parts[])(ledger_run *, weir_err *) = {
        ledger_windows,     ledger_split,  ledger_hosts,     ledger_orphans,
        sweep_all,          ledger_totals, ledger_blame,     ledger_control,
        ledger_collectives, ledger_path,   ledger_efficiency};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        weir_code code = parts[i](run, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    weir_code code = run->options->kernels ? ledger_kernels(run, err) : WEIR_OK;
    if (code == WEIR_OK) {
        code = clock_describe(run, err);
    }
    if (code == WEIR_OK) {
        notes_add(run);
        code = weir_verdict_compose(run->result, err);
    }
    return code == WEIR_OK && lines ? lines_publish(run, lines, err) : code;
}

weir_code weir_ledger_build(const weir_ledger_input *input, const weir_ledger_options *options,
                            weir_result *result, weir_lines *lines, weir_err *err)
{
    static const weir_ledger_options defaults;
    ledger_run run = {.in = input, .options = options ? options : &defaults, .result = result};
    weir_code code = run_init(&run, err);
    code = code == WEIR_OK ? run_all(&run, lines, err) : code;
    run_clear(&run);
    return code;
}
