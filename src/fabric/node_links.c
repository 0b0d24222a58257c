#include "fabric/topology_inside.h"

#include <assert.h>
#include <math.h>

static weir_code check_nics(const weir_nodes *nodes, uint32_t nics, weir_err *err)
{
    if (nodes->devices % nics != 0 && nics % nodes->devices != 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a node with %u devices and %u NICs; one must divide the other, so "
                            "that each device has the same share",
                            nodes->devices, nics);
    }
    return WEIR_OK;
}

weir_code shape_nodes(weir_topology *t, const weir_nodes *nodes, bool has_network,
                      uint32_t counts[WEIR_VERTEX_KIND_COUNT], weir_err *err)
{
    if (nodes->nodes == 0 || nodes->devices == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u nodes with %u devices each; both must be 1 or more", nodes->nodes,
                            nodes->devices);
    }
    if (!has_network && nodes->nodes > 1) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%u nodes and no network between them; 1 node, or a network",
                            nodes->nodes);
    }
    uint32_t nics = has_network ? (nodes->nics ? nodes->nics : nodes->devices) : 0;
    if (has_network && check_nics(nodes, nics, err) != WEIR_OK) {
        return WEIR_ERR_INPUT;
    }
    uint64_t most = WEIR_NONE / 8;
    if ((uint64_t)nodes->nodes * nodes->devices > most || (uint64_t)nodes->nodes * nics > most) {
        return weir_err_set(err, WEIR_ERR_LIMIT,
                            "%u nodes with %u devices and %u NICs each; at most %u of each kind "
                            "in all",
                            nodes->nodes, nodes->devices, nics, (uint32_t)most);
    }
    uint64_t mesh = nodes->wiring == WEIR_NODE_MESHED ? nodes->devices - 1 : 0;
    if (mesh * nodes->nodes * nodes->devices > most) {
        return weir_err_set(err, WEIR_ERR_LIMIT,
                            "%u nodes of %u devices with a cable for each pair; at most %u links "
                            "in all",
                            nodes->nodes, nodes->devices, (uint32_t)most);
    }
    t->node.wiring = nodes->wiring;
    t->node.devices = nodes->devices;
    t->node.nics = nics;
    /* A device that has its NICs for itself, behind PCIe that never binds, owns their ports. */
    t->node.has_pcie = has_network && (nodes->pcie.bytes_per_s > 0 || nodes->pcie.latency_s > 0 ||
                                       nics < nodes->devices);
    counts[WEIR_VERTEX_DEVICE] = nodes->nodes * nodes->devices;
    counts[WEIR_VERTEX_NODE_SWITCH] = nodes->wiring == WEIR_NODE_SWITCHED ? nodes->nodes : 0;
    counts[WEIR_VERTEX_NIC] = t->node.has_pcie ? nodes->nodes * nics : 0;
    return WEIR_OK;
}

static weir_code lay_mesh(weir_topology *t, const weir_listed_cable *how, weir_err *err)
{
    uint32_t per_node = t->node.devices, devices = weir_topology_devices(t);
    for (uint32_t first = 0; first < devices; first += per_node) {
        for (uint32_t i = 0; i < per_node; i++) {
            for (uint32_t j = i + 1; j < per_node; j++) {
                weir_code code = topology_cable(t, first + i, first + j, how, err);
                if (code != WEIR_OK) {
                    return code;
                }
            }
        }
    }
    return WEIR_OK;
}

static weir_code lay_switch_or_ring(weir_topology *t, const weir_listed_cable *how, weir_err *err)
{
    uint32_t per_node = t->node.devices, devices = weir_topology_devices(t);
    for (uint32_t d = 0; d < devices; d++) {
        uint32_t node = d / per_node;
        uint32_t to = t->node.wiring == WEIR_NODE_SWITCHED
                          ? t->first_vertex[WEIR_VERTEX_NODE_SWITCH] + node
                          : node * per_node + (d + 1) % per_node;
        weir_code code = topology_cable(t, d, to, how, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

static weir_code lay_pcie(weir_topology *t, const weir_nodes *nodes, weir_err *err)
{
    weir_listed_cable how = {.cable = nodes->pcie, .tier = WEIR_TIER_IN_NODE};
    if (how.cable.bytes_per_s == 0) {
        how.cable.bytes_per_s = INFINITY;
    }
    uint32_t devices = weir_topology_devices(t);
    for (uint32_t d = 0; d < devices; d++) {
        uint32_t count, first = node_nics(t, d, &count);
        for (uint32_t i = 0; i < count; i++) {
            weir_code code =
                topology_cable(t, d, t->first_vertex[WEIR_VERTEX_NIC] + first + i, &how, err);
            if (code != WEIR_OK) {
                return code;
            }
        }
    }
    return WEIR_OK;
}

weir_code lay_nodes(weir_topology *t, const weir_nodes *nodes, weir_err *err)
{
    t->node.first = t->count;
    weir_listed_cable how = {.cable = nodes->cable, .tier = WEIR_TIER_IN_NODE};
    bool has_links = nodes->wiring != WEIR_NODE_UNLINKED && nodes->devices > 1;
    if (has_links && !(how.cable.bytes_per_s > 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "links between the devices of a node carry %g bytes/s; it must be "
                            "more than 0",
                            how.cable.bytes_per_s);
    }
    weir_code code = WEIR_OK;
    if (has_links) {
        code = nodes->wiring == WEIR_NODE_MESHED ? lay_mesh(t, &how, err)
                                                 : lay_switch_or_ring(t, &how, err);
    }
    t->node.pcie = t->count;
    return code == WEIR_OK && t->node.has_pcie ? lay_pcie(t, nodes, err) : code;
}

weir_link_id node_mesh_link(const weir_topology *t, uint32_t from, uint32_t to)
{
    uint32_t n = t->node.devices, node = from / n;
    uint32_t i = from % n, j = to % n;
    bool is_back = i > j;
    if (is_back) {
        uint32_t swap = i;
        i = j;
        j = swap;
    }
    uint32_t pairs_before = i * (2 * n - i - 1) / 2 + j - i - 1;
    return t->node.first + node * n * (n - 1) + 2 * pairs_before + (is_back ? 1 : 0);
}

uint32_t node_nics(const weir_topology *t, uint32_t device, uint32_t *count)
{
    uint32_t devices = t->node.devices, nics = t->node.nics;
    uint32_t node = device / devices, local = device % devices;
    if (nics >= devices) {
        *count = nics / devices;
        return node * nics + local * *count;
    }
    assert(nics > 0); /* only networks ask */
    *count = 1;
    return node * nics + local / (devices / nics);
}

weir_link_id node_pcie_link(const weir_topology *t, uint32_t device, uint32_t nic)
{
    if (!t->node.has_pcie) {
        return WEIR_NONE;
    }
    uint32_t count, first = node_nics(t, device, &count);
    return t->node.pcie + 2 * (device * count + nic - first);
}

uint32_t node_port_vertex(const weir_topology *t, uint32_t nic)
{
    if (t->node.has_pcie) {
        return t->first_vertex[WEIR_VERTEX_NIC] + nic;
    }
    return nic / (t->node.nics / t->node.devices);
}
