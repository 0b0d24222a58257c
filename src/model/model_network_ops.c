/* Steps of the feed-forward half of a layer: dense networks and mixtures of experts. */
#include "model/model_ops_inside.h"

#include <math.h>

typedef struct {
    weir_op_part up, activation, down;
} network_parts;

static const network_parts dense_parts = {WEIR_MODEL_PART_UP, WEIR_MODEL_PART_ACTIVATION,
                                          WEIR_MODEL_PART_DOWN};
static const network_parts shared_parts = {
    WEIR_MODEL_PART_SHARED_UP, WEIR_MODEL_PART_SHARED_ACTIVATION, WEIR_MODEL_PART_SHARED_DOWN};

/* act(gate) x up, or act(up): rows x width results. */
static void activation(ops_part *p, weir_op_part part, weir_op_split split, uint64_t rows,
                       uint64_t width)
{
    double a = p->bytes.activation;
    weir_op op = {.kind = WEIR_OP_ELEMENTWISE, .part = part, .split = split, .m = rows, .n = width};
    ops_memory(p, &op,
               p->m->gated ? (ops_traffic){2 * a, a, 3 * a, 2 * a} : (ops_traffic){a, a, 2 * a, a});
}

static void dense(ops_part *p, const network_parts *parts, uint64_t width)
{
    uint64_t own = width / p->t, h = p->m->hidden;
    ops_gemm(p, parts->up, WEIR_SPLIT_COLUMNS, p->tokens, (p->m->gated ? 2 : 1) * own, h);
    activation(p, parts->activation, WEIR_SPLIT_COLUMNS, p->tokens, own);
    ops_gemm(p, parts->down, WEIR_SPLIT_ROWS, p->tokens, h, own);
}

/* --- experts ------------------------------------------------------------------------------ */

/* Rows that the experts of one rank work on. A tensor group holds `tokens` tokens once, so that a
 * rank of it gets k / t of them on average, and those of all its expert tensor ranks. */
static uint64_t rows_of_experts(const ops_part *p)
{
    const weir_op_shape *s = p->shape;
    double mean = (double)p->tokens * p->m->experts_per_token * (double)p->et / (double)p->t;
    double factor = s->capacity > 0 ? s->capacity : s->expert_load > 0 ? s->expert_load : 1;
    return (uint64_t)ceil(mean * factor);
}

static void grouped_gemm(ops_part *p, weir_op_part part, uint64_t m, uint64_t n, uint64_t k)
{
    ops_gemm(p, part, WEIR_SPLIT_EXPERTS, m, n, k);
    weir_op *op = &p->step[p->count - 1].op;
    uint64_t groups = p->m->experts / p->e;
    op->kind = WEIR_OP_GROUPED_GEMM;
    op->batch = groups;
    op->bytes_read =
        ((double)m * (double)k + (double)groups * (double)k * (double)n) * p->bytes.operand;
}

/* Scores in 32 bits and their top k. */
static void router(ops_part *p)
{
    uint64_t rows = p->shared_out;
    ops_gemm(p, WEIR_MODEL_PART_ROUTER, p->token_split, rows, p->m->experts, p->m->hidden);
    p->step[p->count - 1].op.kind = WEIR_OP_ROUTER;
    weir_op op = {.kind = WEIR_OP_SOFTMAX,
                  .part = WEIR_MODEL_PART_ROUTER,
                  .split = p->token_split,
                  .m = rows,
                  .n = p->m->experts};
    ops_memory(p, &op, (ops_traffic){4, 4, 8, 4});
}

static void permute(ops_part *p, weir_op_part part, uint64_t rows)
{
    double a = p->bytes.activation;
    weir_op op = {.kind = WEIR_OP_PERMUTE,
                  .part = part,
                  .split = WEIR_SPLIT_EXPERTS,
                  .m = rows,
                  .n = p->m->hidden};
    ops_memory(p, &op, (ops_traffic){a, a, a, a});
}

static void experts(ops_part *p)
{
    const weir_model *m = p->m;
    uint64_t rows = rows_of_experts(p), own = m->expert_ffn / p->et;
    router(p);
    permute(p, WEIR_MODEL_PART_DISPATCH, rows);
    grouped_gemm(p, WEIR_MODEL_PART_EXPERT_UP, rows, (m->gated ? 2 : 1) * own, m->hidden);
    activation(p, WEIR_MODEL_PART_EXPERT_ACTIVATION, WEIR_SPLIT_EXPERTS, rows, own);
    grouped_gemm(p, WEIR_MODEL_PART_EXPERT_DOWN, rows, m->hidden, own);
    permute(p, WEIR_MODEL_PART_COMBINE, rows);
    if (m->shared_ffn) {
        dense(p, &shared_parts, m->shared_ffn);
    }
    if (m->shared_gate) {
        ops_gemm(p, WEIR_MODEL_PART_SHARED_UP, p->token_split, p->shared_out, 1, m->hidden);
    }
}

void ops_network(ops_part *p, uint32_t layer)
{
    if (weir_model_is_moe(p->m, layer)) {
        experts(p);
    } else {
        dense(p, &dense_parts, p->m->ffn);
    }
}
