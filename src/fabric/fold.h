/* fold.h: bodies and links that behave alike are solved once.
 *
 * Colour refinement: bodies begin with the colour (size, start, latency, weight, cap), links with
 * their capacity; then each takes in the multiset of its neighbours' colours, until the number of
 * classes stops growing. In the partition that is left, every link of a class carries the same load
 * from every class of bodies, and max-min rates are unique: so members of a class have one rate,
 * and the net of classes (one link and one body for each) gives it exactly. What ends, ends as a
 * class. The partition is found by hashes and then checked, body by body and link by link.
 *
 * O(incidences) a round, a few rounds; where paths are long, links that no body tells apart count
 * as one in all rounds but the first. Regular traffic folds to a handful of classes; hashed routes
 * do not fold, and then weir_fold_run plays every body itself. Not here: ranks and their
 * operations (sim/ folds those). */
#ifndef WEIR_FABRIC_FOLD_H
#define WEIR_FABRIC_FOLD_H

#include "fabric/bodies.h"

typedef struct {
    const weir_body *bodies; /* their tags play no part in folding */
    uint32_t count;
    const double *capacities; /* by link; NULL: those of the net */
    /* By link: links of different colours are told apart, whatever they carry; NULL: all alike.
     * With colours folding is worth while where bodies and links together halve. */
    const uint64_t *link_colours;
    /* By body: one more link, which its path does not name (coefficient 1); WEIR_NONE: none. NULL:
     * for no body. weir_fold_new only. */
    const weir_link_id *also;
} weir_traffic;

typedef struct weir_fold weir_fold;

/* The classes of this traffic. *fold is NULL, without an error, where it is not worth while: more
 * classes than half of the bodies, or (never seen) the check failed. */
weir_code weir_fold_new(const weir_net *net, const weir_traffic *traffic, weir_fold **fold,
                        weir_err *err);
void weir_fold_free(weir_fold *fold); /* NULL is fine */

uint32_t weir_fold_body_classes(const weir_fold *fold);
uint32_t weir_fold_link_classes(const weir_fold *fold);
const uint32_t *weir_fold_class_of_body(const weir_fold *fold); /* by body, owned by the fold */
const uint32_t *weir_fold_class_of_link(const weir_fold *fold); /* by link */
uint32_t weir_fold_multiplicity(const weir_fold *fold, uint32_t body_class);
/* One link for each class of links; owned by the fold. */
const weir_net *weir_fold_net(const weir_fold *fold);
/* One body for all of a class, on that net: coefficients count the members on one link. Its tag is
 * its class. Borrowed from the fold. */
weir_body weir_fold_body(const weir_fold *fold, uint32_t body_class);

typedef struct {
    weir_link_id link;
    double at_s;
    double bytes_per_s; /* from then on; 0 = broken */
} weir_link_change;

typedef struct {
    const weir_link_change *items; /* in any order; of one moment, the last one holds */
    uint32_t count;
} weir_link_changes;

typedef struct {
    double end_s;
    int64_t end_ns;
    weir_link_id stalled_by; /* as in weir_body_end */
} weir_fold_end;

typedef struct {
    uint32_t body_classes, link_classes; /* of the first fold; 0: it did not fold */
    uint32_t folds;                      /* stretches between changes that were played folded */
    uint32_t unfolded;                   /* and not folded */
} weir_fold_work;

/* Plays the traffic to its end, folded where that pays; folds anew after each change. ends: by
 * body. changes and work may be NULL. On failure what ends holds means nothing. */
weir_code weir_fold_run(const weir_net *net, const weir_traffic *traffic,
                        const weir_link_changes *changes, weir_fold_end *ends, weir_fold_work *work,
                        weir_err *err);

#endif
