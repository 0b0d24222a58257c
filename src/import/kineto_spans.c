#include "import/kineto_spans.h"

#include "base/grow.h"
#include "base/text.h"
#include "codec/json_scan.h"
#include "import/kineto_comm.h"
#include "timeline/waits.h"

#include <stdlib.h>
#include <string.h>

/* Durations beyond this are an overflow of the profiler's clock (HTA 0.6.0 uses the same limit). */
#define LONGEST_NS  (7 * INT64_C(86400000000000))
#define FARTHEST_NS (INT64_C(1) << 61) /* moments beyond: sums stay within int64 */
#define NOT_GIVEN   INT64_MIN

enum { NAME_SEEN = 1, NAME_SHAPES = 2, NAME_NOT_UTF8 = 4, NAME_CONTROL = 8, NAME_ESCAPE = 16 };

weir_code kineto_shard_init(kineto_shard *s, weir_str file, weir_budget *budget, weir_err *err)
{
    *s = (kineto_shard){.file = file,
                        .rank = NOT_GIVEN,
                        .world_size = NOT_GIVEN,
                        .base_ns = NOT_GIVEN,
                        .argument_rank = NOT_GIVEN,
                        .earliest_ns = INT64_MAX};
    s->shard = weir_timeline_new(budget);
    if (!s->shard) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", file.p);
    }
    return WEIR_OK;
}

void kineto_shard_clear(kineto_shard *s)
{
    weir_timeline_free(s->shard);
    weir_diags_clear(&s->diags);
    free(s->devices);
    free(s->name_flags);
    weir_intern_free(s->group_keys);
    free(s->group_ids);
    free(s->thread_names);
    free(s->scratch);
    *s = (kineto_shard){0};
}

void kineto_shard_diag(kineto_shard *s, const char *kind, bool loss, const kineto_where *where,
                       weir_str excerpt)
{
    uint64_t line = 0, column = 0;
    if (where->line) {
        bool full = false; /* lines are only counted while places are still kept */
        for (uint32_t i = 0; i < s->diags.count; i++) {
            full = full || (strcmp(s->diags.items[i].kind, kind) == 0 &&
                            s->diags.items[i].place_count == WEIR_DIAG_PLACES);
        }
        line = full ? 0 : where->line(where->context, &column);
    }
    weir_diags_add(&s->diags, kind, loss, s->file, line, column, excerpt);
}

static weir_code no_memory(const kineto_shard *s, weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", s->file.p);
}

/* --- names --- */

static bool is_utf8(weir_str text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    for (uint32_t i = 0; i < text.n;) {
        uint32_t more = p[i] < 0x80 ? 0 : p[i] >= 0xf0 ? 3 : p[i] >= 0xe0 ? 2 : 1;
        if ((p[i] >= 0x80 && p[i] < 0xc2) || p[i] > 0xf4 || more >= text.n - i) {
            return false;
        }
        for (uint32_t k = 1; k <= more; k++) {
            if ((p[i + k] & 0xc0) != 0x80) {
                return false;
            }
        }
        i += more + 1;
    }
    return true;
}

static bool has_control(weir_str text)
{
    for (uint32_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] < 0x20) {
            return true;
        }
    }
    return false;
}

/* Operations whose FLOPs can be counted from the shapes of their inputs. */
static bool name_counts_flops(weir_str name)
{
    static const weir_str parts[] = {{"mm", 2},   {"linear", 6}, {"conv", 4}, {"attention", 9},
                                     {"attn", 4}, {"matmul", 6}, {"gemm", 4}, {"einsum", 6}};
    if (name.n > 128) {
        return false;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (weir_str_has(name, parts[i])) {
            return true;
        }
    }
    return weir_str_eq(name, WEIR_STR("record_param_comms"));
}

static weir_code name_flags_of(kineto_shard *s, weir_name_id id, weir_str raw, uint8_t **flags)
{
    if (id >= s->name_flag_count) {
        uint32_t count = id < 512 ? 1024 : 2 * id;
        uint8_t *grown = realloc(s->name_flags, count);
        if (!grown) {
            return WEIR_ERR_MEMORY;
        }
        memset(grown + s->name_flag_count, 0, count - s->name_flag_count);
        s->name_flags = grown;
        s->name_flag_count = count;
    }
    *flags = &s->name_flags[id];
    if (!(**flags & NAME_SEEN)) {
        **flags =
            (uint8_t)(NAME_SEEN | (name_counts_flops(raw) ? NAME_SHAPES : 0) |
                      (is_utf8(raw) ? 0 : NAME_NOT_UTF8) | (has_control(raw) ? NAME_CONTROL : 0));
    }
    return WEIR_OK;
}

static weir_code name_intern(kineto_shard *s, weir_str raw, bool escaped, weir_name_id *id,
                             uint8_t *flags, weir_err *err)
{
    uint32_t bad = 0;
    weir_str text = raw;
    if (escaped) {
        if (raw.n + (size_t)1 > s->scratch_capacity) {
            char *grown = realloc(s->scratch, raw.n + (size_t)1);
            if (!grown) {
                return no_memory(s, err);
            }
            s->scratch = grown;
            s->scratch_capacity = raw.n + (size_t)1;
        }
        text = (weir_str){s->scratch, weir_json_unescape(raw, s->scratch, &bad)};
    }
    weir_code code = weir_timeline_intern(s->shard, text, id, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint8_t *known;
    if (name_flags_of(s, *id, raw, &known) != WEIR_OK) {
        return no_memory(s, err);
    }
    *flags = (uint8_t)(*known | (bad ? NAME_ESCAPE : 0));
    return WEIR_OK;
}

bool kineto_shard_wants_shapes(void *shard, const kineto_event *event)
{
    kineto_shard *s = shard;
    weir_name_id id;
    uint8_t flags = 0;
    if (event->name_escaped || name_intern(s, event->name, false, &id, &flags, NULL) != WEIR_OK) {
        return false; /* a lack of memory shows again when the span is added */
    }
    return flags & NAME_SHAPES;
}

/* --- ranks and lanes --- */

static weir_code rank_of_label(kineto_shard *s, weir_str label, uint32_t *row, weir_err *err)
{
    weir_name_id name;
    weir_code code = weir_timeline_intern(s->shard, label, &name, err);
    if (code == WEIR_OK && s->label_count && s->labels[s->last_label] == name) {
        *row = s->last_label;
        return WEIR_OK;
    }
    for (uint32_t i = 0; code == WEIR_OK && i < s->label_count; i++) {
        if (s->labels[i] == name) {
            *row = s->last_label = i;
            return WEIR_OK;
        }
    }
    if (code == WEIR_OK && s->label_count == KINETO_LABELS) {
        code = weir_err_set(err, WEIR_ERR_LIMIT, "%s: more than %u labelled processes in one file",
                            s->file.p, s->label_count);
    }
    if (code == WEIR_OK) {
        const weir_rank rank = {.number = -1};
        code = weir_timeline_add_rank(s->shard, &rank, &s->label_ranks[s->label_count], err);
    }
    if (code == WEIR_OK) {
        s->labels[s->label_count] = name;
        *row = s->last_label = s->label_count++;
    }
    return code;
}

static uint64_t place_hash(int64_t pid, int64_t tid, weir_lane_kind kind)
{
    uint64_t h =
        (uint64_t)pid * 0x9e3779b97f4a7c15u + (uint64_t)tid * 0xc2b2ae3d27d4eb4fu + (uint64_t)kind;
    return (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u >> 40;
}

static int64_t place_number(const kineto_place *place)
{
    if (place->has_number || place->label.n == 0) {
        return place->number;
    }
    uint64_t h = 1469598103934665603u; /* text alone: a number of its own */
    for (uint32_t i = 0; i < place->label.n; i++) {
        h = (h ^ (unsigned char)place->label.p[i]) * 1099511628211u;
    }
    return (int64_t)(h >> 8);
}

/* The rank label of a process: "[TP01]" of "[TP01] 0"; "" for a bare number. */
static weir_str process_label(const kineto_event *e)
{
    return e->pid.has_number ? e->pid.label : (weir_str){"", 0};
}

static weir_code lane_find(kineto_shard *s, const kineto_event *e, weir_lane_kind kind,
                           weir_lane_id *lane, weir_err *err)
{
    int64_t pid = place_number(&e->pid);
    int64_t tid =
        kind == WEIR_LANE_STREAM && e->stream != NOT_GIVEN ? e->stream : place_number(&e->tid);
    if (kind == WEIR_LANE_STREAM && !e->pid.has_number && e->device != NOT_GIVEN) {
        pid = e->device;
    }
    weir_str label = process_label(e);
    struct kineto_lane_cache *c = &s->lanes[place_hash(pid, tid, kind) % KINETO_PLACES];
    if (c->used && c->pid == pid && c->tid == tid && c->kind == (uint8_t)kind && label.n == 0 &&
        c->label == 0) {
        *lane = c->lane;
        return WEIR_OK;
    }
    uint32_t row;
    weir_code code = rank_of_label(s, label, &row, err);
    if (code == WEIR_OK) {
        code = weir_timeline_add_lane(s->shard, kind, s->label_ranks[row], pid, tid, lane, err);
    }
    if (code == WEIR_OK && label.n == 0) {
        *c = (struct kineto_lane_cache){pid, tid, *lane, 0, (uint8_t)kind, 1};
    }
    return code;
}

/* --- spans --- */

/* "dims\ntypes\nconcrete inputs", as recorded. */
static weir_code dims_intern(kineto_shard *s, const kineto_event *e, uint32_t *detail,
                             weir_err *err)
{
    weir_text text = {0};
    weir_text_add(&text, e->dims);
    weir_text_char(&text, '\n');
    weir_text_add(&text, e->types);
    weir_text_char(&text, '\n');
    weir_text_add(&text, e->concrete);
    weir_code code =
        text.failed
            ? no_memory(s, err)
            : weir_timeline_intern(s->shard, (weir_str){text.p, (uint32_t)text.n}, detail, err);
    weir_text_clear(&text);
    return code;
}

/* A host span of a simulation is called by its cause, which ledger/host.c looks for. */
static weir_code told_name(kineto_shard *s, weir_cause cause, weir_name_id *name, weir_err *err)
{
    weir_text text = {0};
    weir_text_printf(&text, "%s%s", WEIR_TOLD_PREFIX, weir_cause_name(cause));
    weir_code code =
        text.failed
            ? weir_err_set(err, WEIR_ERR_MEMORY, "%s: out of memory", s->file.p)
            : weir_timeline_intern(s->shard, (weir_str){text.p, (uint32_t)text.n}, name, err);
    weir_text_clear(&text);
    return code;
}

static weir_code detail_find(kineto_shard *s, const kineto_event *e, weir_span_kind kind,
                             uint32_t *detail, weir_err *err)
{
    *detail = WEIR_NONE;
    if (kind <= WEIR_SPAN_MEMSET) {
        uint32_t shape = 0;
        static const weir_shape empty;
        weir_shape own = e->shape;
        own.told_cause = e->told_cause;
        weir_code code = memcmp(&own, &empty, sizeof empty) == 0
                             ? WEIR_OK
                             : weir_timeline_add_shape(s->shard, &own, &shape, err);
        *detail = shape;
        return code == WEIR_OK && e->has_comm ? kineto_comm_add(s, e, shape, detail, err) : code;
    }
    if (kind == WEIR_SPAN_OP) {
        *detail = 0;
        if (e->has_comm && e->comm.collective.n) {
            return kineto_comm_add(s, e, 0, detail, err);
        }
        return e->dims.n > 2 ? dims_intern(s, e, detail, err) : WEIR_OK;
    }
    return WEIR_OK;
}

static bool category_kind(kineto_category category, weir_span_kind *kind)
{
    switch (category) {
    case KINETO_KERNEL:
        *kind = WEIR_SPAN_KERNEL;
        return true;
    case KINETO_MEMCPY:
        *kind = WEIR_SPAN_MEMCPY;
        return true;
    case KINETO_MEMSET:
        *kind = WEIR_SPAN_MEMSET;
        return true;
    case KINETO_OP:
        *kind = WEIR_SPAN_OP;
        return true;
    case KINETO_ANNOTATION:
        *kind = WEIR_SPAN_ANNOTATION;
        return true;
    case KINETO_RUNTIME:
        *kind = WEIR_SPAN_RUNTIME;
        return true;
    case KINETO_PYTHON:
        *kind = WEIR_SPAN_PYTHON;
        return true;
    case KINETO_NONE:
    case KINETO_SYNC:
    case KINETO_IGNORED:
    case KINETO_UNKNOWN:
        break;
    }
    return false;
}

/* Repairs or refuses times. false: drop the event. */
static bool times_check(kineto_shard *s, const kineto_event *e, const kineto_where *where,
                        int64_t *dur_ns, uint8_t *flags)
{
    *dur_ns = e->has_dur ? e->dur_ns : 0;
    if (!e->has_ts || !e->has_dur) {
        kineto_shard_diag(s, e->has_ts ? "missing-duration" : "missing-timestamp", !e->has_ts,
                          where, e->name);
        return e->has_ts;
    }
    if (e->ts_ns == 0 && e->dur_ns == 0) {
        kineto_shard_diag(s, "zero-timestamp", true, where, e->name);
        return false;
    }
    if (e->ts_ns > FARTHEST_NS || e->ts_ns < -FARTHEST_NS) {
        kineto_shard_diag(s, "impossible-timestamp", true, where, e->name);
        return false;
    }
    if (e->dur_ns > LONGEST_NS) {
        kineto_shard_diag(s, "impossible-duration", true, where, e->name);
        return false;
    }
    if (e->dur_ns < 0) {
        kineto_shard_diag(s, "negative-duration", false, where, e->name);
        *dur_ns = 0;
        *flags |= WEIR_SPAN_CLAMPED;
    }
    return true;
}

static void oddities_report(kineto_shard *s, const kineto_event *e, uint8_t name_flags,
                            const kineto_where *where)
{
    const struct {
        bool odd;
        const char *kind;
    } oddities[] = {
        {e->odd_strings, "number-as-string"},        {e->odd_numbers, "impossible-number"},
        {e->odd_commas, "trailing-comma"},           {name_flags & NAME_NOT_UTF8, "invalid-utf8"},
        {name_flags & NAME_CONTROL, "control-byte"}, {name_flags & NAME_ESCAPE, "bad-escape"},
    };
    for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++) {
        if (oddities[i].odd) {
            kineto_shard_diag(s, oddities[i].kind, false, where, e->name);
        }
    }
}

static weir_code sync_add(kineto_shard *s, const kineto_event *e, weir_err *err)
{
    if (!weir_str_eq(e->sync_kind, WEIR_STR("Stream Wait Event")) || e->wait_stream == NOT_GIVEN ||
        e->wait_record <= 0 || e->wait_record > UINT32_MAX || e->stream == NOT_GIVEN ||
        e->device == NOT_GIVEN) {
        return WEIR_OK;
    }
    uint32_t row;
    weir_code code = rank_of_label(s, process_label(e), &row, err);
    const weir_event_wait wait = {.rank = code == WEIR_OK ? s->label_ranks[row] : 0,
                                  .device = e->device,
                                  .waiting_stream = e->stream,
                                  .wait_correlation = e->correlation,
                                  .recorded_stream = e->wait_stream,
                                  .record_correlation = (uint32_t)e->wait_record};
    return code == WEIR_OK ? weir_timeline_add_event_wait(s->shard, &wait, err) : code;
}

/* Thread names may precede the first span of their lane: kept until the end. */
static weir_code thread_name_add(kineto_shard *s, const kineto_event *e, weir_err *err)
{
    if (!weir_str_eq(e->name, WEIR_STR("thread_name")) || e->label.n == 0 ||
        s->thread_name_count > 100000) {
        return WEIR_OK;
    }
    if (!weir_grow(&s->thread_names, s->thread_name_count, &s->thread_name_capacity,
                   sizeof *s->thread_names)) {
        return no_memory(s, err);
    }
    struct kineto_label_row row = {.pid = place_number(&e->pid), .tid = place_number(&e->tid)};
    weir_code code = weir_timeline_intern(s->shard, process_label(e), &row.label, err);
    if (code == WEIR_OK) {
        code = weir_timeline_intern(s->shard, e->label, &row.text, err);
    }
    if (code == WEIR_OK) {
        s->thread_names[s->thread_name_count++] = row;
    }
    return code;
}

static weir_code span_add(kineto_shard *s, kineto_event *e, weir_span_kind kind,
                          const kineto_where *where, weir_err *err)
{
    weir_new_span span = {.start_ns = e->ts_ns,
                          .correlation = e->correlation,
                          .external = e->external,
                          .kind = kind,
                          .flags = (uint8_t)(e->open ? WEIR_SPAN_OPEN : 0)};
    if (!times_check(s, e, where, &span.dur_ns, &span.flags)) {
        return WEIR_OK;
    }
    bool device = kind <= WEIR_SPAN_MEMSET;
    uint8_t name_flags = 0;
    weir_code code = lane_find(s, e, device ? WEIR_LANE_STREAM : WEIR_LANE_THREAD, &span.lane, err);
    if (code == WEIR_OK) {
        code = name_intern(s, e->name, e->name_escaped, &span.name, &name_flags, err);
    }
    if (code == WEIR_OK && !device && e->told_cause) {
        code = told_name(s, (weir_cause)(e->told_cause - 1), &span.name, err);
    }
    if (code == WEIR_OK) {
        code = detail_find(s, e, kind, &span.detail, err);
    }
    if (code != WEIR_OK) {
        return code;
    }
    if (e->odd_strings | e->odd_numbers | e->odd_commas | (name_flags >> 2)) {
        oddities_report(s, e, name_flags, where);
    }
    if (e->shape.graph_id) {
        span.flags |= WEIR_SPAN_GRAPH;
    }
    s->device_spans += device;
    s->earliest_ns = span.start_ns < s->earliest_ns ? span.start_ns : s->earliest_ns;
    return weir_timeline_add_span(s->shard, &span, err);
}

weir_code kineto_shard_add(kineto_shard *s, kineto_event *e, const kineto_where *where,
                           weir_err *err)
{
    if (e->phase == 'M') {
        return thread_name_add(s, e, err);
    }
    if (e->phase == 'B') { /* other writers than Kineto: its end would have to be found */
        kineto_shard_diag(s, "begin-end-event", true, where, e->name);
        return WEIR_OK;
    }
    if (e->phase != 'X' || e->skipped) {
        return WEIR_OK;
    }
    if (e->category == KINETO_SYNC) {
        return sync_add(s, e, err);
    }
    weir_span_kind kind;
    if (category_kind(e->category, &kind)) {
        return span_add(s, e, kind, where, err);
    }
    if (e->category == KINETO_UNKNOWN) {
        kineto_shard_diag(s, "unknown-category", false, where, e->name);
    }
    return WEIR_OK;
}
