/* What each algorithm puts on the wires, per byte of the collective: the table of collective.h.
 *
 * Ring: Patarasuk and Yuan 2009. Tree: Sanders, Speck, Traff 2009; each edge of the two trees
 * carries half of the bytes up and half down. NVLS, SHARP: every device hands its bytes to the
 * switch once and gets the sum of all once (NCCL, src/device/all_reduce.h). */
#include "collective/collective.h"

typedef struct {
    double n, m, g;
} scale;

static scale scale_of(const weir_collective_shape *shape)
{
    double n = shape->ranks, m = shape->nodes > 0 ? shape->nodes : 1;
    return (scale){n, m, n / m};
}

uint32_t weir_collective_doublings(double count)
{
    uint32_t rounds = 0;
    while (rounds < 32 && (double)(UINT64_C(1) << rounds) < count) {
        rounds++;
    }
    return rounds;
}

static bool is_half(weir_collective_kind kind)
{
    return kind == WEIR_COLLECTIVE_ALL_GATHER || kind == WEIR_COLLECTIVE_REDUCE_SCATTER;
}

static bool is_rooted(weir_collective_kind kind)
{
    return kind == WEIR_COLLECTIVE_BROADCAST || kind == WEIR_COLLECTIVE_REDUCE;
}

static bool has_kind(weir_collective_kind kind, weir_collective_algorithm algorithm)
{
    switch (algorithm) {
    case WEIR_ALGORITHM_RING:
        return kind == WEIR_COLLECTIVE_ALL_REDUCE || is_half(kind) || is_rooted(kind);
    case WEIR_ALGORITHM_CHAIN:
        return is_rooted(kind);
    case WEIR_ALGORITHM_TREE:
        return kind == WEIR_COLLECTIVE_ALL_REDUCE || is_rooted(kind);
    case WEIR_ALGORITHM_HALVING:
    case WEIR_ALGORITHM_HIERARCHICAL:
    case WEIR_ALGORITHM_HIERARCHICAL3:
    case WEIR_ALGORITHM_NVLS:
    case WEIR_ALGORITHM_NVLS_TREE:
    case WEIR_ALGORITHM_SHARP:
        return kind == WEIR_COLLECTIVE_ALL_REDUCE || is_half(kind);
    case WEIR_ALGORITHM_DOUBLING:
        return kind == WEIR_COLLECTIVE_ALL_REDUCE;
    case WEIR_ALGORITHM_PAT:
        return is_half(kind);
    case WEIR_ALGORITHM_BRUCK:
        return kind == WEIR_COLLECTIVE_ALL_GATHER || kind == WEIR_COLLECTIVE_ALL_TO_ALL;
    case WEIR_ALGORITHM_PAIRWISE:
    case WEIR_ALGORITHM_RAILS:
        return kind == WEIR_COLLECTIVE_ALL_TO_ALL;
    case WEIR_ALGORITHM_DIRECT:
        return kind == WEIR_COLLECTIVE_ALL_TO_ALL || kind == WEIR_COLLECTIVE_SEND_RECV;
    case WEIR_ALGORITHM_COUNT:
        break;
    }
    return false;
}

bool weir_collective_is_possible(const weir_collective_shape *shape,
                                 weir_collective_algorithm algorithm)
{
    bool between = shape->nodes > 1, inside = shape->ranks > shape->nodes;
    if (!has_kind(shape->kind, algorithm)) {
        return false;
    }
    switch (algorithm) {
    case WEIR_ALGORITHM_NVLS:
        return inside && !between && shape->has_node_reduction;
    case WEIR_ALGORITHM_NVLS_TREE:
        return inside && between && shape->has_node_reduction;
    case WEIR_ALGORITHM_SHARP:
        return between && shape->has_network_reduction;
    case WEIR_ALGORITHM_HIERARCHICAL:
    case WEIR_ALGORITHM_HIERARCHICAL3:
    case WEIR_ALGORITHM_RAILS:
        return inside && between;
    default:
        return true;
    }
}

bool weir_collective_is_serial(weir_collective_algorithm algorithm)
{
    return algorithm == WEIR_ALGORITHM_HIERARCHICAL || algorithm == WEIR_ALGORITHM_HIERARCHICAL3 ||
           algorithm == WEIR_ALGORITHM_RAILS || algorithm == WEIR_ALGORITHM_HALVING ||
           algorithm == WEIR_ALGORITHM_DOUBLING;
}

double weir_collective_bus_factor(weir_collective_kind kind, uint32_t ranks)
{
    double n = ranks > 1 ? ranks : 1;
    switch (kind) {
    case WEIR_COLLECTIVE_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case WEIR_COLLECTIVE_ALL_GATHER:
    case WEIR_COLLECTIVE_REDUCE_SCATTER:
    case WEIR_COLLECTIVE_ALL_TO_ALL:
        return (n - 1) / n;
    default:
        return 1;
    }
}

double weir_collective_node_factor(const weir_collective_shape *shape,
                                   weir_collective_algorithm algorithm)
{
    scale s = scale_of(shape);
    double passes = shape->kind == WEIR_COLLECTIVE_ALL_REDUCE ? 2 : 1;
    if (s.g <= 1) {
        return 0;
    }
    switch (algorithm) {
    case WEIR_ALGORITHM_RING:
    case WEIR_ALGORITHM_CHAIN:
        return weir_collective_bus_factor(shape->kind, shape->ranks) *
               (s.m > 1 ? (s.g - 1) / s.g : 1);
    case WEIR_ALGORITHM_DOUBLING:
        return weir_collective_doublings(s.g);
    case WEIR_ALGORITHM_BRUCK:
        return shape->kind == WEIR_COLLECTIVE_ALL_TO_ALL ? weir_collective_doublings(s.g) / 2.0
                                                         : (s.g - 1) / s.n;
    case WEIR_ALGORITHM_PAIRWISE:
        return (s.g - 1) / s.n;
    case WEIR_ALGORITHM_DIRECT:
        if (shape->kind == WEIR_COLLECTIVE_SEND_RECV) {
            return s.m > 1 ? 0 : 1;
        }
        return (s.g - 1) / s.n;
    case WEIR_ALGORITHM_NVLS:
    case WEIR_ALGORITHM_NVLS_TREE:
        return passes > 1 ? (s.g + 1) / s.g : 1;
    case WEIR_ALGORITHM_SHARP:
        if (shape->has_node_reduction) {
            return passes > 1 ? (s.g + 1) / s.g : 1;
        }
        return passes * (s.g - 1) / s.g;
    default: /* tree, halving, hierarchical, pat, rails */
        return passes * (s.g - 1) / s.g;
    }
}

/* Of the busiest node of two binary trees: inside one of them it has three edges, in the other, as
 * a leaf, one; with two nodes there is one edge in each, with three there are three at most. */
static double tree_share(double nodes)
{
    return nodes < 4 ? nodes / 2 : 2;
}

double weir_collective_network_factor(const weir_collective_shape *shape,
                                      weir_collective_algorithm algorithm)
{
    scale s = scale_of(shape);
    bool whole = shape->kind == WEIR_COLLECTIVE_ALL_REDUCE;
    if (s.m <= 1) {
        return 0;
    }
    switch (algorithm) {
    case WEIR_ALGORITHM_RING:
    case WEIR_ALGORITHM_CHAIN:
        return weir_collective_bus_factor(shape->kind, shape->ranks) / s.g;
    case WEIR_ALGORITHM_DOUBLING:
        return weir_collective_doublings(s.m);
    case WEIR_ALGORITHM_BRUCK:
        return shape->kind == WEIR_COLLECTIVE_ALL_TO_ALL ? weir_collective_doublings(s.n) / 2.0
                                                         : (s.n - s.g) / s.n;
    case WEIR_ALGORITHM_DIRECT:
        return shape->kind == WEIR_COLLECTIVE_SEND_RECV ? 1 : (s.n - s.g) / s.n;
    case WEIR_ALGORITHM_PAIRWISE:
    case WEIR_ALGORITHM_RAILS:
        return (s.n - s.g) / s.n;
    case WEIR_ALGORITHM_SHARP:
        return whole ? 1 / s.g : (s.m - 1) / (s.m * s.g);
    case WEIR_ALGORITHM_TREE:
    case WEIR_ALGORITHM_NVLS_TREE:
        if (whole || algorithm == WEIR_ALGORITHM_TREE) {
            return whole ? tree_share(s.m) / s.g : 1 / s.g;
        }
        return (s.m - 1) / (s.m * s.g);
    default: /* halving, hierarchical, pat */
        return (whole ? 2 : 1) * (s.m - 1) / (s.m * s.g);
    }
}
