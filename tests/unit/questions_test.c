/* questions.h: sweeps, inverse searches and mixes over closed forms in place of plays. */
#include "study/questions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * (1 + fabs(expected)))) {
        fail_msg("found %.17g, expected %.17g", found, expected);
    }
}

/* The value of the setting whose key ends in that word; fallback where there is none. */
static double setting(const weir_play_wish *wish, const char *word, double fallback)
{
    for (uint32_t i = 0; i < wish->setting_count; i++) {
        weir_str key = weir_str_from(wish->settings[i].key);
        if (weir_str_ends(key, weir_str_from(word))) {
            const char *text = wish->settings[i].value;
            return (double)strtoull(text + (text[0] == '['), NULL, 10);
        }
    }
    return fallback;
}

static weir_play one_row(weir_arena *arena, const char *name, double step_s, const char *refused)
{
    weir_play play = {weir_arena_alloc(arena, 1, sizeof *play.rows), 1};
    play.rows[0] = (weir_play_row){.candidate = name, .step_s = step_s, .refused = refused};
    return play;
}

/* --- sweeps --- */

static void parses_the_values_of_a_sweep(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_sweep_axis axis = {0};
    weir_err err = {0};
    assert_int_equal(weir_sweep_parse("candidates.0.oversubscription=[1, 1],[1,3], 2 ,'a,b'", arena,
                                      &axis, &err),
                     WEIR_OK);
    assert_string_equal(axis.key, "candidates.0.oversubscription");
    assert_int_equal(axis.count, 4);
    assert_string_equal(axis.values[0], "[1, 1]");
    assert_string_equal(axis.values[1], "[1,3]");
    assert_string_equal(axis.values[2], "2");
    assert_string_equal(axis.values[3], "'a,b'");
    weir_arena_free(arena);
}

static void refuses_sweeps_that_are_none(void **state)
{
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"cluster.nodes", "--sweep: found 'cluster.nodes', expected KEY=a,b,c"},
        {"=1,2", "--sweep: found '=1,2', expected KEY=a,b,c"},
        {"cluster.nodes=", "--sweep cluster.nodes: value 1 is empty, expected KEY=a,b,c"},
        {"cluster.nodes=1,,2", "--sweep cluster.nodes: value 2 is empty, expected KEY=a,b,c"},
        {"cluster.nodes=1,2,", "--sweep cluster.nodes: value 3 is empty, expected KEY=a,b,c"},
        {"cluster.nodes=1,2,1", "--sweep cluster.nodes: found '1' twice"},
    };
    weir_arena *arena = weir_arena_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_sweep_axis axis = {0};
        weir_err err = {0};
        assert_int_equal(weir_sweep_parse(bad[i].text, arena, &axis, &err), WEIR_ERR_USAGE);
        assert_string_equal(err.text, bad[i].sentence);
        assert_null(axis.key);
    }
    weir_arena_free(arena);
}

/* A step of 10 x a + b seconds. */
static weir_code play_digits(void *context, const weir_play_wish *wish, weir_arena *arena,
                             weir_play *play, weir_err *err)
{
    *play = one_row(arena, "net", 10 * setting(wish, "a", 0) + setting(wish, "b", 0), NULL);
    return WEIR_OK;
}

static void sweeps_over_all_combinations_the_last_key_first(void **state)
{
    static const double expected[] = {14, 15, 16, 24, 25, 26};
    weir_arena *arena = weir_arena_new();
    weir_sweep_axis axes[2];
    weir_sweep sweep = {0};
    weir_err err = {0};
    assert_int_equal(weir_sweep_parse("x.a=1,2", arena, &axes[0], &err), WEIR_OK);
    assert_int_equal(weir_sweep_parse("x.b=4,5,6", arena, &axes[1], &err), WEIR_OK);
    weir_player player = {NULL, play_digits};
    assert_int_equal(weir_sweep_run(axes, 2, &player, arena, &sweep, &err), WEIR_OK);
    assert_int_equal(sweep.count, 6);
    for (uint32_t i = 0; i < sweep.count; i++) {
        expect_near(sweep.points[i].play.rows[0].step_s, expected[i]);
    }
    assert_string_equal(sweep.points[4].settings[0].value, "2");
    assert_string_equal(sweep.points[4].settings[1].value, "5");
    weir_arena_free(arena);
}

static void refuses_too_many_combinations_and_a_key_twice(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_sweep sweep = {0};
    weir_err err = {0};
    const char *values[500];
    for (int i = 0; i < 500; i++) {
        values[i] = "1";
    }
    weir_sweep_axis axes[] = {{"a", values, 500}, {"b", values, 500}};
    weir_player player = {NULL, play_digits};
    assert_int_equal(weir_sweep_run(axes, 2, &player, arena, &sweep, &err), WEIR_ERR_USAGE);
    assert_string_equal(err.text,
                        "--sweep: found more than 100000 combinations, expected fewer values");
    err = (weir_err){0};
    axes[1].key = "a";
    assert_int_equal(weir_sweep_run(axes, 2, &player, arena, &sweep, &err), WEIR_ERR_USAGE);
    assert_string_equal(err.text, "--sweep a: found that key twice");
    weir_arena_free(arena);
}

/* --- inverse questions --- */

static weir_find_answer ask(weir_find_what what, double lose_share, weir_candidate_kind kind,
                            weir_code (*play)(void *, const weir_play_wish *, weir_arena *,
                                              weir_play *, weir_err *),
                            weir_arena *arena)
{
    weir_candidate candidate = {.name = "net", .kind = kind, .oversubscription = {1, 1}};
    weir_player player = {NULL, play};
    weir_find_answer answer = {0};
    weir_err err = {0};
    weir_find_question question = {what, lose_share, &candidate, 0};
    if (weir_find_search(&question, &player, arena, &answer, &err)) {
        fail_msg("%s", err.text);
    }
    return answer;
}

/* Nine tenths are computing, one tenth is traffic: 0.9 + 0.1 x. */
static weir_code play_linear(void *context, const weir_play_wish *wish, weir_arena *arena,
                             weir_play *play, weir_err *err)
{
    *play = one_row(arena, "net", 0.9 + 0.1 * setting(wish, "oversubscription", 1), NULL);
    return WEIR_OK;
}

static void finds_the_most_oversubscription(void **state)
{
    weir_arena *arena = weir_arena_new();
    /* 0.9 + 0.1 x <= 1.25: x = 3; played: 1, 2, 4, 3. */
    weir_find_answer a =
        ask(WEIR_FIND_OVERSUBSCRIPTION, 0.25, WEIR_CANDIDATE_CLOS, play_linear, arena);
    assert_int_equal(a.end, WEIR_FIND_INSIDE);
    expect_near(a.value, 3);
    expect_near(a.step_s, 1.2);
    expect_near(a.reference_s, 1);
    expect_near(a.next_value, 4);
    expect_near(a.next_step_s, 1.3);
    assert_int_equal(a.plays, 4);
    assert_string_equal(a.sentence,
                        "'net': up to 3:1 the step loses at most 25 %: 1.20 s (+20.00 %) against "
                        "1.00 s; with 4:1 it takes 1.30 s (+30.00 %)");
    /* Nothing may be lost: 1:1 is all that is left. */
    a = ask(WEIR_FIND_OVERSUBSCRIPTION, 0, WEIR_CANDIDATE_CLOS, play_linear, arena);
    assert_int_equal(a.end, WEIR_FIND_INSIDE);
    expect_near(a.value, 1);
    weir_arena_free(arena);
}

static weir_code play_flat(void *context, const weir_play_wish *wish, weir_arena *arena,
                           weir_play *play, weir_err *err)
{
    *play = one_row(arena, "net", 2, NULL);
    return WEIR_OK;
}

static void says_when_the_answer_is_outside_what_was_tried(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_find_answer a =
        ask(WEIR_FIND_OVERSUBSCRIPTION, 0.02, WEIR_CANDIDATE_RAIL, play_flat, arena);
    assert_int_equal(a.end, WEIR_FIND_ALL);
    expect_near(a.value, 64);
    assert_true(isnan(a.next_value));
    assert_string_equal(a.sentence, "'net': even with 64:1 the step loses at most 2 %: 2.00 s "
                                    "(+0.00 %) against 2.00 s");
    weir_arena_free(arena);
}

/* More than 3:1 does not fit the switch. */
static weir_code play_small_switch(void *context, const weir_play_wish *wish, weir_arena *arena,
                                   weir_play *play, weir_err *err)
{
    double x = setting(wish, "oversubscription", 1);
    *play = one_row(arena, "net", x > 3 ? NAN : 1, x > 3 ? "too few ports" : NULL);
    return WEIR_OK;
}

static void stops_where_nothing_can_be_built(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_find_answer a =
        ask(WEIR_FIND_OVERSUBSCRIPTION, 0.5, WEIR_CANDIDATE_CLOS, play_small_switch, arena);
    assert_int_equal(a.end, WEIR_FIND_INSIDE);
    expect_near(a.value, 3);
    assert_string_equal(a.next_refused, "too few ports");
    assert_non_null(strstr(a.sentence, "with 4:1 it cannot be built: too few ports"));
    weir_arena_free(arena);
}

/* 250 us are hidden; each microsecond beyond costs four. */
static weir_code play_switching(void *context, const weir_play_wish *wish, weir_arena *arena,
                                weir_play *play, weir_err *err)
{
    double us = setting(wish, "switching", 1e9);
    expect_near(setting(wish, "linkup", 1e9), 0);
    *play = one_row(arena, "net", 1 + 4e-6 * fmax(0, us - 250), NULL);
    return WEIR_OK;
}

static void finds_the_longest_switching_time_within_a_hundredth(void **state)
{
    weir_arena *arena = weir_arena_new();
    /* 4 (x - 250) us <= 0.1 % of 1 s: x = 500 us. */
    weir_find_answer a =
        ask(WEIR_FIND_SWITCHING, 0.001, WEIR_CANDIDATE_OCS_PHASE, play_switching, arena);
    assert_int_equal(a.end, WEIR_FIND_INSIDE);
    assert_true(a.value <= 500.5e-6 && a.next_value > 500.5e-6);
    assert_true(a.next_value - a.value <= 0.01 * a.value + 1e-12);
    assert_true(a.step_s <= 1.001 && a.next_step_s > 1.001);
    weir_arena_free(arena);
}

/* As written there are 16; fewer are slower in proportion, below 2 nothing is joined, and the
 * optical switch takes no more than 20. */
static weir_code play_ports(void *context, const weir_play_wish *wish, weir_arena *arena,
                            weir_play *play, weir_err *err)
{
    double ports = setting(wish, "uplinks", 16);
    const char *refused = ports < 2 ? "not joined" : ports > 20 ? "no port is left" : NULL;
    *play = one_row(arena, "net", refused ? NAN : 64 / fmin(ports, 16), refused);
    return WEIR_OK;
}

static void finds_the_fewest_ports(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_find_answer a = ask(WEIR_FIND_PORTS, 0, WEIR_CANDIDATE_OCS_JOB, play_ports, arena);
    assert_int_equal(a.end, WEIR_FIND_INSIDE);
    expect_near(a.value, 16);
    expect_near(a.next_value, 15);
    a = ask(WEIR_FIND_PORTS, 0.6, WEIR_CANDIDATE_OCS_JOB, play_ports, arena);
    expect_near(a.value, 10); /* 6.4 = 1.6 x 4 */
    a = ask(WEIR_FIND_PORTS, 10, WEIR_CANDIDATE_OCS_JOB, play_ports, arena);
    expect_near(a.value, 2);
    assert_string_equal(a.next_refused, "not joined");
    weir_arena_free(arena);
}

/* What is written cannot be reached port by port. */
static weir_code play_never(void *context, const weir_play_wish *wish, weir_arena *arena,
                            weir_play *play, weir_err *err)
{
    double ports = setting(wish, "uplinks", 0);
    *play = one_row(arena, "net",
                    ports > 6   ? NAN
                    : ports > 0 ? 64 / ports
                                : 1,
                    ports > 6 ? "no port is left" : NULL);
    return WEIR_OK;
}

static void says_that_nothing_keeps_to_the_limit(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_find_answer a = ask(WEIR_FIND_PORTS, 0.02, WEIR_CANDIDATE_OCS_JOB, play_never, arena);
    assert_int_equal(a.end, WEIR_FIND_NOTHING);
    expect_near(a.value, 6);
    assert_non_null(strstr(a.sentence, "nothing that was tried keeps the loss to 2 %"));
    weir_arena_free(arena);
}

static void asks_only_what_has_a_meaning(void **state)
{
    weir_candidate candidate = {.name = "net", .kind = WEIR_CANDIDATE_TORUS};
    weir_player player = {NULL, play_flat};
    weir_find_answer answer = {0};
    weir_err err = {0};
    weir_find_question question = {WEIR_FIND_SWITCHING, 0.1, &candidate, 0};
    assert_int_equal(weir_find_search(&question, &player, NULL, &answer, &err), WEIR_ERR_USAGE);
    assert_string_equal(err.text,
                        "--find switching has no meaning for candidate 'net' of kind torus");
}

static void reads_percentages(void **state)
{
    double share = 7;
    assert_true(weir_find_lose_parse("2%", &share));
    expect_near(share, 0.02);
    assert_true(weir_find_lose_parse("0.5 %", &share));
    expect_near(share, 0.005);
    assert_false(weir_find_lose_parse("2", &share));
    assert_false(weir_find_lose_parse("-2%", &share));
    assert_false(weir_find_lose_parse("%", &share));
    expect_near(share, 0.005);
}

/* --- mixes --- */

static void parses_a_mix(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_mix_job *jobs = NULL;
    uint32_t count = 0;
    weir_err err = {0};
    assert_int_equal(weir_mix_parse("a.yaml:3, b:c.yaml:1", arena, &jobs, &count, &err), WEIR_OK);
    assert_int_equal(count, 2);
    assert_string_equal(jobs[0].path, "a.yaml");
    expect_near(jobs[0].weight, 0.75);
    assert_string_equal(jobs[1].path, "b:c.yaml");
    expect_near(jobs[1].weight, 0.25);
    static const char *const bad[] = {"a.yaml",       "a.yaml:1", "a.yaml:0,b.yaml:1",
                                      "a.yaml:x,b:1", ":1,b:1",   "a.yaml:1,"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (weir_err){0};
        assert_int_equal(weir_mix_parse(bad[i], arena, &jobs, &count, &err), WEIR_ERR_USAGE);
    }
    assert_int_equal(count, 2);
    weir_arena_free(arena);
}

/* Job a: 2 s and 3 s; job b: 8 s and 4 s, the third network is refused for b only. */
static weir_code play_jobs(void *context, const weir_play_wish *wish, weir_arena *arena,
                           weir_play *play, weir_err *err)
{
    bool a = strcmp(wish->path, "a.yaml") == 0;
    assert_true(a ? !wish->candidates_path : strcmp(wish->candidates_path, "a.yaml") == 0);
    weir_play_row *rows = weir_arena_alloc(arena, 3, sizeof *rows);
    rows[0] = (weir_play_row){.candidate = "x", .step_s = a ? 2 : 8};
    rows[1] = (weir_play_row){.candidate = "y", .step_s = a ? 3 : 4};
    rows[2] = (weir_play_row){.candidate = "z", .step_s = a ? 1e9 : NAN};
    rows[2].refused = a ? NULL : "too small";
    rows[0].wait_share[WEIR_WAIT_COMMUNICATION] = a ? 0.1 : 0.5;
    rows[1].wait_share[WEIR_WAIT_COMMUNICATION] = a ? 0.4 : 0.2;
    *play = (weir_play){rows, 3};
    return WEIR_OK;
}

static void weighs_the_jobs_of_a_mix(void **state)
{
    weir_arena *arena = weir_arena_new();
    weir_mix_job jobs[] = {{"a.yaml", 0.75}, {"b.yaml", 0.25}};
    weir_player player = {NULL, play_jobs};
    weir_mix mix = {0};
    weir_err err = {0};
    assert_int_equal(weir_mix_run(jobs, 2, &player, arena, &mix, &err), WEIR_OK);
    assert_int_equal(mix.count, 3);
    expect_near(mix.rows[0].ratio, 0.75 * 1 + 0.25 * 2);       /* 1.25 */
    expect_near(mix.rows[1].ratio, 0.75 * 3.0 / 2 + 0.25 * 1); /* 1.375 */
    expect_near(mix.rows[0].wait_share[WEIR_WAIT_COMMUNICATION], 0.75 * 0.1 + 0.25 * 0.5);
    expect_near(mix.rows[1].wait_share[WEIR_WAIT_COMMUNICATION], 0.75 * 0.4 + 0.25 * 0.2);
    assert_string_equal(mix.rows[2].refused, "too small");
    assert_true(isnan(mix.rows[2].ratio));
    assert_int_equal(mix.best, 0);
    expect_near(mix.rows[1].job_step_s[0], 3);
    expect_near(mix.rows[1].job_step_s[1], 4);
    weir_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_the_values_of_a_sweep),
        cmocka_unit_test(refuses_sweeps_that_are_none),
        cmocka_unit_test(sweeps_over_all_combinations_the_last_key_first),
        cmocka_unit_test(refuses_too_many_combinations_and_a_key_twice),
        cmocka_unit_test(finds_the_most_oversubscription),
        cmocka_unit_test(says_when_the_answer_is_outside_what_was_tried),
        cmocka_unit_test(stops_where_nothing_can_be_built),
        cmocka_unit_test(finds_the_longest_switching_time_within_a_hundredth),
        cmocka_unit_test(finds_the_fewest_ports),
        cmocka_unit_test(says_that_nothing_keeps_to_the_limit),
        cmocka_unit_test(asks_only_what_has_a_meaning),
        cmocka_unit_test(reads_percentages),
        cmocka_unit_test(parses_a_mix),
        cmocka_unit_test(weighs_the_jobs_of_a_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
