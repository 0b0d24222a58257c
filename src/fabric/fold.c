#include "fabric/fold.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distinct colours, numbered in order of first appearance. */
typedef struct {
    uint64_t *colours;
    uint32_t *numbers; /* 0 = free, else the number + 1 */
    uint32_t mask, count;
} colour_table;

struct weir_fold {
    const weir_body *bodies;
    uint32_t body_count, link_count;
    uint32_t *body_class, *link_class;
    uint32_t body_classes, link_classes;
    uint32_t *members; /* bodies by class */
    uint32_t *starts;  /* where in members each class begins, and the end */
    weir_net *net;
    /* The bodies of the classes: links and coefficients from firsts[class] on. */
    uint32_t *firsts;
    weir_link_id *path;
    double *factors;
};

typedef struct {
    weir_fold *fold;
    const double *capacities;
    uint64_t *body_colours, *link_colours;
    colour_table table;
} refinement;

static uint64_t mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double factor_of(const weir_path *path, uint32_t step)
{
    return path->bytes_per_unit ? path->bytes_per_unit[step] : 1;
}

/* --- numbering colours --- */

static bool table_make(colour_table *table, uint32_t items)
{
    uint32_t size = 64;
    while (size < items && size < 1u << 31) {
        size *= 2;
    }
    size *= size < 1u << 31 ? 2 : 1;
    table->mask = size - 1;
    table->colours = malloc(size * sizeof *table->colours);
    table->numbers = calloc(size, sizeof *table->numbers);
    return table->colours && table->numbers;
}

/* Fills only as much of the table as there are classes: it is cleared by what was put in. */
static uint32_t number_colours(colour_table *table, const uint64_t *colours, uint32_t count,
                               uint32_t *numbers)
{
    table->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)colours[i] & table->mask;
        while (table->numbers[at] && table->colours[at] != colours[i]) {
            at = (at + 1) & table->mask;
        }
        if (!table->numbers[at]) {
            table->colours[at] = colours[i];
            table->numbers[at] = ++table->count;
        }
        numbers[i] = table->numbers[at] - 1;
    }
    return table->count;
}

static void table_clear(colour_table *table, const uint64_t *colours, uint32_t count)
{
    if (table->count > table->mask / 16) {
        memset(table->numbers, 0, ((size_t)table->mask + 1) * sizeof *table->numbers);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = (uint32_t)colours[i] & table->mask; table->numbers[at];
             at = (at + 1) & table->mask) {
            table->numbers[at] = 0;
        }
    }
}

/* --- refinement --- */

static void begin_colours(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_body *b = &fold->bodies[i];
        uint64_t colour = mix(b->path.count);
        colour = mix(colour ^ bits_of(b->size));
        colour = mix(colour ^ bits_of(b->start_s));
        colour = mix(colour ^ bits_of(b->latency_s));
        colour = mix(colour ^ bits_of(b->path.weight));
        r->body_colours[i] = mix(colour ^ bits_of(b->path.cap));
    }
    for (uint32_t l = 0; l < fold->link_count; l++) {
        r->link_colours[l] = mix(bits_of(r->capacities[l]));
    }
}

/* Links take in the colours of their bodies; link_colours: class -> new colour. */
static void colour_links(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t l = 0; l < fold->link_count; l++) {
        r->link_colours[l] = mix(fold->link_class[l]);
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path *path = &fold->bodies[i].path;
        uint64_t colour = mix(0x5851F42D4C957F2Du ^ fold->body_class[i]);
        for (uint32_t j = 0; j < path->count; j++) {
            r->link_colours[path->links[j]] +=
                path->bytes_per_unit ? mix(colour ^ bits_of(path->bytes_per_unit[j])) : mix(colour);
        }
    }
}

static void colour_bodies(refinement *r)
{
    const weir_fold *fold = r->fold;
    for (uint32_t l = 0; l < fold->link_count; l++) {
        r->link_colours[l] = mix(0x14057B7EF767814Fu ^ fold->link_class[l]);
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path *path = &fold->bodies[i].path;
        uint64_t colour = mix(fold->body_class[i]);
        for (uint32_t j = 0; j < path->count; j++) {
            uint64_t link = r->link_colours[path->links[j]];
            colour += path->bytes_per_unit ? mix(link ^ bits_of(path->bytes_per_unit[j])) : link;
        }
        r->body_colours[i] = colour;
    }
}

static uint32_t renumber_links(refinement *r)
{
    weir_fold *fold = r->fold;
    uint32_t classes =
        number_colours(&r->table, r->link_colours, fold->link_count, fold->link_class);
    table_clear(&r->table, r->link_colours, fold->link_count);
    return classes;
}

static uint32_t renumber_bodies(refinement *r)
{
    weir_fold *fold = r->fold;
    uint32_t classes =
        number_colours(&r->table, r->body_colours, fold->body_count, fold->body_class);
    table_clear(&r->table, r->body_colours, fold->body_count);
    return classes;
}

/* false: too many classes. */
static bool refine(refinement *r)
{
    weir_fold *fold = r->fold;
    begin_colours(r);
    fold->link_classes = renumber_links(r);
    fold->body_classes = renumber_bodies(r);
    for (;;) {
        uint32_t bodies = fold->body_classes, links = fold->link_classes;
        colour_links(r);
        fold->link_classes = renumber_links(r);
        colour_bodies(r);
        fold->body_classes = renumber_bodies(r);
        if (fold->body_classes > fold->body_count / 2) {
            return false;
        }
        if (fold->body_classes == bodies && fold->link_classes == links) {
            return true;
        }
    }
}

/* --- the check, and the net of classes --- */

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
    for (uint32_t l = 0; l < fold->link_count; l++) {
        uint32_t class = fold->link_class[l];
        if (check->sizes[class]++ == 0) {
            class_capacities[class] = capacities[l];
        } else if (!is_same(class_capacities[class], capacities[l])) {
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
    double *class_capacities = malloc(classes * sizeof *class_capacities);
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

/* --- all together --- */

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
    }
    return WEIR_OK;
}

static bool make_room(refinement *r)
{
    weir_fold *fold = r->fold;
    size_t bodies = (size_t)fold->body_count + 1, links = (size_t)fold->link_count + 1;
    fold->body_class = malloc(bodies * sizeof *fold->body_class);
    fold->link_class = malloc(links * sizeof *fold->link_class);
    fold->members = malloc(bodies * sizeof *fold->members);
    fold->starts = malloc((bodies + 1) * sizeof *fold->starts);
    r->body_colours = malloc(bodies * sizeof *r->body_colours);
    r->link_colours = malloc(links * sizeof *r->link_colours);
    uint32_t most = fold->body_count > fold->link_count ? fold->body_count : fold->link_count;
    return table_make(&r->table, most) && fold->body_class && fold->link_class && fold->members &&
           fold->starts && r->body_colours && r->link_colours;
}

static weir_code fold_traffic(refinement *r, bool *good, weir_err *err)
{
    if (!make_room(r)) {
        return WEIR_ERR_MEMORY;
    }
    *good = refine(r);
    if (!*good) {
        return WEIR_OK;
    }
    list_members(r->fold);
    *good = check_bodies(r->fold);
    return *good ? build_classes(r->fold, r->capacities, good, err) : WEIR_OK;
}

weir_code weir_fold_new(const weir_net *net, const weir_traffic *traffic, weir_fold **fold,
                        weir_err *err)
{
    weir_code code = check_traffic(net, traffic, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t links = weir_net_count(net);
    double *own = NULL;
    refinement r = {.fold = calloc(1, sizeof *r.fold), .capacities = traffic->capacities};
    bool good = false;
    code = WEIR_ERR_MEMORY;
    if (r.fold && !r.capacities) {
        own = malloc(((size_t)links + 1) * sizeof *own);
        for (uint32_t l = 0; own && l < links; l++) {
            own[l] = weir_net_bytes_per_s(net, l);
        }
        r.capacities = own;
    }
    if (r.fold && r.capacities) {
        r.fold->bodies = traffic->bodies;
        r.fold->body_count = traffic->count;
        r.fold->link_count = links;
        code = fold_traffic(&r, &good, err);
    }
    free(own);
    free(r.body_colours);
    free(r.link_colours);
    free(r.table.colours);
    free(r.table.numbers);
    if (code != WEIR_OK || !good) {
        weir_fold_free(r.fold);
        r.fold = NULL;
    }
    if (code != WEIR_OK) {
        return weir_err_set(err, code, "no memory for folding %u transfers", traffic->count);
    }
    *fold = r.fold;
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
