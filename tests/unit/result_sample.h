/* result_sample.h: results made by hand for the tests of result/ and report/.
 *
 * sample_sleeper: 4 ranks of one node, 3 steps of 1.097 s; the host of rank 2 sleeps in each, the
 * others wait for it in all-to-alls. All figures are round ms, so that they can be checked by
 * head: each device has 3,291 ms, all four 13,164 ms. */
#ifndef WEIR_TESTS_RESULT_SAMPLE_H
#define WEIR_TESTS_RESULT_SAMPLE_H

#include "result/result.h"

#define SAMPLE_MS INT64_C(1000000)

static inline void sample_add(weir_account *account, weir_cause cause, int64_t ms)
{
    account->causes.ns[cause] += ms * SAMPLE_MS;
    account->waits.ns[weir_cause_wait(cause)] += ms * SAMPLE_MS;
    account->wall_ns += ms * SAMPLE_MS;
}

/* Adds to the device, to the total and, as `unknown` control, to the control. */
static inline void sample_spend(weir_result *r, uint32_t device, weir_cause cause, int64_t ms)
{
    sample_add(&r->devices[device].account, cause, ms);
    sample_add(&r->total, cause, ms);
    r->control.unknown.ns[cause] += ms * SAMPLE_MS;
}

/* A measured run of so many ranks with one device each, on one node, nothing in it yet. */
static inline weir_result *sample_empty(uint32_t ranks, uint32_t steps)
{
    weir_result *r = weir_result_new();
    r->command = "trace";
    r->window.steps = steps;
    r->window.devices = r->window.ranks = r->device_count = ranks;
    r->window.nodes = r->clock.hosts = 1;
    r->clock.aligned = true;
    r->devices = weir_arena_alloc(r->arena, ranks, sizeof(*r->devices));
    for (uint32_t i = 0; i < ranks; i++) {
        r->devices[i].rank = (int32_t)i;
        r->devices[i].node = "ip-172-31-5-7";
        r->devices[i].multiplicity = 1;
    }
    r->classes[3] = 1.0;
    return r;
}

static inline void sample_straggler(weir_result *r, weir_straggler_row row)
{
    weir_straggler_row *rows = weir_arena_alloc(r->arena, r->straggler_count + 1, sizeof(*rows));
    for (uint32_t i = 0; i < r->straggler_count; i++) {
        rows[i] = r->stragglers[i];
    }
    rows[r->straggler_count++] = row;
    r->stragglers = rows;
}

static inline void sample_collective(weir_result *r, weir_collective_row row)
{
    weir_collective_row *rows = weir_arena_alloc(r->arena, r->collective_count + 1, sizeof(*rows));
    for (uint32_t i = 0; i < r->collective_count; i++) {
        rows[i] = r->collectives[i];
    }
    rows[r->collective_count++] = row;
    r->collectives = rows;
}

static inline void sample_steady(weir_result *r)
{
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        int64_t ns = r->control.unknown.ns[c];
        r->control.planned.ns[c] = ns / 10;
        r->control.erratic.ns[c] = ns / 5;
        r->control.steady.ns[c] = ns - ns / 10 - ns / 5;
        r->control.unknown.ns[c] = 0;
    }
    r->control.places_for_half = 1;
}

static inline weir_result *sample_sleeper(void)
{
    weir_result *r = sample_empty(4, 3);
    static const char *inputs[] = {"rank0.json.gz", "rank1.json.gz", "rank2.json.gz",
                                   "rank3.json.gz"};
    r->inputs = inputs;
    r->input_count = 4;
    r->window.begin_ns = INT64_C(1700000000000000000);
    r->window.end_ns = r->window.begin_ns + 3291 * SAMPLE_MS;
    r->window.step_ns = 1097 * SAMPLE_MS;
    for (uint32_t d = 0; d < 4; d++) {
        sample_spend(r, d, WEIR_CAUSE_COMPUTE_GEMM, 60);
        sample_spend(r, d, WEIR_CAUSE_CACHE_ACTIVATIONS, 100);
        sample_spend(r, d, WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL, 37);
        sample_spend(r, d, WEIR_CAUSE_DEPENDENCY_HOST, d == 2 ? 3094 : 104);
        sample_spend(r, d, WEIR_CAUSE_DEPENDENCY_STRAGGLER, d == 2 ? 0 : 2990);
    }
    sample_steady(r);
    r->communication = weir_arena_alloc(r->arena, 1, sizeof(*r->communication));
    r->communication[0] =
        (weir_communication_part){WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL, "in_node", 148 * SAMPLE_MS};
    r->communication_count = 1;
    sample_straggler(r, (weir_straggler_row){.rank = 2,
                                             .node = "ip-172-31-5-7",
                                             .axis = "world",
                                             .origin_rank = 2,
                                             .waited_for_ns = 8970 * SAMPLE_MS,
                                             .reason = WEIR_REASON_LATE_HOST,
                                             .factor = 1,
                                             .has_host_cause = true,
                                             .host_cause = WEIR_CAUSE_DEPENDENCY_HOST,
                                             .instances = 12});
    sample_collective(r, (weir_collective_row){.kind = WEIR_COMM_ALL_TO_ALL,
                                               .group = "default_pg",
                                               .axis = "world",
                                               .tier = "in_node",
                                               .ranks = 4,
                                               .complete = true,
                                               .instances = 13,
                                               .bytes = 1000000,
                                               .transfer_ns = 148 * SAMPLE_MS,
                                               .arrival_wait_ns = 9000 * SAMPLE_MS,
                                               .exposed_ns = 9118 * SAMPLE_MS,
                                               .algorithm_bandwidth_bytes_per_s = 2e9,
                                               .bus_bandwidth_bytes_per_s = 1.5e9});
    r->critical_path.length_ns = 3291 * SAMPLE_MS;
    r->critical_path.waits.ns[WEIR_WAIT_DEPENDENCY] = 3094 * SAMPLE_MS;
    r->critical_path.causes.ns[WEIR_CAUSE_DEPENDENCY_HOST] = 3094 * SAMPLE_MS;
    r->critical_path.waits.ns[WEIR_WAIT_CACHE] = 197 * SAMPLE_MS;
    r->critical_path.causes.ns[WEIR_CAUSE_CACHE_ACTIVATIONS] = 197 * SAMPLE_MS;
    r->critical_path.ranks = weir_arena_alloc(r->arena, 2, sizeof(*r->critical_path.ranks));
    r->critical_path.ranks[0].rank = 2;
    r->critical_path.ranks[0].ns = 3191 * SAMPLE_MS;
    r->critical_path.ranks[1].ns = 100 * SAMPLE_MS;
    r->critical_path.rank_count = 2;
    return r;
}

#endif
