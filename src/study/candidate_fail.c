/* candidate_fail.c: one part of a candidate network dies, and comes back. */
#include "study/candidate_light.h"

struct candidate_dead {
    uint32_t count;
    weir_link_id *links;
};

/* What to look for: links at a vertex of a kind, or the port of NIC 0. */
typedef struct {
    weir_vertex_kind kind;
    uint32_t number;
} dead_vertex;

static bool touches(const weir_topology *topology, weir_link link, const dead_vertex *what)
{
    const uint32_t ends[2] = {link.from, link.to};
    for (int i = 0; i < 2; i++) {
        uint32_t number;
        if (weir_topology_vertex(topology, ends[i], &number) == what->kind &&
            number == what->number) {
            return true;
        }
    }
    return false;
}

static void kill(weir_candidate_network *n, weir_link_id link)
{
    n->dead->links[n->dead->count++] = link;
    weir_layout_set_dead(n->layout, link, true);
}

/* On the first road that has such a vertex, and on those that stand on its links. */
static bool kill_vertex(weir_candidate_network *n, const dead_vertex *what)
{
    uint32_t count = weir_net_count(weir_layout_net(n->layout));
    weir_road road = WEIR_NONE;
    for (weir_link_id link = 0; link < count; link++) {
        weir_road owner = weir_layout_road_of(n->layout, link);
        const weir_topology *t = weir_layout_topology(n->layout, owner);
        weir_link l = weir_topology_link(t, link - weir_layout_first_link(n->layout, owner));
        bool is_same = road == WEIR_NONE || n->designs > 1 || owner == road;
        if (is_same && touches(t, l, what)) {
            road = road == WEIR_NONE ? owner : road;
            kill(n, link);
        }
    }
    return road != WEIR_NONE;
}

/* Both directions of the first cable between a device and the network. */
static bool kill_nic_link(weir_candidate_network *n)
{
    const weir_topology *t = weir_layout_topology(n->layout, 0);
    uint32_t count = weir_net_count(weir_topology_net(t));
    for (weir_link_id link = weir_topology_node_links(t); link < count; link++) {
        uint32_t number;
        weir_link l = weir_topology_link(t, link);
        weir_vertex_kind from = weir_topology_vertex(t, l.from, &number);
        if (from != WEIR_VERTEX_DEVICE && from != WEIR_VERTEX_NIC) {
            continue;
        }
        kill(n, weir_layout_first_link(n->layout, 0) + link);
        if (link + 1 < count && weir_topology_link(t, link + 1).cable == l.cable) {
            kill(n, weir_layout_first_link(n->layout, 0) + link + 1);
        }
        return true;
    }
    return false;
}

/* The planes that the first optical switch holds, on every road. */
static bool kill_ocs(weir_candidate_network *n)
{
    const struct candidate_lights *lights = n->lights;
    bool is_found = false;
    for (uint32_t i = 0; lights && i < lights->road_count; i++) {
        const light_road *road = &lights->roads[i];
        weir_link_id first =
            weir_layout_first_link(n->layout, road->road) +
            weir_topology_links_below_light(weir_layout_topology(n->layout, road->road));
        for (uint32_t network = 0; network < lights->networks; network++) {
            for (uint32_t k = 0; k < road->count; k++) {
                if (network * lights->planes + road->plane_of_circuit[k] < lights->units_each) {
                    kill(n, first + network * road->count + k);
                    is_found = true;
                }
            }
        }
    }
    return is_found;
}

static bool has_cores(const weir_candidate_network *n)
{
    for (uint32_t i = 0; i < weir_layout_roads(n->layout); i++) {
        weir_fabric_counts counts = weir_topology_counts(weir_layout_topology(n->layout, i));
        if (counts.vertices[WEIR_VERTEX_CORE] > 0) {
            return true;
        }
    }
    return false;
}

static bool kill_part(weir_candidate_network *n, weir_dead_kind kind, const char **name)
{
    static const dead_vertex core = {WEIR_VERTEX_CORE, 0}, spine = {WEIR_VERTEX_SPINE, 0},
                             leaf = {WEIR_VERTEX_LEAF, 0}, router = {WEIR_VERTEX_ROUTER, 0};
    switch (kind) {
    case WEIR_DEAD_TOP_SWITCH:
        *name = has_cores(n) ? "core 0" : "spine 0";
        return kill_vertex(n, has_cores(n) ? &core : &spine);
    case WEIR_DEAD_LEAF:
        *name = "leaf 0";
        if (kill_vertex(n, &leaf)) {
            return true;
        }
        *name = "router 0";
        return kill_vertex(n, &router);
    case WEIR_DEAD_OCS:
        *name = "optical switch 0";
        return kill_ocs(n);
    case WEIR_DEAD_NIC_LINK:
        *name = "the first NIC's link";
        return kill_nic_link(n);
    case WEIR_DEAD_KIND_COUNT:
        break;
    }
    return false;
}

weir_code candidate_reserve_dead(weir_candidate_network *network, weir_err *err)
{
    uint32_t count = weir_net_count(weir_layout_net(network->layout));
    struct candidate_dead *dead = weir_arena_alloc(network->arena, 1, sizeof *dead);
    if (dead) {
        dead->links = weir_arena_alloc(network->arena, (size_t)count + 1, sizeof *dead->links);
    }
    if (!dead || !dead->links) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u links", count);
    }
    network->dead = dead;
    return WEIR_OK;
}

bool weir_candidate_network_fail(weir_candidate_network *network, weir_dead_kind kind,
                                 const char **name)
{
    weir_candidate_network_repair(network);
    return network->dead && kill_part(network, kind, name);
}

void weir_candidate_network_repair(weir_candidate_network *network)
{
    for (uint32_t i = 0; network->dead && i < network->dead->count; i++) {
        weir_layout_set_dead(network->layout, network->dead->links[i], false);
    }
    if (network->dead) {
        network->dead->count = 0;
    }
}
