/* fabric_busiest.c: where more bandwidth gains most, and the busiest link there (fabric_row.h). */
#include "study/fabric_row.h"

#include <stdlib.h>
#include <string.h>

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

/* The link of that tier that a step keeps busy longest, the lowest of its like; WEIR_NONE: nothing
 * crosses one. */
static weir_code find_busiest(const weir_fabric_scenario *scenario, const weir_fabric_play *play,
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
        bool is_again = phase == last_phase && play->program.phases[phase].parts == 1;
        for (uint32_t g = 0; g < exchange->group_count && !is_again; g++) {
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

weir_code weir_fabric_find_gains(const weir_fabric_scenario *scenario, weir_fabric_play *play,
                                 weir_result *result, uint32_t candidate, weir_err *err)
{
    weir_fabric_candidate_row *row = &result->fabric->candidates[candidate];
    double *gains = row->marginal_s_per_percent;
    uint32_t most = 0;
    weir_link_id link = WEIR_NONE;
    weir_code code = weir_fabric_marginal(play, WEIR_TIER_COUNT, gains, err);
    for (uint32_t i = 1; i < WEIR_TIER_COUNT; i++) {
        most = gains[i] > 0 && !(gains[most] >= gains[i]) ? i : most;
    }
    const char *tier = weir_tier_name((weir_tier)most);
    bool is_named = row->bottleneck.tier && strcmp(row->bottleneck.tier, tier) == 0;
    if (code != WEIR_OK || !(gains[most] > 0) || is_named) {
        return code;
    }
    code = find_busiest(scenario, play, (weir_tier)most, &link, err);
    if (code != WEIR_OK || link == WEIR_NONE) {
        return code;
    }
    weir_text name = {0};
    weir_layout_name(play->network.layout, link, &name);
    const char *kept =
        name.failed ? NULL : weir_result_copy(result, (weir_str){name.p, (uint32_t)name.n});
    weir_text_clear(&name);
    if (!kept) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the busiest link");
    }
    row->bottleneck.link = kept;
    row->bottleneck.tier = tier;
    row->bottleneck.marginal_s_per_percent = gains[most];
    return WEIR_OK;
}
