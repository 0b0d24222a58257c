/* What a link is worth: the bottleneck structure, read off the freeze order. */
#include "fabric/fluid_inside.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static bool is_held_by(const fluid_body *b, weir_link_id link)
{
    return b->stage == BODY_LIVE && b->link == link && b->phase == PHASE_SHARED;
}

/* Links that hold somebody back, in the order in which they froze. false: no memory. */
static bool list_bottlenecks(const weir_fluid *fluid, weir_sort_pair *order, uint32_t *count)
{
    *count = 0;
    for (uint32_t l = 0; l < fluid->link_count; l++) {
        const fluid_link *link = &fluid->links[l];
        for (uint32_t i = 0; i < link->count; i++) {
            const fluid_body *b = &fluid->bodies[link->entries[i].body];
            if (is_held_by(b, l)) {
                weir_sort_pair pair = {0, l};
                memcpy(&pair.key, &b->key, sizeof b->key); /* not negative: sorts as an integer */
                order[(*count)++] = pair;
                break;
            }
        }
    }
    return weir_sort_pairs(order, *count);
}

/* What one more unit per second of the body is worth: its gain, less what it takes from those who
 * share later bottlenecks with it. Links that froze earlier have no value yet. */
static double worth_of(const weir_fluid *fluid, const fluid_body *b, double gain,
                       const double *value)
{
    for (uint32_t i = 0; i < b->count; i++) {
        gain -= fluid_factor(fluid, b, i) * value[fluid->path[b->first + i]];
    }
    return gain;
}

static double value_of(const weir_fluid *fluid, weir_link_id l, const double *gain,
                       const double *value)
{
    const fluid_link *link = &fluid->links[l];
    double worth = 0, weight = 0;
    for (uint32_t i = 0; i < link->count; i++) {
        fluid_entry e = link->entries[i];
        const fluid_body *b = &fluid->bodies[e.body];
        if (!is_held_by(b, l)) {
            continue;
        }
        weight += b->weight * fluid_factor(fluid, b, e.step);
        bool is_first = true; /* a body that crosses the link twice is worth its gain once */
        for (uint32_t j = 0; j < e.step && is_first; j++) {
            is_first = fluid->path[b->first + j] != l;
        }
        if (is_first) {
            worth += b->weight * worth_of(fluid, b, gain[e.body], value);
        }
    }
    return worth / weight;
}

/* A link that a body has for itself and that holds it back. */
static void add_own_links(const weir_fluid *fluid, const double *gain, double *value)
{
    for (uint32_t i = 0; i < fluid->body_count; i++) {
        const fluid_body *b = &fluid->bodies[i];
        if (b->stage != BODY_LIVE || b->phase == PHASE_SHARED || b->limit_link == WEIR_NONE) {
            continue;
        }
        double factor = 0;
        for (uint32_t j = 0; j < b->count; j++) {
            if (fluid->path[b->first + j] == b->limit_link) {
                factor = fluid_factor(fluid, b, j);
            }
        }
        double worth = worth_of(fluid, b, gain[i], value);
        value[b->limit_link] = worth / factor;
    }
}

weir_code weir_fluid_values(weir_fluid *fluid, const double *gain, double *value, weir_err *err)
{
    weir_code code = weir_fluid_solve(fluid, WEIR_SOLVE_CHOOSE, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_sort_pair *order = malloc(((size_t)fluid->link_count + 1) * sizeof *order);
    uint32_t count;
    if (!order || !list_bottlenecks(fluid, order, &count)) {
        free(order);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the values of %u links",
                            fluid->link_count);
    }
    memset(value, 0, fluid->link_count * sizeof *value);
    for (uint32_t i = count; i-- > 0;) {
        weir_link_id l = (weir_link_id)order[i].value;
        value[l] = value_of(fluid, l, gain, value);
    }
    add_own_links(fluid, gain, value);
    free(order);
    return WEIR_OK;
}

weir_code weir_fluid_probe(weir_fluid *fluid, weir_link_id link, double bytes_per_s,
                           const double *gain, double *sum, weir_err *err)
{
    if (link >= fluid->link_count) {
        return weir_err_set(err, WEIR_ERR_INPUT, "link %u of a net of %u", link, fluid->link_count);
    }
    double before = fluid->links[link].capacity;
    weir_code code = weir_fluid_set_capacity(fluid, link, bytes_per_s, err);
    if (code == WEIR_OK) {
        code = weir_fluid_solve(fluid, WEIR_SOLVE_CHOOSE, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    double total = 0;
    for (uint32_t i = 0; i < fluid->body_count; i++) {
        if (fluid->bodies[i].stage == BODY_LIVE) {
            total += gain[i] * fluid->bodies[i].rate;
        }
    }
    code = weir_fluid_set_capacity(fluid, link, before, err);
    if (code == WEIR_OK) {
        code = weir_fluid_solve(fluid, WEIR_SOLVE_CHOOSE, err);
    }
    if (code == WEIR_OK) {
        *sum = total;
    }
    return code;
}
