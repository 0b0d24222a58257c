/* fabric_compare.c: recommendation, Pareto set and the verdict on light (fabric_compare.h). */
#include "study/fabric_compare.h"

#include <math.h>
#include <string.h>

/* Two yearly costs that differ by less are called even. */
static const double even_share = 0.01;

bool weir_fabric_is_possible(const weir_fabric_candidate_row *row)
{
    return !row->refused && row->closes && row->step_s > 0;
}

bool weir_fabric_is_light(const weir_fabric_candidate_row *row)
{
    static const char *const kinds[] = {"ocs-job", "ocs-phase", "rotor", "hybrid"};
    for (uint32_t i = 0; i < 4; i++) {
        if (strcmp(row->kind, kinds[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool weir_fabric_has_prices(const weir_fabric_result *fabric)
{
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (weir_fabric_is_possible(row) && !isfinite(row->total_usd_per_year)) {
            return false;
        }
    }
    return true;
}

double weir_fabric_measure(const weir_fabric_result *fabric, const weir_fabric_candidate_row *row)
{
    return weir_fabric_has_prices(fabric) ? row->total_usd_per_year : row->step_s;
}

/* By that measure; of two that take as long a step the one whose network costs less. */
static bool is_better(const weir_fabric_result *fabric, const weir_fabric_candidate_row *a,
                      const weir_fabric_candidate_row *b)
{
    double x = weir_fabric_measure(fabric, a), y = weir_fabric_measure(fabric, b);
    return x < y || (x == y && a->network_usd_per_year < b->network_usd_per_year);
}

typedef enum { ANY, LIGHT, PACKETS } which;

static uint32_t best_of(const weir_fabric_result *fabric, which wanted)
{
    uint32_t best = WEIR_NONE;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (!weir_fabric_is_possible(row) ||
            (wanted != ANY && weir_fabric_is_light(row) != (wanted == LIGHT))) {
            continue;
        }
        if (best == WEIR_NONE || is_better(fabric, row, &fabric->candidates[best])) {
            best = i;
        }
    }
    return best;
}

uint32_t weir_fabric_best(const weir_fabric_result *fabric)
{
    return best_of(fabric, ANY);
}

uint32_t weir_fabric_best_light(const weir_fabric_result *fabric)
{
    return best_of(fabric, LIGHT);
}

uint32_t weir_fabric_best_packets(const weir_fabric_result *fabric)
{
    return best_of(fabric, PACKETS);
}

static bool all_networks_have_prices(const weir_fabric_result *fabric)
{
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (weir_fabric_is_possible(row) && !isfinite(row->network_usd_per_year)) {
            return false;
        }
    }
    return true;
}

/* What is paid beside the time: the network a year, or watts where prices are missing. */
static double price_of(const weir_fabric_result *fabric, const weir_fabric_candidate_row *row)
{
    return all_networks_have_prices(fabric) ? row->network_usd_per_year : row->watts;
}

/* Somebody is at least as fast and as cheap, and better in one of the two. */
static bool is_dominated(const weir_fabric_result *fabric, uint32_t candidate)
{
    const weir_fabric_candidate_row *row = &fabric->candidates[candidate];
    double price = price_of(fabric, row);
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *other = &fabric->candidates[i];
        double other_price = price_of(fabric, other);
        if (i != candidate && weir_fabric_is_possible(other) && other->step_s <= row->step_s &&
            other_price <= price && (other->step_s < row->step_s || other_price < price)) {
            return true;
        }
    }
    return false;
}

static weir_code list_pareto(weir_result *result, weir_err *err)
{
    weir_fabric_result *fabric = result->fabric;
    fabric->pareto =
        weir_arena_alloc(result->arena, fabric->candidate_count + 1, sizeof *fabric->pareto);
    if (!fabric->pareto) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the comparison");
    }
    fabric->pareto_count = 0;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        if (weir_fabric_is_possible(&fabric->candidates[i]) && !is_dominated(fabric, i)) {
            fabric->pareto[fabric->pareto_count++] = fabric->candidates[i].name;
        }
    }
    return WEIR_OK;
}

const char *weir_fabric_light_verdict(weir_fabric_side light, weir_fabric_side packets,
                                      double error_share)
{
    double more = light.measure - packets.measure;
    double waits_more = light.waiting - packets.waiting;
    double e = isnan(error_share) ? 0 : error_share;
    double low = more - e * waits_more, high = more + e * waits_more;
    bool turns = (low < 0) != (high < 0);
    if (fabs(more) <= even_share * packets.measure || turns) {
        return "breaks even";
    }
    return more < 0 ? "wins" : "loses";
}

static weir_fabric_side side_of(const weir_fabric_result *fabric, uint32_t candidate)
{
    const weir_fabric_candidate_row *row = &fabric->candidates[candidate];
    bool priced = weir_fabric_has_prices(fabric);
    double waits =
        row->wall_ns > 0 ? (double)row->exposed_communication_ns / (double)row->wall_ns : 0;
    return (weir_fabric_side){weir_fabric_measure(fabric, row),
                              priced ? row->waiting_usd_per_year : waits * row->step_s};
}

/* The error of communication time that the band of a candidate stands for. */
static double error_of(const weir_fabric_candidate_row *row)
{
    double waits_s = row->wall_ns > 0 ? row->step_s * (double)row->exposed_communication_ns /
                                            (double)row->wall_ns
                                      : 0;
    return waits_s > 0 ? (row->band_high_s - row->step_s) / waits_s : NAN;
}

weir_code weir_fabric_compare(weir_result *result, weir_err *err)
{
    weir_fabric_result *fabric = result->fabric;
    fabric->recommended = weir_fabric_best(fabric);
    weir_code code = list_pareto(result, err);
    for (uint32_t i = 0; i < fabric->candidate_count && code == WEIR_OK; i++) {
        fabric->candidates[i].sentence = weir_fabric_sentence(result, i);
        if (!fabric->candidates[i].sentence) {
            code = weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the comparison");
        }
    }
    uint32_t light = weir_fabric_best_light(fabric), packets = weir_fabric_best_packets(fabric);
    if (code != WEIR_OK || light == WEIR_NONE || packets == WEIR_NONE) {
        return code;
    }
    fabric->light_or_packets = weir_fabric_light_verdict(
        side_of(fabric, light), side_of(fabric, packets), error_of(&fabric->candidates[light]));
    fabric->light_sentence =
        weir_fabric_light_sentence(result, light, packets, fabric->light_or_packets);
    return fabric->light_sentence
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the comparison");
}
