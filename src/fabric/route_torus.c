#include "fabric/route_inside.h"

#include <stdlib.h>

/* The link from a place to the next one along dimensions[i]. */
static weir_link_id link_along(const torus_shape *s, uint32_t place, uint32_t i, bool is_down)
{
    if (is_down) {
        place = torus_step(s, place, s->dimensions[i], true);
    }
    return s->first + 2 * (place * s->dimension_count + i) + (is_down ? 1 : 0);
}

static weir_code walk(weir_router *r, uint32_t *place, uint32_t i, int32_t steps, double weight,
                      weir_err *err)
{
    const torus_shape *s = &r->topology->torus;
    bool is_down = steps < 0;
    for (int32_t n = is_down ? -steps : steps; n > 0; n--) {
        weir_link_id link = link_along(s, *place, i, is_down);
        if (r->dead[link]) {
            r->leg_weight = 0;
            return WEIR_OK;
        }
        weir_code code = route_add(r, link, weight, err);
        if (code != WEIR_OK) {
            return code;
        }
        *place = torus_step(s, *place, s->dimensions[i], is_down);
    }
    return WEIR_OK;
}

/* All the way along dimensions[i]: the shorter way round, or half each. A message has weight 2. */
static weir_code walk_dimension(weir_router *r, uint32_t *place, uint32_t i, uint32_t up,
                                weir_err *err)
{
    const torus_shape *s = &r->topology->torus;
    uint32_t size = s->size[s->dimensions[i]], before = *place;
    weir_code code = WEIR_OK;
    bool is_tie = 2 * up == size;
    if (2 * up <= size) {
        code = walk(r, place, i, (int32_t)up, is_tie ? 1 : 2, err);
    }
    if (2 * up >= size && code == WEIR_OK && r->leg_weight > 0) {
        *place = before;
        code = walk(r, place, i, -(int32_t)(size - up), is_tie ? 1 : 2, err);
    }
    uint32_t hops = 2 * up < size ? up : size - up;
    r->leg_s += hops * weir_net_latency_s(weir_topology_net(r->topology), s->first + 2 * i);
    return code;
}

/* The leg is cut: the caller goes another way. */
static void take_back(weir_router *r)
{
    for (uint32_t i = r->leg; i < r->count; i++) {
        r->place[r->links[i]] = WEIR_NONE;
    }
    r->count = r->leg;
    r->leg_weight = r->leg_s = 0;
}

weir_code route_torus(weir_router *r, uint32_t from, uint32_t to, weir_err *err)
{
    const torus_shape *s = &r->topology->torus;
    if (s->is_twisted) {
        return WEIR_OK;
    }
    const uint32_t stride[3] = {s->size[1] * s->size[2], s->size[2], 1};
    uint32_t place = from;
    weir_code code = WEIR_OK;
    r->leg_weight = 2;
    for (uint32_t i = 0; i < s->dimension_count && code == WEIR_OK && r->leg_weight > 0; i++) {
        uint32_t d = s->dimensions[i], size = s->size[d];
        uint32_t up = (to / stride[d] % size + size - from / stride[d] % size) % size;
        if (up > 0) {
            code = walk_dimension(r, &place, i, up, err);
        }
    }
    if (r->leg_weight == 0) {
        take_back(r);
    }
    return code;
}

/* --- all shortest ways equally --- */

/* The places between two, as a box of steps from the first: step k along dimensions[i] is 0 .. far
 * [i]. ways: by place of the box, how many shortest ways lead there; from there on as many as lead
 * to its mirror image. */
typedef struct {
    uint32_t far[3], at[3]; /* at: coordinates of the first place */
    bool is_down[3];
    const double *ways;
} torus_box;

static uint32_t box_place(const torus_box *b, const uint32_t step[3])
{
    return (step[0] * (b->far[1] + 1) + step[1]) * (b->far[2] + 1) + step[2];
}

static weir_code need_box(weir_router *r, size_t places, weir_err *err)
{
    if (places > r->box_room) {
        double *box = realloc(r->box, places * sizeof *box);
        if (!box) {
            return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for ways over %zu places", places);
        }
        r->box = box;
        r->box_room = places;
    }
    return WEIR_OK;
}

/* The next step in rising order of places; false: that was the last. */
static bool next_step(const torus_box *b, uint32_t step[3])
{
    for (int i = 2; i >= 0; i--) {
        if (step[i]++ < b->far[i]) {
            return true;
        }
        step[i] = 0;
    }
    return false;
}

static void count_ways(const torus_box *b, double *ways)
{
    uint32_t step[3] = {0, 0, 0};
    ways[0] = 1;
    while (next_step(b, step)) {
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            if (step[i] > 0) {
                uint32_t before[3] = {step[0], step[1], step[2]};
                before[i]--;
                sum += ways[box_place(b, before)];
            }
        }
        ways[box_place(b, step)] = sum;
    }
}

/* The link along dimensions[i] from the place that these steps lead to. */
static weir_link_id box_link(const torus_shape *s, const torus_box *b, const uint32_t step[3],
                             uint32_t i)
{
    uint32_t at[3] = {0, 0, 0};
    for (uint32_t k = 0; k < s->dimension_count; k++) {
        uint32_t d = s->dimensions[k], size = s->size[d];
        uint32_t shift = b->is_down[k] ? size - step[k] : step[k];
        /* A link down is the way back of the one that comes up from there. */
        at[d] = (b->at[k] + shift + (k == i && b->is_down[k] ? size - 1 : 0)) % size;
    }
    uint32_t place = (at[0] * s->size[1] + at[1]) * s->size[2] + at[2];
    return s->first + 2 * (place * s->dimension_count + i) + b->is_down[i];
}

static weir_code add_box(weir_router *r, const torus_box *b, bool *is_cut, weir_err *err)
{
    uint32_t step[3] = {0, 0, 0};
    weir_code code = WEIR_OK;
    do {
        for (uint32_t i = 0; i < 3 && code == WEIR_OK; i++) {
            if (step[i] < b->far[i]) {
                uint32_t rest[3] = {b->far[0] - step[0], b->far[1] - step[1], b->far[2] - step[2]};
                rest[i]--;
                double weight = b->ways[box_place(b, step)] * b->ways[box_place(b, rest)];
                weir_link_id link = box_link(&r->topology->torus, b, step, i);
                *is_cut |= r->dead[link];
                code = route_add(r, link, weight, err);
            }
        }
    } while (code == WEIR_OK && next_step(b, step));
    r->leg_weight += b->ways[box_place(b, b->far)];
    return code;
}

weir_code route_torus_all(weir_router *r, uint32_t from, uint32_t to, weir_err *err)
{
    const torus_shape *s = &r->topology->torus;
    if (s->is_twisted) {
        return WEIR_OK;
    }
    const uint32_t stride[3] = {s->size[1] * s->size[2], s->size[2], 1};
    torus_box b = {.far = {0, 0, 0}};
    uint32_t ties = 0;
    bool is_cut = false;
    for (uint32_t i = 0; i < s->dimension_count; i++) {
        uint32_t d = s->dimensions[i], size = s->size[d];
        b.at[i] = from / stride[d] % size;
        uint32_t up = (to / stride[d] % size + size - b.at[i]) % size;
        b.is_down[i] = 2 * up > size;
        b.far[i] = b.is_down[i] ? size - up : up;
        ties |= 2 * up == size ? 1u << i : 0;
        r->leg_s += b.far[i] * weir_net_latency_s(weir_topology_net(r->topology), s->first + 2 * i);
    }
    weir_code code = need_box(r, (size_t)box_place(&b, b.far) + 1, err);
    if (code != WEIR_OK) {
        return code;
    }
    count_ways(&b, r->box);
    b.ways = r->box;
    for (uint32_t down = 0; down <= ties && code == WEIR_OK; down++) {
        if ((down & ~ties) == 0) { /* half way round: both ways */
            for (uint32_t i = 0; i < 3; i++) {
                b.is_down[i] = ties >> i & 1 ? down >> i & 1 : b.is_down[i];
            }
            code = add_box(r, &b, &is_cut, err);
        }
    }
    if (is_cut) {
        take_back(r);
    }
    return code;
}
