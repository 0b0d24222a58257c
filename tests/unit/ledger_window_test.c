/* Which stretch of each device is looked at, and how it divides into steps (DESIGN 2.1). */
#include "ledger_fixture.h"

#include <stdio.h>

static void assert_step(const ledger_fixture *f, uint32_t row, int64_t index, int64_t wall_us)
{
    assert_true(row < f->result->step_count);
    assert_int_equal(f->result->steps[row].index, index);
    assert_int_equal(whole_us(f->result->steps[row].account.wall_ns), wall_us);
}

static int64_t begin_us(const ledger_fixture *f, uint32_t device)
{
    return drawn_us(f, f->lines.begin_ns[device]);
}

static int64_t end_us(const ledger_fixture *f, uint32_t device)
{
    return drawn_us(f, f->lines.end_ns[device]);
}

/* Steps first .. last of rank r, each 100 us of the host; its kernel is launched 10 us after the
 * marker begins and runs from 60 us after it for 80 us, reaching into the next step's marker. */
static void add_steps(ledger_fixture *f, weir_rank_id r, int64_t first, int64_t last)
{
    for (int64_t s = first; s <= last; s++) {
        char name[48];
        snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)s);
        add_step(f, r, name, us(100 * s, 100 * (s + 1)));
        add_kernel(f, on(r, 7), MATH, us(100 * s + 60, 100 * s + 140),
                   add_launch(f, r, 100 * s + 10));
    }
}

/* Host and device are asynchronous.
 *
 *   us       0         100        200        300
 *   thread   [step 0   [step 1    [step 2    )
 *   launch    l         l          l
 *   device         K0.......|K1.......|K2.......|
 *                  60    140 160   240 260   340
 *   steps          [step 0   [step 1   [step 2  )     60 .. 160 .. 260 .. 340 */
static void begins_a_step_with_the_first_span_launched_in_it(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_steps(&f, 0, 0, 2);
    make_ledger(&f);
    assert_int_equal(f.result->window.steps, 3);
    assert_step(&f, 0, 0, 100);
    assert_step(&f, 1, 1, 100);
    assert_step(&f, 2, 2, 80);
    assert_int_equal(begin_us(&f, 0), 60);
    assert_int_equal(end_us(&f, 0), 340);
    /* window.step_ns is the mean: 280 / 3 us. */
    assert_int_equal(f.result->window.step_ns, 280000 / 3);
    ledger_fixture_close(&f);
}

/* What is launched behind the last marker, and what was launched before the first, is outside. */
static void leaves_out_what_was_launched_outside_the_markers(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_kernel(&f, on(0, 8), MEMORY, us(105, 115), add_launch(&f, 0, 98));
    add_steps(&f, 0, 1, 2);
    add_kernel(&f, on(0, 8), MEMORY, us(400, 450), add_launch(&f, 0, 300));
    make_ledger(&f);
    assert_int_equal(begin_us(&f, 0), 160);
    assert_int_equal(end_us(&f, 0), 340);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_CACHE_ACTIVATIONS), 0);
    ledger_fixture_close(&f);
}

static void takes_the_marker_itself_without_launches(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_step(&f, 0, "ProfilerStep # 7", us(10, 50));
    add_step(&f, 0, "ProfilerStep # 8", us(50, 120));
    add_kernel(&f, on(0, 7), MATH, us(0, 130), 0);
    make_ledger(&f);
    assert_step(&f, 0, 7, 40);
    assert_step(&f, 1, 8, 70);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMPUTE_CONVOLUTION), 110);
    ledger_fixture_close(&f);
}

/* From 0 of rank 0 to 90 of rank 1, on both. */
static void takes_the_activity_of_the_set_without_markers(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    add_kernel(&f, on(0, 7), MATH, us(0, 20), 0);
    add_kernel(&f, on(1, 7), MATH, us(30, 90), 0);
    make_ledger(&f);
    assert_int_equal(f.result->step_count, 0);
    assert_int_equal(f.result->window.steps, 0);
    for (uint32_t d = 0; d < 2; d++) {
        assert_int_equal(begin_us(&f, d), 0);
        assert_int_equal(end_us(&f, d), 90);
    }
    assert_int_equal(whole_us(f.result->total.wall_ns), 180);
    ledger_fixture_close(&f);
}

/* Rank 0 has steps 1 to 4, rank 1 steps 2 to 5: 2 to 4 are those of both. */
static void looks_at_the_steps_that_all_ranks_have(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    add_steps(&f, 0, 1, 4);
    add_steps(&f, 1, 2, 5);
    make_ledger(&f);
    assert_int_equal(f.result->step_count, 3);
    assert_step(&f, 0, 2, 200);
    /* Rank 1 has a marker 5 and ends where that begins; rank 0 ends with its last span. */
    assert_step(&f, 2, 4, 80 + 100);
    ledger_fixture_close(&f);
}

/* The file of rank 1 ends amid step 3: it counts to step 2, rank 0 to step 4. */
static void counts_a_cut_rank_to_its_last_complete_step(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_rank(&f, 0, 2, false);
    add_rank(&f, 1, 2, true);
    add_steps(&f, 0, 1, 4);
    add_steps(&f, 1, 1, 2);
    add_kernel(&f, on(1, 7), MATH, us(360, 380), add_launch(&f, 1, 310));
    make_ledger(&f);
    assert_int_equal(f.result->step_count, 4);
    assert_step(&f, 1, 2, 100 + 80);
    assert_step(&f, 2, 3, 100);
    assert_step(&f, 3, 4, 80);
    assert_int_equal(whole_us(f.result->devices[0].account.wall_ns), 380);
    assert_int_equal(whole_us(f.result->devices[1].account.wall_ns), 180);
    ledger_fixture_close(&f);
}

/* Both files are cut, rank 0 amid step 2 and rank 1 amid step 4: each has its own last step. */
static void counts_each_of_several_cut_ranks_to_its_own_last_step(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_rank(&f, 0, 2, true);
    add_rank(&f, 1, 2, true);
    add_steps(&f, 0, 1, 1);
    add_kernel(&f, on(0, 7), MATH, us(260, 270), add_launch(&f, 0, 210));
    add_steps(&f, 1, 1, 3);
    add_kernel(&f, on(1, 7), MATH, us(460, 470), add_launch(&f, 1, 410));
    make_ledger(&f);
    assert_int_equal(f.result->step_count, 3);
    assert_int_equal(whole_us(f.result->devices[0].account.wall_ns), 80);
    assert_int_equal(whole_us(f.result->devices[1].account.wall_ns), 100 + 100 + 80);
    ledger_fixture_close(&f);
}

static void looks_at_the_steps_that_are_asked_for(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_steps(&f, 0, 1, 5);
    f.options.has_steps = true;
    f.options.first_step = 2;
    f.options.last_step = 3;
    make_ledger(&f);
    assert_int_equal(f.result->step_count, 2);
    assert_int_equal(begin_us(&f, 0), 260);
    assert_int_equal(end_us(&f, 0), 460); /* where step 4 begins */
    ledger_fixture_close(&f);
}

static void refuses_steps_that_are_not_there(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_steps(&f, 0, 1, 2);
    f.options.has_steps = true;
    f.options.first_step = 8;
    f.options.last_step = 9;
    assert_int_equal(make_ledger_code(&f), WEIR_ERR_USAGE);
    assert_non_null(strstr(f.err.text, "markers 1 to 2"));
    ledger_fixture_close(&f);
}

/* --window 200 .. 300 us after the origin: the middle of step 1's end and step 2's beginning. */
static void clips_to_the_window_that_is_asked_for(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_steps(&f, 0, 0, 4);
    f.options.has_window = true;
    f.options.window_begin_ns = 200000;
    f.options.window_end_ns = 300000;
    make_ledger(&f);
    assert_int_equal(begin_us(&f, 0), 200);
    assert_int_equal(end_us(&f, 0), 300);
    assert_int_equal(whole_us(f.result->total.wall_ns), 100);
    assert_int_equal(device_us(&f, 0, WEIR_CAUSE_COMPUTE_CONVOLUTION), 40 + 40);
    ledger_fixture_close(&f);
}

/* Steps outside the window are not steps without waiting: they say nothing. Within it all three
 * steps idle 20 us, which is steady. */
static void does_not_count_steps_outside_the_window(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 1);
    add_steps(&f, 0, 0, 9);
    f.options.has_window = true;
    f.options.window_begin_ns = 360000;
    f.options.window_end_ns = 660000;
    make_ledger(&f);
    assert_int_equal(f.result->window.steps, 3);
    assert_int_equal(f.result->step_count, 3);
    assert_step(&f, 0, 3, 100);
    int64_t steady = 0, erratic = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        bool waits = weir_cause_wait((weir_cause)c) == WEIR_WAIT_DEPENDENCY;
        steady += waits ? f.result->control.steady.ns[c] : 0;
        erratic += waits ? f.result->control.erratic.ns[c] : 0;
    }
    assert_int_equal(whole_us(steady), 60);
    assert_int_equal(whole_us(erratic), 0);
    ledger_fixture_close(&f);
}

/* Engines mark their own steps; they are numbered from 0. */
static void knows_the_markers_of_engines(void **state)
{
    (void)state;
    static const char *const names[] = {"step[DECODE bs=32]", "execute_32_context_0(sq0)",
                                        "execute_context_1(888_788544)_generation_0(0)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ledger_fixture f;
        ledger_fixture_open(&f);
        add_ranks(&f, 1);
        add_step(&f, 0, names[i], us(0, 40));
        add_step(&f, 0, names[i], us(60, 100));
        add_kernel(&f, on(0, 7), MATH, us(0, 100), 0);
        make_ledger(&f);
        assert_step(&f, 0, 0, 60); /* up to where the next one begins */
        assert_step(&f, 1, 1, 40);
        ledger_fixture_close(&f);
    }
}

static bool has_note(const weir_result *r, const char *part)
{
    for (uint32_t i = 0; i < r->note_count; i++) {
        if (strstr(r->notes[i], part)) {
            return true;
        }
    }
    return false;
}

static void notes_ranks_without_device_activity(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    add_kernel(&f, on(0, 7), MATH, us(0, 20), 0);
    add_launch(&f, 1, 5);
    make_ledger(&f);
    assert_int_equal(f.result->device_count, 1);
    assert_true(has_note(f.result, "1 of 2 ranks have no device activity"));
    ledger_fixture_close(&f);
}

static void shows_everything_and_says_so_where_no_step_is_common(void **state)
{
    (void)state;
    ledger_fixture f;
    ledger_fixture_open(&f);
    add_ranks(&f, 2);
    add_steps(&f, 0, 1, 1);
    add_steps(&f, 1, 2, 2);
    make_ledger(&f);
    assert_int_equal(f.result->window.steps, 0);
    assert_int_equal(begin_us(&f, 1), 160);
    assert_true(has_note(f.result, "no step is complete on all ranks"));
    ledger_fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_a_step_with_the_first_span_launched_in_it),
        cmocka_unit_test(leaves_out_what_was_launched_outside_the_markers),
        cmocka_unit_test(takes_the_marker_itself_without_launches),
        cmocka_unit_test(takes_the_activity_of_the_set_without_markers),
        cmocka_unit_test(looks_at_the_steps_that_all_ranks_have),
        cmocka_unit_test(counts_a_cut_rank_to_its_last_complete_step),
        cmocka_unit_test(counts_each_of_several_cut_ranks_to_its_own_last_step),
        cmocka_unit_test(looks_at_the_steps_that_are_asked_for),
        cmocka_unit_test(refuses_steps_that_are_not_there),
        cmocka_unit_test(clips_to_the_window_that_is_asked_for),
        cmocka_unit_test(does_not_count_steps_outside_the_window),
        cmocka_unit_test(knows_the_markers_of_engines),
        cmocka_unit_test(notes_ranks_without_device_activity),
        cmocka_unit_test(shows_everything_and_says_so_where_no_step_is_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
