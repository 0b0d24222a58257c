/* Meetings that never end: stalled by a broken link, or by programs that do not fit together. */
#include "sim/engine.h"

static const char *name_of(const sim_engine *engine, const cast_meeting *row)
{
    return engine->spmd->exchanges[row->exchange].name;
}

/* Nobody is stalled, and yet nothing goes on: the programs do not fit together. */
static weir_code reject(const sim_engine *engine, weir_err *err)
{
    for (uint32_t id = 0; id < engine->meeting_count; id++) {
        const sim_meeting *meeting = &engine->meetings[id];
        const cast_meeting *row = &engine->cast->meetings[meeting->row];
        if (meeting->state == MEETING_WAITS) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "%s waits for circuits that are never set: the programs need their "
                                "positions in different orders",
                                name_of(engine, row));
        }
        for (uint32_t i = 0; meeting->state == MEETING_OPEN && i < row->member_count; i++) {
            uint32_t device = engine->cast->members[row->first_member + i];
            if (!engine->arrivals[meeting->first_member + i].is_here) {
                return weir_err_set(err, WEIR_ERR_INPUT,
                                    "%s waits for device %u, which never comes to it",
                                    name_of(engine, row), engine->cast->devices[device].device);
            }
        }
    }
    return weir_err_set(err, WEIR_ERR_INTERNAL, "a simulation ended before its meetings");
}

weir_code sim_meetings_stall(sim_engine *engine, weir_err *err)
{
    weir_code code = weir_bodies_stall(engine->bodies, err);
    for (weir_body_end end; code == WEIR_OK && weir_bodies_take(engine->bodies, &end);) {
        sim_meeting *meeting = &engine->meetings[end.tag];
        weir_link_id link = end.stalled_by;
        link = link != WEIR_NONE && engine->cast->link_of ? engine->cast->link_of[link] : link;
        meeting->stalled_by = meeting->stalled_by == WEIR_NONE ? link : meeting->stalled_by;
        engine->stalled_by = engine->stalled_by == WEIR_NONE ? link : engine->stalled_by;
        int64_t end_ns = weir_ns_from_s(end.end_s);
        engine->end_ns = end_ns > engine->end_ns ? end_ns : engine->end_ns;
    }
    if (code == WEIR_OK && engine->stalled_by == WEIR_NONE) {
        code = reject(engine, err);
    }
    /* They end with the run, a nanosecond after the last arrival at least: they are to be seen. */
    for (uint32_t id = 0; id < engine->meeting_count && code == WEIR_OK; id++) {
        const sim_meeting *meeting = &engine->meetings[id];
        if (meeting->state != MEETING_ENDED && meeting->arrived_ns >= engine->end_ns) {
            engine->end_ns = meeting->arrived_ns + 1;
        }
    }
    int64_t end_ns = engine->end_ns;
    for (uint32_t id = 0; id < engine->meeting_count && code == WEIR_OK; id++) {
        sim_meeting *meeting = &engine->meetings[id];
        if (meeting->state != MEETING_ENDED) {
            meeting->stalled_by =
                meeting->stalled_by == WEIR_NONE ? engine->stalled_by : meeting->stalled_by;
            meeting->begin_ns = meeting->arrived_ns;
            meeting->end_ns = end_ns;
            code = sim_meetings_record(engine, id, err);
        }
    }
    return code;
}
