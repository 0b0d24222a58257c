#include "classify/step_mark.h"

/* A position in a name; every reader moves it only if it matches. */
typedef struct {
    weir_str text;
    uint32_t at;
} cursor;

static bool skip(cursor *c, weir_str word)
{
    weir_str rest = {c->text.p + c->at, c->text.n - c->at};
    if (!weir_str_starts(rest, word)) {
        return false;
    }
    c->at += word.n;
    return true;
}

static bool number(cursor *c, double *value)
{
    uint32_t begin = c->at;
    *value = 0;
    while (c->at < c->text.n && c->text.p[c->at] >= '0' && c->text.p[c->at] <= '9') {
        *value = *value * 10 + (c->text.p[c->at] - '0');
        c->at++;
    }
    return c->at > begin;
}

/* Moves behind the next occurrence of word. */
static bool seek(cursor *c, weir_str word)
{
    uint32_t at = weir_str_find(c->text, word, c->at);
    if (at == c->text.n) {
        return false;
    }
    c->at = at + word.n;
    return true;
}

static uint32_t clamp(double value)
{
    return value > 1e9 ? 1000000000u : (uint32_t)value;
}

/* Forward modes of SGLang's scheduler (sglang/srt/model_executor/forward_batch_info.py). One token
 * for each sequence in DECODE; verification and drafts have several, how many is not told. */
static const struct {
    weir_str word;
    bool prefill, decode, one_token;
} modes[] = {
    {{"DECODE", 6}, false, true, true},         {{"TARGET_VERIFY", 13}, false, true, false},
    {{"DRAFT_EXTEND", 12}, false, true, false}, {{"EXTEND", 6}, true, false, false},
    {{"PREFILL", 7}, true, false, false},       {{"MIXED", 5}, true, true, false},
};

/* step[EXTEND bs=15 toks=15360] */
static step_mark read_sglang(cursor c)
{
    step_mark mark = {.kind = STEP_NONE};
    double requests = 0, tokens = 0;
    for (uint32_t i = 0; i < sizeof modes / sizeof *modes && mark.kind == STEP_NONE; i++) {
        if (skip(&c, modes[i].word)) {
            mark = (step_mark){STEP_SIZED, modes[i].prefill, modes[i].decode, 0, 0};
            cursor sizes = c;
            if (seek(&sizes, WEIR_STR("bs=")) && !number(&sizes, &requests)) {
                requests = 0;
            }
            sizes = c;
            if (seek(&sizes, WEIR_STR("toks=")) && !number(&sizes, &tokens)) {
                tokens = 0;
            }
            mark.tokens = clamp(tokens > 0 ? tokens : modes[i].one_token ? requests : 0);
            mark.query_tokens = modes[i].one_token                 ? 1
                                : modes[i].decode || requests <= 0 ? 0
                                                                   : tokens / requests;
        }
    }
    return mark;
}

/* What stands in the parentheses of context_N(..) and generation_N(..). */
typedef struct {
    double requests, tokens, keys, products; /* products: sum of queries x keys */
} part;

/* "9(sq8155sk8430sqsq7475785sqsk7671310)", "1(888_788544)", "0(0)" */
static bool read_part(cursor *c, part *p)
{
    double ignored;
    *p = (part){0};
    if (!number(c, &p->requests) || !skip(c, WEIR_STR("("))) {
        return false;
    }
    if (skip(c, WEIR_STR("sq"))) {
        if (!number(c, &p->tokens) || !skip(c, WEIR_STR("sk")) || !number(c, &p->keys)) {
            return false;
        }
        if (skip(c, WEIR_STR("sqsq")) && number(c, &ignored) && skip(c, WEIR_STR("sqsk"))) {
            number(c, &p->products);
        }
    } else if (!number(c, &p->tokens)) {
        return false;
    }
    return seek(c, WEIR_STR(")"));
}

/* execute_[TOKENS_]context_PART_generation_PART */
static step_mark read_execute(cursor c)
{
    step_mark mark = {.kind = STEP_SIZED};
    part context, generation;
    double total = 0;
    if (number(&c, &total) && !skip(&c, WEIR_STR("_"))) {
        return (step_mark){.kind = STEP_NONE};
    }
    if (!skip(&c, WEIR_STR("context_")) || !read_part(&c, &context) ||
        !skip(&c, WEIR_STR("_generation_")) || !read_part(&c, &generation)) {
        return (step_mark){.kind = STEP_NONE};
    }
    double tokens = context.tokens + generation.tokens;
    mark.has_prefill = context.requests > 0;
    mark.has_decode = generation.requests > 0;
    mark.tokens = clamp(tokens > total ? tokens : total);
    double keys = context.keys + generation.keys;
    if (!mark.has_prefill && mark.has_decode) {
        mark.query_tokens = generation.tokens / generation.requests;
    } else if (keys > 0 && context.products > 0) {
        mark.query_tokens = (context.products + generation.products) / keys;
    } else if (mark.has_prefill && !mark.has_decode) {
        mark.query_tokens = context.tokens / context.requests;
    }
    return mark;
}

/* [Executor] _forward_step 12: 1 ctx reqs, 32 gen reqs: tokens are not told, but decode only is. */
static step_mark read_executor(cursor c)
{
    step_mark mark = {.kind = STEP_SIZED};
    double step, context, generation;
    if (!number(&c, &step) || !skip(&c, WEIR_STR(": ")) || !number(&c, &context) ||
        !skip(&c, WEIR_STR(" ctx reqs, ")) || !number(&c, &generation)) {
        return (step_mark){.kind = STEP_NONE};
    }
    mark.has_prefill = context > 0;
    mark.has_decode = generation > 0;
    if (!mark.has_prefill && mark.has_decode) {
        mark.tokens = clamp(generation);
        mark.query_tokens = 1;
    }
    return mark;
}

step_mark step_mark_read(weir_span_kind kind, weir_str name)
{
    cursor c = {name, 0};
    if (kind == WEIR_SPAN_ANNOTATION) {
        if (skip(&c, WEIR_STR("step["))) {
            return read_sglang(c);
        }
        if (skip(&c, WEIR_STR("execute_"))) {
            return read_execute(c);
        }
        if (skip(&c, WEIR_STR("[Executor] _forward_step "))) {
            return read_executor(c);
        }
    }
    if (kind != WEIR_SPAN_ANNOTATION && kind != WEIR_SPAN_OP) {
        return (step_mark){.kind = STEP_NONE};
    }
    /* torch.utils.checkpoint (reentrant) computes forward again inside the backward of its
     * function, then runs the backward of that: a nested engine call. */
    bool annotated = kind == WEIR_SPAN_ANNOTATION && (weir_str_has(name, WEIR_STR("recompute")) ||
                                                      weir_str_has(name, WEIR_STR("Recompute")));
    if (annotated || weir_str_eq(name, WEIR_STR("CheckpointFunctionBackward"))) {
        return (step_mark){.kind = STEP_RECOMPUTE};
    }
    if (kind == WEIR_SPAN_OP &&
        weir_str_starts(name, WEIR_STR("autograd::engine::evaluate_function"))) {
        return (step_mark){.kind = STEP_BACKWARD};
    }
    return (step_mark){.kind = STEP_NONE};
}
