/* train_memory.h: bytes that a plan takes on its fullest device.
 *
 * reference/training-model.md section 6, docs/model/training-memory.md. Costs below 10 us.
 * Not here: tensors of a layer (model/model_memory.h). */
#ifndef WEIR_TRAIN_TRAIN_MEMORY_H
#define WEIR_TRAIN_TRAIN_MEMORY_H

#include "train/train_plan.h"

typedef struct {
    double parameters, gradients, optimizer, activations;
    double buffers; /* gathered parameters, buckets, pipeline receives, workspaces */
    double context; /* the device's context, communicators */
    double fragmentation;
    double allocated; /* of the framework: without context and fragmentation */
    double total;
    double capacity;
    uint32_t stage; /* the fullest */
} weir_train_memory;

/* Forward passes of chunks whose activations a stage keeps at most, in closed form; what
 * weir_schedule.peak counts in the lists. */
double weir_train_in_flight(const weir_train_plan *plan, uint32_t stage);

/* Activations that one forward pass of the chunk at that position leaves until its backward pass,
 * wherever they are. */
double weir_train_memory_kept(const weir_train_job *job, uint32_t position);

/* Of one stage. */
void weir_train_memory_stage(const weir_train_job *job, uint32_t stage, weir_train_memory *memory);
/* Of the fullest stage. */
void weir_train_memory_of(const weir_train_job *job, weir_train_memory *memory);

/* What would make a plan fit that does not: sentences such as "recompute: full saves 41 GiB", best
 * first; each was computed by changing that one thing. At most `room`; returns how many. */
typedef struct {
    const char *key; /* of --set */
    char value[32];
    double total; /* bytes then */
} weir_memory_remedy;
uint32_t weir_train_memory_remedies(const weir_train_job *job, weir_memory_remedy *remedies,
                                    uint32_t room);

#endif
