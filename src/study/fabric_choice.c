/* fabric_choice.c: algorithm, protocol and latency of a phase on a network (fabric_program.h). */
#include "study/fabric_program.h"

#include "scenario/preset.h"

#include <math.h>
#include <string.h>

typedef struct {
    double node_s;    /* of one hop between devices of a node */
    double network_s; /* of the slowest hop between nodes */
    double ring_s;    /* of the hops between neighbours on different nodes, the mean */
    double least_s;   /* of the shortest hop between nodes: what library figures hold */
} hops;

/* A pair that nothing joins is none that this phase needs, or planning will say so. */
static weir_code hop(const weir_program_group *g, uint32_t from, uint32_t to, hops *seen,
                     weir_err *err)
{
    const weir_program_network *net = g->network;
    uint32_t devices = net->scenario->cluster.devices;
    weir_route route;
    weir_err found = {0};
    weir_code code =
        weir_layout_find(net->layout, net->roads[g->phase].road, from, to, 0, &route, &found);
    if (code == WEIR_OK && from / devices == to / devices) {
        seen->node_s = fmax(seen->node_s, route.latency_s);
    } else if (code == WEIR_OK) {
        seen->network_s = fmax(seen->network_s, route.latency_s);
    }
    return code == WEIR_OK || code == WEIR_ERR_INPUT ? WEIR_OK
                                                     : weir_err_set(err, code, "%s", found.text);
}

/* A ring's chunk crosses the hops between neighbours one after the other: their mean counts, and
 * circuits that few of them cross count as few. */
static weir_code look_at_ring(const weir_program_group *g, hops *seen, weir_err *err)
{
    uint32_t devices = g->network->scenario->cluster.devices, count = 0, n = g->groups.size;
    uint32_t sample = n <= 256 ? n : 255;
    double sum = 0;
    weir_code code = WEIR_OK;
    for (uint32_t k = 0; k < sample && n > 1 && code == WEIR_OK; k++) {
        hops one = {0};
        uint32_t from = g->members[k], to = g->members[(k + 1) % n];
        code = hop(g, from, to, &one, err);
        seen->node_s = fmax(seen->node_s, one.node_s);
        seen->network_s = fmax(seen->network_s, one.network_s);
        bool is_between = from / devices != to / devices;
        sum += is_between ? one.network_s : 0;
        count += is_between;
    }
    seen->ring_s = count ? sum / count : 0;
    return code;
}

/* Neighbours in rank order, and the first member to those 1, 2, 4, ... further: what rings, trees
 * and direct messages cross. */
static weir_code look_at_hops(const weir_program_group *g, hops *seen, weir_err *err)
{
    uint32_t n = g->groups.size;
    weir_code code = look_at_ring(g, seen, err);
    for (uint32_t k = 1; k < n && code == WEIR_OK; k *= 2) {
        code = hop(g, g->members[0], g->members[k], seen, err);
    }
    const weir_cluster *cluster = &g->network->scenario->cluster;
    if (code == WEIR_OK && cluster->nodes > 1) {
        weir_route route;
        weir_err ignored = {0}; /* a network may lack that pair */
        seen->least_s = seen->network_s;
        if (weir_layout_find(g->network->layout, g->network->roads[g->phase].road, 0,
                             cluster->devices, 0, &route, &ignored) == WEIR_OK) {
            seen->least_s = fmin(seen->network_s, route.latency_s);
        }
    }
    return code;
}

static double rounds_log2(uint32_t n)
{
    double rounds = 0;
    for (uint64_t reach = 1; reach < n; reach *= 2) {
        rounds++;
    }
    return rounds;
}

/* Hops that follow one another in an algorithm over n members. */
static double rounds_of(weir_collective_kind kind, weir_collective_algorithm algorithm, uint32_t n)
{
    double both = kind == WEIR_COLLECTIVE_ALL_REDUCE ? 2 : 1;
    switch (algorithm) {
    case WEIR_ALGORITHM_RING:
    case WEIR_ALGORITHM_CHAIN:
        return both * (n - 1.0);
    case WEIR_ALGORITHM_PAIRWISE:
        return n - 1.0;
    case WEIR_ALGORITHM_TREE:
    case WEIR_ALGORITHM_HALVING:
    case WEIR_ALGORITHM_PAT:
    case WEIR_ALGORITHM_NVLS_TREE:
    case WEIR_ALGORITHM_HIERARCHICAL:
    case WEIR_ALGORITHM_HIERARCHICAL3:
        return both * rounds_log2(n);
    case WEIR_ALGORITHM_DOUBLING:
    case WEIR_ALGORITHM_BRUCK:
        return rounds_log2(n);
    default:
        return n > 1 ? 1 : 0;
    }
}

/* Of a hop between nodes in that algorithm. */
static double hop_s(weir_collective_algorithm algorithm, const hops *seen)
{
    bool is_ring = algorithm == WEIR_ALGORITHM_RING || algorithm == WEIR_ALGORITHM_CHAIN;
    return is_ring && seen->ring_s > 0 ? seen->ring_s : seen->network_s;
}

weir_collective_algorithm weir_program_usual(weir_collective_kind kind)
{
    switch (kind) {
    case WEIR_COLLECTIVE_ALL_TO_ALL:
    case WEIR_COLLECTIVE_SEND_RECV:
        return WEIR_ALGORITHM_DIRECT;
    case WEIR_COLLECTIVE_BROADCAST:
    case WEIR_COLLECTIVE_REDUCE:
        return WEIR_ALGORITHM_CHAIN;
    default:
        return WEIR_ALGORITHM_RING;
    }
}

static weir_collective_choice closed_form(const weir_phase *phase,
                                          const weir_collective_shape *shape, const hops *seen)
{
    bool is_forced =
        phase->kind == WEIR_PHASE_COLLECTIVE && phase->algorithm != WEIR_ALGORITHM_COUNT;
    weir_collective_algorithm algorithm =
        is_forced ? phase->algorithm : weir_program_usual(shape->kind);
    uint32_t nodes = shape->nodes ? shape->nodes : 1;
    double between = rounds_of(shape->kind, algorithm, nodes);
    double inside = rounds_of(shape->kind, algorithm, shape->ranks) - between;
    return (weir_collective_choice){
        .algorithm = algorithm,
        .protocol = WEIR_PROTOCOL_SIMPLE,
        .latency_s = between * hop_s(algorithm, seen) + fmax(inside, 0) * seen->node_s,
        .node_efficiency = 1,
        .network_efficiency = 1,
    };
}

/* What the phase is to the library: patterns and matrices are messages, except the all-to-all. */
static weir_collective_kind kind_of(const weir_phase *phase)
{
    if (phase->kind == WEIR_PHASE_COLLECTIVE) {
        return phase->collective;
    }
    bool is_all = phase->kind == WEIR_PHASE_PATTERN && phase->pattern == WEIR_PATTERN_ALL_TO_ALL;
    return is_all ? WEIR_COLLECTIVE_ALL_TO_ALL : WEIR_COLLECTIVE_SEND_RECV;
}

static weir_code measure(const weir_program_group *g, weir_collective_shape *shape, weir_err *err)
{
    const weir_phase *phase = &g->network->scenario->phases[g->phase];
    weir_collective_kind kind = kind_of(phase);
    weir_traffic_shape sent;
    weir_code code = weir_traffic_measure(g->network->scenario, g->phase, &sent, err);
    if (code != WEIR_OK) {
        return code;
    }
    bool is_message = kind == WEIR_COLLECTIVE_SEND_RECV && phase->kind != WEIR_PHASE_COLLECTIVE;
    double bytes = phase->kind == WEIR_PHASE_COLLECTIVE ? phase->bytes
                   : is_message                         ? sent.message_bytes
                                                        : phase->bytes * g->groups.size;
    /* A message is measured between ends that are as far apart as any: first and last member. */
    uint32_t ends[2] = {g->members[0], g->members[g->groups.size - 1]};
    weir_collective_job job = {
        .kind = kind,
        .bytes = bytes,
        .members = is_message ? ends : g->members,
        .count = is_message ? 2 : g->groups.size,
        .road = g->network->roads[g->phase].road,
    };
    weir_plan_measure(g->network->layout, &job, shape);
    const weir_link_part *node_link = g->network->scenario->cluster.node_link;
    shape->kind = kind;
    shape->bytes = bytes;
    shape->has_node_reduction = node_link && node_link->wiring == WEIR_NODE_SWITCHED;
    return WEIR_OK;
}

/* The library knows parts by the ids of presets; those that a scenario describes go by their rate:
 * NULL. */
static const char *preset_id(const char *folder, const char *id)
{
    const char *path;
    uint32_t state = 0;
    size_t from = strlen(folder) + 1, n = strlen(id);
    while ((path = weir_preset_next(folder, &state))) {
        if (strncmp(path + from, id, n) == 0 && strcmp(path + from + n, ".yaml") == 0) {
            return id;
        }
    }
    return NULL;
}

static bool still_assumes(const weir_program_group *g, const weir_collective_shape *shape,
                          const weir_collective_wish *wish)
{
    weir_collective_choice choice;
    weir_err ignored = {0};
    return weir_library_choose(g->network->library, shape, wish, &choice, &ignored) == WEIR_OK &&
           choice.transport_was_assumed;
}

/* Whose figures stand for the node's links, for the NIC: with the other one named, is one still
 * assumed? */
static void tell_assumed(const weir_program_group *g, const weir_collective_shape *shape,
                         const weir_collective_wish *wish, weir_program_phase *chosen)
{
    const weir_collective_choice *choice = &chosen->choice;
    if (!choice->transport_was_assumed) {
        return;
    }
    weir_collective_wish node = *wish, network = *wish;
    node.network_transport = choice->network_transport;
    network.node_transport = choice->node_transport;
    chosen->assumed[0] = still_assumes(g, shape, &node) ? choice->node_transport : NULL;
    chosen->assumed[1] = still_assumes(g, shape, &network) ? choice->network_transport : NULL;
}

weir_code weir_program_choose_as(const weir_program_group *g, weir_collective_algorithm algorithm,
                                 weir_program_phase *chosen, weir_err *err)
{
    const weir_fabric_scenario *scenario = g->network->scenario;
    const weir_phase *phase = &scenario->phases[g->phase];
    weir_collective_shape shape = {0};
    hops seen = {0};
    weir_code code = measure(g, &shape, err);
    if (code == WEIR_OK) {
        code = look_at_hops(g, &seen, err);
    }
    if (code != WEIR_OK || !g->network->library) {
        chosen->choice = closed_form(phase, &shape, &seen);
        chosen->error_share = NAN;
        return code;
    }
    const weir_link_part *node_link = scenario->cluster.node_link;
    const weir_nic_part *nic = scenario->cluster.nic;
    bool is_collective = phase->kind == WEIR_PHASE_COLLECTIVE;
    weir_collective_wish wish = {
        .algorithm = algorithm,
        .protocol = is_collective ? phase->protocol : WEIR_PROTOCOL_COUNT,
        .node_transport = node_link ? preset_id("links", node_link->id) : NULL,
        .network_transport = nic ? preset_id("nics", nic->id) : NULL,
    };
    weir_err found = {0};
    code = weir_library_choose(g->network->library, &shape, &wish, &chosen->choice, &found);
    if (code != WEIR_OK) {
        return weir_fabric_reject(scenario, phase->place, err, "phase '%s': %s", phase->name,
                                  found.text);
    }
    tell_assumed(g, &shape, &wish, chosen);
    uint32_t nodes = shape.nodes ? shape.nodes : 1;
    weir_collective_algorithm taken = chosen->choice.algorithm;
    chosen->choice.latency_s +=
        rounds_of(shape.kind, taken, nodes) * fmax(0, hop_s(taken, &seen) - seen.least_s);
    chosen->error_share = weir_library_error(g->network->library, &shape);
    return WEIR_OK;
}

weir_code weir_program_choose(const weir_program_group *g, weir_program_phase *chosen,
                              weir_err *err)
{
    const weir_phase *phase = &g->network->scenario->phases[g->phase];
    bool is_forced = phase->kind == WEIR_PHASE_COLLECTIVE;
    weir_code code =
        weir_program_choose_as(g, is_forced ? phase->algorithm : WEIR_ALGORITHM_COUNT, chosen, err);
    return code == WEIR_OK ? weir_program_fit(g, chosen, err) : code;
}
