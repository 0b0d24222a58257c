/* Links by name: their load over time, and the list of cables. The study has played the networks
 * and dropped them; the same network is built once more, because it knows what its links are
 * called. */
#include "cli/fabric.h"
#include "fabric/bill.h"
#include "study/fabric_candidate.h"
#include "study/fabric_traffic.h"

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
}

static weir_code period_between(const void *context, uint32_t phase,
                                const uint32_t *block_of_device, weir_demand *demand, weir_err *err)
{
    const weir_fabric_scenario *scenario = context;
    return weir_traffic_between(scenario, phase, block_of_device, scenario->phases[phase].times,
                                demand, err);
}

static bool fill(weir_result *r, const weir_link_series *from, const weir_layout *layout,
                 weir_fabric_link_row *row)
{
    weir_text name = {0};
    weir_layout_name(layout, from->link, &name);
    *row = (weir_fabric_link_row){
        .name = weir_result_copy(r, (weir_str){name.p ? name.p : "", (uint32_t)name.n}),
        .tier = weir_tier_name(weir_layout_tier(layout, from->link)),
        .multiplicity = from->multiplicity,
        .capacity_bytes_per_s = weir_net_bytes_per_s(weir_layout_net(layout), from->link),
        .count = from->count,
        .at_s = from->at_s, /* live as long as the run */
        .bytes_per_s = from->bytes_per_s,
    };
    bool ok = !name.failed && row->name;
    weir_text_clear(&name);
    return ok;
}

static weir_code fill_all(const fabric_run_state *run, const weir_layout *layout, weir_err *err)
{
    weir_result *r = run->result;
    uint32_t count = run->played.link_count, links = weir_net_count(weir_layout_net(layout));
    weir_fabric_link_row *rows = weir_arena_alloc(r->arena, (size_t)count + 1, sizeof *rows);
    if (!rows)
        return no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        if (run->played.links[i].link >= links)
            return weir_err_set(err, WEIR_ERR_INTERNAL, "link %u of a network of %u was played",
                                run->played.links[i].link, links);
        if (!fill(r, &run->played.links[i], layout, &rows[i]))
            return no_memory(err);
    }
    r->fabric->links = rows;
    r->fabric->link_count = count;
    return WEIR_OK;
}

weir_code fabric_note_links(const fabric_run_state *run, const weir_fabric_scenario *scenario,
                            weir_err *err)
{
    const weir_fabric_result *fabric = run->result->fabric;
    weir_candidate_demand demand = {scenario, period_between};
    weir_candidate_network network = {0};
    if (fabric->link_count > 0 || run->played.link_count == 0 ||
        fabric->recommended >= scenario->candidate_count)
        return WEIR_OK;
    weir_code code =
        weir_candidate_network_build(scenario, fabric->recommended, &demand, &network, err);
    if (code == WEIR_OK && network.layout)
        code = fill_all(run, network.layout, err);
    weir_candidate_network_clear(&network);
    return code;
}

weir_code fabric_list_cables(const fabric_run_state *run, const weir_fabric_scenario *scenario,
                             uint32_t candidate, weir_text *csv, weir_err *err)
{
    enum { CABLES_MOST = 1000000 };
    const weir_fabric_candidate_row *row = &run->result->fabric->candidates[candidate];
    weir_candidate_demand demand = {scenario, period_between};
    weir_candidate_network network = {0};
    if (row->optical_ports > 0)
        return WEIR_OK;
    if (row->cables > CABLES_MOST) {
        weir_result_note(run->result, "%s: %llu cables; lists of more than %d are not written",
                         row->name, (unsigned long long)row->cables, CABLES_MOST);
        return WEIR_OK;
    }
    weir_code code = weir_candidate_network_build(scenario, candidate, &demand, &network, err);
    if (code == WEIR_OK && network.layout && weir_layout_roads(network.layout) == 1 &&
        !weir_bill_cabling_csv(weir_layout_topology(network.layout, 0), csv))
        code = no_memory(err);
    weir_candidate_network_clear(&network);
    return code;
}
