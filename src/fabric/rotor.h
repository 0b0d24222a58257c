/* rotor.h: circuits that turn through all pairs, whatever the demand (RotorNet, Sirius, Opera).
 *
 * n - 1 matchings, node i to node i + k; each is held for slot_s after delay_s without light. With
 * p planes p of them are held at a time. A share is of what a node could send if it never waited
 * for circuits and nothing was relayed. Not here: circuits made for a demand (circuit.h). */
#ifndef WEIR_FABRIC_ROTOR_H
#define WEIR_FABRIC_ROTOR_H

#include "fabric/demand.h"

typedef struct {
    uint32_t n;      /* nodes, 2 or more */
    uint32_t planes; /* 1 or more */
    double slot_s, delay_s;
    double bytes_per_s; /* of a circuit */
} weir_rotor;

/* The matching of slot k (any number; they repeat after n - 1), as matching.h writes it. */
void weir_rotor_matching(uint32_t n, uint32_t k, uint32_t *column_of_row);
double weir_rotor_duty_share(const weir_rotor *rotor);
double weir_rotor_cycle_s(const weir_rotor *rotor); /* until each pair has met once */
/* How long a pair waits for its circuit, mean over all moments: it is down for d of the cycle c in
 * one piece, so that d^2 / 2c. */
double weir_rotor_mean_wait_s(const weir_rotor *rotor);
double weir_rotor_pair_bytes_per_s(const weir_rotor *rotor); /* direct, mean over a cycle */

/* The share at which the busiest line of the demand is served if as much as possible goes directly
 * and the rest over one relay (2 hops), times the duty. Reached when the demand looks the same from
 * every node; else an upper bound: relays may be where the room is not. 1/2 at worst with many
 * nodes that all send. *direct_share: of the bytes, those that need no relay. */
weir_code weir_rotor_throughput(const weir_rotor *rotor, const weir_demand *demand, double *share,
                                double *direct_share, weir_err *err);

/* Everything over a random relay (Valiant): half of the duty, for every demand. */
double weir_rotor_valiant_share(const weir_rotor *rotor);

#endif
