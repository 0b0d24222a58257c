/* decompose.h: a demand matrix as a few circuit configurations, one after the other.
 *
 * All-stop model: each port has one circuit, nothing flows while the switch is set and the links
 * come up, so K configurations of w seconds take sum(w) + K (switch_s + linkup_s). Beside it a
 * packet net may carry the rest at the same time. Three methods:
 *  BIRKHOFF  everything on circuits: lines are filled up to the busiest one, then permutations are
 *            taken whose smallest cell is largest and, among these, that empty the most cells (few
 *            configurations; the fewest is NP-hard). O(n^3) for each configuration.
 *  SOLSTICE  (Liu et al. 2015) the same filling, then slices with all cells above a threshold that
 *            is halved, until the packet net can carry what is left. O(n^2.5) for each one.
 *  ECLIPSE   (Bojja Venkatakrishnan et al. 2016) the permutation and duration that carry most for
 *            each second, their delay included; within a window if one is given. O(n^3) for each
 *            duration tried.
 * Not here: circuits that stay (circuit.h), when to set them again (resets.h). */
#ifndef WEIR_FABRIC_DECOMPOSE_H
#define WEIR_FABRIC_DECOMPOSE_H

#include "fabric/demand.h"

typedef enum {
    WEIR_DECOMPOSE_BIRKHOFF = 0,
    WEIR_DECOMPOSE_SOLSTICE,
    WEIR_DECOMPOSE_ECLIPSE,
} weir_decompose_method;

/* Zero means default. */
typedef struct {
    double bytes_per_s;        /* of one circuit; > 0 */
    double switch_s;           /* to move the mirrors, 0 or more */
    double linkup_s;           /* then, until the links carry data, 0 or more */
    double packet_bytes_per_s; /* of each port of the packet net; 0: there is none */
    double window_s;           /* ECLIPSE: all configurations end in it; 0: no limit */
    double tolerance;          /* a cell below this share of the busiest line is done; 0: 1e-9 */
    uint32_t max_count;        /* configurations; 0: n^2 - 2n + 2, what Birkhoff needs at most */
    uint32_t max_durations;    /* ECLIPSE: tried for each one; 0: 64 */
} weir_decompose_terms;

typedef struct {
    double transfer_s;  /* sum of the configurations */
    double switching_s; /* count x switch_s */
    double linkup_s;    /* count x linkup_s */
    double packets_s;   /* of the rest on the packet net; INFINITY: a rest and no such net */
    double total_s;     /* circuits and packets side by side */
    double bound_s;     /* busiest line + one delay: no schedule without packets is faster */
} weir_decompose_times;

typedef struct {
    uint32_t n, count;
    uint32_t *column_of_row; /* count permutations of n entries */
    double *seconds;         /* count: how long each one carries data */
    double *rest_bytes;      /* n*n: what the circuits do not carry; done cells are exactly 0 */
    weir_decompose_times times;
} weir_configurations;

/* WEIR_ERR_INPUT: the demand (weir_demand_check), a rate, delay or tolerance out of range. */
weir_code weir_decompose(const weir_demand *demand, weir_decompose_method method,
                         const weir_decompose_terms *terms, weir_configurations *found,
                         weir_err *err);
void weir_configurations_clear(weir_configurations *found); /* a zeroed one is fine */

#endif
