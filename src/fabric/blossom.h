/* blossom.h: the heaviest matching of a graph that is not bipartite (Edmonds' blossoms).
 *
 * For optical switches with circulators: a fibre carries both directions, so that a circuit is an
 * edge between two nodes of one kind. Not here: inputs to outputs (matching.h). */
#ifndef WEIR_FABRIC_BLOSSOM_H
#define WEIR_FABRIC_BLOSSOM_H

#include "weir/base.h"

enum { WEIR_BLOSSOM_MAX = 4096 };

/* The matching with the largest sum of weights, not necessarily perfect: edges of weight 0 are no
 * edges. weights: n*n, row by row, of which only those above the diagonal are read; integers from 0
 * to 2^60 / n (scale and round what is none: sums must be exact). partner: n entries, WEIR_NONE
 * where a node has none; *sum may be NULL. Primal-dual with potentials (Galil 1986), O(n^3) time,
 * 24 n^2 bytes. Deterministic: the lowest numbers are tried first.
 * WEIR_ERR_INPUT: a weight outside that range; WEIR_ERR_LIMIT: n above WEIR_BLOSSOM_MAX. */
weir_code weir_blossom_heaviest(uint32_t n, const int64_t *weights, uint32_t *partner, int64_t *sum,
                                weir_err *err);

#endif
