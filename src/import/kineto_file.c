/* One trace file: a window slides over the text; events are handed out one by one.
 *
 * What a strict reading of an event refuses is looked at again: if the start of another event
 * follows, the text up to there is read tolerantly, and dropped and counted if that fails too. */
#include "import/kineto_file.h"

#include "codec/json_bytes.h"
#include "codec/json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_BYTES = 1 << 20,
    DEFAULT_EVENT_BYTES = 16 << 20,
    SUSPICIOUS_SKIP = 512, /* a skipped event longer than this is searched for swallowed ones */
    EXCERPT_BYTES = 60
};

typedef struct {
    kineto_shard *shard;
    weir_source *source;
    const char *name;
    uint64_t max_event_bytes;
    char *window;
    size_t capacity;
    const char *p, *end;   /* what is left to read */
    bool at_end;           /* the source has no more */
    uint64_t window_offset; /* of window[0] in the decompressed text */
    uint64_t lines_before;  /* newlines up to counted_to */
    const char *counted_to, *last_newline;
    uint64_t column_base;   /* bytes of the current line that have left the window */
    const char *event_begin;
    kineto_event_options strict, tolerant;
} reader;

/* Counts newlines up to `to`; called before the window slides and when a place is wanted. */
static void lines_count(reader *r, const char *to)
{
    const char *p = r->counted_to;
    uint64_t before = r->lines_before;
    for (; to - p >= 64; p += 64) {
        r->lines_before += json_newlines64(p);
    }
    for (; p < to; p++) {
        r->lines_before += *p == '\n';
    }
    if (r->lines_before > before) {
        const char *newline = memrchr(r->counted_to, '\n', (size_t)(to - r->counted_to));
        r->last_newline = newline + 1;
    }
    r->counted_to = to;
}

static uint64_t where_line(void *context, uint64_t *column)
{
    reader *r = context;
    const char *at = r->event_begin;
    if (at < r->counted_to) { /* places are asked for in order; a repeated one is the same line */
        *column = at >= r->last_newline ? (uint64_t)(at - r->last_newline) + 1 : 1;
        return r->lines_before + 1;
    }
    lines_count(r, at);
    *column = (uint64_t)(at - (r->last_newline ? r->last_newline : r->window)) + 1 +
              (r->last_newline ? 0 : r->column_base);
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

/* Newlines matter only for places; they are counted when text leaves the window. */
static void window_slide(reader *r)
{
    lines_count(r, r->p);
    size_t gone = (size_t)(r->p - r->window), left = (size_t)(r->end - r->p);
    if (r->last_newline && r->last_newline >= r->window) {
        r->column_base = (uint64_t)(r->p - r->last_newline);
    } else {
        r->column_base += gone;
    }
    memmove(r->window, r->p, left);
    r->window_offset += gone;
    r->last_newline = NULL;
    r->counted_to = r->window;
    r->p = r->window;
    r->end = r->window + left;
}

static weir_code window_grow(reader *r, weir_err *err)
{
    size_t at = (size_t)(r->p - r->window), n = (size_t)(r->end - r->window);
    size_t counted = (size_t)(r->counted_to - r->window);
    size_t newline = r->last_newline ? (size_t)(r->last_newline - r->window) : 0;
    char *grown = realloc(r->window, 2 * r->capacity + WEIR_JSON_PAD);
    if (!grown) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", r->name);
    }
    r->last_newline = r->last_newline ? grown + newline : NULL;
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

/* The event at r->p is damaged and another begins at `next`: what lies between is read tolerantly. */
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

/* Text too long for an event: dropped up to the next one. */
static weir_code event_oversized(reader *r, weir_err *err)
{
    report(r, "oversized-event", true, r->p);
    for (;;) {
        const char *next = kineto_event_find(r->window, r->p + 1, r->end);
        if (next) {
            r->p = next;
            return WEIR_OK;
        }
        /* keep a little, in which a start may just be beginning */
        size_t keep = (size_t)(r->end - r->p) < 256 ? (size_t)(r->end - r->p) : 256;
        r->p = r->end - keep;
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
        kineto_event event;
        if (!more) {
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
        const char *after = kineto_event_parse(&event, r->p + 1, r->end, &r->strict);
        if (after) {
            r->event_begin = r->p;
            r->p = after;
            return event_add(r, &event, err);
        }
    }
}

static weir_code event_read(reader *r, weir_err *err)
{
    kineto_event event;
    const char *after = kineto_event_parse(&event, r->p + 1, r->end, &r->strict);
    if (!after) {
        return event_failed(r, err);
    }
    if (after - r->p > SUSPICIOUS_SKIP) {
        const char *swallowed = kineto_event_find(r->window, r->p + 1, after);
        if (swallowed) {
            return event_repair(r, swallowed, err);
        }
    }
    r->event_begin = r->p;
    r->p = after;
    return event_add(r, &event, err);
}

/* Neither an event nor the end of the array: moves to the next event. */
static weir_code garbage_skip(reader *r, weir_err *err)
{
    report(r, "text-between-events", true, r->p);
    const char *begin = r->p;
    for (;;) {
        const char *next = kineto_event_find(r->window, r->p, r->end);
        if (next) {
            r->p = next;
            return WEIR_OK;
        }
        size_t left = (size_t)(r->end - r->p);
        r->p = left > 256 ? r->end - 256 : begin;
        bool more;
        weir_code code = window_fill(r, &more, err);
        begin = r->p;
        if (code != WEIR_OK) {
            return code;
        }
        if (!more) {
            r->p = r->end;
            return WEIR_OK;
        }
    }
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
    if (r->shard->has_events) {
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

static weir_code not_a_trace(const reader *r, weir_err *err)
{
    weir_code code;
    if (r->p == r->end) {
        code = weir_err_set(err, WEIR_ERR_INPUT, "%s: is empty, expected a trace", r->name);
    } else {
        unsigned char c = (unsigned char)*r->p;
        char shown[8] = {(char)c, 0};
        if (c < 0x20 || c > 0x7e) {
            static const char hex[] = "0123456789abcdef";
            const char text[] = {'\\', 'x', hex[c >> 4], hex[c & 15], 0};
            memcpy(shown, text, sizeof text);
        }
        code = weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found '%s' where a JSON object or array of trace events was "
                            "expected",
                            r->name, shown);
    }
    if (err) {
        err->offset = r->window_offset + (uint64_t)(r->p - r->window);
        err->line = (uint32_t)r->lines_before + 1;
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
                            "%s: the JSON object has no \"traceEvents\" array: not a Kineto trace",
                            r->name);
    }
    return code;
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
        .name = shard->file.p,
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
