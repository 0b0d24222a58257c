/* train_sweep_result.h: a training scenario at many settings: what `weir train --sweep` shows.
 *
 * All in closed form. Pointers live in the arena of whoever made it.
 * Not here: how rows come about (study/train_sweep.h), how they are shown (report/). */
#ifndef WEIR_RESULT_TRAIN_SWEEP_RESULT_H
#define WEIR_RESULT_TRAIN_SWEEP_RESULT_H

#include "timeline/waits.h"
#include "weir/base.h"

typedef struct {
    const char *const *values; /* by key */
    const char *refused;       /* why there is no such plan, a sentence; NULL: there is */
    const char *short_reason;  /* the same in a word or two: "plan.tensor"; NULL as refused */
    bool fits;                 /* into memory */
    double step_s, tokens_per_s, tokens_per_s_per_device, mfu, hfu, bubble_share;
    double memory_bytes, capacity_bytes; /* of the fullest device */
    double wait_s[WEIR_WAIT_COUNT];      /* mean over devices; add up to step_s */
} weir_train_sweep_row;

typedef struct {
    const char *scenario_name;
    const char *const *keys;
    uint32_t key_count;
    weir_train_sweep_row *rows; /* the last key goes round first */
    uint32_t row_count;
    uint32_t best; /* most tokens a second of those that fit; WEIR_NONE: none fits */
} weir_train_sweep;

#endif
