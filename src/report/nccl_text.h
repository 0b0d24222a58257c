/* nccl_text.h: measured beside foretold bus bandwidths (result->compared) as text and CSV. */
#ifndef WEIR_REPORT_NCCL_TEXT_H
#define WEIR_REPORT_NCCL_TEXT_H

#include "base/text.h"
#include "result/result.h"

/* For each run what was found, then a row for each size. */
weir_code weir_report_compared(weir_text *out, const weir_result *result, bool colour,
                               weir_err *err);
weir_code weir_report_compared_csv(weir_text *out, const weir_result *result, weir_err *err);

#endif
