/* train_queue_test.c: what a device waits for its host, against sums by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "train/train_queue.h"

#include <cmocka.h>

static const double launch_s = 10e-6;

static double idle(const weir_queue_item *items, uint32_t count, double read_s)
{
    return weir_queue_idle_s(items, count, launch_s, read_s);
}

static void expect(double found_s, double expected_s)
{
    assert_true(fabs(found_s - expected_s) < 1e-12);
}

static void a_host_that_launches_faster_than_the_device_runs_costs_nothing(void **state)
{
    (void)state;
    const weir_queue_item items[] = {{5, 100e-6, false}, {5, 100e-6, false}};
    expect(idle(items, 2, 0), 0);
}

static void a_slow_host_sets_the_pace(void **state)
{
    (void)state;
    /* 30 launches of 10 us beside 100 us of work */
    const weir_queue_item items[] = {{10, 40e-6, false}, {20, 60e-6, false}};
    expect(idle(items, 2, 0), 300e-6 - 100e-6);
}

static void long_kernels_later_make_up_for_short_ones_without_a_read(void **state)
{
    (void)state;
    /* 20 launches (200 us) beside 50 us, then 1 beside 400 us: the lead of one round serves the
     * next */
    const weir_queue_item items[] = {{20, 50e-6, false}, {1, 400e-6, false}};
    expect(idle(items, 2, 0), 0);
}

static void a_read_takes_the_lead_away(void **state)
{
    (void)state;
    /* The host begins again when the device is done: of 200 us of launches, 20 x 10, the device
     * works through all but its last kernel's 50 / 20 us meanwhile; the one behind is launched by
     * then + 10 us. */
    const weir_queue_item items[] = {{20, 50e-6, true}, {1, 400e-6, false}};
    double busy_s = 450e-6, round_s = 5e-6 + 20 * 10e-6 + 10e-6 + 400e-6;
    expect(idle(items, 2, 5e-6), round_s - busy_s);
}

static void only_the_first_launch_is_waited_for_where_kernels_are_long(void **state)
{
    (void)state;
    const weir_queue_item items[] = {{20, 4e-3, true}};
    expect(idle(items, 1, 0), 10e-6);
}

static void kernels_of_a_graph_are_launched_with_another_one(void **state)
{
    (void)state;
    const weir_queue_item items[] = {{1, 20e-6, true}, {0, 30e-6, false}};
    expect(idle(items, 2, 0), 10e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_launches_faster_than_the_device_runs_costs_nothing),
        cmocka_unit_test(a_slow_host_sets_the_pace),
        cmocka_unit_test(long_kernels_later_make_up_for_short_ones_without_a_read),
        cmocka_unit_test(a_read_takes_the_lead_away),
        cmocka_unit_test(only_the_first_launch_is_waited_for_where_kernels_are_long),
        cmocka_unit_test(kernels_of_a_graph_are_launched_with_another_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
