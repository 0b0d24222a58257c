/* The object "fabric" of reference/output.md; keys beyond it stand at the end of their object. */
#include "result/json_parts.h"

static void put_uint(weir_json_writer *w, const char *key, uint64_t value)
{
    weir_json_key(w, key);
    weir_json_uint(w, value);
}

/* --- traffic --- */

static void put_traffic_row(weir_json_writer *w, const weir_fabric_traffic_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "axis", row->axis);
    json_put_number(w, "bytes", row->bytes);
    json_put_number(w, "message_bytes", row->message_bytes);
    json_put_number(w, "peak_to_mean", row->peak_to_mean);
    json_put_number(w, "fan_out", row->fan_out);
    json_put_number(w, "duty", row->duty);
    json_put_number(w, "needed_bytes_per_s", row->needed_bytes_per_s);
    json_put_number(w, "persistence", row->persistence);
    json_put_text(w, "suits", row->suits);
    json_put_text(w, "name", row->name);
    json_put_text(w, "because", row->because);
    json_put_number(w, "synchrony", row->synchrony);
    json_put_number(w, "available_bytes_per_s", row->available_bytes_per_s);
    json_put_bool(w, "contrast", row->is_contrast);
    weir_json_close(w);
}

static void put_traffic(weir_json_writer *w, const weir_fabric_result *fabric)
{
    weir_json_key(w, "traffic");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < fabric->traffic_count; i++) {
        put_traffic_row(w, &fabric->traffic[i]);
    }
    weir_json_close(w);
    json_put_number(w, "peak_demand_bytes_per_s", fabric->peak_demand_bytes_per_s);
}

/* --- candidates --- */

static void put_band(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    weir_json_key(w, "band");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_number(w, "low", row->band_low_s);
    json_put_number(w, "high", row->band_high_s);
    json_put_text(w, "basis", row->band_basis);
    json_put_bool(w, "outside", row->band_outside);
    weir_json_close(w);
}

static void put_parts_list(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    put_uint(w, "switches", row->switches);
    put_uint(w, "optical_ports", row->optical_ports);
    weir_json_key(w, "modules");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    put_uint(w, "pluggable", row->modules[0]);
    put_uint(w, "linear", row->modules[1]);
    put_uint(w, "copackaged", row->modules[2]);
    put_uint(w, "copper", row->modules[3]);
    weir_json_close(w);
    json_put_number(w, "conversions_per_byte", row->conversions_per_byte);
    weir_json_key(w, "conversion");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_number(w, "usd", row->conversion.usd);
    json_put_number(w, "watts", row->conversion.watts);
    json_put_number(w, "ns", row->conversion.ns);
    json_put_number(w, "pj_per_bit", row->conversion.pj_per_bit);
    weir_json_close(w);
    json_put_number(w, "loss_db", row->loss_db);
    json_put_bool(w, "closes", row->closes);
}

static void put_cost(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    json_put_number(w, "watts", row->watts);
    json_put_number(w, "usd", row->usd);
    weir_json_key(w, "usd_range");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    weir_json_double(w, row->usd_low);
    weir_json_double(w, row->usd_high);
    weir_json_close(w);
    json_put_number(w, "opex_usd_per_year", row->opex_usd_per_year);
    json_put_number(w, "waiting_usd_per_year", row->waiting_usd_per_year);
    json_put_number(w, "joules_per_step", row->joules_per_step);
}

static void put_bottleneck(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    weir_json_key(w, "bottleneck");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "link", row->bottleneck.link);
    json_put_text(w, "tier", row->bottleneck.tier);
    json_put_number(w, "marginal_s_per_percent", row->bottleneck.marginal_s_per_percent);
    weir_json_close(w);
}

static void put_times(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    json_put_int(w, "wall_ns", row->wall_ns);
    json_waits(w, &(weir_waits){.ns = {row->waits_ns[0], row->waits_ns[1], row->waits_ns[2],
                                       row->waits_ns[3]}});
    weir_json_key(w, "exposed_parts");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < WEIR_PART_COUNT; i++) {
        json_put_int(w, weir_communication_part_name((weir_communication_kind_part)i),
                     row->parts_ns[i]);
    }
    weir_json_close(w);
    put_uint(w, "resets", row->resets);
}

static void put_more_parts(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    put_uint(w, "devices", row->devices);
    put_uint(w, "switch_ports", row->switch_ports);
    put_uint(w, "spare_ports", row->spare_ports);
    put_uint(w, "nics", row->nics);
    put_uint(w, "cables", row->cables);
    put_uint(w, "optical_cables", row->optical_cables);
    json_put_number(w, "fibre_m", row->fibre_m);
    json_put_number(w, "budget_db", row->budget_db);
    json_put_number(w, "total_usd_per_year", row->total_usd_per_year);
}

/* What one more percent of each tier, or one dead part, would do to the step. */
static void put_changes(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    static const char *const tiers[] = {"in_node", "between_nodes", "between_racks", "hall"};
    weir_json_key(w, "marginal_s_per_percent");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < 4; i++) {
        json_put_number(w, tiers[i], row->marginal_s_per_percent[i]);
    }
    weir_json_close(w);
    weir_json_key(w, "failure");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "part", row->failure_part);
    json_put_number(w, "step_s", row->failure_step_s);
    json_put_text(w, "stoppers", row->stoppers);
    weir_json_close(w);
}

static void put_bill(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    weir_json_key(w, "bill");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < row->bill_count; i++) {
        const weir_bill_row *bill = &row->bill[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "item", bill->item);
        json_put_text(w, "part", bill->part);
        json_put_text(w, "place", bill->place);
        put_uint(w, "count", bill->count);
        json_put_number(w, "watts", bill->watts);
        json_put_number(w, "usd", bill->typical_usd);
        weir_json_key(w, "usd_range");
        weir_json_open_array(w, WEIR_JSON_INLINE);
        weir_json_double(w, bill->low_usd);
        weir_json_double(w, bill->high_usd);
        weir_json_close(w);
        json_put_text(w, "price_source", bill->price_source);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_candidate(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_text(w, "name", row->name);
    json_put_text(w, "kind", row->kind);
    json_put_number(w, "step_s", row->step_s);
    put_band(w, row);
    json_put_int(w, "exposed_communication_ns", row->exposed_communication_ns);
    put_parts_list(w, row);
    put_cost(w, row);
    put_bottleneck(w, row);
    json_put_text(w, "refused", row->refused);
    put_times(w, row);
    put_more_parts(w, row);
    put_changes(w, row);
    json_put_text(w, "sentence", row->sentence);
    put_bill(w, row);
    weir_json_close(w);
}

static void put_candidates(weir_json_writer *w, const weir_fabric_result *fabric)
{
    weir_json_key(w, "candidates");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        put_candidate(w, &fabric->candidates[i]);
    }
    weir_json_close(w);
}

/* --- the comparison --- */

static void put_break_even(weir_json_writer *w, const weir_fabric_break_even *break_even)
{
    weir_json_key(w, "break_even");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_number(w, "switching_time_s", break_even->switching_time_s);
    json_put_number(w, "message_bytes", break_even->message_bytes);
    json_put_number(w, "persistence", break_even->persistence);
    json_put_text(w, "sentence", break_even->sentence);
    weir_json_close(w);
}

static void put_flips(weir_json_writer *w, const weir_fabric_result *fabric)
{
    weir_json_key(w, "flips");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < fabric->flip_count; i++) {
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "price", fabric->flips[i].price);
        json_put_number(w, "at_usd", fabric->flips[i].at_usd);
        json_put_text(w, "winner", fabric->flips[i].winner);
        json_put_bool(w, "below", fabric->flips[i].is_below);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_values(weir_json_writer *w, const weir_fabric_result *fabric)
{
    weir_json_key(w, "links");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < fabric->value_count; i++) {
        const weir_fabric_value_row *row = &fabric->values[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "link", row->link);
        json_put_text(w, "tier", row->tier);
        put_uint(w, "multiplicity", row->multiplicity);
        json_put_number(w, "marginal_s_per_percent", row->marginal_s_per_percent);
        json_put_number(w, "loss_s_per_percent", row->loss_s_per_percent);
        json_put_number(w, "structure_s_per_percent", row->structure_s_per_percent);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_singles(weir_json_writer *w, const weir_fabric_result *fabric)
{
    weir_json_key(w, "single_links");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < fabric->single_count; i++) {
        const weir_fabric_single_row *row = &fabric->singles[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "link", row->link);
        json_put_text(w, "tier", row->tier);
        json_put_number(w, "pace_share", row->pace_share);
        json_put_number(w, "marginal_s_per_percent", row->marginal_s_per_percent);
        json_put_number(w, "loss_s_per_percent", row->loss_s_per_percent);
        json_put_number(w, "structure_s_per_percent", row->structure_s_per_percent);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_recommended(weir_json_writer *w, const weir_fabric_result *fabric)
{
    uint32_t i = fabric->recommended;
    json_put_text(w, "recommended",
                  i < fabric->candidate_count ? fabric->candidates[i].name : NULL);
    json_put_text(w, "light_or_packets", fabric->light_or_packets);
    json_put_text(w, "light_sentence", fabric->light_sentence);
    json_put_text(w, "price_note", fabric->price_note);
    json_put_text(w, "assumptions", fabric->assumptions);
}

void json_fabric(weir_json_writer *w, const weir_fabric_result *fabric)
{
    weir_json_key(w, "fabric");
    weir_json_open_object(w, WEIR_JSON_LINES);
    put_traffic(w, fabric);
    put_candidates(w, fabric);
    put_break_even(w, &fabric->break_even);
    put_flips(w, fabric);
    weir_json_key(w, "pareto");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < fabric->pareto_count; i++) {
        weir_json_text(w, fabric->pareto[i]);
    }
    weir_json_close(w);
    json_put_text(w, "scenario_name", fabric->scenario_name);
    put_recommended(w, fabric);
    put_values(w, fabric);
    put_singles(w, fabric);
    weir_json_close(w);
}
