/* fabric_csv.h: comparisons of networks as CSV: candidates, traffic, sweeps, bills of materials.
 *
 * Column names are those of the JSON, with their units. Refused candidates have a row with their
 * reason. */
#ifndef WEIR_REPORT_FABRIC_CSV_H
#define WEIR_REPORT_FABRIC_CSV_H

#include "base/text.h"
#include "result/result.h"

/* A row for each candidate; of a sweep (result->sweep) for each candidate at each point, the
 * swept keys first. */
weir_code weir_report_candidates_csv(weir_text *out, const weir_result *result, weir_err *err);
/* A row for each kind of traffic. */
weir_code weir_report_traffic_csv(weir_text *out, const weir_result *result, weir_err *err);
/* What a candidate is bought from, a row for each item, the sum in the last one. */
weir_code weir_report_bill_csv(weir_text *out, const weir_fabric_candidate_row *row, weir_err *err);

#endif
