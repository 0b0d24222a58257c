/* step_mark.h: what an annotation tells of the step that it encloses.
 *
 * Serving engines write the size of each step into its name:
 *   step[DECODE bs=32]   step[EXTEND bs=15 toks=15360]                         SGLang
 *   execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785..)        vLLM, SGLang
 *   execute_context_1(888_788544)_generation_0(0)                              vLLM
 *   [Executor] _forward_step 12: 1 ctx reqs, 32 gen reqs                       TensorRT-LLM
 * and checkpointing (activation recomputation) names what it does again.
 *
 * Not here: which kernels lie in a step (step_index.h). */
#ifndef WEIR_CLASSIFY_STEP_MARK_H
#define WEIR_CLASSIFY_STEP_MARK_H

#include "weir/timeline.h"

typedef enum {
    STEP_NONE = 0,
    STEP_SIZED,     /* a step of an engine */
    STEP_RECOMPUTE, /* forward work that is done again in the backward pass */
    STEP_BACKWARD,  /* the backward pass proper: ends the recomputation that encloses it */
} step_kind;

typedef struct {
    step_kind kind;
    bool has_prefill, has_decode;
    uint32_t tokens;     /* rows of the matrix products; 0 = not told */
    double query_tokens; /* mean over the keys of how many queries read each; 0 = not told */
} step_mark;

/* kind: of the span; only annotations are steps of an engine. */
step_mark step_mark_read(weir_span_kind kind, weir_str name);

#endif
