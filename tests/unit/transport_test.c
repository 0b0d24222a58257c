/* Head-of-line blocking: the victim of network-oracles.md A9 with and without pauses. */
#include "fabric/transport.h"

#include "route_fixture.h"

enum { S1, S2, S3, D, E, SWITCH, DEVICES = SWITCH, FLOWS = 4 };

static const uint32_t a9[FLOWS][2] = {{S1, D}, {S2, D}, {S3, D}, {S3, E}};

static weir_layout *star(void)
{
    weir_listed_cable cables[DEVICES];
    for (uint32_t i = 0; i < DEVICES; i++) {
        cables[i] = (weir_listed_cable){
            .from = i, .to = SWITCH, .cable.bytes_per_s = 1, .tier = WEIR_TIER_BETWEEN_NODES};
    }
    weir_fabric f = {.kind = WEIR_FABRIC_LIST};
    f.list =
        (weir_cable_list){.devices = DEVICES, .switches = 1, .cables = cables, .count = DEVICES};
    weir_layout *layout = NULL;
    weir_topology *t = NULL;
    weir_road road;
    weir_err err = {0};
    const weir_routing routing = {0};
    expect_ok(weir_layout_new(&layout, &err), &err);
    expect_ok(weir_topology_new(&f, &t, &err), &err);
    expect_ok(weir_layout_add(layout, t, &routing, &road, &err), &err);
    expect_ok(weir_layout_seal(layout, &err), &err);
    return layout;
}

static void message(weir_layout *layout, weir_arena *arena, const uint32_t pair[2], double size,
                    weir_body *body)
{
    weir_err err = {0};
    weir_route route;
    expect_ok(weir_layout_find(layout, 0, pair[0], pair[1], 0, &route, &err), &err);
    weir_link_id *links = weir_arena_alloc(arena, route.path.count, sizeof *links);
    double *shares = weir_arena_alloc(arena, route.path.count, sizeof *shares);
    memcpy(links, route.path.links, route.path.count * sizeof *links);
    memcpy(shares, route.path.bytes_per_unit, route.path.count * sizeof *shares);
    *body = (weir_body){.path = route.path, .size = size};
    body->path.links = links;
    body->path.bytes_per_unit = shares;
}

/* Rates of all bodies together on the link that leads to a device. */
static void rates(const weir_layout *layout, const weir_body *bodies, uint32_t count, double *found)
{
    weir_fluid *fluid = NULL;
    weir_body_id id[FLOWS];
    weir_err err = {0};
    expect_ok(weir_fluid_new(weir_layout_net(layout), &fluid, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        expect_ok(weir_fluid_add(fluid, &bodies[i].path, &id[i], &err), &err);
        expect_ok(weir_fluid_start(fluid, id[i], &err), &err);
    }
    expect_ok(weir_fluid_solve(fluid, WEIR_SOLVE_FULL, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        found[i] = weir_fluid_rate(fluid, id[i]);
    }
    weir_fluid_free(fluid);
}

static void a_victim_of_an_incast_gains_on_a_fluid_and_loses_with_pauses(void **state)
{
    (void)state;
    weir_layout *layout = star();
    weir_arena *arena = weir_arena_new();
    weir_body bodies[FLOWS];
    double found[FLOWS];
    uint32_t count = FLOWS;
    weir_err err = {0};
    for (uint32_t i = 0; i < FLOWS; i++) {
        message(layout, arena, a9[i], 6, &bodies[i]);
    }
    rates(layout, bodies, count, found);
    expect_near("incast", found[2], 1.0 / 3, 1e-12);
    expect_near("victim", found[3], 2.0 / 3, 1e-12);

    expect_ok(weir_transport_couple(layout, arena, bodies, &count, &err), &err);
    assert_int_equal(count, 3);
    rates(layout, bodies, count, found);
    expect_near("first", found[0], 1.0 / 3, 1e-12);
    /* Both messages of s3 together: each gets half of it, the victim 1/3 as the paused one. */
    expect_near("both", found[2], 2.0 / 3, 1e-12);
    expect_near("size", bodies[2].size, 12, 0);
    assert_int_equal(bodies[2].path.count, 3);
    weir_arena_free(arena);
    weir_layout_free(layout);
}

static void who_shares_no_port_with_a_paused_one_is_left_alone(void **state)
{
    (void)state;
    weir_layout *layout = star();
    weir_arena *arena = weir_arena_new();
    static const uint32_t pairs[FLOWS][2] = {{S1, D}, {S2, D}, {S3, E}, {S3, S1}};
    weir_body bodies[FLOWS];
    uint32_t count = FLOWS;
    weir_err err = {0};
    for (uint32_t i = 0; i < FLOWS; i++) {
        message(layout, arena, pairs[i], 6, &bodies[i]);
    }
    bodies[1].size = 0; /* sends nothing: d has one sender */
    expect_ok(weir_transport_couple(layout, arena, bodies, &count, &err), &err);
    assert_int_equal(count, FLOWS);
    weir_arena_free(arena);
    weir_layout_free(layout);
}

static void joined_messages_keep_their_proportions(void **state)
{
    (void)state;
    weir_layout *layout = star();
    weir_arena *arena = weir_arena_new();
    weir_body bodies[FLOWS];
    uint32_t count = FLOWS;
    weir_err err = {0};
    for (uint32_t i = 0; i < FLOWS; i++) {
        message(layout, arena, a9[i], i == 3 ? 1 : 3, &bodies[i]);
    }
    bodies[3].latency_s = 2;
    expect_ok(weir_transport_couple(layout, arena, bodies, &count, &err), &err);
    assert_int_equal(count, 3);
    expect_near("late", bodies[2].latency_s, 2, 0);
    double to_d = 0, to_e = 0, out = 0;
    for (uint32_t i = 0; i < bodies[2].path.count; i++) {
        weir_link l = weir_topology_link(weir_layout_topology(layout, 0), bodies[2].path.links[i]);
        double share = bodies[2].path.bytes_per_unit[i];
        to_d += l.to == D ? share : 0;
        to_e += l.to == E ? share : 0;
        out += l.from == S3 ? share : 0;
    }
    expect_near("d", to_d, 0.75, 0);
    expect_near("e", to_e, 0.25, 0);
    expect_near("s3", out, 1, 0);
    weir_arena_free(arena);
    weir_layout_free(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_victim_of_an_incast_gains_on_a_fluid_and_loses_with_pauses),
        cmocka_unit_test(who_shares_no_port_with_a_paused_one_is_left_alone),
        cmocka_unit_test(joined_messages_keep_their_proportions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
