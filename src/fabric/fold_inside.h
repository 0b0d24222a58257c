/* fold_inside.h: the inside of a fold, for the files that colour, check and play it. */
#ifndef WEIR_FABRIC_FOLD_INSIDE_H
#define WEIR_FABRIC_FOLD_INSIDE_H

#include "fabric/fold.h"

#include <string.h>

/* Links that every body crosses alike, and paths over one of each kind (fold_twins.c); zeroed: not
 * looked for, every link is on its own. */
typedef struct {
    uint32_t count;       /* kinds */
    uint32_t *of_link;    /* kind by link; NULL: zeroed */
    uint32_t *sizes;      /* by kind: links */
    weir_link_id *firsts; /* by kind: its first link */
    size_t *starts;       /* by body: where its steps begin, and the end */
    uint32_t *steps;      /* kinds that it crosses */
    double *factors;      /* and the coefficient on each link of them */
} fold_twins;

struct weir_fold {
    const weir_body *bodies;
    const uint64_t *link_colours; /* NULL: all alike */
    const weir_link_id *also;     /* by body; NULL: none */
    uint32_t body_count, link_count;
    fold_twins twins;
    /* By body, and by kind of twins; by link once all is built. */
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

static inline uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double factor_of(const weir_path *path, uint32_t step)
{
    return path->bytes_per_unit ? path->bytes_per_unit[step] : 1;
}

static inline uint64_t fold_mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The link that a body crosses beside its path; WEIR_NONE: none. */
static inline weir_link_id fold_also(const weir_fold *fold, uint32_t body)
{
    return fold->also ? fold->also[body] : WEIR_NONE;
}

/* --- links by kind of twins, or as they are --- */

static inline uint32_t fold_kinds(const weir_fold *fold)
{
    return fold->twins.of_link ? fold->twins.count : fold->link_count;
}

static inline weir_link_id fold_first(const weir_fold *fold, uint32_t kind)
{
    return fold->twins.of_link ? fold->twins.firsts[kind] : kind;
}

static inline uint32_t fold_size(const weir_fold *fold, uint32_t kind)
{
    return fold->twins.of_link ? fold->twins.sizes[kind] : 1;
}

/* The body's path over kinds: links are kinds. */
static inline weir_path fold_path(const weir_fold *fold, uint32_t body)
{
    const fold_twins *twins = &fold->twins;
    weir_path path = fold->bodies[body].path;
    if (twins->of_link) {
        path.links = twins->steps + twins->starts[body];
        path.bytes_per_unit = twins->factors + twins->starts[body];
        path.count = (uint32_t)(twins->starts[body + 1] - twins->starts[body]);
    }
    return path;
}

/* --- colours --- */

/* Distinct colours, numbered in order of first appearance. */
typedef struct {
    uint64_t *colours;
    uint32_t *numbers; /* 0 = free, else the number + 1 */
    uint32_t mask, count;
} colour_table;

/* Room for so many; colours and numbers are the caller's to free, also after false: no memory. */
bool fold_table_make(colour_table *table, uint32_t items);
/* The number of each colour, into an empty table; how many there are. */
uint32_t fold_number(colour_table *table, const uint64_t *colours, uint32_t count,
                     uint32_t *numbers);

/* Looks for twins, where that may pay. WEIR_ERR_MEMORY. */
weir_code fold_find_twins(weir_fold *fold, const double *capacities);
void fold_twins_free(fold_twins *twins);
/* Fills the classes of bodies and links, the coarsest that tell apart what behaves differently.
 * *good: false where they are too many (fold.h). WEIR_ERR_MEMORY. */
weir_code fold_colour(weir_fold *fold, const double *capacities, bool *good);
/* Checks the classes one by one, and builds their net and their bodies. *good: false where a check
 * fails. members and starts have room. */
weir_code fold_build(weir_fold *fold, const double *capacities, bool *good, weir_err *err);

#endif
