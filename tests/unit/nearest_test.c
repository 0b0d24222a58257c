/* nearest.h: what was meant by a word that is not known, and how an error says so. */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const devices[] = {"a10",       "a100-sxm-40gb",  "a100-sxm-80gb", "b200-sxm",
                                      "gb200",     "h100-96gb-500w", "h100-nvl",      "h100-pcie",
                                      "h100-sxm",  "h20-sxm",        "mi300x",        "tpu-v4",
                                      "gpt3-175b", "gpt-1t",         "nemo-24.07",    "nemo-24.12"};

static void expect(const char *word, const char *sentence)
{
    char text[200];
    weir_expected_word(weir_str_from(word), devices, COUNT(devices), text, sizeof text);
    assert_string_equal(text, sentence);
}

static void the_beginning_of_a_name_stands_for_those_that_begin_so(void **state)
{
    expect("nemo", "'nemo-24.07' or 'nemo-24.12'");
    expect("h100", "'h100-nvl', 'h100-sxm' or 'h100-pcie'"); /* from short to long, three at most */
    expect("A100-SXM", "'a100-sxm-40gb' or 'a100-sxm-80gb'");
    expect("gpt-3", "'gpt3-175b'");
    expect("gpt", "'gpt-1t' or 'gpt3-175b'");
    expect("gpt3", "'gpt3-175b'");
    expect("h100-sxm5-80gb", "'h100-sxm'");
}

static void a_slip_of_the_pen_is_seen(void **state)
{
    expect("nemo-24.13", "'nemo-24.12'");
    expect("h100-smx", "'h100-sxm'");
    expect("h20sxm", "'h20-sxm'"); /* marks do not count */
    expect("gb20", "'gb200'");
    expect("b20-sxm", "'b200-sxm' or 'h20-sxm'"); /* the first letter is seldom wrong */
}

static void a_slip_in_the_first_part_of_a_name_is_seen(void **state)
{
    expect("h1000", "'h100-nvl', 'h100-sxm' or 'h100-pcie'");
    expect("nmeo", "'nemo-24.07' or 'nemo-24.12'");
}

static void a_part_of_a_name_stands_for_it(void **state)
{
    static const char *const keys[] = {"hidden", "layers", "heads", "kv_heads"};
    assert_int_equal(weir_nearest_word(WEIR_STR("num_layers"), keys, 4), 1);
    assert_int_equal(weir_nearest_word(WEIR_STR("num_kv_heads"), keys, 4), 3);
    assert_int_equal(weir_nearest_word(WEIR_STR("hidden_size"), keys, 4), 0);
}

static void the_word_with_the_fewest_edits_is_found(void **state)
{
    static const char *const words[] = {"memory", "math", "copy", "communication"};
    assert_int_equal(weir_nearest_word(WEIR_STR("memroy"), words, 4), 0);
    assert_int_equal(weir_nearest_word(WEIR_STR("maths"), words, 4), 1);
    assert_int_equal(weir_nearest_word(WEIR_STR("comunication"), words, 4), 3);
    assert_int_equal(weir_nearest_word(WEIR_STR("xyz"), words, 4), WEIR_NONE);
    assert_int_equal(weir_nearest_word(WEIR_STR("a"), words, 0), WEIR_NONE);
}

static void few_words_are_all_shown_where_none_is_close(void **state)
{
    static const char *const parts[] = {"core", "norms", "activation", "up"};
    char text[100];
    weir_expected_word(WEIR_STR("attention"), parts, 4, text, sizeof text);
    assert_string_equal(text, "one of core, norms, activation, up");
    weir_expected_word(WEIR_STR("norm"), parts, 4, text, sizeof text);
    assert_string_equal(text, "'norms'");
    weir_expected_word(WEIR_STR(""), parts, 1, text, sizeof text);
    assert_string_equal(text, "'core'");
    weir_expected_word(WEIR_STR("ups"), parts, 4, text,
                       sizeof text); /* short words are near to all */
    assert_string_equal(text, "one of core, norms, activation, up");
    weir_expected_word(WEIR_STR("UP"), parts, 4, text, sizeof text);
    assert_string_equal(text, "'up'");
    expect("zzz", "one such as 'a10', 'a100-sxm-40gb', 'a100-sxm-80gb'");
}

static void long_lists_end_where_the_room_does(void **state)
{
    char text[12];
    weir_expected_word(WEIR_STR("h100"), devices, COUNT(devices), text, sizeof text);
    assert_string_equal(text, "'h100-nvl',");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_beginning_of_a_name_stands_for_those_that_begin_so),
        cmocka_unit_test(a_slip_of_the_pen_is_seen),
        cmocka_unit_test(a_slip_in_the_first_part_of_a_name_is_seen),
        cmocka_unit_test(a_part_of_a_name_stands_for_it),
        cmocka_unit_test(the_word_with_the_fewest_edits_is_found),
        cmocka_unit_test(few_words_are_all_shown_where_none_is_close),
        cmocka_unit_test(long_lists_end_where_the_room_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
