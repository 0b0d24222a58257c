/* Views of a sealed timeline. */
#include "timeline/tables.h"

weir_spans weir_timeline_spans(const weir_timeline *t)
{
    return (weir_spans){
        .count = (uint32_t)t->span_count,
        .device_count = t->device_span_count,
        .start_ns = t->start_ns,
        .dur_ns = t->dur_ns,
        .lane = t->lane,
        .name = t->name,
        .correlation = t->correlation,
        .external = t->external,
        .detail = t->detail,
        .kind = t->kind,
        .flags = t->flags,
    };
}

const weir_rank *weir_timeline_ranks(const weir_timeline *t, uint32_t *count)
{
    *count = t->rank_count;
    return t->ranks;
}

const weir_device *weir_timeline_devices(const weir_timeline *t, uint32_t *count)
{
    *count = t->device_count;
    return t->devices;
}

const weir_lane *weir_timeline_lanes(const weir_timeline *t, uint32_t *count)
{
    *count = t->lane_count;
    return t->lanes;
}

const weir_group *weir_timeline_groups(const weir_timeline *t, uint32_t *count)
{
    *count = t->group_count;
    return t->groups;
}

const weir_comm *weir_timeline_comms(const weir_timeline *t, uint32_t *count)
{
    *count = t->comm_count;
    return t->comms;
}

const weir_shape *weir_timeline_shapes(const weir_timeline *t, uint32_t *count)
{
    *count = weir_intern_count(t->shape_keys);
    return t->shapes;
}

const weir_event_wait *weir_timeline_event_waits(const weir_timeline *t, uint32_t *count)
{
    *count = t->wait_count;
    return t->waits;
}

weir_str weir_timeline_name(const weir_timeline *t, weir_name_id id)
{
    return weir_intern_text(t->names, id);
}

uint32_t weir_timeline_name_count(const weir_timeline *t)
{
    return weir_intern_count(t->names);
}

int64_t weir_timeline_origin_ns(const weir_timeline *t)
{
    return t->origin_ns;
}

const weir_comm *weir_timeline_comm_of(const weir_timeline *t, weir_span_id span)
{
    bool may = span < t->device_span_count || t->kind[span] == WEIR_SPAN_OP;
    if (!may || t->detail[span] == WEIR_NONE || !(t->detail[span] & WEIR_DETAIL_COMM)) {
        return NULL;
    }
    return &t->comms[t->detail[span] & ~WEIR_DETAIL_COMM];
}

const weir_shape *weir_timeline_shape_of(const weir_timeline *t, weir_span_id span)
{
    if (span >= t->device_span_count || t->detail[span] == WEIR_NONE) {
        return NULL;
    }
    const weir_comm *comm = weir_timeline_comm_of(t, span);
    uint32_t row = comm ? comm->shape : t->detail[span];
    return row ? &t->shapes[row] : NULL;
}

const char *weir_comm_kind_name(weir_comm_kind kind)
{
    static const char *const names[WEIR_COMM_KIND_COUNT] = {
        [WEIR_COMM_UNKNOWN] = "unknown",
        [WEIR_COMM_ALL_REDUCE] = "all_reduce",
        [WEIR_COMM_ALL_GATHER] = "all_gather",
        [WEIR_COMM_REDUCE_SCATTER] = "reduce_scatter",
        [WEIR_COMM_ALL_TO_ALL] = "all_to_all",
        [WEIR_COMM_BROADCAST] = "broadcast",
        [WEIR_COMM_REDUCE] = "reduce",
        [WEIR_COMM_GATHER] = "gather",
        [WEIR_COMM_SCATTER] = "scatter",
        [WEIR_COMM_BARRIER] = "barrier",
        [WEIR_COMM_SEND] = "send",
        [WEIR_COMM_RECV] = "recv",
        [WEIR_COMM_SEND_RECV] = "send_recv",
    };
    return names[kind];
}
