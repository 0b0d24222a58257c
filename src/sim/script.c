#include "sim/script.h"

#include "base/sort.h"
#include "sim/cast.h"

static weir_code check_op(const weir_spmd *spmd, uint32_t p, uint32_t k, weir_err *err)
{
    const weir_program_op *op = &spmd->programs[p].ops[k];
    if (op->kind == WEIR_STEP_EXCHANGE && op->exchange >= spmd->exchange_count) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "program %u, operation %u: exchange %u of %u does not exist", p, k,
                            op->exchange, spmd->exchange_count);
    }
    if (op->kind != WEIR_STEP_EXCHANGE && op->duration_ns < 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "program %u, operation %u: it takes %lld ns; expected 0 or more", p, k,
                            (long long)op->duration_ns);
    }
    for (uint32_t i = 0; i < op->after_count; i++) {
        if (op->after[i] >= k) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "program %u, operation %u: it waits for operation %u, which does "
                                "not come before it",
                                p, k, op->after[i]);
        }
    }
    return WEIR_OK;
}

static bool make_room(sim_script *s, weir_arena *arena)
{
    size_t n = (size_t)s->program->count + 1;
    s->lane_number = weir_arena_alloc(arena, n, sizeof *s->lane_number);
    s->first = weir_arena_alloc(arena, n + 1, sizeof *s->first);
    s->ops = weir_arena_alloc(arena, n, sizeof *s->ops);
    s->lane_of = weir_arena_alloc(arena, n, sizeof *s->lane_of);
    s->occurrence = weir_arena_alloc(arena, n, sizeof *s->occurrence);
    return s->lane_number && s->first && s->ops && s->lane_of && s->occurrence;
}

static weir_code build_one(const weir_spmd *spmd, uint32_t p, weir_arena *arena, sim_script *s,
                           weir_err *err)
{
    *s = (sim_script){.program = &spmd->programs[p]};
    uint32_t n = s->program->count;
    weir_sort_pair *order = weir_arena_alloc(arena, (size_t)n + 1, sizeof *order);
    uint32_t *seen = weir_arena_alloc(arena, (size_t)spmd->exchange_count + 1, sizeof *seen);
    if (!make_room(s, arena) || !order || !seen) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t k = 0; k < n; k++) {
        weir_code code = check_op(spmd, p, k, err);
        if (code != WEIR_OK) {
            return code;
        }
        const weir_program_op *op = &s->program->ops[k];
        order[k] = (weir_sort_pair){op->lane, k};
        s->occurrence[k] = op->kind == WEIR_STEP_EXCHANGE ? seen[op->exchange]++ : 0;
    }
    if (!weir_sort_pairs(order, n)) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = (uint32_t)order[i].value;
        if (i == 0 || order[i].key != order[i - 1].key) {
            s->first[s->lane_count] = i;
            s->lane_number[s->lane_count++] = (uint32_t)order[i].key;
        }
        s->ops[i] = k;
        s->lane_of[k] = s->lane_count - 1;
    }
    s->first[s->lane_count] = n;
    return WEIR_OK;
}

weir_code sim_scripts_build(const weir_spmd *spmd, weir_arena *arena, sim_script **scripts,
                            weir_err *err)
{
    sim_script *made = weir_arena_alloc(arena, (size_t)spmd->program_count + 1, sizeof *made);
    weir_code code = made ? WEIR_OK : SIM_NO_MEMORY(err);
    for (uint32_t p = 0; p < spmd->program_count && code == WEIR_OK; p++) {
        code = build_one(spmd, p, arena, &made[p], err);
    }
    if (code == WEIR_OK) {
        *scripts = made;
    }
    return code;
}

/* --- circuits --- */

/* How often each exchange occurs, at most. */
static weir_code count_occurrences(const weir_spmd *spmd, const sim_script *scripts,
                                   weir_arena *arena, sim_circuit_order *order, weir_err *err)
{
    uint32_t n = spmd->exchange_count;
    order->first = weir_arena_alloc(arena, (size_t)n + 1, sizeof *order->first);
    if (!order->first) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t p = 0; p < spmd->program_count; p++) {
        for (uint32_t k = 0; k < scripts[p].program->count; k++) {
            const weir_program_op *op = &scripts[p].program->ops[k];
            if (op->kind == WEIR_STEP_EXCHANGE &&
                scripts[p].occurrence[k] >= order->first[op->exchange + 1]) {
                order->first[op->exchange + 1] = scripts[p].occurrence[k] + 1;
            }
        }
    }
    for (uint32_t e = 0; e < n; e++) {
        order->first[e + 1] += order->first[e];
    }
    return WEIR_OK;
}

/* The place of each occurrence is the earliest that a program gives it. */
weir_code sim_circuits_order(const weir_spmd *spmd, const sim_script *scripts, weir_arena *arena,
                             sim_circuit_order *order, weir_err *err)
{
    *order = (sim_circuit_order){0};
    weir_code code = count_occurrences(spmd, scripts, arena, order, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t n = order->first[spmd->exchange_count];
    weir_sort_pair *places = weir_arena_alloc(arena, (size_t)n + 1, sizeof *places);
    uint32_t *position = weir_arena_alloc(arena, (size_t)n + 1, sizeof *position);
    uint32_t *exchange = weir_arena_alloc(arena, (size_t)n + 1, sizeof *exchange);
    order->stay_of = weir_arena_alloc(arena, (size_t)n + 1, sizeof *order->stay_of);
    order->stays = weir_arena_alloc(arena, (size_t)n + 1, sizeof *order->stays);
    if (!places || !position || !exchange || !order->stay_of || !order->stays) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        places[i] = (weir_sort_pair){UINT64_MAX, i};
        order->stay_of[i] = WEIR_NONE;
    }
    for (uint32_t p = 0; p < spmd->program_count; p++) {
        for (uint32_t k = 0; k < scripts[p].program->count; k++) {
            const weir_program_op *op = &scripts[p].program->ops[k];
            if (op->kind != WEIR_STEP_EXCHANGE || spmd->exchanges[op->exchange].circuits == 0) {
                continue;
            }
            uint32_t i = order->first[op->exchange] + scripts[p].occurrence[k];
            position[i] = spmd->exchanges[op->exchange].circuits;
            exchange[i] = op->exchange;
            places[i].key = k < places[i].key ? k : places[i].key;
        }
    }
    if (!weir_sort_pairs(places, n)) {
        return SIM_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < n && places[i].key != UINT64_MAX; i++) {
        uint32_t k = (uint32_t)places[i].value;
        if (order->count == 0 || order->stays[order->count - 1].position != position[k]) {
            double early_s = spmd->exchanges[exchange[k]].circuit_early_s;
            order->stays[order->count++] =
                (sim_stay){position[k], 0, INT64_MAX, weir_ns_from_s(early_s)};
        }
        order->stay_of[k] = order->count - 1;
    }
    return WEIR_OK;
}
