/* circuit.h: circuits that stay: what an optical switch can connect, and which circuits to set.
 *
 * A plane is one optical switch; every node has node_ports link ends on each plane. A circuit goes
 * one way; a duplex link is two circuits. With circulators one fibre carries both directions, so
 * that a link end takes one port and circuits come in opposite pairs; without, it takes two (one
 * in, one out), and what a node sends to need not be what it hears from.
 *
 * A design is filled by the functions below, may be mixed from several of them, and is checked
 * before use: more circuits than ports is an error. Not here: circuits that change (decompose.h),
 * when to set them again (resets.h), what they cost. */
#ifndef WEIR_FABRIC_CIRCUIT_H
#define WEIR_FABRIC_CIRCUIT_H

#include "fabric/demand.h"

typedef struct {
    uint32_t ports;      /* fibres that one switch takes */
    uint32_t spare;      /* of them, kept free for failures */
    uint32_t failed;     /* of them, dead; they use up the spare ones first */
    uint32_t planes;     /* switches side by side */
    uint32_t node_ports; /* link ends of one node on each plane */
    bool circulators;
} weir_circuit_switch;

/* Link ends that one switch can connect. */
uint32_t weir_circuit_link_ends(const weir_circuit_switch *sw);
/* Switches for so many link ends; 0: none of these switches can. */
uint32_t weir_circuit_switch_count(const weir_circuit_switch *sw, uint64_t link_ends);

typedef struct {
    uint32_t from, to, plane;
} weir_circuit;

typedef struct {
    uint32_t n; /* nodes; set by the caller before the first circuit */
    uint32_t count, room;
    weir_circuit *circuits; /* owned */
} weir_circuit_design;

void weir_circuit_design_clear(weir_circuit_design *design); /* frees; keeps n */
weir_code weir_circuit_add(weir_circuit_design *design, weir_circuit circuit, weir_err *err);

/* WEIR_ERR_INPUT: more nodes than the switch has link ends, more circuits at a node than ports on
 * that plane, a circuit from a node to itself, to a node or plane that is not there, or, with
 * circulators, without its opposite. Names the node and both numbers. */
weir_code weir_circuit_check(const weir_circuit_switch *sw, const weir_circuit_design *design,
                             weir_err *err);

/* The functions below append to the design and leave a checked one; they count the ports that it
 * already uses only in that check. On failure the design keeps what it had before. */

/* For each port of each plane the heaviest matching; a pair that got a circuit counts half from
 * then on (TopoOpt, NSDI 2023). With circulators a pair weighs what goes both ways, and matchings
 * are those of blossom.h, of at most WEIR_BLOSSOM_MAX nodes. O(ports x n^3). */
weir_code weir_circuit_from_matching(const weir_circuit_switch *sw, const weir_demand *demand,
                                     weir_circuit_design *design, weir_err *err);

/* Rings over `count` nodes (different ones; 2 or more): from order[i] to order[i + stride], a
 * stride coprime to count for each ring, so that each is one cycle; as many rings as ports allow.
 * With circulators a ring is duplex and takes two link ends of a node (one where count is 2). */
weir_code weir_circuit_from_ring(const weir_circuit_switch *sw, const uint32_t *order,
                                 uint32_t count, weir_circuit_design *design, weir_err *err);

/* A torus, duplex, over as many nodes as it has places: order[x0 + s0 (x1 + s1 (x2 + ...))], all
 * different. Dimension k on plane k; two link ends of each node there, one where the dimension has
 * 2 places. */
weir_code weir_circuit_from_torus(const weir_circuit_switch *sw, const uint32_t *order,
                                  const uint32_t *sizes, uint32_t dimensions,
                                  weir_circuit_design *design, weir_err *err);

typedef struct {
    uint32_t from, to;
    double bytes;
    double criticality; /* 0..1: how much of a second saved here shortens the step */
} weir_circuit_transfer;

typedef struct {
    double circuit_bytes_per_s; /* > 0 */
    double packet_bytes_per_s;  /* for a pair without a circuit; 0: it needs one */
} weir_circuit_rates;

/* One circuit after the other where it shortens the step most: the seconds that one more circuit
 * takes off the transfers of a pair x their criticality (a light form of DELTA's search). Where
 * there are no packets, pairs that send get their first circuits first, the critical ones before
 * the others. Circuits that gain nothing are not set. O((pairs + circuits) log pairs). */
weir_code weir_circuit_greedy(const weir_circuit_switch *sw, const weir_circuit_transfer *transfers,
                              uint32_t count, const weir_circuit_rates *rates,
                              weir_circuit_design *design, weir_err *err);

typedef struct {
    double max_circuit_bytes; /* on the busiest circuit; ÷ its rate: the time */
    double carried_bytes;     /* of the demand, on circuits */
    double byte_hops;         /* the same x the circuits crossed */
    double rest_line_bytes;   /* busiest row or column of what is not carried */
} weir_circuit_load;

/* The demand on the circuits: directly, and with forward also over other nodes, on all shortest
 * ways equally (parallel circuits are several ways). The diagonal travels nowhere.
 * O(n x (n + pairs with a circuit)). */
weir_code weir_circuit_carry(const weir_circuit_design *design, const weir_demand *demand,
                             bool forward, weir_circuit_load *load, weir_err *err);

#endif
