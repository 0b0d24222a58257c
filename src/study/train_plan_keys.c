/* train_plan_keys.c: the parallel plan of a training scenario. */
#include "model/model_memory.h"
#include "study/train_inside.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    weir_train_plan plan;
    uint32_t precision;
    const weir_yaml_node *chunk_layers, *order, *parts;
} raw_plan;

#define AT(member) offsetof(raw_plan, member)

static const char *const schedules[] = {
#define X(name, text) text,
    WEIR_TRAIN_SCHEDULES(X)
#undef X
};
static const char *const axes[] = {
#define X(name, text, letters) text,
    WEIR_TRAIN_AXES(X)
#undef X
};
static const char *const layouts[] = {"even", "as-layers", "less", "list"};
static const char *const contexts[] = {"ring", "all-gather", "ulysses"};
static const char *const recomputes[] = {"none", "selective", "full", "block"};

/* As users write them; fp16 costs what bf16 does. */
static const struct {
    const char *name;
    weir_gemm_format format;
} formats[] = {{"bf16", WEIR_GEMM_16},  {"fp16", WEIR_GEMM_16},
               {"fp8", WEIR_GEMM_FP8},  {"fp8-block", WEIR_GEMM_FP8_BLOCK},
               {"fp4", WEIR_GEMM_FP4},  {"fp32", WEIR_GEMM_32},
               {"tf32", WEIR_GEMM_TF32}};
static const char *const precisions[] = {"bf16", "fp16", "fp8", "fp8-block", "fp4", "fp32", "tf32"};

static const struct {
    const char *name;
    uint32_t mask;
} parts_known[] = {{"core", WEIR_RECOMPUTE_CORE},
                   {"norms", WEIR_RECOMPUTE_NORMS},
                   {"activation", WEIR_RECOMPUTE_ACTIVATION},
                   {"up", WEIR_RECOMPUTE_UP},
                   {"network", WEIR_RECOMPUTE_NETWORK},
                   {"experts", WEIR_RECOMPUTE_EXPERTS}};
static const char *const part_names[] = {"core", "norms", "activation", "up", "network", "experts"};

static const weir_key keys[] = {
    {.name = "tensor",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.tensor),
     .min = 1,
     .max = 1048576,
     .unset = "1",
     .help = "tensor parallel ranks"},
    {.name = "context",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.context),
     .min = 1,
     .max = 1048576,
     .unset = "1",
     .help = "context parallel ranks"},
    {.name = "pipeline",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.pipeline),
     .min = 1,
     .max = 1048576,
     .unset = "1",
     .help = "stages"},
    {.name = "data",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.data),
     .min = 1,
     .max = 1048576,
     .shown = "what the cluster has room for",
     .help = "replicas; follows from the cluster"},
    {.name = "expert",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.expert),
     .min = 1,
     .max = 1048576,
     .unset = "1",
     .help = "expert parallel ranks, out of data x context (x tensor)"},
    {.name = "expert_tensor",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.expert_tensor),
     .min = 1,
     .max = 1048576,
     .unset = "1",
     .help = "tensor parallel ranks of each expert"},
    {.name = "chunks",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.chunks),
     .min = 1,
     .max = 1024,
     .unset = "1",
     .help = "model chunks of a stage (virtual pipeline)"},
    {.name = "schedule",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(plan.schedule),
     .words = schedules,
     .word_count = sizeof schedules / sizeof *schedules,
     .unset = "1f1b",
     .help = "order of the passes of the stages"},
    {.name = "layout",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(plan.layout),
     .words = layouts,
     .word_count = sizeof layouts / sizeof *layouts,
     .unset = "even",
     .help =
         "what stages hold: even: layers are divided evenly; as-layers: embedding and head each "
         "count as one; less: first_layers and last_layers fewer at the ends; list: chunk_layers"},
    {.name = "first_layers",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.first_layers),
     .min = 0,
     .max = 1024,
     .unset = "0",
     .help = "layers fewer on the first chunk"},
    {.name = "last_layers",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.last_layers),
     .min = 0,
     .max = 1024,
     .unset = "0",
     .help = "layers fewer on the last chunk"},
    {.name = "chunk_layers",
     .type = WEIR_KEY_NODE,
     .offset = AT(chunk_layers),
     .shown = "by layout",
     .help = "layers of each chunk, in the order of the model"},
    {.name = "micro_batch",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.micro_batch),
     .min = 1,
     .max = 1048576,
     .unset = "1",
     .help = "sequences that a replica works on at once"},
    {.name = "global_batch",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.global_batch),
     .min = 1,
     .max = 1073741824,
     .needed = WEIR_KEY_ALWAYS,
     .help = "sequences of a step"},
    {.name = "micro_batches",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.micro_batches),
     .min = 1,
     .max = 16777216,
     .shown = "global_batch / (micro_batch x data)",
     .help = "of a replica in a step; follows from the others"},
    {.name = "sequence",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.sequence),
     .min = 1,
     .max = 67108864,
     .needed = WEIR_KEY_ALWAYS,
     .help = "tokens"},
    {.name = "sequence_parallel",
     .type = WEIR_KEY_BOOL,
     .offset = AT(plan.sequence_parallel),
     .unset = "yes",
     .help = "norms and adds on a share of the tokens of each tensor rank"},
    {.name = "context_kind",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(plan.context_kind),
     .words = contexts,
     .word_count = sizeof contexts / sizeof *contexts,
     .unset = "ring",
     .help = "how context ranks see all keys"},
    {.name = "order",
     .type = WEIR_KEY_NODE,
     .offset = AT(order),
     .shown = "[tensor, context, expert, data, pipeline]",
     .help = "axes, those of neighbouring devices first"},
    {.name = "zero",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.zero),
     .min = 0,
     .max = 3,
     .unset = "1",
     .help = "0: each replica has all states; 1: optimiser states are shared out, 2: gradients, 3: "
             "parameters (FSDP)"},
    {.name = "shard_ranks",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.shard_ranks),
     .min = 0,
     .max = 1048576,
     .unset = "0",
     .shown = "all",
     .help = "of data x context that share states out (HSDP)"},
    {.name = "regathers",
     .type = WEIR_KEY_BOOL,
     .offset = AT(plan.regathers),
     .unset = "yes",
     .help = "ZeRO 3: parameters are gathered again for the backward pass"},
    {.name = "accumulates_sharded",
     .type = WEIR_KEY_BOOL,
     .offset = AT(plan.accumulates_sharded),
     .unset = "yes",
     .help = "ZeRO 3: gradients are reduced in every micro-batch"},
    {.name = "recompute",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(plan.recompute),
     .words = recomputes,
     .word_count = sizeof recomputes / sizeof *recomputes,
     .unset = "none",
     .help = "what is computed again in the backward pass: selective: recompute_parts; block: the "
             "first recompute_layers of each chunk"},
    {.name = "recompute_parts",
     .type = WEIR_KEY_NODE,
     .offset = AT(parts),
     .shown = "[core]",
     .help = "core, norms, activation, up, network, experts"},
    {.name = "recompute_layers",
     .type = WEIR_KEY_UINT,
     .offset = AT(plan.recompute_layers),
     .min = 0,
     .max = 1024,
     .unset = "0",
     .help = "of each chunk, for block"},
    {.name = "precision",
     .type = WEIR_KEY_CHOICE,
     .offset = AT(precision),
     .words = precisions,
     .word_count = sizeof precisions / sizeof *precisions,
     .unset = "bf16",
     .help = "of matrix products"},
    {.name = "pairs",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(plan.pairs),
     .min = 0,
     .max = 1e+18,
     .unset = "0",
     .shown = "of one whole sequence",
     .help = "query-key pairs of a sequence, for packed documents"},
    {.name = "expert_load",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(plan.expert_load),
     .min = 1,
     .max = 1024,
     .unset = "1",
     .help = "rows of the busiest expert rank over the mean"},
    {.name = "capacity",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(plan.capacity),
     .min = 0,
     .max = 1024,
     .unset = "0",
     .shown = "dropless",
     .help = "of experts, over the mean; rows beyond are dropped"},
    {.name = "offload_share",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(plan.offload_share),
     .min = 0,
     .max = 1,
     .unset = "0",
     .help = "of activations that go to the host's memory"},
};

const weir_key_table train_plan_keys = {
    .title = "plan",
    .about = "How the model is divided over devices, and in what order it is computed.",
    .keys = keys,
    .count = sizeof keys / sizeof *keys,
};

static weir_code read_list(train_reader *r, const weir_yaml_node *node, const char *what,
                           weir_err *err)
{
    return node->kind == WEIR_YAML_SEQUENCE ? WEIR_OK
                                            : weir_yaml_reject(r->source.doc, node, what, err);
}

static weir_code read_chunk_layers(train_reader *r, const weir_yaml_node *node,
                                   weir_train_plan *plan, weir_err *err)
{
    static const weir_key count = {.name = "chunk_layers", .type = WEIR_KEY_UINT, .max = 1024};
    uint32_t positions = plan->pipeline * plan->chunks, at = 0;
    weir_code code = read_list(r, node, "a list of numbers of layers", err);
    if (code == WEIR_OK && (node->count != positions || positions > WEIR_TRAIN_MAX_CHUNKS)) {
        return weir_yaml_fail(r->source.doc, node, err,
                              "found %u numbers, expected one for each of the %u chunks",
                              node->count, positions);
    }
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        uint32_t layers = 0;
        code = weir_key_read(&r->source, n, &count, &layers, err);
        plan->chunk_layers[at++] = (uint16_t)layers;
    }
    return code;
}

static weir_code read_order(train_reader *r, const weir_yaml_node *node, weir_train_plan *plan,
                            weir_err *err)
{
    uint32_t seen = 0, at = 0;
    weir_code code = read_list(r, node, "a list of axes", err);
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        uint32_t axis;
        code = weir_yaml_choice(r->source.doc, n, axes, WEIR_AXIS_COUNT, &axis, err);
        if (code == WEIR_OK && seen >> axis & 1) {
            return weir_yaml_fail(r->source.doc, n, err, "found %s twice, expected each axis once",
                                  axes[axis]);
        }
        if (code == WEIR_OK) {
            seen |= 1u << axis;
            plan->order[at++] = (weir_train_axis)axis;
        }
    }
    for (uint32_t a = 0; a < WEIR_AXIS_COUNT && code == WEIR_OK; a++) {
        if (!(seen >> a & 1)) {
            plan->order[at++] = (weir_train_axis)a;
        }
    }
    return code;
}

static weir_code read_parts(train_reader *r, const weir_yaml_node *node, weir_train_plan *plan,
                            weir_err *err)
{
    uint32_t known = sizeof part_names / sizeof *part_names, at;
    weir_code code = read_list(r, node, "a list of parts such as [core, norms]", err);
    plan->recompute_parts = 0;
    for (const weir_yaml_node *n = node->first; n && code == WEIR_OK; n = n->next) {
        code = weir_yaml_choice(r->source.doc, n, part_names, known, &at, err);
        plan->recompute_parts |= code == WEIR_OK ? parts_known[at].mask : 0;
    }
    return code;
}

/* What follows from the cluster and the rest; whether it fits is train_check.h's. */
static void complete(const weir_cluster *cluster, weir_train_plan *plan)
{
    uint64_t devices = (uint64_t)cluster->nodes * cluster->devices;
    uint64_t replica = (uint64_t)plan->tensor * plan->context * plan->pipeline;
    if (plan->data == 0) {
        plan->data = (uint32_t)(devices / replica > 0 ? devices / replica : 1);
    }
    if (plan->micro_batches == 0) {
        uint64_t once = (uint64_t)plan->micro_batch * plan->data;
        plan->micro_batches = (uint32_t)(plan->global_batch / once);
    }
    if (plan->tensor == 1) {
        plan->sequence_parallel = false;
    }
}

weir_code train_read_plan(train_reader *r, const weir_yaml_node *node, weir_err *err)
{
    raw_plan raw = {.plan = {.recompute_parts = WEIR_RECOMPUTE_CORE}};
    weir_train_plan *plan = &raw.plan;
    for (uint32_t a = 0; a < WEIR_AXIS_COUNT; a++) {
        plan->order[a] = (weir_train_axis)a;
    }
    weir_code code = weir_keys_read(&r->source, node, &train_plan_keys, 0, &raw, err);
    if (code == WEIR_OK && raw.chunk_layers) {
        code = read_chunk_layers(r, raw.chunk_layers, plan, err);
    }
    if (code == WEIR_OK && raw.order) {
        code = read_order(r, raw.order, plan, err);
    }
    if (code == WEIR_OK && raw.parts) {
        code = read_parts(r, raw.parts, plan, err);
    }
    if (code == WEIR_OK) {
        plan->format = formats[raw.precision].format;
        complete(&r->scenario->cluster, plan);
        r->scenario->job.plan = *plan;
    }
    return code;
}
