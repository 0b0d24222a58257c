#include "codec/json_write.h"

#include "codec/decimal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

void weir_json_begin(weir_json_writer *w, weir_text *out)
{
    *w = (weir_json_writer){.out = out};
}

static void new_line(weir_json_writer *w)
{
    weir_text_char(w->out, '\n');
    for (uint32_t i = 0; i < w->depth; i++) {
        weir_text_char(w->out, ' ');
    }
}

/* What stands between the item before and the one that comes now. */
static void separate(weir_json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0) {
        return;
    }
    bool first = !w->level[w->depth - 1].any;
    w->level[w->depth - 1].any = true;
    if (!first) {
        weir_text_char(w->out, ',');
    }
    if (w->level[w->depth - 1].lines) {
        new_line(w);
    } else if (!first) {
        weir_text_char(w->out, ' ');
    }
}

static void open_container(weir_json_writer *w, bool array, weir_json_layout layout)
{
    separate(w);
    assert(w->depth < WEIR_JSON_WRITE_DEPTH);
    weir_text_char(w->out, array ? '[' : '{');
    w->level[w->depth].array = array;
    w->level[w->depth].any = false;
    w->level[w->depth].lines = layout == WEIR_JSON_LINES;
    w->depth++;
}

void weir_json_open_object(weir_json_writer *w, weir_json_layout layout)
{
    open_container(w, false, layout);
}

void weir_json_open_array(weir_json_writer *w, weir_json_layout layout)
{
    open_container(w, true, layout);
}

void weir_json_close(weir_json_writer *w)
{
    assert(w->depth > 0 && !w->after_key);
    w->depth--;
    if (w->level[w->depth].lines && w->level[w->depth].any) {
        new_line(w);
    }
    weir_text_char(w->out, w->level[w->depth].array ? ']' : '}');
}

/* Length of the well-formed UTF-8 sequence at p (Unicode 15, table 3-7), 0 where there is none. */
static uint32_t sequence_length(const unsigned char *p, uint32_t left)
{
    unsigned char low = 0x80, high = 0xbf;
    uint32_t length;
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        length = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        length = 3;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        length = 4;
    } else {
        return 0;
    }
    if (p[0] == 0xe0) {
        low = 0xa0;
    } else if (p[0] == 0xed) {
        high = 0x9f;
    } else if (p[0] == 0xf0) {
        low = 0x90;
    } else if (p[0] == 0xf4) {
        high = 0x8f;
    }
    if (left < length || p[1] < low || p[1] > high) {
        return 0;
    }
    for (uint32_t i = 2; i < length; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf) {
            return 0;
        }
    }
    return length;
}

static void write_escape(weir_text *out, unsigned char c)
{
    switch (c) {
    case '"':
        weir_text_add(out, WEIR_STR("\\\""));
        break;
    case '\\':
        weir_text_add(out, WEIR_STR("\\\\"));
        break;
    case '\n':
        weir_text_add(out, WEIR_STR("\\n"));
        break;
    case '\t':
        weir_text_add(out, WEIR_STR("\\t"));
        break;
    default:
        weir_text_printf(out, "\\u%04x", (unsigned)c);
        break;
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void write_string(weir_text *out, weir_str text)
{
    weir_text_char(out, '"');
    uint32_t i = 0;
    while (i < text.n) {
        const unsigned char *p = (const unsigned char *)text.p + i;
        uint32_t run = 0;
        while (run < text.n - i && is_plain(p[run])) {
            run++;
        }
        if (run > 0) {
            weir_text_bytes(out, p, run);
            i += run;
            continue;
        }
        uint32_t length = sequence_length(p, text.n - i);
        if (length == 0) {
            weir_text_add(out, WEIR_STR("\\ufffd"));
            i++;
        } else if (length == 1) {
            write_escape(out, p[0]);
            i++;
        } else if (p[0] == 0xc2 && p[1] < 0xa0) { /* C1: some terminals obey it */
            write_escape(out, p[1]);
            i += 2;
        } else {
            weir_text_bytes(out, p, length);
            i += length;
        }
    }
    weir_text_char(out, '"');
}

void weir_json_key(weir_json_writer *w, const char *key)
{
    assert(w->depth > 0 && !w->level[w->depth - 1].array && !w->after_key);
    separate(w);
    write_string(w->out, weir_str_from(key));
    weir_text_add(w->out, WEIR_STR(": "));
    w->after_key = true;
}

void weir_json_string(weir_json_writer *w, weir_str text)
{
    separate(w);
    write_string(w->out, text);
}

void weir_json_text(weir_json_writer *w, const char *text)
{
    if (text == NULL) {
        weir_json_null(w);
    } else {
        weir_json_string(w, weir_str_from(text));
    }
}

void weir_json_int(weir_json_writer *w, int64_t value)
{
    separate(w);
    weir_text_printf(w->out, "%" PRId64, value);
}

void weir_json_uint(weir_json_writer *w, uint64_t value)
{
    separate(w);
    weir_text_printf(w->out, "%" PRIu64, value);
}

void weir_json_double(weir_json_writer *w, double value)
{
    char text[WEIR_DECIMAL_MAX];
    if (!isfinite(value)) {
        weir_json_null(w);
        return;
    }
    separate(w);
    weir_text_bytes(w->out, text, weir_decimal_print(text, value));
}

void weir_json_bool(weir_json_writer *w, bool value)
{
    separate(w);
    weir_text_add(w->out, value ? WEIR_STR("true") : WEIR_STR("false"));
}

void weir_json_null(weir_json_writer *w)
{
    separate(w);
    weir_text_add(w->out, WEIR_STR("null"));
}
