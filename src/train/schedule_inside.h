/* schedule_inside.h: how the files of the schedules fill in their lists. */
#ifndef WEIR_TRAIN_SCHEDULE_INSIDE_H
#define WEIR_TRAIN_SCHEDULE_INSIDE_H

#include "train/schedule.h"

typedef struct {
    uint32_t stages, chunks, micro_batches;
    weir_task *tasks; /* of all stages, one after the other */
    uint32_t count;
} schedule_writer;

void schedule_put(schedule_writer *w, weir_task_kind kind, uint32_t chunk, uint32_t micro_batch);

/* One stage each. */
void schedule_write_gpipe(schedule_writer *w, uint32_t stage);
void schedule_write_1f1b(schedule_writer *w, uint32_t stage);
void schedule_write_interleaved(schedule_writer *w, uint32_t stage);
void schedule_write_dualpipe(schedule_writer *w, uint32_t stage);
void schedule_write_dualpipe_v(schedule_writer *w, uint32_t stage);

/* The position that the chunk of the stage holds. */
uint32_t schedule_position(weir_schedule_kind kind, uint32_t stages, uint32_t stage,
                           uint32_t chunk);

/* All stages. What is searched has orders instead of tasks: a byte for each task, kind x 2 + chunk
 * (0 forward, 1 dgrad, 2 wgrad), 3 x chunks x micro_batches for each stage; micro-batches follow
 * each other in each kind and chunk. */
enum { SCHEDULE_KINDS = 3 };

/* Durations in ticks, a small share of the longest, so that sums are exact and ties are ties. */
typedef struct {
    int64_t of[SCHEDULE_KINDS];
} schedule_ticks;
typedef struct {
    schedule_ticks *cell; /* by stage x chunks + chunk */
    int64_t send;
    int64_t wgrad_kept; /* of KEPT_UNIT, which a forward keeps */
} schedule_clock;
enum { SCHEDULE_KEPT_UNIT = 1 << 10 };

weir_code schedule_clock_of(const weir_schedule_wish *wish, weir_arena *arena,
                            schedule_clock *clock, weir_err *err);
weir_code schedule_search_zero(const weir_schedule_wish *wish, const schedule_clock *clock,
                               weir_arena *arena, uint8_t *order, weir_err *err);
weir_code schedule_search_v(const weir_schedule_wish *wish, const schedule_clock *clock,
                            weir_arena *arena, uint8_t *order, weir_err *err);

#endif
