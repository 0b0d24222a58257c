#include "train/train_step.h"

#include "train/train_timing.h"

#include <math.h>
#include <stdlib.h>

struct weir_train_scratch {
    weir_arena *arena;
};

weir_train_scratch *weir_train_scratch_new(void)
{
    return calloc(1, sizeof(weir_train_scratch));
}

void weir_train_scratch_free(weir_train_scratch *scratch)
{
    if (scratch) {
        weir_arena_free(scratch->arena);
        free(scratch);
    }
}

/* A step that is being calculated. */
typedef struct {
    const weir_train_job *job;
    weir_train_timing timing;
    weir_train_step *step;
} stepping;

/* --- causes --- */

static void book_pass(stepping *s, const weir_pass_cost *pass, double times)
{
    weir_train_step *step = s->step;
    double devices = s->job->plan.pipeline;
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        double seconds = piece->seconds * times / devices;
        bool is_wire = piece->kind == WEIR_PIECE_EXCHANGE || piece->kind == WEIR_PIECE_HIDDEN;
        if (piece->kind == WEIR_PIECE_HIDDEN) {
            step->hidden_s += seconds;
        } else if (piece->kind != WEIR_PIECE_COPIED) {
            step->cause_s[piece->cause] += seconds;
        }
        if (is_wire) {
            step->axis[piece->axis].bytes += piece->bytes * times / devices;
            step->axis[piece->axis].seconds += seconds;
            weir_wire_parts_add(&step->axis[piece->axis].parts, &piece->parts, times / devices);
            step->axis[piece->axis].exposed_s += piece->kind == WEIR_PIECE_EXCHANGE ? seconds : 0;
        }
    }
    step->flop += pass->flop * times;
    step->model_flop += pass->model_flop * times;
}

static void book_passes(stepping *s)
{
    double times = s->job->plan.micro_batches;
    for (uint32_t i = 0; i < s->timing.costs.positions; i++) {
        book_pass(s, &s->timing.costs.chunk[i]->forward, times);
        book_pass(s, &s->timing.costs.chunk[i]->dgrad, times);
        book_pass(s, &s->timing.costs.chunk[i]->wgrad, times);
    }
    double replicas = (double)s->job->plan.tensor * s->job->plan.context * s->job->plan.data;
    s->step->flop *= replicas;
    s->step->model_flop *= replicas;
}

/* Idle within the schedule: messages on their way, and others' passes. */
static void book_idle(stepping *s)
{
    weir_train_step *step = s->step;
    double stages = s->timing.schedule.stages;
    for (uint32_t i = 0; i < s->timing.schedule.stages; i++) {
        double idle = s->timing.played.stage_end_s[i] - s->timing.played.stage_busy_s[i];
        double sent = fmin(s->timing.played.stage_send_s[i], idle);
        double gathered = fmin(idle - sent, weir_train_tail_wait(&s->timing.tail, i));
        step->cause_s[WEIR_CAUSE_COMMUNICATION_P2P] += sent / stages;
        step->cause_s[WEIR_CAUSE_COMMUNICATION_ALL_GATHER] += gathered / stages;
        step->cause_s[WEIR_CAUSE_DEPENDENCY_BUBBLE] += (idle - sent - gathered) / stages;
        step->axis[WEIR_AXIS_PIPELINE].exposed_s += sent / stages;
        step->axis[WEIR_AXIS_DATA].exposed_s += gathered / stages;
        step->gather_s = fmax(step->gather_s, gathered);
    }
}

/* What pairs hide of the experts' exchanges, which the passes have as seen. */
static void book_pairs(stepping *s)
{
    double saved_s = 0;
    for (uint32_t i = 0; i < s->timing.schedule.stages; i++) {
        saved_s += s->timing.played.stage_saved_s[i] / s->timing.schedule.stages;
    }
    s->step->cause_s[WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL] -= saved_s;
    s->step->axis[WEIR_AXIS_EXPERT].exposed_s -= saved_s;
    s->step->hidden_s += saved_s;
}

static void book_messages(stepping *s)
{
    const weir_train_plan *p = &s->job->plan;
    if (p->pipeline > 1) { /* each position hands over forward and back, the ends only once */
        double sends = 2.0 * (s->timing.costs.positions - 1) * p->micro_batches / p->pipeline;
        s->step->axis[WEIR_AXIS_PIPELINE].bytes += sends * s->timing.costs.send_bytes;
        s->step->axis[WEIR_AXIS_PIPELINE].seconds += sends * s->timing.costs.send_s;
        weir_wire_parts_add(&s->step->axis[WEIR_AXIS_PIPELINE].parts, &s->timing.costs.send_parts,
                            sends);
    }
    weir_train_axis axis = weir_train_norm_axis(s->job);
    s->step->axis[axis].seconds += s->timing.tail.norm_s;
    s->step->axis[axis].exposed_s += s->timing.tail.norm_s;
}

static void finish(stepping *s)
{
    weir_train_step *step = s->step;
    const weir_train_plan *p = &s->job->plan;
    const weir_train_stack *stack = &s->job->stack;
    double behind_s = step->reduce_s + step->optimizer_s + s->timing.tail.after_s;
    step->schedule_s = s->timing.period_s - behind_s;
    step->bubble_share = s->timing.played.bubble_share;
    step->tokens = (double)p->global_batch * p->sequence;
    double devices = (double)weir_train_devices(p);
    double jitter = s->timing.period_s * stack->jitter * (devices > 1 ? log2(devices) : 0);
    step->rest_s = stack->step_s + s->job->data_wait_s + jitter;
    step->cause_s[WEIR_CAUSE_DEPENDENCY_HOST] += stack->step_s;
    step->cause_s[WEIR_CAUSE_DEPENDENCY_DATA] += s->job->data_wait_s;
    step->cause_s[WEIR_CAUSE_DEPENDENCY_STRAGGLER] += jitter;
    step->step_s = 0;
    for (uint32_t i = 0; i < WEIR_CAUSE_COUNT; i++) {
        step->step_s += step->cause_s[i];
    }
    weir_train_memory_of(s->job, &step->memory);
}

weir_code weir_train_step_of(const weir_train_job *job, weir_train_scratch *scratch,
                             weir_train_step *step, weir_err *err)
{
    weir_arena_free(scratch->arena);
    scratch->arena = weir_arena_new();
    if (!scratch->arena) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a step");
    }
    weir_train_step made = {0};
    stepping s = {.job = job, .step = &made};
    weir_code code = weir_train_timing_of(job, scratch->arena, &s.timing, err);
    if (code != WEIR_OK) {
        return code;
    }
    book_passes(&s);
    book_pairs(&s);
    book_idle(&s);
    book_messages(&s);
    weir_train_tail_book(&s.timing.tail, &s.timing.played, &made);
    finish(&s);
    *step = made;
    return WEIR_OK;
}
