#include "fabric/decompose.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12 };

/* cmocka compares floats; these are doubles. */
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

static uint64_t draw(uint64_t *state) /* xorshift64 (Marsaglia 2003) */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double max_line(uint32_t n, const double *cells)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double row = 0, column = 0;
        for (uint32_t j = 0; j < n; j++) {
            row += cells[i * n + j];
            column += cells[j * n + i];
        }
        most = fmax(most, fmax(row, column));
    }
    return most;
}

/* Sums what the configurations could carry into sum (n*n); each must be a permutation. */
static double add_up(const weir_configurations *found, double rate, double *sum)
{
    double seconds = 0;
    memset(sum, 0, (size_t)found->n * found->n * sizeof *sum);
    for (uint32_t k = 0; k < found->count; k++) {
        bool seen[MOST] = {false};
        for (uint32_t i = 0; i < found->n; i++) {
            uint32_t j = found->column_of_row[k * found->n + i];
            assert_true(j < found->n && !seen[j]);
            seen[j] = true;
            sum[i * found->n + j] += found->seconds[k] * rate;
        }
        seconds += found->seconds[k];
    }
    return seconds;
}

typedef struct {
    const char *id;
    uint32_t n, line, fewest;
    double cells[16];
    struct {
        uint32_t columns[4];
        double weight;
    } parts[4];
} oracle_row;

/* reference/network-oracles.md, section 6: fewest configurations and weights by exhaustive search
 * over all permutations [X]. */
static const oracle_row oracle[] = {
    {"E1", 3, 4, 2, {0, 3, 1, 1, 0, 3, 3, 1, 0}, {{{1, 2, 0}, 3}, {{2, 0, 1}, 1}}},
    {"E2", 3, 4, 2, {0, 2, 2, 2, 0, 2, 2, 2, 0}, {{{1, 2, 0}, 2}, {{2, 0, 1}, 2}}},
    {"E3",
     3,
     8,
     4,
     {5, 1, 2, 1, 4, 3, 2, 3, 3},
     {{{0, 1, 2}, 2}, {{0, 2, 1}, 3}, {{1, 0, 2}, 1}, {{2, 1, 0}, 2}}},
    {"E4",
     4,
     6,
     3,
     {0, 4, 1, 1, 1, 0, 4, 1, 1, 1, 0, 4, 4, 1, 1, 0},
     {{{1, 2, 3, 0}, 4}, {{2, 3, 0, 1}, 1}, {{3, 0, 1, 2}, 1}}},
    {"E5",
     4,
     6,
     3,
     {0, 3, 2, 1, 1, 0, 3, 2, 2, 1, 0, 3, 3, 2, 1, 0},
     {{{1, 2, 3, 0}, 3}, {{2, 3, 0, 1}, 2}, {{3, 0, 1, 2}, 1}}},
    {"E6",
     4,
     6,
     3,
     {4, 2, 0, 0, 2, 2, 2, 0, 0, 2, 2, 2, 0, 0, 2, 4},
     {{{0, 1, 2, 3}, 2}, {{0, 2, 1, 3}, 2}, {{1, 0, 3, 2}, 2}}},
    {"E7", 3, 6, 3, {1, 2, 3, 2, 3, 1, 3, 1, 2}, {{{0, 2, 1}, 1}, {{1, 0, 2}, 2}, {{2, 1, 0}, 3}}},
};

static double find_weight(const weir_configurations *found, const uint32_t *columns)
{
    for (uint32_t k = 0; k < found->count; k++) {
        if (memcmp(found->column_of_row + k * found->n, columns, found->n * sizeof *columns) == 0) {
            return found->seconds[k];
        }
    }
    return 0;
}

static void birkhoff_finds_the_fewest_of_the_oracle(void **state)
{
    const weir_decompose_terms terms = {.bytes_per_s = 1, .switch_s = 0.5, .linkup_s = 0.25};
    (void)state;
    for (size_t i = 0; i < sizeof(oracle) / sizeof(oracle[0]); i++) {
        const oracle_row *row = &oracle[i];
        double cells[16];
        weir_configurations found;
        weir_err err = {0};
        memcpy(cells, row->cells, sizeof cells);
        const weir_demand demand = {row->n, cells};
        assert_int_equal(weir_decompose(&demand, WEIR_DECOMPOSE_BIRKHOFF, &terms, &found, &err),
                         WEIR_OK);
        if (found.count != row->fewest) {
            fail_msg("%s: %u configurations", row->id, found.count);
        }
        for (uint32_t k = 0; k < row->fewest; k++) {
            assert_near(find_weight(&found, row->parts[k].columns), row->parts[k].weight, 1e-12);
        }
        /* T = sum of weights / B + K d, and its bound. */
        assert_near(found.times.transfer_s, row->line, 1e-12);
        assert_near(found.times.switching_s, 0.5 * row->fewest, 1e-12);
        assert_near(found.times.linkup_s, 0.25 * row->fewest, 1e-12);
        assert_near(found.times.total_s, row->line + 0.75 * row->fewest, 1e-12);
        assert_near(found.times.bound_s, row->line + 0.75, 1e-12);
        weir_configurations_clear(&found);
    }
}

/* Section 6: K = N - 1, T = (N - 1)(m / B + d). */
static void uniform_all_to_all_takes_a_configuration_less_than_ports(void **state)
{
    const weir_decompose_terms terms = {.bytes_per_s = 50, .switch_s = 3};
    (void)state;
    for (uint32_t n = 2; n <= MOST; n++) {
        double cells[MOST * MOST];
        for (uint32_t i = 0; i < n * n; i++) {
            cells[i] = i / n == i % n ? 0 : 100;
        }
        const weir_demand demand = {n, cells};
        for (int method = 0; method <= WEIR_DECOMPOSE_ECLIPSE; method++) {
            weir_configurations found;
            assert_int_equal(
                weir_decompose(&demand, (weir_decompose_method)method, &terms, &found, NULL),
                WEIR_OK);
            assert_int_equal(found.count, n - 1);
            assert_near(found.times.total_s, (n - 1) * (2.0 + 3), 1e-9);
            weir_configurations_clear(&found);
        }
    }
}

/* Oracle E8: circuits of rate 1 beside a packet net of 0.1; the third number of each row (static
 * ring with forwarding) is tested in circuit_test.c. */
static void the_hybrid_of_the_oracle_beats_pure_circuits(void **state)
{
    static const double rows[][3] = {{0, 11, 10}, {1, 13, 11}, {2, 15, 12}, {5, 21, 15}};
    double cells[9] = {0, 10, 1, 1, 0, 10, 10, 1, 0};
    const weir_demand demand = {3, cells};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        weir_decompose_terms terms = {.bytes_per_s = 1, .switch_s = rows[i][0]};
        weir_configurations found;
        assert_int_equal(weir_decompose(&demand, WEIR_DECOMPOSE_BIRKHOFF, &terms, &found, NULL),
                         WEIR_OK);
        assert_near(found.times.total_s, rows[i][1], 1e-12);
        weir_configurations_clear(&found);
        terms.packet_bytes_per_s = 0.1;
        for (int method = WEIR_DECOMPOSE_SOLSTICE; method <= WEIR_DECOMPOSE_ECLIPSE; method++) {
            assert_int_equal(
                weir_decompose(&demand, (weir_decompose_method)method, &terms, &found, NULL),
                WEIR_OK);
            assert_int_equal(found.count, 1);
            assert_near(found.times.packets_s, 10, 1e-12);
            assert_near(found.times.total_s, rows[i][2], 1e-12);
            weir_configurations_clear(&found);
        }
    }
}

/* Sparse, dense, skewed; some lines empty. */
static void draw_demand(uint64_t *seed, uint32_t n, double *cells)
{
    uint64_t gaps = draw(seed) % 5;
    for (uint32_t i = 0; i < n * n; i++) {
        double size = (double)(draw(seed) >> 11) * 0x1p-53;
        double cell = draw(seed) % 3 ? size : 100 * size;
        cells[i] = draw(seed) % 5 < gaps ? 0 : cell * 1e6;
    }
    cells[draw(seed) % (n * n)] += 1;
}

static void check_random(const weir_demand *demand, weir_decompose_method method, double packets)
{
    const weir_decompose_terms terms = {
        .bytes_per_s = 1e5, .switch_s = 0.01, .linkup_s = 0.02, .packet_bytes_per_s = packets};
    weir_configurations found;
    uint32_t n = demand->n;
    double sum[MOST * MOST], line = max_line(n, demand->bytes);
    assert_int_equal(weir_decompose(demand, method, &terms, &found, NULL), WEIR_OK);
    double seconds = add_up(&found, terms.bytes_per_s, sum);
    assert_true(found.count <= n * n - 2 * n + 2 || n == 1);
    assert_near(found.times.transfer_s, seconds, 1e-9 * seconds);
    for (uint32_t i = 0; i < n * n; i++) {
        double left = found.rest_bytes[i];
        assert_true(left >= 0 && left <= demand->bytes[i]);
        assert_true(sum[i] + left >= demand->bytes[i] - 2e-9 * line);
    }
    if (packets == 0 && method != WEIR_DECOMPOSE_ECLIPSE) {
        /* All lines are filled to the busiest: the parts add up to it, and nothing is left. */
        assert_near(seconds * terms.bytes_per_s, line, 2e-9 * line);
        assert_near(max_line(n, sum), line, 2e-9 * line);
        assert_true(max_line(n, found.rest_bytes) == 0);
        assert_true(found.times.total_s >= found.times.bound_s * (1 - 2e-9));
    }
    if (packets > 0) {
        assert_near(found.times.packets_s, max_line(n, found.rest_bytes) / packets, 1e-9);
        assert_true(found.times.total_s >= line / (terms.bytes_per_s + packets) * (1 - 1e-9));
    }
    weir_configurations_clear(&found);
}

static void parts_are_permutations_that_add_up_to_the_demand(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;
    for (int k = 0; k < 400; k++) {
        double cells[MOST * MOST];
        uint32_t n = 1 + (uint32_t)(draw(&seed) % MOST);
        draw_demand(&seed, n, cells);
        const weir_demand demand = {n, cells};
        for (int method = 0; method <= WEIR_DECOMPOSE_ECLIPSE; method++) {
            check_random(&demand, (weir_decompose_method)method, 0);
            check_random(&demand, (weir_decompose_method)method, 1e4);
        }
    }
}

static void eclipse_ends_within_its_window(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int k = 0; k < 100; k++) {
        double cells[64];
        draw_demand(&seed, 8, cells);
        const weir_demand demand = {8, cells};
        const weir_decompose_terms terms = {
            .bytes_per_s = 1e6, .switch_s = 1, .window_s = (double)(1 + draw(&seed) % 200)};
        weir_configurations found;
        assert_int_equal(weir_decompose(&demand, WEIR_DECOMPOSE_ECLIPSE, &terms, &found, NULL),
                         WEIR_OK);
        double circuits = found.times.transfer_s + found.times.switching_s;
        assert_true(circuits <= terms.window_s * (1 + 1e-12));
        assert_true(found.times.packets_s == 0 || isinf(found.times.packets_s));
        weir_configurations_clear(&found);
    }
}

/* One configuration of 10 carries 30 in 11, both of the others less for each second. */
static void eclipse_takes_what_carries_most_for_its_time(void **state)
{
    double cells[9] = {0, 10, 1, 1, 0, 10, 10, 1, 0};
    const weir_demand demand = {3, cells};
    const weir_decompose_terms terms = {.bytes_per_s = 1, .switch_s = 1, .max_count = 1};
    weir_configurations found;
    (void)state;
    assert_int_equal(weir_decompose(&demand, WEIR_DECOMPOSE_ECLIPSE, &terms, &found, NULL),
                     WEIR_OK);
    assert_int_equal(found.count, 1);
    assert_true(found.seconds[0] == 10);
    assert_true(found.column_of_row[0] == 1 && found.column_of_row[1] == 2 &&
                found.column_of_row[2] == 0);
    assert_true(found.rest_bytes[2] == 1 && found.rest_bytes[1] == 0);
    assert_true(isinf(found.times.total_s));
    weir_configurations_clear(&found);
}

static void refuses_terms_that_make_no_sense(void **state)
{
    double cells[4] = {0, 1, 1, 0}, none[4] = {0};
    const weir_demand demand = {2, cells}, empty = {2, none};
    static const struct {
        weir_decompose_terms terms;
        const char *part;
    } rows[] = {
        {{.bytes_per_s = 0}, "above 0"},
        {{.bytes_per_s = NAN}, "above 0"},
        {{.bytes_per_s = 1, .switch_s = -1}, "switch_s is -1"},
        {{.bytes_per_s = 1, .linkup_s = INFINITY}, "linkup_s"},
        {{.bytes_per_s = 1, .packet_bytes_per_s = -2}, "packet_bytes_per_s"},
        {{.bytes_per_s = 1, .tolerance = 1}, "tolerance"},
    };
    weir_configurations found = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_err err = {0};
        assert_int_equal(
            weir_decompose(&demand, WEIR_DECOMPOSE_SOLSTICE, &rows[i].terms, &found, &err),
            WEIR_ERR_INPUT);
        assert_non_null(strstr(err.text, rows[i].part));
    }
    const weir_decompose_terms terms = {.bytes_per_s = 1};
    assert_int_equal(weir_decompose(&empty, WEIR_DECOMPOSE_SOLSTICE, &terms, &found, NULL),
                     WEIR_ERR_INPUT);
    assert_null(found.seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(birkhoff_finds_the_fewest_of_the_oracle),
        cmocka_unit_test(uniform_all_to_all_takes_a_configuration_less_than_ports),
        cmocka_unit_test(the_hybrid_of_the_oracle_beats_pure_circuits),
        cmocka_unit_test(parts_are_permutations_that_add_up_to_the_demand),
        cmocka_unit_test(eclipse_ends_within_its_window),
        cmocka_unit_test(eclipse_takes_what_carries_most_for_its_time),
        cmocka_unit_test(refuses_terms_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
