/* Planned, steady, erratic (DESIGN 2.6), and how many places hold half of the waiting. */
#include "ledger_fixture.h"

#include <stdio.h>

/* One step of rank 0 in a lane without launches: its markers are its bounds. Steps are 100 us; the
 * device computes up to the last `idle_us` of each. */
static void add_idle_step(ledger_fixture *f, int64_t step, int64_t idle_us)
{
    char name[48];
    snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)step);
    add_step(f, 0, name, us(100 * step, 100 * (step + 1)));
    add_kernel(f, on(0, 7), MATH, us(100 * step, 100 * (step + 1) - idle_us), 0);
}

static int64_t control_us(const weir_causes *part, weir_cause cause)
{
    return whole_us(part->ns[cause]);
}

/* Idle time has no known launch here, so its reason is unknown; one more kernel behind the last
 * step keeps that step's idle time from being a tail. */
static void assert_control(const int64_t *idle_us, uint32_t n, int64_t steady_us,
                           int64_t erratic_us, int64_t unknown_us)
{
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    for (uint32_t i = 0; i < n; i++) {
        add_idle_step(&f, (int64_t)i, idle_us[i]);
    }
    add_kernel(&f, on(0, 7), MATH, us(100 * (int64_t)n, 100 * (int64_t)n + 1), 0);
    make_ledger(&f);
    const weir_control *c = &f.result->control;
    const weir_cause idle = WEIR_CAUSE_DEPENDENCY_UNKNOWN;
    assert_int_equal(f.result->window.steps, n);
    assert_int_equal(control_us(&c->planned, idle), 0);
    assert_int_equal(control_us(&c->steady, idle), steady_us);
    assert_int_equal(control_us(&c->erratic, idle), erratic_us);
    assert_int_equal(control_us(&c->unknown, idle), unknown_us);
    ledger_fixture_close(&f);
}

static void one_step_tells_nothing(void **state)
{
    (void)state;
    assert_control((const int64_t[]){30}, 1, 0, 0, 30);
}

/* Under ten steps the minimum is steady: 3 x 10 of 10 + 30 + 20. */
static void takes_the_minimum_of_few_steps(void **state)
{
    (void)state;
    assert_control((const int64_t[]){10, 30, 20}, 3, 30, 30, 0);
}

/* A step without the cause counts as 0. */
static void counts_an_absent_cause_as_nothing(void **state)
{
    (void)state;
    assert_control((const int64_t[]){10, 0, 20}, 3, 0, 30, 0);
}

/* Nearest rank of 12 values: the ceil(1.2) = 2nd smallest, 6. Of the steps 5, 6 and ten of 16:
 * steady 5 + 11 x 6 = 71, erratic 10 x 10 = 100. */
static void takes_the_tenth_percentile_of_twelve_steps(void **state)
{
    (void)state;
    static const int64_t idle[] = {16, 16, 6, 16, 16, 16, 16, 5, 16, 16, 16, 16};
    assert_control(idle, 12, 71, 100, 0);
}

/* Ten values: ceil(1.0) = the smallest. */
static void takes_the_smallest_of_ten_steps(void **state)
{
    (void)state;
    static const int64_t idle[] = {16, 16, 6, 16, 16, 16, 16, 5, 16, 16};
    assert_control(idle, 10, 50, 11 + 11 + 11 + 11 + 11 + 11 + 11 + 11 + 1, 0);
}

/* Exposed transfers of like size take 20, 20 and 50 us (alone in the group): the median bandwidth
 * plans 20 of each, the least rest (0) is steady, 30 are erratic.
 *
 *   us     0      80  100     180  200     250   300
 *   s 7    MATH...|   MATH....|    MATH....|
 *   s 8           ar |        ar |         ar ...| */
static void plans_transfers_at_the_median_of_their_like(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    weir_group_id alone = add_group(&f, "alone", (const int32_t[]){0}, 1);
    static const int64_t transfer[] = {20, 20, 50};
    for (int64_t i = 0; i < 3; i++) {
        weir_comm comm = collective(alone, i + 1, 1000);
        add_idle_step(&f, i, transfer[i]);
        add_comm(&f, on(0, 8), &comm, us(100 * (i + 1) - transfer[i], 100 * (i + 1)), 0);
    }
    make_ledger(&f);
    const weir_control *c = &f.result->control;
    const weir_cause cause = WEIR_CAUSE_COMMUNICATION_ALL_REDUCE;
    assert_int_equal(device_us(&f, 0, cause), 90);
    assert_int_equal(control_us(&c->planned, cause), 60);
    assert_int_equal(control_us(&c->steady, cause), 0);
    assert_int_equal(control_us(&c->erratic, cause), 30);
    ledger_fixture_close(&f);
}

/* Two ranks take turns in being idle, 40 us each: pooled it would look steady, on each rank it is
 * erratic.
 *
 *   step       0        1        2        3
 *   rank 0     40       0        40       0
 *   rank 1     0        40       0        40 */
static void does_not_pool_ranks(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    for (int64_t s = 0; s < 5; s++) {
        for (weir_rank_id r = 0; r < 2; r++) {
            char name[48];
            snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)s);
            int64_t idle = s < 4 && s % 2 == r ? 40 : 0;
            if (s < 4) {
                add_step(&f, r, name, us(100 * s, 100 * (s + 1)));
            }
            add_kernel(&f, on(r, 7), MATH, us(100 * s, 100 * (s + 1) - idle), 0);
        }
    }
    make_ledger(&f);
    const weir_control *c = &f.result->control;
    assert_int_equal(control_us(&c->steady, WEIR_CAUSE_DEPENDENCY_UNKNOWN), 0);
    assert_int_equal(control_us(&c->erratic, WEIR_CAUSE_DEPENDENCY_UNKNOWN), 160);
    /* 80 us of waiting on each of two ranks: the first place holds half. */
    assert_int_equal(c->places_for_half, 1);
    ledger_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_tells_nothing),
        cmocka_unit_test(takes_the_minimum_of_few_steps),
        cmocka_unit_test(counts_an_absent_cause_as_nothing),
        cmocka_unit_test(takes_the_tenth_percentile_of_twelve_steps),
        cmocka_unit_test(takes_the_smallest_of_ten_steps),
        cmocka_unit_test(plans_transfers_at_the_median_of_their_like),
        cmocka_unit_test(does_not_pool_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
