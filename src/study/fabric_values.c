/* fabric_values.c: the bottleneck structure of each exchange, summed over a step. */
#include "study/fabric_values_inside.h"

#include <math.h>
#include <stdlib.h>

static const double percent = 0.01;

weir_code values_no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the values of links");
}

/* --- kinds --- */

static uint8_t find_kind(link_values *v, weir_link_id link)
{
    weir_link_ends ends = weir_layout_ends(v->layout, link);
    link_kind k = {.ends = ends.from <= ends.to ? ends : (weir_link_ends){ends.to, ends.from},
                   .tier = weir_layout_tier(v->layout, link),
                   .bytes_per_s = weir_net_bytes_per_s(v->net, link),
                   .is_circuit = weir_layout_is_circuit(v->layout, link),
                   .best = link};
    uint32_t i = 0;
    if (!(k.bytes_per_s > 0) || isinf(k.bytes_per_s)) {
        return KINDS_MAX;
    }
    for (; i < v->kind_count; i++) {
        const link_kind *known = &v->kinds[i];
        bool is_same_rate = fabs(known->bytes_per_s - k.bytes_per_s) <= 1e-9 * k.bytes_per_s;
        if (known->ends.from == k.ends.from && known->ends.to == k.ends.to &&
            known->tier == k.tier && known->is_circuit == k.is_circuit && is_same_rate) {
            break;
        }
    }
    if (i == v->kind_count && i < KINDS_MAX) {
        v->kinds[v->kind_count++] = k;
    }
    if (i < KINDS_MAX) {
        v->kinds[i].count++;
    }
    return (uint8_t)i;
}

static weir_code start(link_values *v, const weir_fabric_play *play, weir_err *err)
{
    *v =
        (link_values){.layout = play->network.layout, .net = weir_layout_net(play->network.layout)};
    v->links = weir_net_count(v->net);
    v->kind_of = malloc((size_t)v->links + 1);
    v->value = calloc((size_t)v->links + 1, sizeof *v->value);
    v->seconds = calloc((size_t)v->links + 1, sizeof *v->seconds);
    v->pace_s = calloc((size_t)v->links + 1, sizeof *v->pace_s);
    if (!v->kind_of || !v->value || !v->seconds || !v->pace_s) {
        return values_no_memory(err);
    }
    for (weir_link_id i = 0; i < v->links; i++) {
        v->kind_of[i] = find_kind(v, i);
    }
    return WEIR_OK;
}

static void finish(link_values *v)
{
    free(v->kind_of);
    free(v->value);
    free(v->seconds);
    free(v->pace_s);
    free(v->gain);
    free(v->ids);
    free(v->bodies);
    weir_fluid_free(v->fluid);
}

/* --- a round --- */

static double time_of(const link_values *v, uint32_t i)
{
    double rate = weir_fluid_rate(v->fluid, v->ids[i]);
    return rate > 0 ? v->bodies[i]->size / rate : 0; /* what is broken is told elsewhere */
}

/* The body that ends last, the first of several. */
static uint32_t find_last(const link_values *v)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < v->body_count; i++) {
        last = time_of(v, i) > time_of(v, last) * (1 + 1e-12) ? i : last;
    }
    return last;
}

static weir_code enter_round(link_values *v, const weir_exchange *exchange, uint32_t round,
                             weir_err *err)
{
    weir_code code = WEIR_OK;
    v->body_count = 0;
    for (uint32_t g = 0; g < exchange->group_count; g++) {
        const weir_plan *plan = exchange->groups[g].plan;
        const weir_round *r = round < plan->round_count ? &plan->rounds[round] : NULL;
        for (uint32_t i = 0; r && i < r->body_count && code == WEIR_OK; i++) {
            const weir_body *body = &plan->bodies[r->first_body + i];
            code = weir_fluid_add(v->fluid, &body->path, &v->ids[v->body_count], err);
            if (code == WEIR_OK) {
                code = weir_fluid_start(v->fluid, v->ids[v->body_count], err);
                v->bodies[v->body_count++] = body;
            }
        }
    }
    return code == WEIR_OK ? weir_fluid_solve(v->fluid, WEIR_SOLVE_FULL, err) : code;
}

static weir_code set_kind(link_values *v, uint32_t kind, double factor, weir_err *err)
{
    weir_code code = WEIR_OK;
    for (weir_link_id i = 0; i < v->links && code == WEIR_OK; i++) {
        if (v->kind_of[i] == kind) {
            code =
                weir_fluid_set_capacity(v->fluid, i, weir_net_bytes_per_s(v->net, i) * factor, err);
        }
    }
    return code == WEIR_OK ? weir_fluid_solve(v->fluid, WEIR_SOLVE_FULL, err) : code;
}

/* Both sides: what the round gains from 1 % more of a kind, and loses with 1 % less. */
static weir_code try_kind(link_values *v, uint32_t kind, double round_s, weir_err *err)
{
    weir_code code = set_kind(v, kind, 1 + percent, err);
    if (code == WEIR_OK) {
        v->kinds[kind].gain_s += v->times * (round_s - time_of(v, find_last(v)));
        code = set_kind(v, kind, 1 - percent, err);
    }
    if (code == WEIR_OK) {
        v->kinds[kind].loss_s += v->times * (time_of(v, find_last(v)) - round_s);
        code = set_kind(v, kind, 1, err);
    }
    return code;
}

static weir_code read_round(link_values *v, weir_err *err)
{
    uint32_t last = find_last(v);
    double round_s = time_of(v, last), rate = weir_fluid_rate(v->fluid, v->ids[last]);
    bool matters[KINDS_MAX + 1] = {false};
    if (!(round_s > 0) || isinf(rate)) {
        return WEIR_OK;
    }
    v->gain[v->ids[last]] = v->bodies[last]->size / (rate * rate); /* -dt / d rate */
    weir_code code = weir_fluid_values(v->fluid, v->gain, v->value, err);
    v->gain[v->ids[last]] = 0;
    for (weir_link_id i = 0; i < v->links && code == WEIR_OK; i++) {
        uint8_t kind = v->kind_of[i];
        if (kind < KINDS_MAX) {
            double s = v->times * v->value[i] * percent * weir_net_bytes_per_s(v->net, i);
            v->seconds[i] += s;
            v->pace_s[i] += fabs(s) > 0 ? v->times * round_s : 0;
            v->kinds[kind].structure_s += s;
            matters[kind] = matters[kind] || fabs(s) > 0;
        }
    }
    for (uint32_t kind = 0; kind < v->kind_count && code == WEIR_OK; kind++) {
        code = matters[kind] ? try_kind(v, kind, round_s, err) : code;
    }
    return code;
}

/* A link alone, both sides. What carries nothing changes nothing. */
static weir_code try_single(link_values *v, single_link *single, double round_s, weir_err *err)
{
    double rate = weir_net_bytes_per_s(v->net, single->link), s[2] = {0};
    static const double factors[2] = {1 + percent, 1 - percent};
    weir_code code = WEIR_OK;
    if (!(weir_fluid_load(v->fluid, single->link) > 0)) {
        return WEIR_OK;
    }
    for (int side = 0; side < 2 && code == WEIR_OK; side++) {
        code = weir_fluid_set_capacity(v->fluid, single->link, rate * factors[side], err);
        code = code == WEIR_OK ? weir_fluid_solve(v->fluid, WEIR_SOLVE_CHOOSE, err) : code;
        s[side] = code == WEIR_OK ? time_of(v, find_last(v)) : 0;
    }
    if (code == WEIR_OK) {
        single->gain_s += v->times * (round_s - s[0]);
        single->loss_s += v->times * (s[1] - round_s);
        code = weir_fluid_set_capacity(v->fluid, single->link, rate, err);
    }
    return code == WEIR_OK ? weir_fluid_solve(v->fluid, WEIR_SOLVE_CHOOSE, err) : code;
}

static weir_code try_singles(link_values *v, weir_err *err)
{
    double round_s = time_of(v, find_last(v));
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < v->single_count && round_s > 0 && code == WEIR_OK; i++) {
        code = try_single(v, &v->singles[i], round_s, err);
    }
    return code;
}

/* --- an exchange --- */

static weir_code reserve(link_values *v, const weir_exchange *exchange, uint32_t *rounds,
                         weir_err *err)
{
    uint32_t bodies = 0;
    *rounds = 0;
    for (uint32_t g = 0; g < exchange->group_count; g++) {
        const weir_plan *plan = exchange->groups[g].plan;
        bodies += plan->body_count;
        *rounds = plan->round_count > *rounds ? plan->round_count : *rounds;
    }
    free(v->gain);
    free(v->ids);
    free(v->bodies);
    weir_fluid_free(v->fluid);
    v->fluid = NULL;
    v->ids = calloc((size_t)bodies + 1, sizeof *v->ids);
    v->bodies = calloc((size_t)bodies + 1, sizeof *v->bodies);
    v->gain = calloc((size_t)bodies + 1, sizeof *v->gain); /* ids, if none is used again */
    return v->ids && v->bodies && v->gain ? weir_fluid_new(v->net, &v->fluid, err)
                                          : values_no_memory(err);
}

static weir_code read_exchange(link_values *v, const weir_exchange *exchange, weir_err *err)
{
    uint32_t rounds;
    weir_code code = reserve(v, exchange, &rounds, err);
    for (uint32_t round = 0; round < rounds && code == WEIR_OK; round++) {
        code = enter_round(v, exchange, round, err);
        if (code == WEIR_OK && v->body_count > 0) {
            code = v->single_count ? try_singles(v, err) : read_round(v, err);
        }
        for (uint32_t i = 0; i < v->body_count && code == WEIR_OK; i++) {
            weir_fluid_remove(v->fluid, v->ids[i]);
        }
    }
    return code;
}

/* --- a step --- */

/* Of what overlaps: the exposed communication that is not of exchanges which block, spread evenly.
 */
static double exposed_share(const weir_fabric_scenario *scenario, const weir_fabric_play *play,
                            const weir_fabric_candidate_row *row)
{
    double blocking_s = 0, hidden_s = 0;
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        const weir_program_phase *phase = &play->program.phases[i];
        double s = phase->is_empty ? 0 : scenario->phases[i].times * phase->alone_s;
        blocking_s += scenario->phases[i].overlap ? 0 : s;
        hidden_s += scenario->phases[i].overlap ? s : 0;
    }
    double exposed_s = row->wall_ns > 0 ? row->step_s * (double)row->exposed_communication_ns /
                                              (double)row->wall_ns
                                        : 0;
    return hidden_s > 0 ? fmin(1, fmax(0, (exposed_s - blocking_s) / hidden_s)) : 0;
}

static weir_code read_step(link_values *v, const weir_fabric_scenario *scenario,
                           const weir_fabric_play *play, double overlapped_share, weir_err *err)
{
    const weir_traffic_program *program = &play->program;
    uint32_t last = WEIR_NONE;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < program->exchange_count && code == WEIR_OK; i++) {
        const weir_phase *phase = &scenario->phases[program->phase_of_exchange[i]];
        v->times = phase->times * (phase->overlap ? overlapped_share : 1);
        if (program->phase_of_exchange[i] != last && v->times > 0) {
            code = read_exchange(v, &program->exchanges[i], err);
        }
        last = program->phase_of_exchange[i];
    }
    return code;
}

weir_code weir_fabric_find_values(const weir_fabric_scenario *scenario,
                                  const weir_fabric_play *play, weir_result *result,
                                  uint32_t candidate, weir_err *err)
{
    link_values v;
    const weir_fabric_candidate_row *row = &result->fabric->candidates[candidate];
    double share = exposed_share(scenario, play, row);
    weir_code code = start(&v, play, err);
    if (code == WEIR_OK) {
        code = read_step(&v, scenario, play, share, err);
    }
    if (code == WEIR_OK) {
        code = values_keep_kinds(&v, result, err);
    }
    if (code == WEIR_OK) {
        values_choose_singles(&v);
        code = v.single_count ? read_step(&v, scenario, play, share, err) : WEIR_OK;
    }
    if (code == WEIR_OK) {
        code = values_keep_singles(&v, row->step_s, result, err);
    }
    finish(&v);
    return code;
}
