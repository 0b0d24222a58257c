/* model_count.h: how many parameters a model has, exactly, by part and by rank.
 *
 * Closed forms of the dimensions (reference/training-model.md section 1, with every bias and norm).
 * The vocabulary is counted as published; padding is the plan's (model_ops.h). Cost: O(layers),
 * below a microsecond.
 *
 * Not here: names and shapes of single tensors (model_tensors.h). */
#ifndef WEIR_MODEL_MODEL_COUNT_H
#define WEIR_MODEL_MODEL_COUNT_H

#include "model/model.h"

/* Of one layer; parts that the layer does not have are 0. The parts add up to total. */
typedef struct {
    uint64_t norms;   /* before and after the halves, of heads, of latents */
    uint64_t latents; /* MLA: the projections down to the ranks, which every tensor rank holds */
    uint64_t qkv;     /* projections to heads, biases and sinks with them */
    uint64_t output;  /* attention's output projection */
    uint64_t network; /* dense layers */
    uint64_t router;  /* with the shared expert's gate */
    uint64_t experts; /* all routed experts */
    uint64_t shared;  /* shared experts */
    uint64_t total;
    uint64_t active; /* that one token passes: total, with experts_per_token experts only */
} weir_layer_count;

typedef struct {
    uint64_t embedding; /* of words */
    uint64_t positions; /* learned */
    uint64_t norms;     /* final and embedding norms */
    uint64_t head;      /* 0 where it is the embedding */
    uint64_t layers;    /* all blocks */
    uint64_t main;      /* the model without multi-token modules */
    uint64_t mtp;       /* multi-token modules: each a block like the last one, a projection of
                           two hidden states and three norms; embedding and head are shared */
    uint64_t total;     /* main + mtp */
    uint64_t active;    /* of main: that one token passes, embedding and head included */
} weir_model_count;

weir_layer_count weir_count_layer(const weir_model *model, uint32_t layer);
weir_model_count weir_count_model(const weir_model *model);

/* How the weights of a layer lie on ranks; 0 is taken for 1. */
typedef struct {
    uint32_t tensor;        /* tensor parallel ranks */
    uint32_t expert;        /* expert parallel ranks; divides experts */
    uint32_t expert_tensor; /* tensor parallel ranks of each expert */
} weir_weight_split;

/* Of one rank. Optimisers shard the two over different groups. */
typedef struct {
    uint64_t dense;  /* attention, networks, shared experts, norms, router */
    uint64_t expert; /* routed experts */
} weir_rank_count;

/* Parameters of a layer on one rank (Megatron's split: heads, widths and experts are divided;
 * norms, routers, latents and biases of row-parallel projections are on every rank; key-value heads
 * fewer than ranks are repeated). */
weir_rank_count weir_count_layer_rank(const weir_model *model, uint32_t layer,
                                      const weir_weight_split *split);

/* The vocabulary with rows added so that `multiple` x tensor divides it (Megatron's
 * make-vocab-size-divisible-by: 128); multiple 0: 1. */
uint64_t weir_vocab_padded(const weir_model *model, uint32_t multiple, uint32_t tensor);

#endif
