/* accelerator.h: what accelerators can do at most, from presets/accelerators.
 *
 * Peaks are dense (no structured sparsity), per device as a profiler counts devices (one die of an
 * MI250X), each with its source in the preset.
 *
 * Not here: what a kernel needs (classify/), measured efficiencies. */
#ifndef WEIR_MACHINE_ACCELERATOR_H
#define WEIR_MACHINE_ACCELERATOR_H

#include "weir/base.h"

/* X(enumerator, name in presets and output, bits) */
#define WEIR_DTYPES(X)                                                                             \
    X(FP64, "fp64", 64)                                                                            \
    X(FP32, "fp32", 32)                                                                            \
    X(TF32, "tf32", 32)                                                                            \
    X(FP16, "fp16", 16)                                                                            \
    X(BF16, "bf16", 16)                                                                            \
    X(FP8, "fp8", 8)                                                                               \
    X(INT8, "int8", 8)                                                                             \
    X(FP4, "fp4", 4)

typedef enum {
#define X(name, text, bits) WEIR_DTYPE_##name,
    WEIR_DTYPES(X)
#undef X
        WEIR_DTYPE_COUNT
} weir_dtype;

const char *weir_dtype_name(weir_dtype dtype);
uint32_t weir_dtype_bits(weir_dtype dtype);

typedef struct {
    const char *id;                           /* file name without folder and suffix: "h100-sxm" */
    const char *name;                         /* "NVIDIA H100 SXM" */
    double peak_flop_per_s[WEIR_DTYPE_COUNT]; /* 0 = the format is not supported or not published */
    double memory_bytes_per_s;
    double host_bytes_per_s; /* to or from its host's memory, as copies reach it; 0 = not known */
    double memory_bytes;     /* as installed: datasheets write GB where they mean GiB */
    uint32_t sm_count;       /* SMs, CUs or cores as deviceProperties counts them; 0 = unknown */
    const char *const *device_names; /* as a driver reports it; a trailing * = any rest */
    uint32_t device_name_count;
} weir_accelerator;

typedef struct weir_accelerators weir_accelerators;

/* All presets, in order of id; about a millisecond. Owned (free). */
weir_code weir_accelerators_load(weir_accelerators **all, weir_err *err);
void weir_accelerators_free(weir_accelerators *all); /* NULL is fine */
const weir_accelerator *weir_accelerators_list(const weir_accelerators *all, uint32_t *count);

/* The accelerator whose driver reports that name; among several, the one with the nearest memory.
 * Where the name is empty or known to nobody (virtual machines hide it), the one with that number
 * of SMs and, within 4 %, that memory. NULL where nothing fits. 0 = not known. */
const weir_accelerator *weir_accelerators_find(const weir_accelerators *all, weir_str device_name,
                                               uint32_t sm_count, uint64_t memory_bytes);

#endif
