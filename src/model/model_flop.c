#include "model/model_flop.h"

#include "model/model_count.h"
#include "model/model_ops.h"

static void add_part(weir_flop_parts *parts, const weir_op *op)
{
    switch (op->part) {
    case WEIR_MODEL_PART_CORE:
        parts->core += op->model_flop;
        return;
    case WEIR_MODEL_PART_HEAD:
        parts->head += op->model_flop;
        return;
    case WEIR_MODEL_PART_QKV:
    case WEIR_MODEL_PART_LATENT:
    case WEIR_MODEL_PART_OUTPUT:
        parts->projections += op->model_flop;
        return;
    default:
        parts->networks += op->model_flop;
        return;
    }
}

static void add_list(weir_flop_parts *parts, const weir_op_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        add_part(parts, &list->op[i]);
    }
}

weir_flop_parts weir_flop_forward(const weir_model *model, uint32_t length, bool bidirectional)
{
    weir_op_shape shape = {.sequences = 1, .length = length, .bidirectional = bidirectional};
    weir_flop_parts parts = {0};
    weir_op_list list;
    double last = 0;
    for (uint32_t i = 0; i < model->layers; i++) {
        weir_ops_layer(model, i, &shape, false, &list);
        add_list(&parts, &list);
        last = weir_ops_sum(&list).model_flop;
    }
    weir_ops_head(model, &shape, false, &list);
    add_list(&parts, &list);
    if (model->mtp_layers > 0) {
        weir_ops_mtp(model, &shape, false, &list);
        parts.mtp = model->mtp_layers * (weir_ops_sum(&list).model_flop + last + parts.head);
    }
    return parts;
}

double weir_flop_total(const weir_flop_parts *parts)
{
    return parts->projections + parts->core + parts->networks + parts->head + parts->mtp;
}

double weir_flop_train_token(const weir_model *model, uint32_t length, bool bidirectional)
{
    weir_flop_parts parts = weir_flop_forward(model, length, bidirectional);
    return 3 * weir_flop_total(&parts) / (length ? length : 1);
}

double weir_flop_megatron_2021(const weir_model *model, uint64_t sequences, uint32_t length,
                               bool full_recompute)
{
    double s = length, h = model->hidden, layers = model->layers, words = model->vocab;
    double factor = full_recompute ? 96 : 72, head = full_recompute ? 16 : 12;
    return factor * (double)sequences * s * layers * h * h *
           (1 + s / (6 * h) + words / (head * layers * h));
}

/* Multiply-adds of attention for one token, as Megatron-LM has them: norms of latents are 1 each.
 */
static double megatron_attention(const weir_model *m, double length)
{
    double h = m->hidden, heads = m->heads, qk = weir_model_qk_dim(m), v = weir_model_v_dim(m);
    double core = length * heads * (qk + v) / 2;
    if (!weir_model_is_latent(m)) {
        return h * (heads * qk + m->kv_heads * (qk + v)) + core + heads * v * h;
    }
    double q = m->q_rank ? m->q_rank * (h + heads * qk + 1) : h * heads * qk;
    double kv = m->kv_rank * (h + heads * (m->nope_dim + v) + 1) + h * m->rope_dim;
    return q + kv + core + heads * v * h;
}

double weir_flop_megatron_token(const weir_model *model, uint32_t length, uint64_t padded_vocab)
{
    enum { FLOP = 3 * 2 }; /* forward and two backward, a multiply-add is two */
    double h = model->hidden, mtp = model->mtp_layers, matrices = model->gated ? 3 : 2;
    double mixtures = weir_model_moe_layers(model), plain = model->layers - mixtures;
    bool is_last_mixture = weir_model_is_moe(model, model->layers - 1);
    mixtures += is_last_mixture ? mtp : 0;
    plain += is_last_mixture ? 0 : mtp;
    double routed = (double)model->expert_ffn * model->experts_per_token;
    double networks = model->ffn * plain + (routed + model->shared_ffn) * mixtures;
    double attention = megatron_attention(model, length) * (model->layers + mtp);
    double modules = mtp * (3 * h + 2 * h * h), head = h * (double)padded_vocab * (mtp + 1);
    return FLOP * (h * matrices * networks + attention + modules + head);
}

double weir_flop_palm_token(const weir_model *model, uint32_t length)
{
    weir_model_count count = weir_count_model(model);
    /* A tied embedding is the head's matrix too, and that is multiplied by. */
    uint64_t looked_up = (model->tied ? 0 : count.embedding) + count.positions;
    double width = (double)model->heads * (weir_model_qk_dim(model) + weir_model_v_dim(model)) / 2;
    return 6 * (double)(count.active - looked_up) + 12 * model->layers * width * length;
}
