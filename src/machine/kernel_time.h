/* kernel_time.h: how long a kernel takes on an accelerator, as a function of its shape.
 *
 * GEMM: tiles and waves over the SMs, depth ramp in k, few rows, the memory roofline, and the
 * sustained clock under the power limit; attention: waves of query tiles; memory-bound kernels:
 * bandwidth by size. All figures are in presets/kernel-times/ACCELERATOR.yaml, fitted by
 * tools/fit-kernels to measured kernels, each with its source and the error that the fit left on
 * the half of the shapes that it did not see. An accelerator without measurements gets those of its
 * family, or of its datasheet: weir_kernel_basis tells which. Formulas: docs/model/kernels.md.
 *
 * Times are of a kernel alone on the device, without what the host does. A call takes some 70 ns.
 * Not here: which kernels a layer has (model/), launches and overlap (train/). */
#ifndef WEIR_MACHINE_KERNEL_TIME_H
#define WEIR_MACHINE_KERNEL_TIME_H

#include "machine/accelerator.h"

/* X(enumerator, name) of matrix products; 16: FP16 and BF16. */
#define WEIR_GEMM_FORMATS(X)                                                                       \
    X(32, "fp32")                                                                                  \
    X(TF32, "tf32")                                                                                \
    X(16, "bf16")                                                                                  \
    X(FP8, "fp8")             /* one scale for a tensor or a row */                                \
    X(FP8_BLOCK, "fp8-block") /* scales of 128 x 128 and 1 x 128 (DeepSeek), MXFP8's of 32 */      \
    X(FP4, "fp4")             /* NVFP4, MXFP4 */

/* X(enumerator, name) */
#define WEIR_ATTENTION_KERNELS(X)                                                                  \
    X(UNFUSED, "unfused") /* scores in memory, softmax of its own: train/ counts its parts */      \
    X(FLASH1, "flash1")                                                                            \
    X(TRITON, "triton")                                                                            \
    X(FLASH2, "flash2")                                                                            \
    X(FLASH3, "flash3")                                                                            \
    X(CUDNN, "cudnn")

typedef enum {
#define X(name, text) WEIR_GEMM_##name,
    WEIR_GEMM_FORMATS(X)
#undef X
        WEIR_GEMM_FORMAT_COUNT
} weir_gemm_format;

typedef enum {
#define X(name, text) WEIR_ATTENTION_##name,
    WEIR_ATTENTION_KERNELS(X)
#undef X
        WEIR_ATTENTION_KERNEL_COUNT
} weir_attention_kernel;

const char *weir_gemm_format_name(weir_gemm_format format);
const char *weir_attention_kernel_name(weir_attention_kernel kernel);
/* The datatype whose peak it is measured against. */
weir_dtype weir_gemm_format_dtype(weir_gemm_format format);
/* That peak, FLOP/s; of 16 bits the larger of BF16's and FP16's (a V100 has no BF16). */
double weir_gemm_format_peak(const weir_accelerator *accelerator, weir_gemm_format format);

typedef enum {
    WEIR_BASIS_MEASURED = 0, /* fitted on this accelerator's kernels */
    WEIR_BASIS_FAMILY,       /* on kernels of the same processor with another memory or power */
    WEIR_BASIS_DATASHEET     /* peaks, bandwidth and the usual shares of them */
} weir_kernel_basis_kind;

typedef struct weir_kernel_times weir_kernel_times;

typedef struct {
    /* One kernel at a time with pauses, as benchmarks measure them. Else the clock is the one that
     * power leaves under the steady load of training. */
    bool isolated;
    bool datasheet; /* what a datasheet tells, although there are measurements */
} weir_kernel_options;

/* As in a training step. accelerator: borrowed, must outlive *times. Never fails for want of
 * measurements. Owned. */
weir_code weir_kernel_times_open(const weir_accelerator *accelerator, weir_kernel_times **times,
                                 weir_err *err);
/* options: NULL is all zero. */
weir_code weir_kernel_times_open_with(const weir_accelerator *accelerator,
                                      const weir_kernel_options *options, weir_kernel_times **times,
                                      weir_err *err);
void weir_kernel_times_free(weir_kernel_times *times); /* NULL is fine */
weir_kernel_basis_kind weir_kernel_basis(const weir_kernel_times *times);
const weir_accelerator *weir_kernel_accelerator(const weir_kernel_times *times);
/* Time of arithmetic under steady load, as a multiple of isolated kernels' time; 1 where isolated.
 */
double weir_kernel_steady(const weir_kernel_times *times);
/* Whether the hardware calculates in it (no FP8 on an A100). */
bool weir_kernel_has_format(const weir_kernel_times *times, weir_gemm_format format);

/* m x k by k x n, batch times. */
typedef struct {
    uint64_t m, n, k, batch;
    weir_gemm_format format;
    bool accumulates; /* reads and writes a 32-bit result: gradients of weights */
    bool sums_rows;   /* k counts rows of both operands, as in gradients of weights: their alignment
                         is that of m and n */
    double sm_share;  /* of the SMs; communication kernels have the rest. 0: all */
} weir_gemm_shape;
/* Operands are in the format already: see weir_quantise_s. */
double weir_gemm_s(const weir_kernel_times *times, const weir_gemm_shape *shape);

/* To turn that many 16-bit values into operands of the format: amax, cast, transpose where needed.
 * 0 for formats of 16 bits and more. */
double weir_quantise_s(const weir_kernel_times *times, weir_gemm_format format, double elements);

/* rows m of `groups` experts together, the busiest of which has `load` times the mean (0: 1). */
double weir_grouped_gemm_s(const weir_kernel_times *times, const weir_gemm_shape *shape,
                           uint64_t groups, double load);

typedef struct {
    uint64_t sequences, heads, kv_heads; /* heads of this rank */
    uint64_t queries, keys;              /* of a sequence */
    uint64_t qk_dim, value_dim;
    double pairs; /* query-key pairs of one sequence and head that count */
    bool backward;
    weir_attention_kernel kernel;
    weir_gemm_format format;
    double sm_share;
} weir_attention_shape;
/* Of a fused kernel; unfused ones are GEMMs and softmax. */
double weir_attention_s(const weir_kernel_times *times, const weir_attention_shape *shape);

/* A kernel that only moves bytes. */
double weir_memory_s(const weir_kernel_times *times, double bytes);

#endif
