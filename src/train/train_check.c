/* train_check.c: the rules, one after the other; each names what would satisfy it. */
#include "train/train_check_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool check_fail(const checker *c, const char *key, uint64_t works, const char *fmt, ...)
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

uint64_t check_nearest(const checker *c, check_rule likes, uint64_t value, uint64_t most)
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

uint64_t check_most_positions(const checker *c)
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

bool check_is_pipeline(const checker *c, uint64_t value)
{
    const weir_train_plan *p = &c->job->plan;
    return value <= check_most_positions(c) && divides_with(c, p->tensor, p->context, value);
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
        return check_fail(c, "plan.data", c->devices / model,
                          "found %u replicas of %llu devices, expected %llu on the cluster's %llu",
                          p->data, (ull)model, (ull)(c->devices / model), (ull)c->devices);
    }
    const struct {
        const char *key;
        uint32_t value;
        check_rule likes;
    } keys[] = {{"plan.pipeline", p->pipeline, check_is_pipeline},
                {"plan.tensor", p->tensor, is_tensor},
                {"plan.context", p->context, is_context}};
    uint32_t i = 0;
    uint64_t works = check_nearest(c, keys[0].likes, keys[0].value, c->devices);
    while (works == 0 && ++i < 2) {
        works = check_nearest(c, keys[i].likes, keys[i].value, c->devices);
    }
    if (works == 0) {
        works = check_nearest(c, keys[i].likes, keys[i].value, c->devices);
    }
    return check_fail(
        c, keys[i].key, works,
        "found %u: tensor %u x context %u x pipeline %u = %llu devices for a replica, "
        "expected a divisor of the %llu of the cluster; %s %llu fits",
        keys[i].value, p->tensor, p->context, p->pipeline, (ull)model, (ull)c->devices,
        keys[i].key + strlen("plan."), (ull)works);
}

static bool check_batch(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    uint64_t once = (uint64_t)p->micro_batch * p->data, each = p->global_batch / p->data;
    if (each > 0 && p->micro_batch > each) {
        uint64_t works = p->global_batch % p->data == 0 ? each : 1;
        return check_fail(
            c, "plan.micro_batch", works,
            "found %u sequences at a time, but a replica has %llu of the %u (%u replicas), "
            "expected for example %llu",
            p->micro_batch, (ull)each, p->global_batch, p->data, (ull)works);
    }
    if (p->global_batch % once != 0) {
        return check_fail(
            c, "plan.global_batch", nearest_multiple(once, p->global_batch),
            "found %u sequences for %u replicas of micro-batches of %u, expected a multiple "
            "of %llu such as %llu",
            p->global_batch, p->data, p->micro_batch, (ull)once,
            (ull)nearest_multiple(once, p->global_batch));
    }
    if (p->micro_batches != p->global_batch / once) {
        return check_fail(c, "plan.micro_batches", p->global_batch / once,
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
    return check_fail(
        c, "plan.sequence", m->max_positions,
        "found %u tokens for a model that has learned %u positions, expected at most %u, "
        "or model.max_positions: %u",
        p->sequence, m->max_positions, m->max_positions, p->sequence);
}

/* Keys of experts say nothing of a dense model. */
static bool check_dense(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    const struct {
        const char *key;
        double value;
        uint32_t usual;
    } keys[] = {{"plan.expert", p->expert, 1},
                {"plan.expert_tensor", p->expert_tensor, 1},
                {"plan.expert_load", p->expert_load, 1},
                {"plan.capacity", p->capacity, 0}};
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys && c->job->model->experts == 0; i++) {
        if (keys[i].value > keys[i].usual) {
            return check_fail(c, keys[i].key, keys[i].usual,
                              "found %g for a model without experts, expected %u", keys[i].value,
                              keys[i].usual);
        }
    }
    return true;
}

/* The length nearest to the plan's with which it can be split; 0: none within an eighth. */
static uint64_t nearest_length(const checker *c, weir_op_shape shape)
{
    weir_ops_fault fault;
    uint64_t of = (uint64_t)shape.tensor * shape.context;
    uint64_t near = nearest_multiple(of, shape.length);
    if (of > shape.length / 8) {
        return 0;
    }
    shape.length = (uint32_t)near;
    return weir_ops_is_sound(c->job->model, &shape, &fault) ? near : 0;
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
    const char *key = "plan";
    for (uint32_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (fault.key && weir_str_eq(weir_str_from(fault.key), weir_str_from(keys[i][0]))) {
            key = keys[i][1];
        }
    }
    uint64_t length = nearest_length(c, shape);
    return length > 0 ? check_fail(c, key, fault.works, "%s, or plan.sequence: %llu", fault.text,
                                   (ull)length)
                      : check_fail(c, key, fault.works, "%s", fault.text);
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
    uint64_t works = check_nearest(c, is_expert, p->expert, room);
    if (works == 0) {
        key = "plan.expert_tensor";
        works = check_nearest(c, is_expert_tensor, p->expert_tensor, room);
    }
    return check_fail(c, key, works,
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
        return check_fail(
            c, "plan.context", nearest_divisor(mine, p->context),
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
        return check_fail(c, "plan.shard_ranks", nearest_divisor(all, p->shard_ranks),
                          "found %u, expected a divisor of data x context, %llu, "
                          "such as %llu",
                          p->shard_ranks, (ull)all, (ull)nearest_divisor(all, p->shard_ranks));
    }
    return true;
}

static bool check_format(const checker *c)
{
    const weir_train_plan *p = &c->job->plan;
    if (!weir_kernel_has_format(c->job->kernels, p->format)) {
        const weir_accelerator *accelerator = weir_kernel_accelerator(c->job->kernels);
        bool has_fp8 =
            p->format == WEIR_GEMM_FP4 && weir_kernel_has_format(c->job->kernels, WEIR_GEMM_FP8);
        return check_fail(c, "plan.precision", 0,
                          "found %s, which %s does not calculate in, expected for example %s",
                          weir_gemm_format_name(p->format), accelerator->name,
                          weir_gemm_format_name(has_fp8 ? WEIR_GEMM_FP8 : WEIR_GEMM_16));
    }
    return true;
}

static bool check_offload(const checker *c)
{
    const weir_accelerator *accelerator = weir_kernel_accelerator(c->job->kernels);
    if (c->job->plan.offload_share > 0 && !(accelerator->host_bytes_per_s > 0)) {
        return check_fail(
            c, "plan.offload_share", 0,
            "found %g, but how fast %s copies to its host is not known (host_link of its "
            "preset), expected 0",
            c->job->plan.offload_share, accelerator->name);
    }
    return true;
}

bool weir_train_is_sound(const weir_train_job *job, uint64_t devices, weir_train_fault *fault)
{
    const checker c = {job, devices, fault};
    return check_positions(&c) && check_dense(&c) && check_split(&c) && check_world(&c) &&
           check_batch(&c) && check_experts(&c) && check_context(&c) && check_sharding(&c) &&
           check_stages(&c) && check_format(&c) && check_offload(&c);
}
