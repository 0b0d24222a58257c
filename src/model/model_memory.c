#include "model/model_memory.h"

#include "model/model_count.h"

#include <math.h>

static double or_one(uint32_t n)
{
    return n ? n : 1;
}

static double or_default(double bytes, double unset)
{
    return bytes > 0 ? bytes : unset;
}

/* What the parts have in common. */
typedef struct {
    const weir_model *m;
    const weir_op_shape *shape;
    uint32_t recompute;
    double a;         /* bytes of an activation */
    double kept;      /* of a product's input, as it is kept */
    double t, tokens; /* tensor ranks; tokens of the micro-batch on a context rank */
    double mine;      /* tokens of norms and adds */
    double inputs;    /* tokens of the inputs that norms give to products, as they are kept */
    double heads, kv_heads;
} place;

static place place_of(const weir_model *m, const weir_op_shape *s, uint32_t recompute)
{
    place p = {.m = m, .shape = s, .recompute = recompute};
    p.a = or_default(s->bytes.activation, 2);
    p.kept = or_default(s->bytes.kept, p.a);
    p.t = or_one(s->tensor);
    p.tokens = or_one(s->sequences) * or_one(s->length) / or_one(s->context);
    p.mine = s->sequence_parallel ? p.tokens / p.t : p.tokens;
    p.inputs = s->gathered_inputs ? p.tokens : p.mine;
    p.heads = m->heads / p.t;
    p.kv_heads = weir_model_is_latent(m) ? p.heads : m->kv_heads > p.t ? m->kv_heads / p.t : 1;
    return p;
}

static bool drops(const place *p, uint32_t what)
{
    return (p->recompute & what) != 0;
}

/* --- attention ---------------------------------------------------------------------------- */

static double core_bytes(const place *p)
{
    const weir_op_shape *s = p->shape;
    if (!s->unfused_core) {
        return p->tokens * p->heads * 4;
    }
    if (drops(p, WEIR_RECOMPUTE_CORE)) {
        return 0;
    }
    double scores = p->tokens * p->heads * ((double)s->past + or_one(s->length));
    return scores * (s->dropout ? 2 * p->a + 1 : p->a); /* softmax; mask; what dropout leaves */
}

/* What norms read, and what the two before attention and network give to products. */
static double norm_bytes(const place *p)
{
    double norms = p->m->norms_per_layer, inner = fmin(norms, 2);
    double again = drops(p, WEIR_RECOMPUTE_OUTPUT) ? 1 : 0; /* the sum that the second norm reads */
    double read = (norms - again) * p->mine * p->m->hidden * p->a;
    if (drops(p, WEIR_RECOMPUTE_NORMS)) {
        return read;
    }
    double given = inner * p->inputs * p->kept + (norms - inner) * p->mine * p->a;
    return read + given * p->m->hidden;
}

/* Attention keeps its output for itself, and the projection reads it as it multiplies. */
static double output_bytes(const place *p)
{
    double width = p->tokens * p->heads * weir_model_v_dim(p->m);
    if (drops(p, WEIR_RECOMPUTE_OUTPUT) && drops(p, WEIR_RECOMPUTE_CORE)) {
        return 0;
    }
    if (p->shape->unfused_core) {
        return width * p->kept;
    }
    return width * (p->kept < p->a ? p->a + p->kept : p->a);
}

/* The latents before and behind their norms, and the rotary part of the keys. */
static double latent_bytes(const place *p)
{
    const weir_model *m = p->m;
    double ranks = (double)m->q_rank + m->kv_rank;
    if (!weir_model_is_latent(m)) {
        return 0;
    }
    double outputs = drops(p, WEIR_RECOMPUTE_NORMS) ? 0 : ranks;
    return p->mine * p->a * (ranks + m->rope_dim + outputs);
}

static double qkv_bytes(const place *p)
{
    const weir_model *m = p->m;
    double qk = weir_model_qk_dim(m), v = weir_model_v_dim(m);
    if (weir_model_is_latent(m) && drops(p, WEIR_RECOMPUTE_UP)) {
        return 0;
    }
    double inputs_of_norms = m->qk_norm ? (p->heads + p->kv_heads) * qk : 0;
    return p->tokens * p->a * (p->heads * qk + p->kv_heads * (qk + v) + inputs_of_norms);
}

/* --- networks ----------------------------------------------------------------------------- */

/* What one network keeps for each row and unit of its width: gate and up, and their product. */
static double network_bytes(const place *p, double rows, double width)
{
    double inner = p->m->gated ? 2 * p->a : p->a, product = 0;
    if (!drops(p, WEIR_RECOMPUTE_ACTIVATION)) {
        product = p->kept + (p->m->gated && p->shape->split_activation ? p->a : 0);
    }
    return rows * width * (inner + product);
}

static void mixture_bytes(const place *p, weir_activation_bytes *b)
{
    const weir_model *m = p->m;
    const weir_op_shape *s = p->shape;
    double et = or_one(s->expert_tensor);
    double load = s->capacity > 0 ? s->capacity : s->expert_load > 0 ? s->expert_load : 1;
    double rows = p->tokens * m->experts_per_token * et / p->t * load;
    b->router = p->mine * m->experts * 4;
    b->network = m->shared_ffn ? network_bytes(p, p->tokens, m->shared_ffn / p->t) : 0;
    if (!drops(p, WEIR_RECOMPUTE_EXPERTS)) {
        double given = s->early_weights ? 0 : p->a; /* what is weighted and summed */
        b->experts =
            network_bytes(p, rows, m->expert_ffn / et) + rows * m->hidden * (p->kept + given);
    }
}

weir_activation_bytes weir_activations_layer(const weir_model *model, uint32_t layer,
                                             const weir_op_shape *shape, uint32_t recompute)
{
    place p = place_of(model, shape, recompute);
    weir_activation_bytes b = {0};
    if (drops(&p, WEIR_RECOMPUTE_FULL)) {
        b.total = b.norms = p.mine * model->hidden * p.a;
        return b;
    }
    b.norms = norm_bytes(&p);
    b.latents = latent_bytes(&p);
    b.qkv = qkv_bytes(&p);
    b.core = core_bytes(&p);
    b.output = output_bytes(&p);
    b.masks = shape->dropout ? 2 * p.mine * model->hidden : 0;
    if (weir_model_is_moe(model, layer)) {
        mixture_bytes(&p, &b);
    } else if (!drops(&p, WEIR_RECOMPUTE_NETWORK)) {
        b.network = network_bytes(&p, p.tokens, model->ffn / p.t);
    }
    b.total = b.norms + b.latents + b.qkv + b.core + b.output + b.masks + b.network + b.router +
              b.experts;
    return b;
}

double weir_activations_embedding(const weir_model *model, const weir_op_shape *shape)
{
    place p = place_of(model, shape, 0);
    return shape->dropout ? p.mine * model->hidden : 0;
}

double weir_activations_head(const weir_model *model, const weir_op_shape *shape)
{
    place p = place_of(model, shape, 0);
    double words = (double)weir_vocab_padded(model, shape->vocab_multiple, shape->tensor) / p.t;
    double logit = shape->fused_loss ? p.a : or_default(shape->bytes.logit, 4);
    return 2 * p.mine * model->hidden * p.a +
           p.tokens * words * or_default(shape->bytes.loss, logit);
}

double weir_activations_korthikanti(const weir_model *model, const weir_op_shape *shape,
                                    weir_korthikanti form)
{
    double t = or_one(shape->tensor), s = or_one(shape->length), h = model->hidden;
    double sbh = s * or_one(shape->sequences) * h / or_one(shape->context);
    double scores = 5 * model->heads * s / h;
    switch (form) {
    case WEIR_KORTHIKANTI_TENSOR:
        return sbh * (10 + 24 / t + scores / t);
    case WEIR_KORTHIKANTI_SEQUENCE:
        return sbh / t * (34 + scores);
    case WEIR_KORTHIKANTI_TENSOR_SELECTIVE:
        return sbh * (10 + 24 / t);
    case WEIR_KORTHIKANTI_SELECTIVE:
        return sbh * 34 / t;
    case WEIR_KORTHIKANTI_FULL:
        return sbh * 2;
    }
    return 0;
}

/* --- cache -------------------------------------------------------------------------------- */

/* Of one token in one layer. */
static double kv_bytes(const weir_model *m, double element_bytes, uint32_t tensor)
{
    if (weir_model_is_latent(m)) {
        return ((double)m->kv_rank + m->rope_dim) * element_bytes;
    }
    double heads = ceil(m->kv_heads / or_one(tensor));
    return 2 * heads * m->head_dim * element_bytes;
}

double weir_kv_bytes_token(const weir_model *model, double element_bytes, uint32_t tensor)
{
    return model->layers * kv_bytes(model, element_bytes, tensor);
}

double weir_kv_bytes_sequence(const weir_model *model, uint64_t tokens, double element_bytes,
                              uint32_t tensor)
{
    double rows = 0;
    for (uint32_t i = 0; i < model->layers; i++) {
        uint32_t window = weir_model_window(model, i);
        rows += (double)(window && window < tokens ? window : tokens);
    }
    return rows * kv_bytes(model, element_bytes, tensor);
}
