/* candidate_light.c: circuits set for the whole job, before each phase, or in rotation. */
#include "study/candidate_within.h"

#include "fabric/resets.h"
#include "fabric/rotor.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROTOR_LINKS = 1 << 20 };

static double slack_of(const weir_phase *phase)
{
    return isnan(phase->slack_s) ? phase->compute_s : phase->slack_s;
}

/* --- for the whole job --- */

/* Circuits for one demand as one road; all phases take it. */
static weir_code add_job_road(const candidate_build *b, const light_blocks *blocks,
                              const light_traffic *traffic, weir_err *err)
{
    weir_circuit_design design = {.n = blocks->blocks.blocks};
    weir_circuit_load load = {0};
    weir_road road;
    weir_code code = WEIR_OK;
    if (blocks->blocks.blocks > 1) {
        code = candidate_make_design(b, blocks, traffic, &design, &load, err);
    } else {
        candidate_note(b, "one block holds all nodes: there are no circuits");
    }
    if (code == WEIR_OK) {
        code = candidate_make_lights(b, blocks, 1, err);
    }
    if (code == WEIR_OK) {
        code = candidate_add_light(b, blocks, &design, WEIR_NONE, &road, err);
    }
    for (uint32_t i = 0; i < b->network->phase_count && code == WEIR_OK; i++) {
        b->network->phases[i].road = road;
        b->network->phases[i].is_light = true;
    }
    b->network->designs = 1;
    weir_circuit_design_clear(&design);
    return code;
}

static weir_code build_job(const candidate_build *b, const light_blocks *blocks, weir_err *err)
{
    const light_taken all = {0};
    light_traffic traffic = {0};
    weir_code code = candidate_traffic_init(b, blocks, &all, &traffic, err);
    if (code == WEIR_OK) {
        code = add_job_road(b, blocks, &traffic, err);
    }
    candidate_traffic_clear(&traffic);
    return code;
}

/* --- before each phase that pays --- */

/* Steps: phases that send between blocks. Setting 0 is made for all of them, setting 1 + i for step
 * i alone; setting 1 + steps + i stands for the sequence that step i goes through, where it has
 * one.
 */
typedef struct {
    uint32_t steps, designed, settings;
    uint32_t *phase_of_step;
    weir_demand *demands;          /* by step */
    weir_circuit_design *designs;  /* by setting, those that are designed */
    light_sequence *sequences;     /* by step */
    double waited_s;               /* within the phases of the plan */
    double *step_s, *slack_s;      /* steps x settings; steps */
    uint32_t *setting_of_step;     /* the plan */
    weir_road *road_of_setting;    /* WEIR_NONE: not used */
    uint32_t *position_of_setting; /* from 1 */
} phase_plan;

static void plan_clear(phase_plan *p)
{
    for (uint32_t i = 0; p->demands && i < p->steps; i++) {
        weir_demand_clear(&p->demands[i]);
    }
    for (uint32_t i = 0; p->designs && i < p->designed; i++) {
        weir_circuit_design_clear(&p->designs[i]);
    }
    free(p->phase_of_step);
    free(p->demands);
    free(p->designs);
    free(p->sequences);
    free(p->step_s);
    free(p->slack_s);
    free(p->setting_of_step);
    free(p->road_of_setting);
    free(p->position_of_setting);
}

static weir_code plan_init(const candidate_build *b, const light_blocks *blocks, phase_plan *p,
                           weir_err *err)
{
    size_t most = (size_t)b->scenario->phase_count + 1;
    p->phase_of_step = calloc(most, sizeof *p->phase_of_step);
    p->demands = calloc(most, sizeof *p->demands);
    p->designs = calloc(most, sizeof *p->designs);
    p->sequences = calloc(most, sizeof *p->sequences);
    p->step_s = calloc(2 * most * most, sizeof *p->step_s);
    p->slack_s = calloc(most, sizeof *p->slack_s);
    p->setting_of_step = calloc(most, sizeof *p->setting_of_step);
    p->road_of_setting = calloc(most, sizeof *p->road_of_setting);
    p->position_of_setting = calloc(most, sizeof *p->position_of_setting);
    if (!p->phase_of_step || !p->demands || !p->designs || !p->sequences || !p->step_s ||
        !p->slack_s || !p->setting_of_step || !p->road_of_setting || !p->position_of_setting) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %zu phases", most);
    }
    for (uint32_t i = 0; i < b->scenario->phase_count; i++) {
        weir_demand demand = {0};
        weir_code code = candidate_block_demand(b, blocks, i, &demand, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (!candidate_has_between(&demand)) {
            weir_demand_clear(&demand);
            continue;
        }
        p->slack_s[p->steps] = slack_of(&b->scenario->phases[i]);
        p->phase_of_step[p->steps] = i;
        p->demands[p->steps++] = demand;
    }
    p->designed = p->steps + 1;
    p->settings = p->designed + p->steps;
    return WEIR_OK;
}

static weir_code make_settings(const candidate_build *b, const light_blocks *blocks, phase_plan *p,
                               weir_err *err)
{
    const light_taken taken = {0};
    light_traffic all = {0};
    weir_circuit_load load;
    weir_code code = candidate_traffic_init(b, blocks, &taken, &all, err);
    for (uint32_t i = 0; i < p->designed && code == WEIR_OK; i++) {
        const light_traffic one = {.sum = i ? p->demands[i - 1] : all.sum};
        p->designs[i].n = blocks->blocks.blocks;
        p->road_of_setting[i] = WEIR_NONE;
        code = candidate_make_design(b, blocks, i ? &one : &all, &p->designs[i], &load, err);
    }
    candidate_traffic_clear(&all);
    return code;
}

/* How long each step takes on each setting, on all networks together. */
static weir_code time_settings(const light_blocks *blocks, const phase_plan *p, weir_err *err)
{
    double rate = blocks->fabric.light.circuit.bytes_per_s * blocks->blocks.networks;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < p->steps; i++) {
        for (uint32_t j = 0; j < p->designed && code == WEIR_OK; j++) {
            weir_circuit_load load;
            code = weir_circuit_carry(&p->designs[j], &p->demands[i], true, &load, err);
            p->step_s[(size_t)i * p->settings + j] =
                load.rest_line_bytes > 0 ? INFINITY : load.max_circuit_bytes / rate;
        }
    }
    return code;
}

/* Sequences of those steps that may go through one. A method that was asked for is taken. */
static weir_code time_sequences(const candidate_build *b, const light_blocks *blocks,
                                const phase_plan *p, weir_err *err)
{
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < p->steps && code == WEIR_OK; i++) {
        double *row_s = p->step_s + (size_t)i * p->settings, waited_s, least_s = INFINITY;
        for (uint32_t j = 0; j < p->steps; j++) {
            row_s[p->designed + j] = INFINITY;
        }
        if (!candidate_may_split(b, p->phase_of_step[i])) {
            continue;
        }
        for (uint32_t j = 0; j < p->designed; j++) {
            least_s = fmin(least_s, row_s[j] + (j ? b->network->circuit_s : 0));
        }
        const light_sequence_job job = {p->phase_of_step[i], &p->demands[i], 0, least_s};
        code = candidate_make_sequence(b, blocks, &job, &p->sequences[i], err);
        if (code != WEIR_OK || p->sequences[i].count == 0) {
            continue;
        }
        row_s[p->designed + i] = candidate_sequence_s(b, p->phase_of_step[i], &p->sequences[i],
                                                      p->steps == 1, &waited_s);
        for (uint32_t j = 0; j < p->designed && b->candidate->within != WEIR_WITHIN_AUTO; j++) {
            row_s[j] = INFINITY;
        }
    }
    return code;
}

static weir_code add_step_sequence(const candidate_build *b, const light_blocks *blocks,
                                   phase_plan *p, uint32_t step, weir_road *first, weir_err *err)
{
    const light_sequence *sequence = &p->sequences[step];
    uint32_t phase = p->phase_of_step[step];
    double waited_s;
    (void)candidate_sequence_s(b, phase, sequence, p->steps == 1, &waited_s);
    p->waited_s += waited_s;
    b->network->resets += candidate_sequence_resets(b, phase, sequence, p->steps == 1);
    return candidate_add_sequence(b, blocks, phase, sequence, WEIR_NONE, first, err);
}

static uint32_t count_roads(const phase_plan *p)
{
    uint32_t count = p->designed;
    for (uint32_t i = 0; i < p->steps; i++) {
        count += p->sequences[i].count;
    }
    return count;
}

/* A road for each setting that the plan uses, in order of first use; all stand on the links of the
 * first. */
static weir_code add_settings(const candidate_build *b, const light_blocks *blocks, phase_plan *p,
                              weir_err *err)
{
    weir_candidate_network *n = b->network;
    weir_road first = WEIR_NONE;
    weir_code code = candidate_make_lights(b, blocks, count_roads(p), err);
    for (uint32_t i = 0; i < p->steps && code == WEIR_OK; i++) {
        uint32_t setting = p->setting_of_step[i];
        if (setting >= p->designed) {
            code = add_step_sequence(b, blocks, p, i, &first, err);
            continue;
        }
        weir_road *road = &p->road_of_setting[setting];
        if (*road == WEIR_NONE) {
            code = candidate_add_light(b, blocks, &p->designs[setting], first, road, err);
            first = first == WEIR_NONE && code == WEIR_OK ? *road : first;
            p->position_of_setting[setting] = ++n->designs;
        }
    }
    for (uint32_t i = 0; i < n->phase_count; i++) { /* those inside blocks: any */
        n->phases[i].road = n->phases[i].part_count ? n->phases[i].road : first;
        n->phases[i].is_light = true;
    }
    for (uint32_t i = 0; i < p->steps && code == WEIR_OK; i++) {
        uint32_t setting = p->setting_of_step[i];
        weir_phase_road *phase = &n->phases[p->phase_of_step[i]];
        if (setting >= p->designed) {
            continue;
        }
        phase->road = p->road_of_setting[setting];
        phase->circuits = n->designs > 1 ? p->position_of_setting[setting] : 0;
        phase->because = setting == 0 ? "circuits that are made for all phases"
                                      : "circuits that are made for a phase";
    }
    return code;
}

static weir_code plan_phases(const candidate_build *b, const light_blocks *blocks, phase_plan *p,
                             weir_err *err)
{
    const weir_reset_job job = {.steps = p->steps,
                                .topologies = p->settings,
                                .step_s = p->step_s,
                                .slack_s = p->slack_s,
                                .delay_s = b->network->circuit_s,
                                .repeats = true};
    weir_reset_cost cost;
    weir_code code = weir_reset_plan(&job, false, p->setting_of_step, &cost, err);
    if (code == WEIR_OK) {
        b->network->resets = cost.resets;
        code = add_settings(b, blocks, p, err);
        candidate_note(b, "circuits are set %u times a period, %.3g ms of it waited for",
                       b->network->resets, (cost.exposed_s + p->waited_s) * 1e3);
    }
    return code;
}

static weir_code build_phases(const candidate_build *b, const light_blocks *blocks, weir_err *err)
{
    phase_plan p = {0};
    weir_code code = plan_init(b, blocks, &p, err);
    if (code == WEIR_OK && p.steps == 0) {
        code = build_job(b, blocks, err);
        plan_clear(&p);
        return code;
    }
    if (code == WEIR_OK) {
        code = make_settings(b, blocks, &p, err);
    }
    if (code == WEIR_OK) {
        code = time_settings(blocks, &p, err);
    }
    if (code == WEIR_OK) {
        code = time_sequences(b, blocks, &p, err);
    }
    if (code == WEIR_OK) {
        code = plan_phases(b, blocks, &p, err);
    }
    plan_clear(&p);
    return code;
}

static double delay_of(const weir_candidate *c)
{
    return c->switch_s + (c->linkup_s > 0 ? c->linkup_s : 0);
}

weir_code candidate_build_circuits(const candidate_build *b, weir_err *err)
{
    light_blocks blocks;
    weir_code code = candidate_need_nic(b, err);
    if (code == WEIR_OK) {
        code = candidate_plan_blocks(b, b->scenario->cluster.nic->bytes_per_s, &blocks, err);
    }
    if (code == WEIR_OK && b->candidate->kind == WEIR_CANDIDATE_OCS_PHASE) {
        code = weir_parts_need(b->candidate->ocs ? b->candidate->ocs->id : "ocs", "switching",
                               b->candidate->switch_s, "25 ms", err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    b->network->circuit_s = isnan(b->candidate->switch_s) ? 0 : delay_of(b->candidate);
    return b->candidate->kind == WEIR_CANDIDATE_OCS_PHASE && blocks.blocks.blocks > 1
               ? build_phases(b, &blocks, err)
               : build_job(b, &blocks, err);
}

/* --- in rotation --- */

/* A pair's circuits turn through all spines of a pod: it has a part of its rate at each. */
static uint32_t copies_of(const light_blocks *blocks)
{
    return blocks->blocks.spines ? blocks->blocks.spines : 1;
}

static weir_code rotor_of(const candidate_build *b, const light_blocks *blocks, weir_rotor *rotor,
                          weir_err *err)
{
    const weir_candidate *c = b->candidate;
    weir_code code = weir_parts_need(c->ocs->id, "switching", c->switch_s, "10 us", err);
    if (code == WEIR_OK && !(c->slot_s > 0)) {
        code = weir_err_set(err, WEIR_ERR_INPUT,
                            "slots of %g s; a rotor holds each matching for more than 0: slot: 100 "
                            "us",
                            c->slot_s);
    }
    uint64_t n = blocks->blocks.blocks, links = n * (n - 1) * copies_of(blocks);
    if (code == WEIR_OK && links > MOST_ROTOR_LINKS) {
        code = weir_err_set(err, WEIR_ERR_LIMIT,
                            "a rotor of %llu blocks with %u spines each makes %llu links; at most "
                            "%d: larger blocks",
                            (unsigned long long)n, blocks->blocks.spines, (unsigned long long)links,
                            MOST_ROTOR_LINKS);
    }
    *rotor = (weir_rotor){.n = blocks->blocks.blocks,
                          .planes = blocks->blocks.uplinks,
                          .slot_s = c->slot_s,
                          .delay_s = delay_of(c),
                          .bytes_per_s = blocks->fabric.light.circuit.bytes_per_s};
    return code;
}

/* Each pair's share of time as a circuit that is always there, the mean wait for it as latency; of
 * the bytes, those that fit go directly, the rest over a third block. */
static weir_code turn(const candidate_build *b, light_blocks *blocks, const weir_rotor *rotor,
                      const weir_demand *demand, weir_err *err)
{
    double share = weir_rotor_duty_share(rotor), direct = 1;
    weir_light *light = &blocks->fabric.light;
    weir_code code = candidate_has_between(demand)
                         ? weir_rotor_throughput(rotor, demand, &share, &direct, err)
                         : WEIR_OK;
    if (code != WEIR_OK) {
        return code;
    }
    light->turns = true;
    light->transit_share = fmax(0, 1 - direct);
    light->circuit.bytes_per_s = weir_rotor_pair_bytes_per_s(rotor) / copies_of(blocks);
    light->circuit.latency_s += weir_rotor_mean_wait_s(rotor);
    candidate_note(b,
                   "light is on %.3g %% of the time, a pair meets every %.3g ms; %.3g %% of the "
                   "bytes go over a third block",
                   weir_rotor_duty_share(rotor) * 100, weir_rotor_cycle_s(rotor) * 1e3,
                   light->transit_share * 100);
    return WEIR_OK;
}

/* A circuit each way between each two blocks, for each spine. */
static weir_code join_all(weir_circuit_design *design, uint32_t copies, weir_err *err)
{
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < copies * design->n; k++) {
        uint32_t i = k % design->n;
        for (uint32_t j = i + 1; j < design->n && code == WEIR_OK; j++) {
            code = weir_circuit_add(design, (weir_circuit){i, j, 0}, err);
            if (code == WEIR_OK) {
                code = weir_circuit_add(design, (weir_circuit){j, i, 0}, err);
            }
        }
    }
    return code;
}

weir_code candidate_build_rotor(const candidate_build *b, weir_err *err)
{
    light_blocks blocks;
    weir_rotor rotor;
    weir_demand demand = {0};
    weir_road road;
    weir_code code = candidate_need_nic(b, err);
    if (code == WEIR_OK) {
        code = candidate_plan_blocks(b, b->scenario->cluster.nic->bytes_per_s, &blocks, err);
    }
    if (code != WEIR_OK || blocks.blocks.blocks == 1) {
        return code == WEIR_OK ? build_job(b, &blocks, err) : code;
    }
    weir_circuit_design design = {.n = blocks.blocks.blocks};
    code = rotor_of(b, &blocks, &rotor, err);
    if (code == WEIR_OK) {
        code = candidate_block_demand(b, &blocks, WEIR_NONE, &demand, err);
    }
    if (code == WEIR_OK) {
        code = turn(b, &blocks, &rotor, &demand, err);
    }
    if (code == WEIR_OK) {
        code = join_all(&design, copies_of(&blocks), err);
    }
    if (code == WEIR_OK) {
        code = candidate_make_lights(b, &blocks, 0, err);
    }
    if (code == WEIR_OK) {
        code = candidate_add_light(b, &blocks, &design, WEIR_NONE, &road, err);
    }
    for (uint32_t i = 0; i < b->network->phase_count && code == WEIR_OK; i++) {
        b->network->phases[i].road = road;
        b->network->phases[i].is_light = true;
    }
    weir_circuit_design_clear(&design);
    weir_demand_clear(&demand);
    return code;
}
