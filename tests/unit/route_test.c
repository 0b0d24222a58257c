/* Routes: what must hold for every one (bytes are kept at every switch, links are distinct), what
 * happens when links die, latencies, and rates end to end with the fluid engine. */
#include "route_fixture.h"

/* --- what holds for every route --- */

/* At every switch as much comes in as goes out; one message leaves and one arrives. */
static void expect_kept(network n, uint32_t from, uint32_t to, const weir_route *route)
{
    double balance[4096] = {0};
    for (uint32_t i = 0; i < route->path.count; i++) {
        weir_link l = weir_topology_link(n.t, route->path.links[i]);
        assert_true(l.from < 4096 && l.to < 4096);
        double share = route->path.bytes_per_unit[i];
        assert_true(share > 0 && share <= 1 + 1e-12);
        balance[l.from] += share;
        balance[l.to] -= share;
        for (uint32_t j = 0; j < i; j++) {
            assert_int_not_equal(route->path.links[i], route->path.links[j]);
        }
    }
    balance[from] -= from == to ? 0 : 1;
    balance[to] += from == to ? 0 : 1;
    for (uint32_t v = 0; v < 4096; v++) {
        if (fabs(balance[v]) > 1e-12) {
            fail_msg("%u to %u: %g of a message is lost at vertex %u", from, to, balance[v], v);
        }
    }
}

static weir_fabric sample(uint32_t which)
{
    weir_clos rails = {.tiers = 2, .radix = {8, 32}, .wiring = WEIR_CLOS_RAILS, .planes = 2};
    weir_clos plain = {.tiers = 3, .radix = {8, 8, 8}, .oversubscription = {3, 1}};
    weir_clos only = {.tiers = 2, .radix = {8, 8}, .wiring = WEIR_CLOS_RAIL_ONLY};
    static const weir_listed_cable listed[] = {
        {0, 3, false, {1e9, 0, false}, WEIR_TIER_BETWEEN_NODES},
        {1, 4, false, {1e9, 0, false}, WEIR_TIER_BETWEEN_NODES},
        {2, 5, false, {1e9, 0, false}, WEIR_TIER_BETWEEN_NODES},
        {3, 4, false, {1e9, 0, false}, WEIR_TIER_BETWEEN_RACKS},
        {4, 5, false, {1e9, 0, false}, WEIR_TIER_BETWEEN_RACKS},
        {5, 3, false, {1e9, 0, false}, WEIR_TIER_BETWEEN_RACKS},
        {3, 4, false, {1e9, 0, false}, WEIR_TIER_BETWEEN_RACKS}};
    weir_fabric f;
    switch (which) {
    case 0:
        f = clos_fabric(16, 4, rails);
        f.nodes.wiring = WEIR_NODE_SWITCHED;
        break;
    case 1:
        f = clos_fabric(11, 4, plain);
        f.nodes.nics = 8;
        f.nodes.wiring = WEIR_NODE_RING;
        break;
    case 2:
        f = clos_fabric(9, 6, only);
        f.nodes.nics = 3;
        f.nodes.wiring = WEIR_NODE_MESHED;
        break;
    case 3:
        return torus_fabric(4, 3, 6);
    case 4:
        f = torus_fabric(4, 4, 8);
        f.torus.twist[0][2] = 4;
        return f;
    case 5:
        return dragonfly_fabric(9);
    case 6:
        return dragonfly_fabric(4);
    default:
        f = (weir_fabric){.kind = WEIR_FABRIC_LIST};
        f.list = (weir_cable_list){.devices = 3, .switches = 3, .cables = listed, .count = 7};
        return f;
    }
    f.nodes.cable.bytes_per_s = 450e9;
    return f;
}

enum { SAMPLES = 8 };

static weir_routing sample_routing(uint32_t which, uint32_t how)
{
    weir_routing r = {.choice = (weir_route_choice)(how % 3), .seed = how, .queue_pairs = 3};
    r.has_pxn = which == 2 || (which < 2 && how >= 3);
    r.has_valiant = (which == 5 || which == 6) && how >= 3;
    return r;
}

static void every_route_keeps_all_bytes(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (uint32_t which = 0; which < SAMPLES; which++) {
        for (uint32_t how = 0; how < 6; how++) {
            network n = network_new(sample(which), sample_routing(which, how));
            uint32_t devices = weir_topology_devices(n.t);
            for (int i = 0; i < 200; i++) {
                uint32_t from = pick(&random, devices), to = pick(&random, devices);
                weir_route route = find(n, from, to, random);
                expect_kept(n, from, to, &route);
            }
            network_free(n);
        }
    }
}

static bool uses(const weir_route *route, weir_link_id link)
{
    for (uint32_t i = 0; i < route->path.count; i++) {
        if (route->path.links[i] == link) {
            return true;
        }
    }
    return false;
}

/* Hops over links that are not dead, by plain search; only `from` sends, other devices pass nothing
 * on unless the fabric is one of devices. WEIR_NONE: no way. */
static uint32_t hops(network n, const uint32_t pair[2], bool devices_forward, const uint8_t *dead)
{
    uint32_t links = weir_net_count(weir_topology_net(n.t)), at[4096], round = 0;
    memset(at, 0xff, sizeof at);
    at[pair[0]] = 0;
    for (bool is_moving = true; is_moving && at[pair[1]] == WEIR_NONE; round++) {
        is_moving = false;
        for (uint32_t i = 0; i < links; i++) {
            weir_link l = weir_topology_link(n.t, i);
            bool passes =
                devices_forward || l.from == pair[0] || l.from >= weir_topology_devices(n.t);
            if (!dead[i] && passes && at[l.from] == round && at[l.to] == WEIR_NONE) {
                at[l.to] = round + 1;
                is_moving = true;
            }
        }
    }
    return at[pair[1]];
}

/* A pair may be given up only if no way is left that is as short as before (without Valiant). */
static void expect_cut(network n, const uint32_t pair[2], bool devices_forward, const uint8_t *dead)
{
    static const uint8_t none[8192];
    uint32_t before = hops(n, pair, devices_forward, none);
    uint32_t after = hops(n, pair, devices_forward, dead);
    if (after <= before) {
        fail_msg("%u to %u is given up, but %u hops are left, as before", pair[0], pair[1], after);
    }
}

static void no_route_uses_a_dead_link_and_none_is_overlooked(void **state)
{
    (void)state;
    uint64_t random = 5;
    uint32_t cut = 0, found = 0;
    for (uint32_t which = 0; which < SAMPLES; which++) {
        for (uint32_t how = 0; how < 6; how++) {
            network n = network_new(sample(which), sample_routing(which, how));
            uint32_t devices = weir_topology_devices(n.t);
            uint32_t links = weir_net_count(weir_topology_net(n.t)), dead[12];
            uint8_t is_dead[8192] = {0};
            assert_true(links <= sizeof is_dead);
            weir_routing routing = sample_routing(which, how);
            for (int i = 0; i < 12; i++) {
                dead[i] = pick(&random, links);
                weir_router_set_dead(n.r, dead[i], true);
                is_dead[dead[i]] = 1;
            }
            for (int i = 0; i < 200; i++) {
                uint32_t from = pick(&random, devices), to = pick(&random, devices);
                weir_route route;
                if (weir_router_find(n.r, from, to, random, &route, NULL) != WEIR_OK) {
                    const uint32_t pair[2] = {from, to};
                    bool is_near =
                        weir_topology_node_of(n.t, from) == weir_topology_node_of(n.t, to);
                    if (!routing.has_pxn && !routing.has_valiant && !is_near) {
                        expect_cut(n, pair, which == 3 || which == 4, is_dead);
                    }
                    cut++;
                    continue;
                }
                found++;
                expect_kept(n, from, to, &route);
                for (int j = 0; j < 12; j++) {
                    assert_false(uses(&route, dead[j]));
                }
            }
            network_free(n);
        }
    }
    assert_true(found > 4 * cut);
}

static void a_pair_that_is_cut_apart_is_named(void **state)
{
    (void)state;
    const weir_routing spray = {0};
    weir_clos two = {.tiers = 2, .radix = {8, 8}};
    network n = network_new(clos_fabric(16, 1, two), spray);
    weir_router_set_dead(n.r, 2 * 5, true); /* device 5 no longer sends */
    weir_err err = {0};
    weir_route route;
    assert_int_equal(weir_router_find(n.r, 5, 9, 0, &route, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "nothing joins device 5 (node 5) to device 9 (node 9); dead "
                                  "links: 1");
    find(n, 9, 5, 0); /* it still receives */
    weir_router_set_dead(n.r, 2 * 5, false);
    find(n, 5, 9, 0);
    network_free(n);

    weir_clos only = {.tiers = 1, .radix = {8}, .wiring = WEIR_CLOS_RAIL_ONLY};
    n = network_new(clos_fabric(4, 2, only), spray);
    err = (weir_err){0};
    assert_int_equal(weir_router_find(n.r, 0, 3, 0, &route, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "device 0 (node 0) to device 3 (node 1); rails are separate"));
    network_free(n);
}

static void hashed_flows_move_only_when_their_way_dies(void **state)
{
    (void)state;
    const weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = 2};
    const tree x = {4, 4, 4, 4, 4, 0};
    network sound = network_new(tree_fabric(&x), ecmp), hurt = network_new(tree_fabric(&x), ecmp);
    const weir_link_id dead = 2 * 64 + 2 * 4; /* an uplink of leaf 1 */
    weir_router_set_dead(hurt.r, dead, true);
    uint32_t moved = 0;
    for (uint64_t flow = 0; flow < 500; flow++) {
        weir_route before = find(sound, 4, 40, flow), after = find(hurt, 4, 40, flow);
        bool is_same = before.path.count == after.path.count &&
                       memcmp(before.path.links, after.path.links,
                              before.path.count * sizeof *before.path.links) == 0;
        assert_int_equal(is_same, !uses(&before, dead));
        moved += !is_same;
    }
    assert_true(moved > 80 && moved < 170); /* a quarter of 500, within 4 sigma */
    network_free(sound);
    network_free(hurt);
}

static void a_latency_is_that_of_the_slowest_way(void **state)
{
    (void)state;
    weir_clos two = {.tiers = 2, .radix = {8, 8}};
    weir_fabric f = clos_fabric(16, 2, two);
    f.nodes.wiring = WEIR_NODE_SWITCHED;
    f.nodes.cable = (weir_cable){450e9, 1e-6, false};
    f.clos.cable[0].latency_s = 2e-6;
    f.clos.cable[1].latency_s = 4e-6;
    const weir_routing pxn = {.has_pxn = true};
    network n = network_new(f, pxn);
    expect_near("node", find(n, 0, 1, 0).latency_s, 2e-6, 1e-12);
    expect_near("same rail, far", find(n, 0, 20, 0).latency_s, 12e-6, 1e-12);
    expect_near("other rail, far", find(n, 0, 21, 0).latency_s, 14e-6, 1e-12);
    assert_true(find(n, 3, 3, 0).latency_s == 0);
    network_free(n);
}

static void rings_split_ties_both_ways(void **state)
{
    (void)state;
    weir_fabric f = {.nodes = {.nodes = 1, .devices = 6, .wiring = WEIR_NODE_RING, .cable = cable}};
    const weir_routing spray = {0};
    network n = network_new(f, spray);
    weir_route route = find(n, 1, 4, 0);
    assert_int_equal(route.path.count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(route.path.bytes_per_unit[i] == 0.5);
    }
    assert_int_equal(find(n, 0, 5, 0).path.count, 1);
    weir_router_set_dead(n.r, find(n, 0, 5, 0).path.links[0], true);
    assert_int_equal(find(n, 0, 5, 0).path.count, 5);
    network_free(n);
}

/* --- end to end --- */

static double slowest_rate(network n, uint32_t (*pairs)[2], uint32_t count)
{
    weir_err err = {0};
    weir_fluid *fluid;
    expect_ok(weir_fluid_new(weir_topology_net(n.t), &fluid, &err), &err);
    weir_body_id id;
    for (uint32_t i = 0; i < count; i++) {
        weir_route route = find(n, pairs[i][0], pairs[i][1], i);
        expect_ok(weir_fluid_add(fluid, &route.path, &id, &err), &err);
        expect_ok(weir_fluid_start(fluid, id, &err), &err);
    }
    expect_ok(weir_fluid_solve(fluid, WEIR_SOLVE_FULL, &err), &err);
    double slowest = INFINITY;
    for (uint32_t i = 0; i < weir_fluid_body_bound(fluid); i++) {
        slowest = fmin(slowest, weir_fluid_rate(fluid, i));
    }
    weir_fluid_free(fluid);
    return slowest;
}

static void a_permutation_gets_the_full_rate_or_its_share_of_the_uplinks(void **state)
{
    (void)state;
    const double over[] = {1, 3, 7};
    uint32_t pairs[168][2];
    for (size_t i = 0; i < 3; i++) {
        weir_clos clos = {.tiers = 2, .radix = {32, 16}, .oversubscription = {over[i]}};
        const weir_routing spray = {0};
        network n = network_new(clos_fabric(168, 1, clos), spray);
        for (uint32_t d = 0; d < 168; d++) { /* 84 further on: every flow leaves its leaf */
            pairs[d][0] = d;
            pairs[d][1] = (d + 84) % 168;
        }
        expect_near("rate", slowest_rate(n, pairs, 168), 50e9 / over[i], 1e-9);
        network_free(n);
    }
}

/* Adversary: each group sends all it has to the next one, over one cable for 8 devices. Minimal
 * routes share it; by way of the 7 other groups each cable carries 8/7 out and 8/7 on. */
static void valiant_saves_a_dragonfly_from_its_worst_pattern(void **state)
{
    (void)state;
    uint32_t pairs[72][2];
    for (uint32_t d = 0; d < 72; d++) {
        pairs[d][0] = d;
        pairs[d][1] = (d + 8) % 72;
    }
    weir_routing routing = {0};
    network n = network_new(dragonfly_fabric(9), routing);
    expect_near("minimal", slowest_rate(n, pairs, 72), 50e9 / 8, 1e-9);
    network_free(n);
    routing.has_valiant = true;
    n = network_new(dragonfly_fabric(9), routing);
    double *loads = loads_new(n);
    for (uint32_t i = 0; i < 72; i++) {
        load(n, loads, pairs[i][0], pairs[i][1], i);
    }
    double most_global = 0;
    for (uint32_t l = 0; l < weir_net_count(weir_topology_net(n.t)); l++) {
        if (weir_topology_link(n.t, l).tier == WEIR_TIER_HALL) {
            most_global = fmax(most_global, loads[l]);
        }
    }
    expect_near("Valiant, global", most_global, 16. / 7, 1e-9);
    assert_true(slowest_rate(n, pairs, 72) > 2 * 50e9 / 8);
    free(loads);
    network_free(n);
}

/* Uniform traffic: two global hops instead of one between groups. */
static void valiant_doubles_the_global_load_of_uniform_traffic(void **state)
{
    (void)state;
    double most[2] = {0};
    for (int way = 0; way < 2; way++) {
        const weir_routing routing = {.has_valiant = way == 1};
        network n = network_new(dragonfly_fabric(9), routing);
        double *loads = loads_new(n);
        for (uint32_t a = 0; a < 72; a++) {
            for (uint32_t b = 0; b < 72; b++) {
                load(n, loads, a, b, 0);
            }
        }
        for (uint32_t l = 0; l < weir_net_count(weir_topology_net(n.t)); l++) {
            if (weir_topology_link(n.t, l).tier == WEIR_TIER_HALL) {
                most[way] = fmax(most[way], loads[l]);
            }
        }
        free(loads);
        network_free(n);
    }
    expect_near("minimal", most[0], 64, 1e-9); /* 8 x 8 pairs over each cable */
    expect_near("Valiant", most[1], 128, 1e-9);
}

static void what_a_topology_does_not_have_is_refused(void **state)
{
    (void)state;
    weir_clos one = {.tiers = 1, .radix = {8}};
    weir_fabric f = clos_fabric(8, 1, one);
    weir_topology *t;
    weir_err err = {0};
    expect_ok(weir_topology_new(&f, &t, &err), &err);
    weir_router *r = NULL;
    weir_routing routing = {.has_pxn = true};
    assert_int_equal(weir_router_new(t, &routing, &r, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "PXN"));
    routing = (weir_routing){.has_valiant = true};
    err = (weir_err){0};
    assert_int_equal(weir_router_new(t, &routing, &r, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "dragonfly of 3 groups"));
    assert_null(r);
    routing.has_valiant = false;
    expect_ok(weir_router_new(t, &routing, &r, &err), &err);
    weir_route route;
    err = (weir_err){0};
    assert_int_equal(weir_router_find(r, 0, 8, 0, &route, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "a path from device 0 to 8; devices are 0 to 7");
    weir_router_free(r);
    weir_topology_free(t);
}

/* What was asked before must not show: searches are kept, paths are put together in place. */
static void a_route_is_the_same_to_the_bit_whenever_it_is_asked_for(void **state)
{
    (void)state;
    for (uint32_t which = 0; which < SAMPLES; which++) {
        const weir_routing routing = sample_routing(which, which);
        network used = network_new(sample(which), routing);
        uint32_t devices = weir_topology_devices(used.t);
        for (uint32_t i = 0; i < 20; i++) {
            uint32_t from = 7 * i % devices, to = (13 * i + 5) % devices;
            network fresh = network_new(sample(which), routing);
            weir_route a = find(used, from, to, i), b = find(fresh, from, to, i);
            assert_int_equal(a.path.count, b.path.count);
            if (a.path.count > 0) {
                assert_memory_equal(a.path.links, b.path.links,
                                    a.path.count * sizeof *a.path.links);
                assert_memory_equal(a.path.bytes_per_unit, b.path.bytes_per_unit,
                                    a.path.count * sizeof *a.path.bytes_per_unit);
            }
            assert_true(a.latency_s == b.latency_s);
            network_free(fresh);
        }
        network_free(used);
    }
}

/* The same cables as a list: its router searches. */
static network as_list(network n, weir_listed_cable *cables)
{
    weir_fabric f = {.kind = WEIR_FABRIC_LIST};
    uint32_t links = weir_net_count(weir_topology_net(n.t));
    for (uint32_t i = 0; i < links; i += 2) {
        weir_link l = weir_topology_link(n.t, i);
        cables[i / 2] = (weir_listed_cable){.from = l.from, .to = l.to, .cable = cable};
        cables[i / 2].cable.latency_s = weir_net_latency_s(weir_topology_net(n.t), i);
    }
    f.list = (weir_cable_list){.devices = weir_topology_devices(n.t),
                               .devices_forward = true,
                               .cables = cables,
                               .count = links / 2};
    return network_new(f, (weir_routing){0});
}

static void sprayed_ways_of_a_torus_are_those_of_a_search(void **state)
{
    (void)state;
    static const uint32_t sizes[][3] = {{4, 3, 6}, {2, 4, 1}, {5, 5, 2}, {8, 1, 1}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        weir_fabric fabric = torus_fabric(sizes[k][0], sizes[k][1], sizes[k][2]);
        fabric.torus.cable[0].latency_s = 3e-6;
        fabric.torus.cable[1].latency_s = 1e-6;
        weir_listed_cable cables[256];
        network n = network_new(fabric, (weir_routing){0}), list = as_list(n, cables);
        uint32_t links = weir_net_count(weir_topology_net(n.t));
        for (uint32_t to = 1; to < weir_topology_devices(n.t); to++) {
            double *loads = loads_new(n), *expected = loads_new(n);
            for (uint32_t dead = 0; dead < 2; dead++) { /* healthy, then link 0 is dead */
                weir_router_set_dead(n.r, 0, dead);
                weir_router_set_dead(list.r, 0, dead);
                load(n, loads, 0, to, 0);
                load(list, expected, 0, to, 0);
                expect_near("latency", find(n, 0, to, 0).latency_s, find(list, 0, to, 0).latency_s,
                            1e-12);
            }
            for (uint32_t i = 0; i < links; i++) {
                expect_near("share", loads[i], expected[i], 1e-14);
            }
            weir_router_set_dead(n.r, 0, false);
            weir_router_set_dead(list.r, 0, false);
            free(loads);
            free(expected);
        }
        network_free(list);
        network_free(n);
    }
}

/* Ways of so many links at most from a vertex to each vertex, over living links: by link, how many
 * ways cross it. A Clos network with single cables, so that its ways are all shortest ways. */
static double count_ways(network n, const uint32_t pair[2], const uint8_t *dead, double *crossing)
{
    enum { VERTICES = 1024, FURTHEST = 16 };
    uint32_t links = weir_net_count(weir_topology_net(n.t)), distance = FURTHEST;
    double(*to)[VERTICES] = calloc(FURTHEST + 1, sizeof *to); /* [links left][vertex] */
    double(*from)[VERTICES] = calloc(FURTHEST + 1, sizeof *from);
    assert_true(to && from);
    to[0][pair[1]] = from[0][pair[0]] = 1;
    for (uint32_t step = 0; step < FURTHEST; step++) {
        for (uint32_t l = 0; l < links; l++) {
            weir_link link = weir_topology_link(n.t, l);
            assert_true(link.from < VERTICES && link.to < VERTICES);
            if (!dead[l]) {
                to[step + 1][link.from] += to[step][link.to];
                from[step + 1][link.to] += from[step][link.from];
            }
        }
        bool is_there = from[step + 1][pair[1]] > 0 && step + 1 < distance;
        distance = is_there ? step + 1 : distance;
    }
    double ways = distance < FURTHEST ? from[distance][pair[1]] : 0;
    for (uint32_t l = 0; l < links; l++) {
        weir_link link = weir_topology_link(n.t, l);
        crossing[l] = 0;
        for (uint32_t step = 0; step < distance && !dead[l] && ways > 0; step++) {
            crossing[l] += from[step][link.from] * to[distance - 1 - step][link.to];
        }
    }
    free(to);
    free(from);
    return ways;
}

static void all_ways_of_three_tiers_are_those_of_a_search(void **state)
{
    (void)state;
    const weir_routing spray = {0};
    const tree x = {4, 4, 4, 4, 4, 0};
    uint64_t random = 77;
    double crossing[4096];
    uint32_t compared = 0;
    for (uint32_t broken = 0; broken <= 24; broken += 3) {
        network n = network_new(tree_fabric(&x), spray);
        uint32_t links = weir_net_count(weir_topology_net(n.t));
        uint8_t dead[4096] = {0};
        assert_true(links <= sizeof dead);
        for (uint32_t i = 0; i < broken; i++) { /* above the hosts' cables */
            uint32_t link = 128 + pick(&random, links - 128);
            weir_router_set_dead(n.r, link, true);
            dead[link] = 1;
        }
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t pair[2] = {pick(&random, 64), pick(&random, 64)};
            weir_route route;
            double ways = count_ways(n, pair, dead, crossing);
            if (pair[0] == pair[1] ||
                weir_router_find(n.r, pair[0], pair[1], 0, &route, NULL) != WEIR_OK) {
                continue;
            }
            uint32_t crossed = 0;
            for (uint32_t l = 0; l < links; l++) {
                crossed += crossing[l] > 0;
            }
            assert_int_equal(route.path.count, crossed);
            for (uint32_t k = 0; k < route.path.count; k++) {
                expect_near("share", route.path.bytes_per_unit[k],
                            crossing[route.path.links[k]] / ways, 1e-15);
            }
            compared++;
        }
        network_free(n);
    }
    assert_true(compared > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_keeps_all_bytes),
        cmocka_unit_test(no_route_uses_a_dead_link_and_none_is_overlooked),
        cmocka_unit_test(a_pair_that_is_cut_apart_is_named),
        cmocka_unit_test(hashed_flows_move_only_when_their_way_dies),
        cmocka_unit_test(a_latency_is_that_of_the_slowest_way),
        cmocka_unit_test(rings_split_ties_both_ways),
        cmocka_unit_test(a_permutation_gets_the_full_rate_or_its_share_of_the_uplinks),
        cmocka_unit_test(valiant_saves_a_dragonfly_from_its_worst_pattern),
        cmocka_unit_test(valiant_doubles_the_global_load_of_uniform_traffic),
        cmocka_unit_test(a_route_is_the_same_to_the_bit_whenever_it_is_asked_for),
        cmocka_unit_test(what_a_topology_does_not_have_is_refused),
        cmocka_unit_test(sprayed_ways_of_a_torus_are_those_of_a_search),
        cmocka_unit_test(all_ways_of_three_tiers_are_those_of_a_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
