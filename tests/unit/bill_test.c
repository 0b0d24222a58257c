/* Bills of networks: oracle E12, right to the port; conversions; what a year costs. */
#include "fabric/bill.h"

#include "fabric/circuit.h"

#include "parts_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weir_bill make(const weir_bill_input *input, weir_arena *arena)
{
    weir_bill bill;
    weir_err err = {0};
    if (weir_bill_make(input, arena, &bill, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return bill;
}

static const weir_bill_item *find(const weir_bill *bill, const char *item, const char *place)
{
    for (uint32_t i = 0; i < bill->count; i++) {
        if (strcmp(bill->items[i].item, item) == 0 && strcmp(bill->items[i].place, place) == 0) {
            return &bill->items[i];
        }
    }
    fail_msg("no row '%s' of '%s'", item, place);
    return NULL;
}

/* --- network-oracles.md, E12 ---------------------------------------------------------------- */

/* Parts with the figures that the oracle states. */
static const weir_switch_part oracle_switch = {"oracle-switch", "64 x 400G", 64, 50e9, 0, 500};
static const weir_module_part oracle_module = {
    "oracle-module", "15 W", WEIR_MODULE_PLUGGABLE, false, 50e9, 15, 0, NAN, NAN, 0};
static const weir_ocs_part oracle_ocs = {.id = "oracle-ocs",
                                         .name = "136 ports",
                                         .technology = "mems",
                                         .ports = 136,
                                         .circulators = true,
                                         .watts = 108};

/* The fat-tree of 64-port switches: 65,536 hosts. */
static weir_topology *fat_tree(uint32_t k)
{
    weir_cable wire = {50e9, 0, false}, light = {50e9, 0, true};
    weir_fabric fabric = {.kind = WEIR_FABRIC_CLOS,
                          .nodes = {.nodes = k * k * k / 4, .devices = 1}};
    fabric.clos = (weir_clos){.tiers = 3, .radix = {k, k, k}, .cable = {wire, light, light}};
    weir_topology *topology = NULL;
    weir_err err = {0};
    if (weir_topology_new(&fabric, &topology, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return topology;
}

static uint64_t cables_between(const weir_cable_group *groups, uint32_t count,
                               weir_vertex_kind from, weir_vertex_kind to)
{
    uint64_t cables = 0;
    for (uint32_t i = 0; i < count; i++) {
        cables += groups[i].from == from && groups[i].to == to ? groups[i].count : 0;
    }
    return cables;
}

static void bills_the_fat_tree_of_65536_hosts_as_the_oracle_does(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_arena *arena = weir_arena_new();
    weir_topology *topology = fat_tree(64);
    weir_fabric_counts counts = weir_topology_counts(topology);
    weir_cable_group groups[WEIR_CABLE_GROUPS_MAX];
    uint32_t group_count = 0;
    weir_err err = {0};
    assert_int_equal(weir_bill_group_cables(topology, groups, &group_count, &err), WEIR_OK);
    uint64_t lower = cables_between(groups, group_count, WEIR_VERTEX_DEVICE, WEIR_VERTEX_LEAF);
    uint64_t middle = cables_between(groups, group_count, WEIR_VERTEX_LEAF, WEIR_VERTEX_SPINE);
    uint64_t upper = cables_between(groups, group_count, WEIR_VERTEX_SPINE, WEIR_VERTEX_CORE);
    assert_int_equal(lower, 65536);
    assert_int_equal(middle, 65536);
    assert_int_equal(upper, 65536);
    weir_bill_switches switches[] = {
        {"leaf", &oracle_switch, counts.vertices[WEIR_VERTEX_LEAF], counts.ports[WEIR_VERTEX_LEAF]},
        {"spine", &oracle_switch, counts.vertices[WEIR_VERTEX_SPINE],
         counts.ports[WEIR_VERTEX_SPINE]},
        {"core", &oracle_switch, counts.vertices[WEIR_VERTEX_CORE], counts.ports[WEIR_VERTEX_CORE]},
    };
    weir_bill_cables cables[] = {
        {"leaf-spine", &oracle_module, middle, 50e9, 0, 2},
        {"spine-core", &oracle_module, upper, 50e9, 0, 2},
    };
    weir_bill_input input = {
        .parts = parts, .switches = switches, .cables = cables, .switch_rows = 3, .cable_rows = 2};
    weir_bill packets = make(&input, arena);
    assert_int_equal(find(&packets, "switch", "leaf")->count, 2048);
    assert_int_equal(find(&packets, "switch", "spine")->count, 2048);
    assert_int_equal(find(&packets, "switch", "core")->count, 1024);
    assert_int_equal(packets.switch_ports, 5120 * 64);
    assert_int_equal(packets.switch_ports_used, 5120 * 64); /* no port is left over */
    double asic = find(&packets, "switch", "leaf")->watts +
                  find(&packets, "switch", "spine")->watts +
                  find(&packets, "switch", "core")->watts;
    expect_near(asic, 2.56e6, 0);
    expect_near(packets.watts - asic, 3.93216e6, 0); /* 2 x 65,536 cables x 2 x 15 W */
    assert_int_equal(packets.modules[WEIR_MODULE_PLUGGABLE], 4 * 65536);

    /* The cores give way to optical switches: one end of each upper cable keeps its module. */
    weir_circuit_switch ports = {
        .ports = oracle_ocs.ports, .circulators = true, .planes = 1, .node_ports = 1};
    weir_bill_ocs ocs = {"core", &oracle_ocs, weir_circuit_switch_count(&ports, upper), upper, 0};
    cables[1].ends = 1;
    input.switch_rows = 2;
    input.ocs = &ocs;
    input.ocs_rows = 1;
    weir_bill light = make(&input, arena);
    assert_int_equal(light.ocs, 482);
    assert_int_equal(packets.switches - light.switches, 1024);
    assert_int_equal(packets.modules[WEIR_MODULE_PLUGGABLE] - light.modules[WEIR_MODULE_PLUGGABLE],
                     65536);
    expect_near(find(&light, "optical switch", "core")->watts, 482 * 108.0, 0); /* 0.052 MW */
    expect_near(packets.watts - light.watts, 512e3 + 983040 - 52056, 1e-6);
    assert_int_equal(light.optical_ports, 482 * 136);
    assert_int_equal(light.optical_ports_used, 65536);
    weir_topology_free(topology);
    weir_arena_free(arena);
    weir_parts_free(parts);
}

/* --- rows ---------------------------------------------------------------------------------- */

static void takes_as_many_modules_as_the_rate_of_a_cable_needs(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_arena *arena = weir_arena_new();
    const weir_module_part *dr4 = weir_parts_module(parts, WEIR_STR("400g-dr4"));
    const weir_module_part *dac = weir_parts_module(parts, WEIR_STR("400g-dac"));
    assert_non_null(dr4);
    assert_non_null(dac);
    static const struct {
        double gbit_per_s;
        uint64_t modules; /* at both ends of 10 cables */
    } cases[] = {{100, 20}, {400, 20}, {401, 40}, {800, 40}, {1600, 80}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_bill_cables cables[] = {{"leaf-spine", dr4, 10, cases[i].gbit_per_s / 8 * 1e9, 30, 2},
                                     {"nic-leaf", dac, 7, 0, 3, 2}};
        weir_bill_input input = {.parts = parts, .cables = cables, .cable_rows = 2};
        weir_bill bill = make(&input, arena);
        const weir_bill_item *modules = find(&bill, "module", "leaf-spine");
        assert_int_equal(modules->count, cases[i].modules);
        /* prices.csv, band of 400G DR4: 449.9, 549, 749 USD; 9 W (NVIDIA's manual) */
        expect_near(modules->low_usd, 449.9 * (double)cases[i].modules, 1e-6);
        expect_near(modules->typical_usd, 549.0 * (double)cases[i].modules, 1e-6);
        expect_near(modules->high_usd, 749.0 * (double)cases[i].modules, 1e-6);
        expect_near(modules->watts, 9.0 * (double)cases[i].modules, 1e-9);
        expect_near(find(&bill, "fibre", "leaf-spine")->typical_usd, 10 * 30 * 0.3, 1e-9);
        const weir_bill_item *copper = find(&bill, "cable", "nic-leaf");
        assert_int_equal(copper->count, 7); /* whole cables, without fibre */
        expect_near(copper->typical_usd, 7 * 209.0, 1e-9);
        expect_near(bill.fibre_m, 300, 1e-9);
        assert_int_equal(bill.cables, 17);
        assert_int_equal(bill.optical_cables, 10);
        assert_int_equal(bill.modules[WEIR_MODULE_COPPER], 7);
        expect_near(bill.typical_usd, modules->typical_usd + 90 + 7 * 209.0, 1e-6);
        assert_null(bill.unpriced);
    }
    weir_arena_free(arena);
    weir_parts_free(parts);
}

static void names_what_has_no_price_or_power_and_leaves_it_out(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_arena *arena = weir_arena_new();
    weir_bill_switches switches[] = {
        {"leaf", weir_parts_switch(parts, WEIR_STR("quantum-x800")), 4, 100},
        {"spine", weir_parts_switch(parts, WEIR_STR("quantum-x800")), 2, 100},
        {"core", weir_parts_switch(parts, WEIR_STR("quantum2-400g")), 1, 0},
    };
    weir_bill_input input = {.parts = parts, .switches = switches, .switch_rows = 3};
    weir_bill bill = make(&input, arena);
    assert_string_equal(bill.unpowered, "quantum-x800"); /* once */
    expect_near(bill.watts, 747, 0);                     /* of the core alone */
    /* 800G ports have a price of the paper table: 1,400 USD each, 144 of them, 4 switches. */
    assert_null(bill.unpriced);
    expect_near(find(&bill, "switch", "leaf")->typical_usd, 4 * 144 * 1400.0, 1e-6);
    weir_ocs_part unknown = {.id = "new-ocs", .name = "?", .technology = "mems", .watts = NAN};
    weir_bill_ocs ocs = {"core", &unknown, 3, 0, 0};
    input = (weir_bill_input){.parts = parts, .ocs = &ocs, .ocs_rows = 1};
    bill = make(&input, arena);
    assert_string_equal(bill.unpriced, "new-ocs"); /* ports x price needs ports */
    assert_true(isnan(bill.items[0].typical_usd));
    expect_near(bill.typical_usd, 0, 0);
    weir_arena_free(arena);
    weir_parts_free(parts);
}

/* A list of cables may name switches without saying which are to be bought. */
static void counts_switches_that_are_not_named_without_price_or_power(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_arena *arena = weir_arena_new();
    weir_bill_switches unnamed = {"router", NULL, 3, 130};
    weir_bill_input input = {.parts = parts, .switches = &unnamed, .switch_rows = 1};
    weir_bill bill = make(&input, arena);
    assert_int_equal(bill.switches, 3);
    assert_int_equal(bill.switch_ports_used, 130);
    assert_non_null(bill.unpriced);
    assert_non_null(bill.unpowered);
    assert_true(isnan(find(&bill, "switch", "router")->typical_usd));
    weir_arena_free(arena);
    weir_parts_free(parts);
}

static void refuses_more_cables_than_ports(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_arena *arena = weir_arena_new();
    weir_bill_switches few = {"leaf", &oracle_switch, 2, 129};
    weir_bill_input input = {.parts = parts, .switches = &few, .switch_rows = 1};
    weir_bill bill = {.count = 77};
    weir_err err = {0};
    assert_int_equal(weir_bill_make(&input, arena, &bill, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "129 cables end at 2 switches 'oracle-switch' (leaf)"));
    assert_int_equal(bill.count, 77); /* untouched */
    weir_bill_ocs full = {"core", &oracle_ocs, 1, 130, 8};
    input = (weir_bill_input){.parts = parts, .ocs = &full, .ocs_rows = 1};
    err = (weir_err){0};
    assert_int_equal(weir_bill_make(&input, arena, &bill, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "130 fibres and 8 spare ports"));
    weir_arena_free(arena);
    weir_parts_free(parts);
}

/* --- a year, conversions, files -------------------------------------------------------------- */

static void a_year_costs_what_a_calculation_by_hand_says(void **state)
{
    (void)state;
    weir_bill bill = {.watts = 10000, .low_usd = 1, .typical_usd = 800000, .high_usd = 2};
    weir_bill_economics economics = {
        .kwh_usd = 0.1, .pue = 1.5, .life_years = 4, .gpu_hour_usd = 3, .hours_per_year = 8000};
    weir_bill_use use = {.devices = 100, .wait_share = 0.25, .step_s = 2};
    weir_bill_costs costs = weir_bill_yearly(&bill, &economics, &use);
    expect_near(costs.capex_usd_per_year, 200000, 1e-6);
    expect_near(costs.kwh_per_year, 10 * 8760 * 1.5, 1e-6); /* 131,400 kWh */
    expect_near(costs.opex_usd_per_year, 13140, 1e-6);
    expect_near(costs.waiting_hours_per_year, 200000, 1e-6); /* 100 x 8,000 h x 1/4 */
    expect_near(costs.waiting_usd_per_year, 600000, 1e-6);
    expect_near(costs.total_usd_per_year, 813140, 1e-6);
    expect_near(costs.joules_per_step, 20000, 1e-6);
}

static void counts_conversions_by_the_bytes_that_make_them(void **state)
{
    (void)state;
    weir_parts *parts = load();
    const weir_module_part *dr4 = weir_parts_module(parts, WEIR_STR("400g-dr4"));
    const weir_module_part *dac = weir_parts_module(parts, WEIR_STR("400g-dac"));
    weir_bill_item item = {
        .item = "module", .part = "400g-dr4", .count = 8, .watts = 72, .typical_usd = 4392};
    weir_bill bill = {.items = &item, .count = 1};
    /* 100 bytes over leaf - spine - core - spine - leaf, all light: 4 links of 2 conversions. */
    weir_conversion_load packet[] = {{dr4, 400}, {dac, 200}};
    weir_conversions c = weir_bill_conversions(&bill, packet, 2, 100, 1);
    expect_near(c.per_byte, 8, 1e-12);
    expect_near(c.ns, 800, 1e-9);         /* 100 ns each */
    expect_near(c.pj_per_bit, 180, 1e-9); /* 9 W / 400 Gb/s = 22.5 pJ, as network-facts.csv */
    expect_near(c.watts, 72, 0);
    expect_near(c.usd, 4392, 0);
    expect_near(c.pj_per_carried_bit, 72.0 / 800 * 1e12, 1e-3);
    /* From end to end through mirrors: two in all. */
    weir_conversion_load circuit = {dr4, 100};
    expect_near(weir_bill_conversions(&bill, &circuit, 1, 100, NAN).per_byte, 2, 1e-12);
    /* Half of the bytes each way: (8 + 2) / 2. */
    weir_conversion_load both[] = {{dr4, 200}, {dr4, 50}};
    expect_near(weir_bill_conversions(&bill, both, 2, 100, NAN).per_byte, 5, 1e-12);
    expect_near(weir_bill_conversions(&bill, packet, 0, 100, NAN).per_byte, 0, 0);
    weir_parts_free(parts);
}

static void writes_the_bill_and_the_cabling_as_csv(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_arena *arena = weir_arena_new();
    weir_switch_part odd = {"odd-switch", "a \"quoted\", name", 4, 50e9, 0, 100};
    weir_bill_switches switches = {"leaf", &odd, 2, 8};
    weir_bill_input input = {.parts = parts, .switches = &switches, .switch_rows = 1};
    weir_bill bill = make(&input, arena);
    weir_text text = {0};
    weir_bill_csv(&bill, &text);
    static const char expected[] =
        "item,part,name,place,count,watts,low_usd,typical_usd,high_usd,price,price_date,"
        "price_source,price_confidence\n"
        "switch,odd-switch,\"a \"\"quoted\"\", name\",leaf,2,200,8720,8720,8720,switch_port:400g,"
        "undated,";
    assert_non_null(text.p);
    assert_memory_equal(text.p, expected, sizeof expected - 1);
    weir_text_clear(&text);

    weir_topology *topology = fat_tree(4); /* 16 hosts, 8 leaves, 8 spines, 4 cores */
    assert_true(weir_bill_cabling_csv(topology, &text));
    uint32_t lines = 0, light = 0;
    for (size_t i = 0; i < text.n; i++) {
        lines += text.p[i] == '\n';
        light += i + 5 < text.n && memcmp(text.p + i, ",yes,", 5) == 0;
    }
    assert_int_equal(lines, 1 + 16 + 16 + 16); /* heading, three tiers */
    assert_int_equal(light, 32);
    assert_non_null(strstr(text.p, "device 0,0,leaf 0,0,"));
    weir_text_clear(&text);
    weir_topology_free(topology);
    weir_arena_free(arena);
    weir_parts_free(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bills_the_fat_tree_of_65536_hosts_as_the_oracle_does),
        cmocka_unit_test(takes_as_many_modules_as_the_rate_of_a_cable_needs),
        cmocka_unit_test(names_what_has_no_price_or_power_and_leaves_it_out),
        cmocka_unit_test(counts_switches_that_are_not_named_without_price_or_power),
        cmocka_unit_test(refuses_more_cables_than_ports),
        cmocka_unit_test(a_year_costs_what_a_calculation_by_hand_says),
        cmocka_unit_test(counts_conversions_by_the_bytes_that_make_them),
        cmocka_unit_test(writes_the_bill_and_the_cabling_as_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
