/* Heaviest matchings of graphs that are not bipartite: against every matching of small random
 * graphs, against the bipartite solver where the graph is bipartite, and by hand. */
#include "fabric/blossom.h"
#include "fabric/matching.h"

#include "fluid_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12 };

/* The best of all matchings among the nodes that are not in `used`. */
static int64_t best_of(uint32_t n, const int64_t *weights, uint32_t used)
{
    uint32_t first = 0;
    while (first < n && (used >> first & 1)) {
        first++;
    }
    if (first >= n) {
        return 0;
    }
    int64_t best = best_of(n, weights, used | 1u << first);
    for (uint32_t other = first + 1; other < n; other++) {
        if (!(used >> other & 1)) {
            int64_t with =
                weights[first * n + other] + best_of(n, weights, used | 1u << first | 1u << other);
            best = with > best ? with : best;
        }
    }
    return best;
}

/* Partners are mutual, different, joined, and make the sum. */
static int64_t solve(uint32_t n, const int64_t *weights)
{
    uint32_t *partner = calloc(n, sizeof *partner);
    int64_t sum = -1, found = 0;
    weir_err err = {0};
    assert_non_null(partner);
    assert_int_equal(weir_blossom_heaviest(n, weights, partner, &sum, &err), WEIR_OK);
    for (uint32_t i = 0; i < n; i++) {
        if (partner[i] == WEIR_NONE) {
            continue;
        }
        assert_true(partner[i] < n && partner[i] != i);
        assert_int_equal(partner[partner[i]], i);
        if (partner[i] > i) {
            assert_true(weights[i * n + partner[i]] > 0);
            found += weights[i * n + partner[i]];
        }
    }
    assert_int_equal(found, sum);
    free(partner);
    return sum;
}

static void the_best_of_all_matchings_of_small_graphs_is_found(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 4000; round++) {
        uint32_t n = 1 + pick(&random, round % 40 == 0 ? MOST : 9);
        uint32_t largest = 1 + pick(&random, round % 3 == 0 ? 3 : 1000), empty = pick(&random, 4);
        int64_t weights[MOST * MOST] = {0};
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = i + 1; j < n; j++) {
                weights[i * n + j] = pick(&random, 4) < empty ? 0 : 1 + pick(&random, largest);
            }
        }
        int64_t expected = best_of(n, weights, 0), found = solve(n, weights);
        if (found != expected) {
            fail_msg("round %d, %u nodes: found %lld, expected %lld", round, n, (long long)found,
                     (long long)expected);
        }
    }
}

static void a_triangle_with_a_tail_leaves_its_heaviest_edge(void **state)
{
    (void)state;
    /* 0-1: 6, 1-2: 10, 0-2: 5, 2-3: 5: the 10 alone against 6 + 5. */
    const int64_t weights[16] = {0, 6, 5, 0, 0, 0, 10, 0, 0, 0, 0, 5};
    assert_int_equal(solve(4, weights), 11);
}

static void a_bipartite_graph_has_the_same_sum_as_the_bipartite_solver(void **state)
{
    (void)state;
    enum { HALF = 40, ALL = 2 * HALF };
    uint64_t random = 3;
    int64_t *weights = calloc((size_t)ALL * ALL, sizeof *weights);
    double *square = calloc((size_t)HALF * HALF, sizeof *square), expected = 0;
    uint32_t column[HALF];
    weir_err err = {0};
    assert_true(weights && square);
    for (uint32_t i = 0; i < HALF; i++) {
        for (uint32_t j = 0; j < HALF; j++) {
            uint32_t weight = 1 + pick(&random, 100000);
            weights[i * ALL + HALF + j] = weight;
            square[i * HALF + j] = weight;
        }
    }
    assert_int_equal(weir_matching_heaviest(HALF, square, column, &expected, &err), WEIR_OK);
    assert_int_equal(solve(ALL, weights), (int64_t)expected);
    free(weights);
    free(square);
}

/* Odd rings glued together nest blossoms; nobody may be left over where all can be matched. */
static void nested_odd_rings_are_matched_perfectly(void **state)
{
    (void)state;
    enum { RINGS = 8, N = 2 + 4 * RINGS };
    static int64_t weights[N * N];
    uint32_t hub = 0, next = 1;
    for (int ring = 0; ring < RINGS; ring++) { /* hub a b c d, and on from c */
        const uint32_t at[6] = {hub, next, next + 1, next + 2, next + 3, hub};
        for (int i = 0; i < 5; i++) {
            uint32_t u = at[i] < at[i + 1] ? at[i] : at[i + 1];
            uint32_t v = at[i] < at[i + 1] ? at[i + 1] : at[i];
            weights[u * N + v] = 100 + i;
        }
        hub = at[3];
        next += 4;
    }
    weights[hub * N + next] = 1; /* the odd one out hangs on the last ring */
    uint32_t partner[N];
    weir_err err = {0};
    assert_int_equal(weir_blossom_heaviest(N, weights, partner, NULL, &err), WEIR_OK);
    int64_t sum = solve(N, weights);
    assert_true(sum >= 100 * 2 * RINGS);
}

static void weights_that_are_no_weights_are_refused(void **state)
{
    (void)state;
    const int64_t negative[4] = {0, -1, 0, 0}, huge[4] = {0, INT64_MAX, 0, 0};
    uint32_t partner[2];
    weir_err err = {0};
    assert_int_equal(weir_blossom_heaviest(2, negative, partner, NULL, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "a weight of -1 between nodes 0 and 1"));
    memset(&err, 0, sizeof err);
    assert_int_equal(weir_blossom_heaviest(2, huge, partner, NULL, &err), WEIR_ERR_INPUT);
    memset(&err, 0, sizeof err);
    assert_int_equal(weir_blossom_heaviest(0, huge, partner, NULL, &err), WEIR_ERR_INPUT);
    memset(&err, 0, sizeof err);
    assert_int_equal(weir_blossom_heaviest(WEIR_BLOSSOM_MAX + 1, huge, partner, NULL, &err),
                     WEIR_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_all_matchings_of_small_graphs_is_found),
        cmocka_unit_test(a_triangle_with_a_tail_leaves_its_heaviest_edge),
        cmocka_unit_test(a_bipartite_graph_has_the_same_sum_as_the_bipartite_solver),
        cmocka_unit_test(nested_odd_rings_are_matched_perfectly),
        cmocka_unit_test(weights_that_are_no_weights_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
