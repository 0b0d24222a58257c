/* Waiting, transfer and what cannot be told of the members of collectives and messages (2.1). */
#include "ledger_fixture.h"

/*   us            0    10   20   30   40   50
 *   rank 0        all-reduce ................|    waits 0 .. 30, transfers 30 .. 50
 *   rank 1        MATH...........all-reduce..|    arrives last, at 30 */
static void splits_a_collective_at_the_last_arrival(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    weir_group_id both = add_group(&f, "dp", (const int32_t[]){0, 1}, 2);
    weir_comm comm = collective(both, 1, 1000);
    add_comm(&f, on(0, 7), &comm, us(0, 50), 0);
    add_kernel(&f, on(1, 1), MATH, us(0, 30), 0);
    add_comm(&f, on(1, 7), &comm, us(30, 50), 0);
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 30);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 20);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 0);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 20);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_COMPUTE_CONVOLUTION), 30);
    /* 4,000 bytes in 20 us; a ring of 2 moves each byte 2 (2 - 1) / 2 = 1 time. */
    assert_int_equal(f.result->collective_count, 1);
    const weir_collective_row *row = &f.result->collectives[0];
    assert_string_equal(row->axis, "data");
    assert_string_equal(row->tier, "in_node");
    assert_int_equal(row->bytes, 4000);
    assert_int_equal((int64_t)row->algorithm_bandwidth_bytes_per_s, 200000000);
    assert_int_equal((int64_t)row->bus_bandwidth_bytes_per_s, 200000000);
    assert_int_equal(whole_us(row->exposed_ns), 30 + 20 + 20);
    ledger_fixture_close(&f);
}

/* Either end of a message may be the one that is waited for.
 *
 *   us            0    10   20   30   40   50   60
 *   rank 0        send ......|         recv........|    waits 0 .. 10 and 40 .. 50
 *   rank 1             recv..|              send...| */
static void calls_waiting_for_the_other_end_of_a_message_a_bubble(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    weir_comm there = message(WEIR_COMM_SEND, 0, 1), taken = message(WEIR_COMM_RECV, 0, 1);
    weir_comm back = message(WEIR_COMM_SEND, 1, 0), got = message(WEIR_COMM_RECV, 1, 0);
    add_comm(&f, on(0, 7), &there, us(0, 20), 0);
    add_comm(&f, on(1, 7), &taken, us(10, 20), 0);
    add_comm(&f, on(0, 8), &got, us(40, 60), 0);
    add_comm(&f, on(1, 8), &back, us(50, 60), 0);
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_BUBBLE), 20);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_P2P), 20);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_DEPENDENCY_BUBBLE), 0);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_COMMUNICATION_P2P), 20);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 0);
    ledger_fixture_close(&f);
}

/* Rank 2 is not in the set. Of three like instances the shortest takes 10 us after the last arrival
 * that was seen: so much is transfer in each, the rest could be either.
 *
 *   us            0    10   20   30  |  100  110  120 130 140 | 200   210
 *   rank 0        ar ............|      ar .................|   ar ....|
 *   rank 1             ar .......|           ar ............|   ar ....|
 *   rank 0 waits  0..10                 100..110                -
 *   transfer           10..20                110..120           200..210
 *   unsplit                 20..30                120..140      -         */
static void leaves_unsplit_what_an_absent_member_may_have_caused(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_rank(&f, 0, 3, false);
    add_rank(&f, 1, 3, false);
    weir_group_id all = add_group(&f, "default_pg", (const int32_t[]){0, 1, 2}, 3);
    static const int64_t rows[3][3] = {{0, 10, 30}, {100, 110, 140}, {200, 200, 210}};
    for (int64_t i = 0; i < 3; i++) {
        weir_comm comm = collective(all, i + 1, 1000);
        add_comm(&f, on(0, 7), &comm, us(rows[i][0], rows[i][2]), 0);
        add_comm(&f, on(1, 7), &comm, us(rows[i][1], rows[i][2]), 0);
    }
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 20);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 30);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_UNSPLIT), 30);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 0);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_COMMUNICATION_UNSPLIT), 30);
    /* Somebody is waited for, but nobody who is here; and no bandwidth is claimed. */
    for (uint32_t i = 0; i < f.result->straggler_count; i++) {
        assert_int_equal(f.result->stragglers[i].rank, -1);
        assert_int_equal(f.result->stragglers[i].reason, WEIR_REASON_ABSENT);
    }
    assert_int_equal(f.result->straggler_count, 1);
    assert_false(f.result->collectives[0].complete);
    assert_true(f.result->collectives[0].bus_bandwidth_bytes_per_s <= 0);
    ledger_fixture_close(&f);
}

/* A lone rank waits for nobody who could be seen: 30, 50 and 10 us are 3 times 10 us of transfer
 * and 60 us that cannot be told. */
static void blames_nobody_in_a_lone_rank(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_rank(&f, 0, 2, false);
    weir_group_id all = add_group(&f, "default_pg", (const int32_t[]){0, 1}, 2);
    static const int64_t rows[3][2] = {{0, 30}, {100, 150}, {200, 210}};
    for (int64_t i = 0; i < 3; i++) {
        weir_comm comm = collective(all, i + 1, 1000);
        add_comm(&f, on(0, 7), &comm, us(rows[i][0], rows[i][1]), 0);
    }
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 0);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 30);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_UNSPLIT), 60);
    assert_int_equal(f.result->straggler_count, 0);
    ledger_fixture_close(&f);
}

/* Like are kind, group and bytes: the short one has other bytes and tells nothing about the long
 * ones, of which the shorter (40 us) sets the transfer. */
static void compares_only_with_instances_of_the_same_bytes(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_rank(&f, 0, 2, false);
    weir_group_id all = add_group(&f, "default_pg", (const int32_t[]){0, 1}, 2);
    weir_comm small = collective(all, 1, 10), large = collective(all, 2, 1000);
    add_comm(&f, on(0, 7), &small, us(0, 10), 0);
    add_comm(&f, on(0, 7), &large, us(100, 140), 0);
    large.seq = 3;
    add_comm(&f, on(0, 7), &large, us(200, 260), 0);
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_UNSPLIT), 20);
    ledger_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_a_collective_at_the_last_arrival),
        cmocka_unit_test(calls_waiting_for_the_other_end_of_a_message_a_bubble),
        cmocka_unit_test(leaves_unsplit_what_an_absent_member_may_have_caused),
        cmocka_unit_test(blames_nobody_in_a_lone_rank),
        cmocka_unit_test(compares_only_with_instances_of_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
