/* plan_fixture.h: layouts and plans for the tests of collectives. */
#ifndef WEIR_TESTS_PLAN_FIXTURE_H
#define WEIR_TESTS_PLAN_FIXTURE_H

#include "collective/plan.h"

#include "route_fixture.h"

static const weir_routing spray = {.choice = WEIR_ROUTE_SPRAY};

static inline weir_layout *layout_of(weir_fabric fabric, weir_routing routing)
{
    weir_err err = {0};
    weir_topology *t;
    weir_layout *l;
    weir_road road;
    expect_ok(weir_topology_new(&fabric, &t, &err), &err);
    expect_ok(weir_layout_new(&l, &err), &err);
    expect_ok(weir_layout_add(l, t, &routing, &road, &err), &err);
    assert_int_equal(road, 0);
    expect_ok(weir_layout_seal(l, &err), &err);
    return l;
}

/* One switch that never blocks, 50 GB/s for each of `nodes` x `devices`; 450 GB/s inside nodes. */
static inline weir_fabric one_tier(uint32_t nodes, uint32_t devices)
{
    weir_clos clos = {.tiers = 1, .radix = {nodes * devices}};
    weir_fabric f = clos_fabric(nodes, devices, clos);
    f.nodes.wiring = devices > 1 ? WEIR_NODE_SWITCHED : WEIR_NODE_UNLINKED;
    f.nodes.cable.bytes_per_s = 450e9;
    return f;
}

static inline weir_fabric one_node(uint32_t devices, weir_node_wiring wiring, double bytes_per_s)
{
    return (weir_fabric){.kind = WEIR_FABRIC_NODE,
                         .nodes = {.nodes = 1,
                                   .devices = devices,
                                   .wiring = wiring,
                                   .cable = {.bytes_per_s = bytes_per_s}}};
}

static inline weir_collective_choice choice_of(weir_collective_algorithm algorithm,
                                               double latency_s)
{
    return (weir_collective_choice){.algorithm = algorithm,
                                    .protocol = WEIR_PROTOCOL_SIMPLE,
                                    .latency_s = latency_s,
                                    .node_efficiency = 1,
                                    .network_efficiency = 1};
}

/* The first `count` devices, or all of the layout (count 0). Owned by the caller. */
static inline uint32_t *devices_of(const weir_layout *layout, uint32_t *count)
{
    *count = *count ? *count : weir_layout_devices(layout);
    uint32_t *members = calloc(*count, sizeof *members);
    assert_non_null(members);
    for (uint32_t i = 0; i < *count; i++) {
        members[i] = i;
    }
    return members;
}

static inline weir_plan plan_of(weir_layout *layout, weir_collective_job job,
                                weir_collective_choice choice)
{
    weir_plan plan = {0};
    weir_err err = {0};
    uint32_t *all = NULL;
    if (!job.members) {
        all = devices_of(layout, &job.count);
        job.members = all;
    }
    expect_ok(weir_plan_collective(layout, &job, &choice, &plan, &err), &err);
    free(all);
    return plan;
}

/* Plays round after round on the idle net of the layout, as an engine would. */
static inline double play(weir_layout *layout, const weir_plan *plan)
{
    weir_err err = {0};
    weir_bodies *bodies;
    weir_body_id id;
    double now_s = 0;
    expect_ok(weir_bodies_new(weir_layout_net(layout), &bodies, &err), &err);
    for (uint32_t r = 0; r < plan->round_count; r++) {
        const weir_round *round = &plan->rounds[r];
        double end_s = now_s + round->latency_s;
        for (uint32_t b = 0; b < round->body_count; b++) {
            weir_body body = plan->bodies[round->first_body + b];
            body.start_s = now_s;
            body.latency_s = round->latency_s;
            expect_ok(weir_bodies_add(bodies, &body, &id, &err), &err);
        }
        expect_ok(weir_bodies_run(bodies, &err), &err);
        weir_body_end end;
        while (weir_bodies_take(bodies, &end)) {
            assert_int_equal(end.stalled_by, WEIR_NONE);
            end_s = end.end_s > end_s ? end.end_s : end_s;
        }
        now_s = end_s;
    }
    weir_bodies_free(bodies);
    return now_s;
}

/* The time of a collective over all devices, played and foretold, which must agree. */
static inline double seconds(weir_layout *layout, weir_collective_job job,
                             weir_collective_choice choice)
{
    weir_plan plan = plan_of(layout, job, choice);
    double alone_s = weir_plan_alone_s(&plan);
    expect_near("alone, against played", alone_s, play(layout, &plan), 1e-9);
    weir_plan_clear(&plan);
    return alone_s;
}

#endif
