#include "classify/classify.h"
#include "classify/kernel_name.h"
#include "classify/op_cost.h"
#include "classify/op_index.h"
#include "classify/step_index.h"
#include "machine/roofline.h"
#include "timeline/comm_names.h"

#include <stdlib.h>

enum {
    /* Query heads that share one KV head where nothing tells: Llama 3 70B, Qwen 2.5 72B and gpt-oss
     * have 64 / 8 (config.json: num_attention_heads / num_key_value_heads). */
    QUERIES_A_KEY_HEAD = 8,
    /* Experts for each one that a token goes to: DeepSeek-V3 256 / 8, gpt-oss-120b 128 / 4; the
     * widest of the common ones, so that rows are rather counted too few. */
    EXPERTS_A_CHOICE = 32,
    MEMO_ROWS = 1024, /* a power of two */
};

typedef struct {
    const weir_timeline *t;
    weir_spans spans;
    const weir_lane *lanes;
    const weir_name_classes *names;
    const weir_span_id *launch;
    const weir_comm_kind *instance_kind;
    weir_accelerators *known;
    const weir_accelerator **accelerators; /* by rank; NULL = unknown device */
    const weir_rank *ranks;
    op_index *ops;
    step_index *steps;
    uint32_t *hint_of;       /* by name: 1 + row of hints, 0 = not read yet */
    kernel_name_hint *hints; /* of the names that are GEMMs, convolutions, attention */
    uint32_t hint_count;
    struct cost_memo *memo; /* MEMO_ROWS of them; a trace repeats few shapes */
    weir_span_classes *out;
} context;

/* The cost of an operation with these shapes, as read before. */
struct cost_memo {
    weir_name_id name;
    uint32_t detail; /* 0 = free row */
    bool counted;
    op_cost cost;
};

/* What was found out about one span. */
typedef struct {
    weir_class cls;
    weir_cause cause;
    weir_evidence evidence;
} finding;

/* --- set-up --------------------------------------------------------------------------------- */

void weir_span_classes_clear(weir_span_classes *spans)
{
    free(spans->cls);
    free(spans->cause);
    free(spans->evidence);
    free(spans->flop);
    *spans = (weir_span_classes){0};
}

static const weir_accelerator *accelerator_of(const weir_timeline *t, const weir_rank *rank,
                                              const weir_accelerators *known)
{
    return weir_accelerators_find(known, weir_timeline_name(t, rank->device_name), rank->sm_count,
                                  rank->device_memory_bytes);
}

static bool can_have_shapes(const weir_name_class *name)
{
    return name->is_gemm || name->is_attention || name->cause == WEIR_CAUSE_COMPUTE_CONVOLUTION ||
           name->cause == WEIR_CAUSE_COMPUTE_ATTENTION;
}

static bool fits(const weir_name_class *name, op_kind kind)
{
    switch (kind) {
    case OP_GEMM:
        return name->is_gemm;
    case OP_CONVOLUTION: /* also as a matrix product */
        return name->is_gemm || name->cause == WEIR_CAUSE_COMPUTE_CONVOLUTION;
    default:
        return name->is_attention || name->cause == WEIR_CAUSE_COMPUTE_ATTENTION;
    }
}

/* Reads each name that needs it once; 8 bytes a hint. */
static weir_code read_hints(context *c, weir_err *err)
{
    uint32_t count = 0;
    for (weir_name_id n = 0; n < c->names->name_count; n++) {
        count += can_have_shapes(&c->names->names[n]);
    }
    c->hint_of = calloc((size_t)c->names->name_count + 1, sizeof *c->hint_of);
    c->hints = calloc((size_t)count + 1, sizeof *c->hints);
    if (!c->hint_of || !c->hints) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to classify kernels");
    }
    for (weir_name_id n = 0; n < c->names->name_count; n++) {
        if (can_have_shapes(&c->names->names[n])) {
            c->hints[c->hint_count++] = kernel_name_read(weir_timeline_name(c->t, n));
            c->hint_of[n] = c->hint_count;
        }
    }
    return WEIR_OK;
}

static weir_code set_up(context *c, weir_err *err)
{
    uint32_t rank_count, n = c->spans.device_count;
    weir_span_classes *out = c->out;
    weir_code code = weir_accelerators_load(&c->known, err);
    if (code != WEIR_OK) {
        return code;
    }
    c->ranks = weir_timeline_ranks(c->t, &rank_count);
    c->accelerators = calloc((size_t)rank_count + 1, sizeof *c->accelerators);
    c->ops = op_index_new(c->t);
    c->steps = step_index_new(c->t);
    c->memo = calloc(MEMO_ROWS, sizeof *c->memo);
    *out = (weir_span_classes){.cls = calloc((size_t)n + 1, 1),
                               .cause = calloc((size_t)n + 1, 1),
                               .evidence = calloc((size_t)n + 1, 1),
                               .span_count = n};
    bool shapes = c->ops && !op_index_is_empty(c->ops);
    if (shapes) {
        out->flop = calloc((size_t)n + 1, sizeof *out->flop);
    }
    if (!c->accelerators || !c->ops || !c->steps || !c->memo || !out->cls || !out->cause ||
        !out->evidence || (shapes && !out->flop)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to classify %u spans", n);
    }
    for (weir_rank_id r = 0; r < rank_count; r++) {
        c->accelerators[r] = accelerator_of(c->t, &c->ranks[r], c->known);
    }
    return read_hints(c, err);
}

static void tear_down(context *c)
{
    weir_accelerators_free(c->known);
    op_index_free(c->ops);
    step_index_free(c->steps);
    free(c->accelerators);
    free(c->hint_of);
    free(c->hints);
    free(c->memo);
}

/* --- evidence, the best first ------------------------------------------------------------------
 */

/* Which memory traffic a kernel under the ridge waits for: its larger operand's. */
static weir_cause memory_cause(const op_cost *cost)
{
    if (cost->kind == OP_ATTENTION) {
        return cost->queries * QUERIES_A_KEY_HEAD <= cost->keys ? WEIR_CAUSE_CACHE_KV
                                                                : WEIR_CAUSE_CACHE_ACTIVATIONS;
    }
    return 2 * cost->weight_bytes >= cost->bytes ? WEIR_CAUSE_CACHE_WEIGHTS
                                                 : WEIR_CAUSE_CACHE_ACTIVATIONS;
}

static weir_cause math_cause(op_kind kind)
{
    return kind == OP_GEMM          ? WEIR_CAUSE_COMPUTE_GEMM
           : kind == OP_CONVOLUTION ? WEIR_CAUSE_COMPUTE_CONVOLUTION
                                    : WEIR_CAUSE_COMPUTE_ATTENTION;
}

static bool cost_of(const context *c, weir_span_id s, op_cost *cost, uint32_t *slot)
{
    const weir_name_class *name = &c->names->names[c->spans.name[s]];
    weir_rank_id rank = c->lanes[c->spans.lane[s]].rank;
    weir_span_id op = op_index_find(c->ops, rank, c->spans.external[s], slot);
    if (op == WEIR_NONE) {
        return false;
    }
    weir_name_id op_name = c->spans.name[op];
    uint32_t detail = c->spans.detail[op];
    struct cost_memo *memo = &c->memo[(detail * 31 + op_name) & (MEMO_ROWS - 1)];
    if (memo->detail != detail || memo->name != op_name) {
        memo->name = op_name;
        memo->detail = detail;
        memo->counted = op_cost_read(weir_timeline_name(c->t, op_name),
                                     weir_timeline_name(c->t, detail), &memo->cost);
    }
    *cost = memo->cost;
    return memo->counted && fits(name, cost->kind);
}

/* Types of the operation, refined by the kernel: fp32 inputs may be multiplied as tf32. */
static weir_dtype dtype_of(const op_cost *cost, const kernel_name_hint *hint)
{
    if (!cost->has_dtype || (cost->dtype == WEIR_DTYPE_FP32 && hint->dtype == WEIR_DTYPE_TF32)) {
        return hint->has_dtype ? hint->dtype : WEIR_DTYPE_FP32;
    }
    return cost->dtype;
}

static bool find_by_shape(const context *c, weir_span_id s, const weir_accelerator *accelerator,
                          const kernel_name_hint *hint, finding *f)
{
    op_cost cost;
    uint32_t slot;
    if (op_index_is_empty(c->ops) || !cost_of(c, s, &cost, &slot)) {
        return false;
    }
    uint32_t kernels = op_index_kernels(c->ops, slot);
    c->out->flop[s] = (float)(cost.flop / (kernels ? kernels : 1));
    weir_bound bound =
        weir_roofline_bound(cost.flop / cost.bytes, accelerator, c->known, dtype_of(&cost, hint));
    if (bound == WEIR_BOUND_UNKNOWN) {
        return false;
    }
    *f = bound == WEIR_BOUND_MATH
             ? (finding){WEIR_CLASS_MATH, math_cause(cost.kind), WEIR_BY_SHAPE}
             : (finding){WEIR_CLASS_MEMORY, memory_cause(&cost), WEIR_BY_SHAPE};
    return true;
}

static const step_mark *step_of(const context *c, weir_span_id s, step_need need)
{
    weir_span_id launch = c->launch ? c->launch[s] : WEIR_NONE;
    if (launch == WEIR_NONE) {
        return NULL;
    }
    return step_index_find(c->steps, c->spans.lane[launch], c->spans.start_ns[launch], need);
}

/* rows: FLOP per byte of a product whose other sides are long is 2 x rows / bytes of a weight. */
static weir_bound bound_of_rows(const context *c, double rows, const kernel_name_hint *hint,
                                const weir_accelerator *accelerator)
{
    return weir_roofline_bound(2 * rows / (hint->weight_bits / 8.0), accelerator, c->known,
                               hint->dtype);
}

static bool find_by_marker(const context *c, weir_span_id s, const weir_accelerator *accelerator,
                           const kernel_name_hint *hint, finding *f)
{
    const weir_name_class *name = &c->names->names[c->spans.name[s]];
    const step_mark *mark = step_of(c, s, name->is_gemm ? STEP_WITH_TOKENS : STEP_WITH_QUERIES);
    if (!mark) {
        return false;
    }
    if (!name->is_gemm) {
        /* Each key and value is read once for all query heads of its group, in 16 bits. */
        weir_bound bound = weir_roofline_bound(mark->query_tokens * QUERIES_A_KEY_HEAD, accelerator,
                                               c->known, WEIR_DTYPE_BF16);
        if (bound != WEIR_BOUND_UNKNOWN) {
            bool math = bound == WEIR_BOUND_MATH;
            *f = (finding){math ? WEIR_CLASS_MATH : WEIR_CLASS_MEMORY,
                           math ? WEIR_CAUSE_COMPUTE_ATTENTION : WEIR_CAUSE_CACHE_KV,
                           WEIR_BY_MARKER};
        }
        return bound != WEIR_BOUND_UNKNOWN;
    }
    /* The head's product over the vocabulary has fewer rows in prefill than the step has tokens:
     * only shapes tell that. */
    double most = mark->tokens, least = name->is_experts ? most / EXPERTS_A_CHOICE : most;
    if (bound_of_rows(c, most, hint, accelerator) == WEIR_BOUND_MEMORY) {
        *f = (finding){WEIR_CLASS_MEMORY, WEIR_CAUSE_CACHE_WEIGHTS, WEIR_BY_MARKER};
        return true;
    }
    if (bound_of_rows(c, least, hint, accelerator) != WEIR_BOUND_MATH) {
        return false;
    }
    *f = (finding){WEIR_CLASS_MATH, WEIR_CAUSE_COMPUTE_GEMM, WEIR_BY_MARKER};
    return true;
}

/* Blocks and tile bound the shorter side of the result from above, so they can only settle that a
 * product is under the ridge. */
static bool find_by_tile(const context *c, weir_span_id s, const weir_accelerator *accelerator,
                         const kernel_name_hint *hint, finding *f)
{
    const weir_shape *shape = weir_timeline_shape_of(c->t, s);
    double ridge = accelerator ? weir_roofline_ridge(accelerator, hint->dtype) : 0;
    if (!shape || !hint->one_block_a_tile || !hint->tile[0] || !hint->has_dtype || ridge <= 0 ||
        shape->grid[0] == 0 || shape->grid[2] > 1) {
        return false;
    }
    /* Squares, so that no root is needed: shorter side ^ 2 <= area. One column of blocks has a side
     * of one tile; one row of them may as well be a square in another order. */
    double columns = shape->grid[0], lines = shape->grid[1] ? shape->grid[1] : 1;
    double longer = hint->tile[0] > hint->tile[1] ? hint->tile[0] : hint->tile[1];
    double square = columns * lines * hint->tile[0] * hint->tile[1];
    if (columns == 1 && lines > 1 && longer * longer < square) {
        square = longer * longer;
    }
    double rows_at_ridge = ridge * (hint->weight_bits / 8.0) / 2;
    if (square >= rows_at_ridge * rows_at_ridge) {
        return false;
    }
    *f = (finding){WEIR_CLASS_MEMORY, WEIR_CAUSE_CACHE_WEIGHTS, WEIR_BY_NAME};
    return true;
}

/* --- one span --------------------------------------------------------------------------------- */

static finding classify_comm(const context *c, weir_span_id s, const weir_name_class *name)
{
    const weir_comm *comm = weir_timeline_comm_of(c->t, s);
    const weir_shape *shape = weir_timeline_shape_of(c->t, s);
    if (shape && shape->told_cause) { /* by a simulation */
        return (finding){WEIR_CLASS_COMM, (weir_cause)(shape->told_cause - 1), WEIR_BY_COUNTED};
    }
    weir_comm_kind kind = c->instance_kind ? c->instance_kind[s] : WEIR_COMM_UNKNOWN;
    if (kind == WEIR_COMM_UNKNOWN && comm) {
        kind = comm->kind;
    }
    if (kind == WEIR_COMM_UNKNOWN) {
        kind = name->comm;
    }
    return (finding){WEIR_CLASS_COMM, weir_comm_cause(kind), WEIR_BY_NAME};
}

/* A simulation knows what bounds its kernels. */
static finding told_finding(weir_cause cause)
{
    bool is_memory = weir_cause_wait(cause) == WEIR_WAIT_CACHE;
    return (finding){is_memory ? WEIR_CLASS_MEMORY : WEIR_CLASS_MATH, cause, WEIR_BY_COUNTED};
}

static finding classify_kernel(const context *c, weir_span_id s)
{
    weir_name_id id = c->spans.name[s];
    const weir_name_class *name = &c->names->names[id];
    if (name->cls == WEIR_CLASS_COMM) {
        return classify_comm(c, s, name);
    }
    const weir_shape *shape = weir_timeline_shape_of(c->t, s);
    if (shape && shape->told_cause) {
        return told_finding((weir_cause)(shape->told_cause - 1));
    }
    finding f = {name->cls, name->cause, name->known ? WEIR_BY_NAME : WEIR_BY_NOTHING};
    if (can_have_shapes(name)) {
        const weir_accelerator *accelerator = c->accelerators[c->lanes[c->spans.lane[s]].rank];
        const kernel_name_hint *hint = &c->hints[c->hint_of[id] - 1];
        bool by_marker = name->is_gemm || name->is_attention;
        if (!find_by_shape(c, s, accelerator, hint, &f) &&
            !(by_marker && find_by_marker(c, s, accelerator, hint, &f)) && name->is_gemm &&
            !find_by_tile(c, s, accelerator, hint, &f)) {
            f = (finding){WEIR_CLASS_MATH, WEIR_CAUSE_COMPUTE_UNKNOWN, WEIR_BY_NOTHING};
        }
    }
    weir_span_id launch = c->launch ? c->launch[s] : WEIR_NONE;
    if (f.cls == WEIR_CLASS_MATH && launch != WEIR_NONE &&
        step_index_is_recomputed(c->steps, c->spans.lane[launch], c->spans.start_ns[launch])) {
        f.cause = WEIR_CAUSE_COMPUTE_REDUNDANT;
    }
    return f;
}

/* Kernels that share an operation share its FLOP. */
static void count_kernels(context *c)
{
    op_cost cost;
    uint32_t slot;
    for (weir_span_id s = 0; s < c->spans.device_count; s++) {
        if (c->spans.kind[s] == WEIR_SPAN_KERNEL &&
            can_have_shapes(&c->names->names[c->spans.name[s]]) && cost_of(c, s, &cost, &slot)) {
            op_index_count(c->ops, slot);
        }
    }
}

static finding classify_copy(const context *c, weir_span_id s)
{
    const weir_shape *shape = weir_timeline_shape_of(c->t, s);
    if (shape && shape->told_cause) { /* by a simulation */
        return (finding){WEIR_CLASS_COPY, (weir_cause)(shape->told_cause - 1), WEIR_BY_COUNTED};
    }
    return (finding){WEIR_CLASS_COPY, WEIR_CAUSE_CACHE_MEMCPY, WEIR_BY_NAME};
}

weir_code weir_classify_spans(const weir_timeline *t, const weir_name_classes *names,
                              const weir_span_id *launch, const weir_comm_kind *instance_kind,
                              weir_span_classes *spans, weir_err *err)
{
    uint32_t lane_count;
    weir_span_classes made = {0};
    context c = {.t = t,
                 .spans = weir_timeline_spans(t),
                 .lanes = weir_timeline_lanes(t, &lane_count),
                 .names = names,
                 .launch = launch,
                 .instance_kind = instance_kind,
                 .out = &made};
    weir_code code = set_up(&c, err);
    if (code == WEIR_OK && !op_index_is_empty(c.ops)) {
        count_kernels(&c);
    }
    for (weir_span_id s = 0; code == WEIR_OK && s < c.spans.device_count; s++) {
        finding f =
            c.spans.kind[s] == WEIR_SPAN_KERNEL ? classify_kernel(&c, s) : classify_copy(&c, s);
        made.cls[s] = (uint8_t)f.cls;
        made.cause[s] = (uint8_t)f.cause;
        made.evidence[s] = (uint8_t)f.evidence;
    }
    tear_down(&c);
    if (code != WEIR_OK) {
        weir_span_classes_clear(&made);
        return code;
    }
    *spans = made;
    return WEIR_OK;
}

double weir_classify_peak_flops(const weir_timeline *t, weir_rank_id rank)
{
    uint32_t rank_count;
    const weir_rank *ranks = weir_timeline_ranks(t, &rank_count);
    weir_accelerators *known = NULL;
    if (rank >= rank_count || weir_accelerators_load(&known, NULL) != WEIR_OK) {
        return 0;
    }
    const weir_accelerator *a = accelerator_of(t, &ranks[rank], known);
    double peak = 0;
    if (a) {
        double bf16 = a->peak_flop_per_s[WEIR_DTYPE_BF16],
               fp16 = a->peak_flop_per_s[WEIR_DTYPE_FP16];
        peak = bf16 > fp16 ? bf16 : fp16;
    }
    weir_accelerators_free(known);
    return peak;
}
