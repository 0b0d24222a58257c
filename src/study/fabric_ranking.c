/* fabric_ranking.c: the yearly costs of candidates as lines over prices (fabric_ranking.h). */
#include "study/fabric_ranking.h"

#include "fabric/flips.h"
#include "study/fabric_compare.h"

#include <math.h>
#include <string.h>

enum { PRICES_MAX = 64 };

typedef struct {
    const weir_fabric_scenario *scenario;
    const weir_fabric_evaluation *evaluations;
    weir_result *result;
    weir_cost_price prices[PRICES_MAX];
    uint32_t price_count;
    weir_cost_candidate *candidates; /* those that can be built */
    uint32_t *row_of;                /* their rows */
    uint32_t candidate_count;
} ranking;

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the ranking");
}

static void list_price(ranking *r, const char *id, const double usd[3])
{
    for (uint32_t i = 0; i < r->price_count; i++) {
        if (strcmp(r->prices[i].price, id) == 0) {
            return;
        }
    }
    if (r->price_count < PRICES_MAX) {
        r->prices[r->price_count++] = (weir_cost_price){id, usd[0], usd[1], usd[2]};
    }
}

/* What the scenario pays, in the range that presets or quotes give for it (moved to that price). */
static void list_paid(ranking *r, const char *id, const weir_price *range, double paid_usd)
{
    double share = range && range->typical_usd > 0 ? paid_usd / range->typical_usd : 1;
    double usd[3] = {range ? range->low_usd * share : paid_usd, paid_usd,
                     range ? range->high_usd * share : paid_usd};
    list_price(r, id, usd);
}

/* Of one candidate: parts bought over the life, kWh, hours waited. */
static weir_code add_candidate(ranking *r, uint32_t number, weir_err *err)
{
    const weir_fabric_account *account = &r->evaluations[number].account;
    const weir_economics *e = &r->scenario->economics;
    const weir_bill *bill = &account->bill;
    weir_cost_term *terms =
        weir_arena_alloc(r->result->arena, (size_t)bill->count + 2, sizeof *terms);
    uint32_t count = 0;
    if (!terms) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < bill->count; i++) {
        const weir_price *price = bill->items[i].price;
        if (price) {
            double usd[3] = {price->low_usd, price->typical_usd, price->high_usd};
            list_price(r, price->id, usd);
            terms[count++] = (weir_cost_term){price->id, bill->items[i].units / e->life_years};
        }
    }
    list_paid(r, "electricity", weir_parts_price(r->scenario->parts, WEIR_STR("electricity")),
              e->kwh_usd);
    terms[count++] = (weir_cost_term){"electricity", account->costs.kwh_per_year};
    const char *accelerator =
        r->scenario->cluster.accelerator ? r->scenario->cluster.accelerator->id : NULL;
    list_paid(r, "gpu_hour", weir_price_of_gpu_hour(r->scenario->parts, accelerator),
              e->gpu_hour_usd);
    terms[count++] = (weir_cost_term){"gpu_hour", account->costs.waiting_hours_per_year};
    r->row_of[r->candidate_count] = number;
    r->candidates[r->candidate_count++] = (weir_cost_candidate){terms, count, 0};
    return WEIR_OK;
}

static weir_code keep_flips(ranking *r, const weir_flip *found, uint32_t count, weir_err *err)
{
    weir_fabric_result *fabric = r->result->fabric;
    fabric->flips = weir_arena_alloc(r->result->arena, (size_t)count + 1, sizeof *fabric->flips);
    if (!fabric->flips) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!found[i].is_within) {
            continue;
        }
        weir_fabric_flip *flip = &fabric->flips[fabric->flip_count];
        flip->price = weir_result_copy(r->result, weir_str_from(r->prices[found[i].price].price));
        flip->winner = fabric->candidates[r->row_of[found[i].winner]].name;
        flip->at_usd = found[i].at_usd;
        flip->is_below = !found[i].is_dearer;
        if (!flip->price) {
            return no_memory(err);
        }
        fabric->flip_count++;
    }
    return WEIR_OK;
}

weir_code weir_fabric_find_flips(const weir_fabric_scenario *scenario,
                                 const weir_fabric_evaluation *evaluations, weir_result *result,
                                 weir_err *err)
{
    const weir_fabric_result *fabric = result->fabric;
    ranking r = {.scenario = scenario, .evaluations = evaluations, .result = result};
    weir_code code = WEIR_OK;
    if (!weir_fabric_has_prices(fabric)) {
        return WEIR_OK;
    }
    size_t room = (size_t)fabric->candidate_count + 1;
    r.candidates = weir_arena_alloc(result->arena, room, sizeof *r.candidates);
    r.row_of = weir_arena_alloc(result->arena, room, sizeof *r.row_of);
    if (!r.candidates || !r.row_of) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < fabric->candidate_count && code == WEIR_OK; i++) {
        if (weir_fabric_is_possible(&fabric->candidates[i])) {
            code = add_candidate(&r, i, err);
        }
    }
    weir_flip found[2 * PRICES_MAX];
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t count =
        weir_flips_find(r.candidates, r.candidate_count, r.prices, r.price_count, found);
    return keep_flips(&r, found, count, err);
}
