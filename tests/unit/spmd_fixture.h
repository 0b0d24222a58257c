/* spmd_fixture.h: small clusters with hand-made plans, for the tests of sim/ and of its ledger.
 *
 * A network is a star: each device has one link up and one link down, which are all that it shares.
 * Plans are written down here, not made by collective/, so that a failing test is about playing.
 *
 * Everything lives in one arena and dies with spmd_close. */
#ifndef WEIR_TESTS_SPMD_FIXTURE_H
#define WEIR_TESTS_SPMD_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "fluid_fixture.h"
#include "sim/spmd.h"

#include <stdlib.h>
#include <string.h>

#define SPMD_OK(f, call) assert_int_equal_text((call), (f)->err.text)

static inline void assert_int_equal_text(weir_code code, const char *text)
{
    if (code != WEIR_OK) {
        fail_msg("%s", text);
    }
}

typedef struct {
    weir_arena *arena;
    weir_net *net;
    weir_spmd spmd;
    weir_spmd_run run;
    weir_err err;
    weir_exchange *exchanges;
    weir_program *programs;
    uint32_t *program_of;
    uint32_t *node_of;
} spmd_fixture;

enum { SPMD_MOST = 64 }; /* exchanges, programs */

static inline void *spmd_room(spmd_fixture *f, size_t count, size_t size)
{
    void *p = weir_arena_alloc(f->arena, count ? count : 1, size);
    assert_non_null(p);
    return p;
}

/* A star of so many devices, in nodes of `per_node`; each link carries so many bytes per second. */
static inline void spmd_open(spmd_fixture *f, uint32_t devices, uint32_t per_node,
                             double bytes_per_s)
{
    memset(f, 0, sizeof *f);
    f->arena = weir_arena_new();
    f->net = weir_net_new();
    assert_non_null(f->arena);
    assert_non_null(f->net);
    for (uint32_t l = 0; l < 2 * devices; l++) {
        weir_link_id link;
        SPMD_OK(f, weir_net_add(f->net, bytes_per_s, 0, &link, &f->err));
    }
    f->exchanges = spmd_room(f, SPMD_MOST, sizeof *f->exchanges);
    f->programs = spmd_room(f, SPMD_MOST, sizeof *f->programs);
    f->program_of = spmd_room(f, devices, sizeof *f->program_of);
    f->node_of = spmd_room(f, devices, sizeof *f->node_of);
    for (uint32_t d = 0; d < devices; d++) {
        f->node_of[d] = d / per_node;
    }
    f->spmd = (weir_spmd){.net = f->net,
                          .devices = devices,
                          .node_of_device = f->node_of,
                          .program_of_device = f->program_of,
                          .programs = f->programs,
                          .exchanges = f->exchanges};
}

static inline void spmd_close(spmd_fixture *f)
{
    weir_spmd_run_clear(&f->run);
    weir_net_free(f->net);
    weir_arena_free(f->arena);
}

static inline weir_link_id up_of(uint32_t device)
{
    return 2 * device;
}

static inline weir_link_id down_of(uint32_t device)
{
    return 2 * device + 1;
}

/* One round with one body, all of whose links carry the same; it takes alone_s alone. */
static inline weir_plan *spmd_plan(spmd_fixture *f, const weir_link_id *links, uint32_t count,
                                   double bytes, double latency_s, double alone_s)
{
    weir_plan *plan = spmd_room(f, 1, sizeof *plan);
    plan->bodies = spmd_room(f, 1, sizeof *plan->bodies);
    plan->rounds = spmd_room(f, 1, sizeof *plan->rounds);
    weir_link_id *own = spmd_room(f, count, sizeof *own);
    memcpy(own, links, count * sizeof *own);
    plan->bodies[0] = (weir_body){.path = {.count = count, .links = own}, .size = bytes};
    plan->rounds[0] = (weir_round){0, 1, latency_s, alone_s};
    plan->body_count = plan->round_count = 1;
    plan->pace_tier = WEIR_TIER_BETWEEN_NODES;
    return plan;
}

/* A ring all-reduce of `bytes` over the star: every link of its members carries 2(n-1)/n of it. */
static inline weir_plan *spmd_ring(spmd_fixture *f, const uint32_t *members, uint32_t n,
                                   double bytes, double latency_s)
{
    weir_link_id *links = spmd_room(f, (size_t)2 * n, sizeof *links);
    for (uint32_t i = 0; i < n; i++) {
        links[2 * i] = up_of(members[i]);
        links[2 * i + 1] = down_of(members[i]);
    }
    double moved = 2.0 * (n - 1) / n * bytes;
    return spmd_plan(f, links, 2 * n, moved, latency_s,
                     moved / weir_net_bytes_per_s(f->net, links[0]));
}

/* Groups of `size` devices with that stride, side by side, each with a ring all-reduce. */
static inline uint32_t spmd_all_reduce(spmd_fixture *f, const char *axis, uint32_t size,
                                       uint32_t stride, double bytes, double latency_s)
{
    uint32_t groups = f->spmd.devices / size, id = f->spmd.exchange_count++;
    weir_exchange_group *rows = spmd_room(f, groups, sizeof *rows);
    if (!weir_net_is_sealed(f->net)) {
        weir_net_seal(f->net);
    }
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t *members = spmd_room(f, size, sizeof *members);
        for (uint32_t k = 0; k < size; k++) {
            members[k] = g / stride * (size * stride) + g % stride + k * stride;
        }
        rows[g] = (weir_exchange_group){.members = members,
                                        .count = size,
                                        .plan = spmd_ring(f, members, size, bytes, latency_s)};
    }
    f->exchanges[id] = (weir_exchange){.name = axis,
                                       .axis = axis,
                                       .kind = WEIR_COMM_ALL_REDUCE,
                                       .bytes = (uint64_t)bytes,
                                       .groups = rows,
                                       .group_count = groups};
    return id;
}

/* One message. */
static inline uint32_t spmd_message(spmd_fixture *f, uint32_t from, uint32_t to, double bytes,
                                    double latency_s)
{
    uint32_t id = f->spmd.exchange_count++;
    uint32_t *members = spmd_room(f, 2, sizeof *members);
    weir_exchange_group *group = spmd_room(f, 1, sizeof *group);
    if (!weir_net_is_sealed(f->net)) {
        weir_net_seal(f->net);
    }
    const weir_link_id links[] = {up_of(from), down_of(to)};
    members[0] = from;
    members[1] = to;
    *group =
        (weir_exchange_group){.members = members,
                              .count = 2,
                              .plan = spmd_plan(f, links, 2, bytes, latency_s,
                                                bytes / weir_net_bytes_per_s(f->net, links[0]))};
    f->exchanges[id] = (weir_exchange){.name = "message",
                                       .axis = "pipeline",
                                       .kind = WEIR_COMM_SEND_RECV,
                                       .is_message = true,
                                       .bytes = (uint64_t)bytes,
                                       .groups = group,
                                       .group_count = 1};
    return id;
}

/* Programs are written op after op. */
static inline uint32_t spmd_program(spmd_fixture *f)
{
    uint32_t p = f->spmd.program_count++;
    f->programs[p].ops = spmd_room(f, 4096, sizeof *f->programs[p].ops);
    return p;
}

static inline weir_program_op *spmd_op(spmd_fixture *f, uint32_t program, weir_program_kind kind)
{
    weir_program_op *ops = (weir_program_op *)(uintptr_t)f->programs[program].ops;
    weir_program_op *op = &ops[f->programs[program].count++];
    op->kind = kind;
    op->name = "work";
    op->cause = WEIR_CAUSE_COMPUTE_GEMM;
    return op;
}

static inline weir_program_op *spmd_compute(spmd_fixture *f, uint32_t program, uint32_t lane,
                                            int64_t ns)
{
    weir_program_op *op = spmd_op(f, program, WEIR_STEP_COMPUTE);
    op->lane = lane;
    op->duration_ns = ns;
    return op;
}

static inline weir_program_op *spmd_exchange(spmd_fixture *f, uint32_t program, uint32_t lane,
                                             uint32_t exchange)
{
    weir_program_op *op = spmd_op(f, program, WEIR_STEP_EXCHANGE);
    op->lane = lane;
    op->exchange = exchange;
    op->name = f->exchanges[exchange].name;
    return op;
}

static inline void spmd_after(spmd_fixture *f, weir_program_op *op, uint32_t before)
{
    uint32_t *after = spmd_room(f, (size_t)op->after_count + 1, sizeof *after);
    if (op->after_count) {
        memcpy(after, op->after, op->after_count * sizeof *after);
    }
    after[op->after_count++] = before;
    op->after = after;
}

/* All devices run one random program over rings of random shapes, on so many streams, in two
 * periods; some exchanges need circuits. */
static inline void spmd_random(spmd_fixture *f, uint64_t seed, uint32_t lanes)
{
    uint64_t state = seed;
    uint32_t devices = 4u << pick(&state, 3);
    spmd_open(f, devices, 4, 1e9);
    uint32_t exchanges = 1 + pick(&state, 3);
    for (uint32_t e = 0; e < exchanges; e++) {
        static const char *const axes[] = {"tensor", "data", "pipeline"};
        uint32_t size = pick(&state, 2) ? 4 : 2, stride = pick(&state, 2) ? devices / size : 1;
        spmd_all_reduce(f, axes[e], size, stride, (1 + pick(&state, 4)) * 1e5,
                        pick(&state, 3) * 1e-6);
        f->exchanges[e].circuits = pick(&state, 4) == 0 ? e + 1 : 0;
    }
    f->spmd.circuit_s = pick(&state, 3) * 1e-4;
    uint32_t p = spmd_program(f), ops = 3 + pick(&state, 10);
    for (uint32_t k = 0; k < ops; k++) {
        uint32_t lane = pick(&state, lanes);
        weir_program_op *op = pick(&state, 2) ? spmd_exchange(f, p, lane, pick(&state, exchanges))
                                              : spmd_compute(f, p, lane, pick(&state, 5) * 50000);
        op->step = 2 * k / ops;
        if (k && pick(&state, 2)) {
            spmd_after(f, op, pick(&state, k));
        }
    }
}

static inline void spmd_play(spmd_fixture *f)
{
    weir_spmd_run_clear(&f->run);
    SPMD_OK(f, weir_spmd_play(&f->spmd, &f->run, &f->err));
}

#endif
