/* train_program.h: a training step as programs and exchanges that the simulator plays.
 *
 * Folded: one device stands for all of its stage that do the same (multiplicity = tensor x context
 * x data); its exchanges take what the library says. Disturbed: all devices that a disturbance can
 * touch are played, with groups of their own; links are the devices' own (node link, NIC), so a
 * slower one holds up just who uses it. Pieces of a pass are ops: computing by cause, exposed
 * exchanges, idle time of the host, hidden exchanges on a lane of their own.
 *
 * Not here: durations (train_stage.h), playing (sim/), the ledger (study/). */
#ifndef WEIR_TRAIN_TRAIN_PROGRAM_H
#define WEIR_TRAIN_TRAIN_PROGRAM_H

#include "sim/spmd.h"
#include "train/train_stage.h"

typedef struct {
    const weir_train_job *job;
    const weir_stage_costs *costs;
    const weir_schedule *schedule;
    uint32_t steps;
    /* disturbances; device numbers are ranks in the plan's order */
    const weir_slow_device *slow;
    uint32_t slow_count;
    double jitter;
    uint64_t seed;
    struct weir_train_link {
        uint32_t device;
        bool is_node_link;           /* else its NIC */
        double at_s, until_s, share; /* of its rate in between */
    } * links;
    uint32_t link_count;
    bool unfolded; /* one device for each, for tests and round trips */
} weir_train_play;

typedef struct {
    weir_spmd spmd;   /* ready for weir_spmd_play; points into the arena */
    uint32_t devices; /* played */
    weir_plan *plans;
    uint32_t plan_count;
    weir_arena *arena;
} weir_train_program;

/* Fills a zeroed program. Cleared by the caller. */
weir_code weir_train_program_build(const weir_train_play *play, weir_train_program *program,
                                   weir_err *err);
void weir_train_program_clear(weir_train_program *program);

#endif
