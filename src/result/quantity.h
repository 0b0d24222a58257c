/* quantity.h: durations, shares, rates and money as people read them: "1.10 s", "71 %", "412 M$".
 *
 * Made with integers or exact decimals, so that no locale changes a byte.
 *
 * Not here: numbers that programs read (JSON and CSV have whole ns). */
#ifndef WEIR_RESULT_QUANTITY_H
#define WEIR_RESULT_QUANTITY_H

#include "base/text.h"

/* With its unit (ns, us, ms, s) and at least `digits` significant digits (1..4). */
void weir_quantity_duration(weir_text *out, int64_t ns, int digits);

/* value with so many decimals (0..3), rounded half away from zero; from 1e15 on as "1.23e+15" */
void weir_quantity_fixed(weir_text *out, double value, int decimals);

/* part of whole in percent: "71 %", below 1 % with one decimal; whole <= 0 counts as nothing. */
void weir_quantity_percent(weir_text *out, int64_t part, int64_t whole);

/* With the decimal prefix that fits and three digits: "9.80 MW", "64.0 MB", "47.1 GB/s"; below 1 as
 * many decimals as make three digits, three at most. NAN: "unknown". */
void weir_quantity_si(weir_text *out, double value, const char *unit);
/* The same digits without a unit, for columns that have one; NAN: "-". */
void weir_quantity_digits(weir_text *out, double value);
/* The divisor of the prefix ("", "k", "M", "G", ...) that fits largest. NAN: 1, "". */
double weir_quantity_scale(double largest, const char **prefix);
/* "$ 940", "12.3 k$", "412 M$", "1.20 G$" */
void weir_quantity_usd(weir_text *out, double usd);
/* Seconds as weir_quantity_duration writes them, with so many digits; NAN: "unknown". */
void weir_quantity_seconds(weir_text *out, double seconds, int digits);
/* A whole number in groups of three: "16,384" */
void weir_quantity_count(weir_text *out, uint64_t count);

double weir_quantity_share(int64_t part, int64_t whole); /* 0 where whole <= 0 */

#endif
