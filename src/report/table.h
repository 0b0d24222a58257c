/* table.h: columns of text that line up (private to report/).
 *
 * Cells are written one after the other, row by row; the first row is the header. Colour codes of
 * ours take no width, characters of several bytes take one column. */
#ifndef WEIR_REPORT_TABLE_H
#define WEIR_REPORT_TABLE_H

#include "base/text.h"

typedef struct {
    const char *align; /* one letter per column: l or r */
    uint32_t columns;
    weir_text bytes; /* of all cells */
    size_t *ends;    /* of each cell, in bytes */
    size_t count, capacity;
    bool failed;
} table;

void table_begin(table *t, const char *align);
weir_text *table_cell(table *t); /* append the cell here, then end it */
void table_end(table *t);
void table_put(table *t, const char *text); /* a whole cell */
void table_int(table *t, int64_t value);
/* Appends the table to out and frees it. The header is faint where colour is on. */
void table_print(table *t, weir_text *out, bool colour);
void table_drop(table *t); /* frees without printing */

/* Appends a name from input, escaped, cut to so many columns where it is longer. */
void text_name(weir_text *out, weir_str name, uint32_t columns);
uint32_t text_columns(const char *p, size_t n);
void text_pad(weir_text *out, uint32_t columns); /* spaces */
/* Appends part broken at spaces into lines of at most 80 columns; further lines are indented. */
void text_wrap(weir_text *out, weir_str part, uint32_t indent);

#endif
