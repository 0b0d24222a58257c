#include "fabric/demand.h"

#include <math.h>
#include <stdlib.h>

weir_code weir_demand_init(weir_demand *demand, uint32_t n, weir_err *err)
{
    if (n == 0 || n > WEIR_DEMAND_MAX) {
        return weir_err_set(err, n ? WEIR_ERR_LIMIT : WEIR_ERR_INPUT,
                            "a demand matrix of %u nodes; it must have 1 to %u", n,
                            WEIR_DEMAND_MAX);
    }
    double *bytes = calloc((size_t)n * n, sizeof *bytes);
    if (!bytes) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for a demand matrix of %u nodes", n);
    }
    *demand = (weir_demand){n, bytes};
    return WEIR_OK;
}

void weir_demand_clear(weir_demand *demand)
{
    free(demand->bytes);
    *demand = (weir_demand){0};
}

weir_code weir_demand_check(const weir_demand *demand, weir_err *err)
{
    bool empty = true;
    for (uint32_t i = 0; i < demand->n; i++) {
        for (uint32_t j = 0; j < demand->n; j++) {
            double bytes = demand->bytes[(size_t)i * demand->n + j];
            if (!(bytes >= 0) || isinf(bytes)) {
                return weir_err_set(err, WEIR_ERR_INPUT,
                                    "demand from node %u to node %u: %g bytes; "
                                    "it must be a number, 0 or more",
                                    i, j, bytes);
            }
            empty = empty && bytes == 0;
        }
    }
    return empty ? weir_err_set(err, WEIR_ERR_INPUT,
                                "the demand matrix is empty: no node sends anything")
                 : WEIR_OK;
}

double weir_demand_row_bytes(const weir_demand *demand, uint32_t row)
{
    const double *cells = demand->bytes + (size_t)row * demand->n;
    double sum = 0;
    for (uint32_t j = 0; j < demand->n; j++) {
        sum += cells[j];
    }
    return sum;
}

double weir_demand_column_bytes(const weir_demand *demand, uint32_t column)
{
    double sum = 0;
    for (uint32_t i = 0; i < demand->n; i++) {
        sum += demand->bytes[(size_t)i * demand->n + column];
    }
    return sum;
}

/* Partners of node i: columns of its row (across = false) or rows of its column. */
static uint32_t count_partners(const weir_demand *demand, uint32_t i, bool across)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < demand->n; j++) {
        size_t cell = across ? (size_t)j * demand->n + i : (size_t)i * demand->n + j;
        count += j != i && demand->bytes[cell] > 0;
    }
    return count;
}

weir_demand_shape weir_demand_measure(const weir_demand *demand)
{
    weir_demand_shape shape = {0};
    double away_bytes = 0, largest = 0;
    uint32_t senders = 0, n = demand->n;
    for (uint32_t i = 0; i < n; i++) {
        double row = weir_demand_row_bytes(demand, i);
        uint32_t out = count_partners(demand, i, false), in = count_partners(demand, i, true);
        shape.total_bytes += row;
        shape.max_line_bytes = fmax(shape.max_line_bytes, row);
        shape.max_line_bytes = fmax(shape.max_line_bytes, weir_demand_column_bytes(demand, i));
        shape.fan_out = out > shape.fan_out ? out : shape.fan_out;
        shape.fan_in = in > shape.fan_in ? in : shape.fan_in;
        shape.pairs += out;
        senders += out > 0;
        for (uint32_t j = 0; j < n; j++) {
            double bytes = i == j ? 0 : demand->bytes[(size_t)i * n + j];
            away_bytes += bytes;
            largest = fmax(largest, bytes);
        }
    }
    if (senders) {
        shape.mean_fan_out = (double)shape.pairs / senders;
        shape.peak_to_mean = largest / (away_bytes / ((double)n * (n - 1)));
    }
    return shape;
}

double weir_demand_needed_bytes_per_s(const weir_demand *demand, double window_s)
{
    return weir_demand_measure(demand).max_line_bytes / window_s;
}

weir_code weir_demand_persistence(const weir_demand *periods, uint32_t count, double *persistence,
                                  weir_err *err)
{
    double sum = 0;
    uint32_t told = 0;
    for (uint32_t t = 0; t + 1 < count; t++) {
        const weir_demand *now = &periods[t], *next = &periods[t + 1];
        if (now->n != next->n) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "period %u has %u nodes, period %u has %u; "
                                "persistence needs the same nodes",
                                t, now->n, t + 1, next->n);
        }
        double moved = 0, both = 0;
        for (size_t i = 0; i < (size_t)now->n * now->n; i++) {
            moved += fabs(now->bytes[i] - next->bytes[i]);
            both += now->bytes[i] + next->bytes[i];
        }
        if (both > 0) {
            sum += 1 - moved / both;
            told++;
        }
    }
    if (told == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "persistence of %u periods: it needs two neighbours with traffic",
                            count);
    }
    *persistence = sum / told;
    return WEIR_OK;
}
