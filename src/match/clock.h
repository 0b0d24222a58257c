/* clock.h: one clock for all nodes.
 *
 * Nodes that share a channel give a link (clock_pair.h); the reference clock, that of node 0,
 * spreads over the links along the way of least residual. Not here: moments of spans (match.h).
 */
#ifndef WEIR_MATCH_CLOCK_H
#define WEIR_MATCH_CLOCK_H

#include "match/pairing.h"

/* clocks: count long, node filled in; the rest is set. component[node]: nodes with the same value
 * are on one clock. The result does not depend on threads. */
weir_code clocks_align(const comm_items *items, const pair_lists *lists, uint32_t threads,
                       weir_clock *clocks, uint32_t *component, uint32_t count, weir_err *err);

/* A moment of the clock on the reference clock, and back. */
int64_t clock_to_aligned(const weir_clock *clock, int64_t local_ns);
int64_t clock_to_local(const weir_clock *clock, int64_t aligned_ns);

#endif
