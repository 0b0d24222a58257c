/* train_check.c: the rules, one after the other; each names what would satisfy it. */
#include "train/train_check.h"

#include "train/schedule.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

typedef struct {
    const weir_train_job *job;
    uint64_t devices;
    weir_train_fault *fault;
} checker;

/* works: the value that the text names; 0: none. */
WEIR_PRINTF(4, 5)
static bool fail(const checker *c, const char *key, uint64_t works, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    c->fault->key = key;
    c->fault->works = works;
    vsnprintf(c->fault->text, sizeof c->fault->text, fmt, args);
    va_end(args);
    return false;
}

/* The divisor of whole that is nearest to value, the smaller of two. */
static uint64_t nearest_divisor(uint64_t whole, uint64_t value)
{
    for (uint64_t off = 0; off < value; off++) {
        if (whole % (value - off) == 0) {
            return value - off;
        }
        if (value + off <= whole && whole % (value + off) == 0) {
            return value + off;
        }
    }
    return 1;
}

typedef bool (*rule)(const checker *c, uint64_t value);

/* The nearest value up to `most` that the rule likes, the smaller of two; 0: none. */
static uint64_t nearest(const checker *c, rule likes, uint64_t value, uint64_t most)
{
    uint64_t from = value < most ? value : most;
    for (uint64_t off = 0; off <= most; off++) {
        if (off < from && likes(c, from - off)) {
            return from - off;
        }
        if (from + off <= most && likes(c, from + off)) {
            return from + off;
        }
    }
    return 0;
}

static uint64_t nearest_multiple(uint64_t of, uint64_t value)
{
    uint64_t below = value / of * of;
    return below == 0 || value - below > of / 2 ? below + of : below;
}

/* --- groups --- */

static weir_op_shape shape_of(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    return (weir_op_shape){.sequences = p->micro_batch,
                           .length = p->sequence,
                           .tensor = p->tensor,
                           .context = p->context,
                           .expert = p->expert,
                           .expert_tensor = p->expert_tensor,
                           .sequence_parallel = p->sequence_parallel};
}

/* Chunks that a model can be cut into: embedding and head count where the layout says so. */
static uint64_t most_positions(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t layers = c->job->model->layers;
    switch (p->layout) {
    case WEIR_LAYOUT_AS_LAYERS:
        return layers + 2;
    case WEIR_LAYOUT_LESS:
        return layers + (uint64_t)(p->first_layers > 0 ? p->first_layers : 0) +
               (uint64_t)(p->last_layers > 0 ? p->last_layers : 0);
    case WEIR_LAYOUT_LIST:
        return WEIR_TRAIN_MAX_CHUNKS; /* chunks without a layer are the user's wish */
    case WEIR_LAYOUT_EVEN:
        break;
    }
    return layers;
}

static uint64_t replica(const weir_train_plan *p)
{
    return (uint64_t)p->tensor * p->context * p->pipeline;
}

static bool divides_with(const checker *c, uint64_t tensor, uint64_t context, uint64_t pipeline)
{
    uint64_t model = tensor * context * pipeline;
    weir_ops_fault fault;
    weir_op_shape shape = shape_of(c);
    shape.tensor = (uint32_t)tensor;
    shape.context = (uint32_t)context;
    return model > 0 && model <= c->devices && c->devices % model == 0 &&
           weir_ops_is_sound(c->job->model, &shape, &fault);
}

static bool is_pipeline(const checker *c, uint64_t value)
{
    const weir_train_plan *p = &c->job->plan;
    return value <= most_positions(c) && divides_with(c, p->tensor, p->context, value);
}

static bool is_tensor(const checker *c, uint64_t value)
{
    return divides_with(c, value, c->job->plan.context, 1);
}

static bool is_context(const checker *c, uint64_t value)
{
    return divides_with(c, 1, value, 1);
}

static bool check_world(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t model = replica(p);
    if (model <= c->devices && c->devices % model == 0) {
        if (p->data == c->devices / model) {
            return true;
        }
        return fail(c, "plan.data", c->devices / model,
                    "found %u replicas of %llu devices, expected %llu on the cluster's %llu",
                    p->data, (ull)model, (ull)(c->devices / model), (ull)c->devices);
    }
    const struct {
        const char *key;
        uint32_t value;
        rule likes;
    } keys[] = {{"plan.pipeline", p->pipeline, is_pipeline},
                {"plan.tensor", p->tensor, is_tensor},
                {"plan.context", p->context, is_context}};
    uint32_t i = 0;
    uint64_t works = nearest(c, keys[0].likes, keys[0].value, c->devices);
    while (works == 0 && ++i < 2) {
        works = nearest(c, keys[i].likes, keys[i].value, c->devices);
    }
    if (works == 0) {
        works = nearest(c, keys[i].likes, keys[i].value, c->devices);
    }
    return fail(c, keys[i].key, works,
                "found %u: tensor %u x context %u x pipeline %u = %llu devices for a replica, "
                "expected a divisor of the %llu of the cluster; %s %llu fits",
                keys[i].value, p->tensor, p->context, p->pipeline, (ull)model, (ull)c->devices,
                keys[i].key + strlen("plan."), (ull)works);
}

static bool check_batch(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t once = (uint64_t)p->micro_batch * p->data;
    if (p->global_batch % once != 0) {
        return fail(
            c, "plan.global_batch", nearest_multiple(once, p->global_batch),
            "found %u sequences for %u replicas of micro-batches of %u, expected a multiple "
            "of %llu such as %llu",
            p->global_batch, p->data, p->micro_batch, (ull)once,
            (ull)nearest_multiple(once, p->global_batch));
    }
    if (p->micro_batches != p->global_batch / once) {
        return fail(c, "plan.micro_batches", p->global_batch / once,
                    "found %u, expected %llu: %u sequences on %u replicas, %u at a time",
                    p->micro_batches, (ull)(p->global_batch / once), p->global_batch, p->data,
                    p->micro_batch);
    }
    return true;
}

/* A learned table of positions ends; packed documents begin anew in it. */
static bool check_positions(const checker *c)
{
    const weir_model *m = c->job->model;
    const weir_train_plan *p = &c->job->plan;
    bool is_bound = m->positions == WEIR_POSITIONS_LEARNED && m->max_positions > 0 && p->pairs == 0;
    if (!is_bound || p->sequence <= m->max_positions) {
        return true;
    }
    return fail(c, "plan.sequence", m->max_positions,
                "found %u tokens for a model that has learned %u positions, expected at most %u, "
                "or model.max_positions: %u",
                p->sequence, m->max_positions, m->max_positions, p->sequence);
}

/* What model/ says of a split, under the keys of the scenario. */
static bool check_split(const checker *c)
{
    static const char *const keys[][2] = {{"tensor", "plan.tensor"},
                                          {"context", "plan.context"},
                                          {"expert", "plan.expert"},
                                          {"expert_tensor", "plan.expert_tensor"}};
    const weir_op_shape shape = shape_of(c);
    weir_ops_fault fault = {0};
    if (weir_ops_is_sound(c->job->model, &shape, &fault)) {
        return true;
    }
    if (c->job->model->experts == 0 && c->job->plan.expert > 1) {
        return fail(c, "plan.expert", 1, "found %u for a model without experts, expected 1",
                    c->job->plan.expert);
    }
    const char *key = "plan";
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (fault.key && weir_str_eq(weir_str_from(fault.key), weir_str_from(keys[i][0]))) {
            key = keys[i][1];
        }
    }
    return fail(c, key, 0, "%s", fault.text);
}

static uint64_t stage_devices(const weir_train_plan *p)
{
    return (uint64_t)p->data * p->context * p->tensor;
}

static bool is_expert(const checker *c, uint64_t value)
{
    const weir_train_plan *p = &c->job->plan;
    return stage_devices(p) % (value * p->expert_tensor) == 0 &&
           c->job->model->experts % value == 0;
}

static bool is_expert_tensor(const checker *c, uint64_t value)
{
    return stage_devices(&c->job->plan) % value == 0 && c->job->model->expert_ffn % value == 0;
}

static bool check_experts(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t room = stage_devices(p), taken = (uint64_t)p->expert * p->expert_tensor;
    if ((p->expert == 1 && p->expert_tensor == 1) || room % taken == 0) {
        return true;
    }
    const char *key = "plan.expert";
    uint64_t works = nearest(c, is_expert, p->expert, room);
    if (works == 0) {
        key = "plan.expert_tensor";
        works = nearest(c, is_expert_tensor, p->expert_tensor, room);
    }
    return fail(c, key, works,
                "found expert %u x expert_tensor %u = %llu, expected a divisor of the %llu "
                "devices of a pipeline stage; %s %llu fits",
                p->expert, p->expert_tensor, (ull)taken, (ull)room, key + strlen("plan."),
                (ull)works);
}

static bool check_context(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    const weir_model *m = c->job->model;
    uint32_t heads = weir_model_is_latent(m) ? m->heads : m->kv_heads;
    uint32_t mine = heads / p->tensor > 0 ? heads / p->tensor : 1;
    if (p->context > 1 && p->context_kind == WEIR_CONTEXT_ULYSSES && mine % p->context != 0) {
        return fail(c, "plan.context", nearest_divisor(mine, p->context),
                    "found %u, by which the %u key-value heads of a tensor rank cannot be divided, "
                    "expected %llu or context_kind: ring",
                    p->context, mine, (ull)nearest_divisor(mine, p->context));
    }
    return true;
}

static bool check_sharding(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t all = (uint64_t)p->data * p->context;
    if (p->shard_ranks > 0 && all % p->shard_ranks != 0) {
        return fail(c, "plan.shard_ranks", nearest_divisor(all, p->shard_ranks),
                    "found %u, expected a divisor of data x context, %llu, "
                    "such as %llu",
                    p->shard_ranks, (ull)all, (ull)nearest_divisor(all, p->shard_ranks));
    }
    return true;
}

/* --- stages --- */

static bool check_stage_count(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t positions = (uint64_t)p->pipeline * p->chunks, most = most_positions(c);
    if (most > WEIR_TRAIN_MAX_CHUNKS) {
        most = WEIR_TRAIN_MAX_CHUNKS;
    }
    if (positions <= most) {
        return true;
    }
    bool is_stages = p->pipeline > most;
    const char *key = is_stages ? "plan.pipeline" : "plan.chunks";
    uint64_t works = is_stages ? nearest(c, is_pipeline, most, most) : most / p->pipeline;
    works = works > 0 ? works : 1;
    return fail(c, key, works,
                "found %u stages x %u chunks = %llu for %u layers, expected at most %llu; %s %llu "
                "fits",
                p->pipeline, p->chunks, (ull)positions, c->job->model->layers, (ull)most,
                key + strlen("plan."), (ull)works);
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
            return fail(c, "plan.chunk_layers", 0,
                        "found %llu layers in %u chunks, expected the %u "
                        "of the model",
                        (ull)sum, positions, layers);
        }
    }
    if (p->layout == WEIR_LAYOUT_LESS) {
        int64_t whole = (int64_t)layers + p->first_layers + p->last_layers;
        int64_t each = whole / positions;
        if (positions < 2 || whole % positions != 0 || each < p->first_layers ||
            each < p->last_layers) {
            return fail(c, "plan.first_layers", 0,
                        "found %u layers with %d and %d fewer on the first and last of %u chunks, "
                        "expected a sum that %u divides: %u + first + last",
                        layers, p->first_layers, p->last_layers, positions, positions, layers);
        }
    }
    return true;
}

static bool check_schedule(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    weir_schedule_fault fault = {0};
    if (p->pipeline == 1 && p->chunks == 1) {
        return true;
    }
    if (weir_schedule_is_possible(p->schedule, p->pipeline, p->chunks, p->micro_batches, &fault)) {
        return true;
    }
    return fail(c, fault.key ? fault.key : "plan.schedule", 0, "%s", fault.text);
}

static bool check_recompute(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint32_t positions = p->pipeline * p->chunks;
    uint32_t most = (c->job->model->layers + positions - 1) / positions;
    if (p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK && p->recompute_layers == 0) {
        return fail(c, "plan.recompute_layers", most,
                    "found none for recompute: block, expected 1 to %u layers of each chunk", most);
    }
    if (p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK && p->recompute_layers > most) {
        return fail(c, "plan.recompute_layers", most,
                    "found %u layers of each chunk, expected at most the %u "
                    "that it has",
                    p->recompute_layers, most);
    }
    return true;
}

static bool check_format(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    if (!weir_kernel_has_format(c->job->kernels, p->format)) {
        const weir_accelerator *accelerator = weir_kernel_accelerator(c->job->kernels);
        return fail(c, "plan.precision", 0,
                    "found %s, which %s does not calculate in, expected for example bf16",
                    weir_gemm_format_name(p->format), accelerator->name);
    }
    return true;
}

static bool check_offload(const checker *c)
{
    const weir_accelerator *accelerator = weir_kernel_accelerator(c->job->kernels);
    if (c->job->plan.offload_share > 0 && !(accelerator->host_bytes_per_s > 0)) {
        return fail(c, "plan.offload_share", 0,
                    "found %g, but how fast %s copies to its host is not known (host_link of its "
                    "preset), expected 0",
                    c->job->plan.offload_share, accelerator->name);
    }
    return true;
}

bool weir_train_is_sound(const weir_train_job *job, uint64_t devices, weir_train_fault *fault)
{
    const checker c = {job, devices, fault};
    return check_positions(&c) && check_split(&c) && check_world(&c) && check_batch(&c) &&
           check_experts(&c) && check_context(&c) && check_sharding(&c) && check_stage_count(&c) &&
           check_layout(&c) && check_recompute(&c) && check_schedule(&c) && check_format(&c) &&
           check_offload(&c);
}
