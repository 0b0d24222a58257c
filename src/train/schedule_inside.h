/* schedule_inside.h: how the files of the schedules fill in their lists. */
#ifndef WEIR_TRAIN_SCHEDULE_INSIDE_H
#define WEIR_TRAIN_SCHEDULE_INSIDE_H

#include "train/schedule.h"

typedef struct {
    uint32_t stages, chunks, micro_batches;
    weir_task *tasks; /* of the stage that is being written */
    uint32_t count;
} schedule_writer;

void schedule_put(schedule_writer *w, weir_task_kind kind, uint32_t chunk, uint32_t micro_batch);

/* One stage each. */
void schedule_write_gpipe(schedule_writer *w, uint32_t stage);
void schedule_write_1f1b(schedule_writer *w, uint32_t stage);
void schedule_write_interleaved(schedule_writer *w, uint32_t stage);
void schedule_write_zb_h1(schedule_writer *w, uint32_t stage);

#endif
