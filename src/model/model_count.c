#include "model/model_count.h"

static uint64_t norm_width(const weir_model *m, uint64_t width)
{
    return m->norm == WEIR_NORM_LAYER && m->norm_bias ? 2 * width : width;
}

static uint64_t matrices(const weir_model *m)
{
    return m->gated ? 3 : 2;
}

/* One network of that width, biases with it. */
static uint64_t network_count(const weir_model *m, uint64_t width)
{
    uint64_t biases = m->ffn_bias ? (matrices(m) - 1) * width + m->hidden : 0;
    return matrices(m) * m->hidden * width + biases;
}

/* --- one layer ---------------------------------------------------------------------------- */

static void count_latent(const weir_model *m, weir_layer_count *c)
{
    uint64_t h = m->hidden, nq = m->heads, qk = weir_model_qk_dim(m);
    uint64_t compressed = (uint64_t)m->kv_rank + m->rope_dim;
    c->latents = h * m->q_rank + h * compressed;
    if (m->qkv_bias) {
        c->latents += m->q_rank + compressed;
    }
    c->qkv = (m->q_rank ? m->q_rank : h) * nq * qk +
             (uint64_t)m->kv_rank * nq * ((uint64_t)m->nope_dim + m->value_dim);
    c->norms += (uint64_t)m->q_rank + m->kv_rank;
    c->output = nq * m->value_dim * h + (m->output_bias ? h : 0);
}

static void count_grouped(const weir_model *m, weir_layer_count *c)
{
    uint64_t h = m->hidden, d = m->head_dim;
    uint64_t width = d * ((uint64_t)m->heads + 2 * (uint64_t)m->kv_heads);
    c->qkv = h * width + (m->qkv_bias ? width : 0) + (m->sinks ? m->heads : 0);
    c->norms += m->qk_norm ? 2 * d : 0;
    c->output = m->heads * d * h + (m->output_bias ? h : 0);
}

weir_layer_count weir_count_layer(const weir_model *model, uint32_t layer)
{
    const weir_model *m = model;
    weir_layer_count c = {.norms = m->norms_per_layer * norm_width(m, m->hidden)};
    if (weir_model_is_latent(m)) {
        count_latent(m, &c);
    } else {
        count_grouped(m, &c);
    }
    uint64_t each = 0;
    if (weir_model_is_moe(m, layer)) {
        each = network_count(m, m->expert_ffn);
        c.experts = each * m->experts;
        c.shared = m->shared_ffn ? network_count(m, m->shared_ffn) : 0;
        c.router = (uint64_t)m->hidden * m->experts + (m->router_bias ? m->experts : 0) +
                   (m->shared_gate ? m->hidden : 0);
    } else {
        c.network = network_count(m, m->ffn);
    }
    c.active = c.norms + c.latents + c.qkv + c.output + c.network + c.router + c.shared;
    c.total = c.active + c.experts;
    c.active += each * m->experts_per_token;
    return c;
}

/* --- the model ---------------------------------------------------------------------------- */

weir_model_count weir_count_model(const weir_model *model)
{
    const weir_model *m = model;
    uint64_t h = m->hidden, norm = norm_width(m, h);
    weir_model_count c = {.embedding = (uint64_t)m->vocab * h};
    c.head = m->tied ? 0 : c.embedding;
    c.positions = m->positions == WEIR_POSITIONS_LEARNED ? m->position_rows * h : 0;
    c.norms = (m->final_norm ? norm : 0) + (m->embedding_norm ? norm : 0);
    c.active = c.embedding + c.head + c.positions + c.norms;
    for (uint32_t i = 0; i < m->layers; i++) {
        weir_layer_count layer = weir_count_layer(m, i);
        c.layers += layer.total;
        c.active += layer.active;
    }
    c.main = c.embedding + c.head + c.positions + c.norms + c.layers;
    if (m->mtp_layers > 0) {
        weir_layer_count last = weir_count_layer(m, m->layers - 1);
        c.mtp = m->mtp_layers * (last.total + 2 * h * h + 3 * norm);
    }
    c.total = c.main + c.mtp;
    return c;
}

uint64_t weir_vocab_padded(const weir_model *model, uint32_t multiple, uint32_t tensor)
{
    uint64_t step = (uint64_t)(multiple ? multiple : 1) * (tensor ? tensor : 1);
    return (model->vocab + step - 1) / step * step;
}

/* --- one rank ----------------------------------------------------------------------------- */

static uint64_t or_one(uint32_t n)
{
    return n ? n : 1;
}

/* A network of that width on one of t ranks: the last bias is on every rank. */
static uint64_t network_rank(const weir_model *m, uint64_t width, uint64_t t)
{
    uint64_t own = width / t;
    uint64_t biases = m->ffn_bias ? (matrices(m) - 1) * own + m->hidden : 0;
    return matrices(m) * m->hidden * own + biases;
}

static uint64_t attention_rank(const weir_model *m, uint64_t t)
{
    uint64_t h = m->hidden, nq = m->heads / t;
    uint64_t nkv = m->kv_heads > t ? m->kv_heads / t : 1;
    uint64_t output_bias = m->output_bias ? h : 0;
    if (weir_model_is_latent(m)) {
        uint64_t kv_wide = (uint64_t)m->nope_dim + m->value_dim;
        return (m->q_rank ? m->q_rank : h) * nq * weir_model_qk_dim(m) + m->kv_rank * nq * kv_wide +
               nq * m->value_dim * h + output_bias;
    }
    uint64_t width = m->head_dim * (nq + 2 * nkv);
    return h * width + (m->qkv_bias ? width : 0) + (m->sinks ? nq : 0) + nq * m->head_dim * h +
           output_bias;
}

weir_rank_count weir_count_layer_rank(const weir_model *model, uint32_t layer,
                                      const weir_weight_split *split)
{
    uint64_t t = or_one(split->tensor);
    weir_layer_count whole = weir_count_layer(model, layer);
    weir_rank_count rank = {.dense = whole.norms + whole.latents + whole.router +
                                     attention_rank(model, t)};
    if (!weir_model_is_moe(model, layer)) {
        rank.dense += network_rank(model, model->ffn, t);
        return rank;
    }
    rank.dense += model->shared_ffn ? network_rank(model, model->shared_ffn, t) : 0;
    rank.expert = model->experts / or_one(split->expert) *
                  network_rank(model, model->expert_ffn, or_one(split->expert_tensor));
    return rank;
}
