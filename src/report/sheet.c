#include "report/sheet.h"

#include "codec/decimal.h"

#include <inttypes.h>
#include <math.h>

static void next(sheet *s)
{
    if (s->any) {
        weir_text_char(s->out, ',');
    }
    s->any = true;
}

static bool needs_quotes(weir_str value)
{
    return weir_str_has(value, WEIR_STR(",")) || weir_str_has(value, WEIR_STR("\"")) ||
           weir_str_starts(value, WEIR_STR(" ")) || weir_str_ends(value, WEIR_STR(" "));
}

void sheet_text(sheet *s, const char *text)
{
    weir_text plain = {0};
    next(s);
    if (text != NULL) {
        weir_text_escaped(&plain, weir_str_from(text), 0);
    }
    weir_str value = {plain.n > 0 ? plain.p : "", (uint32_t)plain.n};
    if (needs_quotes(value)) {
        weir_text_char(s->out, '"');
        for (uint32_t i = 0; i < value.n; i++) {
            weir_text_add(s->out,
                          value.p[i] == '"' ? WEIR_STR("\"\"") : (weir_str){&value.p[i], 1});
        }
        weir_text_char(s->out, '"');
    } else {
        weir_text_add(s->out, value);
    }
    s->out->failed = s->out->failed || plain.failed;
    weir_text_clear(&plain);
}

void sheet_int(sheet *s, int64_t value)
{
    next(s);
    weir_text_printf(s->out, "%" PRId64, value);
}

void sheet_uint(sheet *s, uint64_t value)
{
    next(s);
    weir_text_printf(s->out, "%" PRIu64, value);
}

void sheet_double(sheet *s, double value)
{
    char text[WEIR_DECIMAL_MAX] = "";
    next(s);
    size_t n = isfinite(value) ? weir_decimal_print(text, value) : 0;
    weir_text_bytes(s->out, text, n);
}

void sheet_headings(sheet *s, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sheet_text(s, names[i]);
    }
}

void sheet_end(sheet *s)
{
    weir_text_char(s->out, '\n');
    s->any = false;
}
