/* op_cost.h: FLOP and bytes of an operation from the shapes that the profiler recorded.
 *
 * Counted are matrix products, convolutions and attention of PyTorch and of extensions that follow
 * the same order of arguments. Bytes are the least that must move: every operand once.
 *
 * Not here: which side of the roofline that is (machine/roofline.h). */
#ifndef WEIR_CLASSIFY_OP_COST_H
#define WEIR_CLASSIFY_OP_COST_H

#include "machine/accelerator.h"
#include "weir/base.h"

typedef enum { OP_GEMM = 0, OP_CONVOLUTION, OP_ATTENTION } op_kind;

typedef struct {
    op_kind kind;
    double flop, bytes;
    double weight_bytes;  /* of the second operand, part of bytes */
    double queries, keys; /* attention: tokens of one sequence */
    weir_dtype dtype;     /* of the operands */
    bool has_dtype;       /* false: not recorded, taken to be fp32 */
} op_cost;

/* name: of the operation ("aten::addmm"). detail: "Input Dims\nInput type\nConcrete Inputs" as JSON
 * text. False where the operation is not counted or the shapes do not suffice. */
bool op_cost_read(weir_str name, weir_str detail, op_cost *cost);

#endif
