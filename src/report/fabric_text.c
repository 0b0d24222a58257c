#include "report/fabric_text.h"

#include "report/fabric_page.h"
#include "result/quantity.h"

#include <math.h>
#include <string.h>

/* What no scenario can ask for; docs/how-to/network-architect.md says the same. */
static const char NOT_MODELLED[] =
    "Not modelled: PFC storms, delivery of fibre, maintenance windows.";

static weir_str candidate_short(const weir_fabric_candidate_row *row)
{
    weir_str name = weir_str_from(row->name);
    bool has_letter = name.n > 2 && name.p[0] >= 'A' && name.p[0] <= 'Z' && name.p[1] == ' ';
    return has_letter ? (weir_str){name.p, 1} : name;
}

const weir_fabric_candidate_row *candidate_recommended(const weir_fabric_result *fabric)
{
    return fabric->recommended < fabric->candidate_count ? &fabric->candidates[fabric->recommended]
                                                         : NULL;
}

void candidate_add(weir_text *line, const weir_fabric_candidate_row *row)
{
    weir_text_escaped(line, candidate_short(row), 0);
}

void fabric_line(const page *p, weir_text *line)
{
    if (line->n > 0) {
        text_wrap(p->out, (weir_str){line->p, (uint32_t)line->n}, 2);
    }
    p->out->failed = p->out->failed || line->failed;
    weir_text_clear(line);
}

static void put_sentence(const page *p, const char *before, const char *sentence)
{
    weir_text line = {0};
    if (sentence != NULL && sentence[0] != '\0') {
        weir_text_add(&line, weir_str_from(before));
        weir_text_escaped(&line, weir_str_from(sentence), 0);
    }
    fabric_line(p, &line);
}

/* --- head --- */

static void put_head(const page *p)
{
    const weir_result *r = p->result;
    weir_text line = {0};
    weir_text_add(&line, WEIR_STR("SIMULATED  "));
    if (r->fabric->scenario_name != NULL) {
        weir_text_escaped(&line, weir_str_from(r->fabric->scenario_name), 0);
        weir_text_add(&line, WEIR_STR(": "));
    }
    weir_quantity_count(&line, r->window.devices);
    weir_text_add(&line, WEIR_STR(" devices, "));
    weir_quantity_count(&line, r->window.nodes);
    weir_text_printf(&line, " node%s, %u candidate%s", r->window.nodes == 1 ? "" : "s",
                     (unsigned)r->fabric->candidate_count,
                     r->fabric->candidate_count == 1 ? "" : "s");
    fabric_line(p, &line);
}

/* --- what decides --- */

static void add_flips(weir_text *line, const weir_fabric_result *fabric)
{
    for (uint32_t i = 0; i < fabric->flip_count; i++) {
        const weir_fabric_flip *flip = &fabric->flips[i];
        const weir_fabric_candidate_row named = {.name = flip->winner};
        weir_text_add(line, WEIR_STR("; with "));
        weir_text_escaped(line, weir_str_from(flip->price), 0);
        weir_text_add(line, flip->is_below ? WEIR_STR(" below ") : WEIR_STR(" above "));
        weir_quantity_usd(line, flip->at_usd);
        weir_text_char(line, ' ');
        candidate_add(line, &named);
        weir_text_add(line, WEIR_STR(" wins"));
    }
}

/* Candidates are compared by what they cost in a year only where that is known of all of them. */
static bool all_have_prices(const weir_fabric_result *fabric)
{
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        if (fabric->candidates[i].refused == NULL &&
            isnan(fabric->candidates[i].total_usd_per_year)) {
            return false;
        }
    }
    return true;
}

/* Where a cut that nothing mends ends all candidates, none of them is the best. */
static bool put_stall(const page *p)
{
    const weir_fabric_candidate_row *shown = candidate_recommended(p->result->fabric);
    weir_text line = {0};
    if (shown == NULL || p->result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_FAILURE] <= 0) {
        return false;
    }
    candidate_add(&line, shown);
    weir_text_add(&line, WEIR_STR(" never ends the step: a broken link stops it "
                                  "(dependency.failure). Times are those until then; the notes say "
                                  "which link."));
    fabric_line(p, &line);
    return true;
}

static void put_winner(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    const weir_fabric_candidate_row *best = candidate_recommended(fabric);
    weir_text line = {0};
    if (best != NULL) {
        candidate_add(&line, best);
        if (!all_have_prices(fabric)) {
            weir_text_add(&line, WEIR_STR(" is the fastest"));
            if (fabric->unpriced != NULL) {
                weir_text_add(&line, WEIR_STR("; its cost a year is not known: "));
                weir_text_escaped(&line, weir_str_from(fabric->unpriced), 0);
            }
        } else {
            weir_text_add(&line, WEIR_STR(" costs least"));
            if (best->sentence == NULL) {
                weir_text_add(&line, WEIR_STR(", "));
                weir_quantity_usd(&line, best->total_usd_per_year);
                weir_text_add(&line, WEIR_STR(" a year (purchase over its life, power, waiting)"));
            }
            if (fabric->flip_count == 0 && fabric->candidate_count > 1) {
                weir_text_add(&line, WEIR_STR(", at every price in the ranges"));
            }
            add_flips(&line, fabric);
        }
        weir_text_char(&line, '.');
        if (best->sentence != NULL) {
            weir_text_char(&line, ' ');
            weir_text_escaped(&line, weir_str_from(best->sentence), 0);
        }
    }
    fabric_line(p, &line);
}

static void put_waits(const page *p)
{
    const weir_fabric_candidate_row *best = candidate_recommended(p->result->fabric);
    weir_text line = {0};
    if (best != NULL && best->wall_ns > 0) {
        weir_text_add(&line, WEIR_STR("Time of "));
        candidate_add(&line, best);
        weir_text_char(&line, ':');
        for (int i = 0; i < WEIR_WAIT_COUNT; i++) {
            weir_text_printf(&line, "%s %s ", i == 0 ? "" : ",", weir_wait_name((weir_wait)i));
            weir_quantity_percent(&line, best->waits_ns[i], best->wall_ns);
        }
        weir_text_add(&line, WEIR_STR("; of the communication"));
        const char *before = "";
        for (int i = 0; i < WEIR_PART_COUNT; i++) {
            if (best->parts_ns[i] > 0) {
                weir_text_printf(&line, "%s %s ", before,
                                 weir_communication_part_name((weir_communication_kind_part)i));
                weir_quantity_percent(&line, best->parts_ns[i], best->exposed_communication_ns);
                before = ",";
            }
        }
        weir_text_add(&line, before[0] == '\0' ? WEIR_STR(" nothing.") : WEIR_STR("."));
    }
    fabric_line(p, &line);
}

/* Slow devices and jitter: who holds up the others, where it is worth a tenth of the time. */
static void put_blamed(const page *p)
{
    if (p->result->verdict.blames) {
        put_sentence(p, "", p->result->verdict.sentence);
    }
}

static void put_band(const page *p)
{
    const weir_fabric_candidate_row *best = candidate_recommended(p->result->fabric);
    weir_text line = {0};
    if (best != NULL && best->band_outside) {
        weir_text_add(&line, WEIR_STR("Times lie outside what was validated"));
    } else if (best != NULL && best->band_high_s > best->band_low_s) {
        weir_text_add(&line, WEIR_STR("Step of "));
        candidate_add(&line, best);
        weir_text_add(&line, WEIR_STR(" between "));
        weir_quantity_seconds(&line, best->band_low_s, 3);
        weir_text_add(&line, WEIR_STR(" and "));
        weir_quantity_seconds(&line, best->band_high_s, 3);
    }
    if (line.n > 0) {
        if (best->band_basis != NULL) {
            weir_text_add(&line, WEIR_STR(" ("));
            weir_text_escaped(&line, weir_str_from(best->band_basis), 0);
            weir_text_char(&line, ')');
        }
        weir_text_char(&line, '.');
    }
    fabric_line(p, &line);
}

/* --- traffic --- */

typedef struct { /* weighted by bytes, over the phases in which it is known */
    double sum, bytes;
} byte_mean;

typedef struct { /* of all phases */
    double bytes, light_bytes;
    byte_mean message_bytes, fan_out, peak_to_mean, persistence;
} traffic_mean;

static void add_to_mean(byte_mean *mean, double bytes, double value)
{
    if (!isnan(value)) {
        mean->sum += bytes * value;
        mean->bytes += bytes;
    }
}

static traffic_mean mean_traffic(const weir_fabric_result *fabric)
{
    traffic_mean m = {0};
    for (uint32_t i = 0; i < fabric->traffic_count; i++) {
        const weir_fabric_traffic_row *row = &fabric->traffic[i];
        if (row->is_contrast || !(row->bytes > 0)) {
            continue;
        }
        m.bytes += row->bytes;
        m.light_bytes += strcmp(row->suits, "light") == 0 ? row->bytes : 0;
        add_to_mean(&m.message_bytes, row->bytes, row->message_bytes);
        add_to_mean(&m.fan_out, row->bytes, row->fan_out);
        add_to_mean(&m.peak_to_mean, row->bytes, row->peak_to_mean);
        add_to_mean(&m.persistence, row->bytes, row->persistence);
    }
    return m;
}

/* ", persistence 0.97" where it is known. */
static void add_mean(weir_text *line, const char *name, const byte_mean *mean, int decimals)
{
    if (mean->bytes > 0) {
        double value = mean->sum / mean->bytes;
        weir_text_printf(line, ", %s ", name);
        weir_quantity_fixed(line, value, value < 99.95 ? decimals : 0);
    }
}

/* " Light: data, pipeline." Each axis once. */
static void add_road(weir_text *line, const weir_fabric_result *fabric, const char *title,
                     const char *suits)
{
    bool any = false;
    for (uint32_t i = 0; i < fabric->traffic_count; i++) {
        const weir_fabric_traffic_row *row = &fabric->traffic[i];
        bool shown = row->is_contrast || strcmp(row->suits, suits) != 0;
        for (uint32_t k = 0; k < i && !shown; k++) {
            shown = strcmp(fabric->traffic[k].axis, row->axis) == 0 &&
                    strcmp(fabric->traffic[k].suits, suits) == 0;
        }
        if (!shown) {
            weir_text_printf(line, "%s%s", any ? ", " : title, any ? "" : " ");
            weir_text_escaped(line, weir_str_from(row->axis), 0);
            any = true;
        }
    }
    if (any) {
        weir_text_char(line, '.');
    }
}

static void put_traffic_line(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    traffic_mean m = mean_traffic(fabric);
    weir_text line = {0};
    if (m.bytes > 0) {
        weir_text_add(&line, WEIR_STR("Your traffic: "));
        weir_quantity_si(&line, m.bytes, "B");
        weir_text_add(&line, WEIR_STR(" a step"));
        if (m.message_bytes.bytes > 0) {
            weir_text_add(&line, WEIR_STR("; a mean byte is in a message of "));
            weir_quantity_si(&line, m.message_bytes.sum / m.message_bytes.bytes, "B");
        }
        add_mean(&line, "persistence", &m.persistence, 2);
        add_mean(&line, "partners", &m.fan_out, 0);
        add_mean(&line, "peak/mean", &m.peak_to_mean, 1);
        weir_text_add(&line, WEIR_STR("; "));
        weir_quantity_fixed(&line, 100 * m.light_bytes / m.bytes, 0);
        weir_text_add(&line, WEIR_STR(" % of it suits light."));
        add_road(&line, fabric, " Light:", "light");
        add_road(&line, fabric, " Packets:", "packets");
    }
    fabric_line(p, &line);
}

weir_code weir_report_fabric(weir_text *out, const weir_result *result,
                             const weir_fabric_text_options *options, weir_err *err)
{
    weir_text_options text = {.colour = options->colour};
    page p = {.out = out, .result = result, .options = &text};
    put_head(&p);
    put_sentence(&p, "", result->fabric->light_sentence);
    weir_text_char(out, '\n');
    fabric_candidates(&p);
    if (!put_stall(&p)) {
        put_winner(&p);
    }
    fabric_refused(&p);
    put_waits(&p);
    put_blamed(&p);
    put_band(&p);
    put_traffic_line(&p);
    fabric_break_even(&p);
    fabric_budget(&p);
    fabric_conversions(&p);
    fabric_next(&p);
    fabric_values(&p);
    fabric_failures(&p);
    put_sentence(&p, "Prices: ", result->fabric->price_note);
    put_sentence(&p, "Assumed: ", result->fabric->assumptions);
    put_sentence(&p, "", NOT_MODELLED);
    if (options->traffic) {
        weir_text_char(out, '\n');
        fabric_traffic(&p);
    }
    page_notes(&p);
    if (out->failed) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the report");
    }
    return WEIR_OK;
}
