#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/value.h"

#include <string.h>

static void expect_refused(weir_code code, const weir_err *err, const char *part)
{
    assert_int_equal(code, WEIR_ERR_USAGE);
    assert_non_null(strstr(err->text, part));
}

static void sizes_need_a_unit_and_keep_gb_and_gib_apart(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } GOOD[] = {
        {"4GiB", 4294967296}, {"4GB", 4000000000}, {"512 MB", 512000000},   {"1.5GiB", 1610612736},
        {"64kB", 64000},      {"64KiB", 65536},    {"2TiB", 2199023255552}, {"0.001MiB", 1048},
    };
    weir_err err = {0};
    for (uint32_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        uint64_t bytes = 0;
        assert_int_equal(value_bytes("--max-memory", GOOD[i].text, &bytes, &err), WEIR_OK);
        assert_int_equal(bytes, GOOD[i].bytes);
    }
    static const char *const BAD[] = {"4",
                                      "4 gb",
                                      "0GiB",
                                      "-4GiB",
                                      "4GiBs",
                                      "GiB",
                                      "4.5.6GiB",
                                      "99999999999999999999GB",
                                      "18446744073709551TiB",
                                      ""};
    for (uint32_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        weir_err fresh = {0};
        uint64_t bytes = 77;
        expect_refused(value_bytes("--max-memory", BAD[i], &bytes, &fresh), &fresh, BAD[i]);
        assert_int_equal(bytes, 77);
    }
}

static void windows_are_milliseconds_read_digit_by_digit(void **state)
{
    weir_err err = {0};
    int64_t begin = 0;
    int64_t end = 0;
    assert_int_equal(value_window("--window", "120..340.5", &begin, &end, &err), WEIR_OK);
    assert_int_equal(begin, 120000000);
    assert_int_equal(end, 340500000);
    assert_int_equal(value_window("--window", "0.000001..9007199254.740993", &begin, &end, &err),
                     WEIR_OK);
    assert_int_equal(begin, 1);
    assert_int_equal(end, 9007199254740993); /* 2^53 + 1: no double holds it */
    static const char *const BAD[] = {"5..5",   "7..3",         "1..", "..2",
                                      "1..2ms", "1.0000001..2", "1-2"};
    for (uint32_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        weir_err fresh = {0};
        expect_refused(value_window("--window", BAD[i], &begin, &end, &fresh), &fresh, BAD[i]);
    }
}

static void steps_are_a_range_or_one_number(void **state)
{
    weir_err err = {0};
    int64_t first = 0;
    int64_t last = 0;
    assert_int_equal(value_steps("--steps", "3..7", &first, &last, &err), WEIR_OK);
    assert_int_equal(first, 3);
    assert_int_equal(last, 7);
    assert_int_equal(value_steps("--steps", "5", &first, &last, &err), WEIR_OK);
    assert_int_equal(first, 5);
    assert_int_equal(last, 5);
    static const char *const BAD[] = {"7..3", "a", "3..", "3..7x", "1.5", "99999999999999999999"};
    for (uint32_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        weir_err fresh = {0};
        expect_refused(value_steps("--steps", BAD[i], &first, &last, &fresh), &fresh, BAD[i]);
    }
}

static void choices_are_whole_words(void **state)
{
    weir_err err = {0};
    uint32_t choice = 9;
    assert_int_equal(value_choice("--by", "node", "rank node axis", &choice, &err), WEIR_OK);
    assert_int_equal(choice, 1);
    assert_int_equal(value_choice("--by", "axis", "rank node axis", &choice, &err), WEIR_OK);
    assert_int_equal(choice, 2);
    static const char *const BAD[] = {"nod", "nodes", "", "rank node"};
    for (uint32_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        weir_err fresh = {0};
        expect_refused(value_choice("--by", BAD[i], "rank node axis", &choice, &fresh), &fresh,
                       "rank node axis");
    }
}

static void counts_have_bounds(void **state)
{
    weir_err err = {0};
    uint32_t count = 0;
    assert_int_equal(value_count("--top", "10", 1, 10, &count, &err), WEIR_OK);
    assert_int_equal(count, 10);
    static const char *const BAD[] = {"0", "11", "1.5", "-1", "ten", ""};
    for (uint32_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        weir_err fresh = {0};
        expect_refused(value_count("--top", BAD[i], 1, 10, &count, &fresh), &fresh, "from 1 to 10");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_need_a_unit_and_keep_gb_and_gib_apart),
        cmocka_unit_test(windows_are_milliseconds_read_digit_by_digit),
        cmocka_unit_test(steps_are_a_range_or_one_number),
        cmocka_unit_test(choices_are_whole_words),
        cmocka_unit_test(counts_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
