#include "fabric/topology_inside.h"

weir_code shape_torus(weir_topology *t, const weir_torus *torus,
                      uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    torus_shape *s = &t->torus;
    uint64_t places = 1;
    for (uint32_t i = 0; i < 3; i++) {
        s->size[i] = torus->size[i] > 1 ? torus->size[i] : 1;
        places *= s->size[i];
        if (places > WEIR_NONE / 8) {
            return weir_err_set(err, WEIR_ERR_LIMIT, "a torus of more than %u devices",
                                WEIR_NONE / 8);
        }
        if (s->size[i] > 1) {
            s->dimensions[s->dimension_count++] = i;
        }
    }
    if (s->dimension_count == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a torus of %u x %u x %u; one dimension must be 2 or more",
                            torus->size[0], torus->size[1], torus->size[2]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            uint32_t twist = torus->twist[i][j];
            if (twist && (i == j || s->size[i] == 1 || twist >= s->size[j])) {
                return weir_err_set(err, WEIR_ERR_INPUT,
                                    "the wrap of dimension %u shifts dimension %u by %u; it must "
                                    "be another dimension, and less than its size of %u",
                                    i, j, twist, s->size[j]);
            }
            s->twist[i][j] = twist;
            s->is_twisted |= twist != 0;
        }
    }
    counts[WEIR_VERTEX_DEVICE] = (uint32_t)places;
    t->devices_forward = true;
    return WEIR_OK;
}

uint32_t torus_step(const torus_shape *s, uint32_t place, uint32_t dimension, bool is_down)
{
    uint32_t at[3] = {place / (s->size[1] * s->size[2]), place / s->size[2] % s->size[1],
                      place % s->size[2]};
    uint32_t size = s->size[dimension];
    bool wraps = is_down ? at[dimension] == 0 : at[dimension] == size - 1;
    at[dimension] = (at[dimension] + (is_down ? size - 1 : 1)) % size;
    for (uint32_t j = 0; wraps && j < 3; j++) {
        uint32_t shift = s->twist[dimension][j];
        at[j] = (at[j] + (is_down ? s->size[j] - shift : shift)) % s->size[j];
    }
    return (at[0] * s->size[1] + at[1]) * s->size[2] + at[2];
}

weir_code lay_torus(weir_topology *t, const weir_torus *torus, weir_err *err)
{
    torus_shape *s = &t->torus;
    weir_listed_cable how[3];
    double bytes_per_s = 0;
    for (uint32_t i = 0; i < s->dimension_count; i++) {
        how[i] = (weir_listed_cable){.cable = torus->cable[s->dimensions[i]],
                                     .tier = WEIR_TIER_BETWEEN_NODES};
        if (how[i].cable.bytes_per_s == 0) {
            how[i].cable.bytes_per_s = bytes_per_s;
        }
        bytes_per_s = how[i].cable.bytes_per_s;
        if (!(bytes_per_s > 0)) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "cables of torus dimension %u carry %g bytes/s; it must be more "
                                "than 0",
                                s->dimensions[i], bytes_per_s);
        }
    }
    s->first = t->count;
    uint32_t places = weir_topology_devices(t);
    for (uint32_t v = 0; v < places; v++) {
        for (uint32_t i = 0; i < s->dimension_count; i++) {
            uint32_t up = torus_step(s, v, s->dimensions[i], false);
            weir_code code = topology_cable(t, v, up, &how[i], err);
            if (code != WEIR_OK) {
                return code;
            }
        }
    }
    return WEIR_OK;
}
