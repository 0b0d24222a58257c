/* step_index.h: in which step of an engine, or in which recomputation, a moment of a host thread
 * lies.
 *
 * Built once from the sealed timeline, O(host spans); a look-up is O(log marks of a thread).
 *
 * Not here: what the names mean (step_mark.h). */
#ifndef WEIR_CLASSIFY_STEP_INDEX_H
#define WEIR_CLASSIFY_STEP_INDEX_H

#include "classify/step_mark.h"

typedef struct step_index step_index;

/* NULL: no memory. */
step_index *step_index_new(const weir_timeline *t);
void step_index_free(step_index *index); /* NULL is fine */

typedef enum { STEP_WITH_TOKENS, STEP_WITH_QUERIES } step_need;

/* The innermost sized step round that moment of the lane that tells what is needed; where the lane
 * has none, of the other threads of its rank. NULL where there is none. */
const step_mark *step_index_find(const step_index *index, weir_lane_id lane, int64_t moment_ns,
                                 step_need need);
/* That moment of the lane lies in work that is done again. */
bool step_index_is_recomputed(const step_index *index, weir_lane_id lane, int64_t moment_ns);

#endif
