#include "cli/value.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool push_digit(int64_t *value, char digit)
{
    return !__builtin_mul_overflow(*value, 10, value) &&
           !__builtin_add_overflow(*value, digit - '0', value);
}

bool value_fixed(const char **text, uint32_t places, int64_t *value)
{
    const char *p = *text;
    int64_t number = 0;
    if (!is_digit(*p))
        return false;
    for (; is_digit(*p); p++)
        if (!push_digit(&number, *p))
            return false;
    uint32_t seen = 0;
    if (*p == '.' && is_digit(p[1]))
        for (p++; is_digit(*p); p++, seen++)
            if (seen == places || !push_digit(&number, *p))
                return false;
    for (; seen < places; seen++)
        if (!push_digit(&number, '0'))
            return false;
    *text = p;
    *value = number;
    return true;
}

weir_code value_count(const char *option, const char *text, uint32_t least, uint32_t most,
                      uint32_t *value, weir_err *err)
{
    const char *p = text;
    int64_t number = 0;
    if (!value_fixed(&p, 0, &number) || *p != '\0' || number < least || number > most)
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "%s: expected a whole number from %u to %u, found %s", option, least,
                            most, text);
    *value = (uint32_t)number;
    return WEIR_OK;
}

weir_code value_bytes(const char *option, const char *text, uint64_t *bytes, weir_err *err)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } UNITS[] = {
        {"KiB", 1ull << 10},   {"MiB", 1ull << 20},
        {"GiB", 1ull << 30},   {"TiB", 1ull << 40},
        {"kB", 1000},          {"MB", 1000ull * 1000},
        {"GB", 1000000000ull}, {"TB", 1000000000000ull},
    };
    const char *p = text;
    int64_t thousandths = 0;
    if (value_fixed(&p, 3, &thousandths) && thousandths > 0) {
        p += *p == ' ';
        for (uint32_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
            uint64_t product;
            if (strcmp(p, UNITS[i].name) != 0 ||
                __builtin_mul_overflow((uint64_t)thousandths, UNITS[i].bytes, &product))
                continue;
            *bytes = product / 1000;
            return WEIR_OK;
        }
    }
    return weir_err_set(err, WEIR_ERR_USAGE,
                        "%s: expected a size with its unit, such as 4GiB or 512 MB, found %s",
                        option, text);
}

weir_code value_steps(const char *option, const char *text, int64_t *first, int64_t *last,
                      weir_err *err)
{
    const char *p = text;
    int64_t a = 0;
    int64_t b = 0;
    bool ok = value_fixed(&p, 0, &a);
    b = a;
    if (ok && strncmp(p, "..", 2) == 0) {
        p += 2;
        ok = value_fixed(&p, 0, &b);
    }
    if (!ok || *p != '\0' || b < a)
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "%s: expected step numbers, such as 3..7 or 5, found %s", option, text);
    *first = a;
    *last = b;
    return WEIR_OK;
}

weir_code value_window(const char *option, const char *text, int64_t *begin_ns, int64_t *end_ns,
                       weir_err *err)
{
    enum { NS_PER_MS_PLACES = 6 };
    const char *p = text;
    int64_t a = 0;
    int64_t b = 0;
    bool ok = value_fixed(&p, NS_PER_MS_PLACES, &a) && strncmp(p, "..", 2) == 0;
    if (ok) {
        p += 2;
        ok = value_fixed(&p, NS_PER_MS_PLACES, &b) && *p == '\0' && a < b;
    }
    if (!ok)
        return weir_err_set(err, WEIR_ERR_USAGE,
                            "%s: expected milliseconds of the run, such as 120..340.5, found %s",
                            option, text);
    *begin_ns = a;
    *end_ns = b;
    return WEIR_OK;
}

weir_code value_choice(const char *option, const char *text, const char *choices, uint32_t *choice,
                       weir_err *err)
{
    size_t n = strlen(text);
    uint32_t index = 0;
    for (const char *p = choices; *p; index++) {
        size_t length = strcspn(p, " ");
        if (n == length && memcmp(p, text, n) == 0) {
            *choice = index;
            return WEIR_OK;
        }
        p += length + (p[length] == ' ');
    }
    return weir_err_set(err, WEIR_ERR_USAGE, "%s: expected one of %s, found %s", option, choices,
                        text);
}
