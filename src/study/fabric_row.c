/* fabric_row.c: a candidate is played and its ledger becomes a row (fabric_row.h). */
#include "study/fabric_row.h"

#include "study/sim_ledger.h"

#include <math.h>
#include <string.h>

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a candidate's row");
}

static void set_unknown(weir_fabric_candidate_row *row)
{
    double *const figures[] = {&row->step_s,
                               &row->band_low_s,
                               &row->band_high_s,
                               &row->conversions_per_byte,
                               &row->conversion.usd,
                               &row->conversion.watts,
                               &row->conversion.ns,
                               &row->conversion.pj_per_bit,
                               &row->loss_db,
                               &row->budget_db,
                               &row->watts,
                               &row->usd,
                               &row->usd_low,
                               &row->usd_high,
                               &row->opex_usd_per_year,
                               &row->waiting_usd_per_year,
                               &row->total_usd_per_year,
                               &row->network_usd_per_year,
                               &row->waiting_hours_per_year,
                               &row->joules_per_step,
                               &row->failure_step_s,
                               &row->bottleneck.marginal_s_per_percent};
    for (uint32_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        *figures[i] = NAN;
    }
    for (uint32_t i = 0; i < WEIR_TIER_COUNT; i++) {
        row->marginal_s_per_percent[i] = NAN;
    }
}

static weir_code read_ledger(const weir_fabric_play *play, weir_fabric_candidate_row *row,
                             weir_err *err)
{
    weir_result *ledger = weir_result_new();
    if (!ledger) {
        return no_memory(err);
    }
    weir_ledger_options options = {.threads = 1};
    weir_code code = weir_sim_ledger_build(&play->spmd, &play->run, &options, ledger, NULL, err);
    if (code == WEIR_OK) {
        row->wall_ns = ledger->total.wall_ns;
        for (uint32_t i = 0; i < WEIR_WAIT_COUNT; i++) {
            row->waits_ns[i] = ledger->total.waits.ns[i];
        }
        row->exposed_communication_ns = row->waits_ns[WEIR_WAIT_COMMUNICATION];
        for (uint32_t i = 0; i < ledger->communication_share_count; i++) {
            const weir_communication_share *share = &ledger->communication_shares[i];
            if (share->part < WEIR_PART_COUNT) {
                row->parts_ns[share->part] += share->ns;
            }
        }
    }
    weir_result_free(ledger);
    return code;
}

/* The exchange that takes most of the devices' time, blocking ones first; WEIR_NONE: there is
 * none. */
static uint32_t longest_exchange(const weir_fabric_scenario *scenario, const weir_fabric_play *play,
                                 weir_arena *arena)
{
    uint32_t count = play->program.exchange_count, longest = WEIR_NONE;
    double *spent = weir_arena_alloc(arena, (size_t)count + 1, sizeof *spent);
    for (uint32_t i = 0; spent && i < play->run.meeting_count; i++) {
        const weir_meeting *m = &play->run.meetings[i];
        double members = play->program.exchanges[m->exchange].groups[m->group].count;
        spent[m->exchange] +=
            (double)(m->end_ns - m->last_arrival_ns) * members * (double)m->multiplicity;
    }
    for (uint32_t i = 0; spent && i < count; i++) {
        const weir_phase *phase = &scenario->phases[play->program.phase_of_exchange[i]];
        bool beats = longest == WEIR_NONE;
        if (!beats) {
            bool hides = scenario->phases[play->program.phase_of_exchange[longest]].overlap;
            beats = phase->overlap == hides ? spent[i] > spent[longest] : hides && spent[i] > 0;
        }
        longest = spent[i] > 0 && beats ? i : longest;
    }
    return longest;
}

static weir_code name_bottleneck(const weir_fabric_scenario *scenario, const weir_fabric_play *play,
                                 weir_arena *arena, weir_fabric_candidate_row *row, weir_err *err)
{
    uint32_t exchange = longest_exchange(scenario, play, arena);
    if (exchange == WEIR_NONE) {
        return WEIR_OK;
    }
    const weir_plan *plan = play->program.exchanges[exchange].groups[0].plan;
    if (plan->pace_link == WEIR_NONE ||
        plan->pace_link >= weir_net_count(weir_layout_net(play->network.layout))) {
        return WEIR_OK;
    }
    weir_text name = {0};
    weir_layout_name(play->network.layout, plan->pace_link, &name);
    row->bottleneck.link =
        name.failed ? NULL : weir_arena_copy(arena, (weir_str){name.p, (uint32_t)name.n});
    row->bottleneck.tier = weir_tier_name(plan->pace_tier);
    weir_text_clear(&name);
    return row->bottleneck.link ? WEIR_OK : no_memory(err);
}

/* A transfer that a broken link keeps from ending, the first one. */
static weir_code name_stall(const weir_fabric_play *play, weir_arena *arena,
                            weir_fabric_evaluation *made, weir_err *err)
{
    for (uint32_t i = 0; i < play->run.meeting_count && !made->stalled; i++) {
        const weir_meeting *m = &play->run.meetings[i];
        if (m->stalled_by == WEIR_NONE) {
            continue;
        }
        weir_text text = {0};
        weir_text_printf(&text, "'%s' never ends: the link ",
                         play->program.exchanges[m->exchange].name);
        weir_layout_name(play->network.layout, m->stalled_by, &text);
        weir_text_add(&text, WEIR_STR(" is broken and nothing goes round it"));
        made->stalled =
            text.failed ? NULL : weir_arena_copy(arena, (weir_str){text.p, (uint32_t)text.n});
        weir_text_clear(&text);
        if (!made->stalled) {
            return no_memory(err);
        }
    }
    return WEIR_OK;
}

static bool goes_alike(const weir_phase_road *a, const weir_phase_road *b)
{
    return a->because && b->because && a->is_light == b->is_light &&
           strcmp(a->because, b->because) == 0;
}

/* "data, pipeline go on light: ...; expert goes on packets: ..." where a candidate has both. */
static weir_code keep_roads(const weir_fabric_wish *wish, const weir_fabric_play *play,
                            weir_arena *arena, weir_fabric_evaluation *made, weir_err *err)
{
    const weir_phase_road *roads = play->network.phases;
    uint32_t count = play->network.phase_count;
    weir_text text = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 0, alike = 0;
        while (first < i && !goes_alike(&roads[first], &roads[i])) {
            first++;
        }
        if (!roads[i].because || first < i) {
            continue; /* told with an earlier one */
        }
        weir_text_add(&text, text.n ? WEIR_STR("; ") : WEIR_STR(""));
        for (uint32_t k = i; k < count; k++) {
            if (goes_alike(&roads[i], &roads[k])) {
                weir_text_printf(&text, "%s%s", alike++ ? ", " : "",
                                 wish->scenario->phases[k].name);
            }
        }
        weir_text_printf(&text, " %s on %s: %s", alike > 1 ? "go" : "goes",
                         roads[i].is_light ? "light" : "packets", roads[i].because);
    }
    if (text.n) {
        made->roads =
            text.failed ? NULL : weir_arena_copy(arena, (weir_str){text.p, (uint32_t)text.n});
    }
    bool kept = !text.failed && (text.n == 0 || made->roads);
    weir_text_clear(&text);
    return kept ? WEIR_OK : no_memory(err);
}

/* Whose figures were taken for parts that the library does not know. */
static void keep_assumed(const weir_fabric_play *play, weir_fabric_evaluation *made)
{
    for (uint32_t i = 0; i < play->network.phase_count; i++) {
        for (uint32_t side = 0; side < 2; side++) {
            const char *assumed = play->program.phases[i].assumed[side];
            made->assumed[side] = assumed ? assumed : made->assumed[side];
        }
    }
}

typedef struct {
    double nics, down, up, circuits; /* bytes a second of all of them, one direction */
} rates;

static rates rates_of(const weir_candidate_network *network)
{
    rates sum = {.nics = network->nic ? (double)network->nics * network->nic->bytes_per_s : 0};
    for (uint32_t i = 0; i < network->cable_rows; i++) {
        const weir_cable_need *need = &network->cables[i];
        double rate = (double)need->cables * need->bytes_per_s;
        sum.down += need->tier == WEIR_TIER_BETWEEN_NODES ? rate : 0;
        sum.up += need->tier == WEIR_TIER_BETWEEN_RACKS ? rate : 0;
        sum.circuits +=
            need->to_ocs && need->module ? (double)need->modules * need->module->bytes_per_s : 0;
    }
    return sum;
}

/* What is bought without need: cables go up in whole trunks, also where few NICs hang on a leaf,
 * and circuits may be any number. */
static weir_code note_idle(const weir_fabric_wish *wish, const weir_candidate_network *network,
                           weir_arena *arena, weir_fabric_evaluation *made, weir_err *err)
{
    static const double worth_a_word = 1.5;
    const weir_candidate *candidate = &wish->scenario->candidates[wish->candidate];
    rates sum = rates_of(network);
    double asked = candidate->oversubscription[0];
    bool has_leaves =
        candidate->kind == WEIR_CANDIDATE_CLOS || candidate->kind == WEIR_CANDIDATE_RAIL;
    weir_text text = {0};
    if (has_leaves && sum.down > 0 && sum.up > worth_a_word * sum.down / asked) {
        weir_text_printf(&text,
                         "leaves have %.3g times the uplinks that their NICs need at %g:1, in "
                         "whole trunks; so has the bill",
                         sum.up * asked / sum.down, asked);
    } else if (sum.nics > 0 && sum.circuits > worth_a_word * sum.nics) {
        weir_text_printf(&text,
                         "modules of circuits have %.3g times the rate of the NICs; so has the "
                         "bill",
                         sum.circuits / sum.nics);
    }
    if (text.n == 0 || made->note_count == sizeof made->notes / sizeof *made->notes) {
        weir_text_clear(&text);
        return WEIR_OK;
    }
    made->notes[made->note_count] =
        text.failed ? NULL : weir_arena_copy(arena, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    return made->notes[made->note_count++] ? WEIR_OK : no_memory(err);
}

static weir_code keep_network(const weir_fabric_play *play, weir_arena *arena,
                              weir_fabric_evaluation *made, weir_err *err)
{
    const weir_candidate_network *network = &play->network;
    made->broken_found = play->broken_found;
    made->blocks = network->blocks;
    made->uplinks = network->uplinks;
    made->circuit_s = network->circuit_s;
    made->row.resets = network->resets;
    keep_assumed(play, made);
    for (uint32_t i = 0; i < network->cable_rows; i++) {
        const weir_cable_need *need = &network->cables[i];
        made->unbilled_cables[need->is_optical] += need->module ? 0 : need->cables;
        made->circuit_bytes_per_s = need->to_ocs ? need->bytes_per_s : made->circuit_bytes_per_s;
    }
    for (uint32_t i = 0; i < network->note_count; i++) {
        made->notes[made->note_count] = weir_arena_copy(arena, weir_str_from(network->notes[i]));
        if (!made->notes[made->note_count++]) {
            return no_memory(err);
        }
    }
    for (uint32_t i = 0; i < network->phase_count; i++) {
        double share = network->phases[i].efficiency > 0 ? network->phases[i].efficiency : 1;
        made->least_efficiency = i ? fmin(made->least_efficiency, share) : share;
        made->most_efficiency = fmax(made->most_efficiency, share);
    }
    return WEIR_OK;
}

static weir_code fill(const weir_fabric_wish *wish, bool details, weir_fabric_play *play,
                      weir_arena *arena, weir_fabric_evaluation *made, weir_err *err)
{
    weir_fabric_candidate_row *row = &made->row;
    row->step_s = play->step_s;
    weir_code code = read_ledger(play, row, err);
    if (code == WEIR_OK) {
        code = weir_fabric_band(wish, play, arena, row, err);
    }
    if (code == WEIR_OK) {
        code = weir_fabric_cost(wish->scenario, play, arena, row, &made->account, err);
    }
    if (code == WEIR_OK) {
        code = keep_network(play, arena, made, err);
    }
    if (code == WEIR_OK) {
        code = note_idle(wish, &play->network, arena, made, err);
    }
    if (code == WEIR_OK) {
        code = keep_roads(wish, play, arena, made, err);
    }
    if (code == WEIR_OK) {
        code = name_stall(play, arena, made, err);
    }
    if (code == WEIR_OK) {
        code = name_bottleneck(wish->scenario, play, arena, row, err);
    }
    if (code != WEIR_OK || !details) {
        return code;
    }
    for (uint32_t i = 0; i < WEIR_TIER_COUNT && code == WEIR_OK; i++) {
        if (row->bottleneck.tier == weir_tier_name((weir_tier)i)) {
            code = weir_fabric_marginal(play, (weir_tier)i, row->marginal_s_per_percent, err);
            row->bottleneck.marginal_s_per_percent = row->marginal_s_per_percent[i];
        }
    }
    /* Beside links that break for a while a dead part would be told with their outage, or without.
     */
    bool is_whole = wish->scenario->broken_count == 0;
    return code == WEIR_OK && is_whole ? weir_fabric_failure(wish, play, arena, made, err) : code;
}

weir_code weir_fabric_evaluate(const weir_fabric_wish *wish, bool details, weir_arena *arena,
                               weir_fabric_evaluation *evaluation, weir_err *err)
{
    const weir_candidate *candidate = &wish->scenario->candidates[wish->candidate];
    weir_fabric_evaluation made = {.row = {.name = candidate->name,
                                           .kind = weir_candidate_kind_name(candidate->kind),
                                           .devices = weir_traffic_devices(wish->scenario),
                                           .closes = true}};
    weir_fabric_play play = {0};
    set_unknown(&made.row);
    weir_code code = weir_fabric_play_run(wish, &play, err);
    if (code == WEIR_OK && play.refused) {
        made.row.refused = weir_arena_copy(arena, weir_str_from(play.refused));
        code = made.row.refused ? WEIR_OK : no_memory(err);
    } else if (code == WEIR_OK) {
        code = fill(wish, details, &play, arena, &made, err);
    }
    weir_fabric_play_clear(&play);
    if (code == WEIR_OK) {
        *evaluation = made;
    }
    return code;
}
