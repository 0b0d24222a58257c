/* train_traffic.h: a training step as the cluster and the traffic of a scenario of weir fabric.
 *
 * Each axis that leaves its nodes becomes the collective that moves most of its bytes, in all
 * groups at once, so often that the bytes are those of the step: one phase with the collectives
 * that devices wait for in the training step, which block, and one with those that are hidden, each
 * beside computing. Of that there is as much as the axis can hide beside in the training step,
 * which is what it hides when it is many times as slow; the rest of the step is computing that
 * hides nothing. So a network as fast as the scenario's exposes what the training step does, and a
 * slower one more.
 *
 * Not here: networks (fabric_scenario.h). */
#ifndef WEIR_STUDY_TRAIN_TRAFFIC_H
#define WEIR_STUDY_TRAIN_TRAFFIC_H

#include "base/text.h"
#include "study/train_scenario.h"

/* Flow YAML, as values of `cluster` and `traffic`. WEIR_ERR_INPUT: nothing leaves the nodes. */
weir_code weir_train_traffic_text(const weir_train_scenario *scenario, weir_text *cluster,
                                  weir_text *traffic, weir_err *err);
/* Value of `candidates` for a scenario that names none: Clos networks, rails and rails joined by
 * light, of the rate of its NICs. WEIR_ERR_INPUT: presets/fabrics has none of that rate. */
weir_code weir_train_candidates_text(const weir_train_scenario *scenario, weir_text *candidates,
                                     weir_err *err);

/* The step in closed form, with what the scenario's network does to each axis: that takes a second
 * where there is one. scenario->job.network.factor is set. */
weir_code weir_train_closed_step(weir_train_scenario *scenario, weir_train_scratch *scratch,
                                 weir_train_step *step, weir_err *err);

#endif
