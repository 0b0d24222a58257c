#include "report/train_sweep_text.h"

#include "codec/json_write.h"
#include "report/sheet.h"
#include "report/table.h"
#include "result/quantity.h"

#include <string.h>

enum { KEY_COLUMNS = 14, REASONS_MOST = 12, SCHEMA = 1, KEYS_MOST = 8 };

static weir_code finish(const weir_text *out, weir_err *err)
{
    return out->failed ? weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the table") : WEIR_OK;
}

/* --- text --------------------------------------------------------------------------------- */

/* "tensor" of "plan.tensor". */
static weir_str last_of(const char *key)
{
    weir_str whole = weir_str_from(key);
    uint32_t begin = 0;
    for (uint32_t i = 0; i < whole.n; i++) {
        begin = whole.p[i] == '.' ? i + 1 : begin;
    }
    return (weir_str){whole.p + begin, whole.n - begin};
}

static void put_share(table *t, double part, double whole)
{
    weir_quantity_fixed(table_cell(t), whole > 0 ? 100 * part / whole : 0, 1);
    table_end(t);
}

static void put_figures(table *t, const weir_train_sweep_row *row)
{
    weir_quantity_seconds(table_cell(t), row->step_s, 4);
    table_end(t);
    weir_quantity_count(table_cell(t), (uint64_t)(row->tokens_per_s + 0.5));
    table_end(t);
    put_share(t, row->mfu, 1);
    weir_quantity_si(table_cell(t), row->memory_bytes, "B");
    table_end(t);
    for (int w = 0; w < WEIR_WAIT_COUNT; w++) {
        put_share(t, row->wait_s[w], row->step_s);
    }
}

static void put_row(table *t, const weir_train_sweep *sweep, uint32_t i)
{
    enum { FIGURES = 4 + WEIR_WAIT_COUNT };
    const weir_train_sweep_row *row = &sweep->rows[i];
    for (uint32_t k = 0; k < sweep->key_count; k++) {
        text_name(table_cell(t), weir_str_from(row->values[k]), KEY_COLUMNS);
        table_end(t);
    }
    if (row->refused) {
        for (int f = 0; f < FIGURES; f++) {
            table_put(t, "-");
        }
        text_name(table_cell(t), weir_str_from(row->short_reason), 24);
        table_end(t);
        return;
    }
    put_figures(t, row);
    table_put(t, i == sweep->best ? "best" : row->fits ? "" : "does not fit");
}

static void put_headings(table *t, const weir_train_sweep *sweep)
{
    static const char *const headings[] = {"step",  "tokens/s", "MFU",   "memory", "comp.",
                                           "comm.", "dep.",     "cache", ""};
    for (uint32_t k = 0; k < sweep->key_count; k++) {
        text_name(table_cell(t), last_of(sweep->keys[k]), KEY_COLUMNS);
        table_end(t);
    }
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_put(t, headings[i]);
    }
}

/* Each sentence once, at its first row. */
static void put_reasons(weir_text *out, const weir_train_sweep *sweep)
{
    const char *said[REASONS_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < sweep->row_count && count < REASONS_MOST; i++) {
        const char *refused = sweep->rows[i].refused;
        bool is_new = refused != NULL;
        for (uint32_t k = 0; k < count && is_new; k++) {
            is_new = strcmp(said[k], refused) != 0;
        }
        if (is_new) {
            weir_text line = {0};
            said[count++] = refused;
            weir_text_add(&line, WEIR_STR("Refused: "));
            weir_text_escaped(&line, weir_str_from(refused), 0);
            text_wrap(out, (weir_str){line.p, (uint32_t)line.n}, 2);
            out->failed = out->failed || line.failed;
            weir_text_clear(&line);
        }
    }
}

static void put_best(weir_text *out, const weir_train_sweep *sweep)
{
    weir_text line = {0};
    if (sweep->best == WEIR_NONE) {
        weir_text_add(&line, WEIR_STR("None of these plans works and fits into memory."));
    } else {
        const weir_train_sweep_row *row = &sweep->rows[sweep->best];
        weir_text_add(&line, WEIR_STR("Most tokens a second: "));
        for (uint32_t k = 0; k < sweep->key_count; k++) {
            weir_text_printf(&line, "%s%s=", k ? ", " : "", sweep->keys[k]);
            weir_text_escaped(&line, weir_str_from(row->values[k]), 0);
        }
        weir_text_add(&line, WEIR_STR(" ("));
        weir_quantity_seconds(&line, row->step_s, 4);
        weir_text_add(&line,
                      WEIR_STR(" a step). In closed form; without --sweep a step is played."));
    }
    if (!line.failed && line.p) {
        text_wrap(out, (weir_str){line.p, (uint32_t)line.n}, 2);
    }
    out->failed = out->failed || line.failed;
    weir_text_clear(&line);
}

weir_code weir_report_train_sweep(weir_text *out, const weir_train_sweep *sweep, bool colour,
                                  weir_err *err)
{
    static const char aligns[] = "rrrrrrrrrrrrrrrrl"; /* at most KEYS_MOST keys */
    _Static_assert(sizeof aligns - 1 == KEYS_MOST + 4 + WEIR_WAIT_COUNT + 1, "a letter each");
    table t;
    weir_text_add(out, WEIR_STR("SIMULATED  "));
    weir_text_escaped(out, weir_str_from(sweep->scenario_name), 0);
    weir_text_printf(out, ": %u plan%s in closed form\n\n", (unsigned)sweep->row_count,
                     sweep->row_count == 1 ? "" : "s");
    table_begin(&t, aligns + KEYS_MOST - sweep->key_count);
    put_headings(&t, sweep);
    for (uint32_t i = 0; i < sweep->row_count; i++) {
        put_row(&t, sweep, i);
    }
    table_print(&t, out, colour);
    weir_text_add(out, WEIR_STR("\nMFU and the four waits in percent (compute, communication, "
                                "dependency, cache).\n"));
    put_best(out, sweep);
    put_reasons(out, sweep);
    return finish(out, err);
}

/* --- CSV and JSON ------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    double value;
} figure;

enum { FIGURE_COUNT = 8 + WEIR_WAIT_COUNT };

/* Waits as shares of the step, like `weir fabric`. */
static void figures_of(const weir_train_sweep_row *row, figure figures[FIGURE_COUNT])
{
    static const char *const waits[] = {"compute_share", "communication_share", "dependency_share",
                                        "cache_share"};
    const figure plain[] = {{"step_s", row->step_s},
                            {"tokens_per_s", row->tokens_per_s},
                            {"tokens_per_s_per_device", row->tokens_per_s_per_device},
                            {"mfu", row->mfu},
                            {"hfu", row->hfu},
                            {"bubble_share", row->bubble_share},
                            {"memory_bytes", row->memory_bytes},
                            {"capacity_bytes", row->capacity_bytes}};
    memcpy(figures, plain, sizeof plain);
    for (int w = 0; w < WEIR_WAIT_COUNT; w++) {
        double share = row->step_s > 0 ? row->wait_s[w] / row->step_s : 0;
        figures[sizeof plain / sizeof *plain + (size_t)w] = (figure){waits[w], share};
    }
}

weir_code weir_report_train_sweep_csv(weir_text *out, const weir_train_sweep *sweep, weir_err *err)
{
    static const char *const state[] = {"refused", "fits"};
    const weir_train_sweep_row none = {0};
    figure figures[FIGURE_COUNT];
    sheet s = {.out = out};
    sheet_headings(&s, sweep->keys, sweep->key_count);
    sheet_headings(&s, state, 2);
    figures_of(&none, figures);
    for (int f = 0; f < FIGURE_COUNT; f++) {
        sheet_text(&s, figures[f].name);
    }
    sheet_end(&s);
    for (uint32_t i = 0; i < sweep->row_count; i++) {
        const weir_train_sweep_row *row = &sweep->rows[i];
        for (uint32_t k = 0; k < sweep->key_count; k++) {
            sheet_text(&s, row->values[k]);
        }
        sheet_text(&s, row->refused);
        sheet_text(&s, row->refused ? NULL : row->fits ? "true" : "false");
        figures_of(row, figures);
        for (int f = 0; f < FIGURE_COUNT; f++) {
            if (row->refused) {
                sheet_text(&s, NULL);
            } else {
                sheet_double(&s, figures[f].value);
            }
        }
        sheet_end(&s);
    }
    return finish(out, err);
}

static void put_point(weir_json_writer *w, const weir_train_sweep *sweep,
                      const weir_train_sweep_row *row)
{
    figure figures[FIGURE_COUNT];
    weir_json_open_object(w, WEIR_JSON_INLINE);
    weir_json_key(w, "values");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t k = 0; k < sweep->key_count; k++) {
        weir_json_text(w, row->values[k]);
    }
    weir_json_close(w);
    weir_json_key(w, "refused");
    weir_json_text(w, row->refused);
    if (!row->refused) {
        weir_json_key(w, "fits");
        weir_json_bool(w, row->fits);
        figures_of(row, figures);
        for (int f = 0; f < FIGURE_COUNT; f++) {
            weir_json_key(w, figures[f].name);
            weir_json_double(w, figures[f].value);
        }
    }
    weir_json_close(w);
}

weir_code weir_report_train_sweep_json(weir_text *out, const weir_train_sweep *sweep, weir_err *err)
{
    weir_json_writer w;
    weir_json_begin(&w, out);
    weir_json_open_object(&w, WEIR_JSON_LINES);
    weir_json_key(&w, "weir");
    weir_json_text(&w, weir_version());
    weir_json_key(&w, "schema");
    weir_json_uint(&w, SCHEMA);
    weir_json_key(&w, "command");
    weir_json_text(&w, "train");
    weir_json_key(&w, "simulated");
    weir_json_bool(&w, true);
    weir_json_key(&w, "name");
    weir_json_text(&w, sweep->scenario_name);
    weir_json_key(&w, "plans");
    weir_json_open_object(&w, WEIR_JSON_LINES);
    weir_json_key(&w, "keys");
    weir_json_open_array(&w, WEIR_JSON_INLINE);
    for (uint32_t k = 0; k < sweep->key_count; k++) {
        weir_json_text(&w, sweep->keys[k]);
    }
    weir_json_close(&w);
    weir_json_key(&w, "best");
    if (sweep->best == WEIR_NONE) {
        weir_json_null(&w);
    } else {
        weir_json_uint(&w, sweep->best);
    }
    weir_json_key(&w, "points");
    weir_json_open_array(&w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < sweep->row_count; i++) {
        put_point(&w, sweep, &sweep->rows[i]);
    }
    weir_json_close(&w);
    weir_json_close(&w);
    weir_json_close(&w);
    weir_text_char(out, '\n');
    return finish(out, err);
}
