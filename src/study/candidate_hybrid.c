/* candidate_hybrid.c: packets and circuits side by side, and which phase takes which.
 *
 * Phases are asked the largest first; one takes light if the scenario says so, or if the rule of
 * circuit_rule.h finds that with all that is on light already no block has more partners than
 * ports, and if the circuits that it needs besides would not be idle nearly all the time. Circuits
 * stay for the whole job, so that persistence is 1 and nobody waits for them. */
#include "fabric/circuit_rule.h"
#include "study/candidate_within.h"
#include "study/fabric_judge.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    weir_demand sum; /* of the phases on light */
    weir_demand one; /* with the phase that is asked */
    bool has_light;
    double least_use;          /* of a circuit's time: presets/traffic.yaml */
    double compute_s;          /* of a step, which therefore takes at least so long */
    double packet_bytes_per_s; /* of a block, at most */
    light_sequence *sequences; /* by phase; those with settings of their own are in no sum */
    uint32_t settings;         /* of all sequences */
} light_side;

/* What a phase needs besides the circuits of those before it. */
typedef struct {
    uint32_t fan;   /* partners of a block then */
    double bytes;   /* a step's, of the phase, on one circuit: the busiest block's mean */
    bool needs_new; /* a pair of blocks that sent nothing on light yet */
} light_need;

static light_need need_of(const light_blocks *blocks, const light_side *side,
                          const weir_demand *phase)
{
    weir_demand_shape all = weir_demand_measure(&side->one), own = weir_demand_measure(phase);
    uint32_t own_fan = own.fan_out > own.fan_in ? own.fan_out : own.fan_in;
    light_need need = {.fan = all.fan_out > all.fan_in ? all.fan_out : all.fan_in};
    need.bytes = own_fan ? own.max_line_bytes / own_fan / blocks->blocks.networks : 0;
    for (size_t i = 0; i < (size_t)phase->n * phase->n; i++) {
        need.needs_new |= side->one.bytes[i] > 0 && !(side->sum.bytes[i] > 0);
    }
    return need;
}

/* Appends to because; the share of a step that a circuit of this phase's own would be in use is at
 * most its bytes' time over all computing. */
static bool is_idle(const light_side *side, const light_need *need, double bytes_per_s,
                    weir_text *because)
{
    double use = side->compute_s > 0 ? need->bytes / bytes_per_s / side->compute_s : 1;
    if (!need->needs_new || use >= side->least_use) {
        return false;
    }
    weir_text_printf(because, "circuits of its own would be idle %.2f %% of the time",
                     100 * (1 - use));
    return true;
}

/* Is there room for this phase too, and is it worth it? Says why (not) in *because. */
static bool suits_light(const candidate_build *b, const light_blocks *blocks,
                        const light_side *side, uint32_t phase, const weir_demand *demand,
                        const char **because)
{
    const weir_phase *p = &b->scenario->phases[phase];
    light_need need = need_of(blocks, side, demand);
    const weir_circuit_rule rule = {.bytes_per_s = blocks->fabric.light.circuit.bytes_per_s,
                                    .delay_s = b->network->circuit_s,
                                    .ports = blocks->blocks.uplinks};
    const weir_circuit_flow flow = {.bytes = need.bytes,
                                    .slack_s = isnan(p->slack_s) ? p->compute_s : p->slack_s,
                                    .persistence = 1,
                                    .fan_out = need.fan};
    bool is_light = weir_circuit_rule_choose(&rule, &flow) == WEIR_CARRIER_LIGHT;
    weir_text text = {0};
    if (is_light && is_idle(side, &need, rule.bytes_per_s, &text)) {
        is_light = false;
    } else {
        weir_text_printf(&text, "%u partners of a block, ports for %u", need.fan,
                         blocks->blocks.uplinks);
    }
    char *kept = text.failed
                     ? NULL
                     : weir_arena_copy(b->network->arena, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    *because = kept;
    return is_light;
}

/* What the phase takes on one road, without latency: the packets' or circuits made for it. */
static weir_code time_road(const candidate_build *b, const light_blocks *blocks,
                           const light_side *side, const weir_demand *demand, bool is_light,
                           double *s, weir_err *err)
{
    weir_circuit_design design = {.n = demand->n};
    weir_circuit_load load = {0};
    weir_err no_design = {0};
    double rate = blocks->fabric.light.circuit.bytes_per_s * blocks->blocks.networks;
    *s = weir_demand_measure(demand).max_line_bytes / side->packet_bytes_per_s;
    if (!is_light) {
        return WEIR_OK;
    }
    const light_traffic one = {.sum = *demand};
    weir_code code = candidate_make_design(b, blocks, &one, &design, &load, &no_design);
    weir_circuit_design_clear(&design);
    *s = code == WEIR_OK ? load.max_circuit_bytes / rate : INFINITY;
    return code == WEIR_ERR_MEMORY ? weir_err_set(err, code, "%s", no_design.text) : WEIR_OK;
}

/* Circuits that are set again within the phase, with the rest on packets beside them, where that
 * was asked for or is faster; setting them for others before and after it is counted against it. */
static weir_code ask_sequence(const candidate_build *b, const light_blocks *blocks,
                              light_side *side, uint32_t phase, const weir_demand *demand,
                              weir_err *err)
{
    weir_phase_road *road = &b->network->phases[phase];
    light_sequence_job job = {phase, demand, side->packet_bytes_per_s, INFINITY};
    weir_code code = WEIR_OK;
    if (b->candidate->within == WEIR_WITHIN_AUTO) {
        code = time_road(b, blocks, side, demand, road->is_light, &job.other_s, err);
        job.other_s -= 2 * b->network->circuit_s;
    }
    light_sequence *sequence = &side->sequences[phase];
    if (code == WEIR_OK) {
        code = candidate_make_sequence(b, blocks, &job, sequence, err);
    }
    side->settings += sequence->count;
    road->is_light |= sequence->count > 0;
    return code;
}

static weir_code ask_phase(const candidate_build *b, const light_blocks *blocks, light_side *side,
                           uint32_t phase, weir_err *err)
{
    weir_phase_road *road = &b->network->phases[phase];
    weir_take take = b->scenario->phases[phase].take;
    weir_demand demand = {0};
    weir_code code = candidate_block_demand(b, blocks, phase, &demand, err);
    if (code != WEIR_OK) {
        return code;
    }
    size_t cells = (size_t)demand.n * demand.n;
    bool sends = candidate_has_between(&demand);
    for (uint32_t i = 0; i < demand.n; i++) { /* what stays inside a block needs no circuit */
        demand.bytes[(size_t)i * demand.n + i] = 0;
    }
    for (size_t i = 0; i < cells; i++) {
        side->one.bytes[i] = side->sum.bytes[i] + demand.bytes[i];
    }
    road->is_light = take == WEIR_TAKE_LIGHT;
    road->because = "the scenario says so";
    if (take == WEIR_TAKE_AUTO && !sends) {
        road->because = "it stays inside blocks";
    } else if (take == WEIR_TAKE_AUTO) {
        road->is_light = suits_light(b, blocks, side, phase, &demand, &road->because);
    }
    if (sends && candidate_may_split(b, phase)) {
        code = ask_sequence(b, blocks, side, phase, &demand, err);
    }
    bool stays = road->is_light && side->sequences[phase].count == 0;
    for (size_t i = 0; i < cells && stays; i++) {
        side->sum.bytes[i] = side->one.bytes[i];
    }
    side->has_light |= stays && sends;
    weir_demand_clear(&demand);
    return code;
}

/* Phases that are told come first, then the largest. */
static weir_code ask_phases(const candidate_build *b, const light_blocks *blocks, light_side *side,
                            weir_err *err)
{
    uint32_t count = b->network->phase_count;
    double *bytes = calloc((size_t)count + 1, sizeof *bytes);
    weir_code code =
        bytes ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u phases", count);
    for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
        weir_demand demand = {0};
        code = candidate_block_demand(b, blocks, i, &demand, err);
        if (code == WEIR_OK) {
            bool is_told = b->scenario->phases[i].take == WEIR_TAKE_LIGHT;
            bytes[i] = is_told ? INFINITY : weir_demand_measure(&demand).total_bytes;
            weir_demand_clear(&demand);
        }
    }
    for (uint32_t k = 0; k < count && code == WEIR_OK; k++) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < count; i++) {
            largest = bytes[i] > bytes[largest] ? i : largest;
        }
        bytes[largest] = -1;
        code = ask_phase(b, blocks, side, largest, err);
    }
    free(bytes);
    return code;
}

/* The phases whose circuits stay: on light, without settings of their own. */
static weir_code gather_staying(const candidate_build *b, const light_blocks *blocks,
                                const light_side *side, light_traffic *traffic, weir_err *err)
{
    uint32_t count = b->network->phase_count;
    bool *takes = calloc((size_t)count + 1, sizeof *takes);
    if (!takes) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u phases", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        takes[i] = b->network->phases[i].is_light && side->sequences[i].count == 0;
    }
    const light_taken taken = {takes, side->packet_bytes_per_s};
    weir_code code = candidate_traffic_init(b, blocks, &taken, traffic, err);
    free(takes);
    return code;
}

/* The road of light beside road `packets`, on the same nodes, for the phases whose circuits stay.
 */
static weir_code add_beside(const candidate_build *b, const light_blocks *blocks,
                            const light_side *side, weir_road packets, weir_road *road,
                            weir_err *err)
{
    weir_circuit_design design = {.n = blocks->blocks.blocks};
    weir_circuit_load load;
    weir_layout *layout = b->network->layout;
    light_traffic traffic = {0};
    weir_code code = gather_staying(b, blocks, side, &traffic, err);
    if (code == WEIR_OK) {
        code = candidate_make_design(b, blocks, &traffic, &design, &load, err);
    }
    candidate_traffic_clear(&traffic);
    if (code == WEIR_OK) {
        code = candidate_add_light(b, blocks, &design, WEIR_NONE, road, err);
    }
    if (code == WEIR_OK) {
        uint32_t inside = weir_topology_node_links(weir_layout_topology(layout, packets));
        weir_layout_label(layout, *road, "light");
        code = weir_layout_share(layout, *road, packets, inside, err);
    }
    b->network->designs = 1;
    weir_circuit_design_clear(&design);
    return code;
}

/* Times that circuits are set in a period, phases in their order; those that stay are setting 1. */
static uint32_t count_resets(const candidate_build *b, const light_side *side)
{
    const weir_candidate_network *n = b->network;
    uint32_t count = 0, position = 0, first = 0;
    for (uint32_t i = 0; i < n->phase_count; i++) {
        const weir_phase_road *road = &n->phases[i];
        if (!road->is_light) {
            continue;
        }
        uint32_t own = side->sequences[i].count;
        first = first ? first : road->circuits;
        count += position && position != road->circuits;
        count += candidate_sequence_resets(b, i, &side->sequences[i], false);
        position = road->circuits + (own ? own - 1 : 0);
    }
    return count + (position != first);
}

static weir_code add_roads(const candidate_build *b, const light_blocks *blocks,
                           const light_side *side, weir_road packets, weir_err *err)
{
    weir_candidate_network *n = b->network;
    weir_road light = WEIR_NONE;
    weir_code code = candidate_make_lights(b, blocks, 1 + side->settings, err);
    if (code == WEIR_OK) {
        code = add_beside(b, blocks, side, packets, &light, err);
    }
    for (uint32_t i = 0; i < n->phase_count && code == WEIR_OK; i++) {
        weir_phase_road *phase = &n->phases[i];
        if (side->sequences[i].count > 0) {
            code = candidate_add_sequence(b, blocks, i, &side->sequences[i], packets, &light, err);
        } else {
            phase->road = phase->is_light ? light : packets;
            phase->circuits = phase->is_light && side->settings > 0 ? 1 : 0;
        }
    }
    for (uint32_t i = 0; i < n->phase_count && code == WEIR_OK; i++) {
        for (uint32_t k = 0; k < side->sequences[i].count; k++) {
            weir_layout_label(n->layout, n->phases[i].parts[k].road, "light");
        }
    }
    n->resets = side->settings ? count_resets(b, side) : 0;
    return code;
}

static weir_code side_init(const candidate_build *b, const light_blocks *blocks, light_side *side,
                           weir_err *err)
{
    weir_contrast thresholds = {0};
    weir_code code = weir_contrast_load(&thresholds, err);
    side->least_use = thresholds.least_use;
    weir_contrast_clear(&thresholds);
    for (uint32_t i = 0; i < b->scenario->phase_count; i++) {
        side->compute_s += b->scenario->phases[i].times * b->scenario->phases[i].compute_s;
    }
    double share = b->candidate->light_share;
    const weir_cluster *cluster = &b->scenario->cluster;
    side->packet_bytes_per_s =
        cluster->nic->bytes_per_s * (1 - share) * cluster->nics * blocks->blocks.block_nodes;
    side->sequences = weir_arena_alloc(b->network->arena, (size_t)b->network->phase_count + 1,
                                       sizeof *side->sequences);
    if (code == WEIR_OK && !side->sequences) {
        code =
            weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u phases", b->network->phase_count);
    }
    if (code == WEIR_OK) {
        code = weir_demand_init(&side->sum, blocks->blocks.blocks, err);
    }
    return code == WEIR_OK ? weir_demand_init(&side->one, blocks->blocks.blocks, err) : code;
}

static weir_code build_both(const candidate_build *b, const light_blocks *blocks, weir_road packets,
                            weir_err *err)
{
    light_side side = {0};
    weir_code code = side_init(b, blocks, &side, err);
    if (code == WEIR_OK) {
        code = ask_phases(b, blocks, &side, err);
    }
    if (code == WEIR_OK) {
        if (!side.has_light && side.settings == 0) {
            candidate_note(b, "no phase takes light");
        }
        code = add_roads(b, blocks, &side, packets, err);
    }
    weir_demand_clear(&side.sum);
    weir_demand_clear(&side.one);
    return code;
}

weir_code candidate_build_hybrid(const candidate_build *b, weir_err *err)
{
    double share = b->candidate->light_share;
    weir_road packets;
    light_blocks blocks;
    weir_code code = candidate_need_nic(b, err);
    if (code == WEIR_OK && !(share > 0 && share < 1)) {
        code = weir_err_set(err, WEIR_ERR_INPUT,
                            "%g of each NIC on light; a hybrid needs more than 0 and less than 1",
                            share);
    }
    if (code != WEIR_OK) {
        return code;
    }
    double rate = b->scenario->cluster.nic->bytes_per_s;
    bool has_rails = b->candidate->wiring == WEIR_WIRING_RAILS;
    code = candidate_add_clos(b, has_rails ? WEIR_CLOS_RAILS : WEIR_CLOS_PLAIN, rate * (1 - share),
                              &packets, err);
    if (code == WEIR_OK) {
        code = candidate_plan_blocks(b, rate * share, &blocks, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    if (blocks.blocks.blocks == 1) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "one block holds all nodes: there is nothing for circuits to join; "
                            "smaller blocks (leaf, nic), or no hybrid");
    }
    candidate_note(b, "packets and light have leaf switches of their own: an upper bound of cost");
    b->network->circuit_s =
        b->candidate->switch_s + (b->candidate->linkup_s > 0 ? b->candidate->linkup_s : 0);
    b->network->circuit_s = isnan(b->network->circuit_s) ? 0 : b->network->circuit_s;
    return build_both(b, &blocks, packets, err);
}
