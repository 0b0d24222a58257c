#include "fabric/resets.h"
#include "fabric/rotor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 6, TOPOLOGIES = 4 };

static uint64_t draw(uint64_t *state) /* xorshift64 (Marsaglia 2003) */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* cmocka compares floats; these are doubles. */
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

/* Written apart from the code under test: the definition, step by step. */
static double play(const weir_reset_job *job, const uint32_t *plan)
{
    double total = 0;
    for (uint32_t i = 0; i < job->steps; i++) {
        uint32_t last = i ? plan[i - 1] : job->repeats ? plan[job->steps - 1] : plan[0];
        double wait = job->delay_s - job->slack_s[i];
        total += job->step_s[i * job->topologies + plan[i]];
        total += last != plan[i] && wait > 0 ? wait : 0;
    }
    return total;
}

/* The least over all plans; per_phase: only those that keep their topology within a phase. */
static double try_all(const weir_reset_job *job, bool per_phase)
{
    double best = INFINITY;
    uint32_t count = 1;
    for (uint32_t i = 0; i < job->steps; i++) {
        count *= job->topologies;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t plan[STEPS], rest = k;
        bool fits = true;
        for (uint32_t i = 0; i < job->steps; i++) {
            plan[i] = rest % job->topologies;
            rest /= job->topologies;
            fits = fits && !(per_phase && i && job->phase_of_step[i] == job->phase_of_step[i - 1] &&
                             plan[i] != plan[i - 1]);
        }
        best = fits ? fmin(best, play(job, plan)) : best;
    }
    return best;
}

typedef struct {
    double step_s[STEPS * TOPOLOGIES], slack_s[STEPS];
    uint32_t phase[STEPS];
    weir_reset_job job;
} random_job;

static void draw_job(uint64_t *seed, random_job *r)
{
    uint32_t steps = 1 + (uint32_t)(draw(seed) % STEPS);
    r->job = (weir_reset_job){.steps = steps,
                              .topologies = 1 + (uint32_t)(draw(seed) % TOPOLOGIES),
                              .step_s = r->step_s,
                              .slack_s = r->slack_s,
                              .phase_of_step = r->phase,
                              .delay_s = (double)(draw(seed) % 8),
                              .repeats = draw(seed) % 2};
    for (uint32_t i = 0; i < steps; i++) {
        r->slack_s[i] = (double)(draw(seed) % 4);
        r->phase[i] = i ? r->phase[i - 1] + draw(seed) % 2 : 0;
        for (uint32_t t = 0; t < r->job.topologies; t++) {
            r->step_s[i * r->job.topologies + t] = (double)(1 + draw(seed) % 12);
        }
    }
}

/* Whole numbers: sums are exact. */
static void plans_are_the_best_of_all_plans(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;
    for (int k = 0; k < 1500; k++) {
        random_job r = {.step_s = {0}};
        draw_job(&seed, &r);
        for (int per_phase = 0; per_phase < 2; per_phase++) {
            uint32_t plan[STEPS];
            weir_reset_cost cost;
            weir_err err = {0};
            assert_int_equal(weir_reset_plan(&r.job, per_phase, plan, &cost, &err), WEIR_OK);
            assert_true(cost.total_s == try_all(&r.job, per_phase));
            assert_true(cost.total_s == play(&r.job, plan));
            assert_true(cost.total_s == cost.steps_s + cost.exposed_s);
            for (uint32_t i = 1; per_phase && i < r.job.steps; i++) {
                assert_true(r.phase[i] != r.phase[i - 1] || plan[i] == plan[i - 1]);
            }
        }
    }
}

static void more_freedom_is_never_slower(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (int k = 0; k < 500; k++) {
        random_job r = {.step_s = {0}};
        weir_reset_levels levels;
        draw_job(&seed, &r);
        assert_int_equal(weir_reset_compare(&r.job, 0, &levels, NULL), WEIR_OK);
        for (int level = 1; level < WEIR_RESET_LEVELS; level++) {
            assert_true(levels.cost[level].total_s <= levels.cost[level - 1].total_s);
            assert_true(levels.cost[levels.best].total_s <= levels.cost[level].total_s);
        }
        /* Below the break-even a level beats one topology for the job, above it does not. */
        for (int level = WEIR_RESET_PER_PHASE; level < WEIR_RESET_LEVELS; level++) {
            bool per_phase = level == WEIR_RESET_PER_PHASE;
            double stay = levels.cost[WEIR_RESET_PER_JOB].total_s, at = levels.break_even_s[level];
            weir_reset_job below = r.job, above = r.job;
            below.delay_s = at * (1 - 1e-6);
            above.delay_s = at + 1e-6;
            assert_true(at == 0 || try_all(&below, per_phase) < stay);
            assert_true(try_all(&above, per_phase) >= stay * (1 - 1e-12));
        }
    }
}

/* Oracle E11: slack 8 ms, delay 10 ms, 4 switches in a step of 5 s: 8 ms exposed, 0.16 %. */
static void exposes_what_the_slack_does_not_hide(void **state)
{
    const double step_s[8] = {1, 9, 9, 1, 1, 9, 9, 1};
    const double slack_s[4] = {8e-3, 8e-3, 8e-3, 8e-3};
    weir_reset_job job = {.steps = 4,
                          .topologies = 2,
                          .step_s = step_s,
                          .slack_s = slack_s,
                          .delay_s = 10e-3,
                          .repeats = true};
    weir_reset_levels levels;
    (void)state;
    assert_int_equal(weir_reset_compare(&job, WEIR_NONE, &levels, NULL), WEIR_OK);
    weir_reset_cost found = levels.cost[WEIR_RESET_PER_STEP];
    assert_int_equal(found.resets, 4);
    assert_near(found.exposed_s, 8e-3, 1e-15);
    assert_near(found.exposed_s / 5, 0.0016, 1e-15);
    assert_true(isinf(levels.cost[WEIR_RESET_NEVER].total_s));
    assert_int_equal(levels.best, WEIR_RESET_PER_PHASE); /* the same plan; fewer kinds of reset */
    job.delay_s = 5e-3;
    assert_int_equal(weir_reset_compare(&job, WEIR_NONE, &levels, NULL), WEIR_OK);
    assert_true(levels.cost[WEIR_RESET_PER_STEP].exposed_s == 0);
}

/* Oracle E9 as a plan: 100 MB to the neighbour, then to distance k, at 50 GB/s; the ring forwards
 * at k m / B. Setting circuits pays below (k - 1) m / B. */
static void break_even_is_that_of_the_oracle(void **state)
{
    static const double rows[][2] = {{2, 2e-3}, {4, 6e-3}, {8, 14e-3}, {64, 126e-3}};
    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const double m_s = 100e6 / 50e9, slack_s[2] = {0, 0};
        const double step_s[4] = {m_s, INFINITY, rows[r][0] * m_s, m_s};
        weir_reset_job job = {
            .steps = 2, .topologies = 2, .step_s = step_s, .slack_s = slack_s, .delay_s = 1e-3};
        weir_reset_levels levels;
        assert_int_equal(weir_reset_compare(&job, 0, &levels, NULL), WEIR_OK);
        assert_near(levels.break_even_s[WEIR_RESET_PER_PHASE], rows[r][1], 1e-9 * rows[r][1]);
        assert_near(levels.cost[WEIR_RESET_PER_PHASE].total_s, 2 * m_s + 1e-3, 1e-15);
        assert_near(levels.cost[WEIR_RESET_PER_JOB].total_s, (rows[r][0] + 1) * m_s, 1e-15);
    }
}

static void refuses_jobs_that_cannot_be_planned(void **state)
{
    const double good[4] = {1, 2, 3, 4}, bad[4] = {1, NAN, 3, 4};
    const double nowhere[4] = {1, INFINITY, INFINITY, 1}, stuck[4] = {1, 2, INFINITY, INFINITY};
    const double slack_s[2] = {0, 0}, negative[2] = {0, -1};
    const uint32_t falling[2] = {1, 0}, one[2] = {0, 0};
    const struct {
        weir_reset_job job;
        const char *part;
    } rows[] = {
        {{0, 2, good, slack_s, NULL, 0, false}, "0 steps"},
        {{2, 2, good, slack_s, NULL, -1, false}, "delay of -1"},
        {{2, 2, good, slack_s, NULL, INFINITY, false}, "delay of inf"},
        {{2, 2, bad, slack_s, NULL, 0, false}, "step 0 takes nan s on topology 1"},
        {{2, 2, good, negative, NULL, 0, false}, "step 1: a slack of -1"},
        {{2, 2, good, slack_s, falling, 0, false}, "of phase 0"},
        {{2, 2, stuck, slack_s, NULL, 0, false}, "step 1 runs on no topology"},
        {{2, 2, nowhere, slack_s, one, 0, false}, "a phase runs on no topology"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t plan[2];
        weir_reset_cost cost;
        weir_err err = {0};
        assert_int_equal(weir_reset_plan(&rows[i].job, true, plan, &cost, &err), WEIR_ERR_INPUT);
        if (!strstr(err.text, rows[i].part)) {
            fail_msg("row %zu: %s", i, err.text);
        }
    }
}

static void rotor_meets_each_pair_once_in_a_cycle(void **state)
{
    enum { N = 9 };
    uint32_t met[N * N] = {0}, match[N];
    (void)state;
    for (uint32_t k = 0; k < N - 1; k++) {
        weir_rotor_matching(N, k, match);
        for (uint32_t i = 0; i < N; i++) {
            met[i * N + match[i]]++;
        }
    }
    for (uint32_t i = 0; i < N * N; i++) {
        assert_int_equal(met[i], i / N != i % N);
    }
}

/* reference/network-oracles.md section 6: all-to-all on N ports takes (N - 1)(m / B + d);
 * network-model.md section 4: a rotor's cycle is N - 1 slots, throughput is full on uniform demand
 * and 1/2 at worst. */
static void rotor_serves_uniform_demand_fully_and_one_partner_half(void **state)
{
    enum { N = 8 };
    const weir_rotor rotor = {
        .n = N, .planes = 1, .slot_s = 4e-3, .delay_s = 1e-3, .bytes_per_s = 50e9};
    double uniform[N * N], shift[N * N] = {0}, share, direct;
    weir_demand demand = {N, uniform};
    (void)state;
    for (uint32_t i = 0; i < N * N; i++) {
        uniform[i] = i / N == i % N ? 0 : 200e6;
        shift[i] = (i / N + 3) % N == i % N ? 1 : 0;
    }
    assert_near(weir_rotor_cycle_s(&rotor), (N - 1) * (200e6 / 50e9 + 1e-3), 1e-15);
    assert_near(weir_rotor_duty_share(&rotor), 0.8, 1e-15);
    assert_near(weir_rotor_pair_bytes_per_s(&rotor) * weir_rotor_cycle_s(&rotor), 200e6, 1e-6);
    assert_int_equal(weir_rotor_throughput(&rotor, &demand, &share, &direct, NULL), WEIR_OK);
    assert_near(share, 0.8, 1e-12);
    assert_near(direct, 1, 1e-12);
    /* One partner each: 1/(N-1) directly, x over relays at twice the cost: 1/(N-1) + 2 x = 1. */
    demand.bytes = shift;
    assert_int_equal(weir_rotor_throughput(&rotor, &demand, &share, &direct, NULL), WEIR_OK);
    assert_near(share, 0.8 * N / (2 * (N - 1.0)), 1e-12);
    assert_near(direct, 2.0 / N, 1e-12);
    assert_near(weir_rotor_valiant_share(&rotor), 0.4, 1e-15);
}

static void rotor_worst_case_comes_down_to_half(void **state)
{
    enum { N = 512 };
    const weir_rotor rotor = {.n = N, .planes = 4, .slot_s = 1, .bytes_per_s = 1};
    double share, direct;
    weir_demand demand;
    (void)state;
    assert_int_equal(weir_demand_init(&demand, N, NULL), WEIR_OK);
    for (uint32_t i = 0; i < N; i++) {
        demand.bytes[i * N + (i + 1) % N] = 7;
    }
    assert_int_equal(weir_rotor_throughput(&rotor, &demand, &share, &direct, NULL), WEIR_OK);
    assert_near(share, 0.5, 0.001);
    assert_near(weir_rotor_cycle_s(&rotor), 128, 1e-12); /* 511 matchings, 4 at a time */
    weir_demand_clear(&demand);
}

static void rotor_refuses_other_sizes(void **state)
{
    double cells[4] = {1, 0, 0, 1}, share, direct;
    const weir_demand at_home = {2, cells};
    weir_rotor rotor = {.n = 3, .planes = 1, .slot_s = 1, .bytes_per_s = 1};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_rotor_throughput(&rotor, &at_home, &share, &direct, &err),
                     WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "3 nodes (demand: 2)"));
    rotor.n = 2;
    err = (weir_err){0};
    assert_int_equal(weir_rotor_throughput(&rotor, &at_home, &share, &direct, &err),
                     WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "to another one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_the_best_of_all_plans),
        cmocka_unit_test(more_freedom_is_never_slower),
        cmocka_unit_test(exposes_what_the_slack_does_not_hide),
        cmocka_unit_test(break_even_is_that_of_the_oracle),
        cmocka_unit_test(refuses_jobs_that_cannot_be_planned),
        cmocka_unit_test(rotor_meets_each_pair_once_in_a_cycle),
        cmocka_unit_test(rotor_serves_uniform_demand_fully_and_one_partner_half),
        cmocka_unit_test(rotor_worst_case_comes_down_to_half),
        cmocka_unit_test(rotor_refuses_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
