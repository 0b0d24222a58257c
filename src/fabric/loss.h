/* loss.h: does the light of a circuit arrive: losses on its way against what its modules allow.
 *
 * Losses in dB add up: fibre by length, mated connectors, passes of optical switches, circulators
 * (one at each end where both directions share a fibre). A module allows a channel insertion loss.
 * A budget or a loss that is not known is said; it never closes. O(1); O(modules) for a better one.
 *
 * Not here: dispersion, reflections, crosstalk, ageing. */
#ifndef WEIR_FABRIC_LOSS_H
#define WEIR_FABRIC_LOSS_H

#include "base/text.h"
#include "fabric/parts.h"

typedef struct {
    const weir_parts *parts; /* fibre, and other modules */
    const weir_module_part *module;
    const weir_ocs_part *ocs; /* NULL: none on the way */
    uint32_t passes;          /* of optical switches */
    double fibre_m;           /* of the whole way */
    uint32_t connectors;      /* mated pairs beside those of modules and optical switches */
} weir_loss_input;

typedef enum {
    WEIR_LOSS_CLOSES = 0,     /* even where each optical switch loses its most */
    WEIR_LOSS_CLOSES_TYPICAL, /* where they lose what they typically do, not at their most */
    WEIR_LOSS_OPEN,           /* not even then */
    WEIR_LOSS_UNKNOWN,        /* a figure is missing */
} weir_loss_verdict;

typedef struct {
    double fibre_db, connector_db, circulator_db;
    double ocs_db, ocs_max_db;   /* of all passes */
    double loss_db, loss_max_db; /* sums; NAN where a loss is not known */
    double budget_db;            /* of the module; NAN: not known */
    weir_loss_verdict verdict;
    /* OPEN, CLOSES_TYPICAL: the module of that rate with the least budget that would close at the
     * typical loss (OPEN) or at the largest one; NULL: none is known. */
    const weir_module_part *would_close;
    const char *missing;    /* UNKNOWN: which figure, "budget", "loss", ...; else NULL */
    const char *missing_of; /* of which part, "transport" for fibre */
} weir_loss;

weir_loss weir_loss_of(const weir_loss_input *input);

/* Appends one sentence: "3.60 dB (at most 4.60 dB) of the 3.00 dB that 400g-dr4 allows: does not
 * close; 400g-fr4 (4.00 dB) would". */
void weir_loss_say(const weir_loss_input *input, const weir_loss *loss, weir_text *text);

#endif
