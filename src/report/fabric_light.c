/* Lines of the report on networks: what light needs and costs, what would change the step. */
#include "report/fabric_page.h"
#include "result/quantity.h"

#include <math.h>
#include <string.h>

/* --- light --- */

void fabric_break_even(const page *p)
{
    const weir_fabric_break_even *b = &p->result->fabric->break_even;
    weir_text line = {0};
    const char *before = "Light stops paying at:";
    if (!isnan(b->switching_time_s)) {
        weir_text_printf(&line, "%s switching + link-up > ", before);
        weir_quantity_seconds(&line, b->switching_time_s, 2);
        before = ", or";
    }
    if (!isnan(b->message_bytes)) {
        weir_text_printf(&line, "%s messages < ", before);
        weir_quantity_si(&line, b->message_bytes, "B");
        before = ", or";
    }
    if (!isnan(b->persistence)) {
        weir_text_printf(&line, "%s persistence < ", before);
        weir_quantity_fixed(&line, b->persistence, 2);
    }
    if (line.n > 0) {
        weir_text_char(&line, '.');
    }
    if (b->sentence != NULL) {
        weir_text_add(&line, line.n > 0 ? WEIR_STR(" ") : WEIR_STR("Break-even of light. "));
        weir_text_escaped(&line, weir_str_from(b->sentence), 0);
    }
    fabric_line(p, &line);
}

void fabric_budget(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    weir_text line = {0};
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (isnan(row->loss_db)) {
            continue;
        }
        weir_text_add(&line, line.n > 0 ? WEIR_STR("; ") : WEIR_STR("Optical budget: "));
        candidate_add(&line, row);
        weir_text_char(&line, ' ');
        weir_quantity_fixed(&line, row->loss_db, 1);
        if (!isnan(row->budget_db)) {
            weir_text_add(&line, WEIR_STR(" of "));
            weir_quantity_fixed(&line, row->budget_db, 1);
        }
        weir_text_printf(&line, " dB, %s", row->closes ? "closes" : "does NOT close");
    }
    if (line.n > 0) {
        weir_text_char(&line, '.');
    }
    fabric_line(p, &line);
}

void fabric_conversions(const page *p)
{
    const weir_fabric_candidate_row *best = candidate_recommended(p->result->fabric);
    weir_text line = {0};
    if (best != NULL && best->conversions_per_byte > 0) {
        weir_text_add(&line, WEIR_STR("Conversions of "));
        candidate_add(&line, best);
        weir_text_add(&line, WEIR_STR(": "));
        weir_quantity_digits(&line, best->conversions_per_byte);
        weir_text_add(&line, WEIR_STR(" a byte, "));
        weir_quantity_usd(&line, best->conversion.usd);
        weir_text_add(&line, WEIR_STR(" and "));
        weir_quantity_si(&line, best->conversion.watts, "W");
        weir_text_add(&line, WEIR_STR(" of modules, "));
        weir_quantity_digits(&line, best->conversion.ns);
        weir_text_add(&line, WEIR_STR(" ns, "));
        weir_quantity_digits(&line, best->conversion.pj_per_bit);
        weir_text_add(&line, WEIR_STR(" pJ/bit."));
    }
    fabric_line(p, &line);
}

/* --- what would change it --- */

void fabric_next(const page *p)
{
    static const char *const tiers[] = {"in nodes", "between nodes", "between racks", "hall"};
    const weir_fabric_candidate_row *best = candidate_recommended(p->result->fabric);
    weir_text line = {0};
    for (int i = 0; best != NULL && i < 4; i++) {
        double gain_s = best->marginal_s_per_percent[i];
        if (isnan(gain_s) || !(best->step_s > 0)) {
            continue;
        }
        weir_text_printf(&line, "%s %s ",
                         line.n > 0 ? "," : "Next dollar: 1 % more bandwidth gains", tiers[i]);
        weir_quantity_fixed(&line, 100 * gain_s / best->step_s, 2);
        weir_text_add(&line, WEIR_STR(" %"));
    }
    if (best != NULL && best->bottleneck.link != NULL) {
        weir_text_add(&line, line.n > 0 ? WEIR_STR("; most at ") : WEIR_STR("Bottleneck: "));
        weir_text_escaped(&line, weir_str_from(best->bottleneck.link), 0);
    }
    if (line.n > 0) {
        weir_text_char(&line, '.');
    }
    fabric_line(p, &line);
}

static bool has_failure(const weir_fabric_candidate_row *row)
{
    return !isnan(row->failure_step_s) && row->failure_part != NULL && row->step_s > 0;
}

/* The part that stops the job on each candidate that was played; NULL: it depends. */
static const char *same_failure(const weir_fabric_result *fabric)
{
    const char *part = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (row->refused != NULL) {
            continue;
        }
        if (!has_failure(row) || !isinf(row->failure_step_s) ||
            (part != NULL && strcmp(part, row->failure_part) != 0)) {
            return NULL;
        }
        part = row->failure_part;
        count++;
    }
    return count > 1 ? part : NULL;
}

void fabric_failures(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    weir_text line = {0};
    const char *same = same_failure(fabric);
    if (same != NULL) {
        weir_text_add(&line, WEIR_STR("One dead: "));
        weir_text_escaped(&line, weir_str_from(same), 0);
        weir_text_add(&line, WEIR_STR(" stops the job on each of them."));
        fabric_line(p, &line);
        return;
    }
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (row->refused != NULL || !has_failure(row)) {
            continue;
        }
        weir_text_add(&line, line.n > 0 ? WEIR_STR("; ") : WEIR_STR("One dead: "));
        candidate_add(&line, row);
        weir_text_char(&line, ' ');
        weir_text_escaped(&line, weir_str_from(row->failure_part), 0);
        if (isinf(row->failure_step_s)) {
            weir_text_add(&line, WEIR_STR(" stops the job"));
        } else {
            double more = 100 * (row->failure_step_s - row->step_s) / row->step_s;
            weir_text_add(&line, more >= 0 ? WEIR_STR(" +") : WEIR_STR(" "));
            weir_quantity_fixed(&line, more, 1);
            weir_text_add(&line, WEIR_STR(" %"));
        }
        if (row->spare_ports > 0) {
            weir_text_printf(&line, " (%llu spare ports)", (unsigned long long)row->spare_ports);
        }
    }
    if (line.n > 0) {
        weir_text_char(&line, '.');
    }
    fabric_line(p, &line);
}

void fabric_refused(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        weir_text line = {0};
        if (row->refused != NULL) {
            bool names_it = weir_str_has(weir_str_from(row->refused), weir_str_from(row->name));
            weir_text_add(&line, WEIR_STR("Refused: "));
            weir_text_escaped(&line, weir_str_from(names_it ? "" : row->name), 0);
            weir_text_add(&line, names_it ? WEIR_STR("") : WEIR_STR(": "));
            weir_text_escaped(&line, weir_str_from(row->refused), 0);
        }
        fabric_line(p, &line);
    }
}
