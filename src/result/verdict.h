/* verdict.h: the sentence that a report begins with: where the time goes, and who is to blame.
 *
 * The verdict is about the largest wait. Time in kernels whose bound nothing tells
 * (compute.unknown) never makes a run "computing". A rank is blamed only if it is present and at
 * least half of the waiting for others is for it.
 *
 * Not here: how the numbers come about (ledger/), what to do about it (advise/). */
#ifndef WEIR_RESULT_VERDICT_H
#define WEIR_RESULT_VERDICT_H

#include "result/result.h"

/* Fills result->verdict from total, control, devices, stragglers, collectives, efficiency and
 * window, which must be complete. */
weir_code weir_verdict_compose(weir_result *result, weir_err *err);

/* "all-to-alls", "messages", ...: the kind in the plural. */
const char *weir_comm_kind_plural(weir_comm_kind kind);

/* "node7" of "node7.cluster.example.com": enough to find the host by; other names as they are. */
weir_str weir_node_short(const char *node);

/* waited_for_ns / other devices / steps: what one of the others waits for that rank in a step; in
 * the whole window where there are no steps. */
int64_t weir_straggler_mean_ns(const weir_result *result, const weir_straggler_row *row);

#endif
