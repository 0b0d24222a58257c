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

/* candidate_design.c: circuits for a demand, by the candidate's design or the best of all. Checked:
 * each pair that sends has a way. design: zeroed but for n. *load as weir_circuit_carry tells. */
weir_code candidate_make_design(const candidate_build *b, const light_blocks *blocks,
                                const weir_demand *demand, weir_circuit_design *design,
                                weir_circuit_load *load, weir_err *err);

#endif
