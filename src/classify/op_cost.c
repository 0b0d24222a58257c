#include "classify/op_cost.h"

enum { INPUTS = 12, DIMS = 6 };

typedef struct {
    double dims[DIMS];
    uint32_t rank; /* 0: no tensor, a scalar, or a list of tensors */
} shape;

typedef struct {
    shape inputs[INPUTS];
    uint32_t count;
    weir_str types, concrete; /* JSON lists */
} arguments;

/* --- the recorded text --------------------------------------------------------------------- */

/* No dimension of a real tensor is longer; a damaged one must not overflow what follows. */
static double append_digit(double number, char digit)
{
    return number > 1e12 ? number : number * 10 + (digit - '0');
}

/* One more digit of a dimension. */
static void add_digit(shape *s, bool first, char digit)
{
    if (!s || s->rank > DIMS) {
        return;
    }
    s->rank += first;
    if (s->rank <= DIMS) {
        double *dim = &s->dims[s->rank - 1];
        *dim = append_digit(first ? 0 : *dim, digit);
    }
}

/* [[15360, 4096], [4096, 6144], []]; a list of tensors, or more dimensions than any operand that is
 * counted has, becomes rank 0. */
static void read_shapes(weir_str text, arguments *a)
{
    uint32_t depth = 0;
    shape *now = NULL;
    bool in_number = false;
    for (uint32_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool digit = c >= '0' && c <= '9';
        if (digit && depth == 2) {
            add_digit(now, !in_number, c);
        }
        in_number = digit;
        if (c == '[' && ++depth == 2) {
            now = a->count < INPUTS ? &a->inputs[a->count++] : NULL;
        } else if (c == '[' && depth > 2 && now) {
            now->rank = DIMS + 1;
        } else if (c == ']') {
            depth -= depth > 0;
        }
        if (c == ']' && depth == 1 && now && now->rank > DIMS) {
            now->rank = 0;
        }
    }
}

/* The i-th item of a flat JSON list of strings, without its quotes. */
static weir_str list_item(weir_str list, uint32_t index)
{
    uint32_t i = 0, seen = 0;
    while (i < list.n) {
        if (list.p[i++] != '"') {
            continue;
        }
        uint32_t begin = i;
        while (i < list.n && list.p[i] != '"') {
            i += list.p[i] == '\\' ? 2 : 1;
        }
        if (i < list.n && seen++ == index) {
            return (weir_str){list.p + begin, i - begin};
        }
        i++;
    }
    return (weir_str){"", 0};
}

static uint32_t read_numbers(weir_str text, double *out, uint32_t max)
{
    uint32_t n = 0;
    bool in_number = false;
    for (uint32_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c >= '0' && c <= '9') {
            if (!in_number) {
                if (n == max) {
                    return n;
                }
                out[n++] = 0;
            }
            out[n - 1] = append_digit(out[n - 1], c);
            in_number = true;
        } else {
            in_number = false;
        }
    }
    return n;
}

/* The end of the JSON value that begins at from: the newline after it, or the end of text. Values
 * may hold newlines themselves (traces that a person's tool has indented). */
static uint32_t value_end(weir_str text, uint32_t from)
{
    uint32_t depth = 0;
    bool quoted = false;
    for (uint32_t i = from; i < text.n; i++) {
        char c = text.p[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '\n' && depth == 0) {
            return i;
        } else {
            quoted = c == '"';
            depth += c == '[';
            depth -= c == ']' && depth > 0;
        }
    }
    return text.n;
}

static arguments read_arguments(weir_str detail)
{
    arguments a = {.count = 0};
    uint32_t first = value_end(detail, 0);
    uint32_t second = value_end(detail, first + (first < detail.n));
    read_shapes((weir_str){detail.p, first}, &a);
    if (first < detail.n) {
        a.types = (weir_str){detail.p + first + 1, second - first - 1};
    }
    if (second < detail.n) {
        a.concrete = (weir_str){detail.p + second + 1, detail.n - second - 1};
    }
    return a;
}

static bool read_dtype(const arguments *a, uint32_t input, weir_dtype *dtype)
{
    static const struct {
        weir_str text;
        weir_dtype dtype;
    } known[] = {
        {{"BFloat16", 8}, WEIR_DTYPE_BF16},     {{"Half", 4}, WEIR_DTYPE_FP16},
        {{"Float8", 6}, WEIR_DTYPE_FP8},        {{"Float4", 6}, WEIR_DTYPE_FP4},
        {{"double", 6}, WEIR_DTYPE_FP64},       {{"float", 5}, WEIR_DTYPE_FP32},
        {{"signed char", 11}, WEIR_DTYPE_INT8},
    };
    weir_str type = list_item(a->types, input);
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (weir_str_has(type, known[i].text)) {
            *dtype = known[i].dtype;
            return true;
        }
    }
    return false;
}

static void set_dtype(const arguments *a, uint32_t input, op_cost *cost)
{
    cost->dtype = WEIR_DTYPE_FP32;
    cost->has_dtype = read_dtype(a, input, &cost->dtype);
}

static double element_bytes(const op_cost *cost)
{
    return weir_dtype_bits(cost->dtype) / 8.0;
}

/* Products of narrow formats are written in 16 bits. */
static double result_bytes(const op_cost *cost)
{
    double bytes = element_bytes(cost);
    return bytes < 2 ? 2 : bytes;
}

static double product(const shape *s, uint32_t from, uint32_t to)
{
    double p = 1;
    for (uint32_t i = from; i < to; i++) {
        p *= s->dims[i];
    }
    return p;
}

/* --- matrix products ------------------------------------------------------------------------ */

/* a [.., M, K] times b [K, N], [N, K], [.., K, N] or [.., N, K]. */
static bool gemm_cost(const arguments *args, uint32_t ia, uint32_t ib, op_cost *cost)
{
    if (ib >= args->count) {
        return false;
    }
    const shape *a = &args->inputs[ia], *b = &args->inputs[ib];
    if (a->rank < 2 || b->rank < 2) {
        return false;
    }
    weir_dtype weights;
    set_dtype(args, ia, cost);
    double k = a->dims[a->rank - 1], last = b->dims[b->rank - 1], before = b->dims[b->rank - 2];
    double n = before == k ? last : before;
    double rows = product(a, 0, a->rank - 1), b_elements = product(b, 0, b->rank);
    if ((before != k && last != k) || k <= 0 || n <= 0 || rows <= 0) {
        return false;
    }
    double weight_bytes =
        read_dtype(args, ib, &weights) ? weir_dtype_bits(weights) / 8.0 : element_bytes(cost);
    cost->kind = OP_GEMM;
    cost->flop = 2 * rows * k * n;
    cost->weight_bytes = b_elements * weight_bytes;
    cost->bytes =
        rows * k * element_bytes(cost) + cost->weight_bytes + rows * n * result_bytes(cost);
    return true;
}

/* --- convolution ----------------------------------------------------------------------------- */

typedef struct {
    double elements; /* of the side that has one dot product for each element */
    double others;   /* elements of the other side; 0 = not recorded */
    double passes;   /* how many products of this size the operation makes */
    uint32_t typed;  /* the argument that tells the format */
} convolution_work;

/* weight: [out, in / groups, ..] */
static bool convolution_cost(const arguments *args, convolution_work work, const shape *weight,
                             op_cost *cost)
{
    double weights = product(weight, 0, weight->rank);
    if (weight->rank < 3 || work.elements <= 0 || weights <= 0 || work.passes <= 0) {
        return false;
    }
    set_dtype(args, work.typed, cost);
    cost->kind = OP_CONVOLUTION;
    cost->flop = work.passes * 2 * work.elements * product(weight, 1, weight->rank);
    cost->weight_bytes = work.passes * weights * element_bytes(cost);
    cost->bytes =
        cost->weight_bytes + work.passes * (work.elements + work.others) * element_bytes(cost);
    return true;
}

/* Where the lists of an operation's signature stand among its arguments. */
typedef struct {
    uint32_t stride, padding, dilation, transposed; /* WEIR_NONE: has none */
} convolution_layout;

static bool forward_convolution(const arguments *args, convolution_layout at, op_cost *cost)
{
    const shape *input = &args->inputs[0], *weight = &args->inputs[1];
    double stride[DIMS], padding[DIMS], dilation[DIMS];
    if (args->count < 2 || input->rank < 3 || input->rank != weight->rank) {
        return false;
    }
    uint32_t space = input->rank - 2;
    if (at.transposed != WEIR_NONE &&
        weir_str_eq(list_item(args->concrete, at.transposed), WEIR_STR("True"))) {
        convolution_work whole = {.elements = product(input, 0, input->rank), .passes = 1};
        return convolution_cost(args, whole, weight, cost);
    }
    if (read_numbers(list_item(args->concrete, at.stride), stride, DIMS) != space ||
        read_numbers(list_item(args->concrete, at.padding), padding, DIMS) != space ||
        read_numbers(list_item(args->concrete, at.dilation), dilation, DIMS) != space) {
        return false;
    }
    double elements = input->dims[0] * weight->dims[0];
    for (uint32_t i = 0; i < space; i++) {
        double reach = dilation[i] * (weight->dims[i + 2] - 1) + 1;
        double room = input->dims[i + 2] + 2 * padding[i] - reach;
        if (room < 0 || stride[i] <= 0) {
            return false;
        }
        elements *= (double)(uint64_t)(room / stride[i]) + 1;
    }
    convolution_work work = {elements, product(input, 0, input->rank), 1, 0};
    return convolution_cost(args, work, weight, cost);
}

/* aten::convolution_backward(grad_output, input, weight, .., output_mask). */
static bool backward_convolution(const arguments *args, op_cost *cost)
{
    if (args->count < 3) {
        return false;
    }
    weir_str mask = list_item(args->concrete, 10);
    double passes = 2;
    if (mask.n > 0) { /* [input, weight, bias] */
        uint32_t first = weir_str_find(mask, WEIR_STR(","), 0);
        uint32_t second = weir_str_find(mask, WEIR_STR(","), first + (first < mask.n));
        bool input = weir_str_has((weir_str){mask.p, first}, WEIR_STR("True"));
        bool weight = weir_str_has((weir_str){mask.p + first, second - first}, WEIR_STR("True"));
        passes = (double)input + (double)weight;
    }
    const shape *grad = &args->inputs[0], *input = &args->inputs[1];
    convolution_work work = {product(grad, 0, grad->rank), product(input, 0, input->rank), passes,
                             0};
    return grad->rank >= 3 && convolution_cost(args, work, &args->inputs[2], cost);
}

static bool any_convolution(weir_str name, const arguments *args, op_cost *cost)
{
    if (weir_str_has(name, WEIR_STR("convolution_backward_input"))) { /* (size, grad, weight) */
        const shape *grad = &args->inputs[1];
        convolution_work work = {product(grad, 0, grad->rank), 0, 1, 1};
        return args->count > 2 && grad->rank >= 3 &&
               convolution_cost(args, work, &args->inputs[2], cost);
    }
    if (weir_str_has(name, WEIR_STR("convolution_backward"))) {
        return weir_str_ends(name, WEIR_STR("convolution_backward")) &&
               backward_convolution(args, cost);
    }
    if (weir_str_ends(name, WEIR_STR("cudnn_convolution"))) {
        return forward_convolution(args, (convolution_layout){3, 2, 4, WEIR_NONE}, cost);
    }
    if (weir_str_ends(name, WEIR_STR("miopen_convolution")) ||
        weir_str_ends(name, WEIR_STR("miopen_depthwise_convolution"))) {
        return forward_convolution(args, (convolution_layout){4, 3, 5, WEIR_NONE}, cost);
    }
    if (weir_str_ends(name, WEIR_STR("::convolution")) ||
        weir_str_ends(name, WEIR_STR("::_convolution"))) {
        return forward_convolution(args, (convolution_layout){3, 4, 5, 6}, cost);
    }
    return false;
}

/* --- attention ------------------------------------------------------------------------------- */

typedef struct {
    double batch, heads, queries, keys, head_dim, value_elements;
} attention_shape;

static bool read_attention(weir_str name, const arguments *args, uint32_t first,
                           attention_shape *out)
{
    if (args->count < first + 3) {
        return false;
    }
    const shape *q = &args->inputs[first], *k = q + 1, *v = q + 2;
    /* Operations of torch.nn.functional have [batch, heads, tokens, dim], kernels' own wrappers
     * [batch, tokens, heads, dim], packed sequences [tokens, heads, dim] and their bounds. */
    if (q->rank == 4 && k->rank == 4 && v->rank == 4) {
        bool heads_first = weir_str_has(name, WEIR_STR("scaled_dot_product"));
        uint32_t tokens = heads_first ? 2 : 1, heads = heads_first ? 1 : 2;
        if (q->dims[0] != k->dims[0]) {
            return false; /* a paged cache, not the keys of these queries */
        }
        *out = (attention_shape){q->dims[0],      q->dims[heads], q->dims[tokens],
                                 k->dims[tokens], q->dims[3],     product(v, 0, 4)};
        return true;
    }
    const shape *bounds = first + 3 < args->count ? q + 3 : NULL;
    bool packed = weir_str_has(name, WEIR_STR("varlen")) ||
                  weir_str_has(name, WEIR_STR("_flash_attention_")) ||
                  weir_str_has(name, WEIR_STR("_efficient_attention_"));
    if (packed && q->rank == 3 && k->rank == 3 && v->rank == 3 && bounds && bounds->rank == 1 &&
        bounds->dims[0] > 1) {
        double batch = bounds->dims[0] - 1; /* taken to be equally long */
        *out =
            (attention_shape){batch,      q->dims[1],      q->dims[0] / batch, k->dims[0] / batch,
                              q->dims[2], product(v, 0, 3)};
        return true;
    }
    return false;
}

static bool is_causal(weir_str name, const arguments *args, uint32_t first)
{
    static const struct {
        weir_str part;
        uint32_t at; /* of is_causal, after the queries */
    } signatures[] = {
        {{"_scaled_dot_product_flash_attention", 35}, 4},
        {{"_scaled_dot_product_efficient_attention", 39}, 6},
        {{"_scaled_dot_product_cudnn_attention", 35}, 6},
        {{"_flash_attention_forward", 24}, 8},
    };
    for (uint32_t i = 0; i < sizeof signatures / sizeof *signatures && first == 0; i++) {
        if (weir_str_ends(name, signatures[i].part)) {
            return weir_str_eq(list_item(args->concrete, signatures[i].at), WEIR_STR("True"));
        }
    }
    return false;
}

static bool attention_cost(weir_str name, const arguments *args, op_cost *cost)
{
    attention_shape s;
    bool backward = weir_str_has(name, WEIR_STR("backward")) || weir_str_has(name, WEIR_STR("bwd"));
    uint32_t first = backward ? 1 : 0; /* the gradient of the output stands before */
    if (!read_attention(name, args, first, &s) || s.batch <= 0 || s.queries <= 0 || s.keys <= 0) {
        return false;
    }
    set_dtype(args, first, cost);
    /* Two products forward; backward five: one is computed again (Dao et al., FlashAttention,
     * NeurIPS 2022, algorithm 4). A causal mask halves them. */
    double half = is_causal(name, args, first) && s.queries == s.keys ? 0.5 : 1;
    double passes = backward ? 2.5 : 1;
    double q_elements = s.batch * s.queries * s.heads * s.head_dim;
    cost->kind = OP_ATTENTION;
    cost->flop = passes * half * 4 * q_elements * s.keys;
    cost->weight_bytes = passes * 2 * s.value_elements * element_bytes(cost);
    cost->bytes = cost->weight_bytes + passes * 2 * q_elements * element_bytes(cost);
    cost->queries = s.queries;
    cost->keys = s.keys;
    return true;
}

/* --- which operation it is -------------------------------------------------------------------- */

static bool ends_with_one_of(weir_str name, const weir_str *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (weir_str_ends(name, words[i])) {
            return true;
        }
    }
    return false;
}

bool op_cost_read(weir_str name, weir_str detail, op_cost *cost)
{
    static const weir_str second_and_third[] = {{"::addmm", 7},
                                                {"::addmm_", 8},
                                                {"::_addmm_activation", 19},
                                                {"::baddbmm", 9},
                                                {"::baddbmm_", 10}};
    op_cost made = {0};
    arguments args = read_arguments(detail);
    bool known;
    if (weir_str_has(name, WEIR_STR("conv"))) {
        known = any_convolution(name, &args, &made);
    } else if (weir_str_has(name, WEIR_STR("attention")) || weir_str_has(name, WEIR_STR("attn")) ||
               weir_str_has(name, WEIR_STR("fmha")) || weir_str_has(name, WEIR_STR("mha_"))) {
        known = attention_cost(name, &args, &made);
    } else if (weir_str_has(name, WEIR_STR("moe"))) {
        known = false; /* how many rows go to which expert is not in the shapes */
    } else if (ends_with_one_of(name, second_and_third, 5)) {
        known = gemm_cost(&args, 1, 2, &made);
    } else {
        known = gemm_cost(&args, 0, 1, &made);
    }
    known =
        known && made.flop < 1e30 && made.bytes > 0; /* what no device does in a year is damage */
    if (known) {
        *cost = made;
    }
    return known;
}
