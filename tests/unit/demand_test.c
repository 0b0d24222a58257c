#include "fabric/demand.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* cmocka compares floats; these are doubles. */
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

static weir_code read_text(const char *text, weir_demand *demand, weir_err *err)
{
    weir_source *source = NULL;
    assert_int_equal(weir_source_memory(text, strlen(text), "d.csv", &source, NULL), WEIR_OK);
    weir_code code = weir_demand_read(source, "d.csv", demand, err);
    weir_source_close(source);
    return code;
}

static void reads_a_square_with_and_without_names_and_units(void **state)
{
    static const char *const texts[] = {
        "0,3,1\n1,0,3\n3,1,0\n",
        "# bytes\r\n\r\n 0, 3 ,1\r\n1,0,3\r\n3,1,0",
        "from,a,b,c\na,0,3,1\nb,1,0,3\nc,3,1,0\n",
        "\xEF\xBB\xBFto,\"a,\"\"x\",b,\"c\nd\"\n\"a,\"\"x\",0,3 B,1\nb,1,0,3\n\"c\nd\",3,1,0",
        "0,3e0,0.001 kB\n1 B,0,3\n3,1,0",
    };
    const double expected[9] = {0, 3, 1, 1, 0, 3, 3, 1, 0};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        weir_demand demand = {0};
        weir_err err = {0};
        assert_int_equal(read_text(texts[i], &demand, &err), WEIR_OK);
        assert_int_equal(demand.n, 3);
        for (int k = 0; k < 9; k++) {
            assert_near(demand.bytes[k], expected[k], 1e-15);
        }
        weir_demand_clear(&demand);
    }
}

static void names_the_place_of_each_mistake(void **state)
{
    static const struct {
        const char *text;
        uint32_t line, column;
        const char *part;
    } rows[] = {
        {"0,3\n1,x\n", 2, 3, "found 'x'"},      {"0,3\n-1,0\n", 2, 1, "0 or more"},
        {"0,3\n1,2 parsecs\n", 2, 3, "10 MB"},  {"0,3\n1\n", 2, 1, "1 fields; the first row has 2"},
        {"0,3\n1,2,3\n", 2, 5, "3 fields"},     {"0,3\n1,2\n3,4\n", 3, 1, "square"},
        {"0,3\n", 0, 0, "1 rows of 2 columns"}, {",a,b\na,0,1\nc,1,0\n", 3, 1, "row named 'c'"},
        {"0,\"3\n1,2", 1, 3, "never closed"},   {"0,\"3\"4\n1,2", 1, 6, "comma is due"},
        {"0,\n1,2\n", 1, 3, "found ''"},        {"", 0, 0, "no rows"},
        {"# nothing\n\n", 0, 0, "no rows"},     {"0,0\n0,0\n", 0, 0, "empty"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_demand demand = {0};
        weir_err err = {0};
        weir_code code = read_text(rows[i].text, &demand, &err);
        if (code != WEIR_ERR_INPUT || err.line != rows[i].line || err.column != rows[i].column ||
            !strstr(err.text, rows[i].part) || !strstr(err.text, "d.csv")) {
            fail_msg("row %zu: code %d, %u:%u, %s", i, (int)code, err.line, err.column, err.text);
        }
        assert_null(demand.bytes);
    }
}

static void refuses_more_nodes_than_a_matrix_may_have(void **state)
{
    static char text[2 * (WEIR_DEMAND_MAX + 1) + 1];
    weir_demand demand = {0};
    weir_err err = {0};
    (void)state;
    for (size_t i = 0; i <= WEIR_DEMAND_MAX; i++) {
        text[2 * i] = '1';
        text[2 * i + 1] = ',';
    }
    text[2 * WEIR_DEMAND_MAX + 1] = '\0';
    assert_int_equal(read_text(text, &demand, &err), WEIR_ERR_LIMIT);
    assert_string_equal(err.text, "d.csv:1: a row of 8193 nodes; at most 8192 are due");
}

static void refuses_cells_that_are_no_bytes(void **state)
{
    static const double bad[] = {-1, NAN, INFINITY, -INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        double cells[4] = {0, 1, bad[i], 0};
        const weir_demand demand = {2, cells};
        weir_err err = {0};
        assert_int_equal(weir_demand_check(&demand, &err), WEIR_ERR_INPUT);
        assert_non_null(strstr(err.text, "from node 1 to node 0"));
    }
    weir_demand none = {0};
    assert_int_equal(weir_demand_init(&none, 0, NULL), WEIR_ERR_INPUT);
    assert_int_equal(weir_demand_init(&none, WEIR_DEMAND_MAX + 1, NULL), WEIR_ERR_LIMIT);
}

static void measures_lines_partners_and_peak(void **state)
{
    /* node 0 sends 6 + 2 to others and keeps 4, node 1 sends 1, node 2 nothing */
    double cells[9] = {4, 6, 2, 1, 0, 0, 0, 0, 0};
    const weir_demand demand = {3, cells};
    weir_demand_shape shape = weir_demand_measure(&demand);
    (void)state;
    assert_true(shape.total_bytes == 13 && shape.max_line_bytes == 12);
    assert_true(weir_demand_row_bytes(&demand, 0) == 12);
    assert_true(weir_demand_column_bytes(&demand, 0) == 5);
    assert_true(shape.fan_out == 2 && shape.fan_in == 1 && shape.pairs == 3);
    assert_true(shape.mean_fan_out == 1.5);
    assert_true(shape.peak_to_mean == 4); /* 6 over 9 bytes in 6 cells */
    assert_true(weir_demand_needed_bytes_per_s(&demand, 0.5) == 24);
}

/* reference/output.md: 1 - 1/2 sum|D(t) - D(t+1)| / sum D, averaged. */
static void persistence_is_what_stays(void **state)
{
    double a[4] = {0, 4, 4, 0}, same[4] = {0, 4, 4, 0}, other[4] = {8, 0, 0, 0};
    double half[4] = {4, 4, 0, 0}, none[4] = {0}, twice[4] = {0, 8, 8, 0};
    const struct {
        weir_demand periods[3];
        uint32_t count;
        double expected;
    } rows[] = {
        {{{2, a}, {2, same}}, 2, 1},
        {{{2, a}, {2, other}}, 2, 0},
        {{{2, a}, {2, half}}, 2, 0.5},
        {{{2, a}, {2, same}, {2, half}}, 3, 0.75},
        {{{2, a}, {2, none}}, 2, 0},
        {{{2, none}, {2, none}, {2, a}}, 3, 0},
        {{{2, a}, {2, twice}}, 2, 1 - 8.0 / 24},
    };
    double persistence;
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(
            weir_demand_persistence(rows[i].periods, rows[i].count, &persistence, NULL), WEIR_OK);
        assert_near(persistence, rows[i].expected, 1e-15);
    }
    const weir_demand uneven[2] = {{2, a}, {1, a}}, empty[2] = {{2, none}, {2, none}};
    weir_err err = {0};
    assert_int_equal(weir_demand_persistence(uneven, 2, &persistence, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "same nodes"));
    assert_int_equal(weir_demand_persistence(empty, 2, &persistence, NULL), WEIR_ERR_INPUT);
    assert_int_equal(weir_demand_persistence(uneven, 1, &persistence, NULL), WEIR_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_square_with_and_without_names_and_units),
        cmocka_unit_test(names_the_place_of_each_mistake),
        cmocka_unit_test(refuses_more_nodes_than_a_matrix_may_have),
        cmocka_unit_test(refuses_cells_that_are_no_bytes),
        cmocka_unit_test(measures_lines_partners_and_peak),
        cmocka_unit_test(persistence_is_what_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
