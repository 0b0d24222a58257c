/* What bounds device spans: names, overruled by shapes, step markers and tiles. */
#include "classify/classify.h"
#include "classify/step_mark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One rank with one stream and threads; kernels are launched by calls of the same correlation. */
typedef struct {
    weir_timeline *t;
    weir_err err;
    weir_lane_id stream, thread[2];
    uint32_t correlation;
    weir_name_classes names;
    weir_span_classes classes;
    weir_comm_kind *instance_kind;
} fixture;

#define OK(call) assert_int_equal((call), WEIR_OK)

static const char BF16_GEMM[] = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_"
                                "relu_bf16_128x64_64x6_tn_align8>(Params)";

static weir_name_id name_of(fixture *f, const char *text)
{
    weir_name_id id = 0;
    OK(weir_timeline_intern(f->t, weir_str_from(text), &id, &f->err));
    return id;
}

static void open_fixture(fixture *f, const char *device)
{
    memset(f, 0, sizeof *f);
    f->t = weir_timeline_new(NULL);
    assert_non_null(f->t);
    weir_rank rank = {.number = 0, .world_size = 1, .device_name = name_of(f, device)};
    weir_rank_id id;
    OK(weir_timeline_add_rank(f->t, &rank, &id, &f->err));
    OK(weir_timeline_add_lane(f->t, WEIR_LANE_STREAM, id, 0, 7, &f->stream, &f->err));
    for (int i = 0; i < 2; i++) {
        OK(weir_timeline_add_lane(f->t, WEIR_LANE_THREAD, id, 100, i, &f->thread[i], &f->err));
    }
}

static void close_fixture(fixture *f)
{
    weir_name_classes_clear(&f->names);
    weir_span_classes_clear(&f->classes);
    weir_timeline_free(f->t);
}

static void add_host(fixture *f, int thread, weir_span_kind kind, const char *name, int64_t start,
                     int64_t dur)
{
    weir_new_span span = {.start_ns = start,
                          .dur_ns = dur,
                          .lane = f->thread[thread],
                          .name = name_of(f, name),
                          .kind = kind,
                          .detail = kind == WEIR_SPAN_OP ? 0 : WEIR_NONE};
    OK(weir_timeline_add_span(f->t, &span, &f->err));
}

static void add_op(fixture *f, const char *name, uint32_t external, const char *detail,
                   int64_t start, int64_t dur)
{
    weir_new_span span = {.start_ns = start,
                          .dur_ns = dur,
                          .lane = f->thread[0],
                          .name = name_of(f, name),
                          .kind = WEIR_SPAN_OP,
                          .external = external,
                          .detail = name_of(f, detail)};
    OK(weir_timeline_add_span(f->t, &span, &f->err));
}

/* A kernel of 10 ns at 1000 + launch moment, launched on thread 0. */
static void add_kernel(fixture *f, const char *name, uint32_t external, int64_t launched,
                       const weir_shape *shape)
{
    uint32_t detail = WEIR_NONE;
    if (shape) {
        OK(weir_timeline_add_shape(f->t, shape, &detail, &f->err));
    }
    weir_new_span launch = {.start_ns = launched,
                            .dur_ns = 1,
                            .lane = f->thread[0],
                            .name = name_of(f, "cudaLaunchKernel"),
                            .kind = WEIR_SPAN_RUNTIME,
                            .correlation = ++f->correlation,
                            .detail = WEIR_NONE};
    weir_new_span kernel = {.start_ns = launched + 1000,
                            .dur_ns = 10,
                            .lane = f->stream,
                            .name = name_of(f, name),
                            .kind = WEIR_SPAN_KERNEL,
                            .correlation = f->correlation,
                            .external = external,
                            .detail = detail};
    OK(weir_timeline_add_span(f->t, &launch, &f->err));
    OK(weir_timeline_add_span(f->t, &kernel, &f->err));
}

static void classify(fixture *f)
{
    weir_families *families = NULL;
    OK(weir_timeline_seal(f->t, &f->err));
    OK(weir_families_load(NULL, &families, &f->err));
    OK(weir_classify_names(f->t, families, &f->names, &f->err));
    weir_families_free(families);
    weir_spans spans = weir_timeline_spans(f->t);
    weir_span_id *launch = calloc((size_t)spans.device_count + 1, sizeof *launch);
    assert_non_null(launch);
    for (weir_span_id s = 0; s < spans.device_count; s++) {
        launch[s] = WEIR_NONE;
        for (weir_span_id h = spans.device_count; h < spans.count; h++) {
            if (spans.correlation[s] != 0 && spans.correlation[h] == spans.correlation[s]) {
                launch[s] = h;
            }
        }
    }
    OK(weir_classify_spans(f->t, &f->names, launch, f->instance_kind, &f->classes, &f->err));
    free(launch);
}

static void expect(const fixture *f, weir_span_id span, weir_class cls, const char *cause,
                   weir_evidence evidence)
{
    const char *found = weir_cause_name((weir_cause)f->classes.cause[span]);
    if (f->classes.cls[span] != cls || strcmp(found, cause) != 0 ||
        f->classes.evidence[span] != evidence) {
        fail_msg("span %u: found class %d, %s, evidence %d, expected %d, %s, %d", span,
                 f->classes.cls[span], found, f->classes.evidence[span], (int)cls, cause,
                 (int)evidence);
    }
}

static void a_gemm_without_evidence_is_unknown(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "NVIDIA A100-SXM4-80GB");
    add_kernel(&f, BF16_GEMM, 0, 100, NULL);
    add_kernel(&f, "my_kernel", 0, 200, NULL);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MATH, "compute.unknown", WEIR_BY_NOTHING);
    expect(&f, 1, WEIR_CLASS_MATH, "compute.unknown", WEIR_BY_NOTHING);
    assert_null(f.classes.flop);
    close_fixture(&f);
}

/* 32 rows of bf16: 32 FLOP/byte, the A100's ridge is 153; 15360 rows are far above it. */
static void step_markers_tell_the_rows(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "NVIDIA A100-SXM4-80GB");
    add_host(&f, 0, WEIR_SPAN_ANNOTATION, "step[DECODE bs=32]", 1000, 100);
    add_host(&f, 0, WEIR_SPAN_ANNOTATION, "step[EXTEND bs=15 toks=15360]", 2000, 100);
    add_host(&f, 1, WEIR_SPAN_ANNOTATION, "execute_context_0(0)_generation_8(8)", 3000,
             100); /* another thread */
    add_kernel(&f, BF16_GEMM, 0, 1050, NULL);
    add_kernel(&f, BF16_GEMM, 0, 1500, NULL); /* between the steps */
    add_kernel(&f, BF16_GEMM, 0, 2050, NULL);
    add_kernel(&f, BF16_GEMM, 0, 3050, NULL);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MEMORY, "cache.weights", WEIR_BY_MARKER);
    expect(&f, 1, WEIR_CLASS_MATH, "compute.unknown", WEIR_BY_NOTHING);
    expect(&f, 2, WEIR_CLASS_MATH, "compute.gemm", WEIR_BY_MARKER);
    expect(&f, 3, WEIR_CLASS_MEMORY, "cache.weights", WEIR_BY_MARKER);
    close_fixture(&f);
}

/* 512 tokens are above the ridge, but 512 / 32 rows for each expert would not be. */
static void rows_of_experts_are_fewer_than_tokens(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "NVIDIA A100-SXM4-80GB");
    add_host(&f, 0, WEIR_SPAN_ANNOTATION, "step[EXTEND bs=1 toks=512]", 1000, 100);
    add_host(&f, 0, WEIR_SPAN_ANNOTATION, "step[EXTEND bs=8 toks=16384]", 2000, 100);
    add_host(&f, 0, WEIR_SPAN_ANNOTATION, "step[DECODE bs=16]", 3000, 100);
    add_kernel(&f, "fused_moe_kernel", 0, 1050, NULL);
    add_kernel(&f, "fused_moe_kernel", 0, 2050, NULL);
    add_kernel(&f, "fused_moe_kernel", 0, 3050, NULL);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MATH, "compute.unknown", WEIR_BY_NOTHING);
    expect(&f, 1, WEIR_CLASS_MATH, "compute.gemm", WEIR_BY_MARKER);
    expect(&f, 2, WEIR_CLASS_MEMORY, "cache.weights", WEIR_BY_MARKER);
    close_fixture(&f);
}

static void shapes_overrule_step_markers(void **state)
{
    (void)state;
    static const char head[] = "[[15, 4096], [4096, 151936]]\n[\"c10::BFloat16\", "
                               "\"c10::BFloat16\"]\n[]";
    static const char layer[] = "[[15360, 4096], [4096, 6144]]\n[\"c10::BFloat16\", "
                                "\"c10::BFloat16\"]\n[]";
    fixture f;
    open_fixture(&f, "AMD Instinct MI300X");
    add_host(&f, 0, WEIR_SPAN_ANNOTATION, "step[EXTEND bs=15 toks=15360]", 1000, 500);
    add_op(&f, "aten::mm", 11, layer, 1010, 20);
    add_op(&f, "aten::mm", 12, head, 1100, 20);
    add_kernel(&f, "Cijk_Alik_Bljk_BBS_BH_MT256x128x64", 11, 1015, NULL);
    add_kernel(&f, "Cijk_Alik_Bljk_BBS_BH_MT256x16x64", 12, 1105, NULL);
    add_kernel(&f, "Cijk_Alik_Bljk_BBS_BH_MT256x16x64", 13, 1205, NULL); /* no such operation */
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MATH, "compute.gemm", WEIR_BY_SHAPE);
    expect(&f, 1, WEIR_CLASS_MEMORY, "cache.weights", WEIR_BY_SHAPE);
    expect(&f, 2, WEIR_CLASS_MATH, "compute.gemm", WEIR_BY_MARKER);
    assert_non_null(f.classes.flop);
    assert_true(f.classes.flop[0] == (float)(2.0 * 15360 * 4096 * 6144));
    assert_true(f.classes.flop[2] == 0);
    close_fixture(&f);
}

/* Split over two kernels, with a helper between them that gets nothing. */
static void kernels_of_one_operation_share_its_flop(void **state)
{
    (void)state;
    static const char shapes[] = "[[4096, 4096], [4096, 4096]]\n[\"float\", \"float\"]\n[]";
    fixture f;
    open_fixture(&f, "Tesla V100-SXM2-32GB");
    add_op(&f, "aten::mm", 5, shapes, 100, 50);
    add_kernel(&f, "volta_sgemm_128x64_nn", 5, 110, NULL);
    add_kernel(&f, "void splitKreduce_kernel<32, 16, int, float>()", 5, 120, NULL);
    add_kernel(&f, "volta_sgemm_128x64_nn", 5, 130, NULL);
    classify(&f);
    float half = (float)(4096.0 * 4096 * 4096);
    assert_true(f.classes.flop[0] == half);
    assert_true(f.classes.flop[1] == 0);
    assert_true(f.classes.flop[2] == half);
    expect(&f, 0, WEIR_CLASS_MATH, "compute.gemm", WEIR_BY_SHAPE);
    expect(&f, 1, WEIR_CLASS_MEMORY, "cache.activations", WEIR_BY_NAME);
    close_fixture(&f);
}

/* A tall matrix times a small one moves activations: no larger batch would help. */
static void a_product_under_the_ridge_waits_for_its_larger_operand(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "NVIDIA A100-SXM4-80GB");
    add_op(&f, "aten::mm", 5, "[[100000, 32], [32, 32]]\n[\"c10::Half\", \"c10::Half\"]\n[]", 100,
           50);
    add_kernel(&f, BF16_GEMM, 5, 110, NULL);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MEMORY, "cache.activations", WEIR_BY_SHAPE);
    close_fixture(&f);
}

static void attention_is_told_by_the_length_of_its_queries(void **state)
{
    (void)state;
    static const char unified[] = "kernel_unified_attention_2d";
    fixture f;
    open_fixture(&f, "AMD Instinct MI300X");
    add_host(&f, 0, WEIR_SPAN_ANNOTATION,
             "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)",
             1000, 100);
    add_host(&f, 0, WEIR_SPAN_ANNOTATION,
             "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489"
             "sqsq37sqsk34489)",
             2000, 100);
    add_kernel(&f, unified, 0, 1050, NULL);
    add_kernel(&f, unified, 0, 2050, NULL);
    add_kernel(&f, unified, 0, 3050, NULL); /* no step: what the name says */
    add_kernel(&f, "void vllm::paged_attention_v2_kernel<unsigned short>()", 0, 2060, NULL);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MEMORY, "cache.kv", WEIR_BY_MARKER);
    expect(&f, 1, WEIR_CLASS_MATH, "compute.attention", WEIR_BY_MARKER);
    expect(&f, 2, WEIR_CLASS_MEMORY, "cache.kv", WEIR_BY_NAME);
    expect(&f, 3, WEIR_CLASS_MATH, "compute.attention", WEIR_BY_NAME);
    close_fixture(&f);
}

/* One column of 64 x 128 blocks is at most 128 wide: 128 FLOP/byte < 153. Two columns may be 256.
 */
static void a_tile_settles_only_what_is_surely_narrow(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "NVIDIA A100-SXM4-80GB");
    weir_shape narrow = {.grid = {1, 64, 1}, .block = {128, 1, 1}};
    weir_shape wide = {.grid = {2, 64, 1}, .block = {128, 1, 1}};
    weir_shape row = {.grid = {64, 1, 1}, .block = {128, 1, 1}}; /* in any order */
    add_kernel(&f, BF16_GEMM, 0, 100, &narrow);
    add_kernel(&f, BF16_GEMM, 0, 200, &wide);
    add_kernel(&f, BF16_GEMM, 0, 300, &row);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MEMORY, "cache.weights", WEIR_BY_NAME);
    expect(&f, 1, WEIR_CLASS_MATH, "compute.unknown", WEIR_BY_NOTHING);
    expect(&f, 2, WEIR_CLASS_MATH, "compute.unknown", WEIR_BY_NOTHING);
    close_fixture(&f);
}

static void communication_takes_the_resolved_kind(void **state)
{
    (void)state;
    static const char send_recv[] =
        "ncclDevKernel_SendRecv(ncclDevComm*, unsigned long, ncclWork*)";
    fixture f;
    open_fixture(&f, "NVIDIA A100-SXM4-80GB");
    weir_comm_kind kinds[] = {WEIR_COMM_ALL_TO_ALL, WEIR_COMM_SEND, WEIR_COMM_UNKNOWN,
                              WEIR_COMM_BARRIER};
    f.instance_kind = kinds;
    for (int i = 0; i < 3; i++) {
        add_kernel(&f, send_recv, 0, 100 * (i + 1), NULL);
    }
    add_kernel(&f, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 0, 400, NULL);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_COMM, "communication.all_to_all", WEIR_BY_NAME);
    expect(&f, 1, WEIR_CLASS_COMM, "communication.p2p", WEIR_BY_NAME);
    expect(&f, 2, WEIR_CLASS_COMM, "communication.other", WEIR_BY_NAME);
    expect(&f, 3, WEIR_CLASS_COMM, "communication.other", WEIR_BY_NAME);
    weir_name_id name = weir_timeline_spans(f.t).name[0];
    assert_true(f.names.is_comm[name]);
    assert_int_equal(f.names.comm_kind[name], WEIR_COMM_SEND_RECV);
    close_fixture(&f);
}

static void copies_are_copies_whatever_they_are_called(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "");
    weir_new_span copy = {.start_ns = 5,
                          .dur_ns = 5,
                          .lane = f.stream,
                          .name = name_of(&f, "ncclMemcpy volta_sgemm"),
                          .kind = WEIR_SPAN_MEMCPY,
                          .detail = WEIR_NONE};
    OK(weir_timeline_add_span(f.t, &copy, &f.err));
    classify(&f);
    expect(&f, 0, WEIR_CLASS_COPY, "cache.memcpy", WEIR_BY_NAME);
    assert_false(f.names.is_comm[weir_timeline_spans(f.t).name[0]]);
    close_fixture(&f);
}

/* torch.utils.checkpoint: forward again, then the backward of it, in one call. */
static void recomputed_arithmetic_is_redundant(void **state)
{
    (void)state;
    static const char conv[] = "volta_scudnn_128x64_relu_medium_nn_v1";
    static const char engine[] = "autograd::engine::evaluate_function: ConvolutionBackward0";
    fixture f;
    open_fixture(&f, "Tesla V100-SXM2-32GB");
    add_host(&f, 0, WEIR_SPAN_OP, "autograd::engine::evaluate_function: CheckpointFunctionBackward",
             1000, 1000);
    add_host(&f, 0, WEIR_SPAN_OP, "CheckpointFunctionBackward", 1010, 900);
    add_host(&f, 0, WEIR_SPAN_OP, engine, 1500, 300);
    add_kernel(&f, conv, 0, 100, NULL);
    add_kernel(&f, conv, 0, 1100, NULL);
    add_kernel(&f, "void at::native::reduce_kernel<512, 1>()", 0, 1200, NULL);
    add_kernel(&f, conv, 0, 1600, NULL);
    classify(&f);
    expect(&f, 0, WEIR_CLASS_MATH, "compute.convolution", WEIR_BY_NAME);
    expect(&f, 1, WEIR_CLASS_MATH, "compute.redundant", WEIR_BY_NAME);
    expect(&f, 2, WEIR_CLASS_MEMORY, "cache.activations", WEIR_BY_NAME);
    expect(&f, 3, WEIR_CLASS_MATH, "compute.convolution", WEIR_BY_NAME);
    close_fixture(&f);
}

static void reads_the_step_names_of_engines(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        step_kind kind;
        uint32_t tokens;
        bool prefill, decode;
        double queries;
    } marks[] = {
        {"step[DECODE bs=32]", STEP_SIZED, 32, false, true, 1},
        {"step[EXTEND bs=15 toks=15360]", STEP_SIZED, 15360, true, false, 1024},
        {"step[MIXED bs=4 toks=600]", STEP_SIZED, 600, true, true, 0},
        {"step[TARGET_VERIFY bs=8]", STEP_SIZED, 0, false, true, 0},
        {"step[IDLE bs=0]", STEP_NONE, 0, false, false, 0},
        {"step[", STEP_NONE, 0, false, false, 0},
        {"execute_context_1(888_788544)_generation_0(0)", STEP_SIZED, 888, true, false, 888},
        {"execute_context_0(0)_generation_4(4)", STEP_SIZED, 4, false, true, 1},
        {"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)",
         STEP_SIZED, 32, false, true, 1},
        {"execute_diffusion_1_256x256", STEP_NONE, 0, false, false, 0},
        {"execute_", STEP_NONE, 0, false, false, 0},
        {"execute_99999999999999999999_context_1(1)_generation_0(0)", STEP_SIZED, 1000000000, true,
         false, 1},
        {"[Executor] _forward_step 12: 0 ctx reqs, 32 gen reqs", STEP_SIZED, 32, false, true, 1},
        {"[Executor] _forward_step 13: 1 ctx reqs, 32 gen reqs", STEP_SIZED, 0, true, true, 0},
        {"ProfilerStep#3", STEP_NONE, 0, false, false, 0},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        step_mark m = step_mark_read(WEIR_SPAN_ANNOTATION, weir_str_from(marks[i].name));
        if (m.kind != marks[i].kind || m.tokens != marks[i].tokens ||
            m.has_prefill != marks[i].prefill || m.has_decode != marks[i].decode ||
            m.query_tokens != marks[i].queries) {
            fail_msg("%s: found kind %d, %u tokens, prefill %d, decode %d, queries %g",
                     marks[i].name, (int)m.kind, m.tokens, m.has_prefill, m.has_decode,
                     m.query_tokens);
        }
    }
    assert_int_equal(step_mark_read(WEIR_SPAN_OP, WEIR_STR("step[DECODE bs=32]")).kind, STEP_NONE);
}

static void knows_the_peak_of_the_device(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "Tesla V100-SXM2-32GB");
    add_kernel(&f, "k", 0, 100, NULL);
    classify(&f);
    assert_true(weir_classify_peak_flops(f.t, 0) == 125e12);
    assert_true(weir_classify_peak_flops(f.t, 1) == 0);
    close_fixture(&f);
    open_fixture(&f, "an accelerator of next year");
    add_kernel(&f, "k", 0, 100, NULL);
    classify(&f);
    assert_true(weir_classify_peak_flops(f.t, 0) == 0);
    close_fixture(&f);
}

static void a_timeline_without_devices_is_fine(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "");
    add_host(&f, 0, WEIR_SPAN_ANNOTATION, "step[DECODE bs=32]", 1000, 100);
    classify(&f);
    assert_int_equal(f.classes.span_count, 0);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gemm_without_evidence_is_unknown),
        cmocka_unit_test(step_markers_tell_the_rows),
        cmocka_unit_test(rows_of_experts_are_fewer_than_tokens),
        cmocka_unit_test(shapes_overrule_step_markers),
        cmocka_unit_test(kernels_of_one_operation_share_its_flop),
        cmocka_unit_test(a_product_under_the_ridge_waits_for_its_larger_operand),
        cmocka_unit_test(attention_is_told_by_the_length_of_its_queries),
        cmocka_unit_test(a_tile_settles_only_what_is_surely_narrow),
        cmocka_unit_test(communication_takes_the_resolved_kind),
        cmocka_unit_test(copies_are_copies_whatever_they_are_called),
        cmocka_unit_test(recomputed_arithmetic_is_redundant),
        cmocka_unit_test(reads_the_step_names_of_engines),
        cmocka_unit_test(knows_the_peak_of_the_device),
        cmocka_unit_test(a_timeline_without_devices_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
