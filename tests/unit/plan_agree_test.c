/* Plans against what is written independently: the table of wire factors and the library's closed
 * form, single connections, routes one by one, the same network alone. */
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

/* Two roads on the same nodes, as a hybrid has them: whatever runs on the second one takes as long
 * as if it were alone, and loads its own NICs. */
static void a_second_road_on_the_same_nodes_is_planned_alike(void **state)
{
    weir_fabric f = one_tier(4, 4);
    weir_layout *single = layout_of(f, spray), *both;
    weir_err err = {0};
    weir_road road;
    expect_ok(weir_layout_new(&both, &err), &err);
    for (int i = 0; i < 2; i++) {
        weir_topology *t;
        expect_ok(weir_topology_new(&f, &t, &err), &err);
        expect_ok(weir_layout_add(both, t, &spray, &road, &err), &err);
    }
    expect_ok(weir_layout_share(both, 1, 0, 2 * 16, &err), &err);
    expect_ok(weir_layout_seal(both, &err), &err);
    for (int a = 0; a < WEIR_ALGORITHM_COUNT; a++) {
        for (int kind = 0; kind < WEIR_COLLECTIVE_KIND_COUNT; kind++) {
            weir_collective_shape shape = {
                (weir_collective_kind)kind, 1e9, 16, 4, 450e9, 50e9, true, true};
            weir_collective_algorithm algorithm = (weir_collective_algorithm)a;
            if (!weir_collective_is_possible(&shape, algorithm)) {
                continue;
            }
            weir_collective_job job = job_of(shape.kind, shape.bytes);
            weir_plan alone = plan_of(single, job, choice_of(algorithm, 0));
            job.road = 1;
            weir_plan beside = plan_of(both, job, choice_of(algorithm, 0));
            expect_near("second road", weir_plan_alone_s(&beside), weir_plan_alone_s(&alone), 1e-9);
            assert_int_equal(beside.pace_tier, alone.pace_tier);
            for (uint32_t b = 0; b < beside.body_count; b++) {
                const weir_path *path = &beside.bodies[b].path;
                for (uint32_t i = 0; i < path->count; i++) {
                    assert_true(path->links[i] < 2 * 16 ||
                                weir_layout_road_of(both, path->links[i]) == 1);
                }
            }
            weir_plan_clear(&alone);
            weir_plan_clear(&beside);
        }
    }
    weir_layout_free(single);
    weir_layout_free(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_load_what_the_table_of_wire_factors_says),
        cmocka_unit_test(bodies_end_when_their_connections_would),
        cmocka_unit_test(all_pairs_load_what_their_routes_do_one_by_one),
        cmocka_unit_test(a_second_road_on_the_same_nodes_is_planned_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
