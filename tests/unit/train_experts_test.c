/* train_experts_test.c: experts of a layer of Mixtral 8x7B (8 experts, 2 of each token) on one
 * node: kernels counted by hand, what DeepEP sends, who waits for the host. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "train/train_layer.h"
#include "train_job_sample.h"

#include <cmocka.h>

enum { EXPERTS = 8, TOP = 2 };

static job_sample sample;

static void expect(const char *what, double found, double expected, double allowed_share)
{
    if (!(fabs(found - expected) <= allowed_share * fabs(expected) + 1e-12)) {
        fail_msg("%s: found %.12g, expected %.12g", what, found, expected);
    }
}

static weir_layer_cost layer_of(void)
{
    weir_layer_cost cost;
    weir_train_layer_cost(&sample.job, 0, false, &cost);
    return cost;
}

static double sum_of(const weir_pass_cost *pass, weir_piece_kind kind, bool seconds)
{
    double sum = 0;
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        sum += piece->kind == kind ? (seconds ? piece->seconds : piece->count) : 0;
    }
    return sum;
}

static double cause_s(const weir_pass_cost *pass, weir_cause cause)
{
    double sum = 0;
    for (uint32_t i = 0; i < pass->count; i++) {
        sum += pass->piece[i].cause == cause ? pass->piece[i].seconds : 0;
    }
    return sum;
}

static double exchanged_bytes(const weir_layer_cost *cost)
{
    double sum = 0;
    const weir_pass_cost *passes[] = {&cost->forward, &cost->dgrad, &cost->wgrad};
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < passes[pass]->count; i++) {
            const weir_piece *piece = &passes[pass]->piece[i];
            sum += piece->cause == WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL ? piece->bytes : 0;
        }
    }
    return sum;
}

static void begin(uint32_t ranks)
{
    sample_clear(&sample);
    assert_true(sample_make("mixtral-8x7b", &sample));
    sample.job.plan.data = sample.job.plan.expert = ranks;
    sample.job.plan.global_batch = ranks;
}

static void products_of_experts_are_launched_one_by_one(void **state)
{
    (void)state;
    const struct {
        weir_gemm_format format;
        double each; /* of an expert's product, forward */
        double held; /* kernels that one kernel of all experts saves beside: activation and cast */
    } cases[] = {
        {WEIR_GEMM_16, 1, 0},
        {WEIR_GEMM_FP8, 1 + 2 + 1, 0},       /* product; maximum, scale; cast */
        {WEIR_GEMM_FP8_BLOCK, 1 + 2 + 1, 2}, /* product; scales of both operands; cast */
    };
    for (int i = 0; i < 3; i++) {
        begin(1);
        sample.job.plan.format = cases[i].format;
        weir_layer_cost loop = layer_of();
        sample.job.stack.grouped_experts = true;
        weir_layer_cost together = layer_of();
        double more = sum_of(&loop.forward, WEIR_PIECE_COMPUTE, false) -
                      sum_of(&together.forward, WEIR_PIECE_COMPUTE, false);
        expect("two products", more, 2 * (EXPERTS - 1) * cases[i].each + cases[i].held, 1e-9);
    }
}

/* Four at a time, whose tiles fill a part of the device each. */
static void small_experts_are_faster_in_one_kernel(void **state)
{
    (void)state;
    begin(1);
    weir_layer_cost loop = layer_of();
    sample.job.stack.grouped_experts = true;
    weir_layer_cost together = layer_of();
    expect("large ones", loop.forward.seconds, together.forward.seconds, 1e-9);
    sample.model.expert_ffn = 256;
    sample.model.experts = 64; /* of 128 rows: one tile high */
    together = layer_of();
    sample.job.stack.grouped_experts = false;
    loop = layer_of();
    assert_true(loop.forward.seconds > together.forward.seconds);
    assert_true(loop.wgrad.seconds >= together.wgrad.seconds);
}

static void the_host_reads_rows_only_where_none_are_dropped(void **state)
{
    (void)state;
    begin(1);
    sample.job.stack.expert_sync_s = 1e-3;
    sample.job.stack.launch_s = 1e-9;
    weir_layer_cost dropless = layer_of();
    expect("read", cause_s(&dropless.forward, WEIR_CAUSE_DEPENDENCY_SYNC), 1e-3, 1e-3);
    expect("backward", cause_s(&dropless.dgrad, WEIR_CAUSE_DEPENDENCY_SYNC), 0, 0);
    sample.job.plan.capacity = 1;
    weir_layer_cost dropped = layer_of();
    expect("fixed shapes", cause_s(&dropped.forward, WEIR_CAUSE_DEPENDENCY_SYNC), 0, 0);
    sample.job.plan.capacity = 0;
    sample.job.stack.graphs = true;
    weir_layer_cost graphs = layer_of();
    expect("graphs", cause_s(&graphs.forward, WEIR_CAUSE_DEPENDENCY_SYNC), 0, 0);
}

static void after_a_read_launches_are_seen(void **state)
{
    (void)state;
    begin(1);
    sample.job.stack.launch_s = 1e-4;
    weir_layer_cost dropless = layer_of();
    sample.job.plan.capacity = 1;
    weir_layer_cost dropped = layer_of();
    double read = cause_s(&dropless.forward, WEIR_CAUSE_DEPENDENCY_SYNC);
    double paced = cause_s(&dropped.forward, WEIR_CAUSE_DEPENDENCY_LAUNCH);
    /* at least what ten kernels of the permutation take before the first product */
    assert_true(read > paced && read >= 9 * 1e-4);
}

static void parts_in_graphs_are_launched_at_once(void **state)
{
    (void)state;
    begin(1);
    sample.job.stack.launch_s = 1; /* the host is the pace */
    sample.job.plan.capacity = 1;
    weir_layer_cost none = layer_of();
    double all_s = cause_s(&none.forward, WEIR_CAUSE_DEPENDENCY_LAUNCH);
    sample.job.stack.graphs_router = true;
    weir_layer_cost router = layer_of();
    /* norm; product and softmax of the router with eight and three kernels; one launch is left */
    double saved_s = all_s - cause_s(&router.forward, WEIR_CAUSE_DEPENDENCY_LAUNCH);
    const weir_chain_lengths *chain = &sample.chains.fused;
    expect("router", saved_s, chain->norm + chain->router + chain->softmax - 1, 1e-6);
    sample.job.stack.graphs_attention = true;
    weir_layer_cost both = layer_of();
    /* norm, one product of q, k and v, rotary positions, attention, one product; one launch */
    saved_s = cause_s(&router.forward, WEIR_CAUSE_DEPENDENCY_LAUNCH) -
              cause_s(&both.forward, WEIR_CAUSE_DEPENDENCY_LAUNCH);
    double attention = chain->norm + 2 * chain->product + chain->rope + chain->attention_forward;
    expect("attention", saved_s, attention - 1, 1e-6);
}

static void deepep_sends_a_token_to_a_rank_once(void **state)
{
    (void)state;
    begin(EXPERTS);
    weir_layer_cost cost = layer_of();
    double every = exchanged_bytes(&cost);
    sample.job.stack.expert_deepep = true;
    cost = layer_of();
    double once = exchanged_bytes(&cost);
    /* ranks that two draws of eight reach on average, over two */
    expect("copies", once / every, 8 * (1 - pow(7.0 / 8, TOP)) / TOP, 1e-9);
    sample.job.plan.format = WEIR_GEMM_FP8;
    cost = layer_of();
    expect("in 16 bits", exchanged_bytes(&cost), once, 1e-9);
    sample.job.stack.fused_quantise = true;
    cost = layer_of();
    double narrow = exchanged_bytes(&cost);
    /* of four exchanges the dispatch forward in half of the bytes */
    expect("in 8 bits", narrow / once, 3.5 / 4, 1e-9);
}

/* DeepEP's README: 43 GB/s of bytes to both of two nodes, 50 GB/s NICs; 58 GB/s to four. */
static void deepep_hands_on_what_stays_in_the_node(void **state)
{
    (void)state;
    const double rates[] = {43e9, 58e9};
    for (uint32_t i = 0; i < 2; i++) {
        begin(EXPERTS);
        sample.job.network.devices_per_node = i == 0 ? 4 : 2;
        sample.job.stack.expert_deepep = true;
        weir_layer_cost cost = layer_of();
        double nodes = i == 0 ? 2 : 4, rows = 4096.0 * TOP;
        double copies = rows * nodes * (1 - pow(1 - 1 / nodes, TOP)) / TOP;
        double bytes = 2 * 4096 * copies, seconds = 2 * bytes / rates[i];
        double found = cause_s(&cost.forward, WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL);
        assert_true(found >= seconds * (1 - 1e-9));
        if (i == 0) {
            expect("two nodes", found, seconds, 1e-6);
        }
    }
}

static void hidden_exchanges_take_sms(void **state)
{
    (void)state;
    begin(EXPERTS);
    sample.job.stack.overlaps_experts = true;
    weir_layer_cost free_of_them = layer_of();
    double hidden_s = sum_of(&free_of_them.forward, WEIR_PIECE_HIDDEN, true);
    assert_true(hidden_s > 0);
    sample.job.stack.communication_sms = 33; /* of 132 */
    weir_layer_cost beside = layer_of();
    expect("a quarter", beside.forward.seconds - free_of_them.forward.seconds, hidden_s / 4, 1e-6);
}

static int end(void **state)
{
    (void)state;
    sample_clear(&sample);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_experts_are_launched_one_by_one),
        cmocka_unit_test(small_experts_are_faster_in_one_kernel),
        cmocka_unit_test(the_host_reads_rows_only_where_none_are_dropped),
        cmocka_unit_test(after_a_read_launches_are_seen),
        cmocka_unit_test(parts_in_graphs_are_launched_at_once),
        cmocka_unit_test(deepep_sends_a_token_to_a_rank_once),
        cmocka_unit_test(deepep_hands_on_what_stays_in_the_node),
        cmocka_unit_test(hidden_exchanges_take_sms),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
