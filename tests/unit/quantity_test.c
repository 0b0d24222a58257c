#include "result/quantity.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_take_the_unit_that_fits),
        cmocka_unit_test(small_shares_keep_one_decimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
