/* model_ops_inside.h: what the files that write operations share: steps, from which both passes
 * follow.
 *
 * Not here: anything for callers outside (model_ops.h). */
#ifndef WEIR_MODEL_MODEL_OPS_INSIDE_H
#define WEIR_MODEL_MODEL_OPS_INSIDE_H

#include "model/model_ops.h"

/* What the backward pass of a step is. */
typedef enum {
    OPS_BACK_NONE = 0,  /* nothing */
    OPS_BACK_SAME,      /* one operation on the same elements, with the bytes below */
    OPS_BACK_WEIGHT,    /* of a matrix product with a weight: dgrad and wgrad */
    OPS_BACK_BOTH,      /* of a product of two activations: two dgrads */
    OPS_BACK_ATTENTION, /* one fused operation of five products */
    OPS_BACK_TABLE      /* of a look-up: gradients added to rows of a table */
} ops_back;

typedef struct {
    weir_op op; /* forward */
    ops_back back;
    double back_read, back_written; /* OPS_BACK_SAME, OPS_BACK_ATTENTION */
} ops_step;

enum { OPS_STEPS = 32 };

/* One part under construction, and what its steps have in common. */
typedef struct {
    const weir_model *m;
    const weir_op_shape *shape;
    weir_op_bytes bytes;       /* defaults filled in */
    uint64_t t, c, e, et;      /* ranks, at least 1 */
    uint64_t tokens;           /* of the micro-batch on a context rank */
    uint64_t shared_out;       /* tokens of norms and adds: tokens / t with sequence parallelism */
    weir_op_split token_split; /* of those */
    uint32_t count;
    ops_step step[OPS_STEPS];
} ops_part;

ops_step *ops_add(ops_part *p, weir_op_kind kind, weir_op_part part, weir_op_split split);
/* m x k activations by a weight of k x n. */
void ops_gemm(ops_part *p, weir_op_part part, weir_op_split split, uint64_t m, uint64_t n,
              uint64_t k);
/* An operation on m x n elements that reads and writes so many bytes of each, and so many
 * backwards. */
typedef struct {
    double read, written, back_read, back_written;
} ops_traffic;
void ops_memory(ops_part *p, const weir_op *what, ops_traffic each);

/* A norm of width n over the tokens that norms have. */
void ops_norm(ops_part *p, weir_op_part part, uint64_t m, uint64_t n, bool adds);
/* A residual add (and dropout), unless norms do it. */
void ops_residual(ops_part *p, weir_op_part part);

void ops_attention(ops_part *p, uint32_t layer); /* model_attention_ops.c */
void ops_network(ops_part *p, uint32_t layer);   /* model_network_ops.c */

#endif
