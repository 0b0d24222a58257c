/* candidate_packets.c: candidates that switch packets: Clos, torus, dragonfly, lists. */
#include "study/candidate_inside.h"

#include <math.h>
#include <string.h>

weir_nodes candidate_nodes(const candidate_build *b)
{
    const weir_cluster *cluster = &b->scenario->cluster;
    weir_nodes nodes = {.nodes = cluster->nodes, .devices = cluster->devices};
    nodes.nics = cluster->nics;
    if (cluster->node_link) {
        nodes.wiring = cluster->node_link->wiring;
        nodes.cable = (weir_cable){.bytes_per_s = cluster->node_link->bytes_per_s,
                                   .latency_s = cluster->node_link->latency_s};
    }
    if (cluster->pcie) {
        nodes.pcie = (weir_cable){.bytes_per_s = cluster->pcie->bytes_per_s,
                                  .latency_s = cluster->pcie->latency_s};
    }
    /* What is not known delays nothing. */
    nodes.cable.latency_s = isnan(nodes.cable.latency_s) ? 0 : nodes.cable.latency_s;
    nodes.pcie.latency_s = isnan(nodes.pcie.latency_s) ? 0 : nodes.pcie.latency_s;
    return nodes;
}

weir_code candidate_need_nic(const candidate_build *b, weir_err *err)
{
    const weir_nic_part *nic = b->scenario->cluster.nic;
    if (!nic) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "the cluster names no NIC; cluster.nic: cx7-400g would be one");
    }
    return weir_parts_need(nic->id, "rate", nic->bytes_per_s, "400 Gb/s", err);
}

weir_code candidate_need_switch(const candidate_build *b, weir_err *err)
{
    const weir_switch_part *sw = b->candidate->sw;
    if (!sw) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "it names no switch; switch: tomahawk5-400g would be one");
    }
    return weir_parts_need(sw->id, "rate", sw->bytes_per_s, "400 Gb/s", err);
}

static bool is_optical(const weir_candidate *c, uint32_t height)
{
    static const uint32_t first[] = {[WEIR_OPTICAL_NIC] = 0,
                                     [WEIR_OPTICAL_LEAF] = 1,
                                     [WEIR_OPTICAL_SPINE] = 2,
                                     [WEIR_OPTICAL_NONE] = 3};
    return height >= first[c->optical_from];
}

weir_cable candidate_cable(const candidate_build *b, uint32_t height, double bytes_per_s,
                           double switches)
{
    const weir_candidate *c = b->candidate;
    weir_cable cable = {.bytes_per_s = bytes_per_s, .is_optical = is_optical(c, height)};
    const weir_module_part *module = cable.is_optical ? c->module : c->copper;
    double module_s = module && module->latency_s > 0 ? 2 * module->latency_s : 0;
    double switch_s = c->sw && c->sw->latency_s > 0 ? c->sw->latency_s * switches : 0;
    double fibre_s = weir_parts_fibre(b->scenario->parts)->s_per_m * c->length_m[height];
    cable.latency_s = switch_s + module_s + fibre_s;
    return cable;
}

weir_code candidate_planes(const candidate_build *b, double nic_bytes_per_s, uint32_t *planes,
                           weir_err *err)
{
    const weir_candidate *c = b->candidate;
    double needed = ceil(nic_bytes_per_s / c->sw->bytes_per_s * (1 - 1e-9));
    if (!(needed <= 64)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "NICs of %g Gb/s on ports of %g Gb/s; at most 64 planes can share one",
                            nic_bytes_per_s * 8e-9, c->sw->bytes_per_s * 8e-9);
    }
    if (c->planes && c->planes < needed) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "NICs of %g Gb/s do not fit %u x %g Gb/s (%u of the ports of %s); "
                            "planes: %g would do",
                            nic_bytes_per_s * 8e-9, c->planes, c->sw->bytes_per_s * 8e-9, c->planes,
                            c->sw->id, needed);
    }
    *planes = c->planes ? c->planes : (uint32_t)fmax(1, needed);
    if (nic_bytes_per_s / *planes < c->sw->bytes_per_s * (1 - 1e-9)) {
        candidate_note(b, "%s has ports of %g Gb/s; NICs fill them with %g Gb/s", c->sw->id,
                       c->sw->bytes_per_s * 8e-9, nic_bytes_per_s / *planes * 8e-9);
    }
    return WEIR_OK;
}

static weir_code add_road(const candidate_build *b, const weir_fabric *fabric,
                          const weir_routing *routing, weir_road *road, weir_err *err)
{
    weir_topology *topology = NULL;
    weir_code code = weir_topology_new(fabric, &topology, err);
    if (code != WEIR_OK) {
        return code;
    }
    candidate_count_switches(b, topology);
    candidate_count_cables(b, topology);
    return weir_layout_add(b->network->layout, topology, routing, road, err);
}

/* --- Clos --- */

static weir_fabric clos_of(const candidate_build *b, weir_clos_wiring wiring,
                           double nic_bytes_per_s, uint32_t planes)
{
    const weir_candidate *c = b->candidate;
    weir_fabric fabric = {.kind = WEIR_FABRIC_CLOS, .nodes = candidate_nodes(b)};
    weir_clos *clos = &fabric.clos;
    *clos = (weir_clos){.tiers = c->tiers, .planes = planes, .wiring = wiring, .is_fitted = true};
    for (uint32_t i = 0; i < 3; i++) {
        clos->radix[i] = c->sw->ports;
    }
    for (uint32_t i = 0; i < 2; i++) {
        clos->oversubscription[i] = c->oversubscription[i];
        clos->trunk[i] = c->trunk[i];
    }
    /* Up and down a cable to a leaf is one switch together. */
    clos->cable[0] = candidate_cable(b, 0, nic_bytes_per_s / planes, 0.5);
    clos->cable[1] = candidate_cable(b, 1, c->sw->bytes_per_s, 1);
    clos->cable[2] = candidate_cable(b, 2, c->sw->bytes_per_s, 1);
    return fabric;
}

/* The fewest tiers that fit where none are asked for; the last one's reason if none does. */
static weir_code fit_tiers(weir_fabric *fabric, weir_err *err)
{
    weir_code code = WEIR_OK;
    uint32_t asked = fabric->clos.tiers;
    for (uint32_t tiers = asked ? asked : 1; tiers <= 3; tiers++) {
        weir_topology *topology = NULL;
        weir_err reason = {0};
        fabric->clos.tiers = tiers;
        code = weir_topology_new(fabric, &topology, &reason);
        weir_topology_free(topology);
        if (code == WEIR_OK || code == WEIR_ERR_MEMORY || tiers == 3 || asked) {
            return code == WEIR_OK ? code : weir_err_set(err, code, "%s", reason.text);
        }
    }
    return weir_err_set(err, WEIR_ERR_INPUT, "a Clos network of %u tiers; 1, 2 or 3", asked);
}

/* Rails that nothing joins are changed inside the node, if it can. */
static weir_routing clos_routing(const candidate_build *b, weir_clos_wiring wiring)
{
    weir_routing routing = b->candidate->routing;
    const weir_cluster *cluster = &b->scenario->cluster;
    if (wiring == WEIR_CLOS_RAIL_ONLY && cluster->node_link && !routing.has_pxn) {
        routing.has_pxn = true;
        candidate_note(b, "rails are joined inside nodes only: PXN is on");
    }
    return routing;
}

static weir_code add_node_only(const candidate_build *b, weir_road *road, weir_err *err)
{
    const weir_fabric fabric = {.kind = WEIR_FABRIC_NODE, .nodes = candidate_nodes(b)};
    weir_routing routing = b->candidate->routing;
    routing.has_pxn = false;
    routing.has_valiant = false;
    candidate_note(b, "one node: there is no network between nodes");
    return add_road(b, &fabric, &routing, road, err);
}

weir_code candidate_add_clos(const candidate_build *b, weir_clos_wiring wiring,
                             double nic_bytes_per_s, weir_road *road, weir_err *err)
{
    uint32_t planes = 1;
    weir_code code = candidate_need_switch(b, err);
    if (code == WEIR_OK) {
        code = candidate_planes(b, nic_bytes_per_s, &planes, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    weir_fabric fabric = clos_of(b, wiring, nic_bytes_per_s, planes);
    weir_routing routing = clos_routing(b, wiring);
    code = fit_tiers(&fabric, err);
    return code == WEIR_OK ? add_road(b, &fabric, &routing, road, err) : code;
}

weir_code candidate_build_clos(const candidate_build *b, weir_err *err)
{
    static const weir_clos_wiring wirings[] = {[WEIR_CANDIDATE_CLOS] = WEIR_CLOS_PLAIN,
                                               [WEIR_CANDIDATE_RAIL] = WEIR_CLOS_RAILS,
                                               [WEIR_CANDIDATE_RAIL_ONLY] = WEIR_CLOS_RAIL_ONLY};
    weir_road road;
    if (b->scenario->cluster.nodes == 1) {
        return add_node_only(b, &road, err);
    }
    weir_code code = candidate_need_nic(b, err);
    return code == WEIR_OK ? candidate_add_clos(b, wirings[b->candidate->kind],
                                                b->scenario->cluster.nic->bytes_per_s, &road, err)
                           : code;
}

/* --- torus --- */

static uint32_t devices_of(const candidate_build *b)
{
    return b->scenario->cluster.nodes * b->scenario->cluster.devices;
}

/* What the NICs of a device carry together. */
static double device_rate(const candidate_build *b)
{
    const weir_cluster *cluster = &b->scenario->cluster;
    return cluster->nics ? cluster->nic->bytes_per_s * cluster->nics / cluster->devices
                         : cluster->nic->bytes_per_s;
}

void candidate_cube(uint32_t places, uint32_t size[3])
{
    size[0] = places;
    size[1] = size[2] = 1;
    for (uint32_t a = 1; (uint64_t)a * a * a <= places; a++) {
        for (uint32_t c = a; places % a == 0 && (uint64_t)c * c <= places / a; c++) {
            if (places / a % c == 0 && places / a / c < size[0]) {
                size[0] = places / a / c;
                size[1] = c;
                size[2] = a;
            }
        }
    }
}

static weir_code size_of_torus(const candidate_build *b, weir_torus *torus, weir_err *err)
{
    const weir_candidate *c = b->candidate;
    uint64_t places = 1;
    bool is_given = c->size[0] || c->size[1] || c->size[2];
    memcpy(torus->size, c->size, sizeof torus->size);
    memcpy(torus->twist, c->twist, sizeof torus->twist);
    if (!is_given) {
        candidate_cube(devices_of(b), torus->size);
    }
    for (int i = 0; i < 3; i++) {
        places *= torus->size[i] ? torus->size[i] : 1;
    }
    if (places != devices_of(b)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a torus of %u x %u x %u has %llu places; the cluster has %u devices",
                            torus->size[0], torus->size[1], torus->size[2],
                            (unsigned long long)places, devices_of(b));
    }
    return WEIR_OK;
}

weir_code candidate_build_torus(const candidate_build *b, weir_err *err)
{
    weir_fabric fabric = {.kind = WEIR_FABRIC_TORUS};
    weir_code code = candidate_need_nic(b, err);
    if (code == WEIR_OK) {
        code = size_of_torus(b, &fabric.torus, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t dimensions = 0;
    for (int i = 0; i < 3; i++) {
        dimensions += fabric.torus.size[i] > 1;
    }
    double each = device_rate(b) / (2 * (dimensions ? dimensions : 1));
    for (uint32_t i = 0; i < 3; i++) {
        fabric.torus.cable[i] = candidate_cable(b, 0, each, 0);
    }
    candidate_note(b, "a device's NICs (%g Gb/s together) are split over %u cables of the torus",
                   device_rate(b) * 8e-9, 2 * dimensions);
    if (b->scenario->cluster.node_link) {
        candidate_note(b, "links inside nodes are not used: a torus has one device at each place");
    }
    weir_routing routing = b->candidate->routing;
    routing.has_pxn = false;
    weir_road road;
    return add_road(b, &fabric, &routing, &road, err);
}

/* --- dragonfly --- */

weir_code candidate_build_dragonfly(const candidate_build *b, weir_err *err)
{
    const weir_candidate *c = b->candidate;
    const weir_cluster *cluster = &b->scenario->cluster;
    weir_fabric fabric = {.kind = WEIR_FABRIC_DRAGONFLY, .nodes = candidate_nodes(b)};
    uint32_t planes;
    weir_code code = candidate_need_nic(b, err);
    if (code == WEIR_OK) {
        code = candidate_need_switch(b, err);
    }
    if (code == WEIR_OK) {
        code = candidate_planes(b, cluster->nic->bytes_per_s, &planes, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    uint64_t routers = (uint64_t)c->groups * c->routers;
    uint64_t nics = (uint64_t)cluster->nodes * (cluster->nics ? cluster->nics : cluster->devices);
    uint64_t each = routers > 0 ? (nics + routers - 1) / routers : 0;
    uint64_t ports = each + (c->routers ? c->routers - 1 : 0) + c->global_cables;
    if (planes > 1 || ports > c->sw->ports) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a router with %llu NICs, %u routers beside it and %u global cables "
                            "needs %llu ports of %g Gb/s; %s has %u of %g",
                            (unsigned long long)each, c->routers ? c->routers - 1 : 0,
                            c->global_cables, (unsigned long long)ports,
                            cluster->nic->bytes_per_s * 8e-9, c->sw->id, c->sw->ports,
                            c->sw->bytes_per_s * 8e-9);
    }
    fabric.dragonfly =
        (weir_dragonfly){.groups = c->groups,
                         .routers = c->routers,
                         .nics = (uint32_t)each,
                         .global_cables = c->global_cables,
                         .nic = candidate_cable(b, 0, cluster->nic->bytes_per_s, 0.5),
                         .local = candidate_cable(b, 1, c->sw->bytes_per_s, 1),
                         .global = candidate_cable(b, 2, c->sw->bytes_per_s, 1)};
    weir_routing routing = c->routing;
    weir_road road;
    return add_road(b, &fabric, &routing, &road, err);
}

/* --- lists --- */

weir_code candidate_build_list(const candidate_build *b, weir_err *err)
{
    weir_fabric fabric = {.kind = WEIR_FABRIC_LIST};
    fabric.list = b->candidate->list;
    if (fabric.list.devices != devices_of(b)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "its list of cables has %u devices; the cluster has %u",
                            fabric.list.devices, devices_of(b));
    }
    weir_routing routing = b->candidate->routing;
    routing.has_pxn = false;
    weir_road road;
    return add_road(b, &fabric, &routing, &road, err);
}
