/* Accelerators of the presets, and units. Figures are typed from the datasheets anew. */
#include "machine/accelerator.h"
#include "scenario/unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka's own comparison is in single precision. */
static void expect_near(double found, double expected, double allowed)
{
    double off = found > expected ? found - expected : expected - found;
    if (!(off <= allowed)) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

static weir_accelerators *load(void)
{
    weir_accelerators *all = NULL;
    weir_err err = {0};
    if (weir_accelerators_load(&all, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return all;
}

/* Names, SM counts and memory as deviceProperties of public traces have them. */
static void finds_devices_by_the_name_that_drivers_report(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t sm_count;
        uint64_t memory;
        const char *id;
    } seen[] = {
        {"NVIDIA H100 80GB HBM3", 132, 85018279936, "h100-sxm"},
        {"NVIDIA H100 PCIe", 114, 85018279936, "h100-pcie"},
        {"NVIDIA H200", 132, 150121283584, "h200-sxm"},
        {"NVIDIA A100-SXM4-40GB", 108, 42314694656, "a100-sxm-40gb"},
        {"NVIDIA A100-SXM4-80GB", 108, 84990623744, "a100-sxm-80gb"},
        {"NVIDIA A100-PG509-200", 108, 42505273344, "a100-sxm-40gb"},
        {"NVIDIA A100 80GB PCIe", 108, 85049999360, "a100-pcie-80gb"},
        {"Tesla V100-SXM2-16GB", 80, 16945709056, "v100-sxm-16gb"},
        {"Tesla V100-DGXS-32GB", 80, 34087305216, "v100-sxm-32gb"},
        {"NVIDIA GeForce RTX 2080 Ti", 68, 11554586624, "rtx-2080-ti"},
        {"Quadro GP100", 56, 17069309952, "gp100"},
        {"AMD Instinct MI300X VF", 304, 205571227648, "mi300x"},
        {"AMD Instinct MI350X", 256, 309220868096, "mi350x"},
        {"AMD Instinct MI210", 104, 68702699520, "mi210"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 188, 102641958912, "rtx-pro-6000"},
        {"Ascend910B2", 0, 0, "ascend-910b"},
        {"", 304, 206141652992, "mi300x"}, /* a container that hides the name */
        {"AMD Radeon Graphics", 104, 68702699520, "mi210"},
    };
    weir_accelerators *all = load();
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        const weir_accelerator *a = weir_accelerators_find(all, weir_str_from(seen[i].name),
                                                           seen[i].sm_count, seen[i].memory);
        if (!a || strcmp(a->id, seen[i].id) != 0) {
            fail_msg("'%s': found %s, expected %s", seen[i].name, a ? a->id : "nothing",
                     seen[i].id);
        }
    }
    assert_null(weir_accelerators_find(all, WEIR_STR("NVIDIA GeForce GTX 1080"), 20, 8u << 30));
    assert_null(weir_accelerators_find(all, WEIR_STR(""), 0, 0));
    weir_accelerators_free(all);
}

static void has_the_figures_of_the_datasheets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        weir_dtype dtype;
        double tera_flop_per_s, giga_bytes_per_s;
    } figures[] = {
        {"NVIDIA H100 80GB HBM3", WEIR_DTYPE_BF16, 989.4, 3350},
        {"NVIDIA H100 80GB HBM3", WEIR_DTYPE_FP8, 1978.9, 3350},
        {"NVIDIA A100-SXM4-80GB", WEIR_DTYPE_BF16, 312, 2039},
        {"NVIDIA A100-SXM4-40GB", WEIR_DTYPE_TF32, 156, 1555},
        {"Tesla V100-SXM2-32GB", WEIR_DTYPE_FP16, 125, 900},
        {"Tesla V100-SXM2-32GB", WEIR_DTYPE_BF16, 0, 900}, /* Volta has no bf16 */
        {"AMD Instinct MI300X", WEIR_DTYPE_BF16, 1307.4, 5300},
        {"NVIDIA B200", WEIR_DTYPE_FP4, 9000, 7700},
    };
    weir_accelerators *all = load();
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const weir_accelerator *a =
            weir_accelerators_find(all, weir_str_from(figures[i].name), 0, 0);
        assert_non_null(a);
        expect_near(a->peak_flop_per_s[figures[i].dtype] / 1e12, figures[i].tera_flop_per_s, 0.001);
        expect_near(a->memory_bytes_per_s / 1e9, figures[i].giga_bytes_per_s, 0.001);
    }
    weir_accelerators_free(all);
}

static void every_accelerator_has_a_peak_and_plausible_memory(void **state)
{
    (void)state;
    uint32_t count;
    weir_accelerators *all = load();
    const weir_accelerator *list = weir_accelerators_list(all, &count);
    assert_true(count >= 25);
    for (uint32_t i = 0; i < count; i++) {
        double peak = 0;
        for (int d = 0; d < WEIR_DTYPE_COUNT; d++) {
            peak = list[i].peak_flop_per_s[d] > peak ? list[i].peak_flop_per_s[d] : peak;
        }
        bool plausible = peak > 1e13 && peak < 1e17 && list[i].memory_bytes > 1e10 &&
                         list[i].memory_bytes < 1e12 && list[i].memory_bytes_per_s > 1e11 &&
                         list[i].memory_bytes_per_s < 1e14; /* variants may have no name */
        if (!plausible) {
            fail_msg("%s has an implausible figure", list[i].id);
        }
        if (i > 0) {
            assert_true(strcmp(list[i - 1].id, list[i].id) < 0);
        }
    }
    weir_accelerators_free(all);
}

static void expect_unit(const char *text, weir_dimension dimension, double expected)
{
    double value = -1;
    if (!weir_unit_parse(weir_str_from(text), dimension, &value) || value != expected) {
        fail_msg("'%s': found %.17g, expected %.17g", text, value, expected);
    }
}

static void keeps_bits_bytes_and_prefixes_apart(void **state)
{
    (void)state;
    expect_unit("80 GiB", WEIR_DIMENSION_BYTES, 85899345920.0);
    expect_unit("80 GB", WEIR_DIMENSION_BYTES, 80e9);
    expect_unit("400 Gb/s", WEIR_DIMENSION_BYTES_PER_S, 50e9);
    expect_unit("3.35 TB/s", WEIR_DIMENSION_BYTES_PER_S, 3.35e12);
    expect_unit("25 ms", WEIR_DIMENSION_SECONDS, 0.025);
    expect_unit("1e3 us", WEIR_DIMENSION_SECONDS, 1000 * 1e-6);
    expect_unit("989.4 TFLOP/s", WEIR_DIMENSION_FLOP_PER_S, 989.4e12);
    double value;
    static const char *const bad[] = {"80",      "GiB",  "80 gib", "-1 GiB", "80 GiB/s", "",
                                      "1.2.3 B", "1e B", "0x10 B", " 80 GB", "inf B",    "nan B"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (weir_unit_parse(weir_str_from(bad[i]), WEIR_DIMENSION_BYTES, &value)) {
            fail_msg("'%s' was taken for a size", bad[i]);
        }
    }
}

static void reads_numbers_like_the_c_library(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } numbers[] = {{"0.1", 0.1},
                   {"123456.789", 123456.789},
                   {"-2.5e-3", -2.5e-3},
                   {"1e22", 1e22},
                   {"9007199254740993", 9007199254740992.0},
                   {"0.000001", 1e-6},
                   {"100000000000000000000", 1e20}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double value = 0;
        assert_true(weir_number_parse(weir_str_from(numbers[i].text), &value));
        if (value != numbers[i].value) {
            fail_msg("%s: found %.17g, expected %.17g", numbers[i].text, value, numbers[i].value);
        }
    }
    double value;
    assert_false(weir_number_parse(WEIR_STR("1e999"), &value));
    assert_false(weir_number_parse(WEIR_STR("."), &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_devices_by_the_name_that_drivers_report),
        cmocka_unit_test(has_the_figures_of_the_datasheets),
        cmocka_unit_test(every_accelerator_has_a_peak_and_plausible_memory),
        cmocka_unit_test(keeps_bits_bytes_and_prefixes_apart),
        cmocka_unit_test(reads_numbers_like_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
