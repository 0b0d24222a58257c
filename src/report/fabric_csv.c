#include "report/fabric_csv.h"

#include "report/sheet.h"

static weir_code finish(const weir_text *out, weir_err *err)
{
    if (out->failed) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the CSV");
    }
    return WEIR_OK;
}

/* --- candidates --- */

static const char *const CANDIDATE_HEADINGS[] = {"candidate",
                                                 "kind",
                                                 "recommended",
                                                 "refused",
                                                 "step_s",
                                                 "band_low_s",
                                                 "band_high_s",
                                                 "wall_ns",
                                                 "compute_ns",
                                                 "communication_ns",
                                                 "dependency_ns",
                                                 "cache_ns",
                                                 "exposed_communication_ns",
                                                 "latency_ns",
                                                 "bandwidth_ns",
                                                 "contention_ns",
                                                 "circuit_ns",
                                                 "switches",
                                                 "switch_ports",
                                                 "optical_ports",
                                                 "spare_ports",
                                                 "nics",
                                                 "cables",
                                                 "optical_cables",
                                                 "fibre_m",
                                                 "pluggable",
                                                 "linear",
                                                 "copackaged",
                                                 "copper",
                                                 "conversions_per_byte",
                                                 "conversion_usd",
                                                 "conversion_watts",
                                                 "conversion_ns",
                                                 "conversion_pj_per_bit",
                                                 "loss_db",
                                                 "budget_db",
                                                 "closes",
                                                 "watts",
                                                 "usd",
                                                 "usd_low",
                                                 "usd_high",
                                                 "opex_usd_per_year",
                                                 "waiting_usd_per_year",
                                                 "total_usd_per_year",
                                                 "joules_per_step",
                                                 "failure_part",
                                                 "failure_step_s",
                                                 "bottleneck_link",
                                                 "bottleneck_tier",
                                                 "bottleneck_marginal_s_per_percent",
                                                 "resets"};

static void put_times(sheet *s, const weir_fabric_candidate_row *row)
{
    sheet_double(s, row->step_s);
    sheet_double(s, row->band_low_s);
    sheet_double(s, row->band_high_s);
    sheet_int(s, row->wall_ns);
    for (int i = 0; i < WEIR_WAIT_COUNT; i++) {
        sheet_int(s, row->waits_ns[i]);
    }
    sheet_int(s, row->exposed_communication_ns);
    for (int i = 0; i < WEIR_PART_COUNT; i++) {
        sheet_int(s, row->parts_ns[i]);
    }
}

static void put_parts(sheet *s, const weir_fabric_candidate_row *row)
{
    sheet_uint(s, row->switches);
    sheet_uint(s, row->switch_ports);
    sheet_uint(s, row->optical_ports);
    sheet_uint(s, row->spare_ports);
    sheet_uint(s, row->nics);
    sheet_uint(s, row->cables);
    sheet_uint(s, row->optical_cables);
    sheet_double(s, row->fibre_m);
    for (int i = 0; i < 4; i++) {
        sheet_uint(s, row->modules[i]);
    }
    sheet_double(s, row->conversions_per_byte);
    sheet_double(s, row->conversion.usd);
    sheet_double(s, row->conversion.watts);
    sheet_double(s, row->conversion.ns);
    sheet_double(s, row->conversion.pj_per_bit);
    sheet_double(s, row->loss_db);
    sheet_double(s, row->budget_db);
    sheet_text(s, row->closes ? "true" : "false");
}

static void put_cost(sheet *s, const weir_fabric_candidate_row *row)
{
    sheet_double(s, row->watts);
    sheet_double(s, row->usd);
    sheet_double(s, row->usd_low);
    sheet_double(s, row->usd_high);
    sheet_double(s, row->opex_usd_per_year);
    sheet_double(s, row->waiting_usd_per_year);
    sheet_double(s, row->total_usd_per_year);
    sheet_double(s, row->joules_per_step);
    sheet_text(s, row->failure_part);
    sheet_double(s, row->failure_step_s);
    sheet_text(s, row->bottleneck.link);
    sheet_text(s, row->bottleneck.tier);
    sheet_double(s, row->bottleneck.marginal_s_per_percent);
    sheet_uint(s, row->resets);
}

static void put_candidate(sheet *s, const weir_fabric_result *fabric, uint32_t i)
{
    const weir_fabric_candidate_row *row = &fabric->candidates[i];
    sheet_text(s, row->name);
    sheet_text(s, row->kind);
    sheet_text(s, i == fabric->recommended ? "true" : "false");
    sheet_text(s, row->refused);
    if (row->refused == NULL) {
        put_times(s, row);
        put_parts(s, row);
        put_cost(s, row);
    } else {
        enum { FIGURES = sizeof(CANDIDATE_HEADINGS) / sizeof(*CANDIDATE_HEADINGS) - 4 };
        for (int k = 0; k < FIGURES; k++) {
            sheet_text(s, NULL);
        }
    }
    sheet_end(s);
}

static void put_point(sheet *s, const weir_fabric_sweep *sweep, const weir_fabric_point *point)
{
    uint32_t rows = point->fabric != NULL ? point->fabric->candidate_count : 1;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < sweep->key_count; k++) {
            sheet_text(s, point->values[k]);
        }
        if (point->fabric != NULL) {
            put_candidate(s, point->fabric, i);
        } else {
            weir_fabric_candidate_row row = {.refused = point->refused};
            const weir_fabric_result refused = {
                .candidates = &row, .candidate_count = 1, .recommended = WEIR_NONE};
            put_candidate(s, &refused, 0);
        }
    }
}

weir_code weir_report_candidates_csv(weir_text *out, const weir_result *result, weir_err *err)
{
    sheet s = {.out = out};
    const weir_fabric_sweep *sweep = result->sweep;
    if (sweep != NULL) {
        sheet_headings(&s, sweep->keys, sweep->key_count);
    }
    sheet_headings(&s, CANDIDATE_HEADINGS,
                   sizeof(CANDIDATE_HEADINGS) / sizeof(*CANDIDATE_HEADINGS));
    sheet_end(&s);
    for (uint32_t i = 0; sweep != NULL && i < sweep->point_count; i++) {
        put_point(&s, sweep, &sweep->points[i]);
    }
    for (uint32_t i = 0; sweep == NULL && i < result->fabric->candidate_count; i++) {
        put_candidate(&s, result->fabric, i);
    }
    return finish(out, err);
}

/* --- traffic --- */

weir_code weir_report_traffic_csv(weir_text *out, const weir_result *result, weir_err *err)
{
    static const char *const names[] = {"traffic",
                                        "axis",
                                        "bytes",
                                        "message_bytes",
                                        "peak_to_mean",
                                        "synchrony",
                                        "fan_out",
                                        "duty",
                                        "needed_bytes_per_s",
                                        "available_bytes_per_s",
                                        "persistence",
                                        "suits",
                                        "because",
                                        "contrast"};
    sheet s = {.out = out};
    sheet_headings(&s, names, sizeof(names) / sizeof(*names));
    sheet_end(&s);
    for (uint32_t i = 0; i < result->fabric->traffic_count; i++) {
        const weir_fabric_traffic_row *row = &result->fabric->traffic[i];
        sheet_text(&s, row->name);
        sheet_text(&s, row->axis);
        sheet_double(&s, row->bytes);
        sheet_double(&s, row->message_bytes);
        sheet_double(&s, row->peak_to_mean);
        sheet_double(&s, row->synchrony);
        sheet_double(&s, row->fan_out);
        sheet_double(&s, row->duty);
        sheet_double(&s, row->needed_bytes_per_s);
        sheet_double(&s, row->available_bytes_per_s);
        sheet_double(&s, row->persistence);
        sheet_text(&s, row->suits);
        sheet_text(&s, row->because);
        sheet_text(&s, row->is_contrast ? "true" : "false");
        sheet_end(&s);
    }
    return finish(out, err);
}

/* --- bills of materials --- */

static void put_bill(sheet *s, const weir_bill_row *row)
{
    sheet_text(s, row->item);
    sheet_text(s, row->part);
    sheet_text(s, row->place);
    sheet_uint(s, row->count);
    sheet_double(s, row->watts);
    sheet_double(s, row->low_usd);
    sheet_double(s, row->typical_usd);
    sheet_double(s, row->high_usd);
    sheet_text(s, row->price_source);
    sheet_end(s);
}

weir_code weir_report_bill_csv(weir_text *out, const weir_fabric_candidate_row *row, weir_err *err)
{
    static const char *const names[] = {"item",        "part",     "place",
                                        "count",       "watts",    "low_usd",
                                        "typical_usd", "high_usd", "price_source"};
    sheet s = {.out = out};
    weir_bill_row sum = {.item = "total"};
    sheet_headings(&s, names, sizeof(names) / sizeof(*names));
    sheet_end(&s);
    for (uint32_t i = 0; i < row->bill_count; i++) {
        put_bill(&s, &row->bill[i]);
        sum.count += row->bill[i].count;
        sum.watts += row->bill[i].watts;
        sum.low_usd += row->bill[i].low_usd;
        sum.typical_usd += row->bill[i].typical_usd;
        sum.high_usd += row->bill[i].high_usd;
    }
    put_bill(&s, &sum);
    return finish(out, err);
}
