/* Meetings: who has arrived, when circuits are set, which round moves, when it is over. */
#include "base/grow.h"
#include "sim/engine.h"

#include <string.h>

static const cast_meeting *row_of(const sim_engine *engine, const sim_meeting *meeting)
{
    return &engine->cast->meetings[meeting->row];
}

/* WEIR_NONE: it needs no circuits. */
static uint32_t stay_of(const sim_engine *engine, const sim_meeting *meeting)
{
    const sim_circuit_order *order = &engine->order;
    return order->stay_of[order->first[row_of(engine, meeting)->exchange] + meeting->occurrence];
}

/* --- preparing --- */

static uint32_t *count_by_exchange(const sim_engine *engine, const sim_script *script,
                                   weir_arena *arena)
{
    uint32_t *counts =
        weir_arena_alloc(arena, (size_t)engine->spmd->exchange_count + 1, sizeof *counts);
    for (uint32_t k = 0; counts && k < script->program->count; k++) {
        const weir_program_op *op = &script->program->ops[k];
        if (op->kind == WEIR_STEP_EXCHANGE) {
            counts[op->exchange]++;
        }
    }
    return counts;
}

/* How many meetings each stay of the circuits has to wait for. */
static weir_code count_stays(sim_engine *engine, weir_err *err)
{
    const sim_cast *cast = engine->cast;
    uint32_t programs = engine->spmd->program_count;
    uint32_t **counts = weir_arena_alloc(engine->arena, (size_t)programs + 1, sizeof *counts);
    for (uint32_t p = 0; counts && p < programs; p++) {
        counts[p] = count_by_exchange(engine, &engine->scripts[p], engine->arena);
        if (!counts[p]) {
            return SIM_NO_MEMORY(err);
        }
    }
    if (!counts) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t m = 0; m < cast->meeting_count; m++) {
        const cast_meeting *row = &cast->meetings[m];
        if (engine->spmd->exchanges[row->exchange].circuits == 0 || row->member_count == 0) {
            continue;
        }
        uint32_t program = cast->devices[cast->members[row->first_member]].program;
        for (uint32_t k = 0; k < counts[program][row->exchange]; k++) {
            uint32_t stay = engine->order.stay_of[engine->order.first[row->exchange] + k];
            engine->order.stays[stay].waits_for++;
        }
    }
    return WEIR_OK;
}

/* Stays that nobody comes to are passed at once. */
static void open_stays(sim_engine *engine, uint32_t from, int64_t free_ns, bool is_set)
{
    sim_circuit_order *order = &engine->order;
    while (from < order->count && order->stays[from].waits_for == 0) {
        from++;
    }
    if (from < order->count) {
        int64_t delay_ns = weir_ns_from_s(engine->spmd->circuit_s) - order->stays[from].early_ns;
        order->stays[from].ready_ns = is_set || delay_ns < 0 ? free_ns : free_ns + delay_ns;
    }
}

weir_code sim_meetings_prepare(sim_engine *engine, weir_err *err)
{
    const sim_cast *cast = engine->cast;
    weir_code code =
        sim_circuits_order(engine->spmd, engine->scripts, engine->arena, &engine->order, err);
    code = code == WEIR_OK ? count_stays(engine, err) : code;
    if (code != WEIR_OK) {
        return code;
    }
    engine->open =
        weir_arena_alloc(engine->arena, (size_t)cast->meeting_count + 1, sizeof *engine->open);
    engine->waiting =
        weir_arena_alloc(engine->arena, (size_t)engine->order.count + 1, sizeof *engine->waiting);
    if (!engine->open || !engine->waiting) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t m = 0; m < cast->meeting_count; m++) {
        engine->open[m] = WEIR_NONE;
    }
    for (uint32_t s = 0; s < engine->order.count; s++) {
        engine->waiting[s] = WEIR_NONE;
    }
    const sim_circuit_order *order = &engine->order;
    bool is_set = !engine->spmd->circuits_return || order->count == 0 ||
                  order->stays[order->count - 1].position == order->stays[0].position;
    open_stays(engine, 0, 0, is_set);
    return WEIR_OK;
}

/* --- rounds --- */

static weir_code conclude(sim_engine *engine, uint32_t id, int64_t end_ns, weir_err *err)
{
    sim_meeting *meeting = &engine->meetings[id];
    meeting->end_ns = end_ns > meeting->begin_ns ? end_ns : meeting->begin_ns;
    bool pushed =
        sim_queue_push(&engine->queue, (sim_event){meeting->end_ns, SIM_MEETING_EVENT | id});
    return pushed ? WEIR_OK : SIM_NO_MEMORY(err);
}

static weir_code next_round(sim_engine *engine, uint32_t id, weir_err *err)
{
    sim_meeting *meeting = &engine->meetings[id];
    const cast_meeting *row = row_of(engine, meeting);
    if (meeting->round == row->round_count) {
        return conclude(engine, id, weir_ns_from_s(meeting->end_s), err);
    }
    const cast_round *round = &engine->cast->rounds[row->first_round + meeting->round++];
    meeting->bodies_left = round->body_count;
    weir_code code = WEIR_OK;
    for (uint32_t b = 0; b < round->body_count && code == WEIR_OK; b++) {
        weir_body body = engine->cast->bodies[round->first_body + b];
        weir_body_id made;
        body.start_s = meeting->end_s;
        body.tag = id;
        code = weir_bodies_add(engine->bodies, &body, &made, err);
    }
    return code;
}

/* INT64_MAX where there is no such moment: check_length of spmd.c refuses the run then. */
static int64_t later_ns(int64_t at_ns, double by_s)
{
    int64_t end_ns;
    return __builtin_add_overflow(at_ns, weir_ns_from_s(by_s), &end_ns) ? INT64_MAX : end_ns;
}

static weir_code begin(sim_engine *engine, uint32_t id, int64_t begin_ns, weir_err *err)
{
    sim_meeting *meeting = &engine->meetings[id];
    const cast_meeting *row = row_of(engine, meeting);
    meeting->state = MEETING_MOVES;
    meeting->begin_ns = begin_ns;
    if (row->is_fixed) {
        return conclude(engine, id, later_ns(begin_ns, row->latency_s + row->alone_s), err);
    }
    meeting->end_s = (double)begin_ns * 1e-9;
    return next_round(engine, id, err);
}

/* All members are here: the transfer begins, or waits for its circuits. */
static weir_code assemble(sim_engine *engine, uint32_t id, weir_err *err)
{
    sim_meeting *meeting = &engine->meetings[id];
    uint32_t stay = stay_of(engine, meeting);
    int64_t ready_ns = stay == WEIR_NONE ? 0 : engine->order.stays[stay].ready_ns;
    if (ready_ns == INT64_MAX) {
        meeting->state = MEETING_WAITS;
        meeting->next = engine->waiting[stay];
        engine->waiting[stay] = id;
        return WEIR_OK;
    }
    return begin(engine, id, ready_ns > meeting->arrived_ns ? ready_ns : meeting->arrived_ns, err);
}

/* A meeting at the present position of the circuits is over: with the last one of a stay the next
 * position is set, and those who wait for it begin in order of their arrival. */
static weir_code leave_stay(sim_engine *engine, const sim_meeting *meeting, weir_err *err)
{
    sim_circuit_order *order = &engine->order;
    uint32_t stay = stay_of(engine, meeting);
    if (stay == WEIR_NONE || --order->stays[stay].waits_for > 0) {
        return WEIR_OK;
    }
    open_stays(engine, stay + 1, meeting->end_ns, false);
    uint32_t next = stay + 1;
    while (next < order->count && order->stays[next].ready_ns == INT64_MAX) {
        next++;
    }
    uint32_t first = WEIR_NONE; /* the list has the last one first */
    for (uint32_t id = next < order->count ? engine->waiting[next] : WEIR_NONE; id != WEIR_NONE;) {
        uint32_t after = engine->meetings[id].next;
        engine->meetings[id].next = first;
        first = id;
        id = after;
    }
    weir_code code = WEIR_OK;
    while (first != WEIR_NONE && code == WEIR_OK) {
        uint32_t after = engine->meetings[first].next;
        code = assemble(engine, first, err);
        first = after;
    }
    return code;
}

/* --- arriving --- */

static weir_code open_meeting(sim_engine *engine, uint32_t row, uint32_t occurrence, uint32_t *id,
                              weir_err *err)
{
    uint32_t members = engine->cast->meetings[row].member_count;
    bool ok = weir_grow(&engine->meetings, engine->meeting_count, &engine->meeting_room,
                        sizeof *engine->meetings);
    while (ok && engine->arrival_room - engine->arrival_count < members) {
        ok = weir_grow(&engine->arrivals, engine->arrival_room, &engine->arrival_room,
                       sizeof *engine->arrivals);
    }
    if (!ok) {
        return SIM_NO_MEMORY(err);
    }
    *id = engine->meeting_count++;
    engine->meetings[*id] = (sim_meeting){.row = row,
                                          .occurrence = occurrence,
                                          .first_member = engine->arrival_count,
                                          .next = engine->open[row],
                                          .stalled_by = WEIR_NONE};
    engine->open[row] = *id;
    engine->unended_count++;
    memset(engine->arrivals + engine->arrival_count, 0, members * sizeof *engine->arrivals);
    for (uint32_t i = 0; i < members; i++) {
        engine->arrivals[engine->arrival_count + i].record = WEIR_NONE;
    }
    engine->arrival_count += members;
    return WEIR_OK;
}

static uint32_t find_open(const sim_engine *engine, uint32_t row, uint32_t occurrence)
{
    uint32_t id = engine->open[row];
    while (id != WEIR_NONE && engine->meetings[id].occurrence != occurrence) {
        id = engine->meetings[id].next;
    }
    return id;
}

static void close_open(sim_engine *engine, uint32_t id)
{
    uint32_t *at = &engine->open[engine->meetings[id].row];
    while (*at != id) {
        at = &engine->meetings[*at].next;
    }
    *at = engine->meetings[id].next;
}

static uint32_t member_of(const sim_cast *cast, const cast_meeting *row, uint32_t device)
{
    const uint32_t *members = cast->members + row->first_member;
    uint32_t low = 0, high = row->member_count;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (members[middle] <= device) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What a member of an eager message did while it moved: who receives it without waiting for it has
 * it from the moment on at which it was sent. */
static weir_code record_late(sim_engine *engine, uint32_t id, sim_arrival *arrival, weir_err *err)
{
    const sim_meeting *meeting = &engine->meetings[id];
    const sim_record record = {
        arrival->device,   arrival->op,       id,
        arrival->bound_by, arrival->start_ns, meeting->end_ns - arrival->start_ns};
    return sim_engine_record(engine, &record, &arrival->record, err);
}

static weir_code arrive_eagerly(sim_engine *engine, uint32_t id, sim_arrival *arrival, bool *waits,
                                weir_err *err)
{
    sim_meeting *meeting = &engine->meetings[id];
    const cast_meeting *row = row_of(engine, meeting);
    bool sends = arrival->device == row->sender, was_sent = meeting->state != MEETING_OPEN;
    *waits = !sends && meeting->state != MEETING_ENDED;
    if (++meeting->arrived == row->member_count) {
        close_open(engine, id);
    }
    if (sends) {
        meeting->arrived_ns = arrival->start_ns;
        return assemble(engine, id, err);
    }
    arrival->start_ns = was_sent ? meeting->arrived_ns : arrival->start_ns;
    return *waits ? WEIR_OK : record_late(engine, id, arrival, err);
}

weir_code sim_meetings_arrive(sim_engine *engine, const sim_arrival *arrival, bool *waits,
                              weir_err *err)
{
    const sim_cast *cast = engine->cast;
    uint32_t device = arrival->device, op = arrival->op;
    const sim_script *script = &engine->scripts[cast->devices[device].program];
    uint32_t exchange = script->program->ops[op].exchange;
    uint32_t row = cast->meeting_of[(size_t)exchange * cast->device_count + device];
    *waits = row != WEIR_NONE;
    if (!*waits) {
        return WEIR_OK;
    }
    uint32_t id = find_open(engine, row, script->occurrence[op]);
    if (id == WEIR_NONE) {
        weir_code code = open_meeting(engine, row, script->occurrence[op], &id, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    sim_meeting *meeting = &engine->meetings[id];
    uint32_t member = member_of(cast, &cast->meetings[row], device);
    engine->arrivals[meeting->first_member + member] = *arrival;
    if (cast->meetings[row].sender != WEIR_NONE) {
        return arrive_eagerly(engine, id, &engine->arrivals[meeting->first_member + member], waits,
                              err);
    }
    meeting->arrived_ns = arrival->start_ns; /* time does not go back */
    if (++meeting->arrived < cast->meetings[row].member_count) {
        return WEIR_OK;
    }
    close_open(engine, id);
    return assemble(engine, id, err);
}

/* --- ending --- */

weir_code sim_meetings_collect(sim_engine *engine, weir_err *err)
{
    weir_code code = WEIR_OK;
    for (weir_body_end end; code == WEIR_OK && weir_bodies_take(engine->bodies, &end);) {
        uint32_t id = (uint32_t)end.tag;
        sim_meeting *meeting = &engine->meetings[id];
        meeting->end_s = end.end_s > meeting->end_s ? end.end_s : meeting->end_s;
        if (--meeting->bodies_left == 0) {
            code = next_round(engine, id, err);
        }
    }
    return code;
}

/* Records of all members that are here. A meeting of one that moves nothing leaves none. */
weir_code sim_meetings_record(sim_engine *engine, uint32_t id, weir_err *err)
{
    sim_meeting meeting = engine->meetings[id];
    uint32_t members = row_of(engine, &meeting)->member_count;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < members && code == WEIR_OK; i++) {
        sim_arrival *arrival = &engine->arrivals[meeting.first_member + i];
        if (!arrival->is_here) {
            continue;
        }
        const sim_record record = {
            arrival->device,   arrival->op,       id,
            arrival->bound_by, arrival->start_ns, meeting.end_ns - arrival->start_ns};
        code = sim_engine_record(engine, &record, &arrival->record, err);
    }
    return code;
}

weir_code sim_meetings_end(sim_engine *engine, uint32_t id, weir_err *err)
{
    engine->meetings[id].state = MEETING_ENDED;
    engine->unended_count--;
    sim_meeting meeting = engine->meetings[id]; /* the table may move */
    uint32_t members = row_of(engine, &meeting)->member_count;
    const cast_meeting *row = row_of(engine, &meeting);
    bool is_alone = members == 1 && meeting.end_ns == meeting.arrived_ns;
    weir_code code = is_alone ? WEIR_OK : sim_meetings_record(engine, id, err);
    for (uint32_t i = 0; i < members && code == WEIR_OK; i++) {
        sim_arrival a = engine->arrivals[meeting.first_member + i];
        if (a.is_here && a.device != row->sender) {
            sim_engine_end_op(engine, a.device, a.op, meeting.end_ns,
                              a.record == WEIR_NONE ? a.bound_by : a.record);
        }
    }
    code = code == WEIR_OK ? leave_stay(engine, &meeting, err) : code;
    for (uint32_t i = 0; i < members && code == WEIR_OK; i++) {
        sim_arrival a = engine->arrivals[meeting.first_member + i];
        if (a.is_here && a.device != row->sender) {
            code = sim_engine_go_on(engine, a.device, meeting.end_ns, err);
        }
    }
    return code;
}
