#include "study/train_study.h"

#include "base/text.h"
#include "result/quantity.h"
#include "study/sim_ledger.h"
#include "study/train_figures.h"
#include "study/train_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- memory --- */

static void add_part(weir_text *text, const char *name, double bytes)
{
    if (bytes > 0) {
        weir_text_printf(text, ", %s ", name);
        weir_quantity_si(text, bytes, "B");
    }
}

/* "plan: 121 GB on stage 0 of 85.9 GB: parameters 12.7 GB, ...; plan.recompute=full: 64.1 GB" */
static weir_code refuse(const weir_train_scenario *scenario, const weir_train_memory *memory,
                        weir_err *err)
{
    enum { REMEDIES = 3 };
    weir_memory_remedy remedies[REMEDIES];
    weir_text text = {0};
    weir_text_printf(&text, "%s: the plan does not fit into memory: found ", scenario->file);
    weir_quantity_si(&text, memory->total, "B");
    weir_text_printf(&text, " on stage %u, expected at most ", memory->stage);
    weir_quantity_si(&text, memory->capacity, "B");
    weir_text_add(&text, WEIR_STR(" (parameters "));
    weir_quantity_si(&text, memory->parameters, "B");
    add_part(&text, "gradients", memory->gradients);
    add_part(&text, "optimiser", memory->optimizer);
    add_part(&text, "activations", memory->activations);
    add_part(&text, "buffers", memory->buffers);
    add_part(&text, "context", memory->context);
    add_part(&text, "fragmentation", memory->fragmentation);
    uint32_t count = weir_train_memory_remedies(&scenario->job, remedies, REMEDIES);
    weir_text_add(&text, count ? WEIR_STR("); would be ") : WEIR_STR(")"));
    for (uint32_t i = 0; i < count; i++) {
        weir_text_add(&text, i ? WEIR_STR(", ") : WEIR_STR(""));
        weir_quantity_si(&text, remedies[i].total, "B");
        weir_text_printf(&text, " with %s=%s", remedies[i].key, remedies[i].value);
    }
    weir_code code = weir_err_set(err, text.failed ? WEIR_ERR_MEMORY : WEIR_ERR_INPUT, "%s",
                                  text.failed ? "out of memory" : text.p);
    weir_text_clear(&text);
    return code;
}

/* --- playing --- */

typedef struct {
    const weir_train_scenario *scenario;
    const weir_train_options *options;
    weir_result *result;
    weir_train_job job; /* the scenario's, on its network */
    weir_train_step step;
    weir_train_program program;
    weir_spmd_run run;
    weir_lines lines;
} study;

/* What the traffic of all groups at once takes beside that of one. */
static weir_code take_network(study *s, weir_err *err)
{
    s->job = s->scenario->job;
    if (!s->scenario->has_network) {
        return WEIR_OK;
    }
    weir_code code = weir_train_network_factors(s->scenario, s->job.network.factor, err);
    for (int a = 0; a < WEIR_AXIS_COUNT && code == WEIR_OK; a++) {
        double factor = s->job.network.factor[a];
        if (factor > 1.005 || factor < 0.995) {
            weir_result_note(s->result,
                             "network: %s traffic takes %.2f times what one group alone would",
                             weir_train_axis_name((weir_train_axis)a), factor);
        }
    }
    return code;
}

static weir_code calculate(study *s, weir_err *err)
{
    weir_train_scratch *scratch = weir_train_scratch_new();
    weir_code code =
        scratch ? weir_train_step_of(&s->job, scratch, &s->step, err) : TRAIN_NO_MEMORY(err);
    weir_train_scratch_free(scratch);
    const weir_train_memory *memory = &s->step.memory;
    bool fits = !(memory->capacity > 0) || memory->total <= memory->capacity;
    if (code == WEIR_OK && !fits && !s->options->ignores_memory) {
        return refuse(s->scenario, memory, err);
    }
    if (code == WEIR_OK && !fits) {
        weir_result_note(s->result, "the plan does not fit into the memory of its devices");
    }
    return code;
}

/* A link that never works again stops the step for good: there is no time to report. */
static weir_code check_end(const study *s, weir_err *err)
{
    if (s->run.stalled_by == WEIR_NONE) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < s->scenario->link_count; i++) {
        const weir_train_link *link = &s->scenario->links[i];
        if (!(link->share > 0) && !(link->until_s < INFINITY)) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "%s: the step never ends: found %s %u without a rate from %g s on, "
                                "expected `until` (it works again) or `rate` (what is left of it)",
                                s->scenario->file, link->is_node_link ? "node link" : "nic",
                                link->device, link->at_s);
        }
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "%s: the step never ends: a link carries nothing",
                        s->scenario->file);
}

/* A limit names its key first: where that is written goes before it. */
static weir_code say_where(const weir_train_scenario *scenario, weir_code code, weir_err *err)
{
    if (code != WEIR_ERR_LIMIT) {
        return code;
    }
    bool of_steps = weir_str_starts(weir_str_from(err->text), WEIR_STR("steps: "));
    const char *place = of_steps ? scenario->steps_at : scenario->batch_at;
    const weir_err what = *err;
    *err = (weir_err){0};
    return weir_err_set(err, code, "%s%s", place, what.text);
}

static weir_code play(study *s, weir_err *err)
{
    const weir_train_scenario *scenario = s->scenario;
    weir_slow_device *slow = calloc(scenario->slow_count + (size_t)1, sizeof *slow);
    weir_code code = slow ? WEIR_OK : TRAIN_NO_MEMORY(err);
    for (uint32_t i = 0; slow && i < scenario->slow_count; i++) {
        slow[i] = (weir_slow_device){scenario->slow[i].device, scenario->slow[i].factor};
    }
    if (code == WEIR_OK) {
        const weir_train_play play = {.job = &s->job,
                                      .steps = scenario->steps,
                                      .slow = slow,
                                      .slow_count = scenario->slow_count,
                                      .jitter = scenario->jitter,
                                      .seed = scenario->seed,
                                      .links = scenario->links,
                                      .link_count = scenario->link_count,
                                      .unfolded = s->options->unfolded,
                                      .budget = s->options->budget};
        code = say_where(scenario, weir_train_program_build(&play, &s->program, err), err);
    }
    free(slow);
    code = code == WEIR_OK ? weir_spmd_play(&s->program.spmd, &s->run, err) : code;
    return code == WEIR_OK ? check_end(s, err) : code;
}

static weir_code read_ledger(study *s, weir_err *err)
{
    const weir_ledger_options options = {.threads = s->options->threads,
                                         .segments = s->options->segments};
    weir_code code =
        weir_sim_ledger_build(&s->program.spmd, &s->run, &options, s->result, &s->lines, err);
    if (code == WEIR_OK) {
        const weir_train_job *job = &s->scenario->job;
        uint64_t devices = weir_train_devices(&job->plan);
        uint32_t each = job->network.devices_per_node ? job->network.devices_per_node : 1;
        s->result->command = "train";
        s->result->window.nodes = (uint32_t)((devices + each - 1) / each);
    }
    return code;
}

static weir_code describe(study *s, weir_err *err)
{
    weir_training_result *training = weir_arena_alloc(s->result->arena, 1, sizeof *training);
    if (!training) {
        return TRAIN_NO_MEMORY(err);
    }
    s->result->training = training;
    const train_figures figures = {.scenario = s->scenario,
                                   .options = s->options,
                                   .step = &s->step,
                                   .program = &s->program,
                                   .run = &s->run,
                                   .lines = &s->lines,
                                   .result = s->result};
    weir_code (*const parts[])(const train_figures *, weir_err *) = {
        train_figure_headline, train_figure_band,   train_figure_axes,
        train_figure_circuits, train_figure_stages, train_blame};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        weir_code code = parts[i](&figures, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    weir_result_note(s->result, "%u device%s played for %llu, %u operations a step",
                     s->program.devices, s->program.devices == 1 ? " was" : "s were",
                     (unsigned long long)training->devices,
                     weir_timeline_spans(s->run.timeline).device_count /
                         (s->scenario->steps ? s->scenario->steps : 1));
    return WEIR_OK;
}

weir_code weir_train_study(const weir_train_scenario *scenario, const weir_train_options *options,
                           weir_result *result, weir_spmd_run *run, weir_lines *lines,
                           weir_err *err)
{
    study s = {.scenario = scenario, .options = options, .result = result};
    weir_code code = take_network(&s, err);
    code = code == WEIR_OK ? calculate(&s, err) : code;
    code = code == WEIR_OK ? play(&s, err) : code;
    code = code == WEIR_OK ? read_ledger(&s, err) : code;
    code = code == WEIR_OK ? describe(&s, err) : code;
    if (code == WEIR_OK && run) {
        *run = s.run;
        s.run = (weir_spmd_run){0};
    }
    if (code == WEIR_OK && lines) {
        *lines = s.lines;
        s.lines = (weir_lines){0};
    }
    weir_lines_clear(&s.lines);
    weir_spmd_run_clear(&s.run);
    weir_train_program_clear(&s.program);
    return code;
}
