/* train_kernels.c: operations of a list as kernels: how long, and what of (DESIGN 2.2, 2.3). */
#include "machine/roofline.h"
#include "train/train_layer.h"

#include <math.h>

void weir_pass_add(weir_pass_cost *pass, const weir_piece *piece)
{
    if (!(piece->seconds > 0) && !(piece->bytes > 0)) {
        return;
    }
    weir_piece *to = NULL;
    for (uint32_t i = 0; i < pass->count && !to; i++) {
        weir_piece *p = &pass->piece[i];
        bool same = p->kind == piece->kind && p->cause == piece->cause && p->axis == piece->axis &&
                    p->comm == piece->comm;
        to = same || i + 1 == WEIR_PIECES_MAX ? p : NULL;
    }
    if (!to) {
        to = &pass->piece[pass->count++];
        *to = *piece;
    } else {
        to->seconds += piece->seconds;
        to->bytes += piece->bytes;
        weir_wire_parts_add(&to->parts, &piece->parts, 1);
        to->flop += piece->flop;
        to->count += piece->count;
    }
    bool is_beside = piece->kind == WEIR_PIECE_HIDDEN || piece->kind == WEIR_PIECE_COPIED;
    pass->seconds += is_beside ? 0 : piece->seconds;
}

void weir_pass_join(weir_pass_cost *pass, const weir_pass_cost *other, double times)
{
    for (uint32_t i = 0; i < other->count; i++) {
        weir_piece piece = other->piece[i];
        piece.seconds *= times;
        piece.bytes *= times;
        piece.parts = (weir_wire_parts){0};
        weir_wire_parts_add(&piece.parts, &other->piece[i].parts, times);
        piece.flop *= times;
        piece.count = (uint32_t)(piece.count * times);
        weir_pass_add(pass, &piece);
    }
    pass->flop += other->flop * times;
    pass->model_flop += other->model_flop * times;
}

static uint64_t rows_of_expert(const weir_op *op)
{
    uint64_t rows = op->batch > 0 ? op->m / op->batch : op->m;
    return rows > 0 ? rows : 1;
}

/* Experts one after another, each with kernels of its own. */
static bool is_looped(const weir_train_job *job, const weir_op *op)
{
    return op->kind == WEIR_OP_GROUPED_GEMM && op->batch > 1 && !job->stack.grouped_experts;
}

/* Of all experts of the device, whose rows hold the rank's load already; gradients of weights sum
 * over the rows of each. A few streams fill each other's tails, but no more of them run at once. */
static double grouped_s(const weir_train_job *job, const weir_op *op, weir_gemm_shape shape)
{
    weir_gemm_shape one = shape;
    double together_s, in_turn_s = 0;
    one.m = rows_of_expert(op);
    if (op->pass == WEIR_PASS_WGRAD && op->batch > 0) {
        one.k = one.m;
        one.m = op->k;
        shape = one;
        shape.batch = op->batch;
        together_s = weir_gemm_s(job->kernels, &shape);
    } else {
        together_s = weir_grouped_gemm_s(job->kernels, &shape, op->batch, 1);
    }
    if (is_looped(job, op)) {
        double rounds = fmax(1, (double)op->batch / job->chains->host.streams);
        in_turn_s = rounds * weir_gemm_s(job->kernels, &one);
    }
    return fmax(together_s, in_turn_s);
}

/* Kernels of all experts in blocks of FP8 or FP4 hold the activation, forward and backward, and
 * write what the next product reads (cuDNN's CuTeDSL kernels). */
static bool holds_activation(const weir_train_job *job)
{
    return job->stack.grouped_experts && job->plan.format > WEIR_GEMM_FP8;
}

static bool is_turned_before(const weir_train_job *job, const weir_op *op)
{
    weir_op_part fed =
        op->pass == WEIR_PASS_FORWARD ? WEIR_MODEL_PART_EXPERT_DOWN : WEIR_MODEL_PART_EXPERT_UP;
    return holds_activation(job) && op->pass != WEIR_PASS_WGRAD && op->part == fed;
}

/* Scales of blocks run along the dimension that is summed over: gradients of weights, which sum
 * over tokens, need both operands quantised once more, along the other dimension (DeepSeek-V3
 * report, arXiv 2412.19437, section 3.3.2; NVIDIA, arXiv 2506.08027, for MXFP8). */
static double columns_of(const weir_train_job *job, const weir_op *op, weir_gemm_format format)
{
    bool is_block = format == WEIR_GEMM_FP8_BLOCK || format == WEIR_GEMM_FP4;
    uint64_t tokens = op->kind == WEIR_OP_GROUPED_GEMM ? op->m : op->k;
    uint64_t sides = op->n + (op->kind == WEIR_OP_GROUPED_GEMM ? op->k : op->m);
    if (op->kind == WEIR_OP_GROUPED_GEMM && holds_activation(job)) {
        sides = job->model->hidden;
    }
    return is_block ? (double)tokens * (double)sides : 0;
}

static double gemm_s(const weir_train_job *job, const weir_op *op)
{
    const weir_kernel_times *k = job->kernels;
    const weir_train_stack *s = &job->stack;
    bool is_wide = op->part == WEIR_MODEL_PART_HEAD || op->kind == WEIR_OP_ROUTER;
    weir_gemm_format format =
        is_wide && job->plan.format > WEIR_GEMM_16 ? WEIR_GEMM_16 : job->plan.format;
    const weir_gemm_shape shape = {.m = op->m,
                                   .n = op->n,
                                   .k = op->k,
                                   .batch = op->kind == WEIR_OP_GROUPED_GEMM ? 1 : op->batch,
                                   .format = format,
                                   .accumulates =
                                       op->pass == WEIR_PASS_WGRAD && !s->separate_accumulation,
                                   .sums_rows = op->pass == WEIR_PASS_WGRAD};
    double seconds =
        op->kind == WEIR_OP_GROUPED_GEMM ? grouped_s(job, op, shape) : weir_gemm_s(k, &shape);
    seconds *= s->gemm_factor;
    if (!s->fused_quantise && !is_turned_before(job, op)) {
        double parts = is_looped(job, op) ? (double)op->batch : 1;
        double operand = op->pass == WEIR_PASS_WGRAD ? columns_of(job, op, format)
                                                     : (double)op->m * (double)op->k;
        seconds += s->memory_factor * parts *
                   weir_quantise_s(k, format, operand * (double)shape.batch / parts);
    }
    return seconds;
}

/* Scores and values as batched products of their own. */
static double unfused_attention_s(const weir_train_job *job, const weir_op *op)
{
    weir_gemm_shape scores = {
        .m = op->m, .n = op->n, .k = op->k, .batch = op->batch, .format = WEIR_GEMM_16};
    weir_gemm_shape values = scores;
    values.n = op->value_dim;
    values.k = op->n;
    double once = weir_gemm_s(job->kernels, &scores) + weir_gemm_s(job->kernels, &values);
    double times = op->pass == WEIR_PASS_FORWARD ? 1 : 2;
    return times * once * job->stack.attention_factor * job->stack.gemm_factor;
}

static double attention_s(const weir_train_job *job, const weir_op *op)
{
    if (job->stack.attention == WEIR_ATTENTION_UNFUSED) {
        return unfused_attention_s(job, op);
    }
    uint64_t heads = op->batch / (job->plan.micro_batch ? job->plan.micro_batch : 1);
    const weir_attention_shape shape = {.sequences = job->plan.micro_batch,
                                        .heads = heads ? heads : 1,
                                        .kv_heads = op->kv_heads,
                                        .queries = op->m,
                                        .keys = op->n,
                                        .qk_dim = op->k,
                                        .value_dim = op->value_dim,
                                        .pairs = op->pairs,
                                        .backward = op->pass != WEIR_PASS_FORWARD,
                                        .kernel = job->stack.attention,
                                        .format = WEIR_GEMM_16};
    return weir_attention_s(job->kernels, &shape) * job->stack.attention_factor;
}

static weir_cause cause_of(const weir_train_job *job, const weir_op *op)
{
    double bytes = op->bytes_read + op->bytes_written;
    weir_dtype dtype = weir_gemm_format_dtype(job->plan.format);
    switch (op->kind) {
    case WEIR_OP_GEMM:
    case WEIR_OP_GROUPED_GEMM:
    case WEIR_OP_ROUTER:
        if (weir_roofline_is_math(op->flop, bytes, weir_kernel_accelerator(job->kernels), dtype)) {
            return WEIR_CAUSE_COMPUTE_GEMM;
        }
        return 2 * (double)op->n * (double)op->k * (double)op->batch * 2 >= bytes
                   ? WEIR_CAUSE_CACHE_WEIGHTS
                   : WEIR_CAUSE_CACHE_ACTIVATIONS;
    case WEIR_OP_ATTENTION:
        return WEIR_CAUSE_COMPUTE_ATTENTION;
    default:
        return WEIR_CAUSE_CACHE_ACTIVATIONS;
    }
}

/* The chain of an operation in that stack. */
static const weir_chain_lengths *chain_of(const weir_train_job *job, const weir_op *op)
{
    const weir_train_stack *s = &job->stack;
    bool is_fused = op->kind == WEIR_OP_ATTENTION ? s->attention != WEIR_ATTENTION_UNFUSED
                    : op->kind == WEIR_OP_ROPE    ? s->fused_rope
                    : op->kind == WEIR_OP_LOSS    ? s->fused_loss
                                                  : s->fused_activation;
    return is_fused ? &job->chains->fused : &job->chains->eager;
}

/* What an all-to-all brought comes by rank and is laid out anew by expert, and back (Megatron Core,
 * moe/token_dispatcher.py: sort_chunks_by_idxs); DeepEP's kernels do it on the way. */
static bool sorts_chunks(const weir_train_job *job)
{
    return !job->stack.expert_deepep && job->plan.expert > 1 &&
           job->model->experts > job->plan.expert;
}

/* Tokens over rows: each is read once for all its experts of the device, and written so behind
 * them. A rank of DeepEP holds those that it got, others permute before they send. */
static double tokens_of_rows(const weir_train_job *job)
{
    double k = fmax(1, job->model->experts_per_token), ranks = job->plan.expert;
    bool once = job->stack.expert_deepep && ranks > 1;
    return once ? ranks * (1 - pow(1 - 1 / ranks, k)) / k : 1 / k;
}

/* Chains of kernels write and read again what is between. */
static double traffic_of(const weir_train_job *job, const weir_op *op)
{
    const weir_chain_lengths *chain = chain_of(job, op);
    switch (op->kind) {
    case WEIR_OP_ELEMENTWISE:
        return chain->elementwise_bytes;
    case WEIR_OP_NORM:
        return chain->norm_bytes;
    case WEIR_OP_ROPE:
        return chain->rope_bytes;
    case WEIR_OP_LOSS:
        return op->pass == WEIR_PASS_FORWARD ? chain->loss_bytes : chain->loss_backward_bytes;
    case WEIR_OP_PERMUTE:
        return (1 + tokens_of_rows(job)) / 2 + (sorts_chunks(job) ? 1 : 0);
    default:
        return 1;
    }
}

static bool is_held(const weir_train_job *job, const weir_op *op)
{
    return holds_activation(job) && op->part == WEIR_MODEL_PART_EXPERT_ACTIVATION;
}

static double op_s(const weir_train_job *job, const weir_op *op)
{
    switch (op->kind) {
    case WEIR_OP_GEMM:
    case WEIR_OP_GROUPED_GEMM:
    case WEIR_OP_ROUTER:
        return gemm_s(job, op);
    case WEIR_OP_ATTENTION:
        return attention_s(job, op);
    default:
        if (is_held(job, op)) {
            return 0;
        }
        return weir_memory_s(job->kernels,
                             (op->bytes_read + op->bytes_written) * traffic_of(job, op)) *
               job->stack.memory_factor;
    }
}

static uint32_t kernels_of_experts(const weir_train_job *job, const weir_op *op)
{
    const weir_chain_lengths *chain = chain_of(job, op);
    bool is_narrow = weir_quantise_s(job->kernels, job->plan.format, 1) > 0;
    bool turns = is_narrow && !job->stack.fused_quantise && op->pass != WEIR_PASS_WGRAD &&
                 !is_turned_before(job, op);
    bool has_blocks = is_narrow && job->plan.format > WEIR_GEMM_FP8;
    uint32_t each = chain->expert_product + (has_blocks ? chain->expert_reorder : 0) +
                    (turns ? chain->expert_cast : 0) +
                    (turns && !has_blocks ? chain->expert_scale : 0);
    return is_looped(job, op) ? (uint32_t)op->batch * each : each;
}

static uint32_t kernels_of(const weir_train_job *job, const weir_op *op)
{
    if (is_held(job, op)) {
        return 0;
    }
    const weir_chain_lengths *chain = chain_of(job, op);
    switch (op->kind) {
    case WEIR_OP_GEMM:
        return chain->product;
    case WEIR_OP_GROUPED_GEMM:
        return kernels_of_experts(job, op);
    case WEIR_OP_PERMUTE:
        return chain->permute;
    case WEIR_OP_ATTENTION:
        return op->pass == WEIR_PASS_FORWARD ? chain->attention_forward : chain->attention_backward;
    case WEIR_OP_SOFTMAX:
        return chain->softmax;
    case WEIR_OP_ROPE:
        return chain->rope;
    case WEIR_OP_NORM:
        return chain->norm;
    case WEIR_OP_ELEMENTWISE:
        return chain->elementwise;
    case WEIR_OP_ROUTER:
        return chain->router;
    case WEIR_OP_LOSS:
        return chain->loss;
    default:
        return chain->other;
    }
}

/* Rows of the mean rank of experts over those that the busiest one calculates, or that are padded;
 * both are 1 where they are the same. */
typedef struct {
    double busy, padded;
} expert_rows;

static expert_rows rows_over_mean(const weir_train_job *job, const weir_op *op)
{
    bool is_expert = op->part == WEIR_MODEL_PART_EXPERT_UP ||
                     op->part == WEIR_MODEL_PART_EXPERT_ACTIVATION ||
                     op->part == WEIR_MODEL_PART_EXPERT_DOWN ||
                     op->part == WEIR_MODEL_PART_DISPATCH || op->part == WEIR_MODEL_PART_COMBINE;
    double capacity = job->plan.capacity, load = job->plan.expert_load;
    return (expert_rows){.busy = is_expert && !(capacity > 0) && load > 1 ? load : 1,
                         .padded = is_expert && capacity > 1 ? capacity : 1};
}

/* The same with so many times fewer rows. */
static weir_op with_fewer_rows(const weir_op *op, double times)
{
    weir_op fewer = *op;
    fewer.m = (uint64_t)ceil((double)op->m / times);
    fewer.bytes_read /= times;
    fewer.bytes_written /= times;
    return fewer;
}

/* A pass takes as long as on the busiest rank; what the mean one calculates less, it waits in the
 * exchange behind (DESIGN 2.1). Rows that only fill up capacity are calculated for nothing. */
static double add_kernel(const weir_train_job *job, const weir_op *op, weir_cause cause,
                         weir_pass_cost *cost)
{
    expert_rows rows = rows_over_mean(job, op);
    double over = rows.busy * rows.padded, seconds = op_s(job, op);
    const weir_op mean = with_fewer_rows(op, over);
    double mean_s = over > 1 ? fmin(seconds, op_s(job, &mean)) : seconds;
    const weir_piece piece = {.kind = WEIR_PIECE_COMPUTE,
                              .cause = (uint8_t)cause,
                              .seconds = mean_s,
                              .flop = op->flop / over,
                              .count = kernels_of(job, op)};
    const weir_piece padding = {.kind = WEIR_PIECE_COMPUTE,
                                .cause = WEIR_CAUSE_COMPUTE_REDUNDANT,
                                .seconds = rows.padded > 1 ? seconds - mean_s : 0,
                                .flop = op->flop - op->flop / over};
    const weir_piece waiting = {.kind = WEIR_PIECE_IDLE,
                                .cause = WEIR_CAUSE_DEPENDENCY_STRAGGLER,
                                .seconds = rows.busy > 1 ? seconds - mean_s : 0};
    weir_pass_add(cost, &piece);
    weir_pass_add(cost, &padding);
    weir_pass_add(cost, &waiting);
    cost->flop += op->flop / rows.busy;
    cost->model_flop += cause == WEIR_CAUSE_COMPUTE_REDUNDANT ? 0 : op->model_flop / over;
    return seconds;
}

/* Kernels of a graph are launched together, with its first. */
static double launches_of(const weir_train_job *job, const weir_op *op)
{
    const weir_train_stack *s = &job->stack;
    bool is_attention =
        op->part >= WEIR_MODEL_PART_ATTENTION_NORM && op->part <= WEIR_MODEL_PART_ATTENTION_ADD;
    bool is_router = op->part == WEIR_MODEL_PART_NETWORK_NORM || op->part == WEIR_MODEL_PART_ROUTER;
    if (s->graphs_attention && is_attention) {
        return op->part == WEIR_MODEL_PART_CORE ? 1 : 0;
    }
    if (s->graphs_router && is_router) {
        return op->part == WEIR_MODEL_PART_NETWORK_NORM ? 1 : 0;
    }
    return kernels_of(job, op);
}

weir_queue_item weir_train_queue_item(const weir_train_job *job, const weir_op *op)
{
    return (weir_queue_item){.launches = launches_of(job, op), .device_s = op_s(job, op)};
}

weir_kernel_sum weir_train_kernels(const weir_train_job *job, const weir_op_list *list,
                                   weir_op_pass pass, bool is_redundant, weir_pass_cost *cost)
{
    weir_kernel_sum sum = {0};
    for (uint32_t i = 0; i < list->count; i++) {
        const weir_op *op = &list->op[i];
        if (op->pass != pass) {
            continue;
        }
        weir_cause cause = is_redundant ? WEIR_CAUSE_COMPUTE_REDUNDANT : cause_of(job, op);
        double seconds = add_kernel(job, op, cause, cost);
        sum.all += seconds;
        sum.launches += launches_of(job, op);
        bool is_product = op->kind == WEIR_OP_GEMM || op->kind == WEIR_OP_GROUPED_GEMM;
        sum.gemm += is_product ? seconds : 0;
        sum.attention += op->kind == WEIR_OP_ATTENTION ? seconds : 0;
    }
    return sum;
}
