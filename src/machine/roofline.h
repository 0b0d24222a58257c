/* roofline.h: the one place that decides between arithmetic and memory (DESIGN 2.2).
 *
 * S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
 * multicore architectures", CACM 52(4), 2009: a kernel needs t_math = FLOP / peak(dtype) and
 * t_memory = bytes / bandwidth, and belongs to the larger one. Datasheet figures: both sides are
 * equally optimistic.
 *
 * Not here: how many FLOP and bytes a kernel has (classify/op_cost.h). */
#ifndef WEIR_MACHINE_ROOFLINE_H
#define WEIR_MACHINE_ROOFLINE_H

#include "machine/accelerator.h"

typedef enum {
    WEIR_BOUND_UNKNOWN = 0, /* the accelerator is not known, and known ones disagree */
    WEIR_BOUND_MATH,
    WEIR_BOUND_MEMORY
} weir_bound;

/* FLOP/s of the format, or of the format that the device calculates it in where it has none of its
 * own (fp8 weights on an A100 are calculated in 16 bits). 0 = unknown. */
double weir_roofline_peak(const weir_accelerator *accelerator, weir_dtype dtype);

/* Larger side of the roofline; a tie is arithmetic. False where a figure is missing. */
bool weir_roofline_is_math(double flop, double bytes, const weir_accelerator *accelerator,
                           weir_dtype dtype);

/* The same; where accelerator is NULL, what all of `known` agree on. intensity: FLOP per byte. */
weir_bound weir_roofline_bound(double intensity, const weir_accelerator *accelerator,
                               const weir_accelerators *known, weir_dtype dtype);

/* FLOP per byte where the two sides meet; 0 = unknown. */
double weir_roofline_ridge(const weir_accelerator *accelerator, weir_dtype dtype);

#endif
