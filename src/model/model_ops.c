/* Parts are built forward, as steps; the backward pass is derived from them in reverse order. */
#include "model/model_ops.h"

#include "model/model_count.h"
#include "model/model_ops_inside.h"

#include <assert.h>

static const char *const kind_names[] = {
#define X(name, text) text,
    WEIR_OP_KINDS(X)
#undef X
};
static const char *const part_names[] = {
#define X(name, text) text,
    WEIR_OP_PARTS(X)
#undef X
};

const char *weir_op_kind_name(weir_op_kind kind)
{
    return kind_names[kind];
}

const char *weir_op_part_name(weir_op_part part)
{
    return part_names[part];
}

/* --- steps -------------------------------------------------------------------------------- */

ops_step *ops_add(ops_part *p, weir_op_kind kind, weir_op_part part, weir_op_split split)
{
    assert(p->count < OPS_STEPS);
    ops_step *step = &p->step[p->count++];
    *step = (ops_step){.op = {.kind = kind, .part = part, .split = split, .k = 1, .batch = 1}};
    return step;
}

void ops_gemm(ops_part *p, weir_op_part part, weir_op_split split, uint64_t m, uint64_t n,
              uint64_t k)
{
    weir_op *op = &ops_add(p, WEIR_OP_GEMM, part, split)->op;
    double dm = (double)m, dn = (double)n, dk = (double)k;
    op->m = m;
    op->n = n;
    op->k = k;
    op->flop = op->model_flop = 2 * dm * dn * dk;
    op->bytes_read = (dm * dk + dk * dn) * p->bytes.operand;
    op->bytes_written = dm * dn * p->bytes.activation;
    p->step[p->count - 1].back = OPS_BACK_WEIGHT;
}

void ops_memory(ops_part *p, const weir_op *what, ops_traffic each)
{
    ops_step *step = ops_add(p, what->kind, what->part, what->split);
    double elements = (double)what->m * (double)what->n;
    step->op.m = what->m;
    step->op.n = what->n;
    step->op.bytes_read = elements * each.read;
    step->op.bytes_written = elements * each.written;
    step->back = OPS_BACK_SAME;
    step->back_read = elements * each.back_read;
    step->back_written = elements * each.back_written;
}

/* Backward a norm reads its input and the gradient behind it and writes the one before it; the
 * gradient of the residual path is added there too. */
void ops_norm(ops_part *p, weir_op_part part, uint64_t m, uint64_t n, bool adds)
{
    double a = p->bytes.activation;
    bool fused = adds && p->shape->fused_add;
    weir_op op = {.kind = WEIR_OP_NORM, .part = part, .split = p->token_split, .m = m, .n = n};
    ops_memory(p, &op,
               (ops_traffic){fused ? 2 * a : a, fused ? 2 * a : a, adds ? 3 * a : 2 * a, a});
}

void ops_residual(ops_part *p, weir_op_part part)
{
    double a = p->bytes.activation;
    bool drops = p->shape->dropout;
    if (p->shape->fused_add && !drops) {
        return;
    }
    weir_op op = {.kind = WEIR_OP_ELEMENTWISE,
                  .part = part,
                  .split = p->token_split,
                  .m = p->shared_out,
                  .n = p->m->hidden};
    ops_memory(p, &op, (ops_traffic){2 * a, a + drops, drops ? a + 1 : 0, drops ? a : 0});
    if (!drops) {
        p->step[p->count - 1].back = OPS_BACK_NONE; /* the gradient is passed on as it is */
    }
}

static uint64_t or_one(uint32_t n)
{
    return n ? n : 1;
}

static double or_default(double bytes, double unset)
{
    return bytes > 0 ? bytes : unset;
}

static void begin(ops_part *p, const weir_model *model, const weir_op_shape *shape)
{
    p->m = model;
    p->shape = shape;
    p->bytes = (weir_op_bytes){.activation = or_default(shape->bytes.activation, 2),
                               .operand = or_default(shape->bytes.operand, 2),
                               .gradient = or_default(shape->bytes.gradient, 4),
                               .logit = or_default(shape->bytes.logit, 4)};
    p->t = or_one(shape->tensor);
    p->c = or_one(shape->context);
    p->e = or_one(shape->expert);
    p->et = or_one(shape->expert_tensor);
    p->tokens = or_one(shape->sequences) * or_one(shape->length) / p->c;
    p->shared_out = shape->sequence_parallel ? p->tokens / p->t : p->tokens;
    p->token_split = shape->sequence_parallel && p->t > 1 ? WEIR_SPLIT_SEQUENCE : WEIR_SPLIT_NONE;
    p->count = 0;
}

/* --- backward ----------------------------------------------------------------------------- */

static weir_op *append(weir_op_list *list, const weir_op *op, weir_op_pass pass)
{
    assert(list->count < WEIR_OPS_MAX);
    weir_op *made = &list->op[list->count++];
    *made = *op;
    made->pass = pass;
    return made;
}

/* dX = dY W^T, then dW = X^T dY, added to the gradients of earlier micro-batches. */
static void weight_gradients(const ops_part *p, const ops_step *step, weir_op_list *list)
{
    const weir_op *f = &step->op;
    bool grouped = f->kind == WEIR_OP_GROUPED_GEMM;
    double m = (double)f->m, n = (double)f->n, k = (double)f->k;
    double matrices = grouped ? (double)f->batch : 1, weights = matrices * k * n;
    weir_op *d = append(list, f, WEIR_PASS_DGRAD);
    d->n = f->k;
    d->k = f->n;
    d->bytes_read = (m * n + weights) * p->bytes.operand;
    d->bytes_written = m * k * p->bytes.activation;
    weir_op *w = append(list, f, WEIR_PASS_WGRAD);
    double gradient = weights * p->bytes.gradient;
    if (!grouped) { /* the groups' rows stay m: they are summed over */
        w->m = f->n;
        w->n = f->k;
        w->k = f->m;
    }
    w->bytes_read = (m * n + m * k) * p->bytes.operand;
    w->bytes_written = gradient;
    if (!p->shape->separate_accumulation) {
        w->bytes_read += gradient;
        return;
    }
    w->bytes_written = weights * p->bytes.activation;
    weir_op *add = append(list, f, WEIR_PASS_WGRAD);
    *add = (weir_op){.kind = WEIR_OP_ELEMENTWISE,
                     .part = f->part,
                     .pass = WEIR_PASS_WGRAD,
                     .split = f->split,
                     .m = f->n * (grouped ? f->batch : 1),
                     .n = f->k,
                     .k = 1,
                     .batch = 1,
                     .bytes_read = weights * p->bytes.activation + gradient,
                     .bytes_written = gradient};
}

/* Of C = A B, both activations: dA = dC B^T, dB = A^T dC. */
static void both_gradients(const ops_part *p, const weir_op *f, weir_op_list *list)
{
    double batch = (double)f->batch, m = (double)f->m, n = (double)f->n, k = (double)f->k;
    weir_op *a = append(list, f, WEIR_PASS_DGRAD);
    a->n = f->k;
    a->k = f->n;
    a->bytes_read = batch * (m * n + n * k) * p->bytes.activation;
    a->bytes_written = batch * m * k * p->bytes.activation;
    weir_op *b = append(list, f, WEIR_PASS_DGRAD);
    b->m = f->k;
    b->k = f->m;
    b->bytes_read = batch * (m * n + m * k) * p->bytes.activation;
    b->bytes_written = batch * k * n * p->bytes.activation;
}

static void add_backward(const ops_part *p, const ops_step *step, weir_op_list *list)
{
    weir_op *made;
    switch (step->back) {
    case OPS_BACK_NONE:
        return;
    case OPS_BACK_WEIGHT:
        weight_gradients(p, step, list);
        return;
    case OPS_BACK_BOTH:
        both_gradients(p, &step->op, list);
        return;
    case OPS_BACK_ATTENTION: /* S again, dP, dV, dQ, dK: FlashAttention, arXiv 2205.14135, alg. 4 */
        made = append(list, &step->op, WEIR_PASS_DGRAD);
        made->model_flop = 2 * step->op.model_flop;
        made->flop = 2 * step->op.pairs * (double)step->op.batch *
                     (3 * (double)step->op.k + 2 * (double)step->op.value_dim);
        break;
    case OPS_BACK_SAME:
        made = append(list, &step->op, WEIR_PASS_DGRAD);
        break;
    case OPS_BACK_TABLE:
        made = append(list, &step->op, WEIR_PASS_WGRAD);
        break;
    default:
        return;
    }
    made->bytes_read = step->back_read;
    made->bytes_written = step->back_written;
}

static void finish(const ops_part *p, bool backward, weir_op_list *list)
{
    list->count = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (backward) {
            add_backward(p, &p->step[p->count - 1 - i], list);
        } else {
            append(list, &p->step[i].op, WEIR_PASS_FORWARD);
        }
    }
}

/* --- parts -------------------------------------------------------------------------------- */

void weir_ops_layer(const weir_model *model, uint32_t layer, const weir_op_shape *shape,
                    bool backward, weir_op_list *list)
{
    ops_part p;
    begin(&p, model, shape);
    uint64_t tokens = p.shared_out, h = model->hidden;
    ops_norm(&p, WEIR_MODEL_PART_ATTENTION_NORM, tokens, h, true);
    ops_attention(&p, layer);
    if (model->norms_per_layer == 4) {
        ops_norm(&p, WEIR_MODEL_PART_ATTENTION_NORM, tokens, h, false);
    }
    ops_residual(&p, WEIR_MODEL_PART_ATTENTION_ADD);
    if (model->norms_per_layer >= 2) {
        ops_norm(&p, WEIR_MODEL_PART_NETWORK_NORM, tokens, h, true);
    }
    ops_network(&p, layer);
    if (model->norms_per_layer == 4) {
        ops_norm(&p, WEIR_MODEL_PART_NETWORK_NORM, tokens, h, false);
    }
    ops_residual(&p, WEIR_MODEL_PART_NETWORK_ADD);
    finish(&p, backward, list);
}

void weir_ops_embedding(const weir_model *model, const weir_op_shape *shape, bool backward,
                        weir_op_list *list)
{
    ops_part p;
    begin(&p, model, shape);
    double a = p.bytes.activation, elements = (double)p.tokens * (double)model->hidden;
    ops_step *step =
        ops_add(&p, WEIR_OP_EMBEDDING, WEIR_MODEL_PART_EMBEDDING, WEIR_SPLIT_VOCABULARY);
    step->op.m = p.tokens;
    step->op.n = model->hidden;
    step->op.bytes_read = step->op.bytes_written = elements * a;
    step->back = OPS_BACK_TABLE;
    step->back_read = elements * (a + p.bytes.gradient);
    step->back_written = elements * p.bytes.gradient;
    bool drops = shape->dropout, adds = model->positions == WEIR_POSITIONS_LEARNED;
    if (adds || drops) {
        weir_op op = {.kind = WEIR_OP_ELEMENTWISE,
                      .part = WEIR_MODEL_PART_EMBEDDING,
                      .split = p.token_split,
                      .m = p.shared_out,
                      .n = model->hidden};
        ops_memory(&p, &op, (ops_traffic){adds ? 2 * a : a, a + drops, a + drops, drops ? a : 0});
    }
    if (model->embedding_norm) {
        ops_norm(&p, WEIR_MODEL_PART_EMBEDDING, p.shared_out, model->hidden, false);
    }
    finish(&p, backward, list);
}

void weir_ops_head(const weir_model *model, const weir_op_shape *shape, bool backward,
                   weir_op_list *list)
{
    ops_part p;
    begin(&p, model, shape);
    uint64_t words = weir_vocab_padded(model, shape->vocab_multiple, shape->tensor) / p.t;
    if (model->final_norm) {
        ops_norm(&p, WEIR_MODEL_PART_FINAL_NORM, p.shared_out, model->hidden, true);
    }
    ops_gemm(&p, WEIR_MODEL_PART_HEAD, WEIR_SPLIT_VOCABULARY, p.tokens, words, model->hidden);
    weir_op op = {.kind = WEIR_OP_LOSS,
                  .part = WEIR_MODEL_PART_LOSS,
                  .split = WEIR_SPLIT_VOCABULARY,
                  .m = p.tokens,
                  .n = words};
    /* Unfused: read for the maximum, for the sum of exponentials, for the gradient. */
    double l = shape->fused_loss ? p.bytes.activation : p.bytes.logit;
    ops_memory(&p, &op, (ops_traffic){shape->fused_loss ? l : 2 * l, 0, l, l});
    finish(&p, backward, list);
}

void weir_ops_mtp(const weir_model *model, const weir_op_shape *shape, bool backward,
                  weir_op_list *list)
{
    ops_part p;
    begin(&p, model, shape);
    ops_norm(&p, WEIR_MODEL_PART_MTP, p.shared_out, model->hidden, false);
    ops_norm(&p, WEIR_MODEL_PART_MTP, p.shared_out, model->hidden, false);
    ops_gemm(&p, WEIR_MODEL_PART_MTP, WEIR_SPLIT_COLUMNS, p.tokens, model->hidden / p.t,
             2 * (uint64_t)model->hidden);
    finish(&p, backward, list);
}

weir_op_sum weir_ops_sum(const weir_op_list *list)
{
    weir_op_sum sum = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        sum.flop += list->op[i].flop;
        sum.model_flop += list->op[i].model_flop;
        sum.bytes_read += list->op[i].bytes_read;
        sum.bytes_written += list->op[i].bytes_written;
    }
    return sum;
}
