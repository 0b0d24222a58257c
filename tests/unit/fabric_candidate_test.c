/* Candidates that switch packets: the networks that their keys mean, counted by hand from parts
 * with round figures (16 ports of 50 GB/s, 500 ns a switch, 100 ns a module, 4.9 ns a metre). */
#include "candidate_fixture.h"

static void a_clos_takes_the_fewest_tiers_that_fit(void **state)
{
    (void)state;
    static const struct {
        uint32_t nodes, leaves, spines, cores;
    } rows[] = {
        {16, 1, 0, 0},     /* one switch */
        {64, 8, 4, 0},     /* 8 down, 8 up; spines of 16 ports take two from each leaf */
        {256, 32, 32, 16}, /* pods of 8 leaves and 8 spines */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        fixture_begin(&f, rows[i].nodes, 1, candidate_of(WEIR_CANDIDATE_CLOS));
        weir_candidate_network n = build_played(&f, NULL);
        assert_int_equal(switches_at(&n, "leaf")->count, rows[i].leaves);
        assert_int_equal(n.switch_rows, 1 + (rows[i].spines > 0) + (rows[i].cores > 0));
        if (rows[i].spines) {
            assert_int_equal(switches_at(&n, "spine")->count, rows[i].spines);
            assert_int_equal(switches_at(&n, "spine")->ports,
                             rows[i].spines * (rows[i].cores ? 16 : 16));
        }
        if (rows[i].cores) {
            assert_int_equal(switches_at(&n, "core")->count, rows[i].cores);
        }
        assert_int_equal(n.nics, rows[i].nodes);
        assert_int_equal(weir_layout_devices(n.layout), rows[i].nodes);
        weir_candidate_network_clear(&n);
        fixture_end(&f);
    }
}

static void cables_and_their_modules_are_counted_by_height(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 64, 1, candidate_of(WEIR_CANDIDATE_CLOS));
    weir_candidate_network n = build_played(&f, NULL);
    const weir_cable_need *low = cables_at(&n, "nic to leaf"), *up = cables_at(&n, "leaf to spine");
    assert_int_equal(low->cables, 64);
    assert_false(low->is_optical);
    assert_int_equal(low->modules, 0); /* no copper named */
    assert_int_equal(up->cables, 64);
    assert_true(up->is_optical && up->module == &module_50);
    assert_int_equal(up->modules, 128);
    expect_close("length", up->length_m, 30);
    weir_candidate_network_clear(&n);

    /* Modules of half the rate: two in each end. */
    weir_module_part slow = module_50;
    slow.bytes_per_s = 25e9;
    f.candidate.module = &slow;
    slow.reach_m = 10;
    f.candidate.optical_from = WEIR_OPTICAL_NIC;
    n = build_played(&f, NULL);
    assert_int_equal(n.note_count, 1);
    assert_string_equal(n.notes[0], "module-50 reaches 10 m; leaf to spine is 30 m");
    assert_int_equal(cables_at(&n, "nic to leaf")->modules, 256);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void a_way_is_as_late_as_its_switches_modules_and_metres(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 64, 1, candidate_of(WEIR_CANDIDATE_CLOS));
    weir_candidate_network n = build_played(&f, NULL);
    double metres = 2 * 3 * 4.9e-9;
    expect_close("below a leaf", route_of(&n, 0, 0, 1).latency_s, 500e-9 + metres);
    /* Three switches, two optical cables of two modules each. */
    expect_close("over a spine", route_of(&n, 0, 0, 63).latency_s,
                 3 * 500e-9 + metres + 2 * (2 * 100e-9 + 30 * 4.9e-9));
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void nics_faster_than_ports_take_planes(void **state)
{
    (void)state;
    weir_nic_part fast = nic_50;
    fast.bytes_per_s = 100e9;
    fixture f;
    fixture_begin(&f, 16, 1, candidate_of(WEIR_CANDIDATE_CLOS));
    f.scenario.cluster.nic = &fast;
    weir_candidate_network n = build_played(&f, NULL);
    assert_int_equal(switches_at(&n, "leaf")->count, 2);
    assert_int_equal(route_of(&n, 0, 0, 1).path.count, 4);
    weir_candidate_network_clear(&n);
    f.candidate.planes = 1;
    expect_refused(&f, NULL,
                   "NICs of 800 Gb/s do not fit 1 x 400 Gb/s (1 of the ports of "
                   "switch-16); planes: 2 would do");
    fixture_end(&f);
}

static void rails_alone_change_rails_inside_the_node(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 16, 4, candidate_of(WEIR_CANDIDATE_RAIL_ONLY));
    weir_candidate_network n = build_played(&f, NULL);
    assert_int_equal(switches_at(&n, "leaf")->count, 4);
    assert_int_equal(n.switch_rows, 1);
    /* Device 0 to device 1 of node 1: over NVLink to device 1, then its rail. */
    weir_route route = route_of(&n, 0, 0, 5);
    assert_int_equal(route.path.count, 4);
    assert_string_equal(n.notes[0], "rails are joined inside nodes only: PXN is on");
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void a_torus_splits_what_a_device_has_over_its_cables(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 64, 1, candidate_of(WEIR_CANDIDATE_TORUS));
    weir_candidate_network n = build_played(&f, NULL); /* 4 x 4 x 4 */
    weir_route route = route_of(&n, 0, 0, 1);
    expect_close("rate", weir_net_bytes_per_s(weir_layout_net(n.layout), route.path.links[0]),
                 50e9 / 6);
    assert_int_equal(n.switch_rows, 0);
    assert_int_equal(n.cables[0].cables, 192);
    weir_candidate_network_clear(&n);
    f.candidate.size[0] = f.candidate.size[1] = 4;
    f.candidate.size[2] = 5;
    expect_refused(&f, NULL, "a torus of 4 x 4 x 5 has 80 places; the cluster has 64 devices");
    fixture_end(&f);
}

static void a_dragonfly_must_fit_its_routers(void **state)
{
    (void)state;
    fixture f;
    weir_candidate c = candidate_of(WEIR_CANDIDATE_DRAGONFLY);
    c.groups = 9;
    c.routers = 4;
    c.global_cables = 2;
    fixture_begin(&f, 72, 1, c); /* 2 NICs, 3 routers, 2 global cables on each router */
    weir_candidate_network n = build_played(&f, NULL);
    assert_int_equal(switches_at(&n, "router")->count, 36);
    assert_int_equal(cables_at(&n, "group to group")->cables, 36);
    weir_candidate_network_clear(&n);
    f.candidate.global_cables = 12;
    expect_refused(&f, NULL, "needs 17 ports of 400 Gb/s; switch-16 has 16 of 400");
    fixture_end(&f);
}

static void transport_takes_its_share_by_pattern_unless_told(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 16, 1, candidate_of(WEIR_CANDIDATE_CLOS));
    f.phases[1] = (weir_phase){.name = "shuffle", .kind = WEIR_PHASE_PATTERN};
    f.phases[1].pattern = WEIR_PATTERN_PERMUTATION;
    f.scenario.phase_count = 2;
    weir_candidate_network n = build_played(&f, NULL);
    assert_true(n.phases[0].efficiency >= 0.82 && n.phases[0].efficiency <= 0.93);
    expect_close("permutation", n.phases[1].efficiency,
                 weir_parts_transport(f.scenario.parts, WEIR_STR("permutation"))->share);
    assert_false(n.phases[0].is_light);
    weir_candidate_network_clear(&n);
    f.candidate.efficiency = 0.5;
    n = build_played(&f, NULL);
    expect_close("told", n.phases[0].efficiency, 0.5);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, 16, 1, candidate_of(WEIR_CANDIDATE_CLOS));
    f.candidate.sw = NULL;
    expect_refused(&f, NULL, "candidate 'tried': it names no switch");
    f.scenario.cluster.nic = NULL;
    expect_refused(&f, NULL, "the cluster names no NIC");
    f.scenario.cluster.nodes = 1;
    weir_candidate_network n = build_played(&f, NULL);
    assert_int_equal(n.switch_rows, 0);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clos_takes_the_fewest_tiers_that_fit),
        cmocka_unit_test(cables_and_their_modules_are_counted_by_height),
        cmocka_unit_test(a_way_is_as_late_as_its_switches_modules_and_metres),
        cmocka_unit_test(nics_faster_than_ports_take_planes),
        cmocka_unit_test(rails_alone_change_rails_inside_the_node),
        cmocka_unit_test(a_torus_splits_what_a_device_has_over_its_cables),
        cmocka_unit_test(a_dragonfly_must_fit_its_routers),
        cmocka_unit_test(transport_takes_its_share_by_pattern_unless_told),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
