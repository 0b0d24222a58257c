/* Answers to questions about networks: "sweep", "find", "mix", "compare", and the load of links. */
#include "result/json_parts.h"

/* --- sweep --- */

static void put_point_candidate(weir_json_writer *w, const weir_fabric_candidate_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "name", row->name);
    json_put_text(w, "refused", row->refused);
    json_put_number(w, "step_s", row->step_s);
    json_put_int(w, "wall_ns", row->wall_ns);
    json_waits(w, &(weir_waits){.ns = {row->waits_ns[0], row->waits_ns[1], row->waits_ns[2],
                                       row->waits_ns[3]}});
    json_put_number(w, "watts", row->watts);
    json_put_number(w, "usd", row->usd);
    json_put_number(w, "total_usd_per_year", row->total_usd_per_year);
    weir_json_close(w);
}

static void put_point(weir_json_writer *w, const weir_fabric_sweep *sweep,
                      const weir_fabric_point *point)
{
    const weir_fabric_result *fabric = point->fabric;
    weir_json_open_object(w, WEIR_JSON_LINES);
    weir_json_key(w, "values");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        weir_json_text(w, point->values[i]);
    }
    weir_json_close(w);
    json_put_text(w, "refused", point->refused);
    bool chosen = fabric != NULL && fabric->recommended < fabric->candidate_count;
    json_put_text(w, "recommended", chosen ? fabric->candidates[fabric->recommended].name : NULL);
    weir_json_key(w, "candidates");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; fabric != NULL && i < fabric->candidate_count; i++) {
        put_point_candidate(w, &fabric->candidates[i]);
    }
    weir_json_close(w);
    weir_json_close(w);
}

static void put_sweep(weir_json_writer *w, const weir_fabric_sweep *sweep)
{
    weir_json_key(w, "sweep");
    weir_json_open_object(w, WEIR_JSON_LINES);
    weir_json_key(w, "keys");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < sweep->key_count; i++) {
        weir_json_text(w, sweep->keys[i]);
    }
    weir_json_close(w);
    weir_json_key(w, "points");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < sweep->point_count; i++) {
        put_point(w, sweep, &sweep->points[i]);
    }
    weir_json_close(w);
    weir_json_close(w);
}

/* --- find --- */

static void put_find(weir_json_writer *w, const weir_fabric_find *find)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "what", find->what);
    json_put_text(w, "candidate", find->candidate);
    json_put_number(w, "lose_share", find->lose_share);
    json_put_text(w, "end", find->end);
    json_put_number(w, "value", find->value);
    json_put_text(w, "unit", find->unit);
    json_put_number(w, "step_s", find->step_s);
    json_put_number(w, "reference_s", find->reference_s);
    json_put_number(w, "next_value", find->next_value);
    json_put_number(w, "next_step_s", find->next_step_s);
    json_put_text(w, "next_refused", find->next_refused);
    json_put_text(w, "sentence", find->sentence);
    weir_json_close(w);
}

/* --- mix --- */

static void put_mix_row(weir_json_writer *w, const weir_fabric_mix *mix,
                        const weir_fabric_mix_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "name", row->name);
    json_put_text(w, "refused", row->refused);
    json_put_number(w, "ratio", row->ratio);
    weir_json_key(w, "wait_shares");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < WEIR_WAIT_COUNT; i++) {
        json_put_number(w, weir_wait_name((weir_wait)i), row->wait_share[i]);
    }
    weir_json_close(w);
    weir_json_key(w, "job_step_s");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; row->job_step_s != NULL && i < mix->job_count; i++) {
        weir_json_double(w, row->job_step_s[i]);
    }
    weir_json_close(w);
    weir_json_close(w);
}

static void put_mix(weir_json_writer *w, const weir_fabric_mix *mix)
{
    weir_json_key(w, "mix");
    weir_json_open_object(w, WEIR_JSON_LINES);
    weir_json_key(w, "jobs");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < mix->job_count; i++) {
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "scenario", mix->jobs[i]);
        json_put_number(w, "weight", mix->weights[i]);
        weir_json_close(w);
    }
    weir_json_close(w);
    json_put_text(w, "best", mix->best < mix->count ? mix->rows[mix->best].name : NULL);
    weir_json_key(w, "candidates");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < mix->count; i++) {
        put_mix_row(w, mix, &mix->rows[i]);
    }
    weir_json_close(w);
    weir_json_close(w);
}

/* --- compare --- */

static void put_size(weir_json_writer *w, const weir_nccl_size_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    weir_json_key(w, "bytes");
    weir_json_uint(w, row->bytes);
    json_put_number(w, "measured_s", row->measured_s);
    json_put_number(w, "measured_bus_bytes_per_s", row->measured_bus_bytes_per_s);
    json_put_number(w, "foretold_s", row->foretold_s);
    json_put_number(w, "foretold_bus_bytes_per_s", row->foretold_bus_bytes_per_s);
    json_put_number(w, "limit_bus_bytes_per_s", row->limit_bus_bytes_per_s);
    json_put_number(w, "share", row->share);
    json_put_text(w, "algorithm", row->algorithm);
    json_put_text(w, "protocol", row->protocol);
    weir_json_close(w);
}

static void put_finding(weir_json_writer *w, const weir_nccl_finding_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "kind", row->kind);
    weir_json_key(w, "from_bytes");
    weir_json_uint(w, row->from_bytes);
    json_put_text(w, "sentence", row->sentence);
    json_put_text(w, "check", row->check);
    json_put_text(w, "source", row->source);
    weir_json_close(w);
}

static void put_nccl_run(weir_json_writer *w, const weir_nccl_run_row *run)
{
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_text(w, "title", run->title);
    json_put_int(w, "ranks", run->ranks);
    json_put_int(w, "nodes", run->nodes);
    json_put_number(w, "plateau_share", run->plateau_share);
    json_put_number(w, "latency_factor", run->latency_factor);
    json_put_number(w, "seeming_nic_bytes_per_s", run->seeming_nic_bytes_per_s);
    weir_json_key(w, "findings");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < run->finding_count; i++) {
        put_finding(w, &run->findings[i]);
    }
    weir_json_close(w);
    weir_json_key(w, "sizes");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < run->row_count; i++) {
        put_size(w, &run->rows[i]);
    }
    weir_json_close(w);
    weir_json_close(w);
}

void json_questions(weir_json_writer *w, const weir_result *result)
{
    if (result->sweep != NULL) {
        put_sweep(w, result->sweep);
    }
    if (result->find_count > 0) {
        weir_json_key(w, "find");
        weir_json_open_array(w, WEIR_JSON_LINES);
        for (uint32_t i = 0; i < result->find_count; i++) {
            put_find(w, &result->finds[i]);
        }
        weir_json_close(w);
    }
    if (result->mix != NULL) {
        put_mix(w, result->mix);
    }
    if (result->compared_count > 0) {
        weir_json_key(w, "compare");
        weir_json_open_array(w, WEIR_JSON_LINES);
        for (uint32_t i = 0; i < result->compared_count; i++) {
            put_nccl_run(w, &result->compared[i]);
        }
        weir_json_close(w);
    }
}

/* --- load of links --- */

static void put_link(weir_json_writer *w, const weir_fabric_link_row *row)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "link", row->name);
    json_put_text(w, "tier", row->tier);
    json_put_int(w, "multiplicity", row->multiplicity);
    json_put_number(w, "capacity_bytes_per_s", row->capacity_bytes_per_s);
    weir_json_key(w, "at_s");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < row->count; i++) {
        weir_json_double(w, row->at_s[i]);
    }
    weir_json_close(w);
    weir_json_key(w, "bytes_per_s");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < row->count; i++) {
        weir_json_double(w, row->bytes_per_s[i]);
    }
    weir_json_close(w);
    weir_json_close(w);
}

void json_links(weir_json_writer *w, const weir_fabric_result *fabric)
{
    weir_json_key(w, "links");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < fabric->link_count; i++) {
        put_link(w, &fabric->links[i]);
    }
    weir_json_close(w);
}
