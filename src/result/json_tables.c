#include "result/json_parts.h"

static void put_path_ranks(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "ranks");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < result->critical_path.rank_count; i++) {
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_rank(w, "rank", result->critical_path.ranks[i].rank);
        json_put_int(w, "ns", result->critical_path.ranks[i].ns);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_segments(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "segments");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->critical_path.segment_count; i++) {
        const weir_path_segment *segment = &result->critical_path.segments[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_rank(w, "rank", segment->rank);
        json_put_text(w, "lane", segment->lane);
        json_put_text(w, "name", segment->name);
        json_put_int(w, "begin_ns", segment->begin_ns);
        json_put_int(w, "end_ns", segment->end_ns);
        json_put_text(w, "cause", weir_cause_name(segment->cause));
        weir_json_close(w);
    }
    weir_json_close(w);
}

void json_critical_path(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "critical_path");
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_int(w, "length_ns", result->critical_path.length_ns);
    json_waits(w, &result->critical_path.waits);
    json_causes(w, &result->critical_path.causes);
    put_path_ranks(w, result);
    if (result->critical_path.segment_count > 0) {
        put_segments(w, result);
    }
    json_put_int(w, "slack_ns", result->critical_path.slack_ns);
    weir_json_close(w);
}

void json_stragglers(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "stragglers");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->straggler_count; i++) {
        const weir_straggler_row *row = &result->stragglers[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_rank(w, "rank", row->rank);
        json_put_rank(w, "device", row->device);
        json_put_text(w, "node", row->node);
        json_put_text(w, "axis", row->axis);
        json_put_rank(w, "origin_rank", row->origin_rank);
        json_put_int(w, "waited_for_ns", row->waited_for_ns);
        json_put_text(w, "reason", weir_reason_name(row->reason));
        json_put_number(w, "factor", row->factor);
        json_put_text(w, "host_cause",
                      row->has_host_cause ? weir_cause_name(row->host_cause) : NULL);
        json_put_int(w, "instances", row->instances);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_collective(weir_json_writer *w, const weir_collective_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "kind", weir_comm_kind_name(row->kind));
    json_put_text(w, "group", row->group);
    json_put_text(w, "axis", row->axis);
    json_put_text(w, "tier", row->tier);
    json_put_int(w, "ranks", row->ranks);
    json_put_bool(w, "complete", row->complete);
    json_put_int(w, "instances", row->instances);
    weir_json_key(w, "bytes");
    if (row->bytes > 0) {
        weir_json_uint(w, row->bytes);
    } else {
        weir_json_null(w);
    }
    json_put_int(w, "transfer_ns", row->transfer_ns);
    json_put_int(w, "arrival_wait_ns", row->arrival_wait_ns);
    json_put_int(w, "unsplit_ns", row->unsplit_ns);
    json_put_known(w, "bus_bandwidth_bytes_per_s", row->bus_bandwidth_bytes_per_s,
                   row->bus_bandwidth_bytes_per_s > 0);
    json_put_text(w, "expected_bus_bandwidth_bytes_per_s", NULL); /* comes with study/ */
    json_put_known(w, "algorithm_bandwidth_bytes_per_s", row->algorithm_bandwidth_bytes_per_s,
                   row->algorithm_bandwidth_bytes_per_s > 0);
    json_put_int(w, "exposed_ns", row->exposed_ns);
    weir_json_close(w);
}

void json_collectives(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "collectives");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->collective_count; i++) {
        put_collective(w, &result->collectives[i]);
    }
    weir_json_close(w);
}

static void put_ladder(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "ladder");
    if (result->efficiency.ladder_count == 0) {
        weir_json_null(w);
        return;
    }
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < result->efficiency.ladder_count; i++) {
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "loss", result->efficiency.ladder[i].loss);
        json_put_number(w, "share", result->efficiency.ladder[i].share);
        weir_json_close(w);
    }
    weir_json_close(w);
}

void json_efficiency(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "efficiency");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_known(w, "mfu", result->efficiency.mfu, result->efficiency.mfu >= 0);
    json_put_known(w, "peak_share_in_compute", result->efficiency.peak_share_in_compute,
                   result->efficiency.peak_share_in_compute >= 0);
    put_ladder(w, result);
    weir_json_key(w, "overlap_tax_ns");
    if (result->efficiency.overlap_tax_ns >= 0) {
        weir_json_int(w, result->efficiency.overlap_tax_ns);
    } else {
        weir_json_null(w);
    }
    weir_json_close(w);
}

static void put_kernel(weir_json_writer *w, const weir_kernel_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "name", row->name);
    json_put_text(w, "family", row->family);
    json_put_text(w, "cause", weir_cause_name(row->cause));
    json_put_text(w, "class", row->cls);
    weir_json_key(w, "count");
    weir_json_uint(w, row->count);
    json_put_int(w, "ns", row->ns);
    weir_json_close(w);
}

void json_series(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "series");
    weir_json_open_object(w, WEIR_JSON_LINES);
    if (result->kernel_count > 0) {
        weir_json_key(w, "kernels");
        weir_json_open_array(w, WEIR_JSON_LINES);
        for (uint32_t i = 0; i < result->kernel_count; i++) {
            put_kernel(w, &result->kernels[i]);
        }
        weir_json_close(w);
    }
    if (result->timeline != NULL && result->lines != NULL) {
        json_timeline(w, result);
    }
    if (result->fabric != NULL && result->with_links) {
        json_links(w, result->fabric);
    }
    weir_json_close(w);
}
