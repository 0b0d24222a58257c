/* kineto_events.c: the array of events of a trace file, handed out one by one.
 *
 * What a strict reading of an event refuses is looked at again: if the start of another event
 * follows, the text up to there is read tolerantly, and dropped and counted if that fails too. */
#include "import/kineto_reader.h"

enum {
    FIRST_REACH = 8 << 10, /* most events end within it */
    SUSPICIOUS_SKIP = 512, /* a skipped event longer than this is searched for swallowed ones */
    KEPT_BYTES = 256
};

static weir_code event_add(kineto_reader *r, kineto_event *event, weir_err *err)
{
    const kineto_where where = {kineto_where_line, r};
    return kineto_shard_add(r->shard, event, &where, err);
}

/* The event at r->p is damaged and another begins at `next`: what lies between is read tolerantly.
 */
static weir_code event_repair(kineto_reader *r, const char *next, weir_err *err)
{
    kineto_event event;
    const char *begin = r->p;
    r->event_begin = begin;
    const char *after = kineto_event_parse(&event, begin + 1, next, &r->tolerant);
    r->p = next;
    if (!after || (!event.has_ts && event.phase != 'M' && !event.skipped)) {
        kineto_report(r, "malformed-event", true, begin);
        return WEIR_OK;
    }
    kineto_report(r, "repaired-event", false, begin);
    return event_add(r, &event, err);
}

/* Moves r->p to the next event at or after it, to the end of the array, or to the end of the text.
 */
static weir_code events_resume(kineto_reader *r, weir_err *err)
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
        weir_code code = kineto_window_fill(r, &more, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
}

/* Text too long for an event: dropped up to the next one. */
static weir_code event_oversized(kineto_reader *r, weir_err *err)
{
    kineto_report(r, "oversized-event", true, r->p);
    r->p++;
    return events_resume(r, err);
}

/* All text is there, no other event follows, and a strict reading failed. */
static weir_code event_last(kineto_reader *r, weir_err *err)
{
    const char *stop = kineto_events_end_find(r->window, r->p + 1, r->end, true);
    if (stop) {
        return event_repair(r, stop, err);
    }
    kineto_event event;
    r->event_begin = r->p;
    const char *after = kineto_event_parse(&event, r->p + 1, r->end, &r->tolerant);
    if (after) {
        kineto_report(r, "repaired-event", false, r->p);
        r->p = after;
        return event_add(r, &event, err);
    }
    kineto_report(r, "cut-event", true, r->p);
    r->shard->cut = true;
    r->p = r->end;
    return WEIR_OK;
}

/* A strict reading failed at r->p: more text, a damaged event, or the end of a cut file. */
static weir_code event_failed(kineto_reader *r, weir_err *err)
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
        weir_code code = kineto_window_fill(r, &more, err);
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
static weir_code event_read(kineto_reader *r, weir_err *err)
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
static weir_code garbage_skip(kineto_reader *r, weir_err *err)
{
    kineto_report(r, "text-between-events", true, r->p);
    return events_resume(r, err);
}

weir_code kineto_events_read(kineto_reader *r, weir_err *err)
{
    r->shard->has_events = true;
    bool comma = true; /* between events */
    for (;;) {
        weir_code code = kineto_space_skip(r, err);
        if (code != WEIR_OK) {
            return code;
        }
        if (r->p == r->end) {
            r->shard->cut = true;
            return WEIR_OK;
        }
        if (*r->p == '{') {
            if (!comma) {
                kineto_report(r, "missing-comma", false, r->p);
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
