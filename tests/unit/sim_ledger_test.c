/* The ledger of simulated runs, against hand-calculated waits. */
#include "spmd_fixture.h"

#include "result/json.h"
#include "study/sim_ledger.h"

typedef struct {
    spmd_fixture f;
    weir_result *result;
    weir_lines lines;
} ledger_run;

static void build(ledger_run *r)
{
    spmd_play(&r->f);
    weir_result_free(r->result);
    weir_lines_clear(&r->lines);
    r->result = weir_result_new();
    assert_non_null(r->result);
    r->f.err = (weir_err){0};
    const weir_ledger_options options = {.segments = true, .threads = 1};
    SPMD_OK(&r->f, weir_sim_ledger_build(&r->f.spmd, &r->f.run, &options, r->result, &r->lines,
                                         &r->f.err));
}

static void close_run(ledger_run *r)
{
    weir_result_free(r->result);
    weir_lines_clear(&r->lines);
    spmd_close(&r->f);
}

static int64_t cause_ns(const ledger_run *r, weir_cause cause)
{
    return r->result->total.causes.ns[cause];
}

static int64_t part_ns(const ledger_run *r, weir_communication_kind_part part)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->result->communication_share_count; i++) {
        const weir_communication_share *share = &r->result->communication_shares[i];
        sum += share->part == part ? share->ns : 0;
    }
    return sum;
}

/* 4 devices: 1 ms of computing, then 10 us + 6 ms of all-reduce. */
static void counts_computing_and_transfer_of_all_devices(void **state)
{
    (void)state;
    ledger_run r = {0};
    spmd_open(&r.f, 4, 2, 1e9);
    uint32_t e = spmd_all_reduce(&r.f, "data", 4, 1, 4e6, 10e-6);
    uint32_t p = spmd_program(&r.f);
    spmd_compute(&r.f, p, 0, 1000000);
    spmd_exchange(&r.f, p, 0, e);
    build(&r);
    assert_int_equal(r.result->total.wall_ns, 4 * 7010000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMPUTE_GEMM), 4 * 1000000);
    assert_int_equal(cause_ns(&r, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 4 * 6010000);
    assert_int_equal(part_ns(&r, WEIR_PART_LATENCY), 4 * 10000);
    assert_int_equal(part_ns(&r, WEIR_PART_BANDWIDTH), 4 * 6000000);
    assert_int_equal(part_ns(&r, WEIR_PART_CONTENTION), 0);
    assert_int_equal(r.result->window.devices, 4);
    assert_int_equal(r.result->window.nodes, 2);
    assert_int_equal(r.result->window.steps, 1);
    assert_string_equal(r.result->communication_shares[0].tier, "between_nodes");
    assert_int_equal(r.result->control.planned.ns[WEIR_CAUSE_COMMUNICATION_ALL_REDUCE],
                     4 * 6010000);
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_computing_and_transfer_of_all_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
