/* fabric_failure.c: the step with one part dead (fabric_row.h). */
#include "study/fabric_row.h"

#include <math.h>

/* Plays with that part dead. *step_s: INFINITY where it cuts the traffic off. */
static weir_code play_without(const weir_fabric_wish *wish, weir_fabric_play *play, double *step_s,
                              weir_err *err)
{
    weir_code code = weir_fabric_play_replan(wish, play, err);
    *step_s = play->refused ? INFINITY : play->step_s;
    return code;
}

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a failure");
}

weir_code weir_fabric_failure(const weir_fabric_wish *wish, weir_fabric_play *play,
                              weir_arena *arena, weir_fabric_evaluation *made, weir_err *err)
{
    weir_fabric_candidate_row *row = &made->row;
    weir_text stoppers = {0};
    weir_code code = WEIR_OK;
    row->failure_step_s = NAN;
    for (uint32_t kind = 0; kind < WEIR_DEAD_KIND_COUNT && code == WEIR_OK; kind++) {
        const char *name = NULL;
        double step_s = NAN;
        if (!weir_candidate_network_fail(&play->network, (weir_dead_kind)kind, &name)) {
            continue;
        }
        code = play_without(wish, play, &step_s, err);
        if (isinf(step_s)) {
            weir_text_printf(&stoppers, "%s%s", stoppers.n ? ", " : "", name);
        } else if (isnan(row->failure_step_s) || step_s > row->failure_step_s) {
            row->failure_step_s = step_s;
            row->failure_part = weir_arena_copy(arena, weir_str_from(name));
            code = code == WEIR_OK && !row->failure_part ? no_memory(err) : code;
        }
        weir_candidate_network_repair(&play->network);
    }
    if ((stoppers.n || stoppers.failed) && code == WEIR_OK) {
        row->stoppers = stoppers.failed
                            ? NULL
                            : weir_arena_copy(arena, (weir_str){stoppers.p, (uint32_t)stoppers.n});
        code = row->stoppers ? WEIR_OK : no_memory(err);
    }
    weir_text_clear(&stoppers);
    if (isnan(row->failure_step_s) && row->stoppers) {
        row->failure_step_s = INFINITY;
        row->failure_part = row->stoppers;
    }
    return code;
}
