#include "report/perfetto_writer.h"

#include "codec/protobuf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers, read on 30 November 2026 from github.com/google/perfetto, protos/perfetto/trace.
 */
enum { TRACE_PACKET = 1 };
enum { /* trace_packet.proto */
       PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_DEFAULTS = 59,
       PACKET_TRACK_DESCRIPTOR = 60,
       PACKET_FIRST = 87
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { DEFAULTS_CLOCK_ID = 58 };                    /* trace_packet_defaults.proto */
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 }; /* clock_snapshot.proto */
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };         /* ClockSnapshot.Clock */
enum { REALTIME = 1, BOOTTIME = 6 };                /* builtin_clock.proto */
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2, INTERNED_KEYS = 3, INTERNED_STRINGS = 29 };
enum { ENTRY_IID = 1, ENTRY_TEXT = 2 }; /* of all four kinds of entries */
enum {                                  /* track_event.proto */
       EVENT_CATEGORY_IIDS = 3,
       EVENT_ARGUMENTS = 4,
       EVENT_TYPE = 9,
       EVENT_NAME_IID = 10,
       EVENT_TRACK = 11,
       EVENT_NAME = 23,
       EVENT_COUNTER_VALUE = 30,
       EVENT_FLOW_IDS = 47
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { ARGUMENT_KEY_IID = 1, ARGUMENT_INT = 4, ARGUMENT_STRING = 6, ARGUMENT_STRING_IID = 17 };
enum { /* track_descriptor.proto */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
       TRACK_CHILD_ORDERING = 11,
       TRACK_SIBLING_ORDER = 12,
       TRACK_PROCESS_ORDERING = 19
};
enum { CHILDREN_EXPLICIT = 3, PROCESSES_EXPLICIT = 1 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 }; /* process_descriptor.proto */
enum { COUNTER_UNIT_NAME = 6 };             /* counter_descriptor.proto */

enum { SEQUENCE_ID = 1, FLUSH_BYTES = 1 << 18 };
/* Aligned moments may lie a little before the origin; timestamps are unsigned. */
static const int64_t earliest_ns = INT64_C(3600000000000);

static void flush(perfetto_writer *w)
{
    if (w->buffer.failed) {
        w->failed_memory = true;
        return;
    }
    if (!w->failed_io && w->buffer.n > 0 &&
        fwrite(w->buffer.p, 1, w->buffer.n, w->out) != w->buffer.n) {
        w->failed_io = true;
    }
    w->buffer.n = 0;
}

static size_t open_packet(perfetto_writer *w, uint32_t flags)
{
    size_t packet = weir_protobuf_open(&w->buffer, TRACE_PACKET);
    weir_protobuf_uint(&w->buffer, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    weir_protobuf_uint(&w->buffer, PACKET_SEQUENCE_FLAGS, flags);
    return packet;
}

static void close_packet(perfetto_writer *w, size_t packet)
{
    weir_protobuf_close(&w->buffer, packet);
    if (w->buffer.failed || w->buffer.n >= FLUSH_BYTES) {
        flush(w);
    }
}

static void put_entry(perfetto_writer *w, uint32_t field, uint64_t iid, weir_str text)
{
    weir_text plain = {0}; /* the field must be valid UTF-8; names from input may be anything */
    weir_text_escaped(&plain, text, 0);
    size_t entry = weir_protobuf_open(&w->buffer, field);
    weir_protobuf_uint(&w->buffer, ENTRY_IID, iid);
    weir_protobuf_bytes(&w->buffer, ENTRY_TEXT, plain.p, plain.n);
    weir_protobuf_close(&w->buffer, entry);
    w->failed_memory = w->failed_memory || plain.failed;
    weir_text_clear(&plain);
}

static void put_clock(perfetto_writer *w, uint32_t id, int64_t ns)
{
    size_t clock = weir_protobuf_open(&w->buffer, SNAPSHOT_CLOCKS);
    weir_protobuf_uint(&w->buffer, CLOCK_ID, id);
    weir_protobuf_uint(&w->buffer, CLOCK_TIMESTAMP, (uint64_t)ns);
    weir_protobuf_close(&w->buffer, clock);
}

/* Timestamps are of one clock, called BOOTTIME (the default), and tied to the time of day. */
static void put_clocks(perfetto_writer *w)
{
    size_t packet = open_packet(w, FLAG_STATE_CLEARED);
    weir_protobuf_uint(&w->buffer, PACKET_FIRST, 1);
    size_t defaults = weir_protobuf_open(&w->buffer, PACKET_DEFAULTS);
    weir_protobuf_uint(&w->buffer, DEFAULTS_CLOCK_ID, BOOTTIME);
    weir_protobuf_close(&w->buffer, defaults);
    size_t snapshot = weir_protobuf_open(&w->buffer, PACKET_CLOCK_SNAPSHOT);
    put_clock(w, BOOTTIME, w->shift_ns);
    int64_t origin = weir_timeline_origin_ns(w->timeline);
    put_clock(w, REALTIME, origin > 0 ? origin : 0);
    weir_protobuf_uint(&w->buffer, SNAPSHOT_PRIMARY, BOOTTIME);
    weir_protobuf_close(&w->buffer, snapshot);
    close_packet(w, packet);
}

static void put_own_names(perfetto_writer *w)
{
    static const char *const kinds[] = {"kernel",     "memcpy",  "memset", "op",
                                        "annotation", "runtime", "python"};
    static const char *const keys[PERFETTO_KEY_END] = {
        NULL, "kernel", "meaning", "cause", "lane", "collective", "rank", "bytes", "recorded ns"};
    size_t packet = open_packet(w, FLAG_NEEDS_STATE);
    size_t data = weir_protobuf_open(&w->buffer, PACKET_INTERNED_DATA);
    for (uint32_t i = 0; i < WEIR_WAIT_COUNT; i++) {
        put_entry(w, INTERNED_CATEGORIES, PERFETTO_WAIT_CATEGORY(i),
                  weir_str_from(weir_wait_name((weir_wait)i)));
    }
    for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        put_entry(w, INTERNED_CATEGORIES, PERFETTO_KIND_CATEGORY(i), weir_str_from(kinds[i]));
    }
    for (int i = 0; i < WEIR_CAUSE_COUNT; i++) {
        put_entry(w, INTERNED_NAMES, perfetto_cause_name((weir_cause)i),
                  weir_str_from(weir_cause_name((weir_cause)i)));
    }
    for (uint32_t i = 1; i < PERFETTO_KEY_END; i++) {
        put_entry(w, INTERNED_KEYS, i, weir_str_from(keys[i]));
    }
    weir_protobuf_close(&w->buffer, data);
    close_packet(w, packet);
}

/* The root (track 0) says that groups come in the order that they state. */
static void put_root(perfetto_writer *w)
{
    size_t packet = open_packet(w, FLAG_NEEDS_STATE);
    size_t track = weir_protobuf_open(&w->buffer, PACKET_TRACK_DESCRIPTOR);
    weir_protobuf_uint(&w->buffer, TRACK_UUID, 0);
    weir_protobuf_uint(&w->buffer, TRACK_CHILD_ORDERING, CHILDREN_EXPLICIT);
    weir_protobuf_uint(&w->buffer, TRACK_PROCESS_ORDERING, PROCESSES_EXPLICIT);
    weir_protobuf_close(&w->buffer, track);
    close_packet(w, packet);
}

void perfetto_open(perfetto_writer *w, FILE *out, const weir_timeline *timeline)
{
    *w = (perfetto_writer){.out = out, .timeline = timeline};
    int64_t origin = weir_timeline_origin_ns(timeline);
    w->shift_ns = origin < earliest_ns ? earliest_ns : origin;
    w->sent = calloc((size_t)weir_timeline_name_count(timeline) + 1, sizeof(*w->sent));
    w->failed_memory = w->sent == NULL;
    put_clocks(w);
    put_own_names(w);
    put_root(w);
}

weir_code perfetto_finish(perfetto_writer *w, weir_err *err)
{
    flush(w);
    if (fflush(w->out) != 0) {
        w->failed_io = true;
    }
    free(w->sent);
    weir_text_clear(&w->buffer);
    if (w->failed_memory) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the Perfetto trace");
    }
    if (w->failed_io) {
        return weir_err_set(err, WEIR_ERR_IO, "the Perfetto trace could not be written");
    }
    return WEIR_OK;
}

/* What a track is, beside its name: a process (pid > 0), a counter (unit), or one of slices. */
typedef struct {
    int32_t pid;
    const char *unit;
} track_kind;

static void put_track(perfetto_writer *w, uint64_t parent, weir_str name, track_kind kind,
                      uint32_t order)
{
    weir_text plain = {0};
    weir_text_escaped(&plain, name, 0);
    size_t packet = open_packet(w, FLAG_NEEDS_STATE);
    size_t track = weir_protobuf_open(&w->buffer, PACKET_TRACK_DESCRIPTOR);
    weir_protobuf_uint(&w->buffer, TRACK_UUID, w->track_count);
    weir_protobuf_bytes(&w->buffer, TRACK_NAME, plain.p, plain.n);
    if (kind.pid > 0) {
        size_t process = weir_protobuf_open(&w->buffer, TRACK_PROCESS);
        weir_protobuf_int(&w->buffer, PROCESS_PID, kind.pid);
        weir_protobuf_bytes(&w->buffer, PROCESS_NAME, plain.p, plain.n);
        weir_protobuf_close(&w->buffer, process);
        weir_protobuf_uint(&w->buffer, TRACK_CHILD_ORDERING, CHILDREN_EXPLICIT);
    } else if (parent > 0) {
        weir_protobuf_uint(&w->buffer, TRACK_PARENT, parent);
    }
    if (kind.unit != NULL) {
        size_t counter = weir_protobuf_open(&w->buffer, TRACK_COUNTER);
        weir_protobuf_bytes(&w->buffer, COUNTER_UNIT_NAME, kind.unit, strlen(kind.unit));
        weir_protobuf_close(&w->buffer, counter);
    }
    weir_protobuf_int(&w->buffer, TRACK_SIBLING_ORDER, order);
    weir_protobuf_close(&w->buffer, track);
    close_packet(w, packet);
    w->failed_memory = w->failed_memory || plain.failed;
    weir_text_clear(&plain);
}

uint64_t perfetto_track(perfetto_writer *w, uint64_t parent, weir_str name, uint32_t order)
{
    w->track_count++;
    put_track(w, parent, name, (track_kind){0}, order);
    return w->track_count;
}

uint64_t perfetto_group(perfetto_writer *w, weir_str name, int32_t pid, uint32_t order)
{
    w->track_count++;
    put_track(w, 0, name, (track_kind){.pid = pid}, order);
    return w->track_count;
}

uint64_t perfetto_counter(perfetto_writer *w, uint64_t parent, weir_str name, const char *unit,
                          uint32_t order)
{
    w->track_count++;
    put_track(w, parent, name, (track_kind){.unit = unit}, order);
    return w->track_count;
}

uint64_t perfetto_cause_name(weir_cause cause)
{
    return (uint64_t)cause + 1;
}

static uint64_t intern(perfetto_writer *w, weir_name_id id, uint32_t field, uint8_t bit)
{
    uint64_t iid = (uint64_t)WEIR_CAUSE_COUNT + 1 + id;
    if (w->sent != NULL && (w->sent[id] & bit) == 0) {
        w->sent[id] = (uint8_t)(w->sent[id] | bit);
        size_t packet = open_packet(w, FLAG_NEEDS_STATE);
        size_t data = weir_protobuf_open(&w->buffer, PACKET_INTERNED_DATA);
        put_entry(w, field, iid, weir_timeline_name(w->timeline, id));
        weir_protobuf_close(&w->buffer, data);
        close_packet(w, packet);
    }
    return iid;
}

uint64_t perfetto_name(perfetto_writer *w, weir_name_id id)
{
    return intern(w, id, INTERNED_NAMES, 1);
}

uint64_t perfetto_string(perfetto_writer *w, weir_name_id id)
{
    return intern(w, id, INTERNED_STRINGS, 2);
}

static void put_text(perfetto_writer *w, uint32_t field, const char *text)
{
    weir_text plain = {0};
    weir_text_escaped(&plain, weir_str_from(text), 0);
    weir_protobuf_bytes(&w->buffer, field, plain.p, plain.n);
    w->failed_memory = w->failed_memory || plain.failed;
    weir_text_clear(&plain);
}

static void put_arguments(perfetto_writer *w, const perfetto_event *event)
{
    for (uint32_t i = 0; i < event->argument_count; i++) {
        size_t argument = weir_protobuf_open(&w->buffer, EVENT_ARGUMENTS);
        weir_protobuf_uint(&w->buffer, ARGUMENT_KEY_IID, event->arguments[i].key);
        if (event->arguments[i].text != NULL) {
            put_text(w, ARGUMENT_STRING, event->arguments[i].text);
        } else if (event->arguments[i].text_id != 0) {
            weir_protobuf_uint(&w->buffer, ARGUMENT_STRING_IID, event->arguments[i].text_id);
        } else {
            weir_protobuf_int(&w->buffer, ARGUMENT_INT, event->arguments[i].value);
        }
        weir_protobuf_close(&w->buffer, argument);
    }
}

static size_t open_event(perfetto_writer *w, uint64_t track, int64_t at_ns, uint32_t type)
{
    int64_t before_ns = -w->shift_ns; /* the earliest moment that can be told */
    uint64_t timestamp = at_ns > before_ns ? (uint64_t)(at_ns - before_ns) : 0;
    weir_protobuf_uint(&w->buffer, PACKET_TIMESTAMP, timestamp);
    size_t opened = weir_protobuf_open(&w->buffer, PACKET_TRACK_EVENT);
    weir_protobuf_uint(&w->buffer, EVENT_TYPE, type);
    weir_protobuf_uint(&w->buffer, EVENT_TRACK, track);
    return opened;
}

static void put_event(perfetto_writer *w, const perfetto_event *event, uint32_t type)
{
    size_t packet = open_packet(w, FLAG_NEEDS_STATE);
    size_t opened = open_event(w, event->track, event->at_ns, type);
    if (event->category != 0) {
        weir_protobuf_uint(&w->buffer, EVENT_CATEGORY_IIDS, event->category);
    }
    if (event->name != 0) {
        weir_protobuf_uint(&w->buffer, EVENT_NAME_IID, event->name);
    } else {
        put_text(w, EVENT_NAME, event->name_text);
    }
    put_arguments(w, event);
    for (int i = 0; i < 2; i++) {
        if (event->flows[i] != 0) {
            weir_protobuf_fixed64(&w->buffer, EVENT_FLOW_IDS, event->flows[i]);
        }
    }
    weir_protobuf_close(&w->buffer, opened);
    close_packet(w, packet);
}

void perfetto_begin(perfetto_writer *w, const perfetto_event *event)
{
    put_event(w, event, SLICE_BEGIN);
}

void perfetto_instant(perfetto_writer *w, const perfetto_event *event)
{
    put_event(w, event, INSTANT);
}

void perfetto_end(perfetto_writer *w, uint64_t track, int64_t at_ns)
{
    size_t packet = open_packet(w, FLAG_NEEDS_STATE);
    weir_protobuf_close(&w->buffer, open_event(w, track, at_ns, SLICE_END));
    close_packet(w, packet);
}

void perfetto_count(perfetto_writer *w, uint64_t track, int64_t at_ns, int64_t value)
{
    size_t packet = open_packet(w, FLAG_NEEDS_STATE);
    size_t opened = open_event(w, track, at_ns, COUNTER);
    weir_protobuf_int(&w->buffer, EVENT_COUNTER_VALUE, value);
    weir_protobuf_close(&w->buffer, opened);
    close_packet(w, packet);
}

void perfetto_add_text(perfetto_event *event, perfetto_key key, const char *text)
{
    assert(event->argument_count < PERFETTO_ARGUMENTS);
    event->arguments[event->argument_count].key = key;
    event->arguments[event->argument_count++].text = text;
}

void perfetto_add_string(perfetto_event *event, perfetto_key key, uint64_t id)
{
    assert(event->argument_count < PERFETTO_ARGUMENTS);
    event->arguments[event->argument_count].key = key;
    event->arguments[event->argument_count++].text_id = id;
}

void perfetto_add_int(perfetto_event *event, perfetto_key key, int64_t value)
{
    assert(event->argument_count < PERFETTO_ARGUMENTS);
    event->arguments[event->argument_count].key = key;
    event->arguments[event->argument_count++].value = value;
}
