/* light_ways.c: ways over circuits between blocks, all of them or one that is drawn. */
#include "fabric/light_ways.h"

#include "base/grow.h"
#include "fabric/ecmp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_FIELD_BYTES = 64 << 20, DRAWN_MOST = 256 };

/* From all blocks to one, on one network: circuits to go, and how many ways there are. */
typedef struct {
    uint32_t *distance; /* by block, WEIR_NONE: no way */
    double *ways;
} block_field;

struct route_blocks {
    block_field *kept; /* by destination, of a network where nothing is dead */
    uint32_t kept_count, kept_most, blocks;
    block_field one; /* where something is dead: made anew for each pair */
    uint32_t *queue;
    double *before; /* by block */
    used_circuit *used;
    uint32_t used_count, used_room;
};

static void field_free(block_field *f)
{
    free(f->distance);
    free(f->ways);
    *f = (block_field){0};
}

void route_blocks_forget(route_blocks *blocks)
{
    for (uint32_t i = 0; blocks && blocks->kept_count && i < blocks->blocks; i++) {
        field_free(&blocks->kept[i]);
    }
    if (blocks) {
        blocks->kept_count = 0;
    }
}

void route_blocks_free(route_blocks *blocks)
{
    if (blocks) {
        route_blocks_forget(blocks);
        field_free(&blocks->one);
        free(blocks->kept);
        free(blocks->queue);
        free(blocks->before);
        free(blocks->used);
        free(blocks);
    }
}

static weir_code field_new(uint32_t blocks, block_field *f, weir_err *err)
{
    block_field made = {malloc(blocks * sizeof *made.distance), malloc(blocks * sizeof *made.ways)};
    if (!made.distance || !made.ways) {
        field_free(&made);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for ways between %u blocks", blocks);
    }
    *f = made;
    return WEIR_OK;
}

weir_code light_ways_need(weir_router *r, weir_err *err)
{
    if (r->blocks) {
        return WEIR_OK;
    }
    uint32_t blocks = r->topology->light.blocks;
    route_blocks *b = calloc(1, sizeof *b);
    if (b) {
        b->blocks = blocks;
        b->kept_most = (uint32_t)(BLOCK_FIELD_BYTES / (blocks * sizeof(used_circuit)));
        b->kept = calloc(blocks, sizeof *b->kept);
        b->queue = malloc(blocks * sizeof *b->queue);
        b->before = calloc(blocks, sizeof *b->before);
    }
    if (!b || !b->kept || !b->queue || !b->before || field_new(blocks, &b->one, NULL) != WEIR_OK) {
        route_blocks_free(b);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for ways between %u blocks", blocks);
    }
    r->blocks = b;
    return WEIR_OK;
}

/* --- what is alive --- */

weir_link_id light_circuit_link(const light_shape *s, uint32_t network, uint32_t circuit)
{
    return s->first + network * s->count + circuit;
}

weir_link_id light_trunk_link(const weir_topology *t, const light_pair *p, bool is_down,
                              uint32_t circuit)
{
    const clos_shape *c = &t->clos;
    const light_shape *s = &t->light;
    uint32_t end = is_down ? s->to_end[circuit] : s->from_end[circuit];
    uint32_t spine = light_spine(t, 0, end);
    uint32_t leaf = p->network * c->leaves + p->leaf[is_down];
    return c->up + 2 * (leaf * c->leaf_up + spine * c->trunk[0]) + is_down;
}

uint32_t light_alive_cables(const weir_router *r, weir_link_id first)
{
    uint32_t trunk = r->topology->clos.trunk[0], alive = 0;
    for (uint32_t i = 0; i < trunk; i++) {
        alive += !r->dead[first + 2 * i];
    }
    return alive;
}

/* A circuit that may carry the pair: not dead, nor cut off from the leaf at which it begins or
 * ends. */
static bool is_open(const weir_router *r, const light_pair *p, uint32_t circuit)
{
    const weir_topology *t = r->topology;
    const light_shape *s = &t->light;
    if (r->dead_count == 0) {
        return true;
    }
    if (r->dead[light_circuit_link(s, p->network, circuit)]) {
        return false;
    }
    if (s->ends != WEIR_LIGHT_PODS) {
        return true;
    }
    const weir_light_circuit *c = &s->circuits[circuit];
    return (c->from != p->block[0] ||
            light_alive_cables(r, light_trunk_link(t, p, false, circuit)) > 0) &&
           (c->to != p->block[1] ||
            light_alive_cables(r, light_trunk_link(t, p, true, circuit)) > 0);
}

/* --- circuits of a pair --- */

static weir_code use(weir_router *r, uint32_t circuit, double weight, weir_err *err)
{
    route_blocks *b = r->blocks;
    if (!weir_grow(&b->used, b->used_count, &b->used_room, sizeof *b->used)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a path of %u circuits",
                            b->used_count);
    }
    b->used[b->used_count++] = (used_circuit){circuit, weight};
    return WEIR_OK;
}

static void search(const weir_router *r, const light_pair *p, const block_field *f)
{
    const light_shape *s = &r->topology->light;
    uint32_t head = 0, tail = 0;
    memset(f->distance, 0xff, s->blocks * sizeof *f->distance);
    memset(f->ways, 0, s->blocks * sizeof *f->ways);
    f->distance[p->block[1]] = 0;
    f->ways[p->block[1]] = 1;
    r->blocks->queue[tail++] = p->block[1];
    while (head < tail) {
        uint32_t block = r->blocks->queue[head++];
        for (uint32_t i = s->in_start[block]; i < s->in_start[block + 1]; i++) {
            uint32_t from = s->circuits[s->in[i]].from;
            if (!is_open(r, p, s->in[i])) {
                continue;
            }
            if (f->distance[from] == WEIR_NONE) {
                f->distance[from] = f->distance[block] + 1;
                r->blocks->queue[tail++] = from;
            }
            if (f->distance[from] == f->distance[block] + 1) {
                f->ways[from] += f->ways[block];
            }
        }
    }
}

static weir_code get_field(weir_router *r, const light_pair *p, const block_field **found,
                           weir_err *err)
{
    route_blocks *b = r->blocks;
    if (r->dead_count) {
        search(r, p, &b->one);
        *found = &b->one;
        return WEIR_OK;
    }
    block_field *kept = &b->kept[p->block[1]];
    if (!kept->distance) {
        if (b->kept_count >= b->kept_most) {
            route_blocks_forget(b);
        }
        weir_code code = field_new(b->blocks, kept, err);
        if (code != WEIR_OK) {
            return code;
        }
        search(r, p, kept);
        b->kept_count++;
    }
    *found = kept;
    return WEIR_OK;
}

static bool is_onward(const weir_router *r, const light_pair *p, const block_field *to,
                      uint32_t circuit)
{
    const weir_light_circuit *c = &r->topology->light.circuits[circuit];
    return to->distance[c->to] != WEIR_NONE && to->distance[c->to] + 1 == to->distance[c->from] &&
           is_open(r, p, circuit);
}

/* Every shortest way has the same weight; *sum: of all of them. */
static weir_code spread(weir_router *r, const light_pair *p, const block_field *to, double *sum,
                        weir_err *err)
{
    const light_shape *s = &r->topology->light;
    route_blocks *b = r->blocks;
    uint32_t head = 0, tail = 0;
    weir_code code = WEIR_OK;
    b->before[p->block[0]] = 1;
    b->queue[tail++] = p->block[0];
    while (head < tail && code == WEIR_OK) {
        uint32_t block = b->queue[head++];
        for (uint32_t i = s->out_start[block]; i < s->out_start[block + 1] && code == WEIR_OK;
             i++) {
            uint32_t next = s->circuits[s->out[i]].to;
            if (!is_onward(r, p, to, s->out[i])) {
                continue;
            }
            if (b->before[next] == 0) {
                b->queue[tail++] = next;
            }
            b->before[next] += b->before[block];
            code = use(r, s->out[i], b->before[block] * to->ways[next], err);
        }
    }
    for (uint32_t i = 0; i < tail; i++) {
        b->before[b->queue[i]] = 0;
    }
    *sum = to->ways[p->block[0]];
    if (code == WEIR_OK && !isfinite(*sum)) {
        code = weir_err_set(err, WEIR_ERR_LIMIT,
                            "more ways from block %u to block %u than can be counted (%u circuits "
                            "between); fewer circuits side by side",
                            p->block[0], p->block[1], to->distance[p->block[0]]);
    }
    return code;
}

/* Direct circuits of the pair; of several, all equally. 0: there is none. */
static uint32_t count_direct(const weir_router *r, const light_pair *p)
{
    const light_shape *s = &r->topology->light;
    uint32_t count = 0;
    for (uint32_t i = s->out_start[p->block[0]]; i < s->out_start[p->block[0] + 1]; i++) {
        count += s->circuits[s->out[i]].to == p->block[1] && is_open(r, p, s->out[i]);
    }
    return count;
}

static weir_code use_direct(weir_router *r, const light_pair *p, double weight, weir_err *err)
{
    const light_shape *s = &r->topology->light;
    weir_code code = WEIR_OK;
    for (uint32_t i = s->out_start[p->block[0]];
         i < s->out_start[p->block[0] + 1] && code == WEIR_OK; i++) {
        if (s->circuits[s->out[i]].to == p->block[1] && is_open(r, p, s->out[i])) {
            code = use(r, s->out[i], weight, err);
        }
    }
    return code;
}

/* How many circuits lead on to the pair's block, by block; before: zero, and zero again after. */
static void mark_onward(const weir_router *r, const light_pair *p, bool is_on)
{
    const light_shape *s = &r->topology->light;
    for (uint32_t i = s->in_start[p->block[1]]; i < s->in_start[p->block[1] + 1]; i++) {
        uint32_t from = s->circuits[s->in[i]].from;
        if (from != p->block[0] && is_open(r, p, s->in[i])) {
            r->blocks->before[from] = is_on ? r->blocks->before[from] + 1 : 0;
        }
    }
}

/* All ways over one other block, which share `share` equally; *found: there are any. */
static weir_code use_transit(weir_router *r, const light_pair *p, double share, bool *found,
                             weir_err *err)
{
    const light_shape *s = &r->topology->light;
    double *onward = r->blocks->before, ways = 0;
    weir_code code = WEIR_OK;
    mark_onward(r, p, true);
    uint32_t begin = s->out_start[p->block[0]], end = s->out_start[p->block[0] + 1];
    for (uint32_t i = begin; i < end; i++) {
        ways += is_open(r, p, s->out[i]) ? onward[s->circuits[s->out[i]].to] : 0;
    }
    *found = ways > 0;
    for (uint32_t i = begin; i < end && ways > 0 && code == WEIR_OK; i++) {
        double on = onward[s->circuits[s->out[i]].to];
        if (on > 0 && is_open(r, p, s->out[i])) {
            code = use(r, s->out[i], share * on / ways, err);
        }
    }
    for (uint32_t i = s->in_start[p->block[1]];
         i < s->in_start[p->block[1] + 1] && ways > 0 && code == WEIR_OK; i++) {
        uint32_t through = s->circuits[s->in[i]].from, reached = 0;
        for (uint32_t j = begin; j < end && onward[through] > 0; j++) {
            reached += s->circuits[s->out[j]].to == through && is_open(r, p, s->out[j]);
        }
        if (reached > 0 && through != p->block[0] && is_open(r, p, s->in[i])) {
            code = use(r, s->in[i], share * reached / ways, err);
        }
    }
    mark_onward(r, p, false);
    return code;
}

weir_code light_ways_find(weir_router *r, const light_pair *p, double *sum, uint32_t *hops,
                          weir_err *err)
{
    double transit = r->topology->light.transit_share;
    uint32_t direct = count_direct(r, p);
    bool has_transit = false;
    weir_code code = WEIR_OK;
    r->blocks->used_count = 0;
    *sum = 0;
    if (direct > 0) {
        if (transit > 0) {
            code = use_transit(r, p, transit, &has_transit, err);
        }
        *sum = has_transit ? 1 : direct;
        *hops = has_transit ? 2 : 1;
        return code == WEIR_OK ? use_direct(r, p, has_transit ? (1 - transit) / direct : 1, err)
                               : code;
    }
    const block_field *to;
    code = get_field(r, p, &to, err);
    if (code != WEIR_OK || to->distance[p->block[0]] == WEIR_NONE) {
        return code;
    }
    *hops = to->distance[p->block[0]];
    return spread(r, p, to, sum, err);
}

/* --- one way, drawn --- */

/* Of what is used from a block on, the one that h picks by its weight. */
static const used_circuit *pick(const weir_router *r, uint32_t block, uint64_t h)
{
    const route_blocks *b = r->blocks;
    const light_shape *s = &r->topology->light;
    double sum = 0;
    const used_circuit *last = NULL;
    for (uint32_t i = 0; i < b->used_count; i++) {
        sum += s->circuits[b->used[i].circuit].from == block ? b->used[i].weight : 0;
    }
    double at = (double)(h >> 11) * 0x1p-53 * sum;
    for (uint32_t i = 0; i < b->used_count; i++) {
        if (s->circuits[b->used[i].circuit].from == block) {
            last = &b->used[i];
            at -= last->weight;
            if (at < 0) {
                break;
            }
        }
    }
    return last;
}

weir_code light_ways_draw(weir_router *r, const light_pair *p, uint64_t h, uint32_t *hops,
                          weir_err *err)
{
    const light_shape *s = &r->topology->light;
    uint32_t drawn[DRAWN_MOST], count = 0;
    for (uint32_t block = p->block[0]; block != p->block[1] && count < DRAWN_MOST; count++) {
        h = ecmp_mix(h);
        drawn[count] = pick(r, block, h)->circuit;
        block = s->circuits[drawn[count]].to;
    }
    if (count == DRAWN_MOST) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "a path of over %d circuits from block %u to %u",
                            DRAWN_MOST - 1, p->block[0], p->block[1]);
    }
    r->blocks->used_count = 0;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
        code = use(r, drawn[i], 1, err);
    }
    *hops = count;
    return code;
}

used_circuit *light_ways_used(weir_router *r, uint32_t *count)
{
    *count = r->blocks->used_count;
    return r->blocks->used;
}
