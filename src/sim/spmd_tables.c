/* What a run knows of its spans, beside the sealed timeline: causes, parts, gaps, meetings. */
#include "sim/spmd_writer.h"
#include "timeline/comm_names.h"

static int64_t most(int64_t ns, int64_t room)
{
    return ns < room ? ns : room;
}

/* Parts that add up to the whole: what rounding leaves over is bandwidth, not contention. */
static weir_span_parts parts_of(const sim_engine *engine, uint32_t id)
{
    const sim_meeting *meeting = &engine->meetings[id];
    const cast_meeting *row = &engine->cast->meetings[meeting->row];
    weir_span_parts parts = {.meeting = id, .arrived_ns = meeting->arrived_ns};
    int64_t rest = meeting->end_ns - meeting->arrived_ns;
    parts.circuit_ns = most(meeting->begin_ns - meeting->arrived_ns, rest);
    rest -= parts.circuit_ns;
    parts.latency_ns = most(weir_ns_from_s(row->latency_s), rest);
    rest -= parts.latency_ns;
    int64_t alone_ns = weir_ns_from_s(row->alone_s);
    parts.bandwidth_ns = rest <= alone_ns + 1 && row->alone_s > 0 ? rest : most(alone_ns, rest);
    parts.contention_ns = rest - parts.bandwidth_ns;
    return parts;
}

static weir_cause cause_of(const sim_engine *engine, const sim_record *r)
{
    if (r->meeting == WEIR_NONE) {
        uint32_t program = engine->cast->devices[r->device].program;
        return engine->scripts[program].program->ops[r->op].cause;
    }
    const sim_meeting *meeting = &engine->meetings[r->meeting];
    const weir_exchange *exchange =
        &engine->spmd->exchanges[engine->cast->meetings[meeting->row].exchange];
    if (meeting->stalled_by != WEIR_NONE) {
        return WEIR_CAUSE_DEPENDENCY_FAILURE;
    }
    bool is_message = exchange->is_message || exchange->kind == WEIR_COMM_SEND_RECV;
    return is_message ? WEIR_CAUSE_COMMUNICATION_P2P : weir_comm_cause(exchange->kind);
}

static weir_code fill_spans(spmd_writer *w, weir_err *err)
{
    const sim_engine *engine = w->engine;
    weir_spmd_run *run = w->run;
    size_t n = (size_t)engine->record_count + 1;
    run->cause = weir_arena_alloc(run->arena, n, sizeof *run->cause);
    run->parts = weir_arena_alloc(run->arena, n, sizeof *run->parts);
    run->bound_by = weir_arena_alloc(run->arena, n, sizeof *run->bound_by);
    if (!run->cause || !run->parts || !run->bound_by) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < engine->record_count; i++) {
        const sim_record *r = &engine->records[i];
        weir_span_id span = w->span_of[i];
        if (span == WEIR_NONE) {
            continue;
        }
        run->cause[span] = (uint8_t)cause_of(engine, r);
        run->bound_by[span] = r->bound_by == WEIR_NONE ? WEIR_NONE : w->span_of[r->bound_by];
        if (r->meeting == WEIR_NONE) {
            run->parts[span] = (weir_span_parts){.meeting = WEIR_NONE};
        } else {
            run->parts[span] = parts_of(engine, r->meeting);
        }
    }
    return WEIR_OK;
}

/* Idle time with a cause; the rest only puts off what comes after it. */
static bool is_gap(const spmd_writer *w, uint32_t record)
{
    return w->span_of[record] == WEIR_NONE &&
           cause_of(w->engine, &w->engine->records[record]) != WEIR_CAUSE_COUNT;
}

/* Gaps of the devices, from the records of idle time. */
static weir_code fill_gaps(spmd_writer *w, weir_err *err)
{
    const sim_engine *engine = w->engine;
    uint32_t devices = engine->cast->device_count, n = engine->record_count - w->span_count;
    weir_arena *arena = w->run->arena;
    weir_gap *gaps = weir_arena_alloc(arena, (size_t)n + 1, sizeof *gaps);
    uint32_t *first = weir_arena_alloc(arena, (size_t)devices + 2, sizeof *first);
    if (!gaps || !first) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < engine->record_count; i++) {
        first[engine->records[i].device + 2] += is_gap(w, i);
    }
    for (uint32_t d = 0; d < devices; d++) {
        first[d + 2] += first[d + 1];
    }
    for (uint32_t i = 0; i < engine->record_count; i++) { /* of one lane: by begin */
        const sim_record *r = &engine->records[i];
        if (is_gap(w, i)) {
            gaps[first[r->device + 1]++] =
                (weir_gap){r->start_ns, r->start_ns + r->dur_ns, cause_of(engine, r)};
        }
    }
    w->run->gaps = (weir_gaps){gaps, first};
    return WEIR_OK;
}

static weir_code fill_meetings(spmd_writer *w, weir_err *err)
{
    const sim_engine *engine = w->engine;
    weir_spmd_run *run = w->run;
    run->meetings =
        weir_arena_alloc(run->arena, (size_t)engine->meeting_count + 1, sizeof *run->meetings);
    run->member_spans =
        weir_arena_alloc(run->arena, (size_t)engine->arrival_count + 1, sizeof *run->member_spans);
    if (!run->meetings || !run->member_spans) {
        return SIM_NO_MEMORY(err);
    }
    uint32_t rows = 0;
    for (uint32_t id = 0; id < engine->meeting_count; id++) {
        const sim_meeting *meeting = &engine->meetings[id];
        const cast_meeting *row = &engine->cast->meetings[meeting->row];
        weir_meeting *out = &run->meetings[id];
        *out = (weir_meeting){
            .exchange = row->exchange,
            .first_member = rows,
            .end_ns = meeting->end_ns,
            .last_arrival_ns = meeting->arrived_ns,
            .is_complete = meeting->arrived == row->member_count,
            .stalled_by = meeting->stalled_by,
            .group = row->group,
            .multiplicity = row->multiplicity,
            .tier = engine->spmd->exchanges[row->exchange].groups[row->group].plan->pace_tier};
        for (uint32_t i = 0; i < row->member_count; i++) {
            uint32_t record = engine->arrivals[meeting->first_member + i].record;
            if (record != WEIR_NONE) {
                run->member_spans[rows++] = w->span_of[record];
            }
        }
        out->member_count = rows - out->first_member;
    }
    run->meeting_count = engine->meeting_count;
    return WEIR_OK;
}

weir_code spmd_fill_tables(spmd_writer *w, weir_err *err)
{
    weir_code code = fill_spans(w, err);
    code = code == WEIR_OK ? fill_gaps(w, err) : code;
    return code == WEIR_OK ? fill_meetings(w, err) : code;
}
