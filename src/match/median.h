/* median.h: medians of differences; deterministic, no memory of its own. */
#ifndef WEIR_MATCH_MEDIAN_H
#define WEIR_MATCH_MEDIAN_H

#include "weir/base.h"

/* The lower median; reorders values. 0 where there are none. O(count) expected. */
int64_t median_ns(int64_t *values, size_t count);
double median_number(double *values, size_t count);

#endif
