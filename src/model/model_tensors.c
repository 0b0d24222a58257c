/* The names of each style are a table; one walk goes through a model and leaves out what it has
 * not. A name that is NULL in a style is part of a fused matrix there. */
#include "model/model_tensors.h"

#include <stdio.h>

typedef struct {
    const char *embedding, *positions, *embedding_norm, *final_norm, *head;
    const char *block; /* ends in "%u.", where the number goes */
    const char *norms[4];
    const char *q, *k, *v, *qkv, *output;
    const char *gate, *up, *down, *gate_up; /* of a network; below `mlp` */
    const char *mlp, *router;
    const char *expert; /* the same, below block; NULL: stacked */
} style;

#define LLAMA_OUTSIDE                                                                              \
    .embedding = "model.embed_tokens", .final_norm = "model.norm", .head = "lm_head",              \
    .block = "model.layers.%u.",                                                                   \
    .norms = {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",          \
              "post_feedforward_layernorm"},                                                       \
    .output = "self_attn.o_proj"
#define LLAMA_QKV .q = "self_attn.q_proj", .k = "self_attn.k_proj", .v = "self_attn.v_proj"

static const style styles[] = {
    [WEIR_TENSORS_LLAMA] = {LLAMA_OUTSIDE, LLAMA_QKV, .gate = "gate_proj", .up = "up_proj",
                            .down = "down_proj", .mlp = "mlp.", .router = "mlp.gate",
                            .expert = "mlp.experts.%u."},
    [WEIR_TENSORS_MIXTRAL] = {LLAMA_OUTSIDE, LLAMA_QKV, .gate = "w1", .up = "w3", .down = "w2",
                              .mlp = "mlp.", .router = "block_sparse_moe.gate",
                              .expert = "block_sparse_moe.experts.%u."},
    [WEIR_TENSORS_GPT_OSS] = {LLAMA_OUTSIDE, LLAMA_QKV, .gate = "gate_proj", .up = "up_proj",
                              .down = "down_proj", .mlp = "mlp.", .router = "mlp.router"},
    [WEIR_TENSORS_PHI3] = {LLAMA_OUTSIDE, .qkv = "self_attn.qkv_proj", .gate_up = "gate_up_proj",
                           .down = "down_proj", .mlp = "mlp."},
    [WEIR_TENSORS_NEOX] = {.embedding = "gpt_neox.embed_in",
                           .final_norm = "gpt_neox.final_layer_norm",
                           .head = "embed_out",
                           .block = "gpt_neox.layers.%u.",
                           .norms = {"input_layernorm", "post_attention_layernorm"},
                           .qkv = "attention.query_key_value",
                           .output = "attention.dense",
                           .up = "dense_h_to_4h",
                           .down = "dense_4h_to_h",
                           .mlp = "mlp."},
    [WEIR_TENSORS_GPT2] = {.embedding = "transformer.wte",
                           .positions = "transformer.wpe",
                           .final_norm = "transformer.ln_f",
                           .head = "lm_head",
                           .block = "transformer.h.%u.",
                           .norms = {"ln_1", "ln_2"},
                           .qkv = "attn.c_attn",
                           .output = "attn.c_proj",
                           .up = "c_fc",
                           .down = "c_proj",
                           .mlp = "mlp."},
    [WEIR_TENSORS_OPT] = {.embedding = "model.decoder.embed_tokens",
                          .positions = "model.decoder.embed_positions",
                          .final_norm = "model.decoder.final_layer_norm",
                          .head = "lm_head",
                          .block = "model.decoder.layers.%u.",
                          .norms = {"self_attn_layer_norm", "final_layer_norm"},
                          LLAMA_QKV,
                          .output = "self_attn.out_proj",
                          .up = "fc1",
                          .down = "fc2",
                          .mlp = ""},
    [WEIR_TENSORS_BLOOM] = {.embedding = "transformer.word_embeddings",
                            .embedding_norm = "transformer.word_embeddings_layernorm",
                            .final_norm = "transformer.ln_f",
                            .head = "lm_head",
                            .block = "transformer.h.%u.",
                            .norms = {"input_layernorm", "post_attention_layernorm"},
                            .qkv = "self_attention.query_key_value",
                            .output = "self_attention.dense",
                            .up = "dense_h_to_4h",
                            .down = "dense_4h_to_h",
                            .mlp = "mlp."},
};

/* --- one tensor --------------------------------------------------------------------------- */

typedef struct {
    const weir_model *m;
    const style *s;
    weir_tensor_use use;
    void *context;
    uint32_t layer;
    char prefix[64];
} walk;

static void emit(const walk *w, const char *part, const char *suffix, const uint64_t dims[3],
                 uint32_t dim_count)
{
    weir_tensor t = {.dim_count = dim_count, .layer = w->layer};
    snprintf(t.name, sizeof t.name, "%s%s%s", w->prefix, part, suffix);
    for (uint32_t i = 0; i < dim_count; i++) {
        t.dims[i] = dims[i];
    }
    w->use(w->context, &t);
}

static void vector(const walk *w, const char *part, const char *suffix, uint64_t n)
{
    emit(w, part, suffix, (const uint64_t[3]){n}, 1);
}

static void linear(const walk *w, const char *part, uint64_t out, uint64_t in, bool bias)
{
    bool turned = w->m->names == WEIR_TENSORS_GPT2 && w->layer != WEIR_NONE;
    emit(w, part, ".weight", turned ? (const uint64_t[3]){in, out} : (const uint64_t[3]){out, in},
         2);
    if (bias) {
        vector(w, part, ".bias", out);
    }
}

static void norm(const walk *w, const char *part)
{
    vector(w, part, ".weight", w->m->hidden);
    if (w->m->norm == WEIR_NORM_LAYER && w->m->norm_bias) {
        vector(w, part, ".bias", w->m->hidden);
    }
}

/* --- one layer ---------------------------------------------------------------------------- */

static void walk_latent(const walk *w)
{
    const weir_model *m = w->m;
    uint64_t wide = (uint64_t)m->heads * weir_model_qk_dim(m);
    if (m->q_rank) {
        linear(w, "self_attn.q_a_proj", m->q_rank, m->hidden, m->qkv_bias);
        vector(w, "self_attn.q_a_layernorm", ".weight", m->q_rank);
        linear(w, "self_attn.q_b_proj", wide, m->q_rank, false);
    } else {
        linear(w, "self_attn.q_proj", wide, m->hidden, false);
    }
    linear(w, "self_attn.kv_a_proj_with_mqa", (uint64_t)m->kv_rank + m->rope_dim, m->hidden,
           m->qkv_bias);
    vector(w, "self_attn.kv_a_layernorm", ".weight", m->kv_rank);
    linear(w, "self_attn.kv_b_proj", m->heads * ((uint64_t)m->nope_dim + m->value_dim), m->kv_rank,
           false);
    linear(w, w->s->output, m->hidden, (uint64_t)m->heads * m->value_dim, m->output_bias);
}

static void walk_grouped(const walk *w)
{
    const weir_model *m = w->m;
    uint64_t q = (uint64_t)m->heads * m->head_dim, kv = (uint64_t)m->kv_heads * m->head_dim;
    if (w->s->qkv) {
        linear(w, w->s->qkv, q + 2 * kv, m->hidden, m->qkv_bias);
    } else {
        linear(w, w->s->q, q, m->hidden, m->qkv_bias);
        linear(w, w->s->k, kv, m->hidden, m->qkv_bias);
        linear(w, w->s->v, kv, m->hidden, m->qkv_bias);
    }
    if (m->qk_norm) {
        vector(w, "self_attn.q_norm", ".weight", m->head_dim);
        vector(w, "self_attn.k_norm", ".weight", m->head_dim);
    }
    if (m->sinks) {
        vector(w, "self_attn.sinks", "", m->heads);
    }
    linear(w, w->s->output, m->hidden, q, m->output_bias);
}

/* below: "mlp.", "mlp.experts.7." */
static void walk_network(const walk *w, const char *below, uint64_t width)
{
    const weir_model *m = w->m;
    char part[80];
    if (m->gated && w->s->gate_up) {
        snprintf(part, sizeof part, "%s%s", below, w->s->gate_up);
        linear(w, part, 2 * width, m->hidden, m->ffn_bias);
    } else {
        if (m->gated) {
            snprintf(part, sizeof part, "%s%s", below, w->s->gate ? w->s->gate : "gate");
            linear(w, part, width, m->hidden, m->ffn_bias);
        }
        snprintf(part, sizeof part, "%s%s", below, w->s->up ? w->s->up : "up");
        linear(w, part, width, m->hidden, m->ffn_bias);
    }
    snprintf(part, sizeof part, "%s%s", below, w->s->down);
    linear(w, part, m->hidden, width, m->ffn_bias);
}

/* gpt-oss: all experts of a layer in one tensor, [experts, in, out]. */
static void walk_stacked(const walk *w)
{
    const weir_model *m = w->m;
    uint64_t up = (m->gated ? 2 : 1) * (uint64_t)m->expert_ffn;
    emit(w, "mlp.experts.gate_up_proj", "", (const uint64_t[3]){m->experts, m->hidden, up}, 3);
    emit(w, "mlp.experts.down_proj", "", (const uint64_t[3]){m->experts, m->expert_ffn, m->hidden},
         3);
    if (m->ffn_bias) {
        emit(w, "mlp.experts.gate_up_proj_bias", "", (const uint64_t[3]){m->experts, up}, 2);
        emit(w, "mlp.experts.down_proj_bias", "", (const uint64_t[3]){m->experts, m->hidden}, 2);
    }
}

static void walk_experts(const walk *w)
{
    const weir_model *m = w->m;
    linear(w, w->s->router ? w->s->router : "mlp.gate", m->experts, m->hidden, m->router_bias);
    for (uint32_t e = 0; e < m->experts && w->s->expert; e++) {
        char below[48];
        snprintf(below, sizeof below, "%.*s%u.", (int)(weir_str_from(w->s->expert).n - 3),
                 w->s->expert, e);
        walk_network(w, below, m->expert_ffn);
    }
    if (!w->s->expert) {
        walk_stacked(w);
    }
    if (m->shared_ffn) {
        walk_network(w, m->shared_gate ? "mlp.shared_expert." : "mlp.shared_experts.",
                     m->shared_ffn);
    }
    if (m->shared_gate) {
        linear(w, "mlp.shared_expert_gate", 1, m->hidden, false);
    }
}

static void walk_layer(walk *w, uint32_t layer)
{
    w->layer = layer;
    snprintf(w->prefix, sizeof w->prefix, "%.*s%u.", (int)(weir_str_from(w->s->block).n - 3),
             w->s->block, layer);
    if (weir_model_is_latent(w->m)) {
        walk_latent(w);
    } else {
        walk_grouped(w);
    }
    if (weir_model_is_moe(w->m, layer)) {
        walk_experts(w);
    } else {
        walk_network(w, w->s->mlp, w->m->ffn);
    }
    for (uint32_t i = 0; i < w->m->norms_per_layer; i++) {
        norm(w, w->s->norms[i] ? w->s->norms[i] : "norm");
    }
    w->layer = WEIR_NONE;
    w->prefix[0] = '\0';
}

void weir_model_tensors(const weir_model *model, weir_tensor_use use, void *context)
{
    walk w = {model, &styles[model->names], use, context, WEIR_NONE, ""};
    linear(&w, w.s->embedding, model->vocab, model->hidden, false);
    if (model->positions == WEIR_POSITIONS_LEARNED) {
        linear(&w, w.s->positions ? w.s->positions : "model.embed_positions", model->position_rows,
               model->hidden, false);
    }
    if (model->embedding_norm) {
        norm(&w, w.s->embedding_norm ? w.s->embedding_norm : "model.embed_norm");
    }
    for (uint32_t i = 0; i < model->layers; i++) {
        walk_layer(&w, i);
    }
    if (model->final_norm) {
        norm(&w, w.s->final_norm);
    }
    if (!model->tied) {
        linear(&w, w.s->head, model->vocab, model->hidden, false);
    }
}
