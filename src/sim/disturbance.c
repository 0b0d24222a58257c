#include "sim/disturbance.h"

#include "fabric/ecmp.h"

#include <math.h>

double sim_normal(uint64_t seed, uint32_t stream, uint32_t number)
{
    uint64_t state = ecmp_mix(seed ^ ecmp_mix((uint64_t)stream << 32 | number));
    double sum = 0;
    for (uint32_t i = 0; i < 12; i++) {
        sum += (double)(ecmp_mix(state + i) >> 11) * 0x1p-53;
    }
    return sum - 6;
}

static int64_t whole_ns(double ns)
{
    ns = floor(ns + 0.5);
    return ns > 0 ? ns < 9.2e18 ? (int64_t)ns : INT64_MAX : 0;
}

int64_t sim_disturbed_ns(const sim_jitter *jitter, int64_t duration_ns, double factor,
                         uint32_t device, uint32_t op)
{
    if (jitter->deviation > 0) {
        factor *= 1 + jitter->deviation * sim_normal(jitter->seed, device, op);
    }
    if (factor >= 1 && factor <= 1) {
        return duration_ns;
    }
    return whole_ns((double)duration_ns * factor);
}

int64_t sim_in_step_ns(const sim_jitter *jitter, int64_t duration_ns, double factor,
                       const sim_in_step *ranks, uint32_t op)
{
    double steady_ns = (double)duration_ns * factor, sum_ns = 0;
    for (uint32_t i = 0; i < ranks->count; i++) {
        double draw = sim_normal(jitter->seed, ranks->numbers[i], op);
        double own_ns = fmax(0, steady_ns * (1 + jitter->deviation * draw));
        ranks->late_ns[i] += own_ns;
        sum_ns += own_ns;
    }
    double mean_ns = sum_ns / ranks->count;
    for (uint32_t i = 0; i < ranks->count; i++) {
        ranks->late_ns[i] -= mean_ns;
    }
    return whole_ns(mean_ns);
}

int64_t sim_meet_ns(const sim_in_step *ranks)
{
    double latest_ns = 0;
    for (uint32_t i = 0; i < ranks->count; i++) {
        latest_ns = fmax(latest_ns, ranks->late_ns[i]);
        ranks->late_ns[i] = 0;
    }
    return whole_ns(latest_ns);
}
