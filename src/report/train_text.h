/* train_text.h: a simulated training step as text: the first screen fits in a chat message.
 *
 * Not here: numbers that are not in the result; the tables of --by (report.h). */
#ifndef WEIR_REPORT_TRAIN_TEXT_H
#define WEIR_REPORT_TRAIN_TEXT_H

#include "base/text.h"
#include "result/result.h"

/* result->training must be there. */
weir_code weir_report_train(weir_text *out, const weir_result *result, bool colour, weir_err *err);

#endif
