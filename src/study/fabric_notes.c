/* fabric_notes.c: assumptions and the provenance of prices (fabric_notes.h). */
#include "study/fabric_notes.h"

#include "result/quantity.h"
#include "study/fabric_compare.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *earliest, *latest; /* dates as presets write them: they sort as text */
    uint32_t secondary, memory;
    uint32_t count;
    const char *missing; /* parts without a price */
} price_sum;

static void add_price(price_sum *sum, const weir_price *price)
{
    sum->count++;
    sum->secondary += price->confidence && strcmp(price->confidence, "secondary") == 0;
    sum->memory += price->confidence && strcmp(price->confidence, "memory") == 0;
    bool is_dated = price->date && price->date[0] >= '0' && price->date[0] <= '9';
    if (is_dated) {
        if (!sum->earliest || strcmp(price->date, sum->earliest) < 0) {
            sum->earliest = price->date;
        }
        if (!sum->latest || strcmp(price->date, sum->latest) > 0) {
            sum->latest = price->date;
        }
    }
}

typedef struct {
    const weir_price *prices[64]; /* each once; more are not counted */
    uint32_t count;
} price_set;

static bool is_new(price_set *set, const weir_price *price)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->prices[i] == price) {
            return false;
        }
    }
    if (set->count == sizeof set->prices / sizeof *set->prices) {
        return false;
    }
    set->prices[set->count++] = price;
    return true;
}

/* "; 128 copper cables of each are not in the bills (copper: names their part)" */
static void add_unbilled(const weir_fabric_scenario *scenario,
                         const weir_fabric_evaluation *evaluations, bool optical, weir_text *text)
{
    const weir_fabric_evaluation *first = NULL;
    uint32_t played = 0;
    bool any = false, differ = false;
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        const weir_fabric_evaluation *e = &evaluations[i];
        if (e->row.refused) {
            continue;
        }
        first = first ? first : e;
        played++;
        any = any || e->unbilled_cables[optical] > 0;
        differ = differ || e->unbilled_cables[optical] != first->unbilled_cables[optical];
    }
    if (!any) {
        return;
    }
    const char *before = "; ";
    for (uint32_t i = 0; i < scenario->candidate_count && differ; i++) {
        uint64_t cables = evaluations[i].unbilled_cables[optical];
        if (!evaluations[i].row.refused && cables > 0) {
            weir_text_add(text, weir_str_from(before));
            weir_fabric_call(text, &evaluations[i].row);
            weir_text_char(text, ' ');
            weir_quantity_count(text, cables);
            before = ", ";
        }
    }
    if (!differ) {
        weir_text_add(text, weir_str_from(before));
        weir_quantity_count(text, first->unbilled_cables[optical]);
    }
    weir_text_printf(text, " %s cables%s are not in the bills (`%s` names their part)",
                     optical ? "optical" : "copper", !differ && played > 1 ? " of each" : "",
                     optical ? "module" : "copper");
}

/* Every price once, in the order of the bills. */
static weir_code write_price_note(const weir_fabric_scenario *scenario,
                                  const weir_fabric_evaluation *evaluations, weir_result *result,
                                  weir_err *err)
{
    weir_fabric_result *fabric = result->fabric;
    price_sum sum = {0};
    price_set set = {.count = 0};
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        const weir_bill *bill = &evaluations[i].account.bill;
        for (uint32_t k = 0; k < bill->count; k++) {
            if (bill->items[k].price && is_new(&set, bill->items[k].price)) {
                add_price(&sum, bill->items[k].price);
            }
        }
        sum.missing = sum.missing ? sum.missing : bill->unpriced;
    }
    weir_text text = {0};
    if (sum.count && sum.earliest) {
        weir_text_printf(&text, "%u prices, from %s to %s", sum.count, sum.earliest, sum.latest);
    } else {
        weir_text_printf(&text, "%u prices", sum.count);
    }
    if (sum.secondary) {
        weir_text_printf(&text, ", %u from second hand", sum.secondary);
    }
    if (sum.memory) {
        weir_text_printf(&text, ", %u recalled and not checked", sum.memory);
    }
    if (sum.missing) {
        weir_text_printf(&text, "; none for %s", sum.missing);
    }
    add_unbilled(scenario, evaluations, false, &text);
    add_unbilled(scenario, evaluations, true, &text);
    weir_text_char(&text, '.');
    fabric->price_note =
        text.failed ? NULL : weir_result_copy(result, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    return fabric->price_note ? WEIR_OK
                              : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the notes");
}

static const char *routing_name(const weir_candidate *candidate)
{
    switch (candidate->routing.choice) {
    case WEIR_ROUTE_SPRAY:
        return "sprayed";
    case WEIR_ROUTE_ECMP:
        return "hashed by ECMP";
    case WEIR_ROUTE_FIXED:
        return "on fixed ways";
    }
    return "routed";
}

/* "packets sprayed"; where candidates differ, "packets sprayed (A, B), hashed by ECMP (C)". */
static void add_routing(const weir_fabric_scenario *scenario, weir_text *text)
{
    const weir_candidate *candidates = scenario->candidates;
    uint32_t count = scenario->candidate_count, ways = 0;
    bool differ = false;
    for (uint32_t i = 1; i < count; i++) {
        differ = differ || candidates[i].routing.choice != candidates[0].routing.choice;
    }
    for (int choice = WEIR_ROUTE_SPRAY; choice <= WEIR_ROUTE_FIXED; choice++) {
        uint32_t own = 0;
        for (uint32_t i = 0; i < count; i++) {
            if ((int)candidates[i].routing.choice != choice) {
                continue;
            }
            if (own++ == 0) {
                weir_text_printf(text, "%s %s", ways++ ? "," : "; packets",
                                 routing_name(&candidates[i]));
            }
            if (differ) {
                weir_text_add(text, own == 1 ? WEIR_STR(" (") : WEIR_STR(", "));
                weir_text_escaped(text, weir_str_from(candidates[i].name), 0);
            }
        }
        weir_text_add(text, differ && own ? WEIR_STR(")") : WEIR_STR(""));
    }
}

static void add_pauses(const weir_fabric_scenario *scenario, weir_text *text)
{
    uint32_t with = 0;
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        with += scenario->candidates[i].pfc;
    }
    weir_text_add(text, WEIR_STR("; no packet is lost, queues are not modelled; "));
    if (with == 0) {
        weir_text_add(text, WEIR_STR("incast without PFC: nobody is paused"));
        return;
    }
    weir_text_add(text, WEIR_STR("incast of messages with PFC holds up its senders' ports"));
    if (with < scenario->candidate_count) {
        weir_text_printf(text, " (%u of %u candidates)", with, scenario->candidate_count);
    }
}

static void add_efficiency(const weir_fabric_scenario *scenario,
                           const weir_fabric_evaluation *evaluations, weir_text *text)
{
    double least = 1, most = 0;
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        if (evaluations[i].most_efficiency > 0) {
            least = fmin(least, evaluations[i].least_efficiency);
            most = fmax(most, evaluations[i].most_efficiency);
        }
    }
    weir_text_add(text,
                  WEIR_STR("max-min fair rates, of which transport reaches (eta_transport) "));
    if (most > least) {
        weir_text_printf(text, "%.2f to %.2f by pattern", least, most);
    } else {
        weir_text_printf(text, "%.2f", least);
    }
}

static weir_code write_assumptions(const weir_fabric_scenario *scenario,
                                   const weir_fabric_evaluation *evaluations, weir_result *result,
                                   weir_err *err)
{
    weir_text text = {0};
    add_efficiency(scenario, evaluations, &text);
    if (scenario->cluster.library) {
        weir_text_printf(&text, "; latency floor and protocols of %s", scenario->cluster.library);
    } else {
        weir_text_add(&text, WEIR_STR("; latency floor: rounds of the algorithm times its routes, "
                                      "no library named"));
    }
    add_routing(scenario, &text);
    add_pauses(scenario, &text);
    weir_text_add(&text, WEIR_STR("; all devices run the same program."));
    result->fabric->assumptions =
        text.failed ? NULL : weir_result_copy(result, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    return result->fabric->assumptions
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the notes");
}

/* Once: the cluster is the same to all candidates. */
static void note_assumed(const weir_fabric_scenario *scenario,
                         const weir_fabric_evaluation *evaluations, weir_result *result)
{
    const weir_cluster *cluster = &scenario->cluster;
    const char *parts[2] = {cluster->node_link ? cluster->node_link->id : "the links of a node",
                            cluster->nic ? cluster->nic->id : "the network"};
    for (uint32_t side = 0; side < 2; side++) {
        const char *found = NULL;
        for (uint32_t i = 0; i < scenario->candidate_count && !found; i++) {
            found = evaluations[i].assumed[side];
        }
        if (found) {
            weir_result_note(result,
                             "%s has no figures for %s: those of %s, the nearest in rate, stand "
                             "for it",
                             cluster->library, parts[side], found);
        }
    }
}

weir_code weir_fabric_write_notes(const weir_fabric_scenario *scenario,
                                  const weir_fabric_evaluation *evaluations, weir_result *result,
                                  weir_err *err)
{
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        for (uint32_t k = 0; k < evaluations[i].note_count; k++) {
            weir_result_note(result, "%s: %s", scenario->candidates[i].name,
                             evaluations[i].notes[k]);
        }
        if (evaluations[i].roads) {
            weir_result_note(result, "%s: %s", scenario->candidates[i].name, evaluations[i].roads);
        }
    }
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        const weir_bill *bill = &evaluations[i].account.bill;
        if (bill->unpriced) {
            weir_result_note(result, "%s: no price of %s", scenario->candidates[i].name,
                             bill->unpriced);
        }
        if (bill->unpowered) {
            weir_result_note(result, "%s: no watts of %s", scenario->candidates[i].name,
                             bill->unpowered);
        }
    }
    note_assumed(scenario, evaluations, result);
    weir_code code = write_price_note(scenario, evaluations, result, err);
    return code == WEIR_OK ? write_assumptions(scenario, evaluations, result, err) : code;
}
