/* kernel_time_memory.c: seconds of kernels that move bytes and calculate next to nothing. */
#include "machine/kernel_time_inside.h"

static double moved_s(const weir_kernel_times *times, double bytes, double fixed_s)
{
    return fixed_s + bytes / (times->accelerator->memory_bytes_per_s * times->memory.memory);
}

double weir_memory_s(const weir_kernel_times *times, double bytes)
{
    return moved_s(times, bytes, times->memory.fixed_s);
}

double weir_quantise_s(const weir_kernel_times *times, weir_gemm_format format, double elements)
{
    weir_gemm_format in = times->calculates_in[format];
    if (in == WEIR_GEMM_32 || in == WEIR_GEMM_TF32 || in == WEIR_GEMM_16) {
        return 0;
    }
    const kernel_quantise_law *law = &times->quantise[in];
    return moved_s(times, law->bytes * elements, law->fixed_s);
}
