/* fabric_program_ops.c: what every device runs, operation by operation: the steps of a scenario,
 * their phases, the repetitions of a phase (fabric_program.h). */
#include "study/fabric_program_inside.h"

#include <math.h>

static uint64_t op_count(const program_builder *b)
{
    const weir_fabric_scenario *scenario = b->network->scenario;
    uint64_t count = 0;
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        uint64_t parts = b->made->phases[i].parts;
        count += (1 + parts) * scenario->phases[i].times;
    }
    return count * scenario->steps;
}

typedef struct {
    const program_builder *b;
    weir_program_op *ops;
    uint32_t count;
    uint32_t joined; /* lane 1's last operation of the step before; WEIR_NONE: nothing to join */
    uint32_t beside; /* lane 1's last operation so far */
    uint32_t before; /* lane 0's last operation so far: what overlaps begins when it has ended */
    uint32_t packets, packets_beside; /* last parts on packets beside light on lane 0, on lane 1 */
    uint32_t step;
} writer;

static weir_code depend(writer *w, weir_program_op *op, uint32_t on, weir_err *err)
{
    if (on == WEIR_NONE) {
        return WEIR_OK;
    }
    uint32_t *after = weir_arena_alloc(w->b->made->arena, op->after_count + 1, sizeof *after);
    if (!after) {
        return program_no_memory(err);
    }
    for (uint32_t i = 0; i < op->after_count; i++) {
        after[i] = op->after[i];
    }
    after[op->after_count++] = on;
    op->after = after;
    return WEIR_OK;
}

/* Lane 0 goes on: after what it has to wait for on other lanes. */
static weir_code go_on(writer *w, weir_program_op *op, weir_err *err)
{
    weir_code code = depend(w, op, w->joined, err);
    code = code == WEIR_OK ? depend(w, op, w->packets, err) : code;
    w->joined = w->packets = WEIR_NONE;
    return code;
}

static weir_code write_compute(writer *w, const weir_phase *phase, weir_err *err)
{
    weir_program_op *op = &w->ops[w->count];
    *op = (weir_program_op){.kind = WEIR_STEP_COMPUTE,
                            .name = phase->name,
                            .duration_ns = weir_ns_from_s(phase->compute_s),
                            .cause = WEIR_CAUSE_COMPUTE_GEMM,
                            .step = w->step};
    weir_code code = go_on(w, op, err);
    w->before = w->count++;
    return code;
}

static weir_code write_exchange(writer *w, const weir_phase *phase, uint32_t exchange,
                                weir_err *err)
{
    weir_program_op *op = &w->ops[w->count];
    weir_code code = WEIR_OK;
    *op = (weir_program_op){.kind = WEIR_STEP_EXCHANGE,
                            .lane = phase->overlap ? 1 : 0,
                            .name = phase->name,
                            .exchange = exchange,
                            .step = w->step};
    if (phase->overlap) {
        code = depend(w, op, w->before, err);
        w->beside = w->count;
    } else {
        code = go_on(w, op, err);
        w->before = w->count;
    }
    w->count++;
    return code;
}

/* Packets beside light, lane 2: they begin with the phase, and what follows it waits for both. */
static weir_code write_packets(writer *w, const weir_phase *phase, uint32_t exchange, writer *start,
                               weir_err *err)
{
    weir_program_op *op = &w->ops[w->count];
    *op = (weir_program_op){.kind = WEIR_STEP_EXCHANGE,
                            .lane = 2,
                            .name = phase->name,
                            .exchange = exchange,
                            .step = w->step};
    weir_code code = depend(w, op, start->before, err);
    code = code == WEIR_OK ? depend(w, op, start->joined, err) : code;
    code = code == WEIR_OK ? depend(w, op, start->packets, err) : code;
    *(phase->overlap ? &w->packets_beside : &w->packets) = w->count++;
    return code;
}

/* One repetition: computing, then the exchange or its parts. anew: circuits are set again for it.
 */
static weir_code write_repetition(writer *w, uint32_t number, bool anew, weir_err *err)
{
    const weir_phase *phase = &w->b->network->scenario->phases[number];
    uint32_t exchange = w->b->exchange_of_phase[number];
    weir_code code = weir_ns_from_s(phase->compute_s) > 0 ? write_compute(w, phase, err) : WEIR_OK;
    if (code != WEIR_OK || exchange == WEIR_NONE) {
        return code;
    }
    writer start = *w;
    const weir_phase_road *road = &w->b->network->roads[number];
    if (!road->part_count) {
        return write_exchange(w, phase, exchange + (anew ? 1 : 0), err);
    }
    for (uint32_t k = 0; k < road->part_count && code == WEIR_OK; k++) {
        code = road->parts[k].circuits ? write_exchange(w, phase, exchange + k, err)
                                       : write_packets(w, phase, exchange + k, &start, err);
    }
    return code;
}

bool weir_program_is_anew(double changing_share, uint64_t repetition)
{
    return (uint64_t)floor((double)(repetition + 1) * changing_share + 1e-9) % 2 == 1;
}

weir_code program_write(program_builder *b, weir_err *err)
{
    const weir_fabric_scenario *scenario = b->network->scenario;
    uint64_t count = op_count(b);
    if (count >= UINT32_MAX) {
        return weir_err_set(err, WEIR_ERR_LIMIT, "%s: more than 4e9 operations of a device",
                            scenario->file);
    }
    writer w = {.b = b,
                .joined = WEIR_NONE,
                .beside = WEIR_NONE,
                .before = WEIR_NONE,
                .packets = WEIR_NONE,
                .packets_beside = WEIR_NONE};
    w.ops = weir_arena_alloc(b->made->arena, count ? (size_t)count : 1, sizeof *w.ops);
    if (!w.ops) {
        return program_no_memory(err);
    }
    weir_code code = WEIR_OK;
    for (w.step = 0; w.step < scenario->steps; w.step++) {
        w.joined = w.beside;
        if (w.packets == WEIR_NONE ||
            (w.packets_beside != WEIR_NONE && w.packets_beside > w.packets)) {
            w.packets = w.packets_beside; /* the later one on that lane */
        }
        w.beside = w.packets_beside = WEIR_NONE;
        for (uint32_t i = 0; i < scenario->phase_count; i++) {
            uint32_t times = scenario->phases[i].times;
            for (uint32_t k = 0; k < times && code == WEIR_OK; k++) {
                bool anew =
                    b->made->phases[i].changes &&
                    weir_program_is_anew(b->network->changing_share, (uint64_t)w.step * times + k);
                code = write_repetition(&w, i, anew, err);
            }
        }
    }
    b->made->ops = w.ops;
    b->made->program = (weir_program){w.ops, w.count};
    return code;
}
