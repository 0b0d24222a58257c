/* kineto_reader.h: a trace file while it is read (private to import/). */
#ifndef WEIR_IMPORT_KINETO_READER_H
#define WEIR_IMPORT_KINETO_READER_H

#include "codec/source.h"
#include "import/kineto_spans.h"

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
} kineto_reader;

/* --- kineto_window.c --- */

/* Line and column of event_begin, of a kineto_where. */
uint64_t kineto_where_line(void *reader, uint64_t *column);
/* A diagnostic of the shard with what stands there. */
void kineto_report(kineto_reader *r, const char *kind, bool loss, const char *at);
/* Makes more text visible behind r->end; *more = false: there is none. Moves the window. */
weir_code kineto_window_fill(kineto_reader *r, bool *more, weir_err *err);
/* Skips white space, filling the window as needed; r->p == r->end only at the end of the text. */
weir_code kineto_space_skip(kineto_reader *r, weir_err *err);

/* --- kineto_events.c --- */

/* r->p is behind the opening bracket; leaves it behind the closing one or at the end. */
weir_code kineto_events_read(kineto_reader *r, weir_err *err);

#endif
