/* arena_test.c: zeroed, aligned, never overlapping, and no overflow of sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

#include <string.h>

static void memory_is_zeroed_aligned_and_its_own(void **state)
{
    enum { COUNT = 3000 };
    weir_arena *arena = weir_arena_new();
    unsigned char *pieces[COUNT];
    assert_non_null(arena);
    for (size_t i = 0; i < COUNT; i++) {
        size_t n = i * 7 % 1000 + 1;
        pieces[i] = weir_arena_alloc(arena, n, 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(pieces[i][k], 0);
        }
        memset(pieces[i], (int)(i & 0xff), n);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < i * 7 % 1000 + 1; k++) {
            assert_int_equal(pieces[i][k], i & 0xff);
        }
    }
    weir_arena_free(arena);
}

static void large_and_impossible_sizes_are_told_apart(void **state)
{
    weir_arena *arena = weir_arena_new();
    unsigned char *large = weir_arena_alloc(arena, 5 << 20, 1);
    assert_non_null(large);
    large[(5 << 20) - 1] = 1;
    assert_null(weir_arena_alloc(arena, SIZE_MAX / 2, 3));
    assert_null(weir_arena_alloc(arena, SIZE_MAX, 1));
    assert_non_null(weir_arena_alloc(arena, 0, 8));
    weir_arena_free(arena);
    weir_arena_free(NULL);
}

static void copies_end_in_a_nul(void **state)
{
    weir_arena *arena = weir_arena_new();
    assert_string_equal(weir_arena_copy(arena, (weir_str){"weirdly", 4}), "weir");
    assert_string_equal(weir_arena_copy(arena, (weir_str){NULL, 0}), "");
    weir_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_its_own),
        cmocka_unit_test(large_and_impossible_sizes_are_told_apart),
        cmocka_unit_test(copies_end_in_a_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
