/* Links that no body tells apart are twins: they have the same capacity and colour, and every body
 * crosses all of them with one coefficient or none. Whatever a partition says of one holds for all,
 * so that colours are refined and checked on paths that name each kind of twins once. A sprayed
 * ring over a big Clos network crosses 40 times as many links as kinds of them.
 *
 * Twins are found by hashes, then checked step by step while the paths are written; where a check
 * fails, or a path crosses a link twice, every link stays on its own. */
#include "fabric/fold_inside.h"

#include <stdlib.h>

/* Paths shorter than so many steps for each body and link, on average, are refined as they are. */
enum { TWINS_FROM = 4 };

typedef struct {
    weir_fold *fold;
    const double *capacities;
    uint64_t *signs;   /* by link */
    uint32_t *counted; /* by kind of twins: how many of them the present body crosses */
    size_t *place;     /* by kind of twins: where the present body has them in steps */
    size_t at, room;   /* steps written, and how many there may be */
} twin_search;

static uint64_t step_count(const weir_fold *fold)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < fold->body_count; i++) {
        steps += fold->bodies[i].path.count;
    }
    return steps;
}

/* Every link takes in who crosses it, and how. */
static void sign_links(const twin_search *s)
{
    const weir_fold *fold = s->fold;
    const uint64_t one = bits_of(1);
    for (uint32_t l = 0; l < fold->link_count; l++) {
        uint64_t own = fold->link_colours ? fold_mix(fold->link_colours[l]) : 0;
        s->signs[l] = fold_mix(bits_of(s->capacities[l]) ^ own);
    }
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path *path = &fold->bodies[i].path;
        const uint64_t own = fold_mix(0x9FB21C651E98DF25u ^ i);
        uint64_t last = one, sign = fold_mix(own ^ one);
        for (uint32_t j = 0; j < path->count; j++) {
            uint64_t bits = path->bytes_per_unit ? bits_of(path->bytes_per_unit[j]) : one;
            if (bits != last) { /* sprayed paths repeat themselves */
                last = bits;
                sign = fold_mix(own ^ bits);
            }
            s->signs[path->links[j]] += sign;
        }
        if (fold_also(fold, i) != WEIR_NONE) {
            s->signs[fold_also(fold, i)] += fold_mix(own ^ one);
        }
    }
}

/* Kinds of twins, numbered in the order of their first links. */
static bool number_twins(const twin_search *s)
{
    fold_twins *twins = &s->fold->twins;
    colour_table table = {0};
    bool has_room = fold_table_make(&table, s->fold->link_count);
    if (has_room) {
        twins->count = fold_number(&table, s->signs, s->fold->link_count, twins->of_link);
    }
    free(table.colours);
    free(table.numbers);
    for (uint32_t l = has_room ? s->fold->link_count : 0; l-- > 0;) {
        twins->sizes[twins->of_link[l]]++;
        twins->firsts[twins->of_link[l]] = l;
    }
    return has_room;
}

/* Twins were told by a hash: they must have what a hash took in. */
static bool have_same_terms(const twin_search *s)
{
    const weir_fold *fold = s->fold;
    for (uint32_t l = 0; l < fold->link_count; l++) {
        uint32_t first = fold->twins.firsts[fold->twins.of_link[l]];
        if (bits_of(s->capacities[l]) != bits_of(s->capacities[first]) ||
            (fold->link_colours && fold->link_colours[l] != fold->link_colours[first])) {
            return false;
        }
    }
    return true;
}

/* One step of the present body; false: twins that it does not cross alike. */
static bool write_step(twin_search *s, weir_link_id link, double factor)
{
    fold_twins *twins = &s->fold->twins;
    uint32_t kind = twins->of_link[link];
    if (s->counted[kind]++ > 0) {
        return bits_of(twins->factors[s->place[kind]]) == bits_of(factor);
    }
    if (s->at == s->room) {
        return false;
    }
    s->place[kind] = s->at;
    twins->steps[s->at] = kind;
    twins->factors[s->at++] = factor;
    return true;
}

/* The body's path over kinds of twins, all of whom it must cross. */
static bool write_path(twin_search *s, uint32_t body)
{
    fold_twins *twins = &s->fold->twins;
    const weir_path *path = &s->fold->bodies[body].path;
    bool good = true;
    twins->starts[body] = s->at;
    for (uint32_t j = 0; j < path->count && good; j++) {
        good = write_step(s, path->links[j], factor_of(path, j));
    }
    weir_link_id also = fold_also(s->fold, body);
    if (good && also != WEIR_NONE) {
        good = write_step(s, also, 1);
    }
    for (size_t step = twins->starts[body]; step < s->at; step++) {
        uint32_t kind = twins->steps[step];
        good &= s->counted[kind] == twins->sizes[kind];
        s->counted[kind] = 0;
    }
    return good;
}

static bool write_paths(twin_search *s)
{
    bool good = have_same_terms(s);
    s->at = 0;
    for (uint32_t i = 0; i < s->fold->body_count && good; i++) {
        good = write_path(s, i);
    }
    s->fold->twins.starts[s->fold->body_count] = s->at;
    return good;
}

/* Every link on its own, step by step as the bodies have them. */
static void copy_paths(twin_search *s)
{
    fold_twins *twins = &s->fold->twins;
    twins->count = s->fold->link_count;
    for (uint32_t l = 0; l < s->fold->link_count; l++) {
        twins->of_link[l] = twins->firsts[l] = l;
        twins->sizes[l] = 1;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < s->fold->body_count; i++) {
        const weir_path *path = &s->fold->bodies[i].path;
        twins->starts[i] = at;
        for (uint32_t j = 0; j < path->count; j++) {
            twins->steps[at] = path->links[j];
            twins->factors[at++] = factor_of(path, j);
        }
        weir_link_id also = fold_also(s->fold, i);
        if (also != WEIR_NONE) {
            twins->steps[at] = also;
            twins->factors[at++] = 1;
        }
    }
    twins->starts[s->fold->body_count] = at;
}

/* Steps over kinds of twins: as many as there are over the first link of each. */
static uint64_t count_firsts(const weir_fold *fold)
{
    const fold_twins *twins = &fold->twins;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < fold->body_count; i++) {
        const weir_path *path = &fold->bodies[i].path;
        for (uint32_t j = 0; j < path->count; j++) {
            steps += twins->firsts[twins->of_link[path->links[j]]] == path->links[j];
        }
        steps++; /* what it crosses beside its path */
    }
    return steps;
}

static bool make_steps(twin_search *s, uint64_t steps)
{
    fold_twins *twins = &s->fold->twins;
    free(twins->steps);
    free(twins->factors);
    s->room = steps;
    twins->steps = malloc((steps + 1) * sizeof *twins->steps);
    twins->factors = malloc((steps + 1) * sizeof *twins->factors);
    return twins->steps && twins->factors;
}

static bool make_room(twin_search *s)
{
    fold_twins *twins = &s->fold->twins;
    size_t links = (size_t)s->fold->link_count + 1;
    twins->of_link = malloc(links * sizeof *twins->of_link);
    twins->sizes = calloc(links, sizeof *twins->sizes);
    twins->firsts = malloc(links * sizeof *twins->firsts);
    twins->starts = malloc(((size_t)s->fold->body_count + 1) * sizeof *twins->starts);
    s->signs = malloc(links * sizeof *s->signs);
    s->counted = calloc(links, sizeof *s->counted);
    s->place = malloc(links * sizeof *s->place);
    return twins->of_link && twins->sizes && twins->firsts && twins->starts && s->signs &&
           s->counted && s->place;
}

static bool find_twins(twin_search *s)
{
    sign_links(s);
    if (!number_twins(s) || !make_steps(s, count_firsts(s->fold))) {
        return false;
    }
    if (write_paths(s)) {
        return true;
    }
    if (!make_steps(s, step_count(s->fold) + s->fold->body_count)) {
        return false;
    }
    copy_paths(s);
    return true;
}

weir_code fold_find_twins(weir_fold *fold, const double *capacities)
{
    uint64_t parts = (uint64_t)fold->body_count + fold->link_count;
    if (!fold->also && step_count(fold) < TWINS_FROM * parts) {
        return WEIR_OK;
    }
    twin_search s = {.fold = fold, .capacities = capacities};
    bool has_room = make_room(&s) && find_twins(&s);
    free(s.signs);
    free(s.counted);
    free(s.place);
    return has_room ? WEIR_OK : WEIR_ERR_MEMORY;
}

void fold_twins_free(fold_twins *twins)
{
    free(twins->of_link);
    free(twins->sizes);
    free(twins->firsts);
    free(twins->starts);
    free(twins->steps);
    free(twins->factors);
}
