/* sheet.h: one table as CSV, value by value.
 *
 * RFC 4180, but with lines that end in \n. Control bytes of names are escaped as in text reports; a
 * value with comma, quote or blank ends is quoted. What is not known is an empty field. */
#ifndef WEIR_REPORT_SHEET_H
#define WEIR_REPORT_SHEET_H

#include "base/text.h"

typedef struct {
    weir_text *out;
    bool any; /* the row has a value */
} sheet;

void sheet_text(sheet *s, const char *text); /* NULL: not known */
void sheet_int(sheet *s, int64_t value);
void sheet_uint(sheet *s, uint64_t value);
void sheet_double(sheet *s, double value); /* NAN: not known */
void sheet_headings(sheet *s, const char *const *names, uint32_t count);
void sheet_end(sheet *s); /* of the row */

#endif
