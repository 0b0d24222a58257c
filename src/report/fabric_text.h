/* fabric_text.h: a comparison of networks as text: the table of candidates, and what decides.
 *
 * 80 columns; the first screen fits in a chat message. What is not known has no line.
 *
 * Not here: numbers that are not in the result; CSV (fabric_csv.h). */
#ifndef WEIR_REPORT_FABRIC_TEXT_H
#define WEIR_REPORT_FABRIC_TEXT_H

#include "base/text.h"
#include "result/result.h"

typedef struct {
    bool traffic; /* a table of the phases, too */
    bool colour;
} weir_fabric_text_options;

/* result->fabric must be there. */
weir_code weir_report_fabric(weir_text *out, const weir_result *result,
                             const weir_fabric_text_options *options, weir_err *err);

#endif
