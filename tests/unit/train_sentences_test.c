/* What `weir train` says of a scenario that cannot be: one sentence, with the place, the key, what
 * was found, and the nearest value that works. The values that it names are divisors and multiples
 * worked out by hand: 32 layers, 32 heads, 8 key-value heads (llama3-8b), 8 experts (mixtral-8x7b),
 * 64 devices. */
#include "study/train_scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REST                                                                                       \
    "cluster: {accelerator: h100-sxm, nodes: 8}\n"                                                 \
    "stack: nemo-24.12\n"                                                                          \
    "plan: {sequence: 8192, micro_batch: 1, global_batch: 128, tensor: 4, pipeline: 4}\n"

typedef struct {
    const char *key, *value, *sentence;
} said;

static void refuse(const char *text, const said *bad, size_t count)
{
    weir_train_shelf *shelf = weir_train_shelf_new();
    assert_non_null(shelf);
    for (size_t i = 0; i < count; i++) {
        weir_train_scenario s = {0};
        weir_err err = {0};
        const weir_setting setting = {bad[i].key, bad[i].value};
        const weir_train_input input = {"job.yaml", text, strlen(text), &setting, 1};
        if (weir_train_scenario_parse_on(shelf, &input, &s, &err) == WEIR_OK) {
            weir_train_scenario_clear(&s);
            fail_msg("%s=%s: found nothing wrong", bad[i].key, bad[i].value);
        }
        if (strcmp(err.text, bad[i].sentence) != 0) {
            fail_msg("%s=%s:\n%s\nexpected\n%s", bad[i].key, bad[i].value, err.text,
                     bad[i].sentence);
        }
    }
    weir_train_shelf_free(shelf);
}
#define REFUSE(text, bad) refuse(text, bad, sizeof(bad) / sizeof *(bad))

static void of_groups(void **state)
{
    static const said bad[] = {
        {"plan.tensor", "3",
         "--set plan.tensor: found 3, by which the heads (32) cannot be divided, expected for "
         "example 2"},
        {"plan.tensor", "64",
         "--set plan.tensor: found 64, by which the heads (32) cannot be divided, expected for "
         "example 32"},
        {"plan.pipeline", "3",
         "--set plan.pipeline: found 3: tensor 4 x context 1 x pipeline 3 = 12 devices for a "
         "replica, expected a divisor of the 64 of the cluster; pipeline 2 fits"},
        {"plan.context", "3",
         "--set plan.context: found 3, by which the tokens of a sequence (8192) cannot be divided, "
         "expected for example 2, or plan.sequence: 8196"},
        {"plan.context", "32",
         "job.yaml:4:67: plan.tensor: found 4: tensor 4 x context 32 x pipeline 4 = 512 devices "
         "for a replica, expected a divisor of the 64 of the cluster; tensor 2 fits"},
        {"plan.sequence", "8191",
         "job.yaml:4:67: plan.tensor: found 4, by which the tokens of a micro-batch (8191) cannot "
         "be divided, expected for example 1, or plan.sequence: 8192"},
        {"plan.data", "5",
         "--set plan.data: found 5 replicas of 16 devices, expected 4 on the cluster's 64"},
        {"plan.shard_ranks", "3",
         "--set plan.shard_ranks: found 3, expected a divisor of data x context, 4, such as 2"},
        {"plan.expert", "2", "--set plan.expert: found 2 for a model without experts, expected 1"},
        {"plan.expert_tensor", "2",
         "--set plan.expert_tensor: found 2 for a model without experts, expected 1"},
        {"plan.expert_load", "1.5",
         "--set plan.expert_load: found 1.5 for a model without experts, expected 1"},
        {"plan.capacity", "1.25",
         "--set plan.capacity: found 1.25 for a model without experts, expected 0"},
        {"cluster.nics", "3",
         "--set cluster.nics: found 3 nics for 8 devices, expected a number that divides the "
         "devices or is a multiple of them, such as 2"},
        {"cluster.nics", "20",
         "--set cluster.nics: found 20 nics for 8 devices, expected a number that divides the "
         "devices or is a multiple of them, such as 16"},
    };
    static const said experts[] = {
        {"plan.expert", "3",
         "--set plan.expert: found 3, by which the experts (8) cannot be divided, expected for "
         "example 2"},
        {"plan.expert", "16",
         "--set plan.expert: found 16, by which the experts (8) cannot be divided, expected for "
         "example 8"},
    };
    REFUSE("model: llama3-8b\n" REST, bad);
    REFUSE("model: mixtral-8x7b\n" REST, experts);
}

static void of_batches(void **state)
{
    static const said bad[] = {
        {"plan.global_batch", "30",
         "--set plan.global_batch: found 30 sequences for 4 replicas of micro-batches of 1, "
         "expected a multiple of 4 such as 28"},
        {"plan.global_batch", "2",
         "--set plan.global_batch: found 2 sequences for 4 replicas of micro-batches of 1, "
         "expected a multiple of 4 such as 4"},
        {"plan.micro_batch", "256",
         "--set plan.micro_batch: found 256 sequences at a time, but a replica has 32 of the 128 "
         "(4 replicas), expected for example 32"},
        {"plan.micro_batches", "7",
         "--set plan.micro_batches: found 7, expected 32: 128 sequences on 4 replicas, 1 at a "
         "time"},
        {"plan", "{sequence: 8192, global_batch: 24, tensor: 4, pipeline: 4, chunks: 2}",
         "--set plan: global_batch: found 24 sequences: micro-batches are 6 for 4 stages of "
         "interleaved 1F1B, expected a multiple of them such as 4; global_batch 16 fits"},
        {"plan", "{sequence: 8192, global_batch: 8, tensor: 4, pipeline: 4, schedule: dualpipe}",
         "--set plan: global_batch: found 8 sequences: micro-batches are 2 for 4 stages of "
         "dualpipe, expected at least 8 and an even number such as 8; global_batch 32 fits"},
    };
    REFUSE("model: llama3-8b\n" REST, bad);
}

static void of_stages(void **state)
{
    static const said bad[] = {
        {"plan.chunks", "9",
         "--set plan.chunks: found 4 stages x 9 chunks = 36 for 32 layers, expected at most 32; "
         "chunks 8 fits"},
        {"plan.first_layers", "3",
         "--set plan.first_layers: found 32 layers with 3 and 0 fewer on the first and last of 4 "
         "chunks, expected a sum that 4 divides: 32 + first + last, such as first 4"},
        {"plan.chunk_layers", "[8, 8, 8]",
         "--set plan.chunk_layers: found 3 numbers, expected one for each of the 4 chunks"},
        {"plan", "{sequence: 8192, global_batch: 128, schedule: dualpipe}",
         "--set plan: plan.pipeline: found 1 for dualpipe, which has two directions, expected an "
         "even "
         "number such as 2"},
        {"plan.recompute", "block",
         "--set plan.recompute: found block without recompute_layers, expected 1 to 8 of each "
         "chunk"},
        {"plan.recompute_layers", "4",
         "--set plan.recompute_layers: found 4 without recompute: block, expected both, or "
         "neither"},
        {"plan.precision", "fp4",
         "--set plan.precision: found fp4, which NVIDIA H100 SXM5 80 GB does not calculate in, "
         "expected for example fp8"},
        {"plan.schedule", "1F1B", "--set plan.schedule: found '1F1B', expected '1f1b'"},
        {"plan.layout", "list",
         "--set plan.layout: found list without chunk_layers, expected layers of each of the 4 "
         "chunks, such as chunk_layers: [8, 8, 8, 8]"},
    };
    REFUSE("model: llama3-8b\n" REST, bad);
}

static void of_models(void **state)
{
    static const said bad[] = {
        {"model.heads", "33",
         "--set model.heads: key 'kv_heads': found 8 key-value heads for 33 heads, expected a "
         "divisor such as 11"},
        {"model.kv_heads", "5",
         "--set model.kv_heads: key 'kv_heads': found 5 key-value heads for 32 heads, expected a "
         "divisor such as 4"},
        {"model.experts", "8",
         "--set model.experts: key 'expert_ffn': found 8 experts without their width, expected for "
         "example expert_ffn: 2048"},
        {"model", "no/config.json",
         "--set model: found 'no/config.json', expected a file: no/config.json: cannot be opened"},
        {"model", "{model_type: lama}", "--set model: model_type: found 'lama', expected 'llama'"},
        {"model", "gpt2",
         "job.yaml:4:18: plan.sequence: found 8192 tokens for a model that has learned 1024 "
         "positions, expected at most 1024, or model.max_positions: 8192"},
    };
    REFUSE("model: llama3-8b\n" REST, bad);
}

static void of_words_and_places(void **state)
{
    static const said bad[] = {
        {"cluster.accelerator", "h1000",
         "--set cluster.accelerator: found 'h1000', expected 'h100-nvl', 'h100-sxm' or "
         "'h100-pcie'"},
        {"stack", "nemo",
         "--set stack: found 'nemo', expected 'nemo-24.07', 'nemo-24.12' or "
         "'nemo-25.05'"},
        {"plan.recompute", "[attention]",
         "--set plan.recompute: found 'attention', expected one of core, norms, activation, up, "
         "network, experts, output"},
        {"network", "{kind: clos}",
         "--set network: found no key 'switch', which is needed here, for example switch: "
         "tomahawk5-400g"},
        {"network.kind", "clos",
         "--set network.kind: found no key 'switch', which is needed here, for example switch: "
         "tomahawk5-400g"},
        {"plan.precision", "FP8", "--set plan.precision: found 'FP8', expected 'fp8'"},
        {"disturb", "{slow: [{device: 99, factor: 2}]}",
         "--set disturb: device: found '99', expected a device from 0 to 63"},
        {"plan", "{tensor: 3}",
         "--set plan: found no key 'global_batch', which is needed here, for example global_batch: "
         "2048"},
    };
    REFUSE("model: llama3-8b\n" REST, bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_groups),           cmocka_unit_test(of_batches),
        cmocka_unit_test(of_stages),           cmocka_unit_test(of_models),
        cmocka_unit_test(of_words_and_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
