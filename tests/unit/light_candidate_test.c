/* Candidates with circuits, counted by hand: 64 nodes below 8 leaves of 8 ports up (ocs_32: 32
 * ports with circulators, so that two switches take 4 ends of each leaf). 50 GB/s everywhere. */
#include "candidate_fixture.h"

enum { NODES = 64, LEAF_NODES = 8, BLOCKS = 8 };

/* Each device sends so much to the one `shift` further on; shift 0: to all others. */
typedef struct {
    uint32_t devices;
    struct {
        uint32_t shift;
        double bytes;
    } phase[FIXTURE_PHASES];
} shifts;

static weir_code between(const void *context, uint32_t phase, const uint32_t *block_of_device,
                         weir_demand *demand, weir_err *err)
{
    const shifts *s = context;
    (void)err;
    for (uint32_t d = 0; d < s->devices; d++) {
        uint32_t first = s->phase[phase].shift ? s->phase[phase].shift : 1;
        uint32_t last = s->phase[phase].shift ? first : s->devices - 1;
        for (uint32_t i = first; i <= last; i++) {
            uint32_t to = block_of_device[(d + i) % s->devices];
            demand->bytes[(size_t)block_of_device[d] * demand->n + to] += s->phase[phase].bytes;
        }
    }
    return WEIR_OK;
}

static weir_candidate_demand demand_of(const shifts *s)
{
    return (weir_candidate_demand){s, between};
}

static void begin(fixture *f, weir_candidate_kind kind, uint32_t phases)
{
    fixture_begin(f, NODES, 1, candidate_of(kind));
    for (uint32_t i = 0; i < phases; i++) {
        f->phases[i] = (weir_phase){.name = "shift", .times = 1, .slack_s = NAN};
    }
    f->scenario.phase_count = phases;
}

static bool is_circuit(const weir_candidate_network *n, weir_link_id link)
{
    return weir_layout_tier(n->layout, link) == WEIR_TIER_HALL;
}

/* Circuits over which a message goes, and the bytes that each byte makes on circuits. */
static uint32_t circuits_of(weir_candidate_network *n, weir_road road, uint32_t from, uint32_t to,
                            double *hops)
{
    weir_route route = route_of(n, road, from, to);
    uint32_t count = 0;
    *hops = 0;
    for (uint32_t i = 0; i < route.path.count; i++) {
        if (is_circuit(n, route.path.links[i])) {
            count++;
            *hops += route.path.bytes_per_unit[i];
        }
    }
    return count;
}

/* --- for the job --- */

static void ports_and_modules_of_circuits_are_counted(void **state)
{
    (void)state;
    fixture f;
    begin(&f, WEIR_CANDIDATE_OCS_JOB, 1);
    f.candidate.design = WEIR_DESIGN_UNIFORM;
    weir_candidate_network n = build_played(&f, NULL);
    assert_int_equal(n.blocks, BLOCKS);
    assert_int_equal(n.uplinks, 8);
    assert_int_equal(n.ocs_count, 2);
    assert_int_equal(n.ocs_ports, 64);
    assert_int_equal(n.ocs_spare_ports, 0);
    assert_int_equal(n.switch_rows, 1);
    assert_int_equal(switches_at(&n, "leaf")->count, 8);
    assert_int_equal(switches_at(&n, "leaf")->ports, 128);
    const weir_cable_need *light = cables_at(&n, "block to ocs");
    assert_int_equal(light->cables, 64);
    assert_int_equal(light->modules, 64); /* the other end is a mirror */
    assert_int_equal(light->fibres_each, 1);
    /* 2 dB, two mated pairs, two circulators, 200 m */
    const weir_fibre_part *fibre = weir_parts_fibre(f.scenario.parts);
    expect_close("loss", n.light.loss_db,
                 2 + 2 * fibre->connector_db + 2 * fibre->circulator_db + 200 * fibre->db_per_m);
    assert_true(n.light.closes);
    /* Two switches, two modules, 6 m of copper and 200 m of fibre. */
    expect_close("latency", route_of(&n, 0, 0, LEAF_NODES).latency_s,
                 2 * 500e-9 + 2 * 100e-9 + 206 * 4.9e-9);
    weir_candidate_network_clear(&n);

    f.candidate.spare = 8; /* 24 ports for 8 blocks: 3 ends each do not divide 8, 2 do */
    n = build_played(&f, NULL);
    assert_int_equal(n.ocs_count, 4);
    assert_int_equal(n.ocs_spare_ports, 4 * 32 - 64);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void what_does_not_fit_or_does_not_close_is_refused(void **state)
{
    (void)state;
    fixture f;
    weir_ocs_part ocs = ocs_32;
    weir_module_part weak = module_50;
    begin(&f, WEIR_CANDIDATE_OCS_JOB, 1);
    ocs.ports = 7;
    f.candidate.ocs = &ocs;
    expect_refused(&f, NULL,
                   "candidate 'tried': more circuits than ports: 8 blocks with 1 ends "
                   "each on an optical switch need 8; ocs-32 has 7");
    ocs.ports = 15;
    ocs.circulators = false; /* 7 ends */
    expect_refused(&f, NULL, "has 7 (15 ports, 0 of them spare, two for a circuit's end)");
    f.candidate.ocs = &ocs_32;
    f.candidate.ocs_planes = 1;
    expect_refused(&f, NULL, "8 blocks with 8 ends each on an optical switch need 64");
    f.candidate.ocs_planes = 3;
    expect_refused(&f, NULL, "8 ends of a block on 3 optical switches; it must be a multiple");
    f.candidate.ocs_planes = 0;
    f.candidate.uplinks = 9;
    expect_refused(&f, NULL, "9 ends of circuits on a leaf, whose 1 switches have 8 ports each");
    f.candidate.uplinks = 0;
    weak.budget_db = 3;
    f.candidate.module = &weak;
    expect_refused(&f, NULL, "its light does not arrive: 4.67 dB are lost (ocs-32 2.00");
    f.candidate.module = &module_50;
    f.candidate.ocs = NULL;
    expect_refused(&f, NULL, "it names no optical switch");
    fixture_end(&f);
}

static void the_best_design_of_a_shift_joins_neighbours_only(void **state)
{
    (void)state;
    const shifts s = {NODES, {{LEAF_NODES, 1e9}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    double hops;
    begin(&f, WEIR_CANDIDATE_OCS_JOB, 1);
    weir_candidate_network n = build_played(&f, &demand);
    /* 8 ends, as many to either neighbour. */
    assert_int_equal(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 4);
    expect_close("hops", hops, 1);
    assert_int_equal(n.phases[0].circuits, 0);
    assert_true(n.phases[0].is_light);
    weir_candidate_network_clear(&n);

    f.candidate.design = WEIR_DESIGN_RING; /* strides 1 and 3 in turn: two of each */
    n = build_played(&f, &demand);
    assert_int_equal(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 2);
    weir_candidate_network_clear(&n);

    f.candidate.design = WEIR_DESIGN_UNIFORM; /* 8 ends over 7 partners */
    n = build_played(&f, &demand);
    assert_in_range(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 1, 2);
    weir_candidate_network_clear(&n);

    f.candidate.design = WEIR_DESIGN_TORUS; /* 2 x 2 x 2, 3 ends, twice: neighbours 0 1, not 1 2 */
    n = build_played(&f, &demand);
    assert_int_equal(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 2);
    (void)circuits_of(&n, 0, LEAF_NODES, 2 * LEAF_NODES, &hops);
    expect_close("1 to 2 differ in two dimensions", hops, 2);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void a_uniform_job_gets_a_mesh(void **state)
{
    (void)state;
    const shifts s = {NODES, {{0, 1e6}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    double hops;
    begin(&f, WEIR_CANDIDATE_OCS_JOB, 1);
    f.candidate.uplinks = 7;
    weir_candidate_network n = build_played(&f, &demand);
    for (uint32_t b = 1; b < BLOCKS; b++) {
        assert_int_equal(circuits_of(&n, 0, 0, b * LEAF_NODES, &hops), 1);
        expect_close("hops", hops, 1);
    }
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* --- before each phase --- */

/* Shifts by 1 and by 3 blocks, m bytes of each block. Circuits made for one of them: 4 side by
 * side, m / 4B; for both: 2, m / 2B (or a ring for one that the other goes round, m / 4B and
 * 3 m / 4B). Setting them twice a period pays above m = 4 B d, 3 GB. */
static void circuits_are_set_again_where_it_pays(void **state)
{
    (void)state;
    static const struct {
        double bytes, slack_s;
        uint32_t resets;
    } rows[] = {{2.9e9, 0, 0}, {3.1e9, 0, 2}, {2.9e6, 15e-3, 2}, {2.9e9, NAN, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double each = rows[i].bytes / LEAF_NODES;
        const shifts s = {NODES, {{LEAF_NODES, each}, {3 * LEAF_NODES, each}}};
        const weir_candidate_demand demand = demand_of(&s);
        fixture f;
        begin(&f, WEIR_CANDIDATE_OCS_PHASE, 2);
        f.phases[0].slack_s = f.phases[1].slack_s = rows[i].slack_s;
        weir_candidate_network n = build_played(&f, &demand);
        if (n.resets != rows[i].resets) {
            fail_msg("row %zu: %u resets, expected %u", i, n.resets, rows[i].resets);
        }
        assert_int_equal(weir_layout_roads(n.layout), rows[i].resets ? 2 : 1);
        assert_int_equal(n.phases[0].circuits, rows[i].resets ? 1 : 0);
        assert_int_equal(n.phases[1].circuits, rows[i].resets ? 2 : 0);
        expect_close("delay", n.circuit_s, 15e-3);
        double hops;
        if (rows[i].resets) {
            assert_int_equal(circuits_of(&n, n.phases[0].road, 0, LEAF_NODES, &hops), 4);
            assert_int_equal(circuits_of(&n, n.phases[1].road, 0, 3 * LEAF_NODES, &hops), 4);
        }
        /* Below the circuits both settings are one network. */
        assert_int_equal(route_of(&n, n.phases[0].road, 0, LEAF_NODES).path.links[0],
                         route_of(&n, n.phases[1].road, 0, LEAF_NODES).path.links[0]);
        weir_candidate_network_clear(&n);
        fixture_end(&f);
    }
}

static void a_phase_inside_blocks_needs_no_setting(void **state)
{
    (void)state;
    const shifts s = {NODES, {{LEAF_NODES, 1e12}, {0, 0}, {3 * LEAF_NODES, 1e12}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    begin(&f, WEIR_CANDIDATE_OCS_PHASE, 3);
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.resets, 2);
    assert_int_equal(n.phases[1].circuits, 0);
    assert_int_equal(n.designs, 2);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* --- in rotation --- */

static void a_rotor_gives_each_pair_its_share_of_time(void **state)
{
    (void)state;
    const shifts s = {NODES, {{0, 1e6}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    double hops;
    begin(&f, WEIR_CANDIDATE_ROTOR, 1);
    f.candidate.uplinks = 2;
    f.candidate.slot_s = 90e-6;
    f.candidate.switch_s = 10e-6;
    f.candidate.linkup_s = 0;
    weir_candidate_network n = build_played(&f, &demand);
    weir_route route = route_of(&n, 0, 0, LEAF_NODES);
    for (uint32_t i = 0; i < route.path.count; i++) {
        if (is_circuit(&n, route.path.links[i])) {
            /* 90 % of two circuits, over seven partners */
            expect_close("rate",
                         weir_net_bytes_per_s(weir_layout_net(n.layout), route.path.links[i]),
                         0.9 * 2 * 50e9 / 7);
            /* seven matchings two at a time: 400 us, of which 310 us in one piece without */
            expect_close("wait", weir_net_latency_s(weir_layout_net(n.layout), route.path.links[i]),
                         310e-6 * 310e-6 / 800e-6 + 500e-9 + 200e-9 + 200 * 4.9e-9);
        }
    }
    assert_int_equal(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 1);
    expect_close("uniform demand goes directly", hops, 1);
    weir_candidate_network_clear(&n);

    /* One partner for each block: n / (2 (n - 1)) of the rate, most of it over a third block. */
    const shifts one = {NODES, {{LEAF_NODES, 1e6}}};
    const weir_candidate_demand narrow = demand_of(&one);
    n = build_played(&f, &narrow);
    assert_int_equal(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 1 + 2 * (BLOCKS - 2));
    /* of 4/7 of the rate 1/7 goes directly: 1/4, and 3/4 twice */
    expect_close("hops", round(hops * 1e9) / 1e9, 1.75);
    weir_candidate_network_clear(&n);
    f.candidate.slot_s = 0;
    expect_refused(&f, &demand, "slots of 0 s");
    fixture_end(&f);
}

/* --- beside packets --- */

static void a_hybrid_puts_few_partners_on_light_and_many_on_packets(void **state)
{
    (void)state;
    const shifts s = {NODES, {{LEAF_NODES, 1e9}, {0, 1e6}, {2 * LEAF_NODES, 1e3}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    begin(&f, WEIR_CANDIDATE_HYBRID, 3);
    f.candidate.uplinks = 4;
    f.candidate.light_share = 0.25;
    f.phases[2].take = WEIR_TAKE_PACKETS;
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(weir_layout_roads(n.layout), 2);
    assert_true(n.phases[0].is_light && n.phases[0].road == 1);
    assert_false(n.phases[1].is_light);
    /* A quarter of 50 GB/s: 12 down and 4 up are 6 leaves. */
    assert_string_equal(n.phases[1].because, "5 partners of a block, ports for 4");
    assert_string_equal(n.phases[2].because, "the scenario says so");
    const weir_net *net = weir_layout_net(n.layout);
    expect_close("packets", weir_net_bytes_per_s(net, route_of(&n, 0, 0, 8).path.links[0]), 37.5e9);
    expect_close("light", weir_net_bytes_per_s(net, route_of(&n, 1, 0, 8).path.links[0]), 12.5e9);
    weir_candidate_network_clear(&n);
    f.candidate.light_share = 1;
    expect_refused(&f, &demand, "1 of each NIC on light; a hybrid needs more than 0 and less");
    fixture_end(&f);
}

/* 6 leaves (12 nodes each) with 4 ends of 50 GB/s; 2 s of computing a step. The first phase takes
 * light: 12 GB for each leaf. The second would need new circuits for 12 MB: 0.24 ms of 2 s is too
 * little; the third goes along the first one's and takes none. */
static void a_hybrid_lays_no_circuits_that_would_be_idle(void **state)
{
    (void)state;
    const shifts s = {72, {{12, 1e9}, {24, 1e6}, {12, 1e3}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    begin(&f, WEIR_CANDIDATE_HYBRID, 3);
    f.scenario.cluster.nodes = 72;
    f.candidate.light_share = 0.25;
    f.candidate.uplinks = 4;
    f.phases[0].compute_s = 1.5;
    f.phases[1].compute_s = 0.5;
    weir_candidate_network n = build_played(&f, &demand);
    assert_true(n.phases[0].is_light);
    assert_false(n.phases[1].is_light);
    assert_string_equal(n.phases[1].because,
                        "circuits of its own would be idle 99.99 % of the time");
    assert_true(n.phases[2].is_light);
    weir_candidate_network_clear(&n);
    f.phases[0].compute_s = 0; /* 0.24 of 20 ms is more than 1 % */
    f.phases[1].compute_s = 0.02;
    n = build_played(&f, &demand);
    assert_true(n.phases[1].is_light);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* 12 nodes on leaves of 8: 6 on each of two, so 6 circuits of each at 1:1, not 8. */
static void half_empty_leaves_have_circuits_for_what_is_attached(void **state)
{
    (void)state;
    const shifts s = {12, {{6, 1e9}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    double hops;
    fixture_begin(&f, 12, 1, candidate_of(WEIR_CANDIDATE_OCS_JOB));
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.blocks, 2);
    assert_int_equal(n.uplinks, 6);
    assert_int_equal(n.ocs_ports, 12); /* with circulators */
    assert_int_equal(cables_at(&n, "block to ocs")->modules, 12);
    circuits_of(&n, 0, 0, 6, &hops);
    expect_close("to the other leaf", hops, 1);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* 400 Gb/s over lanes of 25 Gb/s: 16 circuits. */
static void circuits_of_a_nic_are_not_slower_than_a_lane(void **state)
{
    (void)state;
    const shifts s = {32, {{4, 1e9}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    weir_candidate c = candidate_of(WEIR_CANDIDATE_OCS_JOB);
    weir_candidate_network n = {0};
    c.block = WEIR_BLOCK_NIC;
    c.sw = NULL;
    c.uplinks = 16;
    fixture_begin(&f, 8, 4, c);
    n = build_played(&f, &demand);
    assert_int_equal(n.uplinks, 16);
    weir_candidate_network_clear(&n);
    f.candidate.uplinks = 17;
    assert_int_equal(weir_candidate_network_build(&f.scenario, 0, &demand, &n, NULL), WEIR_OK);
    assert_non_null(n.refused);
    assert_non_null(strstr(n.refused, "17 circuits share a NIC's 400 Gb/s"));
    assert_non_null(strstr(n.refused, "a lane of light has 25: at most 16 uplinks"));
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void rails_of_nics_share_optical_switches(void **state)
{
    (void)state;
    const shifts s = {32, {{4, 1e9}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    double hops;
    weir_candidate c = candidate_of(WEIR_CANDIDATE_OCS_JOB);
    c.block = WEIR_BLOCK_NIC;
    c.sw = NULL;
    fixture_begin(&f, 8, 4, c);
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.blocks, 8);
    assert_int_equal(n.uplinks, 2);
    assert_int_equal(n.ocs_count, 2); /* 4 rails of 16 ends, 32 ports */
    assert_int_equal(n.switch_rows, 0);
    assert_int_equal(circuits_of(&n, 0, 0, 4, &hops), 1);
    weir_route route = route_of(&n, 0, 0, 4);
    expect_close("half a NIC", weir_net_bytes_per_s(weir_layout_net(n.layout), route.path.links[0]),
                 25e9);
    assert_int_equal(route_of(&n, 0, 0, 5).path.count, 4 - 1); /* over the node's links first */
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* 64 nodes of 2 devices: a rail has 8 leaves of 8 nodes each, where leaves of whole nodes are 16.
 * The other module is at the ends of circuits only. */
static void rails_of_leaves_are_smaller_networks(void **state)
{
    (void)state;
    fixture f;
    weir_module_part strong = module_50;
    strong.id = "strong";
    begin(&f, WEIR_CANDIDATE_OCS_JOB, 1);
    f.scenario.cluster.devices = f.scenario.cluster.nics = 2;
    f.scenario.cluster.node_link = &node_link_400;
    f.candidate.wiring = WEIR_WIRING_RAILS;
    f.candidate.optical_from = WEIR_OPTICAL_NIC;
    f.candidate.circuit_module = &strong;
    const shifts next = {2 * NODES, {{2 * LEAF_NODES, 1e9}}}; /* the same rail, 8 nodes on */
    weir_candidate_demand demand = demand_of(&next);
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.blocks, 8);
    assert_int_equal(n.uplinks, 8);
    assert_int_equal(n.ocs_count, 4); /* 8 leaves x 8 ends / 32 ports, for each rail */
    assert_int_equal(switches_at(&n, "leaf")->count, 16);
    assert_string_equal(cables_at(&n, "block to ocs")->module->id, "strong");
    assert_int_equal(cables_at(&n, "block to ocs")->modules, 128);
    assert_string_equal(cables_at(&n, "nic to leaf")->module->id, "module-50");
    double hops;
    circuits_of(&n, 0, 0, 2 * LEAF_NODES, &hops);
    expect_close("the same rail", hops, 1);
    circuits_of(&n, 0, 0, 2 * LEAF_NODES + 1, &hops); /* inside the node, then along rail 1 */
    expect_close("another rail", hops, 1);
    weir_candidate_network_clear(&n);

    f.candidate.wiring = WEIR_WIRING_PLAIN;
    n = build_played(&f, &demand);
    assert_int_equal(n.blocks, 16);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void pods_are_blocks_too(void **state)
{
    (void)state;
    const shifts s = {256, {{64, 1e9}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    weir_candidate c = candidate_of(WEIR_CANDIDATE_OCS_JOB);
    c.block = WEIR_BLOCK_POD;
    fixture_begin(&f, 256, 1, c);
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.blocks, 4);
    assert_int_equal(n.uplinks, 64);
    assert_int_equal(switches_at(&n, "spine")->count, 32);
    assert_int_equal(switches_at(&n, "spine")->ports, 512); /* 256 down, 256 to optical switches */
    assert_int_equal(n.ocs_count, 8);                       /* 4 pods x 8 ends on each */
    double hops;
    assert_int_equal(circuits_of(&n, 0, 0, 64, &hops), 32);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* --- failures --- */

static void a_dead_optical_switch_leaves_the_circuits_of_the_other(void **state)
{
    (void)state;
    const shifts s = {NODES, {{LEAF_NODES, 1e9}}};
    const weir_candidate_demand demand = demand_of(&s);
    fixture f;
    double hops;
    const char *name = NULL;
    begin(&f, WEIR_CANDIDATE_OCS_JOB, 1);
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 4);
    assert_true(weir_candidate_network_fail(&n, WEIR_DEAD_OCS, &name));
    assert_string_equal(name, "optical switch 0");
    uint32_t there = circuits_of(&n, 0, 0, LEAF_NODES, &hops);
    assert_true(there < 4);
    assert_true(weir_candidate_network_fail(&n, WEIR_DEAD_NIC_LINK, &name));
    weir_route route;
    weir_err err = {0};
    assert_int_equal(weir_layout_find(n.layout, 0, 0, 8, 0, &route, &err), WEIR_ERR_INPUT);
    assert_int_equal(circuits_of(&n, 0, 1, LEAF_NODES, &hops), 4);
    assert_true(weir_candidate_network_fail(&n, WEIR_DEAD_LEAF, &name));
    err = (weir_err){0};
    assert_int_equal(weir_layout_find(n.layout, 0, 1, 8, 0, &route, &err), WEIR_ERR_INPUT);
    assert_false(weir_candidate_network_fail(&n, WEIR_DEAD_TOP_SWITCH, &name));
    weir_candidate_network_repair(&n);
    assert_int_equal(circuits_of(&n, 0, 0, LEAF_NODES, &hops), 4);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

static void a_dead_spine_is_gone_round(void **state)
{
    (void)state;
    fixture f;
    const char *name = NULL;
    begin(&f, WEIR_CANDIDATE_CLOS, 1);
    weir_candidate_network n = build_played(&f, NULL);
    uint32_t before = route_of(&n, 0, 0, 63).path.count;
    assert_true(weir_candidate_network_fail(&n, WEIR_DEAD_TOP_SWITCH, &name));
    assert_string_equal(name, "spine 0");
    /* 4 spines with two cables from each leaf: a quarter of the ways is gone. */
    assert_int_equal(before - route_of(&n, 0, 0, 63).path.count, 4);
    assert_false(weir_candidate_network_fail(&n, WEIR_DEAD_OCS, &name));
    assert_int_equal(route_of(&n, 0, 0, 63).path.count, before);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_and_modules_of_circuits_are_counted),
        cmocka_unit_test(what_does_not_fit_or_does_not_close_is_refused),
        cmocka_unit_test(the_best_design_of_a_shift_joins_neighbours_only),
        cmocka_unit_test(a_uniform_job_gets_a_mesh),
        cmocka_unit_test(circuits_are_set_again_where_it_pays),
        cmocka_unit_test(a_phase_inside_blocks_needs_no_setting),
        cmocka_unit_test(a_rotor_gives_each_pair_its_share_of_time),
        cmocka_unit_test(a_hybrid_puts_few_partners_on_light_and_many_on_packets),
        cmocka_unit_test(a_hybrid_lays_no_circuits_that_would_be_idle),
        cmocka_unit_test(half_empty_leaves_have_circuits_for_what_is_attached),
        cmocka_unit_test(circuits_of_a_nic_are_not_slower_than_a_lane),
        cmocka_unit_test(rails_of_nics_share_optical_switches),
        cmocka_unit_test(rails_of_leaves_are_smaller_networks),
        cmocka_unit_test(pods_are_blocks_too),
        cmocka_unit_test(a_dead_optical_switch_leaves_the_circuits_of_the_other),
        cmocka_unit_test(a_dead_spine_is_gone_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
