#include "codec/csv_read.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, ROW_BYTES = 1 << 26, END = -1 };

/* A field while its row grows and may still move. */
typedef struct {
    uint32_t begin, end; /* in row */
    uint32_t line, column;
} field_place;

struct weir_csv {
    weir_source *source;
    const char *name;
    uint32_t line, column; /* of the next byte */
    size_t used, filled;   /* of block */
    char *row;
    uint32_t row_n, row_room;
    field_place *places;
    weir_csv_field *fields;
    uint32_t field_count, place_room, field_room;
    char block[BLOCK_BYTES];
};

weir_code weir_csv_open(weir_source *source, const char *name, weir_csv **csv, weir_err *err)
{
    weir_csv *made = calloc(1, sizeof *made);
    if (!made) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: no memory to read it",
                            weir_source_shown_name(name));
    }
    made->source = source;
    made->name = name;
    made->line = made->column = 1;
    *csv = made;
    return WEIR_OK;
}

void weir_csv_close(weir_csv *csv)
{
    if (csv) {
        free(csv->row);
        free(csv->places);
        free(csv->fields);
        free(csv);
    }
}

static weir_code fail_at(const weir_csv *csv, uint32_t line, uint32_t column, const char *what,
                         weir_err *err)
{
    if (err && err->code == WEIR_OK) {
        err->line = line;
        err->column = column;
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "%s:%u:%u: %s", weir_source_shown_name(csv->name),
                        line, column, what);
}

/* Looks at the next byte (END after the last) without taking it. */
static weir_code peek(weir_csv *csv, int *byte, weir_err *err)
{
    if (csv->used == csv->filled) {
        weir_code code =
            weir_source_read(csv->source, csv->block, sizeof csv->block, &csv->filled, err);
        csv->used = 0;
        if (code != WEIR_OK) {
            csv->filled = 0;
            return code;
        }
        if (csv->filled == 0) {
            *byte = END;
            return WEIR_OK;
        }
    }
    *byte = (unsigned char)csv->block[csv->used];
    return WEIR_OK;
}

static void take(weir_csv *csv)
{
    if (csv->block[csv->used++] == '\n') {
        csv->line++;
        csv->column = 1;
    } else {
        csv->column++;
    }
}

static weir_code keep(weir_csv *csv, int byte, weir_err *err)
{
    if (csv->row_n == ROW_BYTES) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "%s:%u: a row of more than 64 MiB",
                            weir_source_shown_name(csv->name), csv->line);
    }
    if (!weir_grow(&csv->row, csv->row_n, &csv->row_room, 1)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s:%u: no memory for the row",
                            weir_source_shown_name(csv->name), csv->line);
    }
    csv->row[csv->row_n++] = (char)byte;
    take(csv);
    return WEIR_OK;
}

/* Takes blanks (or, for a comment, the rest of the line); *byte is what follows. */
static weir_code skip(weir_csv *csv, bool whole_line, int *byte, weir_err *err)
{
    weir_code code = peek(csv, byte, err);
    while (code == WEIR_OK && *byte != END && *byte != '\n' &&
           (whole_line || *byte == ' ' || *byte == '\t' || *byte == '\r')) {
        take(csv);
        code = peek(csv, byte, err);
    }
    return code;
}

static weir_code read_quoted(weir_csv *csv, field_place *field, int *byte, weir_err *err)
{
    take(csv);
    for (;;) {
        weir_code code = peek(csv, byte, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (*byte == END) {
            return fail_at(csv, field->line, field->column, "a quote that is never closed", err);
        }
        if (*byte == '"') {
            take(csv);
            code = peek(csv, byte, err);
            if (code != WEIR_OK || *byte != '"') {
                field->end = csv->row_n;
                return code != WEIR_OK ? code : skip(csv, false, byte, err);
            }
        }
        code = keep(csv, *byte, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
}

static weir_code read_plain(weir_csv *csv, field_place *field, int *byte, weir_err *err)
{
    while (*byte != END && *byte != ',' && *byte != '\n') {
        bool blank = *byte == ' ' || *byte == '\t' || *byte == '\r';
        weir_code code = keep(csv, *byte, err);
        if (!blank) {
            field->end = csv->row_n;
        }
        if (code == WEIR_OK) {
            code = peek(csv, byte, err);
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

/* One field; *byte is what ended it: a comma, a line end or END. */
static weir_code read_field(weir_csv *csv, int *byte, weir_err *err)
{
    weir_code code = skip(csv, false, byte, err);
    field_place field = {csv->row_n, csv->row_n, csv->line, csv->column};
    if (code == WEIR_OK) {
        code =
            *byte == '"' ? read_quoted(csv, &field, byte, err) : read_plain(csv, &field, byte, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    if (*byte != END && *byte != ',' && *byte != '\n') {
        return fail_at(csv, csv->line, csv->column, "text behind a closed quote; a comma is due",
                       err);
    }
    if (!weir_grow(&csv->places, csv->field_count, &csv->place_room, sizeof *csv->places) ||
        !weir_grow(&csv->fields, csv->field_count, &csv->field_room, sizeof *csv->fields)) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s:%u: no memory for the row",
                            weir_source_shown_name(csv->name), csv->line);
    }
    csv->places[csv->field_count++] = field;
    return WEIR_OK;
}

/* Stands at the first byte of the next row, or at the end. */
static weir_code find_row(weir_csv *csv, int *byte, weir_err *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    weir_code code = peek(csv, byte, err);
    if (code == WEIR_OK && csv->line == 1 && csv->column == 1 && csv->filled >= 3 &&
        memcmp(csv->block, mark, 3) == 0) {
        csv->used = 3;
    }
    for (;;) {
        if (code == WEIR_OK) {
            code = skip(csv, false, byte, err);
        }
        if (code == WEIR_OK && *byte == '#') {
            code = skip(csv, true, byte, err);
        }
        if (code != WEIR_OK || *byte != '\n') {
            return code;
        }
        take(csv);
    }
}

weir_code weir_csv_next(weir_csv *csv, const weir_csv_field **fields, uint32_t *count,
                        weir_err *err)
{
    int byte = END;
    csv->row_n = csv->field_count = 0;
    weir_code code = find_row(csv, &byte, err);
    if (code != WEIR_OK || byte == END) {
        *count = 0;
        return code;
    }
    for (;;) {
        code = read_field(csv, &byte, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (byte != END) {
            take(csv);
        }
        if (byte != ',') {
            break;
        }
    }
    for (uint32_t i = 0; i < csv->field_count; i++) {
        field_place at = csv->places[i];
        csv->fields[i] = (weir_csv_field){
            {csv->row ? csv->row + at.begin : "", at.end - at.begin}, at.line, at.column};
    }
    *fields = csv->fields;
    *count = csv->field_count;
    return WEIR_OK;
}
