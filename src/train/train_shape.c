#include "train/train_shape.h"

static double operand_bytes(weir_gemm_format format)
{
    return weir_dtype_bits(weir_gemm_format_dtype(format)) / 8.0;
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
        .pairs = p->pairs,
        .expert_load = p->expert_load,
        .capacity = p->capacity,
    };
    shape.bytes.operand = operand_bytes(p->format);
    shape.bytes.gradient = s->gradient_bytes;
    if (p->format == WEIR_GEMM_32 || p->format == WEIR_GEMM_TF32) {
        shape.bytes.activation = shape.bytes.operand = 4;
    }
    return shape;
}

weir_train_weights weir_train_weights_at(const weir_train_job *job, uint32_t position)
{
    const weir_train_plan *p = &job->plan;
    const weir_model *m = job->model;
    const weir_weight_split split = {p->tensor, p->expert, p->expert_tensor};
    uint32_t last = p->pipeline * p->chunks - 1;
    weir_layer_range range = weir_train_layers(job, position);
    weir_train_weights sum = {0};
    weir_rank_count of_kind[4];
    bool is_known[4] = {false};
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        uint32_t kind = m->layer[i] & (WEIR_LAYER_MOE | WEIR_LAYER_WINDOW);
        if (!is_known[kind]) {
            of_kind[kind] = weir_count_layer_rank(m, i, &split);
            is_known[kind] = true;
        }
        sum.dense += (double)of_kind[kind].dense;
        sum.expert += (double)of_kind[kind].expert;
    }
    weir_model_count count = weir_count_model(m);
    uint64_t padded = weir_vocab_padded(m, job->stack.vocab_multiple, p->tensor);
    double words = (double)padded * m->hidden / p->tensor;
    if (position == 0) {
        sum.dense += words + (double)count.positions;
    }
    if (position == last) {
        sum.dense += (double)count.norms + (m->tied && last == 0 ? 0 : words);
        if (m->mtp_layers > 0) {
            weir_rank_count block = weir_count_layer_rank(m, m->layers - 1, &split);
            double projection = 2.0 * m->hidden * m->hidden / p->tensor + 3.0 * m->hidden;
            sum.dense += m->mtp_layers * ((double)block.dense + projection);
            sum.expert += m->mtp_layers * (double)block.expert;
        }
    }
    return sum;
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
