/* train_check_inside.h: between the files that check a plan. */
#ifndef WEIR_TRAIN_TRAIN_CHECK_INSIDE_H
#define WEIR_TRAIN_TRAIN_CHECK_INSIDE_H

#include "train/train_check.h"

typedef unsigned long long ull;

typedef struct {
    const weir_train_job *job;
    uint64_t devices;
    weir_train_fault *fault;
} checker;

typedef bool (*check_rule)(const checker *c, uint64_t value);

/* Always false. works: the value that the text names; 0: none. */
bool check_fail(const checker *c, const char *key, uint64_t works, const char *fmt, ...)
    WEIR_PRINTF(4, 5);
/* The nearest value up to `most` that the rule likes, the smaller of two; 0: none. */
uint64_t check_nearest(const checker *c, check_rule likes, uint64_t value, uint64_t most);
/* Chunks that a model can be cut into: embedding and head count where the layout says so. */
uint64_t check_most_positions(const checker *c);
/* Whether the rest of the plan goes with so many stages. */
bool check_is_pipeline(const checker *c, uint64_t value);

/* train_check_stages.c: stages, their layers, the schedule, what is computed again. */
bool check_stages(const checker *c);

#endif
