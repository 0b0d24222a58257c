#include "report/perfetto.h"

#include "report/perfetto_lane.h"
#include "report/perfetto_writer.h"

#include <stdlib.h>

/* Order of the tracks of a device. */
enum { ORDER_WAITS = 0, ORDER_PATH = 1, ORDER_LANES = 2 };

typedef struct {
    const weir_perfetto_request *request;
    perfetto_writer writer;
    const weir_rank *ranks;
    const weir_device *devices;
    const weir_lane *lanes;
    uint32_t rank_count, device_count, lane_count;
    weir_spans spans;
    uint64_t *group;      /* by device: its group of tracks */
    uint64_t *host_group; /* by rank: where its threads go; 0 = none yet */
    uint64_t *path_track; /* by device, 0 = none yet */
} picture;

static int64_t aligned(const picture *p, weir_rank_id rank, int64_t local_ns)
{
    const weir_perfetto_request *request = p->request;
    return request->to_aligned != NULL ? request->to_aligned(request->context, rank, local_ns)
                                       : local_ns;
}

/* Cuts [*begin, *end) to what is shown; false where nothing is left. */
static bool cut(const picture *p, int64_t *begin_ns, int64_t *end_ns)
{
    if (p->request->all) {
        return true;
    }
    int64_t first = p->request->begin_ns, last = p->request->end_ns;
    if (*end_ns < first || *begin_ns > last || (*end_ns == first && *begin_ns < first)) {
        return false;
    }
    *begin_ns = *begin_ns < first ? first : *begin_ns;
    *end_ns = *end_ns > last ? last : *end_ns;
    return true;
}

static bool is_full(const picture *p, weir_rank_id rank)
{
    return p->request->all || p->request->full[0] == rank || p->request->full[1] == rank;
}

static void add_rank_name(const picture *p, weir_text *name, weir_rank_id rank)
{
    weir_str node = weir_timeline_name(p->request->timeline, p->ranks[rank].node);
    weir_text_printf(name, "rank %d", (int)p->ranks[rank].number);
    if (node.n > 0) {
        weir_text_add(name, WEIR_STR(" \xc2\xb7 "));
        weir_text_add(name, node);
    }
}

static uint64_t open_group(picture *p, weir_text *name, uint32_t number)
{
    weir_str text = {name->p, (uint32_t)name->n};
    uint64_t group = 0;
    if (name->failed) {
        p->writer.failed_memory = true;
    } else {
        group = perfetto_group(&p->writer, text, (int32_t)number + 1, number + 1);
    }
    weir_text_clear(name);
    return group;
}

static void open_device_groups(picture *p)
{
    for (weir_device_id d = 0; d < p->device_count; d++) {
        weir_text name = {0};
        add_rank_name(p, &name, p->devices[d].rank);
        weir_text_printf(&name, " \xc2\xb7 GPU %d", (int)p->devices[d].number);
        uint32_t alike = p->ranks[p->devices[d].rank].multiplicity;
        if (alike > 1) {
            weir_text_printf(&name, " (x%u)", (unsigned)alike);
        }
        p->group[d] = open_group(p, &name, d);
        if (p->host_group[p->devices[d].rank] == 0) {
            p->host_group[p->devices[d].rank] = p->group[d];
        }
    }
}

/* --- the four waits --- */

static void draw_line(picture *p, weir_device_id d, uint64_t track, const weir_line *line)
{
    int64_t begin_ns = aligned(p, p->devices[d].rank, line->begin_ns);
    int64_t end_ns = aligned(p, p->devices[d].rank, line->end_ns);
    if (!cut(p, &begin_ns, &end_ns) || begin_ns >= end_ns) {
        return;
    }
    weir_cause cause = (weir_cause)line->cause;
    perfetto_event event = {.track = track,
                            .at_ns = begin_ns,
                            .category = PERFETTO_WAIT_CATEGORY(weir_cause_wait(cause)),
                            .name = perfetto_cause_name(cause)};
    perfetto_add_text(&event, PERFETTO_MEANING, weir_cause_meaning(cause));
    if (line->span != WEIR_NONE) {
        perfetto_add_string(&event, PERFETTO_KERNEL,
                            perfetto_string(&p->writer, p->spans.name[line->span]));
    }
    if (line->instance != WEIR_NONE) {
        perfetto_add_int(&event, PERFETTO_INSTANCE, line->instance);
    }
    perfetto_begin(&p->writer, &event);
    perfetto_end(&p->writer, track, end_ns);
}

static void draw_waits(picture *p)
{
    const weir_lines *lines = p->request->lines;
    for (weir_device_id d = 0; d < p->device_count && d < lines->device_count; d++) {
        if (lines->first[d] == lines->first[d + 1]) {
            continue;
        }
        uint64_t track =
            perfetto_track(&p->writer, p->group[d], WEIR_STR("the four waits"), ORDER_WAITS);
        for (uint64_t i = lines->first[d]; i < lines->first[d + 1]; i++) {
            draw_line(p, d, track, &lines->lines[i]);
        }
    }
}

/* --- the critical path --- */

static weir_device_id device_of_segment(const picture *p, const weir_path_segment *segment)
{
    if (segment->span != WEIR_NONE && segment->span < p->spans.device_count) {
        return p->lanes[p->spans.lane[segment->span]].device;
    }
    for (weir_device_id d = 0; d < p->device_count; d++) {
        if (p->ranks[p->devices[d].rank].number == segment->rank) {
            return d;
        }
    }
    return WEIR_NONE;
}

static uint64_t path_track_of(picture *p, weir_device_id d)
{
    if (p->path_track[d] == 0) {
        p->path_track[d] =
            perfetto_track(&p->writer, p->group[d], WEIR_STR("critical path"), ORDER_PATH);
    }
    return p->path_track[d];
}

static void draw_segment(picture *p, perfetto_event *event, uint64_t track, int64_t end_ns)
{
    event->track = track;
    perfetto_begin(&p->writer, event);
    perfetto_end(&p->writer, track, end_ns);
}

static const char *segment_name(const weir_path_segment *segment)
{
    bool named = segment->name != NULL && segment->name[0] != '\0';
    return named ? segment->name : weir_cause_name(segment->cause);
}

/* A segment that is drawn: on which device, from when to when. */
typedef struct {
    const weir_path_segment *segment;
    weir_device_id device;
    int64_t begin_ns, end_ns;
} shown_segment;

/* The next segment from *at on that is not empty once cut and clear of what is drawn already. */
static shown_segment next_segment(const picture *p, uint32_t *at, int64_t drawn_ns)
{
    shown_segment next = {0};
    while (*at < p->request->result->critical_path.segment_count) {
        const weir_path_segment *segment = &p->request->result->critical_path.segments[(*at)++];
        int64_t begin_ns = segment->begin_ns > drawn_ns ? segment->begin_ns : drawn_ns;
        int64_t end_ns = segment->end_ns;
        if (begin_ns < end_ns && cut(p, &begin_ns, &end_ns) && begin_ns < end_ns) {
            next = (shown_segment){segment, device_of_segment(p, segment), begin_ns, end_ns};
            break;
        }
    }
    return next;
}

/* Once in the lane of the whole path, once in that of the device, where arrows lead from each
 * device to the next. */
static void draw_path(picture *p)
{
    uint32_t at = 0;
    uint64_t flow = 0, flow_count = 0;
    shown_segment now = next_segment(p, &at, INT64_MIN);
    uint64_t whole =
        now.segment != NULL ? perfetto_track(&p->writer, 0, WEIR_STR("critical path"), 0) : 0;
    while (now.segment != NULL) {
        shown_segment next = next_segment(p, &at, now.end_ns);
        bool leaves = next.segment != NULL && next.device != now.device;
        perfetto_event event = {.at_ns = now.begin_ns,
                                .category =
                                    PERFETTO_WAIT_CATEGORY(weir_cause_wait(now.segment->cause)),
                                .name_text = segment_name(now.segment)};
        perfetto_add_int(&event, PERFETTO_RANK, now.segment->rank);
        perfetto_add_text(&event, PERFETTO_CAUSE, weir_cause_name(now.segment->cause));
        if (now.segment->lane != NULL) {
            perfetto_add_text(&event, PERFETTO_LANE, now.segment->lane);
        }
        draw_segment(p, &event, whole, now.end_ns);
        event.flows[0] = flow;
        event.flows[1] = flow = leaves ? ++flow_count : 0;
        if (now.device != WEIR_NONE) {
            draw_segment(p, &event, path_track_of(p, now.device), now.end_ns);
        }
        now = next;
    }
}

/* --- lanes as they were recorded --- */

static void draw_span(picture *p, perfetto_lane *lane, weir_rank_id rank, weir_span_id i)
{
    int64_t begin_ns = aligned(p, rank, p->spans.start_ns[i]);
    int64_t end_ns = aligned(p, rank, p->spans.start_ns[i] + p->spans.dur_ns[i]);
    int64_t whole_ns = end_ns - begin_ns;
    if (!cut(p, &begin_ns, &end_ns)) {
        return;
    }
    perfetto_event event = {.at_ns = begin_ns,
                            .category = PERFETTO_KIND_CATEGORY(p->spans.kind[i]),
                            .name = perfetto_name(&p->writer, p->spans.name[i])};
    const weir_shape *shape = weir_timeline_shape_of(p->request->timeline, i);
    if (shape != NULL && shape->bytes > 0) {
        perfetto_add_int(&event, PERFETTO_BYTES, (int64_t)shape->bytes);
    }
    if (whole_ns != end_ns - begin_ns) {
        perfetto_add_int(&event, PERFETTO_RECORDED_NS, p->spans.dur_ns[i]);
    }
    perfetto_lane_add(lane, &event, end_ns);
}

static uint64_t group_of_lane(picture *p, const weir_lane *lane)
{
    if (lane->device != WEIR_NONE) {
        return p->group[lane->device];
    }
    if (p->host_group[lane->rank] == 0) { /* a rank without a device */
        weir_text name = {0};
        add_rank_name(p, &name, lane->rank);
        p->host_group[lane->rank] = open_group(p, &name, p->device_count + lane->rank);
    }
    return p->host_group[lane->rank];
}

/* Profilers label lanes "stream 7 " or "thread 9 (python)": then the label alone says it. */
static void add_lane_name(const picture *p, weir_text *name, const weir_lane *lane)
{
    weir_str label = weir_timeline_name(p->request->timeline, lane->label);
    weir_text number = {0};
    while (label.n > 0 && label.p[label.n - 1] == ' ') {
        label.n--;
    }
    weir_text_printf(&number, "%lld", (long long)lane->number);
    if (number.failed || !weir_str_has(label, (weir_str){number.p, (uint32_t)number.n})) {
        weir_text_printf(name, "%s %lld%s", lane->kind == WEIR_LANE_STREAM ? "stream" : "thread",
                         (long long)lane->number, label.n > 0 ? " " : "");
    }
    weir_text_add(name, label);
    weir_text_clear(&number);
}

static void draw_lane(picture *p, weir_lane_id id, perfetto_lane *tracks)
{
    const weir_lane *lane = &p->lanes[id];
    weir_text name = {0};
    add_lane_name(p, &name, lane);
    if (name.failed) {
        p->writer.failed_memory = true;
    } else {
        perfetto_lane_begin(tracks, &p->writer, group_of_lane(p, lane),
                            (weir_str){name.p, (uint32_t)name.n}, ORDER_LANES + id,
                            lane->kind == WEIR_LANE_THREAD);
        for (uint32_t i = 0; i < lane->span_count; i++) {
            draw_span(p, tracks, lane->rank, lane->first_span + i);
        }
        perfetto_lane_finish(tracks);
    }
    weir_text_clear(&name);
}

static void draw_lanes(picture *p)
{
    perfetto_lane *tracks = malloc(sizeof(*tracks));
    if (tracks == NULL) {
        p->writer.failed_memory = true;
        return;
    }
    for (weir_lane_id id = 0; id < p->lane_count; id++) {
        if (is_full(p, p->lanes[id].rank)) {
            draw_lane(p, id, tracks);
        }
    }
    free(tracks);
}

/* --- links of a simulated run: their load over time --- */

static void draw_link(picture *p, uint64_t group, const weir_fabric_link_row *row, uint32_t order)
{
    weir_text name = {0};
    weir_text_add(&name, weir_str_from(row->name));
    if (row->multiplicity > 1) {
        weir_text_printf(&name, " (x%u)", (unsigned)row->multiplicity);
    }
    weir_str text = {name.p, (uint32_t)name.n};
    uint64_t track = perfetto_counter(&p->writer, group, text, "B/s", order);
    for (uint32_t i = 0; i < row->count; i++) {
        int64_t at_ns = (int64_t)(row->at_s[i] * 1e9 + 0.5), end_ns = at_ns;
        if (cut(p, &at_ns, &end_ns)) {
            perfetto_count(&p->writer, track, at_ns, (int64_t)row->bytes_per_s[i]);
        }
    }
    p->writer.failed_memory = p->writer.failed_memory || name.failed;
    weir_text_clear(&name);
}

static void draw_links(picture *p)
{
    uint32_t count = p->request->link_count;
    if (count == 0) {
        return;
    }
    uint32_t order = p->device_count + p->rank_count;
    uint64_t group = perfetto_group(&p->writer, WEIR_STR("links"), (int32_t)order + 1, order + 1);
    for (uint32_t i = 0; i < count; i++) {
        draw_link(p, group, &p->request->links[i], i);
    }
}

static void picture_open(picture *p, const weir_perfetto_request *request)
{
    *p = (picture){.request = request, .spans = weir_timeline_spans(request->timeline)};
    p->ranks = weir_timeline_ranks(request->timeline, &p->rank_count);
    p->devices = weir_timeline_devices(request->timeline, &p->device_count);
    p->lanes = weir_timeline_lanes(request->timeline, &p->lane_count);
    p->group = calloc((size_t)p->device_count + 1, sizeof(*p->group));
    p->path_track = calloc((size_t)p->device_count + 1, sizeof(*p->path_track));
    p->host_group = calloc((size_t)p->rank_count + 1, sizeof(*p->host_group));
}

weir_code weir_perfetto_write(FILE *out, const weir_perfetto_request *request, weir_err *err)
{
    picture p;
    weir_code code = WEIR_ERR_MEMORY;
    picture_open(&p, request);
    if (p.group == NULL || p.path_track == NULL || p.host_group == NULL) {
        code = weir_err_set(err, code, "no memory to write the Perfetto trace");
    } else {
        perfetto_open(&p.writer, out, request->timeline);
        open_device_groups(&p);
        draw_path(&p);
        draw_waits(&p);
        draw_lanes(&p);
        draw_links(&p);
        code = perfetto_finish(&p.writer, err);
    }
    free(p.group);
    free(p.path_track);
    free(p.host_group);
    return code;
}
