/* nccl_inside.h: what foretelling (nccl_foretell.c), comparing (nccl_compare.c) and diagnosing
 * (nccl_diagnose.c, nccl_causes.c) of nccl-tests share. */
#ifndef WEIR_STUDY_NCCL_INSIDE_H
#define WEIR_STUDY_NCCL_INSIDE_H

#include "study/nccl_compare.h"

typedef struct {
    const weir_cluster *cluster;
    const weir_nccl_options *options;
    weir_library *library; /* NULL: closed forms without latency */
    const weir_nccl_run *run;
    weir_nccl_comparison *out;
    const weir_nccl_rules *rules;
    weir_arena *arena;
    weir_err *err;
} nccl_judge;

/* --- nccl_foretell.c --- */

bool nccl_kind_of(weir_comm_kind kind, weir_collective_kind *found);
/* The run on the cluster; false: its kind is none that is foretold. */
bool nccl_shape_of(const nccl_judge *j, weir_collective_shape *shape);
/* Seconds of the best choice for the shape. */
weir_code nccl_foretell(const nccl_judge *j, const weir_collective_shape *shape,
                        weir_collective_choice *choice, double *seconds);
/* The same on raw links without latency, whatever algorithm is best. */
double nccl_limit_s(const weir_collective_shape *shape);
/* The rate of a device's NICs (in one node: of its link) at which the shape takes so long. */
weir_code nccl_seeming_rate(const nccl_judge *j, const weir_collective_shape *shape, double seconds,
                            double *bytes_per_s);

/* --- nccl_diagnose.c, nccl_causes.c --- */

weir_code nccl_diagnose(const nccl_judge *j);
weir_code nccl_add_finding(const nccl_judge *j, weir_nccl_finding_kind kind, uint64_t from_bytes,
                           const char *fmt, ...) WEIR_PRINTF(4, 5);
/* Candidates for why the row (of the plateau) is slower than foretold. */
weir_code nccl_tell_gap(const nccl_judge *j, const weir_nccl_compared *row);

#endif
