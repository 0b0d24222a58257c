/* Plans: what they load, that bodies are what single connections would be, what is refused. */
#include "collective/library.h"
#include "fabric/ecmp.h"

#include "plan_fixture.h"

#include <stdio.h>

static weir_collective_job job_of(weir_collective_kind kind, double bytes)
{
    return (weir_collective_job){.kind = kind, .bytes = bytes};
}

/* --- against the table of wire factors, which is written independently --- */

static double from_factors(const weir_collective_shape *shape, weir_collective_algorithm algorithm)
{
    double node_s = shape->node_bytes_per_s > 0 ? weir_collective_node_factor(shape, algorithm) *
                                                      shape->bytes / shape->node_bytes_per_s
                                                : 0;
    double network_s = weir_collective_network_factor(shape, algorithm) * shape->bytes /
                       shape->network_bytes_per_s;
    if (weir_collective_is_serial(algorithm)) {
        return node_s + network_s;
    }
    return node_s > network_s ? node_s : network_s;
}

/* Where the table tells means or bounds and the plan tells rounds one by one. */
static bool is_told_apart(const weir_collective_shape *shape, weir_collective_algorithm algorithm)
{
    bool is_mixed = shape->nodes > 1 && shape->ranks > shape->nodes;
    switch (algorithm) {
    case WEIR_ALGORITHM_RAILS: /* messages inside nodes go beside, not before */
        return true;
    case WEIR_ALGORITHM_BRUCK: /* rounds cross nodes for some, not for all */
    case WEIR_ALGORITHM_PAIRWISE:
        return is_mixed;
    case WEIR_ALGORITHM_TREE: /* the root of a broadcast stays where it is: trees cannot turn */
        return shape->kind != WEIR_COLLECTIVE_ALL_REDUCE;
    default:
        return false;
    }
}

static void expect_factors(weir_layout *layout, const weir_collective_shape *shape)
{
    for (int a = 0; a < WEIR_ALGORITHM_COUNT; a++) {
        weir_collective_algorithm algorithm = (weir_collective_algorithm)a;
        if (!weir_collective_is_possible(shape, algorithm) || is_told_apart(shape, algorithm)) {
            continue;
        }
        weir_collective_job job = job_of(shape->kind, shape->bytes);
        job.has_node_reduction = shape->has_node_reduction;
        char what[100];
        snprintf(what, sizeof what, "%s by %s on %u nodes, %u ranks",
                 weir_collective_kind_name(shape->kind), weir_collective_algorithm_name(algorithm),
                 shape->nodes, shape->ranks);
        expect_near(what, seconds(layout, job, choice_of(algorithm, 0)),
                    from_factors(shape, algorithm), 1e-9);
        /* The library's closed form is what playing its choice takes. */
        weir_collective_choice choice = choice_of(algorithm, 37e-6);
        choice.node_efficiency = 0.83;
        choice.network_efficiency = 0.91;
        expect_near(what, seconds(layout, job, choice), weir_collective_estimate_s(shape, &choice),
                    1e-9);
    }
}

static void plans_load_what_the_table_of_wire_factors_says(void **state)
{
    for (uint32_t nodes = 1; nodes <= 16; nodes *= 2) {
        for (uint32_t devices = 1; devices <= 8; devices *= 2) {
            if (nodes * devices == 1) {
                continue;
            }
            weir_fabric f = one_tier(nodes, devices);
            weir_layout *layout = layout_of(f, spray);
            uint32_t count = 0;
            uint32_t *members = devices_of(layout, &count);
            for (int kind = 0; kind < WEIR_COLLECTIVE_KIND_COUNT; kind++) {
                weir_collective_job job = job_of((weir_collective_kind)kind, 3e8);
                job.members = members;
                job.count = count;
                for (int reduction = 0; reduction < 2; reduction++) {
                    weir_collective_shape shape = {.has_network_reduction = true,
                                                   .has_node_reduction = reduction};
                    weir_plan_measure(layout, &job, &shape);
                    expect_factors(layout, &shape);
                }
            }
            free(members);
            weir_layout_free(layout);
        }
    }
}

static void measures_what_the_members_look_like(void **state)
{
    weir_fabric f = one_tier(4, 8);
    f.nodes.nics = 4;
    f.nodes.pcie.bytes_per_s = 60e9;
    weir_layout *layout = layout_of(f, spray);
    const uint32_t members[] = {1, 9, 2, 10, 3, 25};
    weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_GATHER, 7);
    job.members = members;
    job.count = 6;
    weir_collective_shape shape = {.has_network_reduction = true};
    weir_plan_measure(layout, &job, &shape);
    assert_int_equal(shape.kind, WEIR_COLLECTIVE_ALL_GATHER);
    assert_int_equal(shape.ranks, 6);
    assert_int_equal(shape.nodes, 3);
    expect_near("inside", shape.node_bytes_per_s, 450e9, 1e-15);
    expect_near("half a NIC", shape.network_bytes_per_s, 25e9, 1e-15);
    assert_true(shape.has_network_reduction);
    weir_layout_free(layout);
}

/* --- bodies = connections --- */

typedef struct {
    weir_layout *layout;
    weir_bodies *play;
} stage;

static void send_message(stage *s, uint32_t from, uint32_t to, double bytes, uint64_t tag)
{
    weir_err err = {0};
    weir_route route;
    weir_body_id id;
    expect_ok(weir_layout_find(s->layout, 0, from, to, 0, &route, &err), &err);
    weir_body body = {.path = route.path, .size = bytes, .tag = tag};
    expect_ok(weir_bodies_add(s->play, &body, &id, &err), &err);
}

static void send_plan(stage *s, const weir_plan *plan, uint64_t tag)
{
    weir_err err = {0};
    weir_body_id id;
    assert_int_equal(plan->round_count, 1);
    for (uint32_t b = 0; b < plan->body_count; b++) {
        weir_body body = plan->bodies[b];
        body.tag = tag;
        expect_ok(weir_bodies_add(s->play, &body, &id, &err), &err);
    }
}

/* When the last of each tag ends. */
static void play_tags(stage *s, double ends[2])
{
    weir_err err = {0};
    weir_body_end end;
    ends[0] = ends[1] = 0;
    expect_ok(weir_bodies_run(s->play, &err), &err);
    while (weir_bodies_take(s->play, &end)) {
        ends[end.tag] = end.end_s > ends[end.tag] ? end.end_s : ends[end.tag];
    }
    weir_bodies_free(s->play);
}

typedef struct {
    weir_collective_kind kind;
    weir_collective_algorithm algorithm;
    double bytes;
} traffic;

static traffic draw_traffic(uint64_t *random)
{
    static const traffic some[] = {
        {WEIR_COLLECTIVE_ALL_TO_ALL, WEIR_ALGORITHM_DIRECT, 0},
        {WEIR_COLLECTIVE_ALL_GATHER, WEIR_ALGORITHM_RING, 0},
        {WEIR_COLLECTIVE_ALL_REDUCE, WEIR_ALGORITHM_RING, 0},
        {WEIR_COLLECTIVE_SEND_RECV, WEIR_ALGORITHM_DIRECT, 0},
    };
    traffic t = some[pick(random, 4)];
    t.bytes = 1e6 * (1 + pick(random, 100));
    return t;
}

/* The connections of that traffic, one body each. */
static void send_connections(stage *s, const traffic *t, const uint32_t *members, uint32_t n,
                             uint64_t tag)
{
    for (uint32_t i = 0; i < n; i++) {
        if (t->kind != WEIR_COLLECTIVE_ALL_TO_ALL) {
            double factor = weir_collective_bus_factor(t->kind, n);
            send_message(s, members[i], members[(i + 1) % n], t->bytes * factor, tag);
            continue;
        }
        for (uint32_t j = 0; j < n; j++) {
            if (i != j) {
                send_message(s, members[i], members[j], t->bytes / n, tag);
            }
        }
    }
}

/* Two collectives at once over like members of a Clos with any oversubscription: whole leaves with
 * as many members on each, so that the connections of a body meet the same links. A ring is laid
 * with one member on a leaf or inside one leaf: elsewhere its connections would be of two kinds. */
static void compare_once(uint64_t seed)
{
    uint64_t random = seed;
    uint32_t leaves = 2 + pick(&random, 5), hosts = 2 + pick(&random, 4), up = 1 + pick(&random, 4);
    double over = (double)hosts / up;
    weir_clos clos = {.tiers = 2, .radix = {hosts + up, leaves}, .oversubscription = {over, 1}};
    weir_layout *layout = layout_of(clos_fabric(leaves * hosts, 1, clos), spray);
    const traffic both[2] = {draw_traffic(&random), draw_traffic(&random)};
    double bodies_s[2], connections_s[2];
    bool has_ring =
        both[0].kind != WEIR_COLLECTIVE_ALL_TO_ALL || both[1].kind != WEIR_COLLECTIVE_ALL_TO_ALL;
    bool is_one_leaf = pick(&random, 2);
    uint32_t members[64], n = 0;
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        for (uint32_t h = 0; h < hosts; h++) {
            if (!has_ring || (is_one_leaf ? leaf == 0 : h == 0)) {
                members[n++] = leaf * hosts + h;
            }
        }
    }
    for (int unfolded = 0; unfolded < 2; unfolded++) {
        weir_err err = {0};
        stage s = {.layout = layout};
        expect_ok(weir_bodies_new(weir_layout_net(layout), &s.play, &err), &err);
        weir_plan plans[2] = {{0}};
        for (uint32_t k = 0; k < 2; k++) {
            weir_collective_job job = job_of(both[k].kind, both[k].bytes);
            job.members = members;
            job.count = n;
            plans[k] = plan_of(layout, job, choice_of(both[k].algorithm, 0));
            if (unfolded) {
                send_connections(&s, &both[k], members, n, k);
            } else {
                send_plan(&s, &plans[k], k);
            }
        }
        play_tags(&s, unfolded ? connections_s : bodies_s);
        weir_plan_clear(&plans[0]);
        weir_plan_clear(&plans[1]);
    }
    char what[100];
    for (int k = 0; k < 2; k++) {
        snprintf(what, sizeof what, "seed %llu, %s of %u", (unsigned long long)seed,
                 weir_collective_kind_name(both[k].kind), n);
        expect_near(what, bodies_s[k], connections_s[k], 1e-9);
    }
    weir_layout_free(layout);
}

static void bodies_end_when_their_connections_would(void **state)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        compare_once(seed);
    }
}

/* --- what is loaded --- */

static double loaded(const weir_plan *plan, weir_link_id link)
{
    double bytes = 0;
    for (uint32_t b = 0; b < plan->body_count; b++) {
        const weir_body *body = &plan->bodies[b];
        for (uint32_t i = 0; i < body->path.count; i++) {
            bytes += body->path.links[i] == link ? body->size * body->path.bytes_per_unit[i] : 0;
        }
    }
    return bytes;
}

static weir_fabric rails(uint32_t nodes, uint32_t devices, weir_clos_wiring wiring)
{
    weir_clos clos = {.tiers = wiring == WEIR_CLOS_RAIL_ONLY ? 1 : 2,
                      .radix = {wiring == WEIR_CLOS_RAIL_ONLY ? nodes : 2 * nodes, 64},
                      .wiring = wiring};
    weir_fabric f = clos_fabric(nodes, devices, clos);
    f.nodes.wiring = WEIR_NODE_SWITCHED;
    f.nodes.cable.bytes_per_s = 450e9;
    return f;
}

/* The loads of all messages, one route after the other, against those of the plan. */
static void expect_all_pairs(weir_layout *layout, const char *what)
{
    uint32_t links = weir_net_count(weir_layout_net(layout)), n = weir_layout_devices(layout);
    double *due = calloc(links, sizeof *due), *found = calloc(links, sizeof *found);
    weir_err err = {0};
    weir_route route;
    assert_true(due && found);
    for (uint32_t i = 0; i < n * n; i++) {
        expect_ok(weir_layout_find(layout, 0, i / n, i % n,
                                   ecmp_mix(0) ^ ((uint64_t)(i / n) << 32 | i % n), &route, &err),
                  &err);
        for (uint32_t k = 0; k < route.path.count; k++) {
            due[route.path.links[k]] += route.path.bytes_per_unit[k];
        }
    }
    weir_plan plan =
        plan_of(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, n), choice_of(WEIR_ALGORITHM_DIRECT, 0));
    for (uint32_t b = 0; b < plan.body_count; b++) {
        const weir_body *body = &plan.bodies[b];
        for (uint32_t i = 0; i < body->path.count; i++) {
            found[body->path.links[i]] += body->size * body->path.bytes_per_unit[i];
        }
    }
    for (uint32_t i = 0; i < links; i++) {
        if (fabs(found[i] - due[i]) > 1e-9 * (1 + due[i])) {
            fail_msg("%s: link %u is loaded by %.17g, not %.17g", what, i, found[i], due[i]);
        }
    }
    weir_plan_clear(&plan);
    free(due);
    free(found);
}

static void all_pairs_load_what_their_routes_do_one_by_one(void **state)
{
    static const weir_clos_wiring wirings[] = {WEIR_CLOS_PLAIN, WEIR_CLOS_RAILS};
    for (uint32_t i = 0; i < 48; i++) {
        weir_clos clos = {.tiers = 2 + i / 24,
                          .planes = 1 + i % 2,
                          .radix = {16, 128, 128},
                          .oversubscription = {3, 1},
                          .wiring = wirings[i / 2 % 2]};
        weir_fabric f = clos_fabric(40, 4, clos);
        f.nodes.wiring = WEIR_NODE_SWITCHED;
        f.nodes.cable.bytes_per_s = 450e9;
        f.nodes.nics = i % 3 == 0 ? 2 : i % 3 == 1 ? 4 : 8;
        weir_routing routing = {.choice = (weir_route_choice)(i / 4 % 3), .seed = i};
        routing.has_pxn = i % 5 == 4;
        weir_layout *layout = layout_of(f, routing);
        char what[40];
        snprintf(what, sizeof what, "case %u", i);
        expect_all_pairs(layout, what);
        for (weir_link_id link = 0; link < weir_net_count(weir_layout_net(layout)); link++) {
            if (weir_layout_tier(layout, link) == WEIR_TIER_BETWEEN_RACKS) {
                weir_layout_set_dead(layout, link, true);
                break;
            }
        }
        snprintf(what, sizeof what, "case %u, a dead link", i);
        expect_all_pairs(layout, what);
        weir_layout_free(layout);
    }
}

static void rings_stay_on_their_rails_and_use_all_of_them(void **state)
{
    weir_layout *layout = layout_of(rails(6, 4, WEIR_CLOS_RAILS), spray);
    weir_plan plan = plan_of(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 24e6),
                             choice_of(WEIR_ALGORITHM_RING, 0));
    for (weir_link_id i = 0; i < weir_net_count(weir_layout_net(layout)); i++) {
        double expected = 0; /* spines stay empty */
        if (weir_layout_tier(layout, i) == WEIR_TIER_BETWEEN_NODES) {
            expected = 2 * 23e6 / 4;
        } else if (weir_layout_tier(layout, i) == WEIR_TIER_IN_NODE) {
            expected = 2 * 23e6 * 3 / 4;
        }
        assert_true(fabs(loaded(&plan, i) - expected) < 1e-3);
    }
    weir_plan_clear(&plan);
    weir_layout_free(layout);
}

static void an_odd_ring_of_rails_changes_rails_inside_the_node(void **state)
{
    weir_layout *layout = layout_of(rails(3, 4, WEIR_CLOS_RAIL_ONLY), spray);
    double found = seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 12e6),
                           choice_of(WEIR_ALGORITHM_RING, 0));
    expect_near("all NICs alike", found, 2 * 11e6 / 4 / 50e9, 1e-9);
    weir_layout_free(layout);
}

/* Eight devices, each pair with a cable of 64 GB/s: seven disjoint rings cannot be, six can. */
static void rings_of_a_mesh_use_different_cables(void **state)
{
    for (uint32_t n = 3; n <= 9; n++) {
        weir_layout *layout = layout_of(one_node(n, WEIR_NODE_MESHED, 64e9), spray);
        weir_plan plan = plan_of(layout, job_of(WEIR_COLLECTIVE_ALL_GATHER, 1e9),
                                 choice_of(WEIR_ALGORITHM_RING, 0));
        double rings = 2.0 * ((n - 1) / 2), expected = 1e9 * (n - 1) / n / rings;
        expect_near("mesh", plan.rounds[0].alone_s, expected / 64e9, 1e-9);
        double total = 0;
        for (weir_link_id i = 0; i < weir_net_count(weir_layout_net(layout)); i++) {
            total += loaded(&plan, i);
        }
        expect_near("all edges", total, 1e9 * (n - 1), 1e-9);
        weir_plan_clear(&plan);
        weir_layout_free(layout);
    }
}

static void a_ring_of_cables_is_used_both_ways(void **state)
{
    weir_layout *layout = layout_of(one_node(6, WEIR_NODE_RING, 50e9), spray);
    expect_near(
        "ring",
        seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 6e9), choice_of(WEIR_ALGORITHM_RING, 0)),
        2 * 5e9 / 2 / 50e9, 1e-9);
    weir_layout_free(layout);
    layout = layout_of(torus_fabric(8, 1, 1), spray);
    expect_near(
        "torus of one dimension",
        seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 8e9), choice_of(WEIR_ALGORITHM_RING, 0)),
        2 * 7e9 / 2 / 50e9, 1e-9);
    weir_layout_free(layout);
}

/* All 2 D links of each device busy: 2 (n - 1) / n S over 2 D x 50 GB/s where sizes are equal. With
 * unequal ones the loads are summed by hand: 4 x 2, part 0 begins with the first dimension. */
static void a_torus_is_used_along_all_dimensions(void **state)
{
    static const uint32_t sizes[][3] = {{4, 4, 4}, {2, 2, 2}, {3, 3, 3}, {5, 5, 1}, {8, 8, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t *k = sizes[i];
        double n = k[0] * k[1] * k[2], links = k[2] > 1 ? 6 : 4;
        weir_layout *layout = layout_of(torus_fabric(k[0], k[1], k[2]), spray);
        expect_near("torus",
                    seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 6e9),
                            choice_of(WEIR_ALGORITHM_RING, 0)),
                    2 * (n - 1) / n * 6e9 / (links * 50e9), 1e-9);
        weir_layout_free(layout);
    }
    weir_layout *layout = layout_of(torus_fabric(4, 2, 1), spray);
    double first = 0.5 * 3 / 4 + 0.5 / 2 * 3 / 4, second = 0.5 * 1 / 2 + 0.5 / 4 * 1 / 2;
    double busiest = first > second ? first : second;
    expect_near(
        "4 x 2",
        seconds(layout, job_of(WEIR_COLLECTIVE_ALL_GATHER, 8e9), choice_of(WEIR_ALGORITHM_RING, 0)),
        busiest / 2 * 8e9 / 50e9, 1e-9);
    /* A line of four is a ring of its own, along the dimension that changes slowest. */
    const uint32_t line[] = {0, 2, 4, 6};
    weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_GATHER, 8e9);
    job.members = line;
    job.count = 4;
    expect_near("a line", seconds(layout, job, choice_of(WEIR_ALGORITHM_RING, 0)),
                0.75 * 8e9 / 2 / 50e9, 1e-9);
    weir_layout_free(layout);
}

/* Four hosts on each of four leaves, two uplinks: a sum crosses each uplink (sprayed) once. */
static void a_network_that_sums_carries_every_byte_once(void **state)
{
    weir_clos clos = {.tiers = 2, .radix = {6, 4}, .oversubscription = {2, 1}};
    weir_layout *layout = layout_of(clos_fabric(16, 1, clos), spray);
    weir_plan plan = plan_of(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 1e6),
                             choice_of(WEIR_ALGORITHM_SHARP, 0));
    for (weir_link_id i = 0; i < weir_net_count(weir_layout_net(layout)); i++) {
        bool is_nic = weir_layout_tier(layout, i) == WEIR_TIER_BETWEEN_NODES;
        assert_true(fabs(loaded(&plan, i) - (is_nic ? 1e6 : 0.5e6)) < 1e-3);
    }
    weir_plan_clear(&plan);
    weir_layout_free(layout);
}

/* Two racks of three nodes of two devices; a leaf has two uplinks for the six. */
static void three_levels_halve_what_goes_up(void **state)
{
    weir_clos clos = {.tiers = 2, .radix = {8, 4}, .oversubscription = {3, 1}};
    weir_fabric f = clos_fabric(6, 2, clos);
    f.nodes.wiring = WEIR_NODE_SWITCHED;
    f.nodes.cable.bytes_per_s = 100e9;
    weir_layout *layout = layout_of(f, spray);
    weir_plan plan = plan_of(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 12e9),
                             choice_of(WEIR_ALGORITHM_HIERARCHICAL3, 5e-3));
    assert_int_equal(plan.round_count, 5);
    expect_near("inside nodes", plan.rounds[0].alone_s, 6e9 / 100e9, 1e-9);
    for (int i = 0; i < 5; i++) {
        expect_near("latency", plan.rounds[i].latency_s, 1e-3, 1e-12);
    }
    expect_near("inside racks", plan.rounds[1].alone_s, 6e9 * 2 / 3 / 50e9, 1e-9);
    expect_near("between racks", plan.rounds[2].alone_s, 6 * 2e9 / (2 * 50e9), 1e-9);
    weir_plan_clear(&plan);
    weir_layout_free(layout);
}

static void efficiencies_lengthen_what_they_hold_for(void **state)
{
    weir_layout *layout = layout_of(one_tier(2, 4), spray);
    weir_collective_choice choice = choice_of(WEIR_ALGORITHM_HIERARCHICAL, 0);
    weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_REDUCE, 8e9);
    double node_s = 2 * 6e9 / 450e9, network_s = 2e9 / 50e9;
    choice.node_efficiency = 0.8;
    choice.network_efficiency = 0.9;
    job.transport_efficiency = 0.87;
    expect_near("both", seconds(layout, job, choice), node_s / 0.8 + network_s / (0.9 * 0.87),
                1e-9);
    weir_layout_free(layout);
}

static void latency_is_spread_over_rounds_also_those_told_as_one(void **state)
{
    weir_layout *layout = layout_of(one_tier(8, 1), spray);
    weir_plan plan = plan_of(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 8e6),
                             choice_of(WEIR_ALGORITHM_HALVING, 6e-3));
    assert_int_equal(plan.round_count, 1); /* all six load all NICs alike */
    expect_near("latency", plan.rounds[0].latency_s, 6e-3, 1e-12);
    expect_near("size", plan.bodies[0].size, 2 * 7e6, 1e-12);
    weir_plan_clear(&plan);
    plan = plan_of(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 0),
                   choice_of(WEIR_ALGORITHM_RING, 1e-3));
    expect_near("no bytes", weir_plan_alone_s(&plan), 1e-3, 1e-12);
    weir_plan_clear(&plan);
    weir_layout_free(layout);
}

static void a_message_takes_its_route(void **state)
{
    weir_layout *layout = layout_of(one_tier(2, 2), spray);
    const uint32_t pair[] = {0, 3};
    weir_collective_job job = job_of(WEIR_COLLECTIVE_SEND_RECV, 1e9);
    weir_collective_choice choice = choice_of(WEIR_ALGORITHM_DIRECT, 1e-6);
    weir_plan plan = {0};
    weir_err err = {0};
    job.members = pair;
    job.count = 2;
    expect_ok(weir_plan_message(layout, &job, &choice, &plan, &err), &err);
    expect_near("message", weir_plan_alone_s(&plan), 1e-6 + 1e9 / 50e9, 1e-12);
    assert_int_equal(plan.pace_tier, WEIR_TIER_BETWEEN_NODES);
    weir_plan_clear(&plan);
    weir_layout_free(layout);
}

static void members_in_any_order_give_the_same_time(void **state)
{
    weir_layout *layout = layout_of(one_tier(4, 4), spray);
    uint64_t random = 5;
    for (int i = 0; i < 20; i++) {
        uint32_t *order = make_permutation(16, &random);
        weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_REDUCE, 1e9);
        job.members = order;
        job.count = 16;
        expect_near("shuffled", seconds(layout, job, choice_of(WEIR_ALGORITHM_RING, 0)),
                    2 * 15.0 / 16 / 4 * 1e9 / 50e9, 1e-9);
        free(order);
    }
    weir_layout_free(layout);
}

static void uneven_nodes_share_the_rails_that_all_have(void **state)
{
    weir_layout *layout = layout_of(one_tier(3, 4), spray);
    const uint32_t members[] = {0, 1, 2, 3, 4, 5, 8, 9, 10};
    weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_REDUCE, 9e9);
    job.members = members;
    job.count = 9;
    expect_near("two rings", seconds(layout, job, choice_of(WEIR_ALGORITHM_RING, 0)),
                2 * 8e9 / 2 / 50e9, 1e-9);
    seconds(layout, job, choice_of(WEIR_ALGORITHM_TREE, 0));
    seconds(layout, job, choice_of(WEIR_ALGORITHM_HALVING, 0));
    job.kind = WEIR_COLLECTIVE_ALL_TO_ALL;
    seconds(layout, job, choice_of(WEIR_ALGORITHM_PAIRWISE, 0));
    weir_layout_free(layout);
}

/* MPICH: with 6 members two hand all over first and get all back at the end. */
static void folds_what_is_no_power_of_two(void **state)
{
    weir_layout *layout = layout_of(one_tier(6, 1), spray);
    expect_near("doubling",
                seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 1e9),
                        choice_of(WEIR_ALGORITHM_DOUBLING, 0)),
                4e9 / 50e9, 1e-9);
    expect_near("halving",
                seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 1e9),
                        choice_of(WEIR_ALGORITHM_HALVING, 0)),
                (2 + 2 * 0.75) * 1e9 / 50e9, 1e-9);
    /* Bruck: of 1..5 have bit 0: 3, bit 1: 2, bit 2: 2. */
    expect_near("bruck",
                seconds(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, 6e9),
                        choice_of(WEIR_ALGORITHM_BRUCK, 0)),
                7e9 / 50e9, 1e-9);
    weir_layout_free(layout);
}

/* --- what is refused --- */

static void expect_refused(weir_layout *layout, weir_collective_job job,
                           weir_collective_algorithm algorithm, const char *part)
{
    weir_plan plan = {0};
    weir_err err = {0};
    weir_collective_choice choice = choice_of(algorithm, 0);
    uint32_t *all = NULL;
    if (!job.members) {
        all = devices_of(layout, &job.count);
        job.members = all;
    }
    weir_code code = weir_plan_collective(layout, &job, &choice, &plan, &err);
    if (code != WEIR_ERR_INPUT || !strstr(err.text, part)) {
        fail_msg("expected a refusal with \"%s\", found %d: %s", part, (int)code, err.text);
    }
    assert_null(plan.bodies);
    assert_null(plan.arena);
    free(all);
}

static void what_cannot_be_planned_is_refused_with_the_reason(void **state)
{
    weir_layout *nodes = layout_of(one_tier(2, 4), spray);
    weir_layout *apart = layout_of(rails(3, 4, WEIR_CLOS_RAIL_ONLY), spray);
    weir_layout *flat = layout_of(one_tier(8, 1), spray);
    const uint32_t uneven[] = {0, 1, 2, 4, 5}, unknown[] = {0, 8};
    weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_TO_ALL, 1e6);
    expect_refused(nodes, job, WEIR_ALGORITHM_TREE, "tree cannot do this all_to_all");
    expect_refused(nodes, job, WEIR_ALGORITHM_RING, "ring cannot do this all_to_all");
    expect_refused(nodes, job, WEIR_ALGORITHM_CHAIN, "broadcast and reduce");
    expect_refused(nodes, job, WEIR_ALGORITHM_SHARP, "sums and copies");
    expect_refused(apart, job, WEIR_ALGORITHM_DIRECT, "PXN");
    job.kind = WEIR_COLLECTIVE_ALL_REDUCE;
    expect_refused(flat, job, WEIR_ALGORITHM_NVLS, "no two devices in one node");
    job.bytes = -1;
    expect_refused(flat, job, WEIR_ALGORITHM_RING, "-1 bytes");
    job.bytes = 1e6;
    job.members = uneven;
    job.count = 5;
    expect_refused(nodes, job, WEIR_ALGORITHM_HIERARCHICAL, "as many in each node");
    job.members = unknown;
    job.count = 2;
    expect_refused(nodes, job, WEIR_ALGORITHM_RING, "devices are 0 to 7");
    weir_layout_free(nodes);
    weir_layout_free(apart);
    weir_layout_free(flat);
}

static void one_member_has_nothing_to_do(void **state)
{
    weir_layout *layout = layout_of(one_tier(2, 1), spray);
    const uint32_t members[] = {1};
    weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_REDUCE, 1e6);
    job.members = members;
    job.count = 1;
    weir_plan plan = plan_of(layout, job, choice_of(WEIR_ALGORITHM_RING, 1));
    assert_int_equal(plan.round_count, 0);
    assert_int_equal(plan.pace_link, WEIR_NONE);
    weir_plan_clear(&plan);
    weir_layout_free(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_load_what_the_table_of_wire_factors_says),
        cmocka_unit_test(measures_what_the_members_look_like),
        cmocka_unit_test(bodies_end_when_their_connections_would),
        cmocka_unit_test(all_pairs_load_what_their_routes_do_one_by_one),
        cmocka_unit_test(rings_stay_on_their_rails_and_use_all_of_them),
        cmocka_unit_test(an_odd_ring_of_rails_changes_rails_inside_the_node),
        cmocka_unit_test(rings_of_a_mesh_use_different_cables),
        cmocka_unit_test(a_ring_of_cables_is_used_both_ways),
        cmocka_unit_test(a_torus_is_used_along_all_dimensions),
        cmocka_unit_test(a_network_that_sums_carries_every_byte_once),
        cmocka_unit_test(three_levels_halve_what_goes_up),
        cmocka_unit_test(efficiencies_lengthen_what_they_hold_for),
        cmocka_unit_test(latency_is_spread_over_rounds_also_those_told_as_one),
        cmocka_unit_test(a_message_takes_its_route),
        cmocka_unit_test(members_in_any_order_give_the_same_time),
        cmocka_unit_test(uneven_nodes_share_the_rails_that_all_have),
        cmocka_unit_test(folds_what_is_no_power_of_two),
        cmocka_unit_test(what_cannot_be_planned_is_refused_with_the_reason),
        cmocka_unit_test(one_member_has_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
