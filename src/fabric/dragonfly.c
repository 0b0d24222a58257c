#include "fabric/topology_inside.h"

weir_code shape_dragonfly(weir_topology *t, const weir_dragonfly *dragonfly,
                          uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    dragonfly_shape *s = &t->dragonfly;
    *s = (dragonfly_shape){.groups = dragonfly->groups,
                           .routers = dragonfly->routers,
                           .nics = dragonfly->nics,
                           .globals = dragonfly->global_cables};
    if (s->groups == 0 || s->routers == 0 || s->nics == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a dragonfly of %u groups with %u routers and %u NICs on each; all "
                            "three must be 1 or more",
                            s->groups, s->routers, s->nics);
    }
    enum { MOST = 1 << 15 }; /* of each: no product below leaves 64 bits */
    if (s->groups > MOST || s->routers > MOST || s->nics > MOST || s->globals > MOST) {
        return weir_err_set(err, WEIR_ERR_LIMIT,
                            "a dragonfly of %u groups with %u routers, %u NICs and %u global "
                            "cables on each; at most %d of each",
                            s->groups, s->routers, s->nics, s->globals, MOST);
    }
    uint64_t ports = (uint64_t)s->routers * s->globals;
    if (ports + 1 < s->groups) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u groups, but %u routers with %u global cables reach %llu groups at "
                            "most; fewer groups, or more global cables",
                            s->groups, s->routers, s->globals, (unsigned long long)ports + 1);
    }
    uint64_t places = (uint64_t)s->groups * s->routers * s->nics;
    uint64_t nics = (uint64_t)counts[WEIR_VERTEX_DEVICE] / t->node.devices * t->node.nics;
    if (nics > places) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%llu NICs, but %u groups of %u routers take %llu; more groups, "
                            "routers, or NICs on a router",
                            (unsigned long long)nics, s->groups, s->routers,
                            (unsigned long long)places);
    }
    uint64_t links = (uint64_t)s->groups * s->routers * (s->routers + (uint64_t)s->globals);
    if (links > WEIR_NONE / 8) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "a dragonfly with over %u cables", WEIR_NONE / 8);
    }
    s->bundle = s->groups > 1 ? (uint32_t)(ports / (s->groups - 1)) : 0;
    counts[WEIR_VERTEX_ROUTER] = s->groups * s->routers;
    return WEIR_OK;
}

static weir_code need_speed(const char *what, const weir_cable *cable, weir_err *err)
{
    if (cable->bytes_per_s > 0) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%s cables of a dragonfly carry %g bytes/s; it must be more than 0", what,
                        cable->bytes_per_s);
}

static uint32_t pair_number(uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return high * (high - 1) / 2 + low;
}

weir_link_id dragonfly_local_link(const dragonfly_shape *s, uint32_t from, uint32_t to)
{
    uint32_t group = from / s->routers, pairs = s->routers * (s->routers - 1) / 2;
    uint32_t pair = pair_number(from % s->routers, to % s->routers);
    return s->local + 2 * (group * pairs + pair) + (from < to ? 0 : 1);
}

weir_link_id dragonfly_global_link(const dragonfly_shape *s, uint32_t from, uint32_t to,
                                   uint32_t which)
{
    uint32_t pair = pair_number(from, to);
    return s->global + 2 * (pair * s->bundle + which) + (from < to ? 0 : 1);
}

uint32_t dragonfly_gate(const dragonfly_shape *s, uint32_t group, uint32_t to, uint32_t which)
{
    uint32_t distance = (to + s->groups - group - 1) % s->groups;
    return group * s->routers + (which * (s->groups - 1) + distance) / s->globals;
}

/* In the order of pair_number. */
static weir_code lay_local(weir_topology *t, const weir_listed_cable *how, weir_err *err)
{
    const dragonfly_shape *s = &t->dragonfly;
    for (uint32_t group = 0; group < s->groups; group++) {
        uint32_t first = t->first_vertex[WEIR_VERTEX_ROUTER] + group * s->routers;
        for (uint32_t high = 1; high < s->routers; high++) {
            for (uint32_t low = 0; low < high; low++) {
                weir_code code = topology_cable(t, first + low, first + high, how, err);
                if (code != WEIR_OK) {
                    return code;
                }
            }
        }
    }
    return WEIR_OK;
}

static weir_code lay_global(weir_topology *t, const weir_listed_cable *how, weir_err *err)
{
    const dragonfly_shape *s = &t->dragonfly;
    uint32_t first = t->first_vertex[WEIR_VERTEX_ROUTER];
    for (uint32_t high = 1; high < s->groups; high++) {
        for (uint32_t low = 0; low < high; low++) {
            for (uint32_t which = 0; which < s->bundle; which++) {
                weir_code code =
                    topology_cable(t, first + dragonfly_gate(s, low, high, which),
                                   first + dragonfly_gate(s, high, low, which), how, err);
                if (code != WEIR_OK) {
                    return code;
                }
            }
        }
    }
    return WEIR_OK;
}

weir_code lay_dragonfly(weir_topology *t, const weir_dragonfly *dragonfly, weir_err *err)
{
    dragonfly_shape *s = &t->dragonfly;
    if (need_speed("NIC", &dragonfly->nic, err) != WEIR_OK ||
        (s->routers > 1 && need_speed("local", &dragonfly->local, err) != WEIR_OK) ||
        (s->groups > 1 && need_speed("global", &dragonfly->global, err) != WEIR_OK)) {
        return WEIR_ERR_INPUT;
    }
    uint32_t nics = weir_topology_devices(t) / t->node.devices * t->node.nics;
    weir_listed_cable how = {.cable = dragonfly->nic, .tier = WEIR_TIER_BETWEEN_NODES};
    s->port = t->count;
    for (uint32_t nic = 0; nic < nics; nic++) {
        uint32_t router = t->first_vertex[WEIR_VERTEX_ROUTER] + nic / s->nics;
        weir_code code = topology_cable(t, node_port_vertex(t, nic), router, &how, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    how = (weir_listed_cable){.cable = dragonfly->local, .tier = WEIR_TIER_BETWEEN_RACKS};
    s->local = t->count;
    weir_code code = lay_local(t, &how, err);
    if (code == WEIR_OK) {
        how = (weir_listed_cable){.cable = dragonfly->global, .tier = WEIR_TIER_HALL};
        s->global = t->count;
        code = lay_global(t, &how, err);
    }
    return code;
}
