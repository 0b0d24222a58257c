/* schedule.c: which schedules are possible, and their lists for all stages. */
#include "train/schedule.h"

#include "train/schedule_inside.h"

#include <stdio.h>

const char *weir_schedule_kind_name(weir_schedule_kind kind)
{
    static const char *const names[] = {
#define X(name, text) text,
        WEIR_TRAIN_SCHEDULES(X)
#undef X
    };
    return kind < WEIR_SCHEDULE_COUNT ? names[kind] : "?";
}

typedef void (*stage_writer)(schedule_writer *w, uint32_t stage);

static stage_writer writer_of(weir_schedule_kind kind, uint32_t chunks)
{
    switch (kind) {
    case WEIR_SCHEDULE_GPIPE:
        return schedule_write_gpipe;
    case WEIR_SCHEDULE_ONE_F_ONE_B:
        return schedule_write_1f1b;
    case WEIR_SCHEDULE_INTERLEAVED:
        return chunks > 1 ? schedule_write_interleaved : schedule_write_1f1b;
    case WEIR_SCHEDULE_ZB_H1:
        return schedule_write_zb_h1;
    default:
        return NULL;
    }
}

bool weir_schedule_is_possible(weir_schedule_kind kind, uint32_t stages, uint32_t chunks,
                               uint32_t micro_batches, weir_schedule_fault *fault)
{
    if (!writer_of(kind, chunks)) {
        fault->key = "plan.schedule";
        snprintf(fault->text, sizeof fault->text,
                 "found %s, expected gpipe, 1f1b, interleaved or "
                 "zb-h1",
                 weir_schedule_kind_name(kind));
        return false;
    }
    if (chunks > 1 && kind != WEIR_SCHEDULE_INTERLEAVED && kind != WEIR_SCHEDULE_GPIPE) {
        fault->key = "plan.chunks";
        snprintf(fault->text, sizeof fault->text,
                 "found %u for %s, expected 1 or schedule: interleaved", chunks,
                 weir_schedule_kind_name(kind));
        return false;
    }
    if (chunks > 1 && kind == WEIR_SCHEDULE_INTERLEAVED && micro_batches % stages != 0) {
        uint32_t near = micro_batches / stages * stages;
        fault->key = "plan.micro_batches";
        snprintf(fault->text, sizeof fault->text,
                 "found %u for %u stages of interleaved 1F1B, expected a multiple of them such as "
                 "%u",
                 micro_batches, stages, near > 0 ? near : stages);
        return false;
    }
    return true;
}

static void count_peaks(const weir_schedule *schedule, uint32_t *peak)
{
    for (uint32_t s = 0; s < schedule->stages; s++) {
        uint32_t kept = 0;
        for (uint32_t i = schedule->first[s]; i < schedule->first[s + 1]; i++) {
            uint8_t kind = schedule->tasks[i].kind;
            if (kind == WEIR_TASK_FORWARD) {
                kept++;
                peak[s] = kept > peak[s] ? kept : peak[s];
            } else if (kind != WEIR_TASK_DGRAD) {
                kept--;
            }
        }
    }
}

weir_code weir_schedule_make(weir_schedule_kind kind, uint32_t stages, uint32_t chunks,
                             uint32_t micro_batches, const weir_pass_times *times,
                             weir_arena *arena, weir_schedule *schedule, weir_err *err)
{
    (void)times;
    weir_schedule_fault fault = {0};
    if (!weir_schedule_is_possible(kind, stages, chunks, micro_batches, &fault)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: %s", fault.key, fault.text);
    }
    size_t each = (size_t)chunks * micro_batches * 3;
    weir_task *tasks = weir_arena_alloc(arena, each * stages, sizeof *tasks);
    uint32_t *first = weir_arena_alloc(arena, stages + 1, sizeof *first);
    uint32_t *position = weir_arena_alloc(arena, (size_t)stages * chunks, sizeof *position);
    uint32_t *peak = weir_arena_alloc(arena, stages, sizeof *peak);
    if (!tasks || !first || !position || !peak) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a schedule");
    }
    schedule_writer w = {stages, chunks, micro_batches, tasks, 0};
    for (uint32_t s = 0; s < stages; s++) {
        first[s] = w.count;
        writer_of(kind, chunks)(&w, s);
        for (uint32_t c = 0; c < chunks; c++) {
            position[s * chunks + c] = c * stages + s;
        }
    }
    first[stages] = w.count;
    *schedule = (weir_schedule){.kind = kind,
                                .stages = stages,
                                .chunks = chunks,
                                .micro_batches = micro_batches,
                                .first = first,
                                .tasks = tasks,
                                .position = position,
                                .peak = peak};
    count_peaks(schedule, peak);
    for (uint32_t s = 0; s < stages; s++) {
        schedule->in_flight = peak[s] > schedule->in_flight ? peak[s] : schedule->in_flight;
    }
    return WEIR_OK;
}
