/* Link loads and makespans over routes against reference/network-oracles.md: fat trees (section 1),
 * all-to-all on Clos networks, tori and rails (4), hashing (5). Only the rows tagged [1] for ECMP
 * rest on our own hash: they are drawn with the inputs that the oracles state. */
#include "route_fixture.h"

/* --- makespans on fat trees, section 1 --- */

enum { PERM_FIXED, PERM_SPRAY, PERM_ECMP };

static weir_bodies *bodies_new(network n)
{
    weir_bodies *bodies;
    weir_err err = {0};
    expect_ok(weir_bodies_new(weir_topology_net(n.t), &bodies, &err), &err);
    return bodies;
}

static void send(network n, weir_bodies *bodies, const uint32_t pair[2], uint64_t flow, double size)
{
    weir_err err = {0};
    weir_body body = {.path = find(n, pair[0], pair[1], flow).path, .size = size};
    weir_body_id id;
    expect_ok(weir_bodies_add(bodies, &body, &id, &err), &err);
}

/* Frees bodies. */
static double last_end_s(weir_bodies *bodies)
{
    weir_err err = {0};
    expect_ok(weir_bodies_run(bodies, &err), &err);
    double last_s = weir_bodies_now_s(bodies);
    weir_bodies_free(bodies);
    return last_s;
}

static double permutation_s(const tree *x, weir_routing routing, uint64_t seed,
                            bool has_random_sizes)
{
    network n = network_new(tree_fabric(x), routing);
    weir_bodies *bodies = bodies_new(n);
    uint64_t state = seed;
    uint32_t hosts = tree_hosts(x), *order = make_permutation(hosts, &state);
    for (uint32_t i = 0; i < hosts; i++) {
        const uint32_t pair[2] = {order[i], order[(i + 1) % hosts]};
        double size = has_random_sizes ? floor(1e8 * (0.5 + draw(&state))) : 1e8;
        send(n, bodies, pair, i, size);
    }
    double last_s = last_end_s(bodies);
    free(order);
    network_free(n);
    return last_s;
}

static void permutations_take_the_time_of_the_oracles(void **state)
{
    (void)state;
    const struct {
        tree x;
        double fixed_s, random_fixed_s, ecmp_s, random_ecmp_s;
    } rows[] = {
        {{4, 4, 4, 4, 4, 0}, 0.006, 0.005711044, 0.008, 0.008629629},
        {{8, 8, 4, 8, 8, 0}, 0.006, 0.006911825, 0.010, 0.010480418},
        {{8, 8, 16, 8, 8, 0}, 0.010, 0.012491827, 0.012, 0.011242886},
        {{16, 16, 16, 16, 16, 0}, 0.014, 0.015052141, 0.014, 0.014180117},
        {{8, 8, 4, 2, 8, 0}, 0.014, 0.014976419, 0, 0},
        {{8, 8, 16, 2, 8, 0}, 0.020, 0.021995092, 0, 0},
    };
    const weir_routing fixed = {.choice = WEIR_ROUTE_FIXED};
    const weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tree *x = &rows[i].x;
        expect_near("D-mod-k", permutation_s(x, fixed, 1, false), rows[i].fixed_s, 1e-9);
        expect_near("D-mod-k, sizes", permutation_s(x, fixed, 1, true), rows[i].random_fixed_s,
                    2e-7);
        if (rows[i].ecmp_s > 0) {
            expect_near("ECMP", permutation_s(x, ecmp, 1, false), rows[i].ecmp_s, 1e-9);
            expect_near("ECMP, sizes", permutation_s(x, ecmp, 1, true), rows[i].random_ecmp_s,
                        2e-7);
        }
    }
    const weir_routing spray = {0};
    expect_near("spray", permutation_s(&rows[0].x, spray, 1, false), 0.002, 1e-12);
    expect_near("spray", permutation_s(&rows[1].x, spray, 1, false), 0.002, 1e-12);
}

/* Flows are numbered sender by sender, nearest receiver first. */
static double all_to_all_s(const tree *x, weir_routing routing)
{
    network n = network_new(tree_fabric(x), routing);
    weir_bodies *bodies = bodies_new(n);
    uint32_t hosts = tree_hosts(x);
    uint64_t flow = 0;
    for (uint32_t a = 0; a < hosts; a++) {
        for (uint32_t distance = 1; distance < hosts; distance++) {
            const uint32_t pair[2] = {a, (a + distance) % hosts};
            send(n, bodies, pair, flow++, 1e8);
        }
    }
    double last_s = last_end_s(bodies);
    network_free(n);
    return last_s;
}

static void all_to_all_takes_the_time_of_the_oracles(void **state)
{
    (void)state;
    const tree small = {4, 4, 4, 4, 4, 0}, large = {8, 8, 4, 8, 8, 0};
    const weir_routing fixed = {.choice = WEIR_ROUTE_FIXED}, spray = {0};
    const weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = 1};
    expect_near("D-mod-k", all_to_all_s(&small, fixed), 0.126, 1e-9);
    expect_near("spray", all_to_all_s(&small, spray), 0.126, 1e-9);
    expect_near("D-mod-k", all_to_all_s(&large, fixed), 0.510, 1e-9);
    expect_near("ECMP", all_to_all_s(&small, ecmp), 0.160, 1e-9);
    expect_near("ECMP", all_to_all_s(&large, ecmp), 0.586, 1e-9);
}

static void slowdowns_by_hashing_are_spread_as_in_the_oracles(void **state)
{
    (void)state;
    const struct {
        tree x;
        double mean, sd, least, most;
    } rows[] = {{{4, 4, 8, 4, 4, 0}, 4.360, 0.592, 4, 7},
                {{8, 8, 16, 8, 8, 0}, 5.820, 0.517, 5, 7}};
    for (size_t i = 0; i < 2; i++) {
        double sum = 0, squares = 0, least = INFINITY, most = 0;
        for (uint64_t seed = 1; seed <= 50; seed++) {
            const weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = seed};
            double slowdown = permutation_s(&rows[i].x, ecmp, seed, false) / 0.002;
            sum += slowdown;
            squares += slowdown * slowdown;
            least = fmin(least, slowdown);
            most = fmax(most, slowdown);
        }
        double mean = sum / 50;
        expect_near("mean", mean, rows[i].mean, 1e-9);
        expect_near("deviation", sqrt(squares / 50 - mean * mean), rows[i].sd, 2e-3);
        expect_near("least", least, rows[i].least, 1e-9);
        expect_near("most", most, rows[i].most, 1e-9);
    }
}

static void a_tree_of_65536_hosts_takes_the_time_of_the_oracles(void **state)
{
    (void)state;
    const tree x = {32, 32, 64, 32, 32, 0};
    const weir_routing fixed = {.choice = WEIR_ROUTE_FIXED};
    const weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = 1};
    expect_near("D-mod-k", permutation_s(&x, fixed, 1, false), 0.016, 1e-9);
    expect_near("ECMP", permutation_s(&x, ecmp, 1, false), 0.016, 1e-9);
}

/* --- section 4 --- */

/* T = max((N-1)m/B, (N-h)m r/B): N = 1024, h = 32, m = 1 MB. All leaves are alike: one sends. */
static void oversubscription_slows_all_to_all_as_the_closed_form_says(void **state)
{
    (void)state;
    const struct {
        double over, seconds;
    } rows[] = {{1, 0.020460}, {2, 0.039680}, {4, 0.079360}, {7, 0.138880}, {15, 0.297600}};
    for (size_t i = 0; i < 5; i++) {
        weir_clos clos = {.tiers = 2, .radix = {40, 32}, .oversubscription = {rows[i].over}};
        clos.cable[1].bytes_per_s = 4 * cable.bytes_per_s / rows[i].over; /* 32 down, 8 up */
        weir_routing spray = {0};
        network n = network_new(clos_fabric(1024, 1, clos), spray);
        double *loads = loads_new(n);
        for (uint32_t a = 0; a < 32; a++) {
            for (uint32_t b = 0; b < 1024; b++) {
                load(n, loads, a, b, 0);
            }
        }
        double out_s = 0; /* of the way out of leaf 0; the ways in are not all loaded here */
        for (uint32_t l = 0; l < weir_net_count(weir_topology_net(n.t)); l++) {
            uint32_t number;
            weir_link link = weir_topology_link(n.t, l);
            weir_vertex_kind kind = weir_topology_vertex(n.t, link.from, &number);
            if (kind == WEIR_VERTEX_DEVICE ||
                (kind == WEIR_VERTEX_LEAF && link.tier == WEIR_TIER_BETWEEN_RACKS)) {
                out_s =
                    fmax(out_s, loads[l] * 1e6 / weir_net_bytes_per_s(weir_topology_net(n.t), l));
            }
        }
        expect_near("all-to-all", out_s, rows[i].seconds, 1e-9);
        free(loads);
        network_free(n);
    }
}

/* All devices of a torus are alike: what one sends along a dimension, both ways, is what crosses
 * the two links of each device there. */
static void expect_torus_loads(weir_fabric fabric, weir_route_choice choice,
                               const double expected[3])
{
    weir_routing routing = {.choice = choice};
    network n = network_new(fabric, routing);
    uint32_t devices = weir_topology_devices(n.t), dimensions = 0;
    double along[3] = {0};
    for (int d = 0; d < 3; d++) {
        dimensions += fabric.torus.size[d] > 1;
    }
    for (uint32_t to = 1; to < devices; to++) {
        weir_route route = find(n, 0, to, 0);
        for (uint32_t i = 0; i < route.path.count; i++) {
            along[route.path.links[i] / 2 % dimensions] += route.path.bytes_per_unit[i];
        }
    }
    for (uint32_t d = 0; d < dimensions; d++) {
        expect_near("load", along[d] / 2, expected[d], 1e-9);
    }
    network_free(n);
}

static void torus_loads_are_those_of_the_oracles(void **state)
{
    (void)state;
    const struct {
        uint32_t size[3];
        double loads[3];
    } rows[] = {
        {{8, 0, 0}, {8}},
        {{4, 4, 4}, {32, 32, 32}},
        {{8, 8, 8}, {512, 512, 512}},
        {{16, 16, 16}, {8192, 8192, 8192}},
        {{4, 4, 8}, {64, 64, 128}},
        {{4, 8, 8}, {128, 256, 256}},
        {{8, 8, 16}, {1024, 1024, 2048}},
        {{4, 4, 256}, {2048, 2048, 131072}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t *k = rows[i].size;
        weir_fabric f = torus_fabric(k[0], k[1], k[2]);
        expect_torus_loads(f, WEIR_ROUTE_FIXED, rows[i].loads);
        if (k[0] * (k[1] + 1) * (k[2] + 1) < 2000) {
            expect_torus_loads(f, WEIR_ROUTE_SPRAY, rows[i].loads);
        }
    }
}

static void twisted_torus_loads_are_those_of_the_oracles(void **state)
{
    (void)state;
    weir_fabric f = torus_fabric(4, 4, 8);
    f.torus.twist[0][2] = f.torus.twist[1][2] = 4;
    const double a[3] = {220. / 3, 220. / 3, 220. / 3};
    expect_torus_loads(f, WEIR_ROUTE_SPRAY, a);
    f = torus_fabric(4, 8, 8);
    f.torus.twist[0][1] = f.torus.twist[0][2] = 4;
    const double b[3] = {184, 184, 184};
    expect_torus_loads(f, WEIR_ROUTE_SPRAY, b);
    f = torus_fabric(8, 8, 16);
    f.torus.twist[0][2] = f.torus.twist[1][2] = 8;
    const double c[3] = {3568. / 3, 3568. / 3, 3568. / 3}; /* 1189.33 */
    expect_torus_loads(f, WEIR_ROUTE_SPRAY, c);
}

/* (R-1)/R x B_nic/B_nvl, serial: H100 9.72 %, a domain of 256 11.07 %, NVL72 10.96 and 5.48 %. */
static void rail_only_pays_for_forwarding_what_the_closed_form_says(void **state)
{
    (void)state;
    const struct {
        uint32_t rails;
        double nic, nvlink, extra;
    } rows[] = {{8, 50e9, 450e9, 0.0972},
                {256, 50e9, 450e9, 0.1107},
                {72, 100e9, 900e9, 0.1096},
                {72, 50e9, 900e9, 0.0548}};
    for (size_t i = 0; i < 4; i++) {
        weir_clos clos = {.tiers = 1, .radix = {4}, .wiring = WEIR_CLOS_RAIL_ONLY};
        weir_fabric f = clos_fabric(4, rows[i].rails, clos);
        f.nodes.wiring = WEIR_NODE_SWITCHED;
        f.nodes.cable.bytes_per_s = rows[i].nvlink;
        f.clos.cable[0].bytes_per_s = rows[i].nic;
        weir_routing pxn = {.has_pxn = true};
        network n = network_new(f, pxn);
        double *loads = loads_new(n);
        for (uint32_t a = 0; a < rows[i].rails; a++) {
            for (uint32_t b = rows[i].rails; b < 4 * rows[i].rails; b++) {
                load(n, loads, a, b, 0);
            }
        }
        uint32_t first_port = 2 * 4 * rows[i].rails;
        expect_near("extra", loads[0] / rows[i].nvlink / (loads[first_port] / rows[i].nic),
                    rows[i].extra, 1e-3);
        free(loads);
        network_free(n);
    }
}

/* --- section 5 --- */

static void hashing_collides_as_often_as_chance_says(void **state)
{
    (void)state;
    const struct {
        uint32_t links;
        double used, most;
    } rows[] = {{2, 0.75, 1.504}, {4, 0.6836, 2.125}, {8, 0.6564, 2.601}, {16, 0.6439, 3.075}};
    enum { DRAWS = 20000 };
    for (size_t i = 0; i < 4; i++) {
        uint32_t k = rows[i].links;
        weir_clos clos = {.tiers = 2, .radix = {2 * k, 2}, .trunk = {1}};
        weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = 7};
        network n = network_new(clos_fabric(2 * k, 1, clos), ecmp);
        double *loads = loads_new(n);
        uint64_t flow = 0, used = 0;
        double most = 0;
        uint32_t first_up = 2 * 2 * k;
        for (uint32_t round = 0; round < DRAWS; round++) {
            for (uint32_t j = 0; j < k; j++) {
                loads[first_up + 2 * j] = 0;
            }
            for (uint32_t j = 0; j < k; j++) {
                load(n, loads, j, k + j, flow++);
            }
            double here = 0;
            for (uint32_t j = 0; j < k; j++) {
                used += loads[first_up + 2 * j] > 0;
                here = fmax(here, loads[first_up + 2 * j]);
            }
            most += here;
        }
        expect_near("links used", (double)used / DRAWS / k, rows[i].used, 0.01);
        expect_near("largest load", most / DRAWS, rows[i].most, 0.01);
        free(loads);
        network_free(n);
    }
}

static void more_queue_pairs_even_the_load_out(void **state)
{
    (void)state;
    /* E[max]/mean for n balls on 8 links: 8 2.61, 64 1.53, 256 1.26 */
    const struct {
        uint32_t queue_pairs;
        double ratio;
    } rows[] = {{1, 2.601}, {8, 1.53}, {32, 1.26}};
    for (size_t i = 0; i < 3; i++) {
        weir_clos clos = {.tiers = 2, .radix = {16, 2}, .trunk = {1}};
        weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .queue_pairs = rows[i].queue_pairs};
        network n = network_new(clos_fabric(16, 1, clos), ecmp);
        double *loads = loads_new(n), most = 0;
        enum { DRAWS = 4000 };
        for (uint64_t flow = 0; flow < 8 * DRAWS; flow += 8) {
            for (uint32_t j = 0; j < 8; j++) {
                load(n, loads, j, 8 + j, flow + j);
            }
            double here = 0;
            for (uint32_t j = 0; j < 8; j++) {
                here = fmax(here, loads[32 + 2 * j]);
                loads[32 + 2 * j] = 0;
            }
            most += here;
        }
        expect_near("largest / mean", most / DRAWS, rows[i].ratio, 0.01);
        free(loads);
        network_free(n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permutations_take_the_time_of_the_oracles),
        cmocka_unit_test(all_to_all_takes_the_time_of_the_oracles),
        cmocka_unit_test(slowdowns_by_hashing_are_spread_as_in_the_oracles),
        cmocka_unit_test(a_tree_of_65536_hosts_takes_the_time_of_the_oracles),
        cmocka_unit_test(oversubscription_slows_all_to_all_as_the_closed_form_says),
        cmocka_unit_test(torus_loads_are_those_of_the_oracles),
        cmocka_unit_test(twisted_torus_loads_are_those_of_the_oracles),
        cmocka_unit_test(rail_only_pays_for_forwarding_what_the_closed_form_says),
        cmocka_unit_test(hashing_collides_as_often_as_chance_says),
        cmocka_unit_test(more_queue_pairs_even_the_load_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
