/* route_light.c: ways over circuits between blocks, from device to device.
 *
 * A way is: up from the device to a spine (or leaf, or its NIC), circuits over the fewest blocks
 * (light_ways.c), and down. Up and down follow from the spines at which the first and the last
 * circuit end. A pod that is passed through hands traffic from any of its spines to any other. */
#include "fabric/ecmp.h"
#include "fabric/light_ways.h"

#include <math.h>

/* --- up and down --- */

static double leg_latency_s(const weir_router *r, const light_pair *p, uint32_t hops)
{
    const weir_topology *t = r->topology;
    const weir_net *net = weir_topology_net(t);
    double sum = hops * weir_net_latency_s(net, t->light.first);
    if (t->light.ends == WEIR_LIGHT_NICS) {
        return sum;
    }
    sum += 2 * weir_net_latency_s(net, t->clos.port + 2 * p->nic[0] * t->clos.planes);
    return t->light.ends == WEIR_LIGHT_PODS ? sum + 2 * weir_net_latency_s(net, t->clos.up) : sum;
}

static weir_link_id port_link(const weir_topology *t, const light_pair *p, bool is_down)
{
    return t->clos.port + 2 * (p->nic[is_down] * t->clos.planes + p->plane) + is_down;
}

/* The trunk of a used circuit at the pair's own leaf. */
static weir_code add_trunk(weir_router *r, const light_pair *p, bool is_down,
                           const used_circuit *used, weir_err *err)
{
    weir_link_id first = light_trunk_link(r->topology, p, is_down, used->circuit);
    uint32_t trunk = r->topology->clos.trunk[0];
    uint32_t alive = r->dead_count ? light_alive_cables(r, first) : trunk;
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < trunk && code == WEIR_OK; i++) {
        if (!r->dead[first + 2 * i]) {
            code = route_add(r, first + 2 * i, used->weight * trunk / alive, err);
        }
    }
    return code;
}

/* PCIe and the port of both NICs; weight: of all that passes. */
static weir_code add_ends(weir_router *r, const uint32_t pair[2], const light_pair *p,
                          double weight, weir_err *err)
{
    const weir_topology *t = r->topology;
    weir_code code = WEIR_OK;
    for (int i = 0; i < 2 && code == WEIR_OK; i++) {
        weir_link_id pcie = node_pcie_link(t, pair[i], p->nic[i]);
        if (pcie != WEIR_NONE) {
            code = route_add(r, pcie + (weir_link_id)i, weight, err);
        }
        if (code == WEIR_OK && t->light.ends != WEIR_LIGHT_NICS) {
            code = route_add(r, port_link(t, p, i == 1), weight, err);
        }
    }
    return code;
}

/* The used circuits with all that is above and below them. sum: of their first ones' weights. */
static weir_code add_used(weir_router *r, const uint32_t pair[2], const light_pair *p, double sum,
                          weir_err *err)
{
    const weir_topology *t = r->topology;
    const light_shape *s = &t->light;
    bool has_spines = s->ends == WEIR_LIGHT_PODS;
    double trunk = has_spines ? t->clos.trunk[0] : 1;
    uint32_t count;
    const used_circuit *all = light_ways_used(r, &count);
    weir_code code = add_ends(r, pair, p, sum * trunk, err);
    for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
        const used_circuit *used = &all[i];
        code = route_add(r, light_circuit_link(s, p->network, used->circuit), used->weight * trunk,
                         err);
        if (code == WEIR_OK && has_spines && s->circuits[used->circuit].from == p->block[0]) {
            code = add_trunk(r, p, false, used, err);
        }
        if (code == WEIR_OK && has_spines && s->circuits[used->circuit].to == p->block[1]) {
            code = add_trunk(r, p, true, used, err);
        }
    }
    r->leg_weight += sum * trunk;
    return code;
}

/* --- a leg --- */

/* The NICs `slot` of both devices, on one plane; false: no network has both, or one is cut off. */
static bool make_pair(const weir_router *r, const uint32_t pair[2], uint32_t port, light_pair *p)
{
    const weir_topology *t = r->topology;
    bool has_leaves = t->light.ends != WEIR_LIGHT_NICS;
    uint32_t count, slots;
    (void)node_nics(t, pair[0], &slots);
    *p = (light_pair){.plane = port / slots};
    for (int i = 0; i < 2; i++) {
        p->nic[i] = node_nics(t, pair[i], &count) + port % slots;
        p->block[i] = pair[i] / t->node.devices / t->light.block_nodes;
        p->leaf[i] = has_leaves ? clos_place(&t->clos, p->nic[i]) / t->clos.leaf_down : 0;
        weir_link_id pcie = node_pcie_link(t, pair[i], p->nic[i]);
        if ((pcie != WEIR_NONE && r->dead[pcie + (weir_link_id)i]) ||
            (has_leaves && r->dead[port_link(t, p, i == 1)])) {
            return false;
        }
    }
    if (has_leaves) {
        p->network = clos_network(&t->clos, p->nic[0], p->plane);
        return p->network == clos_network(&t->clos, p->nic[1], p->plane);
    }
    p->network = p->nic[0] % t->node.nics; /* the rail */
    return p->network == p->nic[1] % t->node.nics;
}

/* One port's circuits; h: NULL sprays, else one way is drawn by it. */
static weir_code take_port(weir_router *r, const uint32_t pair[2], uint32_t port, const uint64_t *h,
                           weir_err *err)
{
    light_pair p;
    if (!make_pair(r, pair, port, &p)) {
        return WEIR_OK;
    }
    double sum;
    uint32_t hops = 0, count;
    weir_code code = light_ways_find(r, &p, &sum, &hops, err);
    if (code != WEIR_OK || sum == 0) {
        return code;
    }
    if (h) {
        code = light_ways_draw(r, &p, *h, &hops, err);
        sum = 1;
    } else if (r->dead_count) { /* ports that live share equally, whatever they lead to */
        used_circuit *used = light_ways_used(r, &count);
        for (uint32_t i = 0; i < count; i++) {
            used[i].weight /= sum;
        }
        sum = 1;
    }
    if (code == WEIR_OK) {
        code = add_used(r, pair, &p, sum, err);
    }
    double latency_s = leg_latency_s(r, &p, hops);
    for (int i = 0; i < 2; i++) {
        weir_link_id pcie = node_pcie_link(r->topology, pair[i], p.nic[i]);
        latency_s +=
            pcie == WEIR_NONE ? 0 : weir_net_latency_s(weir_topology_net(r->topology), pcie);
    }
    r->leg_s = fmax(r->leg_s, latency_s);
    return code;
}

static weir_code take_hashed(weir_router *r, const uint32_t pair[2], uint32_t ports, uint64_t flow,
                             weir_err *err)
{
    uint32_t pairs = r->routing.queue_pairs;
    weir_code code = WEIR_OK;
    for (uint32_t q = 0; q < pairs && code == WEIR_OK; q++) {
        uint64_t h = ecmp_hash(flow * pairs + q, r->routing.seed);
        uint64_t port = ecmp_hash(flow, ~r->routing.seed) + q;
        double before = r->leg_weight;
        for (uint32_t i = 0; i < ports && r->leg_weight == before && code == WEIR_OK; i++) {
            code = take_port(r, pair, (uint32_t)((port + i) % ports), &h, err);
        }
    }
    return code;
}

weir_code route_light(weir_router *r, uint32_t from, uint32_t to, uint64_t flow, weir_err *err)
{
    const weir_topology *t = r->topology;
    const light_shape *s = &t->light;
    const uint32_t pair[2] = {from, to};
    uint32_t block_devices = s->block_nodes * t->node.devices, count;
    if (from / block_devices == to / block_devices) {
        return s->ends == WEIR_LIGHT_NICS ? WEIR_OK : route_clos(r, from, to, flow, err);
    }
    if (s->count == 0) {
        return WEIR_OK;
    }
    weir_code code = light_ways_need(r, err);
    (void)node_nics(t, from, &count);
    uint32_t ports = count * (s->ends == WEIR_LIGHT_NICS ? 1 : t->clos.planes);
    if (code == WEIR_OK && r->routing.choice == WEIR_ROUTE_ECMP) {
        return take_hashed(r, pair, ports, flow, err);
    }
    uint64_t receiver = ecmp_hash(to, r->routing.seed);
    const uint64_t *drawn = r->routing.choice == WEIR_ROUTE_FIXED ? &receiver : NULL;
    for (uint32_t port = 0; port < ports && code == WEIR_OK; port++) {
        code = take_port(r, pair, port, drawn, err);
    }
    return code;
}
