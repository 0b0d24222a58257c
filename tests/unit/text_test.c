/* text_test.c: text that grows, and what a terminal is never given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diag.h"
#include "base/text.h"

#include <string.h>

static void controls_and_broken_bytes_are_shown_escaped(void **state)
{
    static const struct {
        const char *raw, *shown;
    } rows[] = {
        {"plain ~", "plain ~"},
        {"\x1b[31mred", "\\x1b[31mred"},
        {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b", "\\xc2\\x9b"}, /* C1: CSI */
        {"\xc2\xa0", "\xc2\xa0"},   /* no-break space: fine */
        {"\x9b", "\\x9b"},          /* a lone byte */
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xc3", "\\xc3"},                            /* cut */
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond Unicode */
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"x\xe2\x80\xaey", "x\\xe2\\x80\\xaey"}, /* right-to-left override */
        {"x\xe2\x81\xa6y", "x\\xe2\\x81\\xa6y"}, /* isolate */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_text text = {0};
        weir_text_escaped(&text, weir_str_from(rows[i].raw), 0);
        assert_string_equal(text.p, rows[i].shown);
        weir_text_clear(&text);
    }
}

static void what_is_too_wide_ends_in_dots(void **state)
{
    static const struct {
        const char *raw;
        uint32_t columns;
        const char *shown;
    } rows[] = {
        {"12345678", 8, "12345678"},
        {"123456789", 8, "12345..."},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4, "\xc3\xa9..."},
        {"1234\x1b", 8, "1234\\x1b"},
        {"12345\x1b", 8, "12345..."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_text text = {0};
        weir_text_escaped(&text, weir_str_from(rows[i].raw), rows[i].columns);
        assert_string_equal(text.p, rows[i].shown);
        weir_text_clear(&text);
    }
}

static void text_grows_and_keeps_its_end(void **state)
{
    weir_text text = {0};
    for (int i = 0; i < 10000; i++) {
        weir_text_printf(&text, "%05d", i);
        weir_text_char(&text, ' ');
    }
    assert_false(text.failed);
    assert_int_equal(text.n, 60000);
    assert_int_equal(strlen(text.p), 60000);
    assert_string_equal(text.p + 59994, "09999 ");
    weir_text_clear(&text);
    assert_null(text.p);
}

static void diagnostics_count_all_and_keep_the_first_places(void **state)
{
    weir_diags a = {0}, b = {0};
    for (uint64_t i = 1; i <= 25; i++) {
        weir_diags_add(&a, "lost", true, WEIR_STR("f\x1b.json"), i, 2, WEIR_STR("oops\n"));
    }
    weir_diags_add(&b, "noted", false, WEIR_STR("g.json"), 0, 0, (weir_str){"", 0});
    weir_diags_add(&b, "lost", true, WEIR_STR("g.json"), 7, 0, (weir_str){"", 0});
    weir_diags_merge(&a, &b);
    assert_int_equal(b.count, 0);
    assert_int_equal(a.count, 2);
    assert_int_equal(a.items[0].count, 26);
    assert_int_equal(a.items[0].place_count, WEIR_DIAG_PLACES);
    assert_string_equal(a.items[0].places[1].text, "f\\x1b.json:2:2: oops\\x0a");
    assert_string_equal(a.items[1].places[0].text, "g.json");
    assert_int_equal(weir_diags_lost(&a), 26);
    weir_diags_clear(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_and_broken_bytes_are_shown_escaped),
        cmocka_unit_test(what_is_too_wide_ends_in_dots),
        cmocka_unit_test(text_grows_and_keeps_its_end),
        cmocka_unit_test(diagnostics_count_all_and_keep_the_first_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
