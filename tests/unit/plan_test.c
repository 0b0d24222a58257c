/* Plans: what they load, how they are timed, what is refused. */

#include "plan_fixture.h"

#include <stdio.h>

static weir_collective_job job_of(weir_collective_kind kind, double bytes)
{
    return (weir_collective_job){.kind = kind, .bytes = bytes};
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

/* Six nodes, whose NICs are joined to the next node's by circuits of 50 GB/s: those that go one way
 * take one ring for each rail, S / rails x 2 x (n - 1) / n, and pairs of circuits twice as many. */
static void circuits_are_used_both_ways_where_there_are_both(void **state)
{
    (void)state;
    weir_light_circuit list[12];
    for (uint32_t i = 0; i < 6; i++) {
        list[2 * i] = (weir_light_circuit){i, (i + 1) % 6};
        list[2 * i + 1] = (weir_light_circuit){(i + 1) % 6, i};
    }
    weir_light_circuit one_way[6];
    for (uint32_t i = 0; i < 6; i++) {
        one_way[i] = list[2 * i];
    }
    for (uint32_t devices = 1; devices <= 4; devices *= 4) {
        for (int ways = 1; ways <= 2; ways++) {
            weir_fabric f = {.kind = WEIR_FABRIC_LIGHT, .nodes = {.nodes = 6, .devices = devices}};
            f.nodes.wiring = devices > 1 ? WEIR_NODE_SWITCHED : WEIR_NODE_UNLINKED;
            f.nodes.cable.bytes_per_s = 4500e9;
            f.light = (weir_light){.ends = WEIR_LIGHT_NICS,
                                   .uplinks = 2,
                                   .circuit = cable,
                                   .circuits = ways == 1 ? one_way : list,
                                   .count = 6 * (uint32_t)ways};
            weir_routing routing = {.choice = WEIR_ROUTE_SPRAY, .has_pxn = devices > 1};
            weir_layout *layout = layout_of(f, routing);
            double n = 6 * devices;
            expect_near("ring over circuits",
                        seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 6e9),
                                choice_of(WEIR_ALGORITHM_RING, 0)),
                        2 * (n - 1) / n * 6e9 / devices / ways / 50e9, 1e-9);
            weir_layout_free(layout);
        }
    }
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
        cmocka_unit_test(measures_what_the_members_look_like),
        cmocka_unit_test(rings_stay_on_their_rails_and_use_all_of_them),
        cmocka_unit_test(an_odd_ring_of_rails_changes_rails_inside_the_node),
        cmocka_unit_test(rings_of_a_mesh_use_different_cables),
        cmocka_unit_test(a_ring_of_cables_is_used_both_ways),
        cmocka_unit_test(circuits_are_used_both_ways_where_there_are_both),
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
