/* fabric_conversion.c: bytes on optical links, from the bodies that were played (fabric_cost.h). */
#include "study/fabric_cost.h"

#include <math.h>

typedef struct {
    const weir_fabric_scenario *scenario;
    const weir_fabric_play *play;
    weir_conversion_load *loads;
    uint32_t count;
} counting;

/* Modules are told by the tier of their cables; a tier without cables of its own in the bill
 * (a circuit, which is one link from module to module) has those of the cables to the switches. */
static const weir_module_part *module_of(const weir_candidate_network *network, weir_tier tier)
{
    const weir_module_part *any = NULL;
    for (uint32_t i = 0; i < network->cable_rows; i++) {
        const weir_cable_need *need = &network->cables[i];
        if (need->is_optical && need->module && need->tier == tier) {
            return need->module;
        }
        any = need->is_optical && need->module ? need->module : any;
    }
    return any;
}

static void add_load(counting *c, const weir_module_part *part, double bytes)
{
    uint32_t i = 0;
    while (i < c->count && c->loads[i].part != part) {
        i++;
    }
    if (i == c->count) {
        c->loads[c->count++] = (weir_conversion_load){part, 0};
    }
    c->loads[i].link_bytes += bytes;
}

/* One repetition of the plan. Coefficients hold the overhead of library and transport; what is
 * converted is counted without it, for each byte of payload. */
static void add_plan(counting *c, const weir_plan *plan, double efficiency, double times)
{
    const weir_layout *layout = c->play->network.layout;
    for (uint32_t i = 0; i < plan->body_count; i++) {
        const weir_body *body = &plan->bodies[i];
        for (uint32_t k = 0; k < body->path.count; k++) {
            weir_link_id link = body->path.links[k];
            if (!weir_layout_is_optical(layout, link)) {
                continue;
            }
            double share = body->path.bytes_per_unit ? body->path.bytes_per_unit[k] : 1;
            const weir_module_part *part =
                module_of(&c->play->network, weir_layout_tier(layout, link));
            if (part) {
                add_load(c, part, body->size * share * efficiency * times);
            }
        }
    }
}

typedef struct {
    uint32_t devices;
    double bytes;
} crossing;

static void add_crossing(void *context, uint32_t from, uint32_t to, double bytes)
{
    crossing *c = context;
    c->bytes += from / c->devices != to / c->devices ? bytes : 0;
}

/* Of one repetition: what leaves nodes. Collectives by what their algorithm puts on the wires. */
static weir_code bytes_between(const counting *c, uint32_t exchange, double *bytes, weir_err *err)
{
    const weir_exchange *e = &c->play->program.exchanges[exchange];
    uint32_t number = c->play->program.phase_of_exchange[exchange];
    const weir_phase *phase = &c->scenario->phases[number];
    bool is_all = phase->kind == WEIR_PHASE_PATTERN && phase->pattern == WEIR_PATTERN_ALL_TO_ALL;
    weir_code code = WEIR_OK;
    if (phase->kind == WEIR_PHASE_COLLECTIVE || is_all) {
        weir_collective_shape shape = {0};
        weir_collective_job job = {.kind = is_all ? WEIR_COLLECTIVE_ALL_TO_ALL : phase->collective,
                                   .bytes = phase->bytes * (is_all ? e->groups[0].count : 1),
                                   .members = e->groups[0].members,
                                   .count = e->groups[0].count,
                                   .road = c->play->network.phases[number].road};
        weir_plan_measure(c->play->network.layout, &job, &shape);
        double factor = weir_collective_network_factor(
            &shape, c->play->program.phases[number].choice.algorithm);
        *bytes = factor * job.bytes * shape.ranks * e->group_count;
        return WEIR_OK;
    }
    crossing sum = {c->scenario->cluster.devices, 0};
    weir_traffic_visitor visitor = {add_crossing, &sum};
    for (uint32_t g = 0; g < e->group_count && code == WEIR_OK; g++) {
        code = weir_traffic_visit(c->scenario, number, g, &visitor, err);
    }
    *bytes = sum.bytes;
    return code;
}

weir_code weir_fabric_conversion_loads(const weir_fabric_scenario *scenario,
                                       const weir_fabric_play *play, weir_conversion_load *loads,
                                       uint32_t *count, double *bytes, weir_err *err)
{
    counting c = {scenario, play, loads, 0};
    uint32_t last_phase = WEIR_NONE;
    double sum = 0;
    for (uint32_t i = 0; i < play->program.exchange_count; i++) {
        uint32_t number = play->program.phase_of_exchange[i];
        bool is_first = number != last_phase;
        if (!is_first && play->program.phases[number].parts == 1) {
            continue; /* the same once more, with circuits set anew */
        }
        last_phase = number;
        const weir_exchange *exchange = &play->program.exchanges[i];
        const weir_phase_road *road = &play->network.phases[number];
        double times = scenario->phases[number].times, between = 0;
        double efficiency = play->program.phases[number].choice.network_efficiency *
                            (road->efficiency > 0 ? road->efficiency : 1);
        for (uint32_t g = 0; g < exchange->group_count; g++) {
            add_plan(&c, exchange->groups[g].plan, efficiency, times);
        }
        weir_code code = is_first ? bytes_between(&c, i, &between, err) : WEIR_OK;
        if (code != WEIR_OK) {
            return code;
        }
        sum += between * times;
    }
    *count = c.count;
    *bytes = sum;
    return WEIR_OK;
}
