/* gaps.h: idle time of devices whose reason is known beforehand (a simulation writes it down).
 *
 * Not here: reasons that have to be found (ledger/idle.c). */
#ifndef WEIR_TIMELINE_GAPS_H
#define WEIR_TIMELINE_GAPS_H

#include "timeline/waits.h"

typedef struct {
    int64_t begin_ns, end_ns; /* clock of the device's own host */
    weir_cause cause;
} weir_gap;

/* gaps[first[d]] .. gaps[first[d + 1] - 1] are those of device d of a timeline, by begin; they do
 * not overlap. */
typedef struct {
    const weir_gap *gaps;
    const uint32_t *first; /* device_count + 1 */
} weir_gaps;

#endif
