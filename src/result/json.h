/* json.h: a result as the JSON object of reference/output.md.
 *
 * Keys in that order, integers for _ns, no NaN or Infinity; what is not known is null. */
#ifndef WEIR_RESULT_JSON_H
#define WEIR_RESULT_JSON_H

#include "base/text.h"
#include "result/result.h"

/* Appends one JSON document and a newline. */
weir_code weir_result_json(weir_text *out, const weir_result *result, weir_err *err);

#endif
