/* schedule_order.c: GPipe, 1F1B and interleaved 1F1B as lists of passes. */
#include "train/schedule_inside.h"

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void schedule_put(schedule_writer *w, weir_task_kind kind, uint32_t chunk, uint32_t micro_batch)
{
    w->tasks[w->count++] =
        (weir_task){.kind = (uint8_t)kind, .chunk = (uint16_t)chunk, .micro_batch = micro_batch};
}

void schedule_write_gpipe(schedule_writer *w, uint32_t stage)
{
    (void)stage;
    for (uint32_t i = 0; i < w->micro_batches; i++) {
        schedule_put(w, WEIR_TASK_FORWARD, 0, i);
    }
    for (uint32_t i = 0; i < w->micro_batches; i++) {
        schedule_put(w, WEIR_TASK_BACKWARD, 0, i);
    }
}

void schedule_write_1f1b(schedule_writer *w, uint32_t stage)
{
    uint32_t ahead = lesser(w->micro_batches, w->stages - 1 - stage);
    for (uint32_t i = 0; i < ahead; i++) {
        schedule_put(w, WEIR_TASK_FORWARD, 0, i);
    }
    for (uint32_t i = 0; i < w->micro_batches; i++) {
        if (i + ahead < w->micro_batches) {
            schedule_put(w, WEIR_TASK_FORWARD, 0, i + ahead);
        }
        schedule_put(w, WEIR_TASK_BACKWARD, 0, i);
    }
}

/* The k-th forward (backward) pass of a stage: groups of as many micro-batches as there are stages
 * go through all chunks one after the other (Narayanan et al. 2104.04473, figure 4). */
static void put_nth(schedule_writer *w, weir_task_kind kind, uint32_t k)
{
    uint32_t p = w->stages, round = p * w->chunks;
    uint32_t chunk = k % round / p;
    uint32_t micro_batch = k / round * p + k % p;
    schedule_put(w, kind, kind == WEIR_TASK_FORWARD ? chunk : w->chunks - 1 - chunk, micro_batch);
}

/* Megatron-LM, schedules.py: as many forwards ahead, and all of them if there is one group. */
void schedule_write_interleaved(schedule_writer *w, uint32_t stage)
{
    uint32_t p = w->stages, all = w->micro_batches * w->chunks;
    uint32_t ahead = lesser(all, 2 * (p - 1 - stage) + (w->chunks - 1) * p);
    for (uint32_t k = 0; k < ahead; k++) {
        put_nth(w, WEIR_TASK_FORWARD, k);
    }
    for (uint32_t k = 0; k < all; k++) {
        if (k + ahead < all) {
            put_nth(w, WEIR_TASK_FORWARD, k + ahead);
        }
        put_nth(w, WEIR_TASK_BACKWARD, k);
    }
}
