/* fabric_ranking.h: at which price another candidate would be the cheapest.
 *
 * Prices of parts, of electricity and of a device's hour, each within the range that it is quoted
 * in, while all others stay as they are. Not here: where lines cross (fabric/flips.h). */
#ifndef WEIR_STUDY_FABRIC_RANKING_H
#define WEIR_STUDY_FABRIC_RANKING_H

#include "result/result.h"
#include "study/fabric_row.h"

/* Fills flips of result->fabric; none where prices are missing. evaluations: by candidate. */
weir_code weir_fabric_find_flips(const weir_fabric_scenario *scenario,
                                 const weir_fabric_evaluation *evaluations, weir_result *result,
                                 weir_err *err);

#endif
