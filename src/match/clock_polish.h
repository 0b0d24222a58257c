/* clock_polish.h: improves the clocks of all nodes with all collectives at once.
 *
 * The links give each clock by way of one other node; a short capture leaves few pairs on a link.
 * Here every node is fitted again to what all others show at the ends of the collectives that it
 * took part in, node by node, some rounds (Gauss and Seidel). Node 0 stays the reference.
 *
 * Not here: which clocks are linked at all, and first values (clock.h). */
#ifndef WEIR_MATCH_CLOCK_POLISH_H
#define WEIR_MATCH_CLOCK_POLISH_H

#include "match/pairing.h"

/* lists: merged over nodes. Changes offset, drift, origin and residual of the clocks of nodes that
 * are not the first of their component and share collectives whose ends agree. */
weir_code clocks_polish(const weir_timeline *t, const comm_items *items, const pair_lists *lists,
                        const uint32_t *component, weir_clock *clocks, uint32_t count,
                        weir_err *err);

#endif
