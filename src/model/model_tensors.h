/* model_tensors.h: every weight of a model with the name and shape that its checkpoint has.
 *
 * Names are those of Hugging Face's model classes (transformers 4.57.1). A second way to the
 * parameter counts of model_count.h, which tests hold against each other, and what a report names
 * when it speaks of one matrix.
 *
 * Cost: one call for each tensor; a mixture has tens of thousands. Not here: values, formats;
 * multi-token modules (no class of transformers has them). */
#ifndef WEIR_MODEL_MODEL_TENSORS_H
#define WEIR_MODEL_MODEL_TENSORS_H

#include "model/model.h"

typedef struct {
    char name[96];    /* "model.layers.3.self_attn.q_proj.weight" */
    uint64_t dims[3]; /* as stored: of a linear layer [out, in] (GPT-2's Conv1D: [in, out]) */
    uint32_t dim_count;
    uint32_t layer; /* WEIR_NONE: outside of the blocks */
} weir_tensor;

typedef void (*weir_tensor_use)(void *context, const weir_tensor *tensor);

/* In the order of the model's code; tensor is good during the call only. */
void weir_model_tensors(const weir_model *model, weir_tensor_use use, void *context);

#endif
