/* intern_test.c: equal texts, one number; views that stay; a budget that holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/intern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 100000 };

static weir_str numbered(char out[32], uint32_t i)
{
    snprintf(out, 32, "kernel_%u", i);
    return weir_str_from(out);
}

static void the_empty_text_is_zero(void **state)
{
    weir_intern *table = weir_intern_new(NULL);
    uint32_t id = 7;
    assert_int_equal(weir_intern_add(table, (weir_str){NULL, 0}, &id), WEIR_OK);
    assert_int_equal(id, 0);
    assert_int_equal(weir_intern_count(table), 1);
    weir_intern_free(table);
}

static void equal_texts_get_one_id_in_order_of_arrival(void **state)
{
    weir_intern *table = weir_intern_new(NULL);
    char text[32];
    uint32_t id = 0;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            assert_int_equal(weir_intern_add(table, numbered(text, i), &id), WEIR_OK);
            assert_int_equal(id, i + 1);
        }
    }
    assert_int_equal(weir_intern_count(table), MANY + 1);
    weir_intern_free(table);
}

static void views_stay_good_while_the_table_grows(void **state)
{
    weir_intern *table = weir_intern_new(NULL);
    char text[32];
    uint32_t id = 0;
    assert_int_equal(weir_intern_add(table, WEIR_STR("the first"), &id), WEIR_OK);
    weir_str first = weir_intern_text(table, id);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(weir_intern_add(table, numbered(text, i), &id), WEIR_OK);
    }
    assert_true(weir_str_eq(first, WEIR_STR("the first")));
    weir_intern_free(table);
}

static void texts_may_hold_any_byte_and_any_length(void **state)
{
    weir_intern *table = weir_intern_new(NULL);
    static const char zeros[300000];
    uint32_t a = 0, b = 0, c = 0;
    assert_int_equal(weir_intern_add(table, (weir_str){zeros, 1}, &a), WEIR_OK);
    assert_int_equal(weir_intern_add(table, (weir_str){zeros, 2}, &b), WEIR_OK);
    assert_int_equal(weir_intern_add(table, (weir_str){zeros, sizeof zeros}, &c), WEIR_OK);
    assert_true(a != b && b != c);
    assert_int_equal(weir_intern_text(table, c).n, sizeof zeros);
    assert_false(weir_intern_find(table, (weir_str){zeros, 3}, &a));
    weir_intern_free(table);
}

static void the_budget_ends_in_a_limit_and_everything_is_given_back(void **state)
{
    weir_budget *budget = weir_budget_new(1 << 20);
    weir_intern *table = weir_intern_new(budget);
    char text[32];
    uint32_t id = 0, i = 0;
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && i < 10 * MANY) {
        code = weir_intern_add(table, numbered(text, i++), &id);
    }
    assert_int_equal(code, WEIR_ERR_LIMIT);
    assert_int_equal(id, i - 1); /* untouched by the failure */
    assert_true(weir_budget_peak(budget) <= 1 << 20);
    assert_true(weir_intern_find(table, numbered(text, 0), &id));
    weir_intern_free(table);
    assert_true(weir_budget_take(budget, 1 << 20));
    weir_budget_free(budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_empty_text_is_zero),
        cmocka_unit_test(equal_texts_get_one_id_in_order_of_arrival),
        cmocka_unit_test(views_stay_good_while_the_table_grows),
        cmocka_unit_test(texts_may_hold_any_byte_and_any_length),
        cmocka_unit_test(the_budget_ends_in_a_limit_and_everything_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
