/* train_check.h: whether a plan fits the model, the cluster and itself.
 *
 * One sentence for the first thing that does not: the key, the value, and the nearest value that
 * works. Not here: memory (train_memory.h), unknown keys (scenario/). */
#ifndef WEIR_TRAIN_TRAIN_CHECK_H
#define WEIR_TRAIN_TRAIN_CHECK_H

#include "train/train_plan.h"

typedef struct {
    const char *key; /* of the scenario: "plan.tensor" */
    char text[256];  /* "found 12 for 32 heads, expected a divisor of them such as 8 or 16" */
    uint64_t works;  /* the nearest value of the key that works; 0: the text alone says it */
} weir_train_fault;

/* devices: of the cluster. True where all fits. */
bool weir_train_is_sound(const weir_train_job *job, uint64_t devices, weir_train_fault *fault);

#endif
