/* fabric_judge.h: light or packets, for each axis of the traffic and for the built-in contrast.
 *
 * An axis suits light where a circuit would be worth its port (circuit_rule.h): its partners have
 * ports, enough bytes go to each of them before circuits must be set again, what it takes to set
 * them is hidden, and the circuits are not idle nearly all the time. What is asked is the traffic
 * between the blocks that circuits would join. Thresholds and built-in kinds are in
 * presets/traffic.yaml.
 *
 * Not here: what a network makes of it (fabric_play.h). */
#ifndef WEIR_STUDY_FABRIC_JUDGE_H
#define WEIR_STUDY_FABRIC_JUDGE_H

#include "fabric/circuit_rule.h"
#include "result/result.h"
#include "study/fabric_play.h"

typedef struct {
    weir_circuit_rule rule; /* duty_share is the preset's */
    uint32_t blocks;        /* neighbouring devices that share circuits; 0: nodes */
} weir_judge_ground;

typedef struct {
    const weir_fabric_scenario *scenario;
    weir_judge_ground ground;
    const weir_fabric_play *play; /* of the recommended candidate; NULL: duty, synchrony and what is
                                   * available stay unknown */
} weir_judge_input;

/* Fills fabric->traffic and peak_demand_bytes_per_s of result->fabric. */
weir_code weir_fabric_judge(const weir_judge_input *input, weir_result *result, weir_err *err);

/* The rule alone, with its clause ("64.0 MB to each partner ..."), for axes and built-in kinds. */
typedef struct {
    weir_circuit_flow flow;
    double use_share; /* of the step that a circuit which stays is in use; NAN: not known */
} weir_judge_flow;

weir_carrier weir_fabric_judge_flow(const weir_circuit_rule *rule, double least_use,
                                    const weir_judge_flow *flow, weir_text *because);

/* --- its parts --- */

/* fabric_axis.c: figures of one axis (name, axis, bytes ... persistence) and the flow between
 * blocks; bytes_between: 0 where all of it stays inside nodes. */
weir_code weir_fabric_axis_measure(const weir_judge_input *input, const char *axis,
                                   weir_fabric_traffic_row *row, weir_judge_flow *flow,
                                   double *bytes_between, weir_err *err);

/* fabric_contrast.c: presets/traffic.yaml. */
enum { WEIR_CONTRAST_MAX = 8 };
typedef struct {
    double duty_share, least_use;
    weir_fabric_traffic_row rows[WEIR_CONTRAST_MAX]; /* unknown figures NAN; names are owned */
    uint32_t count;
    weir_arena *arena;
} weir_contrast;
weir_code weir_contrast_load(weir_contrast *contrast, weir_err *err);
void weir_contrast_clear(weir_contrast *contrast);

#endif
