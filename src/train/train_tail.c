#include "train/train_tail.h"

#include "train/train_shape.h"
#include "train/train_timing.h"

#include <math.h>

weir_wire weir_train_tail_wire(const weir_train_job *job, weir_collective_kind kind,
                               const weir_chunk_cost *chunk, double bytes)
{
    return weir_wire_join(
        weir_train_wire(job, WEIR_GROUP_DATA, kind, chunk->dense_parameters * bytes),
        weir_train_wire(job, WEIR_GROUP_EXPERT_DATA, kind, chunk->expert_parameters * bytes));
}

static bool gathers(const weir_train_job *job)
{
    return job->plan.zero == 1 || job->plan.zero == 2;
}

weir_code weir_train_tail_ready(const weir_train_job *job, const weir_stage_costs *costs,
                                const weir_schedule *schedule, weir_arena *arena,
                                const double **ready_s, weir_err *err)
{
    *ready_s = NULL;
    if (!gathers(job) || !job->stack.overlaps_parameters) {
        return WEIR_OK;
    }
    double *ready = weir_arena_alloc(arena, costs->positions, sizeof *ready);
    if (!ready) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the parameters of a step");
    }
    for (uint32_t s = 0; s < schedule->stages; s++) {
        double at = 0;
        for (uint32_t c = 0; c < schedule->chunks; c++) {
            uint32_t position = schedule->position[s * schedule->chunks + c];
            const weir_chunk_cost *chunk = costs->chunk[position];
            weir_wire wire = weir_train_tail_wire(job, WEIR_COLLECTIVE_ALL_GATHER, chunk,
                                                  job->stack.gathered_bytes);
            double layers = chunk->layers > 0 ? chunk->layers : 1;
            /* its first layer can begin with the first bucket; the rest keeps ahead of it */
            double first = at + wire.seconds / layers;
            double rest = at + wire.seconds - chunk->forward.seconds * (layers - 1) / layers;
            ready[position] = fmax(first, rest);
            at += wire.seconds;
        }
    }
    *ready_s = ready;
    return WEIR_OK;
}

/* --- gradients --- */

static weir_code begin(weir_train_tail *tail, uint32_t stages, weir_arena *arena, weir_err *err)
{
    double *rows = weir_arena_alloc(arena, 9 * (size_t)stages, sizeof *rows);
    if (!rows) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the end of a step");
    }
    *tail = (weir_train_tail){.stages = stages};
    tail->reduce_end_s = rows;
    tail->reduce_s = rows + stages;
    tail->reduce_bytes = rows + 2 * (size_t)stages;
    tail->gather_s = rows + 3 * (size_t)stages;
    tail->gather_bytes = rows + 4 * (size_t)stages;
    tail->stage_optimizer_s = rows + 5 * (size_t)stages;
    tail->wait_s = rows + 6 * (size_t)stages;
    tail->behind_s = rows + 7 * (size_t)stages;
    tail->others_s = rows + 8 * (size_t)stages;
    return WEIR_OK;
}

/* The chunks of a stage in the order in which their gradients are there. */
static uint32_t next_chunk(const weir_schedule *schedule, const weir_schedule_times *played,
                           uint32_t stage, double after_s, uint32_t before)
{
    uint32_t best = WEIR_NONE;
    for (uint32_t c = 0; c < schedule->chunks; c++) {
        double at = played->gradient_s[schedule->position[stage * schedule->chunks + c]];
        bool is_later = at > after_s || (at >= after_s && before != WEIR_NONE && c > before);
        if (!is_later) {
            continue;
        }
        if (best == WEIR_NONE ||
            at < played->gradient_s[schedule->position[stage * schedule->chunks + best]]) {
            best = c;
        }
    }
    return best;
}

static void reduce_stage(const weir_train_job *job, const weir_stage_costs *costs,
                         const weir_schedule *schedule, const weir_schedule_times *played,
                         uint32_t stage, weir_train_tail *tail)
{
    const weir_train_stack *s = &job->stack;
    double free_s = 0, after_s = -1;
    uint32_t before = WEIR_NONE;
    for (uint32_t n = 0; n < schedule->chunks; n++) {
        uint32_t c = next_chunk(schedule, played, stage, after_s, before);
        if (c == WEIR_NONE) {
            break;
        }
        uint32_t position = schedule->position[stage * schedule->chunks + c];
        const weir_chunk_cost *chunk = costs->chunk[position];
        weir_wire wire = weir_train_tail_wire(job, tail->reduction, chunk, s->reduced_bytes);
        double bytes = (chunk->dense_parameters + chunk->expert_parameters) * s->reduced_bytes;
        double buckets = s->bucket_bytes > 0 ? fmax(1, ceil(bytes / s->bucket_bytes)) : 1;
        double there = played->gradient_s[position];
        double pass = chunk->dgrad.seconds + chunk->wgrad.seconds;
        double start =
            s->overlaps_gradients ? there - pass * (1 - 1 / buckets) : played->stage_end_s[stage];
        double last = there + wire.seconds / buckets;
        free_s = fmax(fmax(free_s, start) + wire.seconds, last);
        tail->reduce_s[stage] += wire.seconds;
        tail->reduce_bytes[stage] += wire.bytes;
        weir_wire_parts_add(&tail->parts, &wire.parts, 1);
        after_s = there;
        before = c;
    }
    tail->reduce_end_s[stage] = fmax(free_s, played->stage_end_s[stage]);
}

/* --- the optimiser --- */

static double own_parameters(const weir_train_job *job, const weir_stage_costs *costs,
                             const weir_schedule *schedule, uint32_t stage)
{
    double sum = 0, dense = weir_train_dense_shards(&job->plan);
    double expert = weir_train_expert_shards(&job->plan);
    for (uint32_t c = 0; c < schedule->chunks; c++) {
        const weir_chunk_cost *chunk =
            costs->chunk[schedule->position[stage * schedule->chunks + c]];
        sum += chunk->dense_parameters / dense + chunk->expert_parameters / expert;
    }
    return sum;
}

static void gather_stage(const weir_train_job *job, const weir_stage_costs *costs,
                         const weir_schedule *schedule, uint32_t stage, weir_train_tail *tail)
{
    for (uint32_t c = 0; c < schedule->chunks && gathers(job); c++) {
        weir_wire wire =
            weir_train_tail_wire(job, WEIR_COLLECTIVE_ALL_GATHER,
                                 costs->chunk[schedule->position[stage * schedule->chunks + c]],
                                 job->stack.gathered_bytes);
        tail->gather_s[stage] += wire.seconds;
        tail->gather_bytes[stage] += wire.bytes;
        weir_wire_parts_add(&tail->parts, &wire.parts, 1);
    }
}

/* One number of each device of a replica is summed: over tensor and pipeline ranks; without a
 * barrier it is handed on from stage to stage instead. */
static double norm_of(const weir_train_job *job)
{
    double tensor = weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE, 4).seconds;
    double stages =
        weir_train_has_barrier(job)
            ? weir_train_wire(job, WEIR_GROUP_PIPELINE, WEIR_COLLECTIVE_ALL_REDUCE, 4).seconds
            : 0;
    double shards =
        job->plan.zero > 0
            ? weir_train_wire(job, WEIR_GROUP_DATA, WEIR_COLLECTIVE_ALL_REDUCE, 4).seconds
            : 0;
    return tensor + stages + shards;
}

/* With a barrier, for all gradients, for the longest optimiser and for what is gathered behind. */
static void wait_for_others(weir_train_tail *tail)
{
    for (uint32_t i = 0; i < tail->stages; i++) {
        tail->others_s[i] = (tail->meet_s - tail->reduce_end_s[i]) +
                            (tail->optimizer_s - tail->stage_optimizer_s[i]) +
                            (tail->after_s - tail->behind_s[i]);
    }
}

weir_code weir_train_tail_of(const weir_train_job *job, const weir_stage_costs *costs,
                             const weir_schedule *schedule, const weir_schedule_times *played,
                             weir_arena *arena, weir_train_tail *tail, weir_err *err)
{
    const weir_train_stack *s = &job->stack;
    bool is_done = job->plan.zero >= 3 && job->plan.accumulates_sharded;
    weir_code code = begin(tail, schedule->stages, arena, err);
    if (code != WEIR_OK) {
        return code;
    }
    tail->reduction =
        job->plan.zero == 0 ? WEIR_COLLECTIVE_ALL_REDUCE : WEIR_COLLECTIVE_REDUCE_SCATTER;
    tail->has_barrier = weir_train_has_barrier(job);
    tail->norm_s = norm_of(job);
    tail->hop_s = weir_train_wire(job, WEIR_GROUP_PIPELINE, WEIR_COLLECTIVE_SEND_RECV, 4).seconds;
    for (uint32_t i = 0; i < schedule->stages; i++) {
        tail->reduce_end_s[i] = played->stage_end_s[i];
        if (!is_done) {
            reduce_stage(job, costs, schedule, played, i, tail);
        }
        gather_stage(job, costs, schedule, i, tail);
        double beside_s = s->overlaps_parameters ? tail->gather_s[i] : 0;
        tail->wait_s[i] = fmin(beside_s, played->stage_begin_s[i]);
        double bytes = own_parameters(job, costs, schedule, i) * s->optimizer_bytes;
        tail->stage_optimizer_s[i] = weir_memory_s(job->kernels, bytes) * s->memory_factor;
        tail->meet_s = fmax(tail->meet_s, tail->reduce_end_s[i]);
        tail->behind_s[i] = s->overlaps_parameters ? 0 : tail->gather_s[i];
        tail->optimizer_s = fmax(tail->optimizer_s, tail->stage_optimizer_s[i]);
        tail->after_s = fmax(tail->after_s, tail->behind_s[i]);
    }
    wait_for_others(tail);
    return WEIR_OK;
}

double weir_train_tail_wait(const weir_train_tail *tail, uint32_t stage)
{
    return tail->wait_s[stage];
}

/* Before a barrier others are late; without one a message is (DESIGN 2.1: its way, and the stage
 * that it is from). */
static void book_others(const weir_train_tail *tail, uint32_t stage, weir_train_step *step)
{
    double others_s = tail->others_s[stage] / tail->stages;
    double hop_s = tail->has_barrier ? 0 : fmin(tail->hop_s / tail->stages, others_s);
    step->cause_s[tail->has_barrier ? WEIR_CAUSE_DEPENDENCY_STRAGGLER
                                    : WEIR_CAUSE_DEPENDENCY_BUBBLE] += others_s - hop_s;
    step->cause_s[WEIR_CAUSE_COMMUNICATION_P2P] += hop_s;
    step->axis[WEIR_AXIS_PIPELINE].exposed_s += hop_s;
}

void weir_train_tail_book(const weir_train_tail *tail, const weir_schedule_times *played,
                          weir_train_step *step)
{
    double stages = tail->stages;
    weir_cause reduction = weir_train_comm_cause(tail->reduction);
    for (uint32_t i = 0; i < tail->stages; i++) {
        double reduced = tail->reduce_end_s[i] - played->stage_end_s[i];
        double gathered = tail->behind_s[i];
        step->cause_s[reduction] += reduced / stages;
        step->cause_s[WEIR_CAUSE_COMMUNICATION_ALL_REDUCE] += tail->norm_s / stages;
        step->cause_s[WEIR_CAUSE_CACHE_OPTIMIZER] += tail->stage_optimizer_s[i] / stages;
        step->cause_s[WEIR_CAUSE_COMMUNICATION_ALL_GATHER] += gathered / stages;
        book_others(tail, i, step);
        step->hidden_s += (tail->reduce_s[i] - fmin(reduced, tail->reduce_s[i])) / stages;
        step->hidden_s += (tail->gather_s[i] - gathered) / stages;
        step->axis[WEIR_AXIS_DATA].bytes +=
            (tail->reduce_bytes[i] + tail->gather_bytes[i]) / stages;
        step->axis[WEIR_AXIS_DATA].seconds += (tail->reduce_s[i] + tail->gather_s[i]) / stages;
        step->axis[WEIR_AXIS_DATA].exposed_s += (reduced + gathered) / stages;
        step->reduce_s = fmax(step->reduce_s, tail->meet_s - played->makespan_s);
    }
    weir_wire_parts_add(&step->axis[WEIR_AXIS_DATA].parts, &tail->parts, 1 / stages);
    step->optimizer_s = tail->optimizer_s + tail->norm_s;
}
