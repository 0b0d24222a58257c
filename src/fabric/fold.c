#include "fabric/fold_inside.h"

#include <stdlib.h>

static weir_code check_traffic(const weir_net *net, const weir_traffic *traffic, weir_err *err)
{
    uint32_t links = weir_net_count(net);
    for (uint32_t i = 0; i < traffic->count; i++) {
        const weir_path *path = &traffic->bodies[i].path;
        for (uint32_t j = 0; j < path->count; j++) {
            if (path->links[j] >= links) {
                return weir_err_set(err, WEIR_ERR_INPUT,
                                    "transfer %u crosses link %u; the net has %u", i,
                                    path->links[j], links);
            }
        }
        if (traffic->also && traffic->also[i] != WEIR_NONE && traffic->also[i] >= links) {
            return weir_err_set(err, WEIR_ERR_INPUT, "transfer %u crosses link %u; the net has %u",
                                i, traffic->also[i], links);
        }
    }
    return WEIR_OK;
}

static bool make_room(weir_fold *fold)
{
    size_t bodies = (size_t)fold->body_count + 1, links = (size_t)fold->link_count + 1;
    fold->body_class = malloc(bodies * sizeof *fold->body_class);
    fold->link_class = malloc(links * sizeof *fold->link_class);
    fold->members = malloc(bodies * sizeof *fold->members);
    fold->starts = malloc((bodies + 1) * sizeof *fold->starts);
    return fold->body_class && fold->link_class && fold->members && fold->starts;
}

/* Classes of kinds become classes of links; a kind is never above its first link. */
static void spread_classes(weir_fold *fold)
{
    for (uint32_t l = fold->twins.of_link ? fold->link_count : 0; l-- > 0;) {
        fold->link_class[l] = fold->link_class[fold->twins.of_link[l]];
    }
}

static weir_code fold_traffic(weir_fold *fold, const double *capacities, bool *good, weir_err *err)
{
    weir_code code = make_room(fold) ? fold_find_twins(fold, capacities) : WEIR_ERR_MEMORY;
    if (code == WEIR_OK) {
        code = fold_colour(fold, capacities, good);
    }
    if (code == WEIR_OK && *good) {
        code = fold_build(fold, capacities, good, err);
    }
    if (code == WEIR_OK && *good) {
        spread_classes(fold);
    }
    fold_twins_free(&fold->twins);
    fold->twins = (fold_twins){0};
    return code;
}

static double *own_capacities(const weir_net *net)
{
    uint32_t links = weir_net_count(net);
    double *own = malloc(((size_t)links + 1) * sizeof *own);
    for (uint32_t l = 0; own && l < links; l++) {
        own[l] = weir_net_bytes_per_s(net, l);
    }
    return own;
}

weir_code weir_fold_new(const weir_net *net, const weir_traffic *traffic, weir_fold **fold,
                        weir_err *err)
{
    weir_code code = check_traffic(net, traffic, err);
    if (code != WEIR_OK) {
        return code;
    }
    double *own = traffic->capacities ? NULL : own_capacities(net);
    const double *capacities = traffic->capacities ? traffic->capacities : own;
    weir_fold *made = calloc(1, sizeof *made);
    bool good = false;
    code = WEIR_ERR_MEMORY;
    if (made && capacities) {
        made->bodies = traffic->bodies;
        made->link_colours = traffic->link_colours;
        made->also = traffic->also;
        made->body_count = traffic->count;
        made->link_count = weir_net_count(net);
        code = fold_traffic(made, capacities, &good, err);
    }
    free(own);
    if (code != WEIR_OK || !good) {
        weir_fold_free(made);
        made = NULL;
    }
    if (code != WEIR_OK) {
        return weir_err_set(err, code, "no memory for folding %u transfers", traffic->count);
    }
    *fold = made;
    return WEIR_OK;
}

void weir_fold_free(weir_fold *fold)
{
    if (!fold) {
        return;
    }
    free(fold->body_class);
    free(fold->link_class);
    free(fold->members);
    free(fold->starts);
    free(fold->firsts);
    free(fold->path);
    free(fold->factors);
    weir_net_free(fold->net);
    free(fold);
}

uint32_t weir_fold_body_classes(const weir_fold *fold)
{
    return fold->body_classes;
}

uint32_t weir_fold_link_classes(const weir_fold *fold)
{
    return fold->link_classes;
}

const uint32_t *weir_fold_class_of_body(const weir_fold *fold)
{
    return fold->body_class;
}

const uint32_t *weir_fold_class_of_link(const weir_fold *fold)
{
    return fold->link_class;
}

uint32_t weir_fold_multiplicity(const weir_fold *fold, uint32_t body_class)
{
    return fold->starts[body_class + 1] - fold->starts[body_class];
}

const weir_net *weir_fold_net(const weir_fold *fold)
{
    return fold->net;
}

weir_body weir_fold_body(const weir_fold *fold, uint32_t body_class)
{
    weir_body body = fold->bodies[fold->members[fold->starts[body_class]]];
    uint32_t first = fold->firsts[body_class];
    body.path.count = fold->firsts[body_class + 1] - first;
    body.path.links = fold->path + first;
    body.path.bytes_per_unit = fold->factors + first;
    body.tag = body_class;
    return body;
}
