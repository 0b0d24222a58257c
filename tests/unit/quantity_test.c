#include "result/quantity.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void durations_take_the_unit_that_fits(void **state)
{
    static const struct {
        int64_t ns;
        int digits;
        const char *text;
    } rows[] = {{0, 3, "0 ns"},
                {999, 3, "999 ns"},
                {1000, 3, "1.00 us"},
                {36649, 3, "36.6 us"},
                {36650, 3, "36.7 us"},
                {997000000, 2, "997 ms"},
                {1097000000, 4, "1.097 s"},
                {1097499999, 4, "1.097 s"},
                {12345678901, 3, "12.3 s"},
                {3600000000000, 3, "3600 s"},
                {-1500000, 2, "-1.5 ms"},
                {INT64_MAX, 3, "9223372037 s"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_quantity_duration(&text, rows[i].ns, rows[i].digits);
        assert_string_equal(text.p, rows[i].text);
        weir_text_clear(&text);
    }
}

static void what_no_integer_holds_is_written_with_its_power_of_ten(void **state)
{
    static const struct {
        double usd;
        const char *text;
    } rows[] = {{1e300, "1e+276 Y$"}, {-1e300, "-1e+276 Y$"}, {INFINITY, "inf Y$"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_quantity_usd(&text, rows[i].usd);
        assert_string_equal(text.p, rows[i].text);
        weir_text_clear(&text);
    }
}

static void small_shares_keep_one_decimal(void **state)
{
    static const struct {
        int64_t part, whole;
        const char *text;
    } rows[] = {{71, 100, "71 %"}, {9, 1000, "0.9 %"}, {1, 100, "1 %"},
                {0, 100, "0 %"},   {5, 0, "0 %"},      {1, 3, "33 %"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_quantity_percent(&text, rows[i].part, rows[i].whole);
        assert_string_equal(text.p, rows[i].text);
        weir_text_clear(&text);
    }
}

static void figures_take_the_prefix_that_fits(void **state)
{
    static const struct {
        double value;
        const char *unit, *text;
    } rows[] = {{9.8e6, "W", "9.80 MW"},    {64e6, "B", "64.0 MB"},  {47.1e9, "B/s", "47.1 GB/s"},
                {999.4, "W", "999 W"},      {999.6, "W", "1.00 kW"}, {0, "B", "0 B"},
                {0.0123, "pJ", "0.012 pJ"}, {1, "B", "1.00 B"},      {-2500, "W", "-2.50 kW"},
                {9.996e6, "W", "10.0 MW"},  {NAN, "W", "unknown"},   {5e24, "B", "5.00 YB"},
                {0.99951, "pJ", "1.00 pJ"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_quantity_si(&text, rows[i].value, rows[i].unit);
        assert_string_equal(text.p, rows[i].text);
        weir_text_clear(&text);
    }
}

static void money_says_its_unit(void **state)
{
    static const struct {
        double usd;
        const char *text;
    } rows[] = {{940, "$ 940"},     {2.95, "$ 2.95"},   {412e6, "412 M$"},
                {12345, "12.3 k$"}, {1.2e9, "1.20 G$"}, {999.5, "1.00 k$"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_quantity_usd(&text, rows[i].usd);
        assert_string_equal(text.p, rows[i].text);
        weir_text_clear(&text);
    }
}

static void seconds_are_durations(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{5.31, "5.31 s"}, {0.025, "25.0 ms"}, {NAN, "unknown"}, {INFINITY, "for ever"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_quantity_seconds(&text, rows[i].seconds, 3);
        assert_string_equal(text.p, rows[i].text);
        weir_text_clear(&text);
    }
}

static void counts_are_grouped(void **state)
{
    static const struct {
        uint64_t count;
        const char *text;
    } rows[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {16384, "16,384"}, {1000002, "1,000,002"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_quantity_count(&text, rows[i].count);
        assert_string_equal(text.p, rows[i].text);
        weir_text_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_take_the_unit_that_fits),
        cmocka_unit_test(what_no_integer_holds_is_written_with_its_power_of_ten),
        cmocka_unit_test(small_shares_keep_one_decimal),
        cmocka_unit_test(figures_take_the_prefix_that_fits),
        cmocka_unit_test(money_says_its_unit),
        cmocka_unit_test(seconds_are_durations),
        cmocka_unit_test(counts_are_grouped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
