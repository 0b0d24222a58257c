#include "fabric/fold_inside.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* Links of one class that a path crosses with one coefficient. */
typedef struct {
    double factor;
    uint32_t class, links;
} crossing;

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
    return is_same(a->size, b->size) && is_same(a->start_s, b->start_s) &&
           is_same(a->latency_s, b->latency_s) && is_same(a->path.weight, b->path.weight) &&
           is_same(a->path.cap, b->path.cap);
}

static int compare_crossings(const void *a, const void *b, const void *context)
{
    (void)context;
    const crossing *x = a, *y = b;
    if (x->class != y->class) {
        return x->class < y->class ? -1 : 1;
    }
    return x->factor < y->factor ? -1 : x->factor > y->factor;
}

/* How many links of each class a path crosses with each coefficient, in an order of their own;
 * returns how many such there are, WEIR_NONE: no memory. */
static uint32_t sort_path(const weir_fold *fold, const weir_path *path, crossing *crossings)
{
    for (uint32_t j = 0; j < path->count; j++) {
        uint32_t kind = path->links[j];
        crossings[j] =
            (crossing){factor_of(path, j), fold->link_class[kind], fold_size(fold, kind)};
    }
    if (!weir_sort(crossings, path->count, sizeof *crossings, compare_crossings, NULL)) {
        return WEIR_NONE;
    }
    uint32_t kept = 0;
    for (uint32_t j = 0; j < path->count; j++) {
        if (kept && compare_crossings(&crossings[kept - 1], &crossings[j], NULL) == 0) {
            crossings[kept - 1].links += crossings[j].links;
        } else {
            crossings[kept++] = crossings[j];
        }
    }
    return kept;
}

/* Most members list their links in the order of their kind: no need to sort then. */
static bool is_in_same_order(const weir_fold *fold, const weir_path *a, const weir_path *b)
{
    uint32_t j = 0;
    while (j < a->count && j < b->count &&
           fold->link_class[a->links[j]] == fold->link_class[b->links[j]] &&
           fold_size(fold, a->links[j]) == fold_size(fold, b->links[j]) &&
           is_same(factor_of(a, j), factor_of(b, j))) {
        j++;
    }
    return j == a->count && j == b->count;
}

static bool has_same_path(const weir_fold *fold, const weir_path *a, const weir_path *b,
                          crossing *crossings)
{
    if (is_in_same_order(fold, a, b)) {
        return true;
    }
    crossing *others = crossings + a->count;
    uint32_t count = sort_path(fold, a, crossings);
    bool is_same_path = count != WEIR_NONE && sort_path(fold, b, others) == count;
    for (uint32_t j = 0; j < count && is_same_path; j++) {
        is_same_path = compare_crossings(&crossings[j], &others[j], NULL) == 0 &&
                       crossings[j].links == others[j].links;
    }
    return is_same_path;
}

static bool check_bodies(const weir_fold *fold)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < fold->body_count; i++) {
        uint32_t count = fold_path(fold, i).count;
        longest = count > longest ? count : longest;
    }
    crossing *crossings = malloc((2 * (size_t)longest + 1) * sizeof *crossings);
    bool good = crossings != NULL;
    for (uint32_t c = 0; c < fold->body_classes && good; c++) {
        uint32_t first = fold->members[fold->starts[c]];
        const weir_path path = fold_path(fold, first);
        for (uint32_t m = fold->starts[c] + 1; m < fold->starts[c + 1] && good; m++) {
            uint32_t body = fold->members[m];
            const weir_path own = fold_path(fold, body);
            good = has_same_terms(&fold->bodies[first], &fold->bodies[body]) &&
                   has_same_path(fold, &path, &own, crossings);
        }
    }
    free(crossings);
    return good;
}

/* What the members of one class load on each link, and then on each class of links. */
typedef struct {
    double load;
    uint32_t crossings;
    uint32_t seen_by; /* class of bodies + 1 */
} link_load;

typedef struct {
    link_load *kinds;   /* by kind of twins: on each of them */
    link_load *classes; /* by class of links */
    uint32_t *counts;   /* links of a class that were loaded */
    uint32_t *sizes;    /* links of a class */
    uint32_t *touched;  /* kinds */
    uint32_t touched_count;
} load_check;

static void load_kinds(const weir_fold *fold, uint32_t class, load_check *check)
{
    check->touched_count = 0;
    for (uint32_t m = fold->starts[class]; m < fold->starts[class + 1]; m++) {
        const weir_path path = fold_path(fold, fold->members[m]);
        for (uint32_t j = 0; j < path.count; j++) {
            link_load *l = &check->kinds[path.links[j]];
            if (l->seen_by != class + 1) {
                *l = (link_load){.seen_by = class + 1};
                check->touched[check->touched_count++] = path.links[j];
            }
            l->load += factor_of(&path, j);
            l->crossings++;
        }
    }
}

/* Every link of a class is loaded alike by this class of bodies, or none is; writes the class's
 * own path to fold->path from *at on. */
static bool fold_load(weir_fold *fold, uint32_t class, load_check *check, uint32_t *at)
{
    load_kinds(fold, class, check);
    uint32_t from = *at;
    for (uint32_t i = 0; i < check->touched_count; i++) {
        const link_load *l = &check->kinds[check->touched[i]];
        uint32_t link_class = fold->link_class[check->touched[i]];
        link_load *all = &check->classes[link_class];
        if (all->seen_by != class + 1) {
            *all = (link_load){l->load, l->crossings, class + 1};
            check->counts[link_class] = 0;
            fold->path[(*at)++] = link_class;
        }
        check->counts[link_class] += fold_size(fold, check->touched[i]);
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
    for (uint32_t k = 0; k < fold_kinds(fold); k++) {
        uint32_t class = fold->link_class[k];
        weir_link_id l = fold_first(fold, k);
        if (check->sizes[class] == 0) {
            class_capacities[class] = capacities[l];
            check->touched[class] = l; /* the first of its class; overwritten afterwards */
        } else if (!is_same(class_capacities[class], capacities[l]) ||
                   (colours && colours[check->touched[class]] != colours[l])) {
            return false;
        }
        check->sizes[class] += fold_size(fold, k);
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
        bound += fold_path(fold, fold->members[fold->starts[c]]).count;
    }
    return bound;
}

static weir_code build_classes(weir_fold *fold, const double *capacities, bool *good, weir_err *err)
{
    size_t kinds = (size_t)fold_kinds(fold) + 1, classes = (size_t)fold->link_classes + 1;
    size_t bound = path_bound(fold) + 1;
    load_check check = {.kinds = calloc(kinds, sizeof *check.kinds),
                        .classes = calloc(classes, sizeof *check.classes),
                        .counts = calloc(classes, sizeof *check.counts),
                        .sizes = calloc(classes, sizeof *check.sizes),
                        .touched = malloc(kinds * sizeof *check.touched)};
    double *class_capacities = calloc(classes, sizeof *class_capacities);
    fold->firsts = malloc(((size_t)fold->body_classes + 1) * sizeof *fold->firsts);
    fold->path = malloc(bound * sizeof *fold->path);
    fold->factors = malloc(bound * sizeof *fold->factors);
    weir_code code = WEIR_ERR_MEMORY;
    if (check.kinds && check.classes && check.counts && check.sizes && check.touched &&
        class_capacities && fold->firsts && fold->path && fold->factors) {
        *good = check_links(fold, capacities, class_capacities, &check);
        code = *good ? build_net(fold, class_capacities, err) : WEIR_OK;
    }
    free(check.kinds);
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
