#include "fabric/circuit_rule.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

double weir_circuit_duty_bytes(const weir_circuit_rule *rule)
{
    double duty = rule->duty_share > 0 ? rule->duty_share : 0.9;
    return duty / (1 - duty) * rule->delay_s * rule->bytes_per_s;
}

double weir_circuit_duty_persistence(const weir_circuit_rule *rule, double bytes)
{
    double due = weir_circuit_duty_bytes(rule);
    return bytes < due ? 1 - bytes / due : 0;
}

weir_carrier weir_circuit_rule_choose(const weir_circuit_rule *rule, const weir_circuit_flow *flow)
{
    if (flow->fan_out > rule->ports) {
        return WEIR_CARRIER_PACKETS_FAN_OUT;
    }
    if (!(flow->bytes > 0) ||
        flow->bytes < (1 - flow->persistence) * weir_circuit_duty_bytes(rule)) {
        return WEIR_CARRIER_PACKETS_BYTES;
    }
    if (flow->slack_s < rule->delay_s && flow->persistence < 1) {
        return WEIR_CARRIER_PACKETS_SLACK;
    }
    return WEIR_CARRIER_LIGHT;
}

double weir_circuit_break_even_s(uint32_t hops, double bytes, double bytes_per_s)
{
    return hops > 1 ? (hops - 1) * bytes / bytes_per_s : 0;
}

double weir_circuit_break_even_bytes(uint32_t hops, double delay_s, double bytes_per_s)
{
    return hops > 1 ? delay_s * bytes_per_s / (hops - 1) : INFINITY;
}

typedef struct {
    double bytes;
    size_t cell;
} sized_cell;

static int larger_first(const void *a, const void *b, const void *context)
{
    const sized_cell *x = a, *y = b;
    (void)context;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

weir_code weir_circuit_rule_split(const weir_circuit_rule *rule, const weir_demand *demand,
                                  double slack_s, double persistence, bool *on_light, weir_err *err)
{
    size_t n = demand->n, count = 0;
    weir_code code = weir_demand_check(demand, err);
    if (code != WEIR_OK) {
        return code;
    }
    sized_cell *cells = calloc(n * n, sizeof *cells);
    uint32_t *used = calloc(2 * n, sizeof *used);
    for (size_t i = 0; cells && used && i < n * n; i++) {
        const weir_circuit_flow flow = {demand->bytes[i], slack_s, persistence, 0};
        on_light[i] = false;
        if (i / n != i % n && weir_circuit_rule_choose(rule, &flow) == WEIR_CARRIER_LIGHT) {
            cells[count++] = (sized_cell){demand->bytes[i], i};
        }
    }
    if (!cells || !used || !weir_sort(cells, count, sizeof *cells, larger_first, NULL)) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory to split %zu cells", n * n);
    }
    for (size_t k = 0; code == WEIR_OK && k < count; k++) {
        uint32_t *out = &used[cells[k].cell / n], *in = &used[n + cells[k].cell % n];
        if (*out < rule->ports && *in < rule->ports) {
            on_light[cells[k].cell] = true;
            (*out)++;
            (*in)++;
        }
    }
    free(cells);
    free(used);
    return code;
}
