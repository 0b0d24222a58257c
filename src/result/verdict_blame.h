/* verdict_blame.h: the verdicts that are about several ranks (private to result/).
 *
 * Each appends its sentences; the straggler's also fills who is blamed. */
#ifndef WEIR_RESULT_VERDICT_BLAME_H
#define WEIR_RESULT_VERDICT_BLAME_H

#include "base/text.h"
#include "result/result.h"

void verdict_say_straggler(weir_result *result, weir_text *text);
void verdict_say_bubble(const weir_result *result, weir_text *text);
void verdict_say_unsplit(const weir_result *result, weir_text *text);
void verdict_say_transfer(const weir_result *result, weir_text *text);

#endif
