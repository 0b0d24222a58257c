/* Numbers with units: one dimension each, with or without a blank. */
#include "scenario/unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void reads_each_dimension_in_its_base_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        weir_dimension dimension;
        double value;
    } cases[] = {
        {"15 W", WEIR_DIMENSION_WATTS, 15},
        {"2.56 MW", WEIR_DIMENSION_WATTS, 2560000},
        {"500 mW", WEIR_DIMENSION_WATTS, 0.5},
        {"30 m", WEIR_DIMENSION_METRES, 30},
        {"2 km", WEIR_DIMENSION_METRES, 2000},
        {"2.5 dB", WEIR_DIMENSION_DECIBELS, 2.5},
        {"500 dB/km", WEIR_DIMENSION_DB_PER_M, 0.5},
        {"5 ns/m", WEIR_DIMENSION_S_PER_M, 5 * 1e-9},
        {"22.5 pJ/bit", WEIR_DIMENSION_J_PER_BIT, 22.5 * 1e-12},
        {"549 USD", WEIR_DIMENSION_USD, 549},
        {"1.5 MUSD", WEIR_DIMENSION_USD, 1500000},
        {"0.08 USD/kWh", WEIR_DIMENSION_USD_PER_KWH, 0.08},
        {"2.95 USD/h", WEIR_DIMENSION_USD_PER_H, 2.95},
        {"0.3 USD/m", WEIR_DIMENSION_USD_PER_M, 0.3},
        {"4 years", WEIR_DIMENSION_YEARS, 4},
        {"1 year", WEIR_DIMENSION_YEARS, 1},
        {"8760 h", WEIR_DIMENSION_HOURS, 8760},
        {"1 h", WEIR_DIMENSION_SECONDS, 3600},
        /* as --set gives them */
        {"1GiB", WEIR_DIMENSION_BYTES, 1073741824},
        {"400Gb/s", WEIR_DIMENSION_BYTES_PER_S, 50e9},
        {"2e3W", WEIR_DIMENSION_WATTS, 2000},
        {"25ms", WEIR_DIMENSION_SECONDS, 25 * 1e-3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -1;
        if (!weir_unit_parse(weir_str_from(cases[i].text), cases[i].dimension, &value) ||
            value < cases[i].value || value > cases[i].value) {
            fail_msg("'%s': found %.17g, expected %.17g", cases[i].text, value, cases[i].value);
        }
    }
}

static void a_unit_of_another_dimension_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        weir_dimension dimension;
    } cases[] = {
        {"15 dB", WEIR_DIMENSION_WATTS},
        {"15", WEIR_DIMENSION_WATTS},
        {"3 m", WEIR_DIMENSION_SECONDS},
        {"3 ms", WEIR_DIMENSION_METRES},
        {"2 USD", WEIR_DIMENSION_USD_PER_H},
        {"2 USD/h", WEIR_DIMENSION_USD},
        {"-1 W", WEIR_DIMENSION_WATTS},
        {"1e W", WEIR_DIMENSION_WATTS},
        {"W", WEIR_DIMENSION_WATTS},
        {"15 W ", WEIR_DIMENSION_WATTS},
        {"0.08 USD/KWh", WEIR_DIMENSION_USD_PER_KWH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 77;
        if (weir_unit_parse(weir_str_from(cases[i].text), cases[i].dimension, &value)) {
            fail_msg("'%s' was taken", cases[i].text);
        }
        assert_true(value > 76 && value < 78); /* untouched */
    }
}

static void every_dimension_names_its_unit_and_reads_it(void **state)
{
    (void)state;
    static const struct {
        weir_dimension dimension;
        const char *unit;
    } units[] = {{WEIR_DIMENSION_BYTES, "B"},   {WEIR_DIMENSION_WATTS, "W"},
                 {WEIR_DIMENSION_METRES, "m"},  {WEIR_DIMENSION_USD_PER_KWH, "USD/kWh"},
                 {WEIR_DIMENSION_HOURS, "h"},   {WEIR_DIMENSION_YEARS, "years"},
                 {WEIR_DIMENSION_SECONDS, "s"}, {WEIR_DIMENSION_DECIBELS, "dB"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        assert_string_equal(weir_unit_name(units[i].dimension), units[i].unit);
    }
    for (int d = 0; d < WEIR_DIMENSION_COUNT; d++) {
        assert_non_null(weir_unit_name((weir_dimension)d));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_dimension_in_its_base_unit),
        cmocka_unit_test(a_unit_of_another_dimension_is_none),
        cmocka_unit_test(every_dimension_names_its_unit_and_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
