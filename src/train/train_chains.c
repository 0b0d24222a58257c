#include "train/train_chains.h"

#include "scenario/keys.h"
#include "scenario/preset.h"

#include <stddef.h>

enum { MOST_KERNELS = 1000 };

#define COUNT(member)                                                                              \
    {                                                                                              \
        .name = #member, .type = WEIR_KEY_UINT, .offset = offsetof(weir_chain_lengths, member),    \
        .needed = WEIR_KEY_ALWAYS, .min = 1, .max = MOST_KERNELS                                   \
    }
#define BYTES(member)                                                                              \
    {                                                                                              \
        .name = #member, .type = WEIR_KEY_NUMBER, .offset = offsetof(weir_chain_lengths, member),  \
        .needed = WEIR_KEY_ALWAYS, .min = 1, .max = MOST_KERNELS                                   \
    }

static const weir_key keys[] = {
    COUNT(product),
    COUNT(attention_forward),
    COUNT(attention_backward),
    COUNT(softmax),
    COUNT(rope),
    COUNT(norm),
    COUNT(elementwise),
    COUNT(router),
    COUNT(loss),
    COUNT(other),
    COUNT(permute),
    COUNT(expert_product),
    COUNT(expert_reorder),
    COUNT(expert_cast),
    COUNT(expert_scale),
    BYTES(norm_bytes),
    BYTES(elementwise_bytes),
    BYTES(rope_bytes),
    BYTES(loss_bytes),
    BYTES(loss_backward_bytes),
};

static const weir_key_table length_table = {
    .title = "chains", .about = "", .keys = keys, .count = sizeof keys / sizeof *keys};

static const weir_key host_keys[] = {
    {.name = "backward_launch",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(weir_chain_host, backward_launch),
     .needed = WEIR_KEY_ALWAYS,
     .min = 0,
     .max = 1},
    {.name = "streams",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(weir_chain_host, streams),
     .needed = WEIR_KEY_ALWAYS,
     .min = 1,
     .max = 64},
};

static const weir_key_table host_table = {
    .title = "host", .about = "", .keys = host_keys, .count = sizeof host_keys / sizeof *host_keys};

static const weir_key exchange_keys[] = {
    {.name = "two_nodes",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(weir_chain_exchange, two_nodes),
     .needed = WEIR_KEY_ALWAYS,
     .min = 0.01,
     .max = 100},
    {.name = "more_nodes",
     .type = WEIR_KEY_NUMBER,
     .offset = offsetof(weir_chain_exchange, more_nodes),
     .needed = WEIR_KEY_ALWAYS,
     .min = 0.01,
     .max = 100},
};

static const weir_key_table exchange_table = {.title = "exchange",
                                              .about = "",
                                              .keys = exchange_keys,
                                              .count =
                                                  sizeof exchange_keys / sizeof *exchange_keys};

static weir_code read_part(const weir_yaml *doc, const char *name, weir_arena *arena,
                           const weir_key_table *table, void *out, weir_err *err)
{
    const weir_key_source source = {doc, arena};
    const weir_yaml_node *node;
    weir_code code = weir_yaml_need(doc, weir_yaml_root(doc), name, WEIR_YAML_MAPPING, &node, err);
    return code == WEIR_OK ? weir_keys_read(&source, node, table, 0, out, err) : code;
}

weir_code weir_train_chains_load(weir_train_chains *chains, weir_err *err)
{
    weir_yaml *doc = NULL;
    weir_train_chains made = {0};
    weir_arena *arena = weir_arena_new();
    weir_code code = arena ? weir_preset_open("kernel-chains.yaml", &doc, err)
                           : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for kernel chains");
    code = code == WEIR_OK ? read_part(doc, "fused", arena, &length_table, &made.fused, err) : code;
    code = code == WEIR_OK ? read_part(doc, "eager", arena, &length_table, &made.eager, err) : code;
    code = code == WEIR_OK ? read_part(doc, "host", arena, &host_table, &made.host, err) : code;
    code = code == WEIR_OK ? read_part(doc, "exchange", arena, &exchange_table, &made.exchange, err)
                           : code;
    if (code == WEIR_OK) {
        *chains = made;
    }
    weir_yaml_free(doc);
    weir_arena_free(arena);
    return code;
}
