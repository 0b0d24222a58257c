/* goodput.h: limits and closed forms by hand, and a run that is played failure by failure. */
#include "train/goodput.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect(double found, double expected, double allowed_share)
{
    if (!(fabs(found - expected) <= allowed_share * fabs(expected))) {
        fail_msg("found %.9g, expected %.9g", found, expected);
    }
}

/* Llama 3 (2407.21783): 419 unexpected interruptions of 16,384 devices in 54 days, one each 3.09 h:
 * 54 x 24 x 16,384 / 419 = 50,676 h of one device. */
static weir_goodput_job llama(void)
{
    return (weir_goodput_job){
        .devices = 16384,
        .device_mtbf_s = 54.0 * 86400 * 16384 / 419,
        .detect_s = 60,
        .restart_s = 540,
        .state_bytes = 405e9 * 14 / 16384, /* 14 B a parameter, each written once */
        .stored_bytes_per_s = 2e12 / 16384,
        .copied_bytes_per_s = 10e9,
    };
}

static void the_interval_is_that_of_young_and_daly(void **state)
{
    (void)state;
    weir_goodput_job job = {
        .devices = 10, .device_mtbf_s = 100000, .state_bytes = 50, .stored_bytes_per_s = 1};
    weir_goodput g;
    weir_goodput_of(&job, &g);
    expect(g.mtbf_s, 10000, 1e-12);
    expect(g.stall_s, 50, 1e-12);
    /* sqrt(2 50 10000) = 1000; x (1 + sqrt(50/20000)/3 + 50/20000/9) - 50: the root is 0.05, so
     * 1000 x (1 + 0.0166667 + 0.00027778) - 50 = 966.944 */
    expect(g.young_s, 1000, 1e-12);
    expect(g.daly_s, 966.9444444, 1e-9);
    expect(g.interval_s, g.daly_s, 1e-12);
}

static void the_best_interval_is_near_the_formula(void **state)
{
    (void)state;
    weir_goodput_job job = llama();
    weir_goodput best, other;
    weir_goodput_of(&job, &best);
    for (double factor = 0.5; factor <= 2; factor *= 1.1) {
        job.interval_s = best.daly_s * factor;
        weir_goodput_of(&job, &other);
        assert_true(other.goodput <= best.goodput * 1.0001);
    }
}

static void shares_add_up(void **state)
{
    (void)state;
    for (double devices = 1; devices < 1e6; devices *= 3) {
        weir_goodput_job job = llama();
        job.devices = devices;
        weir_goodput g;
        weir_goodput_of(&job, &g);
        expect(g.goodput + g.checkpoint_share + g.lost_share + g.restart_share, 1, 1e-9);
        assert_true(g.goodput > 0 && g.goodput < 1);
    }
}

static void the_published_run_has_over_90_percent(void **state)
{
    (void)state;
    weir_goodput_job job = llama(); /* "higher than 90 % effective training time" (section 3.3.4) */
    weir_goodput g;
    weir_goodput_of(&job, &g);
    expect(g.mtbf_s, 3.093 * 3600, 1e-3);
    assert_true(g.goodput > 0.9);
}

/* One failure in 1e6 s hits 1,040 s of work and copying anywhere: half of it is lost, and with 360
 * s until a copy of 40 s is written, 360 / 1,040 of the failures lose 1,040 s more. */
static void a_copy_that_is_not_written_is_lost(void **state)
{
    (void)state;
    const weir_goodput_job job = {.devices = 1,
                                  .device_mtbf_s = 1e6,
                                  .interval_s = 1000,
                                  .state_bytes = 400,
                                  .stored_bytes_per_s = 1,
                                  .copied_bytes_per_s = 10,
                                  .asynchronous = true};
    weir_goodput g;
    weir_goodput_of(&job, &g);
    double share = 1000.0 / 1040; /* of the time that is not lost, work */
    expect(g.lost_share, (520 + 360) / 1e6, 2e-3);
    expect(g.goodput, share * (1 - 880 / 1e6), 1e-6);
}

/* How late a copy is safe does not depend on the interval, so Daly's stays the best one. */
static void late_copies_do_not_move_the_best_interval(void **state)
{
    (void)state;
    weir_goodput_job job = llama();
    weir_goodput best, other;
    job.asynchronous = true;
    weir_goodput_of(&job, &best);
    expect(best.interval_s, best.daly_s, 1e-12); /* 28 s; written in 5.67 TB / 2 TB/s = 2.8 s */
    expect(best.write_s, 2.835, 1e-12);
    for (double factor = 0.3; factor <= 3; factor *= 1.1) {
        job.interval_s = best.daly_s * factor;
        weir_goodput_of(&job, &other);
        assert_true(other.goodput <= best.goodput * (1 + 1e-9));
    }
    job.interval_s = 1; /* but the next may not begin before this one is written */
    weir_goodput_of(&job, &other);
    expect(other.interval_s, other.write_s, 1e-12);
}

/* One failure in M = 3.093 h = 11,135 s of 1,800 s pieces, x = 0.1617: of the time x / (e^x - 1) is
 * work that stays, 1 - x / 2 + x^2 / 12 = 1 - 0.0808 + 0.0022, and 2.8 s / M more are not written.
 */
static void a_checkpoint_in_half_an_hour_loses_8_percent(void **state)
{
    (void)state;
    weir_goodput_job job = llama();
    weir_goodput g;
    job.asynchronous = true;
    job.detect_s = job.restart_s = 0;
    job.interval_s = 1800;
    weir_goodput_of(&job, &g);
    expect(g.lost_share, 0.0808 - 0.0022 + 0.00025, 0.01);
}

static void what_never_fails_loses_only_its_checkpoints(void **state)
{
    (void)state;
    weir_goodput_job job = {.devices = 8,
                            .interval_s = 90,
                            .state_bytes = 100,
                            .stored_bytes_per_s = 10,
                            .copied_bytes_per_s = 100};
    weir_goodput g;
    weir_goodput_of(&job, &g);
    expect(g.goodput, 0.9, 1e-12); /* 90 of 90 + 10 */
    job.asynchronous = true;       /* copied in 1 s */
    weir_goodput_of(&job, &g);
    expect(g.goodput, 90.0 / 91, 1e-12);
    job.interval_s = 0;
    weir_goodput_of(&job, &g);
    assert_true(g.goodput >= 1 && g.checkpoint_share <= 0);
}

static void without_checkpoints_a_failing_run_never_ends(void **state)
{
    (void)state;
    weir_goodput_job job = {.devices = 8, .device_mtbf_s = 1e6};
    weir_goodput g;
    weir_goodput_of(&job, &g);
    assert_true(g.goodput <= 0 && g.lost_share >= 1);
}

static void more_devices_never_help(void **state)
{
    (void)state;
    double before = 1;
    for (double devices = 1; devices < 1e7; devices *= 2) {
        weir_goodput_job job = llama();
        job.devices = devices;
        weir_goodput g;
        weir_goodput_of(&job, &g);
        assert_true(g.goodput <= before);
        before = g.goodput;
    }
}

/* --- played --- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

/* Seconds until `segments` pieces of w seconds are done; a failure costs what was done of the
 * piece, then r seconds, in which it may fail again. */
static double play(double w, double r, double mtbf, uint32_t segments, double *restarting)
{
    uint64_t random = 7;
    double time = 0, next = -mtbf * log(uniform(&random));
    *restarting = 0;
    for (uint32_t done = 0; done < segments;) {
        if (next >= w) {
            time += w;
            next -= w;
            done++;
            continue;
        }
        time += next;
        for (next = -mtbf * log(uniform(&random)); next < r; next = -mtbf * log(uniform(&random))) {
            time += next;
            *restarting += next;
        }
        time += r;
        next -= r;
        *restarting += r;
    }
    return time;
}

static void playing_failures_one_by_one_agrees(void **state)
{
    (void)state;
    const weir_goodput_job job = {.devices = 100,
                                  .device_mtbf_s = 1e5,
                                  .detect_s = 50,
                                  .restart_s = 150,
                                  .interval_s = 380,
                                  .state_bytes = 20,
                                  .stored_bytes_per_s = 1};
    weir_goodput g;
    weir_goodput_of(&job, &g);
    double restarting;
    double time = play(400, 200, 1000, 400000, &restarting);
    expect(g.goodput, 380 * 400000 / time, 0.01);
    expect(g.checkpoint_share, 20 * 400000 / time, 0.01);
    expect(g.restart_share, restarting / time, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_is_that_of_young_and_daly),
        cmocka_unit_test(the_best_interval_is_near_the_formula),
        cmocka_unit_test(shares_add_up),
        cmocka_unit_test(the_published_run_has_over_90_percent),
        cmocka_unit_test(a_copy_that_is_not_written_is_lost),
        cmocka_unit_test(late_copies_do_not_move_the_best_interval),
        cmocka_unit_test(a_checkpoint_in_half_an_hour_loses_8_percent),
        cmocka_unit_test(what_never_fails_loses_only_its_checkpoints),
        cmocka_unit_test(without_checkpoints_a_failing_run_never_ends),
        cmocka_unit_test(more_devices_never_help),
        cmocka_unit_test(playing_failures_one_by_one_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
