#include "classify/kernel_name.h"

typedef struct {
    weir_str text;
    weir_dtype dtype;
    uint8_t weight_bits;
} word;

#define WORD(text, dtype, bits)                                                                    \
    {                                                                                              \
        {text, sizeof(text) - 1}, WEIR_DTYPE_##dtype, bits                                         \
    }

/* Searched in this order: what is narrower or more special first. NVIDIA's names put the formats of
 * both operands together (bf16bf16), CUTLASS puts the instruction first (s1688 = tf32 unless a
 * format follows, s16816 = 16 bits), nvjet has one letter for each matrix. */
static const word words[] = {
    WORD("bf16xmxfp4", BF16, 4),
    WORD("f16xmxfp4", FP16, 4),
    WORD("w4a16", BF16, 4),
    WORD("a16w4", BF16, 4),
    WORD("marlin", FP16, 4),
    WORD("Marlin", FP16, 4),
    WORD("awq", FP16, 4),
    WORD("gptq", FP16, 4),
    WORD("machete", FP16, 4),
    WORD("_4bit", FP16, 4),
    WORD("w4a8", FP8, 4),
    WORD("nvfp4", FP4, 4),
    WORD("mxfp4", FP4, 4),
    WORD("e2m1", FP4, 4),
    WORD("E2m1", FP4, 4),
    WORD("a4w4", FP4, 4),
    WORD("f4gemm", FP4, 4),
    WORD("w8a16", BF16, 8),
    WORD("a16w8", BF16, 8),
    WORD("w8a8", FP8, 8),
    WORD("a8w8", FP8, 8),
    WORD("fp8", FP8, 8),
    WORD("e4m3", FP8, 8),
    WORD("e5m2", FP8, 8),
    WORD("E4m3", FP8, 8),
    WORD("float8", FP8, 8),
    WORD("float_e4m3", FP8, 8),
    WORD("nvjet_q", FP8, 8),
    WORD("f8f8", FP8, 8),
    WORD("_F8", FP8, 8),
    WORD("i8816", INT8, 8),
    WORD("i16832", INT8, 8),
    WORD("int8", INT8, 8),
    WORD("tf32", TF32, 32),
    WORD("s1688gemm_bf16", BF16, 16),
    WORD("s1688gemm_f16", FP16, 16),
    WORD("bf16_s1688", BF16, 16),
    WORD("f16_s1688", FP16, 16),
    WORD("s1688gemm", TF32, 32),
    WORD("nvjet_s", TF32, 32),
    WORD("nvjet_h", FP16, 16),
    WORD("nvjet_t", BF16, 16),
    WORD("bf16", BF16, 16),
    WORD("BFloat16", BF16, 16),
    WORD("bfloat16", BF16, 16),
    WORD("a16w16", BF16, 16),
    WORD("16816gemm", BF16, 16),
    WORD("fp16", FP16, 16),
    WORD("f16", FP16, 16),
    WORD("half", FP16, 16),
    WORD("Half", FP16, 16),
    WORD("hgemm", FP16, 16),
    WORD("h884", FP16, 16),
    WORD("s884", FP16, 16),
    WORD("h1688", FP16, 16),
    WORD("dgemm", FP64, 64),
    WORD("d884", FP64, 64),
    WORD("f64f64", FP64, 64),
    WORD("f32f32", FP32, 32),
    WORD("sgemm", FP32, 32),
    WORD("<float", FP32, 32),
    WORD("dtype_Float", FP32, 32),
};

/* Tensile: Cijk_Alik_Bljk_BBS_BH: after the indices the format of A, B, C, D and of the sum. */
static bool read_tensile(weir_str name, kernel_name_hint *hint)
{
    uint32_t at = weir_str_find(name, WEIR_STR("Cijk_"), 0);
    for (uint32_t skipped = 0; skipped < 3; skipped++) {
        at = weir_str_find(name, WEIR_STR("_"), at);
        at += at < name.n;
    }
    if (at + 2 >= name.n) {
        return false;
    }
    char c = name.p[at], next = name.p[at + 1];
    weir_dtype dtype = c == 'H'                  ? WEIR_DTYPE_FP16
                       : c == 'B'                ? WEIR_DTYPE_BF16
                       : c == 'S'                ? WEIR_DTYPE_FP32
                       : c == 'D'                ? WEIR_DTYPE_FP64
                       : c == 'F' && next == '8' ? WEIR_DTYPE_FP8
                       : c == 'I' && next == '8' ? WEIR_DTYPE_INT8
                                                 : WEIR_DTYPE_COUNT;
    if (dtype == WEIR_DTYPE_COUNT) {
        return false;
    }
    hint->dtype = dtype;
    hint->weight_bits = (uint8_t)weir_dtype_bits(dtype);
    return true;
}

static uint32_t read_number(weir_str name, uint32_t *at)
{
    uint32_t value = 0;
    while (*at < name.n && name.p[*at] >= '0' && name.p[*at] <= '9') {
        value = value > 9999 ? value : value * 10 + (uint32_t)(name.p[*at] - '0');
        (*at)++;
    }
    return value;
}

/* "_128x64" after at; at: where the first number begins. */
static bool read_tile(weir_str name, uint32_t at, kernel_name_hint *hint)
{
    uint32_t m = read_number(name, &at);
    if (m < 8 || m > 1024 || at >= name.n || name.p[at] != 'x') {
        return false;
    }
    at++;
    uint32_t n = read_number(name, &at);
    if (n < 8 || n > 1024) {
        return false;
    }
    hint->tile[0] = (uint16_t)m;
    hint->tile[1] = (uint16_t)n;
    return true;
}

static void find_tile(weir_str name, kernel_name_hint *hint)
{
    static const weir_str marks[] = {{"tilesize", 8}, {"_MT", 3}, {"gemm_", 5}, {"_", 1}};
    for (uint32_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        uint32_t at = weir_str_find(name, marks[i], 0);
        while (at < name.n) {
            at += marks[i].n;
            if (read_tile(name, at, hint)) {
                return;
            }
            at = weir_str_find(name, marks[i], at);
        }
    }
}

kernel_name_hint kernel_name_read(weir_str name)
{
    kernel_name_hint hint = {.dtype = WEIR_DTYPE_BF16, .weight_bits = 16};
    /* Formats stand in front; a signature of kilobytes of templates tells nothing more. */
    weir_str head = {name.p, name.n < 400 ? name.n : 400};
    hint.has_dtype = weir_str_has(head, WEIR_STR("Cijk_")) && read_tensile(head, &hint);
    for (uint32_t i = 0; i < sizeof words / sizeof *words && !hint.has_dtype; i++) {
        if (weir_str_has(head, words[i].text)) {
            hint.dtype = words[i].dtype;
            hint.weight_bits = words[i].weight_bits;
            hint.has_dtype = true;
        }
    }
    find_tile(head, &hint);
    /* Kernels of cuBLAS before nvjet and of CUTLASS 2 have one block for each tile. */
    static const weir_str plain[] = {{"volta_", 6},    {"turing_", 7},   {"ampere_", 7},
                                     {"xmma_gemm", 9}, {"cutlass_7", 9}, {"cutlass_8", 9}};
    static const weir_str split[] = {{"splitK", 6},    {"splitk", 6}, {"split_k", 7},
                                     {"segment_k", 9}, {"sliced", 6}, {"stream_k", 8},
                                     {"persist", 7}};
    for (uint32_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        hint.one_block_a_tile |= weir_str_has(head, plain[i]);
    }
    for (uint32_t i = 0; i < sizeof split / sizeof *split; i++) {
        hint.one_block_a_tile &= !weir_str_has(head, split[i]);
    }
    return hint;
}
