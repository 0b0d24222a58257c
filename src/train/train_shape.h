/* train_shape.h: what a plan makes of the model's parts on one device: shape and weights.
 *
 * Not here: which layers a chunk has (train_plan.h), how long they take (train_stage.h). */
#ifndef WEIR_TRAIN_TRAIN_SHAPE_H
#define WEIR_TRAIN_TRAIN_SHAPE_H

#include "model/model_count.h"
#include "train/train_plan.h"

/* One micro-batch on one device, for the operations and the activations of a layer. */
weir_op_shape weir_train_shape(const weir_train_job *job);

/* Of one device. */
typedef struct {
    double dense;  /* replicated over data x context */
    double expert; /* replicated over weir_train_expert_replicas */
} weir_train_weights;

/* Layers of the chunk at that position, with embedding and head (a tied head is a copy of its own
 * where it is not on the embedding's position) and multi-token modules on the last one. */
weir_train_weights weir_train_weights_at(const weir_train_job *job, uint32_t position);

/* Devices that hold the same experts: data x context x tensor / (expert x expert_tensor). */
uint32_t weir_train_expert_replicas(const weir_train_plan *plan);

/* Devices over which states of dense (of expert) weights are shared out: 1 without ZeRO. */
uint32_t weir_train_dense_shards(const weir_train_plan *plan);
uint32_t weir_train_expert_shards(const weir_train_plan *plan);

#endif
