#include "sim/engine.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sim_engine_clear(sim_engine *engine)
{
    weir_bodies_free(engine->bodies);
    sim_queue_clear(&engine->queue);
    sim_watch_free(engine->watch);
    free(engine->records);
    free(engine->meetings);
    free(engine->arrivals);
    weir_budget_give(engine->budget, engine->taken);
    weir_arena_free(engine->arena);
    *engine = (sim_engine){0};
}

/* --- beginning --- */

static weir_code take(sim_engine *engine, uint64_t bytes, weir_err *err)
{
    weir_code code = sim_budget_take(engine->budget, bytes, err);
    engine->taken += code == WEIR_OK ? bytes : 0;
    return code;
}

static const sim_script *script_of(const sim_engine *engine, uint32_t device)
{
    return &engine->scripts[engine->cast->devices[device].program];
}

/* Only jitter sets them apart, and with jitter nothing folds. */
static weir_code make_ranks(sim_engine *engine, weir_err *err)
{
    const weir_spmd *spmd = engine->spmd;
    if (!spmd->first_draw || !(spmd->jitter > 0)) {
        return WEIR_OK;
    }
    uint32_t ranks = spmd->first_draw[spmd->devices];
    double *late_ns = weir_arena_alloc(engine->arena, (size_t)ranks + 1, sizeof *late_ns);
    if (!late_ns) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t d = 0; d < engine->cast->device_count; d++) {
        uint32_t device = engine->cast->devices[d].device, first = spmd->first_draw[device];
        engine->devices[d].in_step = (sim_in_step){.numbers = spmd->draw_numbers + first,
                                                   .count = spmd->first_draw[device + 1] - first,
                                                   .late_ns = late_ns + first};
    }
    return WEIR_OK;
}

static weir_code make_devices(sim_engine *engine, weir_err *err)
{
    const sim_cast *cast = engine->cast;
    uint64_t ops = 0, lanes = 0;
    engine->devices =
        weir_arena_alloc(engine->arena, (size_t)cast->device_count + 1, sizeof *engine->devices);
    if (!engine->devices) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t d = 0; d < cast->device_count; d++) {
        engine->devices[d] = (sim_device){.first_op = ops, .first_lane = (uint32_t)lanes};
        ops += script_of(engine, d)->program->count;
        lanes += script_of(engine, d)->lane_count;
    }
    weir_code code = take(engine, ops * (sizeof *engine->ended_ns + sizeof *engine->tail), err);
    if (code != WEIR_OK) {
        return code;
    }
    engine->lanes = weir_arena_alloc(engine->arena, lanes + 1, sizeof *engine->lanes);
    engine->ended_ns = weir_arena_alloc(engine->arena, ops + 1, sizeof *engine->ended_ns);
    engine->tail = weir_arena_alloc(engine->arena, ops + 1, sizeof *engine->tail);
    if (!engine->lanes || !engine->ended_ns || !engine->tail) {
        return SIM_NO_MEMORY(err);
    }
    for (uint64_t i = 0; i < ops; i++) {
        engine->ended_ns[i] = -1;
    }
    for (uint32_t d = 0; d < cast->device_count; d++) {
        const sim_script *script = script_of(engine, d);
        for (uint32_t l = 0; l < script->lane_count; l++) {
            engine->lanes[engine->devices[d].first_lane + l].next = script->first[l];
        }
    }
    return WEIR_OK;
}

static weir_code prepare(sim_engine *engine, weir_err *err)
{
    engine->arena = weir_arena_new();
    sim_script *scripts = NULL;
    weir_code code = engine->arena ? WEIR_OK : SIM_NO_MEMORY(err);
    if (code == WEIR_OK) {
        code = sim_scripts_build(engine->spmd, engine->arena, &scripts, err);
        engine->scripts = scripts;
    }
    if (code == WEIR_OK) {
        code = make_devices(engine, err);
    }
    if (code == WEIR_OK) {
        code = make_ranks(engine, err);
    }
    if (code == WEIR_OK) {
        code = sim_meetings_prepare(engine, err);
    }
    if (code == WEIR_OK) {
        code = weir_bodies_new(engine->cast->net, &engine->bodies, err);
    }
    for (uint32_t i = 0; code == WEIR_OK && i < engine->cast->change_count; i++) {
        const weir_link_change *change = &engine->cast->changes[i];
        code = weir_bodies_set_capacity(engine->bodies, change->link, change->at_s,
                                        change->bytes_per_s, err);
    }
    if (code == WEIR_OK && engine->spmd->link_series) {
        engine->watch = sim_watch_new(engine->cast);
        code = engine->watch ? WEIR_OK : SIM_NO_MEMORY(err);
    }
    return code;
}

/* --- devices --- */

weir_code sim_engine_record(sim_engine *engine, const sim_record *record, uint32_t *row,
                            weir_err *err)
{
    uint32_t room = engine->record_room;
    if (!weir_grow(&engine->records, engine->record_count, &engine->record_room,
                   sizeof *engine->records)) {
        return SIM_NO_MEMORY(err);
    }
    if (engine->record_room > room) {
        weir_code code =
            take(engine, (uint64_t)(engine->record_room - room) * sizeof *engine->records, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    engine->records[engine->record_count] = *record;
    *row = engine->record_count++;
    int64_t end_ns = record->start_ns + record->dur_ns;
    engine->end_ns = end_ns > engine->end_ns ? end_ns : engine->end_ns;
    return WEIR_OK;
}

void sim_engine_end_op(sim_engine *engine, uint32_t device, uint32_t op, int64_t at_ns,
                       uint32_t tail)
{
    const sim_device *state = &engine->devices[device];
    sim_lane *lane = &engine->lanes[state->first_lane + script_of(engine, device)->lane_of[op]];
    engine->ended_ns[state->first_op + op] = at_ns;
    engine->tail[state->first_op + op] = tail;
    lane->is_running = false;
    lane->next++;
}

/* The op that ended last of those before it: its lane's, then those that it names. *bound_by: its
 * record. false: one of them has not ended. */
static bool is_ready(const sim_engine *engine, uint32_t device, uint32_t lane, uint32_t *bound_by)
{
    const sim_script *script = script_of(engine, device);
    const sim_device *state = &engine->devices[device];
    uint32_t at = engine->lanes[state->first_lane + lane].next;
    const weir_program_op *op = &script->program->ops[script->ops[at]];
    int64_t latest_ns = -1;
    *bound_by = WEIR_NONE;
    if (at > script->first[lane]) {
        uint64_t before = state->first_op + script->ops[at - 1];
        latest_ns = engine->ended_ns[before];
        *bound_by = engine->tail[before];
    }
    for (uint32_t i = 0; i < op->after_count; i++) {
        uint64_t before = state->first_op + op->after[i];
        if (engine->ended_ns[before] < 0) {
            return false;
        }
        if (engine->ended_ns[before] > latest_ns) {
            latest_ns = engine->ended_ns[before];
            *bound_by = engine->tail[before];
        }
    }
    return true;
}

static int64_t duration_of(const sim_engine *engine, uint32_t device, uint32_t op)
{
    const weir_program_op *what = &script_of(engine, device)->program->ops[op];
    const cast_device *row = &engine->cast->devices[device];
    const sim_in_step *ranks = &engine->devices[device].in_step;
    if (what->kind == WEIR_STEP_IDLE) {
        return what->meets && ranks->count > 0 ? sim_meet_ns(ranks) : what->duration_ns;
    }
    return ranks->count > 0
               ? sim_in_step_ns(&engine->jitter, what->duration_ns, row->factor, ranks, op)
               : sim_disturbed_ns(&engine->jitter, what->duration_ns, row->factor, row->device, op);
}

/* Computing, or idle time: that takes as long on a slow device, and what follows it was bound by
 * what was before it. */
static weir_code compute(sim_engine *engine, uint32_t device, uint32_t op, int64_t now_ns,
                         uint32_t bound_by, weir_err *err)
{
    bool is_idle = script_of(engine, device)->program->ops[op].kind == WEIR_STEP_IDLE;
    int64_t dur_ns = duration_of(engine, device, op);
    if (dur_ns == 0) {
        sim_engine_end_op(engine, device, op, now_ns, bound_by);
        return WEIR_OK;
    }
    int64_t end_ns;
    if (__builtin_add_overflow(now_ns, dur_ns, &end_ns)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "device %u computes until after the end of time (292 years)",
                            engine->cast->devices[device].device);
    }
    const sim_record record = {device, op, WEIR_NONE, bound_by, now_ns, dur_ns};
    uint32_t made;
    weir_code code = sim_engine_record(engine, &record, &made, err);
    if (code == WEIR_OK) {
        engine->tail[engine->devices[device].first_op + op] = is_idle ? bound_by : made;
        bool pushed =
            sim_queue_push(&engine->queue, (sim_event){end_ns, (uint64_t)device << 32 | op});
        code = pushed ? WEIR_OK : SIM_NO_MEMORY(err);
    }
    return code;
}

static weir_code start_op(sim_engine *engine, uint32_t device, uint32_t lane, int64_t now_ns,
                          uint32_t bound_by, weir_err *err)
{
    const sim_script *script = script_of(engine, device);
    sim_lane *state = &engine->lanes[engine->devices[device].first_lane + lane];
    uint32_t op = script->ops[state->next];
    state->is_running = true;
    if (script->program->ops[op].kind != WEIR_STEP_EXCHANGE) {
        return compute(engine, device, op, now_ns, bound_by, err);
    }
    const sim_arrival arrival = {device, op, bound_by, WEIR_NONE, now_ns, true};
    bool waits;
    weir_code code = sim_meetings_arrive(engine, &arrival, &waits, err);
    if (code == WEIR_OK && !waits) {
        sim_engine_end_op(engine, device, op, now_ns, bound_by);
    }
    return code;
}

weir_code sim_engine_go_on(sim_engine *engine, uint32_t device, int64_t now_ns, weir_err *err)
{
    const sim_script *script = script_of(engine, device);
    sim_lane *lanes = &engine->lanes[engine->devices[device].first_lane];
    for (bool moved = true; moved;) { /* what takes no time may let others begin */
        moved = false;
        for (uint32_t l = 0; l < script->lane_count; l++) {
            uint32_t bound_by;
            while (!lanes[l].is_running && lanes[l].next < script->first[l + 1] &&
                   is_ready(engine, device, l, &bound_by)) {
                weir_code code = start_op(engine, device, l, now_ns, bound_by, err);
                if (code != WEIR_OK) {
                    return code;
                }
                moved = true;
            }
        }
    }
    return WEIR_OK;
}

/* --- the loop --- */

static weir_code handle(sim_engine *engine, sim_event event, weir_err *err)
{
    if (event.id & SIM_MEETING_EVENT) {
        return sim_meetings_end(engine, (uint32_t)event.id, err);
    }
    uint32_t device = (uint32_t)(event.id >> 32), op = (uint32_t)event.id;
    uint32_t tail = engine->tail[engine->devices[device].first_op + op];
    sim_engine_end_op(engine, device, op, event.at_ns, tail);
    return sim_engine_go_on(engine, device, event.at_ns, err);
}

/* All events of the next moment. */
static weir_code handle_next(sim_engine *engine, weir_err *err)
{
    int64_t now_ns = engine->queue.items[0].at_ns;
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && engine->queue.count && engine->queue.items[0].at_ns == now_ns) {
        code = handle(engine, sim_queue_pop(&engine->queue), err);
    }
    return code;
}

static weir_code loop(sim_engine *engine, weir_err *err)
{
    for (;;) {
        double next_s;
        weir_code code = weir_bodies_next_s(engine->bodies, &next_s, err);
        if (code == WEIR_OK && engine->watch &&
            !sim_watch_note(engine->watch, engine->bodies, weir_bodies_now_s(engine->bodies))) {
            code = SIM_NO_MEMORY(err);
        }
        if (code != WEIR_OK) {
            return code;
        }
        bool nothing_moves = weir_bodies_count(engine->bodies) == 0 || isinf(next_s);
        if (engine->queue.count &&
            (nothing_moves || (double)engine->queue.items[0].at_ns * 1e-9 <= next_s)) {
            code = handle_next(engine, err);
        } else if (nothing_moves) {
            return WEIR_OK;
        } else {
            code = weir_bodies_advance(engine->bodies, next_s, err);
            code = code == WEIR_OK ? sim_meetings_collect(engine, err) : code;
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
}

weir_code sim_engine_play(sim_engine *engine, const weir_spmd *spmd, const sim_cast *cast,
                          weir_err *err)
{
    *engine = (sim_engine){.spmd = spmd,
                           .cast = cast,
                           .jitter = {spmd->seed, spmd->jitter},
                           .stalled_by = WEIR_NONE,
                           .budget = spmd->budget};
    weir_code code = prepare(engine, err);
    for (uint32_t d = 0; code == WEIR_OK && d < cast->device_count; d++) {
        code = sim_engine_go_on(engine, d, 0, err);
    }
    if (code == WEIR_OK) {
        code = loop(engine, err);
    }
    return code == WEIR_OK && engine->unended_count ? sim_meetings_stall(engine, err) : code;
}
