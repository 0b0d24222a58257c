/* collective.h: the names of collectives, algorithms and protocols, and what a choice consists of.
 *
 * Sizes are as nccl-tests counts them: all-reduce, broadcast, reduce, send-recv the buffer of one
 * rank; all-gather the gathered buffer, reduce-scatter the buffer before scattering, all-to-all the
 * buffer of one rank (sent to all, itself included). Bus bandwidth = bytes / time x factor.
 *
 * What an algorithm puts on the wires stands here once, for the closed form (library.h) and for the
 * bodies on real links (plan.h): so that both give the same time on an idle fabric.
 *
 * Not here: how a choice is made (library.h), which links it loads (plan.h). */
#ifndef WEIR_COLLECTIVE_COLLECTIVE_H
#define WEIR_COLLECTIVE_COLLECTIVE_H

#include "weir/base.h"

#define WEIR_COLLECTIVE_KINDS(X)                                                                   \
    X(ALL_REDUCE, "all_reduce")                                                                    \
    X(ALL_GATHER, "all_gather")                                                                    \
    X(REDUCE_SCATTER, "reduce_scatter")                                                            \
    X(ALL_TO_ALL, "all_to_all")                                                                    \
    X(BROADCAST, "broadcast")                                                                      \
    X(REDUCE, "reduce")                                                                            \
    X(SEND_RECV, "send_recv")

/* X(enumerator, name, what it is in a few words) */
#define WEIR_COLLECTIVE_ALGORITHMS(X)                                                              \
    X(RING, "ring", "neighbours in a ring, the slowest link sets the pace")                        \
    X(TREE, "tree", "double binary tree, pipelined")                                               \
    X(HALVING, "halving", "recursive halving and doubling")                                        \
    X(DOUBLING, "doubling", "recursive doubling of whole buffers")                                 \
    X(BRUCK, "bruck", "log2 N rounds, half of the data in each")                                   \
    X(PAIRWISE, "pairwise", "N - 1 rounds, one partner in each")                                   \
    X(DIRECT, "direct", "all messages at once")                                                    \
    X(CHAIN, "chain", "pipelined from one to the next")                                            \
    X(HIERARCHICAL, "hierarchical", "inside nodes, then between them, then inside")                \
    X(HIERARCHICAL3, "hierarchical3", "inside nodes, inside racks, between racks, and back")       \
    X(NVLS, "nvls", "reduced in the switches of the node")                                         \
    X(NVLS_TREE, "nvls_tree", "NVLS inside nodes, a tree between them")                            \
    X(SHARP, "sharp", "reduced in the switches of the network")                                    \
    X(PAT, "pat", "parallel aggregated trees")                                                     \
    X(RAILS, "rails", "all-to-all: over the node's links to the rail of the receiver")

#define WEIR_COLLECTIVE_PROTOCOLS(X)                                                               \
    X(LL, "ll")                                                                                    \
    X(LL128, "ll128")                                                                              \
    X(SIMPLE, "simple")

typedef enum {
#define X(kind, name) WEIR_COLLECTIVE_##kind,
    WEIR_COLLECTIVE_KINDS(X)
#undef X
        WEIR_COLLECTIVE_KIND_COUNT
} weir_collective_kind;

typedef enum {
#define X(algorithm, name, about) WEIR_ALGORITHM_##algorithm,
    WEIR_COLLECTIVE_ALGORITHMS(X)
#undef X
        WEIR_ALGORITHM_COUNT /* also: let the library choose */
} weir_collective_algorithm;

typedef enum {
#define X(protocol, name) WEIR_PROTOCOL_##protocol,
    WEIR_COLLECTIVE_PROTOCOLS(X)
#undef X
        WEIR_PROTOCOL_COUNT /* also: let the library choose */
} weir_collective_protocol;

/* What the choice depends on. */
typedef struct {
    weir_collective_kind kind;
    double bytes;               /* as above */
    uint32_t ranks, nodes;      /* nodes that the ranks are spread over evenly */
    double node_bytes_per_s;    /* raw rate of a device inside its node, one direction; 0: none */
    double network_bytes_per_s; /* raw NIC rate of a device, one direction; 0: none */
    bool has_node_reduction;    /* NVSwitch with NVLS */
    bool has_network_reduction; /* SHARP */
} weir_collective_shape;

/* What is chosen, and what it costs beside the raw bandwidth of the links. */
typedef struct {
    weir_collective_algorithm algorithm;
    weir_collective_protocol protocol;
    double latency_s;                               /* all that does not scale with bandwidth */
    double node_efficiency;                         /* payload / raw rate inside the node, > 0 */
    double network_efficiency;                      /* the same between nodes */
    const char *node_transport, *network_transport; /* whose figures these are; the library's */
    bool transport_was_assumed;                     /* the wish did not name it: nearest rate */
} weir_collective_choice;

const char *weir_collective_kind_name(weir_collective_kind kind);
const char *weir_collective_algorithm_name(weir_collective_algorithm algorithm);
const char *weir_collective_protocol_name(weir_collective_protocol protocol);
bool weir_collective_kind_find(weir_str name, weir_collective_kind *kind);
bool weir_collective_algorithm_find(weir_str name, weir_collective_algorithm *algorithm);
bool weir_collective_protocol_find(weir_str name, weir_collective_protocol *protocol);
/* Bus bandwidth / algorithm bandwidth: 2(n-1)/n for all-reduce, (n-1)/n, 1 (nccl-tests,
 * PERFORMANCE.md). */
double weir_collective_bus_factor(weir_collective_kind kind, uint32_t ranks);

/* Bytes on the wires per byte of the collective (its size as above), for n ranks on m nodes with
 * g = n / m devices each; of the direction that carries more (sent or received), averaged over the
 * devices of a node, because libraries turn their rings and trees over the channels.
 *
 * Node factor: what a device puts on its link inside the node. Network factor: what it puts on its
 * NIC. With one node the network factor is 0; with one device in each node the node factor is 0.
 *
 *   algorithm             kinds                    node                   network
 *   ring, chain           F = bus factor           F (g-1)/g (m=1: F)     F/g
 *   tree                  all-reduce               2 (g-1)/g              min(2, m/2)/g
 *   tree                  broadcast, reduce        (g-1)/g                1/g
 *   halving               all-reduce               2 (g-1)/g              2 (m-1)/(m g)
 *   halving               all-gather, r.-scatter   (g-1)/g                (m-1)/(m g)
 *   doubling              all-reduce               ceil(log2 g)           ceil(log2 m)
 *   bruck                 all-gather               (g-1)/n                (n-g)/n
 *   bruck                 all-to-all               ceil(log2 g)/2         ceil(log2 n)/2
 *   pairwise, direct      all-to-all               (g-1)/n                (n-g)/n
 *   direct                send-recv                1 (m > 1: 0)           1
 *   rails                 all-to-all               (g-1)/g                (n-g)/n
 *   hierarchical, 3       all-reduce               2 (g-1)/g              2 (m-1)/(m g)
 *   hierarchical, 3, pat  all-gather, r.-scatter   (g-1)/g                (m-1)/(m g)
 *   nvls, nvls_tree       all-reduce               (g+1)/g                min(2, m/2)/g
 *   nvls, nvls_tree       all-gather, r.-scatter   1                      (m-1)/(m g)
 *   sharp                 all-reduce               (g+1)/g, 2 (g-1)/g     1/g
 *                                                  without node reduction
 *   sharp                 all-gather, r.-scatter   1, (g-1)/g             (m-1)/(m g)
 *
 * A tree between nodes is two binary trees with half of the bytes each; a node that is inside one
 * is a leaf of the other, so the busiest sends 2 (m >= 4), 1.5 (m = 3) or 1 (m = 2) times the
 * bytes. Halving goes to the nearest partner first, so that the network carries the smallest
 * pieces; the rounds of Bruck that cross nodes do so for at least one device, which sets their
 * pace. */
double weir_collective_node_factor(const weir_collective_shape *shape,
                                   weir_collective_algorithm algorithm);
double weir_collective_network_factor(const weir_collective_shape *shape,
                                      weir_collective_algorithm algorithm);

/* The rounds that double a reach of 1 up to count: the least k with 2^k >= count. */
uint32_t weir_collective_doublings(double count);

/* Whether the table above has the algorithm for shape's kind, and the hardware for it is there. */
bool weir_collective_is_possible(const weir_collective_shape *shape,
                                 weir_collective_algorithm algorithm);

/* Whether the parts inside and between nodes follow one another (times add up: hierarchical,
 * hierarchical3, rails, halving, doubling) or flow through both at once in small pieces (the slower
 * one sets the pace: all others). */
bool weir_collective_is_serial(weir_collective_algorithm algorithm);

#endif
