/* fabric_part.c: phases whose circuits are set again while they send: what belongs to each setting
 * (fabric_program.h). */
#include "study/fabric_program.h"

#include <math.h>

double weir_program_share(const weir_phase_road *road, const weir_phase_part *part, uint32_t from,
                          uint32_t to)
{
    uint32_t row = road->block_of_device[from], column = road->block_of_device[to];
    if (row == column) {
        return part->has_inside ? 1 : 0;
    }
    if (!part->to) {
        return part->share[(size_t)row * road->blocks + column];
    }
    return part->to[row] == column ? part->share[row] : 0;
}

static bool is_all_to_all(const weir_phase *phase)
{
    return phase->kind == WEIR_PHASE_COLLECTIVE
               ? phase->collective == WEIR_COLLECTIVE_ALL_TO_ALL
               : phase->kind == WEIR_PHASE_PATTERN && phase->pattern == WEIR_PATTERN_ALL_TO_ALL;
}

weir_code weir_program_choose_parts(const weir_program_group *group, weir_program_phase *chosen,
                                    weir_err *err)
{
    const weir_phase *phase = &group->network->scenario->phases[group->phase];
    weir_err ignored = {0}; /* a library may have no figures for direct messages */
    if (!is_all_to_all(phase) ||
        weir_program_choose_as(group, WEIR_ALGORITHM_DIRECT, chosen, &ignored) != WEIR_OK) {
        weir_code code = weir_program_choose_as(group, WEIR_ALGORITHM_COUNT, chosen, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    chosen->choice.algorithm = WEIR_ALGORITHM_DIRECT;
    return WEIR_OK;
}

double weir_program_part_latency(const weir_program_group *group,
                                 const weir_collective_choice *choice, double route_s,
                                 double bytes_share)
{
    const weir_phase *phase = &group->network->scenario->phases[group->phase];
    double share = is_all_to_all(phase) ? bytes_share : 1;
    return fmax(route_s, choice->latency_s * share);
}
