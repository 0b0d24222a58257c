/* kernel_time.c: opens the kernel times of an accelerator: the datasheet's, those of its family,
 * its own, each over the one before. */
#include "machine/kernel_time_inside.h"
#include "machine/roofline.h"

#include "scenario/preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const format_names[WEIR_GEMM_FORMAT_COUNT] = {
#define X(name, text) text,
    WEIR_GEMM_FORMATS(X)
#undef X
};

static const char *const kernel_names[WEIR_ATTENTION_KERNEL_COUNT] = {
#define X(name, text) text,
    WEIR_ATTENTION_KERNELS(X)
#undef X
};

static const weir_dtype format_dtypes[WEIR_GEMM_FORMAT_COUNT] = {
    [WEIR_GEMM_32] = WEIR_DTYPE_FP32,       [WEIR_GEMM_TF32] = WEIR_DTYPE_TF32,
    [WEIR_GEMM_16] = WEIR_DTYPE_BF16,       [WEIR_GEMM_FP8] = WEIR_DTYPE_FP8,
    [WEIR_GEMM_FP8_BLOCK] = WEIR_DTYPE_FP8, [WEIR_GEMM_FP4] = WEIR_DTYPE_FP4,
};

/* What a format is calculated in where the hardware has it not. */
static const weir_gemm_format wider[WEIR_GEMM_FORMAT_COUNT] = {
    [WEIR_GEMM_32] = WEIR_GEMM_32,        [WEIR_GEMM_TF32] = WEIR_GEMM_32,
    [WEIR_GEMM_16] = WEIR_GEMM_32,        [WEIR_GEMM_FP8] = WEIR_GEMM_16,
    [WEIR_GEMM_FP8_BLOCK] = WEIR_GEMM_16, [WEIR_GEMM_FP4] = WEIR_GEMM_FP8,
};

/* Bytes of an operand's element, with the scales of its blocks. */
static const double operand_bytes[WEIR_GEMM_FORMAT_COUNT] = {
    [WEIR_GEMM_32] = 4,
    [WEIR_GEMM_TF32] = 4,
    [WEIR_GEMM_16] = 2,
    [WEIR_GEMM_FP8] = 1,
    [WEIR_GEMM_FP8_BLOCK] = 1 + 4.0 / 128,
    [WEIR_GEMM_FP4] = 0.5 + 1.0 / 16,
};

const char *weir_gemm_format_name(weir_gemm_format format)
{
    return format_names[format];
}

const char *weir_attention_kernel_name(weir_attention_kernel kernel)
{
    return kernel_names[kernel];
}

weir_dtype weir_gemm_format_dtype(weir_gemm_format format)
{
    return format_dtypes[format];
}

double weir_gemm_format_peak(const weir_accelerator *accelerator, weir_gemm_format format)
{
    double peak = weir_roofline_peak(accelerator, weir_gemm_format_dtype(format));
    double half = weir_roofline_peak(accelerator, WEIR_DTYPE_FP16);
    return format == WEIR_GEMM_16 && half > peak ? half : peak;
}

double kernel_peak(const weir_accelerator *accelerator, weir_gemm_format format)
{
    double peak = accelerator->peak_flop_per_s[format_dtypes[format]];
    return format == WEIR_GEMM_16 && peak == 0 ? accelerator->peak_flop_per_s[WEIR_DTYPE_FP16]
                                               : peak;
}

bool weir_kernel_has_format(const weir_kernel_times *times, weir_gemm_format format)
{
    return times->calculates_in[format] == format;
}

weir_kernel_basis_kind weir_kernel_basis(const weir_kernel_times *times)
{
    return times->basis;
}

double weir_kernel_steady(const weir_kernel_times *times)
{
    return times->steady;
}

const weir_accelerator *weir_kernel_accelerator(const weir_kernel_times *times)
{
    return times->accelerator;
}

/* --- opening ------------------------------------------------------------------------------ */

static bool is_preset(const char *path)
{
    uint32_t state = 0;
    const char *known;
    while ((known = weir_preset_next("kernel-times", &state))) {
        if (strcmp(known, path) == 0) {
            return true;
        }
    }
    return false;
}

/* One preset after those that it continues. depth: how many continue one another. */
static weir_code read_chain(const char *name, uint32_t depth, struct weir_kernel_times *times,
                            weir_err *err)
{
    enum { MOST_PARENTS = 4 };
    char path[128];
    weir_yaml *doc = NULL;
    if (depth > MOST_PARENTS) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "presets/kernel-times/%s.yaml: more than %d presets continue one "
                            "another",
                            name, MOST_PARENTS);
    }
    snprintf(path, sizeof path, "kernel-times/%s.yaml", name);
    weir_code code = weir_preset_open(path, &doc, err);
    const char *like = code ? NULL : kernel_times_like(doc);
    if (like) {
        code = read_chain(like, depth + 1, times, err);
    }
    if (code == WEIR_OK) {
        code = kernel_times_read(doc, times, err);
    }
    weir_yaml_free(doc);
    return code;
}

static void fill_rates(const struct weir_kernel_times *times, const kernel_gemm_law *law,
                       weir_gemm_format format, kernel_gemm_rates *rates)
{
    rates->peak = kernel_peak(times->accelerator, format) / times->steady;
    rates->operand_bytes = operand_bytes[format];
    rates->aligned = 128 / weir_dtype_bits(format_dtypes[format]);
    double plain = kernel_peak(times->accelerator, WEIR_GEMM_32);
    double ratio = plain > 0 ? kernel_peak(times->accelerator, WEIR_GEMM_16) / plain : 1;
    rates->without_tensor_cores = ratio > 1 ? ratio : 1;
    for (uint32_t i = 0; i < law->tile_count && rates->peak > 0; i++) {
        const kernel_tile *tile = &law->tiles[i];
        double sms = tile->sms < times->sms ? tile->sms : times->sms;
        rates->s_per_depth[i] =
            2.0 * tile->rows * tile->columns / (rates->peak * sms / times->sms * tile->share);
    }
}

void kernel_times_work_out(struct weir_kernel_times *times)
{
    for (uint32_t f = 0; f < WEIR_GEMM_FORMAT_COUNT; f++) {
        weir_gemm_format in = f;
        times->peak[f] = kernel_peak(times->accelerator, f) / times->steady_attention;
        while (kernel_peak(times->accelerator, in) == 0 && wider[in] != in) {
            in = wider[in];
        }
        /* A datasheet may have 16 bits only. */
        times->calculates_in[f] = kernel_peak(times->accelerator, in) > 0 ? in : WEIR_GEMM_16;
        if (!times->has_grouped[f]) {
            times->grouped[f] = times->gemm[f];
        }
        fill_rates(times, &times->gemm[f], f, &times->gemm_rates[f]);
        fill_rates(times, &times->grouped[f], f, &times->grouped_rates[f]);
    }
}

weir_code weir_kernel_times_open(const weir_accelerator *accelerator, weir_kernel_times **times,
                                 weir_err *err)
{
    return weir_kernel_times_open_with(accelerator, NULL, times, err);
}

weir_code weir_kernel_times_open_with(const weir_accelerator *accelerator,
                                      const weir_kernel_options *options, weir_kernel_times **out,
                                      weir_err *err)
{
    static const weir_kernel_options none = {0};
    char path[128];
    weir_kernel_times *times = calloc(1, sizeof *times);
    if (!times) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for kernel times");
    }
    options = options ? options : &none;
    times->accelerator = accelerator;
    times->steady = times->steady_attention = 1;
    times->sms = accelerator->sm_count ? accelerator->sm_count : 1;
    snprintf(path, sizeof path, "kernel-times/%s.yaml", accelerator->id);
    bool is_known = !options->datasheet && is_preset(path);
    weir_code code = read_chain(is_known ? accelerator->id : "datasheet", 0, times, err);
    if (code == WEIR_OK && kernel_peak(accelerator, WEIR_GEMM_16) == 0 &&
        kernel_peak(accelerator, WEIR_GEMM_32) == 0) {
        code = weir_err_set(err, WEIR_ERR_INPUT,
                            "presets/accelerators/%s.yaml: neither a 16-bit nor a 32-bit peak: "
                            "kernels have no time",
                            accelerator->id);
    }
    if (code != WEIR_OK) {
        weir_kernel_times_free(times);
        return code;
    }
    if (options->isolated) {
        times->steady = times->steady_attention = 1;
    }
    kernel_times_work_out(times);
    *out = times;
    return WEIR_OK;
}

void weir_kernel_times_free(weir_kernel_times *times)
{
    free(times);
}
