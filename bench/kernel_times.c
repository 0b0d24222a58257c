/* kernel_times.c: prints the seconds of kernels whose shapes come on standard input, one a line, so
 * that tools/ judge the C code and not a copy of it.
 *
 *   kernel_times ACCELERATOR < shapes
 *   gemm FORMAT M N K BATCH ACCUMULATES
 *   grouped FORMAT M N K GROUPS LOAD
 *   attention KERNEL forward|backward SEQUENCES HEADS KV_HEADS QUERIES KEYS QK_DIM VALUE_DIM PAIRS
 *   memory BYTES
 *   quantise FORMAT ELEMENTS
 *   cost                      nanoseconds of a call of weir_gemm_s, over many shapes
 */
#include "machine/kernel_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool format_of(const char *name, weir_gemm_format *format)
{
    for (uint32_t f = 0; f < WEIR_GEMM_FORMAT_COUNT; f++) {
        if (strcmp(name, weir_gemm_format_name(f)) == 0) {
            *format = f;
            return true;
        }
    }
    return false;
}

static bool kernel_of(const char *name, weir_attention_kernel *kernel)
{
    for (uint32_t k = 0; k < WEIR_ATTENTION_KERNEL_COUNT; k++) {
        if (strcmp(name, weir_attention_kernel_name(k)) == 0) {
            *kernel = k;
            return true;
        }
    }
    return false;
}

static double cost_ns(const weir_kernel_times *times)
{
    enum { CALLS = 1 << 20 };
    struct timespec begin, end;
    double sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint64_t i = 0; i < CALLS; i++) {
        weir_gemm_shape shape = {
            .m = 1 + i % 8192, .n = 1024 + i % 777, .k = 4096 + i % 99, .format = WEIR_GEMM_16};
        sum += weir_gemm_s(times, &shape);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return sum > 0 ? ((double)(end.tv_sec - begin.tv_sec) * 1e9 +
                      (double)(end.tv_nsec - begin.tv_nsec)) /
                         CALLS
                   : 0;
}

static bool gemm_line(const weir_kernel_times *times, const char *line, double *seconds)
{
    weir_gemm_shape s = {0};
    char kind[16], name[16];
    double last;
    uint64_t count;
    if (sscanf(line, "%15s %15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %lf", kind, name,
               &s.m, &s.n, &s.k, &count, &last) != 7 ||
        !format_of(name, &s.format)) {
        return false;
    }
    if (strcmp(kind, "grouped") == 0) {
        *seconds = weir_grouped_gemm_s(times, &s, count, last);
        return true;
    }
    s.batch = count;
    s.accumulates = last > 0;
    *seconds = weir_gemm_s(times, &s);
    return strcmp(kind, "gemm") == 0;
}

static bool attention_line(const weir_kernel_times *times, const char *line, double *seconds)
{
    weir_attention_shape s = {.format = WEIR_GEMM_16};
    char kernel[16], direction[16];
    if (sscanf(line,
               "attention %15s %15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64 " %lf",
               kernel, direction, &s.sequences, &s.heads, &s.kv_heads, &s.queries, &s.keys,
               &s.qk_dim, &s.value_dim, &s.pairs) != 10 ||
        !kernel_of(kernel, &s.kernel)) {
        return false;
    }
    s.backward = strcmp(direction, "backward") == 0;
    *seconds = weir_attention_s(times, &s);
    return true;
}

static bool line_s(const weir_kernel_times *times, const char *line, double *seconds)
{
    char name[16];
    double value;
    weir_gemm_format format;
    if (sscanf(line, "memory %lf", &value) == 1) {
        *seconds = weir_memory_s(times, value);
        return true;
    }
    if (sscanf(line, "quantise %15s %lf", name, &value) == 2 && format_of(name, &format)) {
        *seconds = weir_quantise_s(times, format, value);
        return true;
    }
    return gemm_line(times, line, seconds) || attention_line(times, line, seconds);
}

static const weir_accelerator *accelerator_of(const weir_accelerators *all, const char *id)
{
    uint32_t count;
    const weir_accelerator *list = weir_accelerators_list(all, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].id, id) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static int answer(const weir_kernel_times *times)
{
    char line[512];
    for (uint32_t row = 1; fgets(line, sizeof line, stdin); row++) {
        double seconds;
        if (strncmp(line, "cost", 4) == 0) {
            printf("%.1f\n", cost_ns(times));
        } else if (line_s(times, line, &seconds)) {
            printf("%.9g\n", seconds);
        } else {
            fprintf(stderr, "kernel_times: line %" PRIu32 ": no kernel: %s", row, line);
            return 2;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    weir_err err = {0};
    weir_accelerators *all = NULL;
    weir_kernel_times *times = NULL;
    const weir_kernel_options isolated = {.isolated = true};
    int rc = 1;
    if (argc != 2) {
        fprintf(stderr, "usage: kernel_times ACCELERATOR < shapes\n");
        return 2;
    }
    if (weir_accelerators_load(&all, &err) == WEIR_OK) {
        const weir_accelerator *accelerator = accelerator_of(all, argv[1]);
        if (!accelerator) {
            fprintf(stderr, "kernel_times: no accelerator is called %s\n", argv[1]);
        } else if (weir_kernel_times_open_with(accelerator, &isolated, &times, &err) == WEIR_OK) {
            rc = answer(times);
        }
    }
    if (err.code) {
        fprintf(stderr, "kernel_times: %s\n", err.text);
    }
    weir_kernel_times_free(times);
    weir_accelerators_free(all);
    return rc;
}
