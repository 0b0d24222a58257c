/* train_timing.c: the step in closed form; without a barrier the steady state of its repetition.
 *
 * One step maps the times when stages are free to those when they are free again: a max-plus linear
 * map. Repeated, it becomes periodic: after c more steps all stages are the same time later. The
 * period is that time over c, and stages that are free at the latest of those c states, each
 * shifted back by its periods, are all later by exactly one period after one more step. */
#include "train/train_timing.h"

#include "model/model_memory.h"
#include "train/train_shape.h"

#include <math.h>
#include <string.h>

static bool is_zero_bubble(weir_schedule_kind kind)
{
    return kind == WEIR_SCHEDULE_ZB_H1 || kind == WEIR_SCHEDULE_ZB_H2 || kind == WEIR_SCHEDULE_ZB_V;
}

bool weir_train_has_barrier(const weir_train_job *job)
{
    return !job->stack.post_validation || !is_zero_bubble(job->plan.schedule) ||
           job->plan.pipeline == 1;
}

double weir_train_wgrad_share(const weir_train_job *job)
{
    const weir_model *m = job->model;
    weir_op_shape shape = weir_train_shape(job);
    weir_op_list list;
    double kept = 0, all = weir_activations_layer(m, m->layers - 1, &shape, 0).total;
    weir_ops_layer(m, m->layers - 1, &shape, false, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        const weir_op *op = &list.op[i];
        bool is_product = op->kind == WEIR_OP_GEMM || op->kind == WEIR_OP_GROUPED_GEMM;
        if (is_product && op->part != WEIR_MODEL_PART_CORE) {
            double rows = (double)op->m * (op->kind == WEIR_OP_GEMM ? (double)op->batch : 1);
            kept += 2 * rows * (double)(op->k + op->n);
        }
    }
    return all > 0 ? fmin(1, kept / all) : 1;
}

weir_train_axis weir_train_norm_axis(const weir_train_job *job)
{
    const weir_train_plan *plan = &job->plan;
    return !weir_train_has_barrier(job) ? WEIR_AXIS_DATA
           : plan->pipeline > 1         ? WEIR_AXIS_PIPELINE
           : plan->tensor > 1           ? WEIR_AXIS_TENSOR
                                        : WEIR_AXIS_DATA;
}

static weir_code prepare(const weir_train_job *job, weir_arena *arena, weir_train_timing *t,
                         weir_err *err)
{
    const weir_train_plan *p = &job->plan;
    weir_code code = weir_train_stage_costs(job, arena, &t->costs, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_pass_times *times = weir_arena_alloc(arena, t->costs.positions, sizeof *times);
    if (!times) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the times of passes");
    }
    for (uint32_t i = 0; i < t->costs.positions; i++) {
        const weir_chunk_cost *c = t->costs.chunk[i];
        times[i] = (weir_pass_times){c->forward.seconds, c->dgrad.seconds, c->wgrad.seconds};
    }
    t->times = times;
    const weir_schedule_wish wish = {
        .kind = p->schedule,
        .stages = p->pipeline,
        .chunks = p->chunks,
        .micro_batches = p->micro_batches,
        .times = times,
        .send_s = t->costs.send_s,
        .wgrad_share = is_zero_bubble(p->schedule) ? weir_train_wgrad_share(job) : 0};
    code = weir_schedule_search(&wish, arena, &t->schedule, err);
    return code == WEIR_OK
               ? weir_train_tail_ready(job, &t->costs, &t->schedule, arena, &t->ready_s, err)
               : code;
}

static weir_code play(const weir_train_job *job, const double *free_s, weir_arena *arena,
                      weir_train_timing *t, weir_err *err)
{
    const weir_schedule_costs costs = {.times = t->times,
                                       .send_s = t->costs.send_s,
                                       .hop_s = t->costs.hop_s,
                                       .sends_block = !job->stack.overlaps_pipeline,
                                       .pair = t->costs.pair,
                                       .ready_s = t->ready_s,
                                       .free_s = free_s};
    weir_code code = weir_schedule_play(&t->schedule, &costs, arena, &t->played, err);
    return code == WEIR_OK
               ? weir_train_tail_of(job, &t->costs, &t->schedule, &t->played, arena, &t->tail, err)
               : code;
}

/* --- without a barrier --- */

/* Stages are free, then free again; their waits for the norm of the stage before go to the tail. */
static void step_on(weir_train_timing *t, const double *free_s, double *again_s)
{
    weir_train_tail *tail = &t->tail;
    double said_s = 0;
    for (uint32_t i = 0; i < tail->stages; i++) {
        double own_s = free_s[i] + tail->reduce_end_s[i] + tail->norm_s;
        double told_s = i > 0 ? said_s + tail->hop_s : own_s;
        tail->others_s[i] = fmax(0, told_s - own_s);
        said_s = fmax(own_s, told_s);
        again_s[i] = said_s + tail->stage_optimizer_s[i] + tail->behind_s[i];
    }
}

/* Steps after which all stages are the same time later than they were; 0: not yet. */
static uint32_t repeats_after(const double *free_s, uint32_t stages, uint32_t now)
{
    const double *a = free_s + (size_t)now * stages;
    for (uint32_t c = 1; c <= stages && c <= now; c++) {
        const double *b = a - (size_t)c * stages;
        double later_s = a[0] - b[0];
        bool is_same = true;
        for (uint32_t i = 1; i < stages && is_same; i++) {
            is_same = fabs(a[i] - b[i] - later_s) <= 1e-12 * a[i];
        }
        if (is_same) {
            return c;
        }
    }
    return 0;
}

/* Where the stages begin in the steady state, from the last c states and the one now. */
static void settle(const double *free_s, uint32_t stages, uint32_t now, uint32_t c, double *begin_s)
{
    const double *a = free_s + (size_t)now * stages;
    double period_s = (a[0] - a[-(ptrdiff_t)((size_t)c * stages)]) / c, least_s = INFINITY;
    for (uint32_t i = 0; i < stages; i++) {
        begin_s[i] = a[i];
        for (uint32_t k = 1; k < c; k++) {
            begin_s[i] = fmax(begin_s[i], a[i - (ptrdiff_t)((size_t)k * stages)] + k * period_s);
        }
        least_s = fmin(least_s, begin_s[i]);
    }
    for (uint32_t i = 0; i < stages; i++) {
        begin_s[i] -= least_s;
    }
}

/* One step from where the last one ended; its tables are gone afterwards. */
static weir_code try_step(const weir_train_job *job, const weir_train_timing *t,
                          const double *free_s, double *again_s, weir_err *err)
{
    weir_train_timing tried = *t;
    weir_arena *arena = weir_arena_new();
    weir_code code = arena ? play(job, free_s, arena, &tried, err)
                           : weir_err_set(err, WEIR_ERR_MEMORY, "no memory to repeat a step");
    if (code == WEIR_OK) {
        step_on(&tried, free_s, again_s);
    }
    weir_arena_free(arena);
    return code;
}

static weir_code repeat(const weir_train_job *job, weir_arena *arena, weir_train_timing *t,
                        weir_err *err)
{
    uint32_t stages = t->schedule.stages, most = 4 * stages + 16, now = 0, c = 0;
    double *free_s = weir_arena_alloc(arena, (size_t)(most + 1) * stages, sizeof *free_s);
    double *begin_s = weir_arena_alloc(arena, 2 * (size_t)stages, sizeof *begin_s);
    if (!free_s || !begin_s) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to repeat a step");
    }
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && c == 0 && now < most) {
        double *last_s = free_s + (size_t)now * stages;
        code = try_step(job, t, last_s, last_s + stages, err);
        c = repeats_after(free_s, stages, ++now);
    }
    if (code != WEIR_OK) {
        return code;
    }
    settle(free_s, stages, now, c ? c : 1, begin_s);
    t->begin_s = begin_s;
    code = play(job, begin_s, arena, t, err);
    if (code == WEIR_OK) {
        double *again_s = begin_s + stages;
        step_on(t, begin_s, again_s);
        for (uint32_t i = 0; i < stages; i++) {
            t->period_s = fmax(t->period_s, again_s[i] - begin_s[i]);
        }
        for (uint32_t i = 0; i < stages; i++) { /* 0, where it has become periodic */
            t->tail.others_s[i] += t->period_s - (again_s[i] - begin_s[i]);
        }
    }
    return code;
}

weir_code weir_train_timing_of(const weir_train_job *job, weir_arena *arena,
                               weir_train_timing *timing, weir_err *err)
{
    weir_train_timing made;
    memset(&made, 0, sizeof made);
    weir_code code = prepare(job, arena, &made, err);
    if (code == WEIR_OK && weir_train_has_barrier(job)) {
        code = play(job, NULL, arena, &made, err);
        made.period_s =
            made.tail.meet_s + made.tail.norm_s + made.tail.optimizer_s + made.tail.after_s;
    } else if (code == WEIR_OK) {
        code = repeat(job, arena, &made, err);
    }
    if (code == WEIR_OK) {
        *timing = made;
    }
    return code;
}
