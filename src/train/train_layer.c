/* train_layer.c: the passes of a layer, of the embedding, the head and the layer that predicts
 * further words, put together (train_layer.h). */
#include "train/train_layer_inside.h"

#include "model/model_memory.h"
#include "train/train_shape.h"

#include <math.h>

static layer_pricing begin(const weir_train_job *job, weir_layer_cost *cost)
{
    layer_pricing p = {.job = job,
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

/* --- the host --- */

/* What the host cannot launch as fast as the device runs it. */
static void wait_for_host(const layer_pricing *p, weir_pass_cost *pass, double launched,
                          double run_s)
{
    double host_s = p->stack->graphs ? 0 : p->stack->launch_s * launched;
    const weir_piece idle = {.kind = WEIR_PIECE_IDLE,
                             .cause = WEIR_CAUSE_DEPENDENCY_LAUNCH,
                             .seconds = fmax(0, host_s - run_s)};
    weir_pass_add(pass, &idle);
}

/* What is computed again is launched like a forward pass, before the backward pass proper. */
static void finish(const layer_pricing *p, const weir_op_list *forward)
{
    weir_layer_cost *c = p->cost;
    bool reads = forward && p->plan->capacity == 0 && !p->stack->graphs;
    double faster = p->job->chains->host.backward_launch;
    double backward = p->dgrad.launches + p->wgrad.launches + layer_collectives(&c->dgrad);
    double backward_s = c->dgrad.seconds + c->wgrad.seconds;
    if (reads) {
        double others_s = fmax(0, c->forward.seconds - p->forward.all);
        const weir_piece idle = {.kind = WEIR_PIECE_IDLE,
                                 .cause = WEIR_CAUSE_DEPENDENCY_SYNC,
                                 .seconds = weir_train_read_idle_s(p->job, forward, others_s)};
        weir_pass_add(&c->forward, &idle);
    } else {
        wait_for_host(p, &c->forward, p->forward.launches + layer_collectives(&c->forward),
                      c->forward.seconds);
    }
    wait_for_host(p, &c->dgrad, p->again.launches, p->again.seconds);
    wait_for_host(p, &c->dgrad, faster * (backward - p->again.launches),
                  backward_s - p->again.seconds);
}

bool weir_train_splits_backward(weir_schedule_kind kind)
{
    return kind == WEIR_SCHEDULE_ZB_H1 || kind == WEIR_SCHEDULE_ZB_H2 || kind == WEIR_SCHEDULE_ZB_V;
}

/* --- parts of the model --- */

static void run_kernels(layer_pricing *p, const weir_op_list *forward, const weir_op_list *backward)
{
    p->forward = weir_train_kernels(p->job, forward, WEIR_PASS_FORWARD, false, &p->cost->forward);
    p->dgrad = weir_train_kernels(p->job, backward, WEIR_PASS_DGRAD, false, &p->cost->dgrad);
    p->wgrad = weir_train_kernels(p->job, backward, WEIR_PASS_WGRAD, false, &p->cost->wgrad);
}

void weir_train_layer_cost(const weir_train_job *job, uint32_t layer, bool is_recomputed,
                           weir_layer_cost *cost)
{
    layer_pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_layer(p.model, layer, &p.shape, false, &forward);
    weir_ops_layer(p.model, layer, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    if (is_recomputed || p.plan->recompute == WEIR_RECOMPUTE_PLAN_SELECTIVE) {
        layer_add_recomputation(&p, layer, &forward, is_recomputed);
    }
    double blocks = layer_split_blocks(&p, layer);
    layer_tensor_forward(&p, &cost->forward, blocks, p.forward.gemm);
    layer_tensor_backward(&p, blocks);
    layer_context_pass(&p, &cost->forward, p.forward.attention, false);
    layer_context_pass(&p, &cost->dgrad, p.dgrad.attention, true);
    if (weir_model_is_moe(p.model, layer)) {
        layer_expert_pass(&p, &cost->forward, p.forward.all, false);
        layer_expert_pass(&p, &cost->dgrad, p.dgrad.all + p.wgrad.all, true);
    }
    const weir_weight_split split = {p.plan->tensor, p.plan->expert, p.plan->expert_tensor};
    weir_rank_count weights = weir_count_layer_rank(p.model, layer, &split);
    layer_sharded_data(&p, (double)weights.dense, (double)weights.expert);
    finish(&p, weir_model_is_moe(p.model, layer) ? &forward : NULL);
}

static double words_of(const layer_pricing *p)
{
    uint64_t rows = weir_vocab_padded(p->model, p->stack->vocab_multiple, p->plan->tensor);
    return (double)rows * p->model->hidden / p->plan->tensor;
}

void weir_train_embedding_cost(const weir_train_job *job, weir_layer_cost *cost)
{
    layer_pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_embedding(p.model, &p.shape, false, &forward);
    weir_ops_embedding(p.model, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    weir_collective_kind kind =
        p.plan->sequence_parallel ? WEIR_COLLECTIVE_REDUCE_SCATTER : WEIR_COLLECTIVE_ALL_REDUCE;
    weir_wire wire = weir_train_wire(job, WEIR_GROUP_TENSOR, kind, p.stream);
    layer_add_wire(&cost->forward, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, kind, wire);
    if (p.plan->sequence_parallel) {
        wire = weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, p.stream);
        layer_add_wire(&cost->dgrad, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR,
                       WEIR_COLLECTIVE_ALL_GATHER, wire);
    }
    layer_sharded_data(&p, words_of(&p), 0);
    finish(&p, NULL);
}

void weir_train_head_cost(const weir_train_job *job, weir_layer_cost *cost)
{
    layer_pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_head(p.model, &p.shape, false, &forward);
    weir_ops_head(p.model, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    weir_wire small = weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_REDUCE,
                                      4 * p.tokens); /* maximum, sum, the target's logit */
    layer_add_wire(&cost->forward, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR,
                   WEIR_COLLECTIVE_ALL_REDUCE, weir_wire_times(small, 3));
    weir_collective_kind back = WEIR_COLLECTIVE_ALL_REDUCE;
    if (p.plan->sequence_parallel) {
        weir_wire gather =
            weir_train_wire(job, WEIR_GROUP_TENSOR, WEIR_COLLECTIVE_ALL_GATHER, p.stream);
        layer_add_wire(&cost->forward, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR,
                       WEIR_COLLECTIVE_ALL_GATHER, gather);
        back = WEIR_COLLECTIVE_REDUCE_SCATTER;
    }
    layer_add_wire(&cost->dgrad, WEIR_PIECE_EXCHANGE, WEIR_GROUP_TENSOR, back,
                   weir_train_wire(job, WEIR_GROUP_TENSOR, back, p.stream));
    layer_sharded_data(&p, p.model->tied ? 0 : words_of(&p), 0);
    finish(&p, NULL);
}

void weir_train_mtp_cost(const weir_train_job *job, weir_layer_cost *cost)
{
    layer_pricing p = begin(job, cost);
    weir_op_list forward, backward;
    weir_ops_mtp(p.model, &p.shape, false, &forward);
    weir_ops_mtp(p.model, &p.shape, true, &backward);
    run_kernels(&p, &forward, &backward);
    finish(&p, NULL);
}
