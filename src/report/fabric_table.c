#include "report/fabric_page.h"
#include "result/quantity.h"

#include <math.h>

enum { PAGE_COLUMNS = 80, CANDIDATE_COLUMNS = 9, TRAFFIC_COLUMNS = 10, MAX_COLUMNS = 10 };

/* --- columns that stand one blank apart: more of them fit than in table_print --- */

static weir_str cell_at(const table *t, size_t i)
{
    size_t begin = i > 0 ? t->ends[i - 1] : 0;
    return (weir_str){t->bytes.p + begin, (uint32_t)(t->ends[i] - begin)};
}

/* The first column takes what the others leave of the page. */
static void measure(const table *t, uint32_t widths[MAX_COLUMNS])
{
    uint32_t others = 0;
    for (size_t i = 0; i < t->count; i++) {
        weir_str cell = cell_at(t, i);
        uint32_t used = text_columns(cell.p, cell.n);
        uint32_t *width = &widths[i % t->columns];
        *width = used > *width ? used : *width;
    }
    for (uint32_t c = 1; c < t->columns; c++) {
        others += widths[c] + 1;
    }
    uint32_t left = others < PAGE_COLUMNS - 8 ? PAGE_COLUMNS - others : 8;
    widths[0] = widths[0] > left ? left : widths[0];
}

static void print_row(const table *t, size_t first, const uint32_t *widths, weir_text *out)
{
    uint32_t pending = 0; /* blanks that are written only if something follows */
    for (uint32_t c = 0; c < t->columns; c++) {
        weir_text cell = {0};
        text_name(&cell, cell_at(t, first + c), widths[c]);
        uint32_t used = text_columns(cell.p, cell.n);
        uint32_t before = t->align[c] == 'r' ? widths[c] - used : 0;
        if (used > 0) {
            text_pad(out, pending + before);
            weir_text_bytes(out, cell.p, cell.n);
            pending = 0;
        }
        pending += widths[c] - (used > 0 ? used + before : 0) + 1;
        out->failed = out->failed || cell.failed;
        weir_text_clear(&cell);
    }
    weir_text_char(out, '\n');
}

/* The first `headers` rows are faint where colour is on. Frees the table. */
static void print_close(table *t, const page *p, uint32_t headers)
{
    uint32_t widths[MAX_COLUMNS] = {0};
    if (t->failed || t->bytes.failed) {
        p->out->failed = true;
    } else {
        measure(t, widths);
        for (size_t row = 0; row < t->count / t->columns; row++) {
            if (row < headers) {
                page_ink(p, INK_FAINT, WEIR_WAIT_COMPUTE);
            }
            print_row(t, row * t->columns, widths, p->out);
            if (row < headers) {
                page_plain(p);
            }
        }
    }
    table_drop(t);
}

static void put_headers(table *t, const char *const *texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        table_put(t, texts[i]);
    }
}

/* --- candidates --- */

typedef struct { /* units of the columns: what fits their largest figure */
    double watts, usd, yearly;
    const char *watts_prefix, *usd_prefix, *yearly_prefix;
} scales;

static double larger(double a, double b) /* b may be NAN */
{
    return b > a ? b : a;
}

static scales scales_of(const weir_fabric_result *fabric)
{
    double watts = 0, usd = 0, yearly = 0;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        watts = larger(watts, row->watts);
        usd = larger(usd, row->usd);
        yearly = larger(larger(yearly, row->opex_usd_per_year), row->waiting_usd_per_year);
    }
    scales s = {0};
    s.watts = weir_quantity_scale(watts, &s.watts_prefix);
    s.usd = weir_quantity_scale(usd, &s.usd_prefix);
    s.yearly = weir_quantity_scale(yearly / 10, &s.yearly_prefix); /* power is far less */
    return s;
}

static void put_candidate_headers(table *t, const scales *s)
{
    static const char *const above[] = {"", "", "comm.", "O-E-O", "", ""};
    put_headers(t, above, sizeof(above) / sizeof(*above));
    for (int i = 0; i < 2; i++) {
        weir_text_printf(table_cell(t), "%s$/year", s->yearly_prefix);
        table_end(t);
    }
    table_put(t, "");
    static const char *const below[] = {"candidate", "step", "wait", "/byte"};
    put_headers(t, below, sizeof(below) / sizeof(*below));
    weir_text_printf(table_cell(t), "%sW", s->watts_prefix);
    table_end(t);
    weir_text_printf(table_cell(t), "%s$ (range)", s->usd_prefix);
    table_end(t);
    table_put(t, "power");
    table_put(t, "waiting");
    table_put(t, "");
}

static void put_digits(table *t, double value)
{
    weir_quantity_digits(table_cell(t), value);
    table_end(t);
}

static void put_money(table *t, const weir_fabric_candidate_row *row, double divisor)
{
    weir_quantity_digits(table_cell(t), row->usd / divisor);
    if (row->usd_low < row->usd_high) {
        weir_text_add(table_cell(t), WEIR_STR(" ("));
        weir_quantity_digits(table_cell(t), row->usd_low / divisor);
        weir_text_char(table_cell(t), '-');
        weir_quantity_digits(table_cell(t), row->usd_high / divisor);
        weir_text_char(table_cell(t), ')');
    }
    table_end(t);
}

static void put_wait(table *t, int64_t part, int64_t whole)
{
    double percent = 100 * weir_quantity_share(part, whole);
    weir_quantity_fixed(table_cell(t), percent, percent < 99.95 ? 1 : 0);
    weir_text_add(table_cell(t), WEIR_STR(" %"));
    table_end(t);
}

static void put_candidate(table *t, const weir_fabric_candidate_row *row, const scales *s,
                          bool recommended)
{
    table_put(t, row->name);
    if (row->refused != NULL) {
        table_put(t, "refused");
        for (int i = 2; i < CANDIDATE_COLUMNS; i++) {
            table_put(t, "");
        }
        return;
    }
    weir_quantity_seconds(table_cell(t), row->step_s, 3);
    table_end(t);
    put_wait(t, row->waits_ns[WEIR_WAIT_COMMUNICATION], row->wall_ns);
    put_digits(t, row->conversions_per_byte);
    put_digits(t, row->watts / s->watts);
    put_money(t, row, s->usd);
    put_digits(t, row->opex_usd_per_year / s->yearly);
    put_digits(t, row->waiting_usd_per_year / s->yearly);
    table_put(t, recommended ? "<-" : "");
}

void fabric_candidates(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    scales s = scales_of(fabric);
    table t;
    table_begin(&t, "lrrrrrrrl");
    put_candidate_headers(&t, &s);
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        put_candidate(&t, &fabric->candidates[i], &s, i == fabric->recommended);
    }
    print_close(&t, p, 2);
}

/* --- traffic --- */

static void put_si(table *t, double value, const char *unit)
{
    if (isnan(value)) {
        weir_text_char(table_cell(t), '-');
    } else {
        weir_quantity_si(table_cell(t), value, unit);
    }
    table_end(t);
}

static void put_decimal(table *t, double value, int decimals)
{
    if (isnan(value)) {
        weir_text_char(table_cell(t), '-');
    } else {
        weir_quantity_fixed(table_cell(t), value, decimals);
    }
    table_end(t);
}

static void put_traffic(table *t, const weir_fabric_traffic_row *row)
{
    table_put(t, row->name);
    table_put(t, row->axis);
    put_si(t, row->bytes, "B");
    put_si(t, row->message_bytes, "B");
    put_decimal(t, row->fan_out, row->fan_out < 9.95 ? 1 : 0);
    put_decimal(t, row->peak_to_mean, 1);
    put_decimal(t, row->persistence, 2);
    put_digits(t, row->needed_bytes_per_s / 1e9);
    put_digits(t, row->available_bytes_per_s / 1e9);
    table_put(t, row->suits);
}

void fabric_traffic(const page *p)
{
    static const char *const above[] = {"",      "",     "bytes", "",     "",
                                        "peak/", "per-", "GB/s",  "GB/s", ""};
    static const char *const below[] = {"traffic", "axis",  "a step", "message", "peers",
                                        "mean",    "sist.", "needed", "has",     "suits"};
    const weir_fabric_result *fabric = p->result->fabric;
    table t;
    table_begin(&t, "llrrrrrrrl");
    put_headers(&t, above, TRAFFIC_COLUMNS);
    put_headers(&t, below, TRAFFIC_COLUMNS);
    for (uint32_t i = 0; i < fabric->traffic_count; i++) {
        put_traffic(&t, &fabric->traffic[i]);
    }
    print_close(&t, p, 2);
    for (uint32_t i = 0; i < fabric->traffic_count; i++) {
        const weir_fabric_traffic_row *row = &fabric->traffic[i];
        weir_text line = {0};
        weir_text_add(&line, WEIR_STR("  "));
        weir_text_escaped(&line, weir_str_from(row->name), 0);
        weir_text_printf(&line, ": %s, because %s%s.", row->suits, row->because,
                         row->is_contrast ? " (for contrast: not carried here)" : "");
        text_wrap(p->out, (weir_str){line.p, (uint32_t)line.n}, 4);
        p->out->failed = p->out->failed || line.failed;
        weir_text_clear(&line);
    }
}
