/* fabric_busiest.c: the busiest link of a tier, from the bodies that were played (fabric_row.h). */
#include "study/fabric_row.h"

#include <stdlib.h>

/* Seconds that a repetition keeps each link busy, times the repetitions of a step. */
static void add_plan(const weir_plan *plan, const weir_net *net, double times, double *busy_s)
{
    for (uint32_t i = 0; i < plan->body_count; i++) {
        const weir_body *body = &plan->bodies[i];
        for (uint32_t k = 0; k < body->path.count; k++) {
            weir_link_id link = body->path.links[k];
            double share = body->path.bytes_per_unit ? body->path.bytes_per_unit[k] : 1;
            busy_s[link] += times * body->size * share / weir_net_bytes_per_s(net, link);
        }
    }
}

weir_code weir_fabric_busiest(const weir_fabric_scenario *scenario, const weir_fabric_play *play,
                              weir_tier tier, weir_link_id *link, weir_err *err)
{
    const weir_layout *layout = play->network.layout;
    const weir_net *net = weir_layout_net(layout);
    uint32_t count = weir_net_count(net), last_phase = WEIR_NONE, found = WEIR_NONE;
    double *busy_s = calloc((size_t)count + 1, sizeof *busy_s);
    if (!busy_s) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the busiest link");
    }
    for (uint32_t i = 0; i < play->program.exchange_count; i++) {
        const weir_exchange *exchange = &play->program.exchanges[i];
        uint32_t phase = play->program.phase_of_exchange[i];
        for (uint32_t g = 0; g < exchange->group_count && phase != last_phase; g++) {
            add_plan(exchange->groups[g].plan, net, scenario->phases[phase].times, busy_s);
        }
        last_phase = phase;
    }
    for (weir_link_id i = 0; i < count; i++) {
        if (weir_layout_tier(layout, i) == tier && busy_s[i] > 0 &&
            (found == WEIR_NONE || busy_s[i] > busy_s[found] * (1 + 1e-9))) {
            found = i;
        }
    }
    free(busy_s);
    *link = found;
    return WEIR_OK;
}
