/* schedule.h: pipeline schedules as lists of tasks, and how long they take.
 *
 * A stage (one rank of the pipeline) runs its tasks in order; a task is one pass of one chunk for
 * one micro-batch. A forward needs the forward of the position before, a backward the backward of
 * the position behind and its own forward; each hand-over between stages takes send_s. Positions
 * are those of the model: chunk c of stage s holds position_of[s x chunks + c].
 *
 * Sources: docs/model/schedules.md (Narayanan 2104.04473, Qi 2401.10241, DeepSeek-V3 2412.19437).
 * Not here: how long passes take (train_stage.h), the timeline (train_program.h). */
#ifndef WEIR_TRAIN_SCHEDULE_H
#define WEIR_TRAIN_SCHEDULE_H

#include "base/arena.h"
#include "train/train_plan.h"

typedef enum {
    WEIR_TASK_FORWARD = 0,
    WEIR_TASK_BACKWARD, /* both gradients at once */
    WEIR_TASK_DGRAD,    /* of inputs: what the position before waits for */
    WEIR_TASK_WGRAD,    /* of weights: may wait */
    WEIR_TASK_KINDS
} weir_task_kind;

typedef struct {
    uint8_t kind;
    uint8_t paired; /* DualPipe: runs together with the next task of the stage (its all-to-all under
                       the other's computing) */
    uint16_t chunk;
    uint32_t micro_batch;
} weir_task;

typedef struct {
    weir_schedule_kind kind;
    uint32_t stages, chunks, micro_batches; /* chunks of a stage: DualPipe 2, else the plan's */
    const uint32_t *first;                  /* by stage, stages + 1 entries: rows of tasks */
    const weir_task *tasks;
    const uint32_t *position; /* by stage x chunks + chunk */
    uint32_t in_flight;       /* micro-batches x chunks whose activations the busiest stage keeps */
    const uint32_t *peak;     /* by stage: the same of each, in chunks; kept until the wgrad ends */
} weir_schedule;

/* What the schedule needs that the plan does not have: the key, and a sentence with the nearest
 * value that works ("interleaved 1F1B needs micro-batches that the stages divide: ..."). */
typedef struct {
    const char *key;
    char text[192];
} weir_schedule_fault;
bool weir_schedule_is_possible(weir_schedule_kind kind, uint32_t stages, uint32_t chunks,
                               uint32_t micro_batches, weir_schedule_fault *fault);

typedef struct {
    double forward_s, dgrad_s, wgrad_s;
} weir_pass_times;

/* Zero-bubble schedules are searched for given times (of the median stage; V: for their mean), in
 * the memory of p (H1, V) or 2 p (H2) micro-batches; the others do not look at them. */
typedef struct {
    weir_schedule_kind kind;
    uint32_t stages, chunks, micro_batches;
    const weir_pass_times *times; /* by position; NULL: 1, 1, 1 and for H2 2 p - 1 micro-batches:
                                     the lists that Qi et al. made by hand */
    double send_s;
    double wgrad_share; /* of a pass's activations, kept from dgrad to wgrad; 0: all */
} weir_schedule_wish;

/* The schedule lives in the arena. O(tasks). */
weir_code weir_schedule_search(const weir_schedule_wish *wish, weir_arena *arena,
                               weir_schedule *schedule, weir_err *err);

/* Of the passes at one position, for pairs of a forward and a backward: the exchanges of either,
 * which run beside kernels that do not wait for them. Those are the other pass's, and for both the
 * gradients of weights (DeepSeek-V3, 2412.19437, 3.2.1). */
typedef struct {
    double forward_exchange_s, backward_exchange_s;
    double forward_kernels_s, dgrad_kernels_s, wgrad_kernels_s;
} weir_pair_share;
/* Between two stages, in either direction. */
double weir_schedule_hop_s(const double *hop_s, uint32_t stages, uint32_t one, uint32_t other);
/* What a pair saves against one after the other: all that can be hidden. */
double weir_pair_saved_s(const weir_pair_share *forward, const weir_pair_share *backward);

typedef struct {
    const weir_pass_times *times; /* by position */
    double send_s;                /* activations or gradients from stage to stage */
    const double *hop_s; /* the same by stage: between it and the one behind it, the last and
                            the first; NULL: send_s */
    bool sends_block;    /* sender and receiver compute nothing meanwhile */
    const weir_pair_share *pair; /* by position: DualPipe's pairs begin and end as one; NULL: they
                                    save nothing */
    const double *ready_s;       /* by position: first forward not before (parameters gathered);
                                    NULL: 0 */
    const double *free_s;        /* by stage: begins its list not before, and its times count from
                                    then; NULL: 0 (steps without a barrier: train_timing.h) */
} weir_schedule_costs;

typedef struct {
    double makespan_s; /* end of the last task; of the stage that takes longest, from its free_s */
    double span_s;     /* longest time from a stage's first start to its last end */
    double *start_s;   /* by row of tasks */
    double *stage_begin_s, *stage_end_s, *stage_busy_s; /* by stage: first start, last end, work */
    double *stage_saved_s; /* by stage: what its pairs save; busy is without */
    double *stage_send_s;  /* by stage: of what it waited, while its messages moved */
    double *gradient_s;    /* by position: its last wgrad (or backward) has ended */
    double bubble_share;   /* mean over stages of 1 - busy / makespan */
} weir_schedule_times;

/* Plays it: the longest path. The tables live in the arena. O(tasks). WEIR_ERR_BUG: a cycle. */
weir_code weir_schedule_play(const weir_schedule *schedule, const weir_schedule_costs *costs,
                             weir_arena *arena, weir_schedule_times *played, weir_err *err);

#endif
