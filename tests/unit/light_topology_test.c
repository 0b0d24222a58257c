/* Circuits between blocks: shares of ways counted by hand, loads against closed forms
 * (network-oracles.md sections 4 and 6), uniform meshes. */
#include "fabric/uniform_mesh.h"

#include "route_fixture.h"

enum { MOST_CIRCUITS = 4096 };

typedef struct {
    weir_light_circuit list[MOST_CIRCUITS];
    uint32_t count;
} circuits;

static void join(circuits *c, uint32_t from, uint32_t to)
{
    assert_true(c->count < MOST_CIRCUITS);
    c->list[c->count++] = (weir_light_circuit){from, to};
}

static void join_both(circuits *c, uint32_t a, uint32_t b)
{
    join(c, a, b);
    join(c, b, a);
}

static weir_fabric light_fabric(uint32_t nodes, weir_light_ends ends, uint32_t radix,
                                const circuits *c)
{
    weir_fabric f = {.kind = WEIR_FABRIC_LIGHT, .nodes = {.nodes = nodes, .devices = 1}};
    f.light = (weir_light){.ends = ends, .circuit = cable, .circuits = c->list, .count = c->count};
    f.light.clos.radix[0] = f.light.clos.radix[1] = radix;
    f.light.clos.cable[0] = cable;
    return f;
}

/* The share of each byte from one device to another that crosses links between these ends. */
static double share_between(network n, weir_route route, const char *ends)
{
    double share = 0;
    for (uint32_t i = 0; i < route.path.count; i++) {
        weir_text name = {0};
        weir_topology_name(n.t, route.path.links[i], &name);
        weir_str text = {name.p, (uint32_t)name.n};
        if (weir_str_starts(text, weir_str_from(ends)) &&
            (name.n == strlen(ends) || name.p[strlen(ends)] == ' ')) {
            share += route.path.bytes_per_unit[i];
        }
        weir_text_clear(&name);
    }
    return share;
}

static weir_code find_code(network n, uint32_t from, uint32_t to, weir_err *err)
{
    weir_route route;
    *err = (weir_err){0};
    return weir_router_find(n.r, from, to, 0, &route, err);
}

/* --- blocks --- */

static void blocks_have_the_ends_that_their_switches_leave(void **state)
{
    (void)state;
    const circuits none = {.count = 0};
    weir_light_blocks b;
    weir_err err = {0};
    weir_fabric f = light_fabric(64, WEIR_LIGHT_LEAVES, 16, &none);
    expect_ok(weir_light_measure(&f, &b, &err), &err);
    assert_int_equal(b.blocks, 8); /* 8 down, 8 up */
    assert_int_equal(b.block_nodes, 8);
    assert_int_equal(b.uplinks, 8);
    f.light.clos.oversubscription[0] = 3;
    expect_ok(weir_light_measure(&f, &b, &err), &err);
    assert_int_equal(b.blocks, 6); /* 12 down, 4 up */
    assert_int_equal(b.uplinks, 4);

    f = light_fabric(256, WEIR_LIGHT_PODS, 16, &none);
    expect_ok(weir_light_measure(&f, &b, &err), &err);
    assert_int_equal(b.blocks, 4); /* 8 leaves x 8 NICs; 8 spines x 8 up */
    assert_int_equal(b.uplinks, 64);
    assert_int_equal(b.networks, 1);

    f = light_fabric(32, WEIR_LIGHT_NICS, 0, &none);
    f.nodes.devices = 4;
    expect_ok(weir_light_measure(&f, &b, &err), &err);
    assert_int_equal(b.blocks, 32);
    assert_int_equal(b.networks, 4); /* rails */
    assert_int_equal(b.uplinks, 2);
}

/* 16 nodes of 2 NICs, leaves of 4 + 4 ports: 2 rails of 4 leaves, where plain leaves hold 2 nodes.
 */
static void leaves_of_a_rail_have_circuits_of_their_own(void **state)
{
    (void)state;
    circuits c = {.count = 0};
    for (uint32_t i = 0; i < 4; i++) {
        join(&c, i, (i + 1) % 4);
    }
    weir_fabric f = light_fabric(16, WEIR_LIGHT_LEAVES, 8, &c);
    f.nodes.devices = 2;
    f.nodes.wiring = WEIR_NODE_SWITCHED;
    f.nodes.cable = cable;
    weir_light_blocks b;
    weir_err err = {0};
    expect_ok(weir_light_measure(&f, &b, &err), &err);
    assert_int_equal(b.blocks, 8);
    assert_int_equal(b.networks, 1);
    f.light.clos.wiring = WEIR_CLOS_RAIL_ONLY;
    expect_ok(weir_light_measure(&f, &b, &err), &err);
    assert_int_equal(b.blocks, 4);
    assert_int_equal(b.block_nodes, 4);
    assert_int_equal(b.networks, 2);
    assert_int_equal(b.uplinks, 4);

    network n = network_new(f, (weir_routing){.has_pxn = true});
    weir_route route = find(n, 0, 8, 0); /* rail 0, node 0 to node 4 */
    assert_int_equal(route.path.count, 3);
    expect_near("rail 0", share_between(n, route, "leaf 0 -> leaf 1"), 1, 0);
    route = find(n, 1, 9, 0); /* rail 1: leaves 4 .. 7 */
    expect_near("rail 1", share_between(n, route, "leaf 4 -> leaf 5"), 1, 0);
    route = find(n, 0, 17, 0); /* rail 0 to rail 1, two blocks on: inside the node first */
    assert_int_equal(route.path.count, 6);
    expect_near("inside", share_between(n, route, "node switch 0 -> device 1"), 1, 0);
    expect_near("on", share_between(n, route, "leaf 5 -> leaf 6"), 1, 0);
    route = find(n, 0, 3, 0); /* below one leaf of rail 1 */
    assert_int_equal(route.path.count, 4);
    weir_fabric_counts counts = weir_topology_counts(n.t);
    assert_int_equal(counts.vertices[WEIR_VERTEX_LEAF], 8);
    assert_int_equal(counts.optical_cables[WEIR_TIER_HALL], 8);
    network_free(n);

    n = network_new(f, (weir_routing){0});
    assert_int_equal(find_code(n, 0, 9, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "PXN would change rails inside the node"));
    network_free(n);
    f.light.clos.wiring = WEIR_CLOS_RAILS;
    assert_int_equal(weir_light_measure(&f, &b, &err), WEIR_ERR_INPUT);
}

static void more_circuits_than_ports_are_refused(void **state)
{
    (void)state;
    circuits c = {.count = 0};
    for (int i = 0; i < 9; i++) {
        join_both(&c, 0, 1);
    }
    weir_fabric f = light_fabric(16, WEIR_LIGHT_LEAVES, 16, &c);
    weir_topology *t = NULL;
    weir_err err = {0};
    assert_int_equal(weir_topology_new(&f, &t, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "block 0 has 9 circuits that leave and 9 that arrive; it has "
                                  "ports for 8");
    f.light.uplinks = 9;
    err = (weir_err){0};
    assert_int_equal(weir_topology_new(&f, &t, &err), WEIR_ERR_INPUT);
    assert_non_null(
        strstr(err.text, "9 ends of circuits on a leaf, whose 1 switches have 8 ports"));
    f.light.uplinks = 8;
    c.list[0].to = 2;
    c.count = 1;
    f.light.count = 1;
    err = (weir_err){0};
    assert_int_equal(weir_topology_new(&f, &t, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "a circuit from block 0 to block 2"));
}

/* --- ways --- */

static void parallel_circuits_share_equally(void **state)
{
    (void)state;
    circuits c = {.count = 0};
    for (int i = 0; i < 3; i++) {
        join_both(&c, 0, 1);
    }
    join_both(&c, 0, 2); /* not on the way */
    network n = network_new(light_fabric(24, WEIR_LIGHT_LEAVES, 16, &c), (weir_routing){0});
    weir_route route = find(n, 0, 8, 0);
    assert_int_equal(route.path.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        double expected = weir_topology_link(n.t, route.path.links[i]).is_optical ? 1.0 / 3 : 1;
        assert_true(route.path.bytes_per_unit[i] == expected);
    }
    assert_int_equal(find(n, 0, 1, 0).path.count, 2); /* below one leaf */
    weir_fabric_counts counts = weir_topology_counts(n.t);
    assert_int_equal(counts.optical_cables[WEIR_TIER_HALL], 4);
    assert_int_equal(counts.cables[WEIR_TIER_BETWEEN_NODES], 24);
    network_free(n);
}

static void without_a_circuit_the_fewest_blocks_are_crossed(void **state)
{
    (void)state;
    /* 0 -> 3 over 1 (two circuits on, one on) or 2 (one each); 4 is farther. */
    circuits c = {.count = 0};
    join(&c, 0, 1);
    join(&c, 0, 1);
    join(&c, 1, 3);
    join(&c, 0, 2);
    join(&c, 2, 3);
    join(&c, 0, 4);
    join(&c, 4, 2);
    network n = network_new(light_fabric(40, WEIR_LIGHT_LEAVES, 16, &c), (weir_routing){0});
    weir_route route = find(n, 0, 24, 0); /* three ways, two of them over 1 -> 3 */
    expect_near("over 1", share_between(n, route, "leaf 1 -> leaf 3"), 2.0 / 3, 1e-15);
    expect_near("over 2", share_between(n, route, "leaf 2 -> leaf 3"), 1.0 / 3, 1e-15);
    assert_true(share_between(n, route, "leaf 0 -> leaf 4") == 0);
    weir_err err;
    assert_int_equal(find_code(n, 24, 0, &err), WEIR_ERR_INPUT); /* nothing leads back */
    assert_string_equal(err.text, "nothing joins device 24 (node 24) to device 0 (node 0)");

    weir_routing hashed = {.choice = WEIR_ROUTE_ECMP};
    network one = network_new(light_fabric(40, WEIR_LIGHT_LEAVES, 16, &c), hashed);
    int over_1 = 0;
    for (uint64_t flow = 0; flow < 3000; flow++) {
        route = find(one, 0, 24, flow);
        assert_int_equal(route.path.count, 4);
        over_1 += share_between(one, route, "leaf 1 -> leaf 3") == 1;
    }
    assert_in_range(over_1, 1900, 2100); /* 2000 +- 4 sigma of 26 */
    network_free(one);
    network_free(n);
}

static void a_pods_traffic_goes_up_to_the_spines_of_its_circuits(void **state)
{
    (void)state;
    /* Radix 4: 2 NICs a leaf, 2 leaves and 2 spines a pod, 4 ends: ends 0, 1 on spine 0. */
    circuits c = {.count = 0};
    for (int i = 0; i < 3; i++) {
        join_both(&c, 0, 1);
    }
    join_both(&c, 0, 2);
    network n = network_new(light_fabric(12, WEIR_LIGHT_PODS, 4, &c), (weir_routing){0});
    weir_route route = find(n, 0, 4, 0);
    expect_near("spine 0", share_between(n, route, "leaf 0 -> spine 0"), 2.0 / 3, 1e-15);
    expect_near("spine 1", share_between(n, route, "leaf 0 -> spine 1"), 1.0 / 3, 1e-15);
    expect_near("down", share_between(n, route, "spine 2 -> leaf 2"), 2.0 / 3, 1e-15);
    expect_near("end", share_between(n, route, "leaf 2 -> device 4"), 1, 0);
    /* Inside the pod both spines, as in a Clos. */
    route = find(n, 0, 2, 0);
    expect_near("inside", share_between(n, route, "leaf 0 -> spine 1"), 0.5, 0);
    /* Pods 1 and 2 meet in pod 0, whose spines pass on to each other. */
    route = find(n, 4, 8, 0);
    expect_near("transit", share_between(n, route, "spine 1 -> spine 4"), 1, 0);
    network_free(n);
}

static void every_byte_arrives_at_each_block_that_it_leaves(void **state)
{
    (void)state;
    enum { BLOCKS = 7 };
    uint64_t random = 11;
    for (int round = 0; round < 60; round++) {
        circuits c = {.count = 0};
        for (uint32_t i = 0; i < 12; i++) {
            uint32_t a = pick(&random, BLOCKS), b = pick(&random, BLOCKS);
            if (a != b) {
                join_both(&c, a, b);
            }
        }
        weir_fabric f = light_fabric(2 * BLOCKS, WEIR_LIGHT_LEAVES, 64, &c);
        f.light.clos.oversubscription[0] = 2.0 / 62;
        f.light.transit_share = round % 2 ? 0.4 : 0;
        network n = network_new(f, (weir_routing){0});
        weir_err err;
        for (uint32_t to = 2; to < 2 * BLOCKS; to += 2) {
            if (find_code(n, 0, to, &err) != WEIR_OK) {
                continue;
            }
            weir_route route = find(n, 0, to, 0);
            double balance[4 * BLOCKS] = {0};
            for (uint32_t i = 0; i < route.path.count; i++) {
                weir_link l = weir_topology_link(n.t, route.path.links[i]);
                balance[l.from] -= route.path.bytes_per_unit[i];
                balance[l.to] += route.path.bytes_per_unit[i];
            }
            balance[0] += 1;
            balance[to] -= 1;
            for (uint32_t v = 0; v < 3 * BLOCKS; v++) {
                if (fabs(balance[v]) > 1e-12) {
                    fail_msg("round %d, to %u: vertex %u keeps %g", round, to, v, balance[v]);
                }
            }
        }
        network_free(n);
    }
}

static void part_of_the_bytes_goes_over_a_third_block(void **state)
{
    (void)state;
    circuits c = {.count = 0};
    for (uint32_t a = 0; a < 4; a++) {
        for (uint32_t b = a + 1; b < 4; b++) {
            join_both(&c, a, b);
        }
    }
    weir_fabric f = light_fabric(16, WEIR_LIGHT_LEAVES, 8, &c);
    f.light.transit_share = 0.4;
    network n = network_new(f, (weir_routing){0});
    weir_route route = find(n, 0, 4, 0);
    double hops = 0;
    for (uint32_t i = 0; i < route.path.count; i++) {
        hops += weir_topology_link(n.t, route.path.links[i]).is_optical
                    ? route.path.bytes_per_unit[i]
                    : 0;
    }
    expect_near("direct", share_between(n, route, "leaf 0 -> leaf 1"), 0.6, 1e-15);
    expect_near("over 2", share_between(n, route, "leaf 0 -> leaf 2"), 0.2, 1e-15);
    expect_near("path", hops, 1.4, 1e-15); /* Jupiter's: 60 % direct, 1.4 circuits on average */
    network_free(n);
}

static void dead_circuits_are_gone_round(void **state)
{
    (void)state;
    circuits c = {.count = 0};
    join_both(&c, 0, 1);
    join_both(&c, 0, 1);
    join_both(&c, 0, 2);
    join_both(&c, 2, 1);
    network n = network_new(light_fabric(12, WEIR_LIGHT_PODS, 4, &c), (weir_routing){0});
    weir_str names[] = {WEIR_STR("spine 0 -> spine 2"), WEIR_STR("spine 0 -> spine 2 (cable 1)"),
                        WEIR_STR("spine 1 -> spine 4")};
    weir_err err;
    weir_link_id links[3];
    for (int i = 0; i < 3; i++) {
        links[i] = weir_topology_find_link(n.t, names[i]);
        assert_int_not_equal(links[i], WEIR_NONE);
    }
    weir_router_set_dead(n.r, links[0], true);
    weir_route route = find(n, 0, 4, 0);
    expect_near("the other", share_between(n, route, "spine 0 -> spine 2"), 1, 0);
    weir_router_set_dead(n.r, links[1], true);
    route = find(n, 0, 4, 0);
    expect_near("round", share_between(n, route, "spine 1 -> spine 4"), 1, 0);
    weir_router_set_dead(n.r, links[2], true);
    assert_int_equal(find_code(n, 0, 4, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "dead links: 3"));
    for (int i = 0; i < 3; i++) {
        weir_router_set_dead(n.r, links[i], false);
    }
    /* A leaf that lost its cable to spine 0 reaches pod 1 only over pod 2. */
    weir_router_set_dead(n.r, weir_topology_find_link(n.t, WEIR_STR("leaf 0 -> spine 0")), true);
    route = find(n, 0, 4, 0);
    expect_near("round", share_between(n, route, "spine 1 -> spine 4"), 1, 0);
    network_free(n);
}

static void circuits_of_nics_are_rails(void **state)
{
    (void)state;
    circuits c = {.count = 0};
    join_both(&c, 0, 1);
    join_both(&c, 1, 2);
    weir_fabric f = light_fabric(3, WEIR_LIGHT_NICS, 0, &c);
    f.nodes.devices = 2;
    f.nodes.wiring = WEIR_NODE_SWITCHED;
    f.nodes.cable.bytes_per_s = 400e9;
    network n = network_new(f, (weir_routing){.has_pxn = true});
    weir_route route = find(n, 0, 4, 0); /* rail 0, node 0 to 2, over node 1 */
    assert_int_equal(route.path.count, 2);
    expect_near("first", share_between(n, route, "device 0 -> device 2"), 1, 0);
    route = find(n, 0, 5, 0); /* to rail 1 inside the node first */
    assert_int_equal(route.path.count, 4);
    expect_near("rail", share_between(n, route, "device 1 -> device 3"), 1, 0);
    network_free(n);
    n = network_new(f, (weir_routing){0});
    weir_err err;
    assert_int_equal(find_code(n, 0, 5, &err), WEIR_ERR_INPUT);
    network_free(n);
}

/* --- closed forms --- */

static double busiest(network n, const double *loads)
{
    double most = 0;
    uint32_t count = weir_net_count(weir_topology_net(n.t));
    for (uint32_t i = 0; i < count; i++) {
        most = loads[i] > most ? loads[i] : most;
    }
    return most;
}

static void a_ring_of_circuits_carries_distance_k_in_k_times_the_time(void **state)
{
    (void)state;
    enum { N = 128 };
    static const struct {
        uint32_t k;
        double break_even_s; /* E9: 100 MB at 50 GB/s */
    } rows[] = {{2, 2e-3}, {4, 6e-3}, {8, 14e-3}, {64, 126e-3}};
    circuits c = {.count = 0};
    for (uint32_t i = 0; i < N; i++) {
        join(&c, i, (i + 1) % N);
    }
    network n = network_new(light_fabric(N, WEIR_LIGHT_NICS, 0, &c), (weir_routing){0});
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        double *loads = loads_new(n);
        for (uint32_t i = 0; i < N; i++) {
            load(n, loads, i, (i + rows[row].k) % N, i);
        }
        double static_s = busiest(n, loads) * 100e6 / 50e9, direct_s = 100e6 / 50e9;
        expect_near("break-even", static_s - direct_s, rows[row].break_even_s, 1e-12);
        free(loads);
    }
    network_free(n);
}

/* E8: a static ring with forwarding takes 12 + d for these rows at 1 byte/s a circuit. */
static void a_standing_ring_takes_the_twelve_of_e8(void **state)
{
    (void)state;
    static const double demand[3][3] = {{0, 10, 1}, {1, 0, 10}, {10, 1, 0}};
    circuits c = {.count = 0};
    for (uint32_t i = 0; i < 3; i++) {
        join(&c, i, (i + 1) % 3);
    }
    network n = network_new(light_fabric(3, WEIR_LIGHT_NICS, 0, &c), (weir_routing){0});
    double *loads = loads_new(n);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            weir_route route = find(n, i, j, 0);
            for (uint32_t k = 0; k < route.path.count; k++) {
                loads[route.path.links[k]] += demand[i][j] * route.path.bytes_per_unit[k];
            }
        }
    }
    for (uint32_t link = 0; link < 3; link++) {
        expect_near("circuit", loads[link], 12, 1e-15);
    }
    free(loads);
    network_free(n);
}

static void a_torus_of_circuits_has_the_loads_of_a_torus(void **state)
{
    (void)state;
    const uint32_t sizes[3] = {4, 4, 4};
    uint32_t order[64];
    for (uint32_t i = 0; i < 64; i++) {
        order[i] = i;
    }
    weir_circuit_switch sw = {.ports = 256, .planes = 3, .node_ports = 2, .circulators = true};
    weir_circuit_design design = {.n = 64};
    weir_err err = {0};
    expect_ok(weir_circuit_from_torus(&sw, order, sizes, 3, &design, &err), &err);
    circuits c = {.count = 0};
    for (uint32_t i = 0; i < design.count; i++) {
        join(&c, design.circuits[i].from, design.circuits[i].to);
    }
    weir_fabric f = light_fabric(64, WEIR_LIGHT_NICS, 0, &c);
    f.light.uplinks = 6;
    network n = network_new(f, (weir_routing){0});
    double *loads = loads_new(n);
    for (uint32_t i = 0; i < 64; i++) {
        for (uint32_t j = 0; j < 64; j++) {
            load(n, loads, i, j, 0);
        }
    }
    for (uint32_t link = 0; link < 2 * 3 * 64; link++) { /* section 4: 4^3: 32 on each link */
        expect_near("load", loads[link], 32, 1e-12);
    }
    free(loads);
    network_free(n);
    weir_circuit_design_clear(&design);
}

/* --- uniform meshes --- */

static network mesh(uint32_t n, uint32_t ends, weir_circuit_design *design)
{
    weir_circuit_switch sw = {
        .ports = n * ends, .planes = 1, .node_ports = ends, .circulators = true};
    weir_err err = {0};
    *design = (weir_circuit_design){.n = n};
    expect_ok(weir_circuit_from_uniform(&sw, design, &err), &err);
    circuits c = {.count = 0};
    for (uint32_t i = 0; i < design->count; i++) {
        join(&c, design->circuits[i].from, design->circuits[i].to);
    }
    weir_fabric f = light_fabric(n, WEIR_LIGHT_NICS, 0, &c);
    f.light.uplinks = ends;
    return network_new(f, (weir_routing){0});
}

static void whole_meshes_give_each_pair_the_same(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, ends, each;
    } rows[] = {{8, 7, 1}, {8, 14, 2}, {7, 14, 2}, {2, 5, 5}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        weir_circuit_design d;
        network n = mesh(rows[row].n, rows[row].ends, &d);
        for (uint32_t i = 0; i < rows[row].n; i++) {
            for (uint32_t j = 0; j < rows[row].n; j++) {
                uint32_t count = 0;
                for (uint32_t k = 0; k < d.count; k++) {
                    count += d.circuits[k].from == i && d.circuits[k].to == j;
                }
                assert_int_equal(count, i == j ? 0 : rows[row].each);
            }
        }
        weir_circuit_design_clear(&d);
        network_free(n);
    }
}

/* 16 blocks with 9 ends: 9 of 15 partners directly, the others over one block, as Jupiter (60 %
 * direct, 1.4 circuits on average; Poutievski et al., SIGCOMM 2022). */
static void
a_mesh_without_ends_for_all_is_direct_for_most_and_one_block_away_for_the_rest(void **state)
{
    (void)state;
    weir_circuit_design d;
    network n = mesh(16, 9, &d);
    double hops = 0;
    uint32_t direct = 0;
    for (uint32_t i = 0; i < 16; i++) {
        for (uint32_t j = 0; j < 16; j++) {
            weir_route route = i == j ? (weir_route){0} : find(n, i, j, 0);
            double sum = 0;
            for (uint32_t k = 0; k < route.path.count; k++) {
                sum += route.path.bytes_per_unit[k];
            }
            direct += sum == 1;
            hops += sum;
        }
    }
    expect_near("direct", direct / 240.0, 0.6, 1e-15);
    expect_near("path", hops / 240, 1.4, 1e-12);
    weir_circuit_design_clear(&d);
    network_free(n);
}

static void few_ends_still_reach_everybody_over_one_block(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, ends;
    } rows[] = {{32, 10}, {64, 16}, {128, 24}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        weir_circuit_design d;
        network n = mesh(rows[row].n, rows[row].ends, &d);
        for (uint32_t j = 1; j < rows[row].n; j++) {
            weir_route route = find(n, 0, j, 0);
            double sum = 0;
            for (uint32_t k = 0; k < route.path.count; k++) {
                sum += route.path.bytes_per_unit[k];
            }
            if (sum > 2 + 1e-12) {
                fail_msg("%u blocks, %u ends: %u is %g circuits away", rows[row].n, rows[row].ends,
                         j, sum);
            }
        }
        weir_circuit_design_clear(&d);
        network_free(n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_the_ends_that_their_switches_leave),
        cmocka_unit_test(leaves_of_a_rail_have_circuits_of_their_own),
        cmocka_unit_test(more_circuits_than_ports_are_refused),
        cmocka_unit_test(parallel_circuits_share_equally),
        cmocka_unit_test(without_a_circuit_the_fewest_blocks_are_crossed),
        cmocka_unit_test(a_pods_traffic_goes_up_to_the_spines_of_its_circuits),
        cmocka_unit_test(every_byte_arrives_at_each_block_that_it_leaves),
        cmocka_unit_test(part_of_the_bytes_goes_over_a_third_block),
        cmocka_unit_test(dead_circuits_are_gone_round),
        cmocka_unit_test(circuits_of_nics_are_rails),
        cmocka_unit_test(a_ring_of_circuits_carries_distance_k_in_k_times_the_time),
        cmocka_unit_test(a_standing_ring_takes_the_twelve_of_e8),
        cmocka_unit_test(a_torus_of_circuits_has_the_loads_of_a_torus),
        cmocka_unit_test(whole_meshes_give_each_pair_the_same),
        cmocka_unit_test(
            a_mesh_without_ends_for_all_is_direct_for_most_and_one_block_away_for_the_rest),
        cmocka_unit_test(few_ends_still_reach_everybody_over_one_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
