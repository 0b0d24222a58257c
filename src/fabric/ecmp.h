/* ecmp.h: the hash that stands for a switch's choice among equal ways.
 *
 * One step of splitmix64 on (flow, seed): every flow and every seed draw independently, the same on
 * every machine. Real switches hash five header fields: only the distribution is comparable. */
#ifndef WEIR_FABRIC_ECMP_H
#define WEIR_FABRIC_ECMP_H

#include "weir/base.h"

static inline uint64_t ecmp_mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t ecmp_hash(uint64_t flow, uint64_t seed)
{
    return ecmp_mix(flow * 0x100000001b3u ^ seed);
}

#endif
