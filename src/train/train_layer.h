/* train_layer.h: how long the passes of one layer (or embedding, or head) take on one device.
 *
 * Operations become kernel times; what tensor, context, expert and sharded-data ranks exchange in
 * the layer is set against the kernels that may hide it. Not here: chunks (train_stage.h). */
#ifndef WEIR_TRAIN_TRAIN_LAYER_H
#define WEIR_TRAIN_TRAIN_LAYER_H

#include "train/train_queue.h"
#include "train/train_stage.h"

/* Adds seconds to the piece of that kind, cause and axis, which is made where there is none. */
void weir_pass_add(weir_pass_cost *pass, const weir_piece *piece);
/* Adds all of another pass, `times` times. */
void weir_pass_join(weir_pass_cost *pass, const weir_pass_cost *other, double times);

typedef struct {
    weir_pass_cost forward, dgrad, wgrad; /* recomputation in dgrad */
} weir_layer_cost;

/* Kernels of a list of operations of one pass; sm_share of the SMs are theirs (0: all). Returns
 * their seconds without waiting for the host. is_redundant: they are computed again. */
typedef struct {
    double all, gemm, attention; /* seconds */
    double launches;
} weir_kernel_sum;
weir_kernel_sum weir_train_kernels(const weir_train_job *job, const weir_op_list *list,
                                   weir_op_pass pass, bool is_redundant, weir_pass_cost *cost);

/* One operation, for the queue between host and device. */
weir_queue_item weir_train_queue_item(const weir_train_job *job, const weir_op *op);
/* Seconds that the device is idle in the forward pass of a mixture layer whose host reads the rows
 * of each expert; others_s: of what is seen of exchanges. */
double weir_train_read_idle_s(const weir_train_job *job, const weir_op_list *forward,
                              double others_s);

/* Gradients of weights are passes of their own. */
bool weir_train_splits_backward(weir_schedule_kind kind);

void weir_train_layer_cost(const weir_train_job *job, uint32_t layer, bool is_recomputed,
                           weir_layer_cost *cost);
void weir_train_embedding_cost(const weir_train_job *job, weir_layer_cost *cost);
void weir_train_head_cost(const weir_train_job *job, weir_layer_cost *cost);
void weir_train_mtp_cost(const weir_train_job *job, weir_layer_cost *cost);

#endif
