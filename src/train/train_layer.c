#include "train/train_layer.h"

#include "model/model_memory.h"
#include "train/train_shape.h"
#include "train/train_wire.h"

#include <math.h>

/* A layer that is being priced, or embedding or head. */
typedef struct {
    const weir_train_job *job;
    const weir_train_plan *plan;
    const weir_train_stack *stack;
    const weir_model *model;
    weir_op_shape shape;
    double tokens;                         /* of a micro-batch on a context rank */
    double stream;                         /* bytes of the hidden states of all of them */
    weir_kernel_sum forward, dgrad, wgrad; /* its kernels */
    struct {
        double launches, seconds;
    } again; /* what is computed again: kernels and collectives, and how long they run */
    weir_layer_cost *cost;
} pricing;

static pricing begin(const weir_train_job *job, weir_layer_cost *cost)
{
    pricing p = {.job = job,
                 .plan = &job->plan,
                 .stack = &job->stack,
                 .model = job->model,
                 .shape = weir_train_shape(job),
                 .cost = cost};
    double bytes = p.shape.bytes.activation > 0 ? p.shape.bytes.activation : 2;
    p.tokens = (double)job->plan.micro_batch * job->plan.sequence / job->plan.context;
    p.stream = bytes * p.tokens * job->model->hidden;
    *cost = (weir_layer_cost){0};
    return p;
}

/* --- what hides what --- */

static void add_wire(weir_pass_cost *pass, weir_piece_kind kind, weir_train_group group,
                     weir_collective_kind collective, weir_wire wire)
{
    weir_piece piece = weir_train_wire_piece(kind, group, collective, &wire);
    weir_pass_add(pass, &piece);
}

/* By how much an exchange slows the kernels beside it; experts' keeps SMs from them. */
static double slowdown_of(const pricing *p, weir_train_group group)
{
    uint32_t all = weir_kernel_accelerator(p->job->kernels)->sm_count;
    double taken = all > 0 ? fmin(1, (double)p->stack->communication_sms / all) : 0;
    bool is_expert = group == WEIR_GROUP_EXPERT;
    return is_expert ? fmax(taken, p->stack->overlap_slowdown) : p->stack->overlap_slowdown;
}

/* So much of it is seen, the rest runs beside kernels, which it slows down. */
static void split_wire(const pricing *p, weir_pass_cost *pass, weir_train_group group,
                       weir_collective_kind collective, weir_wire wire, double exposed_s)
{
    double share = wire.seconds > 0 ? fmin(1, exposed_s / wire.seconds) : 1;
    weir_wire seen = {wire.seconds * share, wire.bytes * share};
    weir_wire hidden = {wire.seconds - seen.seconds, wire.bytes - seen.bytes};
    add_wire(pass, WEIR_PIECE_EXCHANGE, group, collective, seen);
    add_wire(pass, WEIR_PIECE_HIDDEN, group, collective, hidden);
    const weir_piece slower = {.kind = WEIR_PIECE_COMPUTE,
                               .cause = WEIR_CAUSE_COMPUTE_GEMM,
                               .seconds = hidden.seconds * slowdown_of(p, group)};
    weir_pass_add(pass, &slower);
}

/* Under kernels that take cover_s. */
static void hide(const pricing *p, weir_pass_cost *pass, weir_train_group group,
                 weir_collective_kind collective, weir_wire wire, double cover_s)
{
    split_wire(p, pass, group, collective, wire, fmax(0, wire.seconds - cover_s));
}

/* Cut into as many parts as there are ranks, each beside the products of another part; small parts
 * lose efficiency and exchanges take SMs, so that a share of the shorter side is seen. */
static void interleave(const pricing *p, weir_pass_cost *pass, weir_collective_kind collective,
                       weir_wire wire, double cover_s)
{
    double both = fmin(wire.seconds, cover_s);
    double seen = fmax(1.0 / p->plan->tensor, p->stack->tensor_exposed);
    split_wire(p, pass, WEIR_GROUP_TENSOR, collective, wire, wire.seconds - both + both * seen);
}

static weir_wire times(weir_wire wire, double count)
{
    return (weir_wire){wire.seconds * count, wire.bytes * count};
}

/* --- tensor ranks --- */

/* Blocks whose weights tensor ranks share out: attention, and the dense or the shared network. */
static double split_blocks(const pricing *p, uint32_t layer)
{
    bool is_moe = weir_model_is_moe(p->model, layer);
    return is_moe && p->model->shared_ffn == 0 ? 1 : 2;
}

/* All ranks' hidden states as they arrive for a product; what products give is scattered in 16
 * bits.
 */
static weir_wire gather_wire(const pricing *p)
{
    double operand = p->shape.bytes.operand, stream = p->stream;
    double narrow = p->stack->gathers_quantised && operand > 0 && operand < 2 ? operand / 2 : 1;
    return weir_train_wire(p->job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, stream * narrow);
}

static void tensor_forward(const pricing *p, weir_pass_cost *pass, double blocks, double gemm_s)
{
    bool sp = p->plan->sequence_parallel;
    weir_collective_kind kinds[] = {WEIR_COLLECTIVE_ALL_GATHER, WEIR_COLLECTIVE_REDUCE_SCATTER};
    uint32_t count = 2;
    if (!sp) {
        kinds[0] = WEIR_COLLECTIVE_ALL_REDUCE;
        count = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        weir_wire one = kinds[i] == WEIR_COLLECTIVE_ALL_GATHER
                            ? gather_wire(p)
                            : weir_train_wire(p->job, WEIR_GROUP_TENSOR, kinds[i], p->stream);
        weir_wire all = times(one, blocks);
        if (sp && p->stack->overlaps_tensor && p->stack->fused_tensor_overlap) {
            interleave(p, pass, kinds[i], all, gemm_s / 2);
        } else {
            add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, kinds[i], all);
        }
    }
}

bool weir_train_splits_backward(weir_schedule_kind kind)
{
    return kind == WEIR_SCHEDULE_ZB_H1 || kind == WEIR_SCHEDULE_ZB_H2 || kind == WEIR_SCHEDULE_ZB_V;
}

static void tensor_backward(const pricing *p, double blocks)
{
    weir_pass_cost *pass = &p->cost->dgrad;
    bool bulk = p->stack->overlaps_tensor;
    double under_wgrad = bulk && !weir_train_splits_backward(p->plan->schedule) ? p->wgrad.gemm : 0;
    if (!p->plan->sequence_parallel) {
        weir_wire all =
            weir_train_wire(p->job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE, p->stream);
        hide(p, pass, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE, times(all, blocks),
             under_wgrad);
        return;
    }
    weir_wire gather = times(gather_wire(p), blocks);
    weir_wire scatter =
        times(weir_train_wire(p->job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_REDUCE_SCATTER, p->stream),
              blocks);
    if (bulk && p->stack->fused_tensor_overlap) {
        interleave(p, pass, WEIR_COLLECTIVE_ALL_GATHER, gather, p->dgrad.gemm / 2);
    } else { /* of what row-parallel weights get */
        add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, gather);
    }
    /* the saved input, gathered again; what column-parallel weights give */
    hide(p, pass, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, gather,
         bulk ? p->dgrad.gemm / 2 : 0);
    hide(p, pass, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_REDUCE_SCATTER, scatter, under_wgrad);
}

/* --- context ranks --- */

static void context_pass(const pricing *p, weir_pass_cost *pass, double attention_s, bool backward)
{
    double c = p->plan->context, t = p->plan->tensor;
    double heads = p->model->heads / t;
    double kv_heads = weir_model_is_latent(p->model) ? heads : fmax(1, p->model->kv_heads / t);
    double widths = weir_model_qk_dim(p->model) + weir_model_v_dim(p->model);
    double kv = 2 * p->tokens * kv_heads * widths, q = 2 * p->tokens * heads * widths;
    weir_wire wire;
    if (p->plan->context <= 1) {
        return;
    }
    switch (p->plan->context_kind) {
    case WEIR_CONTEXT_RING: /* a hop runs beside the block before */
        wire = weir_train_wire(p->job, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_SEND_RECV,
                               backward ? 2 * kv : kv);
        hide(p, pass, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_SEND_RECV, times(wire, c - 1),
             attention_s * (c - 1) / c);
        return;
    case WEIR_CONTEXT_ALL_GATHER:
        wire = weir_train_wire(p->job, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_GATHER, c * kv);
        add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_GATHER, wire);
        if (backward) {
            wire =
                weir_train_wire(p->job, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_REDUCE_SCATTER, c * kv);
            add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_REDUCE_SCATTER,
                     wire);
        }
        return;
    case WEIR_CONTEXT_ULYSSES:
        wire = weir_train_wire(p->job, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_TO_ALL, q + kv);
        add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_TO_ALL, wire);
        return;
    }
}

/* --- expert ranks --- */

/* Copies of a token that leave over all copies, where each node gets one and spreads it, and in a
 * node each rank gets one for all its experts (uniform routing: reference/training-model.md section
 * 11). */
static double copies_once(const pricing *p)
{
    weir_axis_span span = weir_train_span(p->job, WEIR_AXIS_EXPERT);
    double places = span.nodes > 1 ? span.nodes : span.ranks, k = p->model->experts_per_token;
    return places > 1 && k > 1 ? places * (1 - pow(1 - 1 / places, k)) / k : 1;
}

/* DeepEP hands copies on to ranks of the receiving node, those that never left a node as well: a
 * bound of its own beside the NIC's. */
static weir_wire expert_wire(const pricing *p, double bytes)
{
    weir_wire wire = weir_train_wire(p->job, WEIR_GROUP_EXPERT, WEIR_COLLECTIVE_ALL_TO_ALL, bytes);
    const weir_chain_exchange *most = &p->job->chains->exchange;
    double nic = p->job->network.nic_bytes_per_s;
    uint32_t nodes = weir_train_span(p->job, WEIR_AXIS_EXPERT).nodes;
    if (p->stack->expert_deepep && nodes > 1 && nic > 0 && !p->job->network.is_infinite) {
        double rate = nic * (nodes == 2 ? most->two_nodes : most->more_nodes);
        wire.seconds = fmax(wire.seconds, bytes / rate);
    }
    return wire;
}

static void expert_pass(const pricing *p, weir_pass_cost *pass, double kernels_s, bool backward)
{
    const weir_train_plan *plan = p->plan;
    double mine = plan->sequence_parallel && plan->expert_tensor < plan->tensor
                      ? p->tokens * plan->expert_tensor / plan->tensor
                      : p->tokens;
    double rows = mine * p->model->experts_per_token * (plan->capacity > 0 ? plan->capacity : 1);
    double values = rows * p->model->hidden * (plan->expert_load > 0 ? plan->expert_load : 1);
    double sent = p->stack->expert_deepep ? copies_once(p) : 1;
    bool narrow = p->stack->expert_deepep && p->stack->fused_quantise &&
                  plan->format >= WEIR_GEMM_FP8 && !backward;
    bool hides = p->stack->overlaps_experts && !weir_train_pairs_passes(p->job);
    double cover = hides ? kernels_s : 0; /* of another micro-batch, always at hand */
    weir_wire there = expert_wire(p, values * sent * (narrow ? 1 : 2));
    weir_wire back = expert_wire(p, values * sent * 2);
    weir_wire both = {there.seconds + back.seconds, there.bytes + back.bytes};
    hide(p, pass, WEIR_GROUP_EXPERT, WEIR_COLLECTIVE_ALL_TO_ALL, both, cover);
    weir_wire gather = weir_train_wire(p->job, WEIR_GROUP_EXPERT_TENSOR, WEIR_COLLECTIVE_ALL_GATHER,
                                       2 * values * plan->expert_tensor);
    weir_wire scatter =
        weir_train_wire(p->job, WEIR_GROUP_EXPERT_TENSOR, WEIR_COLLECTIVE_REDUCE_SCATTER,
                        2 * values * plan->expert_tensor);
    add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_EXPERT_TENSOR, WEIR_COLLECTIVE_ALL_GATHER,
             gather);
    add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_EXPERT_TENSOR, WEIR_COLLECTIVE_REDUCE_SCATTER,
             scatter);
}

/* --- weights that are shared out --- */

static weir_wire join(weir_wire a, weir_wire b)
{
    return (weir_wire){a.seconds + b.seconds, a.bytes + b.bytes};
}

static weir_wire weights_wire(const pricing *p, weir_collective_kind kind, double dense,
                              double expert, double bytes)
{
    return join(weir_train_wire(p->job, WEIR_GROUP_DATA, kind, dense * bytes),
                weir_train_wire(p->job, WEIR_GROUP_EXPERT_DATA, kind, expert * bytes));
}

static void sharded_data(const pricing *p, double dense, double expert)
{
    const weir_train_stack *s = p->stack;
    double forward = p->forward.all, backward = p->dgrad.all + p->wgrad.all;
    if (p->plan->zero < 3) {
        return;
    }
    weir_wire gather =
        weights_wire(p, WEIR_COLLECTIVE_ALL_GATHER, dense, expert, s->gathered_bytes);
    hide(p, &p->cost->forward, WEIR_GROUP_DATA, WEIR_COLLECTIVE_ALL_GATHER, gather,
         s->overlaps_parameters ? forward : 0);
    double left = s->overlaps_parameters ? backward : 0;
    if (p->plan->regathers) {
        hide(p, &p->cost->dgrad, WEIR_GROUP_DATA, WEIR_COLLECTIVE_ALL_GATHER, gather, left);
        left = fmax(0, left - gather.seconds);
    }
    if (p->plan->accumulates_sharded) {
        weir_wire scatter =
            weights_wire(p, WEIR_COLLECTIVE_REDUCE_SCATTER, dense, expert, s->reduced_bytes);
        hide(p, &p->cost->dgrad, WEIR_GROUP_DATA, WEIR_COLLECTIVE_REDUCE_SCATTER, scatter,
             s->overlaps_gradients ? left : 0);
    }
}

/* --- the host --- */

/* What the host cannot launch as fast as the device runs it. */
static void wait_for_host(const pricing *p, weir_pass_cost *pass, double launched, double run_s)
{
    double host_s = p->stack->graphs ? 0 : p->stack->launch_s * launched;
    const weir_piece idle = {.kind = WEIR_PIECE_IDLE,
                             .cause = WEIR_CAUSE_DEPENDENCY_LAUNCH,
                             .seconds = fmax(0, host_s - run_s)};
    weir_pass_add(pass, &idle);
}

static double collectives_of(const weir_pass_cost *pass)
{
    double count = 0;
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        bool is_wire = piece->kind == WEIR_PIECE_EXCHANGE || piece->kind == WEIR_PIECE_HIDDEN;
        count += is_wire ? piece->count : 0;
    }
    return count;
}

/* What is computed again is launched like a forward pass, before the backward pass proper. */
static void finish(const pricing *p, const weir_op_list *forward)
{
    weir_layer_cost *c = p->cost;
    bool reads = forward && p->plan->capacity == 0 && !p->stack->graphs;
    double faster = p->job->chains->host.backward_launch;
    double backward = p->dgrad.launches + p->wgrad.launches + collectives_of(&c->dgrad);
    double backward_s = c->dgrad.seconds + c->wgrad.seconds;
    if (reads) {
        double others_s = fmax(0, c->forward.seconds - p->forward.all);
        const weir_piece idle = {.kind = WEIR_PIECE_IDLE,
                                 .cause = WEIR_CAUSE_DEPENDENCY_SYNC,
                                 .seconds = weir_train_read_idle_s(p->job, forward, others_s)};
        weir_pass_add(&c->forward, &idle);
    } else {
        wait_for_host(p, &c->forward, p->forward.launches + collectives_of(&c->forward),
                      c->forward.seconds);
    }
    wait_for_host(p, &c->dgrad, p->again.launches, p->again.seconds);
    wait_for_host(p, &c->dgrad, faster * (backward - p->again.launches),
                  backward_s - p->again.seconds);
}

/* --- what is computed again --- */

static bool is_again(uint32_t mask, weir_op_part part)
{
    static const struct {
        weir_op_part part;
        uint32_t mask;
    } parts[] = {
        {WEIR_MODEL_PART_CORE, WEIR_RECOMPUTE_CORE},
        {WEIR_MODEL_PART_ATTENTION_NORM, WEIR_RECOMPUTE_NORMS},
        {WEIR_MODEL_PART_NETWORK_NORM, WEIR_RECOMPUTE_NORMS},
        {WEIR_MODEL_PART_ACTIVATION, WEIR_RECOMPUTE_ACTIVATION | WEIR_RECOMPUTE_NETWORK},
        {WEIR_MODEL_PART_EXPERT_ACTIVATION, WEIR_RECOMPUTE_ACTIVATION | WEIR_RECOMPUTE_EXPERTS},
        {WEIR_MODEL_PART_SHARED_ACTIVATION, WEIR_RECOMPUTE_ACTIVATION | WEIR_RECOMPUTE_EXPERTS},
        {WEIR_MODEL_PART_QKV, WEIR_RECOMPUTE_UP},
        {WEIR_MODEL_PART_LATENT_NORM, WEIR_RECOMPUTE_UP},
        {WEIR_MODEL_PART_ROPE, WEIR_RECOMPUTE_UP},
        {WEIR_MODEL_PART_OUTPUT, WEIR_RECOMPUTE_OUTPUT},
        {WEIR_MODEL_PART_ATTENTION_ADD, WEIR_RECOMPUTE_OUTPUT},
        {WEIR_MODEL_PART_UP, WEIR_RECOMPUTE_NETWORK},
        {WEIR_MODEL_PART_EXPERT_UP, WEIR_RECOMPUTE_EXPERTS},
        {WEIR_MODEL_PART_SHARED_UP, WEIR_RECOMPUTE_EXPERTS},
    };
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].part == part) {
            return (parts[i].mask & mask) != 0;
        }
    }
    return false;
}

static void add_recomputation(pricing *p, uint32_t layer, const weir_op_list *forward, bool whole)
{
    uint32_t mask =
        p->plan->recompute == WEIR_RECOMPUTE_PLAN_SELECTIVE ? p->plan->recompute_parts : 0;
    weir_op_list again = {0};
    for (uint32_t i = 0; i < forward->count; i++) {
        if (whole || is_again(mask, forward->op[i].part)) {
            again.op[again.count++] = forward->op[i];
        }
    }
    weir_pass_cost *pass = &p->cost->dgrad;
    double before_s = pass->seconds, before = collectives_of(pass);
    weir_kernel_sum sum = weir_train_kernels(p->job, &again, WEIR_PASS_FORWARD, true, pass);
    p->dgrad.launches += sum.launches;
    if (whole) {
        tensor_forward(p, &p->cost->dgrad, split_blocks(p, layer), sum.gemm);
        context_pass(p, &p->cost->dgrad, sum.attention, false);
        if (weir_model_is_moe(p->model, layer)) {
            expert_pass(p, &p->cost->dgrad, sum.all, false);
        }
    }
    p->again.seconds = pass->seconds - before_s;
    p->again.launches = sum.launches + collectives_of(pass) - before;
}

/* --- parts of the model --- */

static void run_kernels(pricing *p, const weir_op_list *forward, const weir_op_list *backward)
{
    p->forward = weir_train_kernels(p->job, forward, WEIR_PASS_FORWARD, false, &p->cost->forward);
    p->dgrad = weir_train_kernels(p->job, backward, WEIR_PASS_DGRAD, false, &p->cost->dgrad);
    p->wgrad = weir_train_kernels(p->job, backward, WEIR_PASS_WGRAD, false, &p->cost->wgrad);
}

void weir_train_layer_cost(const weir_train_job *job, uint32_t layer, bool is_recomputed,
                           weir_layer_cost *cost)
{
    pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_layer(p.model, layer, &p.shape, false, &forward);
    weir_ops_layer(p.model, layer, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    if (is_recomputed || p.plan->recompute == WEIR_RECOMPUTE_PLAN_SELECTIVE) {
        add_recomputation(&p, layer, &forward, is_recomputed);
    }
    double blocks = split_blocks(&p, layer);
    tensor_forward(&p, &cost->forward, blocks, p.forward.gemm);
    tensor_backward(&p, blocks);
    context_pass(&p, &cost->forward, p.forward.attention, false);
    context_pass(&p, &cost->dgrad, p.dgrad.attention, true);
    if (weir_model_is_moe(p.model, layer)) {
        expert_pass(&p, &cost->forward, p.forward.all, false);
        expert_pass(&p, &cost->dgrad, p.dgrad.all + p.wgrad.all, true);
    }
    const weir_weight_split split = {p.plan->tensor, p.plan->expert, p.plan->expert_tensor};
    weir_rank_count weights = weir_count_layer_rank(p.model, layer, &split);
    sharded_data(&p, (double)weights.dense, (double)weights.expert);
    finish(&p, weir_model_is_moe(p.model, layer) ? &forward : NULL);
}

static double words_of(const pricing *p)
{
    uint64_t rows = weir_vocab_padded(p->model, p->stack->vocab_multiple, p->plan->tensor);
    return (double)rows * p->model->hidden / p->plan->tensor;
}

void weir_train_embedding_cost(const weir_train_job *job, weir_layer_cost *cost)
{
    pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_embedding(p.model, &p.shape, false, &forward);
    weir_ops_embedding(p.model, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    weir_collective_kind kind =
        p.plan->sequence_parallel ? WEIR_COLLECTIVE_REDUCE_SCATTER : WEIR_COLLECTIVE_ALL_REDUCE;
    weir_wire wire = weir_train_wire(job, WEIR_GROUP_TENSOR, kind, p.stream);
    add_wire(&cost->forward, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, kind, wire);
    if (p.plan->sequence_parallel) {
        wire = weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, p.stream);
        add_wire(&cost->dgrad, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER,
                 wire);
    }
    sharded_data(&p, words_of(&p), 0);
    finish(&p, NULL);
}

void weir_train_head_cost(const weir_train_job *job, weir_layer_cost *cost)
{
    pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_head(p.model, &p.shape, false, &forward);
    weir_ops_head(p.model, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    weir_wire small = weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE,
                                      4 * p.tokens); /* maximum, sum, the target's logit */
    add_wire(&cost->forward, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE,
             times(small, 3));
    weir_collective_kind back = WEIR_COLLECTIVE_ALL_REDUCE;
    if (p.plan->sequence_parallel) {
        weir_wire gather =
            weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, p.stream);
        add_wire(&cost->forward, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER,
                 gather);
        back = WEIR_COLLECTIVE_REDUCE_SCATTER;
    }
    add_wire(&cost->dgrad, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, back,
             weir_train_wire(job, WEIR_GROUP_TENSOR, back, p.stream));
    sharded_data(&p, p.model->tied ? 0 : words_of(&p), 0);
    finish(&p, NULL);
}

void weir_train_mtp_cost(const weir_train_job *job, weir_layer_cost *cost)
{
    pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_mtp(p.model, &p.shape, false, &forward);
    weir_ops_mtp(p.model, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    finish(&p, NULL);
}
