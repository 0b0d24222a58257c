#include "train/train_memory.h"

#include "model/model_memory.h"
#include "train/train_shape.h"

#include <math.h>

/* What all stages have in common. */
typedef struct {
    const weir_train_job *job;
    weir_op_shape shape;
    double layer[4];   /* activations kept of a layer, by its bits */
    double working[4]; /* of one that is being computed again: all of it */
    double embedding, head;
} estimate;

static uint32_t kind_of(const weir_model *m, uint32_t layer)
{
    return m->layer[layer] & (WEIR_LAYER_MOE | WEIR_LAYER_WINDOW);
}

static uint32_t mask_of(const weir_train_plan *p)
{
    switch (p->recompute) {
    case WEIR_RECOMPUTE_PLAN_SELECTIVE:
        return p->recompute_parts;
    case WEIR_RECOMPUTE_PLAN_FULL:
        return WEIR_RECOMPUTE_FULL;
    case WEIR_RECOMPUTE_PLAN_NONE:
    case WEIR_RECOMPUTE_PLAN_BLOCK:
        return 0;
    }
    return 0;
}

static void begin(const weir_train_job *job, estimate *e)
{
    const weir_model *m = job->model;
    *e = (estimate){.job = job, .shape = weir_train_shape(job)};
    bool is_known[4] = {false};
    for (uint32_t i = 0; i < m->layers; i++) {
        uint32_t kind = kind_of(m, i);
        if (!is_known[kind]) {
            e->layer[kind] = weir_activations_layer(m, i, &e->shape, mask_of(&job->plan)).total;
            e->working[kind] = weir_activations_layer(m, i, &e->shape, 0).total;
            is_known[kind] = true;
        }
    }
    e->embedding = weir_activations_embedding(m, &e->shape);
    e->head = weir_activations_head(m, &e->shape);
}

/* --- which chunks a stage has, and how many passes are in flight --- */

static bool is_v_shaped(weir_schedule_kind kind)
{
    return kind == WEIR_SCHEDULE_ZB_V || kind == WEIR_SCHEDULE_DUALPIPE_V;
}

static uint32_t position_of(const weir_train_plan *p, uint32_t stage, uint32_t chunk)
{
    if (is_v_shaped(p->schedule)) {
        return chunk == 0 ? stage : 2 * p->pipeline - 1 - stage;
    }
    return chunk * p->pipeline + stage;
}

/* Forward passes of chunks whose activations the stage keeps at most (reference/training-model.md
 * section 6). */
static double in_flight(const weir_train_plan *p, uint32_t stage)
{
    double stages = p->pipeline, m = p->micro_batches, v = p->chunks;
    switch (p->schedule) {
    case WEIR_SCHEDULE_GPIPE:
        return m * v;
    case WEIR_SCHEDULE_ONE_F_ONE_B:
        return fmin(m, stages - stage) * v;
    case WEIR_SCHEDULE_INTERLEAVED:
        return fmin(m * v,
                    v > 1 ? 2 * (stages - 1 - stage) + 1 + (v - 1) * stages : stages - stage);
    case WEIR_SCHEDULE_ZB_H1:
        return fmin(m, stages) * v;
    case WEIR_SCHEDULE_ZB_H2:
        return fmin(m, 2 * stages - 1) * v;
    case WEIR_SCHEDULE_ZB_V:
        return fmin(m, stages) * v;
    case WEIR_SCHEDULE_DUALPIPE:
        return fmin(m, stages + 1) * v;
    case WEIR_SCHEDULE_DUALPIPE_V:
        return fmin(2 * m, 2 * stages + 1);
    case WEIR_SCHEDULE_COUNT:
        break;
    }
    return m * v;
}

/* --- activations --- */

static double chunk_activations(const estimate *e, uint32_t position, double *largest)
{
    const weir_train_plan *p = &e->job->plan;
    const weir_model *m = e->job->model;
    weir_layer_range range = weir_train_layers(e->job, position);
    double sum = 0;
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        uint32_t kind = kind_of(m, i);
        bool again =
            p->recompute == WEIR_RECOMPUTE_PLAN_FULL ||
            (p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK && i - range.first < p->recompute_layers);
        double kept = e->layer[kind];
        if (again && p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK) {
            kept = weir_activations_layer(m, i, &e->shape, WEIR_RECOMPUTE_FULL).total;
        }
        sum += kept;
        if (mask_of(p) || again) {
            *largest = fmax(*largest, e->working[kind] - kept);
        }
    }
    return sum + (position == 0 ? e->embedding : 0);
}

static double stage_activations(const estimate *e, uint32_t stage)
{
    const weir_train_plan *p = &e->job->plan;
    double kept = 0, working = 0, head = 0;
    for (uint32_t c = 0; c < p->chunks; c++) {
        uint32_t position = position_of(p, stage, c);
        kept += chunk_activations(e, position, &working);
        head = position == p->pipeline * p->chunks - 1 ? e->head : head;
    }
    kept *= in_flight(p, stage) / p->chunks * (1 - p->offload_share);
    return kept + fmax(working, head);
}

/* --- states and buffers --- */

static void add_states(const estimate *e, uint32_t stage, weir_train_memory *memory)
{
    const weir_train_plan *p = &e->job->plan;
    const weir_train_stack *s = &e->job->stack;
    double dense_shards = weir_train_dense_shards(p), expert_shards = weir_train_expert_shards(p);
    double copies = p->schedule == WEIR_SCHEDULE_DUALPIPE ? 2 : 1; /* both directions' */
    double weight_bytes = e->shape.bytes.activation > 2 ? e->shape.bytes.activation : 2;
    double largest = 0;
    for (uint32_t c = 0; c < p->chunks; c++) {
        weir_train_weights w = weir_train_weights_at(e->job, position_of(p, stage, c));
        weir_layer_range range = weir_train_layers(e->job, position_of(p, stage, c));
        double sharded = w.dense / dense_shards + w.expert / expert_shards;
        double whole = w.dense + w.expert;
        memory->parameters += copies * weight_bytes * (p->zero >= 3 ? sharded : whole);
        memory->gradients += copies * s->gradient_bytes * (p->zero >= 2 ? sharded : whole);
        memory->optimizer += s->state_bytes * sharded;
        largest = fmax(largest, whole / fmax(range.count, 1));
    }
    if (p->zero >= 3) { /* two units gathered, one unit's gradients before they are scattered */
        memory->buffers += largest * (2 * weight_bytes + s->reduced_bytes);
    } else if (p->data * p->context > 1) {
        memory->buffers += fmin(s->bucket_bytes, largest * s->reduced_bytes);
    }
}

static void add_buffers(const estimate *e, weir_train_memory *memory)
{
    const weir_train_plan *p = &e->job->plan;
    const weir_model *m = e->job->model;
    double tokens = (double)p->micro_batch * p->sequence / p->context;
    double message = 2 * tokens * m->hidden / (p->sequence_parallel ? p->tensor : 1);
    const uint32_t sizes[] = {p->tensor, p->context, p->pipeline, p->data, p->expert};
    uint32_t axes = 0;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        axes += sizes[i] > 1 ? 1 : 0;
    }
    if (p->pipeline > 1) {
        memory->buffers += 2 * message; /* one received, one sent */
    }
    memory->context = e->job->stack.context_bytes + axes * e->job->stack.communicator_bytes;
}

static void stage_memory(const estimate *e, uint32_t stage, weir_train_memory *memory)
{
    const weir_accelerator *accelerator = weir_kernel_accelerator(e->job->kernels);
    *memory = (weir_train_memory){.stage = stage};
    add_states(e, stage, memory);
    add_buffers(e, memory);
    memory->activations = stage_activations(e, stage);
    memory->allocated = memory->parameters + memory->gradients + memory->optimizer +
                        memory->activations + memory->buffers;
    memory->fragmentation = memory->allocated * fmax(0, e->job->stack.fragmentation - 1);
    memory->total = memory->allocated + memory->fragmentation + memory->context;
    memory->capacity = accelerator->memory_bytes;
}

void weir_train_memory_stage(const weir_train_job *job, uint32_t stage, weir_train_memory *memory)
{
    estimate e;
    begin(job, &e);
    stage_memory(&e, stage, memory);
}

void weir_train_memory_of(const weir_train_job *job, weir_train_memory *memory)
{
    estimate e;
    weir_train_memory one;
    begin(job, &e);
    stage_memory(&e, 0, memory);
    for (uint32_t s = 1; s < job->plan.pipeline; s++) {
        stage_memory(&e, s, &one);
        if (one.total > memory->total) {
            *memory = one;
        }
    }
}
