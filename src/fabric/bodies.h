/* bodies.h: transfers on a net over time: who starts, who ends, what breaks, and when.
 *
 * A body enters the net `latency_s` after its start, moves at the rate that fluid.h gives it, and
 * ends when its `size` is through; rates change only when somebody enters or ends or a link
 * changes. Moments are double seconds since the run's origin; ends are rounded once, to ns, and
 * told in the order (ns, tag, id). Ends within 1e-12 of a moment count as simultaneous, so that
 * rounding does not tear equal transfers apart.
 *
 * An event costs what it changes (fluid.h), plus O(log bodies) for each rate that changed.
 * Not here: operations and their predecessors (sim/), routes. One thread at a time. */
#ifndef WEIR_FABRIC_BODIES_H
#define WEIR_FABRIC_BODIES_H

#include "fabric/fluid.h"

typedef struct {
    weir_path path;
    double size;      /* units of progress: bytes where bytes_per_unit is 1; 0 ends on entering */
    double start_s;   /* earlier than now counts as now */
    double latency_s; /* 0 or more */
    uint64_t tag;     /* the caller's number: orders ends of the same ns */
} weir_body;

typedef struct {
    weir_body_id body;       /* as add gave it; may be given again from now on */
    weir_link_id stalled_by; /* it never arrived: this link is broken; WEIR_NONE: it arrived */
    uint64_t tag;
    double end_s;
    int64_t end_ns;
} weir_body_end;

typedef struct weir_bodies weir_bodies;

weir_code weir_bodies_new(const weir_net *net, weir_bodies **bodies, weir_err *err);
void weir_bodies_free(weir_bodies *bodies); /* NULL is fine */

/* WEIR_ERR_INPUT: as weir_fluid_add, or a size, start or latency that is negative or not finite. */
weir_code weir_bodies_add(weir_bodies *bodies, const weir_body *body, weir_body_id *id,
                          weir_err *err);
void weir_bodies_remove(weir_bodies *bodies, weir_body_id id); /* never ends; id is not ended */
/* From at_s on the link carries this much; 0 = broken. Earlier than now counts as now. Several for
 * one moment: the last one that was added holds. */
weir_code weir_bodies_set_capacity(weir_bodies *bodies, weir_link_id link, double at_s,
                                   double bytes_per_s, weir_err *err);

/* When something will happen next; INFINITY: never, all that is left (if any) is stalled. */
weir_code weir_bodies_next_s(weir_bodies *bodies, double *next_s, weir_err *err);
/* Plays until then, its own moment included, and stands there. WEIR_ERR_USAGE: that is past. */
weir_code weir_bodies_advance(weir_bodies *bodies, double until_s, weir_err *err);
/* Ends what stands still at broken links, each at the moment since when it stood; to be called when
 * nothing else can happen. */
weir_code weir_bodies_stall(weir_bodies *bodies, weir_err *err);
/* All of that, until nobody is left. */
weir_code weir_bodies_run(weir_bodies *bodies, weir_err *err);
/* The next end that was not yet taken; false: there is none. */
bool weir_bodies_take(weir_bodies *bodies, weir_body_end *end);

double weir_bodies_now_s(const weir_bodies *bodies);
uint32_t weir_bodies_count(const weir_bodies *bodies);               /* not yet ended */
double weir_bodies_left(const weir_bodies *bodies, weir_body_id id); /* of its size, now */
/* When it will enter; once it has, a moment that is past. */
double weir_bodies_enter_s(const weir_bodies *bodies, weir_body_id id);
weir_fluid *weir_bodies_fluid(weir_bodies *bodies); /* rates, loads, values; add nothing to it */

/* Seconds to nanoseconds, nearest; what int64 cannot hold becomes its largest value. */
int64_t weir_ns_from_s(double s);

#endif
