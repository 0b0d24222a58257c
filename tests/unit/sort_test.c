/* sort_test.c: sorted, and stable, at every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sort.h"

#include <stdlib.h>

/* Xorshift (G. Marsaglia, 2003). */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int compare_keys(const void *a, const void *b, const void *context)
{
    assert_string_equal(context, "context");
    uint64_t x = ((const weir_sort_pair *)a)->key, y = ((const weir_sort_pair *)b)->key;
    return (x > y) - (x < y);
}

/* value is the place before sorting: among equal keys it must ascend. */
static void expect_stable(const weir_sort_pair *pairs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        assert_true(pairs[i - 1].key < pairs[i].key ||
                    (pairs[i - 1].key == pairs[i].key && pairs[i - 1].value < pairs[i].value));
    }
}

/* keys: how many different ones; 0 = any of 64 bits. */
static void sort_both(size_t n, uint64_t keys, uint64_t *seed)
{
    weir_sort_pair *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b);
    assert_true(a && b);
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = random_next(seed);
        a[i] = b[i] = (weir_sort_pair){keys ? key % keys : key, i};
        sum += a[i].key;
    }
    assert_true(weir_sort(a, n, sizeof *a, compare_keys, "context"));
    assert_true(weir_sort_pairs(b, n));
    expect_stable(a, n);
    assert_memory_equal(a, b, n * sizeof *a);
    for (size_t i = 0; i < n; i++) {
        sum -= a[i].key;
    }
    assert_int_equal(sum, 0);
    free(a);
    free(b);
}

static void equal_keys_keep_their_order(void **state)
{
    uint64_t seed = 88172645463325252u;
    for (size_t n = 0; n < 300; n++) {
        sort_both(n, 5, &seed);
        sort_both(n, 0, &seed);
    }
    sort_both(100000, 1000, &seed);
    sort_both(100000, 0, &seed);
    sort_both(1000, 1, &seed);
}

static uint32_t calls;
static int count_calls(const void *a, const void *b, const void *context)
{
    calls++;
    return compare_keys(a, b, context);
}

static void sorted_input_costs_one_comparison_each(void **state)
{
    weir_sort_pair pairs[100];
    for (uint32_t i = 0; i < 100; i++) {
        pairs[i] = (weir_sort_pair){i / 2, i};
    }
    calls = 0;
    assert_true(weir_sort(pairs, 100, sizeof *pairs, count_calls, "context"));
    assert_int_equal(calls, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_keys_keep_their_order),
        cmocka_unit_test(sorted_input_costs_one_comparison_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
