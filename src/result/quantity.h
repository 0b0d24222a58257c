/* quantity.h: durations, shares and rates as people read them: "1.10 s", "36.6 ms", "71 %".
 *
 * Made with integers or exact decimals, so that no locale changes a byte.
 *
 * Not here: numbers that programs read (JSON and CSV have whole ns). */
#ifndef WEIR_RESULT_QUANTITY_H
#define WEIR_RESULT_QUANTITY_H

#include "base/text.h"

/* With its unit (ns, us, ms, s) and at least `digits` significant digits (1..4). */
void weir_quantity_duration(weir_text *out, int64_t ns, int digits);

/* value with so many decimals (0..3), rounded half away from zero; |value| < 1e15 */
void weir_quantity_fixed(weir_text *out, double value, int decimals);

/* part of whole in percent: "71 %", below 1 % with one decimal; whole <= 0 counts as nothing. */
void weir_quantity_percent(weir_text *out, int64_t part, int64_t whole);

double weir_quantity_share(int64_t part, int64_t whole); /* 0 where whole <= 0 */

#endif
