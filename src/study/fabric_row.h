/* fabric_row.h: one candidate as a row of the comparison: played, its ledger read, priced.
 *
 * With details it is played again with 1 % more bandwidth in the tier of its bottleneck, and with
 * parts of it dead. Not here: comparing rows (fabric_compare.h). */
#ifndef WEIR_STUDY_FABRIC_ROW_H
#define WEIR_STUDY_FABRIC_ROW_H

#include "result/result.h"
#include "study/fabric_cost.h"

typedef struct {
    weir_fabric_candidate_row row; /* its texts live in the arena or in the scenario */
    weir_fabric_account account;
    const char *notes[8];
    const char *roads; /* which phases take which road and why; NULL: there is one road */
    uint32_t note_count;
    double least_efficiency, most_efficiency; /* eta_transport of its roads; 0: not played */
    const char
        *assumed[2];     /* transports of the library inside and between nodes that stand for parts
                          * it does not know; NULL: it knows them. Good as long as the library */
    const char *stalled; /* what never ends and why; NULL: all of it ends */
    uint64_t broken_found;       /* as in weir_fabric_play */
    uint64_t unbilled_cables[2]; /* copper, optical: no part is named for them */
    uint32_t blocks, uplinks;
    double circuit_bytes_per_s; /* of one circuit; 0: there are none */
    double circuit_s;
} weir_fabric_evaluation;

/* Errors: memory, limits, bugs; what the candidate cannot do is row.refused. */
weir_code weir_fabric_evaluate(const weir_fabric_wish *wish, bool details, weir_arena *arena,
                               weir_fabric_evaluation *evaluation, weir_err *err);

/* --- its parts; each plays the prepared candidate again --- */

/* fabric_marginal.c: seconds of the step for 1 % more of one tier, or of each (WEIR_TIER_COUNT);
 * others stay as they were. Leaves the net as it was. */
weir_code weir_fabric_marginal(weir_fabric_play *play, weir_tier only,
                               double seconds[WEIR_TIER_COUNT], weir_err *err);
/* fabric_busiest.c: what each tier would gain, into that row of result->fabric; its bottleneck is
 * the busiest link of the tier that gains most, where one gains. */
weir_code weir_fabric_find_gains(const weir_fabric_scenario *scenario, weir_fabric_play *play,
                                 weir_result *result, uint32_t candidate, weir_err *err);
/* fabric_failure.c: the step with the most harmful of its single parts dead that the job survives;
 * INFINITY: it survives none; NAN: nothing can fail. What it does not survive are the stoppers. The
 * play is worth nothing afterwards. */
weir_code weir_fabric_failure(const weir_fabric_wish *wish, weir_fabric_play *play,
                              weir_arena *arena, weir_fabric_evaluation *made, weir_err *err);
/* fabric_band.c: the band of the step, from the errors that the library's fit left. */
weir_code weir_fabric_band(const weir_fabric_wish *wish, const weir_fabric_play *play,
                           weir_arena *arena, weir_fabric_candidate_row *row, weir_err *err);

#endif
