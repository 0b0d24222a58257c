/* kineto_file.c: one trace file: the members of its top-level object, or its array of events. */
#include "import/kineto_file.h"

#include "base/text.h"
#include "codec/json_scan.h"
#include "import/kineto_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_BYTES = 1 << 20,
    DEFAULT_EVENT_BYTES = 16 << 20,
    MOST_RECOVERIES = 16, /* of the top-level object: damage at random never needs more */
    SHOWN = 20            /* columns of what was found instead of a trace */
};

/* Makes the whole value at r->p visible. *value.n = 0: the text ends, or it is too long. */
static weir_code value_get(kineto_reader *r, weir_str *value, weir_err *err)
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
        weir_code code = kineto_window_fill(r, &more, err);
        if (code != WEIR_OK || !more) {
            return code;
        }
    }
}

/* A damaged member of the top-level object: on to the array of events, if it is still to come. */
static weir_code metadata_recover(kineto_reader *r, weir_err *err)
{
    kineto_report(r, "malformed-metadata", true, r->p);
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
        weir_code code = kineto_window_fill(r, &more, err);
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
static weir_code member_read(kineto_reader *r, bool *ok, weir_err *err)
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
    code = kineto_space_skip(r, err);
    if (code != WEIR_OK || r->p == r->end || *r->p != ':') {
        return code;
    }
    r->p++;
    code = kineto_space_skip(r, err);
    if (code != WEIR_OK || r->p == r->end) {
        return code;
    }
    if (is_events && *r->p == '[') {
        r->p++;
        *ok = true;
        return kineto_events_read(r, err);
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
static weir_code object_read(kineto_reader *r, weir_err *err)
{
    for (;;) {
        weir_code code = kineto_space_skip(r, err);
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
static weir_code not_a_trace(kineto_reader *r, weir_err *err)
{
    if (r->p == r->end) {
        return weir_err_set(err, WEIR_ERR_INPUT, "%s: is empty, expected a trace", r->name);
    }
    uint64_t column;
    r->event_begin = r->p;
    uint64_t line = kineto_where_line(r, &column);
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
static weir_code end_check(kineto_reader *r, weir_err *err)
{
    weir_code code = kineto_space_skip(r, err);
    if (code == WEIR_OK && r->p < r->end) {
        kineto_report(r, "text-after-end", true, r->p);
    }
    return code;
}

static weir_code document_read(kineto_reader *r, weir_err *err)
{
    weir_code code = kineto_space_skip(r, err);
    if (code != WEIR_OK) {
        return code;
    }
    if (r->end - r->p >= 3 && memcmp(r->p, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
        r->p += 3;
        code = kineto_space_skip(r, err);
    }
    if (code != WEIR_OK || r->p == r->end || (*r->p != '{' && *r->p != '[')) {
        return code != WEIR_OK ? code : not_a_trace(r, err);
    }
    bool is_array = *r->p++ == '[';
    r->shard->is_bare_array = is_array;
    code = is_array ? kineto_events_read(r, err) : object_read(r, err);
    if (code == WEIR_OK && !r->shard->has_events) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "%s: found a JSON object without an array \"traceEvents\", expected a "
                            "Kineto trace",
                            r->name);
    }
    return code == WEIR_OK ? end_check(r, err) : code;
}

static void damage_report(kineto_reader *r)
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
    kineto_reader r = {
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
