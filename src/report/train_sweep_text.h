/* train_sweep_text.h: `weir train --sweep` as text, CSV and JSON; and single steps in closed form.
 *
 * Column names and keys carry their units and are the same in CSV and JSON. */
#ifndef WEIR_REPORT_TRAIN_SWEEP_TEXT_H
#define WEIR_REPORT_TRAIN_SWEEP_TEXT_H

#include "base/text.h"
#include "result/train_sweep_result.h"

weir_code weir_report_train_sweep(weir_text *out, const weir_train_sweep *sweep, bool colour,
                                  weir_err *err);
weir_code weir_report_train_sweep_csv(weir_text *out, const weir_train_sweep *sweep, weir_err *err);
weir_code weir_report_train_sweep_json(weir_text *out, const weir_train_sweep *sweep,
                                       weir_err *err);

#endif
