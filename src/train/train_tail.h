/* train_tail.h: what comes before and behind the schedule: parameters gathered, gradients reduced,
 * the norm, the optimiser.
 *
 * Gradients of a chunk may be reduced while its last backward pass is still running, bucket by
 * bucket; collectives of a stage follow one another. All stages meet at the gradients' norm. With
 * ZeRO 1 and 2 the parameters are gathered behind the optimiser, or before each chunk's first
 * forward pass in the next step where that overlaps.
 *
 * Not here: what is exchanged in every micro-batch (train_layer.h). */
#ifndef WEIR_TRAIN_TRAIN_TAIL_H
#define WEIR_TRAIN_TRAIN_TAIL_H

#include "train/train_step.h"
#include "train/train_wire.h"

typedef struct {
    uint32_t stages;
    bool has_barrier; /* all stages meet behind their gradients */
    weir_collective_kind reduction;
    double *reduce_end_s; /* by stage: gradients reduced, in time of the schedule */
    double *reduce_s;     /* by stage: that it takes, hidden or not */
    double *reduce_bytes, *gather_s, *gather_bytes;
    weir_wire_parts parts; /* of all reductions and gathers, all stages */
    double *wait_s;        /* by stage: before its first pass, while its parameters are gathered */
    double meet_s;         /* all stages' gradients are reduced */
    double norm_s;         /* of the ranks that sum it; without a barrier those of a stage */
    double optimizer_s;    /* of the stage that takes longest */
    double *stage_optimizer_s;
    double after_s;   /* parameters gathered behind the optimiser, of the longest stage */
    double *behind_s; /* by stage: its own */
    double *others_s; /* by stage: waiting for others behind its own gradients, idle at the end */
    double hop_s;     /* the norm so far, handed on from stage to stage (train_timing.h) */
} weir_train_tail;

/* Of all parameters of a chunk, so many bytes each. */
weir_wire weir_train_tail_wire(const weir_train_job *job, weir_collective_kind kind,
                               const weir_chunk_cost *chunk, double bytes);
/* By position: when its parameters are there; NULL: from the beginning. */
weir_code weir_train_tail_ready(const weir_train_job *job, const weir_stage_costs *costs,
                                const weir_schedule *schedule, weir_arena *arena,
                                const double **ready_s, weir_err *err);
weir_code weir_train_tail_of(const weir_train_job *job, const weir_stage_costs *costs,
                             const weir_schedule *schedule, const weir_schedule_times *played,
                             weir_arena *arena, weir_train_tail *tail, weir_err *err);
/* What the stage waits for its first parameters. */
double weir_train_tail_wait(const weir_train_tail *tail, uint32_t stage);
/* Adds what it takes to the causes and axes of step. */
void weir_train_tail_book(const weir_train_tail *tail, const weir_schedule_times *played,
                          weir_train_step *step);

#endif
