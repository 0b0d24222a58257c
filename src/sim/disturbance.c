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

int64_t sim_disturbed_ns(const sim_jitter *jitter, int64_t duration_ns, double factor,
                         uint32_t device, uint32_t op)
{
    if (jitter->deviation > 0) {
        factor *= 1 + jitter->deviation * sim_normal(jitter->seed, device, op);
    }
    if (factor >= 1 && factor <= 1) {
        return duration_ns;
    }
    double ns = floor((double)duration_ns * factor + 0.5);
    return ns > 0 ? ns < 9.2e18 ? (int64_t)ns : INT64_MAX : 0;
}
