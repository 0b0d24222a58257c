/* route.h: which links the bytes from one device to another cross, and with what share.
 *
 * A router answers for one topology and one way of routing. A path comes as a weir_path: its links,
 * each once, and what share of each byte crosses it, so that a whole message leaves the sender and
 * reaches the receiver. Devices of one node use the links of the node where it has some. Links may
 * be declared dead: paths avoid them, and a pair that nothing joins any more is an error.
 *
 * A path costs O(its links) on a healthy Clos, dragonfly or torus; where links are dead O(ways);
 * on lists, on twisted tori and for spraying on tori a breadth-first search for each new
 * destination (kept, up to 64 MiB). One thread at a time; routers of one topology are independent.
 * Not here: rates (fluid.h), what a path costs. */
#ifndef WEIR_FABRIC_ROUTE_H
#define WEIR_FABRIC_ROUTE_H

#include "fabric/fluid.h"
#include "fabric/topology.h"

typedef enum {
    /* All shortest ways, equally: ideal packet spraying. */
    WEIR_ROUTE_SPRAY = 0,
    /* Each queue pair on a way that (flow, queue pair, seed) draws. */
    WEIR_ROUTE_ECMP,
    /* Clos: the way is the receiver's number modulo the uplinks (D-mod-k); torus: dimension by
     * dimension, a tie half each way; dragonfly: the cable between groups by the receiver's
     * number. Lists: as SPRAY. */
    WEIR_ROUTE_FIXED,
} weir_route_choice;

typedef struct {
    weir_route_choice choice;
    uint64_t seed;
    uint32_t queue_pairs; /* ECMP: of each flow, which share its bytes equally; 0 = 1 */
    /* Over the node's links to the device that has the receiver's NICs, then along that rail. */
    bool has_pxn;
    /* Dragonfly: by way of a third group, all of them equally (ECMP: one that is drawn). */
    bool has_valiant;
} weir_routing;

typedef struct {
    weir_path path;   /* weight and cap 0; borrowed until the next call with this router */
    double latency_s; /* of the slowest way */
} weir_route;

typedef struct weir_router weir_router;

/* topology must outlive the router. WEIR_ERR_INPUT: what this topology does not have (PXN without
 * links inside nodes, Valiant without three groups). */
weir_code weir_router_new(const weir_topology *topology, const weir_routing *routing,
                          weir_router **router, weir_err *err);
void weir_router_free(weir_router *router); /* NULL is fine */

/* A dead link carries nothing; its cable's other direction is a link of its own. */
void weir_router_set_dead(weir_router *router, weir_link_id link, bool is_dead);

/* flow: the number that ECMP draws by. From a device to itself: no links. WEIR_ERR_INPUT: a device
 * that does not exist, or two that nothing joins. */
weir_code weir_router_find(weir_router *router, uint32_t from, uint32_t to, uint64_t flow,
                           weir_route *route, weir_err *err);

#endif
