/* plan_torus.c: rings along all dimensions of a torus at once.
 *
 * The bytes are cut into one part for each dimension; a part is reduced along one dimension after
 * the other, beginning with its own, and gathered on the way back, so that all dimensions are busy
 * all the time, both ways (Sack and Gropp, Collective algorithms for multiported torus networks,
 * ACM TOPC 1, 2015; the same on TPUs). Told as one body: parts are pipelined.
 *
 * The dimensions are found, not told: members in rank order are a grid if the devices that the
 * first one is joined to are just those that it would be joined to on that grid. */
#include "collective/plan_inside.h"

#include <stdlib.h>

enum { NEIGHBOURS_MOST = 6 };

typedef struct {
    uint32_t size[3], count; /* the last one changes fastest with the rank */
} grid;

/* The places in the group that a cable joins the first member to, ascending. */
typedef struct {
    uint32_t place[NEIGHBOURS_MOST], count;
} neighbours;

static void neighbours_add(neighbours *all, uint32_t place)
{
    uint32_t at = 0;
    while (at < all->count && all->place[at] < place) {
        at++;
    }
    if ((at < all->count && all->place[at] == place) || all->count == NEIGHBOURS_MOST) {
        return;
    }
    for (uint32_t i = all->count++; i > at; i--) {
        all->place[i] = all->place[i - 1];
    }
    all->place[at] = place;
}

static uint32_t place_of(const planner *p, uint32_t device)
{
    uint32_t place = 0;
    while (place < p->count && p->order[place] != device) {
        place++;
    }
    return place;
}

static void find_neighbours(const planner *p, neighbours *all)
{
    const weir_topology *t = weir_layout_topology(p->layout, p->job->road);
    uint32_t links = weir_net_count(weir_topology_net(t));
    for (uint32_t i = 0; i < links; i++) {
        weir_link link = weir_topology_link(t, i);
        if (link.from == p->order[0]) {
            uint32_t place = place_of(p, link.to);
            if (place < p->count) {
                neighbours_add(all, place);
            }
        }
    }
}

static bool is_grid(const grid *g, const neighbours *seen)
{
    neighbours due = {0};
    uint32_t stride = 1;
    for (uint32_t i = g->count; i-- > 0;) {
        neighbours_add(&due, stride);
        neighbours_add(&due, stride * (g->size[i] - 1));
        stride *= g->size[i];
    }
    bool is_same = due.count == seen->count;
    for (uint32_t i = 0; i < due.count && is_same; i++) {
        is_same = due.place[i] == seen->place[i];
    }
    return is_same;
}

/* All ways to write count as a product of two or three sizes; count 0: none fits. */
static grid find_grid(const planner *p)
{
    neighbours seen = {0};
    find_neighbours(p, &seen);
    for (uint32_t a = 2; a <= p->count / 2; a++) {
        if (p->count % a) {
            continue;
        }
        uint32_t rest = p->count / a;
        grid flat = {{a, rest, 0}, 2};
        if (is_grid(&flat, &seen)) {
            return flat;
        }
        for (uint32_t b = 2; b <= rest / 2; b++) {
            grid g = {{a, b, rest / b}, 3};
            if (rest % b == 0 && is_grid(&g, &seen)) {
                return g;
            }
        }
    }
    return (grid){.count = 0};
}

/* What each member sends along a dimension in one half of an all-reduce, over all parts. */
static double sent_along(const planner *p, const grid *g, uint32_t dimension)
{
    double total = 0;
    for (uint32_t part = 0; part < g->count; part++) {
        double bytes = p->job->bytes / g->count;
        for (uint32_t i = part; i != dimension; i = (i + 1) % g->count) {
            bytes /= g->size[i];
        }
        total += bytes * (g->size[dimension] - 1.0) / g->size[dimension];
    }
    return total;
}

static weir_code load_dimension(planner *p, const grid *g, uint32_t dimension, double bytes)
{
    uint32_t stride = 1, size = g->size[dimension];
    for (uint32_t i = dimension + 1; i < g->count; i++) {
        stride *= g->size[i];
    }
    weir_code code = WEIR_OK;
    for (uint32_t v = 0; v < p->count && code == WEIR_OK; v++) {
        uint32_t at = v / stride % size, line = v - at * stride;
        const uint32_t up[2] = {p->order[v], p->order[line + (at + 1) % size * stride]};
        const uint32_t down[2] = {p->order[v], p->order[line + (at + size - 1) % size * stride]};
        code = plan_load(p, &p->drafts[0], up, bytes / 2);
        code = code == WEIR_OK ? plan_load(p, &p->drafts[0], down, bytes / 2) : code;
    }
    return code;
}

weir_code plan_torus(planner *p, bool *is_torus)
{
    weir_collective_kind kind = p->job->kind;
    double passes = kind == WEIR_COLLECTIVE_ALL_REDUCE ? 2 : 1;
    *is_torus = p->is_direct && p->nodes == p->count &&
                (passes > 1 || kind == WEIR_COLLECTIVE_ALL_GATHER ||
                 kind == WEIR_COLLECTIVE_REDUCE_SCATTER);
    grid g = *is_torus ? find_grid(p) : (grid){.count = 0};
    *is_torus = g.count > 0;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < g.count && code == WEIR_OK; i++) {
        code = load_dimension(p, &g, i, passes * sent_along(p, &g, i));
    }
    double unit = p->job->bytes * passes / (2.0 * (g.count ? g.count : 1));
    return code == WEIR_OK && *is_torus ? plan_round_of(p, unit, 1) : code;
}
