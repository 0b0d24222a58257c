/* The arguments of an event: links, launch shapes, collectives, synchronisations. */
#include "import/kineto_args.h"

#include "codec/json_bytes.h"
#include "codec/json_scan.h"
#include "timeline/waits.h"

static kineto_comm *comm_of(kineto_event *e)
{
    if (!e->has_comm) {
        e->has_comm = true;
        const weir_str none = {"", 0};
        e->comm = (kineto_comm){.collective = none,
                                .dtype = none,
                                .group_name = none,
                                .group_description = none,
                                .group_ranks = none,
                                .seq = -1,
                                .src_rank = -1,
                                .dst_rank = -1,
                                .rank = -1};
    }
    return &e->comm;
}

/* Arguments that only communication has. *known = false: none of these. */
static const char *comm_argument(const kineto_parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    *known = true;
    switch (key.p[0]) {
    case 'C':
        if (KEY("Collective name")) {
            return kineto_read_text(ps, p, &comm_of(e)->collective);
        }
        break;
    case 'D':
        if (KEY("Dst Rank")) {
            return kineto_read_integer(ps, p, &comm_of(e)->dst_rank);
        }
        break;
    case 'G':
        if (KEY("Group size")) {
            return kineto_read_integer(ps, p, &comm_of(e)->group_size);
        }
        if (KEY("Global rank start")) {
            return kineto_read_integer(ps, p, &comm_of(e)->rank_start);
        }
        if (KEY("Global rank stride")) {
            return kineto_read_integer(ps, p, &comm_of(e)->rank_stride);
        }
        break;
    case 'd':
        if (KEY("dtype")) {
            return kineto_read_text(ps, p, &comm_of(e)->dtype);
        }
        break;
    case 'I':
        if (KEY("In msg nelems")) {
            return kineto_read_integer(ps, p, &comm_of(e)->in_elements);
        }
        break;
    case 'O':
        if (KEY("Out msg nelems")) {
            return kineto_read_integer(ps, p, &comm_of(e)->out_elements);
        }
        break;
    case 'P':
        if (KEY("Process Group Name")) {
            return kineto_read_text(ps, p, &comm_of(e)->group_name);
        }
        if (KEY("Process Group Description")) {
            return kineto_read_text(ps, p, &comm_of(e)->group_description);
        }
        if (KEY("Process Group Ranks")) {
            return kineto_read_raw(ps, p, &comm_of(e)->group_ranks);
        }
        break;
    case 'R':
        if (KEY("Rank")) {
            return kineto_read_integer(ps, p, &comm_of(e)->rank);
        }
        break;
    case 'S':
        if (KEY("Seq")) {
            return kineto_read_integer(ps, p, &comm_of(e)->seq);
        }
        if (KEY("Src Rank")) {
            return kineto_read_integer(ps, p, &comm_of(e)->src_rank);
        }
        break;
    default:
        break;
    }
    *known = false;
    return p;
}

static const char *sync_argument(const kineto_parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    *known = true;
    if (KEY("cuda_sync_kind")) {
        return kineto_read_text(ps, p, &e->sync_kind);
    }
    if (KEY("wait_on_stream")) {
        return kineto_read_integer(ps, p, &e->wait_stream);
    }
    if (KEY("wait_on_cuda_event_record_corr_id")) {
        return kineto_read_integer(ps, p, &e->wait_record);
    }
    *known = false;
    return p;
}

static const char *shape_argument(const kineto_parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    int64_t value = 0;
    *known = true;
    switch (key.p[0]) {
    case 'b':
        if (KEY("block")) {
            return kineto_read_triple(ps, p, e->shape.block);
        }
        if (KEY("bytes")) {
            p = kineto_read_integer(ps, p, &value);
            e->shape.bytes = value > 0 ? (uint64_t)value : 0;
            return p;
        }
        break;
    case 'g':
        if (KEY("grid")) {
            return kineto_read_triple(ps, p, e->shape.grid);
        }
        if (KEY("graph id")) {
            p = kineto_read_integer(ps, p, &value);
            e->shape.graph_id = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
            return p;
        }
        break;
    case 'r':
        if (KEY("registers per thread")) {
            p = kineto_read_integer(ps, p, &value);
            e->shape.registers = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
            return p;
        }
        break;
    case 's':
        if (KEY("size")) { /* MTIA */
            p = kineto_read_integer(ps, p, &value);
            e->shape.bytes = value > 0 ? (uint64_t)value : 0;
            return p;
        }
        break;
    default:
        break;
    }
    *known = false;
    return p;
}

static const char *op_argument(const kineto_parser *ps, weir_str key, const char *p, bool *known)
{
    kineto_event *e = ps->event;
    *known = true;
    if (KEY("Input Dims") || KEY("Input dims")) {
        return kineto_read_raw(ps, p, &e->dims);
    }
    if (KEY("Input type")) {
        return kineto_read_raw(ps, p, &e->types);
    }
    if (KEY("Concrete Inputs")) {
        return kineto_read_raw(ps, p, &e->concrete);
    }
    if (KEY("finished")) {
        e->open = *p == 'f';
    }
    *known = false;
    return p;
}

/* What a simulation wrote down of the span (report/kineto_events.c). */
static const char *cause_argument(const kineto_parser *ps, const char *p)
{
    kineto_event *e = ps->event;
    weir_str text = {"", 0};
    weir_cause cause;
    p = kineto_read_text(ps, p, &text);
    if (p && weir_cause_find(text, &cause)) {
        e->told_cause = 1 + (uint32_t)cause;
    }
    return p;
}

static const char *argument(const kineto_parser *ps, weir_str key, const char *p)
{
    kineto_event *e = ps->event;
    if (KEY("External id") || KEY("external id")) {
        return kineto_read_link(ps, p, &e->external);
    }
    if (KEY("correlation")) {
        return kineto_read_link(ps, p, &e->correlation);
    }
    if (KEY("device")) {
        return kineto_read_integer(ps, p, &e->device);
    }
    if (KEY("stream")) {
        return kineto_read_integer(ps, p, &e->stream);
    }
    if (KEY("weir cause")) {
        return cause_argument(ps, p);
    }
    bool known = false;
    if (e->category == KINETO_KERNEL || e->category == KINETO_MEMCPY ||
        e->category == KINETO_MEMSET) {
        p = shape_argument(ps, key, p, &known);
    } else if (e->category == KINETO_SYNC) {
        p = sync_argument(ps, key, p, &known);
    } else if (e->category == KINETO_OP) {
        p = op_argument(ps, key, p, &known);
    } else if (e->phase == 'M' && KEY("name") && *p == '"') {
        bool escaped;
        return kineto_read_name(ps, p, &e->label, &escaped);
    }
    if (!known && (e->category == KINETO_OP || e->category == KINETO_KERNEL)) {
        p = comm_argument(ps, key, p, &known);
    }
    return known ? p : weir_json_skip_value(p, ps->end);
}

/* Nothing more is wanted of the arguments than links that were found already. */
static bool arguments_done(const kineto_parser *ps, bool wants_shapes)
{
    const kineto_event *e = ps->event;
    switch (e->category) {
    case KINETO_OP:
        return e->external && !wants_shapes;
    case KINETO_RUNTIME:
        return e->correlation && e->external;
    case KINETO_ANNOTATION:
        return e->external;
    default:
        return false;
    }
}

void kineto_reset_arguments(kineto_event *e)
{
    const weir_str none = {"", 0};
    e->has_args = true;
    e->open = false;
    e->external = e->correlation = 0;
    e->device = e->stream = e->wait_stream = e->wait_record = INT64_MIN;
    static const weir_shape no_shape;
    e->shape = no_shape;
    e->told_cause = 0;
    e->dims = e->types = e->concrete = e->sync_kind = e->label = none;
}

const char *kineto_read_arguments(const kineto_parser *ps, const char *p)
{
    kineto_reset_arguments(ps->event);
    if (*p != '{') {
        return weir_json_skip_value(p, ps->end);
    }
    bool wants = ps->event->category == KINETO_OP &&
                 ps->options->wants_shapes(ps->options->context, ps->event);
    for (p = json_skip_space(p + 1, ps->end);;) {
        if (p >= ps->end) {
            return NULL;
        }
        if (*p == '}') {
            return p + 1;
        }
        if (*p != '"') {
            return NULL;
        }
        bool escaped;
        const char *quote = json_string_end(p + 1, ps->end, &escaped);
        if (!quote) {
            return NULL;
        }
        weir_str key = {p + 1, (uint32_t)(quote - p - 1)};
        p = json_skip_space(quote + 1, ps->end);
        if (p >= ps->end || *p != ':') {
            return NULL;
        }
        p = json_skip_space(p + 1, ps->end);
        p = p < ps->end && key.n ? argument(ps, key, p) : weir_json_skip_value(p, ps->end);
        if (!p) {
            return NULL;
        }
        p = json_skip_space(p, ps->end);
        if (p < ps->end && *p == ',') {
            p = json_skip_space(p + 1, ps->end);
            ps->event->odd_commas += p < ps->end && *p == '}';
        } else if (p < ps->end && *p != '}') {
            return NULL;
        }
        if (arguments_done(ps, wants)) {
            return weir_json_skip_nested(p, ps->end);
        }
    }
}
