#include "train/train_shape.h"

static double operand_bytes(weir_gemm_format format)
{
    return weir_dtype_bits(weir_gemm_format_dtype(format)) / 8.0;
}

/* The logits in 16 bits and, fused, their gradient; else a copy in 32 bits, its softmax and the
 * gradient of it beside them. */
static double loss_bytes(const weir_train_stack *stack)
{
    return stack->logit_bytes > 0 ? stack->logit_bytes : stack->fused_loss ? 4 : 2 + 3 * 4;
}

weir_op_shape weir_train_shape(const weir_train_job *job)
{
    const weir_train_plan *p = &job->plan;
    const weir_train_stack *s = &job->stack;
    weir_op_shape shape = {
        .sequences = p->micro_batch,
        .length = p->sequence,
        .tensor = p->tensor,
        .context = p->context,
        .expert = p->expert,
        .expert_tensor = p->expert_tensor,
        .vocab_multiple = s->vocab_multiple,
        .sequence_parallel = p->sequence_parallel,
        .unfused_core = s->attention == WEIR_ATTENTION_UNFUSED,
        .dropout = s->dropout,
        .fused_add = s->fused_add,
        .fused_loss = s->fused_loss,
        .separate_accumulation = s->separate_accumulation,
        .gathered_inputs = s->keeps_gathered,
        .early_weights = s->early_weights,
        .split_activation = !s->fused_activation,
        .pairs = p->pairs,
        .expert_load = p->expert_load,
        .capacity = p->capacity,
    };
    shape.bytes.operand = operand_bytes(p->format);
    shape.bytes.gradient = s->gradient_bytes;
    shape.bytes.loss = loss_bytes(s);
    if (s->keeps_quantised && shape.bytes.operand < 2) {
        shape.bytes.kept = shape.bytes.operand;
    }
    if (p->format == WEIR_GEMM_32 || p->format == WEIR_GEMM_TF32) {
        shape.bytes.activation = shape.bytes.operand = 4;
    }
    return shape;
}

void weir_train_weigh(const weir_train_job *job, weir_train_weighing *weighing)
{
    const weir_train_plan *p = &job->plan;
    const weir_model *m = job->model;
    const weir_weight_split split = {p->tensor, p->expert, p->expert_tensor};
    bool is_known[WEIR_TRAIN_KINDS] = {false};
    *weighing = (weir_train_weighing){0};
    for (uint32_t i = 0; i < m->layers; i++) {
        uint32_t kind = weir_train_kind(m, i);
        if (!is_known[kind]) {
            weir_rank_count rank = weir_count_layer_rank(m, i, &split);
            weighing->layer[kind] = (weir_train_weights){(double)rank.dense, (double)rank.expert};
            is_known[kind] = true;
        }
    }
    weir_model_count count = weir_count_model(m);
    uint64_t padded = weir_vocab_padded(m, job->stack.vocab_multiple, p->tensor);
    weighing->words = (double)padded * m->hidden / p->tensor;
    weighing->positions = (double)count.positions;
    weighing->norms = (double)count.norms;
    weighing->module = weighing->layer[weir_train_kind(m, m->layers - 1)];
    weighing->module.dense += 2.0 * m->hidden * m->hidden / p->tensor + 3.0 * m->hidden;
}

weir_train_weights weir_train_weights_ends(const weir_train_job *job,
                                           const weir_train_weighing *weighing, uint32_t position)
{
    const weir_model *m = job->model;
    uint32_t last = job->plan.pipeline * job->plan.chunks - 1;
    weir_train_weights sum = {0};
    bool spreads = job->plan.spreads_vocabulary;
    if (spreads && position < job->plan.pipeline) {
        sum.dense += (m->tied ? 1 : 2) * weighing->words / job->plan.pipeline;
    }
    if (position == 0) {
        sum.dense += (spreads ? 0 : weighing->words) + weighing->positions;
    }
    if (position == last) {
        bool has_words = !spreads && !(m->tied && last == 0);
        sum.dense += weighing->norms + (has_words ? weighing->words : 0);
        sum.dense += m->mtp_layers * weighing->module.dense;
        sum.expert += m->mtp_layers * weighing->module.expert;
    }
    return sum;
}

weir_train_weights weir_train_weights_of(const weir_train_job *job,
                                         const weir_train_weighing *weighing, uint32_t position)
{
    weir_layer_range range = weir_train_layers(job, position);
    weir_train_weights sum = weir_train_weights_ends(job, weighing, position);
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        const weir_train_weights *layer = &weighing->layer[weir_train_kind(job->model, i)];
        sum.dense += layer->dense;
        sum.expert += layer->expert;
    }
    return sum;
}

weir_train_weights weir_train_weights_at(const weir_train_job *job, uint32_t position)
{
    weir_train_weighing weighing;
    weir_train_weigh(job, &weighing);
    return weir_train_weights_of(job, &weighing, position);
}

uint32_t weir_train_expert_replicas(const weir_train_plan *plan)
{
    uint64_t all = (uint64_t)plan->data * plan->context * plan->tensor;
    uint64_t apart = (uint64_t)plan->expert * plan->expert_tensor;
    return (uint32_t)(all > apart ? all / apart : 1);
}

static uint32_t shards_of(const weir_train_plan *plan, uint32_t replicas)
{
    uint32_t wished = plan->shard_ranks > 0 ? plan->shard_ranks : replicas;
    return plan->zero == 0 ? 1 : wished < replicas ? wished : replicas;
}

uint32_t weir_train_dense_shards(const weir_train_plan *plan)
{
    return shards_of(plan, plan->data * plan->context);
}

uint32_t weir_train_expert_shards(const weir_train_plan *plan)
{
    return shards_of(plan, weir_train_expert_replicas(plan));
}
