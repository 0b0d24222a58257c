/* matching.h: which input goes to which output: matchings of a square matrix.
 *
 * A matrix of weights has n*n cells, row by row. A matching is written as column_of_row: n entries,
 * WEIR_NONE where a row has no partner. Deterministic: rows are served in order, the lower column
 * wins ties. Not here: matchings of a graph that is not bipartite (Edmonds' blossoms). */
#ifndef WEIR_FABRIC_MATCHING_H
#define WEIR_FABRIC_MATCHING_H

#include "weir/base.h"

/* The perfect matching with the largest sum of weights (finite, any sign); *sum may be NULL.
 * Shortest augmenting paths with potentials (Jonker & Volgenant 1987), O(n^3). Exact where the
 * weights and their sums are exact, as integers are; else within rounding.
 * WEIR_ERR_INPUT: n is 0, a weight is not finite. */
weir_code weir_matching_heaviest(uint32_t n, const double *weights, uint32_t *column_of_row,
                                 double *sum, weir_err *err);

/* The most rows that can be matched through cells of at least least. Hopcroft & Karp 1973,
 * O(n^2 sqrt n). */
weir_code weir_matching_largest(uint32_t n, const double *weights, double least,
                                uint32_t *column_of_row, uint32_t *size, weir_err *err);

/* The perfect matching over cells above 0 whose smallest cell is largest. *smallest is that cell,
 * 0 where there is no such matching (column_of_row is then a largest one). O(n^2 sqrt n log n).
 * WEIR_ERR_INPUT: n is 0. */
weir_code weir_matching_bottleneck(uint32_t n, const double *weights, uint32_t *column_of_row,
                                   double *smallest, weir_err *err);

#endif
