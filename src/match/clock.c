#include "match/clock.h"

#include "base/sort.h"
#include "base/thread.h"
#include "match/clock_pair.h"

#include <math.h>
#include <stdlib.h>

/* Lists without recorded group that are tried with each other, for two nodes. */
enum { SUBLISTS = 4 };

/* Each step over a link adds its error; links of messages only are the last choice. */
static const int64_t STEP_NS = 50;
static const double GRAIN_NS = 1000; /* profilers' stamps are no better */
static const int64_t MESSAGE_STEP_NS = 10000000;
static const int64_t WEAK_STEP_NS = 1000000;

/* A list of node a and one of node b > a that belong to one channel. */
typedef struct {
    uint32_t a, b;
    uint32_t list_a, list_b;
    uint32_t shorter; /* entries of the shorter list */
} shared_channel;

typedef struct {
    shared_channel *rows;
    uint32_t count, capacity;
} shared_table;

/* The clocks of two nodes. */
typedef struct {
    uint32_t a, b;
    uint32_t first_row, row_count;
    clock_fit fit;
    bool failed; /* no memory */
} clock_link;

typedef struct {
    const comm_items *items;
    const pair_lists *lists;
    shared_table table;
    clock_link *links;
    uint32_t link_count;
} link_set;

static bool add_shared(link_set *set, uint32_t list_a, uint32_t list_b)
{
    shared_table *table = &set->table;
    const align_list *a = &set->lists->lists[list_a], *b = &set->lists->lists[list_b];
    if (a->node == b->node || a->count == 0 || b->count == 0) {
        return true;
    }
    if (table->count == table->capacity) {
        uint32_t capacity = table->capacity ? 2 * table->capacity : 64;
        shared_channel *grown = realloc(table->rows, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        table->rows = grown;
        table->capacity = capacity;
    }
    bool in_order = a->node < b->node;
    table->rows[table->count++] = (shared_channel){
        .a = in_order ? a->node : b->node,
        .b = in_order ? b->node : a->node,
        .list_a = in_order ? list_a : list_b,
        .list_b = in_order ? list_b : list_a,
        .shorter = a->count < b->count ? a->count : b->count,
    };
    return true;
}

/* Lists [from, to) are of one channel: each is compared with those of the first node and with the
 * next one, not all with all, which would be the square of the nodes. */
static bool share_channel(link_set *set, uint32_t from, uint32_t to)
{
    uint32_t heads = 0;
    while (from + heads < to && heads < SUBLISTS &&
           set->lists->lists[from + heads].node == set->lists->lists[from].node) {
        heads++;
    }
    for (uint32_t k = from + 1; k < to; k++) {
        for (uint32_t h = 0; h < heads && from + h < k; h++) {
            if (!add_shared(set, from + h, k)) {
                return false;
            }
        }
        if (k > from + heads && !add_shared(set, k - 1, k)) {
            return false;
        }
    }
    return true;
}

static int compare_shared(const void *x, const void *y, const void *context)
{
    (void)context;
    const shared_channel *p = x, *q = y;
    if (p->a != q->a) {
        return p->a < q->a ? -1 : 1;
    }
    if (p->b != q->b) {
        return p->b < q->b ? -1 : 1;
    }
    if (p->shorter != q->shorter) {
        return p->shorter > q->shorter ? -1 : 1;
    }
    if (p->list_a != q->list_a) {
        return p->list_a < q->list_a ? -1 : 1;
    }
    return (p->list_b > q->list_b) - (p->list_b < q->list_b);
}

static bool list_links(link_set *set)
{
    const pair_lists *lists = set->lists;
    for (uint32_t from = 0, to; from < lists->count; from = to) {
        for (to = from + 1; to < lists->count; to++) {
            if (lists->lists[to].channel != lists->lists[from].channel) {
                break;
            }
        }
        if (!share_channel(set, from, to)) {
            return false;
        }
    }
    shared_table *table = &set->table;
    if (!weir_sort(table->rows, table->count, sizeof *table->rows, compare_shared, NULL)) {
        return false;
    }
    set->links = calloc((size_t)table->count + 1, sizeof *set->links);
    for (uint32_t i = 0; set->links && i < table->count; i++) {
        const shared_channel *row = &table->rows[i];
        clock_link *last = set->link_count ? &set->links[set->link_count - 1] : NULL;
        if (!last || last->a != row->a || last->b != row->b) {
            last = &set->links[set->link_count++];
            *last = (clock_link){.a = row->a, .b = row->b, .first_row = i};
        }
        last->row_count++;
    }
    return set->links != NULL;
}

static void fit_link(void *context, uint32_t index)
{
    link_set *set = context;
    clock_link *link = &set->links[index];
    clock_lists lists[CLOCK_LISTS];
    uint32_t count = link->row_count < CLOCK_LISTS ? link->row_count : CLOCK_LISTS;
    for (uint32_t k = 0; k < count; k++) {
        const shared_channel *row = &set->table.rows[link->first_row + k];
        const comm_channel *channel = &set->items->channels[set->lists->lists[row->list_a].channel];
        lists[k] = (clock_lists){
            .a = &set->lists->lists[row->list_a],
            .b = &set->lists->lists[row->list_b],
            .recorded = channel->group != WEIR_NONE || channel->is_message,
        };
    }
    link->failed = !clock_pair_fit(lists, count, &link->fit);
}

/* --- from links to clocks --- */

/* How far off the clock over this link may be: the error of a median falls with the root of the
 * pairs, and the residual of few pairs is small by chance. */
static int64_t link_length(const clock_link *link)
{
    const clock_fit *fit = &link->fit;
    int64_t level = fit->level >= 3 ? MESSAGE_STEP_NS : fit->level == 2 ? WEAK_STEP_NS : 0;
    double n = fit->of_level[fit->level];
    double error_ns = ((double)fit->residual_ns + GRAIN_NS) * (1 + 4 / n) / sqrt(n);
    return STEP_NS + level + llrint(error_ns);
}

/* The clock of `to` by way of the clock of `from` (whose moments are m + fit(m) of to's, or the
 * other way round). Both are straight lines, so is their chain. */
static void chain_clock(const weir_clock *from, const clock_link *link, bool to_is_b,
                        weir_clock *to)
{
    clock_fit fit = link->fit; /* b's moment on a's clock */
    if (!to_is_b) {            /* turned round: a's moment on b's clock */
        fit.origin_ns = link->fit.origin_ns + link->fit.offset_ns;
        fit.offset_ns = -link->fit.offset_ns;
        fit.drift = -link->fit.drift / (1 + link->fit.drift);
    }
    int64_t there = fit.origin_ns + fit.offset_ns; /* the origin on from's clock */
    to->offset_ns = fit.offset_ns + from->offset_ns +
                    llrint(from->drift * (double)(there - from->drift_origin_ns));
    to->drift = fit.drift + from->drift + fit.drift * from->drift;
    to->drift_origin_ns = fit.origin_ns;
    to->residual_ns = fit.residual_ns;
}

typedef struct {
    uint32_t *first; /* by node, count + 1: its links in `link` */
    uint32_t *link;
    int64_t *length; /* from the root; INT64_MAX = not reached */
    uint32_t *via;   /* link on the way */
    bool *settled;
} link_graph;

static bool graph_init(link_graph *g, const link_set *set, uint32_t count)
{
    g->first = calloc((size_t)count + 2, sizeof *g->first);
    g->link = malloc(((size_t)set->link_count * 2 + 1) * sizeof *g->link);
    g->length = malloc(((size_t)count + 1) * sizeof *g->length);
    g->via = malloc(((size_t)count + 1) * sizeof *g->via);
    g->settled = calloc((size_t)count + 1, sizeof *g->settled);
    if (!g->first || !g->link || !g->length || !g->via || !g->settled) {
        return false;
    }
    for (uint32_t i = 0; i < set->link_count; i++) {
        if (set->links[i].fit.pairs > 0) {
            g->first[set->links[i].a + 2]++;
            g->first[set->links[i].b + 2]++;
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        g->first[n + 2] += g->first[n + 1];
        g->length[n] = INT64_MAX;
        g->via[n] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < set->link_count; i++) {
        if (set->links[i].fit.pairs > 0) {
            g->link[g->first[set->links[i].a + 1]++] = i;
            g->link[g->first[set->links[i].b + 1]++] = i;
        }
    }
    return true;
}

static void graph_clear(link_graph *g)
{
    free(g->first);
    free(g->link);
    free(g->length);
    free(g->via);
    free(g->settled);
}

static uint32_t nearest(const link_graph *g, uint32_t count)
{
    uint32_t best = WEIR_NONE;
    for (uint32_t n = 0; n < count; n++) {
        if (!g->settled[n] && g->length[n] != INT64_MAX &&
            (best == WEIR_NONE || g->length[n] < g->length[best])) {
            best = n;
        }
    }
    return best;
}

/* Dijkstra's shortest paths from root; each node that is reached gets its clock and component. */
static void spread_clock(link_graph *g, const link_set *set, uint32_t root, weir_clock *clocks,
                         uint32_t *component, uint32_t count)
{
    g->length[root] = 0;
    for (uint32_t n = root; n != WEIR_NONE; n = nearest(g, count)) {
        g->settled[n] = true;
        component[n] = root;
        clocks[n].linked = root == 0;
        if (g->via[n] != WEIR_NONE) {
            const clock_link *link = &set->links[g->via[n]];
            chain_clock(&clocks[link->a == n ? link->b : link->a], link, link->b == n, &clocks[n]);
        }
        for (uint32_t k = g->first[n]; k < g->first[n + 1]; k++) {
            const clock_link *link = &set->links[g->link[k]];
            uint32_t other = link->a == n ? link->b : link->a;
            int64_t length = g->length[n] + link_length(link);
            if (!g->settled[other] && length < g->length[other]) {
                g->length[other] = length;
                g->via[other] = g->link[k];
            }
        }
    }
}

weir_code clocks_align(const comm_items *items, const pair_lists *lists, uint32_t threads,
                       weir_clock *clocks, uint32_t *component, uint32_t count, weir_err *err)
{
    link_set set = {.items = items, .lists = lists};
    link_graph graph = {0};
    bool done = count < 2 || list_links(&set);
    if (done) {
        weir_thread_for(set.link_count, threads, fit_link, &set);
    }
    for (uint32_t i = 0; i < set.link_count; i++) {
        done = done && !set.links[i].failed;
    }
    done = done && graph_init(&graph, &set, count);
    for (uint32_t root = 0; done && root < count; root++) {
        if (!graph.settled[root]) {
            spread_clock(&graph, &set, root, clocks, component, count);
        }
    }
    graph_clear(&graph);
    free(set.links);
    free(set.table.rows);
    return done ? WEIR_OK
                : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the clocks of %u nodes", count);
}

int64_t clock_to_aligned(const weir_clock *clock, int64_t local_ns)
{
    if (clock->drift == 0) {
        return local_ns + clock->offset_ns;
    }
    double bend = clock->drift * (double)(local_ns - clock->drift_origin_ns);
    return local_ns + clock->offset_ns + llrint(bend);
}

int64_t clock_to_local(const weir_clock *clock, int64_t aligned_ns)
{
    int64_t local_ns = aligned_ns - clock->offset_ns;
    /* The map grows by 1 + drift for each ns, so that each round leaves drift of the error. */
    for (int round = 0; round < 4 && clock->drift != 0; round++) {
        int64_t missing = aligned_ns - clock_to_aligned(clock, local_ns);
        if (missing == 0) {
            break;
        }
        local_ns += missing;
    }
    return local_ns;
}
