/* fabric_cost.h: what a candidate is made of and costs, from its network and what was played.
 *
 * Not here: prices (fabric/prices.h), the arithmetic of bills (fabric/bill.h). */
#ifndef WEIR_STUDY_FABRIC_COST_H
#define WEIR_STUDY_FABRIC_COST_H

#include "fabric/bill.h"
#include "result/fabric_result.h"
#include "study/fabric_play.h"

/* The bill of a network; in the arena. */
weir_code weir_fabric_bill(const weir_fabric_scenario *scenario,
                           const weir_candidate_network *network, weir_arena *arena,
                           weir_bill *bill, weir_err *err);

typedef struct {
    weir_bill bill;
    weir_bill_costs costs;
} weir_fabric_account;

/* Fills the counts, money, watts, conversions and bill of a row whose times and waits are there.
 * Texts and bill live in the arena or in the scenario. */
weir_code weir_fabric_cost(const weir_fabric_scenario *scenario, const weir_fabric_play *play,
                           weir_arena *arena, weir_fabric_candidate_row *row,
                           weir_fabric_account *account, weir_err *err);

/* fabric_conversion.c: bytes of one step that cross optical links, by module, and that are sent
 * between nodes. loads: room for WEIR_NEED_CABLES. */
weir_code weir_fabric_conversion_loads(const weir_fabric_scenario *scenario,
                                       const weir_fabric_play *play, weir_conversion_load *loads,
                                       uint32_t *count, double *bytes_between, weir_err *err);

#endif
