/* Steps of the attention half of a layer: grouped (MHA, GQA, MQA) and latent (MLA). */
#include "model/model_ops_inside.h"

/* Sum over i = 1 .. n of min(w, p + i). */
static double windowed(double n, double p, double w)
{
    double rising = w - p; /* how many rise before the window is full */
    rising = rising < 0 ? 0 : rising > n ? n : rising;
    return rising * p + rising * (rising + 1) / 2 + (n - rising) * w;
}

double weir_attention_pairs(uint32_t length, uint32_t past, uint32_t window, bool bidirectional)
{
    double n = length, p = past, keys = n + p;
    if (bidirectional) {
        return n * (window && window < keys ? window : keys);
    }
    return windowed(n, p, window ? window : keys);
}

/* Of one rank. */
typedef struct {
    uint64_t heads, kv_heads; /* of attention itself: latent heads are expanded in training */
    uint64_t qk, v;           /* widths of a head */
    uint64_t sequences, queries, keys;
    double pairs;
} core_size;

static core_size size_of_core(const ops_part *p, uint32_t layer)
{
    const weir_model *m = p->m;
    const weir_op_shape *s = p->shape;
    uint32_t length = s->length ? s->length : 1, window = weir_model_window(m, layer);
    core_size z = {.heads = m->heads / p->t,
                   .qk = weir_model_qk_dim(m),
                   .v = weir_model_v_dim(m),
                   .sequences = s->sequences ? s->sequences : 1};
    z.kv_heads = weir_model_is_latent(m) ? z.heads : m->kv_heads > p->t ? m->kv_heads / p->t : 1;
    z.queries = length / p->c ? length / p->c : 1;
    z.keys = (uint64_t)length + (window && window < s->past ? window : s->past);
    z.pairs = s->pairs > 0 && window == 0
                  ? s->pairs
                  : weir_attention_pairs(length, s->past, window, s->bidirectional);
    z.pairs /= (double)p->c;
    return z;
}

static void fused_core(ops_part *p, const core_size *z)
{
    ops_step *step = ops_add(p, WEIR_OP_ATTENTION, WEIR_MODEL_PART_CORE, WEIR_SPLIT_HEADS);
    weir_op *op = &step->op;
    double a = p->bytes.activation;
    double rows = (double)z->sequences * (double)z->queries * (double)z->heads;
    double q = rows * (double)z->qk * a, o = rows * (double)z->v * a, sums = rows * 4;
    double kv =
        (double)z->sequences * (double)z->keys * (double)z->kv_heads * (double)(z->qk + z->v) * a;
    op->m = z->queries;
    op->n = z->keys;
    op->k = z->qk;
    op->batch = z->sequences * z->heads;
    op->kv_heads = z->kv_heads;
    op->value_dim = z->v;
    op->pairs = z->pairs;
    op->flop = op->model_flop = 2 * z->pairs * (double)op->batch * (double)(z->qk + z->v);
    op->bytes_read = q + kv;
    op->bytes_written = o + sums;
    step->back = OPS_BACK_ATTENTION;
    step->back_read = q + kv + 2 * o + sums;
    step->back_written = q + kv;
}

/* Scores, softmax, values: batched products that write what they make, masked or not. */
static void scores_gemm(ops_part *p, const core_size *z, uint64_t n, uint64_t k, uint64_t width)
{
    ops_step *step = ops_add(p, WEIR_OP_GEMM, WEIR_MODEL_PART_CORE, WEIR_SPLIT_HEADS);
    weir_op *op = &step->op;
    double a = p->bytes.activation, batch = (double)(z->sequences * z->heads);
    double dm = (double)z->queries, dn = (double)n, dk = (double)k;
    op->m = z->queries;
    op->n = n;
    op->k = k;
    op->batch = z->sequences * z->heads;
    op->flop = 2 * batch * dm * dn * dk;
    op->model_flop = 2 * batch * z->pairs * (double)width;
    op->bytes_read = batch * (dm * dk + dk * dn) * a;
    op->bytes_written = batch * dm * dn * a;
    step->back = OPS_BACK_BOTH;
}

static void unfused_core(ops_part *p, const core_size *z)
{
    double a = p->bytes.activation;
    weir_op scores = {.kind = WEIR_OP_SOFTMAX,
                      .part = WEIR_MODEL_PART_CORE,
                      .split = WEIR_SPLIT_HEADS,
                      .m = z->sequences * z->heads * z->queries,
                      .n = z->keys};
    scores_gemm(p, z, z->keys, z->qk, z->qk);
    ops_memory(p, &scores, (ops_traffic){a, a, 2 * a, a});
    if (p->shape->dropout) {
        scores.kind = WEIR_OP_ELEMENTWISE;
        ops_memory(p, &scores, (ops_traffic){a, a + 1, a + 1, a});
    }
    scores_gemm(p, z, z->v, z->keys, z->v);
}

/* Down to the ranks on each rank's tokens, norms, up to heads. */
static void latent_projections(ops_part *p, const core_size *z)
{
    const weir_model *m = p->m;
    uint64_t h = m->hidden, mine = p->shared_out;
    if (m->q_rank) {
        ops_gemm(p, WEIR_MODEL_PART_LATENT, p->token_split, mine, m->q_rank, h);
        ops_norm(p, WEIR_MODEL_PART_LATENT_NORM, mine, m->q_rank, false);
        ops_gemm(p, WEIR_MODEL_PART_QKV, WEIR_SPLIT_COLUMNS, p->tokens, z->heads * z->qk,
                 m->q_rank);
    } else {
        ops_gemm(p, WEIR_MODEL_PART_QKV, WEIR_SPLIT_COLUMNS, p->tokens, z->heads * z->qk, h);
    }
    ops_gemm(p, WEIR_MODEL_PART_LATENT, p->token_split, mine, (uint64_t)m->kv_rank + m->rope_dim,
             h);
    ops_norm(p, WEIR_MODEL_PART_LATENT_NORM, mine, m->kv_rank, false);
    ops_gemm(p, WEIR_MODEL_PART_QKV, WEIR_SPLIT_COLUMNS, p->tokens,
             z->heads * ((uint64_t)m->nope_dim + m->value_dim), m->kv_rank);
}

static void head_operations(ops_part *p, const core_size *z)
{
    const weir_model *m = p->m;
    double a = p->bytes.activation;
    uint64_t rotated = weir_model_is_latent(m) ? (z->heads + 1) * m->rope_dim
                                               : (z->heads + z->kv_heads) * m->head_dim;
    weir_op op = {.part = WEIR_MODEL_PART_QK_NORM,
                  .kind = WEIR_OP_NORM,
                  .split = WEIR_SPLIT_HEADS,
                  .m = p->tokens,
                  .n = (z->heads + z->kv_heads) * z->qk};
    if (m->qk_norm) {
        ops_memory(p, &op, (ops_traffic){a, a, 2 * a, a});
    }
    if (m->positions == WEIR_POSITIONS_ROTARY && rotated > 0) {
        op = (weir_op){.part = WEIR_MODEL_PART_ROPE,
                       .kind = WEIR_OP_ROPE,
                       .split = WEIR_SPLIT_HEADS,
                       .m = p->tokens,
                       .n = rotated};
        ops_memory(p, &op, (ops_traffic){a, a, a, a});
    }
}

void ops_attention(ops_part *p, uint32_t layer)
{
    const weir_model *m = p->m;
    core_size z = size_of_core(p, layer);
    if (weir_model_is_latent(m)) {
        latent_projections(p, &z);
    } else {
        ops_gemm(p, WEIR_MODEL_PART_QKV, WEIR_SPLIT_COLUMNS, p->tokens,
                 (z.heads + 2 * z.kv_heads) * m->head_dim, m->hidden);
    }
    head_operations(p, &z);
    if (p->shape->unfused_core) {
        unfused_core(p, &z);
    } else {
        fused_core(p, &z);
    }
    ops_gemm(p, WEIR_MODEL_PART_OUTPUT, WEIR_SPLIT_ROWS, p->tokens, m->hidden, z.heads * z.v);
}
