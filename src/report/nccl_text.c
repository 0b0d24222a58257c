#include "report/nccl_text.h"

#include "report/fabric_page.h"
#include "report/sheet.h"
#include "result/quantity.h"

#include <math.h>

static weir_code finish(const weir_text *out, weir_err *err)
{
    if (out->failed) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the report");
    }
    return WEIR_OK;
}

static void put_findings(const page *p, const weir_nccl_run_row *run)
{
    for (uint32_t i = 0; i < run->finding_count; i++) {
        const weir_nccl_finding_row *finding = &run->findings[i];
        weir_text line = {0};
        weir_text_add(&line, WEIR_STR("- "));
        weir_text_escaped(&line, weir_str_from(finding->sentence), 0);
        if (finding->check != NULL && finding->check[0] != '\0') {
            weir_text_add(&line, WEIR_STR(" Check: "));
            weir_text_escaped(&line, weir_str_from(finding->check), 0);
        }
        fabric_line(p, &line);
    }
}

static void put_rate(table *t, double bytes_per_s)
{
    weir_quantity_digits(table_cell(t), bytes_per_s / 1e9);
    table_end(t);
}

/* Sizes are powers of two: "64 MiB"; others in bytes. */
static void put_bytes(table *t, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    uint32_t unit = 0;
    while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    weir_text_printf(table_cell(t), "%llu %s", (unsigned long long)bytes, units[unit]);
    table_end(t);
}

static void put_size(table *t, const weir_nccl_size_row *row)
{
    put_bytes(t, row->bytes);
    weir_quantity_seconds(table_cell(t), row->measured_s, 3);
    table_end(t);
    put_rate(t, row->measured_bus_bytes_per_s);
    put_rate(t, row->foretold_bus_bytes_per_s);
    put_rate(t, row->limit_bus_bytes_per_s);
    if (!isnan(row->share)) {
        weir_quantity_fixed(table_cell(t), 100 * row->share, 0);
        weir_text_add(table_cell(t), WEIR_STR(" %"));
    }
    table_end(t);
    weir_text_printf(table_cell(t), "%s%s%s", row->algorithm != NULL ? row->algorithm : "",
                     row->protocol != NULL ? " " : "", row->protocol != NULL ? row->protocol : "");
    table_end(t);
}

static void put_sizes(const page *p, const weir_nccl_run_row *run)
{
    static const char *const headings[] = {"size",  "measured", "bus GB/s", "foretold",
                                           "limit", "reached",  "by"};
    table t;
    table_begin(&t, "rrrrrrl");
    for (uint32_t i = 0; i < sizeof(headings) / sizeof(*headings); i++) {
        table_put(&t, headings[i]);
    }
    for (uint32_t i = 0; i < run->row_count; i++) {
        put_size(&t, &run->rows[i]);
    }
    table_print(&t, p->out, p->options->colour);
}

weir_code weir_report_compared(weir_text *out, const weir_result *result, bool colour,
                               weir_err *err)
{
    weir_text_options options = {.colour = colour};
    page p = {.out = out, .result = result, .options = &options};
    for (uint32_t i = 0; i < result->compared_count; i++) {
        const weir_nccl_run_row *run = &result->compared[i];
        weir_text line = {0};
        weir_text_add(out, i > 0 ? WEIR_STR("\n") : WEIR_STR(""));
        weir_text_add(&line, WEIR_STR("MEASURED  "));
        weir_text_escaped(&line, weir_str_from(run->title), 0);
        fabric_line(&p, &line);
        put_findings(&p, run);
        weir_text_char(out, '\n');
        put_sizes(&p, run);
    }
    page_losses(&p, true);
    page_losses(&p, false);
    page_notes(&p);
    return finish(out, err);
}

weir_code weir_report_compared_csv(weir_text *out, const weir_result *result, weir_err *err)
{
    static const char *const names[] = {"run",
                                        "bytes",
                                        "measured_s",
                                        "measured_bus_bytes_per_s",
                                        "foretold_s",
                                        "foretold_bus_bytes_per_s",
                                        "limit_bus_bytes_per_s",
                                        "share",
                                        "algorithm",
                                        "protocol"};
    sheet s = {.out = out};
    sheet_headings(&s, names, sizeof(names) / sizeof(*names));
    sheet_end(&s);
    for (uint32_t i = 0; i < result->compared_count; i++) {
        for (uint32_t k = 0; k < result->compared[i].row_count; k++) {
            const weir_nccl_size_row *row = &result->compared[i].rows[k];
            sheet_text(&s, result->compared[i].title);
            sheet_uint(&s, row->bytes);
            sheet_double(&s, row->measured_s);
            sheet_double(&s, row->measured_bus_bytes_per_s);
            sheet_double(&s, row->foretold_s);
            sheet_double(&s, row->foretold_bus_bytes_per_s);
            sheet_double(&s, row->limit_bus_bytes_per_s);
            sheet_double(&s, row->share);
            sheet_text(&s, row->algorithm);
            sheet_text(&s, row->protocol);
            sheet_end(&s);
        }
    }
    return finish(out, err);
}
