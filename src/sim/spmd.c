#include "sim/spmd.h"

#include "sim/engine.h"
#include "sim/spmd_timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static weir_code check_devices(const weir_spmd *spmd, weir_err *err)
{
    if (spmd->devices == 0 || spmd->program_count == 0) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a simulation of %u devices with %u programs",
                            spmd->devices, spmd->program_count);
    }
    for (uint32_t d = 0; spmd->program_of_device && d < spmd->devices; d++) {
        if (spmd->program_of_device[d] >= spmd->program_count) {
            return weir_err_set(err, WEIR_ERR_INPUT, "device %u runs program %u; there are %u", d,
                                spmd->program_of_device[d], spmd->program_count);
        }
    }
    for (uint32_t i = 0; i < spmd->slow_count; i++) {
        const weir_slow_device *slow = &spmd->slow[i];
        if (slow->device >= spmd->devices || !(slow->factor > 0) || isinf(slow->factor)) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "device %u of %u is slow by the factor %g; it must exist, and the "
                                "factor be above 0",
                                slow->device, spmd->devices, slow->factor);
        }
    }
    return WEIR_OK;
}

static weir_code check_exchanges(const weir_spmd *spmd, weir_err *err)
{
    for (uint32_t e = 0; e < spmd->exchange_count; e++) {
        const weir_exchange *exchange = &spmd->exchanges[e];
        for (uint32_t g = 0; g < exchange->group_count; g++) {
            const weir_exchange_group *group = &exchange->groups[g];
            for (uint32_t i = 0; i < group->count; i++) {
                if (group->members[i] >= spmd->devices) {
                    return weir_err_set(err, WEIR_ERR_INPUT, "%s: device %u of %u does not exist",
                                        exchange->name, group->members[i], spmd->devices);
                }
            }
        }
    }
    return WEIR_OK;
}

static weir_code check_rest(const weir_spmd *spmd, weir_err *err)
{
    if (!(spmd->jitter >= 0) || isinf(spmd->jitter)) {
        return weir_err_set(err, WEIR_ERR_INPUT, "a jitter of %g; expected 0 or more",
                            spmd->jitter);
    }
    if (!(spmd->circuit_s >= 0) || isinf(spmd->circuit_s)) {
        return weir_err_set(err, WEIR_ERR_INPUT,
                            "circuits that take %g s to set; expected 0 or more", spmd->circuit_s);
    }
    uint32_t links = weir_net_count(spmd->net);
    for (uint32_t i = 0; spmd->changes && i < spmd->changes->count; i++) {
        const weir_link_change *change = &spmd->changes->items[i];
        if (change->link >= links || !(change->at_s >= 0) || isinf(change->at_s) ||
            !(change->bytes_per_s >= 0)) {
            return weir_err_set(err, WEIR_ERR_INPUT,
                                "link %u of %u carries %g bytes/s from %g s on; it must exist, and "
                                "neither be negative",
                                change->link, links, change->bytes_per_s, change->at_s);
        }
    }
    return WEIR_OK;
}

/* As long as a timeline can be, sums of all spans included (timeline/seal.c says it in words about
 * files): a 32nd of what int64 holds, shared by the devices. */
static weir_code check_length(const sim_engine *engine, weir_err *err)
{
    uint32_t devices = engine->cast->device_count;
    if (engine->end_ns <= INT64_MAX / 32 / (int64_t)(devices + 1u)) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "the traffic takes %.3g s on %u devices that differ, more than can be "
                        "added up in nanoseconds; expected fewer bytes or faster links",
                        (double)engine->end_ns * 1e-9, devices);
}

static weir_code publish(const sim_engine *engine, weir_spmd_run *run, weir_err *err)
{
    const sim_cast *cast = engine->cast;
    run->arena = weir_arena_new();
    if (!run->arena) {
        return SIM_NO_MEMORY(err);
    }
    run->rank_of_device =
        weir_arena_alloc(run->arena, engine->spmd->devices, sizeof *run->rank_of_device);
    if (!run->rank_of_device) {
        return SIM_NO_MEMORY(err);
    }
    memcpy(run->rank_of_device, cast->class_of_device,
           engine->spmd->devices * sizeof *run->rank_of_device);
    weir_code code = check_length(engine, err);
    code = code == WEIR_OK ? sim_timeline_build(engine, run, err) : code;
    if (code == WEIR_OK && engine->watch &&
        !sim_watch_publish(engine->watch, cast, run->arena, &run->links, &run->link_count)) {
        code = SIM_NO_MEMORY(err);
    }
    run->device_classes = cast->device_count;
    run->body_classes = cast->body_count;
    run->link_classes = cast->links;
    run->is_folded = cast->fold != NULL;
    run->end_ns = engine->end_ns;
    run->stalled_by = engine->stalled_by;
    run->end_s = (double)engine->end_ns * 1e-9;
    return code;
}

struct weir_spmd_stage {
    sim_cast cast;
    weir_net *scaled; /* the net of classes with other capacities; NULL: as it was folded */
};

void weir_spmd_stage_free(weir_spmd_stage *stage)
{
    if (stage) {
        sim_cast_clear(&stage->cast);
        weir_net_free(stage->scaled);
        free(stage);
    }
}

/* The stage for this spmd: as it stands, or set anew. */
static weir_code set_stage(const weir_spmd *spmd, weir_spmd_stage **stage, weir_err *err)
{
    bool fits = false;
    weir_code code = WEIR_OK;
    if (*stage) {
        code = sim_cast_carry(&(*stage)->cast, spmd, &(*stage)->scaled, &fits, err);
    }
    if (code != WEIR_OK || fits) {
        return code;
    }
    weir_spmd_stage_free(*stage);
    *stage = calloc(1, sizeof **stage);
    return *stage ? sim_cast_build(spmd, &(*stage)->cast, err) : SIM_NO_MEMORY(err);
}

static weir_code play(const weir_spmd *spmd, const sim_cast *cast, weir_spmd_run *run,
                      weir_err *err)
{
    sim_engine engine = {0};
    weir_spmd_run made = {0};
    weir_code code = sim_engine_play(&engine, spmd, cast, err);
    code = code == WEIR_OK ? publish(&engine, &made, err) : code;
    sim_engine_clear(&engine);
    if (code == WEIR_OK) {
        *run = made;
    } else {
        weir_spmd_run_clear(&made);
    }
    return code;
}

weir_code weir_spmd_play_on(const weir_spmd *spmd, weir_spmd_stage **stage, weir_spmd_run *run,
                            weir_err *err)
{
    weir_code code = check_devices(spmd, err);
    code = code == WEIR_OK ? check_exchanges(spmd, err) : code;
    code = code == WEIR_OK ? check_rest(spmd, err) : code;
    code = code == WEIR_OK ? set_stage(spmd, stage, err) : code;
    code = code == WEIR_OK ? play(spmd, &(*stage)->cast, run, err) : code;
    if (code != WEIR_OK) {
        weir_spmd_stage_free(*stage);
        *stage = NULL;
    }
    return code;
}

weir_code weir_spmd_play(const weir_spmd *spmd, weir_spmd_run *run, weir_err *err)
{
    weir_spmd_stage *stage = NULL;
    weir_code code = weir_spmd_play_on(spmd, &stage, run, err);
    weir_spmd_stage_free(stage);
    return code;
}

void weir_spmd_run_clear(weir_spmd_run *run)
{
    weir_timeline_free(run->timeline);
    weir_arena_free(run->arena);
    *run = (weir_spmd_run){0};
}
