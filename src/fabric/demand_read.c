#include "fabric/demand.h"

#include "scenario/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A matrix that is being read. */
typedef struct {
    const char *name;  /* of the file */
    weir_demand found; /* n = 0 until the first row */
    uint32_t rows;
    bool named;    /* first row and column are names */
    char **labels; /* of the columns, n of them where named */
} square;

static weir_code fail_at(const square *s, const weir_csv_field *at, const char *what,
                         const char *due, weir_err *err)
{
    uint32_t shown = at->text.n < 40 ? at->text.n : 40;
    if (err && err->code == WEIR_OK) {
        err->line = at->line;
        err->column = at->column;
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "%s:%u:%u: %s '%.*s'; %s",
                        weir_source_shown_name(s->name), at->line, at->column, what, (int)shown,
                        at->text.p, due);
}

static weir_code read_cell(const square *s, const weir_csv_field *field, double *bytes,
                           weir_err *err)
{
    double value;
    if (!weir_number_parse(field->text, &value) &&
        !weir_unit_parse(field->text, WEIR_DIMENSION_BYTES, &value)) {
        return fail_at(s, field, "found", "bytes are due, such as 1e9 or 10 MB", err);
    }
    if (!(value >= 0) || isinf(value)) {
        return fail_at(s, field, "found", "bytes are a number, 0 or more", err);
    }
    *bytes = value;
    return WEIR_OK;
}

/* The first row is of names where no field of it can be read as bytes. */
static bool is_heading(const weir_csv_field *fields, uint32_t count)
{
    double value;
    for (uint32_t i = 0; i < count; i++) {
        if (weir_number_parse(fields[i].text, &value) ||
            weir_unit_parse(fields[i].text, WEIR_DIMENSION_BYTES, &value)) {
            return false;
        }
    }
    return count > 1;
}

/* strndup would look for a NUL, which a field does not have. */
static char *copy_text(weir_str text)
{
    char *copy = calloc((size_t)text.n + 1, 1);
    if (copy && text.n) {
        memcpy(copy, text.p, text.n);
    }
    return copy;
}

static weir_code begin(square *s, const weir_csv_field *fields, uint32_t count, weir_err *err)
{
    s->named = is_heading(fields, count);
    uint32_t n = s->named ? count - 1 : count;
    if (n > WEIR_DEMAND_MAX) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "%s:%u: a row of %u nodes; at most %u are due",
                            weir_source_shown_name(s->name), fields[0].line, n, WEIR_DEMAND_MAX);
    }
    weir_code code = weir_demand_init(&s->found, n, err);
    if (code != WEIR_OK || !s->named) {
        return code;
    }
    s->labels = calloc(s->found.n, sizeof *s->labels);
    for (uint32_t i = 0; s->labels && i < s->found.n; i++) {
        s->labels[i] = copy_text(fields[i + 1].text);
        if (!s->labels[i]) {
            return weir_err_set(err, WEIR_ERR_MEMORY, "%s: no memory for the names", s->name);
        }
    }
    return s->labels ? WEIR_OK
                     : weir_err_set(err, WEIR_ERR_MEMORY, "%s: no memory for the names", s->name);
}

static weir_code add_row(square *s, const weir_csv_field *fields, uint32_t count, weir_err *err)
{
    uint32_t n = s->found.n, first = s->named ? 1 : 0;
    if (s->rows == n) {
        return fail_at(s, &fields[0], "a row too many, beginning with", "a demand matrix is square",
                       err);
    }
    if (count != n + first) {
        if (err && err->code == WEIR_OK) {
            err->line = fields[0].line;
            err->column = fields[count - 1].column;
        }
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s:%u:%u: a row of %u fields; the first row has %u",
                            weir_source_shown_name(s->name), fields[0].line,
                            fields[count - 1].column, count, n + first);
    }
    if (s->named && !weir_str_eq(fields[0].text, weir_str_from(s->labels[s->rows]))) {
        return fail_at(s, &fields[0], "a row named",
                       "rows have the names of the columns, in the same order", err);
    }
    for (uint32_t j = 0; j < n; j++) {
        double *cell = &s->found.bytes[(size_t)s->rows * n + j];
        weir_code code = read_cell(s, &fields[first + j], cell, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    s->rows++;
    return WEIR_OK;
}

static weir_code read_rows(square *s, weir_csv *csv, weir_err *err)
{
    for (bool first = true;; first = false) {
        const weir_csv_field *fields = NULL;
        uint32_t count = 0;
        weir_code code = weir_csv_next(csv, &fields, &count, err);
        if (code == WEIR_OK && count == 0) {
            return WEIR_OK;
        }
        if (code == WEIR_OK && first) {
            code = begin(s, fields, count, err);
        }
        if (code == WEIR_OK && !(first && s->named)) {
            code = add_row(s, fields, count, err);
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
}

static weir_code check_shape(const square *s, weir_err *err)
{
    if (s->found.n == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: no rows; a square of bytes is due, a row for each node",
                            weir_source_shown_name(s->name));
    }
    if (s->rows != s->found.n) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: %u rows of %u columns; a demand matrix is square",
                            weir_source_shown_name(s->name), s->rows, s->found.n);
    }
    weir_err inner = {0};
    weir_code code = weir_demand_check(&s->found, &inner);
    return code == WEIR_OK
               ? WEIR_OK
               : weir_err_set(err, code, "%s: %.400s", weir_source_shown_name(s->name), inner.text);
}

weir_code weir_demand_read(weir_source *source, const char *name, weir_demand *demand,
                           weir_err *err)
{
    square s = {.name = name};
    weir_csv *csv = NULL;
    weir_code code = weir_csv_open(source, name, &csv, err);
    if (code == WEIR_OK) {
        code = read_rows(&s, csv, err);
    }
    if (code == WEIR_OK) {
        code = check_shape(&s, err);
    }
    for (uint32_t i = 0; s.labels && i < s.found.n; i++) {
        free(s.labels[i]);
    }
    free(s.labels);
    weir_csv_close(csv);
    if (code == WEIR_OK) {
        *demand = s.found;
    } else {
        weir_demand_clear(&s.found);
    }
    return code;
}
