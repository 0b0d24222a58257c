#include "fabric/ecmp.h"
#include "fabric/route_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_BYTES = 64 << 20 }; /* of kept searches */

/* A search from one destination backwards: links to it, and shortest ways. */
typedef struct {
    uint32_t *distance; /* by vertex, WEIR_NONE: no way */
    double *ways;       /* by vertex; parallel cables are several ways */
} field;

struct route_fields {
    uint32_t vertices;
    /* Links by the vertex that they leave and that they reach: lists + starts[v] .. starts[v + 1]
     */
    uint32_t *out_start, *in_start;
    weir_link_id *out, *in;
    field *kept; /* by 2 x destination + is_in_node */
    uint32_t kept_count, kept_most;
    uint32_t *queue;
    double *before; /* by vertex: ways from the source, 0 = not yet reached */
    double *late_s; /* by vertex: latency of the slowest of them */
};

static void forget(field *f)
{
    free(f->distance);
    free(f->ways);
    *f = (field){0};
}

void route_fields_forget(route_fields *fields)
{
    for (uint32_t i = 0; fields && fields->kept_count && i < 2 * fields->vertices; i++) {
        forget(&fields->kept[i]);
    }
    if (fields) {
        fields->kept_count = 0;
    }
}

void route_fields_free(route_fields *fields)
{
    if (!fields) {
        return;
    }
    route_fields_forget(fields);
    free(fields->out_start);
    free(fields->in_start);
    free(fields->out);
    free(fields->in);
    free(fields->kept);
    free(fields->queue);
    free(fields->before);
    free(fields->late_s);
    free(fields);
}

/* start has room for vertices + 1 and is zero; counting sort by one end. */
static void sort_links(const weir_topology *t, bool by_from, uint32_t *start, weir_link_id *list)
{
    uint32_t vertices = t->first_vertex[WEIR_VERTEX_KIND_COUNT];
    for (uint32_t i = 0; i < t->count; i++) {
        start[by_from ? t->links[i].from : t->links[i].to]++;
    }
    uint32_t sum = 0;
    for (uint32_t v = 0; v <= vertices; v++) {
        sum += start[v];
        start[v] = sum;
    }
    for (uint32_t i = t->count; i-- > 0;) {
        list[--start[by_from ? t->links[i].from : t->links[i].to]] = i;
    }
}

static weir_code fields_new(const weir_topology *t, route_fields **fields, weir_err *err)
{
    size_t vertices = t->first_vertex[WEIR_VERTEX_KIND_COUNT], links = (size_t)t->count + 1;
    route_fields *f = calloc(1, sizeof *f);
    if (f) {
        f->vertices = (uint32_t)vertices;
        f->kept_most = (uint32_t)(FIELD_BYTES / (vertices * (sizeof(double) + sizeof(uint32_t))));
        f->out_start = calloc(vertices + 1, sizeof *f->out_start);
        f->in_start = calloc(vertices + 1, sizeof *f->in_start);
        f->out = malloc(links * sizeof *f->out);
        f->in = malloc(links * sizeof *f->in);
        f->kept = calloc(2 * vertices, sizeof *f->kept);
        f->queue = malloc(vertices * sizeof *f->queue);
        f->before = calloc(vertices, sizeof *f->before);
        f->late_s = calloc(vertices, sizeof *f->late_s);
    }
    if (!f || !f->out_start || !f->in_start || !f->out || !f->in || !f->kept || !f->queue ||
        !f->before || !f->late_s) {
        route_fields_free(f);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for searches among %zu switches",
                            vertices);
    }
    sort_links(t, true, f->out_start, f->out);
    sort_links(t, false, f->in_start, f->in);
    *fields = f;
    return WEIR_OK;
}

static bool is_open(const weir_router *r, weir_link_id link, bool is_in_node)
{
    return !r->dead[link] && (!is_in_node || r->topology->links[link].tier == WEIR_TIER_IN_NODE);
}

static bool forwards(const weir_router *r, uint32_t vertex, bool is_in_node)
{
    return is_in_node || r->topology->devices_forward ||
           vertex >= weir_topology_devices(r->topology);
}

static void search(const weir_router *r, uint32_t to, bool is_in_node, const field *out)
{
    route_fields *f = r->fields;
    memset(out->distance, 0xff, f->vertices * sizeof *out->distance);
    memset(out->ways, 0, f->vertices * sizeof *out->ways);
    uint32_t head = 0, tail = 0;
    out->distance[to] = 0;
    out->ways[to] = 1;
    f->queue[tail++] = to;
    while (head < tail) {
        uint32_t v = f->queue[head++];
        if (v != to && !forwards(r, v, is_in_node)) {
            continue;
        }
        for (uint32_t i = f->in_start[v]; i < f->in_start[v + 1]; i++) {
            uint32_t u = r->topology->links[f->in[i]].from;
            if (!is_open(r, f->in[i], is_in_node)) {
                continue;
            }
            if (out->distance[u] == WEIR_NONE) {
                out->distance[u] = out->distance[v] + 1;
                f->queue[tail++] = u;
            }
            if (out->distance[u] == out->distance[v] + 1) {
                out->ways[u] += out->ways[v];
            }
        }
    }
}

static weir_code get_field(weir_router *r, uint32_t to, bool is_in_node, const field **found,
                           weir_err *err)
{
    if (!r->fields) {
        weir_code code = fields_new(r->topology, &r->fields, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    route_fields *f = r->fields;
    field *kept = &f->kept[2 * to + is_in_node];
    if (!kept->distance) {
        if (f->kept_count >= f->kept_most) {
            route_fields_forget(f);
        }
        field made = {malloc(f->vertices * sizeof *made.distance),
                      malloc(f->vertices * sizeof *made.ways)};
        if (!made.distance || !made.ways) {
            forget(&made);
            return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a search of %u switches",
                                f->vertices);
        }
        search(r, to, is_in_node, &made);
        *kept = made;
        f->kept_count++;
    }
    *found = kept;
    return WEIR_OK;
}

/* A link that a shortest way from its first vertex takes. */
static bool is_onward(const weir_router *r, const field *f, weir_link_id link, bool is_in_node)
{
    const weir_link *l = &r->topology->links[link];
    return is_open(r, link, is_in_node) && f->distance[l->to] != WEIR_NONE &&
           f->distance[l->to] + 1 == f->distance[l->from] &&
           (f->distance[l->to] == 0 || forwards(r, l->to, is_in_node));
}

/* Every shortest way has the same weight: a link's is the ways before it x the ways after it. */
static weir_code spread(weir_router *r, uint32_t from, const field *to, bool is_in_node,
                        weir_err *err)
{
    route_fields *f = r->fields;
    const weir_net *net = weir_topology_net(r->topology);
    uint32_t head = 0, tail = 0;
    weir_code code = WEIR_OK;
    f->before[from] = 1;
    f->late_s[from] = 0;
    f->queue[tail++] = from;
    while (head < tail && code == WEIR_OK) {
        uint32_t v = f->queue[head++];
        for (uint32_t i = f->out_start[v]; i < f->out_start[v + 1] && code == WEIR_OK; i++) {
            weir_link_id link = f->out[i];
            uint32_t next = r->topology->links[link].to;
            if (!is_onward(r, to, link, is_in_node)) {
                continue;
            }
            if (f->before[next] == 0) {
                f->late_s[next] = 0;
                f->queue[tail++] = next;
            }
            f->before[next] += f->before[v];
            double late_s = f->late_s[v] + weir_net_latency_s(net, link);
            f->late_s[next] = late_s > f->late_s[next] ? late_s : f->late_s[next];
            code = route_add(r, link, f->before[v] * to->ways[next], err);
        }
    }
    r->leg_weight = to->ways[from];
    r->leg_s = f->late_s[f->queue[tail - 1]]; /* the destination is reached last */
    for (uint32_t i = 0; i < tail; i++) {
        f->before[f->queue[i]] = 0;
    }
    return code;
}

/* One way, each switch drawing among its onward links. */
static weir_code draw(weir_router *r, uint32_t from, const field *to, uint64_t h, bool is_in_node,
                      weir_err *err)
{
    const route_fields *f = r->fields;
    double latency_s = 0;
    weir_code code = WEIR_OK;
    for (uint32_t v = from; to->distance[v] > 0 && code == WEIR_OK; h = ecmp_mix(h)) {
        uint32_t onward = 0, i = f->out_start[v];
        for (uint32_t j = i; j < f->out_start[v + 1]; j++) {
            onward += is_onward(r, to, f->out[j], is_in_node);
        }
        assert(onward > 0); /* the search came this way */
        uint32_t skip = (uint32_t)(h % onward);
        while (!is_onward(r, to, f->out[i], is_in_node) || skip-- > 0) {
            i++;
        }
        latency_s += weir_net_latency_s(weir_topology_net(r->topology), f->out[i]);
        code = route_add(r, f->out[i], 1, err);
        v = r->topology->links[f->out[i]].to;
    }
    r->leg_weight += 1;
    r->leg_s = latency_s > r->leg_s ? latency_s : r->leg_s;
    return code;
}

weir_code route_graph(weir_router *r, const uint32_t pair[2], uint64_t flow, bool is_in_node,
                      weir_err *err)
{
    const field *to = NULL;
    weir_code code = get_field(r, pair[1], is_in_node, &to, err);
    if (code != WEIR_OK || to->distance[pair[0]] == WEIR_NONE) {
        return code;
    }
    if (r->routing.choice != WEIR_ROUTE_ECMP) {
        return spread(r, pair[0], to, is_in_node, err);
    }
    for (uint32_t q = 0; q < r->routing.queue_pairs && code == WEIR_OK; q++) {
        uint64_t h = ecmp_hash(flow * r->routing.queue_pairs + q, r->routing.seed);
        code = draw(r, pair[0], to, h, is_in_node, err);
    }
    return code;
}
