/* candidate_light.h: what the builders of candidates with circuits share: blocks, optical switches,
 * designs. */
#ifndef WEIR_STUDY_CANDIDATE_LIGHT_H
#define WEIR_STUDY_CANDIDATE_LIGHT_H

#include "study/candidate_inside.h"

/* Blocks and optical switches of one candidate, before circuits are set. */
typedef struct {
    weir_fabric fabric; /* without circuits */
    weir_light_blocks blocks;
    weir_circuit_switch sw;    /* planes x node_ports = ends of a block on a network */
    uint32_t units_each;       /* planes (of any network) that one optical switch holds */
    uint32_t *block_of_device; /* in the network's arena */
} light_blocks;

/* Which plane each circuit of a road is on, for the switch that dies. */
typedef struct {
    weir_road road;
    uint32_t count; /* circuits of a network */
    uint32_t *plane_of_circuit;
} light_road;

struct candidate_lights {
    uint32_t networks, planes, units_each;
    light_road *roads;
    uint32_t road_count, road_room; /* room: as many as were made */
};

/* candidate_blocks.c: for NICs of that rate; adds the rows of the bill, the light path, notes. */
weir_code candidate_plan_blocks(const candidate_build *b, double nic_bytes_per_s,
                                light_blocks *blocks, weir_err *err);
/* A road over these circuits; it shares everything below them with `with` (WEIR_NONE: nothing). */
weir_code candidate_add_light(const candidate_build *b, const light_blocks *blocks,
                              const weir_circuit_design *design, weir_road with, weir_road *road,
                              weir_err *err);
/* What the phase sends between blocks in one period (WEIR_NONE: all phases); zeroed, owned. */
weir_code candidate_block_demand(const candidate_build *b, const light_blocks *blocks,
                                 uint32_t phase, weir_demand *demand, weir_err *err);
/* Anything between two different blocks. */
bool candidate_has_between(const weir_demand *demand);
/* Room for the planes of so many roads. */
weir_code candidate_make_lights(const candidate_build *b, const light_blocks *blocks,
                                uint32_t roads, weir_err *err);

/* candidate_exposure.c: what circuits that stay are made for. Zeroed but for sum (borrowed): all
 * bytes count alike. */
typedef struct {
    weir_demand sum;
    /* The phases that it is of, where one is more exposed than another; else 0, and the rest is
     * not looked at. Owned by what candidate_traffic_init filled. */
    uint32_t count;
    uint32_t *phase;            /* of the scenario */
    weir_demand *demands;       /* of each, as those of sum without what stays inside blocks */
    double circuit_bytes_per_s; /* of a circuit, on all networks together */
    /* By phase of the scenario, `phase_count` of them: */
    const weir_phase *phases; /* borrowed */
    uint32_t phase_count;
    double *exchange_s; /* of all its repetitions, at least */
    double *share;      /* 0..1: of that time, what the step would gain without it */
} light_traffic;

/* Phases that are not on these circuits move so many bytes a second of a block; 0: as on them. */
typedef struct {
    const bool *takes; /* by phase; NULL: all */
    double other_bytes_per_s;
} light_taken;

/* Owned (clear). */
weir_code candidate_traffic_init(const candidate_build *b, const light_blocks *blocks,
                                 const light_taken *taken, light_traffic *traffic, weir_err *err);
void candidate_traffic_clear(light_traffic *traffic);
/* Of what the cell of the sum sends: how much is exposed. 1: nothing is known of it. */
double candidate_cell_share(const light_traffic *traffic, size_t cell);
/* The step with these circuits, INFINITY where a pair that sends has no way; traffic->count > 0. */
weir_code candidate_design_step(const light_traffic *traffic, const weir_circuit_design *design,
                                double *step_s, weir_err *err);

/* The end of a step of phases whose exchanges take so long (all repetitions together): blocking
 * ones one after the other with computing, overlapped ones in their order beside. */
double candidate_lanes_s(const weir_phase *phases, const double *exchange_s, uint32_t count);
/* share[i] of exchange i's time is gained if it takes none. exchange_s: as it was, afterwards. */
void candidate_exposed_shares(const weir_phase *phases, double *exchange_s, uint32_t count,
                              double *share);

/* candidate_design.c: circuits for the sum, by the candidate's design or the best of all. Checked:
 * each pair that sends has a way. design: zeroed but for n. *load as weir_circuit_carry tells. */
weir_code candidate_make_design(const candidate_build *b, const light_blocks *blocks,
                                const light_traffic *traffic, weir_circuit_design *design,
                                weir_circuit_load *load, weir_err *err);

#endif
