/* verdict_blame.h: the verdicts that are about several ranks (private to result/).
 *
 * Each appends its sentences; the straggler's also fills who is blamed. */
#ifndef WEIR_RESULT_VERDICT_BLAME_H
#define WEIR_RESULT_VERDICT_BLAME_H

#include "base/text.h"
#include "result/result.h"

/* One rank is the origin of most of the waiting in collectives, and that is worth a tenth of the
 * time: said even where computing takes more, since it can be acted on. */
bool verdict_has_culprit(const weir_result *result);
void verdict_say_straggler(weir_result *result, weir_text *text);
void verdict_say_bubble(const weir_result *result, weir_text *text);
void verdict_say_unsplit(const weir_result *result, weir_text *text);
void verdict_say_transfer(const weir_result *result, weir_text *text);

#endif
