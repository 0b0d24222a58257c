/* model_flop.h: FLOP of a whole training step, exactly and as the papers count them.
 *
 * Published MFU figures differ by their formula more than by anything else; the functions here are
 * those formulas, so that a figure can be compared by its own. A multiply-add is two FLOP.
 *
 * Not here: what one rank does (model_ops.h). */
#ifndef WEIR_MODEL_MODEL_FLOP_H
#define WEIR_MODEL_MODEL_FLOP_H

#include "model/model.h"

/* Of one sequence, forward, from the operations. */
typedef struct {
    double projections; /* of attention, with latents */
    double core;        /* attention's products of activations */
    double networks;    /* dense networks, experts, routers */
    double head;
    double mtp; /* multi-token modules with their heads */
} weir_flop_parts;

/* bidirectional: masked pairs are counted too, as in the papers before 2023. */
weir_flop_parts weir_flop_forward(const weir_model *model, uint32_t length, bool bidirectional);
double weir_flop_total(const weir_flop_parts *parts);

/* Forward and backward of one token in a text of that length: 3 x forward. */
double weir_flop_train_token(const weir_model *model, uint32_t length, bool bidirectional);

/* Narayanan et al. 2021 (arXiv 2104.04473, section 3, appendix): 96 B s L h^2 (1 + s/6h + V/16Lh)
 * with full recomputation, 72 B s L h^2 (1 + s/6h + V/12Lh) without; ungated networks of 4h, and as
 * many key-value heads as heads, whatever the model has. Of `sequences` of that length. */
double weir_flop_megatron_2021(const weir_model *model, uint64_t sequences, uint32_t length,
                               bool full_recompute);

/* num_floating_point_operations of Megatron-LM (megatron/training/training.py, 001b00c of 2026), of
 * one token, forward and backward: experts that a token goes to, shared ones, three matrices of
 * gated networks, grouped heads, latent attention, half of the pairs of queries and keys (windows
 * are not seen), multi-token modules, the vocabulary as padded. No routers, norms or recomputation.
 */
double weir_flop_megatron_token(const weir_model *model, uint32_t length, uint64_t padded_vocab);

/* Chowdhery et al. 2022 (PaLM, arXiv 2204.02311, appendix B): 6 N + 12 L H Q T of one token; N are
 * the parameters (active ones of a mixture) without those of the embedding of words or positions.
 */
double weir_flop_palm_token(const weir_model *model, uint32_t length);

#endif
