/* spmd.h: many devices that run a few programs, with exchanges between them; folded and played.
 *
 * A program is what a device does in order on each of its lanes: computing, and taking part in
 * exchanges. An exchange is one collective (or set of messages) of each of its groups; a group's
 * transfer begins when its last member has arrived, and every member's span begins at its own
 * arrival. Devices that behave alike are found by colour refinement over bodies, links and devices
 * (a device is a link of infinite capacity that the bodies of its groups cross; its first colour is
 * its program and its disturbance) and played once, with a multiplicity: exact, see fold.h. A
 * disturbance unfolds what it touches.
 *
 * Out comes a sealed timeline, with what the ledger needs to know about each span beside it.
 * Not here: where programs come from (study/, train/), the ledger. */
#ifndef WEIR_SIM_SPMD_H
#define WEIR_SIM_SPMD_H

#include "collective/plan.h"
#include "fabric/fold.h"
#include "timeline/gaps.h"
#include "weir/timeline.h"

typedef struct {
    const uint32_t *members; /* devices */
    uint32_t count;
    /* A plan without bodies takes its latency_s + alone_s, whatever the net. */
    const weir_plan *plan;
    uint32_t ranks; /* of the whole group, where its members stand for others, too; 0: count */
    uint32_t times; /* groups alike that this one stands for; 0: 1 */
} weir_exchange_group;

typedef struct {
    const char *name, *axis;
    weir_comm_kind kind;
    bool is_message; /* two members, a missing one is a bubble */
    /* A message that moves as soon as the first member of its group has come, and does not hold it;
     * the other goes on when it is there, at once where it is. */
    bool is_eager;
    uint64_t bytes;                    /* as nccl-tests counts */
    const weir_exchange_group *groups; /* no device is in two of them */
    uint32_t group_count;
    uint32_t circuits; /* position of the optical switches that it needs; 0: any */
    /* They may be set so long before the last traffic on the position before has ended; < 0: not
     * until so long after it. */
    double circuit_early_s;
} weir_exchange;

typedef enum {
    WEIR_STEP_COMPUTE = 0,
    WEIR_STEP_EXCHANGE, /* passed over by devices that are in none of its groups */
    WEIR_STEP_IDLE,     /* takes time, of the host for example, and leaves no span: a gap */
} weir_program_kind;

typedef struct {
    weir_program_kind kind;
    uint32_t lane; /* stream of the device, 0.. */
    const char *name;
    int64_t duration_ns; /* COMPUTE, IDLE */
    /* COMPUTE, IDLE (then one of dependency; WEIR_CAUSE_COUNT: none, it only delays what follows)
     */
    weir_cause cause;
    uint32_t exchange; /* EXCHANGE; the n-th op of a program that names an exchange meets the n-th
                        * op of every other member */
    /* IDLE: the ranks that the device stands for meet. With jitter it takes as long as the slowest
     * of them is behind their mean since they met last; else duration_ns, which is 0. */
    bool meets;
    const uint32_t
        *after; /* earlier ops of this program that must have ended; the lane's order is implied */
    uint32_t after_count;
    uint32_t step; /* number of the period that it belongs to: markers are drawn from it */
} weir_program_op;

typedef struct {
    const weir_program_op *ops;
    uint32_t count;
} weir_program;

typedef struct {
    uint32_t device;
    double factor; /* its computing takes so many times as long */
} weir_slow_device;

typedef struct {
    const weir_net *net;
    uint32_t devices;
    const uint32_t *node_of_device;
    const uint32_t *program_of_device; /* NULL: all run program 0 */
    /* How many alike a device stands for from the start (NULL: 1), and the rank that it is called
     * by (NULL: its number). */
    const uint32_t *times_of_device, *rank_of_device;
    const weir_program *programs;
    uint32_t program_count;
    const weir_exchange *exchanges;
    uint32_t exchange_count;
    double circuit_s; /* to set the optical switches: switching + link bring-up */
    /* At the beginning they are as the run leaves them, and are set back from then on: it is one of
     * many. Else the first position is there. */
    bool circuits_return;
    /* Devices do not begin and end their steps together: a step of a device ends with its last op
     * on lane 0, where the next one begins; the first begins behind ops that only delay it. */
    bool steps_apart;
    /* disturbances */
    const weir_slow_device *slow;
    uint32_t slow_count;
    double jitter; /* standard deviation of computing times as a share; unfolds all devices */
    /* Ranks that run in step and for which device d stands: those of the numbers
     * draw_numbers[first_draw[d] .. first_draw[d + 1]). Each draws for itself; the device computes
     * as long as their mean and waits where they meet. NULL: one, of the device's number. */
    const uint32_t *first_draw, *draw_numbers;
    uint64_t seed;
    const weir_link_changes *changes; /* broken and flapping links; NULL: none */
    bool unfolded;                    /* do not fold (for tests) */
    bool link_series;                 /* keep utilisation of links over time */
    weir_budget *budget;              /* of the timeline; NULL: none */
} weir_spmd;

/* What the simulator knows of a communication span; by device span of the timeline. */
typedef struct {
    uint32_t meeting;      /* WEIR_NONE: not communication */
    int64_t arrived_ns;    /* last member's arrival */
    int64_t circuit_ns;    /* then waiting for circuits */
    int64_t latency_ns;    /* then nothing moves yet */
    int64_t bandwidth_ns;  /* what it would take alone */
    int64_t contention_ns; /* the rest; all parts after arrival add up to the span's end */
} weir_span_parts;

typedef struct {
    uint32_t exchange;
    uint32_t first_member, member_count; /* rows of member_spans */
    int64_t end_ns;
    int64_t last_arrival_ns;
    bool is_complete; /* all members came; else the run ended before */
    /* Of spmd.net: it never ended, because this link is broken or because a member waits for a
     * meeting that it keeps from ending; its spans end with the run. WEIR_NONE: it ended. */
    weir_link_id stalled_by;
    uint32_t group;        /* of the exchange: the first one of those alike */
    uint64_t multiplicity; /* groups alike */
    weir_tier tier;        /* of the link that sets the pace of its plan */
} weir_meeting;

typedef struct {
    weir_link_id link; /* of spmd.net: one of its class */
    uint32_t multiplicity;
    uint32_t count;
    const double *at_s;        /* moments at which it changes */
    const double *bytes_per_s; /* load from then on */
} weir_link_series;

typedef struct {
    weir_timeline *timeline; /* sealed, owned */
    uint8_t *cause;          /* by device span: weir_cause of computing, or of the transfer */
    weir_span_parts *parts;  /* by device span */
    weir_span_id *bound_by;  /* by device span: predecessor that bound it, WEIR_NONE: none */
    weir_gaps gaps;          /* IDLE operations, by device of the timeline */
    weir_meeting *meetings;
    uint32_t meeting_count;
    weir_span_id *member_spans;
    weir_rank_id *rank_of_device; /* by device: the rank of the timeline that stands for it */
    uint32_t *device_of_rank;     /* by rank of the timeline: the lowest device it stands for */
    weir_link_series *links;      /* with link_series */
    uint32_t link_count;
    /* What was played: as many as devices, bodies and links where nothing folded. */
    uint32_t device_classes, body_classes, link_classes;
    bool is_folded;
    double end_s;
    int64_t end_ns; /* of the last span */
    /* The first link that stalled a meeting: the programs did not come to their end, and end_s says
     * nothing of how long they take. WEIR_NONE: they did. */
    weir_link_id stalled_by;
    weir_arena *arena; /* owns the tables */
} weir_spmd_run;

/* Fills a zeroed run. WEIR_ERR_INPUT: a device in two groups of an exchange, an op that names what
 * does not exist, an exchange that a member never comes to. A transfer that a broken link cuts off
 * is no error: see weir_meeting.stalled_by. */
weir_code weir_spmd_play(const weir_spmd *spmd, weir_spmd_run *run, weir_err *err);
void weir_spmd_run_clear(weir_spmd_run *run); /* a zeroed one is fine */

/* Who plays, folded: found once for runs that differ only in what links carry, in the ops of the
 * programs and in circuit_s; devices, groups, plans, disturbances and the budget stay. */
typedef struct weir_spmd_stage weir_spmd_stage;

/* As weir_spmd_play. *stage: NULL, or what an earlier call left there. Where links of one class no
 * longer carry alike it is set anew. On failure it is freed and NULL. */
weir_code weir_spmd_play_on(const weir_spmd *spmd, weir_spmd_stage **stage, weir_spmd_run *run,
                            weir_err *err);
void weir_spmd_stage_free(weir_spmd_stage *stage); /* NULL is fine */

#endif
