/* One trace file: a window slides over the text; events are handed out one by one.
 *
 * What a strict reading of an event refuses is looked at again: if the start of another event
 * follows, the text up to there is read tolerantly, and dropped and counted if that fails too. */
#include "import/kineto_file.h"

#include "base/text.h"
#include "codec/json_bytes.h"
#include "codec/json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_BYTES = 1 << 20,
    DEFAULT_EVENT_BYTES = 16 << 20,
    FIRST_REACH = 8 << 10, /* most events end within it */
    SUSPICIOUS_SKIP = 512, /* a skipped event longer than this is searched for swallowed ones */
    KEPT_BYTES = 256,
    MOST_RECOVERIES = 16, /* of the top-level object: damage at random never needs more */
    EXCERPT_BYTES = 60,
    SHOWN = 20 /* columns of what was found instead of a trace */
};

typedef struct {
    kineto_shard *shard;
    weir_source *source;
    const char *name;
    uint64_t max_event_bytes;
    char *window;
    size_t capacity;
    const char *p, *end;    /* what is left to read */
    bool at_end;            /* the source has no more */
    uint64_t window_offset; /* of window[0] in the decompressed text */
    uint64_t lines_before;  /* newlines up to counted_to */
    const char *counted_to;
    uint32_t recoveries;
    uint64_t column_base; /* bytes of the line of window[0] that have left the window */
    const char *event_begin;
    kineto_event_options strict, tolerant;
} reader;

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
static uint64_t column_of(const reader *r, const char *at)
{
    const char *newline = memrchr(r->window, '\n', (size_t)(at - r->window));
    return newline ? (uint64_t)(at - newline) - 1 : (uint64_t)(at - r->window) + r->column_base;
}

/* Newlines matter only for places: they are counted when text leaves the window or a place is
 * wanted, mostly one after the other. */
static uint64_t where_line(void *context, uint64_t *column)
{
    reader *r = context;
    const char *at = r->event_begin;
    *column = column_of(r, at) + 1;
    if (at < r->counted_to) {
        return r->lines_before - newlines_count(at, r->counted_to) + 1;
    }
    r->lines_before += newlines_count(r->counted_to, at);
    r->counted_to = at;
    return r->lines_before + 1;
}

static void report(reader *r, const char *kind, bool loss, const char *at)
{
    const kineto_where where = {where_line, r};
    const char *kept = r->event_begin;
    r->event_begin = at;
    size_t n = (size_t)(r->end - at);
    weir_str excerpt = {at, (uint32_t)(n < EXCERPT_BYTES ? n : EXCERPT_BYTES)};
    kineto_shard_diag(r->shard, kind, loss, &where, excerpt);
    r->event_begin = kept;
}

static void window_slide(reader *r)
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

static weir_code window_grow(reader *r, weir_err *err)
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

/* Makes more text visible behind r->end; *more = false: there is none. Moves the window. */
static weir_code window_fill(reader *r, bool *more, weir_err *err)
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

/* Skips white space, filling the window as needed; r->p == r->end only at the end of the text. */
static weir_code space_skip(reader *r, weir_err *err)
{
    for (;;) {
        r->p = weir_json_skip_space(r->p, r->end);
        if (r->p < r->end) {
            return WEIR_OK;
        }
        bool more;
        weir_code code = window_fill(r, &more, err);
        if (code != WEIR_OK || !more) {
            return code;
        }
    }
}

static weir_code event_add(reader *r, kineto_event *event, weir_err *err)
{
    const kineto_where where = {where_line, r};
    return kineto_shard_add(r->shard, event, &where, err);
}

/* The event at r->p is damaged and another begins at `next`: what lies between is read tolerantly.
 */
static weir_code event_repair(reader *r, const char *next, weir_err *err)
{
    kineto_event event;
    const char *begin = r->p;
    r->event_begin = begin;
    const char *after = kineto_event_parse(&event, begin + 1, next, &r->tolerant);
    r->p = next;
    if (!after || (!event.has_ts && event.phase != 'M' && !event.skipped)) {
        report(r, "malformed-event", true, begin);
        return WEIR_OK;
    }
    report(r, "repaired-event", false, begin);
    return event_add(r, &event, err);
}

/* Moves r->p to the next event at or after it, to the end of the array, or to the end of the text.
 */
static weir_code events_resume(reader *r, weir_err *err)
{
    for (;;) {
        const char *next = kineto_event_find(r->window, r->p, r->end);
        if (!next) {
            next = kineto_events_end_find(r->window, r->p, r->end, r->at_end);
        }
        if (next || r->at_end) {
            r->p = next ? next : r->end;
            return WEIR_OK;
        }
        /* keep a little, in which a start may just be beginning */
        size_t left = (size_t)(r->end - r->p);
        r->p = r->end - (left < KEPT_BYTES ? left : KEPT_BYTES);
        bool more;
        weir_code code = window_fill(r, &more, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
}

/* Text too long for an event: dropped up to the next one. */
static weir_code event_oversized(reader *r, weir_err *err)
{
    report(r, "oversized-event", true, r->p);
    r->p++;
    return events_resume(r, err);
}

/* All text is there, no other event follows, and a strict reading failed. */
static weir_code event_last(reader *r, weir_err *err)
{
    const char *stop = kineto_events_end_find(r->window, r->p + 1, r->end, true);
    if (stop) {
        return event_repair(r, stop, err);
    }
    kineto_event event;
    r->event_begin = r->p;
    const char *after = kineto_event_parse(&event, r->p + 1, r->end, &r->tolerant);
    if (after) {
        report(r, "repaired-event", false, r->p);
        r->p = after;
        return event_add(r, &event, err);
    }
    report(r, "cut-event", true, r->p);
    r->shard->cut = true;
    r->p = r->end;
    return WEIR_OK;
}

/* A strict reading failed at r->p: more text, a damaged event, or the end of a cut file. */
static weir_code event_failed(reader *r, weir_err *err)
{
    for (;;) {
        const char *next = kineto_event_find(r->window, r->p + 1, r->end);
        if (next) {
            return event_repair(r, next, err);
        }
        if ((uint64_t)(r->end - r->p) > r->max_event_bytes) {
            return event_oversized(r, err);
        }
        bool more;
        weir_code code = window_fill(r, &more, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (!more) {
            return event_last(r, err);
        }
        kineto_event event;
        const char *after = kineto_event_parse(&event, r->p + 1, r->end, &r->strict);
        if (after) {
            r->event_begin = r->p;
            r->p = after;
            return event_add(r, &event, err);
        }
    }
}

/* Looks near first: a damaged event (an odd quote in text without newlines) must not cost a walk to
 * the end of the window each time. */
static weir_code event_read(reader *r, weir_err *err)
{
    for (size_t reach = FIRST_REACH;; reach *= 8) {
        const char *end = (size_t)(r->end - r->p) > reach ? r->p + reach : r->end;
        kineto_event event;
        const char *after = kineto_event_parse(&event, r->p + 1, end, &r->strict);
        if (!after && end == r->end) {
            return event_failed(r, err);
        }
        if (!after || after - r->p > SUSPICIOUS_SKIP) {
            const char *next = kineto_event_find(r->window, r->p + 1, after ? after : end);
            if (next) {
                return event_repair(r, next, err);
            }
        }
        if (after) {
            r->event_begin = r->p;
            r->p = after;
            return event_add(r, &event, err);
        }
    }
}

/* Neither an event nor the end of the array: moves to the next event. */
static weir_code garbage_skip(reader *r, weir_err *err)
{
    report(r, "text-between-events", true, r->p);
    return events_resume(r, err);
}

/* r->p is behind the opening bracket; leaves it behind the closing one or at the end. */
static weir_code events_read(reader *r, weir_err *err)
{
    r->shard->has_events = true;
    bool comma = true; /* between events */
    for (;;) {
        weir_code code = space_skip(r, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (r->p == r->end) {
            r->shard->cut = true;
            return WEIR_OK;
        }
        if (*r->p == '{') {
            if (!comma) {
                report(r, "missing-comma", false, r->p);
            }
            comma = false;
            code = event_read(r, err);
        } else if (*r->p == ',') {
            comma = true;
            r->p++;
        } else if (*r->p == ']') {
            r->p++;
            return WEIR_OK;
        } else {
            comma = true;
            code = garbage_skip(r, err);
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
}

/* Makes the whole value at r->p visible. *value.n = 0: the text ends, or it is too long. */
static weir_code value_get(reader *r, weir_str *value, weir_err *err)
{
    for (;;) {
        const char *after = weir_json_skip_value(r->p, r->end);
        if (after) {
            *value = (weir_str){r->p, (uint32_t)(after - r->p)};
            return WEIR_OK;
        }
        *value = (weir_str){r->p, 0};
        if ((uint64_t)(r->end - r->p) > r->max_event_bytes) {
            return WEIR_OK;
        }
        bool more;
        weir_code code = window_fill(r, &more, err);
        if (code != WEIR_OK || !more) {
            return code;
        }
    }
}

/* A damaged member of the top-level object: on to the array of events, if it is still to come. */
static weir_code metadata_recover(reader *r, weir_err *err)
{
    report(r, "malformed-metadata", true, r->p);
    if (r->shard->has_events || ++r->recoveries > MOST_RECOVERIES) {
        r->shard->cut = true;
        r->p = r->end;
        return WEIR_OK;
    }
    static const weir_str mark = {"\"traceEvents\"", 13};
    for (;;) {
        size_t left = (size_t)(r->end - r->p);
        uint32_t n = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
        uint32_t at = weir_str_find((weir_str){r->p, n}, mark, 0);
        if (at < n) {
            r->p += at;
            return WEIR_OK;
        }
        r->p = left > mark.n ? r->end - mark.n : r->p;
        bool more;
        weir_code code = window_fill(r, &more, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (!more) {
            r->p = r->end;
            return WEIR_OK;
        }
    }
}

/* r->p at the key of a top-level member: reads it. *ok = false: malformed. */
static weir_code member_read(reader *r, bool *ok, weir_err *err)
{
    *ok = false;
    weir_str key;
    weir_code code = *r->p == '"' ? value_get(r, &key, err) : WEIR_OK;
    if (code != WEIR_OK || *r->p != '"' || key.n < 2) {
        return code;
    }
    bool is_events = weir_str_eq(weir_json_unquote(key), WEIR_STR("traceEvents"));
    char name[64];
    weir_str text = weir_json_unquote(key);
    uint32_t n = text.n < sizeof name ? text.n : 0;
    memcpy(name, text.p, n); /* the window may move below */
    r->p += key.n;
    code = space_skip(r, err);
    if (code != WEIR_OK || r->p == r->end || *r->p != ':') {
        return code;
    }
    r->p++;
    code = space_skip(r, err);
    if (code != WEIR_OK || r->p == r->end) {
        return code;
    }
    if (is_events && *r->p == '[') {
        r->p++;
        *ok = true;
        return events_read(r, err);
    }
    weir_str value;
    code = value_get(r, &value, err);
    if (code != WEIR_OK || value.n == 0) {
        return code;
    }
    *ok = true;
    code = kineto_shard_metadata(r->shard, (weir_str){name, n}, value, err);
    r->p += value.n;
    return code;
}

/* r->p is behind the opening brace of the document. */
static weir_code object_read(reader *r, weir_err *err)
{
    for (;;) {
        weir_code code = space_skip(r, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (r->p == r->end) {
            r->shard->cut = true;
            return WEIR_OK;
        }
        if (*r->p == '}') {
            r->p++;
            return WEIR_OK;
        }
        if (*r->p == ',') {
            r->p++;
            continue;
        }
        bool ok;
        code = member_read(r, &ok, err);
        if (code == WEIR_OK && !ok) {
            code = metadata_recover(r, err);
        }
        if (code != WEIR_OK) {
            return code;
        }
    }
}

/* Sets the place in err, beside the sentence that names it. */
static weir_code not_a_trace(reader *r, weir_err *err)
{
    if (r->p == r->end) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: is empty, expected a trace", r->name);
    }
    uint64_t column;
    r->event_begin = r->p;
    uint64_t line = where_line(r, &column);
    size_t n = (size_t)(r->end - r->p);
    weir_text found = {0};
    weir_text_escaped(&found, (weir_str){r->p, (uint32_t)(n < 4 * SHOWN ? n : 4 * SHOWN)}, SHOWN);
    weir_code code = weir_err_set(err, WEIR_ERR_INPUT,
                                  "%s:%llu:%llu: found '%s', expected a JSON object or array of "
                                  "trace events",
                                  r->name, (unsigned long long)line, (unsigned long long)column,
                                  found.p && !found.failed ? found.p : "");
    weir_text_clear(&found);
    if (err) {
        err->offset = r->window_offset + (uint64_t)(r->p - r->window);
        err->line = line < UINT32_MAX ? (uint32_t)line : 0;
        err->column = column < UINT32_MAX ? (uint32_t)column : 0;
    }
    return code;
}

/* A second document, as when two ranks wrote to one path, or what else stands behind the trace. */
static weir_code end_check(reader *r, weir_err *err)
{
    weir_code code = space_skip(r, err);
    if (code == WEIR_OK && r->p < r->end) {
        report(r, "text-after-end", true, r->p);
    }
    return code;
}

static weir_code document_read(reader *r, weir_err *err)
{
    weir_code code = space_skip(r, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (r->end - r->p >= 3 && memcmp(r->p, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
        r->p += 3;
        code = space_skip(r, err);
    }
    if (code != WEIR_OK || r->p == r->end || (*r->p != '{' && *r->p != '[')) {
        return code != WEIR_OK ? code : not_a_trace(r, err);
    }
    bool is_array = *r->p++ == '[';
    r->shard->is_bare_array = is_array;
    code = is_array ? events_read(r, err) : object_read(r, err);
    if (code == WEIR_OK && !r->shard->has_events) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found a JSON object without an array \"traceEvents\", expected a "
                            "Kineto trace",
                            r->name);
    }
    return code == WEIR_OK ? end_check(r, err) : code;
}

static void damage_report(reader *r)
{
    weir_source_damage damage = weir_source_get_damage(r->source);
    char at[48];
    const kineto_where nowhere = {NULL, NULL};
    snprintf(at, sizeof at, "byte %llu of the file", (unsigned long long)damage.first_byte);
    const weir_str excerpt = weir_str_from(at);
    for (uint32_t i = 0; i < damage.broken; i++) {
        kineto_shard_diag(r->shard, "damaged-compression", true, &nowhere, excerpt);
    }
    for (uint32_t i = 0; i < damage.checksums; i++) {
        kineto_shard_diag(r->shard, "wrong-checksum", false, &nowhere, excerpt);
    }
    if (damage.truncated) {
        kineto_shard_diag(r->shard, "cut-compression", true, &nowhere, excerpt);
        r->shard->cut = true;
    }
}

weir_code kineto_file_read(kineto_shard *shard, weir_source *source,
                           const weir_kineto_options *options, weir_err *err)
{
    reader r = {
        .shard = shard,
        .source = source,
        .name = weir_source_shown_name(shard->file.p),
        .max_event_bytes =
            options->max_event_bytes ? options->max_event_bytes : DEFAULT_EVENT_BYTES,
        .capacity = WINDOW_BYTES,
        .strict = {false, options->python_functions, kineto_shard_wants_shapes, shard},
        .tolerant = {true, options->python_functions, kineto_shard_wants_shapes, shard},
    };
    r.window = malloc(r.capacity + WEIR_JSON_PAD);
    if (!r.window) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", r.name);
    }
    memset(r.window, 0, WEIR_JSON_PAD);
    r.p = r.end = r.counted_to = r.window;
    weir_code code = document_read(&r, err);
    if (code == WEIR_OK) {
        damage_report(&r);
        kineto_shard_finish(shard);
    }
    free(r.window);
    return code;
}
