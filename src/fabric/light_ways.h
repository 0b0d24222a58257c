/* light_ways.h: which circuits carry what is sent from one block to another.
 *
 * The circuits of a pair are found among blocks, O(blocks + circuits) for a new destination (kept,
 * up to 64 MiB); what is dead is looked at for each pair anew. Not here: the way up to a circuit
 * and down from one (route_light.c). */
#ifndef WEIR_FABRIC_LIGHT_WAYS_H
#define WEIR_FABRIC_LIGHT_WAYS_H

#include "fabric/route_inside.h"

/* A circuit that a pair uses, and its share of the leg's weight. */
typedef struct {
    uint32_t circuit;
    double weight;
} used_circuit;

/* One NIC to one NIC on one network. */
typedef struct {
    uint32_t nic[2], block[2], network;
    uint32_t leaf[2]; /* PODS */
    uint32_t plane;
} light_pair;

weir_code light_ways_need(weir_router *r, weir_err *err);
/* All ways of a pair: direct circuits equally, of which the fabric's transit_share goes over one
 * other block; else the fewest blocks between. *sum: the weight of all ways, 0: there is none;
 * *hops: circuits of the longest one. */
weir_code light_ways_find(weir_router *r, const light_pair *p, double *sum, uint32_t *hops,
                          weir_err *err);
/* After light_ways_find: one of the ways, by h. */
weir_code light_ways_draw(weir_router *r, const light_pair *p, uint64_t h, uint32_t *hops,
                          weir_err *err);
/* What was found; weights may be changed. Good until the next call with this router. */
used_circuit *light_ways_used(weir_router *r, uint32_t *count);

weir_link_id light_circuit_link(const light_shape *s, uint32_t network, uint32_t circuit);
/* The first of the trunk's cables between a pair's leaf and the spine of an end; up, or down. */
weir_link_id light_trunk_link(const weir_topology *t, const light_pair *p, bool is_down,
                              uint32_t circuit);
/* How many of that trunk are not dead. */
uint32_t light_alive_cables(const weir_router *r, weir_link_id first);

#endif
