/* op_index.h: which recorded operation a kernel belongs to, and what a kernel's part of it is.
 *
 * Operations with shapes are found by (rank, external id); External ids are unique in one file
 * only. O(1) a look-up, 16 bytes for each such operation. */
#ifndef WEIR_CLASSIFY_OP_INDEX_H
#define WEIR_CLASSIFY_OP_INDEX_H

#include "weir/timeline.h"

typedef struct op_index op_index;

/* NULL: no memory. */
op_index *op_index_new(const weir_timeline *t);
void op_index_free(op_index *index); /* NULL is fine */
bool op_index_is_empty(const op_index *index);

/* The operation with shapes that the id names, or WEIR_NONE. *slot: for the counts below. */
weir_span_id op_index_find(const op_index *index, weir_rank_id rank, uint32_t external,
                           uint32_t *slot);
/* One more kernel that shares the FLOP of the operation. */
void op_index_count(op_index *index, uint32_t slot);
uint32_t op_index_kernels(const op_index *index, uint32_t slot);

#endif
