/* engine.h: the discrete-event loop: devices that run their programs, meetings that move bodies.
 *
 * Computing ends at whole nanoseconds; bodies live in double seconds, and the end of a meeting is
 * rounded once. Events of one nanosecond are handled in the order of their ids. What comes out are
 * records of what ran, in the order in which it ended, and the meetings that took place.
 *
 * engine.c has devices and the loop, meetings.c arrivals, circuits and rounds, meetings_stall.c
 * what never ends. Not here: who stands for whom (cast.h), the timeline (spmd_timeline.c). */
#ifndef WEIR_SIM_ENGINE_H
#define WEIR_SIM_ENGINE_H

#include "sim/cast.h"
#include "sim/disturbance.h"
#include "sim/event_queue.h"
#include "sim/link_watch.h"
#include "sim/script.h"

/* An op that took time, or was in a meeting. */
typedef struct {
    uint32_t device, op; /* row of cast.devices; of its program */
    uint32_t meeting;    /* row of engine.meetings; WEIR_NONE: computing or idle */
    uint32_t bound_by;   /* record whose end let it begin; WEIR_NONE: the run's beginning */
    int64_t start_ns, dur_ns;
} sim_record;

typedef enum { MEETING_OPEN = 0, MEETING_WAITS, MEETING_MOVES, MEETING_ENDED } sim_meeting_state;

/* One occurrence of a row of cast.meetings. */
typedef struct {
    uint32_t row, occurrence;
    uint32_t first_member; /* of engine.arrivals; as many as the row has members */
    uint32_t arrived;      /* members so far */
    uint32_t next; /* open meetings of the row; then those that wait for the same circuits */
    uint32_t round, bodies_left;
    sim_meeting_state state;
    weir_link_id stalled_by; /* of spmd->net */
    int64_t arrived_ns;      /* the last one so far; of an eager message, its sender */
    int64_t begin_ns;        /* circuits are set */
    int64_t end_ns;
    double end_s; /* of its last body so far */
} sim_meeting;

typedef struct {
    uint32_t device, op;
    uint32_t bound_by;
    uint32_t record; /* WEIR_NONE: not yet ended */
    int64_t start_ns;
    bool is_here;
} sim_arrival;

/* One device of the cast. */
typedef struct {
    uint64_t first_op;   /* of engine.ended_ns, engine.bound */
    uint32_t first_lane; /* of engine.lanes */
    sim_in_step in_step; /* count 0: one rank, of the device's number */
} sim_device;

typedef struct {
    uint32_t next;   /* row of script.ops */
    bool is_running; /* its op before has not ended */
} sim_lane;

typedef struct {
    const weir_spmd *spmd;
    const sim_cast *cast;
    const sim_script *scripts;
    sim_circuit_order order;
    weir_bodies *bodies;
    sim_queue queue;
    sim_jitter jitter;
    sim_device *devices;
    sim_lane *lanes;
    int64_t *ended_ns; /* by op of each device; -1: has not ended */
    uint32_t *tail;    /* by op: its record, or what bound it where it took no time */
    sim_record *records;
    uint32_t record_count, record_room;
    sim_meeting *meetings;
    uint32_t meeting_count, meeting_room;
    sim_arrival *arrivals;
    uint32_t arrival_count, arrival_room;
    uint32_t *open;          /* by row of cast.meetings: its first open meeting, WEIR_NONE */
    uint32_t *waiting;       /* by stay: meetings that wait for it, the last first; WEIR_NONE */
    uint32_t unended_count;  /* meetings */
    weir_link_id stalled_by; /* of spmd->net: the first link that stalled a meeting; WEIR_NONE */
    int64_t end_ns;          /* of the last record */
    sim_watch *watch;        /* NULL: links are not watched */
    weir_budget *budget;
    uint64_t taken; /* from it */
    weir_arena *arena;
} sim_engine;

/* Plays the cast to its end. On failure clear it all the same. */
weir_code sim_engine_play(sim_engine *engine, const weir_spmd *spmd, const sim_cast *cast,
                          weir_err *err);
void sim_engine_clear(sim_engine *engine); /* a zeroed one is fine */

/* --- between engine.c and meetings.c --- */

/* The op of this device and its end are noted; its lane is free. */
void sim_engine_end_op(sim_engine *engine, uint32_t device, uint32_t op, int64_t at_ns,
                       uint32_t tail);
/* Starts what the device can start now. */
weir_code sim_engine_go_on(sim_engine *engine, uint32_t device, int64_t now_ns, weir_err *err);
weir_code sim_engine_record(sim_engine *engine, const sim_record *record, uint32_t *row,
                            weir_err *err);

weir_code sim_meetings_prepare(sim_engine *engine, weir_err *err);
/* A member arrives (start_ns is now); *waits: false where the device is in none of the exchange's
 * groups, or an eager message does not hold it. */
weir_code sim_meetings_arrive(sim_engine *engine, const sim_arrival *arrival, bool *waits,
                              weir_err *err);
/* Takes the ends of bodies: next rounds begin, meetings get their end as an event. */
weir_code sim_meetings_collect(sim_engine *engine, weir_err *err);
/* The event of a meeting's end: its members go on. */
weir_code sim_meetings_end(sim_engine *engine, uint32_t meeting, weir_err *err);
/* Records of the meeting's members that are here, up to its end. */
weir_code sim_meetings_record(sim_engine *engine, uint32_t id, weir_err *err);
/* meetings_stall.c: nothing can happen any more: what stands still is stalled, and who waits for
 * it. */
weir_code sim_meetings_stall(sim_engine *engine, weir_err *err);

#define SIM_MEETING_EVENT (UINT64_C(1) << 63) /* | meeting; others: device << 32 | op */

#endif
