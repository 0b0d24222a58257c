#include "train/train_stage.h"

#include "train/train_layer.h"
#include "train/train_memory.h"
#include "train/train_shape.h"
#include "train/train_wire.h"

#include <math.h>
#include <string.h>

enum { LAYER_KINDS = 4 };

/* Costs that chunks have in common. */
typedef struct {
    const weir_train_job *job;
    weir_layer_cost layer[LAYER_KINDS][2]; /* by bits; computed again as a whole or not */
    bool is_known[LAYER_KINDS][2];
} layer_costs;

static const weir_layer_cost *layer_of(layer_costs *costs, uint32_t layer, bool again)
{
    uint32_t kind = costs->job->model->layer[layer] & (WEIR_LAYER_MOE | WEIR_LAYER_WINDOW);
    if (!costs->is_known[kind][again]) {
        weir_train_layer_cost(costs->job, layer, again, &costs->layer[kind][again]);
        costs->is_known[kind][again] = true;
    }
    return &costs->layer[kind][again];
}

static void join(weir_chunk_cost *chunk, const weir_layer_cost *layer, double times)
{
    weir_pass_join(&chunk->forward, &layer->forward, times);
    weir_pass_join(&chunk->dgrad, &layer->dgrad, times);
    weir_pass_join(&chunk->wgrad, &layer->wgrad, times);
}

/* --- chunks --- */

static bool is_again(const weir_train_plan *p, uint32_t nth)
{
    return p->recompute == WEIR_RECOMPUTE_PLAN_FULL ||
           (p->recompute == WEIR_RECOMPUTE_PLAN_BLOCK && nth < p->recompute_layers);
}

static void add_layers(layer_costs *costs, weir_layer_range range, weir_chunk_cost *chunk)
{
    double count[LAYER_KINDS][2] = {{0}};
    const weir_layer_cost *of[LAYER_KINDS][2] = {{NULL}};
    for (uint32_t i = 0; i < range.count; i++) {
        uint32_t layer = range.first + i;
        bool again = is_again(&costs->job->plan, i);
        uint32_t kind = costs->job->model->layer[layer] & (WEIR_LAYER_MOE | WEIR_LAYER_WINDOW);
        of[kind][again] = layer_of(costs, layer, again);
        count[kind][again] += 1;
    }
    for (uint32_t kind = 0; kind < LAYER_KINDS; kind++) {
        for (uint32_t again = 0; again < 2; again++) {
            if (of[kind][again]) {
                join(chunk, of[kind][again], count[kind][again]);
            }
        }
    }
}

/* Every stage has its part of the words, for all micro-batches. The hidden states come to all
 * stages for it, and their gradients are summed: the host waits as for a message. */
static void add_shared_ends(layer_costs *costs, weir_chunk_cost *chunk)
{
    weir_model model = *costs->job->model;
    weir_train_job job = *costs->job;
    weir_layer_cost cost;
    model.vocab = (model.vocab + job.plan.pipeline - 1) / job.plan.pipeline;
    job.model = &model;
    weir_train_embedding_cost(&job, &cost);
    join(chunk, &cost, 1);
    weir_train_head_cost(&job, &cost);
    join(chunk, &cost, 1 + model.mtp_layers);
    const weir_piece idle = {.kind = WEIR_PIECE_IDLE,
                             .cause = WEIR_CAUSE_DEPENDENCY_SYNC,
                             .seconds = job.stack.overlaps_pipeline ? 0 : job.stack.hand_over_s};
    weir_pass_add(&chunk->forward, &idle);
    weir_pass_add(&chunk->dgrad, &idle);
}

static void add_ends(layer_costs *costs, uint32_t position, weir_chunk_cost *chunk)
{
    const weir_train_job *job = costs->job;
    const weir_model *m = job->model;
    bool spreads = job->plan.spreads_vocabulary;
    weir_layer_cost cost;
    if (spreads && position < job->plan.pipeline) {
        add_shared_ends(costs, chunk);
    }
    if (position == 0 && !spreads) {
        weir_train_embedding_cost(job, &cost);
        join(chunk, &cost, 1);
    }
    if (position != job->plan.pipeline * job->plan.chunks - 1) {
        return;
    }
    if (!spreads) {
        weir_train_head_cost(job, &cost);
        join(chunk, &cost, 1 + m->mtp_layers);
    }
    if (m->mtp_layers > 0) {
        join(chunk, layer_of(costs, m->layers - 1, is_again(&job->plan, 0)), m->mtp_layers);
        weir_train_mtp_cost(job, &cost);
        join(chunk, &cost, m->mtp_layers);
    }
}

/* Hidden states that stages hand over; each tensor rank sends its share (Narayanan et al., section
 * 4.1; with sequence parallelism it has no more than that). */
static double hand_over_bytes(const weir_train_job *job)
{
    const weir_train_plan *p = &job->plan;
    return 2 * (double)p->micro_batch * p->sequence / p->context * job->model->hidden;
}

/* What another stage hands over in shares is put together where all ranks need the whole. */
static void add_gathering(const weir_train_job *job, uint32_t position, weir_chunk_cost *chunk)
{
    const weir_train_plan *p = &job->plan;
    if (p->pipeline == 1 || p->tensor == 1 || p->sequence_parallel) {
        return;
    }
    weir_wire wire =
        weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, hand_over_bytes(job));
    weir_piece piece = weir_train_wire_piece(WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR,
                                             WEIR_COLLECTIVE_ALL_GATHER, &wire);
    if (position > 0) {
        weir_pass_add(&chunk->forward, &piece);
    }
    if (position + 1 < p->pipeline * p->chunks) {
        weir_pass_add(&chunk->dgrad, &piece);
    }
}

static void add_host(const weir_train_job *job, weir_chunk_cost *chunk)
{
    const weir_piece idle = {.kind = WEIR_PIECE_IDLE,
                             .cause = WEIR_CAUSE_DEPENDENCY_HOST,
                             .seconds = job->stack.micro_batch_s / job->plan.chunks};
    weir_pass_add(&chunk->forward, &idle);
}

static double computing_s(const weir_pass_cost *pass)
{
    double sum = 0;
    for (uint32_t i = 0; i < pass->count; i++) {
        sum += pass->piece[i].kind == WEIR_PIECE_COMPUTE ? pass->piece[i].seconds : 0;
    }
    return sum;
}

/* Beside so much computing; the rest is seen. */
static void add_copy(weir_pass_cost *pass, double bytes, double copy_s, double cover_s)
{
    double seen_s = fmax(0, copy_s - cover_s);
    const weir_piece beside = {.kind = WEIR_PIECE_COPIED,
                               .cause = WEIR_CAUSE_CACHE_OFFLOAD,
                               .seconds = copy_s - seen_s,
                               .bytes = bytes,
                               .count = 1};
    const weir_piece seen = {
        .kind = WEIR_PIECE_COMPUTE, .cause = WEIR_CAUSE_CACHE_OFFLOAD, .seconds = seen_s};
    weir_pass_add(pass, &beside);
    weir_pass_add(pass, &seen);
}

/* Activations leave for the host's memory beside the pass that makes them and come back beside the
 * one that needs them; copies in one direction at a time. */
static void add_offload(const weir_train_job *job, uint32_t position, weir_chunk_cost *chunk)
{
    double rate = weir_kernel_accelerator(job->kernels)->host_bytes_per_s;
    if (!(job->plan.offload_share > 0) || !(rate > 0)) {
        return;
    }
    double bytes = job->plan.offload_share * weir_train_memory_kept(job, position);
    double copy_s = bytes / rate, backward_s = computing_s(&chunk->dgrad);
    backward_s += weir_train_splits_backward(job->plan.schedule) ? 0 : computing_s(&chunk->wgrad);
    add_copy(&chunk->forward, bytes, copy_s, computing_s(&chunk->forward));
    add_copy(&chunk->dgrad, bytes, copy_s, backward_s);
}

static void make_chunk(layer_costs *costs, uint32_t position, weir_chunk_cost *chunk)
{
    weir_layer_range range = weir_train_layers(costs->job, position);
    weir_train_weights weights = weir_train_weights_at(costs->job, position);
    *chunk = (weir_chunk_cost){.layers = range.count,
                               .dense_parameters = weights.dense,
                               .expert_parameters = weights.expert};
    add_layers(costs, range, chunk);
    add_ends(costs, position, chunk);
    add_gathering(costs->job, position, chunk);
    add_offload(costs->job, position, chunk);
    add_host(costs->job, chunk);
}

/* Layers of the same kinds in the same numbers, and neither end of the model. */
static bool is_like(const weir_train_job *job, uint32_t a, uint32_t b)
{
    weir_layer_range one = weir_train_layers(job, a), other = weir_train_layers(job, b);
    uint32_t stages = job->plan.pipeline, last = stages * job->plan.chunks - 1;
    if (job->plan.spreads_vocabulary && (a < stages) != (b < stages)) {
        return false;
    }
    return a > 0 && b > 0 && a < last && b < last && one.count == other.count &&
           memcmp(job->model->layer + one.first, job->model->layer + other.first, one.count) == 0;
}

/* The message between a stage and the one behind it, of the last stage and the first. */
static weir_wire hand_over(const weir_train_job *job, uint32_t stage)
{
    uint64_t node = job->network.devices_per_node;
    uint64_t apart = weir_train_stride(&job->plan, WEIR_AXIS_PIPELINE);
    uint32_t behind = (stage + 1) % job->plan.pipeline;
    bool is_near = stage * apart / node == behind * apart / node;
    return weir_train_wire(job, is_near ? WEIR_GROUP_PIPELINE_IN_NODE : WEIR_GROUP_PIPELINE,
                           WEIR_COLLECTIVE_SEND_RECV, hand_over_bytes(job) / job->plan.tensor);
}

static weir_code make_hand_overs(const weir_train_job *job, weir_arena *arena,
                                 weir_stage_costs *costs, weir_err *err)
{
    uint32_t stages = job->plan.pipeline;
    double *hop_s = weir_arena_alloc(arena, stages, sizeof *hop_s);
    weir_wire_parts *parts = weir_arena_alloc(arena, stages, sizeof *parts);
    if (!hop_s || !parts) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the messages of %u stages",
                            stages);
    }
    bool waits = stages > 1 && !job->stack.overlaps_pipeline && !job->network.is_infinite;
    costs->send_s = 0;
    costs->send_parts = (weir_wire_parts){0};
    for (uint32_t i = 0; i < stages; i++) {
        weir_wire wire = hand_over(job, i);
        hop_s[i] = wire.seconds + (waits ? job->stack.hand_over_s : 0);
        costs->send_s += i + 1 < stages ? hop_s[i] / (stages - 1) : 0;
        costs->send_bytes = wire.bytes;
        parts[i] = wire.parts;
        parts[i].near_s = wire.parts.near_bytes > 0 ? hop_s[i] : 0;
        if (i + 1 < stages) {
            weir_wire_parts_add(&costs->send_parts, &parts[i], 1.0 / (stages - 1));
        }
    }
    costs->hop_parts = parts;
    costs->hop_s = hop_s;
    return WEIR_OK;
}

/* --- DualPipe's pairs --- */

bool weir_train_pairs_passes(const weir_train_job *job)
{
    weir_schedule_kind kind = job->plan.schedule;
    bool is_dual = kind == WEIR_SCHEDULE_DUALPIPE || kind == WEIR_SCHEDULE_DUALPIPE_V;
    return is_dual && job->plan.pipeline > 1 && job->stack.overlaps_experts;
}

static void share_out(const weir_pass_cost *pass, double share, double *exchange_s,
                      double *kernel_s)
{
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        bool is_hideable = piece->kind == WEIR_PIECE_EXCHANGE && weir_train_is_expert_wire(piece);
        *exchange_s += is_hideable ? piece->seconds * share : 0;
        *kernel_s += piece->kind == WEIR_PIECE_COMPUTE ? piece->seconds * share : 0;
    }
}

/* The all-to-alls of a pass run beside the kernels of the other one, which they slow down: so much
 * less is saved. */
static weir_code make_pairs(const weir_train_job *job, weir_arena *arena, weir_stage_costs *costs,
                            weir_err *err)
{
    if (!weir_train_pairs_passes(job)) {
        return WEIR_OK;
    }
    weir_pair_share *pair = weir_arena_alloc(arena, costs->positions, sizeof *pair);
    if (!pair) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the pairs of %u chunks",
                            costs->positions);
    }
    double share = fmax(0, 1 - job->stack.overlap_slowdown);
    for (uint32_t i = 0; i < costs->positions; i++) {
        const weir_chunk_cost *chunk = costs->chunk[i];
        weir_pair_share *p = &pair[i];
        *p = (weir_pair_share){0};
        share_out(&chunk->forward, share, &p->forward_exchange_s, &p->forward_kernels_s);
        share_out(&chunk->dgrad, share, &p->backward_exchange_s, &p->dgrad_kernels_s);
        share_out(&chunk->wgrad, share, &p->backward_exchange_s, &p->wgrad_kernels_s);
    }
    costs->pair = pair;
    return WEIR_OK;
}

weir_code weir_train_stage_costs(const weir_train_job *job, weir_arena *arena,
                                 weir_stage_costs *costs, weir_err *err)
{
    uint32_t positions = job->plan.pipeline * job->plan.chunks;
    layer_costs *layers = weir_arena_alloc(arena, 1, sizeof *layers);
    costs->chunk = weir_arena_alloc(arena, positions, sizeof(weir_chunk_cost *));
    costs->positions = positions;
    costs->pair = NULL;
    if (!layers || !costs->chunk) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the costs of %u chunks",
                            positions);
    }
    layers->job = job;
    for (uint32_t i = 0; i < positions; i++) {
        if (i > 0 && is_like(job, i, i - 1)) {
            costs->chunk[i] = costs->chunk[i - 1];
            continue;
        }
        weir_chunk_cost *chunk = weir_arena_alloc(arena, 1, sizeof *chunk);
        if (!chunk) {
            return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the costs of a chunk");
        }
        make_chunk(layers, i, chunk);
        costs->chunk[i] = chunk;
    }
    weir_code code = make_hand_overs(job, arena, costs, err);
    return code == WEIR_OK ? make_pairs(job, arena, costs, err) : code;
}
