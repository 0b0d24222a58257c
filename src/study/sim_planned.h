/* sim_planned.h: what a disturbed run would have taken without its disturbances (DESIGN 2.6).
 *
 * The same programs are played once more, steadily, and their ledger is cut by device and step.
 * Costs a play and a ledger, folded as far as they fold. */
#ifndef WEIR_STUDY_SIM_PLANNED_H
#define WEIR_STUDY_SIM_PLANNED_H

#include "study/sim_ledger.h"

bool sim_is_disturbed(const weir_spmd *spmd);
/* plan->causes by device of run->timeline; from malloc, the caller's. threads as of the ledger. */
weir_code sim_planned_make(const weir_spmd *spmd, const weir_spmd_run *run, uint32_t threads,
                           weir_ledger_plan *plan, weir_err *err);

#endif
