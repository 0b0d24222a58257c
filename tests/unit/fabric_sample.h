/* fabric_sample.h: a comparison of networks made by hand for the tests of result/ and report/.
 *
 * 64 devices in 8 nodes, steps of about a second, four candidates: a Clos, circuits per job (the
 * recommended one), circuits per phase whose light does not close, and a torus that was refused.
 * Figures are round, so that they can be checked by head: the ledger of each candidate that was
 * played adds up to 64 devices x step. */
#ifndef WEIR_TESTS_FABRIC_SAMPLE_H
#define WEIR_TESTS_FABRIC_SAMPLE_H

#include "result/result.h"

#include <math.h>

#define FABRIC_SAMPLE_MS INT64_C(1000000)

static inline weir_fabric_candidate_row fabric_sample_row(const char *name, const char *kind,
                                                          int64_t step_ms, int64_t exposed_ms)
{
    weir_fabric_candidate_row row = {.name = name, .kind = kind};
    row.step_s = (double)step_ms / 1000;
    row.band_low_s = 0.91 * row.step_s;
    row.band_high_s = 1.09 * row.step_s;
    row.band_basis = "96 rows of like collectives, 80 %";
    row.wall_ns = 64 * step_ms * FABRIC_SAMPLE_MS;
    row.waits_ns[WEIR_WAIT_COMPUTE] = 64 * (step_ms - exposed_ms) * FABRIC_SAMPLE_MS;
    row.waits_ns[WEIR_WAIT_COMMUNICATION] = 64 * exposed_ms * FABRIC_SAMPLE_MS;
    row.exposed_communication_ns = row.waits_ns[WEIR_WAIT_COMMUNICATION];
    row.parts_ns[WEIR_PART_LATENCY] = row.exposed_communication_ns / 10;
    row.parts_ns[WEIR_PART_BANDWIDTH] =
        row.exposed_communication_ns - row.parts_ns[WEIR_PART_LATENCY];
    row.devices = row.nics = 64;
    row.loss_db = row.budget_db = row.failure_step_s = NAN;
    row.closes = true;
    for (int i = 0; i < 4; i++) {
        row.marginal_s_per_percent[i] = NAN;
    }
    return row;
}

static inline weir_fabric_candidate_row fabric_sample_clos(void)
{
    static const weir_bill_row bill[] = {
        {"switch", "tomahawk5-400g", "leaf", 4, 2000, 80000, 100000, 120000, "list price, 2025"},
        {"switch", "tomahawk5-400g", "spine", 2, 1000, 40000, 50000, 60000, "list price, 2025"},
        {"module", "400g-dr4", "leaf-spine, both ends", 256, 3072, 128000, 204800, 256000, NULL}};
    weir_fabric_candidate_row row = fabric_sample_row("A clos 1:1", "clos", 1000, 80);
    row.switches = 6;
    row.switch_ports = 192;
    row.cables = 192;
    row.optical_cables = 128;
    row.modules[0] = 256;
    row.fibre_m = 3840;
    row.conversions_per_byte = 4;
    row.conversion.usd = 204800;
    row.conversion.watts = 3072;
    row.conversion.ns = 400;
    row.conversion.pj_per_bit = 30;
    row.watts = 6072;
    row.usd = 354800;
    row.usd_low = 248000;
    row.usd_high = 436000;
    row.opex_usd_per_year = 5500;
    row.waiting_usd_per_year = 132000;
    row.total_usd_per_year = 226200;
    row.joules_per_step = 6072;
    row.failure_step_s = 1.05;
    row.failure_part = "spine 0";
    row.bottleneck.link = "leaf 3 -> spine 1";
    row.bottleneck.tier = "between_racks";
    row.bottleneck.marginal_s_per_percent = 0.0006;
    row.marginal_s_per_percent[2] = 0.0006;
    row.bill = bill;
    row.bill_count = 3;
    row.sentence = "Nothing blocks; most of its price is modules.";
    return row;
}

static inline weir_fabric_candidate_row fabric_sample_job(void)
{
    weir_fabric_candidate_row row = fabric_sample_row("B ocs per job", "ocs-job", 1010, 90);
    row.switches = 4;
    row.switch_ports = 128;
    row.optical_ports = 64;
    row.spare_ports = 8;
    row.cables = 128;
    row.optical_cables = 64;
    row.modules[0] = 64;
    row.fibre_m = 1920;
    row.conversions_per_byte = 2;
    row.conversion.usd = 51200;
    row.conversion.watts = 768;
    row.conversion.ns = 200;
    row.conversion.pj_per_bit = 15;
    row.loss_db = 3.1;
    row.budget_db = 4;
    row.watts = 2900;
    row.usd = 211200;
    row.usd_low = 151000;
    row.usd_high = 290000;
    row.opex_usd_per_year = 2600;
    row.waiting_usd_per_year = 149000;
    row.total_usd_per_year = 204400;
    row.joules_per_step = 2929;
    row.failure_step_s = 1.026;
    row.failure_part = "OCS 0";
    row.bottleneck.link = "leaf 0 -> leaf 1 (light)";
    row.bottleneck.tier = "hall";
    row.bottleneck.marginal_s_per_percent = 0.0009;
    row.marginal_s_per_percent[0] = 0.0021;
    row.marginal_s_per_percent[3] = 0.0009;
    row.resets = 1;
    row.sentence = "Light is set once; the pairs that talk are few and stay.";
    return row;
}

static inline void fabric_sample_candidates(weir_result *r)
{
    weir_fabric_candidate_row *rows = weir_arena_alloc(r->arena, 4, sizeof(*rows));
    rows[0] = fabric_sample_clos();
    rows[1] = fabric_sample_job();
    rows[2] = fabric_sample_row("C ocs per phase", "ocs-phase", 1060, 140);
    rows[2].parts_ns[WEIR_PART_CIRCUIT] = 64 * 50 * FABRIC_SAMPLE_MS;
    rows[2].parts_ns[WEIR_PART_BANDWIDTH] -= rows[2].parts_ns[WEIR_PART_CIRCUIT];
    rows[2].loss_db = 5.2;
    rows[2].budget_db = 4;
    rows[2].closes = false;
    rows[2].conversions_per_byte = 2;
    rows[2].watts = 2900;
    rows[2].usd = rows[2].usd_low = rows[2].usd_high = 211200;
    rows[2].opex_usd_per_year = 2600;
    rows[2].waiting_usd_per_year = 231000;
    rows[2].total_usd_per_year = 286400;
    rows[3] = (weir_fabric_candidate_row){
        .name = "D torus",
        .kind = "torus",
        .refused = "4 x 4 x 3 are 48 places for 64 devices.",
    };
    rows[3].step_s = rows[3].band_low_s = rows[3].band_high_s = rows[3].usd = NAN;
    rows[3].usd_low = rows[3].usd_high = rows[3].loss_db = rows[3].budget_db = NAN;
    rows[3].failure_step_s = rows[3].conversions_per_byte = rows[3].watts = NAN;
    r->fabric->candidates = rows;
    r->fabric->candidate_count = 4;
    r->fabric->recommended = 1;
}

static inline void fabric_sample_traffic(weir_result *r)
{
    weir_fabric_traffic_row *rows = weir_arena_alloc(r->arena, 3, sizeof(*rows));
    rows[0] = (weir_fabric_traffic_row){.name = "gradients",
                                        .axis = "data",
                                        .bytes = 94e9,
                                        .message_bytes = 64e6,
                                        .peak_to_mean = 6.1,
                                        .synchrony = 1,
                                        .fan_out = 2,
                                        .duty = 0.3,
                                        .needed_bytes_per_s = 20e9,
                                        .available_bytes_per_s = 50e9,
                                        .persistence = 0.97,
                                        .suits = "light",
                                        .because = "few partners that stay, big messages"};
    rows[1] = (weir_fabric_traffic_row){.name = "tokens",
                                        .axis = "expert",
                                        .bytes = 6e9,
                                        .message_bytes = 1e5,
                                        .peak_to_mean = 1.5,
                                        .synchrony = 1,
                                        .fan_out = 63,
                                        .duty = 0.1,
                                        .needed_bytes_per_s = 30e9,
                                        .available_bytes_per_s = 50e9,
                                        .persistence = 0.4,
                                        .suits = "packets",
                                        .because = "63 partners that change"};
    rows[2] = (weir_fabric_traffic_row){.name = "enterprise",
                                        .axis = "contrast",
                                        .bytes = 1e6,
                                        .message_bytes = 1e4,
                                        .peak_to_mean = 20,
                                        .synchrony = 0.05,
                                        .fan_out = 30,
                                        .duty = 0.02,
                                        .needed_bytes_per_s = NAN,
                                        .available_bytes_per_s = NAN,
                                        .persistence = 0.1,
                                        .suits = "packets",
                                        .because = "small, changing, never at once",
                                        .is_contrast = true};
    r->fabric->traffic = rows;
    r->fabric->traffic_count = 3;
    r->fabric->peak_demand_bytes_per_s = 3.2e12;
}

static inline weir_result *fabric_sample(void)
{
    static weir_fabric_flip flips[] = {{"a port of an OCS", "A clos 1:1", 940, false}};
    static const char *pareto[] = {"A clos 1:1", "B ocs per job"};
    static struct weir_scenario_row rows[] = {{"cluster.nodes", "8"}, {"cluster.devices", "8"}};
    weir_result *r = weir_result_new();
    r->command = "fabric";
    r->simulated = true;
    r->scenario = rows;
    r->scenario_count = 2;
    r->scenario_hash = "0123456789abcdef";
    r->seed = 7;
    r->window.steps = 1;
    r->window.devices = r->window.ranks = 64;
    r->window.nodes = 8;
    r->window.step_ns = r->window.end_ns = 1010 * FABRIC_SAMPLE_MS;
    r->fabric = weir_arena_alloc(r->arena, 1, sizeof(*r->fabric));
    r->fabric->scenario_name = "gradients and tokens";
    fabric_sample_traffic(r);
    fabric_sample_candidates(r);
    r->fabric->break_even = (weir_fabric_break_even){0.041, 4.5e6, 0.83, "Light pays for data."};
    r->fabric->light_or_packets = "wins";
    r->fabric->light_sentence = "Light wins: the partners of 94 % of the bytes never change.";
    r->fabric->flips = flips;
    r->fabric->flip_count = 1;
    r->fabric->pareto = pareto;
    r->fabric->pareto_count = 2;
    r->fabric->price_note = "3 of 9 prices are from memory.";
    r->fabric->assumptions = "Packets reach 87 % of the fluid rate.";
    return r;
}

#endif
