/* training_result.h: what a training step has beside the ledger (output.md, "training").
 *
 * All pointers live in the arena of the weir_result that it belongs to. NAN: not known, JSON null.
 *
 * Not here: how the figures come about (study/train_study.c), how they are shown (report/). */
#ifndef WEIR_RESULT_TRAINING_RESULT_H
#define WEIR_RESULT_TRAINING_RESULT_H

#include "weir/base.h"

typedef struct {
    const char *axis;             /* "tensor", "data", "pipeline", ... */
    const char *tier;             /* of the slowest link that it crosses; NULL: unknown */
    uint32_t ranks;               /* of the axis */
    double bytes_per_device;      /* on the wire, sent by a device in a step */
    double bytes_per_s;           /* while it moves */
    double needed_bytes_per_s;    /* so that it would just hide under the computing beside it */
    double available_bytes_per_s; /* of a device, at the tier */
    double seconds;               /* that it takes, hidden or not, of a device and step; messages:
                                     sent and received */
    int64_t exposed_ns;           /* of a device and step, in the ledger */
} weir_training_traffic_row;

typedef enum {
    WEIR_CIRCUITS_UNKNOWN = 0,
    WEIR_CIRCUITS_STAY, /* set once a job: the same partners in every step */
    WEIR_CIRCUITS_SET,  /* set each time: others have the ports in between */
    WEIR_CIRCUITS_PACKETS
} weir_training_circuits;

/* Traffic between nodes of one axis in one phase of a step (study/train_circuits.h). */
typedef struct {
    const char *phase; /* "forward", "backward", "gradients", "parameters" */
    const char *axis, *collective;
    uint32_t nodes;           /* of a group */
    uint32_t partners, ports; /* of a node: other nodes, and NICs */
    double times;             /* in a step, of a device; mean over the stages */
    double bytes_per_device;  /* over its NIC in a step; seconds: that they take, hidden or not */
    double seconds;
    weir_training_circuits circuits;
    double setting_s; /* the longest setting that pays, WEIR_CIRCUITS_SET; else NAN */
} weir_training_circuit_row;

typedef struct {
    uint32_t stage, layers; /* layers of all its chunks */
    double parameters;      /* of one device */
    double memory_bytes;    /* of one device */
    double forward_s;       /* one micro-batch through all its chunks */
    double backward_s;
    int64_t wall_ns, busy_ns; /* of one device: computing and memory traffic, in the ledger */
    int64_t bubble_ns;
    bool is_critical; /* most of the critical path stands on it */
} weir_training_stage_row;

typedef struct {
    const char *scenario_name;
    const char *model, *accelerator, *stack, *plan; /* for the head of a report; may be NULL */
    uint32_t stages, micro_batches;
    uint64_t devices;
    double step_s;        /* played, with what disturbs it */
    double closed_step_s; /* in closed form, undisturbed */
    double low_s, high_s; /* the band of the step's time */
    const char *band_basis;
    bool band_outside; /* of what was validated: low and high are step_s */
    double tokens;     /* of a step */
    double tokens_per_s, tokens_per_s_per_device;
    double model_tflops_per_device, hardware_tflops_per_device;
    double mfu, hfu;
    bool recomputes;    /* hfu counts what is computed again, besides masked pairs */
    const char *flops;  /* "exact", "megatron", "palm", "megatron-2021" */
    const char *format; /* whose peak: "bf16" */
    double bubble_share;
    double goodput; /* 0..1; NAN: nothing is known of failures */
    double mtbf_s, checkpoint_share, lost_share, restart_share, checkpoint_interval_s;
    bool is_best_interval; /* it was chosen, not given */
    struct {
        double parameters, gradients, optimizer, activations, buffers, context, fragmentation,
            total, capacity;
        uint32_t stage; /* the fullest */
    } memory_bytes;
    weir_training_traffic_row *traffic;
    uint32_t traffic_count;
    weir_training_circuit_row *circuits;
    uint32_t circuit_count;
    weir_training_stage_row *stage_rows; /* where there is more than one */
    uint32_t stage_row_count;
} weir_training_result;

#endif
