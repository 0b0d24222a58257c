#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weir_text_clear(weir_text *text)
{
    free(text->p);
    *text = (weir_text){0};
}

/* Makes room for n more bytes and the NUL. */
static bool text_grow(weir_text *text, size_t n)
{
    if (text->failed) {
        return false;
    }
    if (text->capacity - text->n > n) {
        return true;
    }
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity - text->n <= n) {
        capacity *= 2;
    }
    char *p = realloc(text->p, capacity);
    if (!p) {
        text->failed = true;
        return false;
    }
    text->p = p;
    text->capacity = capacity;
    return true;
}

void weir_text_bytes(weir_text *text, const void *bytes, size_t n)
{
    if (!text_grow(text, n)) {
        return;
    }
    if (n) {
        memcpy(text->p + text->n, bytes, n);
    }
    text->n += n;
    text->p[text->n] = '\0';
}

void weir_text_add(weir_text *text, weir_str part)
{
    weir_text_bytes(text, part.p, part.n);
}

void weir_text_char(weir_text *text, char c)
{
    weir_text_bytes(text, &c, 1);
}

void weir_text_vprintf(weir_text *text, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n >= 0 && text_grow(text, (size_t)n)) {
        vsnprintf(text->p + text->n, (size_t)n + 1, fmt, again);
        text->n += (size_t)n;
    }
    va_end(again);
}

void weir_text_printf(weir_text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    weir_text_vprintf(text, fmt, args);
    va_end(args);
}

/* The length of the valid UTF-8 sequence at p (1..4), or 0 where there is none. */
static uint32_t utf8_length(const unsigned char *p, uint32_t n)
{
    if (p[0] < 0x80) {
        return 1;
    }
    uint32_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > n) {
        return 0;
    }
    for (uint32_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool outside = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || outside ? 0 : length;
}

/* Controls, and the bidirectional overrides that make a terminal show something else. */
static bool is_shown(const unsigned char *p, uint32_t length)
{
    if (length == 1) {
        return p[0] >= 0x20 && p[0] != 0x7f;
    }
    if (length == 2) {
        return !(p[0] == 0xc2 && p[1] < 0xa0);
    }
    if (length == 3 && p[0] == 0xe2) {
        return !(p[1] == 0x80 &&
                 (p[2] == 0xa8 || p[2] == 0xa9 || (p[2] >= 0xaa && p[2] <= 0xae))) &&
               !(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
    }
    return true;
}

/* Columns that n bytes at p take when shown; counting stops above most. */
static uint32_t shown_columns(const unsigned char *p, uint32_t n, uint32_t most)
{
    uint32_t columns = 0;
    for (uint32_t i = 0; i < n && columns <= most;) {
        uint32_t length = utf8_length(p + i, n - i);
        columns += length && is_shown(p + i, length) ? 1 : 4 * (length ? length : 1);
        i += length ? length : 1;
    }
    return columns;
}

void weir_text_escaped(weir_text *text, weir_str part, uint32_t max_columns)
{
    const unsigned char *p = (const unsigned char *)part.p;
    uint32_t columns = 0, most = max_columns ? max_columns : UINT32_MAX;
    bool fits = !max_columns || shown_columns(p, part.n, most) <= most;
    for (uint32_t i = 0; i < part.n;) {
        uint32_t length = utf8_length(p + i, part.n - i);
        bool plain = length && is_shown(p + i, length);
        uint32_t take = length ? length : 1;
        uint32_t wide = plain ? 1 : 4 * take;
        if (!fits && columns + wide + 3 > most) {
            weir_text_add(text, WEIR_STR("..."));
            return;
        }
        if (plain) {
            weir_text_bytes(text, p + i, length);
        } else {
            for (uint32_t k = 0; k < take; k++) {
                weir_text_printf(text, "\\x%02x", p[i + k]);
            }
        }
        columns += wide;
        i += take;
    }
}
