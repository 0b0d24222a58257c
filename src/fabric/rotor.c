#include "fabric/rotor.h"

#include <math.h>

void weir_rotor_matching(uint32_t n, uint32_t k, uint32_t *column_of_row)
{
    uint32_t step = n > 1 ? 1 + k % (n - 1) : 0;
    for (uint32_t i = 0; i < n; i++) {
        column_of_row[i] = (uint32_t)(((uint64_t)i + step) % n);
    }
}

double weir_rotor_duty_share(const weir_rotor *rotor)
{
    return rotor->slot_s / (rotor->slot_s + rotor->delay_s);
}

double weir_rotor_cycle_s(const weir_rotor *rotor)
{
    uint32_t matchings = rotor->n - 1;
    uint32_t slots = matchings / rotor->planes + (matchings % rotor->planes != 0);
    return slots * (rotor->slot_s + rotor->delay_s);
}

double weir_rotor_mean_wait_s(const weir_rotor *rotor)
{
    double cycle_s = weir_rotor_cycle_s(rotor), down_s = cycle_s - rotor->slot_s;
    return down_s * down_s / (2 * cycle_s);
}

double weir_rotor_pair_bytes_per_s(const weir_rotor *rotor)
{
    return weir_rotor_duty_share(rotor) * rotor->planes * rotor->bytes_per_s / (rotor->n - 1);
}

double weir_rotor_valiant_share(const weir_rotor *rotor)
{
    return weir_rotor_duty_share(rotor) / 2;
}

/* What circuits carry, of all n, when the busiest line is served at this share: bytes that go
 * directly once, others twice. *direct: the former. */
static double find_load(const weir_demand *demand, double line_bytes, double share, double *direct)
{
    double each = 1.0 / (demand->n - 1), load = 0;
    *direct = 0;
    for (uint32_t i = 0; i < demand->n; i++) {
        for (uint32_t j = 0; j < demand->n; j++) {
            double sent = demand->bytes[(size_t)i * demand->n + j] / line_bytes * share;
            if (i != j) {
                load += sent + fmax(0, sent - each);
                *direct += fmin(sent, each);
            }
        }
    }
    return load;
}

static weir_code check_rotor(const weir_rotor *rotor, const weir_demand *demand, weir_err *err)
{
    if (rotor->n < 2 || rotor->n != demand->n || rotor->planes == 0 || !(rotor->slot_s > 0) ||
        !(rotor->delay_s >= 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "a rotor of %u nodes (demand: %u) on %u planes with slots of %g s and "
                            "a delay of %g s; 2 nodes, 1 plane, above 0 and 0 or more are due",
                            rotor->n, demand->n, rotor->planes, rotor->slot_s, rotor->delay_s);
    }
    return weir_demand_check(demand, err);
}

/* The busiest row or column without the diagonal. */
static double busiest_line(const weir_demand *demand)
{
    double busiest = 0;
    for (uint32_t i = 0; i < demand->n; i++) {
        double home = demand->bytes[(size_t)i * demand->n + i];
        busiest = fmax(busiest, weir_demand_row_bytes(demand, i) - home);
        busiest = fmax(busiest, weir_demand_column_bytes(demand, i) - home);
    }
    return busiest;
}

weir_code weir_rotor_throughput(const weir_rotor *rotor, const weir_demand *demand, double *share,
                                double *direct_share, weir_err *err)
{
    weir_code code = check_rotor(rotor, demand, err);
    if (code != WEIR_OK) {
        return code;
    }
    double line_bytes = busiest_line(demand), low = 0, high = 1, direct;
    if (!(line_bytes > 0)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "no node sends anything to another one");
    }
    if (find_load(demand, line_bytes, 1, &direct) <= demand->n) {
        low = 1;
    }
    for (int k = 0; low < 1 && k < 60; k++) { /* the load only grows with the share */
        double middle = low + (high - low) / 2;
        if (find_load(demand, line_bytes, middle, &direct) <= demand->n) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double load = find_load(demand, line_bytes, low, &direct);
    *share = low * weir_rotor_duty_share(rotor);
    *direct_share = direct / (direct + (load - direct) / 2);
    return WEIR_OK;
}
