/* Which line of DESIGN 2.1 a moment of a device falls under, and what lies hidden beside it. */
#include "ledger_fixture.h"

/* One device; the collective's group has this rank alone, so all its members have arrived.
 *
 *   us        0    10   20   30   40   50   60   70   80
 *   stream 1  MATH.................|
 *   stream 2       MEMORY.....................|
 *   stream 3            all-reduce.......................|
 *   stream 4                 copy.............................|
 *   decides   MATH                 MEMORY     all-reduce copy
 *             0 ............... 40 .......60 ........ 70 .... 80 */
static void takes_the_first_line_that_matches(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    weir_group_id alone = add_group(&f, "alone", (const int32_t[]){0}, 1);
    weir_comm comm = collective(alone, 1, 1000);
    add_kernel(&f, on(0, 4), COPY, us(30, 80), 0);
    add_comm(&f, on(0, 3), &comm, us(20, 70), 0);
    add_kernel(&f, on(0, 2), MEMORY, us(10, 60), 0);
    add_kernel(&f, on(0, 1), MATH, us(0, 40), 0);
    make_ledger(&f);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMPUTE_CONVOLUTION), 40);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_CACHE_ACTIVATIONS), 20);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 10);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_CACHE_MEMCPY), 10);
    /* Hidden under lines 1 and 2: the all-reduce from 20 to 60, the copy from 30 to 60. */
    const weir_account *a = &f.result->devices[0].account;
    assert_int_equal(whole_us(a->wall_ns), 80);
    assert_int_equal(whole_us(a->hidden.communication_ns), 40);
    assert_int_equal(whole_us(a->hidden.arrival_wait_ns), 0);
    assert_int_equal(whole_us(a->hidden.copy_ns), 30);
    ledger_fixture_close(&f);
}

/*   us        0    10   20   30   40
 *   stream 1       wgrad.....|             later, although on the first stream
 *   stream 2  conv......|
 *   stream 3       memory .........|       line 2 decides only from 30 on
 *   decides   conv      wgrad memory
 *             0 ....... 20 .. 30 .. 40 */
static void lets_the_span_that_started_first_name_the_cause(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_kernel(&f, on(0, 1), MATH_TOO, us(10, 30), 0);
    add_kernel(&f, on(0, 2), MATH, us(0, 20), 0);
    add_kernel(&f, on(0, 3), MEMORY, us(10, 40), 0);
    make_ledger(&f);
    static const int64_t ends[] = {20, 30, 40};
    static const char *const names[] = {MATH, MATH_TOO, MEMORY};
    assert_int_equal(f.lines.first[1], 3);
    for (uint32_t i = 0; i < 3; i++) {
        const weir_line *line = &f.lines.lines[i];
        weir_str name = weir_timeline_name(f.t, weir_timeline_spans(f.t).name[line->span]);
        assert_int_equal(whole_us(line->end_ns), ends[i]);
        assert_true(weir_str_eq(name, weir_str_from(names[i])));
    }
    ledger_fixture_close(&f);
}

/* Both start at 0: the lower id is that of the lower stream. */
static void breaks_ties_by_the_lower_id(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_kernel(&f, on(0, 2), MATH_TOO, us(0, 30), 0);
    add_kernel(&f, on(0, 1), MATH, us(0, 20), 0);
    make_ledger(&f);
    weir_spans spans = weir_timeline_spans(f.t);
    assert_int_equal(f.lines.first[1], 2);
    assert_int_equal(spans.lane[f.lines.lines[0].span], 0);
    assert_int_equal(whole_us(f.lines.lines[0].end_ns), 20);
    assert_int_equal(spans.lane[f.lines.lines[1].span], 1);
    ledger_fixture_close(&f);
}

/* Waiting for a member and transferring at once: the transfer decides (line 3 before line 4), and
 * below computation only the transfer is counted as hidden while both are there.
 *
 *   us            0    10   20   30   40   50
 *   rank 0 s1     MATH.....................|        hides all of this
 *   rank 0 s2     group "ab" ..............|        rank 1 arrives at 40
 *   rank 0 s3          group "a" .....|             alone: transfer 10 .. 30
 *   rank 1                           group "ab" |   40 .. 50
 *   hidden        w    transfer  w    transfer */
static void tells_hidden_transfer_from_hidden_waiting(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    weir_group_id both = add_group(&f, "both", (const int32_t[]){0, 1}, 2);
    weir_group_id alone = add_group(&f, "alone", (const int32_t[]){0}, 1);
    weir_comm wide = collective(both, 1, 1000), narrow = collective(alone, 1, 1000);
    add_kernel(&f, on(0, 1), MATH, us(0, 50), 0);
    add_comm(&f, on(0, 2), &wide, us(0, 50), 0);
    add_comm(&f, on(0, 3), &narrow, us(10, 30), 0);
    add_comm(&f, on(1, 2), &wide, us(40, 50), 0);
    make_ledger(&f);
    const weir_device_row *row = &f.result->devices[0];
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMPUTE_CONVOLUTION), 50);
    assert_int_equal(whole_us(row->account.hidden.communication_ns), 30);
    assert_int_equal(whole_us(row->account.hidden.arrival_wait_ns), 20);
    /* The raw facts count both collectives, hidden or not. */
    assert_int_equal(row->collectives.instances, 2);
    assert_int_equal(whole_us(row->collectives.arrival_wait_ns), 40);
    assert_int_equal(whole_us(row->collectives.transfer_ns), 10 + 20);
    ledger_fixture_close(&f);
}

/* Unions, whatever overlaps:  MATH 0..20, MEMORY 10..30, all-reduce 25..60, copy 50..70,
 * MATH 90..100. busy 70 + 10, compute 30 + 10, communication 35, copy 20, both 25..30 = 5. */
static void adds_up_plain_unions(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    weir_group_id alone = add_group(&f, "alone", (const int32_t[]){0}, 1);
    weir_comm comm = collective(alone, 1, 1000);
    add_kernel(&f, on(0, 1), MATH, us(0, 20), 0);
    add_kernel(&f, on(0, 2), MEMORY, us(10, 30), 0);
    add_comm(&f, on(0, 3), &comm, us(25, 60), 0);
    add_kernel(&f, on(0, 4), COPY, us(50, 70), 0);
    add_kernel(&f, on(0, 1), MATH, us(90, 100), 0);
    make_ledger(&f);
    const weir_device_row *row = &f.result->devices[0];
    assert_int_equal(whole_us(row->intervals.span_ns), 100);
    assert_int_equal(whole_us(row->intervals.busy_ns), 80);
    assert_int_equal(whole_us(row->intervals.compute_ns), 40);
    assert_int_equal(whole_us(row->intervals.communication_ns), 35);
    assert_int_equal(whole_us(row->intervals.copy_ns), 20);
    assert_int_equal(whole_us(row->intervals.communication_under_compute_ns), 5);
    ledger_fixture_close(&f);
}

/* The same kernel: twice alone for 10 us, once beside the all-reduce for 16 us: a tax of 6 us.
 *
 *   us        0    10   20   30   40   50
 *   stream 1  MATH | MATH |   MATH......|
 *   stream 2                 all-reduce...| */
static void finds_the_overlap_tax(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    weir_group_id alone = add_group(&f, "alone", (const int32_t[]){0}, 1);
    weir_comm comm = collective(alone, 1, 1000);
    add_kernel(&f, on(0, 1), MATH, us(0, 10), 0);
    add_kernel(&f, on(0, 1), MATH, us(10, 20), 0);
    add_kernel(&f, on(0, 1), MATH, us(30, 46), 0);
    add_comm(&f, on(0, 2), &comm, us(25, 50), 0);
    make_ledger(&f);
    assert_int_equal(whole_us(f.result->efficiency.overlap_tax_ns), 6);
    ledger_fixture_close(&f);
}

/* The same, with two overlaps, of which the second (a tax of 10) lies behind the window. */
static void counts_the_overlap_tax_of_the_window(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    weir_group_id alone = add_group(&f, "alone", (const int32_t[]){0}, 1);
    add_kernel(&f, on(0, 1), MATH, us(0, 10), 0);
    static const int64_t begin[] = {30, 130}, end[] = {46, 150};
    for (int64_t i = 0; i < 2; i++) {
        weir_comm comm = collective(alone, i + 1, 1000);
        add_kernel(&f, on(0, 1), MATH, us(begin[i], end[i]), 0);
        add_comm(&f, on(0, 2), &comm, us(begin[i], end[i]), 0);
    }
    f.options.has_window = true;
    f.options.window_end_ns = 100000;
    make_ledger(&f);
    assert_int_equal(whole_us(f.result->efficiency.overlap_tax_ns), 6);
    ledger_fixture_close(&f);
}

static void knows_no_overlap_tax_without_overlap(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_kernel(&f, on(0, 1), MATH, us(0, 10), 0);
    make_ledger(&f);
    assert_true(f.result->efficiency.overlap_tax_ns < 0);
    ledger_fixture_close(&f);
}

/* Two devices of one process are two members and two rows.
 *
 *   us        0    10   20   30
 *   device 0  all-reduce.....|     waits 0 .. 20 for device 1
 *   device 1            all-r|     idle before */
static void counts_devices_and_not_ranks(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    weir_group_id pair = add_group(&f, "pair", (const int32_t[]){0, 1}, 2);
    weir_comm comm = collective(pair, 1, 1000);
    add_comm(&f, (place){0, 0, 7}, &comm, us(0, 30), 0);
    add_comm(&f, (place){0, 1, 7}, &comm, us(20, 30), 0);
    make_ledger(&f);
    assert_int_equal(f.result->device_count, 2);
    assert_int_equal(f.result->window.ranks, 1);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_DEPENDENCY_STRAGGLER), 20);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 10);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_DEPENDENCY_UNKNOWN), 20);
    assert_int_equal(device_us(&f, 1, WEIR_CAUSE_COMMUNICATION_ALL_REDUCE), 10);
    ledger_fixture_close(&f);
}

static void refuses_a_set_without_device_activity(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_launch(&f, 0, 5);
    assert_int_equal(make_ledger_code(&f), WEIR_ERR_INPUT);
    ledger_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_first_line_that_matches),
        cmocka_unit_test(lets_the_span_that_started_first_name_the_cause),
        cmocka_unit_test(breaks_ties_by_the_lower_id),
        cmocka_unit_test(tells_hidden_transfer_from_hidden_waiting),
        cmocka_unit_test(adds_up_plain_unions),
        cmocka_unit_test(finds_the_overlap_tax),
        cmocka_unit_test(counts_the_overlap_tax_of_the_window),
        cmocka_unit_test(knows_no_overlap_tax_without_overlap),
        cmocka_unit_test(counts_devices_and_not_ranks),
        cmocka_unit_test(refuses_a_set_without_device_activity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
