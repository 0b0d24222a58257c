/* csv_read.h: rows of a CSV file, each field with the line and column that it begins at.
 *
 * RFC 4180: fields in double quotes may hold commas, line ends and doubled quotes. Beside it: line
 * ends may be LF or CRLF, a byte order mark is skipped, blanks around a field are dropped, empty
 * lines and lines that begin with '#' are no rows. One pass, memory of one row.
 *
 * Not here: what the fields mean; writing CSV (report/). */
#ifndef WEIR_CODEC_CSV_READ_H
#define WEIR_CODEC_CSV_READ_H

#include "codec/source.h"

typedef struct {
    weir_str text;         /* good until the next row is read */
    uint32_t line, column; /* 1-based, in bytes, of its first byte (of the quote, where quoted) */
} weir_csv_field;

typedef struct weir_csv weir_csv;

/* source and name (for messages) are borrowed until close. */
weir_code weir_csv_open(weir_source *source, const char *name, weir_csv **csv, weir_err *err);
void weir_csv_close(weir_csv *csv); /* NULL is fine */

/* The next row; *count = 0 is the end. WEIR_ERR_INPUT (line and column set): an open quote, text
 * behind a closed one. WEIR_ERR_LIMIT: a row of more than 64 MiB. */
weir_code weir_csv_next(weir_csv *csv, const weir_csv_field **fields, uint32_t *count,
                        weir_err *err);

#endif
