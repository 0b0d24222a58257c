/* sim_ledger.h: the ledger of a simulated run.
 *
 * A simulation knows what a trace has to be asked for: classes, causes, who belongs together, when
 * the last one arrived. So the tables of match/ and classify/ are written from the run itself, and
 * the ledger of traces reads them unchanged. Exposed communication is split further, by tier and by
 * part (latency, bandwidth, contention, circuit), to the nanosecond. Without disturbances all of it
 * is planned.
 *
 * Not here: playing (sim/), sentences about networks (fabric_sentences.c). */
#ifndef WEIR_STUDY_SIM_LEDGER_H
#define WEIR_STUDY_SIM_LEDGER_H

#include "ledger/ledger.h"
#include "sim/spmd.h"

/* Fills everything of result that a run has, communication_shares among them; sets simulated, not
 * command and inputs. lines: may be NULL, else by device of run->timeline, owned by the caller
 * (weir_lines_clear). options: may be NULL. */
weir_code weir_sim_ledger_build(const weir_spmd *spmd, const weir_spmd_run *run,
                                const weir_ledger_options *options, weir_result *result,
                                weir_lines *lines, weir_err *err);

#endif
