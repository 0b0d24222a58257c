#include "fabric/circuit.h"

#include <math.h>
#include <stdlib.h>

/* The circuits as a graph: parallel ones of a pair are one edge of that width. */
typedef struct {
    uint32_t n;
    uint32_t *width;      /* n*n */
    uint32_t *start;      /* n + 1: where a node's neighbours begin */
    uint32_t *neighbours; /* rising, each once */
    double *bytes;        /* n*n: on each edge */
    double *rest;         /* n*n: of the demand */
    uint32_t *queue;      /* nodes by distance from the source */
    uint32_t *hops;       /* WEIR_NONE = out of reach */
    double *ways;         /* shortest ways from the source, over the most of any as far away */
    double *arriving;     /* the same before that division: over the most of those one hop nearer */
    double *below;        /* bytes for a node and all that lie behind it */
} graph;

static void graph_clear(graph *g)
{
    free(g->width);
    free(g->start);
    free(g->neighbours);
    free(g->bytes);
    free(g->rest);
    free(g->queue);
    free(g->hops);
    free(g->ways);
    free(g->arriving);
    free(g->below);
}

static void list_neighbours(graph *g)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < g->n; node++) {
        g->start[node] = count;
        for (uint32_t next = 0; next < g->n; next++) {
            if (g->width[(size_t)node * g->n + next]) {
                g->neighbours[count++] = next;
            }
        }
    }
    g->start[g->n] = count;
}

static weir_code graph_init(graph *g, const weir_circuit_design *design, weir_err *err)
{
    size_t n = design->n;
    g->n = design->n;
    g->width = calloc(n * n, sizeof *g->width);
    g->start = calloc(n + 1, sizeof *g->start);
    g->neighbours = calloc((size_t)design->count + 1, sizeof *g->neighbours);
    g->bytes = calloc(n * n, sizeof *g->bytes);
    g->rest = calloc(n * n, sizeof *g->rest);
    g->queue = calloc(n, sizeof *g->queue);
    g->hops = calloc(n, sizeof *g->hops);
    g->ways = calloc(n, sizeof *g->ways);
    g->arriving = calloc(n, sizeof *g->arriving);
    g->below = calloc(n, sizeof *g->below);
    if (!g->width || !g->start || !g->neighbours || !g->bytes || !g->rest || !g->queue ||
        !g->hops || !g->ways || !g->arriving || !g->below) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the circuits of %u nodes",
                            design->n);
    }
    for (uint32_t k = 0; k < design->count; k++) {
        const weir_circuit *c = &design->circuits[k];
        if (c->from >= n || c->to >= n) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "a circuit from node %u to node %u; there are %u nodes", c->from,
                                c->to, design->n);
        }
        g->width[c->from * n + c->to]++;
    }
    list_neighbours(g);
    return WEIR_OK;
}

/* Ways of all nodes of one distance: those of the queue from first to end. They grow as powers, so
 * that only their proportions are kept. */
static void divide_ways(graph *g, uint32_t first, uint32_t end)
{
    double most = 0;
    for (uint32_t i = first; i < end; i++) {
        most = fmax(most, g->arriving[g->queue[i]]);
    }
    for (uint32_t i = first; i < end; i++) {
        g->ways[g->queue[i]] = g->arriving[g->queue[i]] / most;
    }
}

/* Shortest ways from a node; returns how many nodes it reaches, itself among them. */
static uint32_t search_from(graph *g, uint32_t source, bool forward)
{
    uint32_t head = 0, tail = 0, level_end = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        g->hops[i] = WEIR_NONE;
        g->arriving[i] = 0;
    }
    g->hops[source] = 0;
    g->arriving[source] = 1;
    g->queue[tail++] = source;
    while (head < tail) {
        if (head == level_end) {
            divide_ways(g, head, tail);
            level_end = tail;
        }
        uint32_t node = g->queue[head++];
        if (!forward && node != source) {
            break;
        }
        for (uint32_t i = g->start[node]; i < g->start[node + 1]; i++) {
            uint32_t next = g->neighbours[i];
            if (g->hops[next] == WEIR_NONE) {
                g->hops[next] = g->hops[node] + 1;
                g->queue[tail++] = next;
            }
            if (g->hops[next] == g->hops[node] + 1) {
                g->arriving[next] += g->ways[node] * g->width[(size_t)node * g->n + next];
            }
        }
    }
    return tail;
}

/* What lies behind a node comes over all that are one hop nearer, by their ways. */
static void collect(graph *g, uint32_t node)
{
    for (uint32_t i = g->start[node]; i < g->start[node + 1]; i++) {
        uint32_t next = g->neighbours[i];
        size_t edge = (size_t)node * g->n + next;
        if (g->hops[next] == g->hops[node] + 1) {
            double bytes = g->below[next] * g->ways[node] * g->width[edge] / g->arriving[next];
            g->bytes[edge] += bytes;
            g->below[node] += bytes;
        }
    }
}

static void send_from(graph *g, const weir_demand *demand, uint32_t source, bool forward,
                      weir_circuit_load *load)
{
    uint32_t reached = search_from(g, source, forward);
    const double *row = demand->bytes + (size_t)source * g->n;
    for (uint32_t i = 0; i < g->n; i++) {
        g->below[i] = 0;
        if (i != source && g->hops[i] == WEIR_NONE) {
            g->rest[(size_t)source * g->n + i] = row[i];
        } else if (i != source) {
            g->below[i] = row[i];
            load->carried_bytes += row[i];
            load->byte_hops += row[i] * g->hops[i];
        }
    }
    for (uint32_t k = reached; k-- > 0;) { /* the farthest first */
        collect(g, g->queue[k]);
    }
}

weir_code weir_circuit_carry(const weir_circuit_design *design, const weir_demand *demand,
                             bool forward, weir_circuit_load *load, weir_err *err)
{
    if (design->n != demand->n) {
        return weir_err_set(err, WEIR_ERR_USAGE, "circuits of %u nodes and a demand of %u",
                            design->n, demand->n);
    }
    graph g = {0};
    weir_code code = weir_demand_check(demand, err);
    if (code == WEIR_OK) {
        code = graph_init(&g, design, err);
    }
    if (code == WEIR_OK) {
        weir_circuit_load made = {0};
        for (uint32_t i = 0; i < g.n; i++) {
            send_from(&g, demand, i, forward, &made);
        }
        for (size_t i = 0; i < (size_t)g.n * g.n; i++) {
            if (g.width[i]) {
                made.max_circuit_bytes = fmax(made.max_circuit_bytes, g.bytes[i] / g.width[i]);
            }
        }
        const weir_demand rest = {g.n, g.rest};
        made.rest_line_bytes = weir_demand_measure(&rest).max_line_bytes;
        *load = made;
    }
    graph_clear(&g);
    return code;
}
