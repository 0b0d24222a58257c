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

/* Theil and Sen's line on the firmest level that has points enough (P. K. Sen, JASA 63, 1968; of
 * many points, with n/2 slopes of points half the capture apart instead of all n^2/2). pairs is the
 * number of all points; 0 where there are none. Sorts the points by time. false: no memory. */
bool clock_fit_points(clock_point *points, uint32_t count, clock_fit *fit);

/* The same for points of one level, sorted by time. values (count long) and slopes are overwritten;
 * where slopes has room for all count * (count - 1) / 2, all are used, else n/2 (room for them is
 * needed): a third more error. */
typedef struct {
    int64_t *values;
    double *slopes;
    size_t slope_room;
} clock_fit_scratch;
void clock_fit_line(const clock_point *points, uint32_t count, const clock_fit_scratch *scratch,
                    clock_fit *fit);

/* Fills in of_level and left_of_level. values: count long, overwritten. */
void clock_fit_judge(const clock_point *points, uint32_t count, int64_t *values, clock_fit *fit);

/* How far the fit is from chance; higher is better. chance_ns: what a wrong pairing leaves as
 * residual, mostly. That n pairs agree to r by chance has a likelihood that falls like
 * (r / chance)^(n / 2 - 1): the more pairs, the less it takes for each. */
double clock_fit_evidence(const clock_fit *fit, int64_t chance_ns);

#endif
