/* train_plan.h: what is trained how: the parallel plan and the software that runs it.
 *
 * Plain structs without owners; a job borrows model, kernels and library. Group sizes are of the
 * axes of reference/training-model.md section 0: world = tensor x context x pipeline x data; expert
 * ranks are carved out of data x context (x tensor / expert_tensor).
 *
 * Not here: reading (study/train_scenario.h), whether it fits together (train_check.h). */
#ifndef WEIR_TRAIN_TRAIN_PLAN_H
#define WEIR_TRAIN_TRAIN_PLAN_H

#include "collective/library.h"
#include "machine/kernel_time.h"
#include "model/model_ops.h"
#include "train/train_chains.h"

/* X(enumerator, name, letter of the order) */
#define WEIR_TRAIN_AXES(X)                                                                         \
    X(TENSOR, "tensor", "tp")                                                                      \
    X(CONTEXT, "context", "cp")                                                                    \
    X(EXPERT, "expert", "ep")                                                                      \
    X(DATA, "data", "dp")                                                                          \
    X(PIPELINE, "pipeline", "pp")

typedef enum {
#define X(name, text, letters) WEIR_AXIS_##name,
    WEIR_TRAIN_AXES(X)
#undef X
        WEIR_AXIS_COUNT
} weir_train_axis;
const char *weir_train_axis_name(weir_train_axis axis);

#define WEIR_TRAIN_SCHEDULES(X)                                                                    \
    X(GPIPE, "gpipe")                                                                              \
    X(ONE_F_ONE_B, "1f1b")                                                                         \
    X(INTERLEAVED, "interleaved")                                                                  \
    X(ZB_H1, "zb-h1")                                                                              \
    X(ZB_H2, "zb-h2")                                                                              \
    X(ZB_V, "zb-v")                                                                                \
    X(DUALPIPE, "dualpipe")                                                                        \
    X(DUALPIPE_V, "dualpipe-v")

typedef enum {
#define X(name, text) WEIR_SCHEDULE_##name,
    WEIR_TRAIN_SCHEDULES(X)
#undef X
        WEIR_SCHEDULE_COUNT
} weir_schedule_kind;
const char *weir_schedule_kind_name(weir_schedule_kind kind);

typedef enum {
    WEIR_CONTEXT_RING = 0,
    WEIR_CONTEXT_ALL_GATHER,
    WEIR_CONTEXT_ULYSSES
} weir_context_kind;
typedef enum {
    WEIR_RECOMPUTE_PLAN_NONE = 0,
    WEIR_RECOMPUTE_PLAN_SELECTIVE, /* the parts in recompute_parts */
    WEIR_RECOMPUTE_PLAN_FULL,      /* every layer */
    WEIR_RECOMPUTE_PLAN_BLOCK,     /* the first recompute_layers of each chunk, whole */
} weir_recompute_plan;
/* What is on each stage beside layers. */
typedef enum {
    WEIR_LAYOUT_EVEN = 0,  /* layers are divided evenly, embedding and head come on top */
    WEIR_LAYOUT_AS_LAYERS, /* embedding and head (with loss) each count as a layer */
    WEIR_LAYOUT_LESS,      /* first_layers and last_layers fewer on the first and last chunk */
    WEIR_LAYOUT_LIST,      /* chunk_layers */
} weir_stage_layout;

enum { WEIR_TRAIN_MAX_CHUNKS = 1024 };

typedef struct {
    uint32_t tensor, context, pipeline, data, expert, expert_tensor; /* >= 1 */
    uint32_t chunks;      /* model chunks of a stage (virtual pipeline), >= 1 */
    uint32_t micro_batch; /* sequences */
    uint32_t global_batch;
    uint32_t micro_batches; /* of a replica and step: global_batch / (micro_batch data) */
    uint32_t sequence;      /* tokens */
    bool sequence_parallel;
    weir_context_kind context_kind;
    weir_train_axis order[WEIR_AXIS_COUNT]; /* fastest first; tp cp ep dp pp */
    weir_schedule_kind schedule;
    weir_stage_layout layout;
    int32_t first_layers, last_layers;            /* LESS: how many fewer than the others */
    uint16_t chunk_layers[WEIR_TRAIN_MAX_CHUNKS]; /* LIST: by position in the model */
    uint32_t zero;                                /* 0: DDP, 1..3 (3: FSDP) */
    uint32_t shard_ranks;     /* of data x context that share states out (HSDP); 0: all */
    bool regathers;           /* ZeRO 3: parameters are gathered again for backward */
    bool accumulates_sharded; /* ZeRO 3: gradients are reduced every micro-batch, not at the end */
    bool spreads_vocabulary;  /* embedding and head are shared out over the stages (Yeung et al.
                                 2411.05288) */
    weir_recompute_plan recompute;
    uint32_t recompute_parts;  /* WEIR_RECOMPUTE_* of model_memory.h */
    uint32_t recompute_layers; /* BLOCK: of each chunk */
    weir_gemm_format format;   /* of matrix products; attention stays in 16 bits */
    double pairs;              /* query-key pairs of a sequence, packed documents; 0: of sequence */
    double expert_load;        /* busiest expert rank over the mean; 0: 1 */
    double capacity;           /* of experts; 0: dropless */
    double offload_share;      /* of activations that go to the host's memory, 0..1 */
} weir_train_plan;

/* A software stack: what it fuses and overlaps (facts of its source), and how fast it is beside its
 * kernels (fitted by tools/fit-training, at most six in a stack; presets/stacks). */
typedef struct {
    const char *id;
    /* facts */
    weir_attention_kernel attention;
    bool fused_add, fused_loss, dropout, fused_activation, fused_rope, fused_quantise;
    bool separate_accumulation; /* of gradients into 32 bits */
    double gradient_bytes;      /* accumulated, 2 or 4 */
    double reduced_bytes;       /* on the wire, 2 or 4 */
    double gathered_bytes;      /* parameters on the wire, 1 or 2 */
    uint32_t vocab_multiple;
    bool overlaps_gradients, overlaps_parameters, overlaps_tensor, overlaps_pipeline,
        overlaps_experts;
    bool post_validation;      /* zb-*: no barrier between steps (train_timing.h) */
    bool fused_tensor_overlap; /* collective matmul (Userbuffers, async TP), not bulk */
    double tensor_exposed;     /* share of the shorter side that such an overlap leaves, 0..1 */
    bool graphs;               /* CUDA graphs: kernels are not launched one by one */
    bool graphs_attention, graphs_router; /* graphs of these parts of a layer alone */
    bool grouped_experts; /* experts are one kernel, which reads rows on the device; else products
                             and conversions of each are launched */
    uint32_t communication_sms; /* taken by collectives that run beside kernels */
    double bucket_bytes;        /* of gradients */
    double optimizer_bytes;     /* moved per parameter of the rank's shard in a step */
    double state_bytes;         /* of optimiser states and master weights per parameter */
    bool expert_deepep;         /* all-to-all by DeepEP's kernels, once a node */
    /* fitted factors on kernel times (1: as alone on the device) */
    double gemm_factor, attention_factor, memory_factor;
    /* fitted factors on communication times */
    double tensor_factor, data_factor, expert_factor;
    double overlap_slowdown; /* kernels beside communication take 1 + so much */
    double launch_s;         /* host time of a kernel */
    double micro_batch_s;    /* host and synchronisation, each micro-batch */
    double hand_over_s;      /* host and synchronisation, each message between stages that blocks */
    double step_s;           /* beside all that is modelled, each step */
    double expert_sync_s;    /* until the host has read the rows of each expert, in a forward pass
                                of a mixture layer that drops no tokens */
    double jitter;           /* lengthening for each doubling of devices */
    /* memory: facts */
    double logit_bytes;     /* of each logit while the loss is at its fullest; 0: by fused_loss */
    double shard_bytes;     /* ZeRO 3: of 16-bit weights of a device's share; 0 where the master
                               weights are the share (FSDP) */
    double copy_bytes;      /* FP8, FP4: of copies of each weight beside the 16-bit one */
    double temporary_bytes; /* of the optimiser while it runs, per parameter of the share */
    bool keeps_gathered;    /* sequence parallel: products keep their inputs gathered */
    bool early_weights;     /* mixtures: rows take their weights before the last product */
    double live_parameters; /* ZeRO 3: gathered at most, or the largest matrix; 0: whole layers */
    bool gathers_quantised; /* FP8, FP4: tensor ranks gather inputs as products multiply them */
    bool keeps_quantised;   /* FP8, FP4: products keep their inputs as they multiplied them */
    /* memory: fitted */
    double fragmentation;      /* reserved over allocated */
    double context_bytes;      /* of the device's context and libraries */
    double communicator_bytes; /* buffers, for each axis that communicates */
} weir_train_stack;

/* Where devices are, and what joins them. Times of groups come from the library; factor[axis]
 * scales them for networks that are not free of contention (study/ plays them). */
typedef struct {
    uint32_t devices_per_node;
    /* of a device, one direction, raw; node 0: a node's devices exchange over their NICs */
    double node_bytes_per_s, nic_bytes_per_s;
    const char *node_transport, *network_transport; /* of the library; NULL: nearest rate */
    bool has_node_reduction, has_network_reduction;
    const weir_library *library;    /* NULL: bandwidth only */
    double factor[WEIR_AXIS_COUNT]; /* > 0; 1: as alone; INFINITY is refused earlier */
    /* of the weakest NIC and the weakest node link, of their rates, where wires are to say what
     * such a one costs; 0: they are not */
    double weak_nic, weak_node_link;
    bool is_infinite; /* communication takes no time (limit of the tests) */
} weir_train_network;

typedef struct {
    const weir_model *model;
    const weir_kernel_times *kernels;
    const weir_train_chains *chains;
    weir_train_plan plan;
    weir_train_stack stack;
    weir_train_network network;
    double data_wait_s; /* of each step, for its data */
} weir_train_job;

static inline uint64_t weir_train_devices(const weir_train_plan *plan)
{
    return (uint64_t)plan->tensor * plan->context * plan->pipeline * plan->data;
}

/* The nodes that one group of the axis is spread over, and how many of its members share a node;
 * from the plan's order and the node's size. EXPERT: the group of expert ranks. */
typedef struct {
    uint32_t ranks, nodes;
} weir_axis_span;
/* Devices between two neighbours of the axis. */
uint64_t weir_train_stride(const weir_train_plan *plan, weir_train_axis axis);
weir_axis_span weir_train_span(const weir_train_job *job, weir_train_axis axis);

/* Layers [first, first + count) of the model that the chunk at that position (0 .. pipeline x
 * chunks - 1) has; the embedding is on position 0, the head on the last. */
typedef struct {
    uint32_t first, count;
} weir_layer_range;
weir_layer_range weir_train_layers(const weir_train_job *job, uint32_t position);

#endif
