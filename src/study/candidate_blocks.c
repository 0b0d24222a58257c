/* candidate_blocks.c: what circuits end at, through which switches they go, and what that takes. */
#include "study/candidate_light.h"

#include <math.h>
#include <stdlib.h>

/* --- blocks --- */

/* At the ends of circuits; NULL: none is named. */
static const weir_module_part *circuit_module(const weir_candidate *c)
{
    return c->circuit_module ? c->circuit_module : c->module;
}

static weir_clos_wiring wiring_of(const weir_candidate *c)
{
    return c->wiring == WEIR_WIRING_RAILS ? WEIR_CLOS_RAIL_ONLY : WEIR_CLOS_PLAIN;
}

static weir_fabric fabric_of(const candidate_build *b, double nic_bytes_per_s, uint32_t planes)
{
    static const weir_light_ends ends[] = {[WEIR_BLOCK_POD] = WEIR_LIGHT_PODS,
                                           [WEIR_BLOCK_LEAF] = WEIR_LIGHT_LEAVES,
                                           [WEIR_BLOCK_NIC] = WEIR_LIGHT_NICS};
    const weir_candidate *c = b->candidate;
    weir_fabric fabric = {.kind = WEIR_FABRIC_LIGHT, .nodes = candidate_nodes(b)};
    weir_light *light = &fabric.light;
    *light = (weir_light){.ends = ends[c->block], .uplinks = c->uplinks};
    double rate = c->sw ? c->sw->bytes_per_s : 0;
    double switches = 1; /* that a circuit leads to */
    if (light->ends == WEIR_LIGHT_NICS) {
        light->uplinks = c->uplinks ? c->uplinks : 2;
        rate = nic_bytes_per_s / light->uplinks;
        switches = 0;
    } else if (c->sw) { /* which was asked for */
        light->clos =
            (weir_clos){.planes = planes,
                        .is_fitted = true,
                        .wiring = wiring_of(c),
                        .radix = {c->sw->ports, c->sw->ports},
                        .oversubscription = {c->oversubscription[0], c->oversubscription[1]},
                        .trunk = {c->trunk[0]}};
        light->clos.cable[0] = candidate_cable(b, 0, nic_bytes_per_s / planes, 0.5);
        light->clos.cable[1] = candidate_cable(b, 1, rate, 1);
    }
    light->circuit = candidate_cable(b, 2, rate, switches);
    const weir_module_part *module = circuit_module(c); /* whatever optical_from says */
    double fibre_s = weir_parts_fibre(b->scenario->parts)->s_per_m * 2 * c->length_m[2];
    double switch_s = c->sw && c->sw->latency_s > 0 ? c->sw->latency_s * switches : 0;
    light->circuit.is_optical = true;
    light->circuit.latency_s =
        fibre_s + switch_s + (module && module->latency_s > 0 ? 2 * module->latency_s : 0);
    return fabric;
}

static weir_code map_devices(const candidate_build *b, light_blocks *blocks, weir_err *err)
{
    uint32_t devices = b->scenario->cluster.nodes * b->scenario->cluster.devices;
    uint32_t each = blocks->blocks.block_nodes * b->scenario->cluster.devices;
    blocks->block_of_device =
        weir_arena_alloc(b->network->arena, devices, sizeof *blocks->block_of_device);
    if (!blocks->block_of_device) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the blocks of %u devices",
                            devices);
    }
    for (uint32_t d = 0; d < devices; d++) {
        blocks->block_of_device[d] = d / each;
    }
    return WEIR_OK;
}

/* --- optical switches --- */

static weir_code too_few_ports(const weir_ocs_part *ocs, const light_blocks *blocks,
                               const weir_circuit_switch *sw, uint32_t node_ports, weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "more circuits than ports: %u blocks with %u ends each on an optical "
                        "switch need %llu; %s has %u (%u ports, %u of them spare, %s)",
                        blocks->blocks.blocks, node_ports,
                        (unsigned long long)blocks->blocks.blocks * node_ports, ocs->id,
                        weir_circuit_link_ends(sw), sw->ports, sw->spare,
                        sw->circulators ? "one for a circuit's end" : "two for a circuit's end");
}

/* The fewest planes whose switches take every block with the same number of ends. */
static weir_code plan_switches(const candidate_build *b, light_blocks *blocks, weir_err *err)
{
    const weir_candidate *c = b->candidate;
    const weir_ocs_part *ocs = c->ocs;
    uint32_t ends = blocks->blocks.uplinks, n = blocks->blocks.blocks;
    if (!ocs || ocs->ports == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            ocs ? "'%s' has no known ports; say it: ports: 136"
                                : "it names no optical switch; ocs: palomar would be one",
                            ocs ? ocs->id : "");
    }
    weir_circuit_switch *sw = &blocks->sw;
    *sw = (weir_circuit_switch){
        .ports = ocs->ports, .spare = c->spare, .circulators = ocs->circulators};
    uint32_t room = weir_circuit_link_ends(sw) / n;
    sw->node_ports = room < ends ? room : ends;
    while (sw->node_ports > 0 && ends % sw->node_ports != 0) {
        sw->node_ports--;
    }
    if (c->ocs_planes) {
        sw->node_ports = ends / c->ocs_planes;
        if (ends % c->ocs_planes != 0) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "%u ends of a block on %u optical switches; it must be a multiple",
                                ends, c->ocs_planes);
        }
    }
    if (sw->node_ports == 0 || sw->node_ports > room) {
        return too_few_ports(ocs, blocks, sw, sw->node_ports ? sw->node_ports : 1, err);
    }
    sw->planes = ends / sw->node_ports;
    blocks->units_each = weir_circuit_link_ends(sw) / (n * sw->node_ports);
    return WEIR_OK;
}

/* --- what is bought --- */

static void count_light(const candidate_build *b, const light_blocks *blocks)
{
    weir_candidate_network *n = b->network;
    const weir_candidate *c = b->candidate;
    uint64_t units = (uint64_t)blocks->sw.planes * blocks->blocks.networks;
    uint64_t link_ends =
        (uint64_t)blocks->blocks.blocks * blocks->blocks.uplinks * blocks->blocks.networks;
    uint32_t fibres = blocks->sw.circulators ? 1 : 2;
    n->ocs = c->ocs;
    n->ocs_count = units / blocks->units_each + (units % blocks->units_each != 0);
    n->ocs_ports = link_ends * fibres;
    n->ocs_spare_ports = n->ocs_count * c->ocs->ports - n->ocs_ports;
    n->blocks = blocks->blocks.blocks;
    n->uplinks = blocks->blocks.uplinks;
    candidate_add_cables(b,
                         (weir_cable_need){.place = "block to ocs",
                                           .tier = WEIR_TIER_HALL,
                                           .is_optical = true,
                                           .to_ocs = true,
                                           .module = circuit_module(c),
                                           .cables = link_ends,
                                           .length_m = c->length_m[2],
                                           .bytes_per_s = blocks->fabric.light.circuit.bytes_per_s,
                                           .fibres_each = fibres});
}

/* Switches and cables below, from a network without circuits; their ends take ports too. */
static weir_code count_below(const candidate_build *b, const light_blocks *blocks, weir_err *err)
{
    weir_topology *topology = NULL;
    weir_code code = weir_topology_new(&blocks->fabric, &topology, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t before = b->network->switch_rows;
    candidate_count_switches(b, topology);
    candidate_count_cables(b, topology);
    if (b->network->switch_rows > before) {
        b->network->switches[b->network->switch_rows - 1].ports +=
            (uint64_t)blocks->blocks.blocks * blocks->blocks.uplinks * blocks->blocks.networks;
    }
    weir_topology_free(topology);
    return WEIR_OK;
}

/* Between two modules: their fibres to the switch, a mated pair on each side of it, one pass.
 * Modules' own connectors are part of their budget (IEEE 802.3 measures behind a patch cord). */
static weir_code follow_light(const candidate_build *b, weir_err *err)
{
    const weir_candidate *c = b->candidate;
    const weir_module_part *module = circuit_module(c);
    const weir_fibre_part *fibre = weir_parts_fibre(b->scenario->parts);
    weir_light_path *light = &b->network->light;
    *light = (weir_light_path){.ocs_passes = 1,
                               .connectors = 2,
                               .circulators = c->ocs->circulators ? 2 : 0,
                               .fibre_m = 2 * c->length_m[2],
                               .closes = true};
    light->loss_db = c->ocs->loss_db * light->ocs_passes + fibre->connector_db * light->connectors +
                     fibre->circulator_db * light->circulators + fibre->db_per_m * light->fibre_m;
    light->budget_db = module ? module->budget_db : NAN;
    if (isnan(light->loss_db) || isnan(light->budget_db)) {
        light->note = isnan(light->loss_db) ? "what the optical switch loses is not known"
                                            : "what the modules may lose is not known";
        return WEIR_OK;
    }
    light->closes = light->loss_db <= light->budget_db;
    return light->closes
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_INPUT,
                              "its light does not arrive: %.2f dB are lost (%s %.2f, %u "
                              "connectors %.2f, %u circulators %.2f, %g m of fibre %.2f), %s "
                              "allows %.2f; other modules, or another optical switch",
                              light->loss_db, c->ocs->id, c->ocs->loss_db, light->connectors,
                              fibre->connector_db * light->connectors, light->circulators,
                              fibre->circulator_db * light->circulators, light->fibre_m,
                              fibre->db_per_m * light->fibre_m, module->id, light->budget_db);
}

/* Of a fibre each. 0: not known. */
static double lane_of(const weir_module_part *module)
{
    return module && module->bytes_per_s > 0 && module->fibres > 0
               ? module->bytes_per_s / module->fibres
               : 0;
}

/* Circuits share their NIC's rate; none is slower than the slowest lane of light: that of
 * presets/transport.yaml (not said: any), or of the candidate's own modules. */
static weir_code check_lanes(const candidate_build *b, const weir_fabric *fabric, weir_err *err)
{
    double lane = weir_parts_fibre(b->scenario->parts)->lane_bytes_per_s;
    double own = lane_of(circuit_module(b->candidate)), each = fabric->light.circuit.bytes_per_s;
    uint32_t uplinks = fabric->light.uplinks;
    lane = own > 0 && own < lane ? own : lane;
    if (isnan(lane) || uplinks <= 2 ||
        each >= lane * (1 - 1e-9)) { /* two ports: as many as have NICs */
        return WEIR_OK;
    }
    double most = fmax(2, floor(each * uplinks / lane * (1 + 1e-9)));
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%u circuits share a NIC's %g Gb/s, %g Gb/s each; a lane of light has %g: "
                        "at most %g uplinks",
                        uplinks, each * uplinks * 8e-9, each * 8e-9, lane * 8e-9, most);
}

weir_code candidate_plan_blocks(const candidate_build *b, double nic_bytes_per_s,
                                light_blocks *blocks, weir_err *err)
{
    uint32_t planes = 1;
    weir_code code = WEIR_OK;
    if (b->candidate->block != WEIR_BLOCK_NIC) {
        code = candidate_need_switch(b, err);
        if (code == WEIR_OK) {
            code = candidate_planes(b, nic_bytes_per_s, &planes, err);
        }
    }
    if (code != WEIR_OK) {
        return code;
    }
    *blocks = (light_blocks){.fabric = fabric_of(b, nic_bytes_per_s, planes)};
    if (b->candidate->block == WEIR_BLOCK_NIC) {
        code = check_lanes(b, &blocks->fabric, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    code = weir_light_measure(&blocks->fabric, &blocks->blocks, err);
    if (code == WEIR_OK) {
        code = map_devices(b, blocks, err);
    }
    if (code == WEIR_OK) {
        code = count_below(b, blocks, err);
    }
    if (code != WEIR_OK || blocks->blocks.blocks == 1) {
        return code; /* nothing to join */
    }
    code = plan_switches(b, blocks, err);
    if (code == WEIR_OK) {
        count_light(b, blocks);
        code = follow_light(b, err);
    }
    return code;
}

/* --- demand --- */

weir_code candidate_block_demand(const candidate_build *b, const light_blocks *blocks,
                                 uint32_t phase, weir_demand *demand, weir_err *err)
{
    weir_demand made = {0};
    weir_code code = weir_demand_init(&made, blocks->blocks.blocks, err);
    uint32_t count = b->scenario->phase_count;
    for (uint32_t i = phase == WEIR_NONE ? 0 : phase;
         code == WEIR_OK && b->demand && i < count && (phase == WEIR_NONE || i == phase); i++) {
        code = b->demand->between(b->demand->context, i, blocks->block_of_device, &made, err);
    }
    if (code != WEIR_OK) {
        weir_demand_clear(&made);
        return code;
    }
    *demand = made;
    return WEIR_OK;
}

bool candidate_has_between(const weir_demand *demand)
{
    for (size_t i = 0; i < (size_t)demand->n * demand->n; i++) {
        if (demand->bytes[i] > 0 && i / demand->n != i % demand->n) {
            return true;
        }
    }
    return false;
}

/* --- roads --- */

weir_code candidate_make_lights(const candidate_build *b, const light_blocks *blocks,
                                uint32_t roads, weir_err *err)
{
    weir_arena *arena = b->network->arena;
    struct candidate_lights *lights = weir_arena_alloc(arena, 1, sizeof *lights);
    if (lights) {
        *lights = (struct candidate_lights){.networks = blocks->blocks.networks,
                                            .planes = blocks->sw.planes,
                                            .units_each = blocks->units_each,
                                            .road_room = roads};
        lights->roads = weir_arena_alloc(arena, roads, sizeof *lights->roads);
    }
    if (!lights || !lights->roads) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u roads", roads);
    }
    b->network->lights = lights;
    return WEIR_OK;
}

/* The circuits by plane, each pair side by side as the design has them. */
static void list_by_plane(const weir_circuit_design *design, uint32_t planes,
                          weir_light_circuit *list, uint32_t *plane_of)
{
    uint32_t count = 0;
    for (uint32_t plane = 0; plane < planes; plane++) {
        for (uint32_t k = 0; k < design->count; k++) {
            const weir_circuit *c = &design->circuits[k];
            if (c->plane == plane) {
                list[count] = (weir_light_circuit){c->from, c->to};
                plane_of[count++] = plane;
            }
        }
    }
}

weir_code candidate_add_light(const candidate_build *b, const light_blocks *blocks,
                              const weir_circuit_design *design, weir_road with, weir_road *road,
                              weir_err *err)
{
    weir_candidate_network *n = b->network;
    struct candidate_lights *lights = n->lights;
    weir_light_circuit *list = calloc((size_t)design->count + 1, sizeof *list);
    uint32_t *plane_of = weir_arena_alloc(n->arena, (size_t)design->count + 1, sizeof *plane_of);
    weir_topology *topology = NULL;
    if (!list || !plane_of) {
        free(list);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u circuits", design->count);
    }
    list_by_plane(design, blocks->sw.planes, list, plane_of);
    weir_fabric fabric = blocks->fabric;
    fabric.light.circuits = list;
    fabric.light.count = design->count;
    weir_code code = weir_topology_new(&fabric, &topology, err);
    free(list);
    if (code != WEIR_OK) {
        return code;
    }
    weir_routing routing = b->candidate->routing;
    routing.has_valiant = false;
    bool has_rails = b->candidate->block == WEIR_BLOCK_NIC || wiring_of(b->candidate) != 0;
    routing.has_pxn |= has_rails && b->scenario->cluster.node_link;
    uint32_t below = weir_topology_links_below_light(topology);
    code = weir_layout_add(n->layout, topology, &routing, road, err);
    if (code == WEIR_OK && with != WEIR_NONE) {
        code = weir_layout_share(n->layout, *road, with, below, err);
    }
    if (code == WEIR_OK && lights && lights->road_count < lights->road_room) {
        lights->roads[lights->road_count++] = (light_road){*road, design->count, plane_of};
    }
    return code;
}
