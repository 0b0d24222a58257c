/* The roofline rule, and FLOP and bytes of recorded operations, worked out by hand. */
#include "classify/kernel_name.h"
#include "classify/op_cost.h"
#include "machine/roofline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

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

static void belongs_to_the_larger_side(void **state)
{
    (void)state;
    weir_accelerator a = {.memory_bytes_per_s = 1e12};
    a.peak_flop_per_s[WEIR_DTYPE_BF16] = 100e12; /* ridge 100 FLOP/byte */
    expect_near(weir_roofline_ridge(&a, WEIR_DTYPE_BF16), 100, 1e-9);
    assert_true(weir_roofline_is_math(101e9, 1e9, &a, WEIR_DTYPE_BF16));
    assert_true(weir_roofline_is_math(100e9, 1e9, &a, WEIR_DTYPE_BF16));
    assert_false(weir_roofline_is_math(99e9, 1e9, &a, WEIR_DTYPE_BF16));
    assert_false(weir_roofline_is_math(1e30, 1, &a, WEIR_DTYPE_FP64)); /* no such figure */
}

static void a_missing_format_is_calculated_in_a_wider_one(void **state)
{
    (void)state;
    weir_accelerators *all = load();
    const weir_accelerator *a100 =
        weir_accelerators_find(all, WEIR_STR("NVIDIA A100-SXM4-80GB"), 0, 0);
    assert_non_null(a100);
    expect_near(weir_roofline_peak(a100, WEIR_DTYPE_FP8) / 1e12, 312, 1e-3);
    expect_near(weir_roofline_peak(a100, WEIR_DTYPE_FP4) / 1e12, 312, 1e-3);
    weir_accelerators_free(all);
}

static void an_unknown_device_is_decided_only_where_all_agree(void **state)
{
    (void)state;
    weir_accelerators *all = load();
    assert_int_equal(weir_roofline_bound(8, NULL, all, WEIR_DTYPE_BF16), WEIR_BOUND_MEMORY);
    assert_int_equal(weir_roofline_bound(4096, NULL, all, WEIR_DTYPE_BF16), WEIR_BOUND_MATH);
    /* an A100's ridge is 153, an H100's 295 */
    assert_int_equal(weir_roofline_bound(200, NULL, all, WEIR_DTYPE_BF16), WEIR_BOUND_UNKNOWN);
    weir_accelerators_free(all);
}

typedef struct {
    const char *name, *detail;
    op_kind kind;
    double flop, bytes;
} operation;

static void counts_flop_and_bytes_of_operations(void **state)
{
    (void)state;
    static const operation operations[] = {
        /* 2 x 32 x 4096 x 6144; 2 bytes x (32 x 4096 + 4096 x 6144 + 32 x 6144) */
        {"aten::mm", "[[32, 4096], [4096, 6144]]\n[\"c10::BFloat16\", \"c10::BFloat16\"]\n[]",
         OP_GEMM, 1610612736.0, 50987008.0},
        {"aten::addmm",
         "[[768], [77, 768], [768, 3072], [], []]\n[\"float\", \"float\", \"float\", \"Scalar\", "
         "\"Scalar\"]\n[\"\", \"\", \"\", \"1\", \"1\"]",
         OP_GEMM, 2.0 * 77 * 768 * 3072, 4.0 * (77 * 768 + 768 * 3072 + 77 * 3072)},
        {"aten::bmm", "[[8, 16, 64], [8, 64, 128]]\n[\"c10::Half\", \"c10::Half\"]\n[]", OP_GEMM,
         2.0 * 8 * 16 * 64 * 128, 2.0 * 8 * (16 * 64 + 64 * 128 + 16 * 128)},
        {"aten::linear", "[[4, 10, 512], [1000, 512], []]\n[\"float\", \"float\", \"\"]\n[]",
         OP_GEMM, 2.0 * 40 * 512 * 1000, 4.0 * (40 * 512 + 512 * 1000 + 40 * 1000)},
        /* weights of one byte, result of two */
        {"aten::_scaled_mm",
         "[[16, 512], [512, 256], [], []]\n[\"c10::Float8_e4m3fn\", \"c10::Float8_e4m3fn\"]\n[]",
         OP_GEMM, 2.0 * 16 * 512 * 256, 16.0 * 512 + 512 * 256 + 2 * 16 * 256},
        /* 3 x 3, stride 1, padding 1, 512 -> 512 channels on 32 x 32, from an MI300X trace */
        {"aten::miopen_convolution",
         "[[1, 512, 32, 32], [512, 512, 3, 3], [512], [], [], [], [], [], []]\n"
         "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]\n"
         "[\"\", \"\", \"\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"1\", \"False\", \"False\"]",
         OP_CONVOLUTION, 2.0 * 512 * 32 * 32 * 512 * 9, 2.0 * (512 * 512 * 9 + 2 * 512 * 32 * 32)},
        /* patches of 16 x 16 of a 224 x 224 image: 14 x 14 results */
        {"aten::convolution",
         "[[4, 3, 224, 224], [768, 3, 16, 16], [768], [], [], [], [], [], []]\n[\"float\"]\n"
         "[\"\", \"\", \"\", \"[16, 16]\", \"[0, 0]\", \"[1, 1]\", \"False\", \"[0, 0]\", \"1\"]",
         OP_CONVOLUTION, 2.0 * 4 * 768 * 14 * 14 * 3 * 256,
         4.0 * (768 * 3 * 256 + 4 * 768 * 14 * 14 + 4 * 3 * 224 * 224)},
        /* both gradients */
        {"aten::convolution_backward",
         "[[512, 512, 7, 7], [512, 512, 7, 7], [512, 512, 3, 3]]\n[\"c10::BFloat16\"]\n"
         "[\"\", \"\", \"\", \"[0]\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"False\", \"[0, 0]\", "
         "\"1\", \"[True, True, False]\"]",
         OP_CONVOLUTION, 2 * 2.0 * 512 * 512 * 49 * 512 * 9,
         2 * 2.0 * (512 * 512 * 9 + 2 * 512 * 512 * 49)},
        /* 4 sequences of 197 tokens, 12 heads of 64 */
        {"aten::_flash_attention_forward",
         "[[4, 197, 12, 64], [4, 197, 12, 64], [4, 197, 12, 64]]\n"
         "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]\n"
         "[\"\", \"\", \"\", \"\", \"\", \"197\", \"197\", \"0.\", \"False\", \"False\"]",
         OP_ATTENTION, 4.0 * 4 * 12 * 197 * 197 * 64, 2.0 * 4 * 4 * 197 * 12 * 64},
        /* heads first, and causal: half of it */
        {"aten::_scaled_dot_product_flash_attention",
         "[[1, 32, 1024, 128], [1, 8, 1024, 128], [1, 8, 1024, 128], [], []]\n"
         "[\"c10::Half\", \"c10::Half\", \"c10::Half\"]\n[\"\", \"\", \"\", \"0.\", \"True\"]",
         OP_ATTENTION, 0.5 * 4.0 * 32 * 1024 * 1024 * 128, 2.0 * (2 * 32 + 2 * 8) * 1024 * 128},
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const operation *o = &operations[i];
        op_cost cost = {0};
        if (!op_cost_read(weir_str_from(o->name), weir_str_from(o->detail), &cost)) {
            fail_msg("%s is not counted", o->name);
        }
        if (cost.kind != o->kind || cost.flop != o->flop || cost.bytes != o->bytes) {
            fail_msg("%s: found kind %d, %.0f FLOP, %.0f bytes, expected %d, %.0f, %.0f", o->name,
                     (int)cost.kind, cost.flop, cost.bytes, (int)o->kind, o->flop, o->bytes);
        }
    }
}

static void reads_shapes_that_a_tool_has_indented(void **state)
{
    (void)state;
    op_cost cost;
    assert_true(op_cost_read(WEIR_STR("aten::mm"),
                             WEIR_STR("[\n  [\n    4,\n    8\n  ],\n  [\n    8,\n    2\n  ]\n]\n"
                                      "[\n  \"c10::Half\",\n  \"c10::Half\"\n]\n[\n  \"\"\n]"),
                             &cost));
    expect_near(cost.flop, 2 * 4 * 8 * 2, 0);
    assert_int_equal(cost.dtype, WEIR_DTYPE_FP16);
}

static void does_not_count_what_shapes_do_not_tell(void **state)
{
    (void)state;
    static const struct {
        const char *name, *detail;
    } untold[] = {
        {"aten::mm", ""},
        {"aten::mm", "[]\n[]\n[]"},
        {"aten::mm", "[[4, 8]]\n[\"float\"]\n[]"},
        {"aten::mm", "[[4, 8], [9, 2]]\n[\"float\", \"float\"]\n[]"},
        {"aten::mm", "[[4, 8], [[8, 2], [8, 2]]]\n[\"float\", \"float\"]\n[]"},
        {"aten::mm", "[[[[[[[[[[[[[["},
        {"aten::mm", "[[4, 99999999999999999999999999999999999999], [8, 2"},
        {"aten::cudnn_convolution", "[[32, 3, 224, 224], [64, 3, 7, 7]]\n[]\n[]"},
        {"vllm::unified_attention_with_output", /* the cache is not among the shapes */
         "[[8192, 64, 64], [8192, 8, 64], [8192, 8, 64], [8192, 64, 64], [], [], [], [0]]\n[]\n[]"},
        {"vllm::moe_forward", "[[8192, 2880], [8192, 128]]\n[]\n[]"},
    };
    for (size_t i = 0; i < sizeof untold / sizeof *untold; i++) {
        op_cost cost = {.flop = 7};
        if (op_cost_read(weir_str_from(untold[i].name), weir_str_from(untold[i].detail), &cost)) {
            fail_msg("%s %s is counted", untold[i].name, untold[i].detail);
        }
        expect_near(cost.flop, 7, 0);
    }
}

static void reads_formats_and_tiles_of_kernel_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        weir_dtype dtype;
        uint32_t weight_bits, tile[2];
        bool one_block_a_tile;
    } names[] = {
        {"volta_sgemm_128x64_tn", WEIR_DTYPE_FP32, 32, {128, 64}, true},
        {"volta_sgemm_128x32_sliced1x4_nt", WEIR_DTYPE_FP32, 32, {128, 32}, false},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
         "segment_k_off_kernel__5x_cublas",
         WEIR_DTYPE_BF16,
         16,
         {128, 128},
         false},
        {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32",
         WEIR_DTYPE_TF32,
         32,
         {128, 64},
         true},
        {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>",
         WEIR_DTYPE_TF32,
         32,
         {256, 64},
         true},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn>",
         WEIR_DTYPE_BF16,
         16,
         {128, 64},
         true},
        {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1",
         WEIR_DTYPE_BF16,
         16,
         {256, 32},
         false},
        {"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT64x64x64_MI16x16x1",
         WEIR_DTYPE_FP32,
         32,
         {64, 64},
         false},
        {"Cijk_Alik_Bljk_HHS_BH_MT128x128x32", WEIR_DTYPE_FP16, 16, {128, 128}, false},
        {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1", WEIR_DTYPE_BF16, 4, {128, 128}, false},
        {"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", WEIR_DTYPE_BF16, 16, {64, 8}, false},
        {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0>", WEIR_DTYPE_FP8, 8, {0, 0}, false},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kernel_name_hint hint = kernel_name_read(weir_str_from(names[i].name));
        if (!hint.has_dtype || hint.dtype != names[i].dtype ||
            hint.weight_bits != names[i].weight_bits || hint.tile[0] != names[i].tile[0] ||
            hint.tile[1] != names[i].tile[1] ||
            hint.one_block_a_tile != names[i].one_block_a_tile) {
            fail_msg("%s: found %s, %u bits, tile %ux%u, one block %d", names[i].name,
                     weir_dtype_name(hint.dtype), hint.weight_bits, hint.tile[0], hint.tile[1],
                     hint.one_block_a_tile);
        }
    }
    assert_false(kernel_name_read(WEIR_STR("gemm_kernel")).has_dtype);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(belongs_to_the_larger_side),
        cmocka_unit_test(a_missing_format_is_calculated_in_a_wider_one),
        cmocka_unit_test(an_unknown_device_is_decided_only_where_all_agree),
        cmocka_unit_test(counts_flop_and_bytes_of_operations),
        cmocka_unit_test(reads_shapes_that_a_tool_has_indented),
        cmocka_unit_test(does_not_count_what_shapes_do_not_tell),
        cmocka_unit_test(reads_formats_and_tiles_of_kernel_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
