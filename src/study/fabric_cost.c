/* fabric_cost.c: the bill of a candidate and what follows from it (fabric_cost.h). */
#include "study/fabric_cost.h"

#include <math.h>

weir_code weir_fabric_bill(const weir_fabric_scenario *scenario,
                           const weir_candidate_network *network, weir_arena *arena,
                           weir_bill *bill, weir_err *err)
{
    weir_bill_switches switches[WEIR_NEED_SWITCHES];
    weir_bill_cables cables[WEIR_NEED_CABLES];
    weir_bill_ocs ocs = {.place = "circuits",
                         .part = network->ocs,
                         .count = network->ocs_count,
                         .ports_used = network->ocs_ports,
                         .ports_spare = network->ocs_spare_ports};
    for (uint32_t i = 0; i < network->switch_rows; i++) {
        const weir_switch_need *need = &network->switches[i];
        switches[i] = (weir_bill_switches){need->place, need->part, need->count, need->ports};
    }
    for (uint32_t i = 0; i < network->cable_rows; i++) {
        const weir_cable_need *need = &network->cables[i];
        cables[i] = (weir_bill_cables){.place = need->place,
                                       .part = need->module,
                                       .count = need->cables,
                                       .bytes_per_s = need->bytes_per_s,
                                       .length_m = need->length_m,
                                       .ends = need->to_ocs ? 1 : 2};
    }
    weir_bill_input input = {.parts = scenario->parts,
                             .nic = network->nic,
                             .nics = network->nics,
                             .switches = switches,
                             .cables = cables,
                             .ocs = &ocs,
                             .switch_rows = network->switch_rows,
                             .cable_rows = network->cable_rows,
                             .ocs_rows = network->ocs ? 1 : 0};
    return weir_bill_make(&input, arena, bill, err);
}

static weir_code keep_bill(const weir_bill *bill, weir_arena *arena, weir_fabric_candidate_row *row,
                           weir_err *err)
{
    weir_bill_row *rows = weir_arena_alloc(arena, (size_t)bill->count + 1, sizeof *rows);
    if (!rows) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a bill");
    }
    for (uint32_t i = 0; i < bill->count; i++) {
        const weir_bill_item *item = &bill->items[i];
        rows[i] = (weir_bill_row){.item = item->item,
                                  .part = item->part,
                                  .place = item->place,
                                  .count = item->count,
                                  .watts = item->watts,
                                  .low_usd = item->low_usd,
                                  .typical_usd = item->typical_usd,
                                  .high_usd = item->high_usd,
                                  .price_source = item->price ? item->price->source : NULL};
    }
    row->bill = rows;
    row->bill_count = bill->count;
    return WEIR_OK;
}

static void keep_counts(const weir_bill *bill, const weir_candidate_network *network,
                        weir_fabric_candidate_row *row)
{
    row->switches = bill->switches;
    row->switch_ports = bill->switch_ports;
    row->optical_ports = bill->optical_ports;
    row->spare_ports = bill->spare_ports;
    row->nics = bill->nics;
    row->cables = bill->cables;
    row->optical_cables = bill->optical_cables;
    for (uint32_t i = 0; i < WEIR_MODULE_KIND_COUNT; i++) {
        row->modules[i] = bill->modules[i];
    }
    row->fibre_m = bill->fibre_m;
    bool has_light = network->ocs != NULL;
    row->loss_db = has_light ? network->light.loss_db : NAN;
    row->budget_db = has_light ? network->light.budget_db : NAN;
    row->closes = !has_light || network->light.closes;
}

/* What is not known of one part makes the sum unknown: half a price would win every comparison. */
static weir_bill_costs keep_costs(const weir_fabric_scenario *scenario, const weir_bill *bill,
                                  weir_fabric_candidate_row *row)
{
    const weir_economics *e = &scenario->economics;
    weir_bill_economics economics = {.kwh_usd = e->kwh_usd,
                                     .pue = e->pue,
                                     .life_years = e->life_years,
                                     .gpu_hour_usd = e->gpu_hour_usd,
                                     .hours_per_year = e->hours_per_year};
    int64_t waits_ns = row->waits_ns[WEIR_WAIT_COMMUNICATION] + row->waits_ns[WEIR_WAIT_DEPENDENCY];
    weir_bill_use use = {.devices = row->devices,
                         .wait_share =
                             row->wall_ns > 0 ? (double)waits_ns / (double)row->wall_ns : 0,
                         .step_s = row->step_s};
    weir_bill_costs costs = weir_bill_yearly(bill, &economics, &use);
    bool priced = !bill->unpriced, powered = !bill->unpowered;
    row->watts = powered ? bill->watts : NAN;
    row->usd = priced ? bill->typical_usd : NAN;
    row->usd_low = priced ? bill->low_usd : NAN;
    row->usd_high = priced ? bill->high_usd : NAN;
    row->opex_usd_per_year = powered ? costs.opex_usd_per_year : NAN;
    row->waiting_usd_per_year = costs.waiting_usd_per_year;
    row->total_usd_per_year = priced && powered ? costs.total_usd_per_year : NAN;
    row->network_usd_per_year =
        priced && powered ? costs.capex_usd_per_year + costs.opex_usd_per_year : NAN;
    row->waiting_hours_per_year = costs.waiting_hours_per_year;
    row->joules_per_step = powered ? costs.joules_per_step : NAN;
    return costs;
}

weir_code weir_fabric_cost(const weir_fabric_scenario *scenario, const weir_fabric_play *play,
                           weir_arena *arena, weir_fabric_candidate_row *row,
                           weir_fabric_account *account, weir_err *err)
{
    weir_bill *bill = &account->bill;
    weir_conversion_load loads[WEIR_NEED_CABLES] = {{0}};
    uint32_t count = 0;
    double bytes_between = 0;
    weir_code code = weir_fabric_bill(scenario, &play->network, arena, bill, err);
    if (code == WEIR_OK) {
        code = keep_bill(bill, arena, row, err);
    }
    if (code == WEIR_OK) {
        code = weir_fabric_conversion_loads(scenario, play, loads, &count, &bytes_between, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    keep_counts(bill, &play->network, row);
    account->costs = keep_costs(scenario, bill, row);
    weir_conversions made = weir_bill_conversions(bill, loads, count, bytes_between, row->step_s);
    row->conversions_per_byte = made.per_byte;
    row->conversion.usd = made.usd;
    row->conversion.watts = made.watts;
    row->conversion.ns = made.ns;
    row->conversion.pj_per_bit = made.pj_per_bit;
    return WEIR_OK;
}
