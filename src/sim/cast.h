/* cast.h: who plays: classes of devices, the meetings that they have, and the bodies of each.
 *
 * Unfolded, every device, group and body stands for itself, on the given net. Folded, one stands
 * for all that behave alike, on the net of classes (fabric/fold.h); the engine does not see the
 * difference. A cast is built once and never changes.
 *
 * Not here: when things happen (engine.h). */
#ifndef WEIR_SIM_CAST_H
#define WEIR_SIM_CAST_H

#include "base/arena.h"
#include "sim/spmd.h"

typedef struct {
    uint32_t device; /* the lowest one of its class */
    uint32_t multiplicity;
    uint32_t program;
    double factor; /* its computing takes so many times as long */
} cast_device;

typedef struct {
    uint32_t first_body, body_count; /* at least one; their latency_s has the round's in it */
} cast_round;

typedef struct {
    uint32_t exchange, group;            /* the first one of its class */
    uint32_t first_member, member_count; /* of cast.members */
    uint32_t first_round, round_count;
    uint32_t multiplicity;
    uint32_t sender;           /* eager: row of devices; WEIR_NONE: nobody goes ahead */
    bool is_fixed;             /* no bodies: it takes latency_s + alone_s; rounds are left out */
    double latency_s, alone_s; /* sums over its rounds, as its plan has them */
} cast_meeting;

typedef struct {
    const weir_spmd *spmd;
    const weir_net *net;
    weir_fold *fold; /* NULL: unfolded */
    cast_device *devices;
    cast_meeting *meetings; /* by exchange */
    uint32_t *members;      /* rows of devices, ascending within a meeting */
    cast_round *rounds;
    weir_body *bodies;
    uint32_t device_count, meeting_count, member_count, round_count, body_count;
    uint32_t *class_of_device;    /* by device of spmd: row of devices */
    uint32_t *meeting_of;         /* [exchange * device_count + device]; WEIR_NONE: in no group */
    weir_link_id *link_of;        /* by link of net: the first one of spmd->net; NULL: itself */
    uint32_t *link_multiplicity;  /* by link of net; NULL: 1 */
    weir_link_change *changes;    /* on net */
    uint32_t change_count, links; /* links: those of net that stand for some of spmd->net */
    weir_budget *budget;          /* the spmd's */
    uint64_t taken;               /* from budget */
    weir_arena *arena;
} sim_cast;

/* Fills a zeroed cast; folds unless it is told not to, has jitter, or it is not worth while. The
 * spmd was checked and must outlive the cast. */
weir_code sim_cast_build(const weir_spmd *spmd, sim_cast *cast, weir_err *err);
void sim_cast_clear(sim_cast *cast); /* a zeroed one is fine */
/* The same cast for an spmd whose links carry something else (spmd.h). *scaled: in, a net that an
 * earlier call made, or NULL; out, the net that is played on where it had to be made, the caller's
 * to free. *fits: false where links of one class no longer carry alike; then nothing is changed. */
weir_code sim_cast_carry(sim_cast *cast, const weir_spmd *spmd, weir_net **scaled, bool *fits,
                         weir_err *err);

/* cast_fold.c: one of each class of `all`. *folded stays zeroed where it is not worth while. */
weir_code sim_cast_fold(const sim_cast *all, sim_cast *folded, weir_err *err);
/* Fills meeting_of from meetings and members. */
weir_code sim_cast_index(sim_cast *cast, weir_err *err);

/* WEIR_ERR_LIMIT, in words, where the budget does not have so much left. */
weir_code sim_budget_take(weir_budget *budget, uint64_t bytes, weir_err *err);

#define SIM_NO_MEMORY(err) weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the simulation")

#endif
