#include "fabric/fold_inside.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

static void list_members(weir_fold *fold)
{
    memset(fold->starts, 0, ((size_t)fold->body_classes + 1) * sizeof *fold->starts);
    for (uint32_t i = 0; i < fold->body_count; i++) {
        fold->starts[fold->body_class[i] + 1]++;
    }
    for (uint32_t c = 0; c < fold->body_classes; c++) {
        fold->starts[c + 1] += fold->starts[c];
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        fold->members[fold->starts[fold->body_class[i]]++] = i;
    }
    for (uint32_t c = fold->body_classes; c > 0; c--) {
        fold->starts[c] = fold->starts[c - 1];
    }
    fold->starts[0] = 0;
}

static bool is_same(double a, double b)
{
    return a >= b && a <= b;
}

static bool has_same_terms(const weir_body *a, const weir_body *b)
{
    return a->path.count == b->path.count && is_same(a->size, b->size) &&
           is_same(a->start_s, b->start_s) && is_same(a->latency_s, b->latency_s) &&
           is_same(a->path.weight, b->path.weight) && is_same(a->path.cap, b->path.cap);
}

/* The classes and coefficients that a path crosses, in an order of their own. false: no memory. */
static bool sort_path(const weir_fold *fold, const weir_path *path, weir_sort_pair *pairs)
{
    for (uint32_t j = 0; j < path->count; j++) {
        pairs[j] = (weir_sort_pair){fold->link_class[path->links[j]], bits_of(factor_of(path, j))};
    }
    for (uint32_t j = 0; j < path->count; j++) { /* by coefficient first: the sort is stable */
        uint64_t swap = pairs[j].key;
        pairs[j].key = pairs[j].value;
        pairs[j].value = swap;
    }
    if (!weir_sort_pairs(pairs, path->count)) {
        return false;
    }
    for (uint32_t j = 0; j < path->count; j++) {
        uint64_t swap = pairs[j].key;
        pairs[j].key = pairs[j].value;
        pairs[j].value = swap;
    }
    return weir_sort_pairs(pairs, path->count);
}

/* Most members list their links in the order of their kind: no need to sort then. */
static bool has_same_path(const weir_fold *fold, const weir_path *a, const weir_path *b,
                          weir_sort_pair *pairs)
{
    uint32_t j = 0;
    while (j < a->count && fold->link_class[a->links[j]] == fold->link_class[b->links[j]] &&
           is_same(factor_of(a, j), factor_of(b, j))) {
        j++;
    }
    if (j == a->count) {
        return true;
    }
    if (!sort_path(fold, a, pairs) || !sort_path(fold, b, pairs + a->count)) {
        return false;
    }
    return memcmp(pairs, pairs + a->count, a->count * sizeof *pairs) == 0;
}

static bool check_bodies(const weir_fold *fold)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < fold->body_count; i++) {
        uint32_t count = fold->bodies[i].path.count;
        longest = count > longest ? count : longest;
    }
    weir_sort_pair *pairs = malloc((2 * (size_t)longest + 1) * sizeof *pairs);
    bool good = pairs != NULL;
    for (uint32_t c = 0; c < fold->body_classes && good; c++) {
        const weir_body *first = &fold->bodies[fold->members[fold->starts[c]]];
        for (uint32_t m = fold->starts[c] + 1; m < fold->starts[c + 1] && good; m++) {
            const weir_body *b = &fold->bodies[fold->members[m]];
            good = has_same_terms(first, b) && has_same_path(fold, &first->path, &b->path, pairs);
        }
    }
    free(pairs);
    return good;
}

/* What the members of one class load on each link, and then on each class of links. */
typedef struct {
    double load;
    uint32_t crossings;
    uint32_t seen_by; /* class of bodies + 1 */
} link_load;

typedef struct {
    link_load *links;   /* by link */
    link_load *classes; /* by class of links */
    uint32_t *counts;   /* links of a class that were loaded */
    uint32_t *sizes;    /* links of a class */
    weir_link_id *touched;
    uint32_t touched_count;
} load_check;

static void load_links(const weir_fold *fold, uint32_t class, load_check *check)
{
    check->touched_count = 0;
    for (uint32_t m = fold->starts[class]; m < fold->starts[class + 1]; m++) {
        const weir_path *path = &fold->bodies[fold->members[m]].path;
        for (uint32_t j = 0; j < path->count; j++) {
            link_load *l = &check->links[path->links[j]];
            if (l->seen_by != class + 1) {
                *l = (link_load){.seen_by = class + 1};
                check->touched[check->touched_count++] = path->links[j];
            }
            l->load += factor_of(path, j);
            l->crossings++;
        }
    }
}

/* Every link of a class is loaded alike by this class of bodies, or none is; writes the class's
 * own path to fold->path from *at on. */
static bool fold_load(weir_fold *fold, uint32_t class, load_check *check, uint32_t *at)
{
    load_links(fold, class, check);
    uint32_t from = *at;
    for (uint32_t i = 0; i < check->touched_count; i++) {
        const link_load *l = &check->links[check->touched[i]];
        uint32_t link_class = fold->link_class[check->touched[i]];
        link_load *all = &check->classes[link_class];
        if (all->seen_by != class + 1) {
            *all = (link_load){l->load, l->crossings, class + 1};
            check->counts[link_class] = 0;
            fold->path[(*at)++] = link_class;
        }
        check->counts[link_class]++;
        /* sums of the same fractions in another order may differ in their last bits */
        if (l->crossings != all->crossings || fabs(l->load - all->load) > 1e-12 * all->load) {
            return false;
        }
    }
    for (uint32_t i = from; i < *at; i++) {
        fold->factors[i] = check->classes[fold->path[i]].load;
        if (check->counts[fold->path[i]] != check->sizes[fold->path[i]]) {
            return false;
        }
    }
    return true;
}

static bool check_links(weir_fold *fold, const double *capacities, double *class_capacities,
                        load_check *check)
{
    const uint64_t *colours = fold->link_colours;
    for (uint32_t l = 0; l < fold->link_count; l++) {
        uint32_t class = fold->link_class[l];
        if (check->sizes[class]++ == 0) {
            class_capacities[class] = capacities[l];
            check->touched[class] = l; /* the first of its class; overwritten afterwards */
        } else if (!is_same(class_capacities[class], capacities[l]) ||
                   (colours && colours[check->touched[class]] != colours[l])) {
            return false;
        }
    }
    uint32_t at = 0;
    for (uint32_t c = 0; c < fold->body_classes; c++) {
        fold->firsts[c] = at;
        if (!fold_load(fold, c, check, &at)) {
            return false;
        }
    }
    fold->firsts[fold->body_classes] = at;
    return true;
}

static weir_code build_net(weir_fold *fold, const double *class_capacities, weir_err *err)
{
    fold->net = weir_net_new();
    weir_code code = fold->net ? WEIR_OK : WEIR_ERR_MEMORY;
    for (uint32_t c = 0; c < fold->link_classes && code == WEIR_OK; c++) {
        weir_link_id link;
        code = weir_net_add(fold->net, class_capacities[c], 0, &link, err);
    }
    if (code == WEIR_OK) {
        weir_net_seal(fold->net);
    }
    return code;
}

/* Paths of classes are no longer than those of one member of each, taken together. */
static size_t path_bound(const weir_fold *fold)
{
    size_t bound = 0;
    for (uint32_t c = 0; c < fold->body_classes; c++) {
        bound += fold->bodies[fold->members[fold->starts[c]]].path.count;
    }
    return bound;
}

static weir_code build_classes(weir_fold *fold, const double *capacities, bool *good, weir_err *err)
{
    size_t links = (size_t)fold->link_count + 1, classes = (size_t)fold->link_classes + 1;
    size_t bound = path_bound(fold) + 1;
    load_check check = {.links = calloc(links, sizeof *check.links),
                        .classes = calloc(classes, sizeof *check.classes),
                        .counts = calloc(classes, sizeof *check.counts),
                        .sizes = calloc(classes, sizeof *check.sizes),
                        .touched = malloc(links * sizeof *check.touched)};
    double *class_capacities = calloc(classes, sizeof *class_capacities);
    fold->firsts = malloc(((size_t)fold->body_classes + 1) * sizeof *fold->firsts);
    fold->path = malloc(bound * sizeof *fold->path);
    fold->factors = malloc(bound * sizeof *fold->factors);
    weir_code code = WEIR_ERR_MEMORY;
    if (check.links && check.classes && check.counts && check.sizes && check.touched &&
        class_capacities && fold->firsts && fold->path && fold->factors) {
        *good = check_links(fold, capacities, class_capacities, &check);
        code = *good ? build_net(fold, class_capacities, err) : WEIR_OK;
    }
    free(check.links);
    free(check.classes);
    free(check.counts);
    free(check.sizes);
    free(check.touched);
    free(class_capacities);
    return code;
}

weir_code fold_build(weir_fold *fold, const double *capacities, bool *good, weir_err *err)
{
    list_members(fold);
    *good = check_bodies(fold);
    return *good ? build_classes(fold, capacities, good, err) : WEIR_OK;
}
