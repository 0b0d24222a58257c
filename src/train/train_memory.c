/* train_memory.c: states, activations in flight and buffers of each stage, in closed form. */
#include "train/train_memory.h"

#include "model/model_memory.h"
#include "train/train_shape.h"

#include <math.h>

/* What all stages have in common. */
typedef struct {
    const weir_train_job *job;
    weir_op_shape shape;
    weir_train_weighing weighing;
    double whole[WEIR_TRAIN_KINDS];  /* activations of a layer by its kind, nothing dropped */
    double kept[WEIR_TRAIN_KINDS];   /* what recomputation leaves of them */
    double inputs[WEIR_TRAIN_KINDS]; /* what full recomputation leaves */
    double embedding, head;
    double hidden; /* hidden states of all tokens of the micro-batch */
} estimate;

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
    bool is_known[WEIR_TRAIN_KINDS] = {false};
    *e = (estimate){.job = job, .shape = weir_train_shape(job)};
    weir_train_weigh(job, &e->weighing);
    for (uint32_t i = 0; i < m->layers; i++) {
        uint32_t kind = weir_train_kind(m, i);
        if (!is_known[kind]) {
            e->whole[kind] = weir_activations_layer(m, i, &e->shape, 0).total;
            e->kept[kind] = weir_activations_layer(m, i, &e->shape, mask_of(&job->plan)).total;
            e->inputs[kind] = weir_activations_layer(m, i, &e->shape, WEIR_RECOMPUTE_FULL).total;
            is_known[kind] = true;
        }
    }
    double activation = e->shape.bytes.activation > 0 ? e->shape.bytes.activation : 2;
    double tokens = (double)job->plan.micro_batch * job->plan.sequence / job->plan.context;
    e->hidden = tokens * m->hidden * activation;
    e->embedding = weir_activations_embedding(m, &e->shape);
    e->head = weir_activations_head(m, &e->shape);
}

/* --- which chunks a stage has, and how many passes are in flight --- */

static bool is_v_shaped(weir_schedule_kind kind)
{
    return kind == WEIR_SCHEDULE_ZB_V || kind == WEIR_SCHEDULE_DUALPIPE_V;
}

/* Chunks of the model whose weights a stage has: DualPipe's second direction brings another one. */
static uint32_t chunks_of(const weir_train_plan *p)
{
    return p->schedule == WEIR_SCHEDULE_DUALPIPE && p->pipeline > 1 ? 2 : p->chunks;
}

static uint32_t position_of(const weir_train_plan *p, uint32_t stage, uint32_t chunk)
{
    if (p->schedule == WEIR_SCHEDULE_DUALPIPE) {
        return chunk == 0 ? stage : p->pipeline - 1 - stage;
    }
    if (is_v_shaped(p->schedule)) {
        return chunk == 0 ? stage : 2 * p->pipeline - 1 - stage;
    }
    return chunk * p->pipeline + stage;
}

double weir_train_in_flight(const weir_train_plan *plan, uint32_t stage)
{
    double p = plan->pipeline, m = plan->micro_batches, v = plan->chunks;
    switch (plan->schedule) {
    case WEIR_SCHEDULE_GPIPE:
        return m * v;
    case WEIR_SCHEDULE_ONE_F_ONE_B:
        return fmin(m, p - stage) * v;
    case WEIR_SCHEDULE_INTERLEAVED:
        return v > 1 ? fmin(m * v, 2 * (p - 1 - stage) + 1 + (v - 1) * p) : fmin(m, p - stage);
    case WEIR_SCHEDULE_ZB_H1:
        return fmin(m, p) * v;
    case WEIR_SCHEDULE_ZB_H2:
        return fmin(m, 2 * p - 1) * v;
    case WEIR_SCHEDULE_ZB_V:
        return fmin(m, p) * v;
    case WEIR_SCHEDULE_DUALPIPE:
        return fmin(m, p + 1) * v;
    case WEIR_SCHEDULE_DUALPIPE_V:
        return fmin(2 * m, 2 * p + 1);
    case WEIR_SCHEDULE_COUNT:
        break;
    }
    return m * v;
}

/* --- activations --- */

/* Kept of one pass of the chunk; *again: the most that a layer of it computes again. */
static double chunk_activations(const estimate *e, uint32_t position, double *again)
{
    const weir_train_plan *p = &e->job->plan;
    const weir_model *m = e->job->model;
    weir_layer_range range = weir_train_layers(e->job, position);
    bool blocks = p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK;
    double sum = position == 0 ? e->embedding : 0;
    for (uint32_t i = 0; i < range.count; i++) {
        uint32_t kind = weir_train_kind(m, range.first + i);
        double kept = blocks && i < p->recompute_layers ? e->inputs[kind] : e->kept[kind];
        sum += kept;
        *again = fmax(*again, e->whole[kind] - kept);
    }
    if (position == p->pipeline * p->chunks - 1) {
        sum += m->mtp_layers * e->kept[weir_train_kind(m, m->layers - 1)];
    }
    return sum;
}

/* Kept by all passes in flight, and beside it what one layer computes again with the gradients of
 * its input and output, or the logits of one micro-batch (multi-token modules have their own). */
static double stage_activations(const estimate *e, uint32_t stage)
{
    const weir_train_plan *p = &e->job->plan;
    double kept = 0, again = 0, head = 0;
    uint32_t chunks = chunks_of(p), last = p->pipeline * p->chunks - 1;
    for (uint32_t c = 0; c < chunks; c++) {
        uint32_t position = position_of(p, stage, c);
        kept += chunk_activations(e, position, &again);
        bool has_head = p->spreads_vocabulary || position == last;
        head = has_head ? e->head * (1 + e->job->model->mtp_layers) : head;
    }
    kept *= weir_train_in_flight(p, stage) / chunks * (1 - p->offload_share);
    head /= p->spreads_vocabulary ? p->pipeline : 1;
    return kept + fmax(again + 2 * e->hidden, head);
}

double weir_train_memory_kept(const weir_train_job *job, uint32_t position)
{
    estimate e;
    double again = 0;
    begin(job, &e);
    return chunk_activations(&e, position, &again);
}

/* --- states and buffers --- */

static double weight_bytes(const estimate *e)
{
    return e->shape.bytes.activation > 2 ? e->shape.bytes.activation : 2;
}

/* Elements of the largest one that a device gathers as a whole. */
static double largest_matrix(const estimate *e)
{
    const weir_model *m = e->job->model;
    double widest = fmax(m->ffn, fmax(m->vocab, (m->heads + 2.0 * m->kv_heads) * m->head_dim));
    return widest * m->hidden / e->job->plan.tensor;
}

/* Weights and gradients that are there only while a unit (a layer; what a stage has beside its
 * layers) is computed. */
static void add_units(const estimate *e, double layer, double ends, double all,
                      weir_train_memory *memory)
{
    const weir_train_plan *p = &e->job->plan;
    const weir_train_stack *s = &e->job->stack;
    double most = s->live_parameters > 0 ? fmax(s->live_parameters, largest_matrix(e)) : INFINITY;
    double gathered = p->regathers ? fmin(fmin(2 * layer + ends, most), all) : all;
    memory->buffers += weight_bytes(e) * gathered;
    if (p->accumulates_sharded) {
        memory->buffers += s->reduced_bytes * fmin(fmax(layer, ends), most);
    } else {
        memory->gradients += s->gradient_bytes * all;
    }
}

typedef struct {
    double sharded,
        all;            /* of all chunks: the device's share of states, all that it computes with */
    double layer, ends; /* the largest layer; what is beside layers */
} stage_weights;

static stage_weights weights_of(const estimate *e, uint32_t stage)
{
    const weir_train_plan *p = &e->job->plan;
    double dense = weir_train_dense_shards(p), expert = weir_train_expert_shards(p);
    stage_weights sum = {0};
    for (uint32_t c = 0; c < chunks_of(p); c++) {
        uint32_t position = position_of(p, stage, c);
        weir_train_weights w = weir_train_weights_of(e->job, &e->weighing, position);
        weir_train_weights ends = weir_train_weights_ends(e->job, &e->weighing, position);
        sum.sharded += w.dense / dense + w.expert / expert;
        sum.all += w.dense + w.expert;
        sum.ends += ends.dense + ends.expert;
    }
    for (uint32_t kind = 0; kind < WEIR_TRAIN_KINDS; kind++) {
        sum.layer = fmax(sum.layer, e->weighing.layer[kind].dense + e->weighing.layer[kind].expert);
    }
    return sum;
}

static void add_states(const estimate *e, const stage_weights *w, weir_train_memory *memory)
{
    const weir_train_plan *p = &e->job->plan;
    const weir_train_stack *s = &e->job->stack;
    double share = p->schedule == WEIR_SCHEDULE_DUALPIPE ? 0.5 : 1; /* of states: two have each */
    memory->optimizer = s->state_bytes * w->sharded * share;
    if (p->zero >= 3) {
        memory->parameters = s->shard_bytes * w->sharded;
        memory->gradients = s->gradient_bytes * w->sharded;
        add_units(e, w->layer, w->ends, w->all, memory);
        return;
    }
    bool is_low = e->shape.bytes.operand < 2;
    memory->parameters = weight_bytes(e) * w->all;
    memory->parameters += is_low ? s->copy_bytes * (w->all - w->ends) : 0;
    memory->gradients = s->gradient_bytes * (p->zero == 2 ? w->sharded : w->all);
    if (p->data * p->context > 1) {
        memory->buffers += fmin(s->bucket_bytes, w->layer * s->reduced_bytes);
    }
}

static void add_buffers(const estimate *e, weir_train_memory *memory)
{
    const weir_train_plan *p = &e->job->plan;
    const uint32_t sizes[] = {p->tensor, p->context, p->pipeline, p->data, p->expert};
    uint32_t axes = 0;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        axes += sizes[i] > 1 ? 1 : 0;
    }
    if (p->pipeline > 1) { /* one received, one sent */
        memory->buffers += 2 * e->hidden / (p->sequence_parallel ? p->tensor : 1);
    }
    memory->context = e->job->stack.context_bytes + axes * e->job->stack.communicator_bytes;
}

/* Shares of tensors are fractions; what is taken is not, and parts add up to their sum exactly. */
static void in_whole_bytes(weir_train_memory *memory)
{
    double *const parts[] = {&memory->parameters,  &memory->gradients, &memory->optimizer,
                             &memory->activations, &memory->buffers,   &memory->context};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i] = ceil(*parts[i]);
    }
}

static void stage_memory(const estimate *e, uint32_t stage, weir_train_memory *memory)
{
    const weir_accelerator *accelerator = weir_kernel_accelerator(e->job->kernels);
    const weir_train_stack *s = &e->job->stack;
    stage_weights weights = weights_of(e, stage);
    *memory = (weir_train_memory){.stage = stage};
    add_states(e, &weights, memory);
    add_buffers(e, memory);
    memory->activations = stage_activations(e, stage);
    /* Activations are gone when the optimiser runs. */
    double temporary = s->temporary_bytes * weights.sharded;
    memory->buffers += fmax(0, temporary - memory->activations - memory->buffers);
    in_whole_bytes(memory);
    memory->allocated = memory->parameters + memory->gradients + memory->optimizer +
                        memory->activations + memory->buffers;
    memory->fragmentation = ceil(memory->allocated * fmax(0, s->fragmentation - 1));
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
