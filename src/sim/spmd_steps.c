/* Periods of a simulated run as step markers, which the ledger looks for (ledger/markers.c). */
#include "base/text.h"
#include "sim/spmd_timeline.h"

#include <stdlib.h>

static weir_code add_marker(weir_timeline *t, weir_rank_id rank, uint32_t step, int64_t begin_ns,
                            int64_t end_ns, weir_err *err)
{
    weir_text text = {0};
    weir_text_printf(&text, "ProfilerStep#%u", step);
    weir_new_span span = {.start_ns = begin_ns,
                          .dur_ns = end_ns > begin_ns ? end_ns - begin_ns : 0,
                          .detail = WEIR_NONE,
                          .kind = WEIR_SPAN_ANNOTATION};
    weir_code code = text.failed ? SIM_NO_MEMORY(err)
                                 : weir_timeline_intern(t, (weir_str){text.p, (uint32_t)text.n},
                                                        &span.name, err);
    weir_text_clear(&text);
    if (code == WEIR_OK) {
        code = weir_timeline_add_lane(t, WEIR_LANE_THREAD, rank, rank, 0, &span.lane, err);
    }
    return code == WEIR_OK ? weir_timeline_add_span(t, &span, err) : code;
}

/* When each step begins on each device, -1 where it has no op of it; behind them when the last one
 * ends. */
typedef struct {
    uint32_t first, count; /* numbers of the steps */
    int64_t *begin_ns;     /* [device * (count + 1) + step - first] */
} step_begins;

static weir_code add_markers(const sim_engine *engine, const step_begins *steps, weir_timeline *t,
                             weir_err *err)
{
    weir_code code = WEIR_OK;
    for (uint32_t d = 0; d < engine->cast->device_count && code == WEIR_OK; d++) {
        const int64_t *own = steps->begin_ns + (size_t)d * (steps->count + 1);
        int64_t from_ns = own[0] > 0 ? own[0] : 0;
        for (uint32_t s = 0; s < steps->count && code == WEIR_OK; s++) {
            uint32_t next = s + 1;
            while (next < steps->count && own[next] < 0) {
                next++;
            }
            int64_t until_ns = own[next] > from_ns ? own[next] : from_ns;
            code = add_marker(t, d, steps->first + s, from_ns, until_ns, err);
            from_ns = until_ns;
        }
    }
    return code;
}

static void count_steps(const weir_spmd *spmd, step_begins *steps)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t p = 0; p < spmd->program_count; p++) {
        for (uint32_t k = 0; k < spmd->programs[p].count; k++) {
            uint32_t step = spmd->programs[p].ops[k].step;
            low = step < low ? step : low;
            high = step > high ? step : high;
        }
    }
    *steps = (step_begins){.first = low, .count = low <= high ? high - low + 1 : 0};
}

/* A message that was sent before its receiver had come to it. */
static bool came_early(const sim_engine *engine, const sim_record *r)
{
    const sim_meeting *meeting = r->meeting == WEIR_NONE ? NULL : &engine->meetings[r->meeting];
    const cast_meeting *row = meeting ? &engine->cast->meetings[meeting->row] : NULL;
    return row && row->sender != WEIR_NONE && r->device != row->sender &&
           r->start_ns == meeting->arrived_ns;
}

/* A step begins with the first of its ops on this device, the first one with the run; it ends where
 * the next begins, the last with the run. */
static void mark_together(const sim_engine *engine, const step_begins *steps, const sim_record *r,
                          const weir_program_op *op)
{
    int64_t *begin_ns = &steps->begin_ns[(size_t)r->device * (steps->count + 1)];
    uint32_t step = op->step - steps->first;
    if (step > 0 && !came_early(engine, r)) {
        begin_ns[step] =
            begin_ns[step] < 0 || r->start_ns < begin_ns[step] ? r->start_ns : begin_ns[step];
    }
}

/* weir_spmd.steps_apart */
static void mark_apart(const step_begins *steps, const sim_record *r, const weir_program_op *op)
{
    bool only_delays = op->kind == WEIR_STEP_IDLE && op->cause == WEIR_CAUSE_COUNT;
    uint32_t step = op->step - steps->first + (only_delays ? 0 : 1);
    int64_t *begin_ns = &steps->begin_ns[(size_t)r->device * (steps->count + 1) + step];
    int64_t end_ns = r->start_ns + r->dur_ns;
    if (op->lane == 0) {
        *begin_ns = end_ns > *begin_ns ? end_ns : *begin_ns;
    }
}

weir_code sim_steps_mark(const sim_engine *engine, weir_timeline *t, weir_err *err)
{
    step_begins steps;
    count_steps(engine->spmd, &steps);
    size_t room = ((size_t)steps.count + 1) * engine->cast->device_count;
    steps.begin_ns = calloc(room + 1, sizeof *steps.begin_ns);
    if (!steps.begin_ns) {
        return SIM_NO_MEMORY(err);
    }
    for (size_t i = 0; i < room; i++) {
        bool is_end = (i + 1) % (steps.count + 1) == 0;
        steps.begin_ns[i] = is_end && !engine->spmd->steps_apart ? engine->end_ns : -1;
    }
    for (uint32_t i = 0; i < engine->record_count; i++) {
        const sim_record *r = &engine->records[i];
        const sim_script *script = &engine->scripts[engine->cast->devices[r->device].program];
        const weir_program_op *op = &script->program->ops[r->op];
        if (engine->spmd->steps_apart) {
            mark_apart(&steps, r, op);
        } else {
            mark_together(engine, &steps, r, op);
        }
    }
    weir_code code = add_markers(engine, &steps, t, err);
    free(steps.begin_ns);
    return code;
}
