/* fabric_sentences.c: one sentence for each candidate and one on light (fabric_compare.h). */
#include "study/fabric_compare.h"

#include "result/quantity.h"

#include <math.h>
#include <string.h>

void weir_fabric_call(weir_text *text, const weir_fabric_candidate_row *row)
{
    weir_str name = weir_str_from(row->name);
    bool has_letter = name.n > 2 && name.p[0] >= 'A' && name.p[0] <= 'Z' && name.p[1] == ' ';
    weir_text_escaped(text, has_letter ? (weir_str){name.p, 1} : name, 0);
}

static const char *keep(weir_result *result, weir_text *text)
{
    const char *kept =
        text->failed ? NULL : weir_result_copy(result, (weir_str){text->p, (uint32_t)text->n});
    weir_text_clear(text);
    return kept;
}

/* WEIR_PART_COUNT: nothing is exposed. */
static uint32_t largest_part(const weir_fabric_candidate_row *row)
{
    uint32_t largest = WEIR_PART_COUNT;
    for (uint32_t i = 0; i < WEIR_PART_COUNT; i++) {
        if (row->parts_ns[i] > 0 &&
            (largest == WEIR_PART_COUNT || row->parts_ns[i] > row->parts_ns[largest])) {
            largest = i;
        }
    }
    return largest;
}

static const char *tier_words(const char *tier)
{
    static const char *const names[][2] = {{"in_node", "inside nodes"},
                                           {"between_nodes", "between nodes"},
                                           {"between_racks", "between racks"},
                                           {"hall", "across the hall"}};
    for (uint32_t i = 0; tier && i < 4; i++) {
        if (strcmp(tier, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return NULL;
}

static void add_waiting(weir_text *text, const weir_fabric_candidate_row *row)
{
    static const char *const parts[WEIR_PART_COUNT] = {"latency", "bandwidth", "contention",
                                                       "circuits being set"};
    uint32_t part = largest_part(row);
    const char *tier = tier_words(row->bottleneck.tier);
    if (part == WEIR_PART_COUNT) {
        weir_text_add(text, WEIR_STR("Never waits for the network"));
        return;
    }
    weir_text_add(text, WEIR_STR("Waits "));
    weir_quantity_percent(text, row->exposed_communication_ns, row->wall_ns);
    weir_text_printf(text, " of the time for the network, most of it %s", parts[part]);
    if (tier && part != WEIR_PART_CIRCUIT) {
        weir_text_printf(text, " %s", tier);
    }
}

const char *weir_fabric_sentence(weir_result *result, uint32_t candidate)
{
    const weir_fabric_result *fabric = result->fabric;
    const weir_fabric_candidate_row *row = &fabric->candidates[candidate];
    weir_text text = {0};
    if (row->refused) {
        return weir_result_printf(result, "Was not played: %s.", row->refused);
    }
    add_waiting(&text, row);
    if (isfinite(row->total_usd_per_year)) {
        weir_text_add(&text, WEIR_STR("; "));
        weir_quantity_usd(&text, row->total_usd_per_year);
        weir_text_add(&text, WEIR_STR(" a year with power and waiting"));
    }
    if (fabric->recommended != WEIR_NONE && fabric->recommended != candidate &&
        weir_fabric_is_possible(row)) {
        const weir_fabric_candidate_row *best = &fabric->candidates[fabric->recommended];
        double least = weir_fabric_measure(fabric, best);
        double more = least > 0 ? 100 * (weir_fabric_measure(fabric, row) / least - 1) : 0;
        weir_text_add(&text, WEIR_STR(", "));
        weir_quantity_fixed(&text, more, 1);
        weir_text_add(&text, WEIR_STR(" % more than "));
        weir_fabric_call(&text, best);
    }
    weir_text_char(&text, '.');
    return keep(result, &text);
}

/* --- light against packets --- */

enum { NO_DOLLARS = 1 }; /* sums below are not worth a word */

/* "saves 12.3 M$ a year in network and power and waits for 2 M$ more". */
static void add_money(weir_text *text, const weir_fabric_candidate_row *light,
                      const weir_fabric_candidate_row *packets)
{
    double paid = light->network_usd_per_year - packets->network_usd_per_year;
    double waits = light->waiting_usd_per_year - packets->waiting_usd_per_year;
    if (fabs(paid) < NO_DOLLARS) {
        weir_text_add(text, WEIR_STR(" costs as much a year in network and power"));
    } else {
        weir_text_printf(text, " %s ", paid < 0 ? "saves" : "costs");
        weir_quantity_usd(text, fabs(paid));
        weir_text_printf(text, " a year %sin network and power", paid < 0 ? "" : "more ");
    }
    if (fabs(waits) < NO_DOLLARS) {
        return;
    }
    weir_text_printf(text, " and %s ", waits > 0 ? "waits for" : "saves");
    weir_quantity_usd(text, fabs(waits));
    weir_text_add(text, waits > 0 ? WEIR_STR(" more") : WEIR_STR(" of waiting"));
}

static void add_time(weir_text *text, const weir_fabric_candidate_row *light,
                     const weir_fabric_candidate_row *packets)
{
    double more = light->step_s - packets->step_s;
    if (fabs(more) < 5e-10) { /* what the ledger calls 0 ns */
        weir_text_add(text, WEIR_STR(" takes as long a step"));
        return;
    }
    weir_text_add(text, WEIR_STR(" takes "));
    weir_quantity_seconds(text, fabs(more), 2);
    weir_text_printf(text, " %s a step", more > 0 ? "more" : "less");
}

/* Where a step on light waits longer than on packets, if anywhere. */
static void add_excess(weir_text *text, const weir_fabric_candidate_row *light,
                       const weir_fabric_candidate_row *packets)
{
    static const char *const why[WEIR_PART_COUNT] = {
        "small messages pay for its latency", "its circuits leave less bandwidth to a pair",
        "its circuits are shared by more traffic", "circuits are waited for when they are set"};
    int64_t most = 0;
    uint32_t part = WEIR_PART_COUNT;
    for (uint32_t i = 0; i < WEIR_PART_COUNT; i++) {
        int64_t more = light->parts_ns[i] - packets->parts_ns[i];
        if (more > most) {
            most = more;
            part = i;
        }
    }
    if (part != WEIR_PART_COUNT && light->step_s > packets->step_s) {
        weir_text_printf(text, "; %s (", why[part]);
        weir_quantity_percent(text, most, light->wall_ns);
        weir_text_add(text, WEIR_STR(" of the time)"));
    }
}

/* The kind of traffic that speaks for the verdict: what sends most between nodes; where light wins
 * of those that suit it, where it loses of those that do not (and use the network at all). NULL:
 * the traffic is not why. */
static const weir_fabric_traffic_row *main_traffic(const weir_fabric_result *fabric,
                                                   const char *verdict)
{
    const weir_fabric_traffic_row *most = NULL, *fits = NULL;
    bool even = strcmp(verdict, "breaks even") == 0;
    const char *suits = strcmp(verdict, "wins") == 0 ? "light" : "packets";
    for (uint32_t i = 0; i < fabric->traffic_count; i++) {
        const weir_fabric_traffic_row *row = &fabric->traffic[i];
        if (row->is_contrast || isnan(row->peak_to_mean)) {
            continue;
        }
        most = !most || row->bytes > most->bytes ? row : most;
        bool stays = weir_str_starts(weir_str_from(row->because), WEIR_STR("it never leaves"));
        if (!even && !stays && strcmp(row->suits, suits) == 0) {
            fits = !fits || row->bytes > fits->bytes ? row : fits;
        }
    }
    return even ? most : fits;
}

const char *weir_fabric_light_sentence(weir_result *result, uint32_t light_row,
                                       uint32_t packets_row, const char *verdict)
{
    const weir_fabric_result *fabric = result->fabric;
    const weir_fabric_candidate_row *light = &fabric->candidates[light_row];
    const weir_fabric_candidate_row *packets = &fabric->candidates[packets_row];
    const weir_fabric_traffic_row *traffic = main_traffic(fabric, verdict);
    weir_text text = {0};
    weir_text_printf(&text, "Light %s: against ", verdict);
    weir_fabric_call(&text, packets);
    weir_text_add(&text, WEIR_STR(", "));
    weir_fabric_call(&text, light);
    if (weir_fabric_has_prices(fabric)) {
        add_money(&text, light, packets);
    } else {
        add_time(&text, light, packets);
    }
    if (strcmp(verdict, "wins") != 0) {
        add_excess(&text, light, packets);
    }
    if (traffic) {
        weir_text_printf(&text, "; %s: %s", traffic->axis, traffic->because);
    }
    weir_text_char(&text, '.');
    return keep(result, &text);
}
