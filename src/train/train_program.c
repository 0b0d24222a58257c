#include "train/train_program.h"

#include "train/train_program_inside.h"

#include <math.h>
#include <stdlib.h>

void weir_train_program_clear(weir_train_program *program)
{
    weir_net_free(program->net);
    weir_arena_free(program->arena);
    *program = (weir_train_program){0};
}

static void draft_clear(draft *d)
{
    for (uint32_t s = 0; d->programs && s < d->stages; s++) {
        free(d->programs[s].ops);
    }
    free(d->programs);
    free(d->exchanges);
}

/* --- the step in closed form --- */

static weir_code lay_out(draft *d, weir_err *err)
{
    weir_code code = weir_train_timing_of(d->play->job, d->arena, &d->timing, err);
    if (code == WEIR_OK) {
        d->out->costs = d->timing.costs;
        d->out->schedule = d->timing.schedule;
        d->chunks = d->timing.schedule.chunks; /* of DualPipe one for each direction */
    }
    return code;
}

/* --- programs --- */

enum { OPERATIONS_MOST = 1 << 22, PROGRAMS_MOST = 1 << 26 }; /* of a device; of all stages */

/* Stages have about as many operations each. */
static weir_code check_size(const draft *d, weir_err *err)
{
    uint64_t all = (uint64_t)d->programs[0].count * d->stages;
    return all <= PROGRAMS_MOST
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_LIMIT,
                              "plan.global_batch: found %u micro-batches, which are about %llu "
                              "operations on %u stages; at most %d can be played, in closed form "
                              "(--sweep, --lines) there is no limit",
                              d->timing.schedule.micro_batches, (unsigned long long)all, d->stages,
                              PROGRAMS_MOST);
}

static weir_code reserve(draft *d, weir_err *err)
{
    size_t rows = (size_t)VARIANTS * PASS_KINDS * d->chunks * WEIR_PIECES_MAX;
    d->programs = calloc(d->stages, sizeof *d->programs);
    d->first_exchange = weir_arena_alloc(d->arena, rows, sizeof *d->first_exchange);
    if (!d->programs || !d->first_exchange) {
        return DRAFT_NO_MEMORY(err);
    }
    for (size_t i = 0; i < rows; i++) {
        d->first_exchange[i] = WEIR_NONE;
    }
    for (uint32_t s = 0; s < d->stages; s++) {
        draft_program *p = &d->programs[s];
        p->last = p->last_data = p->delayed = WEIR_NONE;
        p->rows = weir_arena_alloc(d->arena, d->chunks, sizeof *p->rows);
        if (!p->rows) {
            return DRAFT_NO_MEMORY(err);
        }
    }
    return draft_peers(d, err);
}

static weir_code check_steps(const draft *d, uint32_t operations, uint32_t steps, weir_err *err)
{
    if ((uint64_t)operations * steps <= OPERATIONS_MOST) {
        return WEIR_OK;
    }
    if (operations > OPERATIONS_MOST) {
        return weir_err_set(err, WEIR_ERR_LIMIT,
                            "plan.global_batch: found %u micro-batches, which are %u operations on "
                            "a device; at most %d can be played, in closed form (--sweep, --lines) "
                            "there is no limit",
                            d->timing.schedule.micro_batches, operations, OPERATIONS_MOST);
    }
    return weir_err_set(err, WEIR_ERR_LIMIT,
                        "steps: found %u of %u operations on a device, expected at most %d in all, "
                        "such as steps: %u",
                        steps, operations, OPERATIONS_MOST, OPERATIONS_MOST / operations);
}

static weir_code write_program(draft *d, uint32_t stage, weir_err *err)
{
    draft_writer w = {.d = d, .program = &d->programs[stage], .stage = stage};
    uint32_t steps = d->play->steps ? d->play->steps : 1;
    weir_code code = WEIR_OK;
    draft_put_begin(&w);
    for (w.step = 0; w.step < steps && !w.failed && code == WEIR_OK; w.step++) {
        draft_put_before(&w);
        draft_put_tasks(&w);
        draft_put_behind(&w);
        code = w.step == 0 ? check_steps(d, w.program->count, steps, err) : WEIR_OK;
    }
    if (code != WEIR_OK) {
        return code;
    }
    return w.failed ? DRAFT_NO_MEMORY(err) : WEIR_OK;
}

static weir_code publish_program(const draft *d, uint32_t stage, weir_program *out, weir_err *err)
{
    const draft_program *p = &d->programs[stage];
    weir_program_op *ops = weir_arena_alloc(d->arena, (size_t)p->count + 1, sizeof *ops);
    uint32_t *after = weir_arena_alloc(d->arena, DRAFT_AFTER * (size_t)p->count + 1, sizeof *after);
    if (!ops || !after) {
        return DRAFT_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        ops[i] = p->ops[i].op;
        ops[i].after = after;
        for (uint32_t k = 0; k < ops[i].after_count; k++) {
            *after++ = p->ops[i].after[k];
        }
    }
    *out = (weir_program){ops, p->count};
    return WEIR_OK;
}

static weir_code write_programs(draft *d, weir_err *err)
{
    weir_program *programs = weir_arena_alloc(d->arena, d->stages, sizeof *programs);
    weir_code code = programs ? reserve(d, err) : DRAFT_NO_MEMORY(err);
    for (uint32_t s = 0; s < d->stages && code == WEIR_OK; s++) {
        code = write_program(d, s, err);
        code = code == WEIR_OK && s == 0 ? check_size(d, err) : code;
        code = code == WEIR_OK ? publish_program(d, s, &programs[s], err) : code;
    }
    d->out->spmd.programs = programs;
    d->out->spmd.program_count = d->stages;
    return code;
}

/* --- all of it --- */

static weir_code check(const weir_train_play *play, weir_err *err)
{
    uint64_t devices = weir_train_devices(&play->job->plan);
    for (uint32_t i = 0; i < play->slow_count; i++) {
        if (play->slow[i].device >= devices) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "disturb.slow: found device %u, expected one of 0 to %llu",
                                play->slow[i].device, (unsigned long long)devices - 1);
        }
    }
    for (uint32_t i = 0; i < play->link_count; i++) {
        if (play->links[i].device >= devices) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "disturb.broken: found device %u, expected one of 0 to %llu",
                                play->links[i].device, (unsigned long long)devices - 1);
        }
    }
    return WEIR_OK;
}

/* A span takes about 300 bytes while it is played and read. */
static weir_code check_played(const draft *d, weir_err *err)
{
    enum { PLAYED_MOST = 1 << 23 };
    const weir_train_program *out = d->out;
    uint32_t steps = d->play->steps ? d->play->steps : 1;
    uint64_t all = 0;
    for (uint32_t i = 0; i < out->devices; i++) {
        all += d->programs[out->stage_of_device[i]].count;
    }
    if (all <= PLAYED_MOST) {
        return WEIR_OK;
    }
    return weir_err_set(
        err, WEIR_ERR_LIMIT,
        "%s: found %llu operations on %u devices and in %u step%s, expected at most %d to be "
        "played: fewer steps, micro-batches or disturbed devices; in closed form (--sweep, "
        "--lines) there is no limit",
        steps > 1 ? "steps" : "plan.global_batch", (unsigned long long)all, out->devices, steps,
        steps == 1 ? "" : "s", PLAYED_MOST);
}

static weir_code build(draft *d, weir_err *err)
{
    weir_code code = lay_out(d, err);
    if (code == WEIR_OK) {
        const weir_train_stack *stack = &d->play->job->stack;
        double devices = (double)weir_train_devices(&d->play->job->plan);
        d->jitter_s = d->timing.period_s * stack->jitter * (devices > 1 ? log2(devices) : 0);
        code = write_programs(d, err);
    }
    code = code == WEIR_OK ? draft_columns(d, err) : code;
    code = code == WEIR_OK ? check_played(d, err) : code;
    code = code == WEIR_OK ? draft_links(d, err) : code;
    return code == WEIR_OK ? draft_groups(d, err) : code;
}

weir_code weir_train_program_build(const weir_train_play *play, weir_train_program *program,
                                   weir_err *err)
{
    weir_code code = check(play, err);
    if (code != WEIR_OK) {
        return code;
    }
    program->arena = weir_arena_new();
    if (!program->arena) {
        return DRAFT_NO_MEMORY(err);
    }
    /* One column of devices that all differ does not fold. */
    bool is_alone =
        !play->unfolded && !(play->jitter > 0) && !play->slow_count && !play->link_count;
    program->spmd = (weir_spmd){.jitter = play->jitter,
                                .seed = play->seed,
                                .unfolded = is_alone || play->unfolded,
                                .steps_apart = !weir_train_has_barrier(play->job),
                                .budget = play->budget};
    const weir_train_job job = draft_job_with_links(play);
    weir_train_play own = *play;
    own.job = &job;
    draft d = {.play = &own,
               .out = program,
               .arena = program->arena,
               .stages = play->job->plan.pipeline,
               .inner = play->job->plan.tensor * play->job->plan.context};
    code = build(&d, err);
    draft_clear(&d);
    if (code != WEIR_OK) {
        weir_train_program_clear(program);
    }
    return code;
}
