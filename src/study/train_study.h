/* train_study.h: a training scenario played, with its ledger and what users ask of it.
 *
 * Closed form (train_step.h) for memory, figures of the headline and sweeps; then the step is
 * played (train_program.h) for timeline, ledger and critical path. */
#ifndef WEIR_STUDY_TRAIN_STUDY_H
#define WEIR_STUDY_TRAIN_STUDY_H

#include "result/lines.h"
#include "result/result.h"
#include "sim/spmd.h"
#include "study/train_scenario.h"

/* What model FLOPs are for MFU: every operation of this model, or a paper's formula
 * (model/model_flop.h). */
typedef enum {
    WEIR_FLOPS_EXACT = 0,
    WEIR_FLOPS_MEGATRON, /* what Megatron-LM logs today */
    WEIR_FLOPS_PALM,
    WEIR_FLOPS_MEGATRON_2021
} weir_flops_formula;

typedef struct {
    bool segments; /* of the critical path */
    weir_flops_formula flops;
    uint32_t threads;    /* 0: one for each core */
    bool unfolded;       /* play every device by itself: --kineto of all ranks, tests */
    bool ignores_memory; /* play what does not fit, too; a note says so */
    weir_budget *budget;
} weir_train_options;

/* Fills result (command "train", simulated) with result->training. run: as weir_fabric_study. A
 * plan that does not fit into memory: WEIR_ERR_INPUT with the table and what would make it fit. */
weir_code weir_train_study(const weir_train_scenario *scenario, const weir_train_options *options,
                           weir_result *result, weir_spmd_run *run, weir_lines *lines,
                           weir_err *err);

#endif
