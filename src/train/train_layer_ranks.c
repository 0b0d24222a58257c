/* train_layer_ranks.c: what tensor, context, expert and sharded-data ranks exchange in a layer. */
#include "train/train_layer_inside.h"

#include <math.h>

/* --- tensor ranks --- */

double layer_split_blocks(const layer_pricing *p, uint32_t layer)
{
    bool is_moe = weir_model_is_moe(p->model, layer);
    return is_moe && p->model->shared_ffn == 0 ? 1 : 2;
}

/* All ranks' hidden states as they arrive for a product; what it gives is scattered in 16 bits. */
static weir_wire gather_wire(const layer_pricing *p)
{
    double operand = p->shape.bytes.operand, stream = p->stream;
    double narrow = p->stack->gathers_quantised && operand > 0 && operand < 2 ? operand / 2 : 1;
    return weir_train_wire(p->job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, stream * narrow);
}

void layer_tensor_forward(const layer_pricing *p, weir_pass_cost *pass, double blocks,
                          double gemm_s)
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
        weir_wire all = weir_wire_times(one, blocks);
        if (sp && p->stack->overlaps_tensor && p->stack->fused_tensor_overlap) {
            layer_interleave(p, pass, kinds[i], all, gemm_s / 2);
        } else {
            layer_add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, kinds[i], all);
        }
    }
}

void layer_tensor_backward(const layer_pricing *p, double blocks)
{
    weir_pass_cost *pass = &p->cost->dgrad;
    bool bulk = p->stack->overlaps_tensor;
    double under_wgrad = bulk && !weir_train_splits_backward(p->plan->schedule) ? p->wgrad.gemm : 0;
    if (!p->plan->sequence_parallel) {
        weir_wire all =
            weir_train_wire(p->job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE, p->stream);
        layer_hide(p, pass, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE,
                   weir_wire_times(all, blocks), under_wgrad);
        return;
    }
    weir_wire gather = weir_wire_times(gather_wire(p), blocks);
    weir_wire scatter = weir_wire_times(
        weir_train_wire(p->job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_REDUCE_SCATTER, p->stream),
        blocks);
    if (bulk && p->stack->fused_tensor_overlap) {
        layer_interleave(p, pass, WEIR_COLLECTIVE_ALL_GATHER, gather, p->dgrad.gemm / 2);
    } else { /* of what row-parallel weights get */
        layer_add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER,
                       gather);
    }
    /* the saved input, gathered again; what column-parallel weights give */
    layer_hide(p, pass, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, gather,
               bulk ? p->dgrad.gemm / 2 : 0);
    layer_hide(p, pass, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_REDUCE_SCATTER, scatter, under_wgrad);
}

/* --- context ranks --- */

void layer_context_pass(const layer_pricing *p, weir_pass_cost *pass, double attention_s,
                        bool backward)
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
        layer_hide(p, pass, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_SEND_RECV,
                   weir_wire_times(wire, c - 1), attention_s * (c - 1) / c);
        return;
    case WEIR_CONTEXT_ALL_GATHER:
        wire = weir_train_wire(p->job, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_GATHER, c * kv);
        layer_add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_GATHER,
                       wire);
        if (backward) {
            wire =
                weir_train_wire(p->job, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_REDUCE_SCATTER, c * kv);
            layer_add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_CONTEXT,
                           WEIR_COLLECTIVE_REDUCE_SCATTER, wire);
        }
        return;
    case WEIR_CONTEXT_ULYSSES:
        wire = weir_train_wire(p->job, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_TO_ALL, q + kv);
        layer_add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_CONTEXT, WEIR_COLLECTIVE_ALL_TO_ALL,
                       wire);
        return;
    }
}

/* --- expert ranks --- */

/* Copies of a token that leave over all copies, where each node gets one and spreads it, and in a
 * node each rank gets one for all its experts (uniform routing: reference/training-model.md section
 * 11). */
static double copies_once(const layer_pricing *p)
{
    weir_axis_span span = weir_train_span(p->job, WEIR_AXIS_EXPERT);
    double places = span.nodes > 1 ? span.nodes : span.ranks, k = p->model->experts_per_token;
    return places > 1 && k > 1 ? places * (1 - pow(1 - 1 / places, k)) / k : 1;
}

/* DeepEP hands copies on to ranks of the receiving node, those that never left a node as well: a
 * bound of its own beside the NIC's. */
static weir_wire expert_wire(const layer_pricing *p, double bytes)
{
    weir_wire wire = weir_train_wire(p->job, WEIR_GROUP_EXPERT, WEIR_COLLECTIVE_ALL_TO_ALL, bytes);
    const weir_chain_exchange *most = &p->job->chains->exchange;
    double nic = p->job->network.nic_bytes_per_s;
    uint32_t nodes = weir_train_span(p->job, WEIR_AXIS_EXPERT).nodes;
    if (p->stack->expert_deepep && nodes > 1 && nic > 0 && !p->job->network.is_infinite) {
        double rate = nic * (nodes == 2 ? most->two_nodes : most->more_nodes);
        if (bytes / rate > wire.seconds) {
            wire.seconds = bytes / rate;
            wire.parts.nic_s = p->job->network.weak_nic > 0 ? wire.seconds : 0;
        }
    }
    return wire;
}

void layer_expert_pass(const layer_pricing *p, weir_pass_cost *pass, double kernels_s,
                       bool backward)
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
    weir_wire both = weir_wire_join(there, back);
    layer_hide(p, pass, WEIR_GROUP_EXPERT, WEIR_COLLECTIVE_ALL_TO_ALL, both, cover);
    weir_wire gather = weir_train_wire(p->job, WEIR_GROUP_EXPERT_TENSOR, WEIR_COLLECTIVE_ALL_GATHER,
                                       2 * values * plan->expert_tensor);
    weir_wire scatter =
        weir_train_wire(p->job, WEIR_GROUP_EXPERT_TENSOR, WEIR_COLLECTIVE_REDUCE_SCATTER,
                        2 * values * plan->expert_tensor);
    layer_add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_EXPERT_TENSOR, WEIR_COLLECTIVE_ALL_GATHER,
                   gather);
    layer_add_wire(pass, WEIR_PIECE_EXCHANGE, WEIR_GROUP_EXPERT_TENSOR,
                   WEIR_COLLECTIVE_REDUCE_SCATTER, scatter);
}

/* --- weights that are shared out --- */

static weir_wire weights_wire(const layer_pricing *p, weir_collective_kind kind, double dense,
                              double expert, double bytes)
{
    return weir_wire_join(weir_train_wire(p->job, WEIR_GROUP_DATA, kind, dense * bytes),
                          weir_train_wire(p->job, WEIR_GROUP_EXPERT_DATA, kind, expert * bytes));
}

void layer_sharded_data(const layer_pricing *p, double dense, double expert)
{
    const weir_train_stack *s = p->stack;
    double forward = p->forward.all, backward = p->dgrad.all + p->wgrad.all;
    if (p->plan->zero < 3) {
        return;
    }
    weir_wire gather =
        weights_wire(p, WEIR_COLLECTIVE_ALL_GATHER, dense, expert, s->gathered_bytes);
    layer_hide(p, &p->cost->forward, WEIR_GROUP_DATA, WEIR_COLLECTIVE_ALL_GATHER, gather,
               s->overlaps_parameters ? forward : 0);
    double left = s->overlaps_parameters ? backward : 0;
    if (p->plan->regathers) {
        layer_hide(p, &p->cost->dgrad, WEIR_GROUP_DATA, WEIR_COLLECTIVE_ALL_GATHER, gather, left);
        left = fmax(0, left - gather.seconds);
    }
    if (p->plan->accumulates_sharded) {
        weir_wire scatter =
            weights_wire(p, WEIR_COLLECTIVE_REDUCE_SCATTER, dense, expert, s->reduced_bytes);
        layer_hide(p, &p->cost->dgrad, WEIR_GROUP_DATA, WEIR_COLLECTIVE_REDUCE_SCATTER, scatter,
                   s->overlaps_gradients ? left : 0);
    }
}
