#include "codec/json_write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void puts_commas_between_items_and_none_after_the_last(void **state)
{
    weir_text text = {0};
    weir_json_writer w;
    (void)state;
    weir_json_begin(&w, &text);
    weir_json_open_object(&w, WEIR_JSON_INLINE);
    weir_json_key(&w, "a");
    weir_json_open_array(&w, WEIR_JSON_INLINE);
    weir_json_int(&w, -1);
    weir_json_uint(&w, UINT64_MAX);
    weir_json_double(&w, 0.5);
    weir_json_bool(&w, true);
    weir_json_null(&w);
    weir_json_close(&w);
    weir_json_key(&w, "b");
    weir_json_open_object(&w, WEIR_JSON_INLINE);
    weir_json_close(&w);
    weir_json_close(&w);
    assert_string_equal(text.p, "{\"a\": [-1, 18446744073709551615, 0.5, true, null], \"b\": {}}");
    assert_int_equal(w.depth, 0);
    weir_text_clear(&text);
}

static void puts_each_item_on_its_line_where_asked(void **state)
{
    weir_text text = {0};
    weir_json_writer w;
    (void)state;
    weir_json_begin(&w, &text);
    weir_json_open_object(&w, WEIR_JSON_LINES);
    weir_json_key(&w, "empty");
    weir_json_open_array(&w, WEIR_JSON_LINES);
    weir_json_close(&w);
    weir_json_key(&w, "rows");
    weir_json_open_array(&w, WEIR_JSON_LINES);
    weir_json_int(&w, 1);
    weir_json_int(&w, 2);
    weir_json_close(&w);
    weir_json_close(&w);
    assert_string_equal(text.p, "{\n \"empty\": [],\n \"rows\": [\n  1,\n  2\n ]\n}");
    weir_text_clear(&text);
}

static void writes_null_for_what_json_has_no_number_for(void **state)
{
    weir_text text = {0};
    weir_json_writer w;
    (void)state;
    weir_json_begin(&w, &text);
    weir_json_open_array(&w, WEIR_JSON_INLINE);
    weir_json_double(&w, (double)NAN);
    weir_json_double(&w, (double)INFINITY);
    weir_json_text(&w, NULL);
    weir_json_close(&w);
    assert_string_equal(text.p, "[null, null, null]");
    weir_text_clear(&text);
}

static void escapes_what_a_terminal_or_a_parser_could_obey(void **state)
{
    const struct {
        weir_str raw;
        const char *json;
    } rows[] = {
        {WEIR_STR("a\"b\\c\n\t\r"), "\"a\\\"b\\\\c\\n\\t\\u000d\""},
        {WEIR_STR("\0\033[31m\x7f"), "\"\\u0000\\u001b[31m\\u007f\""},
        {WEIR_STR("\xc2\x9b"), "\"\\u009b\""}, /* C1: CSI */
        {WEIR_STR("\xe6\xb0\xb4 \xf0\x9f\x8c\x8a"), "\"\xe6\xb0\xb4 \xf0\x9f\x8c\x8a\""},
        {WEIR_STR("\xff\xc0\xaf"), "\"\\ufffd\\ufffd\\ufffd\""}, /* not UTF-8, overlong */
        {WEIR_STR("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\""}, /* a surrogate */
        {WEIR_STR("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* > U+10FFFF */
        {WEIR_STR("x\xe6\xb0"), "\"x\\ufffd\\ufffd\""},                     /* cut */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_text text = {0};
        weir_json_writer w;
        weir_json_begin(&w, &text);
        weir_json_string(&w, rows[i].raw);
        assert_string_equal(text.p, rows[i].json);
        weir_text_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_commas_between_items_and_none_after_the_last),
        cmocka_unit_test(puts_each_item_on_its_line_where_asked),
        cmocka_unit_test(writes_null_for_what_json_has_no_number_for),
        cmocka_unit_test(escapes_what_a_terminal_or_a_parser_could_obey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
