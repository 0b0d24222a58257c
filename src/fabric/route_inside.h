/* route_inside.h: what the parts of the router share: the path that is being put together.
 *
 * A leg is found by adding whole ways (or links) with weights and dividing by the sum of weights at
 * its end, so that shares are quotients of small whole numbers and equal ones are equal bits. */
#ifndef WEIR_FABRIC_ROUTE_INSIDE_H
#define WEIR_FABRIC_ROUTE_INSIDE_H

#include "fabric/route.h"
#include "fabric/topology_inside.h"

typedef struct route_fields route_fields; /* distances to destinations, see route_graph.c */
typedef struct route_blocks route_blocks; /* the same between blocks, see route_light.c */
typedef struct clos_stem clos_stem;       /* ways that differ in core links, see route_clos.c */

struct weir_router {
    const weir_topology *topology;
    weir_routing routing;
    /* The path so far: distinct links and weights; place: by link, where it stands, or WEIR_NONE.
     */
    weir_link_id *links;
    double *weights;
    uint32_t *place;
    uint32_t count, link_room, weight_room;
    uint32_t leg;      /* where the present leg begins */
    double leg_weight; /* of its ways together; 0: none was found */
    double leg_s;      /* latency of its slowest way */
    double latency_s;  /* of the legs before */
    uint8_t *dead;     /* by link */
    uint32_t dead_count;
    route_fields *fields; /* NULL until needed */
    route_blocks *blocks; /* NULL until needed */
    double *box;          /* ways between two places of a torus, see route_torus.c */
    size_t box_room;
    clos_stem *stems;
    uint32_t stem_room;
};

weir_code route_add(weir_router *r, weir_link_id link, double weight, weir_err *err);

enum { ROUTE_WAY_MOST = 16 }; /* links of one way on a Clos or a dragonfly: 9 is the longest */

/* One way, link by link. */
typedef struct {
    weir_link_id links[ROUTE_WAY_MOST];
    uint32_t count;
} route_way;

static inline void route_way_push(route_way *way, weir_link_id link)
{
    if (link != WEIR_NONE) {
        way->links[way->count++] = link;
    }
}

/* The ways between two devices, by number: first those that a healthy network uses, each equally,
 * then those that are used only where all of these are dead. */
typedef struct {
    const weir_router *router;
    uint32_t from, to;
    uint64_t usual, all;
    /* Appends way number `index`; false: there is no such way. */
    bool (*make)(const void *context, uint64_t index, route_way *way);
    const void *context;
} route_ways;

bool route_is_alive(const weir_router *r, const route_way *way);
/* Adds a way as it is. */
weir_code route_add_way(weir_router *r, const route_way *way, weir_err *err);
/* Adds all ways that are alive. */
weir_code route_take_all(weir_router *r, const route_ways *ways, weir_err *err);
/* Adds a usual one, or if that is dead the one that `number` picks among those alive. */
weir_code route_take_one(weir_router *r, const route_ways *ways, uint64_t index, uint64_t number,
                         weir_err *err);

/* --- one leg each; leg_weight stays 0 where there is no way --- */

weir_code route_clos(weir_router *r, uint32_t from, uint32_t to, uint64_t flow, weir_err *err);
weir_code route_dragonfly(weir_router *r, uint32_t from, uint32_t to, uint64_t flow, weir_err *err);
/* Dimension by dimension; finds nothing where that way is dead or the torus is twisted. */
weir_code route_torus(weir_router *r, uint32_t from, uint32_t to, weir_err *err);
/* All shortest ways, from their numbers in closed form; finds nothing where that fails as above. */
weir_code route_torus_all(weir_router *r, uint32_t from, uint32_t to, weir_err *err);
/* Over circuits between blocks, the fewest of them; inside a block as in a Clos. */
weir_code route_light(weir_router *r, uint32_t from, uint32_t to, uint64_t flow, weir_err *err);
void route_blocks_forget(route_blocks *blocks); /* links died or came back; NULL is fine */
void route_blocks_free(route_blocks *blocks);
/* Shortest ways by search: all equally, or (ECMP) one drawn by each queue pair.
 * is_in_node: over links of the node only, where devices forward. */
weir_code route_graph(weir_router *r, const uint32_t pair[2], uint64_t flow, bool is_in_node,
                      weir_err *err);
void route_fields_forget(route_fields *fields); /* links died or came back; NULL is fine */
void route_fields_free(route_fields *fields);

#endif
