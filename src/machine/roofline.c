#include "machine/roofline.h"

/* What a device without the format calculates in, the nearest wider one. */
static const weir_dtype wider[WEIR_DTYPE_COUNT] = {
    [WEIR_DTYPE_FP64] = WEIR_DTYPE_FP64, [WEIR_DTYPE_FP32] = WEIR_DTYPE_FP32,
    [WEIR_DTYPE_TF32] = WEIR_DTYPE_FP32, [WEIR_DTYPE_FP16] = WEIR_DTYPE_FP32,
    [WEIR_DTYPE_BF16] = WEIR_DTYPE_FP32, [WEIR_DTYPE_FP8] = WEIR_DTYPE_FP16,
    [WEIR_DTYPE_INT8] = WEIR_DTYPE_FP16, [WEIR_DTYPE_FP4] = WEIR_DTYPE_FP8,
};

double weir_roofline_peak(const weir_accelerator *accelerator, weir_dtype dtype)
{
    while (accelerator->peak_flop_per_s[dtype] <= 0 && wider[dtype] != dtype) {
        dtype = wider[dtype];
    }
    return accelerator->peak_flop_per_s[dtype];
}

double weir_roofline_ridge(const weir_accelerator *accelerator, weir_dtype dtype)
{
    double bandwidth = accelerator->memory_bytes_per_s;
    return bandwidth > 0 ? weir_roofline_peak(accelerator, dtype) / bandwidth : 0;
}

bool weir_roofline_is_math(double flop, double bytes, const weir_accelerator *accelerator,
                           weir_dtype dtype)
{
    double peak = weir_roofline_peak(accelerator, dtype);
    double bandwidth = accelerator->memory_bytes_per_s;
    return peak > 0 && bandwidth > 0 && flop / peak >= bytes / bandwidth;
}

weir_bound weir_roofline_bound(double intensity, const weir_accelerator *accelerator,
                               const weir_accelerators *known, weir_dtype dtype)
{
    uint32_t count = 1, math = 0, memory = 0;
    const weir_accelerator *list = accelerator;
    if (!accelerator) {
        list = weir_accelerators_list(known, &count);
    }
    for (uint32_t i = 0; i < count; i++) {
        double ridge = weir_roofline_ridge(&list[i], dtype);
        if (ridge > 0) {
            *(weir_roofline_is_math(intensity, 1, &list[i], dtype) ? &math : &memory) += 1;
        }
    }
    if ((math > 0) == (memory > 0)) {
        return WEIR_BOUND_UNKNOWN;
    }
    return math > 0 ? WEIR_BOUND_MATH : WEIR_BOUND_MEMORY;
}
