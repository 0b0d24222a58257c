#include "result/json.h"

#include "result/json_parts.h"

#include <assert.h>

enum { SCHEMA = 1 }; /* rises when a meaning changes; docs/schema/result.schema.json says it too */

/* Keys and values as --set takes them. */
static void put_scenario(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "scenario");
    if (!result->simulated) {
        weir_json_null(w);
        return;
    }
    weir_json_open_object(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->scenario_count; i++) {
        json_put_text(w, result->scenario[i].key, result->scenario[i].value);
    }
    weir_json_close(w);
}

static void put_source(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "source");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "kind", result->simulated ? "simulated" : "measured");
    weir_json_key(w, "inputs");
    weir_json_open_array(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < result->input_count; i++) {
        weir_json_text(w, result->inputs[i]);
    }
    weir_json_close(w);
    put_scenario(w, result);
    weir_json_close(w);
}

static void put_provenance(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "provenance");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "version", weir_version());
    weir_json_key(w, "presets");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (uint32_t i = 0; i < result->preset_count; i++) {
        json_put_text(w, result->presets[i].name, result->presets[i].hash);
    }
    weir_json_close(w);
    json_put_text(w, "scenario", result->scenario_hash);
    weir_json_key(w, "seed");
    weir_json_uint(w, result->seed);
    weir_json_close(w);
}

static void put_window(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "window");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_int(w, "begin_ns", result->window.begin_ns);
    json_put_int(w, "end_ns", result->window.end_ns);
    json_put_int(w, "steps", result->window.steps);
    json_put_int(w, "devices", result->window.devices);
    json_put_int(w, "ranks", result->window.ranks);
    json_put_int(w, "nodes", result->window.nodes);
    json_put_int(w, "step_ns", result->window.step_ns);
    weir_json_close(w);
}

static void put_blamed(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "blamed");
    if (!result->verdict.blames) {
        weir_json_null(w);
        return;
    }
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_rank(w, "rank", result->verdict.rank);
    json_put_rank(w, "device", result->verdict.device);
    json_put_text(w, "node", result->verdict.node);
    json_put_text(w, "reason", weir_reason_name(result->verdict.reason));
    weir_json_close(w);
}

static void put_verdict(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "verdict");
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_text(w, "wait", weir_wait_name(result->verdict.wait));
    json_put_text(w, "cause", weir_cause_name(result->verdict.cause));
    json_put_number(w, "share", result->verdict.share);
    json_put_text(w, "sentence", result->verdict.sentence);
    put_blamed(w, result);
    weir_json_close(w);
}

static void put_clock(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "clock");
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_bool(w, "aligned", result->clock.aligned);
    json_put_int(w, "hosts", result->clock.hosts);
    json_put_int(w, "max_offset_ns", result->clock.max_offset_ns);
    json_put_int(w, "residual_ns", result->clock.residual_ns);
    weir_json_key(w, "nodes");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->clock.node_count; i++) {
        const struct weir_clock_row *row = &result->clock.nodes[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "node", row->node);
        json_put_bool(w, "linked", row->linked);
        json_put_int(w, "offset_ns", row->offset_ns);
        json_put_number(w, "drift", row->drift);
        json_put_int(w, "drift_origin_ns", row->drift_origin_ns);
        weir_json_close(w);
    }
    weir_json_close(w);
    weir_json_close(w);
}

static void put_classes(weir_json_writer *w, const weir_result *result)
{
    static const char *const names[] = {"counted", "by_shape", "by_marker", "by_name", "unknown"};
    weir_json_key(w, "classes");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < 5; i++) {
        json_put_number(w, names[i], result->classes[i]);
    }
    weir_json_close(w);
}

/* events counts what is lost; kinds has what was repaired or assumed, too. */
static void put_dropped(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "dropped");
    weir_json_open_object(w, WEIR_JSON_LINES);
    weir_json_key(w, "events");
    weir_json_uint(w, weir_diags_lost(&result->diags));
    weir_json_key(w, "kinds");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->diags.count; i++) {
        const weir_diag *diag = &result->diags.items[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "kind", diag->kind);
        weir_json_key(w, "count");
        weir_json_uint(w, diag->count);
        json_put_text(w, "first", diag->place_count > 0 ? diag->places[0].text : NULL);
        json_put_bool(w, "lost", diag->loss);
        weir_json_close(w);
    }
    weir_json_close(w);
    weir_json_close(w);
}

static void put_notes(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "notes");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->note_count; i++) {
        weir_json_text(w, result->notes[i]);
    }
    weir_json_close(w);
}

weir_code weir_result_json(weir_text *out, const weir_result *result, weir_err *err)
{
    weir_json_writer writer, *w = &writer;
    weir_json_begin(w, out);
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_text(w, "weir", weir_version());
    json_put_int(w, "schema", SCHEMA);
    json_put_text(w, "command", result->command);
    put_source(w, result);
    put_provenance(w, result);
    put_window(w, result);
    put_verdict(w, result);
    json_total(w, result);
    json_devices(w, result);
    json_steps(w, result);
    json_critical_path(w, result);
    json_stragglers(w, result);
    json_collectives(w, result);
    json_efficiency(w, result);
    put_clock(w, result);
    put_classes(w, result);
    put_dropped(w, result);
    put_notes(w, result);
    json_nodes(w, result);
    if (result->training != NULL) {
        json_training(w, result->training);
    }
    if (result->fabric != NULL) {
        json_fabric(w, result->fabric);
    }
    json_questions(w, result);
    bool links = result->fabric != NULL && result->with_links;
    if (result->kernel_count > 0 || links || result->timeline != NULL) {
        json_series(w, result);
    }
    weir_json_close(w);
    weir_text_char(out, '\n');
    assert(w->depth == 0);
    if (out->failed) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to write the JSON");
    }
    return WEIR_OK;
}
