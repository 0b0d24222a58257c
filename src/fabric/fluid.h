/* fluid.h: shares link bandwidth among bodies, max-min fairly per connection.
 *
 * A body moves at one rate (units of progress per second) and loads link l with rate x
 * bytes_per_unit[l]. A message has 1 on each link of its route; a ring all-reduce 1 on each link of
 * its rings (the slowest sets the pace); n equal independent messages are one body with the number
 * of them that cross link l; packet spraying gives fractions. Rates solve weighted max-min:
 * rate / weight is equal for all that one link holds back, and nobody's can grow unless a smaller
 * one shrinks (progressive filling; Bertsekas and Gallager, Data Networks, 6.5.2).
 *
 * A full solve costs O(incidences + links x log links). After a small change only what the change
 * reaches is solved again, with the same result to the bit: bodies that freeze earlier, or at links
 * that the change does not reach, keep their place in the freeze order (docs/model/fluid.md).
 *
 * Any number of fluids may share a sealed net; one fluid belongs to one thread at a time.
 * Not here: time, sizes and ends (bodies.h), routes, symmetry (fold.h). */
#ifndef WEIR_FABRIC_FLUID_H
#define WEIR_FABRIC_FLUID_H

#include "fabric/net.h"

typedef uint32_t weir_body_id; /* reused some time after removal */

typedef struct {
    uint32_t count;               /* links crossed; 0 is fine */
    const weir_link_id *links;    /* borrowed for the call; a link may occur twice (it adds up) */
    const double *bytes_per_unit; /* as many, above 0 and finite; NULL: 1 on every link */
    double weight;                /* share against others, 0 = 1 */
    double cap;                   /* most units per second, 0 = none */
} weir_path;

typedef enum {
    WEIR_SOLVE_CHOOSE = 0, /* by the size of the change */
    WEIR_SOLVE_FULL,
    WEIR_SOLVE_PART, /* what the change reaches, however much that is (for tests) */
} weir_solve;

typedef struct {
    uint64_t full_solves, part_solves;
    uint64_t abandoned; /* partial solves that reached too much and became full ones */
    uint64_t visits;    /* bodies looked at on links, in all solves */
} weir_fluid_work;

typedef struct weir_fluid weir_fluid;

/* net must be sealed and outlive the fluid. */
weir_code weir_fluid_new(const weir_net *net, weir_fluid **fluid, weir_err *err);
void weir_fluid_free(weir_fluid *fluid); /* NULL is fine */

/* Stores a body, which takes no bandwidth before weir_fluid_start. WEIR_ERR_INPUT: a link that does
 * not exist, a coefficient, weight or cap that is not above 0. */
weir_code weir_fluid_add(weir_fluid *fluid, const weir_path *path, weir_body_id *body,
                         weir_err *err);
/* Lets a stored body take its share from the next solve on. Once for each body. */
weir_code weir_fluid_start(weir_fluid *fluid, weir_body_id body, weir_err *err);
void weir_fluid_remove(weir_fluid *fluid, weir_body_id body); /* started or not */
/* 0: the link is broken, its bodies stand still. WEIR_ERR_INPUT: negative or not a number. */
weir_code weir_fluid_set_capacity(weir_fluid *fluid, weir_link_id link, double bytes_per_s,
                                  weir_err *err);

/* Rates for the present set of bodies. WEIR_ERR_MEMORY: as before, may be tried again. */
weir_code weir_fluid_solve(weir_fluid *fluid, weir_solve how, weir_err *err);

/* As of the last solve. INFINITY: nothing holds the body back. 0 before its first solve. */
double weir_fluid_rate(const weir_fluid *fluid, weir_body_id body);
/* The link that holds the body back; WEIR_NONE: its own cap, or nothing. */
weir_link_id weir_fluid_bottleneck(const weir_fluid *fluid, weir_body_id body);
/* The bodies whose rate the last solve changed, each once; good until the next call that changes
 * the fluid. */
const weir_body_id *weir_fluid_changed(const weir_fluid *fluid, uint32_t *count);

double weir_fluid_capacity(const weir_fluid *fluid, weir_link_id link);
/* Bytes per second on a link, summed in order of start. */
double weir_fluid_load(const weir_fluid *fluid, weir_link_id link);
uint32_t weir_fluid_body_bound(const weir_fluid *fluid); /* every id is below it */
weir_fluid_work weir_fluid_work_done(const weir_fluid *fluid);

/* What one more byte per second on each link adds to sum(gain[b] x rate of b): the bottleneck
 * structure walked backwards, O(incidences) for all links together (Ros-Giralt et al., SIGMETRICS
 * 2020). gain: by body id; value: by link. Where two links hold a body back equally this is the
 * derivative for the one that froze it: weir_fluid_probe tells the two sides. */
weir_code weir_fluid_values(weir_fluid *fluid, const double *gain, double *value, weir_err *err);
/* sum(gain[b] x rate of b) if link had this capacity; the fluid is as before when it returns. */
weir_code weir_fluid_probe(weir_fluid *fluid, weir_link_id link, double bytes_per_s,
                           const double *gain, double *sum, weir_err *err);

#endif
