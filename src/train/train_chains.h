/* train_chains.h: how many kernels an operation takes, and how many times the bytes of one fused
 * kernel: presets/kernel-chains.yaml.
 *
 * Not here: how long a kernel takes (machine/kernel_time.h), which parts a stack fuses
 * (train_plan.h). */
#ifndef WEIR_TRAIN_TRAIN_CHAINS_H
#define WEIR_TRAIN_TRAIN_CHAINS_H

#include "weir/base.h"

typedef struct {
    uint32_t product, attention_forward, attention_backward, softmax, rope, norm, elementwise,
        router, loss, other, /* kernels of an operation */
        permute;
    uint32_t expert_product, expert_reorder, expert_cast, expert_scale; /* of each expert */
    double norm_bytes, elementwise_bytes, rope_bytes, loss_bytes,
        loss_backward_bytes; /* over those of one fused kernel */
} weir_chain_lengths;

typedef struct {
    double
        backward_launch; /* host time of a launch in a backward pass over that in a forward one */
    double streams;      /* that products of experts are launched on in turn */
} weir_chain_host;

typedef struct {
    double two_nodes, more_nodes; /* bytes that DeepEP passes on, over those of the NIC's rate */
} weir_chain_exchange;

typedef struct {
    weir_chain_lengths fused, eager;
    weir_chain_host host;
    weir_chain_exchange exchange;
} weir_train_chains;

weir_code weir_train_chains_load(weir_train_chains *chains, weir_err *err);

#endif
