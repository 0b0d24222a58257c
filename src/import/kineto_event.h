/* kineto_event.h: the text of one trace event -> its fields.
 *
 * Two readings: strict (fast, what writers should write) and tolerant (a string ends only at a
 * quote that a known key or a closing brace follows, so that unescaped quotes and raw newlines
 * inside names are survived).
 *
 * Not here: where events begin (kineto_file.c), what becomes of them (kineto_spans.c). */
#ifndef WEIR_IMPORT_KINETO_EVENT_H
#define WEIR_IMPORT_KINETO_EVENT_H

#include "weir/timeline.h"

typedef enum {
    KINETO_NONE = 0, /* no category */
    KINETO_KERNEL,
    KINETO_MEMCPY,
    KINETO_MEMSET,
    KINETO_OP,
    KINETO_ANNOTATION,
    KINETO_RUNTIME,
    KINETO_SYNC,
    KINETO_PYTHON,
    KINETO_IGNORED, /* known, and of no use here */
    KINETO_UNKNOWN  /* a category that this reader has never seen */
} kineto_category;

/* A process or thread: a number, or text with a number at its end ("stream 7", "[TP01] 0"). */
typedef struct {
    int64_t number;
    weir_str label; /* what stands before the number; "" = a bare number */
    bool present, has_number;
} kineto_place;

typedef struct { /* arguments of a collective, as record_param_comms writes them */
    weir_str collective, dtype, group_name, group_description, group_ranks;
    int64_t in_elements, out_elements, group_size, rank_start, rank_stride;
    int64_t seq, src_rank, dst_rank, rank; /* -1 = not given */
} kineto_comm;

/* Views into the window: good until it moves. */
typedef struct {
    char phase; /* "X" ..., 0 = none */
    bool name_escaped, has_ts, has_dur, has_args, has_comm;
    bool skipped; /* not wanted: read no further than to know that, the rest is not set */
    kineto_category category;
    uint32_t odd_strings; /* numbers given as strings */
    uint32_t odd_numbers; /* NaN, Infinity, beyond int64 */
    uint32_t odd_commas;  /* trailing commas */
    weir_str name;        /* raw */
    int64_t ts_ns, dur_ns;
    kineto_place pid, tid;
    const char *early_args; /* arguments that came too early to be understood; internal */
    /* of the arguments */
    bool open;
    uint32_t external, correlation;
    uint32_t told_cause;    /* 1 + weir_cause of args."weir cause"; 0: none */
    int64_t device, stream; /* INT64_MIN = not given */
    weir_shape shape;
    weir_str dims, types, concrete;   /* raw JSON arrays, "" = none */
    weir_str sync_kind, label;        /* label: args.name of metadata events */
    int64_t wait_stream, wait_record; /* INT64_MIN = not given */
    kineto_comm comm;                 /* meaningful when has_comm */
} kineto_event;

typedef struct {
    bool tolerant;
    bool python; /* python_function events are wanted */
    /* Are the shapes (Input Dims ...) of this operation wanted? */
    bool (*wants_shapes)(void *context, const kineto_event *event);
    void *context;
} kineto_event_options;

/* p is behind the opening brace. Returns the byte behind the event's closing brace, or NULL: cut
 * off by end, or malformed. */
const char *kineto_event_parse(kineto_event *event, const char *p, const char *end,
                               const kineto_event_options *options);

/* The next place at or after p that looks like the start of an event (its opening brace), or NULL:
 * `{`, white space, one of the keys that events begin with, a colon; first on its line or behind a
 * comma, bracket or brace. begin: the start of the window, as far back as may be looked. */
const char *kineto_event_find(const char *begin, const char *p, const char *end);

/* The bracket that ends the array of events, at or after p: one that a top-level key of a trace
 * follows, or, behind an event, the brace that ends the text (is_last: `end` is its end). Or NULL.
 */
const char *kineto_events_end_find(const char *begin, const char *p, const char *end, bool is_last);

#endif
