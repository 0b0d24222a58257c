/* clock_fit.h: a robust line through differences of two clocks. */
#ifndef WEIR_MATCH_CLOCK_FIT_H
#define WEIR_MATCH_CLOCK_FIT_H

#include "match/clock_pair.h"
#include "match/median.h"

/* One pair of entries: at b's moment, a's clock showed `ahead` more. */
typedef struct {
    int64_t at_ns, ahead_ns;
    int64_t low_ns,
        high_ns; /* bounds of ahead by send before receive; INT64_MIN, INT64_MAX = none */
    int level;
} clock_point;

clock_point clock_point_of(const align_entry *a, const align_entry *b);

/* Theil and Sen's line on the firmest level that has points enough (P. K. Sen, JASA 63, 1968; with
 * n/2 slopes of points half the capture apart instead of all n^2). pairs is the number of all
 * points; 0 where there are none. Sorts the points by time. false: no memory. */
bool clock_fit_points(clock_point *points, uint32_t count, clock_fit *fit);

/* The same for points of one level, sorted by time; values, slopes: count long, overwritten. */
void clock_fit_line(const clock_point *points, uint32_t count, int64_t *values, double *slopes,
                    clock_fit *fit);

#endif
