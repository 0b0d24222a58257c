/* model.h: the dimensions of a transformer, all that its arithmetic follows from.
 *
 * One plain struct without pointers: it is copied by assignment and has no owner. It describes
 * decoder-only models: embedding, `layers` blocks of attention and feed-forward network, final
 * norm, output head; each block is dense or a mixture of experts (weir_model_is_moe) and may see
 * only a window of the text (weir_model_window).
 *
 * Not here: where it comes from (model_config.h, model_source.h), counts (model_count.h),
 * operations (model_ops.h), state-space and linear-attention layers. */
#ifndef WEIR_MODEL_MODEL_H
#define WEIR_MODEL_MODEL_H

#include "weir/base.h"

enum { WEIR_MODEL_MAX_LAYERS = 1024, WEIR_MODEL_ID = 64 };

/* X(enumerator, name in presets) */
#define WEIR_MODEL_ACTIVATIONS(X)                                                                  \
    X(SILU, "silu")                                                                                \
    X(GELU, "gelu")                                                                                \
    X(RELU, "relu")
#define WEIR_MODEL_POSITIONS(X)                                                                    \
    X(ROTARY, "rotary")                                                                            \
    X(LEARNED, "learned")                                                                          \
    X(ALIBI, "alibi")                                                                              \
    X(NONE, "none")
#define WEIR_MODEL_NORMS(X)                                                                        \
    X(RMS, "rms")                                                                                  \
    X(LAYER, "layer")

typedef enum {
#define X(name, text) WEIR_ACTIVATION_##name,
    WEIR_MODEL_ACTIVATIONS(X)
#undef X
        WEIR_ACTIVATION_COUNT
} weir_activation;

typedef enum {
#define X(name, text) WEIR_POSITIONS_##name,
    WEIR_MODEL_POSITIONS(X)
#undef X
        WEIR_POSITIONS_COUNT
} weir_positions;

typedef enum {
#define X(name, text) WEIR_NORM_##name,
    WEIR_MODEL_NORMS(X)
#undef X
        WEIR_NORM_COUNT
} weir_norm;

/* How a checkpoint names its tensors (model_tensors.h). */
typedef enum {
    WEIR_TENSORS_LLAMA = 0,
    WEIR_TENSORS_MIXTRAL,
    WEIR_TENSORS_GPT_OSS,
    WEIR_TENSORS_PHI3,
    WEIR_TENSORS_NEOX,
    WEIR_TENSORS_GPT2,
    WEIR_TENSORS_OPT,
    WEIR_TENSORS_BLOOM
} weir_tensor_names;

enum { WEIR_LAYER_MOE = 1, WEIR_LAYER_WINDOW = 2 }; /* bits of weir_model.layer */

typedef struct {
    char id[WEIR_MODEL_ID];      /* of the preset; "" where there is none */
    weir_tensor_names names;     /* of the checkpoint's tensors */
    uint32_t layers, hidden;     /* both >= 1 */
    uint32_t heads, kv_heads;    /* kv_heads divides heads */
    uint32_t head_dim;           /* of grouped attention (MHA, GQA, MQA) */
    uint32_t q_rank, kv_rank;    /* latent attention (MLA) where kv_rank > 0; q_rank 0: q direct */
    uint32_t nope_dim, rope_dim; /* of MLA: a query's head is nope_dim + rope_dim wide */
    uint32_t value_dim;          /* of MLA: a value's head */
    uint32_t ffn;                /* width of dense layers' networks; 0 where no layer is dense */
    uint32_t experts;            /* routed; 0: no mixture */
    uint32_t experts_per_token;  /* top-k */
    uint32_t expert_ffn;         /* width of each routed expert */
    uint32_t shared_ffn;         /* width of all shared experts together; 0: none */
    uint32_t mtp_layers;      /* multi-token prediction modules (DeepSeek-V3); see model_count.h */
    uint32_t vocab;           /* as published, not padded */
    uint32_t max_positions;   /* 0: no limit known */
    uint32_t position_rows;   /* of a learned table, which may have more than max_positions */
    uint32_t window;          /* tokens that windowed layers see, themselves among them; 0: all */
    uint32_t norms_per_layer; /* 1, 2 or 4 (Gemma 2: before and after both halves) */
    weir_activation activation;
    weir_positions positions;
    weir_norm norm;
    bool gated;             /* SwiGLU, GeGLU: three matrices instead of two */
    bool tied;              /* the head's matrix is the embedding's */
    bool parallel_residual; /* attention and network side by side (GPT-NeoX) */
    bool final_norm;        /* before the head */
    bool embedding_norm;    /* after the embedding (BLOOM) */
    bool norm_bias;         /* layer norms only */
    bool qk_norm;           /* of each head of q and k, head_dim wide (Qwen3) */
    bool qkv_bias, output_bias, ffn_bias;
    bool router_bias;                     /* gpt-oss */
    bool sinks;                           /* one learned logit for each head (gpt-oss) */
    bool shared_gate;                     /* one row that scales the shared expert (Qwen2-MoE) */
    uint8_t layer[WEIR_MODEL_MAX_LAYERS]; /* bits; of the first `layers` */
} weir_model;

static inline bool weir_model_is_moe(const weir_model *model, uint32_t layer)
{
    return (model->layer[layer] & WEIR_LAYER_MOE) != 0;
}

/* Tokens that a query of that layer sees at most; 0: all that come before it. */
static inline uint32_t weir_model_window(const weir_model *model, uint32_t layer)
{
    return model->layer[layer] & WEIR_LAYER_WINDOW ? model->window : 0;
}

static inline bool weir_model_is_latent(const weir_model *model)
{
    return model->kv_rank > 0;
}

/* Width of one head of q and k (MLA: with its rotary part), and of v. */
static inline uint32_t weir_model_qk_dim(const weir_model *model)
{
    return weir_model_is_latent(model) ? model->nope_dim + model->rope_dim : model->head_dim;
}

static inline uint32_t weir_model_v_dim(const weir_model *model)
{
    return weir_model_is_latent(model) ? model->value_dim : model->head_dim;
}

uint32_t weir_model_moe_layers(const weir_model *model);

const char *weir_activation_name(weir_activation activation);
const char *weir_positions_name(weir_positions positions);
const char *weir_norm_name(weir_norm norm);

/* What is wrong with a model's dimensions: the field, by its offset in weir_model, and a sentence
 * that ends "found 12 kv heads for 32 heads, expected a divisor such as 8". */
typedef struct {
    size_t field;
    char text[160];
} weir_model_fault;

/* True where the dimensions fit together; else *fault says what does not. Readers call it. */
bool weir_model_is_sound(const weir_model *model, weir_model_fault *fault);

/* Fills in what follows from the rest where it is 0: kv_heads = heads, head_dim = hidden / heads,
 * position_rows = max_positions of a learned table. */
void weir_model_complete(weir_model *model);

#endif
