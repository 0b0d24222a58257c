/* train_network.h: a training step's traffic on a network that is not free of contention.
 *
 * Each axis becomes a phase of weir fabric: the collective that moves most of its bytes, in all of
 * its groups at once. Played on the scenario's candidate it takes so many times as long as one
 * group alone by the library's closed form: that is the axis' factor (weir_train_network.factor).
 *
 * Not here: networks themselves (fabric_candidate.h). */
#ifndef WEIR_STUDY_TRAIN_NETWORK_H
#define WEIR_STUDY_TRAIN_NETWORK_H

#include "study/train_scenario.h"

/* One phase for each axis that leaves its node, at most WEIR_AXIS_COUNT; axes[i]: of phases[i].
 * bytes: of one collective; times: how often a device takes part in a step. Names are static. */
weir_code weir_train_phases(const weir_train_job *job, weir_phase *phases, weir_train_axis *axes,
                            uint32_t *count, weir_err *err);

/* factor: 1 for axes that stay in their node or have no traffic. The scenario has a network.
 * WEIR_ERR_INPUT: the candidate cannot be built, or does not join what the plan needs. */
weir_code weir_train_network_factors(const weir_train_scenario *scenario,
                                     double factor[WEIR_AXIS_COUNT], weir_err *err);

#endif
