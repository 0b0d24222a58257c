/* kinds.h: what kind of communication a device span is, and between whom.
 *
 * Told by, in this order: what the profiler recorded with the kernel, the kernel's name, the
 * innermost "nccl:..." annotation or c10d operation around its launch.
 *
 * Not here: which spans belong together (pairing.h). */
#ifndef WEIR_MATCH_KINDS_H
#define WEIR_MATCH_KINDS_H

#include "match/match.h"

typedef struct {
    weir_span_id span;
    weir_comm_kind kind;
    bool is_message;
    int32_t src, dst; /* of a message, as recorded (global or within the group); -1 = unknown */
} comm_told;

/* told[i].span is given, ascending; the rest is filled in. */
weir_code kinds_resolve(const weir_timeline *t, const weir_match_options *options,
                        const weir_span_id *launch, comm_told *told, uint32_t count, weir_err *err);

#endif
