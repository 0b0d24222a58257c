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
        weir_text_add(&line, WEIR_STR(" a byte that leaves its node, "));
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

/* What is shown as 0.00 % is nothing. */
static bool gains(const weir_fabric_candidate_row *row, int tier)
{
    return row->step_s > 0 && 100 * row->marginal_s_per_percent[tier] / row->step_s >= 0.005;
}

/* ", between nodes 0.72 %": the tiers that gain, or else those that were tried. */
static int add_tiers(weir_text *line, const weir_fabric_candidate_row *row, bool gaining)
{
    static const char *const tiers[] = {"in nodes", "between nodes", "between racks", "hall"};
    int count = 0;
    for (int i = 0; i < 4; i++) {
        if (isnan(row->marginal_s_per_percent[i]) || gains(row, i) != gaining) {
            continue;
        }
        weir_text_printf(line, "%s%s", count++ > 0 ? ", " : " ", tiers[i]);
        if (gaining) {
            weir_text_char(line, ' ');
            weir_quantity_fixed(line, 100 * row->marginal_s_per_percent[i] / row->step_s, 2);
            weir_text_add(line, WEIR_STR(" %"));
        }
    }
    return count;
}

void fabric_next(const page *p)
{
    const weir_fabric_candidate_row *best = candidate_recommended(p->result->fabric);
    weir_text line = {0}, tried = {0};
    int gaining = 0, others = 0;
    if (best != NULL) {
        weir_text_add(&line, WEIR_STR("Next dollar: 1 % more bandwidth gains"));
        gaining = add_tiers(&line, best, true);
        others = add_tiers(&tried, best, false);
    }
    if (gaining > 0) {
        weir_text_add(&line, others > 0 ? WEIR_STR("; nothing") : WEIR_STR(""));
        weir_text_bytes(&line, tried.p, tried.n);
    } else {
        weir_text_clear(&line);
    }
    if (gaining == 0 && others > 0) {
        weir_text_add(&line, WEIR_STR("Next dollar: 1 % more bandwidth of one tier alone gains "
                                      "nothing (tried:"));
        weir_text_bytes(&line, tried.p, tried.n);
        weir_text_char(&line, ')');
    }
    if (best != NULL && best->bottleneck.link != NULL && (gaining > 0 || others == 0)) {
        weir_text_add(&line, line.n > 0 ? WEIR_STR("; most at ") : WEIR_STR("Bottleneck: "));
        weir_text_escaped(&line, weir_str_from(best->bottleneck.link), 0);
    }
    if (line.n > 0) {
        weir_text_char(&line, '.');
    }
    line.failed |= tried.failed;
    weir_text_clear(&tried);
    fabric_line(p, &line);
}

/* "; 1 % less costs 0.28 %" */
static void add_share(weir_text *line, const char *before, double seconds, double step_s)
{
    weir_text_printf(line, "%s", before);
    weir_quantity_fixed(line, 100 * seconds / step_s, 2);
    weir_text_add(line, WEIR_STR(" %"));
}

void fabric_values(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    const weir_fabric_candidate_row *best = candidate_recommended(fabric);
    weir_text line = {0};
    for (uint32_t i = 0; best && best->step_s > 0 && i < fabric->value_count && i < 3; i++) {
        const weir_fabric_value_row *row = &fabric->values[i];
        if (i > 0 && 100 * row->loss_s_per_percent / best->step_s < 0.005) {
            break; /* what is shown as 0.00 % is nothing */
        }
        weir_text_add(&line, i == 0 ? WEIR_STR("Most valuable links: ") : WEIR_STR("; "));
        weir_text_escaped(&line, weir_str_from(row->link), 0);
        weir_text_printf(&line, " (%u alike): ", row->multiplicity);
        add_share(&line, "1 % more gains ", row->marginal_s_per_percent, best->step_s);
        add_share(&line, ", 1 % less costs ", row->loss_s_per_percent, best->step_s);
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

/* What stops the job on each candidate that was played; NULL: it depends. */
static const char *same_stoppers(const weir_fabric_result *fabric)
{
    const char *parts = NULL;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (row->refused != NULL) {
            continue;
        }
        if (row->stoppers == NULL || (parts != NULL && strcmp(parts, row->stoppers) != 0)) {
            return NULL;
        }
        parts = row->stoppers;
    }
    return parts;
}

/* "A spine 0 +5.0 % (8 spare ports), without leaf 0 not at all" */
static void add_failure(weir_text *line, const weir_fabric_candidate_row *row, bool with_stoppers)
{
    weir_text_add(line, line->n > 0 ? WEIR_STR("; ") : WEIR_STR("One dead: "));
    candidate_add(line, row);
    if (has_failure(row) && !isinf(row->failure_step_s)) {
        double more = 100 * (row->failure_step_s - row->step_s) / row->step_s;
        weir_text_char(line, ' ');
        weir_text_escaped(line, weir_str_from(row->failure_part), 0);
        weir_text_add(line, more >= 0 ? WEIR_STR(" +") : WEIR_STR(" "));
        weir_quantity_fixed(line, more, 1);
        weir_text_add(line, WEIR_STR(" %"));
        with_stoppers = with_stoppers && row->stoppers != NULL;
        weir_text_add(line, with_stoppers ? WEIR_STR(", without ") : WEIR_STR(""));
    } else {
        weir_text_add(line, WEIR_STR(" without "));
        with_stoppers = true;
    }
    if (with_stoppers) {
        weir_text_escaped(line, weir_str_from(row->stoppers ? row->stoppers : row->failure_part),
                          0);
        weir_text_add(line, WEIR_STR(" not at all"));
    }
    if (row->spare_ports > 0) {
        weir_text_printf(line, " (%llu spare ports)", (unsigned long long)row->spare_ports);
    }
}

void fabric_failures(const page *p)
{
    const weir_fabric_result *fabric = p->result->fabric;
    const char *same = same_stoppers(fabric);
    weir_text line = {0};
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        bool is_told = same != NULL && isinf(row->failure_step_s);
        if (row->refused == NULL && has_failure(row) && !is_told) {
            add_failure(&line, row, same == NULL);
        }
    }
    if (same != NULL) {
        weir_text_add(&line, line.n > 0 ? WEIR_STR("; without ") : WEIR_STR("One dead: without "));
        weir_text_escaped(&line, weir_str_from(same), 0);
        weir_text_add(&line, WEIR_STR(" the job does not run"));
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
            weir_text named = {0};
            weir_text_printf(&named, "'%s'", row->name); /* quoted: "c" is in many a sentence */
            bool names_it = !named.failed && weir_str_has(weir_str_from(row->refused),
                                                          (weir_str){named.p, (uint32_t)named.n});
            weir_text_clear(&named);
            weir_text_add(&line, WEIR_STR("Refused: "));
            weir_text_escaped(&line, weir_str_from(names_it ? "" : row->name), 0);
            weir_text_add(&line, names_it ? WEIR_STR("") : WEIR_STR(": "));
            weir_text_escaped(&line, weir_str_from(row->refused), 0);
        }
        fabric_line(p, &line);
    }
}
