/* model_memory.h: bytes that a model's cache and its saved activations take on one rank.
 *
 * Activations are the tensors that the backward pass needs, counted one by one (V. Korthikanti et
 * al., "Reducing activation recomputation in large transformer models", 2022, arXiv 2205.05198,
 * section 4; reference/training-model.md section 6). Cost: below a microsecond.
 *
 * Not here: how many micro-batches are in flight, buffers, fragmentation (train/). */
#ifndef WEIR_MODEL_MODEL_MEMORY_H
#define WEIR_MODEL_MODEL_MEMORY_H

#include "model/model_ops.h"

/* What is computed again in the backward pass instead of being kept; a bit set. */
enum {
    WEIR_RECOMPUTE_CORE = 1,       /* attention core: scores of unfused attention */
    WEIR_RECOMPUTE_NORMS = 2,      /* outputs of norms */
    WEIR_RECOMPUTE_ACTIVATION = 4, /* outputs of activation functions, of experts too */
    WEIR_RECOMPUTE_UP = 8,         /* MLA: queries, keys and values from the latents */
    WEIR_RECOMPUTE_NETWORK = 16,   /* the whole dense network */
    WEIR_RECOMPUTE_EXPERTS = 32,   /* the whole mixture */
    WEIR_RECOMPUTE_FULL = 64,      /* all but the layer's input */
    WEIR_RECOMPUTE_OUTPUT = 128    /* attention's output projection and the sum behind it */
};

/* Bytes of one layer and micro-batch on one rank; the parts add up to total. */
typedef struct {
    double norms;   /* inputs and outputs of the norms on hidden states */
    double latents; /* MLA */
    double qkv;     /* heads as attention reads them */
    double core;    /* scores and masks, or sums of exponentials */
    double output;  /* input of attention's output projection */
    double masks;   /* of dropout on hidden states */
    double network; /* dense network, shared experts */
    double router;
    double experts; /* rows in and out, and what is between */
    double total;
} weir_activation_bytes;

/* shape as for operations (model_ops.h); full recomputation keeps the input alone. */
weir_activation_bytes weir_activations_layer(const weir_model *model, uint32_t layer,
                                             const weir_op_shape *shape, uint32_t recompute);
/* Before the first layer: the mask of dropout. */
double weir_activations_embedding(const weir_model *model, const weir_op_shape *shape);
/* Behind the last: final norm, its output, logits as the loss keeps them. */
double weir_activations_head(const weir_model *model, const weir_op_shape *shape);

/* Korthikanti et al., table 2: bytes of a GPT layer, s b h (...) with 16-bit activations; only for
 * ungated networks of 4h with dropout, whatever the model has. */
typedef enum {
    WEIR_KORTHIKANTI_TENSOR = 0,       /* s b h (10 + 24/t + 5 a s / (h t)) */
    WEIR_KORTHIKANTI_SEQUENCE,         /* s b h / t (34 + 5 a s / h) */
    WEIR_KORTHIKANTI_TENSOR_SELECTIVE, /* s b h (10 + 24/t) */
    WEIR_KORTHIKANTI_SELECTIVE,        /* s b h 34 / t: sequence parallel and selective */
    WEIR_KORTHIKANTI_FULL              /* s b h 2 */
} weir_korthikanti;
double weir_activations_korthikanti(const weir_model *model, const weir_op_shape *shape,
                                    weir_korthikanti form);

/* Keys and values of one token in all layers, on one of `tensor` ranks (0: 1); bytes of an element
 * (2: BF16). Grouped heads are divided over ranks, at least one each; latents are on every rank. */
double weir_kv_bytes_token(const weir_model *model, double element_bytes, uint32_t tensor);
/* Of a sequence of that many tokens: windowed layers keep no more than their window. */
double weir_kv_bytes_sequence(const weir_model *model, uint64_t tokens, double element_bytes,
                              uint32_t tensor);

#endif
