/* ledger.h: a timeline -> the waits, their causes, who is waited for and why (DESIGN 2).
 *
 * Conservation is asserted in every build: for each device the causes add up to its window to the
 * nanosecond, else WEIR_ERR_INTERNAL.
 *
 * Not here: which spans belong together (match/), what bounds them (classify/), text (report/). */
#ifndef WEIR_LEDGER_LEDGER_H
#define WEIR_LEDGER_LEDGER_H

#include "classify/classify.h"
#include "match/match.h"
#include "result/lines.h"
#include "result/result.h"
#include "timeline/gaps.h"

/* What a run without disturbances would take, by device of the timeline and step:
 * causes[device * step_count + number of the step - first_step]. */
typedef struct {
    const weir_causes *causes;
    int64_t first_step;
    uint32_t step_count;
} weir_ledger_plan;

typedef struct {
    const weir_timeline *timeline;
    const weir_match *match;
    const weir_name_classes *names;
    const weir_span_classes *classes;
    const weir_host_names *host_names;
    const weir_families *families; /* NULL: no name has a family */
    /* By instance: the tier of the link that set its pace, where that is known (simulation); NULL:
     * told by the hosts of its members. */
    const char *const *instance_tiers;
    const uint32_t *instance_times; /* by instance: how many alike it stands for; NULL: 1 */
    const weir_gaps *gaps;          /* idle time whose reason is known; NULL: none */
    /* What was planned; NULL: transfers at the median of their like. */
    const weir_ledger_plan *plan;
} weir_ledger_input;

typedef struct {
    bool has_steps; /* --steps first..last: only these step numbers */
    int64_t first_step, last_step;
    bool has_window; /* --window: aligned ns since the run's origin */
    int64_t window_begin_ns, window_end_ns;
    bool segments;    /* fill critical_path.segments */
    bool kernels;     /* fill kernels */
    uint32_t threads; /* 0 = one for each core; the result does not depend on it */
} weir_ledger_options;

/* Fills everything of result that a trace has, except inputs, diags and command. lines may be NULL,
 * else it is filled (for those who draw); owned by the caller
 * (weir_lines_clear). */
weir_code weir_ledger_build(const weir_ledger_input *input, const weir_ledger_options *options,
                            weir_result *result, weir_lines *lines, weir_err *err);

#endif
