/* train_check_stages.c: the rules of stages, schedules and what is computed again. */
#include "model/model_memory.h"
#include "train/schedule.h"
#include "train/train_check_inside.h"

#include <string.h>

static bool check_stage_count(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t positions = (uint64_t)p->pipeline * p->chunks, most = check_most_positions(c);
    if (most > WEIR_TRAIN_MAX_CHUNKS) {
        most = WEIR_TRAIN_MAX_CHUNKS;
    }
    if (positions <= most) {
        return true;
    }
    bool is_stages = p->pipeline > most;
    const char *key = is_stages ? "plan.pipeline" : "plan.chunks";
    uint64_t works =
        is_stages ? check_nearest(c, check_is_pipeline, most, most) : most / p->pipeline;
    works = works > 0 ? works : 1;
    return check_fail(
        c, key, works,
        "found %u stages x %u chunks = %llu for %u layers, expected at most %llu; %s %llu "
        "fits",
        p->pipeline, p->chunks, (ull)positions, c->job->model->layers, (ull)most,
        key + strlen("plan."), (ull)works);
}

/* Whether the other chunks have so many layers each that these can have fewer. */
static bool is_less(const checker *c, uint64_t first)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t positions = (uint64_t)p->pipeline * p->chunks, last = (uint64_t)p->last_layers;
    uint64_t whole = c->job->model->layers + first + last;
    return positions > 1 && whole % positions == 0 && whole / positions >= first &&
           whole / positions >= last;
}

static bool check_layout(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint32_t layers = c->job->model->layers;
    uint32_t positions = p->pipeline * p->chunks;
    uint64_t sum = 0;
    if (p->layout == WEIR_LAYOUT_LIST) {
        for (uint32_t i = 0; i < positions; i++) {
            sum += p->chunk_layers[i];
        }
        if (sum != layers) {
            return check_fail(c, "plan.chunk_layers", 0,
                              "found %llu layers in %u chunks, expected the %u "
                              "of the model",
                              (ull)sum, positions, layers);
        }
    }
    if (p->layout == WEIR_LAYOUT_LESS && !is_less(c, (uint64_t)p->first_layers)) {
        uint64_t works = check_nearest(c, is_less, (uint64_t)p->first_layers, layers);
        return check_fail(
            c, "plan.first_layers", works,
            "found %u layers with %d and %d fewer on the first and last of %u chunks, "
            "expected a sum that %u divides: %u + first + last, such as first %llu",
            layers, p->first_layers, p->last_layers, positions, positions, layers, (ull)works);
    }
    return true;
}

/* The global batch nearest to the plan's that its schedule can have; 0: none near. */
static uint64_t nearest_batch(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    weir_schedule_fault fault;
    for (uint32_t off = 1; off <= 4 * p->pipeline; off++) {
        const uint32_t tried[] = {p->micro_batches > off ? p->micro_batches - off : 0,
                                  p->micro_batches + off};
        for (uint32_t i = 0; i < 2; i++) {
            if (tried[i] > 0 &&
                weir_schedule_is_possible(p->schedule, p->pipeline, p->chunks, tried[i], &fault)) {
                return (uint64_t)tried[i] * p->micro_batch * p->data;
            }
        }
    }
    return 0;
}

static bool check_schedule(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    weir_schedule_fault fault = {0};
    if (weir_schedule_is_possible(p->schedule, p->pipeline, p->chunks, p->micro_batches, &fault)) {
        return true;
    }
    uint64_t batch = strcmp(fault.key, "plan.micro_batches") == 0 ? nearest_batch(c) : 0;
    return batch > 0
               ? check_fail(c, "plan.global_batch", batch,
                            "found %u sequences: micro-batches are %s; global_batch %llu fits",
                            p->global_batch, fault.text + strlen("found "), (ull)batch)
               : check_fail(c, fault.key, 0, "%s", fault.text);
}

/* Parts that this model has. */
static bool check_parts(const checker *c)
{
    const weir_model *m = c->job->model;
    uint32_t parts = c->job->plan.recompute_parts;
    if ((parts & WEIR_RECOMPUTE_UP) && !weir_model_is_latent(m)) {
        return check_fail(c, "plan.recompute_parts", 0,
                          "found up, the projections from latents, for a model without latent "
                          "attention, expected for example core, norms, activation");
    }
    if ((parts & WEIR_RECOMPUTE_EXPERTS) && weir_model_moe_layers(m) == 0) {
        return check_fail(c, "plan.recompute_parts", 0,
                          "found experts for a model without them, expected for example network");
    }
    return true;
}

static bool check_recompute(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint32_t positions = p->pipeline * p->chunks;
    uint32_t most = (c->job->model->layers + positions - 1) / positions;
    if (p->recompute == WEIR_RECOMPUTE_PLAN_SELECTIVE) {
        return check_parts(c);
    }
    if (p->recompute != WEIR_RECOMPUTE_PLAN_BLOCK && p->recompute_layers > 0) {
        return check_fail(c, "plan.recompute_layers", 0,
                          "found %u without recompute: block, expected both, or neither",
                          p->recompute_layers);
    }
    if (p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK && p->recompute_layers == 0) {
        return check_fail(c, "plan.recompute_layers", most,
                          "found block without recompute_layers, expected 1 to %u of each chunk",
                          most);
    }
    if (p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK && p->recompute_layers > most) {
        return check_fail(c, "plan.recompute_layers", most,
                          "found %u layers of each chunk, expected at most the %u "
                          "that it has",
                          p->recompute_layers, most);
    }
    return true;
}

bool check_stages(const checker *c)
{
    return check_stage_count(c) && check_layout(c) && check_recompute(c) && check_schedule(c);
}
