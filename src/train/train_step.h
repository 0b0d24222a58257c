/* train_step.h: a training step in closed form: the longest path through the schedule, with what is
 * before and behind it. Below a millisecond for middle-sized plans: sweeps, searches and validation
 * use it; the played step (train_program.h) agrees with it where nothing disturbs.
 *
 * Not here: the timeline, disturbances. */
#ifndef WEIR_TRAIN_TRAIN_STEP_H
#define WEIR_TRAIN_TRAIN_STEP_H

#include "train/train_memory.h"
#include "train/train_stage.h"

typedef struct {
    double step_s;
    double schedule_s;                /* first forward to last backward */
    double gather_s;                  /* parameters gathered that nothing hides */
    double reduce_s;                  /* gradients reduced that nothing hides */
    double optimizer_s;               /* with the gradient norm */
    double rest_s;                    /* step_s of the stack, its jitter, waiting for data */
    double cause_s[WEIR_CAUSE_COUNT]; /* mean over devices; add up to step_s */
    double hidden_s;                  /* communication under computing, mean over devices */
    double bubble_share;
    double flop, model_flop; /* of a step, all devices */
    double tokens;           /* of a step */
    struct {
        double bytes;   /* of a device and step */
        double seconds; /* that they take, hidden or not */
        double exposed_s;
        weir_wire_parts parts;
    } axis[WEIR_AXIS_COUNT];
    weir_train_memory memory;
} weir_train_step;

/* Scratch memory that calls share; reset by each. */
typedef struct weir_train_scratch weir_train_scratch;
weir_train_scratch *weir_train_scratch_new(void); /* NULL: no memory. Owned (free) */
void weir_train_scratch_free(weir_train_scratch *scratch);

/* job: sound. */
weir_code weir_train_step_of(const weir_train_job *job, weir_train_scratch *scratch,
                             weir_train_step *step, weir_err *err);

#endif
