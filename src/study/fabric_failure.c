/* fabric_failure.c: the step with one part dead (fabric_row.h). */
#include "study/fabric_row.h"

#include <math.h>

weir_code weir_fabric_failure(const weir_fabric_wish *wish, weir_fabric_play *play,
                              weir_arena *arena, weir_fabric_candidate_row *row, weir_err *err)
{
    weir_code code = WEIR_OK;
    row->failure_step_s = NAN;
    for (uint32_t kind = 0; kind < WEIR_DEAD_KIND_COUNT && code == WEIR_OK; kind++) {
        const char *name = NULL;
        if (!weir_candidate_network_fail(&play->network, (weir_dead_kind)kind, &name)) {
            continue;
        }
        code = weir_fabric_play_replan(wish, play, err);
        double step_s = play->refused ? INFINITY : play->step_s;
        if (code == WEIR_OK && (isnan(row->failure_step_s) || step_s > row->failure_step_s)) {
            row->failure_step_s = step_s;
            row->failure_part = weir_arena_copy(arena, weir_str_from(name));
            if (!row->failure_part) {
                code = weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a failure");
            }
        }
        weir_candidate_network_repair(&play->network);
    }
    return code;
}
