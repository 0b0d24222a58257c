#include "train/train_check.h"

#include "train/schedule.h"

#include <stdarg.h>
#include <stdio.h>

typedef unsigned long long ull;

typedef struct {
    const weir_train_job *job;
    uint64_t devices;
    weir_train_fault *fault;
} checker;

WEIR_PRINTF(3, 4) static bool fail(const checker *c, const char *key, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    c->fault->key = key;
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

static uint64_t nearest_multiple(uint64_t of, uint64_t value)
{
    uint64_t below = value / of * of;
    return below == 0 || value - below > of / 2 ? below + of : below;
}

/* --- groups --- */

static bool check_world(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t model = (uint64_t)p->tensor * p->context * p->pipeline;
    if (model > c->devices) {
        return fail(c, "plan.pipeline",
                    "found tensor %u x context %u x pipeline %u = %llu devices for one replica, "
                    "expected at most the %llu of the cluster; pipeline %llu fits",
                    p->tensor, p->context, p->pipeline, (ull)model, (ull)c->devices,
                    (ull)(c->devices / ((uint64_t)p->tensor * p->context)));
    }
    if (c->devices % model != 0) {
        return fail(c, "plan.data",
                    "found replicas of %llu devices (tensor %u x context %u x pipeline %u), "
                    "expected a divisor of the cluster's %llu such as %llu",
                    (ull)model, p->tensor, p->context, p->pipeline, (ull)c->devices,
                    (ull)nearest_divisor(c->devices, model));
    }
    if (p->data != c->devices / model) {
        return fail(c, "plan.data",
                    "found %u replicas of %llu devices, expected %llu on the cluster's %llu",
                    p->data, (ull)model, (ull)(c->devices / model), (ull)c->devices);
    }
    return true;
}

static bool check_batch(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t once = (uint64_t)p->micro_batch * p->data;
    if (p->global_batch % once != 0) {
        return fail(
            c, "plan.global_batch",
            "found %u sequences for %u replicas of micro-batches of %u, expected a multiple "
            "of %llu such as %llu",
            p->global_batch, p->data, p->micro_batch, (ull)once,
            (ull)nearest_multiple(once, p->global_batch));
    }
    if (p->micro_batches != p->global_batch / once) {
        return fail(c, "plan.micro_batches",
                    "found %u, expected %llu: %u sequences on %u replicas, %u at a time",
                    p->micro_batches, (ull)(p->global_batch / once), p->global_batch, p->data,
                    p->micro_batch);
    }
    return true;
}

/* What model/ says of a split, under the keys of the scenario. */
static bool check_split(const checker *c)
{
    static const char *const keys[][2] = {{"tensor", "plan.tensor"},
                                          {"context", "plan.context"},
                                          {"expert", "plan.expert"},
                                          {"expert_tensor", "plan.expert_tensor"}};
    const weir_train_plan *p = &c->job->plan;
    const weir_op_shape shape = {.sequences = p->micro_batch,
                                 .length = p->sequence,
                                 .tensor = p->tensor,
                                 .context = p->context,
                                 .expert = p->expert,
                                 .expert_tensor = p->expert_tensor,
                                 .sequence_parallel = p->sequence_parallel};
    weir_ops_fault fault = {0};
    if (weir_ops_is_sound(c->job->model, &shape, &fault)) {
        return true;
    }
    const char *key = "plan";
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (fault.key && weir_str_eq(weir_str_from(fault.key), weir_str_from(keys[i][0]))) {
            key = keys[i][1];
        }
    }
    return fail(c, key, "%s", fault.text);
}

static bool check_experts(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    if (p->expert == 1 && p->expert_tensor == 1) {
        return true;
    }
    uint64_t room = (uint64_t)p->data * p->context * p->tensor;
    uint64_t taken = (uint64_t)p->expert * p->expert_tensor;
    if (room % taken != 0) {
        return fail(c, "plan.expert",
                    "found %u experts' ranks x %u of each = %llu, expected a divisor of the %llu "
                    "devices of a pipeline stage such as %llu",
                    p->expert, p->expert_tensor, (ull)taken, (ull)room,
                    (ull)nearest_divisor(room, taken));
    }
    return true;
}

static bool check_context(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    const weir_model *m = c->job->model;
    uint32_t heads = weir_model_is_latent(m) ? m->heads : m->kv_heads;
    uint32_t mine = heads / p->tensor > 0 ? heads / p->tensor : 1;
    if (p->context > 1 && p->context_kind == WEIR_CONTEXT_ULYSSES && mine % p->context != 0) {
        return fail(c, "plan.context",
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
        return fail(c, "plan.shard_ranks",
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
    uint32_t layers = c->job->model->layers;
    uint64_t positions = (uint64_t)p->pipeline * p->chunks;
    uint64_t most = layers + (p->layout == WEIR_LAYOUT_AS_LAYERS ? 2 : 0);
    if (positions > WEIR_TRAIN_MAX_CHUNKS) {
        return fail(c, "plan.chunks", "found %u stages x %u chunks = %llu, expected at most %d",
                    p->pipeline, p->chunks, (ull)positions, WEIR_TRAIN_MAX_CHUNKS);
    }
    if (positions > most) {
        const char *key = p->pipeline > most ? "plan.pipeline" : "plan.chunks";
        uint64_t fits = p->pipeline > most ? most / p->chunks : most / p->pipeline;
        return fail(c, key,
                    "found %u stages x %u chunks = %llu for %u layers, expected at most %llu; %s "
                    "%llu fits",
                    p->pipeline, p->chunks, (ull)positions, layers, (ull)most, key + 5,
                    (ull)(fits > 0 ? fits : 1));
    }
    return true;
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
            return fail(c, "plan.chunk_layers",
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
            return fail(c, "plan.first_layers",
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
    return fail(c, fault.key ? fault.key : "plan.schedule", "%s", fault.text);
}

static bool check_recompute(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint32_t positions = p->pipeline * p->chunks;
    uint32_t most = (c->job->model->layers + positions - 1) / positions;
    if (p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK && p->recompute_layers > most) {
        return fail(c, "plan.recompute",
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
        return fail(c, "plan.precision",
                    "found %s, which %s does not calculate in, expected for example bf16",
                    weir_gemm_format_name(p->format), accelerator->name);
    }
    return true;
}

bool weir_train_is_sound(const weir_train_job *job, uint64_t devices, weir_train_fault *fault)
{
    const checker c = {job, devices, fault};
    return check_split(&c) && check_world(&c) && check_batch(&c) && check_experts(&c) &&
           check_context(&c) && check_sharding(&c) && check_stage_count(&c) && check_layout(&c) &&
           check_recompute(&c) && check_schedule(&c) && check_format(&c);
}
