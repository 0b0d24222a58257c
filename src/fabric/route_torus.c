#include "fabric/route_inside.h"

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
    if (r->leg_weight == 0) { /* it is cut: the caller goes another way */
        for (uint32_t i = r->leg; i < r->count; i++) {
            r->place[r->links[i]] = WEIR_NONE;
        }
        r->count = r->leg;
        r->leg_s = 0;
    }
    return code;
}
