/* "series.timeline": the ledger of each device, moment by moment (lines.h). */
#include "result/json.h"
#include "result/json_parts.h"

static void put_name(weir_json_writer *w, const weir_timeline *timeline, weir_name_id id)
{
    weir_json_string(w, weir_timeline_name(timeline, id));
}

static void put_lanes(weir_json_writer *w, const weir_timeline *timeline)
{
    uint32_t count, rank_count;
    const weir_device *devices = weir_timeline_devices(timeline, &count);
    const weir_rank *ranks = weir_timeline_ranks(timeline, &rank_count);
    weir_json_key(w, "lanes");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t d = 0; d < count; d++) {
        const weir_rank *rank = &ranks[devices[d].rank];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_int(w, "rank", rank->number);
        json_put_int(w, "device", devices[d].number);
        weir_json_key(w, "node");
        put_name(w, timeline, rank->node);
        json_put_int(w, "multiplicity", devices[d].multiplicity > 0 ? devices[d].multiplicity : 1);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_span(weir_json_writer *w, const weir_timeline *timeline, uint32_t lane,
                     const weir_line *line)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_int(w, "lane", lane);
    weir_json_key(w, "name");
    if (line->span != WEIR_NONE) {
        put_name(w, timeline, weir_timeline_spans(timeline).name[line->span]);
    } else {
        weir_json_null(w);
    }
    json_put_int(w, "begin_ns", line->begin_ns);
    json_put_int(w, "end_ns", line->end_ns);
    json_put_text(w, "cause", weir_cause_name((weir_cause)line->cause));
    weir_json_close(w);
}

void json_timeline(weir_json_writer *w, const weir_result *result)
{
    const weir_lines *lines = result->lines;
    weir_json_key(w, "timeline");
    weir_json_open_object(w, WEIR_JSON_LINES);
    put_lanes(w, result->timeline);
    weir_json_key(w, "spans");
    weir_json_open_array(w, WEIR_JSON_LINES);
    uint64_t written = 0;
    for (uint32_t d = 0; d < lines->device_count; d++) {
        for (uint64_t i = lines->first[d]; i < lines->first[d + 1]; i++) {
            if (written++ < WEIR_JSON_TIMELINE_MOST) {
                put_span(w, result->timeline, d, &lines->lines[i]);
            }
        }
    }
    weir_json_close(w);
    weir_json_close(w);
}
