/* Traffic of a training step by axis, and its stages: sums over the lines of the ledger. */
#include "study/fabric_judge.h"
#include "study/train_circuits.h"
#include "study/train_figures.h"

#include <math.h>
#include <stdlib.h>

/* --- traffic --- */

enum { FAR = 0, NEAR, TIERS };

/* Of one axis between nodes and in them: of a device and step, but where it says otherwise. */
typedef struct {
    double bytes, seconds;
    double exposed_ns, played_ns; /* all devices and steps */
} tier_sum;

/* What the step in closed form has; small sums over all ranks go where the rest goes. */
static void split_axis(const weir_train_step *step, int axis, tier_sum sums[TIERS])
{
    const weir_wire_parts *parts = &step->axis[axis].parts;
    double bytes = step->axis[axis].bytes, seconds = step->axis[axis].seconds;
    double least = 1e-9 * bytes; /* what is left over of a difference */
    sums[NEAR] = (tier_sum){.bytes = parts->near_bytes, .seconds = parts->near_s};
    sums[FAR] = (tier_sum){.bytes = bytes - parts->near_bytes, .seconds = seconds - parts->near_s};
    if (parts->near_bytes > least && sums[FAR].bytes <= least) {
        sums[NEAR] = (tier_sum){.bytes = bytes, .seconds = seconds};
        sums[FAR] = (tier_sum){0};
    }
}

static void add_split(tier_sum sums[TIERS], double near, double ns, bool is_exposed)
{
    bool has_near = sums[NEAR].bytes > 0, has_far = sums[FAR].bytes > 0;
    double share = has_near && has_far && !isnan(near) ? near : has_near && !has_far;
    for (int tier = 0; tier < TIERS; tier++) {
        double part_ns = ns * (tier == NEAR ? share : 1 - share);
        *(is_exposed ? &sums[tier].exposed_ns : &sums[tier].played_ns) += part_ns;
    }
}

/* Exposed transfer of each axis. */
static void sum_exposed(const train_figures *f, tier_sum sums[WEIR_AXIS_COUNT][TIERS])
{
    uint32_t count;
    const weir_device *devices = weir_timeline_devices(f->run->timeline, &count);
    for (uint32_t d = 0; d < f->lines->device_count; d++) {
        for (uint64_t i = f->lines->first[d]; i < f->lines->first[d + 1]; i++) {
            const weir_line *line = &f->lines->lines[i];
            if (weir_cause_wait((weir_cause)line->cause) != WEIR_WAIT_COMMUNICATION ||
                line->span == WEIR_NONE) {
                continue;
            }
            uint32_t exchange = f->run->meetings[f->run->parts[line->span].meeting].exchange;
            double ns = (double)(line->end_ns - line->begin_ns) * devices[d].multiplicity;
            add_split(sums[f->program->axis_of_exchange[exchange]],
                      f->program->near_of_exchange[exchange], ns, true);
        }
    }
}

/* What they took, hidden or not, in the step that was played. */
static void sum_played(const train_figures *f, tier_sum sums[WEIR_AXIS_COUNT][TIERS])
{
    uint32_t count;
    weir_spans spans = weir_timeline_spans(f->run->timeline);
    const weir_lane *lanes = weir_timeline_lanes(f->run->timeline, &count);
    const weir_device *devices = weir_timeline_devices(f->run->timeline, &count);
    for (uint32_t i = 0; i < spans.device_count; i++) {
        uint32_t id = f->run->parts[i].meeting;
        if (id == WEIR_NONE) {
            continue;
        }
        const weir_meeting *meeting = &f->run->meetings[id];
        int64_t moves_ns = meeting->end_ns - f->run->parts[i].arrived_ns;
        double ns = (double)moves_ns * devices[lanes[spans.lane[i]].device].multiplicity;
        add_split(sums[f->program->axis_of_exchange[meeting->exchange]],
                  f->program->near_of_exchange[meeting->exchange], ns, false);
    }
}

static double computing_s(const weir_train_step *step)
{
    double sum = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        weir_wait wait = weir_cause_wait((weir_cause)c);
        sum += wait == WEIR_WAIT_COMPUTE || wait == WEIR_WAIT_CACHE ? step->cause_s[c] : 0;
    }
    return sum;
}

/* Messages of stages take twice what is sent: they are received as well. With a bad link it is what
 * was played that counts. */
static weir_training_traffic_row traffic_row(const train_figures *f, weir_train_axis axis, int tier,
                                             const tier_sum *sum)
{
    const weir_train_job *job = &f->scenario->job;
    const weir_train_network *network = &job->network;
    double ways = axis == WEIR_AXIS_PIPELINE ? 2 : 1, busy_s = computing_s(f->step);
    double steps = f->scenario->steps ? f->scenario->steps : 1;
    double times = steps * (double)f->result->training->devices;
    double played_s = sum->played_ns * 1e-9 / times;
    double seconds = f->scenario->link_count > 0 ? played_s : ways * sum->seconds;
    return (weir_training_traffic_row){
        .axis = weir_train_axis_name(axis),
        .tier = weir_tier_name(tier == NEAR ? WEIR_TIER_IN_NODE : WEIR_TIER_BETWEEN_NODES),
        .ranks = weir_train_span(job, axis).ranks,
        .bytes_per_device = sum->bytes,
        .needed_bytes_per_s = busy_s > 0 ? sum->bytes / busy_s : NAN,
        .available_bytes_per_s =
            tier == NEAR ? network->node_bytes_per_s : network->nic_bytes_per_s,
        .bytes_per_s = seconds > 0 ? ways * sum->bytes / seconds : NAN,
        .seconds = seconds,
        .exposed_ns = (int64_t)(sum->exposed_ns / times)};
}

weir_code train_figure_axes(const train_figures *f, weir_err *err)
{
    weir_training_result *t = f->result->training;
    tier_sum sums[WEIR_AXIS_COUNT][TIERS];
    t->traffic = weir_arena_alloc(f->result->arena, TIERS * WEIR_AXIS_COUNT, sizeof *t->traffic);
    if (!t->traffic) {
        return TRAIN_NO_MEMORY(err);
    }
    for (int axis = 0; axis < WEIR_AXIS_COUNT; axis++) {
        split_axis(f->step, axis, sums[axis]);
    }
    sum_exposed(f, sums);
    sum_played(f, sums);
    for (int axis = 0; axis < WEIR_AXIS_COUNT; axis++) {
        bool is_there = weir_train_span(&f->scenario->job, (weir_train_axis)axis).ranks > 1;
        for (int tier = TIERS - 1; tier >= 0 && is_there; tier--) {
            const tier_sum *sum = &sums[axis][tier];
            if (sum->bytes > 1e-9 * f->step->axis[axis].bytes || sum->exposed_ns > 0) {
                t->traffic[t->traffic_count++] = traffic_row(f, (weir_train_axis)axis, tier, sum);
            }
        }
    }
    return WEIR_OK;
}

/* --- circuits --- */

weir_code train_figure_circuits(const train_figures *f, weir_err *err)
{
    weir_training_result *t = f->result->training;
    weir_contrast contrast = {0};
    t->circuits = weir_arena_alloc(f->result->arena, WEIR_TRAIN_CIRCUITS_MAX, sizeof *t->circuits);
    if (!t->circuits) {
        return TRAIN_NO_MEMORY(err);
    }
    weir_code code = weir_contrast_load(&contrast, err);
    if (code == WEIR_OK) {
        const weir_train_light light = {.ports = f->scenario->cluster.nics,
                                        .duty_share = contrast.duty_share};
        code =
            weir_train_circuits_of(&f->scenario->job, &light, t->circuits, &t->circuit_count, err);
    }
    weir_contrast_clear(&contrast);
    return code;
}

/* --- stages --- */

static void sum_stage(const train_figures *f, weir_device_id device, weir_training_stage_row *row)
{
    int64_t steps = f->scenario->steps ? f->scenario->steps : 1;
    for (uint64_t i = f->lines->first[device]; i < f->lines->first[device + 1]; i++) {
        const weir_line *line = &f->lines->lines[i];
        int64_t ns = line->end_ns - line->begin_ns;
        weir_wait wait = weir_cause_wait((weir_cause)line->cause);
        row->wall_ns += ns;
        row->busy_ns += wait == WEIR_WAIT_COMPUTE || wait == WEIR_WAIT_CACHE ? ns : 0;
        row->bubble_ns += line->cause == WEIR_CAUSE_DEPENDENCY_BUBBLE ? ns : 0;
    }
    row->wall_ns /= steps;
    row->busy_ns /= steps;
    row->bubble_ns /= steps;
}

static void describe_stage(const train_figures *f, weir_training_stage_row *row)
{
    const weir_schedule *schedule = &f->program->schedule;
    weir_train_memory memory;
    for (uint32_t c = 0; c < schedule->chunks; c++) {
        uint32_t position = schedule->position[row->stage * schedule->chunks + c];
        const weir_chunk_cost *chunk = f->program->costs.chunk[position];
        row->layers += chunk->layers;
        row->parameters += chunk->dense_parameters + chunk->expert_parameters;
        row->forward_s += chunk->forward.seconds;
        row->backward_s += chunk->dgrad.seconds + chunk->wgrad.seconds;
    }
    weir_train_memory_stage(&f->scenario->job, row->stage, &memory);
    row->memory_bytes = memory.total;
}

/* The rank that most of the critical path stands on. */
static uint32_t critical_stage(const train_figures *f)
{
    uint32_t ranks;
    const weir_rank *rows = weir_timeline_ranks(f->run->timeline, &ranks);
    int32_t number =
        f->result->critical_path.rank_count ? f->result->critical_path.ranks[0].rank : -1;
    for (uint32_t r = 0; r < ranks; r++) {
        if (rows[r].number == number) {
            return f->program->stage_of_device[f->run->device_of_rank[r]];
        }
    }
    return WEIR_NONE;
}

weir_code train_figure_stages(const train_figures *f, weir_err *err)
{
    weir_training_result *t = f->result->training;
    uint32_t count, critical = critical_stage(f);
    const weir_device *devices = weir_timeline_devices(f->run->timeline, &count);
    if (t->stages <= 1) {
        return WEIR_OK;
    }
    t->stage_rows = weir_arena_alloc(f->result->arena, t->stages, sizeof *t->stage_rows);
    uint8_t *seen = calloc(t->stages, 1);
    if (!t->stage_rows || !seen) {
        free(seen);
        return TRAIN_NO_MEMORY(err);
    }
    t->stage_row_count = t->stages;
    for (uint32_t s = 0; s < t->stages; s++) {
        t->stage_rows[s].stage = s;
        t->stage_rows[s].is_critical = s == critical;
        describe_stage(f, &t->stage_rows[s]);
    }
    for (uint32_t d = 0; d < count; d++) { /* the first device of each */
        uint32_t stage = f->program->stage_of_device[f->run->device_of_rank[devices[d].rank]];
        if (!seen[stage]) {
            seen[stage] = 1;
            sum_stage(f, d, &t->stage_rows[stage]);
        }
    }
    free(seen);
    return WEIR_OK;
}
