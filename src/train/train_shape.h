/* train_shape.h: what a plan makes of the model's parts on one device: shape and weights.
 *
 * Not here: which layers a chunk has (train_plan.h), how long they take (train_stage.h). */
#ifndef WEIR_TRAIN_TRAIN_SHAPE_H
#define WEIR_TRAIN_TRAIN_SHAPE_H

#include "model/model_count.h"
#include "train/train_plan.h"

/* One micro-batch on one device, for the operations and the activations of a layer. */
weir_op_shape weir_train_shape(const weir_train_job *job);

/* Layers of one kind cost the same. */
enum { WEIR_TRAIN_KINDS = (WEIR_LAYER_MOE | WEIR_LAYER_WINDOW) + 1 };
static inline uint32_t weir_train_kind(const weir_model *model, uint32_t layer)
{
    return model->layer[layer] & (WEIR_LAYER_MOE | WEIR_LAYER_WINDOW);
}

/* Of one device. */
typedef struct {
    double dense;  /* replicated over data x context */
    double expert; /* replicated over weir_train_expert_replicas */
} weir_train_weights;

/* What all positions have in common: O(layers) once, then O(layers of the position). */
typedef struct {
    weir_train_weights layer[WEIR_TRAIN_KINDS];
    weir_train_weights module; /* a multi-token module without embedding and head */
    double words;              /* of the embedding; as many of the head */
    double positions, norms;   /* learned positions; the final norm */
} weir_train_weighing;
void weir_train_weigh(const weir_train_job *job, weir_train_weighing *weighing);

/* Of the position beside its layers: embedding on the first, head (a tied head is a copy of its own
 * where it is not on the embedding's position), final norm and multi-token modules on the last. */
weir_train_weights weir_train_weights_ends(const weir_train_job *job,
                                           const weir_train_weighing *weighing, uint32_t position);
/* All of the position. */
weir_train_weights weir_train_weights_of(const weir_train_job *job,
                                         const weir_train_weighing *weighing, uint32_t position);
/* The same for one position alone. */
weir_train_weights weir_train_weights_at(const weir_train_job *job, uint32_t position);

/* Devices that hold the same experts: data x context x tensor / (expert x expert_tensor). */
uint32_t weir_train_expert_replicas(const weir_train_plan *plan);

/* Devices over which states of dense (of expert) weights are shared out: 1 without ZeRO. */
uint32_t weir_train_dense_shards(const weir_train_plan *plan);
uint32_t weir_train_expert_shards(const weir_train_plan *plan);

#endif
