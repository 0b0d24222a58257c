/* perfetto_writer.h: packets of a Perfetto trace (private to report/).
 *
 * One packet sequence. Names are interned: sent once, then referred to by number. Field numbers
 * are those of protos/perfetto/trace/ in github.com/google/perfetto (trace_packet.proto,
 * track_event/track_event.proto, track_event/track_descriptor.proto, ...), the numbers stand in
 * the .c file.
 *
 * Not here: what is drawn (perfetto.c), which track a span fits on (perfetto_lane.c). */
#ifndef WEIR_REPORT_PERFETTO_WRITER_H
#define WEIR_REPORT_PERFETTO_WRITER_H

#include "base/text.h"
#include "timeline/waits.h"
#include "weir/timeline.h"

#include <stdio.h>

/* Categories of slices: the four waits, then the kinds of spans. 0 = none. */
#define PERFETTO_WAIT_CATEGORY(wait) ((uint32_t)(wait) + 1)
#define PERFETTO_KIND_CATEGORY(kind) ((uint32_t)WEIR_WAIT_COUNT + (uint32_t)(kind) + 1)

/* Keys of the arguments that a slice may have. */
typedef enum {
    PERFETTO_KERNEL = 1, /* text */
    PERFETTO_MEANING,    /* text */
    PERFETTO_CAUSE,      /* text */
    PERFETTO_LANE,       /* text */
    PERFETTO_INSTANCE,   /* number of the matched collective */
    PERFETTO_RANK,
    PERFETTO_BYTES,
    PERFETTO_RECORDED_NS, /* the duration, where the picture cuts it off */
    PERFETTO_KEY_END
} perfetto_key;

enum { PERFETTO_ARGUMENTS = 4 };

typedef struct {
    uint64_t track;
    int64_t at_ns; /* aligned */
    uint32_t category;
    uint64_t name; /* of perfetto_name or perfetto_cause_name; 0: name_text */
    const char *name_text;
    struct {
        perfetto_key key;
        uint64_t text_id; /* of perfetto_string, 0: text */
        const char *text; /* NULL: value */
        int64_t value;
    } arguments[PERFETTO_ARGUMENTS];
    uint32_t argument_count;
    uint64_t flows[2]; /* 0 = none */
} perfetto_event;

typedef struct {
    FILE *out;
    const weir_timeline *timeline;
    int64_t shift_ns; /* aligned -> the trace's clock */
    weir_text buffer; /* packets not yet written */
    uint8_t *sent;    /* by name id: bit 0 as a slice's name, bit 1 as an argument */
    uint64_t track_count;
    bool failed_io, failed_memory;
} perfetto_writer;

/* Writes what a trace begins with. The writer borrows out and timeline until it is finished. */
void perfetto_open(perfetto_writer *w, FILE *out, const weir_timeline *timeline);
/* Flushes and frees; returns the first failure. */
weir_code perfetto_finish(perfetto_writer *w, weir_err *err);

/* A new track; order sorts it among its siblings. parent 0 = top level. */
uint64_t perfetto_track(perfetto_writer *w, uint64_t parent, weir_str name, uint32_t order);
/* A group of tracks that is shown as a process. pid: unique, > 0. */
uint64_t perfetto_group(perfetto_writer *w, weir_str name, int32_t pid, uint32_t order);

/* A track of a number over time, with its unit ("B/s"), and its value from a moment on. */
uint64_t perfetto_counter(perfetto_writer *w, uint64_t parent, weir_str name, const char *unit,
                          uint32_t order);
void perfetto_count(perfetto_writer *w, uint64_t track, int64_t at_ns, int64_t value);

uint64_t perfetto_name(perfetto_writer *w, weir_name_id id);   /* as a slice's name */
uint64_t perfetto_string(perfetto_writer *w, weir_name_id id); /* as an argument's text */
uint64_t perfetto_cause_name(weir_cause cause);

void perfetto_begin(perfetto_writer *w, const perfetto_event *event);
void perfetto_end(perfetto_writer *w, uint64_t track, int64_t at_ns);
void perfetto_instant(perfetto_writer *w, const perfetto_event *event);

/* Adds an argument to event; those beyond PERFETTO_ARGUMENTS are a bug. */
void perfetto_add_text(perfetto_event *event, perfetto_key key, const char *text);
void perfetto_add_string(perfetto_event *event, perfetto_key key, uint64_t id);
void perfetto_add_int(perfetto_event *event, perfetto_key key, int64_t value);

#endif
