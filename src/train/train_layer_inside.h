/* train_layer_inside.h: what the files that price a layer share (private to train/). */
#ifndef WEIR_TRAIN_TRAIN_LAYER_INSIDE_H
#define WEIR_TRAIN_TRAIN_LAYER_INSIDE_H

#include "train/train_layer.h"
#include "train/train_wire.h"

/* A layer that is being priced, or embedding or head. */
typedef struct {
    const weir_train_job *job;
    const weir_train_plan *plan;
    const weir_train_stack *stack;
    const weir_model *model;
    weir_op_shape shape;
    double tokens;                         /* of a micro-batch on a context rank */
    double stream;                         /* bytes of the hidden states of all of them */
    weir_kernel_sum forward, dgrad, wgrad; /* its kernels */
    struct {
        double launches, seconds;
    } again; /* what is computed again: kernels and collectives, and how long they run */
    weir_layer_cost *cost;
} layer_pricing;

/* --- train_layer_cover.c --- */

void layer_add_wire(weir_pass_cost *pass, weir_piece_kind kind, weir_train_group group,
                    weir_collective_kind collective, weir_wire wire);
/* Under kernels that take cover_s: what is longer is seen, and the kernels are slowed down. */
void layer_hide(const layer_pricing *p, weir_pass_cost *pass, weir_train_group group,
                weir_collective_kind collective, weir_wire wire, double cover_s);
/* Of tensor ranks: cut into parts, each beside the products of another part. */
void layer_interleave(const layer_pricing *p, weir_pass_cost *pass, weir_collective_kind collective,
                      weir_wire wire, double cover_s);
/* Collectives of a pass so far, seen or hidden. */
double layer_collectives(const weir_pass_cost *pass);

/* --- train_layer_ranks.c --- */

/* Blocks whose weights tensor ranks share out: attention, and the dense or the shared network. */
double layer_split_blocks(const layer_pricing *p, uint32_t layer);
/* What tensor ranks exchange for so many blocks; gemm_s: of the products of the same pass. */
void layer_tensor_forward(const layer_pricing *p, weir_pass_cost *pass, double blocks,
                          double gemm_s);
void layer_tensor_backward(const layer_pricing *p, double blocks);
/* Keys and values (and queries, under Ulysses) of the other ranks of a sequence. */
void layer_context_pass(const layer_pricing *p, weir_pass_cost *pass, double attention_s,
                        bool backward);
/* Tokens to their experts and back; kernels_s: of the pass, which may hide it. */
void layer_expert_pass(const layer_pricing *p, weir_pass_cost *pass, double kernels_s,
                       bool backward);
/* Weights that data ranks share out: so many dense ones and experts' on this rank. */
void layer_sharded_data(const layer_pricing *p, double dense, double expert);

/* --- train_layer_again.c --- */

/* Adds what is computed again, the whole layer or the plan's parts of it, to dgrad. */
void layer_add_recomputation(layer_pricing *p, uint32_t layer, const weir_op_list *forward,
                             bool whole);

#endif
