/* kineto_window.c: a window that slides over the text of a trace file, and places in it. */
#include "codec/json_bytes.h"
#include "codec/json_scan.h"
#include "import/kineto_reader.h"

#include <stdlib.h>
#include <string.h>

enum { EXCERPT_BYTES = 60 };

static uint64_t newlines_count(const char *p, const char *end)
{
    uint64_t n = 0;
    for (; end - p >= 64; p += 64) {
        n += json_newlines64(p);
    }
    for (; p < end; p++) {
        n += *p == '\n';
    }
    return n;
}

/* Bytes of its line before `at`. */
static uint64_t column_of(const kineto_reader *r, const char *at)
{
    const char *newline = memrchr(r->window, '\n', (size_t)(at - r->window));
    return newline ? (uint64_t)(at - newline) - 1 : (uint64_t)(at - r->window) + r->column_base;
}

/* Newlines matter only for places: they are counted when text leaves the window or a place is
 * wanted, mostly one after the other. */
uint64_t kineto_where_line(void *context, uint64_t *column)
{
    kineto_reader *r = context;
    const char *at = r->event_begin;
    *column = column_of(r, at) + 1;
    if (at < r->counted_to) {
        return r->lines_before - newlines_count(at, r->counted_to) + 1;
    }
    r->lines_before += newlines_count(r->counted_to, at);
    r->counted_to = at;
    return r->lines_before + 1;
}

void kineto_report(kineto_reader *r, const char *kind, bool loss, const char *at)
{
    const kineto_where where = {kineto_where_line, r};
    const char *kept = r->event_begin;
    r->event_begin = at;
    size_t n = (size_t)(r->end - at);
    weir_str excerpt = {at, (uint32_t)(n < EXCERPT_BYTES ? n : EXCERPT_BYTES)};
    kineto_shard_diag(r->shard, kind, loss, &where, excerpt);
    r->event_begin = kept;
}

static void window_slide(kineto_reader *r)
{
    size_t gone = (size_t)(r->p - r->window), left = (size_t)(r->end - r->p);
    if (r->counted_to < r->p) {
        r->lines_before += newlines_count(r->counted_to, r->p);
    } else {
        r->lines_before -= newlines_count(r->p, r->counted_to);
    }
    r->column_base = column_of(r, r->p);
    memmove(r->window, r->p, left);
    r->window_offset += gone;
    r->counted_to = r->window;
    r->p = r->window;
    r->end = r->window + left;
}

static weir_code window_grow(kineto_reader *r, weir_err *err)
{
    size_t at = (size_t)(r->p - r->window), n = (size_t)(r->end - r->window);
    size_t counted = (size_t)(r->counted_to - r->window);
    char *grown = realloc(r->window, 2 * r->capacity + WEIR_JSON_PAD);
    if (!grown) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", r->name);
    }
    r->window = grown;
    r->capacity *= 2;
    r->p = grown + at;
    r->end = grown + n;
    r->counted_to = grown + counted;
    return WEIR_OK;
}

weir_code kineto_window_fill(kineto_reader *r, bool *more, weir_err *err)
{
    *more = false;
    if (r->at_end) {
        return WEIR_OK;
    }
    if (r->p > r->window) {
        window_slide(r);
    }
    if ((size_t)(r->end - r->window) == r->capacity) {
        weir_code code = window_grow(r, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    char *to = r->window + (r->end - r->window);
    size_t room = r->capacity - (size_t)(r->end - r->window);
    while (room) { /* full windows: fewer events are begun twice */
        size_t n;
        weir_code code = weir_source_read(r->source, to, room, &n, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (n == 0) {
            r->at_end = true;
            break;
        }
        to += n;
        room -= n;
        *more = true;
    }
    r->end = to;
    memset(to, 0, WEIR_JSON_PAD);
    return WEIR_OK;
}

weir_code kineto_space_skip(kineto_reader *r, weir_err *err)
{
    for (;;) {
        r->p = weir_json_skip_space(r->p, r->end);
        if (r->p < r->end) {
            return WEIR_OK;
        }
        bool more;
        weir_code code = kineto_window_fill(r, &more, err);
        if (code != WEIR_OK || !more) {
            return code;
        }
    }
}
