/* Kernel families: the classes of real kernel names, and the errors of a families file.
 *
 * The names were recorded by profilers (or stand in the sources of the libraries that are named
 * beside them); the expected class is what the kernel does, not what the table says. */
#include "classify/classify.h"
#include "classify/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ELEMENTWISE "void at::native::vectorized_elementwise_kernel<4, at::native::"

typedef struct {
    const char *name, *cause;
    bool is_gemm, is_attention;
} expectation;

static const expectation expectations[] = {
    /* NCCL and RCCL of all generations */
    {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "communication.all_reduce", 0, 0},
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "communication.all_reduce", 0, 0},
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
     "communication.all_reduce", 0, 0},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "communication.all_gather", 0, 0},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "communication.reduce_scatter", 0, 0},
    {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)", "communication.broadcast", 0, 0},
    {"ncclDevKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)", "communication.other", 0, 0},
    {"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevComm*)", "communication.other", 0, 0},
    {"ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)", "communication.other", 0, 0},
    /* communication outside NCCL */
    {"void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)",
     "communication.all_reduce", 0, 0},
    {"void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
     "communication.all_reduce", 0, 0},
    {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)", "communication.all_to_all", 0, 0},
    {"void mori::ep::internode::combine<true>(int4*)", "communication.all_to_all", 0, 0},
    {"nvshmemi_transfer_put", "communication.other", 0, 0},
    {"hccl::allgather_kernel", "communication.all_gather", 0, 0},
    /* matrix products */
    {"volta_sgemm_128x64_tn", "compute.gemm", 1, 0},
    {"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "compute.gemm", 1, 0},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
     "segment_k_off_kernel__5x_cublas",
     "compute.gemm", 1, 0},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>"
     "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8::Params)",
     "compute.gemm", 1, 0},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int>>>()",
     "compute.gemm", 1, 0},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN", "compute.gemm", 1, 0},
    {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", "compute.gemm", 1, 0},
    {"fused_moe_kernel", "compute.gemm", 1, 0},
    {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::GMMA::Major)0, 0u>()", "compute.gemm", 1, 0},
    {"void marlin::Marlin<__half, 256, 4, 16>(int4 const*)", "compute.gemm", 1, 0},
    {"fc-dtype_Float", "compute.gemm", 1, 0},
    {"triton_tem_fused_addmm_12", "compute.gemm", 1, 0},
    {"void gemv2T_kernel_val<int, int, float, float, float, float, 128>()", "cache.weights", 0, 0},
    {"void splitKreduce_kernel<32, 16, int, float, float>()", "cache.activations", 0, 0},
    /* convolution and what surrounds it */
    {"cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", "compute.convolution", 0, 0},
    {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16",
     "compute.convolution", 0, 0},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x64x32", "compute.convolution", 0, 0},
    {"void cudnn::ops::nchwToNhwcKernel<float, float, float, true, true>()", "cache.activations", 0,
     0},
    /* attention */
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)",
     "compute.attention", 0, 1},
    {"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<int>()", "compute.attention",
     0, 0},
    {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>()",
     "compute.attention", 0, 1},
    {"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>(Flash_fwd_params)", "cache.kv", 0,
     0},
    {"void vllm::paged_attention_v2_kernel<unsigned short, 128>()", "cache.kv", 0, 0},
    {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<0, 2u>()", "cache.kv", 0, 0},
    {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<0, 2u>()", "compute.attention", 0, 1},
    {"void flash_fwd_splitkv_mla_kernel<bfloat16>(Flash_fwd_mla_params)", "cache.kv", 0, 0},
    {"_fwd_grouped_kernel_stage1", "cache.kv", 0, 0},
    {"kernel_unified_attention_2d", "compute.attention", 0, 1},
    {"attn_fwd", "compute.attention", 0, 1},
    /* what moves activations; the words of what was fused mean nothing */
    {"triton_red_fused__to_copy_add_addmm_as_strided_fmha_v3_fwd_mean_mul_1", "cache.activations",
     0, 0},
    {"triton_poi_fused_addmm_gelu_view_26", "cache.activations", 0, 0},
    {ELEMENTWISE "CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)", "cache.activations",
     0, 0},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>()", "cache.activations",
     0, 0},
    {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256E", "cache.activations", 0, 0},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>()",
     "cache.activations", 0, 0},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16>()",
     "cache.activations", 0, 0},
    {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "cache.activations", 0,
     0},
    {"void vllm::moe::topkGatingSoftmax<4, 128, 4, 16>(float const*)", "cache.activations", 0, 0},
    {"loop_add_fusion_3", "cache.activations", 0, 0},
    {"aten::mul.out-dtype_Float", "cache.activations", 0, 0},
    {"void transformer_engine::cast_transpose_fused_kernel<true>()", "cache.activations", 0, 0},
    /* the rest of the cache */
    {"void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16>()", "cache.kv", 0, 0},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>, "
     "at::native::FusedAdamMathFunctor<float, 4>>()",
     "cache.optimizer", 0, 0},
    {"void multi_tensor_apply_kernel<TensorListMetadata<2>, "
     "at::native::UnaryOpFunctor<long, 2, 1, 1>, at::native::Copy<long, long> >()",
     "cache.activations", 0, 0},
    {"void split_embedding_codegen_forward_unweighted_kernel<float, float, float, long, 2ul>()",
     "cache.weights", 0, 0},
    {"void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<float>"
     "()",
     "cache.optimizer", 0, 0},
    {"__amd_rocclr_fillBufferAligned.kd", "cache.memcpy", 0, 0},
};

static weir_families *load(void)
{
    weir_families *families = NULL;
    weir_err err = {0};
    weir_code code = weir_families_load(NULL, &families, &err);
    if (code != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return families;
}

static void classes_real_names_as_what_they_do(void **state)
{
    (void)state;
    weir_families *families = load();
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        const expectation *e = &expectations[i];
        weir_name_class found = weir_families_classify(families, weir_str_from(e->name));
        if (!found.known || strcmp(weir_cause_name(found.cause), e->cause) != 0 ||
            found.is_gemm != e->is_gemm || found.is_attention != e->is_attention) {
            fail_msg("%s: found %s gemm %d attention %d (family %s), expected %s gemm %d "
                     "attention %d",
                     e->name, weir_cause_name(found.cause), found.is_gemm, found.is_attention,
                     found.known ? weir_families_name(families, found.family) : "none", e->cause,
                     e->is_gemm, e->is_attention);
        }
    }
    weir_families_free(families);
}

static void leaves_opaque_names_unknown(void **state)
{
    (void)state;
    static const char *const opaque[] = {
        "Kernel", "my_kernel",   "add_one(const float *, float *)", "fusion_12", "", "void",
        "k",      "main_kernel0"};
    weir_families *families = load();
    for (size_t i = 0; i < sizeof opaque / sizeof *opaque; i++) {
        weir_name_class found = weir_families_classify(families, weir_str_from(opaque[i]));
        if (found.known) {
            fail_msg("'%s' is in family %s", opaque[i], weir_families_name(families, found.family));
        }
        assert_int_equal(found.cause, WEIR_CAUSE_COMPUTE_UNKNOWN);
        assert_int_equal(found.family, WEIR_NONE);
        assert_null(weir_families_name(families, found.family));
    }
    weir_families_free(families);
}

static void marks_the_products_of_experts(void **state)
{
    (void)state;
    weir_families *families = load();
    assert_true(weir_families_classify(families, WEIR_STR("fused_moe_kernel")).is_experts);
    assert_false(weir_families_classify(families, WEIR_STR("volta_sgemm_32x32_nn")).is_experts);
    weir_families_free(families);
}

static bool matches(const char *text, const char *name)
{
    pattern p;
    pattern_digest digest;
    const char *why;
    weir_arena *arena = weir_arena_new();
    assert_true(pattern_compile(weir_str_from(text), arena, &p, &why));
    pattern_digest_name(&digest, weir_str_from(name));
    bool found = pattern_matches(&p, &digest);
    weir_arena_free(arena);
    return found;
}

static void matches_text_anchors_and_wildcards(void **state)
{
    (void)state;
    assert_true(matches("gemm", "volta_sgemm_128"));
    assert_false(matches("gemm", "volta_sGEMM_128"));
    assert_true(matches("~gemm", "volta_sGEMM_128"));
    assert_true(matches("~GeMM", "gemm"));
    assert_true(matches("^nccl", "ncclKernel"));
    assert_true(matches("^nccl", "void ncclKernel"));
    assert_true(matches("^void", "void ncclKernel"));
    assert_false(matches("^nccl", "my_ncclKernel"));
    assert_true(matches("kernel$", "a_kernel"));
    assert_false(matches("kernel$", "a_kernel_b"));
    assert_true(matches("^abcd$", "abcd"));
    assert_false(matches("^abcd$", "abcdabcd"));
    assert_false(matches("^abcd$", "abcde"));
    assert_true(matches("a*b*c", "xaxxbxxc"));
    assert_false(matches("a*b*c", "xaxxcxxb"));
    assert_true(matches("^ab*cd$", "abcd"));
    assert_false(matches("^ab*bc$", "abc"));
    assert_true(matches("^ab*bc$", "abbc"));
    assert_true(matches("^*ab", "xab"));
    assert_true(matches("ab*$", "xaby"));
    assert_true(matches("char\\*", "f(char*)"));
    assert_false(matches("char\\*", "f(char)"));
    assert_true(matches("us\\$", "us$"));
    assert_false(matches("abcdef", ""));
    assert_false(matches("abcdef", "abcde"));
}

static void refuses_patterns_that_match_nearly_everything(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "a", "*", "^$", "^a", "~*", "a*b*c*d*e*f*g*h*i"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pattern p;
        const char *why = NULL;
        weir_arena *arena = weir_arena_new();
        assert_false(pattern_compile(weir_str_from(bad[i]), arena, &p, &why));
        assert_non_null(why);
        weir_arena_free(arena);
    }
}

/* Writes text into a file, loads it as --kernels would, returns its error ("" where it is fine). */
static void load_extra(const char *text, weir_families **families, char *sentence, size_t n)
{
    char path[] = "/tmp/weir-families-XXXXXX";
    weir_err err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    *families = NULL;
    weir_code code = weir_families_load(path, families, &err);
    unlink(path);
    assert_int_equal(code == WEIR_OK, err.text[0] == '\0');
    snprintf(sentence, n, "%s", code == WEIR_OK ? "" : err.text + strlen(path));
}

static void tries_an_extra_file_first(void **state)
{
    (void)state;
    char sentence[512];
    weir_families *families;
    load_extra("families:\n  - name: mine\n    class: memory\n    cause: cache.kv\n"
               "    patterns: ['sgemm']\n",
               &families, sentence, sizeof sentence);
    assert_string_equal(sentence, "");
    weir_name_class found = weir_families_classify(families, WEIR_STR("volta_sgemm_128x64_tn"));
    assert_int_equal(found.cause, WEIR_CAUSE_CACHE_KV);
    assert_string_equal(weir_families_name(families, found.family), "mine");
    found = weir_families_classify(families, WEIR_STR("ncclDevKernel_SendRecv(ncclDevComm*)"));
    assert_int_equal(found.cls, WEIR_CLASS_COMM);
    assert_int_equal(found.comm, WEIR_COMM_SEND_RECV);
    weir_families_free(families);
}

static void says_what_is_wrong_in_an_extra_file(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"familys: []\n", ":1:1: found unknown key 'familys', expected 'families'"},
        {"families:\n  - name: x\n    clas: math\n",
         ":3:5: found unknown key 'clas', expected 'class'"},
        {"families:\n  - name: x\n    class: maths\n    patterns: []\n",
         ":3:12: found 'maths', expected 'math'"},
        {"families:\n  - name: x\n    class: math\n    patterns: []\n",
         ":2:5: found no key 'cause', which is needed here"},
        {"families:\n  - name: x\n    class: math\n    cause: cache.kv\n    patterns: []\n",
         ":4:12: found 'cache.kv', expected a cause of compute (class math)"},
        {"families:\n  - name: x\n    class: math\n    cause: compute.gem\n    patterns: []\n",
         ":4:12: found 'compute.gem', expected a cause such as compute.gemm or cache.activations"},
        {"families:\n  - name: x\n    class: memory\n    cause: cache.kv\n    patterns: ['*']\n",
         ":5:16: found '*', expected a pattern of at least 2 bytes"},
        {"families:\n  - name: x\n    class: communication\n    collective: allreduce\n"
         "    patterns: []\n",
         ":4:17: found 'allreduce', expected 'all_reduce'"},
        {"families:\n  - name: x\n    class: math\n    cause: compute.gemm\n    flags: [gem]\n"
         "    patterns: []\n",
         ":5:13: found 'gem', expected one of gemm, experts, attention"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char sentence[512];
        weir_families *families;
        load_extra(bad[i].text, &families, sentence, sizeof sentence);
        assert_string_equal(sentence, bad[i].sentence);
        assert_null(families);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_real_names_as_what_they_do),
        cmocka_unit_test(leaves_opaque_names_unknown),
        cmocka_unit_test(marks_the_products_of_experts),
        cmocka_unit_test(matches_text_anchors_and_wildcards),
        cmocka_unit_test(refuses_patterns_that_match_nearly_everything),
        cmocka_unit_test(tries_an_extra_file_first),
        cmocka_unit_test(says_what_is_wrong_in_an_extra_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
