/* script.h: a program made ready for playing: its lanes, and which meeting each exchange op is.
 *
 * Not here: the state of a device that runs it (engine.h). */
#ifndef WEIR_SIM_SCRIPT_H
#define WEIR_SIM_SCRIPT_H

#include "base/arena.h"
#include "sim/spmd.h"

typedef struct {
    const weir_program *program;
    uint32_t lane_count;
    uint32_t *lane_number; /* by lane: as the program calls it, ascending */
    uint32_t *first;       /* by lane, and the end: where its ops begin in `ops` */
    uint32_t *ops;         /* by lane, in order */
    uint32_t *lane_of;     /* by op */
    uint32_t *occurrence;  /* by op: how many ops before it name the same exchange */
} sim_script;

/* One for each program, in the arena. WEIR_ERR_INPUT: an op that names an exchange that does not
 * exist, or that waits for one that does not come before it. */
weir_code sim_scripts_build(const weir_spmd *spmd, weir_arena *arena, sim_script **scripts,
                            weir_err *err);

/* The circuits' positions in the order in which the programs need them. A stay is a stretch of this
 * order at one position: it ends when the last meeting of it has ended. */
typedef struct {
    uint32_t position;
    uint32_t waits_for; /* meetings that have not ended; set by who plays */
    int64_t ready_ns;   /* INT64_MAX: not yet known */
    int64_t early_ns;   /* weir_exchange.circuit_early_s of its first occurrence */
} sim_stay;

typedef struct {
    sim_stay *stays;
    uint32_t count;
    uint32_t *first; /* by exchange: where its occurrences begin in stay_of */
    uint32_t *stay_of;
} sim_circuit_order;

/* In the arena. */
weir_code sim_circuits_order(const weir_spmd *spmd, const sim_script *scripts, weir_arena *arena,
                             sim_circuit_order *order, weir_err *err);

#endif
