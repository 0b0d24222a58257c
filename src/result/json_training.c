/* The object "training" of reference/output.md; keys beyond it stand at the end of their object. */
#include "result/json_parts.h"

static void put_band(weir_json_writer *w, const weir_training_result *t)
{
    weir_json_key(w, "band");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_number(w, "low", t->low_s);
    json_put_number(w, "high", t->high_s);
    json_put_text(w, "basis", t->band_basis);
    json_put_bool(w, "outside", t->band_outside);
    weir_json_close(w);
}

static void put_rates(weir_json_writer *w, const weir_training_result *t)
{
    json_put_number(w, "tokens_per_s", t->tokens_per_s);
    json_put_number(w, "tokens_per_s_per_device", t->tokens_per_s_per_device);
    json_put_number(w, "model_tflops_per_device", t->model_tflops_per_device);
    json_put_number(w, "hardware_tflops_per_device", t->hardware_tflops_per_device);
    json_put_number(w, "mfu", t->mfu);
    json_put_number(w, "hfu", t->hfu);
    json_put_number(w, "bubble_share", t->bubble_share);
    json_put_number(w, "goodput", t->goodput);
}

static void put_memory(weir_json_writer *w, const weir_training_result *t)
{
    weir_json_key(w, "memory_bytes");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_number(w, "parameters", t->memory_bytes.parameters);
    json_put_number(w, "gradients", t->memory_bytes.gradients);
    json_put_number(w, "optimizer", t->memory_bytes.optimizer);
    json_put_number(w, "activations", t->memory_bytes.activations);
    json_put_number(w, "buffers", t->memory_bytes.buffers);
    json_put_number(w, "total", t->memory_bytes.total);
    json_put_number(w, "capacity", t->memory_bytes.capacity);
    json_put_number(w, "context", t->memory_bytes.context);
    json_put_number(w, "fragmentation", t->memory_bytes.fragmentation);
    json_put_int(w, "stage", t->memory_bytes.stage);
    weir_json_close(w);
}

static void put_traffic(weir_json_writer *w, const weir_training_result *t)
{
    weir_json_key(w, "traffic");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < t->traffic_count; i++) {
        const weir_training_traffic_row *row = &t->traffic[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "axis", row->axis);
        json_put_text(w, "tier", row->tier);
        json_put_number(w, "bytes_per_device", row->bytes_per_device);
        json_put_number(w, "needed_bytes_per_s", row->needed_bytes_per_s);
        json_put_number(w, "available_bytes_per_s", row->available_bytes_per_s);
        json_put_int(w, "exposed_ns", row->exposed_ns);
        json_put_number(w, "seconds", row->seconds);
        json_put_int(w, "ranks", row->ranks);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_stages(weir_json_writer *w, const weir_training_result *t)
{
    weir_json_key(w, "stages");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < t->stage_row_count; i++) {
        const weir_training_stage_row *row = &t->stage_rows[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_int(w, "stage", row->stage);
        json_put_int(w, "layers", row->layers);
        json_put_number(w, "parameters", row->parameters);
        json_put_number(w, "memory_bytes", row->memory_bytes);
        json_put_number(w, "forward_s", row->forward_s);
        json_put_number(w, "backward_s", row->backward_s);
        json_put_int(w, "wall_ns", row->wall_ns);
        json_put_int(w, "busy_ns", row->busy_ns);
        json_put_int(w, "bubble_ns", row->bubble_ns);
        json_put_bool(w, "critical", row->is_critical);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_circuits(weir_json_writer *w, const weir_training_result *t)
{
    static const char *const names[] = {NULL, "stay", "set", "packets"};
    weir_json_key(w, "circuits");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < t->circuit_count; i++) {
        const weir_training_circuit_row *row = &t->circuits[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "phase", row->phase);
        json_put_text(w, "axis", row->axis);
        json_put_text(w, "collective", row->collective);
        json_put_int(w, "nodes", row->nodes);
        json_put_int(w, "partners", row->partners);
        json_put_int(w, "ports", row->ports);
        json_put_number(w, "times", row->times);
        json_put_number(w, "bytes_per_device", row->bytes_per_device);
        json_put_number(w, "seconds", row->seconds);
        json_put_text(w, "circuits", names[row->circuits]);
        json_put_number(w, "setting_s", row->setting_s);
        weir_json_close(w);
    }
    weir_json_close(w);
}

static void put_failures(weir_json_writer *w, const weir_training_result *t)
{
    weir_json_key(w, "failures");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_number(w, "mtbf_s", t->mtbf_s);
    json_put_number(w, "checkpoint_interval_s", t->checkpoint_interval_s);
    json_put_number(w, "checkpoint_share", t->checkpoint_share);
    json_put_number(w, "lost_share", t->lost_share);
    json_put_number(w, "restart_share", t->restart_share);
    weir_json_close(w);
}

void json_training(weir_json_writer *w, const weir_training_result *t)
{
    weir_json_key(w, "training");
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_number(w, "step_s", t->step_s);
    put_band(w, t);
    put_rates(w, t);
    put_memory(w, t);
    put_traffic(w, t);
    json_put_text(w, "scenario", t->scenario_name);
    json_put_text(w, "model", t->model);
    json_put_text(w, "accelerator", t->accelerator);
    json_put_text(w, "stack", t->stack);
    json_put_text(w, "plan", t->plan);
    json_put_int(w, "devices", (int64_t)t->devices);
    json_put_number(w, "tokens", t->tokens);
    json_put_number(w, "undisturbed_step_s", t->closed_step_s);
    json_put_text(w, "flops", t->flops);
    json_put_text(w, "precision", t->format);
    put_failures(w, t);
    put_stages(w, t);
    put_circuits(w, t);
    weir_json_close(w);
}
