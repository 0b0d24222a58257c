/* The closed form of one algorithm and protocol.
 *
 *   t = base + steps x hop + messages x message + T + 2 sqrt(step min(T, fill)),   T = bytes x
 * factor / (rate x share)
 *
 * The first two terms are NCCL's (src/graph/tuning.cc). The last one is the pipeline: k pieces cost
 * k x step for handling them and T / k until the first is through, least where k = sqrt(T / step);
 * pieces grow no longer than fill. docs/model/collective.md derives it. */
#include "collective/library_inside.h"

#include <math.h>

typedef struct {
    double inside, between; /* steps from device to device, one after the other */
} step_counts;

static step_counts count_steps(const weir_collective_shape *shape,
                               weir_collective_algorithm algorithm)
{
    double n = shape->ranks, m = shape->nodes, g = n / m;
    double passes = shape->kind == WEIR_COLLECTIVE_ALL_REDUCE ? 2 : 1;
    switch (algorithm) {
    case WEIR_ALGORITHM_RING:
    case WEIR_ALGORITHM_CHAIN:
        return m > 1 ? (step_counts){passes * (n - m), passes * (m - 1)}
                     : (step_counts){passes * (n - 1), 0};
    case WEIR_ALGORITHM_TREE: /* NCCL: a chain inside the node, trees between them */
        return (step_counts){passes * (g - 1), passes * weir_collective_doublings(m)};
    case WEIR_ALGORITHM_HALVING:
        return (step_counts){passes * weir_collective_doublings(g),
                             passes * weir_collective_doublings(m)};
    case WEIR_ALGORITHM_DOUBLING:
    case WEIR_ALGORITHM_PAT:
        return (step_counts){weir_collective_doublings(g), weir_collective_doublings(m)};
    case WEIR_ALGORITHM_BRUCK:
        return m > 1 ? (step_counts){0, weir_collective_doublings(n)}
                     : (step_counts){weir_collective_doublings(n), 0};
    case WEIR_ALGORITHM_PAIRWISE:
        return (step_counts){g - 1, n - g};
    case WEIR_ALGORITHM_DIRECT:
        return (step_counts){0, m > 1 ? 1 : 0};
    case WEIR_ALGORITHM_RAILS:
        return (step_counts){1, 1};
    case WEIR_ALGORITHM_HIERARCHICAL:
    case WEIR_ALGORITHM_HIERARCHICAL3:
        return (step_counts){passes * (g - 1), passes * (m - 1)};
    case WEIR_ALGORITHM_NVLS_TREE:
        return (step_counts){0, passes * weir_collective_doublings(m)};
    case WEIR_ALGORITHM_SHARP:
        return (step_counts){shape->has_node_reduction ? 0 : passes * (g - 1), passes};
    default:
        return (step_counts){0, 0};
    }
}

/* Messages that a device sends to other nodes at once. */
static double count_messages(const weir_collective_shape *shape,
                             weir_collective_algorithm algorithm)
{
    double n = shape->ranks, m = shape->nodes;
    if (shape->kind != WEIR_COLLECTIVE_ALL_TO_ALL) {
        return 0;
    }
    return algorithm == WEIR_ALGORITHM_DIRECT ? n - n / m
                                              : (algorithm == WEIR_ALGORITHM_RAILS ? m - 1 : 0);
}

static bool is_exchange(const weir_collective_shape *shape)
{
    return shape->kind == WEIR_COLLECTIVE_ALL_TO_ALL || shape->kind == WEIR_COLLECTIVE_SEND_RECV;
}

static bool is_in_switch(const weir_collective_shape *shape, weir_collective_algorithm algorithm)
{
    return algorithm == WEIR_ALGORITHM_NVLS || algorithm == WEIR_ALGORITHM_NVLS_TREE ||
           (algorithm == WEIR_ALGORITHM_SHARP && shape->has_node_reduction);
}

static bool is_tree(weir_collective_algorithm algorithm)
{
    return algorithm == WEIR_ALGORITHM_TREE || algorithm == WEIR_ALGORITHM_NVLS_TREE;
}

/* Payload / raw rate on the node's links. A ring of Simple in one node also copies each device's
 * own share where it lies (bytes / ranks), which is time on no link: it is in the efficiency. */
static double node_share(const weir_collective_shape *shape, const library_node *node,
                         library_road way, weir_collective_algorithm algorithm)
{
    const library_node_road *road = &node->roads[way];
    double share = shape->nodes > 1 && road->between > 0 ? road->between : road->efficiency;
    double factor = weir_collective_node_factor(shape, algorithm);
    bool copies =
        algorithm == WEIR_ALGORITHM_RING && shape->nodes == 1 && way == LIBRARY_ROAD_SIMPLE;
    if (copies && node->copy_bytes_per_s > 0 && factor > 0) {
        double copied = shape->node_bytes_per_s / (node->copy_bytes_per_s * shape->ranks * factor);
        return 1 / (1 / share + copied);
    }
    return share;
}

static double network_share(const library_network_road *road, weir_collective_algorithm algorithm)
{
    if (is_tree(algorithm) && road->tree > 0) {
        return road->tree;
    }
    return algorithm == WEIR_ALGORITHM_SHARP && road->reduction > 0 ? road->reduction
                                                                    : road->efficiency;
}

/* Seconds on the wires, the parts inside and between nodes one after the other or at once. */
static double wire_s(const weir_collective_shape *shape, const weir_collective_choice *choice)
{
    double inside = 0, between = 0;
    double node_factor = weir_collective_node_factor(shape, choice->algorithm);
    double network_factor = weir_collective_network_factor(shape, choice->algorithm);
    if (node_factor > 0) {
        inside = shape->bytes * node_factor / (shape->node_bytes_per_s * choice->node_efficiency);
    }
    if (network_factor > 0) {
        between = shape->bytes * network_factor /
                  (shape->network_bytes_per_s * choice->network_efficiency);
    }
    if (weir_collective_is_serial(choice->algorithm)) {
        return inside + between;
    }
    return inside > between ? inside : between;
}

double weir_collective_estimate_s(const weir_collective_shape *shape,
                                  const weir_collective_choice *choice)
{
    return shape->ranks > 1 ? choice->latency_s + wire_s(shape, choice) : 0;
}

/* Which road an algorithm takes with a protocol: messages and switches know Simple only. */
static library_road road_of(const weir_collective_shape *shape, weir_collective_algorithm algorithm,
                            weir_collective_protocol protocol)
{
    bool is_simple = protocol == WEIR_PROTOCOL_SIMPLE;
    if (is_exchange(shape)) {
        return is_simple ? LIBRARY_ROAD_EXCHANGE : LIBRARY_ROAD_COUNT;
    }
    if (is_in_switch(shape, algorithm) || algorithm == WEIR_ALGORITHM_SHARP) {
        if (!is_simple) {
            return LIBRARY_ROAD_COUNT;
        }
        return is_in_switch(shape, algorithm) ? LIBRARY_ROAD_REDUCTION : LIBRARY_ROAD_SIMPLE;
    }
    return (library_road)protocol;
}

bool library_model_choice(const weir_collective_shape *shape, const library_transports *transports,
                          weir_collective_algorithm algorithm, weir_collective_protocol protocol,
                          weir_collective_choice *choice)
{
    bool inside = shape->ranks > shape->nodes, between = shape->nodes > 1;
    library_road way = road_of(shape, algorithm, protocol);
    step_counts steps = count_steps(shape, algorithm);
    if (way == LIBRARY_ROAD_COUNT) {
        return false;
    }
    weir_collective_choice made = {algorithm, protocol, 0, 1, 1, transports->node->id, NULL, false};
    double step_s = 0, fill_s = 0;
    if (inside) {
        const library_node_road *road = &transports->node->roads[way];
        if (road->efficiency <= 0) {
            return false;
        }
        made.latency_s = road->base_s + steps.inside * road->hop_s;
        made.node_efficiency = node_share(shape, transports->node, way, algorithm);
        step_s = road->step_s;
        fill_s = road->fill_s;
    }
    if (between) {
        /* what is reduced in the node's switches goes on with Simple */
        bool simple = way == LIBRARY_ROAD_REDUCTION;
        const library_network_road *road =
            &transports->network->roads[simple ? LIBRARY_ROAD_SIMPLE : way];
        if (road->efficiency <= 0) {
            return false;
        }
        made.network_transport = transports->network->id;
        made.latency_s += (inside ? 0 : transports->network->base_s) + steps.between * road->hop_s +
                          count_messages(shape, algorithm) * road->message_s;
        made.network_efficiency = network_share(road, algorithm);
        step_s = road->step_s;
        fill_s = road->fill_s;
    }
    double wire = wire_s(shape, &made);
    made.latency_s += 2 * sqrt(step_s * (wire < fill_s ? wire : fill_s));
    *choice = made;
    return true;
}
