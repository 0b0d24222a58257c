/* fabric_band.c: how sure the time of a step is (fabric_row.h).
 *
 * The error that the fit of the library left is one of collective times; it is taken of the
 * communication that the step exposes, each phase by its time on an idle net. */
#include "study/fabric_row.h"

#include <math.h>

weir_code weir_fabric_band(const weir_fabric_wish *wish, const weir_fabric_play *play,
                           weir_arena *arena, weir_fabric_candidate_row *row, weir_err *err)
{
    const weir_fabric_scenario *scenario = wish->scenario;
    double known_s = 0, all_s = 0, error_s = 0;
    for (uint32_t i = 0; i < scenario->phase_count; i++) {
        const weir_program_phase *phase = &play->program.phases[i];
        if (phase->is_empty) {
            continue;
        }
        double s = phase->alone_s * scenario->phases[i].times;
        all_s += s;
        if (!isnan(phase->error_share)) {
            known_s += s;
            error_s += s * phase->error_share;
        }
    }
    double share = known_s > 0 ? error_s / known_s : NAN;
    double exposed_s = row->wall_ns > 0 ? row->step_s * (double)row->exposed_communication_ns /
                                              (double)row->wall_ns
                                        : 0;
    row->band_low_s = row->step_s - exposed_s * share;
    row->band_high_s = row->step_s + exposed_s * share;
    row->band_outside = known_s < all_s;
    weir_text text = {0};
    if (known_s > 0) {
        weir_text_printf(&text, "%s, mean error %.1f %% of communication time",
                         scenario->cluster.library, 100 * share);
    } else {
        weir_text_add(&text, wish->library ? WEIR_STR("no measured system of this kind")
                                           : WEIR_STR("closed forms, no library named"));
    }
    row->band_basis =
        text.failed ? NULL : weir_arena_copy(arena, (weir_str){text.p, (uint32_t)text.n});
    weir_text_clear(&text);
    return row->band_basis ? WEIR_OK
                           : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for a band");
}
