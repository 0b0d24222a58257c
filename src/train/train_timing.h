/* train_timing.h: when everything of a step happens, in closed form: the times of passes, the list
 * of each stage, played, and what comes before and behind.
 *
 * With a barrier all stages begin a step at 0 and end it together. Without one (zero-bubble's
 * post-validation, Qi et al. 2401.10241, section 4) a stage goes on with the next step when it has
 * ended this one; before its optimiser it waits for one number from the stage before (the norm so
 * far). What repeats then is the steady state of that system: every stage takes period_s from one
 * beginning to the next, and times of a stage count from its own beginning.
 *
 * Not here: causes and bytes (train_step.h), the played step (train_program.h). */
#ifndef WEIR_TRAIN_TRAIN_TIMING_H
#define WEIR_TRAIN_TRAIN_TIMING_H

#include "train/train_tail.h"

typedef struct {
    weir_stage_costs costs;
    const weir_pass_times *times; /* by position */
    weir_schedule schedule;
    const double *ready_s; /* by position: parameters gathered; NULL: they are there */
    weir_schedule_times played;
    weir_train_tail tail;
    const double *begin_s; /* by stage: when it begins a step, the first of them 0; NULL: a barrier,
                              all at once */
    double period_s;       /* of all stages, without step_s and jitter */
} weir_train_timing;

/* Whether all stages meet between steps. */
bool weir_train_has_barrier(const weir_train_job *job);
/* Of a pass's activations, what gradients of weights need: the products' inputs and the gradients
 * of their outputs (Qi et al., table 1: 32 of 34 + 5 a s / h). Of the model's last layer. */
double weir_train_wgrad_share(const weir_train_job *job);
/* The axis that the gradients' norm is booked under. */
weir_train_axis weir_train_norm_axis(const weir_train_job *job);
/* job: sound. The tables live in the arena. */
weir_code weir_train_timing_of(const weir_train_job *job, weir_arena *arena,
                               weir_train_timing *timing, weir_err *err);

#endif
