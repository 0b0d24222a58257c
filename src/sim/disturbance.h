/* disturbance.h: how long computing takes on a device that is slow or unsteady.
 *
 * Draws are numbered, not taken from a stream that others share: what device d draws for its k-th
 * operation depends on seed, d and k only, whatever happens elsewhere. */
#ifndef WEIR_SIM_DISTURBANCE_H
#define WEIR_SIM_DISTURBANCE_H

#include "weir/base.h"

typedef struct {
    uint64_t seed;
    double deviation; /* standard deviation, as a share of the duration; 0: steady */
} sim_jitter;

/* A standard normal draw: twelve uniform numbers, less 6 (exact mean 0 and deviation 1; never
 * beyond 6). Sums only, so that all machines draw the same. */
double sim_normal(uint64_t seed, uint32_t stream, uint32_t number);
/* duration x factor x (1 + deviation x a draw), to the nearest ns; 0 or more. */
int64_t sim_disturbed_ns(const sim_jitter *jitter, int64_t duration_ns, double factor,
                         uint32_t device, uint32_t op);

/* Ranks that run in step, which draw each for itself. */
typedef struct {
    const uint32_t *numbers; /* of their draws */
    uint32_t count;
    double *late_ns; /* by rank: behind their mean since they met last */
} sim_in_step;

/* As above, the mean of them all; late_ns grows by what each takes beside it. */
int64_t sim_in_step_ns(const sim_jitter *jitter, int64_t duration_ns, double factor,
                       const sim_in_step *ranks, uint32_t op);
/* What all but the slowest wait for it, in the mean. They have met. */
int64_t sim_meet_ns(const sim_in_step *ranks);

#endif
