/* report.h: a result as text and CSV.
 *
 * Every writer appends to a weir_text (base/text.h); none opens, prints or exits by itself. Names
 * from input are shown with control bytes escaped.
 *
 * Not here: numbers that are not in the result. */
#ifndef WEIR_REPORT_REPORT_H
#define WEIR_REPORT_REPORT_H

#include "base/text.h"
#include "result/result.h"

typedef enum {
    WEIR_BY_DEFAULT = 0,
    WEIR_BY_RANK,
    WEIR_BY_NODE,
    WEIR_BY_AXIS,
    WEIR_BY_STEP,
    WEIR_BY_CAUSE,
    WEIR_BY_KERNEL
} weir_by;

typedef struct {
    weir_by by;   /* an additional table */
    uint32_t top; /* rows of tables; 0 = 3 on the first screen, 20 in tables asked for */
    bool colour;
    bool unknown_kernels; /* only the list of kernels without a family */
} weir_text_options;

weir_code weir_report_text(weir_text *out, const weir_result *result,
                           const weir_text_options *options, weir_err *err);
weir_code weir_report_csv(weir_text *out, const weir_result *result, weir_by by, weir_err *err);

#endif
