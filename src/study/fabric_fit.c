/* fabric_fit.c: which algorithm fits circuits (fabric_program.h).
 *
 * Circuits are designed for what a ring hands on, while a library may choose a tree, whose messages
 * then cross many blocks. It knows nothing of circuits; who runs on them would tune it. So both are
 * planned for all groups of the phase, and the one that is done sooner is taken: no network is done
 * before its busiest link, no group before it would be alone. */
#include "study/fabric_program.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double total_s;
    bool crosses; /* some of its bytes cross a circuit */
} fit_time;

static void add_loads(const weir_program_group *g, const weir_plan *plan, fit_time *time)
{
    for (uint32_t i = 0; i < plan->body_count; i++) {
        const weir_path *path = &plan->bodies[i].path;
        for (uint32_t k = 0; k < path->count; k++) {
            double share = path->bytes_per_unit ? path->bytes_per_unit[k] : 1;
            g->scratch[path->links[k]] += plan->bodies[i].size * share;
            time->crosses |= weir_layout_is_circuit(g->network->layout, path->links[k]);
        }
    }
}

static double latency_of(const weir_plan *plan)
{
    double sum = 0;
    for (uint32_t i = 0; i < plan->round_count; i++) {
        sum += plan->rounds[i].latency_s;
    }
    return sum;
}

/* The busiest link's seconds; scratch is zero again. */
static double take_busiest(const weir_program_group *g)
{
    const weir_net *net = weir_layout_net(g->network->layout);
    double busiest = 0;
    for (weir_link_id i = 0; i < weir_net_count(net); i++) {
        if (g->scratch[i] > 0) {
            busiest = fmax(busiest, g->scratch[i] / weir_net_bytes_per_s(net, i));
            g->scratch[i] = 0;
        }
    }
    return busiest;
}

static weir_code time_choice(const weir_program_group *first, const weir_collective_choice *choice,
                             fit_time *time, weir_err *err)
{
    weir_program_group g = *first;
    uint32_t *members = malloc((size_t)g.groups.size * sizeof *members);
    double alone_s = 0, latency_s = 0;
    weir_code code =
        members ? WEIR_OK : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a plan");
    *time = (fit_time){0};
    g.members = members;
    for (g.group = 0; g.group < g.groups.count && code == WEIR_OK; g.group++) {
        weir_plan plan = {0};
        for (uint32_t k = 0; k < g.groups.size; k++) {
            members[k] = weir_traffic_member(&g.groups, g.group, k);
        }
        code = weir_program_plan(&g, choice, &plan, err);
        if (code == WEIR_OK) {
            alone_s = fmax(alone_s, weir_plan_alone_s(&plan));
            latency_s = fmax(latency_s, latency_of(&plan));
            add_loads(&g, &plan, time);
            weir_plan_clear(&plan);
        }
    }
    time->total_s = fmax(alone_s, take_busiest(&g) + latency_s);
    free(members);
    return code;
}

weir_code weir_program_fit(const weir_program_group *group, weir_program_phase *chosen,
                           weir_err *err)
{
    const weir_program_network *network = group->network;
    const weir_phase *phase = &network->scenario->phases[group->phase];
    if (!network->roads[group->phase].is_light || phase->kind != WEIR_PHASE_COLLECTIVE ||
        phase->algorithm != WEIR_ALGORITHM_COUNT ||
        chosen->choice.algorithm == weir_program_usual(phase->collective)) {
        return WEIR_OK;
    }
    fit_time first, usual;
    weir_code code = time_choice(group, &chosen->choice, &first, err);
    if (code != WEIR_OK || !first.crosses) {
        return code;
    }
    weir_program_phase other = *chosen;
    weir_err found = {0};
    code = weir_program_choose_as(group, weir_program_usual(phase->collective), &other, &found);
    if (code == WEIR_OK) {
        code = time_choice(group, &other.choice, &usual, &found);
    }
    if (code == WEIR_OK && usual.total_s < first.total_s) {
        *chosen = other;
    }
    return code == WEIR_OK || code == WEIR_ERR_INPUT ? WEIR_OK
                                                     : weir_err_set(err, code, "%s", found.text);
}
