/* topology_inside.h: what the builders of topologies and the routers share.
 *
 * Each builder lays its links out so that a router finds them by arithmetic: the bases below are
 * the ids of first links. Of the two links of a cable the second has the next id. */
#ifndef WEIR_FABRIC_TOPOLOGY_INSIDE_H
#define WEIR_FABRIC_TOPOLOGY_INSIDE_H

#include "fabric/topology.h"

/* Devices of a node among themselves. SWITCHED: up link of device d is first + 2d, down the next.
 * MESHED: cable of the pair i < j of a node, see node_link. RING: first + 2d goes on to the next
 * device, first + 2d + 1 comes back. */
typedef struct {
    weir_node_wiring wiring;
    uint32_t devices; /* of a node; 0: there are no nodes */
    uint32_t nics;    /* of a node */
    bool has_pcie;    /* NICs are vertices, joined by pcie + 2 x (pair number), up first */
    weir_link_id first, pcie;
} node_shape;

typedef struct {
    weir_clos_wiring wiring;
    uint32_t tiers, planes, nics; /* nics: of a node */
    uint32_t networks;            /* that do not touch: planes x (rails or 1) */
    uint32_t leaf_down, leaf_up;  /* ports of a leaf */
    uint32_t spine_down, spine_up;
    uint32_t trunk[2];
    uint32_t leaves, spines, cores, pods; /* of each network */
    uint32_t pod_leaves, pod_spines;
    /* port of NIC g in plane p: port + 2(g x planes + p), from the NIC first; uplink j of leaf l of
     * network n: up + 2((n x leaves + l) x leaf_up + j); uplink k of its spine s: core + 2((n x
     * spines + s) x spine_up + k). */
    weir_link_id port, up, core;
} clos_shape;

typedef struct {
    uint32_t size[3];
    uint32_t twist[3][3];
    bool is_twisted;
    uint32_t dimensions[3], dimension_count; /* those that are there */
    /* cable from place v to the next one up dimensions[i]: first + 2(v x dimension_count + i),
     * and from there back to v the next link */
    weir_link_id first;
} torus_shape;

typedef struct {
    uint32_t groups, routers, nics, globals; /* routers of a group; nics, globals of a router */
    uint32_t bundle;                         /* cables between two groups */
    weir_link_id port, local, global;        /* the first ones; port of NIC g: port + 2g */
} dragonfly_shape;

/* Circuit k of network n: first + n x count + k. The lists of a block's circuits are those from
 * out[out_start[block]] on, as numbers k. */
typedef struct {
    weir_light_ends ends;
    uint32_t blocks, block_nodes, networks, uplinks;
    uint32_t dealt; /* ends that are dealt out to the spines of a pod: of the block that has most */
    double transit_share;
    weir_link_id first;
    uint32_t count;               /* circuits of a network */
    weir_light_circuit *circuits; /* owned */
    uint32_t *from_end, *to_end;  /* by circuit: which of the block's ends */
    uint32_t *out_start, *out;    /* blocks + 1; count */
    uint32_t *in_start, *in;
} light_shape;

struct weir_topology {
    weir_net *net;
    weir_link *links; /* by link id */
    uint32_t count, room, cables;
    weir_fabric_kind kind;
    uint32_t first_vertex[WEIR_VERTEX_KIND_COUNT + 1];
    bool devices_forward;
    node_shape node;
    union {
        clos_shape clos;
        dragonfly_shape dragonfly;
        torus_shape torus;
    };
    light_shape light; /* beside clos, which has its lower part */
};

/* How many vertices of each kind; once, before links are added. */
weir_code topology_set_vertices(weir_topology *t, const uint32_t counts[WEIR_VERTEX_KIND_COUNT],
                                weir_err *err);
uint32_t topology_vertex_count(const weir_topology *t, weir_vertex_kind kind);
weir_code topology_link(weir_topology *t, uint32_t from, uint32_t to, const weir_listed_cable *how,
                        weir_err *err);
/* Two links, from -> to and back. how->from and to are not looked at, here nor above. */
weir_code topology_cable(weir_topology *t, uint32_t from, uint32_t to, const weir_listed_cable *how,
                         weir_err *err);

/* node_links.c. shape_nodes checks and says how many vertices there are of each kind; lay_nodes
 * adds the links, once the vertices are known. */
weir_code shape_nodes(weir_topology *t, const weir_nodes *nodes, bool has_network,
                      uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err);
weir_code lay_nodes(weir_topology *t, const weir_nodes *nodes, weir_err *err);
/* The direct link of a meshed pair. */
weir_link_id node_mesh_link(const weir_topology *t, uint32_t from, uint32_t to);
/* The NICs of a device, as numbers over all nodes: first and count. */
uint32_t node_nics(const weir_topology *t, uint32_t device, uint32_t *count);
/* The link from a device to its NIC's own vertex, or WEIR_NONE where the device has the port. */
weir_link_id node_pcie_link(const weir_topology *t, uint32_t device, uint32_t nic);
uint32_t node_port_vertex(const weir_topology *t,
                          uint32_t nic); /* what the network's cable ends at */

weir_code shape_clos(weir_topology *t, const weir_clos *clos,
                     uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err);
weir_code lay_clos(weir_topology *t, const weir_clos *clos, weir_err *err);
/* Where a NIC is plugged in: its place among the ports of its network, leaf by leaf. */
uint32_t clos_place(const clos_shape *c, uint32_t nic);
uint32_t clos_network(const clos_shape *c, uint32_t nic, uint32_t plane);

/* light.c. shape_light knows nothing of circuits yet. */
weir_code shape_light(weir_topology *t, const weir_light *light,
                      uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err);
weir_code lay_light(weir_topology *t, const weir_light *light, weir_err *err);
void light_clear(light_shape *light);
/* The spine, of its network, at an end of a block of kind PODS. */
uint32_t light_spine(const weir_topology *t, uint32_t block, uint32_t end);

weir_code shape_dragonfly(weir_topology *t, const weir_dragonfly *dragonfly,
                          uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err);
weir_code lay_dragonfly(weir_topology *t, const weir_dragonfly *dragonfly, weir_err *err);
/* Between two routers of a group; between two groups, cable 0 .. bundle - 1. */
weir_link_id dragonfly_local_link(const dragonfly_shape *s, uint32_t from, uint32_t to);
weir_link_id dragonfly_global_link(const dragonfly_shape *s, uint32_t from, uint32_t to,
                                   uint32_t which);
/* The router of group that holds its cable `which` to another group. */
uint32_t dragonfly_gate(const dragonfly_shape *s, uint32_t group, uint32_t to, uint32_t which);

weir_code shape_torus(weir_topology *t, const weir_torus *torus,
                      uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err);
weir_code lay_torus(weir_topology *t, const weir_torus *torus, weir_err *err);
/* The neighbour of a place along a dimension, up or down. */
uint32_t torus_step(const torus_shape *s, uint32_t place, uint32_t dimension, bool is_down);

#endif
