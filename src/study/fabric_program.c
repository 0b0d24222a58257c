/* fabric_program.c: exchanges and the program of a scenario on a network (fabric_program.h). */
#include "study/fabric_program_inside.h"

#include <math.h>
#include <stdlib.h>

weir_code program_no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the traffic of a network");
}

static bool is_messages(const weir_phase *phase)
{
    return phase->kind == WEIR_PHASE_DEMAND ||
           (phase->kind == WEIR_PHASE_PATTERN && phase->pattern != WEIR_PATTERN_ALL_TO_ALL);
}

static weir_comm_kind comm_kind(const weir_phase *phase)
{
    static const weir_comm_kind kinds[WEIR_COLLECTIVE_KIND_COUNT] = {
        [WEIR_COLLECTIVE_ALL_REDUCE] = WEIR_COMM_ALL_REDUCE,
        [WEIR_COLLECTIVE_ALL_GATHER] = WEIR_COMM_ALL_GATHER,
        [WEIR_COLLECTIVE_REDUCE_SCATTER] = WEIR_COMM_REDUCE_SCATTER,
        [WEIR_COLLECTIVE_ALL_TO_ALL] = WEIR_COMM_ALL_TO_ALL,
        [WEIR_COLLECTIVE_BROADCAST] = WEIR_COMM_BROADCAST,
        [WEIR_COLLECTIVE_REDUCE] = WEIR_COMM_REDUCE,
        [WEIR_COLLECTIVE_SEND_RECV] = WEIR_COMM_SEND_RECV,
    };
    if (phase->kind == WEIR_PHASE_COLLECTIVE) {
        return kinds[phase->collective];
    }
    return is_messages(phase) ? WEIR_COMM_SEND_RECV : WEIR_COMM_ALL_TO_ALL;
}

weir_code weir_program_plan(const weir_program_group *group, const weir_collective_choice *choice,
                            weir_plan *plan, weir_err *err)
{
    const weir_program_network *network = group->network;
    const weir_phase *phase = &network->scenario->phases[group->phase];
    if (is_messages(phase) || group->part) {
        return weir_program_messages(group, choice, plan, err);
    }
    bool is_pattern = phase->kind == WEIR_PHASE_PATTERN;
    weir_collective_job job = {
        .kind = is_pattern ? WEIR_COLLECTIVE_ALL_TO_ALL : phase->collective,
        .bytes = phase->bytes * (is_pattern ? group->groups.size : 1),
        .members = group->members,
        .count = group->groups.size,
        .road = network->roads[group->phase].road,
        .flow = (uint64_t)group->phase << 48 | (uint64_t)group->group << 24,
        .transport_efficiency = network->roads[group->phase].efficiency,
    };
    weir_err found = {0};
    weir_code code = weir_plan_collective(network->layout, &job, choice, plan, &found);
    if (code == WEIR_ERR_INPUT) {
        return weir_fabric_reject(network->scenario, phase->place, err, "phase '%s': %s",
                                  phase->name, found.text);
    }
    return code == WEIR_OK ? code : weir_err_set(err, code, "%s", found.text);
}

/* As nccl-tests counts; the largest figures stand for what no integer holds. */
static weir_code nccl_bytes(const weir_program_group *group, uint64_t *counted, weir_err *err)
{
    const weir_phase *phase = &group->network->scenario->phases[group->phase];
    weir_traffic_shape shape = {.device_bytes = phase->bytes};
    weir_code code = WEIR_OK;
    if (phase->kind != WEIR_PHASE_COLLECTIVE && !is_messages(phase)) {
        shape.device_bytes = phase->bytes * group->groups.size;
    } else if (phase->kind != WEIR_PHASE_COLLECTIVE) {
        code = weir_traffic_measure(group->network->scenario, group->phase, &shape, err);
    }
    if (code == WEIR_OK) {
        *counted = shape.device_bytes < 0x1p63 ? (uint64_t)shape.device_bytes : UINT64_C(1) << 63;
    }
    return code;
}

/* Once for each phase, by its first group. */
static weir_code choose(program_builder *b, const weir_program_group *group, weir_err *err)
{
    weir_program_phase *phase = &b->made->phases[group->phase];
    if (!group->part) {
        return weir_program_choose(group, phase, err);
    }
    bool is_first = group->part == b->network->roads[group->phase].parts;
    return is_first ? weir_program_choose_parts(group, phase, err) : WEIR_OK;
}

/* The plans of all groups of a phase, or of a part of its bytes. */
static weir_code plan_phase(program_builder *b, uint32_t number, const weir_phase_part *part,
                            weir_exchange *exchange, weir_err *err)
{
    weir_traffic_program *made = b->made;
    weir_program_group group = {
        .network = b->network, .phase = number, .scratch = b->scratch, .part = part};
    weir_code code = weir_traffic_group(b->network->scenario, number, &group.groups, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t size = group.groups.size, count = group.groups.count;
    weir_exchange_group *groups = weir_arena_alloc(made->arena, count, sizeof *groups);
    uint32_t *members = weir_arena_alloc(made->arena, (size_t)count * size, sizeof *members);
    if (!groups || !members) {
        return program_no_memory(err);
    }
    for (uint32_t g = 0; g < count && code == WEIR_OK; g++) {
        uint32_t *own = members + (size_t)g * size;
        for (uint32_t k = 0; k < size; k++) {
            own[k] = weir_traffic_member(&group.groups, g, k);
        }
        group.group = g;
        group.members = own;
        if (g == 0) {
            code = choose(b, &group, err);
        }
        weir_plan *plan = &made->plans[made->plan_count];
        if (code == WEIR_OK) {
            code = weir_program_plan(&group, &made->phases[number].choice, plan, err);
        }
        if (code == WEIR_OK) {
            made->plan_count++;
            groups[g] = (weir_exchange_group){.members = own, .count = size, .plan = plan};
        }
    }
    uint64_t bytes = 0;
    if (code == WEIR_OK) {
        code = nccl_bytes(&group, &bytes, err);
    }
    if (code == WEIR_OK) {
        const weir_phase *phase = &b->network->scenario->phases[number];
        made->phases[number].alone_s += weir_plan_alone_s(groups[0].plan);
        *exchange = (weir_exchange){.name = phase->name,
                                    .axis = phase->axis,
                                    .kind = comm_kind(phase),
                                    .bytes = bytes,
                                    .groups = groups,
                                    .group_count = count};
    }
    return code;
}

/* Whether any of its bytes cross a circuit: what stays below the optical switches needs none. */
static bool needs_light(const program_builder *b, const weir_exchange *exchange)
{
    for (uint32_t g = 0; g < exchange->group_count; g++) {
        const weir_plan *plan = exchange->groups[g].plan;
        for (uint32_t i = 0; i < plan->body_count; i++) {
            const weir_path *path = &plan->bodies[i].path;
            for (uint32_t k = 0; k < path->count; k++) {
                if (weir_layout_is_circuit(b->network->layout, path->links[k])) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* An earlier phase that sends the same on the same road shares its plans; WEIR_NONE: none does. */
static uint32_t same_as(const program_builder *b, uint32_t number)
{
    const weir_phase *p = &b->network->scenario->phases[number];
    const weir_phase_road *road = &b->network->roads[number];
    for (uint32_t i = 0; i < number && p->kind == WEIR_PHASE_COLLECTIVE; i++) {
        const weir_phase *q = &b->network->scenario->phases[i];
        if (q->kind == p->kind && q->collective == p->collective && q->algorithm == p->algorithm &&
            q->protocol == p->protocol && q->group_size == p->group_size &&
            q->group_stride == p->group_stride && q->bytes == p->bytes &&
            b->network->roads[i].road == road->road &&
            b->network->roads[i].efficiency == road->efficiency && road->part_count == 0 &&
            b->exchange_of_phase[i] != WEIR_NONE) {
            return i;
        }
    }
    return WEIR_NONE;
}

/* One exchange for each setting, in their order, and one for packets beside them. */
static weir_code add_parts(program_builder *b, uint32_t number, weir_err *err)
{
    weir_traffic_program *made = b->made;
    const weir_phase *phase = &b->network->scenario->phases[number];
    const weir_phase_road *road = &b->network->roads[number];
    weir_code code = WEIR_OK;
    b->exchange_of_phase[number] = made->exchange_count;
    for (uint32_t k = 0; k < road->part_count && code == WEIR_OK; k++) {
        weir_exchange *exchange = &made->exchanges[made->exchange_count];
        code = plan_phase(b, number, &road->parts[k], exchange, err);
        exchange->circuits = road->parts[k].circuits;
        exchange->circuit_early_s =
            k == 0 && !isnan(phase->slack_s) ? phase->slack_s - phase->compute_s : 0;
        made->phase_of_exchange[made->exchange_count++] = number;
    }
    made->phases[number].is_empty = false;
    made->phases[number].parts = road->part_count;
    return code;
}

static weir_code add_phase(program_builder *b, uint32_t number, weir_err *err)
{
    weir_traffic_program *made = b->made;
    weir_traffic_shape shape = {0};
    weir_code code = weir_traffic_measure(b->network->scenario, number, &shape, err);
    if (code != WEIR_OK) {
        return code;
    }
    b->exchange_of_phase[number] = WEIR_NONE;
    made->phases[number] = (weir_program_phase){.error_share = NAN, .is_empty = true, .parts = 1};
    if (!(shape.bytes > 0)) {
        return WEIR_OK;
    }
    if (b->network->roads[number].part_count) {
        return add_parts(b, number, err);
    }
    weir_exchange exchange = {0};
    uint32_t same = same_as(b, number);
    if (same == WEIR_NONE) {
        code = plan_phase(b, number, NULL, &exchange, err);
    } else {
        exchange = made->exchanges[b->exchange_of_phase[same]];
        exchange.name = b->network->scenario->phases[number].name;
        exchange.axis = b->network->scenario->phases[number].axis;
        made->phases[number] = made->phases[same];
    }
    if (code != WEIR_OK) {
        return code;
    }
    const weir_phase *phase = &b->network->scenario->phases[number];
    const weir_phase_road *road = &b->network->roads[number];
    exchange.circuit_early_s = isnan(phase->slack_s) ? 0 : phase->slack_s - phase->compute_s;
    bool changes = road->is_light && b->network->changing_share > 0 && needs_light(b, &exchange);
    uint32_t first = made->exchange_count;
    for (uint32_t anew = 0; anew <= (changes ? 1 : 0); anew++) {
        /* Positions that stay for good have no number, but those that change need one. */
        uint32_t position = changes && !road->circuits ? 1 : road->circuits;
        exchange.circuits = position + anew * (b->positions + 1);
        made->exchanges[made->exchange_count] = exchange;
        made->phase_of_exchange[made->exchange_count++] = number;
    }
    made->phases[number].is_empty = false;
    made->phases[number].changes = changes;
    b->exchange_of_phase[number] = first;
    return WEIR_OK;
}

static weir_code reserve(program_builder *b, weir_err *err)
{
    const weir_fabric_scenario *scenario = b->network->scenario;
    weir_traffic_program *made = b->made;
    uint32_t phases = scenario->phase_count;
    size_t exchanges = 1;
    made->arena = weir_arena_new();
    if (!made->arena) {
        return program_no_memory(err);
    }
    for (uint32_t i = 0; i < phases; i++) {
        weir_traffic_groups groups = {0};
        weir_code code = weir_traffic_group(scenario, i, &groups, err);
        if (code != WEIR_OK) {
            return code;
        }
        const weir_phase_road *road = &b->network->roads[i];
        made->plan_room += groups.count * (road->part_count ? road->part_count : 1);
        exchanges += road->part_count ? road->part_count : 2;
        b->positions = road->circuits > b->positions ? road->circuits : b->positions;
        for (uint32_t k = 0; k < road->part_count; k++) {
            uint32_t position = road->parts[k].circuits;
            b->positions = position > b->positions ? position : b->positions;
        }
    }
    made->plans = weir_arena_alloc(made->arena, made->plan_room, sizeof *made->plans);
    made->exchanges = weir_arena_alloc(made->arena, exchanges, sizeof *made->exchanges);
    made->phase_of_exchange =
        weir_arena_alloc(made->arena, exchanges, sizeof *made->phase_of_exchange);
    made->phases = weir_arena_alloc(made->arena, phases, sizeof *made->phases);
    b->exchange_of_phase = weir_arena_alloc(made->arena, phases, sizeof *b->exchange_of_phase);
    uint32_t links = weir_net_count(weir_layout_net(b->network->layout));
    b->scratch = weir_arena_alloc(made->arena, (size_t)links + 1, sizeof *b->scratch);
    return made->plans && made->exchanges && made->phase_of_exchange && made->phases &&
                   b->exchange_of_phase && b->scratch
               ? WEIR_OK
               : program_no_memory(err);
}

weir_code weir_traffic_program_build(const weir_program_network *network,
                                     weir_traffic_program *program, weir_err *err)
{
    weir_traffic_program made = {0};
    program_builder b = {.network = network, .made = &made};
    weir_code code = reserve(&b, err);
    for (uint32_t i = 0; i < network->scenario->phase_count && code == WEIR_OK; i++) {
        code = add_phase(&b, i, err);
    }
    if (code == WEIR_OK) {
        code = program_write(&b, err);
    }
    if (code == WEIR_OK) {
        *program = made;
    } else {
        weir_traffic_program_clear(&made);
    }
    return code;
}

void weir_traffic_program_clear(weir_traffic_program *program)
{
    for (uint32_t i = 0; i < program->plan_count; i++) {
        weir_plan_clear(&program->plans[i]);
    }
    weir_arena_free(program->arena);
    *program = (weir_traffic_program){0};
}
