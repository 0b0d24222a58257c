/* fluid_fixture.h: numbers, nets and trees for the tests and the benchmark of the fluid engine.
 *
 * Random numbers, permutations and fat trees are those of reference/network-oracles.md, section 0:
 * the expected values there were computed for exactly these inputs. */
#ifndef WEIR_TESTS_FLUID_FIXTURE_H
#define WEIR_TESTS_FLUID_FIXTURE_H

#include "fabric/bodies.h"

#include <stdlib.h>

static inline uint64_t mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t drawn = mix(*state);
    *state += 0x9E3779B97F4A7C15u;
    return drawn;
}

/* 0 .. below-1 */
static inline uint32_t pick(uint64_t *state, uint32_t below)
{
    return (uint32_t)(next_random(state) % below);
}

/* 0 .. 1 */
static inline double draw(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* XGFT(m1,m2,m3; 1,w2,w3). */
typedef struct {
    uint32_t m1, m2, m3, w2, w3;
    weir_net *net;
} tree;

static inline uint32_t tree_hosts(const tree *t)
{
    return t->m1 * t->m2 * t->m3;
}

/* Links: up and down of each host, of each (leaf, a), of each (pod, a, c). */
static inline void tree_build(tree *t, double bytes_per_s)
{
    uint32_t hosts = tree_hosts(t), leaves = t->m2 * t->m3;
    uint32_t count = 2 * (hosts + leaves * t->w2 + t->m3 * t->w2 * t->w3);
    t->net = weir_net_new();
    for (uint32_t i = 0; i < count; i++) {
        weir_link_id link;
        if (!t->net || weir_net_add(t->net, bytes_per_s, 0, &link, NULL) != WEIR_OK) {
            abort();
        }
    }
    weir_net_seal(t->net);
}

/* Through aggregation switch a and core (a, c); at most 6 links. */
static inline uint32_t tree_route(const tree *t, uint32_t from, uint32_t to, const uint32_t ac[2],
                                  weir_link_id *links)
{
    uint32_t hosts = tree_hosts(t), leaves = t->m2 * t->m3, n = 0;
    uint32_t leaf_links = 2 * hosts, pod_links = leaf_links + 2 * leaves * t->w2;
    uint32_t from_leaf = from / t->m1, to_leaf = to / t->m1;
    uint32_t from_pod = from_leaf / t->m2, to_pod = to_leaf / t->m2;
    links[n++] = 2 * from;
    if (from_leaf != to_leaf) {
        links[n++] = leaf_links + 2 * (from_leaf * t->w2 + ac[0]);
        if (from_pod != to_pod) {
            links[n++] = pod_links + 2 * ((from_pod * t->w2 + ac[0]) * t->w3 + ac[1]);
            links[n++] = pod_links + 2 * ((to_pod * t->w2 + ac[0]) * t->w3 + ac[1]) + 1;
        }
        links[n++] = leaf_links + 2 * (to_leaf * t->w2 + ac[0]) + 1;
    }
    links[n++] = 2 * to + 1;
    return n;
}

static inline uint32_t tree_d_mod_k(const tree *t, uint32_t from, uint32_t to, weir_link_id *links)
{
    const uint32_t ac[2] = {to % t->w2, to / t->w2 % t->w3};
    return tree_route(t, from, to, ac, links);
}

static inline uint32_t tree_ecmp(const tree *t, const uint32_t pair[2], uint64_t id, uint64_t seed,
                                 weir_link_id *links)
{
    uint64_t h = mix(id * 0x100000001b3u ^ seed);
    const uint32_t ac[2] = {(uint32_t)(h % t->w2), (uint32_t)((h >> 32) % t->w3)};
    return tree_route(t, pair[0], pair[1], ac, links);
}

/* PERM(count, seed): flow i goes from order[i] to order[(i + 1) % count]. */
static inline uint32_t *make_permutation(uint32_t count, uint64_t *state)
{
    uint32_t *order = (uint32_t *)malloc(count * sizeof *order); /* also read as C++ */
    if (!order) {
        abort();
    }
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t j = pick(state, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    return order;
}

#endif
