/* schedule.h on random times: what every list and every play must obey, the starts beside those of
 * a player of one line (relaxed until nothing changes), and small cases by hand. */
#include "train/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEED = 20261201, MOST_STAGES = 9, MOST_CHUNKS = 3, MOST_MICRO_BATCHES = 20 };

static uint32_t below(uint64_t *random, uint32_t n)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % n;
}

/* A sixteenth or more of 1 s, so that sums are exact and ties happen. */
static double seconds(uint64_t *random)
{
    return (1 + below(random, 32)) / 16.0;
}

typedef struct {
    weir_arena *arena;
    weir_schedule_wish wish;
    weir_pass_times times[MOST_STAGES * MOST_CHUNKS];
    double ready_s[MOST_STAGES * MOST_CHUNKS];
    weir_pair_share pair[MOST_STAGES * MOST_CHUNKS];
    weir_schedule_costs costs;
    weir_schedule schedule;
    weir_schedule_times played;
} job;

/* False: no schedule of that kind fits. */
static bool draw(job *j, uint64_t *random)
{
    weir_schedule_fault fault;
    weir_schedule_wish *w = &j->wish;
    *w = (weir_schedule_wish){.kind = (weir_schedule_kind)below(random, WEIR_SCHEDULE_COUNT),
                              .stages = 1 + below(random, MOST_STAGES),
                              .chunks = 1 + below(random, MOST_CHUNKS),
                              .micro_batches = 1 + below(random, MOST_MICRO_BATCHES),
                              .times = j->times,
                              .send_s = below(random, 8) / 16.0,
                              .wgrad_share = below(random, 5) / 4.0};
    bool has_ready = below(random, 4) == 0;
    for (uint32_t i = 0; i < MOST_STAGES * MOST_CHUNKS; i++) {
        j->times[i] = (weir_pass_times){seconds(random), seconds(random), seconds(random)};
        j->ready_s[i] = seconds(random);
        const weir_pass_times *t = &j->times[i];
        double forward = t->forward_s * below(random, 5) / 4;
        double backward = t->dgrad_s * below(random, 5) / 4;
        j->pair[i] = (weir_pair_share){.forward_exchange_s = forward,
                                       .backward_exchange_s = backward,
                                       .forward_kernels_s = t->forward_s - forward,
                                       .dgrad_kernels_s = t->dgrad_s - backward,
                                       .wgrad_kernels_s = t->wgrad_s};
    }
    j->costs = (weir_schedule_costs){.times = j->times,
                                     .send_s = w->send_s,
                                     .pair = j->pair,
                                     .ready_s = has_ready ? j->ready_s : NULL};
    return weir_schedule_is_possible(w->kind, w->stages, w->chunks, w->micro_batches, &fault);
}

static void make(job *j)
{
    weir_err err = {0};
    j->arena = weir_arena_new();
    if (weir_schedule_search(&j->wish, j->arena, &j->schedule, &err) != WEIR_OK ||
        weir_schedule_play(&j->schedule, &j->costs, j->arena, &j->played, &err) != WEIR_OK) {
        fail_msg("%s, %u stages, %u chunks, %u micro-batches: %s",
                 weir_schedule_kind_name(j->wish.kind), j->wish.stages, j->wish.chunks,
                 j->wish.micro_batches, err.text);
    }
}

typedef void (*property)(job *j);

/* Some hundreds of plans of all kinds. */
static void for_many(property holds)
{
    uint64_t random = SEED;
    uint32_t seen[WEIR_SCHEDULE_COUNT] = {0};
    for (uint32_t n = 0; n < 5000; n++) {
        job j;
        if (draw(&j, &random)) {
            seen[j.wish.kind]++;
            make(&j);
            holds(&j);
            weir_arena_free(j.arena);
        }
    }
    for (uint32_t k = 0; k < WEIR_SCHEDULE_COUNT; k++) {
        if (seen[k] < 20) {
            fail_msg("seed %d: only %u plans of %s", SEED, seen[k],
                     weir_schedule_kind_name((weir_schedule_kind)k));
        }
    }
}

static uint32_t position_at(const job *j, uint32_t stage, uint32_t row)
{
    return j->schedule.position[stage * j->schedule.chunks + j->schedule.tasks[row].chunk];
}

static double length(const job *j, uint32_t stage, uint32_t row)
{
    const weir_pass_times *t = &j->times[position_at(j, stage, row)];
    const double of[] = {t->forward_s, t->dgrad_s + t->wgrad_s, t->dgrad_s, t->wgrad_s};
    return of[j->schedule.tasks[row].kind];
}

/* The row of the pass of that position and micro-batch (forward, or what gives the gradient of
 * inputs); fails if there is none. */
static uint32_t row_of(const job *j, uint32_t position, uint32_t micro_batch, bool forward,
                       uint32_t *stage)
{
    for (uint32_t s = 0; s < j->schedule.stages; s++) {
        for (uint32_t i = j->schedule.first[s]; i < j->schedule.first[s + 1]; i++) {
            const weir_task *t = &j->schedule.tasks[i];
            bool is_kind = forward ? t->kind == WEIR_TASK_FORWARD
                                   : t->kind == WEIR_TASK_BACKWARD || t->kind == WEIR_TASK_DGRAD;
            if (is_kind && t->micro_batch == micro_batch && position_at(j, s, i) == position) {
                *stage = s;
                return i;
            }
        }
    }
    fail_msg("no pass of position %u, micro-batch %u", position, micro_batch);
    return 0;
}

/* --- properties --- */

static void check_each_once(job *j)
{
    uint32_t positions = j->wish.stages * j->wish.chunks, m = j->wish.micro_batches;
    static uint8_t found[MOST_STAGES * MOST_CHUNKS][MOST_MICRO_BATCHES][WEIR_TASK_KINDS];
    memset(found, 0, sizeof found);
    for (uint32_t s = 0; s < j->schedule.stages; s++) {
        for (uint32_t i = j->schedule.first[s]; i < j->schedule.first[s + 1]; i++) {
            const weir_task *t = &j->schedule.tasks[i];
            uint8_t *of = found[position_at(j, s, i)][t->micro_batch];
            uint8_t before = t->kind == WEIR_TASK_WGRAD     ? of[WEIR_TASK_DGRAD]
                             : t->kind == WEIR_TASK_FORWARD ? 1
                                                            : of[WEIR_TASK_FORWARD];
            assert_int_equal(before, 1); /* its own pass before it is in the same list */
            of[t->kind]++;
        }
    }
    for (uint32_t i = 0; i < positions; i++) {
        for (uint32_t n = 0; n < m; n++) {
            const uint8_t *of = found[i][n];
            assert_int_equal(of[WEIR_TASK_FORWARD], 1);
            assert_int_equal(of[WEIR_TASK_BACKWARD] + of[WEIR_TASK_DGRAD], 1);
            assert_int_equal(of[WEIR_TASK_BACKWARD] + of[WEIR_TASK_WGRAD], 1);
        }
    }
}

static void every_pass_is_there_once_behind_its_own(void **state)
{
    (void)state;
    for_many(check_each_once);
}

/* When a task may start: of its list, its neighbours, its parameters. */
static double earliest(const job *j, const double *end, uint32_t stage, uint32_t row)
{
    const weir_task *t = &j->schedule.tasks[row];
    uint32_t position = position_at(j, stage, row), from = stage;
    uint32_t last = j->wish.stages * j->wish.chunks - 1;
    bool forward = t->kind == WEIR_TASK_FORWARD;
    double at = row > j->schedule.first[stage] ? end[row - 1] : 0;
    if (t->kind != WEIR_TASK_WGRAD && position != (forward ? 0 : last)) {
        uint32_t other =
            row_of(j, forward ? position - 1 : position + 1, t->micro_batch, forward, &from);
        at = fmax(at, end[other] + (from == stage ? 0 : j->costs.send_s));
    }
    return forward && j->costs.ready_s ? fmax(at, j->costs.ready_s[position]) : at;
}

/* Kernels of the gradients of weights are lent to the one exchange or to the other: none, all, or
 * as much as one of them lacks. */
static double hidden(const weir_pair_share *f, const weir_pair_share *b)
{
    double w = b->wgrad_kernels_s, most = 0;
    const double lent[] = {0, w, f->forward_exchange_s - b->dgrad_kernels_s,
                           w - (b->backward_exchange_s - f->forward_kernels_s)};
    for (int i = 0; i < 4; i++) {
        double one = fmin(w, fmax(0, lent[i]));
        most = fmax(most, fmin(f->forward_exchange_s, b->dgrad_kernels_s + one) +
                              fmin(b->backward_exchange_s, f->forward_kernels_s + w - one));
    }
    return most;
}

static bool relax(const job *j, double *start, double *end)
{
    bool changes = false;
    for (uint32_t s = 0; s < j->schedule.stages; s++) {
        for (uint32_t i = j->schedule.first[s]; i < j->schedule.first[s + 1]; i++) {
            bool is_pair = j->schedule.tasks[i].paired;
            double at = earliest(j, end, s, i), takes = length(j, s, i);
            if (is_pair) {
                double other = length(j, s, i + 1);
                end[i] = 0; /* the second does not wait for the first */
                at = fmax(at, earliest(j, end, s, i + 1));
                takes += other -
                         hidden(&j->pair[position_at(j, s, i)], &j->pair[position_at(j, s, i + 1)]);
            }
            for (uint32_t k = i; k <= i + is_pair; k++) {
                changes |= start[k] < at || end[k] < at + takes;
                start[k] = at;
                end[k] = at + takes;
            }
            i += is_pair;
        }
    }
    return changes;
}

static void check_starts(job *j)
{
    uint32_t rows = j->schedule.first[j->schedule.stages];
    if (rows > 400) { /* the simple player is slow */
        return;
    }
    double *start = weir_arena_alloc(j->arena, rows, sizeof *start);
    double *end = weir_arena_alloc(j->arena, rows, sizeof *end);
    uint32_t rounds = 0;
    while (relax(j, start, end) && rounds <= rows) {
        rounds++;
    }
    for (uint32_t i = 0; i < rows; i++) {
        if (fabs(j->played.start_s[i] - start[i]) > 1e-9) {
            fail_msg("seed %d, %s, %u x %u, %u micro-batches, row %u: found %g, expected %g", SEED,
                     weir_schedule_kind_name(j->wish.kind), j->wish.stages, j->wish.chunks,
                     j->wish.micro_batches, i, j->played.start_s[i], start[i]);
        }
    }
}

static void starts_are_those_of_a_simple_player(void **state)
{
    (void)state;
    for_many(check_starts);
}

/* No schedule is shorter than a stage's work, or than one micro-batch there and back. */
static void check_bounds(job *j)
{
    uint32_t positions = j->wish.stages * j->wish.chunks;
    double there = 0, tolerance = 1e-9;
    for (uint32_t i = 0; i < positions; i++) {
        there += j->times[i].forward_s + j->times[i].dgrad_s;
    }
    bool is_v = j->wish.kind == WEIR_SCHEDULE_ZB_V || j->wish.kind == WEIR_SCHEDULE_DUALPIPE_V;
    double hops = is_v ? 2 * (j->wish.stages - 1) : j->wish.stages > 1 ? positions - 1 : 0;
    assert_true(j->played.makespan_s >= there + 2 * hops * j->costs.send_s - tolerance);
    for (uint32_t s = 0; s < j->schedule.stages; s++) {
        double span = j->played.stage_end_s[s] - j->played.stage_begin_s[s];
        double idle = j->played.stage_end_s[s] - j->played.stage_busy_s[s];
        assert_true(j->played.span_s >= span - tolerance);
        assert_true(span >= j->played.stage_busy_s[s] - tolerance);
        assert_true(j->played.stage_send_s[s] <= idle + tolerance);
        assert_true(j->schedule.peak[s] <= j->schedule.in_flight);
    }
    assert_true(j->played.bubble_share >= 0 && j->played.bubble_share < 1);
}

static void no_step_is_shorter_than_its_work_or_its_way(void **state)
{
    (void)state;
    for_many(check_bounds);
}

/* Of a fixed list. */
static void check_monotonic(job *j)
{
    uint32_t at = j->wish.micro_batches % (j->wish.stages * j->wish.chunks);
    double before = j->played.makespan_s;
    double *longer[] = {&j->times[at].forward_s, &j->times[at].dgrad_s, &j->times[at].wgrad_s,
                        &j->costs.send_s};
    for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++) {
        *longer[i] += 0.25;
        weir_err err = {0};
        assert_int_equal(weir_schedule_play(&j->schedule, &j->costs, j->arena, &j->played, &err),
                         WEIR_OK);
        assert_true(j->played.makespan_s >= before);
        before = j->played.makespan_s;
    }
}

static void longer_passes_never_make_a_step_shorter(void **state)
{
    (void)state;
    for_many(check_monotonic);
}

static void check_again(job *j)
{
    job again = *j;
    make(&again);
    uint32_t rows = j->schedule.first[j->schedule.stages];
    assert_int_equal(again.schedule.first[again.schedule.stages], rows);
    assert_memory_equal(again.schedule.tasks, j->schedule.tasks, rows * sizeof(weir_task));
    assert_memory_equal(again.played.start_s, j->played.start_s, rows * sizeof(double));
    weir_arena_free(again.arena);
}

static void the_same_plan_gives_the_same_list(void **state)
{
    (void)state;
    for_many(check_again);
}

/* H1 that of p micro-batches, H2 that of 2 p. */
static void zero_bubble_keeps_to_its_memory(void **state)
{
    (void)state;
    uint64_t random = SEED;
    for (uint32_t n = 0; n < 3000; n++) {
        job j;
        if (!draw(&j, &random)) {
            continue;
        }
        weir_schedule_kind kind = j.wish.kind;
        make(&j);
        uint32_t p = j.wish.stages;
        uint32_t most = kind == WEIR_SCHEDULE_ZB_H1 ? p : 2 * p;
        bool is_limited = kind == WEIR_SCHEDULE_ZB_H1 || kind == WEIR_SCHEDULE_ZB_H2;
        if (is_limited && j.schedule.in_flight > most) {
            fail_msg("seed %d, %s of %u stages: found %u, expected at most %u", SEED,
                     weir_schedule_kind_name(kind), p, j.schedule.in_flight, most);
        }
        weir_arena_free(j.arena);
    }
}

/* --- by hand --- */

static double start(const job *j, uint32_t row)
{
    return j->played.start_s ? j->played.start_s[row] : -1;
}

/* Two stages, one micro-batch, passes of 1 s (a whole backward 2 s), messages of 0.5 s: F 0 to 1 on
 * stage 0; F 1.5 to 2.5, B 2.5 to 4.5 on stage 1; B 5 to 7 on stage 0. */
static job two_stages(bool blocks)
{
    job j = {
        .wish = {.kind = WEIR_SCHEDULE_ONE_F_ONE_B, .stages = 2, .chunks = 1, .micro_batches = 1}};
    j.times[0] = j.times[1] = (weir_pass_times){1, 1, 1};
    j.costs = (weir_schedule_costs){.send_s = 0.5, .sends_block = blocks};
    return j;
}

static void messages_are_told_from_bubbles(void **state)
{
    (void)state;
    job j = two_stages(false);
    j.costs.times = j.times;
    make(&j);
    assert_true(j.played.makespan_s == 7);
    assert_true(start(&j, 1) == 5 && start(&j, 2) == 1.5);
    /* stage 0 from 1 to 1.5 for its own, from 4.5 to 5 for the one that it gets */
    assert_true(j.played.stage_send_s[0] == 1 && j.played.stage_send_s[1] == 0.5);
    assert_true(j.played.stage_busy_s[0] == 3 && j.played.gradient_s[1] == 4.5);
    weir_arena_free(j.arena);
}

static void sends_that_block_keep_the_sender_from_computing(void **state)
{
    (void)state;
    job j = two_stages(true);
    j.costs.times = j.times;
    j.wish.micro_batches = 2;
    make(&j); /* stage 0: F 0-1, sends to 1.5, F 1.5-2.5 */
    assert_true(start(&j, 1) == 1.5);
    weir_arena_free(j.arena);
}

static void passes_wait_for_their_parameters(void **state)
{
    (void)state;
    job j = two_stages(false);
    j.costs.times = j.times;
    j.costs.ready_s = (const double[]){0.25, 4};
    make(&j);
    assert_true(start(&j, 0) == 0.25 && start(&j, 2) == 4);
    assert_true(j.played.stage_send_s[1] == 0);
    weir_arena_free(j.arena);
}

/* As messages_are_told_from_bubbles; stage 1 is free at 1, half a second before its input comes. */
static void stages_that_are_free_later_count_from_then(void **state)
{
    (void)state;
    job j = two_stages(false);
    j.costs.times = j.times;
    j.costs.free_s = (const double[]){0, 1};
    make(&j);
    assert_true(j.played.makespan_s == 7 && j.played.span_s == 7);
    assert_true(start(&j, 0) == 0 && start(&j, 2) == 0.5 && start(&j, 3) == 1.5);
    assert_true(j.played.gradient_s[1] == 3.5 && j.played.stage_end_s[1] == 3.5);
    assert_true(j.played.stage_begin_s[1] == 0.5 && j.played.stage_send_s[1] == 0.5);
    weir_arena_free(j.arena);
    j.costs.free_s = (const double[]){0, 2};
    make(&j);
    assert_true(start(&j, 2) == 0 && j.played.makespan_s == 7.5);
    weir_arena_free(j.arena);
}

static void a_list_that_waits_for_itself_is_an_error(void **state)
{
    (void)state;
    static const weir_task tasks[] = {{.kind = WEIR_TASK_BACKWARD},
                                      {.kind = WEIR_TASK_FORWARD},
                                      {.kind = WEIR_TASK_FORWARD},
                                      {.kind = WEIR_TASK_BACKWARD}};
    job j = two_stages(false);
    j.costs.times = j.times;
    j.schedule = (weir_schedule){.stages = 2,
                                 .chunks = 1,
                                 .micro_batches = 1,
                                 .first = (const uint32_t[]){0, 2, 4},
                                 .tasks = tasks,
                                 .position = (const uint32_t[]){0, 1}};
    weir_arena *arena = weir_arena_new();
    weir_err err = {0};
    weir_schedule_times played = {.makespan_s = 42};
    assert_int_not_equal(weir_schedule_play(&j.schedule, &j.costs, arena, &played, &err), WEIR_OK);
    assert_true(played.makespan_s == 42);
    weir_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pass_is_there_once_behind_its_own),
        cmocka_unit_test(starts_are_those_of_a_simple_player),
        cmocka_unit_test(no_step_is_shorter_than_its_work_or_its_way),
        cmocka_unit_test(longer_passes_never_make_a_step_shorter),
        cmocka_unit_test(the_same_plan_gives_the_same_list),
        cmocka_unit_test(zero_bubble_keeps_to_its_memory),
        cmocka_unit_test(messages_are_told_from_bubbles),
        cmocka_unit_test(sends_that_block_keep_the_sender_from_computing),
        cmocka_unit_test(passes_wait_for_their_parameters),
        cmocka_unit_test(stages_that_are_free_later_count_from_then),
        cmocka_unit_test(a_list_that_waits_for_itself_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
