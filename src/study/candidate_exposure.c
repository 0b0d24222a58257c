/* candidate_exposure.c: how much of a second that a phase's circuits save shortens the step.
 *
 * The step's two lanes are played as fabric_program.c writes them, with each exchange as long as
 * the busiest block needs on all its ends: no circuits do it in less, and none are known yet. What
 * the step gains if an exchange takes no time at all, as a share of that time, is what is exposed
 * of it; the rest is slack. */
#include "study/candidate_light.h"

#include <math.h>
#include <stdlib.h>

/* Shares that differ by less come from rounding of sums. */
static const double same_share = 1e-9;

double candidate_lanes_s(const weir_phase *phases, const double *exchange_s, uint32_t count)
{
    double blocking_s = 0, beside_s = 0; /* when the lanes are free */
    for (uint32_t i = 0; i < count; i++) {
        const weir_phase *p = &phases[i];
        double times = p->times, all_s = exchange_s[i], one_s = times > 0 ? all_s / times : 0;
        if (!p->overlap) {
            blocking_s += times * p->compute_s + all_s;
            continue;
        }
        if (all_s > 0) {
            /* Repetition k begins at blocking + k compute, and those from k on take (times - k + 1)
             * exchanges: linear in k, so that the first or the last one decides. */
            double first_s = blocking_s + p->compute_s + all_s;
            double last_s = blocking_s + times * p->compute_s + one_s;
            beside_s = fmax(beside_s + all_s, fmax(first_s, last_s));
        }
        blocking_s += times * p->compute_s;
    }
    return fmax(blocking_s, beside_s);
}

void candidate_exposed_shares(const weir_phase *phases, double *exchange_s, uint32_t count,
                              double *share)
{
    double step_s = candidate_lanes_s(phases, exchange_s, count);
    for (uint32_t i = 0; i < count; i++) {
        double own_s = exchange_s[i];
        share[i] = 0;
        if (own_s > 0) {
            exchange_s[i] = 0;
            double gained_s = step_s - candidate_lanes_s(phases, exchange_s, count);
            exchange_s[i] = own_s;
            share[i] = fmin(1, fmax(0, gained_s / own_s));
        }
        share[i] = share[i] < same_share ? 0 : share[i] > 1 - same_share ? 1 : share[i];
    }
}

/* --- the phases that share circuits --- */

void candidate_traffic_clear(light_traffic *traffic)
{
    for (uint32_t k = 0; k < traffic->count; k++) {
        weir_demand_clear(&traffic->demands[k]);
    }
    weir_demand_clear(&traffic->sum);
    free(traffic->demands);
    free(traffic->phase);
    free(traffic->exchange_s);
    free(traffic->share);
    *traffic = (light_traffic){0};
}

static weir_code reserve(const candidate_build *b, const light_blocks *blocks,
                         light_traffic *traffic, weir_err *err)
{
    size_t most = (size_t)b->scenario->phase_count + 1;
    traffic->demands = calloc(most, sizeof *traffic->demands);
    traffic->phase = calloc(most, sizeof *traffic->phase);
    traffic->exchange_s = calloc(most, sizeof *traffic->exchange_s);
    traffic->share = calloc(most, sizeof *traffic->share);
    return traffic->demands && traffic->phase && traffic->exchange_s && traffic->share
               ? weir_demand_init(&traffic->sum, blocks->blocks.blocks, err)
               : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %zu phases", most);
}

/* Without what stays inside blocks. */
static weir_code demand_between(const candidate_build *b, const light_blocks *blocks,
                                uint32_t phase, weir_demand *demand, weir_err *err)
{
    weir_code code = candidate_block_demand(b, blocks, phase, demand, err);
    for (uint32_t i = 0; code == WEIR_OK && i < demand->n; i++) {
        demand->bytes[(size_t)i * demand->n + i] = 0;
    }
    return code;
}

/* All count alike: nothing is kept but their sum. */
static void forget_phases(light_traffic *traffic)
{
    for (uint32_t k = 0; k < traffic->count; k++) {
        weir_demand_clear(&traffic->demands[k]);
    }
    traffic->count = 0;
}

static bool are_alike(const light_traffic *traffic)
{
    for (uint32_t k = 1; k < traffic->count; k++) {
        double first = traffic->share[traffic->phase[0]], share = traffic->share[traffic->phase[k]];
        if (fabs(share - first) > same_share) {
            return false;
        }
    }
    return true;
}

static bool may_hide(const weir_fabric_scenario *scenario)
{
    bool overlaps = false;
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        overlaps |= scenario->phases[i].overlap;
    }
    return overlaps;
}

/* Adds the phase to the sum where it takes these circuits; notes how long it takes at least. */
static weir_code add_phase(const candidate_build *b, const light_blocks *blocks,
                           const light_taken *taken, uint32_t phase, light_traffic *traffic,
                           weir_err *err)
{
    double block_bytes_per_s =
        blocks->fabric.light.circuit.bytes_per_s * blocks->blocks.uplinks * blocks->blocks.networks;
    bool takes = !taken->takes || taken->takes[phase];
    double rate =
        takes || !(taken->other_bytes_per_s > 0) ? block_bytes_per_s : taken->other_bytes_per_s;
    weir_demand demand = {0};
    weir_code code = demand_between(b, blocks, phase, &demand, err);
    if (code != WEIR_OK) {
        return code;
    }
    double line_bytes = weir_demand_measure(&demand).max_line_bytes;
    traffic->exchange_s[phase] = line_bytes > 0 ? line_bytes / rate : 0;
    for (size_t i = 0; takes && i < (size_t)demand.n * demand.n; i++) {
        traffic->sum.bytes[i] += demand.bytes[i];
    }
    if (takes && line_bytes > 0 && may_hide(b->scenario)) {
        traffic->phase[traffic->count] = phase;
        traffic->demands[traffic->count++] = demand;
    } else {
        weir_demand_clear(&demand);
    }
    return WEIR_OK;
}

weir_code candidate_traffic_init(const candidate_build *b, const light_blocks *blocks,
                                 const light_taken *taken, light_traffic *traffic, weir_err *err)
{
    const weir_fabric_scenario *s = b->scenario;
    light_traffic made = {.phases = s->phases, .phase_count = s->phase_count};
    weir_code code = reserve(b, blocks, &made, err);
    for (uint32_t i = 0; i < s->phase_count && code == WEIR_OK; i++) {
        code = add_phase(b, blocks, taken, i, &made, err);
    }
    if (code != WEIR_OK) {
        candidate_traffic_clear(&made);
        return code;
    }
    candidate_exposed_shares(s->phases, made.exchange_s, s->phase_count, made.share);
    if (are_alike(&made)) {
        forget_phases(&made);
    }
    made.circuit_bytes_per_s = blocks->fabric.light.circuit.bytes_per_s * blocks->blocks.networks;
    *traffic = made;
    return WEIR_OK;
}

/* --- what a design makes of them --- */

weir_code candidate_design_step(const light_traffic *traffic, const weir_circuit_design *design,
                                double *step_s, weir_err *err)
{
    size_t count = traffic->phase_count;
    double *exchange_s = calloc(count + 1, sizeof *exchange_s);
    weir_code code = WEIR_OK;
    if (!exchange_s) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %zu phases", count);
    }
    for (size_t i = 0; i < count; i++) {
        exchange_s[i] = traffic->exchange_s[i];
    }
    for (uint32_t k = 0; k < traffic->count && code == WEIR_OK; k++) {
        weir_circuit_load load;
        code = weir_circuit_carry(design, &traffic->demands[k], true, &load, err);
        if (code == WEIR_OK) {
            exchange_s[traffic->phase[k]] =
                load.rest_line_bytes > 0 ? INFINITY
                                         : load.max_circuit_bytes / traffic->circuit_bytes_per_s;
        }
    }
    if (code == WEIR_OK) {
        *step_s = candidate_lanes_s(traffic->phases, exchange_s, traffic->phase_count);
    }
    free(exchange_s);
    return code;
}

double candidate_cell_share(const light_traffic *traffic, size_t cell)
{
    double bytes = 0, exposed = 0;
    for (uint32_t k = 0; k < traffic->count; k++) {
        double own = traffic->demands[k].bytes[cell];
        bytes += own;
        exposed += own * traffic->share[traffic->phase[k]];
    }
    return bytes > 0 ? fmin(1, exposed / bytes) : 1;
}
