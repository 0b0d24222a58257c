/* fabric_values.h: which links of a candidate are worth most, read from its bottleneck structure.
 *
 * Each exchange is looked at alone: in each of its rounds, with the rates of its start, the body
 * that ends last sets the pace; what its rate would gain from each link is read from the order in
 * which links froze (weir_fluid_values). Links alike (same kinds of ends, tier and capacity; both
 * directions of their cables) are summed. Then all links of such a kind are given 1 % more, and 1 %
 * less, and solved again: at a tie more gains nothing where less costs, so both sides are told. The
 * same for the ten single links that are worth most by that order.
 *
 * Costs two solves for each round, and two for each kind and each of those links in it. Not here:
 * tiers played as a whole (fabric_marginal.c), traffic of several exchanges at once. */
#ifndef WEIR_STUDY_FABRIC_VALUES_H
#define WEIR_STUDY_FABRIC_VALUES_H

#include "result/result.h"
#include "study/fabric_play.h"

/* Fills values and singles of result->fabric from the play of that candidate, which is left as it
 * was. WEIR_ERR_MEMORY. */
weir_code weir_fabric_find_values(const weir_fabric_scenario *scenario,
                                  const weir_fabric_play *play, weir_result *result,
                                  uint32_t candidate, weir_err *err);

#endif
