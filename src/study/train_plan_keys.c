/* train_plan_keys.c: the keys of a parallel plan. What they mean together: train_plan_read.c. */
#include "study/train_inside.h"

#include <stddef.h>

#define AT(member)  offsetof(train_raw_plan, plan.member)
#define RAW(member) offsetof(train_raw_plan, member)

static const char *const schedules[] = {
#define X(name, text) text,
    WEIR_TRAIN_SCHEDULES(X)
#undef X
        "auto"};
_Static_assert(sizeof schedules / sizeof *schedules == WEIR_SCHEDULE_COUNT + 1, "auto comes last");

static const char *const layouts[] = {"even", "as-layers", "less", "list", "auto"};
_Static_assert(WEIR_LAYOUT_LIST == 3 && TRAIN_LAYOUT_AUTO == 4, "layouts follows the enum");
static const char *const contexts[] = {"ring", "all-gather", "ulysses"};
const char *const train_precisions[] = {"bf16", "fp16", "fp8", "fp8-block", "fp4", "fp32", "tf32"};
const weir_gemm_format train_format_of_precision[] = {
    WEIR_GEMM_16,  WEIR_GEMM_16, WEIR_GEMM_FP8, WEIR_GEMM_FP8_BLOCK,
    WEIR_GEMM_FP4, WEIR_GEMM_32, WEIR_GEMM_TF32}; /* fp16 costs what bf16 does */
_Static_assert(sizeof train_precisions / sizeof *train_precisions ==
                   sizeof train_format_of_precision / sizeof *train_format_of_precision,
               "a format for each precision");

#define KEY(place, key, kind, means, such_as)                                                      \
    .name = #key, .type = WEIR_KEY_##kind, .offset = place(key), .help = (means),                  \
    .example = (such_as)
#define LIMITED(place, key, kind, from, to, usual, means, such_as)                                 \
    {                                                                                              \
        KEY(place, key, kind, means, such_as), .min = (from), .max = (to), .unset = (usual)        \
    }
#define FLAG(key, usual, means, such_as)                                                           \
    {                                                                                              \
        KEY(AT, key, BOOL, means, such_as), .unset = (usual)                                       \
    }
#define CHOICE(place, key, list, usual, means, such_as)                                            \
    {                                                                                              \
        KEY(place, key, CHOICE, means, such_as),                                                   \
            .words = (list), .word_count = sizeof(list) / sizeof *(list), .unset = (usual)         \
    }
#define NODE(key, usual, means, such_as)                                                           \
    {                                                                                              \
        KEY(RAW, key, NODE, means, such_as), .shown = (usual)                                      \
    }

static const weir_key keys[] = {
    LIMITED(AT, tensor, UINT, 1, 1048576, "1", "tensor parallel ranks", "8"),
    LIMITED(AT, context, UINT, 1, 1048576, "1", "context parallel ranks", "2"),
    LIMITED(AT, pipeline, UINT, 1, 1048576, "1", "stages", "16"),
    {.name = "data",
     .type = WEIR_KEY_UINT,
     .offset = AT(data),
     .min = 1,
     .max = 1048576,
     .shown = "what the cluster has room for",
     .help = "replicas; follows from the cluster",
     .example = "128"},
    LIMITED(AT, expert, UINT, 1, 1048576, "1",
            "expert parallel ranks, out of data x context (x tensor)", "8"),
    LIMITED(AT, expert_tensor, UINT, 1, 1048576, "1", "tensor parallel ranks of each expert", "1"),
    LIMITED(AT, chunks, UINT, 1, 1024, "1", "model chunks of a stage (virtual pipeline)", "4"),
    CHOICE(
        RAW, schedule, schedules, "auto",
        "order of the passes of the stages; `auto`: interleaved where there are chunks, else 1f1b",
        "interleaved"),
    CHOICE(RAW, layout, layouts, "auto",
           "what stages hold. `even`: layers are divided evenly; `as-layers`: embedding and head "
           "each count as one; `less`: first_layers and last_layers fewer at the ends; `list`: "
           "chunk_layers; `auto`: the one whose keys are written, else `even`",
           "as-layers"),
    LIMITED(AT, first_layers, UINT, 0, 1024, "0", "layers fewer on the first chunk", "1"),
    LIMITED(AT, last_layers, UINT, 0, 1024, "0", "layers fewer on the last chunk", "1"),
    NODE(chunk_layers, "by layout", "layers of each chunk, in the order of the model",
         "[4, 4, 4, 3]"),
    LIMITED(AT, micro_batch, UINT, 1, 1048576, "1", "sequences that a replica works on at once",
            "1"),
    {.name = "global_batch",
     .type = WEIR_KEY_UINT,
     .offset = AT(global_batch),
     .min = 1,
     .max = 1073741824,
     .needed = WEIR_KEY_ALWAYS,
     .help = "sequences of a step",
     .example = "2048"},
    {.name = "micro_batches",
     .type = WEIR_KEY_UINT,
     .offset = AT(micro_batches),
     .min = 1,
     .max = 16777216,
     .shown = "global_batch / (micro_batch x data)",
     .help = "of a replica in a step; follows from the others",
     .example = "16"},
    {.name = "sequence",
     .type = WEIR_KEY_UINT,
     .offset = AT(sequence),
     .min = 1,
     .max = 67108864,
     .needed = WEIR_KEY_ALWAYS,
     .help = "tokens",
     .example = "8192"},
    FLAG(sequence_parallel, "yes",
         "norms and adds on a share of the tokens of each tensor rank (Megatron's "
         "--sequence-parallel); without meaning where tensor is 1",
         "no"),
    CHOICE(AT, context_kind, contexts, "ring", "how context ranks see all keys", "all-gather"),
    NODE(order, "tp-cp-ep-dp-pp",
         "axes, those of neighbouring devices first: as in Megatron, or a list of their names",
         "tp-cp-ep-dp-pp"),
    LIMITED(AT, zero, UINT, 0, 3, "1",
            "0: each replica has all states; 1: optimiser states are shared out, 2: gradients, 3: "
            "parameters (FSDP)",
            "3"),
    {.name = "shard_ranks",
     .type = WEIR_KEY_UINT,
     .offset = AT(shard_ranks),
     .min = 0,
     .max = 1048576,
     .unset = "0",
     .shown = "all",
     .help = "of data x context that share states out (HSDP)",
     .example = "32"},
    FLAG(regathers, "yes", "ZeRO 3: parameters are gathered again for the backward pass", "no"),
    FLAG(accumulates_sharded, "yes", "ZeRO 3: gradients are reduced in every micro-batch", "no"),
    NODE(recompute, "none",
         "what is computed again in the backward pass: `none`; `full`: every layer; `selective`: "
         "recompute_parts; `block`: the first recompute_layers of each chunk; or a list of parts, "
         "or {layers: 2}",
         "selective"),
    NODE(recompute_parts, "[core]",
         "for `selective`: core (attention), norms, activation, up (MLA's projections), network "
         "(dense), experts, output (attention's projection)",
         "[core, norms]"),
    LIMITED(AT, recompute_layers, UINT, 0, 1024, "0", "for `block`: of each chunk", "2"),
    FLAG(spreads_vocabulary, "no",
         "embedding and head are shared out over the stages (vocabulary parallelism)", "yes"),
    CHOICE(RAW, precision, train_precisions, "bf16", "of matrix products", "fp8"),
    {.name = "packed_mean_length",
     .type = WEIR_KEY_NUMBER,
     .offset = RAW(packed_mean_length),
     .min = 1,
     .max = 67108864,
     .help = "tokens of a document, where short ones are packed into a sequence and see only "
             "themselves; or `pairs`",
     .shown = "one document is a sequence",
     .example = "512"},
    {.name = "pairs",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(pairs),
     .min = 0,
     .max = 1e+18,
     .unset = "0",
     .shown = "of one whole sequence",
     .help = "query-key pairs of a sequence, for packed documents",
     .example = "2e6"},
    LIMITED(AT, expert_load, NUMBER, 1, 1024, "1", "rows of the busiest expert rank over the mean",
            "1.3"),
    {.name = "capacity",
     .type = WEIR_KEY_NUMBER,
     .offset = AT(capacity),
     .min = 0,
     .max = 1024,
     .unset = "0",
     .shown = "dropless",
     .help = "of experts, over the mean; rows beyond are dropped",
     .example = "1.25"},
    LIMITED(AT, offload_share, NUMBER, 0, 1, "0", "of activations that go to the host's memory",
            "0.5"),
};

const weir_key_table train_plan_keys = {
    .title = "plan",
    .about = "How the model is divided over devices, and in what order it is computed.",
    .keys = keys,
    .count = sizeof keys / sizeof *keys,
};
