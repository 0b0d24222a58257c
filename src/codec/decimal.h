/* decimal.h: a double as the shortest decimal text that reads back as the same double.
 *
 * Exact integer arithmetic, so that every compiler, C library and locale prints the same bytes.
 * About 1 us for everyday numbers, 10 us at the ends of the range.
 *
 * Not here: reading numbers (the readers of each format do that digit by digit). */
#ifndef WEIR_CODEC_DECIMAL_H
#define WEIR_CODEC_DECIMAL_H

#include <stddef.h>

enum { WEIR_DECIMAL_MAX = 32 }; /* bytes that every number fits in, with the NUL */

/* value must be finite. Writes it as a JSON number ("0.1", "-3", "1e+300" as "1e300"),
 * NUL-terminated; returns its length. Positional between 1e-5 and 1e17, with exponent outside. */
size_t weir_decimal_print(char text[WEIR_DECIMAL_MAX], double value);

#endif
