/* Who is waited for, since when the lateness goes back, and why (DESIGN 2.5). */
#include "ledger_fixture.h"

typedef struct {
    ledger_fixture f;
    weir_group_id all;
} crowd;

/* Ranks 0 .. 2, in one group, whose first collective all reach at 10 and leave at 20. */
static void open_crowd(crowd *c)
{
    ledger_fixture_open(&c->f);
    add_ranks(&c->f, 3);
    c->all = add_group(&c->f, "dp", (const int32_t[]){0, 1, 2}, 3);
    for (weir_rank_id r = 0; r < 3; r++) {
        weir_comm comm = collective(c->all, 1, 1000);
        add_comm(&c->f, on(r, 7), &comm, us(10, 20), 0);
    }
}

/* Ranks 0 and 1 work as usual and reach the second collective at 60; rank 2 does at 160. */
static void close_crowd(crowd *c, const int64_t arrival_us[3], int64_t end_us)
{
    for (weir_rank_id r = 0; r < 3; r++) {
        weir_comm comm = collective(c->all, 2, 1000);
        add_comm(&c->f, on(r, 7), &comm, us(arrival_us[r], end_us), 0);
    }
    make_ledger(&c->f);
}

static const int64_t usual[3] = {60, 60, 160};

static const weir_straggler_row *only_row(const ledger_fixture *f)
{
    assert_int_equal(f->result->straggler_count, 1);
    return &f->result->stragglers[0];
}

/* Rank 2 waits for ranks 0 and 1 to be waited for: 100 us each. */
static void assert_rank_2(const crowd *c, weir_reason reason)
{
    const weir_straggler_row *row = only_row(&c->f);
    assert_int_equal(row->rank, 2);
    assert_int_equal(row->origin_rank, 2);
    assert_int_equal(whole_us(row->waited_for_ns), 200);
    assert_string_equal(row->axis, "data");
    assert_int_equal(row->instances, 1);
    if (row->reason != reason) {
        fail_msg("the reason is %s, expected %s", weir_reason_name(row->reason),
                 weir_reason_name(reason));
    }
}

/*   us       10   20             60       100            150 160 170
 *   rank 0   ar1  MATH...........ar2 .........................
 *   rank 1   ar1  MATH...........ar2 .........................
 *   rank 2   ar1  MATH..60  idle: DataLoader 60..150, launch  ar2 */
static void finds_a_late_host_and_what_it_did(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c);
    for (weir_rank_id r = 0; r < 3; r++) {
        add_kernel(&c.f, on(r, 1), MATH, us(20, 60), add_launch(&c.f, r, 5));
    }
    add_host(&c.f, on(2, 1), WEIR_SPAN_ANNOTATION, "enumerate(DataLoader)#X.__next__", us(60, 150));
    add_kernel(&c.f, on(2, 1), MEMORY, us(151, 160), add_launch(&c.f, 2, 150));
    close_crowd(&c, usual, 170);
    assert_rank_2(&c, WEIR_REASON_LATE_HOST);
    assert_true(only_row(&c.f)->has_host_cause);
    assert_int_equal(only_row(&c.f)->host_cause, WEIR_CAUSE_DEPENDENCY_DATA);
    ledger_fixture_close(&c.f);
}

/* The same kernel, 140 us instead of 40: a factor of 3.5. */
static void finds_a_slow_device(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c);
    for (weir_rank_id r = 0; r < 3; r++) {
        add_kernel(&c.f, on(r, 1), MATH, us(20, usual[r]), 0);
    }
    close_crowd(&c, usual, 170);
    assert_rank_2(&c, WEIR_REASON_SLOW_DEVICE);
    assert_true(only_row(&c.f)->factor > 3.499 && only_row(&c.f)->factor < 3.501);
    ledger_fixture_close(&c.f);
}

/* Two kernels of 20 us on ranks 0 and 1, seven on rank 2: 3.5 times the work. */
static void finds_more_kernels(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c);
    for (weir_rank_id r = 0; r < 3; r++) {
        for (int64_t at = 20; at < usual[r]; at += 20) {
            add_kernel(&c.f, on(r, 1), MATH, us(at, at + 20), 0);
        }
    }
    close_crowd(&c, usual, 170);
    assert_rank_2(&c, WEIR_REASON_MORE_WORK);
    assert_true(only_row(&c.f)->factor > 3.499 && only_row(&c.f)->factor < 3.501);
    ledger_fixture_close(&c.f);
}

static void add_grid_kernel(ledger_fixture *f, weir_rank_id r, uint32_t grid, stretch when)
{
    weir_shape shape = {.grid = {grid, 1, 1}, .block = {128, 1, 1}};
    weir_new_span span = {.name = name_id(f, MATH), .kind = WEIR_SPAN_KERNEL};
    LEDGER_OK(weir_timeline_add_shape(f->t, &shape, &span.detail, &f->err));
    add_span(f, WEIR_LANE_STREAM, on(r, 1), &span, when);
}

/* One kernel each, with a larger grid on rank 2. */
static void finds_larger_kernels(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c);
    for (weir_rank_id r = 0; r < 3; r++) {
        add_grid_kernel(&c.f, r, r == 2 ? 70 : 20, us(20, usual[r]));
    }
    close_crowd(&c, usual, 170);
    assert_rank_2(&c, WEIR_REASON_MORE_WORK);
    ledger_fixture_close(&c.f);
}

/* Before the second collective each rank transfers with itself, exposed: 40 us, and 140 on rank 2.
 */
static void finds_a_slow_link(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c);
    for (weir_rank_id r = 0; r < 3; r++) {
        const int32_t self = (int32_t)r;
        static const char *const names[] = {"a", "b", "c"};
        weir_comm comm = collective(add_group(&c.f, names[r], &self, 1), 1, 500);
        add_comm(&c.f, on(r, 8), &comm, us(20, usual[r]), 0);
    }
    close_crowd(&c, usual, 170);
    assert_rank_2(&c, WEIR_REASON_SLOW_LINK);
    ledger_fixture_close(&c.f);
}

/* Rank 2 was idle and no launch is in the file: nothing tells why. */
static void does_not_guess_at_idle_time_without_launches(void **state)
{
    (void)state;
    crowd c;
    open_crowd(&c);
    for (weir_rank_id r = 0; r < 3; r++) {
        add_kernel(&c.f, on(r, 1), MATH, us(20, 60), 0);
    }
    close_crowd(&c, usual, 170);
    assert_rank_2(&c, WEIR_REASON_UNKNOWN);
    ledger_fixture_close(&c.f);
}

/* Rank 3 computes slowly; rank 2 waits for it in the group "tp" and is therefore late in "dp".
 *
 *   us       0    10       50       100  110        (tp: ranks 2 and 3; dp: ranks 0, 1 and 2)
 *   rank 0   MATH.|dp .......................|
 *   rank 1   MATH.|dp .......................|
 *   rank 2   MATH.|tp ..............100|dp ..|      waits 10 .. 90 for rank 3
 *   rank 3   MATH................90|tp |            90 .. 100
 *   waits    rank 0 and 1: 90 us each for rank 2; rank 2: 80 us for rank 3; origin: rank 3 */
static void follows_the_chain_to_who_did_not_wait(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 4);
    weir_group_id dp = add_group(&f, "dp", (const int32_t[]){0, 1, 2}, 3);
    weir_group_id tp = add_group(&f, "tp", (const int32_t[]){2, 3}, 2);
    weir_comm outer = collective(dp, 1, 1000), inner = collective(tp, 1, 1000);
    for (weir_rank_id r = 0; r < 3; r++) {
        add_kernel(&f, on(r, 1), MATH, us(0, 10), 0);
        add_comm(&f, on(r, 7), &outer, us(r == 2 ? 100 : 10, 110), 0);
    }
    add_comm(&f, on(2, 8), &inner, us(10, 100), 0);
    add_kernel(&f, on(3, 1), MATH, us(0, 90), 0);
    add_comm(&f, on(3, 8), &inner, us(90, 100), 0);
    make_ledger(&f);
    const weir_result *r = f.result;
    assert_int_equal(r->straggler_count, 2);
    assert_int_equal(r->stragglers[0].rank, 2);
    assert_string_equal(r->stragglers[0].axis, "data");
    assert_int_equal(whole_us(r->stragglers[0].waited_for_ns), 180);
    assert_int_equal(r->stragglers[1].rank, 3);
    assert_string_equal(r->stragglers[1].axis, "tensor");
    assert_int_equal(whole_us(r->stragglers[1].waited_for_ns), 80);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(r->stragglers[i].origin_rank, 3);
        assert_int_equal(r->stragglers[i].reason, WEIR_REASON_SLOW_DEVICE);
    }
    ledger_fixture_close(&f);
}

/* The other end of a message computes too long: a bubble, blamed on it.
 *
 *   us       0          40   50
 *   rank 0   recv............|       waits 0 .. 40
 *   rank 1   MATH......|send | */
static void blames_the_other_end_of_a_message(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    weir_comm sent = message(WEIR_COMM_SEND, 1, 0), got = message(WEIR_COMM_RECV, 1, 0);
    add_comm(&f, on(0, 7), &got, us(0, 50), 0);
    add_kernel(&f, on(1, 1), MATH, us(0, 40), 0);
    add_comm(&f, on(1, 7), &sent, us(40, 50), 0);
    make_ledger(&f);
    const weir_straggler_row *row = only_row(&f);
    assert_int_equal(row->rank, 1);
    assert_int_equal(row->origin_rank, 1);
    assert_string_equal(row->axis, "pipeline");
    assert_int_equal(whole_us(row->waited_for_ns), 40);
    ledger_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_late_host_and_what_it_did),
        cmocka_unit_test(finds_a_slow_device),
        cmocka_unit_test(finds_more_kernels),
        cmocka_unit_test(finds_larger_kernels),
        cmocka_unit_test(finds_a_slow_link),
        cmocka_unit_test(does_not_guess_at_idle_time_without_launches),
        cmocka_unit_test(follows_the_chain_to_who_did_not_wait),
        cmocka_unit_test(blames_the_other_end_of_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
