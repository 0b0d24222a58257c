/* Quotes of the user: a CSV whose rows overrule the prices of the presets. */
#include "fabric/parts_inside.h"

#include "base/nearest.h"
#include "scenario/unit.h"

#include <stdio.h>
#include <string.h>

#define QUOTE_COLUMNS(X)                                                                           \
    X(ITEM, "item")                                                                                \
    X(LOW, "low_usd")                                                                              \
    X(TYPICAL, "typical_usd")                                                                      \
    X(HIGH, "high_usd")                                                                            \
    X(DATE, "date")                                                                                \
    X(SOURCE, "source")

enum quote_column {
#define X(column, name) QUOTE_##column,
    QUOTE_COLUMNS(X)
#undef X
        QUOTE_COLUMN_COUNT
};

static const char *const quote_columns[QUOTE_COLUMN_COUNT] = {
#define X(column, name) name,
    QUOTE_COLUMNS(X)
#undef X
};

typedef struct {
    weir_parts *parts;
    const char *name;
    uint32_t place[QUOTE_COLUMN_COUNT]; /* which field holds it, WEIR_NONE: none */
    uint32_t columns;
} quotes;

static weir_code quote_fail(const quotes *q, const weir_csv_field *at, const char *due,
                            weir_err *err)
{
    if (err && err->code == WEIR_OK) {
        err->line = at->line;
        err->column = at->column;
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "%s:%u:%u: found '%.*s', expected %s",
                        weir_source_shown_name(q->name), at->line, at->column,
                        (int)(at->text.n < 60 ? at->text.n : 60), at->text.p, due);
}

static weir_code read_heading(quotes *q, const weir_csv_field *fields, uint32_t count,
                              weir_err *err)
{
    memset(q->place, 0xff, sizeof q->place);
    q->columns = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = 0;
        while (c < QUOTE_COLUMN_COUNT &&
               !weir_str_eq(fields[i].text, weir_str_from(quote_columns[c]))) {
            c++;
        }
        if (c == QUOTE_COLUMN_COUNT || q->place[c] != WEIR_NONE) {
            return quote_fail(q, &fields[i],
                              "each of the columns item, low_usd, typical_usd, high_usd, date, "
                              "source once",
                              err);
        }
        q->place[c] = i;
    }
    if (q->place[QUOTE_ITEM] == WEIR_NONE || q->place[QUOTE_TYPICAL] == WEIR_NONE) {
        return quote_fail(q, &fields[0], "a first row with the columns item and typical_usd", err);
    }
    return WEIR_OK;
}

/* A quote for something that no network is bought from would change nothing and hide a slip. */
static bool is_known_item(const weir_parts *parts, weir_str id)
{
    static const char *const open[] = {"gpu_hour:", "ocs_port:", "switch_port:", "nic:", "module:"};
    for (int kind = PART_SWITCH; kind < PART_KIND_COUNT; kind++) {
        if (parts_find(parts, (part_kind)kind, id)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < sizeof open / sizeof *open; i++) {
        if (weir_str_starts(id, weir_str_from(open[i]))) {
            return true;
        }
    }
    return weir_parts_price(parts, id) != NULL;
}

static weir_code unknown_item(const quotes *q, const weir_csv_field *item, weir_err *err)
{
    enum { MAX_WORDS = 512 };
    const char *words[MAX_WORDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->parts->price_count && n < MAX_WORDS; i++) {
        words[n++] = q->parts->prices[i].id;
    }
    for (int kind = PART_SWITCH; kind < PART_KIND_COUNT; kind++) {
        const part_items *all = &q->parts->parts[kind];
        for (uint32_t i = 0; i < all->count && n < MAX_WORDS; i++) {
            words[n++] = part_id(all->items[i]);
        }
    }
    char near[120], due[160];
    bool found = weir_nearest_list(item->text, words, n, near, sizeof near);
    snprintf(due, sizeof due, "%s%s", found ? near : "the id of a part or a price",
             found ? " or another item of `weir presets`" : " of `weir presets`");
    return quote_fail(q, item, due, err);
}

/* An amount with or without its unit; an empty field is missing. */
static weir_code quote_amount(const quotes *q, const weir_csv_field *fields, enum quote_column c,
                              weir_str id, double *value, weir_err *err)
{
    uint32_t at = q->place[c];
    double number;
    if (at == WEIR_NONE || (fields[at].text.n == 0 && c != QUOTE_TYPICAL)) {
        return WEIR_OK;
    }
    weir_dimension dimension = parts_price_dimension(id);
    if (!(weir_number_parse(fields[at].text, &number) && parts_is_amount(number)) &&
        (dimension == WEIR_DIMENSION_COUNT ||
         !weir_unit_parse(fields[at].text, dimension, &number))) {
        return quote_fail(q, &fields[at], "a price in USD, 0 or more, such as 549", err);
    }
    *value = number;
    return WEIR_OK;
}

static weir_code quote_text(const quotes *q, const weir_csv_field *fields, enum quote_column c,
                            const char *otherwise, const char **text, weir_err *err)
{
    uint32_t at = q->place[c];
    bool given = at != WEIR_NONE && fields[at].text.n > 0;
    *text = weir_arena_copy(q->parts->arena, given ? fields[at].text : weir_str_from(otherwise));
    return *text ? WEIR_OK : parts_no_memory(err);
}

static weir_code add_quote(const quotes *q, const weir_csv_field *fields, uint32_t count,
                           weir_err *err)
{
    if (count != q->columns) {
        char due[80];
        snprintf(due, sizeof due, "%u fields as in the first row, not %u", q->columns, count);
        return quote_fail(q, &fields[count - 1], due, err);
    }
    const weir_csv_field *item = &fields[q->place[QUOTE_ITEM]];
    weir_price price = {.url = "", .confidence = "quoted", .note = ""};
    if (!is_known_item(q->parts, item->text)) {
        return unknown_item(q, item, err);
    }
    weir_code code = quote_amount(q, fields, QUOTE_TYPICAL, item->text, &price.typical_usd, err);
    price.low_usd = price.high_usd = price.typical_usd;
    if (code != WEIR_OK ||
        (code = quote_amount(q, fields, QUOTE_LOW, item->text, &price.low_usd, err)) ||
        (code = quote_amount(q, fields, QUOTE_HIGH, item->text, &price.high_usd, err)) ||
        (code = quote_text(q, fields, QUOTE_DATE, "", &price.date, err)) ||
        (code = quote_text(q, fields, QUOTE_SOURCE, q->name, &price.source, err)) ||
        (code = quote_text(q, fields, QUOTE_ITEM, "", &price.id, err))) {
        return code;
    }
    if (price.low_usd > price.typical_usd || price.typical_usd > price.high_usd) {
        return quote_fail(q, &fields[q->place[QUOTE_TYPICAL]], "low_usd <= typical_usd <= high_usd",
                          err);
    }
    return parts_put_price(q->parts, &price, err);
}

static weir_code read_quotes(quotes *q, weir_csv *csv, weir_err *err)
{
    for (bool is_heading = true;; is_heading = false) {
        const weir_csv_field *fields = NULL;
        uint32_t count = 0;
        weir_code code = weir_csv_next(csv, &fields, &count, err);
        if (code == WEIR_OK && count == 0) {
            return is_heading
                       ? weir_err_set(err, WEIR_ERR_INPUT,
                                      "%s: no rows; a first row item,low_usd,typical_usd,high_usd,"
                                      "date,source is due",
                                      weir_source_shown_name(q->name))
                       : WEIR_OK;
        }
        if (code == WEIR_OK) {
            code =
                is_heading ? read_heading(q, fields, count, err) : add_quote(q, fields, count, err);
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
}

weir_code weir_parts_quote(weir_parts *parts, weir_source *source, const char *name, weir_err *err)
{
    weir_csv *csv = NULL;
    quotes q = {.parts = parts, .name = name};
    weir_code code = weir_csv_open(source, name, &csv, err);
    if (code == WEIR_OK) {
        code = read_quotes(&q, csv, err);
    }
    weir_csv_close(csv);
    return code;
}
