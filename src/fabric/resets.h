/* resets.h: how often circuits are worth setting again: never, per job, per phase, per step.
 *
 * A job repeats communication steps; consecutive steps form phases. Each step takes a known time on
 * each candidate topology (circuit_carry tells). Setting another topology before a step costs
 * max(0, delay_s - slack_s): what the gap before the step does not hide. The first topology of a
 * job is set before it begins and costs nothing.
 *
 * Not here: which topologies there are (circuit.h, decompose.h). */
#ifndef WEIR_FABRIC_RESETS_H
#define WEIR_FABRIC_RESETS_H

#include "weir/base.h"

/* Borrowed tables. */
typedef struct {
    uint32_t steps, topologies;
    const double *step_s;          /* steps x topologies; INFINITY: does not run there */
    const double *slack_s;         /* steps: time before each in which circuits may move unseen */
    const uint32_t *phase_of_step; /* rising; NULL: each step is a phase */
    double delay_s;                /* switching and link bring-up together */
    bool repeats;                  /* after the last step comes the first again */
} weir_reset_job;

typedef struct {
    uint32_t resets;  /* in one pass over the steps */
    double steps_s;   /* sum over the steps, each on its topology */
    double exposed_s; /* waiting for circuits */
    double total_s;
} weir_reset_cost;

/* The plan topology_of_step (steps entries) as it stands. */
weir_reset_cost weir_reset_measure(const weir_reset_job *job, const uint32_t *topology_of_step);

/* The plan that takes least, by dynamic programming over steps with the topology as state:
 * O(steps x topologies), times topologies where the job repeats. Ties: no reset, then the lower
 * topology. per_phase: one topology for all steps of a phase.
 * WEIR_ERR_INPUT: no steps or topologies, a time, slack or delay that is negative or NaN, phases
 * that fall, a step that runs nowhere. */
weir_code weir_reset_plan(const weir_reset_job *job, bool per_phase, uint32_t *topology_of_step,
                          weir_reset_cost *cost, weir_err *err);

typedef enum {
    WEIR_RESET_NEVER = 0, /* a topology that is not made for this job */
    WEIR_RESET_PER_JOB,   /* the best one for all steps together */
    WEIR_RESET_PER_PHASE,
    WEIR_RESET_PER_STEP,
    WEIR_RESET_LEVELS
} weir_reset_level;

typedef struct {
    weir_reset_cost cost[WEIR_RESET_LEVELS];
    /* The delay below which this level beats PER_JOB (0: at no delay); 0 for the first two. */
    double break_even_s[WEIR_RESET_LEVELS];
    weir_reset_level best; /* the least total, by more than rounding; ties: fewer resets */
} weir_reset_levels;

/* given: the topology of NEVER, a row of job; WEIR_NONE: there is none (its cost is INFINITY). */
weir_code weir_reset_compare(const weir_reset_job *job, uint32_t given, weir_reset_levels *levels,
                             weir_err *err);

#endif
