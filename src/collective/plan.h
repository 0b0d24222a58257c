/* plan.h: a collective as rounds of bodies on the links of a layout.
 *
 * A round begins when the one before has ended; its bodies begin together and are independent. A
 * ring, a pipelined tree or a set of equal rounds is one round with one body (its members advance
 * in lock-step); an all-to-all has one body for each class of equal pairs. Coefficients are divided
 * by the efficiency of the choice, so that rates are of the raw links.
 *
 * A unit of a body's progress is a byte of one connection between nodes (of one message, of one
 * ring), so that a body gets as many shares of a link as it has connections on it. Rounds that load
 * the same links in the same proportions one after the other are told as one, as long as all.
 *
 * Costs a route for each pair that exchanges bytes, and 8 bytes a link of the net while it is made.
 * Not here: when members arrive (sim/), what an algorithm costs beside bandwidth (library.h). */
#ifndef WEIR_COLLECTIVE_PLAN_H
#define WEIR_COLLECTIVE_PLAN_H

#include "base/arena.h"
#include "collective/collective.h"
#include "fabric/bodies.h"
#include "fabric/layout.h"

typedef struct {
    uint32_t first_body, body_count;
    double latency_s; /* before the bodies of this round move; the choice's, spread over rounds */
    double alone_s;   /* its bodies' time on links that nobody else uses, without latency */
} weir_round;

typedef struct {
    weir_body *bodies; /* start_s, latency_s, tag 0: who plays them sets these */
    uint32_t body_count, body_room;
    weir_round *rounds;
    uint32_t round_count, round_room;
    weir_tier pace_tier; /* of the link that sets the pace when alone */
    weir_link_id pace_link;
    weir_arena *arena; /* links and coefficients */
} weir_plan;

void weir_plan_clear(weir_plan *plan); /* a zeroed one is fine */

typedef struct {
    weir_collective_kind kind;
    double bytes;
    const uint32_t *members; /* devices in rank order; no device twice */
    uint32_t count;          /* 1 is fine: an empty plan */
    weir_road road;
    uint64_t flow; /* what ECMP draws by, different for each group */
    /* eta_transport of the fabric, multiplies network efficiency; 0: 1 */
    double transport_efficiency;
    bool has_node_reduction; /* SHARP: nodes reduce in their switches, too */
} weir_collective_job;

/* Fills a zeroed plan. The root of a broadcast or a reduce is the first member; SEND_RECV sends
 * from each member to the next, as nccl-tests does. Members of one node stand side by side in what
 * follows, nodes in the order of their first member. WEIR_ERR_INPUT: two members that nothing joins
 * (a rail-only network without PXN), what the algorithm cannot do (an all-to-all by a tree, nodes
 * with different numbers of devices in a hierarchy, NVLS without a switch in the node). */
weir_code weir_plan_collective(weir_layout *layout, const weir_collective_job *job,
                               const weir_collective_choice *choice, weir_plan *plan,
                               weir_err *err);

/* One message, from the first of two members to the second. */
weir_code weir_plan_message(weir_layout *layout, const weir_collective_job *job,
                            const weir_collective_choice *choice, weir_plan *plan, weir_err *err);

/* Seconds of the plan alone on an idle net: sum over rounds of latency_s + alone_s. */
double weir_plan_alone_s(const weir_plan *plan);

/* What the members look like on the layout: kind, bytes, ranks, nodes, and the raw rates of the
 * first member; whether there are reductions is left as it is. O(links). */
void weir_plan_measure(const weir_layout *layout, const weir_collective_job *job,
                       weir_collective_shape *shape);

#endif
