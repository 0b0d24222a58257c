/* The ledger of simulated runs, against waits calculated by hand, and its laws on random ones. */
#include "spmd_fixture.h"

#include "base/text.h"
#include "result/json.h"
#include "study/sim_ledger.h"

#include <math.h>

typedef struct {
    spmd_fixture f;
    weir_result *result;
    weir_lines lines;
} ledger_of_run;

static void build(ledger_of_run *r)
{
    spmd_play(&r->f);
    weir_result_free(r->result);
    weir_lines_clear(&r->lines);
    r->result = weir_result_new();
    assert_non_null(r->result);
    r->f.err = (weir_err){0};
    const weir_ledger_options options = {.segments = true, .kernels = true, .threads = 1};
    SPMD_OK(&r->f, weir_sim_ledger_build(&r->f.spmd, &r->f.run, &options, r->result, &r->lines,
                                         &r->f.err));
}

static void close_run(ledger_of_run *r)
{
    weir_result_free(r->result);
    weir_lines_clear(&r->lines);
    spmd_close(&r->f);
}

static int64_t cause_ns(const ledger_of_run *r, weir_cause cause)
{
    return r->result->total.causes.ns[cause];
}

static int64_t part_ns(const ledger_of_run *r, weir_communication_kind_part part)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->result->communication_share_count; i++) {
        const weir_communication_share *share = &r->result->communication_shares[i];
        sum += share->part == part ? share->ns : 0;
    }
    return sum;
}

/* Planned, steady, erratic and unknown add up to the causes. */
static void check_control(const weir_result *result)
{
    const weir_control *control = &result->control;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        assert_int_equal(control->planned.ns[c] + control->steady.ns[c] + control->erratic.ns[c] +
                             control->unknown.ns[c],
                         result->total.causes.ns[c]);
    }
}

/* What must hold of every run: the causes add up to the devices' time, and the parts to the causes;
 * a simulation leaves nothing unknown. */
static void check_laws(const ledger_of_run *r)
{
    const weir_result *result = r->result;
    int64_t shares[WEIR_CAUSE_COUNT] = {0}, sum = 0;
    for (uint32_t i = 0; i < result->communication_share_count; i++) {
        shares[result->communication_shares[i].cause] += result->communication_shares[i].ns;
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        bool travels = weir_cause_wait((weir_cause)c) == WEIR_WAIT_COMMUNICATION;
        assert_int_equal(shares[c], travels ? result->total.causes.ns[c] : 0);
        sum += result->total.causes.ns[c];
    }
    assert_int_equal(sum, result->total.wall_ns);
    check_control(result);
    assert_int_equal(sum, r->f.run.end_ns * r->f.spmd.devices);
    assert_int_equal(cause_ns(r, WEIR_CAUSE_DEPENDENCY_UNKNOWN), 0);
    assert_int_equal(cause_ns(r, WEIR_CAUSE_COMMUNICATION_UNSPLIT), 0);
    assert_int_equal(cause_ns(r, WEIR_CAUSE_DEPENDENCY_TURNAROUND), 0);
    assert_int_equal(result->critical_path.length_ns, r->f.run.end_ns);
    assert_int_equal(result->critical_path.causes.ns[WEIR_CAUSE_DEPENDENCY_UNKNOWN], 0);
    assert_int_equal(result->window.devices, r->f.spmd.devices);
}

/* 4 devices: 1 ms of computing, then 10 us + 6 ms of all-reduce. */
static void counts_computing_and_transfer_of_all_devices(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 4, 2, 1e9);
    uint32_t e = spmd_all_reduce(&r.f, "data", 4, 1, 4e6, 10e-6);
    uint32_t p = spmd_program(&r.f);
    spmd_compute(&r.f, p, 0, 1000000);
    spmd_exchange(&r.f, p, 0, e);
    build(&r);
    check_laws(&r);
    assert_int_equal(r.result->total.wall_ns, 4 * 7010000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMPUTE_GEMM), 4 * 1000000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 4 * 6010000);
    assert_int_equal(part_ns(&r, WEIR_PART_LATENCY), 4 * 10000);
    assert_int_equal(part_ns(&r, WEIR_PART_BANDWIDTH), 4 * 6000000);
    assert_int_equal(r.result->window.nodes, 2);
    assert_int_equal(r.result->window.steps, 1);
    assert_true(r.result->simulated);
    assert_string_equal(r.result->communication_shares[0].tier, "between_nodes");
    assert_int_equal(r.result->control.planned.ns[WEIR_CAUSE_COMMUNICATION_ALL_REDUCE],
                     4 * 6010000);
    assert_int_equal(r.result->collective_count, 1);
    const weir_collective_row *row = &r.result->collectives[0];
    assert_string_equal(row->axis, "data");
    assert_string_equal(row->tier, "between_nodes");
    assert_int_equal(row->ranks, 4);
    assert_int_equal(row->transfer_ns, 4 * 6010000);
    assert_int_equal(row->exposed_ns, 4 * 6010000);
    close_run(&r);
}

/* Device 5 of 8 takes 1.3 times as long for 10 ms: the seven others wait 3 ms for it, those of its
 * node in the tensor group, the others in the data group, for whom 5 itself had made late. */
static void blames_the_slow_device(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 8, 4, 1e9);
    uint32_t tensor = spmd_all_reduce(&r.f, "tensor", 4, 1, 1e6, 0);
    uint32_t data = spmd_all_reduce(&r.f, "data", 2, 4, 1e6, 0);
    uint32_t p = spmd_program(&r.f);
    spmd_compute(&r.f, p, 0, 10000000);
    spmd_exchange(&r.f, p, 0, tensor);
    spmd_exchange(&r.f, p, 0, data);
    const weir_slow_device slow = {5, 1.3};
    r.f.spmd.slow = &slow;
    r.f.spmd.slow_count = 1;
    build(&r);
    check_laws(&r);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 7 * 3000000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMPUTE_GEMM), 8 * 10000000 + 3000000);
    int64_t waited_ns = 0;
    bool is_blamed = false;
    for (uint32_t i = 0; i < r.result->straggler_count; i++) {
        const weir_straggler_row *row = &r.result->stragglers[i];
        waited_ns += row->waited_for_ns;
        assert_int_equal(row->origin_rank, 5);
        assert_int_equal(row->reason, WEIR_REASON_SLOW_DEVICE);
        assert_true(row->factor > 1.29 && row->factor < 1.31);
        if (strcmp(row->axis, "tensor") == 0) {
            is_blamed = true;
            assert_int_equal(row->rank, 5);
            assert_string_equal(row->node, "node 1");
            assert_int_equal(row->waited_for_ns, 3 * 3000000);
        }
    }
    assert_true(is_blamed);
    assert_int_equal(waited_ns, 7 * 3000000);
    close_run(&r);
}

/* A receiver that idles for its message: 1 ms of bubble, then 1 ms of transfer; the sender is done
 * 1 ms before the receiver, which computes for 1 ms: tail. */
static void a_bubble_is_told_from_a_straggler(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 2, 1, 1e9);
    uint32_t e = spmd_message(&r.f, 0, 1, 1e6, 0);
    uint32_t sender = spmd_program(&r.f), receiver = spmd_program(&r.f);
    r.f.program_of[1] = receiver;
    spmd_compute(&r.f, sender, 0, 1000000);
    spmd_exchange(&r.f, sender, 0, e);
    spmd_exchange(&r.f, receiver, 0, e);
    spmd_compute(&r.f, receiver, 0, 1000000);
    build(&r);
    check_laws(&r);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_DEPENDENCY_BUBBLE), 1000000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMMUNICATION_P2P), 2 * 1000000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_DEPENDENCY_TAIL), 1000000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMPUTE_GEMM), 2 * 1000000);
    /* the path: the sender's computing, the message, the receiver's computing */
    assert_int_equal(r.result->critical_path.causes.ns[WEIR_CAUSE_COMPUTE_GEMM], 2000000);
    assert_int_equal(r.result->critical_path.causes.ns[WEIR_CAUSE_COMMUNICATION_P2P], 1000000);
    assert_int_equal(r.result->critical_path.slack_ns, 1000000);
    close_run(&r);
}

/* 3 ms of transfer on stream 1 beside 2 ms of computing: 1 ms is left to see, and it is the last
 * of it, bandwidth. */
static void what_computing_hides_costs_nothing(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 2, 1, 1e9);
    uint32_t e = spmd_all_reduce(&r.f, "data", 2, 1, 2.5e6, 500e-6);
    uint32_t p = spmd_program(&r.f);
    spmd_exchange(&r.f, p, 1, e);
    spmd_compute(&r.f, p, 0, 2000000);
    spmd_after(&r.f, spmd_compute(&r.f, p, 0, 1000000), 0);
    build(&r);
    check_laws(&r);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 2 * 1000000);
    assert_int_equal(part_ns(&r, WEIR_PART_BANDWIDTH), 2 * 1000000);
    assert_int_equal(part_ns(&r, WEIR_PART_LATENCY), 0);
    assert_int_equal(r.result->total.hidden.communication_ns, 2 * 2000000);
    close_run(&r);
}

static void waiting_for_circuits_is_a_part(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 2, 1, 1e9);
    uint32_t a = spmd_all_reduce(&r.f, "data", 2, 1, 1e6, 1e-6);
    uint32_t b = spmd_all_reduce(&r.f, "tensor", 2, 1, 1e6, 1e-6);
    r.f.exchanges[a].circuits = 1;
    r.f.exchanges[b].circuits = 2;
    uint32_t p = spmd_program(&r.f);
    spmd_exchange(&r.f, p, 0, a);
    spmd_compute(&r.f, p, 0, 8000000);
    spmd_exchange(&r.f, p, 0, b);
    r.f.spmd.circuit_s = 10e-3;
    build(&r);
    check_laws(&r);
    assert_int_equal(part_ns(&r, WEIR_PART_CIRCUIT), 2 * 2000000);
    assert_int_equal(part_ns(&r, WEIR_PART_LATENCY), 2 * 2000);
    assert_int_equal(part_ns(&r, WEIR_PART_BANDWIDTH), 2 * 2000000);
    close_run(&r);
}

/* The transfer is cut off at 1 ms of 2, the run ends with 2 and 3 at 5 ms: 5 ms of failure on each
 * of 0 and 1, of which nothing is communication. */
static void a_stall_is_a_failure(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 4, 1, 1e9);
    uint32_t cut = spmd_message(&r.f, 0, 1, 2e6, 0), other = spmd_message(&r.f, 2, 3, 5e6, 0);
    uint32_t p = spmd_program(&r.f);
    spmd_exchange(&r.f, p, 0, cut);
    spmd_exchange(&r.f, p, 0, other);
    const weir_link_change change = {down_of(1), 1e-3, 0};
    const weir_link_changes all = {&change, 1};
    r.f.spmd.changes = &all;
    build(&r);
    check_laws(&r);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_DEPENDENCY_FAILURE), 2 * 5000000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMMUNICATION_P2P), 2 * 5000000);
    close_run(&r);
}

/* Two periods: their markers cut the ledger where the second begins on each device. */
static void periods_are_steps(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 2, 1, 1e9);
    uint32_t e = spmd_all_reduce(&r.f, "data", 2, 1, 1e6, 0);
    uint32_t p = spmd_program(&r.f);
    for (uint32_t step = 0; step < 2; step++) {
        spmd_compute(&r.f, p, 0, 1000000 * (step + 1))->step = step;
        spmd_exchange(&r.f, p, 0, e)->step = step;
    }
    build(&r);
    check_laws(&r);
    assert_int_equal(r.result->step_count, 2);
    assert_int_equal(r.result->steps[0].account.wall_ns, 2 * 2000000);
    assert_int_equal(r.result->steps[1].account.wall_ns, 2 * 3000000);
    assert_int_equal(r.result->steps[1].account.causes.ns[WEIR_CAUSE_COMPUTE_GEMM], 2 * 2000000);
    close_run(&r);
}

/* Four periods of 1 ms of computing and 1 ms of all-reduce; in the third one the link is at half
 * its rate. What the calm run takes is planned, the rest comes once in four: erratic. The slow
 * device of the second case is slow in every period: steady. */
static void what_disturbs_is_not_planned(void **state)
{
    (void)state;
    for (int slow_device = 0; slow_device < 2; slow_device++) {
        ledger_of_run r = {0};
        spmd_open(&r.f, 2, 1, 1e9);
        uint32_t e = spmd_all_reduce(&r.f, "data", 2, 1, 1e6, 0);
        uint32_t p = spmd_program(&r.f);
        for (uint32_t step = 0; step < 4; step++) {
            spmd_compute(&r.f, p, 0, 1000000)->step = step;
            spmd_exchange(&r.f, p, 0, e)->step = step;
        }
        const weir_slow_device slow = {0, 1.5};
        const weir_link_change change[] = {{up_of(0), 4.5e-3, 0.5e9}, {up_of(0), 7.5e-3, 1e9}};
        const weir_link_changes changes = {change, 2};
        r.f.spmd.slow = &slow;
        r.f.spmd.slow_count = slow_device ? 1 : 0;
        r.f.spmd.changes = slow_device ? NULL : &changes;
        build(&r);
        check_laws(&r);
        const weir_control *control = &r.result->control;
        const int all_reduce = WEIR_CAUSE_COMMUNICATION_ALL_REDUCE;
        assert_int_equal(control->planned.ns[WEIR_CAUSE_COMPUTE_GEMM], 2 * 4 * 1000000);
        assert_int_equal(control->planned.ns[all_reduce], 2 * 4 * 1000000);
        assert_int_equal(control->erratic.ns[all_reduce], slow_device ? 0 : 2 * 1000000);
        assert_int_equal(control->steady.ns[WEIR_CAUSE_COMPUTE_GEMM], slow_device ? 4 * 500000 : 0);
        assert_int_equal(control->steady.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER],
                         slow_device ? 4 * 500000 : 0);
        close_run(&r);
    }
}

/* --- laws on random runs --- */

/* Circuits on several streams may be needed in an order that no position can follow: such a run is
 * refused (engine_test), and no case for a ledger. */
static bool is_playable(spmd_fixture *f)
{
    weir_spmd_run run = {0};
    weir_err err = {0};
    weir_code code = weir_spmd_play(&f->spmd, &run, &err);
    weir_spmd_run_clear(&run);
    return code == WEIR_OK;
}

static void the_laws_hold_on_random_runs(void **state)
{
    (void)state;
    uint32_t played = 0, stalled = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        ledger_of_run r = {0};
        spmd_random(&r.f, seed, 3);
        weir_slow_device slow = {(uint32_t)(seed % r.f.spmd.devices), 1.5};
        r.f.spmd.slow = &slow;
        r.f.spmd.slow_count = seed % 3 == 0;
        r.f.spmd.jitter = seed % 5 == 0 ? 0.1 : 0;
        r.f.spmd.seed = seed;
        uint64_t draws = seed;
        const weir_link_change change = {pick(&draws, 2 * r.f.spmd.devices), draw(&draws) * 1e-3,
                                         0};
        const weir_link_changes changes = {&change, 1};
        r.f.spmd.changes = seed % 4 == 0 ? &changes : NULL; /* stalls, mostly */
        if (is_playable(&r.f)) {
            build(&r);
            if (r.f.run.end_ns > 0 && r.f.run.meeting_count > 0) {
                check_laws(&r);
                stalled += cause_ns(&r, WEIR_CAUSE_DEPENDENCY_FAILURE) > 0;
                played++;
            }
        }
        close_run(&r);
    }
    print_message("%u runs, %u of them stalled\n", played, stalled);
    assert_true(played > 250 && stalled > 50);
}

/* Folded and unfolded, the ledger is the same, to the rounding of ends. */
static void the_ledger_does_not_see_folding(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        ledger_of_run folded = {0}, all = {0};
        spmd_random(&folded.f, seed, 3);
        spmd_random(&all.f, seed, 3);
        all.f.spmd.unfolded = true;
        if (is_playable(&folded.f)) {
            build(&folded);
            build(&all);
            int64_t tolerance_ns = (int64_t)folded.f.programs[0].count * 2 * folded.f.spmd.devices;
            for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
                int64_t apart_ns =
                    folded.result->total.causes.ns[c] - all.result->total.causes.ns[c];
                if (llabs(apart_ns) > tolerance_ns) {
                    fail_msg("seed %u: %s is %lld ns apart", (unsigned)seed,
                             weir_cause_name((weir_cause)c), (long long)apart_ns);
                }
            }
        }
        close_run(&folded);
        close_run(&all);
    }
}

/* 16 devices, 8 pairs, twice: one pair is played, all are counted. */
static void what_is_played_once_counts_for_all(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 16, 4, 1e9);
    uint32_t e = spmd_all_reduce(&r.f, "data", 2, 1, 1e6, 0);
    uint32_t p = spmd_program(&r.f);
    spmd_exchange(&r.f, p, 0, e);
    spmd_exchange(&r.f, p, 0, e);
    build(&r);
    check_laws(&r);
    assert_int_equal(r.result->device_count, 1);
    assert_int_equal(r.result->devices[0].multiplicity, 16);
    assert_int_equal(r.result->window.nodes, 4);
    assert_int_equal(r.result->window.ranks, 16);
    const weir_collective_row *row = &r.result->collectives[0];
    assert_int_equal(row->instances, 16);
    assert_int_equal(row->bytes, 16 * 1000000);
    assert_int_equal(row->transfer_ns, 32 * 1000000);
    close_run(&r);
}

/* An infinite network: what is left of communication is latency. */
static void an_infinite_network_leaves_latency(void **state)
{
    (void)state;
    ledger_of_run r = {0};
    spmd_open(&r.f, 8, 4, INFINITY);
    uint32_t e = spmd_all_reduce(&r.f, "data", 8, 1, 1e9, 5e-6);
    uint32_t p = spmd_program(&r.f);
    for (uint32_t k = 0; k < 5; k++) {
        spmd_compute(&r.f, p, 0, 1000000);
        spmd_exchange(&r.f, p, 0, e);
    }
    build(&r);
    check_laws(&r);
    assert_int_equal(part_ns(&r, WEIR_PART_LATENCY), 8 * 5 * 5000);
    assert_int_equal(part_ns(&r, WEIR_PART_BANDWIDTH), 0);
    assert_int_equal(part_ns(&r, WEIR_PART_CONTENTION), 0);
    close_run(&r);
}

static void the_same_run_gives_the_same_bytes(void **state)
{
    (void)state;
    weir_text texts[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++) {
        ledger_of_run r = {0};
        spmd_random(&r.f, 42, 3);
        r.f.spmd.jitter = 0.05;
        build(&r);
        SPMD_OK(&r.f, weir_result_json(&texts[k], r.result, &r.f.err));
        close_run(&r);
    }
    assert_int_equal(texts[0].n, texts[1].n);
    assert_memory_equal(texts[0].p, texts[1].p, texts[0].n);
    assert_non_null(strstr(texts[0].p, "\"part\": \""));
    weir_text_clear(&texts[0]);
    weir_text_clear(&texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_computing_and_transfer_of_all_devices),
        cmocka_unit_test(blames_the_slow_device),
        cmocka_unit_test(a_bubble_is_told_from_a_straggler),
        cmocka_unit_test(what_computing_hides_costs_nothing),
        cmocka_unit_test(waiting_for_circuits_is_a_part),
        cmocka_unit_test(a_stall_is_a_failure),
        cmocka_unit_test(periods_are_steps),
        cmocka_unit_test(what_disturbs_is_not_planned),
        cmocka_unit_test(the_laws_hold_on_random_runs),
        cmocka_unit_test(the_ledger_does_not_see_folding),
        cmocka_unit_test(what_is_played_once_counts_for_all),
        cmocka_unit_test(an_infinite_network_leaves_latency),
        cmocka_unit_test(the_same_run_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
