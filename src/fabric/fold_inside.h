/* fold_inside.h: the inside of a fold, for the files that colour, check and play it. */
#ifndef WEIR_FABRIC_FOLD_INSIDE_H
#define WEIR_FABRIC_FOLD_INSIDE_H

#include "fabric/fold.h"

#include <string.h>

struct weir_fold {
    const weir_body *bodies;
    const uint64_t *link_colours; /* NULL: all alike */
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

/* Fills the classes of bodies and links, the coarsest that tell apart what behaves differently.
 * *good: false where they are too many (fold.h). WEIR_ERR_MEMORY. */
weir_code fold_colour(weir_fold *fold, const double *capacities, bool *good);
/* Checks the classes one by one, and builds their net and their bodies. *good: false where a check
 * fails. members and starts have room. */
weir_code fold_build(weir_fold *fold, const double *capacities, bool *good, weir_err *err);

#endif
