/* Whether a split fits a model: each rule names the key, the value and the nearest that works. */
#include "model/model_ops.h"

#include <stdio.h>

static uint64_t or_one(uint32_t n)
{
    return n ? n : 1;
}

typedef bool (*rule)(const weir_model *m, const weir_op_shape *s, uint64_t value);

static bool divides(uint64_t value, uint64_t whole)
{
    return value > 0 && whole % value == 0;
}

static bool fits_heads(const weir_model *m, const weir_op_shape *s, uint64_t t)
{
    (void)s;
    return divides(t, m->heads);
}

static bool fits_kv_heads(const weir_model *m, const weir_op_shape *s, uint64_t t)
{
    (void)s;
    return fits_heads(m, s, t) &&
           (weir_model_is_latent(m) || divides(t, m->kv_heads) || divides(m->kv_heads, t));
}

static bool fits_widths(const weir_model *m, const weir_op_shape *s, uint64_t t)
{
    return fits_kv_heads(m, s, t) && divides(t, m->ffn) && divides(t, m->shared_ffn);
}

static bool fits_context(const weir_model *m, const weir_op_shape *s, uint64_t c)
{
    (void)m;
    return divides(c, or_one(s->length));
}

static bool fits_sequence(const weir_model *m, const weir_op_shape *s, uint64_t t)
{
    uint64_t tokens = or_one(s->sequences) * or_one(s->length) / or_one(s->context);
    return fits_widths(m, s, t) && (!s->sequence_parallel || divides(t, tokens));
}

static bool fits_experts(const weir_model *m, const weir_op_shape *s, uint64_t e)
{
    (void)s;
    return e == 1 || (m->experts > 0 && divides(e, m->experts));
}

static bool fits_expert_width(const weir_model *m, const weir_op_shape *s, uint64_t et)
{
    (void)s;
    return et == 1 || (m->experts > 0 && divides(et, m->expert_ffn));
}

enum { MAX_TRIED = 1 << 16 }; /* more ranks than heads, widths or experts of any model */

/* The nearest value that passes, the smaller of two; 1 always does. */
static uint64_t nearest(const weir_model *m, const weir_op_shape *s, rule passes, uint64_t value)
{
    value = value < MAX_TRIED ? value : MAX_TRIED;
    for (uint64_t off = 1; off < value; off++) {
        if (passes(m, s, value - off)) {
            return value - off;
        }
        if (passes(m, s, value + off)) {
            return value + off;
        }
    }
    return 1;
}

bool weir_ops_is_sound(const weir_model *model, const weir_op_shape *shape, weir_ops_fault *fault)
{
    const weir_model *m = model;
    uint64_t t = or_one(shape->tensor);
    const struct {
        const char *key;
        uint64_t value;
        rule passes;
        char what[64];
    } rules[] = {{"tensor", t, fits_heads, "the heads"},
                 {"tensor", t, fits_kv_heads, "the key-value heads"},
                 {"tensor", t, fits_widths, "the widths of the networks"},
                 {"context", or_one(shape->context), fits_context, "the tokens of a sequence"},
                 {"tensor", t, fits_sequence, "the tokens of a micro-batch"},
                 {"expert", or_one(shape->expert), fits_experts, "the experts"},
                 {"expert_tensor", or_one(shape->expert_tensor), fits_expert_width,
                  "the width of an expert"}};
    const uint64_t wholes[] = {m->heads,
                               m->kv_heads,
                               m->ffn ? m->ffn : m->shared_ffn,
                               or_one(shape->length),
                               or_one(shape->sequences) * or_one(shape->length),
                               m->experts,
                               m->expert_ffn};
    for (uint32_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i].passes(m, shape, rules[i].value)) {
            fault->key = rules[i].key;
            fault->works = nearest(m, shape, rules[i].passes, rules[i].value);
            snprintf(fault->text, sizeof fault->text,
                     "found %llu, by which %s (%llu) cannot be divided, expected for example %llu",
                     (unsigned long long)rules[i].value, rules[i].what,
                     (unsigned long long)wholes[i], (unsigned long long)fault->works);
            return false;
        }
    }
    return true;
}
