/* fabric_values.c: the bottleneck structure of each exchange, summed over a step. */
#include "study/fabric_values.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

enum { KINDS_MAX = 64, SHOWN_MAX = 10 };

static const double percent = 0.01;

/* Links alike, both directions of their cables. */
typedef struct {
    weir_link_ends ends;
    weir_tier tier;
    double bytes_per_s;
    bool is_circuit;
    uint32_t count;
    weir_link_id best;  /* that one of them which is worth most */
    double best_s;      /* what is gained by it */
    double structure_s; /* by all, as the structure says */
    double gain_s, loss_s;
} link_kind;

/* One of the links that are worth most by themselves. */
typedef struct {
    weir_link_id link;
    double gain_s, loss_s;
} single_link;

typedef struct {
    const weir_layout *layout;
    const weir_net *net;
    uint32_t links;
    link_kind kinds[KINDS_MAX];
    uint32_t kind_count;
    uint8_t *kind_of; /* by link; KINDS_MAX: none */
    double *value;    /* by link, of one round */
    double *seconds;  /* by link, of a step */
    double *pace_s;   /* by link, of a step: while the pace hangs on it */
    single_link singles[SHOWN_MAX];
    uint32_t single_count; /* 0: not chosen yet */
    /* of the exchange that is looked at */
    weir_fluid *fluid;
    double *gain;      /* by body id */
    weir_body_id *ids; /* of the round, in order */
    const weir_body **bodies;
    uint32_t body_count, body_room;
    double times; /* of its rounds in a step, as far as they are exposed */
} values;

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the values of links");
}

/* --- kinds --- */

static uint8_t find_kind(values *v, weir_link_id link)
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

static weir_code start(values *v, const weir_fabric_play *play, weir_err *err)
{
    *v = (values){.layout = play->network.layout, .net = weir_layout_net(play->network.layout)};
    v->links = weir_net_count(v->net);
    v->kind_of = malloc((size_t)v->links + 1);
    v->value = calloc((size_t)v->links + 1, sizeof *v->value);
    v->seconds = calloc((size_t)v->links + 1, sizeof *v->seconds);
    v->pace_s = calloc((size_t)v->links + 1, sizeof *v->pace_s);
    if (!v->kind_of || !v->value || !v->seconds || !v->pace_s) {
        return no_memory(err);
    }
    for (weir_link_id i = 0; i < v->links; i++) {
        v->kind_of[i] = find_kind(v, i);
    }
    return WEIR_OK;
}

static void finish(values *v)
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

static double time_of(const values *v, uint32_t i)
{
    double rate = weir_fluid_rate(v->fluid, v->ids[i]);
    return rate > 0 ? v->bodies[i]->size / rate : 0; /* what is broken is told elsewhere */
}

/* The body that ends last, the first of several. */
static uint32_t find_last(const values *v)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < v->body_count; i++) {
        last = time_of(v, i) > time_of(v, last) * (1 + 1e-12) ? i : last;
    }
    return last;
}

static weir_code enter_round(values *v, const weir_exchange *exchange, uint32_t round,
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

static weir_code set_kind(values *v, uint32_t kind, double factor, weir_err *err)
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
static weir_code try_kind(values *v, uint32_t kind, double round_s, weir_err *err)
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

static weir_code read_round(values *v, weir_err *err)
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
static weir_code try_single(values *v, single_link *single, double round_s, weir_err *err)
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

static weir_code try_singles(values *v, weir_err *err)
{
    double round_s = time_of(v, find_last(v));
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < v->single_count && round_s > 0 && code == WEIR_OK; i++) {
        code = try_single(v, &v->singles[i], round_s, err);
    }
    return code;
}

/* --- an exchange --- */

static weir_code reserve(values *v, const weir_exchange *exchange, uint32_t *rounds, weir_err *err)
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
    return v->ids && v->bodies && v->gain ? weir_fluid_new(v->net, &v->fluid, err) : no_memory(err);
}

static weir_code read_exchange(values *v, const weir_exchange *exchange, weir_err *err)
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

static weir_code read_step(values *v, const weir_fabric_scenario *scenario,
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

/* --- into the result --- */

static void find_best(values *v)
{
    for (weir_link_id i = 0; i < v->links; i++) {
        link_kind *kind = v->kind_of[i] < KINDS_MAX ? &v->kinds[v->kind_of[i]] : NULL;
        if (kind && v->seconds[i] > kind->best_s * (1 + 1e-9)) {
            kind->best = i;
            kind->best_s = v->seconds[i];
        }
    }
}

/* By the slope, as for kinds; ties: the first. */
static void choose_singles(values *v)
{
    for (; v->single_count < SHOWN_MAX; v->single_count++) {
        weir_link_id best = WEIR_NONE;
        for (weir_link_id i = 0; i < v->links; i++) {
            bool is_taken = !(v->seconds[i] > 0);
            for (uint32_t k = 0; k < v->single_count && !is_taken; k++) {
                is_taken = v->singles[k].link == i;
            }
            if (!is_taken && (best == WEIR_NONE || v->seconds[i] > v->seconds[best] * (1 + 1e-9))) {
                best = i;
            }
        }
        if (best == WEIR_NONE) {
            return;
        }
        v->singles[v->single_count] = (single_link){.link = best};
    }
}

/* Worth more: by what less of it costs, which ties do not hide. NULL: no other is worth a thing. */
static link_kind *take_next(values *v)
{
    link_kind *best = NULL;
    for (uint32_t i = 0; i < v->kind_count; i++) {
        link_kind *kind = &v->kinds[i];
        if (kind->count > 0 && kind->structure_s > 0 &&
            (!best || kind->structure_s > best->structure_s * (1 + 1e-9))) {
            best = kind;
        }
    }
    return best;
}

/* NULL: no memory. */
static const char *name_of(const values *v, weir_result *result, weir_link_id link)
{
    weir_text name = {0};
    weir_layout_name(v->layout, link, &name);
    const char *kept =
        name.failed ? NULL : weir_result_copy(result, (weir_str){name.p, (uint32_t)name.n});
    weir_text_clear(&name);
    return kept;
}

static weir_code keep_kinds(values *v, weir_result *result, weir_err *err)
{
    weir_fabric_result *fabric = result->fabric;
    weir_fabric_value_row *rows = weir_arena_alloc(result->arena, SHOWN_MAX, sizeof *rows);
    uint32_t count = 0;
    if (!rows) {
        return no_memory(err);
    }
    find_best(v);
    for (link_kind *kind; count < SHOWN_MAX && (kind = take_next(v)) != NULL;) {
        rows[count] = (weir_fabric_value_row){.link = name_of(v, result, kind->best),
                                              .tier = weir_tier_name(kind->tier),
                                              .multiplicity = kind->count,
                                              .marginal_s_per_percent = kind->gain_s,
                                              .loss_s_per_percent = kind->loss_s,
                                              .structure_s_per_percent = kind->structure_s};
        if (!rows[count++].link) {
            return no_memory(err);
        }
        kind->count = 0; /* taken */
    }
    fabric->values = rows;
    fabric->value_count = count;
    return WEIR_OK;
}

static weir_code keep_singles(const values *v, double step_s, weir_result *result, weir_err *err)
{
    weir_fabric_single_row *rows = weir_arena_alloc(result->arena, SHOWN_MAX, sizeof *rows);
    if (!rows) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < v->single_count; i++) {
        const single_link *single = &v->singles[i];
        weir_link_id link = single->link;
        rows[i] = (weir_fabric_single_row){
            .link = name_of(v, result, link),
            .tier = weir_tier_name(weir_layout_tier(v->layout, link)),
            .pace_share = step_s > 0 ? fmin(1, v->pace_s[link] / step_s) : 0,
            .marginal_s_per_percent = single->gain_s,
            .loss_s_per_percent = single->loss_s,
            .structure_s_per_percent = v->seconds[link]};
        if (!rows[i].link) {
            return no_memory(err);
        }
    }
    result->fabric->singles = rows;
    result->fabric->single_count = v->single_count;
    return WEIR_OK;
}

weir_code weir_fabric_find_values(const weir_fabric_scenario *scenario,
                                  const weir_fabric_play *play, weir_result *result,
                                  uint32_t candidate, weir_err *err)
{
    values v;
    const weir_fabric_candidate_row *row = &result->fabric->candidates[candidate];
    double share = exposed_share(scenario, play, row);
    weir_code code = start(&v, play, err);
    if (code == WEIR_OK) {
        code = read_step(&v, scenario, play, share, err);
    }
    if (code == WEIR_OK) {
        code = keep_kinds(&v, result, err);
    }
    if (code == WEIR_OK) {
        choose_singles(&v);
        code = v.single_count ? read_step(&v, scenario, play, share, err) : WEIR_OK;
    }
    if (code == WEIR_OK) {
        code = keep_singles(&v, row->step_s, result, err);
    }
    finish(&v);
    return code;
}
