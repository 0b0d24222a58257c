/* value.h: what the values of options mean.
 *
 * Read digit by digit, never through a double or a locale. Every error names the option, what was
 * found and what was expected. Outputs are untouched on failure. */
#ifndef WEIR_CLI_VALUE_H
#define WEIR_CLI_VALUE_H

#include "weir/base.h"

/* least <= value <= most. */
weir_code value_count(const char *option, const char *text, uint32_t least, uint32_t most,
                      uint32_t *value, weir_err *err);
/* "4GiB", "512 MB": the unit is required, powers of 1024 and of 1000 are kept apart. */
weir_code value_bytes(const char *option, const char *text, uint64_t *bytes, weir_err *err);
/* "3..7" or "3": first <= last. */
weir_code value_steps(const char *option, const char *text, int64_t *first, int64_t *last,
                      weir_err *err);
/* "120..340.5": milliseconds, as nanoseconds; begin < end. */
weir_code value_window(const char *option, const char *text, int64_t *begin_ns, int64_t *end_ns,
                       weir_err *err);
/* The position of text in choices, which are separated by one space. */
weir_code value_choice(const char *option, const char *text, const char *choices, uint32_t *choice,
                       weir_err *err);

/* Reads "12.5" at *text as a whole number of 10^-places and moves *text behind it; false where
 * there are no digits, too many of them behind the point, or the number is out of range. */
bool value_fixed(const char **text, uint32_t places, int64_t *value);

#endif
