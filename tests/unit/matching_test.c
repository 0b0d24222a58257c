#include "fabric/matching.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 7 };

/* xorshift64 (Marsaglia 2003) */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t was = *a;
    *a = *b;
    *b = was;
}

typedef struct {
    double heaviest, widest; /* over perfect matchings; widest only over cells above 0 */
    uint32_t largest;        /* cells above 0 in one permutation */
} brute;

static void look_at(uint32_t n, const double *weights, const uint32_t *p, brute *found)
{
    double sum = 0, least = INFINITY;
    uint32_t size = 0;
    for (uint32_t i = 0; i < n; i++) {
        double cell = weights[i * n + p[i]];
        sum += cell;
        least = fmin(least, cell);
        size += cell > 0;
    }
    found->heaviest = fmax(found->heaviest, sum);
    found->widest = fmax(found->widest, least);
    found->largest = size > found->largest ? size : found->largest;
}

/* All permutations of p[at..n). */
// NOLINTNEXTLINE(misc-no-recursion)
static void try_all(uint32_t n, const double *weights, uint32_t *p, uint32_t at, brute *found)
{
    if (at == n) {
        look_at(n, weights, p, found);
        return;
    }
    for (uint32_t i = at; i < n; i++) {
        swap(&p[at], &p[i]);
        try_all(n, weights, p, at + 1, found);
        swap(&p[at], &p[i]);
    }
}

static double check_permutation(uint32_t n, const double *weights, const uint32_t *match)
{
    bool seen[64] = {false};
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        assert_true(match[i] < n && !seen[match[i]]);
        seen[match[i]] = true;
        sum += weights[i * n + match[i]];
    }
    return sum;
}

/* Whole numbers, some negative, many equal, many zero: ties and gaps. */
static void draw_weights(uint64_t *state, uint32_t n, double *weights)
{
    uint64_t gaps = draw(state) % 4;
    for (uint32_t i = 0; i < n * n; i++) {
        weights[i] = draw(state) % 4 < gaps ? 0 : (double)(draw(state) % 10) - 2;
    }
}

static void agrees_with_all_permutations(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;
    for (int k = 0; k < 600; k++) {
        double weights[MOST * MOST], sum = 0, smallest = -1;
        uint32_t n = 1 + (uint32_t)(draw(&seed) % (k < 580 ? 6 : MOST)), match[MOST], size = 0;
        uint32_t p[MOST] = {0, 1, 2, 3, 4, 5, 6};
        brute best = {-INFINITY, 0, 0};
        draw_weights(&seed, n, weights);
        try_all(n, weights, p, 0, &best);

        assert_int_equal(weir_matching_heaviest(n, weights, match, &sum, NULL), WEIR_OK);
        assert_true(sum == best.heaviest);
        assert_true(check_permutation(n, weights, match) == sum);

        assert_int_equal(weir_matching_bottleneck(n, weights, match, &smallest, NULL), WEIR_OK);
        assert_true(smallest == best.widest);
        if (smallest > 0) {
            check_permutation(n, weights, match);
        }

        assert_int_equal(weir_matching_largest(n, weights, 0.5, match, &size, NULL), WEIR_OK);
        assert_int_equal(size, best.largest);
        for (uint32_t i = 0; i < n; i++) {
            size -= match[i] != WEIR_NONE;
            assert_true(match[i] == WEIR_NONE || weights[i * n + match[i]] >= 0.5);
        }
        assert_int_equal(size, 0);
    }
}

/* In r(i) + c(j) all permutations have the same sum; one more on the cells of one permutation makes
 * that one the only answer. */
static void finds_a_planted_matching_of_sixty(void **state)
{
    enum { N = 60 };
    static double weights[N * N];
    uint64_t seed = 7;
    uint32_t planted[N], match[N];
    (void)state;
    for (int k = 0; k < 20; k++) {
        double sum;
        for (uint32_t i = 0; i < N; i++) {
            planted[i] = i;
        }
        for (uint32_t i = N - 1; i > 0; i--) {
            swap(&planted[i], &planted[draw(&seed) % (i + 1)]);
        }
        double rows[N], columns[N];
        for (uint32_t i = 0; i < N; i++) {
            rows[i] = (double)(draw(&seed) % 1000);
            columns[i] = (double)(draw(&seed) % 1000);
        }
        for (uint32_t i = 0; i < N * N; i++) {
            weights[i] = rows[i / N] + columns[i % N] + (planted[i / N] == i % N);
        }
        assert_int_equal(weir_matching_heaviest(N, weights, match, &sum, NULL), WEIR_OK);
        assert_memory_equal(match, planted, sizeof planted);
    }
}

static void takes_the_lower_column_where_all_are_equal(void **state)
{
    const double weights[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    uint32_t match[3], size;
    double smallest;
    (void)state;
    assert_int_equal(weir_matching_heaviest(3, weights, match, NULL, NULL), WEIR_OK);
    assert_true(match[0] == 0 && match[1] == 1 && match[2] == 2);
    assert_int_equal(weir_matching_largest(3, weights, 1, match, &size, NULL), WEIR_OK);
    assert_true(match[0] == 0 && match[1] == 1 && match[2] == 2);
    assert_int_equal(weir_matching_bottleneck(3, weights, match, &smallest, NULL), WEIR_OK);
    assert_true(match[0] == 0 && match[1] == 1 && match[2] == 2 && smallest == 1);
}

static void says_that_there_is_no_perfect_matching(void **state)
{
    const double weights[9] = {5, 0, 0, 4, 0, 0, 1, 1, 1}; /* rows 0 and 1 want the same column */
    uint32_t match[3], size;
    double smallest;
    (void)state;
    assert_int_equal(weir_matching_bottleneck(3, weights, match, &smallest, NULL), WEIR_OK);
    assert_true(smallest == 0);
    assert_int_equal(weir_matching_largest(3, weights, 0.5, match, &size, NULL), WEIR_OK);
    assert_int_equal(size, 2);
}

static void refuses_what_is_not_a_number(void **state)
{
    const double weights[4] = {1, 2, NAN, 4};
    uint32_t match[2];
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_matching_heaviest(2, weights, match, NULL, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "row 1, column 0"));
    err = (weir_err){0};
    assert_int_equal(weir_matching_heaviest(0, weights, match, NULL, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "0 rows"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_all_permutations),
        cmocka_unit_test(finds_a_planted_matching_of_sixty),
        cmocka_unit_test(takes_the_lower_column_where_all_are_equal),
        cmocka_unit_test(says_that_there_is_no_perfect_matching),
        cmocka_unit_test(refuses_what_is_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
