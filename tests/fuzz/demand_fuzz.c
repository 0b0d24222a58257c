/* demand_fuzz.c: any bytes as a demand matrix: taken or refused with a sentence; what is taken can
 * be measured, and its figures are in order. */
#include "fabric/demand.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void expect_orderly(const weir_demand *demand)
{
    weir_demand_shape shape = weir_demand_measure(demand);
    double of_rows = 0;
    for (uint32_t i = 0; i < demand->n; i++)
        of_rows += weir_demand_row_bytes(demand, i);
    /* The largest cells may add up to more than a double holds: infinite, never not a number. */
    bool is_orderly = demand->n > 0 && of_rows > 0 && shape.total_bytes > 0 &&
                      shape.max_line_bytes <= shape.total_bytes * (1 + 1e-9) &&
                      shape.fan_out < demand->n && shape.fan_in < demand->n &&
                      (uint64_t)shape.pairs <= (uint64_t)demand->n * (demand->n - 1) &&
                      shape.mean_fan_out <= shape.fan_out;
    if (!is_orderly || isnan(shape.peak_to_mean))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    weir_err err = {0};
    weir_source *source = NULL;
    weir_demand demand = {0};
    if (weir_source_memory(bytes, n, "demand.csv", &source, &err) != WEIR_OK)
        return 0;
    weir_code code = weir_demand_read(source, "demand.csv", &demand, &err);
    if (code == WEIR_OK)
        expect_orderly(&demand);
    else if (!err.text[0] || demand.bytes)
        abort();
    weir_demand_clear(&demand);
    weir_source_close(source);
    return 0;
}
