/* kernel_time_test.c: times of kernels: formulas by hand, limits, properties on every accelerator,
 * published kernels that no fit has seen, bad presets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/kernel_time_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- an accelerator and laws of round figures --- */

static const char products[] = "basis: measured\n"
                               "gemm:\n"
                               "  bf16:\n"
                               "    tiles: [[100, 100, 1, 0.5], [200, 100, 2, 0.8]]\n"
                               "    depth: 100\n"
                               "    tail: 0.25\n"
                               "    fixed: 1 ms\n"
                               "    sustained: 0.6\n"
                               "    burst: 0.8\n"
                               "    heating: 1e12\n"
                               "    memory: 0.5\n"
                               "    split_traffic: 2\n"
                               "    split: 2 ms\n"
                               "    accumulate: 1.5\n"
                               "    misaligned: 3\n"
                               "    source: here\n";

#define ATTENTION                                                                                  \
    "      dims: [[64, 0.4], [128, 0.6]]\n      tile: 128\n      blocks: 2\n      dim_step: 32\n"  \
    "      depth: 100\n      diagonal: 50\n      tail: 0.5\n      fixed: 1 us\n      memory: "     \
    "0.5\n"                                                                                        \
    "      traffic: 1\n      fp8: 0.5\n      source: here\n"

static const char sources[] = "sources: {here: {what: 'a test', confidence: verified}}\n";

static const weir_accelerator machine = {
    .id = "test",
    .name = "Test",
    .peak_flop_per_s =
        {[WEIR_DTYPE_BF16] = 100e12, [WEIR_DTYPE_FP8] = 200e12, [WEIR_DTYPE_FP32] = 100e12 / 6},
    .memory_bytes_per_s = 1e12,
    .sm_count = 10, /* of 10 TFLOP/s */
};

static void read_text(const char *text, struct weir_kernel_times *times)
{
    weir_yaml *doc = NULL;
    weir_err err = {0};
    if (weir_yaml_parse("kernels.yaml", text, strlen(text), &doc, &err) ||
        kernel_times_read(doc, times, &err)) {
        fail_msg("%s", err.text);
    }
    weir_yaml_free(doc);
}

static void make(struct weir_kernel_times *times)
{
    char text[4096];
    *times = (struct weir_kernel_times){
        .accelerator = &machine, .sms = 10, .steady = 1, .steady_attention = 1};
    snprintf(text, sizeof text,
             "%sattention:\n  flash2:\n    forward:\n" ATTENTION "    backward:\n" ATTENTION
             "memory: {share: 0.8, fixed: 2 us, source: here}\n"
             "quantise: {fp8: {bytes: 5, fixed: 3 us, source: here}}\n%s",
             products, sources);
    read_text(text, times);
    kernel_times_work_out(times);
}

static double together(double math, double memory, double power)
{
    return pow(pow(math, 4) + pow(memory, 4) + pow(power, 4), 0.25);
}

#define assert_near(value, expected)                                                               \
    do {                                                                                           \
        double v_ = (value), e_ = (expected);                                                      \
        if (!(fabs(v_ - e_) <= 1e-12 * fabs(e_))) {                                                \
            fail_msg("%s is %.15g, expected %.15g", #value, v_, e_);                               \
        }                                                                                          \
    } while (0)

/* --- products by hand --- */

static void product_is_waves_of_tiles(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    /* 10 x 4 tiles of 200 x 100 on pairs of SMs: 40 tiles, 5 at a time: 8 waves. A pair reaches
     * 0.8 of 20 TFLOP/s. (Tiles of 100 x 100 on one SM: 0.5 of 10 TFLOP/s.) */
    weir_gemm_shape shape = {.m = 2000, .n = 400, .k = 80000, .format = WEIR_GEMM_16};
    double math = 8 * (2.0 * 200 * 100 * (80000 + 100)) / (0.8 * 20e12);
    double flop = 2.0 * 2000 * 400 * 80000;
    double power = flop / (100e12 * (0.6 + 0.2 / (1 + flop / 1e12)));
    double memory = 2.0 * (2000.0 * 80000 + 400.0 * 80000 + 2000.0 * 400) / 0.5e12;
    assert_near(weir_gemm_s(&times, &shape), together(math, memory, power) + 1e-3);
}

static void last_wave_counts_by_its_filling(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    /* 6 tiles on 5 pairs: one wave and a fifth, of which the first quarter is lost. */
    weir_gemm_shape shape = {.m = 1200, .n = 104, .k = 800000, .format = WEIR_GEMM_16};
    shape.n = 96; /* still a whole tile of 100 columns */
    double math = (1 + 0.25 + 0.75 * 0.2) * (2.0 * 200 * 100 * (800000 + 100)) / (0.8 * 20e12);
    double flop = 2.0 * 1200 * 96 * 800000;
    double power = flop / (100e12 * (0.6 + 0.2 / (1 + flop / 1e12)));
    double memory = 2.0 * (1296.0 * 800000 + 1200.0 * 96) / 0.5e12;
    assert_near(weir_gemm_s(&times, &shape), together(math, memory, power) + 1e-3);
}

static void few_tiles_split_k(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    /* One tile on one of 5 pairs. In 4 parts of k it is still one wave; partial sums, 4 bytes each,
     * are moved twice. (In 8 parts: 1.7 waves of an eighth. Two tiles on single SMs: slower.) */
    weir_gemm_shape shape = {.m = 200, .n = 96, .k = 8000000, .format = WEIR_GEMM_16};
    double sums = 2 * 4.0 * 200 * 96 / 1e12;
    double four = 2.0 * 200 * 100 * (2000000 + 100) / (0.8 * 20e12) + 4 * sums + 2e-3;
    double eight = (1 + 0.25 + 0.75 * 0.6) * 2.0 * 200 * 100 * (1000000 + 100) / (0.8 * 20e12) +
                   8 * sums + 2e-3;
    double math = four < eight ? four : eight;
    double flop = 2.0 * 200 * 96 * 8000000;
    double power = flop / (100e12 * (0.6 + 0.2 / (1 + flop / 1e12)));
    double memory = 2.0 * (296.0 * 8000000 + 200.0 * 96) / 0.5e12;
    assert_near(weir_gemm_s(&times, &shape), together(math, memory, power) + 1e-3);
}

static void result_of_32_bits_costs_traffic_and_time(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    weir_gemm_shape shape = {
        .m = 2000, .n = 400, .k = 80000, .format = WEIR_GEMM_16, .accumulates = true};
    double math = 1.5 * 8 * (2.0 * 200 * 100 * (80000 + 100)) / (0.8 * 20e12);
    double flop = 2.0 * 2000 * 400 * 80000;
    double power = flop / (100e12 * (0.6 + 0.2 / (1 + flop / 1e12)));
    double memory = (2.0 * 2400 * 80000 + 8.0 * 2000 * 400) / 0.5e12;
    assert_near(weir_gemm_s(&times, &shape), together(math, memory, power) + 1e-3);
}

static void odd_rows_starve_tensor_cores(void **state)
{
    (void)state;
    static const struct {
        uint64_t n, k, batch;
        double times;
    } rows[] = {{400, 80000, 1, 1}, {400, 80001, 1, 3}, {400, 80004, 1, 3}, {399, 80000, 1, 3},
                {398, 80002, 1, 3}, {400, 80000, 5, 1}, {399, 80000, 5, 6}, {400, 80001, 5, 6}};
    struct weir_kernel_times times;
    make(&times);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double n = (double)rows[i].n, k = (double)rows[i].k, batch = (double)rows[i].batch;
        weir_gemm_shape shape = {.m = 2000,
                                 .n = rows[i].n,
                                 .k = rows[i].k,
                                 .batch = rows[i].batch,
                                 .format = WEIR_GEMM_16};
        double math = rows[i].times * 8 * batch * (2.0 * 200 * 100 * (k + 100)) / (0.8 * 20e12);
        double flop = 2.0 * 2000 * n * k * batch;
        double power = flop / (100e12 * (0.6 + 0.2 / (1 + flop / 1e12)));
        double memory = batch * 2.0 * (2000 * k + n * k + 2000 * n) / 0.5e12;
        assert_near(weir_gemm_s(&times, &shape), together(math, memory, power) + 1e-3);
    }
}

static void groups_round_up_each(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    /* 4 experts of 150 rows: 2 tiles of 100 (or one of 200) each, 4 x 4 pairs: 16 / 5 waves. */
    weir_gemm_shape shape = {.m = 600, .n = 400, .k = 80000, .format = WEIR_GEMM_16};
    double waves = 3 + 0.25 + 0.75 * 0.2;
    double math = waves * (2.0 * 200 * 100 * (80000 + 100)) / (0.8 * 20e12);
    double flop = 2.0 * 600 * 400 * 80000;
    double power = flop / (100e12 * (0.6 + 0.2 / (1 + flop / 1e12)));
    double memory = 2.0 * (600.0 * 80000 + 4 * 400.0 * 80000 + 600.0 * 400) / 0.5e12;
    assert_near(weir_grouped_gemm_s(&times, &shape, 4, 1), together(math, memory, power) + 1e-3);
    /* Of chance sizes half a tile of each is empty: 3 + 2 row tiles. */
    waves = 4;
    math = waves * (2.0 * 200 * 100 * (80000 + 100)) / (0.8 * 20e12);
    assert_near(weir_grouped_gemm_s(&times, &shape, 4, 2), together(math, memory, power) + 1e-3);
}

/* --- the other kernels by hand --- */

static void attention_is_waves_of_query_tiles(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    /* 4 heads of 32 tiles: 128 blocks on 20 places: 6.4 waves, counted as 6 + 0.5 + 0.2. */
    weir_attention_shape shape = {.sequences = 1,
                                  .heads = 4,
                                  .kv_heads = 2,
                                  .queries = 4096,
                                  .keys = 4096,
                                  .qk_dim = 96,
                                  .value_dim = 96,
                                  .pairs = 4096.0 * 4096,
                                  .kernel = WEIR_ATTENTION_FLASH2,
                                  .format = WEIR_GEMM_16};
    double key_s = 128 * (2.0 * 192) / (0.5 * 100e12 / 20); /* share at 96: half way to 128 */
    assert_near(weir_attention_s(&times, &shape), 6.7 * (4096 + 100) * key_s + 1e-6);
    /* Five products instead of two. */
    shape.backward = true;
    assert_near(weir_attention_s(&times, &shape), 2.5 * 6.7 * (4096 + 100) * key_s + 1e-6);
    /* Causal: half of the pairs, and the edge. */
    shape.backward = false;
    shape.pairs = 4096.0 * 4097 / 2;
    assert_near(weir_attention_s(&times, &shape), 6.7 * (2048.5 + 150) * key_s + 1e-6);
    /* One head: the longest block of the only wave. */
    shape.heads = 1;
    shape.queries = 128;
    shape.pairs = 4032.5 * 128;
    assert_near(weir_attention_s(&times, &shape), (4096 + 150) * key_s + 1e-6);
    /* 72 is calculated as 96. */
    shape.qk_dim = shape.value_dim = 72;
    assert_near(weir_attention_s(&times, &shape), (4096 + 150) * key_s + 1e-6);
}

static void documents_packed_into_a_sequence_bound_their_blocks(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    /* One head, 4096 tokens in documents of 512: 32 blocks on 20 places, 256.5 keys on average; the
     * longest block sees 513, not 4096. */
    weir_attention_shape shape = {.sequences = 1,
                                  .heads = 1,
                                  .kv_heads = 1,
                                  .queries = 4096,
                                  .keys = 4096,
                                  .qk_dim = 128,
                                  .value_dim = 128,
                                  .pairs = 4096 * 256.5,
                                  .kernel = WEIR_ATTENTION_FLASH2,
                                  .format = WEIR_GEMM_16};
    double key_s = 128 * (2.0 * 256) / (0.6 * 100e12 / 20);
    double waves = (1 + 0.5 + 0.5 * 0.6) * (256.5 + 150) * key_s, longest = (513 + 150) * key_s;
    assert_near(weir_attention_s(&times, &shape), (waves > longest ? waves : longest) + 1e-6);
}

static void steady_load_lowers_the_clock(void **state)
{
    (void)state;
    struct weir_kernel_times alone, hot;
    make(&alone);
    hot = alone;
    hot.steady = 1.5;
    hot.steady_attention = 1.25;
    kernel_times_work_out(&hot);
    /* Bound by arithmetic, so all but the fixed part and the memory's share of it grows. */
    weir_gemm_shape shape = {.m = 20000, .n = 20000, .k = 20000, .format = WEIR_GEMM_16};
    double ratio = (weir_gemm_s(&hot, &shape) - 1e-3) / (weir_gemm_s(&alone, &shape) - 1e-3);
    assert_true(ratio > 1.499 && ratio <= 1.5);
    weir_attention_shape attention = {.sequences = 8,
                                      .heads = 8,
                                      .kv_heads = 8,
                                      .queries = 4096,
                                      .keys = 4096,
                                      .qk_dim = 128,
                                      .value_dim = 128,
                                      .pairs = 4096.0 * 4096,
                                      .kernel = WEIR_ATTENTION_FLASH2,
                                      .format = WEIR_GEMM_16};
    assert_near((weir_attention_s(&hot, &attention) - 1e-6) /
                    (weir_attention_s(&alone, &attention) - 1e-6),
                1.25);
    assert_near(weir_memory_s(&hot, 1e9), weir_memory_s(&alone, 1e9));
}

static void bytes_take_their_time(void **state)
{
    (void)state;
    struct weir_kernel_times times;
    make(&times);
    assert_near(weir_memory_s(&times, 4e9), 2e-6 + 4e9 / 0.8e12);
    assert_near(weir_quantise_s(&times, WEIR_GEMM_FP8, 1e9), 3e-6 + 5e9 / 0.8e12);
    assert_near(weir_quantise_s(&times, WEIR_GEMM_16, 1e9), 0);
    assert_near(weir_quantise_s(&times, WEIR_GEMM_32, 1e9), 0);
}

/* --- every accelerator --- */

typedef struct {
    weir_accelerators *all;
    const weir_accelerator *list;
    uint32_t count;
} world;

static void open_world(world *w)
{
    weir_err err = {0};
    if (weir_accelerators_load(&w->all, &err)) {
        fail_msg("%s", err.text);
    }
    w->list = weir_accelerators_list(w->all, &w->count);
}

static const weir_accelerator *named(const world *w, const char *id)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (strcmp(w->list[i].id, id) == 0) {
            return &w->list[i];
        }
    }
    fail_msg("no accelerator %s", id);
    return NULL;
}

static weir_kernel_times *opened(const weir_accelerator *accelerator,
                                 const weir_kernel_options *options)
{
    weir_err err = {0};
    weir_kernel_times *times = NULL;
    if (weir_kernel_times_open_with(accelerator, options, &times, &err)) {
        fail_msg("%s: %s", accelerator->id, err.text);
    }
    return times;
}

static uint64_t random_below(uint64_t *seed, uint64_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % below;
}

static weir_gemm_shape random_shape(uint64_t *seed)
{
    return (weir_gemm_shape){
        .m = 1 + random_below(seed, 20000),
        .n = 32 * (1 + random_below(seed, 600)), /* aligned in each format */
        .k = 128 * (1 + random_below(seed, 160)),
        .batch = 1 + random_below(seed, 4),
        .format = (weir_gemm_format)random_below(seed, WEIR_GEMM_FORMAT_COUNT),
        .accumulates = random_below(seed, 2),
    };
}

/* Whatever the tiles: more rows, columns, steps of k or products take no less. */
static void more_takes_no_less(void **state)
{
    (void)state;
    world w;
    uint64_t seed = 42;
    open_world(&w);
    for (uint32_t i = 0; i < w.count; i++) {
        weir_kernel_times *times = opened(&w.list[i], NULL);
        for (int n = 0; n < 200; n++) {
            weir_gemm_shape shape = random_shape(&seed), more[4] = {shape, shape, shape, shape};
            more[0].m += 1 + random_below(&seed, 300);
            more[1].n += 32 * (1 + random_below(&seed, 50));
            more[2].k += 128 * (1 + random_below(&seed, 20));
            more[3].batch++;
            double least = weir_gemm_s(times, &shape) * (1 - 1e-12);
            for (int j = 0; j < 4; j++) {
                if (weir_gemm_s(times, &more[j]) < least) {
                    fail_msg("%s: %d: %g s for m %lu n %lu k %lu batch %lu, %g s for less",
                             w.list[i].id, j, weir_gemm_s(times, &more[j]),
                             (unsigned long)more[j].m, (unsigned long)more[j].n,
                             (unsigned long)more[j].k, (unsigned long)more[j].batch, least);
                }
            }
        }
        weir_kernel_times_free(times);
    }
    weir_accelerators_free(w.all);
}

static void nothing_beats_the_roofline(void **state)
{
    (void)state;
    world w;
    uint64_t seed = 7;
    open_world(&w);
    for (uint32_t i = 0; i < w.count; i++) {
        weir_kernel_options isolated = {.isolated = true};
        weir_kernel_times *times = opened(&w.list[i], &isolated);
        assert_near(weir_kernel_steady(times), 1);
        for (int n = 0; n < 200; n++) {
            weir_gemm_shape s = random_shape(&seed);
            s.format = WEIR_GEMM_16;
            double peak = kernel_peak(&w.list[i], WEIR_GEMM_16);
            double elements = (double)(s.batch * (s.m * s.k + s.n * s.k));
            double flop = 2.0 * (double)s.batch * (double)s.m * (double)s.n * (double)s.k;
            double seconds = weir_gemm_s(times, &s);
            assert_true(peak == 0 || seconds > flop / peak);
            assert_true(seconds > 2 * elements / w.list[i].memory_bytes_per_s);
            assert_true(isfinite(seconds));
            /* Half of the SMs take longer, at most twice as long and a wave. */
            s.sm_share = 0.5;
            assert_true(weir_gemm_s(times, &s) >= seconds);
        }
        assert_true(weir_memory_s(times, 1e9) > 1e9 / w.list[i].memory_bytes_per_s);
        weir_kernel_times_free(times);
    }
    weir_accelerators_free(w.all);
}

static void attention_has_a_time_everywhere(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    for (uint32_t i = 0; i < w.count; i++) {
        weir_kernel_times *times = opened(&w.list[i], NULL);
        for (uint32_t kernel = 0; kernel < WEIR_ATTENTION_KERNEL_COUNT; kernel++) {
            weir_attention_shape s = {.sequences = 2,
                                      .heads = 16,
                                      .kv_heads = 2,
                                      .queries = 4096,
                                      .keys = 4096,
                                      .qk_dim = 128,
                                      .value_dim = 128,
                                      .pairs = 4096.0 * 4097 / 2,
                                      .kernel = kernel,
                                      .format = WEIR_GEMM_16};
            double forward = weir_attention_s(times, &s);
            assert_true(isfinite(forward) && forward > 0);
            s.backward = true;
            assert_true(weir_attention_s(times, &s) > 1.5 * forward);
            assert_true(weir_attention_s(times, &s) < 6 * forward);
            s.backward = false;
            s.pairs = 4096.0 * 4096;
            assert_true(weir_attention_s(times, &s) > forward);
            s.sequences *= 2;
            assert_true(weir_attention_s(times, &s) > 1.5 * forward);
        }
        weir_kernel_times_free(times);
    }
    weir_accelerators_free(w.all);
}

static void basis_says_what_the_times_stand_on(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    static const struct {
        const char *id;
        weir_kernel_basis_kind basis;
    } known[] = {{"h100-sxm", WEIR_BASIS_MEASURED},    {"a100-sxm-80gb", WEIR_BASIS_MEASURED},
                 {"b200-sxm", WEIR_BASIS_MEASURED},    {"gb200", WEIR_BASIS_MEASURED},
                 {"h800-sxm", WEIR_BASIS_FAMILY},      {"a100-sxm-40gb", WEIR_BASIS_FAMILY},
                 {"gb300", WEIR_BASIS_FAMILY},         {"v100-sxm-32gb", WEIR_BASIS_DATASHEET},
                 {"tpu-v4", WEIR_BASIS_DATASHEET},     {"mi300x", WEIR_BASIS_DATASHEET},
                 {"ascend-910b", WEIR_BASIS_DATASHEET}};
    for (uint32_t i = 0; i < sizeof known / sizeof *known; i++) {
        weir_kernel_times *times = opened(named(&w, known[i].id), NULL);
        if (weir_kernel_basis(times) != known[i].basis) {
            fail_msg("%s has basis %d, expected %d", known[i].id, (int)weir_kernel_basis(times),
                     (int)known[i].basis);
        }
        weir_kernel_times_free(times);
    }
    weir_kernel_options datasheet = {.datasheet = true};
    weir_kernel_times *times = opened(named(&w, "h100-sxm"), &datasheet);
    assert_int_equal(weir_kernel_basis(times), WEIR_BASIS_DATASHEET);
    assert_ptr_equal(weir_kernel_accelerator(times), named(&w, "h100-sxm"));
    weir_kernel_times_free(times);
    weir_accelerators_free(w.all);
}

static void missing_formats_are_calculated_in_wider_ones(void **state)
{
    (void)state;
    world w;
    open_world(&w);
    weir_kernel_times *a100 = opened(named(&w, "a100-sxm-80gb"), NULL);
    weir_kernel_times *h100 = opened(named(&w, "h100-sxm"), NULL);
    weir_gemm_shape shape = {.m = 4096, .n = 4096, .k = 4096, .format = WEIR_GEMM_16};
    double sixteen = weir_gemm_s(a100, &shape);
    shape.format = WEIR_GEMM_FP8;
    assert_false(weir_kernel_has_format(a100, WEIR_GEMM_FP8));
    assert_near(weir_gemm_s(a100, &shape), sixteen);
    assert_near(weir_quantise_s(a100, WEIR_GEMM_FP8, 1e8), 0);
    assert_true(weir_kernel_has_format(h100, WEIR_GEMM_FP8));
    double eight = weir_gemm_s(h100, &shape);
    shape.format = WEIR_GEMM_FP4;
    assert_false(weir_kernel_has_format(h100, WEIR_GEMM_FP4));
    assert_near(weir_gemm_s(h100, &shape), eight);
    weir_kernel_times_free(a100);
    weir_kernel_times_free(h100);
    weir_accelerators_free(w.all);
}

/* --- published kernels that no fit has seen (data/kernels: deepseek_kernels, gemm_peak) --- */

static void published_products_come_out(void **state)
{
    (void)state;
    static const struct {
        const char *accelerator;
        weir_gemm_format format;
        uint64_t m, n, k, groups;
        double tflop_per_s, within;
    } rows[] = {
        /* DeepGEMM on H800, first revision */
        {"h800-sxm", WEIR_GEMM_FP8_BLOCK, 4096, 7168, 16384, 0, 1358, 0.08},
        {"h800-sxm", WEIR_GEMM_FP8_BLOCK, 4096, 4096, 7168, 0, 1304, 0.08},
        {"h800-sxm", WEIR_GEMM_FP8_BLOCK, 4096, 24576, 1536, 0, 990, 0.08},
        {"h800-sxm", WEIR_GEMM_FP8_BLOCK, 4096, 7168, 2048, 0, 1025, 0.08},
        {"h800-sxm", WEIR_GEMM_FP8_BLOCK, 32768, 4096, 7168, 4, 1297, 0.08},
        {"h800-sxm", WEIR_GEMM_FP8_BLOCK, 32768, 7168, 2048, 8, 1093, 0.08},
        /* ml-engineering, the fastest shape: biased upwards */
        {"a100-sxm-80gb", WEIR_GEMM_16, 1024, 10240, 5120, 0, 271.2, 0.10},
        {"a100-pcie-80gb", WEIR_GEMM_16, 2048, 5120, 6144, 0, 252.9, 0.10},
        {"h100-sxm", WEIR_GEMM_16, 2048, 2048, 13312, 0, 794.5, 0.10},
        {"b200-sxm", WEIR_GEMM_16, 1792, 16128, 3072, 0, 1745, 0.15},
        {"gb200", WEIR_GEMM_16, 4096, 9728, 2048, 0, 1822, 0.15},
        /* Azure, warm */
        {"a100-sxm-80gb", WEIR_GEMM_16, 8192, 8192, 8192, 0, 253.7, 0.10},
        {"h100-sxm", WEIR_GEMM_FP8, 16384, 16384, 16384, 0, 1377.3, 0.10},
    };
    world w;
    open_world(&w);
    weir_kernel_options isolated = {.isolated = true};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_kernel_times *times = opened(named(&w, rows[i].accelerator), &isolated);
        weir_gemm_shape shape = {
            .m = rows[i].m, .n = rows[i].n, .k = rows[i].k, .format = rows[i].format};
        double seconds = rows[i].groups ? weir_grouped_gemm_s(times, &shape, rows[i].groups, 1)
                                        : weir_gemm_s(times, &shape);
        double rate = 2e-12 * (double)rows[i].m * (double)rows[i].n * (double)rows[i].k / seconds;
        if (fabs(rate / rows[i].tflop_per_s - 1) > rows[i].within) {
            fail_msg("%s %lu x %lu x %lu: %.0f TFLOP/s, published %.0f", rows[i].accelerator,
                     (unsigned long)rows[i].m, (unsigned long)rows[i].n, (unsigned long)rows[i].k,
                     rate, rows[i].tflop_per_s);
        }
        weir_kernel_times_free(times);
    }
    weir_accelerators_free(w.all);
}

/* --- bad presets --- */

static void bad_presets_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"gemm: {}\n", "kernels.yaml:1:1: "},
        {"basis: guessed\n", "kernels.yaml:1:8: found 'guessed'"},
        {"basis: measured\ngemms: {}\n", "kernels.yaml:2:1: "},
        {"basis: measured\ngemm:\n  bf17: {}\n", "kernels.yaml:3:3: "},
        {"basis: measured\ngemm:\n  bf16: {depth: 1, source: here}\n", "kernels.yaml:3:9: "},
        {"basis: measured\ngemm:\n  bf16: {tiles: [[1, 2, 3, 0.5]]}\n", "kernels.yaml:3:"},
        {"basis: measured\ngemm:\n  bf16: {tiles: [[1, 2, 3, 1.5]], source: here}\n",
         "kernels.yaml:3:18: "},
        {"basis: measured\ngemm:\n  bf16: {tiles: [[1.5, 2, 3, 1]], source: here}\n",
         "kernels.yaml:3:18: "},
        {"basis: measured\ngemm:\n  bf16: {tiles: [], source: here}\n", "kernels.yaml:3:17: "},
        {"basis: measured\ngemm:\n  bf16: {tiles: [[1, 2, 3, 1]], source: there}\n",
         "kernels.yaml:3:41: found 'there', expected a key of `sources`"},
        {"basis: measured\ngemm:\n  bf16: {tiles: [[1, 2, 3, 1]], fixed: 3, source: here}\n",
         "kernels.yaml:3:40: found '3'"},
        {"basis: measured\ngemm:\n  bf16: {tiles: [[1, 2, 3, 1]], sustained: 1.2, source: here}\n",
         "kernels.yaml:3:44: found '1.2'"},
        {"basis: measured\ngemm:\n  bf16:\n    tiles: [[1, 2, 3, 1]]\n    sustained: 0.5\n"
         "    burst: 0.4\n    source: here\n",
         "burst is 0.4, expected at least sustained, 0.5"},
        {"basis: measured\nattention:\n  flash4: {}\n", "kernels.yaml:3:3: "},
        {"basis: measured\nattention:\n  flash2:\n    sideways: {}\n", "kernels.yaml:4:5: "},
        {"basis: measured\nattention:\n  flash2:\n    forward: {dims: [[128, 0.5], [64, 0.5]], "
         "source: here}\n",
         "kernels.yaml:4:34: "},
        {"basis: measured\nmemory: {share: 0, source: here}\n", "kernels.yaml:2:17: found '0'"},
        {"basis: measured\npower: {steady: 40, source: here}\n", "kernels.yaml:2:17: found '40'"},
        {"basis: measured\nquantise:\n  bf16: {bytes: 1, source: here}\n", "kernels.yaml:3:3: "},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weir_kernel_times times = {
            .accelerator = &machine, .sms = 10, .steady = 1, .steady_attention = 1};
        char text[1024];
        weir_yaml *doc = NULL;
        weir_err err = {0};
        snprintf(text, sizeof text, "%s%s", bad[i].text, sources);
        assert_int_equal(weir_yaml_parse("kernels.yaml", text, strlen(text), &doc, &err), WEIR_OK);
        if (kernel_times_read(doc, &times, &err) != WEIR_ERR_INPUT ||
            !strstr(err.text, bad[i].error)) {
            fail_msg("bad preset %u: '%s', expected '%s'", i, err.text, bad[i].error);
        }
        weir_yaml_free(doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_is_waves_of_tiles),
        cmocka_unit_test(last_wave_counts_by_its_filling),
        cmocka_unit_test(few_tiles_split_k),
        cmocka_unit_test(result_of_32_bits_costs_traffic_and_time),
        cmocka_unit_test(odd_rows_starve_tensor_cores),
        cmocka_unit_test(groups_round_up_each),
        cmocka_unit_test(attention_is_waves_of_query_tiles),
        cmocka_unit_test(documents_packed_into_a_sequence_bound_their_blocks),
        cmocka_unit_test(steady_load_lowers_the_clock),
        cmocka_unit_test(bytes_take_their_time),
        cmocka_unit_test(more_takes_no_less),
        cmocka_unit_test(nothing_beats_the_roofline),
        cmocka_unit_test(attention_has_a_time_everywhere),
        cmocka_unit_test(basis_says_what_the_times_stand_on),
        cmocka_unit_test(missing_formats_are_calculated_in_wider_ones),
        cmocka_unit_test(published_products_come_out),
        cmocka_unit_test(bad_presets_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
