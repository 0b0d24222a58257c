#include "result/json_parts.h"

void json_put_int(weir_json_writer *w, const char *key, int64_t value)
{
    weir_json_key(w, key);
    weir_json_int(w, value);
}

void json_put_text(weir_json_writer *w, const char *key, const char *text)
{
    weir_json_key(w, key);
    weir_json_text(w, text);
}

void json_put_bool(weir_json_writer *w, const char *key, bool value)
{
    weir_json_key(w, key);
    weir_json_bool(w, value);
}

void json_put_number(weir_json_writer *w, const char *key, double value)
{
    weir_json_key(w, key);
    weir_json_double(w, value);
}

void json_put_known(weir_json_writer *w, const char *key, double value, bool known)
{
    weir_json_key(w, key);
    if (known) {
        weir_json_double(w, value);
    } else {
        weir_json_null(w);
    }
}

void json_put_rank(weir_json_writer *w, const char *key, int32_t rank)
{
    weir_json_key(w, key);
    if (rank < 0) {
        weir_json_null(w);
    } else {
        weir_json_int(w, rank);
    }
}

void json_waits(weir_json_writer *w, const weir_waits *waits)
{
    weir_json_key(w, "waits");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < WEIR_WAIT_COUNT; i++) {
        json_put_int(w, weir_wait_name((weir_wait)i), waits->ns[i]);
    }
    weir_json_close(w);
}

static void put_causes(weir_json_writer *w, const char *key, const weir_causes *causes)
{
    weir_json_key(w, key);
    weir_json_open_object(w, WEIR_JSON_INLINE);
    for (int i = 0; i < WEIR_CAUSE_COUNT; i++) {
        if (causes->ns[i] != 0) {
            json_put_int(w, weir_cause_name((weir_cause)i), causes->ns[i]);
        }
    }
    weir_json_close(w);
}

void json_causes(weir_json_writer *w, const weir_causes *causes)
{
    put_causes(w, "causes", causes);
}

void json_hidden(weir_json_writer *w, const weir_hidden *hidden)
{
    weir_json_key(w, "hidden");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_int(w, "communication_ns", hidden->communication_ns);
    json_put_int(w, "arrival_wait_ns", hidden->arrival_wait_ns);
    json_put_int(w, "copy_ns", hidden->copy_ns);
    weir_json_close(w);
}

static void put_control(weir_json_writer *w, const weir_control *control)
{
    weir_json_key(w, "control");
    weir_json_open_object(w, WEIR_JSON_LINES);
    put_causes(w, "planned", &control->planned);
    put_causes(w, "steady", &control->steady);
    put_causes(w, "erratic", &control->erratic);
    put_causes(w, "unknown", &control->unknown);
    json_put_int(w, "places_for_half", control->places_for_half);
    weir_json_close(w);
}

static void put_communication_row(weir_json_writer *w, weir_cause cause, const char *tier,
                                  const char *part, int64_t ns)
{
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_text(w, "cause", weir_cause_name(cause));
    json_put_text(w, "tier", tier);
    json_put_text(w, "part", part); /* only a simulation tells latency from bandwidth */
    json_put_int(w, "ns", ns);
    weir_json_close(w);
}

static void put_communication(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "communication");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->communication_share_count; i++) {
        const weir_communication_share *row = &result->communication_shares[i];
        put_communication_row(w, row->cause, row->tier, weir_communication_part_name(row->part),
                              row->ns);
    }
    bool measured = result->communication_share_count == 0;
    for (uint32_t i = 0; measured && i < result->communication_count; i++) {
        const weir_communication_part *row = &result->communication[i];
        put_communication_row(w, row->cause, row->tier, NULL, row->ns);
    }
    weir_json_close(w);
}

void json_total(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "total");
    weir_json_open_object(w, WEIR_JSON_LINES);
    json_put_int(w, "wall_ns", result->total.wall_ns);
    json_waits(w, &result->total.waits);
    json_causes(w, &result->total.causes);
    put_communication(w, result);
    json_hidden(w, &result->total.hidden);
    put_control(w, &result->control);
    weir_json_close(w);
}

static void put_intervals(weir_json_writer *w, const weir_device_row *row)
{
    weir_json_key(w, "intervals");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_int(w, "span_ns", row->intervals.span_ns);
    json_put_int(w, "busy_ns", row->intervals.busy_ns);
    json_put_int(w, "compute_ns", row->intervals.compute_ns);
    json_put_int(w, "communication_ns", row->intervals.communication_ns);
    json_put_int(w, "copy_ns", row->intervals.copy_ns);
    json_put_int(w, "communication_under_compute_ns",
                 row->intervals.communication_under_compute_ns);
    weir_json_close(w);
}

static void put_device_collectives(weir_json_writer *w, const weir_device_row *row)
{
    weir_json_key(w, "collectives");
    weir_json_open_object(w, WEIR_JSON_INLINE);
    json_put_int(w, "instances", row->collectives.instances);
    json_put_int(w, "arrival_wait_ns", row->collectives.arrival_wait_ns);
    json_put_int(w, "transfer_ns", row->collectives.transfer_ns);
    json_put_int(w, "unsplit_ns", row->collectives.unsplit_ns);
    weir_json_close(w);
}

static void put_account(weir_json_writer *w, const weir_account *account)
{
    json_put_int(w, "wall_ns", account->wall_ns);
    json_waits(w, &account->waits);
    json_causes(w, &account->causes);
    json_hidden(w, &account->hidden);
}

void json_devices(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "devices");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->device_count; i++) {
        const weir_device_row *row = &result->devices[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_int(w, "rank", row->rank);
        json_put_text(w, "node", row->node);
        json_put_int(w, "device", row->device);
        json_put_int(w, "multiplicity", row->multiplicity);
        put_account(w, &row->account);
        put_intervals(w, row);
        put_device_collectives(w, row);
        weir_json_close(w);
    }
    weir_json_close(w);
}

void json_steps(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "steps");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->step_count; i++) {
        const weir_step_row *row = &result->steps[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_int(w, "index", row->index);
        json_put_int(w, "begin_ns", row->begin_ns);
        json_put_int(w, "end_ns", row->end_ns);
        json_put_int(w, "wall_ns", row->account.wall_ns);
        json_waits(w, &row->account.waits);
        json_causes(w, &row->account.causes);
        weir_json_close(w);
    }
    weir_json_close(w);
}

void json_nodes(weir_json_writer *w, const weir_result *result)
{
    weir_json_key(w, "nodes");
    weir_json_open_array(w, WEIR_JSON_LINES);
    for (uint32_t i = 0; i < result->node_count; i++) {
        const weir_node_row *row = &result->nodes[i];
        weir_json_open_object(w, WEIR_JSON_INLINE);
        json_put_text(w, "node", row->node);
        json_put_int(w, "devices", row->devices);
        put_account(w, &row->account);
        weir_json_close(w);
    }
    weir_json_close(w);
}
