/* model_ops.h: the operations of a model's parts on one rank: sizes, FLOP and bytes of each.
 *
 * A part (one layer, the embedding, the head with its loss) is a short list of operations in the
 * order in which a rank runs them, forward or backward. Sizes are those of one tensor-parallel rank
 * and one micro-batch. Multiplying and adding are two FLOP; arithmetic outside of matrix products
 * is not counted. Bytes are those that must move when every operand is read and every result
 * written once (reference/training-model.md sections 2 and 3).
 *
 * Cost: about a microsecond for a layer, no memory. Not here: how long operations take (machine/),
 * what travels between ranks and which operations are recomputed (train/). */
#ifndef WEIR_MODEL_MODEL_OPS_H
#define WEIR_MODEL_MODEL_OPS_H

#include "model/model.h"

/* X(enumerator, name) */
#define WEIR_OP_KINDS(X)                                                                           \
    X(GEMM, "gemm")                                                                                \
    X(GROUPED_GEMM, "grouped gemm")                                                                \
    X(ATTENTION, "attention")                                                                      \
    X(NORM, "norm")                                                                                \
    X(ELEMENTWISE, "elementwise")                                                                  \
    X(SOFTMAX, "softmax")                                                                          \
    X(ROPE, "rope")                                                                                \
    X(EMBEDDING, "embedding")                                                                      \
    X(LOSS, "loss")                                                                                \
    X(ROUTER, "router")                                                                            \
    X(PERMUTE, "permute")

/* Where in the model: what recomputation and the ledger speak of. */
#define WEIR_OP_PARTS(X)                                                                           \
    X(EMBEDDING, "embedding")                                                                      \
    X(ATTENTION_NORM, "attention norm")                                                            \
    X(LATENT, "latent projections")                                                                \
    X(LATENT_NORM, "latent norms")                                                                 \
    X(QKV, "qkv")                                                                                  \
    X(QK_NORM, "qk norm")                                                                          \
    X(ROPE, "rope")                                                                                \
    X(CORE, "attention core")                                                                      \
    X(OUTPUT, "attention output")                                                                  \
    X(ATTENTION_ADD, "attention residual")                                                         \
    X(NETWORK_NORM, "network norm")                                                                \
    X(UP, "network up")                                                                            \
    X(ACTIVATION, "network activation")                                                            \
    X(DOWN, "network down")                                                                        \
    X(ROUTER, "router")                                                                            \
    X(DISPATCH, "permute")                                                                         \
    X(EXPERT_UP, "experts up")                                                                     \
    X(EXPERT_ACTIVATION, "experts activation")                                                     \
    X(EXPERT_DOWN, "experts down")                                                                 \
    X(COMBINE, "unpermute")                                                                        \
    X(SHARED_UP, "shared up")                                                                      \
    X(SHARED_ACTIVATION, "shared activation")                                                      \
    X(SHARED_DOWN, "shared down")                                                                  \
    X(NETWORK_ADD, "network residual")                                                             \
    X(FINAL_NORM, "final norm")                                                                    \
    X(HEAD, "head")                                                                                \
    X(LOSS, "loss")                                                                                \
    X(MTP, "multi-token projection")

typedef enum {
#define X(name, text) WEIR_OP_##name,
    WEIR_OP_KINDS(X)
#undef X
        WEIR_OP_KIND_COUNT
} weir_op_kind;

typedef enum {
#define X(name, text) WEIR_MODEL_PART_##name,
    WEIR_OP_PARTS(X)
#undef X
        WEIR_MODEL_PART_COUNT
} weir_op_part;

/* DGRAD is what the stage before waits for, WGRAD can be put off. */
typedef enum { WEIR_PASS_FORWARD = 0, WEIR_PASS_DGRAD, WEIR_PASS_WGRAD } weir_op_pass;

/* What of the operation tensor-parallel ranks share out. */
typedef enum {
    WEIR_SPLIT_NONE = 0,  /* every rank does the same */
    WEIR_SPLIT_SEQUENCE,  /* tokens; weights are on every rank */
    WEIR_SPLIT_COLUMNS,   /* n: columns of the weight */
    WEIR_SPLIT_ROWS,      /* k: rows of the weight; results are partial sums */
    WEIR_SPLIT_HEADS,     /* heads */
    WEIR_SPLIT_EXPERTS,   /* experts, and each one's width over expert tensor ranks */
    WEIR_SPLIT_VOCABULARY /* rows of the embedding, columns of the head */
} weir_op_split;

typedef struct {
    weir_op_kind kind;
    weir_op_part part;
    weir_op_pass pass;
    weir_op_split split;
    /* GEMM, ROUTER: batch products of m x k by k x n. GROUPED_GEMM: m rows of all groups together,
     * batch groups, also of a wgrad, which sums over the rows. ATTENTION: m queries, n keys, k the
     * width of a query's head, batch sequences x heads. Others: m x n elements, k and batch 1. */
    uint64_t m, n, k, batch;
    uint64_t kv_heads;  /* ATTENTION: on this rank */
    uint64_t value_dim; /* ATTENTION */
    double pairs;       /* ATTENTION: query-key pairs of one sequence and head that count */
    double flop;        /* executed */
    double model_flop;  /* that count for MFU: masked-out pairs and the recomputation inside of a
                           fused backward attention do not */
    double bytes_read, bytes_written;
} weir_op;

enum { WEIR_OPS_MAX = 80 };

typedef struct {
    uint32_t count;
    weir_op op[WEIR_OPS_MAX];
} weir_op_list;

/* Bytes of an element; 0: the default. */
typedef struct {
    double activation; /* 2: results of operations */
    double operand;    /* 2: of matrix products (1: FP8, 0.5: FP4) */
    double gradient;   /* 4: accumulated gradients of weights */
    double logit;      /* 4: in the loss */
    double kept;       /* activation: of a product's input that is kept for backward */
    double loss;       /* logit, or activation if fused: of each logit while the loss is at its
                          fullest, with copies (model_memory.h) */
} weir_op_bytes;

/* A micro-batch and how it is split. Counts that are 0 are taken for 1. */
typedef struct {
    uint32_t sequences;         /* of the micro-batch */
    uint32_t length;            /* tokens of a sequence, of all context ranks together */
    uint32_t past;              /* tokens before these whose keys and values are cached */
    uint32_t tensor;            /* tensor parallel ranks */
    uint32_t context;           /* context parallel ranks; work is balanced (zig-zag) */
    uint32_t expert;            /* expert parallel ranks */
    uint32_t expert_tensor;     /* tensor parallel ranks of each expert */
    uint32_t vocab_multiple;    /* of padding (128 in Megatron) */
    bool sequence_parallel;     /* norms, adds and dropout on a share of the tokens */
    bool bidirectional;         /* every token sees every token */
    bool unfused_core;          /* scores are written to memory (before FlashAttention) */
    bool dropout;               /* of hidden states and, unfused, of scores */
    bool fused_add;             /* residual adds are part of the norms behind them */
    bool fused_loss;            /* logits stay in 16 bits and are read once */
    bool separate_accumulation; /* gradients of weights are added by an operation of their own */
    bool early_weights;         /* mixtures: rows take their weights before the last product */
    bool gathered_inputs;       /* sequence parallel: products keep their inputs gathered */
    bool split_activation;      /* activation function and gate are operations of their own */
    double pairs;       /* query-key pairs of a sequence, for packed documents, in layers without
                                   a window; 0: of length */
    double expert_load; /* rows of this rank's experts over the mean; 0: 1 */
    double capacity;    /* rows of experts are dropped or padded to it x the mean; 0: not */
    weir_op_bytes bytes;
} weir_op_shape;

/* What of the split does not fit the model: the key it is about ("tensor", "context", "expert",
 * "expert_tensor"), and a sentence with the nearest value that works. */
typedef struct {
    const char *key;
    uint64_t works; /* that value */
    char text[192];
} weir_ops_fault;
bool weir_ops_is_sound(const weir_model *model, const weir_op_shape *shape, weir_ops_fault *fault);

/* The functions below want a sound shape. backward: gradients instead, in the order of backward;
 * recomputation is the forward list again. The list is overwritten. */
void weir_ops_layer(const weir_model *model, uint32_t layer, const weir_op_shape *shape,
                    bool backward, weir_op_list *list);
void weir_ops_embedding(const weir_model *model, const weir_op_shape *shape, bool backward,
                        weir_op_list *list);
/* Final norm, logits, loss. */
void weir_ops_head(const weir_model *model, const weir_op_shape *shape, bool backward,
                   weir_op_list *list);
/* What a multi-token module has before its block (the operations of the last layer) and its head:
 * two norms and the projection of both hidden states. */
void weir_ops_mtp(const weir_model *model, const weir_op_shape *shape, bool backward,
                  weir_op_list *list);

/* Sums over a list, in its order. */
typedef struct {
    double flop, model_flop, bytes_read, bytes_written;
} weir_op_sum;
weir_op_sum weir_ops_sum(const weir_op_list *list);

/* Query-key pairs of one sequence in that layer: length tokens after past ones, causal unless
 * bidirectional, not farther than window (0: all). */
double weir_attention_pairs(uint32_t length, uint32_t past, uint32_t window, bool bidirectional);

const char *weir_op_kind_name(weir_op_kind kind);
const char *weir_op_part_name(weir_op_part part);

#endif
