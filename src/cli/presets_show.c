#include "cli/presets_show.h"

#include "codec/json_write.h"
#include "report/sheet.h"
#include "report/table.h"

#include <string.h>

enum { ID_COLUMNS = 24, SCHEMA = 1 }; /* SCHEMA: docs/schema/presets.schema.json says it too */

static bool is_new(const presets_table *some, uint32_t i)
{
    return i == 0 || strcmp(some->rows[i].id, some->rows[i - 1].id) != 0;
}

uint32_t presets_count(const presets_table *some)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < some->count; i++)
        count += is_new(some, i);
    return count;
}

void presets_show_kinds(weir_text *out, const presets_table *tables, uint32_t count)
{
    table t;
    table_begin(&t, "lrrl");
    table_put(&t, "kind");
    table_put(&t, "presets");
    table_put(&t, "figures");
    table_put(&t, "what");
    for (uint32_t i = 0; i < count; i++) {
        table_put(&t, tables[i].kind->kind);
        table_int(&t, presets_count(&tables[i]));
        table_int(&t, tables[i].count);
        table_put(&t, tables[i].kind->about);
    }
    table_print(&t, out, false);
    weir_text_add(out, WEIR_STR("\nweir presets KIND lists a kind; weir presets KIND ID says where "
                                "each figure is\nfrom.\n"));
}

static void add_wrapped(weir_text *out, weir_text *line, uint32_t indent)
{
    text_wrap(out, (weir_str){line->p ? line->p : "", (uint32_t)line->n}, indent);
    out->failed |= line->failed;
    weir_text_clear(line);
}

static uint32_t id_columns(const presets_table *some)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < some->count; i++) {
        uint32_t n = (uint32_t)strlen(some->rows[i].id);
        most = n > most ? n : most;
    }
    return most < ID_COLUMNS ? most : ID_COLUMNS;
}

/* Figures that nobody could check again are marked; the last line says so. */
static bool is_unsure(const weir_part_row *row)
{
    return !strcmp(row->confidence, "memory");
}

static uint32_t show_preset(weir_text *out, const presets_table *some, uint32_t first,
                            uint32_t indent)
{
    weir_text line = {0};
    uint32_t i = first;
    weir_text_printf(&line, "%-*s", (int)indent - 1, some->rows[i].id);
    bool named = some->rows[i].name[0] != '\0';
    weir_text_printf(&line, named ? " %s" : "%s", some->rows[i].name);
    for (; i == first || (i < some->count && !is_new(some, i)); i++) {
        const weir_part_row *row = &some->rows[i];
        weir_text_printf(&line, "%s %s %s%s",
                         i > first ? ","
                         : named   ? ":"
                                   : "",
                         row->figure, row->value, is_unsure(row) ? "?" : "");
    }
    weir_text_char(&line, '.');
    add_wrapped(out, &line, indent);
    return i;
}

void presets_show_list(weir_text *out, const presets_table *some)
{
    uint32_t indent = id_columns(some) + 2;
    bool unsure = false;
    for (uint32_t i = 0; i < some->count;)
        i = show_preset(out, some, i, indent);
    for (uint32_t i = 0; i < some->count; i++)
        unsure |= is_unsure(&some->rows[i]);
    if (unsure)
        weir_text_add(out, WEIR_STR("\n?: from memory, without a source that was read.\n"));
}

static void show_origin(weir_text *out, const char *what, const char *date)
{
    weir_text line = {0};
    if (!*what)
        return;
    weir_text_printf(&line, "      %s%s%s%s", what, *date ? " (" : "", date, *date ? ")" : "");
    add_wrapped(out, &line, 6);
}

static void show_figure(weir_text *out, const weir_part_row *row, uint32_t figure, uint32_t value)
{
    weir_text line = {0};
    weir_text_printf(&line, "  %-*s  %-*s  %s", (int)figure, row->figure, (int)value, row->value,
                     row->confidence);
    while (line.n > 0 && line.p[line.n - 1] == ' ')
        line.n--;
    if (text_columns(line.p, line.n) <= 80) {
        weir_text_bytes(out, line.p, line.n);
        weir_text_char(out, '\n');
    } else {
        weir_text_clear(&line);
        weir_text_printf(&line, "  %-*s  %s (%s)", (int)figure, row->figure, row->value,
                         row->confidence);
        text_wrap(out, (weir_str){line.p ? line.p : "", (uint32_t)line.n}, figure + 4);
    }
    out->failed |= line.failed;
    weir_text_clear(&line);
}

void presets_show_figures(weir_text *out, const presets_table *some)
{
    uint32_t figure = 0, value = 0;
    for (uint32_t i = 0; i < some->count; i++) {
        uint32_t f = (uint32_t)strlen(some->rows[i].figure);
        uint32_t v = (uint32_t)strlen(some->rows[i].value);
        figure = f > figure ? f : figure;
        value = v > value && v <= 40 ? v : value;
    }
    for (uint32_t i = 0; i < some->count; i++) {
        const weir_part_row *row = &some->rows[i];
        if (is_new(some, i))
            weir_text_printf(out, "%s%s%s%s\n", i > 0 ? "\n" : "", row->id,
                             row->name[0] ? ": " : "", row->name);
        show_figure(out, row, figure, value);
        bool repeated = !is_new(some, i) && !strcmp(row->source, row[-1].source) &&
                        !strcmp(row->url, row[-1].url);
        if (!repeated) {
            show_origin(out, row->source, row->date);
            show_origin(out, row->url, "");
        }
    }
}

void presets_csv(weir_text *out, const presets_table *tables, uint32_t count)
{
    static const char *const names[] = {"kind",       "id",     "name", "figure", "value",
                                        "confidence", "source", "url",  "date"};
    sheet s = {.out = out};
    sheet_headings(&s, names, sizeof names / sizeof *names);
    sheet_end(&s);
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count; i++) {
            const weir_part_row *row = &tables[t].rows[i];
            sheet_text(&s, tables[t].kind->kind);
            sheet_text(&s, row->id);
            sheet_text(&s, row->name);
            sheet_text(&s, row->figure);
            sheet_text(&s, row->value);
            sheet_text(&s, row->confidence);
            sheet_text(&s, row->source);
            sheet_text(&s, row->url);
            sheet_text(&s, row->date);
            sheet_end(&s);
        }
}

static void put(weir_json_writer *w, const char *key, const char *text)
{
    weir_json_key(w, key);
    weir_json_text(w, text);
}

static void put_figure(weir_json_writer *w, const weir_part_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    put(w, "figure", row->figure);
    put(w, "value", row->value);
    put(w, "confidence", row->confidence);
    put(w, "source", row->source);
    put(w, "url", row->url);
    put(w, "date", row->date);
    weir_json_close(w);
}

static void put_presets(weir_json_writer *w, const presets_table *some)
{
    for (uint32_t i = 0; i < some->count; i++) {
        if (is_new(some, i)) {
            weir_json_open_object(w, WEIR_JSON_LINES);
            put(w, "kind", some->kind->kind);
            put(w, "id", some->rows[i].id);
            put(w, "name", some->rows[i].name);
            weir_json_key(w, "figures");
            weir_json_open_array(w, WEIR_JSON_LINES);
        }
        put_figure(w, &some->rows[i]);
        if (i + 1 == some->count || is_new(some, i + 1)) {
            weir_json_close(w);
            weir_json_close(w);
        }
    }
}

void presets_json(weir_text *out, const presets_table *tables, uint32_t count)
{
    weir_json_writer writer, *w = &writer;
    weir_json_begin(w, out);
    weir_json_open_object(w, WEIR_JSON_LINES);
    put(w, "weir", weir_version());
    weir_json_key(w, "schema");
    weir_json_int(w, SCHEMA);
    put(w, "command", "presets");
    weir_json_key(w, "presets");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t t = 0; t < count; t++)
        put_presets(w, &tables[t]);
    weir_json_close(w);
    weir_json_close(w);
    weir_text_char(out, '\n');
}
