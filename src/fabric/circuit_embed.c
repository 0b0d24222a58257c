#include "fabric/blossom.h"
#include "fabric/circuit.h"
#include "fabric/matching.h"

#include <stdlib.h>
#include <string.h>

static weir_code add_both_ways(weir_circuit_design *design, weir_circuit c, weir_err *err)
{
    weir_code code = weir_circuit_add(design, c, err);
    return code == WEIR_OK ? weir_circuit_add(design, (weir_circuit){c.to, c.from, c.plane}, err)
                           : code;
}

/* Checks the design; takes back what came after the first `before` circuits if anything failed. */
static weir_code settle(const weir_circuit_switch *sw, weir_circuit_design *design, uint32_t before,
                        weir_code code, weir_err *err)
{
    if (code == WEIR_OK) {
        code = weir_circuit_check(sw, design, err);
    }
    if (code != WEIR_OK) {
        design->count = before;
    }
    return code;
}

/* A circuit for each matched pair that has something to send; weights of these are halved. */
static weir_code add_matching(weir_circuit_design *design, uint32_t plane, double *weights,
                              const uint32_t *match, weir_err *err)
{
    for (uint32_t i = 0; i < design->n; i++) {
        double *weight = &weights[(size_t)i * design->n + match[i]];
        if (*weight > 0) {
            weir_code code = weir_circuit_add(design, (weir_circuit){i, match[i], plane}, err);
            if (code != WEIR_OK) {
                return code;
            }
            *weight /= 2;
        }
    }
    return WEIR_OK;
}

static weir_code match_one_way(const weir_circuit_switch *sw, double *weights,
                               weir_circuit_design *design, weir_err *err)
{
    uint32_t *match = calloc(design->n, sizeof *match);
    weir_code code = match ? WEIR_OK
                           : weir_err_set(err, WEIR_ERR_MEMORY,
                                          "no memory for a matching of %u nodes", design->n);
    for (uint32_t k = 0; code == WEIR_OK && k < sw->planes * sw->node_ports; k++) {
        code = weir_matching_heaviest(design->n, weights, match, NULL, err);
        if (code == WEIR_OK) {
            code = add_matching(design, k / sw->node_ports, weights, match, err);
        }
    }
    free(match);
    return code;
}

/* Weights above the diagonal as whole numbers: 2^40 for the largest, 1 at least for what is not 0.
 */
static void round_weights(uint32_t n, const double *weights, int64_t *whole)
{
    double largest = 0;
    for (size_t i = 0; i < (size_t)n * n; i++) {
        largest = weights[i] > largest ? weights[i] : largest;
    }
    for (size_t i = 0; i < (size_t)n * n; i++) {
        double share = largest > 0 ? weights[i] / largest * 0x1p40 : 0;
        whole[i] = weights[i] > 0 ? (int64_t)(share < 1 ? 1 : share) : 0;
    }
}

/* Both directions of each edge; weights of matched pairs are halved. */
static weir_code match_both_ways(const weir_circuit_switch *sw, double *weights,
                                 weir_circuit_design *design, weir_err *err)
{
    uint32_t n = design->n;
    uint32_t *partner = calloc(n, sizeof *partner);
    int64_t *whole = calloc((size_t)n * n, sizeof *whole);
    weir_code code = partner && whole ? WEIR_OK
                                      : weir_err_set(err, WEIR_ERR_MEMORY,
                                                     "no memory for a matching of %u nodes", n);
    for (uint32_t i = 0; i < n && code == WEIR_OK; i++) {
        weights[(size_t)i * n + i] = 0;
        for (uint32_t j = i + 1; j < n; j++) {
            weights[(size_t)i * n + j] += weights[(size_t)j * n + i];
            weights[(size_t)j * n + i] = 0;
        }
    }
    for (uint32_t k = 0; code == WEIR_OK && k < sw->planes * sw->node_ports; k++) {
        round_weights(n, weights, whole);
        code = weir_blossom_heaviest(n, whole, partner, NULL, err);
        for (uint32_t i = 0; i < n && code == WEIR_OK; i++) {
            if (partner[i] != WEIR_NONE && i < partner[i]) {
                weir_circuit c = {i, partner[i], k / sw->node_ports};
                code = add_both_ways(design, c, err);
                weights[(size_t)i * n + partner[i]] /= 2;
            }
        }
    }
    free(partner);
    free(whole);
    return code;
}

weir_code weir_circuit_from_matching(const weir_circuit_switch *sw, const weir_demand *demand,
                                     weir_circuit_design *design, weir_err *err)
{
    uint32_t n = demand->n, before = design->count;
    size_t cells = (size_t)n * n;
    if (design->n != n) {
        return weir_err_set(err, WEIR_ERR_USAGE, "a design of %u nodes and a demand of %u",
                            design->n, n);
    }
    weir_code code = weir_demand_check(demand, err);
    if (code != WEIR_OK) {
        return code;
    }
    double *weights = calloc(cells, sizeof *weights);
    if (!weights) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a matching of %u nodes", n);
    }
    for (size_t i = 0; i < cells; i++) { /* what stays at home needs no circuit */
        weights[i] = i / n == i % n ? 0 : demand->bytes[i];
    }
    code = sw->circulators ? match_both_ways(sw, weights, design, err)
                           : match_one_way(sw, weights, design, err);
    free(weights);
    return settle(sw, design, before, code, err);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The next stride after `stride` that makes one cycle; after the last one 1 again. A duplex ring of
 * stride s is that of count - s. */
static uint32_t next_stride(uint32_t stride, uint32_t count, bool duplex)
{
    uint32_t last = duplex ? count / 2 : count - 1;
    for (uint32_t s = stride + 1; s <= last; s++) {
        if (common_divisor(s, count) == 1) {
            return s;
        }
    }
    return 1;
}

static weir_code check_order(const weir_circuit_design *design, const uint32_t *order,
                             uint32_t count, weir_err *err)
{
    uint32_t bad = WEIR_NONE;
    bool *seen = calloc(design->n, sizeof *seen);
    if (!seen) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to check an order of %u nodes", count);
    }
    for (uint32_t i = 0; i < count && bad == WEIR_NONE; i++) {
        if (order[i] >= design->n || seen[order[i]]) {
            bad = i;
        } else {
            seen[order[i]] = true;
        }
    }
    free(seen);
    if (count < 2 || bad != WEIR_NONE) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            bad == WEIR_NONE
                                ? "one node; two or more are due"
                                : "node %u in an order; it takes different nodes below %u",
                            bad == WEIR_NONE ? 0 : order[bad], design->n);
    }
    return WEIR_OK;
}

weir_code weir_circuit_from_ring(const weir_circuit_switch *sw, const uint32_t *order,
                                 uint32_t count, weir_circuit_design *design, weir_err *err)
{
    weir_code code = check_order(design, order, count, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t before = design->count, stride = 0;
    bool duplex = sw->circulators;
    uint32_t each = duplex && count > 2 ? 2 : 1, edges = duplex && count == 2 ? 1 : count;
    uint32_t rings = sw->node_ports / each;
    if (rings == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a ring takes %u ports of each node on a plane; nodes have %u", each,
                            sw->node_ports);
    }
    for (uint32_t k = 0; k < sw->planes * rings; k++) {
        stride = next_stride(stride, count, duplex);
        for (uint32_t i = 0; code == WEIR_OK && i < edges; i++) {
            weir_circuit c = {order[i], order[(i + stride) % count], k / rings};
            code = duplex ? add_both_ways(design, c, err) : weir_circuit_add(design, c, err);
        }
    }
    return settle(sw, design, before, code, err);
}

/* Places of a torus; 0: no dimensions, an empty one, or more than most. */
static uint32_t count_places(const uint32_t *sizes, uint32_t dimensions, uint32_t most)
{
    uint64_t places = dimensions ? 1 : 0;
    for (uint32_t d = 0; d < dimensions && places > 0; d++) {
        places *= sizes[d];
        places = places <= most ? places : 0;
    }
    return (uint32_t)places;
}

weir_code weir_circuit_from_torus(const weir_circuit_switch *sw, const uint32_t *order,
                                  const uint32_t *sizes, uint32_t dimensions,
                                  weir_circuit_design *design, weir_err *err)
{
    uint32_t places = count_places(sizes, dimensions, design->n);
    if (places < 2) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a torus of %u dimensions; it must have 2 to %u places", dimensions,
                            design->n);
    }
    uint32_t before = design->count, step = 1;
    weir_code code = check_order(design, order, places, err);
    for (uint32_t d = 0; code == WEIR_OK && d < dimensions; d++) {
        for (uint32_t i = 0; code == WEIR_OK && i < places; i++) {
            uint32_t at = i / step % sizes[d];
            uint32_t next = at + 1 < sizes[d] ? i + step : i - at * step;
            if (next != i && !(sizes[d] == 2 && at == 1)) {
                code = add_both_ways(design, (weir_circuit){order[i], order[next], d}, err);
            }
        }
        step *= sizes[d];
    }
    return settle(sw, design, before, code, err);
}
