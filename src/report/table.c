#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_COLUMNS = 80, GAP = 2, MAX_COLUMNS = 20 };

void table_begin(table *t, const char *align)
{
    *t = (table){.align = align, .columns = (uint32_t)strlen(align)};
}

weir_text *table_cell(table *t)
{
    return &t->bytes;
}

void table_end(table *t)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity > 0 ? 2 * t->capacity : 64;
        size_t *ends = realloc(t->ends, capacity * sizeof(*ends));
        if (ends == NULL) {
            t->failed = true;
            return;
        }
        t->ends = ends;
        t->capacity = capacity;
    }
    t->ends[t->count++] = t->bytes.n;
}

void table_put(table *t, const char *text)
{
    weir_text_add(&t->bytes, weir_str_from(text));
    table_end(t);
}

void table_int(table *t, int64_t value)
{
    weir_text_printf(&t->bytes, "%" PRId64, value);
    table_end(t);
}

uint32_t text_columns(const char *p, size_t n)
{
    uint32_t columns = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\033') { /* ours only: names are escaped before they come here */
            while (i < n && p[i] != 'm') {
                i++;
            }
        } else if (((unsigned char)p[i] & 0xc0) != 0x80) {
            columns++;
        }
    }
    return columns;
}

void text_name(weir_text *out, weir_str name, uint32_t columns)
{
    weir_text whole = {0};
    weir_text_escaped(&whole, name, 0);
    if (text_columns(whole.p, whole.n) <= columns) {
        weir_text_bytes(out, whole.p, whole.n);
    } else { /* its own limit also cuts names that would just fit */
        weir_text_escaped(out, name, columns);
    }
    out->failed = out->failed || whole.failed;
    weir_text_clear(&whole);
}

void text_pad(weir_text *out, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) {
        weir_text_char(out, ' ');
    }
}

static weir_str cell_at(const table *t, size_t i)
{
    size_t begin = i > 0 ? t->ends[i - 1] : 0;
    return (weir_str){t->bytes.p + begin, (uint32_t)(t->ends[i] - begin)};
}

static void print_row(const table *t, size_t first, const uint32_t *widths, weir_text *out)
{
    uint32_t pending = 0; /* spaces that are written only if something follows */
    for (uint32_t c = 0; c < t->columns; c++) {
        weir_str cell = cell_at(t, first + c);
        uint32_t used = text_columns(cell.p, cell.n);
        uint32_t left = t->align[c] == 'r' ? widths[c] - used : 0;
        if (used > 0) {
            text_pad(out, pending + left);
            weir_text_add(out, cell);
            pending = widths[c] - used - left;
        } else {
            pending += widths[c];
        }
        pending += GAP;
    }
}

void table_print(table *t, weir_text *out, bool colour)
{
    uint32_t widths[MAX_COLUMNS] = {0};
    bool failed = t->failed || t->bytes.failed || t->columns > MAX_COLUMNS;
    for (size_t i = 0; !failed && i < t->count; i++) {
        weir_str cell = cell_at(t, i);
        uint32_t used = text_columns(cell.p, cell.n);
        uint32_t *width = &widths[i % t->columns];
        *width = used > *width ? used : *width;
    }
    for (size_t i = 0; !failed && i + t->columns <= t->count; i += t->columns) {
        weir_text_add(out, colour && i == 0 ? WEIR_STR("\033[2m") : WEIR_STR(""));
        print_row(t, i, widths, out);
        weir_text_add(out, colour && i == 0 ? WEIR_STR("\033[0m\n") : WEIR_STR("\n"));
    }
    out->failed = out->failed || failed;
    table_drop(t);
}

void table_drop(table *t)
{
    weir_text_clear(&t->bytes);
    free(t->ends);
    *t = (table){0};
}

void text_wrap(weir_text *out, weir_str part, uint32_t indent)
{
    uint32_t column = 0;
    for (uint32_t i = 0; i < part.n;) {
        uint32_t end = weir_str_find(part, WEIR_STR(" "), i);
        uint32_t width = text_columns(part.p + i, end - i);
        if (column > indent && column + 1 + width > PAGE_COLUMNS) {
            weir_text_char(out, '\n');
            text_pad(out, indent);
            column = indent;
        } else if (i > 0) {
            weir_text_char(out, ' ');
            column++;
        }
        weir_text_bytes(out, part.p + i, end - i);
        column += width;
        i = end + 1;
    }
    weir_text_char(out, '\n');
}
