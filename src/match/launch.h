/* launch.h: which host call launched each device span, and what streams waited for by events.
 *
 * Not here: what the host did meanwhile (ledger/), kinds of collectives (kinds.h). */
#ifndef WEIR_MATCH_LAUNCH_H
#define WEIR_MATCH_LAUNCH_H

#include "match/match.h"

typedef struct launch_index launch_index;

/* Finds the runtime spans of each rank by correlation: O(spans). NULL: no memory. */
launch_index *launch_index_new(const weir_timeline *t);
void launch_index_free(launch_index *index); /* NULL is fine */

/* The runtime span of `rank` that carries the correlation, WEIR_NONE where there is none. Of
 * several the last one that began before `before_ns`, else the first one. */
weir_span_id launch_find(const launch_index *index, weir_rank_id rank, uint32_t correlation,
                         int64_t before_ns);

/* launch[device span] = host span or WEIR_NONE. */
void launch_link(const weir_timeline *t, const launch_index *index, weir_span_id *launch);

/* The edges that stand for the recorded event waits, sorted by (after, before), each once. The
 * caller frees *edges. Waits whose calls or spans are not there give no edge. */
weir_code launch_edges(const weir_timeline *t, const launch_index *index,
                       const weir_span_id *launch, weir_edge **edges, uint32_t *edge_count,
                       weir_err *err);

#endif
