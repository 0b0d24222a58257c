/* Layouts: two roads on one net. Expected numbers are counted by hand on small networks: 2 nodes of
 * 2 devices below a leaf have 2 x 2 x 2 links inside nodes and 2 x 4 between nodes and leaf. */
#include "fabric/layout.h"

#include "route_fixture.h"

enum { IN_NODES = 8, OF_ROAD = 16 };

static weir_fabric two_nodes(double nic_bytes_per_s)
{
    weir_clos clos = {.tiers = 1, .radix = {4}, .wiring = WEIR_CLOS_PLAIN};
    weir_fabric f = clos_fabric(2, 2, clos);
    f.nodes.wiring = WEIR_NODE_SWITCHED;
    f.nodes.cable.bytes_per_s = 400e9;
    f.clos.cable[0].bytes_per_s = nic_bytes_per_s;
    return f;
}

static weir_road add(weir_layout *layout, weir_fabric fabric)
{
    weir_err err = {0};
    weir_topology *t = NULL;
    weir_road road = WEIR_NONE;
    const weir_routing routing = {0};
    expect_ok(weir_topology_new(&fabric, &t, &err), &err);
    expect_ok(weir_layout_add(layout, t, &routing, &road, &err), &err);
    return road;
}

/* Packets on 30 GB/s, light on 20 GB/s, one set of nodes. */
static weir_layout *two_roads(void)
{
    weir_err err = {0};
    weir_layout *layout = NULL;
    expect_ok(weir_layout_new(&layout, &err), &err);
    assert_int_equal(add(layout, two_nodes(30e9)), 0);
    assert_int_equal(add(layout, two_nodes(20e9)), 1);
    expect_ok(weir_layout_share(layout, 1, 0, IN_NODES, &err), &err);
    weir_layout_label(layout, 1, "light");
    expect_ok(weir_layout_seal(layout, &err), &err);
    return layout;
}

static weir_route route(weir_layout *layout, weir_road road, uint32_t from, uint32_t to)
{
    weir_err err = {0};
    weir_route found;
    expect_ok(weir_layout_find(layout, road, from, to, 0, &found, &err), &err);
    return found;
}

static void a_second_road_has_links_of_its_own_between_nodes_only(void **state)
{
    (void)state;
    weir_layout *layout = two_roads();
    assert_int_equal(weir_net_count(weir_layout_net(layout)), OF_ROAD + OF_ROAD - IN_NODES);
    assert_int_equal(weir_layout_devices(layout), 4);
    assert_int_equal(weir_layout_roads(layout), 2);

    weir_route packets = route(layout, 0, 0, 2), light = route(layout, 1, 0, 2);
    assert_int_equal(packets.path.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        packets = route(layout, 0, 0, 2);
        weir_link_id link = packets.path.links[i];
        assert_int_equal(weir_layout_road_of(layout, link), 0);
        expect_near("packets", weir_net_bytes_per_s(weir_layout_net(layout), link), 30e9, 0);
        light = route(layout, 1, 0, 2);
        assert_int_equal(weir_layout_road_of(layout, light.path.links[i]), 1);
        assert_int_equal(weir_layout_tier(layout, light.path.links[i]), WEIR_TIER_BETWEEN_NODES);
        expect_near("light", weir_net_bytes_per_s(weir_layout_net(layout), light.path.links[i]),
                    20e9, 0);
    }
    weir_layout_free(layout);
}

static void inside_a_node_both_roads_use_the_same_links(void **state)
{
    (void)state;
    weir_layout *layout = two_roads();
    weir_link_id of_first[2];
    weir_route found = route(layout, 0, 2, 3);
    assert_int_equal(found.path.count, 2);
    memcpy(of_first, found.path.links, sizeof of_first);
    found = route(layout, 1, 2, 3);
    assert_memory_equal(found.path.links, of_first, sizeof of_first);
    weir_layout_free(layout);
}

static void a_shared_link_that_dies_is_dead_on_both_roads(void **state)
{
    (void)state;
    weir_layout *layout = two_roads();
    weir_link_id up = route(layout, 0, 2, 3).path.links[0];
    weir_layout_set_dead(layout, up, true);
    weir_err err = {0};
    weir_route found;
    for (weir_road road = 0; road < 2; road++) {
        memset(&err, 0, sizeof err);
        assert_int_equal(weir_layout_find(layout, road, 2, 3, 0, &found, &err), WEIR_ERR_INPUT);
        assert_non_null(strstr(err.text, "nothing joins device 2"));
    }
    weir_layout_set_dead(layout, up, false);
    assert_int_equal(route(layout, 1, 2, 3).path.links[0], up);

    /* Its own link only cuts its own road. */
    weir_link_id port = route(layout, 1, 0, 2).path.links[0];
    weir_layout_set_dead(layout, port, true);
    memset(&err, 0, sizeof err);
    assert_int_equal(weir_layout_find(layout, 1, 0, 2, 0, &found, &err), WEIR_ERR_INPUT);
    assert_int_equal(route(layout, 0, 0, 2).path.count, 2);
    weir_layout_free(layout);
}

static void names_lead_back_to_their_links(void **state)
{
    (void)state;
    weir_layout *layout = two_roads();
    uint32_t count = weir_net_count(weir_layout_net(layout));
    for (weir_link_id link = 0; link < count; link++) {
        weir_text name = {0};
        weir_layout_name(layout, link, &name);
        assert_false(name.failed);
        weir_link_id found = weir_layout_find_link(layout, (weir_str){name.p, (uint32_t)name.n});
        if (found != link) {
            fail_msg("%s: link %u, found %u", name.p, link, found);
        }
        weir_text_clear(&name);
    }
    static const char *const wrong[] = {
        "",
        "leaf",
        "leaf 0",
        "leaf 0 -> leaf 9",
        "leaf 0 -> device 9",
        "dark: leaf 0 -> device 1",
        "leaf 0 - device 1",
        "leaf 0 -> device 1 (cable 1)",
        "leaf 0 -> device 1 (cable 0",
        "leaf 99999999999 -> device 1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(weir_layout_find_link(layout, weir_str_from(wrong[i])), WEIR_NONE);
    }
    weir_layout_free(layout);
}

static void a_tier_that_is_scaled_carries_more_after_sealing_again(void **state)
{
    (void)state;
    weir_layout *layout = two_roads();
    weir_err err = {0};
    weir_layout_scale(layout, WEIR_TIER_BETWEEN_NODES, 1.01);
    expect_ok(weir_layout_seal(layout, &err), &err);
    weir_link_id light = route(layout, 1, 0, 2).path.links[0];
    weir_link_id inside = route(layout, 1, 0, 1).path.links[0];
    expect_near("nic", weir_net_bytes_per_s(weir_layout_net(layout), light), 20.2e9, 1e-15);
    expect_near("node", weir_net_bytes_per_s(weir_layout_net(layout), inside), 400e9, 0);
    weir_layout_free(layout);
}

static void roads_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    weir_layout *layout = NULL;
    weir_err err = {0};
    expect_ok(weir_layout_new(&layout, &err), &err);
    add(layout, two_nodes(30e9));
    weir_fabric ring = torus_fabric(3, 1, 1);
    weir_topology *t = NULL;
    weir_road road;
    const weir_routing routing = {0};
    expect_ok(weir_topology_new(&ring, &t, &err), &err);
    assert_int_equal(weir_layout_add(layout, t, &routing, &road, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text,
                        "a road for 3 devices beside one for 4; all roads join the same ones");
    memset(&err, 0, sizeof err);
    add(layout, two_nodes(20e9));
    assert_int_equal(weir_layout_share(layout, 1, 0, OF_ROAD + 1, &err), WEIR_ERR_USAGE);
    memset(&err, 0, sizeof err);
    assert_int_equal(weir_layout_share(layout, 0, 1, 1, &err), WEIR_ERR_USAGE);
    weir_layout_free(layout);
}

/* A third road on the same nodes and on the second one's links to the leaf, too. */
static void a_road_may_share_what_another_one_shares(void **state)
{
    (void)state;
    weir_err err = {0};
    weir_layout *layout = NULL;
    expect_ok(weir_layout_new(&layout, &err), &err);
    assert_int_equal(add(layout, two_nodes(30e9)), 0);
    assert_int_equal(add(layout, two_nodes(20e9)), 1);
    assert_int_equal(add(layout, two_nodes(20e9)), 2);
    expect_ok(weir_layout_share(layout, 1, 0, IN_NODES, &err), &err);
    expect_ok(weir_layout_share(layout, 2, 1, IN_NODES + 1, &err), &err);
    expect_ok(weir_layout_seal(layout, &err), &err);
    assert_int_equal(weir_net_count(weir_layout_net(layout)),
                     OF_ROAD + (OF_ROAD - IN_NODES) + (OF_ROAD - IN_NODES - 1));
    weir_route first = route(layout, 0, 0, 1);
    weir_link_id inside = first.path.links[0];
    assert_int_equal(route(layout, 2, 0, 1).path.links[0], inside);
    weir_link_id up = route(layout, 1, 0, 2).path.links[0];
    assert_int_equal(route(layout, 2, 0, 2).path.links[0], up);
    assert_int_equal(weir_layout_road_of(layout, up), 1);
    weir_layout_set_dead(layout, inside, true);
    weir_route found;
    for (weir_road road = 0; road < 3; road++) {
        err = (weir_err){0};
        assert_int_equal(weir_layout_find(layout, road, 0, 1, 0, &found, &err), WEIR_ERR_INPUT);
    }
    weir_layout_free(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_road_may_share_what_another_one_shares),
        cmocka_unit_test(a_second_road_has_links_of_its_own_between_nodes_only),
        cmocka_unit_test(inside_a_node_both_roads_use_the_same_links),
        cmocka_unit_test(a_shared_link_that_dies_is_dead_on_both_roads),
        cmocka_unit_test(names_lead_back_to_their_links),
        cmocka_unit_test(a_tier_that_is_scaled_carries_more_after_sealing_again),
        cmocka_unit_test(roads_that_do_not_fit_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
