/* circuit_greedy.c: one circuit after the other where it shortens the step most (circuit.h). */
#include "base/sort.h"
#include "fabric/circuit.h"

#include <math.h>
#include <stdlib.h>

/* Transfers of one pair, and what its next circuit would gain. Duplex: from < to, both ways. */
typedef struct {
    double gain_s;
    double weight_bytes; /* sum of bytes x criticality */
    bool sends;          /* any bytes, critical or not */
    uint32_t from, to;
    uint32_t circuits; /* that it has */
} pair_gain;

typedef struct {
    const weir_circuit_switch *sw;
    weir_circuit_design *design;
    weir_circuit_rates rates;
    pair_gain *pairs; /* a heap: the largest gain first */
    uint32_t count;
    uint32_t *leaving, *arriving; /* ports in use, of each plane and node; one table if duplex */
} greedy;

static void find_gain(const greedy *g, pair_gain *pair)
{
    double rate = pair->circuits * g->rates.circuit_bytes_per_s;
    double now = pair->circuits ? rate : g->rates.packet_bytes_per_s;
    if (now > 0) {
        pair->gain_s = pair->weight_bytes * (1 / now - 1 / (rate + g->rates.circuit_bytes_per_s));
    } else {
        pair->gain_s = pair->sends ? INFINITY : 0; /* else its bytes never arrive */
    }
}

/* > 0: b before a. */
static int by_gain(const void *a, const void *b, const void *context)
{
    const pair_gain *x = a, *y = b;
    (void)context;
    if (x->gain_s != y->gain_s) {
        return x->gain_s < y->gain_s ? 1 : -1;
    }
    if (x->weight_bytes != y->weight_bytes) {
        return x->weight_bytes < y->weight_bytes ? 1 : -1;
    }
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->to > y->to) - (x->to < y->to);
}

static int by_pair(const void *a, const void *b, const void *context)
{
    const pair_gain *x = a, *y = b;
    (void)context;
    if (x->from != y->from) {
        return x->from < y->from ? -1 : 1;
    }
    return (x->to > y->to) - (x->to < y->to);
}

/* The first pair's gain fell: down to its place. */
static void sift(greedy *g)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t best = at, left = 2 * at + 1;
        for (uint32_t child = left; child < g->count && child <= left + 1; child++) {
            if (by_gain(&g->pairs[best], &g->pairs[child], NULL) > 0) {
                best = child;
            }
        }
        if (best == at) {
            return;
        }
        pair_gain swap = g->pairs[at];
        g->pairs[at] = g->pairs[best];
        g->pairs[best] = swap;
        at = best;
    }
}

static weir_code collect_pairs(greedy *g, const weir_circuit_transfer *transfers, uint32_t count,
                               weir_err *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const weir_circuit_transfer *t = &transfers[i];
        bool good = t->from < g->design->n && t->to < g->design->n && t->from != t->to &&
                    t->bytes >= 0 && isfinite(t->bytes) && t->criticality >= 0 &&
                    t->criticality <= 1;
        if (!good) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "transfer %u: %g bytes from node %u to node %u, criticality %g; "
                                "two different nodes below %u, 0 bytes or more and 0..1 are due",
                                i, t->bytes, t->from, t->to, t->criticality, g->design->n);
        }
        bool turn = g->sw->circulators && t->from > t->to;
        g->pairs[i] = (pair_gain){.weight_bytes = t->bytes * t->criticality,
                                  .sends = t->bytes > 0,
                                  .from = turn ? t->to : t->from,
                                  .to = turn ? t->from : t->to};
    }
    if (!weir_sort(g->pairs, count, sizeof *g->pairs, by_pair, NULL)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to sort %u transfers", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        pair_gain *last = g->count ? &g->pairs[g->count - 1] : NULL;
        if (last && by_pair(last, &g->pairs[i], NULL) == 0) {
            last->weight_bytes += g->pairs[i].weight_bytes;
            last->sends |= g->pairs[i].sends;
        } else {
            g->pairs[g->count++] = g->pairs[i];
        }
    }
    for (uint32_t i = 0; i < g->count; i++) {
        find_gain(g, &g->pairs[i]);
    }
    return weir_sort(g->pairs, g->count, sizeof *g->pairs, by_gain, NULL)
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_MEMORY, "no memory to sort %u pairs", g->count);
}

/* The first plane where both ends have a port, WEIR_NONE if there is none. */
static uint32_t find_plane(const greedy *g, const pair_gain *pair)
{
    for (uint32_t p = 0; p < g->sw->planes; p++) {
        size_t first = (size_t)p * g->design->n;
        if (g->leaving[first + pair->from] < g->sw->node_ports &&
            g->arriving[first + pair->to] < g->sw->node_ports) {
            return p;
        }
    }
    return WEIR_NONE;
}

static weir_code set_circuit(greedy *g, const pair_gain *pair, uint32_t plane, weir_err *err)
{
    weir_circuit there = {pair->from, pair->to, plane}, back = {pair->to, pair->from, plane};
    weir_code code = weir_circuit_add(g->design, there, err);
    if (code == WEIR_OK && g->sw->circulators) {
        code = weir_circuit_add(g->design, back, err);
    }
    g->leaving[(size_t)plane * g->design->n + pair->from]++;
    g->arriving[(size_t)plane * g->design->n + pair->to]++;
    return code;
}

static weir_code fill_ports(greedy *g, weir_err *err)
{
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && g->count > 0 && g->pairs[0].gain_s > 0) {
        uint32_t plane = find_plane(g, &g->pairs[0]);
        if (plane == WEIR_NONE) {
            g->pairs[0] = g->pairs[--g->count];
        } else {
            code = set_circuit(g, &g->pairs[0], plane, err);
            g->pairs[0].circuits++;
            find_gain(g, &g->pairs[0]);
        }
        sift(g);
    }
    return code;
}

/* Circuits that the design has already. */
static weir_code count_ports(greedy *g, weir_err *err)
{
    weir_code code = weir_circuit_check(g->sw, g->design, err);
    for (uint32_t k = 0; code == WEIR_OK && k < g->design->count; k++) {
        weir_circuit c = g->design->circuits[k];
        g->leaving[(size_t)c.plane * g->design->n + c.from]++;
        if (!g->sw->circulators) {
            g->arriving[(size_t)c.plane * g->design->n + c.to]++;
        }
    }
    return code;
}

weir_code weir_circuit_greedy(const weir_circuit_switch *sw, const weir_circuit_transfer *transfers,
                              uint32_t count, const weir_circuit_rates *rates,
                              weir_circuit_design *design, weir_err *err)
{
    if (!(rates->circuit_bytes_per_s > 0) || !(rates->packet_bytes_per_s >= 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "circuits of %g and packets of %g bytes/s; above 0 and 0 or more "
                            "are due",
                            rates->circuit_bytes_per_s, rates->packet_bytes_per_s);
    }
    uint32_t before = design->count;
    size_t ends = (size_t)sw->planes * design->n;
    greedy g = {.sw = sw, .design = design, .rates = *rates};
    g.pairs = calloc((size_t)count + 1, sizeof *g.pairs);
    g.leaving = calloc(2 * ends + 1, sizeof *g.leaving);
    g.arriving = g.leaving && !sw->circulators ? g.leaving + ends : g.leaving;
    weir_code code = WEIR_OK;
    if (!g.pairs || !g.leaving) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u transfers", count);
    }
    if (code == WEIR_OK) {
        code = count_ports(&g, err);
    }
    if (code == WEIR_OK) {
        code = collect_pairs(&g, transfers, count, err);
    }
    if (code == WEIR_OK) {
        code = fill_ports(&g, err);
    }
    free(g.pairs);
    free(g.leaving);
    if (code != WEIR_OK) {
        design->count = before;
    }
    return code;
}
