/* sort.h: stable sorts whose result does not depend on the library or the machine. */
#ifndef WEIR_BASE_SORT_H
#define WEIR_BASE_SORT_H

#include "weir/base.h"

/* Stable merge sort of count items of size bytes each. false: no memory (nothing changed).
 * Already sorted input costs count - 1 comparisons and no memory. */
bool weir_sort(void *items, size_t count, size_t size,
               int (*compare)(const void *a, const void *b, const void *context),
               const void *context);

/* A key and what it belongs to; sorts by key, stable, in O(n). */
typedef struct {
    uint64_t key;
    uint64_t value;
} weir_sort_pair;

/* Radix sort. false: no memory (nothing changed). */
bool weir_sort_pairs(weir_sort_pair *pairs, size_t count);

#endif
