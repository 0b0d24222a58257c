/* Prices at which another candidate wins: by hand, and against trying many prices. */
#include "fabric/flips.h"

#include "parts_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A: 100 switches. B: 20 switches and 50 mirrors. At 10 and 12 USD: 1,000 against 200 + 600 = 800.
 * B wins until mirrors cost (1,000 - 200) / 50 = 16, or switches as little as 600 / 80 = 7.5. */
static void finds_the_crossings_of_two_candidates(void **state)
{
    (void)state;
    const weir_cost_term a[] = {{"switch", 60}, {"switch", 40}}; /* one price in two rows */
    const weir_cost_term b[] = {{"switch", 20}, {"mirror", 50}};
    const weir_cost_candidate candidates[] = {{a, 2, 0}, {b, 2, 0}};
    const weir_cost_price prices[] = {{"switch", 8, 10, 15}, {"mirror", 10, 12, 20}};
    weir_flip flips[4];
    expect_near(weir_cost_of_year(&candidates[0], prices, 2), 1000, 1e-9);
    expect_near(weir_cost_of_year(&candidates[1], prices, 2), 800, 1e-9);
    assert_int_equal(weir_cost_winner(candidates, 2, prices, 2), 1);
    assert_int_equal(weir_flips_find(candidates, 2, prices, 2, flips), 2);
    assert_int_equal(flips[0].price, 0);
    expect_near(flips[0].at_usd, 7.5, 1e-9);
    assert_false(flips[0].is_dearer);
    assert_false(flips[0].is_within); /* 8 .. 15 */
    assert_int_equal(flips[0].winner, 0);
    assert_int_equal(flips[1].price, 1);
    expect_near(flips[1].at_usd, 16, 1e-9);
    assert_true(flips[1].is_dearer);
    assert_true(flips[1].is_within); /* 10 .. 20 */
    assert_int_equal(flips[1].winner, 0);
}

static void a_flip_below_nothing_or_without_a_difference_is_none(void **state)
{
    (void)state;
    /* The winner costs 500 even where switches are free; the other is dearer by a constant. */
    const weir_cost_term term = {"switch", 10}, unknown = {"unlisted", 1e9};
    const weir_cost_candidate candidates[] = {{&term, 1, 500}, {&term, 1, 600}, {&unknown, 1, 700}};
    const weir_cost_price price = {"switch", 1, 10, 100};
    weir_flip flips[2];
    assert_int_equal(weir_flips_find(candidates, 2, &price, 1, flips), 0);
    /* Against 700 without switches: at (700 - 500) / 10 = 20. */
    assert_int_equal(weir_flips_find(candidates, 3, &price, 1, flips), 1);
    expect_near(flips[0].at_usd, 20, 1e-9);
    assert_int_equal(flips[0].winner, 2);
    assert_int_equal(weir_flips_find(candidates, 0, &price, 1, flips), 0);
    assert_int_equal(weir_cost_winner(candidates, 0, &price, 1), WEIR_NONE);
}

/* Optics at x times their prices: A 400 x, B 100 + 150 x: equal at x = 0.4. */
static void prices_that_move_together_are_one_factor(void **state)
{
    (void)state;
    const weir_cost_term a[] = {{"module", 30}, {"fibre", 10}}, b = {"module", 15};
    const weir_cost_candidate candidates[] = {{a, 2, 0}, {&b, 1, 100}};
    const weir_cost_price prices[] = {{"module", 5, 10, 20}, {"fibre", 5, 10, 20}};
    const bool member[] = {true, true};
    const double band[2] = {0.5, 1.5};
    weir_flip flips[2];
    assert_int_equal(weir_flips_together(candidates, 2, prices, 2, member, band, flips), 1);
    expect_near(flips[0].at_usd, 0.4, 1e-12);
    assert_int_equal(flips[0].price, WEIR_NONE);
    assert_int_equal(flips[0].winner, 0);
    assert_false(flips[0].is_within);
}

static uint64_t next(uint64_t *s) /* splitmix64 */
{
    uint64_t z = (*s += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* On whole numbers: just before a flip the winner is the old one, just beyond it is the new one,
 * and between the typical price and the flip no price that is tried has another winner. */
static void agrees_with_trying_prices(void **state)
{
    (void)state;
    enum { CANDIDATES = 5, PRICES = 3, TRIES = 200 };
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t s = seed;
        weir_cost_term terms[CANDIDATES][PRICES];
        weir_cost_candidate candidates[CANDIDATES];
        weir_cost_price prices[PRICES] = {{"p", 0, 0, 0}, {"q", 0, 0, 0}, {"r", 0, 0, 0}};
        for (uint32_t p = 0; p < PRICES; p++) {
            prices[p].typical_usd = prices[p].low_usd = prices[p].high_usd =
                (double)(1 + next(&s) % 50);
        }
        for (uint32_t c = 0; c < CANDIDATES; c++) {
            for (uint32_t p = 0; p < PRICES; p++) {
                terms[c][p] = (weir_cost_term){prices[p].price, (double)(next(&s) % 40)};
            }
            candidates[c] = (weir_cost_candidate){terms[c], PRICES, (double)(next(&s) % 3000)};
        }
        uint32_t winner = weir_cost_winner(candidates, CANDIDATES, prices, PRICES);
        weir_flip flips[2 * PRICES];
        uint32_t n = weir_flips_find(candidates, CANDIDATES, prices, PRICES, flips);
        for (uint32_t f = 0; f < n; f++) {
            weir_cost_price tried[PRICES];
            memcpy(tried, prices, sizeof tried);
            double *x = &tried[flips[f].price].typical_usd, from = *x, to = flips[f].at_usd;
            for (int i = 0; i < TRIES; i++) {
                *x = from + (to - from) * i / TRIES;
                if (weir_cost_winner(candidates, CANDIDATES, tried, PRICES) != winner) {
                    fail_msg("seed %llu: another winner at %g before %g", (unsigned long long)seed,
                             *x, to);
                }
            }
            *x = to + (flips[f].is_dearer ? 1e-6 : -1e-6) * (1 + to);
            assert_int_equal(weir_cost_winner(candidates, CANDIDATES, tried, PRICES),
                             flips[f].winner);
            found++;
        }
    }
    assert_true(found > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_crossings_of_two_candidates),
        cmocka_unit_test(a_flip_below_nothing_or_without_a_difference_is_none),
        cmocka_unit_test(prices_that_move_together_are_one_factor),
        cmocka_unit_test(agrees_with_trying_prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
