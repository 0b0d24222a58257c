/* collective.h: the names of collectives, algorithms and protocols, and what a choice consists of.
 *
 * Sizes are as nccl-tests counts them: all-reduce, broadcast, reduce, send-recv the buffer of one
 * rank; all-gather the gathered buffer, reduce-scatter the buffer before scattering, all-to-all the
 * buffer of one rank (sent to all, itself included). Bus bandwidth = bytes / time x factor.
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
    double latency_s;          /* all that does not scale with bandwidth */
    double node_efficiency;    /* payload / raw rate inside the node, > 0 */
    double network_efficiency; /* the same between nodes */
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

#endif
