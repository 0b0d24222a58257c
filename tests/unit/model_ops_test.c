/* model_ops.h and model_flop.h: sizes by hand, FLOP by the papers' formulas.
 *
 * "TM" is reference/training-model.md, with its sections. */
#include "model/model_flop.h"
#include "model/model_ops.h"
#include "model/model_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static weir_model preset(const char *id)
{
    weir_model model;
    weir_err err = {0};
    if (weir_model_preset(id, &model, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return model;
}

static void expect_share(const char *what, double found, double expected, double allowed_share)
{
    double off = found > expected ? found - expected : expected - found;
    if (!(off <= allowed_share * (expected > 0 ? expected : -expected))) {
        fail_msg("%s: found %.17g, expected %.17g", what, found, expected);
    }
}

/* The n-th operation of that part and pass. */
static const weir_op *get(const weir_op_list *list, weir_op_part part, weir_op_pass pass,
                          uint32_t nth)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->op[i].part == part && list->op[i].pass == pass && nth-- == 0) {
            return &list->op[i];
        }
    }
    fail_msg("no operation '%s'", weir_op_part_name(part));
    return NULL;
}

static void expect_size(const weir_op *op, uint64_t m, uint64_t n, uint64_t k)
{
    if (op->m != m || op->n != n || op->k != k) {
        fail_msg("%s: found %llu x %llu x %llu, expected %llu x %llu x %llu",
                 weir_op_part_name(op->part), (unsigned long long)op->m, (unsigned long long)op->n,
                 (unsigned long long)op->k, (unsigned long long)m, (unsigned long long)n,
                 (unsigned long long)k);
    }
}

/* --- FLOP --------------------------------------------------------------------------------- */

static void counts_the_flop_per_token_of_the_reference(void **state)
{
    (void)state;
    /* TM 13, 1e9 FLOP of training for a token, causal. */
    static const struct {
        const char *id;
        uint32_t length;
        double gflop, last_digit;
    } reference[] = {
        {"llama3-8b", 8192, 51.47, 0.01},  {"llama3-70b", 8192, 449.2, 0.1},
        {"llama3-405b", 8192, 2524, 1},    {"mixtral-8x7b", 4096, 79.7, 0.1},
        {"deepseek-v3", 4096, 250.5, 0.1}, {"qwen3-235b-a22b", 4096, 148.3, 0.1},
        {"gpt3-175b", 2048, 1061.9, 0.1},
    };
    for (uint32_t i = 0; i < sizeof reference / sizeof *reference; i++) {
        weir_model model = preset(reference[i].id);
        model.mtp_layers = 0;
        double found = weir_flop_train_token(&model, reference[i].length, false) * 1e-9;
        expect_share(reference[i].id, found, reference[i].gflop,
                     reference[i].last_digit / reference[i].gflop);
    }
}

static void is_megatrons_formula_for_gpt_models_exactly(void **state)
{
    (void)state;
    static const char *const ids[] = {"megatron-1.7b", "megatron-145.6b", "gpt-22b", "gpt-1t"};
    for (uint32_t i = 0; i < 4; i++) {
        weir_model m = preset(ids[i]);
        weir_flop_parts f = weir_flop_forward(&m, 2048, true);
        expect_share(ids[i], 3 * weir_flop_total(&f), weir_flop_megatron_2021(&m, 1, 2048, false),
                     1e-12);
        expect_share(ids[i], 4 * (weir_flop_total(&f) - f.head) + 3 * f.head,
                     weir_flop_megatron_2021(&m, 1, 2048, true), 1e-12);
    }
    /* SC 2021, table 1: 1008 B parameters, batch 3072, 163 TFLOP/s on each of 3072 GPUs, and end of
     * section 5.1: 84 days for 450 B tokens by 8 T P / (n X). */
    weir_model m = preset("megatron-1008b");
    double step_flop = weir_flop_megatron_2021(&m, 3072, 2048, true);
    double days = step_flop / (3072.0 * 2048) * 450e9 / (3072 * 163e12) / 86400;
    expect_share("1T, days", days, 84, 0.03);
}

/* Figures of a copy in Python of Megatron-LM's own function, tokens of 4,096 or as written. */
static void is_megatron_lms_counter_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        uint32_t length;
        uint64_t vocab;
        double flop;
    } known[] = {{"llama3-8b", 8192, 128256, 51470401536.0},
                 {"mixtral-8x7b", 4096, 32000, 79706456064.0},
                 {"gpt3-175b", 2048, 51200, 1061947441152.0},
                 {"deepseek-v3", 4096, 129280, 259992950784.0}};
    for (uint32_t i = 0; i < 4; i++) {
        weir_model m = preset(known[i].id);
        expect_share(known[i].id, weir_flop_megatron_token(&m, known[i].length, known[i].vocab),
                     known[i].flop, 1e-12);
        /* Every operation counts half a pair of a query with itself more, and routers. */
        expect_share(known[i].id, weir_flop_train_token(&m, known[i].length, false), known[i].flop,
                     3e-3);
    }
}

static void is_near_the_palm_formula(void **state)
{
    (void)state;
    /* They differ by the parameters of norms and biases, which the formula multiplies by 6. */
    static const char *const ids[] = {"llama3-8b", "llama3-405b", "mixtral-8x7b", "gpt-530b"};
    for (uint32_t i = 0; i < 4; i++) {
        weir_model m = preset(ids[i]);
        expect_share(ids[i], weir_flop_train_token(&m, 4096, true), weir_flop_palm_token(&m, 4096),
                     2e-4);
    }
}

static void adds_a_module_of_multi_token_prediction(void **state)
{
    (void)state;
    weir_model m = preset("deepseek-v3");
    weir_flop_parts f = weir_flop_forward(&m, 4096, false);
    weir_op_shape shape = {.sequences = 1, .length = 4096};
    weir_op_list block;
    weir_ops_layer(&m, 60, &shape, false, &block);
    double projection = 2.0 * 4096 * 7168 * 2 * 7168;
    expect_share("mtp", f.mtp, weir_ops_sum(&block).model_flop + f.head + projection, 1e-12);
}

/* --- attention ---------------------------------------------------------------------------- */

static void counts_pairs_as_a_loop_does(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1, 2, 7, 64}, pasts[] = {0, 1, 5, 100},
                          windows[] = {0, 1, 3, 8, 200};
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t j = 0; j < 4; j++) {
            for (uint32_t k = 0; k < 5; k++) {
                uint64_t pairs = 0;
                for (uint64_t q = 0; q < lengths[i]; q++) {
                    uint64_t seen = pasts[j] + q + 1;
                    pairs += windows[k] && windows[k] < seen ? windows[k] : seen;
                }
                double found = weir_attention_pairs(lengths[i], pasts[j], windows[k], false);
                assert_true(found == (double)pairs);
            }
        }
    }
    assert_true(weir_attention_pairs(8, 2, 0, true) == 80);
}

static void gives_windowed_layers_fewer_pairs(void **state)
{
    (void)state;
    weir_model m = preset("gpt-oss-120b");
    weir_op_shape shape = {.sequences = 2, .length = 4096};
    weir_op_list near, far;
    weir_ops_layer(&m, 0, &shape, false, &near); /* sliding */
    weir_ops_layer(&m, 1, &shape, false, &far);
    /* TM 2: s w - w^2/2 (+ w/2: the token itself), s (s + 1) / 2. */
    assert_true(get(&near, WEIR_MODEL_PART_CORE, 0, 0)->pairs == 4096.0 * 128 - 128 * 128 / 2 + 64);
    assert_true(get(&far, WEIR_MODEL_PART_CORE, 0, 0)->pairs == 4096.0 * 4097 / 2);
    assert_true(get(&far, WEIR_MODEL_PART_CORE, 0, 0)->flop == 4.0 * 2 * 64 * 64 * 4096 * 4097 / 2);
}

static void executes_five_products_backward_of_fused_attention(void **state)
{
    (void)state;
    /* TM 2: model FLOP twice forward, executed 2.5 times. */
    weir_model m = preset("llama3-8b");
    weir_op_shape shape = {.sequences = 1, .length = 8192};
    weir_op_list forward, backward;
    weir_ops_layer(&m, 0, &shape, false, &forward);
    weir_ops_layer(&m, 0, &shape, true, &backward);
    const weir_op *f = get(&forward, WEIR_MODEL_PART_CORE, WEIR_PASS_FORWARD, 0);
    const weir_op *b = get(&backward, WEIR_MODEL_PART_CORE, WEIR_PASS_DGRAD, 0);
    assert_true(b->model_flop == 2 * f->flop);
    assert_true(b->flop == 2.5 * f->flop);
    /* Q and O of 32 heads, K and V of 8, 128 wide, 2 bytes; a sum of 4 bytes for each row. */
    assert_true(f->bytes_read == 8192.0 * 2 * 128 * (32 + 16));
    assert_true(f->bytes_written == 8192.0 * (2 * 128 * 32 + 4 * 32));
}

static void writes_scores_of_unfused_attention_masked_or_not(void **state)
{
    (void)state;
    weir_model m = preset("gpt-22b");
    weir_op_shape shape = {.sequences = 4, .length = 2048, .tensor = 8, .unfused_core = true};
    weir_op_list forward, backward;
    weir_ops_layer(&m, 0, &shape, false, &forward);
    weir_ops_layer(&m, 0, &shape, true, &backward);
    const weir_op *scores = get(&forward, WEIR_MODEL_PART_CORE, 0, 0);
    const weir_op *softmax = get(&forward, WEIR_MODEL_PART_CORE, 0, 1);
    const weir_op *values = get(&forward, WEIR_MODEL_PART_CORE, 0, 2);
    expect_size(scores, 2048, 2048, 96);
    expect_size(values, 2048, 96, 2048);
    assert_int_equal(scores->batch, 4 * 8);
    assert_true(softmax->bytes_read == 4.0 * 8 * 2048 * 2048 * 2);
    assert_true(scores->flop == 2.0 * 32 * 2048 * 2048 * 96);
    assert_true(scores->model_flop == 2.0 * 32 * 2048 * 2049 / 2 * 96);
    /* Backward: two products for each, all of them before the stage before can go on. */
    double flop = 0;
    for (uint32_t i = 0; i < backward.count; i++) {
        const weir_op *op = &backward.op[i];
        flop += op->part == WEIR_MODEL_PART_CORE ? op->flop : 0;
        assert_true(op->part != WEIR_MODEL_PART_CORE || op->pass == WEIR_PASS_DGRAD);
    }
    assert_true(flop == 2 * (scores->flop + values->flop));
}

/* --- sizes -------------------------------------------------------------------------------- */

static void has_the_sizes_of_llama_on_eight_ranks(void **state)
{
    (void)state;
    weir_model m = preset("llama3-70b");
    weir_op_shape shape = {.sequences = 1, .length = 8192, .tensor = 8, .sequence_parallel = true};
    weir_op_list f, b;
    weir_ops_layer(&m, 0, &shape, false, &f);
    weir_ops_layer(&m, 0, &shape, true, &b);
    expect_size(get(&f, WEIR_MODEL_PART_QKV, 0, 0), 8192, (8 + 2) * 128, 8192);
    expect_size(get(&f, WEIR_MODEL_PART_OUTPUT, 0, 0), 8192, 8192, 8 * 128);
    expect_size(get(&f, WEIR_MODEL_PART_UP, 0, 0), 8192, 2 * 3584, 8192);
    expect_size(get(&f, WEIR_MODEL_PART_DOWN, 0, 0), 8192, 8192, 3584);
    expect_size(get(&f, WEIR_MODEL_PART_ATTENTION_NORM, 0, 0), 1024, 8192, 1);
    assert_int_equal(get(&f, WEIR_MODEL_PART_UP, 0, 0)->split, WEIR_SPLIT_COLUMNS);
    assert_int_equal(get(&f, WEIR_MODEL_PART_DOWN, 0, 0)->split, WEIR_SPLIT_ROWS);
    expect_size(get(&b, WEIR_MODEL_PART_DOWN, WEIR_PASS_DGRAD, 0), 8192, 3584, 8192);
    expect_size(get(&b, WEIR_MODEL_PART_DOWN, WEIR_PASS_WGRAD, 0), 8192, 3584, 8192);
    expect_size(get(&b, WEIR_MODEL_PART_QKV, WEIR_PASS_WGRAD, 0), 1280, 8192, 8192);
    /* Backward begins at the end of the layer. */
    assert_int_equal(b.op[0].part, WEIR_MODEL_PART_DOWN);
    assert_int_equal(b.op[b.count - 1].part, WEIR_MODEL_PART_ATTENTION_NORM);
}

static void moves_the_bytes_of_the_reference(void **state)
{
    (void)state;
    /* TM 3, of T tokens in 16 bits. */
    weir_model m = preset("llama3-8b");
    weir_op_shape shape = {.sequences = 2, .length = 4096};
    double tokens = 8192, h = 4096, f = 14336;
    weir_op_list forward, backward;
    weir_ops_layer(&m, 0, &shape, false, &forward);
    weir_ops_layer(&m, 0, &shape, true, &backward);
    const weir_op *op = get(&forward, WEIR_MODEL_PART_ATTENTION_NORM, 0, 0);
    assert_true(op->bytes_read + op->bytes_written == 4 * tokens * h);
    op = get(&backward, WEIR_MODEL_PART_ATTENTION_NORM, WEIR_PASS_DGRAD, 0);
    assert_true(op->bytes_read + op->bytes_written == 8 * tokens * h); /* 6 to 8 */
    op = get(&forward, WEIR_MODEL_PART_ACTIVATION, 0, 0);
    assert_true(op->bytes_read + op->bytes_written == 6 * tokens * f);
    op = get(&backward, WEIR_MODEL_PART_ACTIVATION, WEIR_PASS_DGRAD, 0);
    assert_true(op->bytes_read + op->bytes_written == 10 * tokens * f);
    op = get(&forward, WEIR_MODEL_PART_ROPE, 0, 0);
    assert_true(op->bytes_read + op->bytes_written == 4 * tokens * 128 * (32 + 8));
    op = get(&forward, WEIR_MODEL_PART_ATTENTION_ADD, 0, 0);
    assert_true(op->bytes_read + op->bytes_written == 6 * tokens * h);
    /* Accumulating in 32 bits reads and writes 8 bytes of a parameter, in the product or beside. */
    op = get(&backward, WEIR_MODEL_PART_DOWN, WEIR_PASS_WGRAD, 0);
    assert_true(op->bytes_written == 4 * h * f);
    assert_true(op->bytes_read == 4 * h * f + 2 * tokens * (h + f));
    shape.separate_accumulation = true;
    weir_ops_layer(&m, 0, &shape, true, &backward);
    op = get(&backward, WEIR_MODEL_PART_DOWN, WEIR_PASS_WGRAD, 1);
    assert_true(op->bytes_read + op->bytes_written == 10 * h * f);
}

static void moves_logits_three_times_unless_fused(void **state)
{
    (void)state;
    /* TM 3: 12 to 16 bytes of a logit, 6 where fused. */
    weir_model m = preset("llama3-8b");
    weir_op_shape shape = {.sequences = 1, .length = 8192, .tensor = 8, .vocab_multiple = 128};
    double logits = 8192.0 * 129024 / 8; /* 128,256 padded to a multiple of 1,024 */
    for (uint32_t fused = 0; fused < 2; fused++) {
        weir_op_list f, b;
        shape.fused_loss = fused;
        weir_ops_head(&m, &shape, false, &f);
        weir_ops_head(&m, &shape, true, &b);
        const weir_op *x = get(&f, WEIR_MODEL_PART_LOSS, 0, 0);
        const weir_op *y = get(&b, WEIR_MODEL_PART_LOSS, WEIR_PASS_DGRAD, 0);
        assert_true(x->bytes_read + x->bytes_written + y->bytes_read + y->bytes_written ==
                    logits * (fused ? 6 : 16));
        expect_size(get(&f, WEIR_MODEL_PART_HEAD, 0, 0), 8192, 16128, 4096);
    }
}

static void has_the_sizes_of_deepseeks_latent_attention(void **state)
{
    (void)state;
    weir_model m = preset("deepseek-v3");
    weir_op_shape shape = {.sequences = 1, .length = 4096};
    weir_op_list f;
    weir_ops_layer(&m, 0, &shape, false, &f);
    expect_size(get(&f, WEIR_MODEL_PART_LATENT, 0, 0), 4096, 1536, 7168);
    expect_size(get(&f, WEIR_MODEL_PART_LATENT, 0, 1), 4096, 576, 7168);
    expect_size(get(&f, WEIR_MODEL_PART_QKV, 0, 0), 4096, 128 * 192, 1536);
    expect_size(get(&f, WEIR_MODEL_PART_QKV, 0, 1), 4096, 128 * 256, 512);
    expect_size(get(&f, WEIR_MODEL_PART_OUTPUT, 0, 0), 4096, 7168, 128 * 128);
    /* TM 2: 2 b nq s^2 [(dn + dr) + dv] / 2, with the diagonal. */
    const weir_op *core = get(&f, WEIR_MODEL_PART_CORE, 0, 0);
    assert_true(core->flop == 2.0 * 128 * 4096 * 4097 / 2 * (192 + 128));
}

static void gives_experts_their_rows(void **state)
{
    (void)state;
    weir_model m = preset("deepseek-v3");
    weir_op_shape shape = {.sequences = 1, .length = 4096, .expert = 32};
    weir_op_list f, b;
    weir_ops_layer(&m, 60, &shape, false, &f);
    weir_ops_layer(&m, 60, &shape, true, &b);
    const weir_op *up = get(&f, WEIR_MODEL_PART_EXPERT_UP, 0, 0);
    expect_size(up, 4096 * 8, 2 * 2048, 7168);
    assert_int_equal(up->batch, 8);
    assert_int_equal(up->kind, WEIR_OP_GROUPED_GEMM);
    assert_true(up->bytes_read == 2.0 * (32768.0 * 7168 + 8.0 * 7168 * 4096));
    expect_size(get(&f, WEIR_MODEL_PART_ROUTER, 0, 0), 4096, 256, 7168);
    expect_size(get(&f, WEIR_MODEL_PART_SHARED_DOWN, 0, 0), 4096, 7168, 2048);
    const weir_op *wgrad = get(&b, WEIR_MODEL_PART_EXPERT_UP, WEIR_PASS_WGRAD, 0);
    assert_true(wgrad->flop == up->flop);
    assert_true(wgrad->bytes_written == 4.0 * 8 * 7168 * 4096);
    /* TM 3: 2 x 2 T k h each way. */
    const weir_op *permute = get(&f, WEIR_MODEL_PART_DISPATCH, 0, 0);
    assert_true(permute->bytes_read + permute->bytes_written == 4.0 * 32768 * 7168);
    /* The busiest rank; a capacity drops or pads instead. */
    shape.expert_load = 1.25;
    weir_ops_layer(&m, 60, &shape, false, &f);
    expect_size(get(&f, WEIR_MODEL_PART_EXPERT_UP, 0, 0), 40960, 4096, 7168);
    shape.capacity = 1.1;
    weir_ops_layer(&m, 60, &shape, false, &f);
    assert_int_equal(get(&f, WEIR_MODEL_PART_EXPERT_UP, 0, 0)->m, 36045); /* 36044.8 */
}

static void keeps_the_work_of_experts_over_tensor_ranks(void **state)
{
    (void)state;
    weir_model m = preset("mixtral-8x7b");
    weir_op_shape shape = {.sequences = 1, .length = 4096, .tensor = 4, .sequence_parallel = true};
    weir_op_list whole, split;
    weir_ops_layer(&m, 0, &(weir_op_shape){.sequences = 1, .length = 4096}, false, &whole);
    for (shape.expert_tensor = 1; shape.expert_tensor <= 4; shape.expert_tensor *= 2) {
        weir_ops_layer(&m, 0, &shape, false, &split);
        assert_true(4 * get(&split, WEIR_MODEL_PART_EXPERT_UP, 0, 0)->flop ==
                    get(&whole, WEIR_MODEL_PART_EXPERT_UP, 0, 0)->flop);
    }
}

/* --- properties --------------------------------------------------------------------------- */

static void does_twice_the_forward_flop_backward_in_every_preset(void **state)
{
    (void)state;
    uint32_t at = 0;
    char id[WEIR_MODEL_ID];
    while (weir_model_preset_next(&at, id)) {
        weir_model m = preset(id);
        for (uint32_t variant = 0; variant < 4; variant++) {
            weir_op_shape shape = {.sequences = 2,
                                   .length = 1024,
                                   .unfused_core = variant & 1,
                                   .dropout = variant >> 1,
                                   .fused_add = variant >> 1};
            weir_op_list f, b;
            weir_ops_layer(&m, m.layers - 1, &shape, false, &f);
            weir_ops_layer(&m, m.layers - 1, &shape, true, &b);
            expect_share(id, weir_ops_sum(&b).model_flop, 2 * weir_ops_sum(&f).model_flop, 1e-12);
            weir_ops_embedding(&m, &shape, true, &b);
            assert_true(b.op[b.count - 1].pass == WEIR_PASS_WGRAD);
        }
    }
}

static void splits_flop_evenly_over_ranks(void **state)
{
    (void)state;
    weir_model m = preset("llama3-405b");
    weir_op_shape one = {.sequences = 1, .length = 8192}, many = one;
    many.tensor = 8;
    many.sequence_parallel = true;
    many.context = 4;
    weir_op_list a, b;
    for (uint32_t backward = 0; backward < 2; backward++) {
        weir_ops_layer(&m, 0, &one, backward, &a);
        weir_ops_layer(&m, 0, &many, backward, &b);
        expect_share("405B", 32 * weir_ops_sum(&b).flop, weir_ops_sum(&a).flop, 1e-12);
    }
}

static void reads_narrow_operands_in_fewer_bytes(void **state)
{
    (void)state;
    weir_model m = preset("llama3-8b");
    weir_op_shape shape = {.sequences = 1, .length = 8192, .bytes = {.operand = 1}};
    weir_op_list f;
    weir_ops_layer(&m, 0, &shape, false, &f);
    const weir_op *op = get(&f, WEIR_MODEL_PART_DOWN, 0, 0);
    assert_true(op->bytes_read == 8192.0 * 14336 + 14336.0 * 4096);
    assert_true(op->bytes_written == 2.0 * 8192 * 4096);
}

static void counts_packed_documents_by_their_pairs(void **state)
{
    (void)state;
    weir_model m = preset("llama3-8b");
    /* Eight documents of 1,024 in a text of 8,192. */
    weir_op_shape shape = {.sequences = 1, .length = 8192, .pairs = 8 * 1024.0 * 1025 / 2};
    weir_op_list f;
    weir_ops_layer(&m, 0, &shape, false, &f);
    assert_true(get(&f, WEIR_MODEL_PART_CORE, 0, 0)->flop == 4.0 * 128 * 32 * 8 * 1024 * 1025 / 2);
}

static void says_which_split_does_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        weir_op_shape shape;
        const char *key, *text;
    } bad[] = {
        {"llama3-8b",
         {.length = 8192, .tensor = 6},
         "tensor",
         "found 6, by which the heads (32) cannot be divided, expected for example 4"},
        {"llama3-8b",
         {.length = 8192, .context = 3},
         "context",
         "found 3, by which the tokens of a sequence (8192) cannot be divided, expected for "
         "example 2"},
        {"deepseek-v3",
         {.length = 4096, .expert = 48},
         "expert",
         "found 48, by which the experts (256) cannot be divided, expected for example 32"},
        {"mixtral-8x7b",
         {.length = 4096, .expert_tensor = 3},
         "expert_tensor",
         "found 3, by which the width of an expert (14336) cannot be divided, expected for "
         "example 2"},
        {"llama3-8b",
         {.length = 8192, .expert = 4},
         "expert",
         "found 4, by which the experts (0) cannot be divided, expected for example 1"},
        {"llama3-8b",
         {.length = 1001, .tensor = 8, .sequence_parallel = true},
         "tensor",
         "found 8, by which the tokens of a micro-batch (1001) cannot be divided, expected for "
         "example 1"},
        {"llama3-8b",
         {.length = 8192, .tensor = UINT32_MAX},
         "tensor",
         "found 4294967295, by which the heads (32) cannot be divided, expected for example 32"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_ops_fault fault;
        weir_model m = preset(bad[i].id);
        assert_false(weir_ops_is_sound(&m, &bad[i].shape, &fault));
        assert_string_equal(fault.key, bad[i].key);
        assert_string_equal(fault.text, bad[i].text);
    }
    weir_ops_fault fault;
    weir_model m = preset("llama3-405b");
    assert_true(weir_ops_is_sound(&m, &(weir_op_shape){.length = 8192, .tensor = 16, .context = 16},
                                  &fault));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_flop_per_token_of_the_reference),
        cmocka_unit_test(is_megatrons_formula_for_gpt_models_exactly),
        cmocka_unit_test(is_megatron_lms_counter_exactly),
        cmocka_unit_test(is_near_the_palm_formula),
        cmocka_unit_test(adds_a_module_of_multi_token_prediction),
        cmocka_unit_test(counts_pairs_as_a_loop_does),
        cmocka_unit_test(gives_windowed_layers_fewer_pairs),
        cmocka_unit_test(executes_five_products_backward_of_fused_attention),
        cmocka_unit_test(writes_scores_of_unfused_attention_masked_or_not),
        cmocka_unit_test(has_the_sizes_of_llama_on_eight_ranks),
        cmocka_unit_test(moves_the_bytes_of_the_reference),
        cmocka_unit_test(moves_logits_three_times_unless_fused),
        cmocka_unit_test(has_the_sizes_of_deepseeks_latent_attention),
        cmocka_unit_test(gives_experts_their_rows),
        cmocka_unit_test(keeps_the_work_of_experts_over_tensor_ranks),
        cmocka_unit_test(does_twice_the_forward_flop_backward_in_every_preset),
        cmocka_unit_test(splits_flop_evenly_over_ranks),
        cmocka_unit_test(reads_narrow_operands_in_fewer_bytes),
        cmocka_unit_test(counts_packed_documents_by_their_pairs),
        cmocka_unit_test(says_which_split_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
