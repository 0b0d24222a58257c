#include "fabric/cable_list.h"

#include "base/grow.h"
#include "base/intern.h"
#include "base/nearest.h"
#include "base/sort.h"
#include "codec/yaml.h"
#include "scenario/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X(enumerator, name) */
#define COLUMNS(X)                                                                                 \
    X(FROM, "from")                                                                                \
    X(TO, "to")                                                                                    \
    X(RATE, "rate")                                                                                \
    X(LATENCY, "latency")                                                                          \
    X(OPTICAL, "optical")                                                                          \
    X(ONE_WAY, "one_way")                                                                          \
    X(TIER, "tier")

enum {
#define X(column, name) COLUMN_##column,
    COLUMNS(X)
#undef X
        COLUMN_COUNT,
    NEEDED_COUNT = COLUMN_LATENCY /* those before it are needed */
};

static const char *const column_names[] = {
#define X(column, name) name,
    COLUMNS(X)
#undef X
};

typedef struct {
    uint32_t line, column;
} place;

typedef struct {
    const char *name;          /* of the file */
    uint32_t devices, width;   /* fields of a row */
    uint32_t at[COLUMN_COUNT]; /* where each column is; WEIR_NONE: not there */
    weir_intern *switches;     /* names */
    weir_listed_cable *cables; /* count of them */
    uint32_t count, capacity;
    place *places; /* of the cables */
    uint32_t place_capacity;
} reader;

static weir_code fail(const reader *r, const weir_csv_field *at, const char *expected,
                      weir_err *err)
{
    uint32_t shown = at->text.n < 40 ? at->text.n : 40;
    if (err && err->code == WEIR_OK) {
        err->line = at->line;
        err->column = at->column;
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "%s:%u:%u: found '%.*s', expected %s",
                        weir_source_shown_name(r->name), at->line, at->column, (int)shown,
                        at->text.p, expected);
}

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a list of cables");
}

/* --- the first row ------------------------------------------------------------------------ */

static weir_code read_heading(reader *r, const weir_csv_field *fields, uint32_t count,
                              weir_err *err)
{
    char expected[200];
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        r->at[c] = WEIR_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = 0;
        while (c < COLUMN_COUNT && !weir_str_eq(fields[i].text, weir_str_from(column_names[c]))) {
            c++;
        }
        if (c == COLUMN_COUNT) {
            weir_expected_word(fields[i].text, column_names, COLUMN_COUNT, expected,
                               sizeof expected);
            return fail(r, &fields[i], expected, err);
        }
        if (r->at[c] != WEIR_NONE) {
            return fail(r, &fields[i], "each column once", err);
        }
        r->at[c] = i;
    }
    for (uint32_t c = 0; c < NEEDED_COUNT; c++) {
        if (r->at[c] == WEIR_NONE) {
            return weir_err_set(err, WEIR_ERR_INPUT, "%s:%u: found no column '%s', which is needed",
                                weir_source_shown_name(r->name), fields[0].line, column_names[c]);
        }
    }
    r->width = count;
    return WEIR_OK;
}

/* --- fields ------------------------------------------------------------------------------- */

/* "d12": 12; WEIR_NONE: no device's name. */
static uint64_t device_number(weir_str text)
{
    uint64_t number = 0;
    if (text.n < 2 || text.n > 12 || text.p[0] != 'd') {
        return WEIR_NONE;
    }
    for (uint32_t i = 1; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return WEIR_NONE;
        }
        number = number * 10 + (uint64_t)(text.p[i] - '0');
    }
    return number == WEIR_NONE ? WEIR_NONE + UINT64_C(1) : number;
}

static weir_code read_end(reader *r, const weir_csv_field *field, uint32_t *end, weir_err *err)
{
    uint64_t device = device_number(field->text);
    if (field->text.n == 0) {
        return fail(r, field, "an end, such as d0 or sw0", err);
    }
    if (device != WEIR_NONE) {
        if (device >= r->devices) {
            char expected[64];
            snprintf(expected, sizeof expected, "a device from d0 to d%u", r->devices - 1);
            return fail(r, field, expected, err);
        }
        *end = (uint32_t)device;
        return WEIR_OK;
    }
    uint32_t id;
    weir_code code = weir_intern_add(r->switches, field->text, &id);
    *end = r->devices + id - 1; /* 0 is the empty text */
    return code == WEIR_OK ? WEIR_OK : no_memory(err);
}

static weir_code read_yes(const reader *r, const weir_csv_field *field, bool *yes, weir_err *err)
{
    static const char *const words[] = {"yes", "true", "1", "no", "false", "0", ""};
    for (uint32_t i = 0; i < 7; i++) {
        if (weir_str_eq(field->text, weir_str_from(words[i]))) {
            *yes = i < 3;
            return WEIR_OK;
        }
    }
    return fail(r, field, "yes or no", err);
}

static weir_code read_tier(const reader *r, const weir_csv_field *field, weir_tier *tier,
                           weir_err *err)
{
    for (uint32_t t = 0; t < WEIR_TIER_COUNT; t++) {
        if (weir_str_eq(field->text, weir_str_from(weir_tier_name((weir_tier)t)))) {
            *tier = (weir_tier)t;
            return WEIR_OK;
        }
    }
    return field->text.n == 0
               ? WEIR_OK
               : fail(r, field, "in_node, between_nodes, between_racks or hall", err);
}

static weir_code read_quantities(const reader *r, const weir_csv_field *fields, weir_cable *cable,
                                 weir_err *err)
{
    const weir_csv_field *rate = &fields[r->at[COLUMN_RATE]];
    if (!weir_unit_parse(rate->text, WEIR_DIMENSION_BYTES_PER_S, &cable->bytes_per_s) ||
        !(cable->bytes_per_s > 0)) {
        return fail(r, rate, "a rate above 0 with its unit, such as 400 Gb/s", err);
    }
    if (r->at[COLUMN_LATENCY] != WEIR_NONE) {
        const weir_csv_field *latency = &fields[r->at[COLUMN_LATENCY]];
        if (latency->text.n != 0 &&
            !weir_unit_parse(latency->text, WEIR_DIMENSION_SECONDS, &cable->latency_s)) {
            return fail(r, latency, "a time with its unit, such as 600 ns", err);
        }
    }
    return WEIR_OK;
}

/* --- rows --------------------------------------------------------------------------------- */

static weir_code read_cable(reader *r, const weir_csv_field *fields, weir_listed_cable *made,
                            weir_err *err)
{
    const weir_csv_field *from = &fields[r->at[COLUMN_FROM]], *to = &fields[r->at[COLUMN_TO]];
    weir_listed_cable cable = {.tier = WEIR_TIER_BETWEEN_NODES};
    weir_code code = read_end(r, from, &cable.from, err);
    if (code == WEIR_OK) {
        code = read_end(r, to, &cable.to, err);
    }
    if (code == WEIR_OK && cable.from == cable.to) {
        return fail(r, to, "another end than that of 'from'", err);
    }
    if (code == WEIR_OK) {
        code = read_quantities(r, fields, &cable.cable, err);
    }
    if (code == WEIR_OK && r->at[COLUMN_OPTICAL] != WEIR_NONE) {
        code = read_yes(r, &fields[r->at[COLUMN_OPTICAL]], &cable.cable.is_optical, err);
    }
    if (code == WEIR_OK && r->at[COLUMN_ONE_WAY] != WEIR_NONE) {
        code = read_yes(r, &fields[r->at[COLUMN_ONE_WAY]], &cable.is_one_way, err);
    }
    if (code == WEIR_OK && r->at[COLUMN_TIER] != WEIR_NONE) {
        code = read_tier(r, &fields[r->at[COLUMN_TIER]], &cable.tier, err);
    }
    if (code == WEIR_OK) {
        *made = cable;
    }
    return code;
}

static weir_code add_row(reader *r, const weir_csv_field *fields, uint32_t count, weir_err *err)
{
    if (count != r->width) {
        char expected[64];
        snprintf(expected, sizeof expected, "a row of %u fields, found %u", r->width, count);
        return fail(r, &fields[0], expected, err);
    }
    if (!weir_grow(&r->cables, r->count, &r->capacity, sizeof *r->cables) ||
        !weir_grow(&r->places, r->count, &r->place_capacity, sizeof *r->places)) {
        return no_memory(err);
    }
    weir_code code = read_cable(r, fields, &r->cables[r->count], err);
    if (code == WEIR_OK) {
        const weir_csv_field *first = &fields[r->at[COLUMN_FROM]];
        r->places[r->count++] = (place){first->line, first->column};
    }
    return code;
}

static weir_code read_rows(reader *r, weir_csv *csv, weir_err *err)
{
    for (bool first = true;; first = false) {
        const weir_csv_field *fields = NULL;
        uint32_t count = 0;
        weir_code code = weir_csv_next(csv, &fields, &count, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (count == 0) {
            return WEIR_OK;
        }
        code = first ? read_heading(r, fields, count, err) : add_row(r, fields, count, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
}

/* --- the whole list ----------------------------------------------------------------------- */

/* The first row that says again what an earlier one says. */
static weir_code check_twins(const reader *r, weir_err *err)
{
    size_t n = 0;
    uint32_t worst = WEIR_NONE, earlier = 0;
    weir_sort_pair *ways = calloc(2 * (size_t)r->count, sizeof *ways);
    if (!ways) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < r->count; i++) { /* one entry for each direction */
        uint64_t from = r->cables[i].from, to = r->cables[i].to;
        ways[n++] = (weir_sort_pair){from << 32 | to, i};
        if (!r->cables[i].is_one_way) {
            ways[n++] = (weir_sort_pair){to << 32 | from, i};
        }
    }
    bool sorted = weir_sort_pairs(ways, n);
    for (size_t i = 1; sorted && i < n; i++) {
        if (ways[i].key == ways[i - 1].key && ways[i].value < worst) {
            worst = (uint32_t)ways[i].value;
            earlier = (uint32_t)ways[i - 1].value;
        }
    }
    free(ways);
    if (!sorted) {
        return no_memory(err);
    }
    if (worst == WEIR_NONE) {
        return WEIR_OK;
    }
    if (err && err->code == WEIR_OK) {
        err->line = r->places[worst].line;
        err->column = r->places[worst].column;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%s:%u:%u: found a cable again, it is already on line %u; cables side by "
                        "side are one with the sum of their rates",
                        weir_source_shown_name(r->name), r->places[worst].line,
                        r->places[worst].column, r->places[earlier].line);
}

static weir_code check_devices(const reader *r, weir_err *err)
{
    uint32_t lonely = WEIR_NONE;
    bool *seen = calloc(r->devices, sizeof *seen);
    if (!seen) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        const weir_listed_cable *c = &r->cables[i];
        if (c->from < r->devices) {
            seen[c->from] = true;
        }
        if (c->to < r->devices) {
            seen[c->to] = true;
        }
    }
    for (uint32_t d = 0; d < r->devices && lonely == WEIR_NONE; d++) {
        lonely = seen[d] ? WEIR_NONE : d;
    }
    free(seen);
    return lonely == WEIR_NONE
               ? WEIR_OK
               : weir_err_set(
                     err, WEIR_ERR_INPUT,
                     "%s: device d%u has no cable, expected one for each of the %u devices",
                     weir_source_shown_name(r->name), lonely, r->devices);
}

weir_code weir_cable_list_read(weir_source *source, const char *name, uint32_t devices,
                               weir_cable_list *list, weir_err *err)
{
    reader r = {.name = name, .devices = devices, .switches = weir_intern_new(NULL)};
    weir_csv *csv = NULL;
    weir_code code = r.switches ? weir_csv_open(source, name, &csv, err) : no_memory(err);
    if (code == WEIR_OK) {
        code = read_rows(&r, csv, err);
    }
    if (code == WEIR_OK && r.count == 0) {
        code = weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found no cables, expected a row from,to,rate and one for each",
                            weir_source_shown_name(name));
    }
    if (code == WEIR_OK) {
        code = check_twins(&r, err);
    }
    if (code == WEIR_OK) {
        code = check_devices(&r, err);
    }
    if (code == WEIR_OK) {
        *list = (weir_cable_list){.devices = devices,
                                  .switches = weir_intern_count(r.switches) - 1,
                                  .cables = r.cables,
                                  .count = r.count};
        r.cables = NULL;
    }
    weir_csv_close(csv);
    weir_intern_free(r.switches);
    free(r.cables);
    free(r.places);
    return code;
}

void weir_cable_list_clear(weir_cable_list *list)
{
    free((void *)(uintptr_t)list->cables); /* weir_cable_list_read made them */
    *list = (weir_cable_list){0};
}
