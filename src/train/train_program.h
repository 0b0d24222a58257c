/* train_program.h: a training step as programs and exchanges that the simulator plays.
 *
 * A column is one replica of the model: a device for each stage, which stands for the tensor and
 * context ranks that run in step with it. Undisturbed one column stands for all replicas. A
 * disturbance opens the columns that it can touch: a slow device or a bad link its own replica,
 * rank by rank, and those that share experts with it; jitter one column for each replica. Exchanges
 * take what the library says; where a link of a device changes, those of its groups that use it
 * move over it and are slower with it.
 *
 * Pieces of a pass are operations: computing by cause, idle time of the host, exposed exchanges on
 * lane 0; hidden exchanges and messages on lanes of their own.
 *
 * Not here: durations (train_stage.h), playing (sim/), the ledger (study/). Details:
 * docs/model/training-play.md. */
#ifndef WEIR_TRAIN_TRAIN_PROGRAM_H
#define WEIR_TRAIN_TRAIN_PROGRAM_H

#include "sim/spmd.h"
#include "train/train_step.h"

typedef struct {
    uint32_t device;
    bool is_node_link;           /* else its NIC */
    double at_s, until_s, share; /* of its rate in between; until INFINITY: for good */
} weir_train_link;

typedef struct {
    const weir_train_job *job;
    uint32_t steps;
    /* disturbances; device numbers are ranks in the plan's order */
    const weir_slow_device *slow;
    uint32_t slow_count;
    double jitter;
    uint64_t seed;
    const weir_train_link *links;
    uint32_t link_count;
    bool unfolded; /* every rank by itself, for tests and round trips */
    weir_budget *budget;
} weir_train_play;

typedef struct {
    weir_spmd spmd;   /* ready for weir_spmd_play; points into the arena */
    uint32_t devices; /* played */
    weir_net *net;
    weir_stage_costs costs;
    weir_schedule schedule;
    const uint8_t *axis_of_exchange; /* weir_train_axis, by exchange */
    /* by exchange: of its time, what is between devices of a node; NAN: it moves next to nothing */
    const double *near_of_exchange;
    const uint32_t *stage_of_device;
    weir_arena *arena;
} weir_train_program;

/* Fills a zeroed program. Cleared by the caller. */
weir_code weir_train_program_build(const weir_train_play *play, weir_train_program *program,
                                   weir_err *err);
void weir_train_program_clear(weir_train_program *program);

/* Numbers of ranks in the plan's order, and back. */
typedef struct {
    uint32_t tensor, context, data, stage;
} weir_train_place;
uint32_t weir_train_rank(const weir_train_plan *plan, weir_train_place place);
weir_train_place weir_train_place_of(const weir_train_plan *plan, uint32_t rank);

#endif
