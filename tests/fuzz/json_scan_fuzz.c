/* json_scan_fuzz.c: every scanner on any bytes: it stays in its window and says where it is. */
#include "codec/json_scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void expect_inside(const char *at, const char *begin, const char *end)
{
    if (at && (at < begin || at > end))
        abort();
}

static void walk(const char *p, const char *end)
{
    weir_str key;
    weir_str value;
    while (weir_json_next(&p, end, &key, &value)) {
        if (value.n > 0) {
            expect_inside(value.p, value.p, end);
            expect_inside(value.p + value.n, value.p, end);
        }
        weir_str text = weir_json_unquote(value);
        char *out = malloc(text.n ? text.n : 1);
        uint32_t bad = 0;
        if (out && weir_json_unescape(text, out, &bad) > text.n)
            abort();
        free(out);
    }
    expect_inside(p, p, end);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + WEIR_JSON_PAD);
    if (!text)
        return 0;
    memcpy(text, bytes, n);
    memset(text + n, '"', WEIR_JSON_PAD); /* the worst that may stand behind the window */
    const char *end = text + n;
    const char *p = weir_json_skip_space(text, end);
    expect_inside(p, text, end);
    bool flag = false;
    int64_t number = 0;
    expect_inside(weir_json_skip_value(p, end), text, end);
    expect_inside(weir_json_string_end(p, end, &flag), text, end);
    expect_inside(weir_json_micros(p, end, &number), text, end);
    expect_inside(weir_json_integer(p, end, &number, &flag), text, end);
    if (p < end && (*p == '{' || *p == '[')) {
        expect_inside(weir_json_skip_nested(p + 1, end), text, end);
        walk(p + 1, end);
    }
    free(text);
    return 0;
}
