/* candidate_inside.h: what the builders of candidate networks share.
 *
 * Each builder adds roads to the layout of build->network, says what must be bought and which road
 * each phase takes. A refusal is an error of WEIR_ERR_INPUT until weir_candidate_network_build
 * turns it into `refused`. */
#ifndef WEIR_STUDY_CANDIDATE_INSIDE_H
#define WEIR_STUDY_CANDIDATE_INSIDE_H

#include "fabric/circuit.h"
#include "study/fabric_candidate.h"

typedef struct {
    const weir_fabric_scenario *scenario;
    const weir_candidate *candidate;
    const weir_candidate_demand *demand; /* NULL: not known */
    weir_candidate_network *network;
} candidate_build;

/* candidate_packets.c */
weir_nodes candidate_nodes(const candidate_build *b);
/* WEIR_ERR_INPUT where the scenario names no such part. */
weir_code candidate_need_nic(const candidate_build *b, weir_err *err);
weir_code candidate_need_switch(const candidate_build *b, weir_err *err);
/* The cable at that height: 0 NIC to leaf, 1 leaf to spine, 2 spine to core; `switches` of its
 * switch delays are counted in it. */
weir_cable candidate_cable(const candidate_build *b, uint32_t height, double bytes_per_s,
                           double switches);
/* Planes of switches so that the ports take the NIC: those asked for, or as many as are needed. */
weir_code candidate_planes(const candidate_build *b, double nic_bytes_per_s, uint32_t *planes,
                           weir_err *err);
/* The Clos network of the candidate's keys, for NICs of that rate; adds a road. */
weir_code candidate_add_clos(const candidate_build *b, weir_clos_wiring wiring,
                             double nic_bytes_per_s, weir_road *road, weir_err *err);
weir_code candidate_build_clos(const candidate_build *b, weir_err *err);
weir_code candidate_build_torus(const candidate_build *b, weir_err *err);
weir_code candidate_build_dragonfly(const candidate_build *b, weir_err *err);
weir_code candidate_build_list(const candidate_build *b, weir_err *err);

/* As near to a cube as whole numbers allow, the largest first. */
void candidate_cube(uint32_t places, uint32_t size[3]);

/* candidate_light.c, candidate_hybrid.c */
weir_code candidate_build_circuits(const candidate_build *b, weir_err *err);
weir_code candidate_build_rotor(const candidate_build *b, weir_err *err);
weir_code candidate_build_hybrid(const candidate_build *b, weir_err *err);

/* candidate_fail.c: room for the links of a part that dies; the layout is sealed. */
weir_code candidate_reserve_dead(weir_candidate_network *network, weir_err *err);

/* candidate_bill.c: rows of what is bought for a road; the heights' cables at both ends. */
void candidate_count_switches(const candidate_build *b, const weir_topology *topology);
void candidate_count_cables(const candidate_build *b, const weir_topology *topology);
void candidate_add_cables(const candidate_build *b, weir_cable_need need);
/* A sentence for the report; longer texts are copied. */
void candidate_note(const candidate_build *b, const char *fmt, ...) WEIR_PRINTF(2, 3);

#endif
