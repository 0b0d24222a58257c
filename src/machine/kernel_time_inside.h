/* kernel_time_inside.h: what the files of kernel_time share: laws as presets have them, and what
 * is worked out of them once for an accelerator.
 *
 * A law is shares of the datasheet's peaks, so that it holds for other parts of the same family.
 * Formulas: docs/model/kernels.md. */
#ifndef WEIR_MACHINE_KERNEL_TIME_INSIDE_H
#define WEIR_MACHINE_KERNEL_TIME_INSIDE_H

#include "codec/yaml.h"
#include "machine/kernel_time.h"

enum { KERNEL_TILES_MAX = 8, KERNEL_DIMS_MAX = 8 };

typedef struct {
    uint32_t rows, columns, sms; /* sms: that calculate it together */
    double share;                /* of their peak */
} kernel_tile;

typedef struct {
    kernel_tile tiles[KERNEL_TILES_MAX];
    uint32_t tile_count;
    double depth;         /* what filling and emptying a tile costs, as steps of k */
    double tail;          /* of a wave's time that a nearly empty last wave takes */
    double fixed_s;       /* of each call */
    double sustained;     /* share of the peak that power allows for long */
    double burst;         /* and at first */
    double heating;       /* FLOP after which half of the difference is gone */
    double memory;        /* share of the bandwidth */
    double split_traffic; /* bytes moved for each byte of partial sums, when k is split */
    double split_s;       /* of a call whose k is split */
    double accumulate;    /* time of the arithmetic with a 32-bit result, as a multiple */
    double misaligned;    /* the same where k or n is no multiple of 16 bytes */
} kernel_gemm_law;

typedef struct {
    double dim, share; /* of the peak at that mean of the head dimensions */
} kernel_dim;

typedef struct {
    kernel_dim dims[KERNEL_DIMS_MAX]; /* by dim */
    uint32_t dim_count;
    uint32_t tile;     /* queries that a block of threads works on */
    uint32_t blocks;   /* on an SM at a time */
    uint32_t dim_step; /* head dimensions are rounded up to multiples of it */
    double depth;      /* what filling and emptying a block costs, as keys */
    double diagonal;   /* what the edge of a causal mask costs a block besides, as keys */
    double tail;       /* like that of matrix products */
    double fixed_s;
    double memory;  /* share of the bandwidth */
    double traffic; /* bytes moved for each byte of Q, K, V and the result */
    double fp8;     /* share of the FP8 peak / share of the 16-bit peak */
} kernel_attention_law;

typedef struct {
    double fixed_s, memory; /* share of the bandwidth */
} kernel_memory_law;

typedef struct {
    double bytes; /* moved for each element */
    double fixed_s;
} kernel_quantise_law;

/* Tiles of a law on this accelerator. */
typedef struct {
    double s_per_depth[KERNEL_TILES_MAX]; /* of a tile */
    double peak;                          /* FLOP/s of the format under steady load */
    double operand_bytes;                 /* of an element */
    uint64_t aligned;                     /* elements in 16 bytes */
    double without_tensor_cores;          /* time as a multiple, on cores of 32 bits */
} kernel_gemm_rates;

struct weir_kernel_times {
    const weir_accelerator *accelerator;
    weir_kernel_basis_kind basis;
    double steady; /* times of products in training / in isolation */
    double steady_attention;
    double sms; /* 1 where the number is not known: no quantisation */
    kernel_gemm_law gemm[WEIR_GEMM_FORMAT_COUNT], grouped[WEIR_GEMM_FORMAT_COUNT];
    bool has_grouped[WEIR_GEMM_FORMAT_COUNT]; /* of its own; else like gemm */
    double peak[WEIR_GEMM_FORMAT_COUNT];      /* FLOP/s of attention under steady load */
    weir_gemm_format calculates_in[WEIR_GEMM_FORMAT_COUNT];
    kernel_gemm_rates gemm_rates[WEIR_GEMM_FORMAT_COUNT], grouped_rates[WEIR_GEMM_FORMAT_COUNT];
    kernel_attention_law attention[WEIR_ATTENTION_KERNEL_COUNT][2]; /* forward, backward */
    kernel_memory_law memory;
    kernel_quantise_law quantise[WEIR_GEMM_FORMAT_COUNT];
};

/* Waves that tiles or blocks take on that many places; the last one, partly filled, counts from
 * `tail` on. */
static inline double kernel_waves(double count, double places, double tail)
{
    double waves = count / places;
    if (waves <= 1) {
        return 1;
    }
    double whole = (double)(uint64_t)waves;
    double rest = waves - whole;
    return rest > 0 ? whole + tail + (1 - tail) * rest : whole;
}

/* FLOP/s of a format, 0 where the hardware has none. */
double kernel_peak(const weir_accelerator *accelerator, weir_gemm_format format);

/* Replaces what doc, a preset of kernel times, has. */
weir_code kernel_times_read(const weir_yaml *doc, struct weir_kernel_times *times, weir_err *err);
/* The preset that this one continues, borrowed from doc; NULL: none. */
const char *kernel_times_like(const weir_yaml *doc);

/* Fills what follows from the laws, the accelerator, sms and how steady the load is. */
void kernel_times_work_out(struct weir_kernel_times *times);

#endif
