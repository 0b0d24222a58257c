/* schedule.h: bubbles and activations by the published formulas, lists by the published figures,
 * bubble rates by Zero Bubble's Table 5, plans that no schedule fits. */
#include "train/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    weir_arena *arena;
    weir_schedule schedule;
    weir_schedule_times played;
} outcome;

/* Uniform stages: times of a whole stage, a chunk has its share. by_times: searched for them. */
static outcome play(weir_schedule_wish wish, weir_pass_times whole, bool by_times,
                    weir_schedule_costs costs)
{
    outcome o = {.arena = weir_arena_new()};
    uint32_t positions = wish.stages * wish.chunks;
    weir_pass_times *times = weir_arena_alloc(o.arena, positions, sizeof *times);
    for (uint32_t i = 0; i < positions; i++) {
        double share = wish.chunks;
        times[i] = (weir_pass_times){whole.forward_s / share, whole.dgrad_s / share,
                                     whole.wgrad_s / share};
    }
    wish.times = by_times ? times : NULL;
    wish.send_s = by_times ? costs.send_s : 0;
    costs.times = times;
    weir_err err = {0};
    if (weir_schedule_search(&wish, o.arena, &o.schedule, &err) != WEIR_OK ||
        weir_schedule_play(&o.schedule, &costs, o.arena, &o.played, &err) != WEIR_OK) {
        fail_msg("%s, %u stages, %u micro-batches: %s", weir_schedule_kind_name(wish.kind),
                 wish.stages, wish.micro_batches, err.text);
    }
    return o;
}

static weir_schedule_wish wish_of(weir_schedule_kind kind, uint32_t p, uint32_t v, uint32_t m)
{
    return (weir_schedule_wish){.kind = kind, .stages = p, .chunks = v, .micro_batches = m};
}

/* What the longest stage idles: from 0, or from its own first start. */
static double bubble(weir_schedule_wish wish, weir_pass_times t, bool from_own)
{
    outcome o = play(wish, t, false, (weir_schedule_costs){0});
    double end = from_own ? o.played.span_s : o.played.makespan_s;
    double idle = end - o.played.stage_busy_s[0];
    weir_arena_free(o.arena);
    return idle;
}

static void expect(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9)) {
        fail_msg("found %.12g, expected %.12g", found, expected);
    }
}

/* --- bubbles (reference: training-model.md section 7) --- */

static const weir_pass_times EQUAL = {1, 1, 1}, UNEQUAL = {1.1, 1.2, 0.9};

static void eight_stages_idle_as_published(void **state)
{
    (void)state;
    expect(bubble(wish_of(WEIR_SCHEDULE_GPIPE, 8, 1, 64), EQUAL, false), 21);
    expect(bubble(wish_of(WEIR_SCHEDULE_ONE_F_ONE_B, 8, 1, 64), EQUAL, false), 21);
    expect(bubble(wish_of(WEIR_SCHEDULE_INTERLEAVED, 8, 3, 64), EQUAL, false), 7);
    expect(bubble(wish_of(WEIR_SCHEDULE_ZB_H1, 8, 1, 64), EQUAL, false), 7);
    expect(bubble(wish_of(WEIR_SCHEDULE_ZB_H2, 8, 1, 64), EQUAL, true), 0);
    expect(bubble(wish_of(WEIR_SCHEDULE_ZB_V, 8, 2, 64), EQUAL, true), 0);
}

static void uniform_stages_idle_by_the_formulas(void **state)
{
    (void)state;
    double f = UNEQUAL.forward_s, b = UNEQUAL.dgrad_s, w = UNEQUAL.wgrad_s;
    for (uint32_t p = 1; p <= 16; p++) {
        double others = p - 1;
        for (uint32_t m = 2 * p; m <= 6 * p; m += 2 * p) {
            expect(bubble(wish_of(WEIR_SCHEDULE_GPIPE, p, 1, m), UNEQUAL, false),
                   others * (f + b + w));
            expect(bubble(wish_of(WEIR_SCHEDULE_ONE_F_ONE_B, p, 1, m), UNEQUAL, false),
                   others * (f + b + w));
            for (uint32_t v = 2; v <= 5; v++) {
                expect(bubble(wish_of(WEIR_SCHEDULE_INTERLEAVED, p, v, m), UNEQUAL, false),
                       others * (f + b + w) / v);
            }
            expect(bubble(wish_of(WEIR_SCHEDULE_ZB_H1, p, 1, m), UNEQUAL, false),
                   others * (f + b - w));
            expect(bubble(wish_of(WEIR_SCHEDULE_ZB_H2, p, 1, m), UNEQUAL, true),
                   others * (f + b - 2 * w));
            expect(bubble(wish_of(WEIR_SCHEDULE_ZB_V, p, 2, m), EQUAL, true), 0);
        }
    }
}

/* (p/2 - 1)(F&B + Bf - 3 W), DeepSeek's README, for F = B = W; of the innermost stage, which has
 * the most pairs. A stage of DualPipe-V is one of half of DualPipe's. For other times the formula
 * is not exact (docs/model/schedules.md). */
static void dual_pipes_idle_by_their_formula(void **state)
{
    (void)state;
    for (uint32_t half = 1; half <= 8; half++) {
        for (uint32_t m = 4 * half; m <= 12 * half; m += 4) {
            const double saved = 0.25 * (m % 5), each = (3 - saved) + 2 - 3;
            const weir_pass_times twice = {2, 2, 2};
            weir_pair_share pair[16];
            for (uint32_t i = 0; i < 16; i++) {
                pair[i] = (weir_pair_share){.forward_exchange_s = saved, .dgrad_kernels_s = saved};
            }
            outcome o = play(wish_of(WEIR_SCHEDULE_DUALPIPE, 2 * half, 1, m), EQUAL, false,
                             (weir_schedule_costs){.pair = pair});
            expect(o.played.makespan_s - o.played.stage_busy_s[half], (half - 1) * each);
            weir_arena_free(o.arena);
            o = play(wish_of(WEIR_SCHEDULE_DUALPIPE_V, half, 2, m / 2), twice, false,
                     (weir_schedule_costs){.pair = pair});
            expect(o.played.makespan_s - o.played.stage_busy_s[half - 1], (half - 1) * each);
            weir_arena_free(o.arena);
        }
    }
}

/* --- activations (section 6) --- */

static void expect_peak(weir_schedule_wish wish, uint32_t stage, uint32_t expected)
{
    outcome o = play(wish, EQUAL, false, (weir_schedule_costs){0});
    if (o.schedule.peak[stage] != expected) {
        fail_msg("%s, %u stages, %u chunks, %u micro-batches, stage %u: found %u, expected %u",
                 weir_schedule_kind_name(wish.kind), wish.stages, wish.chunks, wish.micro_batches,
                 stage, o.schedule.peak[stage], expected);
    }
    weir_arena_free(o.arena);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void activations_in_flight_are_those_of_the_formulas(void **state)
{
    (void)state;
    uint32_t p = 8;
    for (uint32_t m = 8; m <= 64; m += 8) {
        for (uint32_t i = 0; i < p; i++) {
            expect_peak(wish_of(WEIR_SCHEDULE_GPIPE, p, 1, m), i, m);
            expect_peak(wish_of(WEIR_SCHEDULE_ONE_F_ONE_B, p, 1, m), i, lesser(m, p - i));
            for (uint32_t v = 2; v <= 4; v++) {
                expect_peak(wish_of(WEIR_SCHEDULE_INTERLEAVED, p, v, m), i,
                            lesser(m * v, 2 * (p - 1 - i) + 1 + (v - 1) * p));
            }
        }
        expect_peak(wish_of(WEIR_SCHEDULE_ZB_H1, p, 1, m), 0, p);
        expect_peak(wish_of(WEIR_SCHEDULE_ZB_H2, p, 1, m), 0, lesser(m, 2 * p - 1));
        expect_peak(wish_of(WEIR_SCHEDULE_ZB_V, p, 2, m), 0, 2 * p);
        if (m >= 2 * p) {
            expect_peak(wish_of(WEIR_SCHEDULE_DUALPIPE, p, 1, m), 0, p + 1);
            expect_peak(wish_of(WEIR_SCHEDULE_DUALPIPE_V, p, 2, m), 0, 2 * p + 1);
        }
    }
}

/* --- lists --- */

/* The tasks of a stage: F f for chunk 0, 1; B b likewise, D d dgrads, W w; and the micro-batch. */
static void expect_list(weir_schedule_wish wish, uint32_t stage, const char *expected)
{
    static const char letters[] = "FfBbDdWw";
    outcome o = play(wish, EQUAL, false, (weir_schedule_costs){0});
    char list[512];
    uint32_t n = 0;
    for (uint32_t i = o.schedule.first[stage]; i < o.schedule.first[stage + 1]; i++) {
        const weir_task *t = &o.schedule.tasks[i];
        list[n++] = letters[2 * t->kind + t->chunk];
        list[n++] = (char)('0' + t->micro_batch);
        list[n++] = t->paired ? '&' : ' ';
    }
    list[n > 0 ? n - 1 : 0] = '\0';
    assert_string_equal(list, expected);
    weir_arena_free(o.arena);
}

/* Narayanan et al., figure 4 (its micro-batches count from 1). */
static void interleaved_lists_are_those_of_megatron(void **state)
{
    (void)state;
    const weir_schedule_wish wish = wish_of(WEIR_SCHEDULE_INTERLEAVED, 4, 2, 8);
    expect_list(wish, 0,
                "F0 F1 F2 F3 f0 f1 f2 f3 F4 F5 F6 b0 F7 b1 f4 b2 f5 b3 f6 B0 f7 B1 B2 B3 b4 b5 b6 "
                "b7 B4 B5 B6 B7");
    expect_list(wish, 3,
                "F0 F1 F2 F3 f0 b0 f1 b1 f2 b2 f3 b3 F4 B0 F5 B1 F6 B2 F7 B3 f4 b4 f5 b5 f6 b6 f7 "
                "b7 B4 B5 B6 B7");
}

/* Qi et al., figure 2 (top): H1 of four stages; the last stage puts wgrads off until it waits. */
static void the_first_zero_bubble_list_is_1f1b_with_late_wgrads(void **state)
{
    (void)state;
    const weir_schedule_wish wish = wish_of(WEIR_SCHEDULE_ZB_H1, 4, 1, 6);
    expect_list(wish, 0, "F0 F1 F2 F3 D0 W0 F4 D1 W1 F5 D2 W2 D3 W3 D4 W4 D5 W5");
}

/* DeepSeek-V3's figure 5 is of 8 stages and 20 micro-batches; the same program of two stages. */
static void dualpipe_runs_both_directions_on_every_stage(void **state)
{
    (void)state;
    const weir_schedule_wish wish = wish_of(WEIR_SCHEDULE_DUALPIPE, 2, 1, 4);
    expect_list(wish, 0, "F0 f2 F1 b2 f3&B0 b3 D1 W1");
    expect_list(wish, 1, "f2 F0 f3 B0 F1&b2 B1 d3 w3");
}

/* --- Zero Bubble (2401.10241): Table 9 in, Table 5 out --- */

static void bubble_rates_are_those_of_zero_bubble(void **state)
{
    (void)state;
    /* ms; kept from dgrad to wgrad: 32 of 34 + 5 a s / h (section 3.2 there) */
    const weir_pass_times small = {18.522, 18.086, 9.337}, large = {11.347, 11.248, 8.132};
    double small_kept = 32 / (34 + 5.0 * 24 * 1024 / 2304), small_send = 0.601;
    double large_kept = 32 / (34 + 5.0 * 40 * 1024 / 5120), large_send = 0.377;
    const struct {
        weir_schedule_kind kind;
        bool by_times;
        double small, large; /* 1.5B: 8 stages, 24 micro-batches; 14.6B: 16, 48 */
    } rows[] = {{WEIR_SCHEDULE_ONE_F_ONE_B, false, 0.2431, 0.2552},
                {WEIR_SCHEDULE_ZB_H1, false, 0.1585, 0.1397},
                {WEIR_SCHEDULE_ZB_H2, false, 0.1083, 0.0672},
                {WEIR_SCHEDULE_ZB_H1, true, 0.1585, 0.1397},
                {WEIR_SCHEDULE_ZB_H2, true, 0.0433, 0.0066}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint32_t is_large = 0; is_large < 2; is_large++) {
            weir_schedule_wish wish =
                wish_of(rows[i].kind, is_large ? 16 : 8, 1, is_large ? 48 : 24);
            wish.wgrad_share = !rows[i].by_times ? 1 : is_large ? large_kept : small_kept;
            outcome o = play(wish, is_large ? large : small, rows[i].by_times,
                             (weir_schedule_costs){.send_s = is_large ? large_send : small_send});
            double rate = 1 - o.played.stage_busy_s[0] / o.played.span_s;
            double published = is_large ? rows[i].large : rows[i].small;
            if (fabs(rate - published) > 0.00006) {
                fail_msg("row %zu: found %.5f, published %.4f", i, rate, published);
            }
            weir_arena_free(o.arena);
        }
    }
}

/* --- what does not fit --- */

static void a_plan_that_does_not_fit_names_its_key_and_the_nearest_value(void **state)
{
    (void)state;
    static const struct {
        weir_schedule_kind kind;
        uint32_t p, v, m;
        const char *key, *value;
    } rows[] = {{WEIR_SCHEDULE_INTERLEAVED, 8, 2, 20, "plan.micro_batches", "such as 16"},
                {WEIR_SCHEDULE_INTERLEAVED, 8, 2, 4, "plan.micro_batches", "such as 8"},
                {WEIR_SCHEDULE_ONE_F_ONE_B, 8, 2, 16, "plan.chunks", "expected 1"},
                {WEIR_SCHEDULE_GPIPE, 8, 2, 16, "plan.chunks", "expected 1"},
                {WEIR_SCHEDULE_ZB_V, 8, 1, 16, "plan.chunks", "expected 2"},
                {WEIR_SCHEDULE_DUALPIPE_V, 8, 3, 16, "plan.chunks", "expected 2"},
                {WEIR_SCHEDULE_DUALPIPE, 7, 1, 28, "plan.pipeline", "such as 8"},
                {WEIR_SCHEDULE_DUALPIPE, 8, 1, 14, "plan.micro_batches", "such as 16"},
                {WEIR_SCHEDULE_DUALPIPE, 8, 1, 21, "plan.micro_batches", "such as 22"},
                {WEIR_SCHEDULE_DUALPIPE_V, 8, 2, 15, "plan.micro_batches", "such as 16"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weir_schedule_fault fault = {0};
        assert_false(
            weir_schedule_is_possible(rows[i].kind, rows[i].p, rows[i].v, rows[i].m, &fault));
        assert_string_equal(fault.key, rows[i].key);
        if (!strstr(fault.text, rows[i].value)) {
            fail_msg("found \"%s\", expected \"%s\" in it", fault.text, rows[i].value);
        }
        weir_arena *arena = weir_arena_new();
        weir_schedule schedule = {.stages = 99};
        weir_err err = {0};
        const weir_schedule_wish wish = wish_of(rows[i].kind, rows[i].p, rows[i].v, rows[i].m);
        assert_int_equal(weir_schedule_search(&wish, arena, &schedule, &err), WEIR_ERR_INPUT);
        assert_int_equal(schedule.stages, 99);
        weir_arena_free(arena);
    }
}

/* As by the program of the published runs: the last stage has the head on top. */
static void zero_bubble_is_searched_for_the_median_stage(void **state)
{
    (void)state;
    enum { P = 8, M = 24 };
    weir_pass_times even[P], uneven[P];
    for (uint32_t i = 0; i < P; i++) {
        even[i] = UNEQUAL;
        uneven[i] = i < P - 1 ? UNEQUAL : (weir_pass_times){2, 2, 2};
    }
    for (uint32_t kind = WEIR_SCHEDULE_ZB_H1; kind <= WEIR_SCHEDULE_ZB_H2; kind++) {
        weir_schedule_wish wish = wish_of((weir_schedule_kind)kind, P, 1, M);
        weir_arena *arena = weir_arena_new();
        weir_schedule one, other;
        weir_err err = {0};
        wish.send_s = 0.125;
        wish.times = even;
        assert_int_equal(weir_schedule_search(&wish, arena, &one, &err), WEIR_OK);
        wish.times = uneven;
        assert_int_equal(weir_schedule_search(&wish, arena, &other, &err), WEIR_OK);
        for (uint32_t i = 0; i < one.first[P]; i++) {
            assert_int_equal(one.tasks[i].kind, other.tasks[i].kind);
            assert_int_equal(one.tasks[i].micro_batch, other.tasks[i].micro_batch);
        }
        weir_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_stages_idle_as_published),
        cmocka_unit_test(uniform_stages_idle_by_the_formulas),
        cmocka_unit_test(dual_pipes_idle_by_their_formula),
        cmocka_unit_test(activations_in_flight_are_those_of_the_formulas),
        cmocka_unit_test(interleaved_lists_are_those_of_megatron),
        cmocka_unit_test(the_first_zero_bubble_list_is_1f1b_with_late_wgrads),
        cmocka_unit_test(dualpipe_runs_both_directions_on_every_stage),
        cmocka_unit_test(bubble_rates_are_those_of_zero_bubble),
        cmocka_unit_test(zero_bubble_is_searched_for_the_median_stage),
        cmocka_unit_test(a_plan_that_does_not_fit_names_its_key_and_the_nearest_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
