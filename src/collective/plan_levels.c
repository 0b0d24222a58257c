/* plan_levels.c: hierarchies: inside nodes, (inside racks,) between them, and back.
 *
 * After the reduce-scatter inside a node each of its g devices holds a g-th of the bytes and works
 * on its own rail, all rails at once. The levels follow one another. */
#include "collective/plan_inside.h"

#include <stdlib.h>

typedef struct {
    uint32_t *first;       /* as plan_find_racks fills it */
    uint32_t racks, nodes; /* nodes of each rack */
} rack_level;

/* Rings over the nodes of each rack, or (is_between) over the nodes that stand at the same place in
 * their racks. */
static weir_code load_racks(planner *p, const rack_level *level, bool is_between, double bytes)
{
    uint32_t members = is_between ? level->racks : level->nodes;
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < p->nodes && members > 1; k++) {
        uint32_t rack = k / level->nodes, place = k % level->nodes;
        uint32_t to = is_between ? (rack + 1) % level->racks * level->nodes + place
                                 : rack * level->nodes + (place + 1) % level->nodes;
        for (uint32_t r = 0; r < p->least && code == WEIR_OK; r++) {
            const uint32_t pair[2] = {plan_member(p, k, r), plan_member(p, to, r)};
            code = plan_load_rail(p, &p->drafts[0], pair, bytes);
        }
    }
    return code;
}

/* One level: `parts` members share `bytes`, each ends with (or begins with) its part of them. */
static double moved(double bytes, double parts)
{
    return bytes * (parts - 1) / parts;
}

static weir_code node_round(planner *p)
{
    if (p->most == 1) {
        return WEIR_OK;
    }
    double bytes = moved(p->job->bytes, p->most);
    weir_code code = plan_load_nodes(p, &p->drafts[0], bytes);
    return code == WEIR_OK ? plan_round_of(p, bytes, 1) : code;
}

static weir_code rack_round(planner *p, const rack_level *level)
{
    double bytes = moved(p->job->bytes / p->least, level->nodes);
    if (level->nodes == 1) {
        return WEIR_OK;
    }
    weir_code code = load_racks(p, level, false, bytes);
    return code == WEIR_OK ? plan_round_of(p, bytes, 1) : code;
}

/* The highest level; passes: 2 for an all-reduce, which ends one half and begins the other. */
static weir_code top_round(planner *p, const rack_level *level, double passes)
{
    double share = p->job->bytes / p->least, bytes;
    weir_code code;
    if (level) {
        bytes = passes * moved(share / level->nodes, level->racks);
        code = load_racks(p, level, true, bytes);
    } else {
        bytes = passes * moved(share, p->nodes);
        code = plan_load_rails(p, &p->drafts[0], bytes);
    }
    return code == WEIR_OK && bytes > 0 ? plan_round_of(p, bytes, 1) : code;
}

static weir_code run_levels(planner *p, const rack_level *level)
{
    bool reduces = p->job->kind != WEIR_COLLECTIVE_ALL_GATHER;
    bool gathers = p->job->kind != WEIR_COLLECTIVE_REDUCE_SCATTER;
    weir_code code = reduces ? node_round(p) : WEIR_OK;
    if (reduces && level && code == WEIR_OK) {
        code = rack_round(p, level);
    }
    code = code == WEIR_OK ? top_round(p, level, reduces && gathers ? 2 : 1) : code;
    if (gathers && level && code == WEIR_OK) {
        code = rack_round(p, level);
    }
    return gathers && code == WEIR_OK ? node_round(p) : code;
}

static weir_code find_even_racks(planner *p, rack_level *level)
{
    weir_code code = plan_find_racks(p, level->first, &level->racks);
    level->nodes = level->first[1];
    for (uint32_t i = 1; i < level->racks && code == WEIR_OK; i++) {
        uint32_t nodes = level->first[i + 1] - level->first[i];
        if (nodes != level->nodes) {
            code = weir_err_set(p->err, WEIR_ERR_INPUT,
                                "hierarchical3 over racks of %u and of %u nodes; it needs as many "
                                "nodes of the group in each rack, next to one another",
                                level->nodes, nodes);
        }
    }
    return code;
}

weir_code plan_hierarchical(planner *p, bool has_racks)
{
    weir_collective_kind kind = p->job->kind;
    if (kind != WEIR_COLLECTIVE_ALL_REDUCE && kind != WEIR_COLLECTIVE_ALL_GATHER &&
        kind != WEIR_COLLECTIVE_REDUCE_SCATTER) {
        return plan_refuse(p, "it does all_reduce, all_gather and reduce_scatter");
    }
    if (p->least != p->most) {
        return weir_err_set(p->err, WEIR_ERR_INPUT,
                            "%s over nodes with %u and with %u of the group's devices; it needs as "
                            "many in each node",
                            weir_collective_algorithm_name(p->choice->algorithm), p->least,
                            p->most);
    }
    if (!has_racks) {
        return run_levels(p, NULL);
    }
    rack_level level = {.first = calloc((size_t)p->nodes + 1, sizeof *level.first)};
    weir_code code =
        level.first ? find_even_racks(p, &level)
                    : weir_err_set(p->err, WEIR_ERR_MEMORY, "no memory for %u racks", p->nodes);
    code = code == WEIR_OK ? run_levels(p, &level) : code;
    free(level.first);
    return code;
}
