/* fabric_study.h: plays a scenario on each of its candidates and compares them.
 *
 * For each candidate: network (fabric_candidate.h), traffic on it (fabric_traffic.h), play (sim/),
 * ledger, bill. Then the comparison: recommendation, break-even, flips, Pareto set, sentences.
 * The result's ledger (total, devices, ...) is that of the recommended candidate. */
#ifndef WEIR_STUDY_FABRIC_STUDY_H
#define WEIR_STUDY_FABRIC_STUDY_H

#include "result/lines.h"
#include "result/result.h"
#include "sim/spmd.h"
#include "study/fabric_scenario.h"

typedef struct {
    uint32_t threads; /* 0: one for each core; the result does not depend on it */
    bool details;     /* marginals, failures, break-even: takes several plays a candidate */
    bool link_series; /* for --perfetto and --series links */
    bool segments;    /* of the critical path, for --series timeline */
    weir_budget *budget;
} weir_fabric_options;

/* Fills result (command "fabric", simulated) with result->fabric. run: what the recommended
 * candidate played, for pictures; may be NULL; owned by the caller (weir_spmd_run_clear). */
weir_code weir_fabric_study(const weir_fabric_scenario *scenario,
                            const weir_fabric_options *options, weir_result *result,
                            weir_spmd_run *run, weir_lines *lines, weir_err *err);

#endif
