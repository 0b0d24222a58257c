#include "weir/base.h"

#include <string.h>

weir_str weir_str_from(const char *text)
{
    size_t n = strlen(text);
    return (weir_str){text, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n};
}

bool weir_str_eq(weir_str a, weir_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

uint32_t weir_str_find(weir_str text, weir_str part, uint32_t from)
{
    if (part.n == 0 && from <= text.n) {
        return from;
    }
    if (from >= text.n || part.n > text.n - from) {
        return text.n;
    }
    const char *at = memmem(text.p + from, text.n - from, part.p, part.n);
    return at ? (uint32_t)(at - text.p) : text.n;
}

bool weir_str_has(weir_str text, weir_str part)
{
    return part.n == 0 || weir_str_find(text, part, 0) < text.n;
}

bool weir_str_starts(weir_str text, weir_str prefix)
{
    return text.n >= prefix.n && (prefix.n == 0 || memcmp(text.p, prefix.p, prefix.n) == 0);
}

bool weir_str_ends(weir_str text, weir_str suffix)
{
    return text.n >= suffix.n &&
           (suffix.n == 0 || memcmp(text.p + text.n - suffix.n, suffix.p, suffix.n) == 0);
}

int weir_str_cmp(weir_str a, weir_str b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}
