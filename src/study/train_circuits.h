/* train_circuits.h: what an optical fabric between nodes could be set to, phase by phase of a
 * training step: who exchanges with whom, how much, how long, and which circuits that asks for.
 *
 * A phase is the traffic of one axis in forward passes, in backward passes, in the reduction of
 * gradients or in gathering parameters. Its partners are nodes: neighbours of a ring (2, of two
 * nodes 1) or of a pipeline; all others of an all-to-all. A node has as many circuits at a time as
 * NICs. The partners of a phase are the same in every step, so its circuits may stay; phases get
 * those in the order of their bytes, the same partners of the same axis only once. One that is left
 * over is set each time that it comes, which pays where setting takes less than (1 - d) / d of the
 * time that its bytes take, d the share of time that a circuit must carry data (circuit_rule.h).
 *
 * Not here: playing it on a fabric with circuits (train_traffic.h, fabric_study.h). */
#ifndef WEIR_STUDY_TRAIN_CIRCUITS_H
#define WEIR_STUDY_TRAIN_CIRCUITS_H

#include "base/arena.h"
#include "result/training_result.h"
#include "train/train_plan.h"

enum { WEIR_TRAIN_CIRCUITS_MAX = 4 * WEIR_AXIS_COUNT };

typedef struct {
    uint32_t ports;    /* of a node: its NICs */
    double duty_share; /* of the time that a circuit must carry data to pay; 0: 0.9 */
} weir_train_light;

/* rows: room for WEIR_TRAIN_CIRCUITS_MAX; in the order of the step. Texts are static. */
weir_code weir_train_circuits_of(const weir_train_job *job, const weir_train_light *light,
                                 weir_training_circuit_row *rows, uint32_t *count, weir_err *err);

#endif
