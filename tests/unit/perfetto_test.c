#include "report/perfetto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A small reader of what is written: field numbers are those of the .proto files in
 * github.com/google/perfetto (tests/data/perfetto_test.py reads whole traces). */
typedef struct {
    const unsigned char *p, *end;
} message;

typedef struct {
    uint32_t number, wire;
    uint64_t value;  /* varint, fixed64 */
    message content; /* of length-delimited fields */
} field;

static uint64_t read_varint(message *m)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        assert_true(m->p < m->end);
        value |= (uint64_t)(*m->p & 0x7f) << shift;
        if ((*m->p++ & 0x80) == 0) {
            return value;
        }
    }
    fail_msg("varint of more than ten bytes");
    return 0;
}

static bool read_field(message *m, field *f)
{
    if (m->p == m->end) {
        return false;
    }
    uint64_t tag = read_varint(m);
    *f = (field){.number = (uint32_t)(tag >> 3), .wire = (uint32_t)(tag & 7)};
    if (f->wire == 0) {
        f->value = read_varint(m);
    } else if (f->wire == 1) {
        assert_true(m->end - m->p >= 8);
        for (int i = 7; i >= 0; i--) {
            f->value = f->value << 8 | m->p[i];
        }
        m->p += 8;
    } else {
        assert_int_equal(f->wire, 2);
        uint64_t length = read_varint(m);
        assert_true(length <= (uint64_t)(m->end - m->p));
        f->content = (message){m->p, m->p + length};
        m->p += length;
    }
    return true;
}

static uint64_t number_in(message m, uint32_t number, uint64_t otherwise)
{
    field f;
    uint64_t value = otherwise;
    while (read_field(&m, &f)) {
        if (f.number == number && f.wire != 2) {
            value = f.value;
        }
    }
    return value;
}

static message part_of(message m, uint32_t number)
{
    field f;
    while (read_field(&m, &f)) {
        if (f.number == number && f.wire == 2) {
            return f.content;
        }
    }
    return (message){NULL, NULL};
}

enum { MAX_EVENTS = 256, MAX_TRACKS = 64, MAX_NAME = 64 };

typedef struct {
    struct {
        uint64_t time, track, type, name, value, flows[2];
        uint32_t flow_count;
    } events[MAX_EVENTS];
    struct {
        uint64_t parent;
        char name[MAX_NAME], unit[MAX_NAME];
    } tracks[MAX_TRACKS];
    char names[MAX_EVENTS][MAX_NAME]; /* of slices, by iid */
    uint32_t event_count;
} decoded;

static void copy_text(char to[MAX_NAME], message text)
{
    size_t n = (size_t)(text.end - text.p);
    n = n < MAX_NAME - 1 ? n : MAX_NAME - 1;
    if (n > 0) {
        memcpy(to, text.p, n);
    }
    to[n] = '\0';
}

static void decode_event(decoded *d, message packet, message event)
{
    field f;
    assert_true(d->event_count < MAX_EVENTS);
    d->events[d->event_count].time = number_in(packet, 8, 0);
    d->events[d->event_count].type = number_in(event, 9, 0);
    d->events[d->event_count].track = number_in(event, 11, 0);
    d->events[d->event_count].name = number_in(event, 10, 0);
    d->events[d->event_count].value = number_in(event, 30, 0);
    while (read_field(&event, &f)) {
        if (f.number == 47) {
            d->events[d->event_count].flows[d->events[d->event_count].flow_count++] = f.value;
        }
    }
    d->event_count++;
}

static void decode_packet(decoded *d, message packet)
{
    field f;
    message rest = packet;
    assert_int_equal(number_in(packet, 10, 0), 1);
    while (read_field(&rest, &f)) {
        if (f.number == 11) {
            decode_event(d, packet, f.content);
        } else if (f.number == 60) {
            uint64_t uuid = number_in(f.content, 1, 0);
            assert_true(uuid < MAX_TRACKS);
            d->tracks[uuid].parent = number_in(f.content, 5, 0);
            copy_text(d->tracks[uuid].name, part_of(f.content, 2));
            copy_text(d->tracks[uuid].unit, part_of(part_of(f.content, 8), 6));
        } else if (f.number == 12) {
            field entry;
            while (read_field(&f.content, &entry)) {
                uint64_t iid = number_in(entry.content, 1, 0);
                if (entry.number == 2 && iid < MAX_EVENTS) {
                    copy_text(d->names[iid], part_of(entry.content, 2));
                }
            }
        }
    }
}

static decoded *decode(const weir_perfetto_request *request)
{
    char *bytes = NULL;
    size_t n = 0;
    weir_err err = {0};
    FILE *out = open_memstream(&bytes, &n);
    assert_int_equal(weir_perfetto_write(out, request, &err), WEIR_OK);
    fclose(out);
    decoded *d = calloc(1, sizeof(*d));
    message trace = {(unsigned char *)bytes, (unsigned char *)bytes + n};
    field f;
    while (read_field(&trace, &f)) {
        assert_int_equal(f.number, 1);
        decode_packet(d, f.content);
    }
    free(bytes);
    return d;
}

/* --- a timeline of two ranks on two hosts, rank 1's clock is 1,000 ns behind --- */

enum { STREAM_A = 7, ORIGIN = 1000000 };

static weir_name_id name_of(weir_timeline *t, const char *text)
{
    weir_name_id id = 0;
    assert_int_equal(weir_timeline_intern(t, weir_str_from(text), &id, NULL), WEIR_OK);
    return id;
}

static void add_span(weir_timeline *t, weir_lane_id lane, const char *name, int64_t start_ns,
                     int64_t end_ns, weir_span_kind kind)
{
    weir_new_span span = {.start_ns = ORIGIN + start_ns,
                          .dur_ns = end_ns - start_ns,
                          .lane = lane,
                          .name = name_of(t, name),
                          .detail = WEIR_NONE,
                          .kind = kind};
    assert_int_equal(weir_timeline_add_span(t, &span, NULL), WEIR_OK);
}

static weir_timeline *two_ranks(void)
{
    weir_timeline *t = weir_timeline_new(NULL);
    for (int i = 0; i < 2; i++) {
        weir_rank rank = {.number = i, .node = name_of(t, i == 0 ? "east" : "west\033")};
        weir_rank_id id;
        weir_lane_id stream, thread;
        assert_int_equal(weir_timeline_add_rank(t, &rank, &id, NULL), WEIR_OK);
        assert_int_equal(
            weir_timeline_add_lane(t, WEIR_LANE_STREAM, id, i, STREAM_A, &stream, NULL), WEIR_OK);
        assert_int_equal(weir_timeline_add_lane(t, WEIR_LANE_THREAD, id, 99, 5, &thread, NULL),
                         WEIR_OK);
        add_span(t, stream, "first", 0, 100, WEIR_SPAN_KERNEL);
        add_span(t, stream, "overlaps", 80, 200, WEIR_SPAN_KERNEL);
        add_span(t, stream, "inside", 90, 95, WEIR_SPAN_KERNEL);
        add_span(t, stream, "nothing", 200, 200, WEIR_SPAN_KERNEL);
        add_span(t, stream, "last", 200, 300, WEIR_SPAN_KERNEL);
        add_span(t, thread, "outer", 0, 300, WEIR_SPAN_OP);
        add_span(t, thread, "inner", 10, 20, WEIR_SPAN_OP);
        add_span(t, thread, "leaves", 290, 310, WEIR_SPAN_OP);
    }
    assert_int_equal(weir_timeline_seal(t, NULL), WEIR_OK);
    return t;
}

static int64_t to_aligned(const void *context, weir_rank_id rank, int64_t local_ns)
{
    (void)context;
    return local_ns + (rank == 1 ? 1000 : 0);
}

typedef struct {
    weir_timeline *timeline;
    weir_line lines[4];
    uint64_t first[3];
    int64_t begin_ns[2], end_ns[2];
    weir_lines all;
    weir_path_segment segments[3];
    weir_result *result;
    weir_perfetto_request request;
} scene;

static void scene_open(scene *s)
{
    *s = (scene){.timeline = two_ranks(), .result = weir_result_new()};
    for (uint32_t d = 0; d < 2; d++) {
        s->lines[2 * d] = (weir_line){0, 200, 0, WEIR_NONE, (uint8_t)WEIR_CAUSE_COMPUTE_GEMM};
        s->lines[2 * d + 1] =
            (weir_line){200, 300, WEIR_NONE, 4, (uint8_t)WEIR_CAUSE_DEPENDENCY_HOST};
        s->first[d + 1] = s->first[d] + 2;
        s->end_ns[d] = 300;
    }
    s->all = (weir_lines){s->lines, s->first, s->begin_ns, s->end_ns, 2};
    s->segments[0] =
        (weir_path_segment){0, "stream 7", "first", 0, 100, WEIR_CAUSE_COMPUTE_GEMM, WEIR_NONE};
    s->segments[1] =
        (weir_path_segment){1, "stream 7", "last", 90, 1250, WEIR_CAUSE_COMPUTE_GEMM, WEIR_NONE};
    s->segments[2] =
        (weir_path_segment){1, NULL, NULL, 1250, 1300, WEIR_CAUSE_DEPENDENCY_HOST, WEIR_NONE};
    s->result->critical_path.segments = s->segments;
    s->result->critical_path.segment_count = 3;
    s->request = (weir_perfetto_request){.timeline = s->timeline,
                                         .lines = &s->all,
                                         .result = s->result,
                                         .to_aligned = to_aligned,
                                         .all = true,
                                         .full = {WEIR_NONE, WEIR_NONE}};
}

static void scene_close(scene *s)
{
    weir_timeline_free(s->timeline);
    weir_result_free(s->result);
}

/* Slices of each track end in the reverse order of their beginning, and none is left open. */
static void assert_nests(const decoded *d)
{
    for (uint64_t track = 1; track < MAX_TRACKS; track++) {
        int depth = 0;
        uint64_t now = 0;
        for (uint32_t i = 0; i < d->event_count; i++) {
            if (d->events[i].track == track) {
                assert_true(d->events[i].time >= now);
                now = d->events[i].time;
                depth += d->events[i].type == 1 ? 1 : -1;
                assert_true(depth >= 0);
            }
        }
        assert_int_equal(depth, 0);
    }
}

static uint32_t tracks_named(const decoded *d, const char *name)
{
    uint32_t count = 0;
    for (uint64_t track = 1; track < MAX_TRACKS; track++) {
        count += strcmp(d->tracks[track].name, name) == 0;
    }
    return count;
}

static void groups_the_lanes_of_each_device(void **state)
{
    scene s;
    scene_open(&s);
    (void)state;
    decoded *d = decode(&s.request);
    assert_int_equal(tracks_named(d, "rank 0 \xc2\xb7 east \xc2\xb7 GPU 0"), 1);
    assert_int_equal(tracks_named(d, "rank 1 \xc2\xb7 west\\x1b \xc2\xb7 GPU 1"), 1);
    assert_int_equal(tracks_named(d, "the four waits"), 2);
    assert_int_equal(tracks_named(d, "thread 5"), 2 + 2); /* "leaves" overlaps "outer" */
    for (uint64_t track = 1; track < MAX_TRACKS; track++) {
        if (strcmp(d->tracks[track].name, "the four waits") == 0) {
            assert_memory_equal(d->tracks[d->tracks[track].parent].name, "rank ", 5);
        }
    }
    free(d);
    scene_close(&s);
}

/* first | overlaps, then last | inside: three tracks, "nothing" and "last" find the first free. */
static void puts_overlapping_kernels_on_further_tracks_of_the_lane(void **state)
{
    scene s;
    scene_open(&s);
    (void)state;
    decoded *d = decode(&s.request);
    assert_nests(d);
    assert_int_equal(tracks_named(d, "stream 7"), 2 * 3);
    free(d);
    scene_close(&s);
}

static void draws_the_waits_without_gap_on_the_common_clock(void **state)
{
    scene s;
    scene_open(&s);
    (void)state;
    decoded *d = decode(&s.request);
    int found = 0;
    /* Times of day before 01:00 of 1 January 1970 are moved by an hour: they may not be negative.
     */
    static const uint64_t hour_ns = UINT64_C(3600000000000);
    for (uint64_t track = 1; track < MAX_TRACKS; track++) {
        uint64_t times[4];
        uint32_t count = 0;
        for (uint32_t i = 0; i < d->event_count; i++) {
            if (d->events[i].track == track &&
                strcmp(d->tracks[track].name, "the four waits") == 0) {
                assert_true(count < 4);
                times[count++] = d->events[i].time - hour_ns;
                if (count == 1) {
                    assert_string_equal(d->names[d->events[i].name], "compute.gemm");
                } else if (count == 3) {
                    assert_string_equal(d->names[d->events[i].name], "dependency.host");
                }
            }
        }
        if (count > 0) {
            uint64_t offset = found++ == 0 ? 0 : 1000;
            assert_int_equal(count, 4);
            assert_int_equal(times[0], offset);
            assert_int_equal(times[1], offset + 200);
            assert_int_equal(times[2], offset + 200);
            assert_int_equal(times[3], offset + 300);
        }
    }
    assert_int_equal(found, 2);
    free(d);
    scene_close(&s);
}

static void joins_the_path_over_ranks_with_an_arrow(void **state)
{
    scene s;
    scene_open(&s);
    (void)state;
    decoded *d = decode(&s.request);
    uint64_t tracks[4], count = 0;
    for (uint32_t i = 0; i < d->event_count; i++) {
        for (uint32_t f = 0; f < d->events[i].flow_count; f++) {
            assert_int_equal(d->events[i].flows[f], 1);
            tracks[count++] = d->events[i].track;
        }
    }
    assert_int_equal(count, 2); /* out of rank 0, into rank 1; none inside rank 1 */
    assert_true(tracks[0] != tracks[1]);
    assert_int_equal(tracks_named(d, "critical path"), 3);
    free(d);
    scene_close(&s);
}

static void shows_only_the_step_and_the_ranks_asked_for(void **state)
{
    scene s;
    scene_open(&s);
    (void)state;
    s.request.all = false;
    s.request.full[0] = 0;
    s.request.begin_ns = 50;
    s.request.end_ns = 250;
    decoded *d = decode(&s.request);
    assert_nests(d);
    assert_int_equal(tracks_named(d, "thread 5"), 1); /* of rank 0 only; "leaves" is outside */
    static const uint64_t hour_ns = UINT64_C(3600000000000);
    for (uint32_t i = 0; i < d->event_count; i++) {
        assert_in_range(d->events[i].time, hour_ns + 50, hour_ns + 250);
    }
    free(d);
    scene_close(&s);
}

/* A link that carries 5 B/s from 1 s on and nothing from 2 s on; 64 like it. */
static void draws_the_load_of_links_as_counters(void **state)
{
    const double at_s[] = {1, 2}, load[] = {5, 0};
    const weir_fabric_link_row link = {.name = "leaf 0 -> spine 1",
                                       .multiplicity = 64,
                                       .count = 2,
                                       .at_s = at_s,
                                       .bytes_per_s = load};
    static const uint64_t hour_ns = UINT64_C(3600000000000);
    scene s;
    scene_open(&s);
    (void)state;
    s.request.links = &link;
    s.request.link_count = 1;
    decoded *d = decode(&s.request);
    uint32_t found = 0;
    for (uint32_t i = 0; i < d->event_count; i++) {
        if (d->events[i].type == 4) {
            const char *name = d->tracks[d->events[i].track].name;
            assert_string_equal(name, "leaf 0 -> spine 1 (x64)");
            assert_string_equal(d->tracks[d->events[i].track].unit, "B/s");
            assert_string_equal(d->tracks[d->tracks[d->events[i].track].parent].name, "links");
            assert_int_equal(d->events[i].time, hour_ns + (found + 1) * UINT64_C(1000000000));
            assert_int_equal(d->events[i].value, found == 0 ? 5 : 0);
            found++;
        }
    }
    assert_int_equal(found, 2);
    free(d);
    scene_close(&s);
}

static void fails_with_a_sentence_where_the_file_cannot_be_written(void **state)
{
    scene s;
    scene_open(&s);
    weir_err err = {0};
    FILE *out = fopen("/dev/full", "wb");
    (void)state;
    assert_non_null(out);
    assert_int_equal(weir_perfetto_write(out, &s.request, &err), WEIR_ERR_IO);
    assert_string_equal(err.text, "the Perfetto trace could not be written");
    fclose(out);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_the_lanes_of_each_device),
        cmocka_unit_test(puts_overlapping_kernels_on_further_tracks_of_the_lane),
        cmocka_unit_test(draws_the_waits_without_gap_on_the_common_clock),
        cmocka_unit_test(joins_the_path_over_ranks_with_an_arrow),
        cmocka_unit_test(shows_only_the_step_and_the_ranks_asked_for),
        cmocka_unit_test(draws_the_load_of_links_as_counters),
        cmocka_unit_test(fails_with_a_sentence_where_the_file_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
