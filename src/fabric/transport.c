#include "fabric/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const weir_layout *layout;
    weir_arena *arena;
    weir_body *bodies;
    uint32_t count;
    weir_link_id *source, *target; /* ports, by body; WEIR_NONE: it stays in its node */
    uint32_t *next;                /* by body: the next one that leaves the same port */
    uint32_t *first_of, *last_of;  /* by link: bodies that leave it, WEIR_NONE: none */
    weir_link_id *sender_of;       /* by link: a port whose bodies arrive there */
    bool *pauses;                  /* by link: bodies of several ports arrive there */
    bool *joined;                  /* by body: it is part of an earlier one */
    double *sum;                   /* by link, zero between uses */
} coupling;

static bool is_host(const weir_topology *topology, uint32_t vertex)
{
    uint32_t number;
    weir_vertex_kind kind = weir_topology_vertex(topology, vertex, &number);
    return kind == WEIR_VERTEX_DEVICE || kind == WEIR_VERTEX_NIC;
}

static void find_ports(coupling *c, uint32_t body)
{
    const weir_path *path = &c->bodies[body].path;
    c->source[body] = c->target[body] = WEIR_NONE;
    for (uint32_t i = 0; i < path->count; i++) {
        weir_link_id link = path->links[i];
        weir_road road = weir_layout_road_of(c->layout, link);
        const weir_topology *topology = weir_layout_topology(c->layout, road);
        weir_link l = weir_topology_link(topology, link - weir_layout_first_link(c->layout, road));
        if (l.tier == WEIR_TIER_IN_NODE) {
            continue;
        }
        if (c->source[body] == WEIR_NONE && is_host(topology, l.from)) {
            c->source[body] = link;
        }
        if (is_host(topology, l.to)) {
            c->target[body] = link;
        }
    }
}

/* Targets with two senders pause them. */
static void list_ports(coupling *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        weir_link_id from = c->source[i], to = c->target[i];
        c->next[i] = WEIR_NONE;
        if (from == WEIR_NONE || to == WEIR_NONE || !(c->bodies[i].size > 0)) {
            continue;
        }
        if (c->first_of[from] == WEIR_NONE) {
            c->first_of[from] = i;
        } else {
            c->next[c->last_of[from]] = i;
        }
        c->last_of[from] = i;
        if (c->sender_of[to] == WEIR_NONE) {
            c->sender_of[to] = from;
        }
        c->pauses[to] |= c->sender_of[to] != from;
    }
}

/* Is the port paused by one of the bodies that leave it, and do others leave it too? */
static bool is_coupled(const coupling *c, uint32_t first)
{
    bool is_paused = false;
    for (uint32_t i = first; i != WEIR_NONE; i = c->next[i]) {
        is_paused |= c->pauses[c->target[i]];
    }
    return is_paused && c->next[first] != WEIR_NONE;
}

static double coefficient(const weir_path *path, uint32_t i)
{
    return path->bytes_per_unit ? path->bytes_per_unit[i] : 1;
}

/* Adds the loads of all bodies of a port; returns how many links they are. */
static uint32_t add_loads(coupling *c, uint32_t first, weir_link_id *links)
{
    uint32_t count = 0;
    for (uint32_t i = first; i != WEIR_NONE; i = c->next[i]) {
        const weir_path *path = &c->bodies[i].path;
        for (uint32_t k = 0; k < path->count; k++) {
            weir_link_id link = path->links[k];
            if (c->sum[link] == 0) {
                links[count++] = link;
            }
            c->sum[link] += c->bodies[i].size * coefficient(path, k);
        }
    }
    return count;
}

/* All bodies of one port as one. */
static weir_code join(coupling *c, uint32_t first, weir_err *err)
{
    weir_body one = c->bodies[first];
    uint32_t links = 0, bodies = 0;
    one.size = 0;
    for (uint32_t i = first; i != WEIR_NONE; i = c->next[i]) {
        links += c->bodies[i].path.count;
        one.size += c->bodies[i].size;
        one.start_s = fmax(one.start_s, c->bodies[i].start_s);
        one.latency_s = fmax(one.latency_s, c->bodies[i].latency_s);
        c->joined[i] = bodies++ > 0;
    }
    weir_link_id *joined = weir_arena_alloc(c->arena, (size_t)links + 1, sizeof *joined);
    double *shares = weir_arena_alloc(c->arena, (size_t)links + 1, sizeof *shares);
    if (!joined || !shares) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a body of %u links", links);
    }
    uint32_t count = add_loads(c, first, joined);
    for (uint32_t k = 0; k < count; k++) {
        shares[k] = c->sum[joined[k]] / one.size;
        c->sum[joined[k]] = 0;
    }
    one.path = (weir_path){count, joined, shares, bodies, 0};
    c->bodies[first] = one;
    return WEIR_OK;
}

/* Every coupled port's first body becomes all of them; the others are dropped. */
static weir_code join_all(coupling *c, uint32_t *count, weir_err *err)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        weir_link_id from = c->source[i];
        if (from != WEIR_NONE && c->first_of[from] == i && is_coupled(c, i)) {
            weir_code code = join(c, i, err);
            if (code != WEIR_OK) {
                return code;
            }
        }
        if (!c->joined[i]) {
            c->bodies[kept++] = c->bodies[i];
        }
    }
    *count = kept;
    return WEIR_OK;
}

static bool coupling_init(coupling *c, size_t links)
{
    size_t bodies = (size_t)c->count + 1;
    c->source = malloc(bodies * sizeof *c->source);
    c->target = malloc(bodies * sizeof *c->target);
    c->next = malloc(bodies * sizeof *c->next);
    c->joined = calloc(bodies, sizeof *c->joined);
    c->first_of = malloc(links * sizeof *c->first_of);
    c->last_of = malloc(links * sizeof *c->last_of);
    c->sender_of = malloc(links * sizeof *c->sender_of);
    c->pauses = calloc(links, sizeof *c->pauses);
    c->sum = calloc(links, sizeof *c->sum);
    if (!c->source || !c->target || !c->next || !c->joined || !c->first_of || !c->last_of ||
        !c->sender_of || !c->pauses || !c->sum) {
        return false;
    }
    memset(c->first_of, 0xff, links * sizeof *c->first_of);
    memset(c->sender_of, 0xff, links * sizeof *c->sender_of);
    return true;
}

weir_code weir_transport_couple(const weir_layout *layout, weir_arena *arena, weir_body *bodies,
                                uint32_t *count, weir_err *err)
{
    coupling c = {.layout = layout, .arena = arena, .bodies = bodies, .count = *count};
    weir_code code = WEIR_OK;
    if (!coupling_init(&c, (size_t)weir_net_count(weir_layout_net(layout)) + 1)) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory to couple %u messages", *count);
    } else {
        for (uint32_t i = 0; i < c.count; i++) {
            find_ports(&c, i);
        }
        list_ports(&c);
        code = join_all(&c, count, err);
    }
    free(c.source);
    free(c.target);
    free(c.next);
    free(c.joined);
    free(c.first_of);
    free(c.last_of);
    free(c.sender_of);
    free(c.pauses);
    free(c.sum);
    return code;
}
