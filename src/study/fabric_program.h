/* fabric_program.h: the phases of a scenario on one network: what every device runs, with the plan
 * of each exchange.
 *
 * All devices run one program: for each step the phases in order, each `times` in a row: computing
 * on lane 0, then its exchange: on lane 0 where it blocks, on lane 1 where it overlaps, and then
 * the next step begins when that has ended too. Repetitions share plans. What a collective costs
 * beside the links is the library's choice for that size and scale, plus the latency of hops that
 * the library's own figures (one switch between two NICs) do not hold; without a library the rounds
 * of the algorithm times the latency of their routes.
 *
 * Memory: a plan for each group of a phase; messages are refused beyond a bound.
 * Not here: roads and circuits (fabric_candidate.h), playing (sim/). */
#ifndef WEIR_STUDY_FABRIC_PROGRAM_H
#define WEIR_STUDY_FABRIC_PROGRAM_H

#include "sim/spmd.h"
#include "study/fabric_candidate.h"
#include "study/fabric_traffic.h"

typedef struct {
    const weir_fabric_scenario *scenario;
    weir_layout *layout;          /* sealed */
    const weir_library *library;  /* NULL: closed forms */
    const weir_phase_road *roads; /* by phase of the scenario */
    double changing_share; /* 0..1: of the repetitions on light, those that need other circuits than
                            * the repetition before */
} weir_program_network;

typedef struct {
    weir_collective_choice choice; /* of its first group */
    const char *assumed[2]; /* transports that stand for the node's links, the NIC; NULL: known */
    double error_share;     /* that the library's fit left for it; NAN: not validated */
    double alone_s;         /* the first group's plan on an idle net, latency included */
    bool is_empty;          /* nothing moves: no exchange */
    bool changes;           /* some of its repetitions need other circuits */
    uint32_t parts;         /* exchanges in a row that have a part of its bytes each; else 1 */
} weir_program_phase;

typedef struct {
    weir_program_op *ops;
    weir_program program;
    weir_exchange *exchanges; /* one for each phase that moves something; two on light that changes:
                               * the circuits as they are set, and others; one for each setting
                               * where circuits are set within the phase, and one for packets
                               * beside them */
    uint32_t exchange_count;
    uint32_t *phase_of_exchange;
    weir_program_phase *phases; /* by phase of the scenario */
    weir_plan *plans;
    uint32_t plan_count;
    uint32_t plan_room;
    weir_arena *arena; /* owns the tables, plans own their own */
} weir_traffic_program;

/* Fills a zeroed one. WEIR_ERR_INPUT: pairs that nothing joins, a forced algorithm that cannot do
 * it; WEIR_ERR_LIMIT: too many messages. */
weir_code weir_traffic_program_build(const weir_program_network *network,
                                     weir_traffic_program *program, weir_err *err);
void weir_traffic_program_clear(weir_traffic_program *program); /* a zeroed one is fine */

/* --- its parts, for the module and its tests --- */

/* Whether the circuits of a repetition differ from those of the one before, where a share of all
 * repetitions do: which of the two positions is set. */
bool weir_program_is_anew(double changing_share, uint64_t repetition);

typedef struct {
    const weir_program_network *network;
    uint32_t phase;
    weir_traffic_groups groups;
    uint32_t group;
    const uint32_t *members;     /* of that group */
    double *scratch;             /* by link of the net, all 0: left as it was found */
    const weir_phase_part *part; /* of the phase's bytes; NULL: all */
} weir_program_group;

/* What the library chooses for a group, with the latency of this network; on circuits what fits
 * them, where nothing is forced. */
weir_code weir_program_choose(const weir_program_group *group, weir_program_phase *chosen,
                              weir_err *err);
/* The same with that algorithm (COUNT: any), whatever fits. */
weir_code weir_program_choose_as(const weir_program_group *group,
                                 weir_collective_algorithm algorithm, weir_program_phase *chosen,
                                 weir_err *err);
/* What circuits are designed for, and closed forms take: rings, chains, direct messages. */
weir_collective_algorithm weir_program_usual(weir_collective_kind kind);
/* fabric_fit.c: takes the usual algorithm instead of the chosen one where circuits are crossed and
 * all groups of the phase together are done sooner with it. */
weir_code weir_program_fit(const weir_program_group *group, weir_program_phase *chosen,
                           weir_err *err);
/* The plan of one group by that choice. */
weir_code weir_program_plan(const weir_program_group *group, const weir_collective_choice *choice,
                            weir_plan *plan, weir_err *err);
/* fabric_part.c: what the part carries of a message from one device to another, 0..1. */
double weir_program_share(const weir_phase_road *road, const weir_phase_part *part, uint32_t from,
                          uint32_t to);
/* Choice of a phase in parts: its messages are the same whatever the library would do. */
weir_code weir_program_choose_parts(const weir_program_group *group, weir_program_phase *chosen,
                                    weir_err *err);
/* Of a part's messages, the farthest of which takes route_s and which are bytes_share of all: a
 * message pays its latency in each part, an all-to-all once in all parts together. */
double weir_program_part_latency(const weir_program_group *group,
                                 const weir_collective_choice *choice, double route_s,
                                 double bytes_share);
/* One round with a body for each message of the group. */
weir_code weir_program_messages(const weir_program_group *group,
                                const weir_collective_choice *choice, weir_plan *plan,
                                weir_err *err);

#endif
