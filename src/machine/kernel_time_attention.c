/* kernel_time_attention.c: seconds of fused attention.
 *
 * A block of threads works on a tile of queries of one head; blocks are dealt out in waves. With a
 * causal mask blocks differ in length, so the longest one is a bound of its own. */
#include "machine/kernel_time_inside.h"

#include <math.h>

static uint64_t steps_of(uint64_t value, uint32_t step)
{
    return (value + step - 1) / step;
}

/* Share of the peak at a head dimension: linear between those measured, constant beyond. */
static double share_at(const kernel_attention_law *law, double dim)
{
    const kernel_dim *d = law->dims;
    uint32_t i = 0;
    while (i < law->dim_count && d[i].dim < dim) {
        i++;
    }
    if (i == 0 || i == law->dim_count) {
        return d[i ? i - 1 : 0].share;
    }
    double part = (dim - d[i - 1].dim) / (d[i].dim - d[i - 1].dim);
    return d[i - 1].share + part * (d[i].share - d[i - 1].share);
}

static double traffic_s(const weir_kernel_times *times, const kernel_attention_law *law,
                        const weir_attention_shape *s, double element_bytes)
{
    double dims = (double)(s->qk_dim + s->value_dim);
    double elements = dims * ((double)(s->queries * s->heads) + (double)(s->keys * s->kv_heads)) *
                      (double)s->sequences;
    return law->traffic * element_bytes * elements /
           (times->accelerator->memory_bytes_per_s * law->memory);
}

double weir_attention_s(const weir_kernel_times *times, const weir_attention_shape *s)
{
    const kernel_attention_law *law = &times->attention[s->kernel][s->backward];
    weir_gemm_format in = times->calculates_in[s->format];
    bool narrow = in != WEIR_GEMM_32 && in != WEIR_GEMM_TF32 && in != WEIR_GEMM_16;
    double qk = (double)(steps_of(s->qk_dim, law->dim_step) * law->dim_step);
    double value = (double)(steps_of(s->value_dim, law->dim_step) * law->dim_step);
    double flop_of_pair = s->backward ? 6 * qk + 4 * value : 2 * (qk + value);
    /* What one block has of the machine. */
    double sms = times->sms * (s->sm_share > 0 ? s->sm_share : 1);
    double slots = (double)(uint64_t)sms * law->blocks;
    slots = slots < 1 ? 1 : slots;
    double share = share_at(law, (qk + value) / 2) * (narrow ? law->fp8 : 1);
    double flop_per_s =
        times->peak[narrow ? WEIR_GEMM_FP8 : in] * share / (times->sms * law->blocks);
    double tile_s = law->tile * flop_of_pair / flop_per_s; /* for each key */
    double blocks = (double)(s->sequences * s->heads * steps_of(s->queries, law->tile));
    double mean_keys = s->queries ? s->pairs / (double)s->queries : 0;
    bool is_masked = mean_keys < (double)s->keys;
    double depth = law->depth + (is_masked ? law->diagonal : 0);
    double math = kernel_waves(blocks, slots, law->tail) * (mean_keys + depth) * tile_s;
    /* Of a triangle of keys: of the whole sequence, or of each document packed into it. */
    double longest_keys = fmin((double)s->keys, 2 * mean_keys);
    double longest = (longest_keys + depth) * tile_s;
    double memory = traffic_s(times, law, s, narrow ? 1 : 2);
    math = fmax(math, is_masked ? longest : 0);
    return fmax(math, memory) + law->fixed_s;
}
