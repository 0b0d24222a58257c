/* Topologies: counts against reference/network-oracles.md (E12, XGFT shapes) and against hand
 * calculation, what cannot be built, and what holds for every network: no switch has more cables
 * than ports, cables go both ways, tiers join what they should. */
#include "fabric/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const weir_cable nic_cable = {.bytes_per_s = 50e9};

static weir_topology *build(const weir_fabric *fabric)
{
    weir_err err = {0};
    weir_topology *t = NULL;
    if (weir_topology_new(fabric, &t, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return t;
}

static weir_fabric clos_fabric(uint32_t nodes, uint32_t devices, weir_clos clos)
{
    weir_fabric f = {.kind = WEIR_FABRIC_CLOS, .nodes = {.nodes = nodes, .devices = devices}};
    f.clos = clos;
    f.clos.cable[0] = nic_cable;
    return f;
}

static weir_fabric_counts count(weir_fabric fabric)
{
    weir_topology *t = build(&fabric);
    weir_fabric_counts counts = weir_topology_counts(t);
    weir_topology_free(t);
    return counts;
}

/* --- counts --- */

static void a_fat_tree_of_64_ports_has_the_switches_and_links_of_e12(void **state)
{
    (void)state;
    weir_clos clos = {.tiers = 3, .radix = {64, 64, 64}};
    weir_fabric fabric = clos_fabric(65536, 1, clos);
    fabric.clos.cable[1].is_optical = fabric.clos.cable[2].is_optical = true;
    weir_fabric_counts c = count(fabric);
    assert_int_equal(c.vertices[WEIR_VERTEX_LEAF], 2048);
    assert_int_equal(c.vertices[WEIR_VERTEX_SPINE], 2048);
    assert_int_equal(c.vertices[WEIR_VERTEX_CORE], 1024);
    for (int tier = WEIR_TIER_BETWEEN_NODES; tier <= WEIR_TIER_HALL; tier++) {
        assert_int_equal(c.cables[tier], 65536);
    }
    assert_int_equal(c.optical_cables[WEIR_TIER_BETWEEN_NODES], 0);
    /* 15 W x 2 ends x 2 tiers = 3.93 MW */
    uint64_t modules =
        2 * (c.optical_cables[WEIR_TIER_BETWEEN_RACKS] + c.optical_cables[WEIR_TIER_HALL]);
    assert_int_equal(modules * 15, 3932160);
    assert_int_equal(c.ports[WEIR_VERTEX_CORE], 65536);
}

static const struct {
    const char *why;
    uint32_t nodes, devices;
    weir_clos clos;
    uint32_t leaves, spines, cores;
    uint64_t up_cables, core_cables;
} shapes[] = {
    {"XGFT 8,8,16;1,8,8",
     1024,
     1,
     {.tiers = 3, .radix = {16, 16, 16}, .trunk = {1, 1}},
     128,
     128,
     64,
     1024,
     1024},
    {"XGFT 8,8,16;1,2,8",
     1024,
     1,
     {.tiers = 3, .radix = {10, 16, 16}, .oversubscription = {4}, .trunk = {1, 1}},
     128,
     32,
     16,
     256,
     256},
    {"32 leaves x 32 up on 64 ports: trunks of 2",
     1024,
     1,
     {.tiers = 2, .radix = {64, 64}},
     32,
     16,
     0,
     1024,
     0},
    {"48 down, 16 up: 22 leaves, 16 up, trunks of 2",
     1024,
     1,
     {.tiers = 2, .radix = {64, 64}, .oversubscription = {3}},
     22,
     8,
     0,
     352,
     0},
    {"8 rails x 1 group of 32 nodes, trunks of 8",
     32,
     8,
     {.tiers = 2, .radix = {64, 64}, .wiring = WEIR_CLOS_RAILS},
     8,
     4,
     0,
     256,
     0},
    {"8 rails x 2 planes, one leaf each",
     64,
     8,
     {.tiers = 1, .radix = {64}, .wiring = WEIR_CLOS_RAIL_ONLY, .planes = 2},
     16,
     0,
     0,
     0,
     0},
    {"per rail 4 leaves, trunks of 16, 2 spines",
     128,
     8,
     {.tiers = 2, .radix = {64, 64}, .wiring = WEIR_CLOS_RAIL_ONLY},
     32,
     16,
     0,
     1024,
     0},
};

static void clos_shapes_follow_from_ports_and_oversubscription(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        weir_fabric_counts c =
            count(clos_fabric(shapes[i].nodes, shapes[i].devices, shapes[i].clos));
        if (c.vertices[WEIR_VERTEX_LEAF] != shapes[i].leaves ||
            c.vertices[WEIR_VERTEX_SPINE] != shapes[i].spines ||
            c.vertices[WEIR_VERTEX_CORE] != shapes[i].cores ||
            c.cables[WEIR_TIER_BETWEEN_RACKS] != shapes[i].up_cables ||
            c.cables[WEIR_TIER_HALL] != shapes[i].core_cables) {
            fail_msg("%s: found %u leaves, %u spines, %u cores, %llu and %llu cables",
                     shapes[i].why, c.vertices[WEIR_VERTEX_LEAF], c.vertices[WEIR_VERTEX_SPINE],
                     c.vertices[WEIR_VERTEX_CORE],
                     (unsigned long long)c.cables[WEIR_TIER_BETWEEN_RACKS],
                     (unsigned long long)c.cables[WEIR_TIER_HALL]);
        }
    }
}

/* Half-empty switches have the uplinks of those who are there. */
static const struct {
    const char *why;
    uint32_t nodes, devices;
    weir_clos clos;
    uint32_t leaves, spines, cores;
    uint64_t up_cables, core_cables;
} fitted[] = {
    {"8 rails of 8 nodes: 8 up of each leaf, to one spine with 64 ports",
     8,
     8,
     {.tiers = 2, .radix = {64, 64}, .wiring = WEIR_CLOS_RAILS},
     8,
     1,
     0,
     64,
     0},
    {"11 nodes: 88 uplinks need 2 spines, so 12 of each leaf in trunks of 6",
     11,
     8,
     {.tiers = 2, .radix = {64, 64}, .wiring = WEIR_CLOS_RAILS},
     8,
     2,
     0,
     96,
     0},
    {"40 nodes on 2 x 8 leaves of 32: 20 each",
     40,
     8,
     {.tiers = 2, .radix = {64, 64}, .wiring = WEIR_CLOS_RAILS},
     16,
     5,
     0,
     320,
     0},
    {"8 of 32 ports of the only leaf", 8, 1, {.tiers = 2, .radix = {64, 64}}, 1, 1, 0, 8, 0},
    {"3:1, 64 on two leaves of 48: 32 each, 32 / 3 = 10.67 up",
     64,
     1,
     {.tiers = 2, .radix = {64, 64}, .oversubscription = {3}},
     2,
     1,
     0,
     22,
     0},
    {"whole trunks of 4 for 10",
     10,
     1,
     {.tiers = 2, .radix = {64, 64}, .trunk = {4}},
     1,
     3,
     0,
     12,
     0},
    {"10 leaves of 8 in two pods of 5: 5 up of each of 2 x 8 spines, to 8 cores",
     80,
     1,
     {.tiers = 3, .radix = {16, 16, 16}},
     10,
     16,
     8,
     80,
     80},
    {"one pod, 2 leaves of 6, 2 spines with 2 x 3 down, 3 up at 2:1",
     12,
     1,
     {.tiers = 3, .radix = {16, 16, 16}, .oversubscription = {1, 2}},
     2,
     2,
     2,
     12,
     6},
    {"6:1, 54 down: two leaves of 4 whole nodes each, 32 x 9 / 54 = 5.33 up",
     8,
     8,
     {.tiers = 2, .radix = {64, 64}, .oversubscription = {6}},
     2,
     1,
     0,
     12,
     0},
    {"60 down, 3 nodes of 40: whole ones would need a third leaf, so 60 and 60",
     3,
     40,
     {.tiers = 2, .radix = {120, 64}},
     2,
     2,
     0,
     120,
     0},
    {"full: as it was", 1024, 1, {.tiers = 2, .radix = {64, 64}}, 32, 16, 0, 1024, 0},
};

static void fitted_switches_have_uplinks_for_what_is_attached(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fitted / sizeof *fitted; i++) {
        weir_clos clos = fitted[i].clos;
        clos.is_fitted = true;
        weir_fabric_counts c = count(clos_fabric(fitted[i].nodes, fitted[i].devices, clos));
        if (c.vertices[WEIR_VERTEX_LEAF] != fitted[i].leaves ||
            c.vertices[WEIR_VERTEX_SPINE] != fitted[i].spines ||
            c.vertices[WEIR_VERTEX_CORE] != fitted[i].cores ||
            c.cables[WEIR_TIER_BETWEEN_RACKS] != fitted[i].up_cables ||
            c.cables[WEIR_TIER_HALL] != fitted[i].core_cables) {
            fail_msg("%s: found %u leaves, %u spines, %u cores, %llu and %llu cables",
                     fitted[i].why, c.vertices[WEIR_VERTEX_LEAF], c.vertices[WEIR_VERTEX_SPINE],
                     c.vertices[WEIR_VERTEX_CORE],
                     (unsigned long long)c.cables[WEIR_TIER_BETWEEN_RACKS],
                     (unsigned long long)c.cables[WEIR_TIER_HALL]);
        }
    }
}

/* Of every leaf: cables down / cables up. */
static void expect_proportion(const weir_topology *t, double over)
{
    weir_fabric_counts c = weir_topology_counts(t);
    uint32_t links = weir_net_count(weir_topology_net(t)), number;
    uint32_t(*cables)[2] = calloc(c.vertices[WEIR_VERTEX_LEAF] + 1, sizeof *cables);
    assert_non_null(cables);
    for (uint32_t i = 0; i < links; i++) {
        weir_link l = weir_topology_link(t, i);
        if (weir_topology_vertex(t, l.from, &number) == WEIR_VERTEX_LEAF) {
            cables[number][weir_topology_vertex(t, l.to, &(uint32_t){0}) == WEIR_VERTEX_SPINE]++;
        }
    }
    for (uint32_t i = 0; i < c.vertices[WEIR_VERTEX_LEAF]; i++) {
        if (cables[i][0] > over * cables[i][1] * (1 + 1e-9)) {
            fail_msg("leaf %u: %u down, %u up", i, cables[i][0], cables[i][1]);
        }
    }
    free(cables);
}

static void fitted_leaves_keep_their_oversubscription(void **state)
{
    (void)state;
    uint32_t built = 0;
    for (uint32_t nodes = 2; nodes < 200; nodes += 7) {
        for (uint32_t i = 0; i < 3 * 2 * 3; i++) {
            double over = 1 + i % 3;
            weir_clos clos = {.tiers = 2 + i / 3 % 2,
                              .wiring = (weir_clos_wiring)(i / 6),
                              .radix = {32, 32, 32},
                              .oversubscription = {over, 2},
                              .is_fitted = true};
            weir_fabric f = clos_fabric(nodes, 4, clos);
            weir_topology *t = NULL;
            if (weir_topology_new(&f, &t, NULL) == WEIR_OK) {
                expect_proportion(t, over);
                built++;
            }
            weir_topology_free(t);
        }
    }
    assert_true(built > 200);
}

static void nodes_have_the_links_of_their_wiring(void **state)
{
    (void)state;
    const struct {
        weir_node_wiring wiring;
        uint64_t cables;
    } cases[] = {{WEIR_NODE_SWITCHED, 8}, {WEIR_NODE_MESHED, 28}, {WEIR_NODE_RING, 8}};
    for (size_t i = 0; i < 3; i++) {
        weir_fabric f = {.nodes = {.nodes = 1,
                                   .devices = 8,
                                   .wiring = cases[i].wiring,
                                   .cable = {.bytes_per_s = 450e9}}};
        assert_int_equal(count(f).cables[WEIR_TIER_IN_NODE], cases[i].cables);
    }
    weir_clos one_leaf = {.tiers = 1, .radix = {64}};
    weir_fabric shared = clos_fabric(2, 8, one_leaf);
    shared.nodes.nics = 4; /* two devices on each: 8 PCIe cables, 4 ports */
    weir_fabric_counts c = count(shared);
    assert_int_equal(c.cables[WEIR_TIER_IN_NODE], 16);
    assert_int_equal(c.vertices[WEIR_VERTEX_NIC], 8);
    assert_int_equal(c.cables[WEIR_TIER_BETWEEN_NODES], 8);
}

static void tori_and_dragonflies_have_the_cables_that_one_counts(void **state)
{
    (void)state;
    weir_fabric torus = {.kind = WEIR_FABRIC_TORUS};
    torus.torus = (weir_torus){.size = {4, 4, 4}, .cable = {{.bytes_per_s = 50e9}}};
    assert_int_equal(count(torus).cables[WEIR_TIER_BETWEEN_NODES], 192);
    torus.torus.size[0] = torus.torus.size[1] = 0;
    torus.torus.size[2] = 2;
    torus.torus.cable[2] = nic_cable;
    assert_int_equal(count(torus).cables[WEIR_TIER_BETWEEN_NODES], 2);

    weir_fabric dragonfly = {.kind = WEIR_FABRIC_DRAGONFLY, .nodes = {.nodes = 72, .devices = 1}};
    dragonfly.dragonfly = (weir_dragonfly){.groups = 9,
                                           .routers = 4,
                                           .nics = 2,
                                           .global_cables = 2,
                                           .nic = nic_cable,
                                           .local = nic_cable,
                                           .global = nic_cable};
    weir_fabric_counts c = count(dragonfly);
    assert_int_equal(c.vertices[WEIR_VERTEX_ROUTER], 36);
    assert_int_equal(c.cables[WEIR_TIER_BETWEEN_NODES], 72);
    assert_int_equal(c.cables[WEIR_TIER_BETWEEN_RACKS], 9 * 6);
    assert_int_equal(c.cables[WEIR_TIER_HALL], 36);
    dragonfly.dragonfly.groups = 3; /* 8 ports of a group, 4 to each of the others */
    dragonfly.nodes.nodes = 24;
    assert_int_equal(count(dragonfly).cables[WEIR_TIER_HALL], 12);
}

/* --- what always holds --- */

static void expect_sound(const weir_topology *t, const uint32_t most[WEIR_VERTEX_KIND_COUNT])
{
    uint32_t links = weir_net_count(weir_topology_net(t)), number;
    uint32_t *out = calloc(links + 1, sizeof *out); /* by vertex: fewer than links here */
    assert_non_null(out);
    for (uint32_t i = 0; i < links; i++) {
        weir_link l = weir_topology_link(t, i);
        out[l.from]++;
        weir_link back = weir_topology_link(t, i ^ 1);
        assert_int_equal(l.cable, back.cable);
        assert_int_equal(l.from, back.to);
        assert_int_equal(l.to, back.from);
        weir_vertex_kind kind = weir_topology_vertex(t, l.from, &number);
        if (most[kind] && out[l.from] > most[kind]) {
            fail_msg("vertex %u of kind %d has more than %u cables", number, kind, most[kind]);
        }
    }
    free(out);
}

static void no_switch_has_more_cables_than_ports(void **state)
{
    (void)state;
    const uint32_t radices[] = {8, 12, 32, 64}, sizes[] = {3, 17, 64, 120};
    const double over[] = {0, 1, 2, 3};
    uint32_t built = 0;
    for (uint32_t i = 0; i < 2 * 4 * 4 * 4 * 3 * 3; i++) {
        uint32_t radix = radices[i % 4], upper = radices[i / 64 % 4];
        weir_clos clos = {.tiers = 1 + i / 16 % 3,
                          .wiring = (weir_clos_wiring)(i / 48 % 3),
                          .radix = {radix, upper, radix},
                          .oversubscription = {over[i / 4 % 4], over[i / 16 % 4]},
                          .is_fitted = i >= 4 * 4 * 4 * 3 * 3};
        weir_fabric f = clos_fabric(sizes[i / 4 % 4], 1 + i % 4, clos);
        weir_topology *t = NULL;
        if (weir_topology_new(&f, &t, NULL) == WEIR_OK) {
            const uint32_t most[WEIR_VERTEX_KIND_COUNT] = {[WEIR_VERTEX_LEAF] = radix,
                                                           [WEIR_VERTEX_SPINE] = upper,
                                                           [WEIR_VERTEX_CORE] = radix};
            expect_sound(t, most);
            built++;
        }
        weir_topology_free(t);
    }
    assert_true(built > 100);
    for (uint32_t groups = 1; groups <= 9; groups++) {
        weir_fabric f = {.kind = WEIR_FABRIC_DRAGONFLY,
                         .nodes = {.nodes = 8 * groups, .devices = 1}};
        f.dragonfly = (weir_dragonfly){groups, 4, 2, 2, nic_cable, nic_cable, nic_cable};
        weir_topology *t = build(&f);
        const uint32_t most[WEIR_VERTEX_KIND_COUNT] = {[WEIR_VERTEX_ROUTER] = 2 + 3 + 2};
        expect_sound(t, most);
        weir_topology_free(t);
    }
}

static void links_have_readable_names(void **state)
{
    (void)state;
    weir_clos clos = {.tiers = 2, .radix = {4, 4}};
    weir_fabric f = clos_fabric(4, 1, clos);
    weir_topology *t = build(&f); /* leaves 0, 1 with 2 up each, on spine 0 by 2 cables */
    const char *const names[] = {[0] = "device 0 -> leaf 0",
                                 [7] = "leaf 1 -> device 3",
                                 [8] = "leaf 0 -> spine 0 (cable 0)",
                                 [11] = "spine 0 -> leaf 0 (cable 1)"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        weir_text name = {0};
        weir_topology_name(t, i, &name);
        if (names[i]) {
            assert_string_equal(name.p, names[i]);
        }
        weir_text_clear(&name);
    }
    assert_string_equal(weir_tier_name(weir_topology_link(t, 8).tier), "between_racks");
    weir_topology_free(t);
}

/* --- what cannot be --- */

static void expect_refused(weir_fabric f, const char *part)
{
    weir_err err = {0};
    weir_topology *t = NULL;
    assert_int_equal(weir_topology_new(&f, &t, &err), WEIR_ERR_INPUT);
    assert_null(t);
    if (!strstr(err.text, part)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
    }
}

static void impossible_networks_are_refused_with_what_would_be_right(void **state)
{
    (void)state;
    weir_clos two = {.tiers = 2, .radix = {64, 16}}, one = {.tiers = 1, .radix = {64}};
    expect_refused(clos_fabric(1024, 1, two), "32 switches of the tier below need a spine with 32");
    expect_refused(clos_fabric(65, 1, one), "one tier of 2 leaves with 64 ports");
    expect_refused(clos_fabric(0, 8, one), "0 nodes with 8 devices");
    one.tiers = 4;
    expect_refused(clos_fabric(1, 8, one), "4 tiers; 1, 2 or 3");
    weir_clos bad = {.tiers = 2, .radix = {0, 64}};
    expect_refused(clos_fabric(8, 8, bad), "a leaf with 0 ports");
    bad.radix[0] = 1 << 17;
    expect_refused(clos_fabric(8, 8, bad), "a leaf with 131072 ports");
    bad = (weir_clos){.tiers = 2, .radix = {8, 64}, .oversubscription = {9}};
    expect_refused(clos_fabric(8, 8, bad), "oversubscription of 9");
    bad.oversubscription[0] = -1;
    expect_refused(clos_fabric(8, 8, bad), "oversubscription of -1");
    bad = (weir_clos){.tiers = 2, .radix = {8, 64}, .trunk = {3}};
    expect_refused(clos_fabric(8, 1, bad), "3 cables from each leaf");
    weir_fabric nics = clos_fabric(8, 8, two);
    nics.nodes.nics = 3;
    expect_refused(nics, "8 devices and 3 NICs");
    weir_fabric slow = clos_fabric(8, 8, two);
    slow.clos.cable[0].bytes_per_s = 0;
    expect_refused(slow, "carry 0 bytes/s");

    weir_fabric torus = {.kind = WEIR_FABRIC_TORUS};
    torus.torus = (weir_torus){.size = {1, 1, 1}};
    expect_refused(torus, "1 x 1 x 1");
    torus.torus = (weir_torus){.size = {4, 4, 8}, .twist = {{0, 4, 0}}};
    expect_refused(torus, "shifts dimension 1 by 4");

    weir_fabric dragonfly = {.kind = WEIR_FABRIC_DRAGONFLY, .nodes = {.nodes = 8, .devices = 1}};
    dragonfly.dragonfly = (weir_dragonfly){10, 4, 2, 2, nic_cable, nic_cable, nic_cable};
    expect_refused(dragonfly, "reach 9 groups at most");
    dragonfly.dragonfly.groups = 2;
    dragonfly.nodes.nodes = 17;
    expect_refused(dragonfly, "17 NICs, but");

    const weir_listed_cable cables[] = {{.from = 0, .to = 5}};
    weir_fabric list = {.kind = WEIR_FABRIC_LIST};
    list.list = (weir_cable_list){.devices = 2, .switches = 1, .cables = cables, .count = 1};
    expect_refused(list, "cable 0 joins 0 and 5");
    weir_fabric lonely = {.nodes = {.nodes = 2, .devices = 8}};
    expect_refused(lonely, "no network between");
}

static void what_would_not_fit_is_refused_at_once(void **state)
{
    (void)state;
    weir_clos three = {.tiers = 3, .radix = {65536, 65536, 65536}, .planes = 64};
    weir_fabric fabrics[] = {
        clos_fabric(UINT32_MAX, UINT32_MAX, three),
        clos_fabric(1 << 28, 1, three),
        {.kind = WEIR_FABRIC_DRAGONFLY, .nodes = {.nodes = 1, .devices = 1}},
        {.kind = WEIR_FABRIC_TORUS},
        {.nodes = {.nodes = 1, .devices = 1 << 20, .wiring = WEIR_NODE_MESHED}},
        {.kind = WEIR_FABRIC_LIST},
    };
    fabrics[2].dragonfly = (weir_dragonfly){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                            nic_cable,  nic_cable,  nic_cable};
    fabrics[3].torus = (weir_torus){.size = {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    fabrics[5].list = (weir_cable_list){.devices = UINT32_MAX, .switches = UINT32_MAX};
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        weir_topology *t = NULL;
        assert_int_equal(weir_topology_new(&fabrics[i], &t, NULL), WEIR_ERR_LIMIT);
    }
}

static void an_infinite_network_has_the_shape_of_a_finite_one(void **state)
{
    (void)state;
    weir_clos two = {.tiers = 2, .radix = {64, 64}, .oversubscription = {3}};
    weir_fabric f = clos_fabric(1024, 1, two);
    f.clos.cable[0].bytes_per_s = INFINITY;
    assert_int_equal(count(f).vertices[WEIR_VERTEX_LEAF], 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fat_tree_of_64_ports_has_the_switches_and_links_of_e12),
        cmocka_unit_test(clos_shapes_follow_from_ports_and_oversubscription),
        cmocka_unit_test(fitted_switches_have_uplinks_for_what_is_attached),
        cmocka_unit_test(fitted_leaves_keep_their_oversubscription),
        cmocka_unit_test(nodes_have_the_links_of_their_wiring),
        cmocka_unit_test(tori_and_dragonflies_have_the_cables_that_one_counts),
        cmocka_unit_test(no_switch_has_more_cables_than_ports),
        cmocka_unit_test(links_have_readable_names),
        cmocka_unit_test(impossible_networks_are_refused_with_what_would_be_right),
        cmocka_unit_test(what_would_not_fit_is_refused_at_once),
        cmocka_unit_test(an_infinite_network_has_the_shape_of_a_finite_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
