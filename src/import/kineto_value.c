#include "import/kineto_value.h"

#include "codec/json_bytes.h"
#include "codec/json_scan.h"

/* Keys that follow one another inside an event: what a tolerant reading trusts. */
static bool is_known_key(const char *p, const char *end)
{
    static const char *const keys[] = {"pid\"",
                                       "tid\"",
                                       "ts\"",
                                       "dur\"",
                                       "args\"",
                                       "cat\"",
                                       "ph\"",
                                       "name\"",
                                       "id\"",
                                       "bp\"",
                                       "s\"",
                                       "External id\"",
                                       "Ev Idx\"",
                                       "Python id\"",
                                       "Python parent id\"",
                                       "Python module id\"",
                                       "correlation\"",
                                       "Call stack\""};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if ((size_t)(end - p) > n && memcmp(p, keys[i], n) == 0) {
            return *json_skip_space(p + n, end) == ':';
        }
    }
    return false;
}

/* The quote that really ends a string: a known key or the end of an object follows. */
static const char *tolerant_end(const char *p, const char *end)
{
    for (; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p) {
            return NULL;
        }
        const char *next = json_skip_space(p + 1, end);
        if (next >= end) {
            return NULL;
        }
        if (*next == ',') {
            next = json_skip_space(next + 1, end);
            if (next < end && *next == '"' && is_known_key(next + 1, end)) {
                return p;
            }
        } else if (*next == '}') {
            next = json_skip_space(next + 1, end);
            if (next >= end || *next == '}' || *next == ',' || *next == ']') {
                return p;
            }
        }
    }
    return NULL;
}

/* The closing quote of the value behind p, which must be followed by what may follow a value. */
static const char *text_end(const kineto_parser *ps, const char *p, bool *escaped)
{
    const char *quote = json_string_end(p, ps->end, escaped);
    if (!ps->options->tolerant) {
        return quote;
    }
    const char *tolerant = tolerant_end(p, ps->end);
    if (tolerant && memchr(p, '\\', (size_t)(tolerant - p))) {
        *escaped = true;
    }
    return tolerant;
}

const char *kineto_read_text(const kineto_parser *ps, const char *p, weir_str *text)
{
    if (*p != '"') {
        return weir_json_skip_value(p, ps->end);
    }
    bool escaped;
    const char *quote = json_string_end(p + 1, ps->end, &escaped);
    if (!quote) {
        return NULL;
    }
    *text = (weir_str){p + 1, (uint32_t)(quote - p - 1)};
    return quote + 1;
}

/* Text that people and compilers make up: it may hold quotes. */
const char *kineto_read_name(const kineto_parser *ps, const char *p, weir_str *text, bool *escaped)
{
    const char *quote = text_end(ps, p + 1, escaped);
    if (!quote) {
        return NULL;
    }
    *text = (weir_str){p + 1, (uint32_t)(quote - p - 1)};
    return quote + 1;
}

/* An integer, bare or as a string. What is no number (null, NaN) leaves the value untouched. */
const char *kineto_read_integer(const kineto_parser *ps, const char *p, int64_t *value)
{
    bool quoted = *p == '"', saturated = false;
    const char *after = weir_json_integer(p + quoted, ps->end, value, &saturated);
    if (!after || (quoted && (after >= ps->end || *after != '"'))) {
        ps->event->odd_numbers += *p == 'N' || *p == 'I' || *p == '-';
        return weir_json_skip_value(p, ps->end);
    }
    ps->event->odd_numbers += saturated;
    ps->event->odd_strings += quoted;
    return after < ps->end ? after + quoted : NULL;
}

const char *kineto_read_time(const kineto_parser *ps, const char *p, int64_t *ns, bool *has)
{
    bool quoted = *p == '"';
    const char *after = weir_json_micros(p + quoted, ps->end, ns);
    if (!after || (quoted && (after >= ps->end || *after != '"'))) {
        ps->event->odd_numbers++;
        return weir_json_skip_value(p, ps->end);
    }
    *has = true;
    ps->event->odd_strings += quoted;
    return after < ps->end ? after + quoted : NULL;
}

/* Numbers that only link spans are kept in 32 bits; larger ones are folded. */
const char *kineto_read_link(const kineto_parser *ps, const char *p, uint32_t *value)
{
    int64_t wide = 0;
    p = kineto_read_integer(ps, p, &wide);
    if (wide > 0 && wide <= UINT32_MAX) {
        *value = (uint32_t)wide;
    } else if (wide > 0) {
        uint64_t mixed = (uint64_t)wide * 0x9e3779b97f4a7c15u;
        *value = (uint32_t)(mixed >> 32) | 1;
    }
    return p;
}

const char *kineto_read_place(const kineto_parser *ps, const char *p, kineto_place *place)
{
    place->present = true;
    if (*p != '"') {
        int64_t number = INT64_MIN;
        p = kineto_read_integer(ps, p, &number);
        place->has_number = number != INT64_MIN;
        place->number = place->has_number ? number : 0;
        return p;
    }
    weir_str text;
    p = kineto_read_text(ps, p, &text);
    if (!p) {
        return NULL;
    }
    uint32_t digits = text.n;
    while (digits > 0 && text.p[digits - 1] >= '0' && text.p[digits - 1] <= '9') {
        digits--;
    }
    place->label = (weir_str){text.p, digits};
    while (place->label.n && place->label.p[place->label.n - 1] == ' ') {
        place->label.n--;
    }
    bool saturated;
    place->has_number =
        digits < text.n && text.n - digits < 19 &&
        weir_json_integer(text.p + digits, text.p + text.n, &place->number, &saturated) != NULL;
    if (!place->has_number) {
        place->label = text;
    }
    return p;
}

/* "[4, 1, 1]" */
const char *kineto_read_triple(const kineto_parser *ps, const char *p, uint32_t out[3])
{
    if (*p != '[') {
        return weir_json_skip_value(p, ps->end);
    }
    const char *q = p + 1;
    for (unsigned i = 0; i < 3; i++) {
        int64_t value;
        bool saturated;
        q = weir_json_integer(json_skip_space(q, ps->end), ps->end, &value, &saturated);
        if (!q) {
            break;
        }
        out[i] = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
        q = json_skip_space(q, ps->end);
        q += q < ps->end && *q == ',';
    }
    return weir_json_skip_nested(p + 1, ps->end);
}

const char *kineto_read_raw(const kineto_parser *ps, const char *p, weir_str *raw)
{
    const char *after = weir_json_skip_value(p, ps->end);
    if (after) {
        *raw = (weir_str){p, (uint32_t)(after - p)};
    }
    return after;
}
