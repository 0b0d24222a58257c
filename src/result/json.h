/* json.h: a result as the JSON object of reference/output.md.
 *
 * Keys in that order, integers for _ns, no NaN or Infinity; what is not known is null. */
#ifndef WEIR_RESULT_JSON_H
#define WEIR_RESULT_JSON_H

#include "base/text.h"
#include "result/result.h"

/* Spans that series.timeline has; who asks for it notes where there are more. */
enum { WEIR_JSON_TIMELINE_MOST = 200000 };

/* Appends one JSON document and a newline. */
weir_code weir_result_json(weir_text *out, const weir_result *result, weir_err *err);

#endif
