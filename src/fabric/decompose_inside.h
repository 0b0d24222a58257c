/* decompose_inside.h: what the methods of decompose.h share while one matrix is taken apart. */
#ifndef WEIR_FABRIC_DECOMPOSE_INSIDE_H
#define WEIR_FABRIC_DECOMPOSE_INSIDE_H

#include "fabric/decompose.h"

typedef struct {
    uint32_t n;
    weir_decompose_terms terms; /* defaults filled in */
    double line_bytes;          /* the busiest row or column of the demand */
    double dust_bytes;          /* what rounding may leave in a cell that should be empty */
    double *filled;             /* n*n: the demand with all lines as long as the busiest; owned */
    uint32_t *match;            /* n; owned */
    double *weights;            /* n*n; owned */
    double elapsed_s;           /* of the configurations so far, delays included */
    weir_configurations *found;
} decomposition;

/* The matrix of the match is carried for `seconds`: a new configuration. */
weir_code decomposition_add(decomposition *d, double seconds, weir_err *err);
/* Nothing is left, the packet net is done with the rest by now, or max_count is reached. */
bool decomposition_is_done(const decomposition *d);

weir_code decompose_birkhoff(decomposition *d, weir_err *err);
weir_code decompose_solstice(decomposition *d, weir_err *err);
weir_code decompose_eclipse(decomposition *d, weir_err *err);

#endif
