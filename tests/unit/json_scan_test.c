/* json_scan_test.c: ends of strings and values, numbers to the nanosecond, escapes; and that the
 * plain-C form of the scanner says the same as the one for SSE2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/json_scan.h"

#include <stdlib.h>
#include <string.h>

/* The scanner once more, under other names, without SSE2. */
#define weir_json_skip_space  plain_skip_space
#define weir_json_string_end  plain_string_end
#define weir_json_skip_nested plain_skip_nested
#define weir_json_skip_value  plain_skip_value
#define weir_json_micros      plain_micros
#define weir_json_integer     plain_integer
#define weir_json_unescape    plain_unescape
#define weir_json_next        plain_next
#define weir_json_unquote     plain_unquote
#define WEIR_PLAIN_C
const char *plain_skip_space(const char *p, const char *end);
const char *plain_string_end(const char *p, const char *end, bool *escaped);
const char *plain_skip_nested(const char *p, const char *end);
const char *plain_skip_value(const char *p, const char *end);
const char *plain_micros(const char *p, const char *end, int64_t *ns);
const char *plain_integer(const char *p, const char *end, int64_t *value, bool *saturated);
uint32_t plain_unescape(weir_str text, char *out, uint32_t *bad);
bool plain_next(const char **p, const char *end, weir_str *key, weir_str *value);
weir_str plain_unquote(weir_str value);
#include "codec/json_scan.c"
#undef weir_json_skip_space
#undef weir_json_string_end
#undef weir_json_skip_nested
#undef weir_json_skip_value
#undef weir_json_micros
#undef weir_json_integer
#undef weir_json_unescape
#undef weir_json_next
#undef weir_json_unquote

enum { MOST = 512 };

/* A window: the text, and behind it what must not be looked at. */
typedef struct {
    char bytes[MOST + WEIR_JSON_PAD];
    const char *end;
} window;

static const char *window_set(window *w, const char *text)
{
    size_t n = strlen(text);
    assert_true(n <= MOST);
    memset(w->bytes, '"', sizeof w->bytes);
    memcpy(w->bytes, text, n);
    w->end = w->bytes + n;
    return w->bytes;
}

static void microseconds_become_nanoseconds_digit_by_digit(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
        int behind; /* bytes read, -1 = malformed */
    } rows[] = {
        {"1700000000000000.250 ", INT64_C(1700000000000000250), 20},
        {"0 ", 0, 1},
        {"12 ", 12000, 2},
        {"-3,", -3000, 2},
        {"0.001,", 1, 5},
        {"0.0019,", 1, 6},
        {"-0.0019,", -1, 7},
        {"1.5e3}", 1500000, 5},
        {"1.5E+3}", 1500000, 6},
        {"1500e-3}", 1500, 7},
        {"9223372036854775.807 ", INT64_MAX, 20},
        {"9223372036854775.808 ", 0, -1},
        {"99999999999999999999 ", 0, -1},
        {"0000000000000000000000001 ", 1000, 25},
        {"1e400 ", 0, -1},
        {"0e400 ", 0, 5},
        {"1e-400 ", 0, 6},
        {"1e ", 0, -1},
        {"- ", 0, -1},
        {"NaN ", 0, -1},
        {"", 0, -1},
    };
    window w;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t ns = 0;
        const char *p = window_set(&w, rows[i].text);
        const char *after = weir_json_micros(p, w.end, &ns);
        if ((after ? (int)(after - p) : -1) != rows[i].behind || (after && ns != rows[i].ns)) {
            fail_msg("%s: %lld, %d bytes", rows[i].text, (long long)ns,
                     after ? (int)(after - p) : -1);
        }
    }
}

static void integers_saturate_and_say_so(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
        bool saturated;
    } rows[] = {
        {"7 ", 7, false},
        {"-7 ", -7, false},
        {"9223372036854775807 ", INT64_MAX, false},
        {"9223372036854775808 ", INT64_MAX, true},
        {"10159970886766084423 ", INT64_MAX, true},
        {"-99999999999999999999 ", INT64_MIN, true},
        {"3.99 ", 3, false},
    };
    window w;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        bool saturated = false;
        const char *p = window_set(&w, rows[i].text);
        assert_non_null(weir_json_integer(p, w.end, &value, &saturated));
        assert_int_equal(value, rows[i].value);
        assert_int_equal(saturated, rows[i].saturated);
    }
    int64_t value = 0;
    bool saturated = false;
    const char *p = window_set(&w, "1e5 ");
    assert_null(weir_json_integer(p, w.end, &value, &saturated));
}

static void escapes_are_resolved_and_wrong_ones_kept(void **state)
{
    static const struct {
        const char *text, *shown;
        uint32_t bad;
    } rows[] = {
        {"a\\n\\t\\\"\\\\\\/", "a\n\t\"\\/", 0},
        {"\\u00e9", "\xc3\xa9", 0},
        {"\\u20ac", "\xe2\x82\xac", 0},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80", 0},
        {"\\ud83d!", "\\ud83d!", 1},
        {"\\ude00", "\\ude00", 1},
        {"torch\\cuda\\_init", "torch\\cuda\\_init", 2},
        {"\\u12", "\\u12", 1},
        {"end\\", "end\\", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[64];
        uint32_t bad = 0;
        weir_str text = weir_str_from(rows[i].text);
        uint32_t n = weir_json_unescape(text, out, &bad);
        assert_true(weir_str_eq((weir_str){out, n}, weir_str_from(rows[i].shown)));
        assert_int_equal(bad, rows[i].bad);
    }
}

static void nesting_ends_at_its_own_brace_or_at_the_limit(void **state)
{
    window w;
    const char *p = window_set(&w, "{\"a\":\"}\\\"}\",\"b\":[{}]} tail");
    const char *after = weir_json_skip_nested(p + 1, w.end);
    assert_non_null(after);
    assert_int_equal(after - p, 21);
    p = window_set(&w, "{\"a\":\"\n\"}");
    assert_null(weir_json_skip_nested(p + 1, w.end)); /* a raw newline in a string */
    p = window_set(&w, "{\"a\":1");
    assert_null(weir_json_skip_nested(p + 1, w.end));
    enum { DEEP = WEIR_JSON_MAX_DEPTH + 1 };
    char *deep = calloc(2 * DEEP + WEIR_JSON_PAD, 1);
    assert_non_null(deep);
    memset(deep, '[', DEEP);
    memset(deep + DEEP, ']', DEEP);
    assert_null(weir_json_skip_nested(deep + 1, deep + 2 * DEEP));
    assert_ptr_equal(weir_json_skip_nested(deep + 2, deep + 2 * DEEP), deep + 2 * DEEP - 1);
    free(deep);
}

static void members_are_walked_one_by_one(void **state)
{
    window w;
    const char *p = window_set(&w, "{\"a\": 1, \"b\" : [2, {\"c\": 3}],, \"d\":\"x\"}") + 1;
    static const char *const keys[] = {"a", "b", "d"}, *const values[] = {"1", "[2, {\"c\": 3}]",
                                                                          "\"x\""};
    weir_str key, value;
    for (int i = 0; i < 3; i++) {
        assert_true(weir_json_next(&p, w.end, &key, &value));
        assert_true(weir_str_eq(key, weir_str_from(keys[i])));
        assert_true(weir_str_eq(value, weir_str_from(values[i])));
    }
    assert_true(weir_str_eq(weir_json_unquote(value), WEIR_STR("x")));
    assert_false(weir_json_next(&p, w.end, &key, &value));
}

/* Xorshift (G. Marsaglia, 2003). */
static uint32_t random_below(uint64_t *state, uint32_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state % below);
}

static void compare_all(const char *p, const char *end)
{
    bool e1 = false, e2 = false;
    int64_t v1 = 0, v2 = 0;
    assert_ptr_equal(weir_json_skip_space(p, end), plain_skip_space(p, end));
    assert_ptr_equal(weir_json_string_end(p, end, &e1), plain_string_end(p, end, &e2));
    assert_int_equal(e1, e2);
    assert_ptr_equal(weir_json_skip_nested(p, end), plain_skip_nested(p, end));
    assert_ptr_equal(weir_json_skip_value(p, end), plain_skip_value(p, end));
    assert_ptr_equal(weir_json_micros(p, end, &v1), plain_micros(p, end, &v2));
    assert_int_equal(v1, v2);
    const char *p1 = p, *p2 = p;
    weir_str k1 = {0}, k2 = {0}, x1 = {0}, x2 = {0};
    assert_int_equal(weir_json_next(&p1, end, &k1, &x1), plain_next(&p2, end, &k2, &x2));
    assert_ptr_equal(p1, p2);
    assert_int_equal(x1.n, x2.n);
}

static void plain_c_and_sse2_say_the_same(void **state)
{
    static const char letters[] = "\"\"\\{}[]::,, \n\t\r\x01"
                                  "0129-.eEntf\x7f\x80\xff";
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 200000; round++) {
        window w;
        size_t n = random_below(&seed, 200);
        bool quiet = random_below(&seed, 2); /* long runs of nothing special */
        for (size_t i = 0; i < sizeof w.bytes; i++) {
            bool plain = quiet && random_below(&seed, 16);
            w.bytes[i] = plain ? 'a' : letters[random_below(&seed, sizeof letters - 1)];
        }
        compare_all(w.bytes, w.bytes + n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(microseconds_become_nanoseconds_digit_by_digit),
        cmocka_unit_test(integers_saturate_and_say_so),
        cmocka_unit_test(escapes_are_resolved_and_wrong_ones_kept),
        cmocka_unit_test(nesting_ends_at_its_own_brace_or_at_the_limit),
        cmocka_unit_test(members_are_walked_one_by_one),
        cmocka_unit_test(plain_c_and_sse2_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
