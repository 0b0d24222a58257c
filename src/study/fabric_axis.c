/* fabric_axis.c: the figures of one axis of the traffic (fabric_judge.h).
 *
 * What it sends comes from the scenario alone; when it moves (duty, synchrony, available rate)
 * from the meetings of a run. */
#include "study/fabric_judge.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 1024 }; /* of demand matrices here: 8 MiB each */

static bool is_of(const weir_phase *phase, const char *axis)
{
    return strcmp(phase->axis, axis) == 0;
}

/* Neighbouring devices to at most `wanted` blocks, whole nodes where that divides. */
static uint32_t *make_blocks(uint32_t devices, uint32_t wanted, uint32_t *blocks)
{
    uint32_t count = wanted < BLOCKS_MAX ? wanted : BLOCKS_MAX;
    uint32_t *of = malloc((devices ? devices : 1) * sizeof *of);
    for (uint32_t i = 0; of && i < devices; i++) {
        of[i] = (uint32_t)((uint64_t)i * count / devices);
    }
    *blocks = count;
    return of;
}

/* --- what it sends --- */

typedef struct {
    double messages; /* of one step */
    double window_worst;
} sums;

/* Time in which the traffic of a repetition may move: the computing that is played beside it, or
 * the computing that it follows. */
static double window_s(const weir_fabric_scenario *scenario, uint32_t number)
{
    const weir_phase *phase = &scenario->phases[number];
    if (!phase->overlap) {
        return isnan(phase->slack_s) ? phase->compute_s : phase->slack_s;
    }
    double later = (phase->times - 1.0) * phase->compute_s;
    for (uint32_t i = number + 1; i < scenario->phase_count; i++) {
        later += scenario->phases[i].times * scenario->phases[i].compute_s;
    }
    return later / phase->times;
}

static weir_code add_phase(const weir_fabric_scenario *scenario, uint32_t number,
                           weir_fabric_traffic_row *row, sums *sum, weir_err *err)
{
    const weir_phase *phase = &scenario->phases[number];
    weir_traffic_shape shape = {0};
    weir_code code = weir_traffic_measure(scenario, number, &shape, err);
    if (code != WEIR_OK || !(shape.bytes > 0)) {
        return code;
    }
    double window = window_s(scenario, number);
    row->bytes += phase->times * shape.bytes;
    sum->messages += phase->times * shape.bytes / shape.message_bytes;
    row->fan_out = fmax(row->fan_out, shape.fan_out);
    if (window > 0) {
        sum->window_worst = fmax(sum->window_worst, shape.device_bytes / window);
    }
    return code;
}

/* --- between blocks --- */

typedef struct {
    const weir_judge_input *input;
    const char *axis;
    const uint32_t *block_of_device;
    uint32_t blocks;
} ground;

/* One repetition; relative: as shares of all that it sends, because circuits that are set for some
 * traffic serve the same traffic of another size as well. */
static weir_code phase_demand(const ground *g, uint32_t number, bool relative, weir_demand *demand,
                              weir_err *err)
{
    weir_code code = weir_demand_init(demand, g->blocks, err);
    if (code == WEIR_OK) {
        code = weir_traffic_between(g->input->scenario, number, g->block_of_device, 1, demand, err);
    }
    if (code == WEIR_OK && relative) {
        size_t cells = (size_t)demand->n * demand->n;
        double total = 0;
        for (uint32_t i = 0; i < demand->n; i++) {
            total += weir_demand_row_bytes(demand, i);
        }
        for (size_t i = 0; total > 0 && i < cells; i++) {
            demand->bytes[i] /= total;
        }
    }
    return code;
}

/* Consecutive repetitions of one phase send the same; between phases, the last and the first of
 * the step among them, matrices are compared. */
static weir_code measure_persistence(const ground *g, bool relative, double *persistence,
                                     weir_err *err)
{
    const weir_fabric_scenario *scenario = g->input->scenario;
    uint32_t first = WEIR_NONE, last = WEIR_NONE, pairs = 0;
    double stays = 0;
    weir_demand periods[2] = {{0}, {0}}, opening = {0};
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i <= scenario->phase_count && code == WEIR_OK; i++) {
        bool closes = i == scenario->phase_count;
        if (!closes && !is_of(&scenario->phases[i], g->axis)) {
            continue;
        }
        double found = 1;
        if (closes) {
            weir_demand_clear(&periods[1]);
            periods[1] = opening;
            opening = (weir_demand){0};
        } else {
            code = phase_demand(g, i, relative, &periods[1], err);
        }
        if (code == WEIR_OK && last != WEIR_NONE && !(closes && first == last)) {
            weir_err ignored = {0}; /* two empty periods tell nothing */
            found = 1;
            if (weir_demand_persistence(periods, 2, &found, &ignored) != WEIR_OK) {
                found = 1;
            }
        }
        stays += last == WEIR_NONE ? 0 : found;
        pairs += last != WEIR_NONE;
        if (code == WEIR_OK && !closes) {
            stays += scenario->phases[i].times - 1.0;
            pairs += scenario->phases[i].times - 1;
            if (first == WEIR_NONE) {
                first = i;
                code = phase_demand(g, i, relative, &opening, err);
            }
            last = i;
        }
        weir_demand_clear(&periods[0]);
        periods[0] = periods[1];
        periods[1] = (weir_demand){0};
    }
    weir_demand_clear(&periods[0]);
    weir_demand_clear(&periods[1]);
    weir_demand_clear(&opening);
    if (code == WEIR_OK) {
        *persistence = pairs ? stays / pairs : 1;
    }
    return code;
}

static weir_code axis_demand(const ground *g, weir_demand *demand, weir_err *err)
{
    const weir_fabric_scenario *scenario = g->input->scenario;
    weir_code code = weir_demand_init(demand, g->blocks, err);
    for (uint32_t i = 0; i < scenario->phase_count && code == WEIR_OK; i++) {
        if (is_of(&scenario->phases[i], g->axis)) {
            code = weir_traffic_between(scenario, i, g->block_of_device, scenario->phases[i].times,
                                        demand, err);
        }
    }
    return code;
}

/* The flow from block to block that circuits would carry: means over the pairs that send. */
static weir_code block_flow(const ground *g, double persistence, weir_judge_flow *flow,
                            weir_err *err)
{
    const weir_fabric_scenario *scenario = g->input->scenario;
    weir_demand demand = {0};
    weir_code code = axis_demand(g, &demand, err);
    if (code == WEIR_OK) {
        weir_demand_shape shape = weir_demand_measure(&demand);
        double crossing = 0, slack_s = INFINITY;
        uint64_t repetitions = 0;
        for (uint32_t i = 0; i < g->blocks; i++) {
            crossing += weir_demand_row_bytes(&demand, i) - demand.bytes[(size_t)i * g->blocks + i];
        }
        for (uint32_t i = 0; i < scenario->phase_count; i++) {
            const weir_phase *phase = &scenario->phases[i];
            if (is_of(phase, g->axis)) {
                repetitions += phase->times;
                slack_s = fmin(slack_s, isnan(phase->slack_s) ? phase->compute_s : phase->slack_s);
            }
        }
        double cell = shape.pairs ? crossing / shape.pairs : 0;
        flow->flow = (weir_circuit_flow){
            .bytes = repetitions ? cell / (double)repetitions : 0,
            .slack_s = isfinite(slack_s) ? slack_s : 0,
            .persistence = persistence,
            .fan_out = shape.fan_out > shape.fan_in ? shape.fan_out : shape.fan_in,
        };
        const weir_fabric_play *play = g->input->play;
        flow->use_share = play && play->step_s > 0
                              ? cell / (g->input->ground.rule.bytes_per_s * play->step_s)
                              : NAN;
    }
    weir_demand_clear(&demand);
    return code;
}

/* --- when it moves --- */

typedef struct {
    int64_t begin_ns, end_ns;
} stretch;

static int by_begin(const void *a, const void *b, const void *context)
{
    (void)context;
    const stretch *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int64_t union_ns(stretch *stretches, uint32_t count)
{
    int64_t sum = 0, until = INT64_MIN;
    if (!weir_sort(stretches, count, sizeof *stretches, by_begin, NULL)) {
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t begin = stretches[i].begin_ns > until ? stretches[i].begin_ns : until;
        if (stretches[i].end_ns > begin) {
            sum += stretches[i].end_ns - begin;
            until = stretches[i].end_ns;
        }
    }
    return sum;
}

static weir_code measure_run(const ground *g, weir_fabric_traffic_row *row, weir_err *err)
{
    const weir_fabric_play *play = g->input->play;
    const weir_fabric_scenario *scenario = g->input->scenario;
    const weir_spmd_run *run = &play->run;
    stretch *moving = malloc((run->meeting_count ? run->meeting_count : 1) * sizeof *moving);
    uint32_t count = 0;
    double member_ns = 0, senders = 0, bytes = 0;
    weir_code code = WEIR_OK;
    if (!moving) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for an axis");
    }
    for (uint32_t i = 0; i < run->meeting_count; i++) {
        const weir_meeting *m = &run->meetings[i];
        uint32_t phase = play->program.phase_of_exchange[m->exchange];
        weir_traffic_shape shape = {0};
        weir_traffic_groups groups = {0};
        if (!is_of(&scenario->phases[phase], g->axis)) {
            continue;
        }
        code = weir_traffic_group(scenario, phase, &groups, err);
        if (code == WEIR_OK) {
            code = weir_traffic_measure(scenario, phase, &shape, err);
        }
        if (code != WEIR_OK) {
            break;
        }
        double share = (double)m->multiplicity / groups.count;
        double sending = share * shape.senders;
        double ns = (double)(m->end_ns - m->last_arrival_ns);
        moving[count++] = (stretch){m->last_arrival_ns, m->end_ns};
        member_ns += ns * sending;
        bytes += share * shape.bytes / play->program.phases[phase].parts;
        senders = fmax(senders, shape.senders);
    }
    int64_t moves_ns = code == WEIR_OK ? union_ns(moving, count) : 0;
    free(moving);
    if (code != WEIR_OK) {
        return code;
    }
    if (moves_ns < 0) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for an axis");
    }
    if (moves_ns > 0 && run->end_ns > 0 && member_ns > 0) {
        row->duty = (double)moves_ns / (double)run->end_ns;
        row->synchrony = fmin(1, member_ns / (senders * (double)moves_ns));
        row->available_bytes_per_s = bytes / (member_ns / 1e9);
    }
    return WEIR_OK;
}

weir_code weir_fabric_axis_measure(const weir_judge_input *input, const char *axis,
                                   weir_fabric_traffic_row *row, weir_judge_flow *flow,
                                   double *bytes_between, weir_err *err)
{
    const weir_fabric_scenario *scenario = input->scenario;
    uint32_t devices = weir_traffic_devices(scenario), nodes = 0, blocks = 0;
    weir_fabric_traffic_row made = {
        .name = axis, .axis = axis, .duty = NAN, .synchrony = NAN, .available_bytes_per_s = NAN};
    sums sum = {0};
    weir_demand demand = {0};
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < scenario->phase_count && code == WEIR_OK; i++) {
        if (is_of(&scenario->phases[i], axis)) {
            code = add_phase(scenario, i, &made, &sum, err);
        }
    }
    uint32_t *of_node = make_blocks(devices, scenario->cluster.nodes, &nodes);
    uint32_t *of_block = make_blocks(
        devices, input->ground.blocks ? input->ground.blocks : scenario->cluster.nodes, &blocks);
    ground by_node = {input, axis, of_node, nodes}, by_block = {input, axis, of_block, blocks};
    if (!of_node || !of_block) {
        code = weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for an axis");
    }
    if (code == WEIR_OK) {
        code = axis_demand(&by_node, &demand, err);
    }
    if (code == WEIR_OK) {
        weir_demand_shape shape = weir_demand_measure(&demand);
        made.message_bytes = sum.messages > 0 ? made.bytes / sum.messages : 0;
        made.needed_bytes_per_s = sum.window_worst > 0 ? sum.window_worst : NAN;
        made.peak_to_mean = shape.pairs ? shape.peak_to_mean : NAN;
        *bytes_between = 0;
        for (uint32_t i = 0; i < nodes; i++) {
            *bytes_between +=
                weir_demand_row_bytes(&demand, i) - demand.bytes[(size_t)i * nodes + i];
        }
        code = measure_persistence(&by_node, false, &made.persistence, err);
    }
    weir_demand_clear(&demand);
    double persistence = 1;
    if (code == WEIR_OK) {
        code = measure_persistence(&by_block, true, &persistence, err);
        persistence = persistence > 1 - 1e-9 ? 1 : persistence; /* shares are rounded */
    }
    if (code == WEIR_OK) {
        code = block_flow(&by_block, persistence, flow, err);
    }
    if (code == WEIR_OK && input->play) {
        code = measure_run(&by_node, &made, err);
    }
    free(of_node);
    free(of_block);
    if (code == WEIR_OK) {
        *row = made;
    }
    return code;
}
