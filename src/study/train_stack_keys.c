/* train_stack_keys.c: the software of a scenario: a preset of presets/stacks, and what is written
 * over it. */
#include "study/train_inside.h"

#include <stddef.h>

typedef struct {
    weir_train_stack stack;
    const char *preset, *name, *source, *url, *confidence, *note;
    const weir_yaml_node *fit, *left, *sources;
} raw_stack;

#define AT(member) offsetof(raw_stack, stack.member)

static const char *const attentions[] = {
#define X(name, text) text,
    WEIR_ATTENTION_KERNELS(X)
#undef X
};

static const char usual_stack[] = "megatron-core";

/* Of keys: those before it are about the stack. */
enum { FIRST_VALUE = 9 };

/* Of the preset itself. */
#define ABOUT(key, kind, means, such_as)                                                           \
    {                                                                                              \
        .name = #key, .type = WEIR_KEY_##kind, .offset = offsetof(raw_stack, key),                 \
        .help = (means), .example = (such_as)                                                      \
    }
/* Of the stack; what is not written is the preset's. */
#define VALUE(key, member, kind, means, such_as)                                                   \
    .name = #key, .type = WEIR_KEY_##kind, .offset = AT(member), .shown = "that of the preset",    \
    .help = (means), .example = (such_as)
#define FLAG(key, means, such_as)                                                                  \
    {                                                                                              \
        VALUE(key, key, BOOL, means, such_as)                                                      \
    }
#define LIMITED(key, kind, from, to, means, such_as)                                               \
    {                                                                                              \
        VALUE(key, key, kind, means, such_as), .min = (from), .max = (to)                          \
    }
#define AMOUNT(key, member, of, means, such_as)                                                    \
    {                                                                                              \
        VALUE(key, member, QUANTITY, means, such_as), .dimension = WEIR_DIMENSION_##of             \
    }

static const weir_key keys[] = {
    {.name = "preset",
     .type = WEIR_KEY_TEXT,
     .offset = offsetof(raw_stack, preset),
     .help = "a name of presets/stacks; what is written beside it overrules it",
     .shown = "megatron-core",
     .example = "nemo-24.12"},
    ABOUT(name, TEXT, "what it is called", "NeMo 24.07"),
    ABOUT(source, TEXT, "where its facts are from", "its documentation"),
    ABOUT(url, TEXT, "the same, as an address", "https://github.com/..."),
    ABOUT(confidence, TEXT, "how sure they are", "secondary"),
    ABOUT(note, TEXT, "what is to be known", "layer norm in 16 bits"),
    ABOUT(fit, NODE, "of a preset: on what its constants were fitted", "{rows: 40}"),
    ABOUT(left, NODE, "of a preset: the error that the fit left", "{rows: 40, median: 0.03}"),
    ABOUT(sources, NODE, "of a preset: what the sources of single values are",
          "{fit: {what: tools/fit-training}}"),
    {.name = "attention",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(attention),
     .words = attentions,
     .word_count = WEIR_ATTENTION_KERNEL_COUNT,
     .shown = "that of the preset",
     .help = "which kernels calculate attention",
     .example = "flash2"},
    FLAG(fused_add, "residual adds are part of the norms behind them", "no"),
    FLAG(fused_activation, "activation functions are one kernel", "no"),
    FLAG(fused_rope, "rotary positions are one kernel", "no"),
    FLAG(fused_loss, "the loss reads logits once", "no"),
    FLAG(fused_quantise, "operands in FP8 and FP4 come out of the kernel before", "no"),
    FLAG(dropout, "hidden states are dropped out", "yes"),
    FLAG(separate_accumulation, "gradients are added to 32 bits by a kernel of its own", "yes"),
    LIMITED(gradient_bytes, NUMBER, 1, 8, "bytes of an accumulated gradient", "2"),
    LIMITED(reduced_bytes, NUMBER, 1, 8, "bytes of a gradient on the wire", "2"),
    LIMITED(gathered_bytes, NUMBER, 0.5, 8, "bytes of a parameter on the wire", "1"),
    LIMITED(optimizer_bytes, NUMBER, 0, 256,
            "bytes that the optimiser moves for each parameter of its share", "56"),
    LIMITED(state_bytes, NUMBER, 0, 64,
            "bytes of optimiser states and master weights for each parameter", "16"),
    LIMITED(vocab_multiple, UINT, 1, 65536,
            "of which the padded vocabulary of a tensor rank is a multiple", "1"),
    FLAG(overlaps_gradients, "gradients are reduced beside the backward pass", "no"),
    FLAG(overlaps_parameters, "parameters are gathered beside the forward pass", "no"),
    FLAG(overlaps_tensor, "exchanges of tensor ranks run beside products", "yes"),
    FLAG(fused_tensor_overlap,
         "in parts, each beside the product of another (Userbuffers, async TP)", "yes"),
    LIMITED(tensor_exposed, NUMBER, 0, 1,
            "share of the shorter of exchange and product that such an overlap leaves to be seen",
            "0.3"),
    FLAG(overlaps_pipeline, "messages between stages run beside passes", "no"),
    FLAG(post_validation,
         "stages of zb-* go on with the next step before all know the gradients' norm", "yes"),
    FLAG(overlaps_experts, "all-to-alls of experts run beside the other pass of a pair", "yes"),
    FLAG(expert_deepep, "a token is sent to a node once (DeepEP)", "yes"),
    LIMITED(communication_sms, UINT, 0, 1024, "SMs that collectives beside kernels take", "32"),
    AMOUNT(bucket, bucket_bytes, BYTES, "of gradients that are reduced together", "25 MB"),
    LIMITED(logit_bytes, NUMBER, 0, 64,
            "bytes of each logit while the loss is at its fullest; 0: 4 if fused_loss, else 14",
            "14"),
    LIMITED(shard_bytes, NUMBER, 0, 4,
            "ZeRO 3: bytes of a weight of a device's share; 0 where the master weights are the "
            "share (FSDP)",
            "0"),
    LIMITED(copy_bytes, NUMBER, 0, 4,
            "FP8 and FP4: bytes of copies of each weight beside the 16-bit one", "2"),
    LIMITED(temporary_bytes, NUMBER, 0, 64,
            "bytes that the optimiser takes while it runs, for each parameter of its share", "4"),
    FLAG(early_weights,
         "rows of experts take their weights before the last product, whose result is not kept",
         "yes"),
    LIMITED(live_parameters, NUMBER, 0, 1e12,
            "ZeRO 3: parameters gathered at a time, at least the largest matrix; 0: two layers",
            "1e9"),
    FLAG(keeps_gathered, "with sequence_parallel products keep their inputs gathered for backward",
         "yes"),
    FLAG(gathers_quantised,
         "with sequence_parallel inputs of products in FP8 and FP4 are gathered as they multiply",
         "yes"),
    FLAG(keeps_quantised, "products in FP8 and FP4 keep their inputs as they multiplied them",
         "yes"),
    LIMITED(fragmentation, NUMBER, 1, 4, "memory reserved over allocated", "1.1"),
    AMOUNT(context, context_bytes, BYTES, "of the device's context and libraries", "1 GB"),
    AMOUNT(communicator, communicator_bytes, BYTES, "of buffers for each axis that communicates",
           "0.5 GB"),
    FLAG(graphs, "CUDA graphs: kernels are not launched one by one", "yes"),
    FLAG(graphs_attention, "CUDA graphs of attention alone", "yes"),
    FLAG(graphs_router, "CUDA graphs of the norm and router before experts", "yes"),
    FLAG(grouped_experts, "experts of a device are one kernel, not products of each", "yes"),
    AMOUNT(launch, launch_s, SECONDS, "host time of a kernel", "8 us"),
    AMOUNT(micro_batch_time, micro_batch_s, SECONDS, "of the host in each micro-batch", "2 ms"),
    AMOUNT(step_time, step_s, SECONDS, "of each step, beside all that is modelled", "50 ms"),
    AMOUNT(hand_over_time, hand_over_s, SECONDS,
           "of each message between stages that runs beside nothing: the host waits for it",
           "0.39 ms"),
    AMOUNT(expert_sync, expert_sync_s, SECONDS,
           "forward in each mixture layer: the host reads the numbers of rows", "500 us"),
    LIMITED(jitter, NUMBER, 0, 1, "a step gets longer by that share for each doubling of devices",
            "0.004"),
    LIMITED(gemm_factor, NUMBER, 0.05, 50, "time of products over that of kernels alone", "1.1"),
    LIMITED(attention_factor, NUMBER, 0.05, 50, "the same of attention", "1.1"),
    LIMITED(memory_factor, NUMBER, 0.05, 50, "the same of kernels that only move bytes", "1.1"),
    LIMITED(tensor_factor, NUMBER, 0, 100,
            "time of exchanges of tensor, context and pipeline ranks over the library's", "1.1"),
    LIMITED(data_factor, NUMBER, 0, 100, "the same of data ranks", "1.1"),
    LIMITED(expert_factor, NUMBER, 0, 100, "the same of expert ranks", "1.1"),
    LIMITED(overlap_slowdown, NUMBER, 0, 20, "share by which hidden communication slows kernels",
            "0.1"),
};

const weir_key_table train_stack_keys = {
    .title = "stack",
    .about = "The software: what it fuses and overlaps, and how fast it is beside its kernels.",
    .keys = keys,
    .count = sizeof keys / sizeof *keys,
};

weir_code train_stack_is_whole(const weir_yaml *doc, const weir_yaml_node *root, weir_err *err)
{
    const weir_yaml_node *found;
    weir_code code = WEIR_OK;
    for (uint32_t i = FIRST_VALUE; i < sizeof keys / sizeof *keys && code == WEIR_OK; i++) {
        code = weir_yaml_need(doc, root, keys[i].name, WEIR_YAML_ANY, &found, err);
    }
    return code;
}

weir_code train_stack_over(const weir_key_source *source, const weir_yaml_node *node,
                           weir_train_stack *stack, weir_err *err)
{
    raw_stack raw = {.stack = *stack};
    const weir_yaml_node *plain = scenario_plain_members(node, NULL, NULL, source->arena);
    weir_code code = plain ? weir_keys_read(source, plain, &train_stack_keys, 0, &raw, err)
                           : scenario_no_memory(err);
    if (code == WEIR_OK) {
        *stack = raw.stack;
    }
    return code;
}

weir_code train_read_stack(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    scenario_reader ids = {.source = r->source};
    const weir_yaml_node *preset = node;
    const weir_train_stack *base = NULL;
    const char *id = usual_stack;
    bool is_mapping = node && node->kind == WEIR_YAML_MAPPING;
    if (is_mapping) {
        preset = weir_yaml_find(node, "preset");
    }
    weir_code code = preset ? scenario_read_id(&ids, preset, "stacks", &id, err) : WEIR_OK;
    if (code == WEIR_OK) {
        code = train_shelf_stack(r->shelf, id, &base, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    r->scenario->job.stack = *base;
    return is_mapping ? train_stack_over(&r->source, node, &r->scenario->job.stack, err) : WEIR_OK;
}
