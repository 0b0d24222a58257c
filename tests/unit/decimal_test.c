#include "codec/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The texts are what Python 3.11's repr() gives, but for the notation of exponents. */
static void prints_the_shortest_text_that_reads_back(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.0, "0"},
                {-0.0, "0"},
                {1.0, "1"},
                {-3.0, "-3"},
                {0.1, "0.1"},
                {0.3, "0.3"},
                {0.1 + 0.2, "0.30000000000000004"},
                {1.0 / 3.0, "0.3333333333333333"},
                {100.0, "100"},
                {83e9, "83000000000"},
                {1e16, "10000000000000000"},
                {9007199254740993.0, "9007199254740992"},
                {123456789012345680.0, "1.2345678901234568e17"},
                {1e23, "1e23"},
                {0.00012345, "0.00012345"},
                {1e-6, "1e-6"},
                {1.7976931348623157e308, "1.7976931348623157e308"},
                {2.2250738585072014e-308, "2.2250738585072014e-308"},
                {5e-324, "5e-324"},
                {-1097718834198879.25, "-1097718834198879.2"}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[WEIR_DECIMAL_MAX];
        assert_int_equal(weir_decimal_print(text, rows[i].value), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

/* sscanf is the oracle; xorshift64 with this seed (Marsaglia 2003). */
static void reads_back_as_the_same_double(void **state)
{
    uint64_t bits = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        double value, again = 0;
        char text[WEIR_DECIMAL_MAX];
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        uint64_t finite = (bits >> 52 & 0x7ff) == 0x7ff ? bits ^ (UINT64_C(1) << 62) : bits;
        memcpy(&value, &finite, sizeof(value));
        assert_true(weir_decimal_print(text, value) < WEIR_DECIMAL_MAX);
        assert_int_equal(sscanf(text, "%lf", &again), 1);
        if (memcmp(&value, &again, sizeof(value)) != 0) {
            fail_msg("%a was printed as %s, which is %a", value, text, again);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_the_shortest_text_that_reads_back),
        cmocka_unit_test(reads_back_as_the_same_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
