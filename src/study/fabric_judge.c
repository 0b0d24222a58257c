/* fabric_judge.c: light or packets for each kind of traffic, with its reason (fabric_judge.h). */
#include "study/fabric_judge.h"

#include "result/quantity.h"

#include <math.h>
#include <string.h>

weir_carrier weir_fabric_judge_flow(const weir_circuit_rule *rule, double least_use,
                                    const weir_judge_flow *flow, weir_text *because)
{
    const weir_circuit_flow *f = &flow->flow;
    weir_carrier carrier = weir_circuit_rule_choose(rule, f);
    bool stays = f->persistence >= 1;
    switch (carrier) {
    case WEIR_CARRIER_PACKETS_FAN_OUT:
        weir_text_printf(because, "%u partners at a time, more than the %u circuit%s", f->fan_out,
                         rule->ports, rule->ports == 1 ? "" : "s");
        return carrier;
    case WEIR_CARRIER_PACKETS_BYTES:
        weir_quantity_si(because, f->bytes, "B");
        weir_text_add(because, WEIR_STR(" to a partner, and a circuit pays from "));
        weir_quantity_si(because, weir_circuit_duty_bytes(rule), "B");
        weir_text_add(because, WEIR_STR(" for each time that it is set"));
        return carrier;
    case WEIR_CARRIER_PACKETS_SLACK:
        weir_text_add(because, WEIR_STR("circuits would be waited for: "));
        weir_quantity_seconds(because, rule->delay_s, 2);
        weir_text_add(because, WEIR_STR(" to set them, "));
        weir_quantity_seconds(because, f->slack_s, 2);
        weir_text_add(because, WEIR_STR(" of computing before"));
        return carrier;
    case WEIR_CARRIER_LIGHT:
        break;
    }
    if (stays && flow->use_share < least_use) {
        weir_text_add(because, WEIR_STR("a circuit of its own would be idle "));
        weir_quantity_fixed(because, 100 * (1 - flow->use_share), 1);
        weir_text_add(because, WEIR_STR(" % of the time"));
        return WEIR_CARRIER_PACKETS_BYTES;
    }
    weir_quantity_si(because, f->bytes, "B");
    weir_text_printf(because, " to each of %u partner%s", f->fan_out, f->fan_out == 1 ? "" : "s");
    weir_text_add(because, stays ? WEIR_STR(", always the same")
                                 : WEIR_STR(", enough for each time that circuits are set"));
    return carrier;
}

static weir_code keep_clause(weir_result *result, weir_text *text, weir_fabric_traffic_row *row,
                             weir_err *err)
{
    row->because =
        text->failed ? NULL : weir_result_copy(result, (weir_str){text->p, (uint32_t)text->n});
    weir_text_clear(text);
    return row->because ? WEIR_OK
                        : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a judgement");
}

static weir_code judge_axis(const weir_judge_input *input, const weir_contrast *contrast,
                            const char *axis, weir_fabric_traffic_row *row, weir_result *result,
                            weir_err *err)
{
    weir_judge_flow flow = {0};
    double bytes_between = 0;
    weir_text because = {0};
    weir_code code = weir_fabric_axis_measure(input, axis, row, &flow, &bytes_between, err);
    if (code != WEIR_OK) {
        return code;
    }
    weir_circuit_rule rule = input->ground.rule;
    rule.duty_share = contrast->duty_share;
    weir_carrier carrier = WEIR_CARRIER_PACKETS_BYTES;
    if (!(bytes_between > 0)) {
        weir_text_add(&because, WEIR_STR("it never leaves its node"));
    } else if (flow.flow.fan_out == 0) {
        weir_text_add(&because, WEIR_STR("it never leaves its block of nodes"));
    } else {
        carrier = weir_fabric_judge_flow(&rule, contrast->least_use, &flow, &because);
    }
    row->name = weir_result_copy(result, weir_str_from(axis));
    row->axis = row->name;
    row->suits = carrier == WEIR_CARRIER_LIGHT ? "light" : "packets";
    return row->name ? keep_clause(result, &because, row, err)
                     : (weir_text_clear(&because),
                        weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a judgement"));
}

static weir_code judge_contrast(const weir_judge_input *input, const weir_contrast *contrast,
                                uint32_t number, weir_fabric_traffic_row *row, weir_result *result,
                                weir_err *err)
{
    weir_text because = {0};
    weir_circuit_rule rule = input->ground.rule;
    rule.duty_share = contrast->duty_share;
    *row = contrast->rows[number];
    weir_judge_flow flow = {{.bytes = row->message_bytes,
                             .persistence = isnan(row->persistence) ? 0 : row->persistence,
                             .fan_out = isnan(row->fan_out) ? 1 : (uint32_t)row->fan_out},
                            isnan(row->duty) ? NAN : row->duty};
    weir_carrier carrier = weir_fabric_judge_flow(&rule, contrast->least_use, &flow, &because);
    row->suits = carrier == WEIR_CARRIER_LIGHT ? "light" : "packets";
    row->name = weir_result_copy(result, weir_str_from(row->name));
    row->axis = row->name;
    return row->name ? keep_clause(result, &because, row, err)
                     : (weir_text_clear(&because),
                        weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a judgement"));
}

/* Axes in the order in which phases name them. */
static uint32_t list_axes(const weir_fabric_scenario *scenario, const char **axes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        uint32_t known = 0;
        while (known < count && strcmp(axes[known], scenario->phases[i].axis) != 0) {
            known++;
        }
        if (known == count) {
            axes[count++] = scenario->phases[i].axis;
        }
    }
    return count;
}

static bool is_listed(const char *const *axes, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(axes[i], name) == 0) {
            return true;
        }
    }
    return false;
}

weir_code weir_fabric_judge(const weir_judge_input *input, weir_result *result, weir_err *err)
{
    const weir_fabric_scenario *scenario = input->scenario;
    weir_fabric_result *fabric = result->fabric;
    weir_contrast contrast = {0};
    weir_code code = weir_contrast_load(&contrast, err);
    if (code != WEIR_OK) {
        return code;
    }
    const char **axes = weir_arena_alloc(result->arena, scenario->phase_count + 1, sizeof *axes);
    uint32_t count = 0, room = scenario->phase_count + contrast.count;
    fabric->traffic = weir_arena_alloc(result->arena, room + 1, sizeof *fabric->traffic);
    if (!axes || !fabric->traffic) {
        weir_contrast_clear(&contrast);
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the traffic's figures");
    }
    uint32_t axis_count = list_axes(scenario, axes);
    fabric->peak_demand_bytes_per_s = 0;
    for (uint32_t i = 0; i < axis_count && code == WEIR_OK; i++) {
        weir_fabric_traffic_row *row = &fabric->traffic[count];
        code = judge_axis(input, &contrast, axes[i], row, result, err);
        if (code == WEIR_OK) {
            count++;
            fabric->peak_demand_bytes_per_s =
                fmax(fabric->peak_demand_bytes_per_s,
                     isnan(row->needed_bytes_per_s) ? 0 : row->needed_bytes_per_s);
        }
    }
    for (uint32_t i = 0; i < contrast.count && code == WEIR_OK; i++) {
        if (!is_listed(axes, axis_count, contrast.rows[i].name)) {
            code = judge_contrast(input, &contrast, i, &fabric->traffic[count], result, err);
            count += code == WEIR_OK;
        }
    }
    fabric->traffic_count = count;
    weir_contrast_clear(&contrast);
    return code;
}
