#include "study/train_network.h"

#include "study/fabric_play.h"
#include "train/train_stage.h"

#include <math.h>
#include <string.h>

/* --- groups in the order of ranks --- */

static uint32_t size_of(const weir_train_plan *plan, weir_train_axis axis)
{
    switch (axis) {
    case WEIR_AXIS_TENSOR:
        return plan->tensor;
    case WEIR_AXIS_CONTEXT:
        return plan->context;
    case WEIR_AXIS_DATA:
        return plan->data;
    case WEIR_AXIS_PIPELINE:
        return plan->pipeline;
    default:
        return 1;
    }
}

static uint32_t stride_of(const weir_train_plan *plan, weir_train_axis axis)
{
    uint32_t stride = 1;
    for (int i = 0; i < WEIR_AXIS_COUNT && plan->order[i] != axis; i++) {
        stride *= size_of(plan, plan->order[i]);
    }
    return stride;
}

/* Shards are shared out over data x context, which stand side by side; expert ranks follow the
 * tensor ranks. */
static void set_groups(const weir_train_plan *plan, weir_train_axis axis, weir_phase *phase)
{
    uint32_t context = stride_of(plan, WEIR_AXIS_CONTEXT), data = stride_of(plan, WEIR_AXIS_DATA);
    phase->group_size = size_of(plan, axis);
    phase->group_stride = stride_of(plan, axis);
    if (axis == WEIR_AXIS_DATA) {
        phase->group_size *= plan->context;
        phase->group_stride = context < data ? context : data;
    } else if (axis == WEIR_AXIS_EXPERT) {
        phase->group_size = plan->expert;
        phase->group_stride = plan->expert_tensor;
    }
}

/* --- what an axis moves --- */

static weir_collective_kind kind_of(weir_comm_kind comm)
{
    switch (comm) {
    case WEIR_COMM_ALL_GATHER:
        return WEIR_COLLECTIVE_ALL_GATHER;
    case WEIR_COMM_REDUCE_SCATTER:
        return WEIR_COLLECTIVE_REDUCE_SCATTER;
    case WEIR_COMM_ALL_TO_ALL:
        return WEIR_COLLECTIVE_ALL_TO_ALL;
    case WEIR_COMM_SEND:
    case WEIR_COMM_SEND_RECV:
        return WEIR_COLLECTIVE_SEND_RECV;
    default:
        return WEIR_COLLECTIVE_ALL_REDUCE;
    }
}

/* The piece that moves most of the axis' bytes. */
static void look_at(const weir_pass_cost *pass, weir_train_axis axis, const weir_piece **most)
{
    for (uint32_t i = 0; i < pass->count; i++) {
        const weir_piece *piece = &pass->piece[i];
        bool moves = piece->kind == WEIR_PIECE_EXCHANGE || piece->kind == WEIR_PIECE_HIDDEN;
        if (moves && piece->axis == axis && (!*most || piece->bytes > (*most)->bytes)) {
            *most = piece;
        }
    }
}

/* Bytes as nccl-tests counts them, from those that a device of so many sends. */
static double counted_bytes(weir_collective_kind kind, double sent, double ranks)
{
    double share = kind == WEIR_COLLECTIVE_ALL_REDUCE  ? 2 * (ranks - 1) / ranks
                   : kind == WEIR_COLLECTIVE_SEND_RECV ? 1
                                                       : (ranks - 1) / ranks;
    return share > 0 ? sent / share : sent;
}

static void set_traffic(const weir_train_job *job, const weir_stage_costs *costs,
                        weir_train_axis axis, weir_phase *phase)
{
    const weir_piece *most = NULL;
    double parameters = 0;
    for (uint32_t i = 0; i < costs->positions; i++) {
        const weir_chunk_cost *chunk = costs->chunk[i];
        look_at(&chunk->forward, axis, &most);
        look_at(&chunk->dgrad, axis, &most);
        look_at(&chunk->wgrad, axis, &most);
        parameters = fmax(parameters, chunk->dense_parameters + chunk->expert_parameters);
    }
    phase->collective = WEIR_COLLECTIVE_ALL_REDUCE;
    phase->times = 1;
    if (axis == WEIR_AXIS_PIPELINE) {
        phase->collective = WEIR_COLLECTIVE_SEND_RECV;
        phase->bytes = costs->send_bytes;
        phase->times = 2 * job->plan.micro_batches * job->plan.chunks;
    } else if (most) {
        double count = most->count ? most->count : 1;
        phase->collective = kind_of(most->comm);
        phase->bytes = counted_bytes(phase->collective, most->bytes / count, phase->group_size);
        phase->times = most->count * job->plan.micro_batches * job->plan.chunks;
    } else if (axis == WEIR_AXIS_DATA) {
        phase->collective =
            job->plan.zero ? WEIR_COLLECTIVE_REDUCE_SCATTER : WEIR_COLLECTIVE_ALL_REDUCE;
        phase->bytes = parameters * job->stack.reduced_bytes;
        phase->times = job->plan.chunks;
    }
}

weir_code weir_train_phases(const weir_train_job *job, weir_phase *phases, weir_train_axis *axes,
                            uint32_t *count, weir_err *err)
{
    weir_stage_costs costs;
    weir_arena *arena = weir_arena_new();
    weir_code code = arena ? weir_train_stage_costs(job, arena, &costs, err)
                           : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the traffic");
    *count = 0;
    for (int a = 0; a < WEIR_AXIS_COUNT && code == WEIR_OK; a++) {
        weir_train_axis axis = (weir_train_axis)a;
        weir_phase phase = {.name = weir_train_axis_name(axis),
                            .axis = weir_train_axis_name(axis),
                            .slack_s = NAN,
                            .kind = WEIR_PHASE_COLLECTIVE,
                            .algorithm = WEIR_ALGORITHM_COUNT,
                            .protocol = WEIR_PROTOCOL_COUNT,
                            .scale = 1};
        set_groups(&job->plan, axis, &phase);
        set_traffic(job, &costs, axis, &phase);
        if (weir_train_span(job, axis).nodes > 1 && phase.group_size > 1 && phase.bytes > 0) {
            axes[*count] = axis;
            phases[(*count)++] = phase;
        }
    }
    weir_arena_free(arena);
    return code;
}

/* --- playing --- */

/* One group alone, by the library and without what a stack's fit puts on it. */
static double alone_s(const weir_train_job *job, weir_train_axis axis, const weir_phase *phase)
{
    weir_train_job bare = *job;
    bare.stack.tensor_factor = bare.stack.data_factor = bare.stack.expert_factor = 1;
    for (int a = 0; a < WEIR_AXIS_COUNT; a++) {
        bare.network.factor[a] = 1;
    }
    return weir_train_collective_s(&bare, axis, phase->collective, phase->bytes);
}

static weir_code play_phase(const weir_train_scenario *scenario, weir_phase *phase, double *seconds,
                            weir_err *err)
{
    weir_fabric_scenario one = scenario->network;
    weir_candidate candidate = one.candidates[0];
    weir_fabric_play play = {0};
    /* What packets lose on a good network is in the library's measurements already. */
    candidate.efficiency = isnan(candidate.efficiency) ? 1 : candidate.efficiency;
    one.candidates = &candidate;
    one.candidate_count = 1;
    one.phases = phase;
    one.phase_count = 1;
    one.steps = 1;
    phase->times = 1;
    const weir_fabric_wish wish = {.scenario = &one, .library = scenario->job.network.library};
    weir_code code = weir_fabric_play_run(&wish, &play, err);
    if (code == WEIR_OK && play.refused) {
        code = weir_err_set(err, WEIR_ERR_INPUT, "%s: network: %s traffic: %s", scenario->file,
                            phase->axis, play.refused);
    }
    *seconds = play.step_s;
    weir_fabric_play_clear(&play);
    return code;
}

weir_code weir_train_network_factors(const weir_train_scenario *scenario,
                                     double factor[WEIR_AXIS_COUNT], weir_err *err)
{
    weir_phase phases[WEIR_AXIS_COUNT];
    weir_train_axis axes[WEIR_AXIS_COUNT];
    uint32_t count;
    weir_code code = weir_train_phases(&scenario->job, phases, axes, &count, err);
    for (int a = 0; a < WEIR_AXIS_COUNT; a++) {
        factor[a] = 1;
    }
    for (uint32_t i = 0; i < count && code == WEIR_OK; i++) {
        double seconds = 0, alone = alone_s(&scenario->job, axes[i], &phases[i]);
        code = play_phase(scenario, &phases[i], &seconds, err);
        if (code == WEIR_OK && alone > 0 && seconds > 0) {
            factor[axes[i]] = seconds / alone;
        }
    }
    return code;
}
