/* What follows from a model's dimensions alone, and whether they fit together. */
#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const activation_names[] = {
#define X(name, text) text,
    WEIR_MODEL_ACTIVATIONS(X)
#undef X
};
static const char *const positions_names[] = {
#define X(name, text) text,
    WEIR_MODEL_POSITIONS(X)
#undef X
};
static const char *const norm_names[] = {
#define X(name, text) text,
    WEIR_MODEL_NORMS(X)
#undef X
};

const char *weir_activation_name(weir_activation activation)
{
    return activation_names[activation];
}

const char *weir_positions_name(weir_positions positions)
{
    return positions_names[positions];
}

const char *weir_norm_name(weir_norm norm)
{
    return norm_names[norm];
}

uint32_t weir_model_moe_layers(const weir_model *model)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->layers; i++) {
        count += weir_model_is_moe(model, i);
    }
    return count;
}

void weir_model_complete(weir_model *model)
{
    if (model->kv_heads == 0) {
        model->kv_heads = model->heads;
    }
    if (model->head_dim == 0 && model->kv_rank == 0 && model->heads > 0 &&
        model->hidden % model->heads == 0) {
        model->head_dim = model->hidden / model->heads;
    }
    if (model->positions == WEIR_POSITIONS_LEARNED && model->position_rows == 0) {
        model->position_rows = model->max_positions;
    }
}

/* --- soundness ---------------------------------------------------------------------------- */

#define AT(member) offsetof(weir_model, member)

static bool fault_at(weir_model_fault *fault, size_t field, const char *fmt, ...) WEIR_PRINTF(3, 4);

static bool fault_at(weir_model_fault *fault, size_t field, const char *fmt, ...)
{
    va_list args;
    fault->field = field;
    va_start(args, fmt);
    vsnprintf(fault->text, sizeof fault->text, fmt, args);
    va_end(args);
    return false;
}

/* The divisor of n that is nearest to wanted, the smaller of two. n >= 1. */
static uint32_t nearest_divisor(uint32_t n, uint32_t wanted)
{
    wanted = wanted ? wanted : 1;
    for (uint32_t off = 0; off < n; off++) {
        if (wanted > off && n % (wanted - off) == 0) {
            return wanted - off;
        }
        if (wanted <= n - off && n % (wanted + off) == 0) {
            return wanted + off;
        }
    }
    return n;
}

static bool is_attention_sound(const weir_model *m, weir_model_fault *fault)
{
    if (m->kv_heads == 0 || m->heads % m->kv_heads != 0) {
        return fault_at(fault, AT(kv_heads),
                        "found %u key-value heads for %u heads, expected a divisor such as %u",
                        m->kv_heads, m->heads, nearest_divisor(m->heads, m->kv_heads));
    }
    if (m->kv_rank > 0) {
        if (m->nope_dim == 0 || m->value_dim == 0) {
            return fault_at(fault, m->nope_dim ? AT(value_dim) : AT(nope_dim),
                            "found latent attention (rank %u) without the width of its %s, "
                            "expected for example %s: 128",
                            m->kv_rank, m->nope_dim ? "values" : "queries",
                            m->nope_dim ? "value_dim" : "nope_dim");
        }
        return true;
    }
    if (m->head_dim == 0) {
        return fault_at(fault, AT(heads),
                        "found %u heads for %u hidden units, expected a divisor such as %u, or the "
                        "width of a head",
                        m->heads, m->hidden, nearest_divisor(m->hidden, m->heads));
    }
    return true;
}

static bool is_network_sound(const weir_model *m, weir_model_fault *fault)
{
    uint32_t moe = weir_model_moe_layers(m);
    if (moe < m->layers && m->ffn == 0) {
        return fault_at(
            fault, AT(ffn),
            "found no width for the network of %u dense layers, expected for example ffn: %u",
            m->layers - moe, 4 * m->hidden);
    }
    if (moe == 0) {
        return true;
    }
    if (m->experts == 0) {
        return fault_at(
            fault, AT(experts),
            "found %u layers of experts without their number, expected for example experts: 8",
            moe);
    }
    if (m->expert_ffn == 0) {
        return fault_at(
            fault, AT(expert_ffn),
            "found %u experts without their width, expected for example expert_ffn: 2048",
            m->experts);
    }
    if (m->experts_per_token == 0 || m->experts_per_token > m->experts) {
        return fault_at(fault, AT(experts_per_token),
                        "found %u experts for each token, expected 1 to %u", m->experts_per_token,
                        m->experts);
    }
    return true;
}

/* Far above any model, low enough that no count overflows 64 bits. */
enum { MAX_WIDTH = 1 << 20, MAX_VOCAB = 1 << 24, MAX_HEADS = 1 << 14, MAX_EXPERTS = 1 << 13 };

static bool is_size_sound(const weir_model *m, weir_model_fault *fault)
{
    const struct {
        uint32_t value, min, max;
        size_t field;
        const char *what;
    } limits[] = {
        {m->layers, 1, WEIR_MODEL_MAX_LAYERS, AT(layers), "layers"},
        {m->hidden, 1, MAX_WIDTH, AT(hidden), "hidden units"},
        {m->heads, 1, MAX_HEADS, AT(heads), "heads"},
        {m->kv_heads, 0, MAX_HEADS, AT(kv_heads), "key-value heads"},
        {m->head_dim, 0, MAX_HEADS, AT(head_dim), "units of a head"},
        {m->q_rank, 0, MAX_WIDTH, AT(q_rank), "units of the queries' rank"},
        {m->kv_rank, 0, MAX_WIDTH, AT(kv_rank), "units of the keys' and values' rank"},
        {m->nope_dim, 0, MAX_HEADS, AT(nope_dim), "units of a query's head"},
        {m->rope_dim, 0, MAX_HEADS, AT(rope_dim), "rotary units of a query's head"},
        {m->value_dim, 0, MAX_HEADS, AT(value_dim), "units of a value's head"},
        {m->ffn, 0, MAX_WIDTH, AT(ffn), "units of the network"},
        {m->experts, 0, MAX_EXPERTS, AT(experts), "experts"},
        {m->expert_ffn, 0, MAX_WIDTH, AT(expert_ffn), "units of an expert"},
        {m->shared_ffn, 0, MAX_WIDTH, AT(shared_ffn), "units of shared experts"},
        {m->mtp_layers, 0, 64, AT(mtp_layers), "multi-token modules"},
        {m->vocab, 1, MAX_VOCAB, AT(vocab), "words"},
        {m->max_positions, 0, 1 << 30, AT(max_positions), "positions"},
        {m->norms_per_layer, 1, 4, AT(norms_per_layer), "norms of a layer"},
    };
    for (uint32_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].value < limits[i].min || limits[i].value > limits[i].max) {
            return fault_at(fault, limits[i].field, "found %u %s, expected %u to %u",
                            limits[i].value, limits[i].what, limits[i].min, limits[i].max);
        }
    }
    return true;
}

bool weir_model_is_sound(const weir_model *model, weir_model_fault *fault)
{
    return is_size_sound(model, fault) && is_attention_sound(model, fault) &&
           is_network_sound(model, fault);
}
