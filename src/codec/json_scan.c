#include "codec/json_scan.h"

#include "codec/json_bytes.h"

#include <string.h>

const char *weir_json_skip_space(const char *p, const char *end)
{
    return json_skip_space(p, end);
}

const char *weir_json_string_end(const char *p, const char *end, bool *escaped)
{
    return json_string_end(p, end, escaped);
}

/* Bit i is the xor of bits 0..i: turns quote marks into "inside a string". */
static uint64_t prefix_xor(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2) {
        bits ^= bits << shift;
    }
    return bits;
}

/* Quotes that a backslash takes away. carry: the block before ended in an odd run of them. */
static uint64_t escaped_bits(uint64_t backslashes, bool *carry)
{
    uint64_t escaped = 0;
    bool odd = *carry;
    for (unsigned i = 0; i < 64; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (odd) {
            escaped |= bit;
            odd = false;
        } else {
            odd = (backslashes & bit) != 0;
        }
    }
    *carry = odd;
    return escaped;
}

const char *weir_json_skip_nested(const char *p, const char *end)
{
    unsigned depth = 1;
    uint64_t inside = 0; /* all ones: the block begins inside a string */
    bool carry = false;
    for (; p < end; p += 64) {
        uint64_t valid = end - p >= 64 ? UINT64_MAX : (UINT64_C(1) << (end - p)) - 1;
        json_block block = json_block_read(p);
        uint64_t quotes = block.quotes & valid, backslashes = block.backslashes & valid;
        if (backslashes || carry) {
            quotes &= ~escaped_bits(backslashes, &carry);
        }
        uint64_t strings = prefix_xor(quotes) ^ inside;
        inside = strings >> 63 ? UINT64_MAX : 0;
        uint64_t open = block.open & ~strings, close = block.close & ~strings;
        uint64_t newlines = block.newlines & strings;
        for (uint64_t bits = (open | close | newlines) & valid; bits; bits &= bits - 1) {
            uint64_t bit = bits & -bits;
            if (newlines & bit) {
                return NULL;
            }
            depth = open & bit ? depth + 1 : depth - 1;
            if (depth == 0) {
                return p + __builtin_ctzll(bit) + 1;
            }
            if (depth > WEIR_JSON_MAX_DEPTH) {
                return NULL;
            }
        }
    }
    return NULL;
}

const char *weir_json_skip_value(const char *p, const char *end)
{
    if (p >= end) {
        return NULL;
    }
    if (*p == '"') {
        bool escaped;
        const char *quote = weir_json_string_end(p + 1, end, &escaped);
        return quote ? quote + 1 : NULL;
    }
    if (*p == '{' || *p == '[') {
        return weir_json_skip_nested(p + 1, end);
    }
    const char *start = p;
    while (p < end && *p != ',' && *p != '}' && *p != ']' && !json_is_space(*p) && *p != '"' &&
           *p != ':') {
        p++;
    }
    return p > start && p < end ? p : NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* mantissa * 10^exponent, exactly; false: does not fit. Cuts towards zero. */
static bool scale_ten(int64_t *mantissa, int exponent)
{
    for (; exponent > 0; exponent--) {
        if (*mantissa && __builtin_mul_overflow(*mantissa, (int64_t)10, mantissa)) {
            return false;
        }
        if (*mantissa == 0) {
            break;
        }
    }
    for (; exponent < 0 && *mantissa; exponent++) {
        *mantissa /= 10;
    }
    return true;
}

/* Reads "e+12" behind a number. NULL: malformed. */
static const char *exponent_read(const char *p, const char *end, int *exponent)
{
    p++;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+') ? 1 : 0;
    if (p >= end || !is_digit(*p)) {
        return NULL;
    }
    int value = 0;
    for (; p < end && is_digit(*p); p++) {
        value = value < 10000 ? value * 10 + (*p - '0') : value;
    }
    *exponent = negative ? -value : value;
    return p;
}

const char *weir_json_micros(const char *p, const char *end, int64_t *ns)
{
    bool negative = p < end && *p == '-';
    p += negative ? 1 : 0;
    if (p >= end || !is_digit(*p)) {
        return NULL;
    }
    uint64_t digits = 0;
    int power = 3, significant = 0; /* ns = digits * 10^power */
    for (; p < end && is_digit(*p); p++) {
        if (significant < 19) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            significant += digits ? 1 : 0;
        } else {
            power++;
        }
    }
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++) {
            if (power > 0 && significant < 19) {
                digits = digits * 10 + (uint64_t)(*p - '0');
                significant += digits ? 1 : 0;
                power--;
            } else if (significant < 18) { /* kept: an exponent may follow */
                digits = digits * 10 + (uint64_t)(*p - '0');
                significant += digits ? 1 : 0;
                power--;
            }
        }
    }
    int exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p = exponent_read(p, end, &exponent);
        if (!p) {
            return NULL;
        }
    }
    if (digits > INT64_MAX) {
        return NULL;
    }
    int64_t value = (int64_t)digits;
    if (!scale_ten(&value, power + exponent)) {
        return NULL;
    }
    *ns = negative ? -value : value;
    return p;
}

const char *weir_json_integer(const char *p, const char *end, int64_t *value, bool *saturated)
{
    bool negative = p < end && *p == '-';
    p += negative ? 1 : 0;
    if (p >= end || !is_digit(*p)) {
        return NULL;
    }
    int64_t v = 0;
    *saturated = false;
    for (; p < end && is_digit(*p); p++) {
        if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
            __builtin_add_overflow(v, (int64_t)(*p - '0'), &v)) {
            *saturated = true;
            v = INT64_MAX;
        }
    }
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++) {
        }
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        return NULL;
    }
    *value = *saturated ? (negative ? INT64_MIN : INT64_MAX) : negative ? -v : v;
    return p;
}

static int hex_value(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* \uXXXX at p (behind the backslash): its value, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    if (end - p < 5 || p[0] != 'u') {
        return -1;
    }
    int32_t value = 0;
    for (int i = 1; i <= 4; i++) {
        int digit = hex_value(p[i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static uint32_t utf8_put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

uint32_t weir_json_unescape(weir_str text, char *out, uint32_t *bad)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *p = text.p, *end = text.p + text.n;
    uint32_t n = 0;
    while (p < end) {
        if (*p != '\\' || p + 1 == end) {
            out[n++] = *p++;
            continue;
        }
        const char *at = memchr(from, p[1], sizeof from - 1);
        int32_t unit = at ? -1 : hex4(p + 1, end);
        if (at) {
            out[n++] = to[at - from];
            p += 2;
        } else if (unit >= 0 && !(unit >= 0xd800 && unit < 0xe000)) {
            n += utf8_put(out + n, (uint32_t)unit);
            p += 6;
        } else {
            int32_t low = unit >= 0xd800 && unit < 0xdc00 && end - p > 7 && p[6] == '\\'
                              ? hex4(p + 7, end)
                              : -1;
            if (low >= 0xdc00 && low < 0xe000) {
                uint32_t c = 0x10000 + (((uint32_t)unit - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
                n += utf8_put(out + n, c);
                p += 12;
            } else {
                (*bad)++;
                out[n++] = *p++;
            }
        }
    }
    return n;
}

bool weir_json_next(const char **p, const char *end, weir_str *key, weir_str *value)
{
    const char *at = weir_json_skip_space(*p, end);
    while (at < end && *at == ',') {
        at = weir_json_skip_space(at + 1, end);
    }
    if (at >= end || *at == '}' || *at == ']') {
        return false;
    }
    const char *after = weir_json_skip_value(at, end);
    if (!after) {
        return false;
    }
    *key = (weir_str){"", 0};
    const char *colon = weir_json_skip_space(after, end);
    if (*at == '"' && colon < end && *colon == ':') {
        *key = (weir_str){at + 1, (uint32_t)(after - at - 2)};
        at = weir_json_skip_space(colon + 1, end);
        after = weir_json_skip_value(at, end);
        if (!after) {
            return false;
        }
    }
    *value = (weir_str){at, (uint32_t)(after - at)};
    *p = after;
    return true;
}

weir_str weir_json_unquote(weir_str value)
{
    bool is_text = value.n >= 2 && value.p[0] == '"';
    return is_text ? (weir_str){value.p + 1, value.n - 2} : (weir_str){"", 0};
}
