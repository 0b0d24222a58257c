#include "fabric/loss.h"

#include "fabric/parts_inside.h"

#include <math.h>

/* The first figure that is needed and not known. */
static void find_missing(const weir_loss_input *in, weir_loss *loss)
{
    const weir_fibre_part *fibre = weir_parts_fibre(in->parts);
    bool has_circulators = in->ocs && in->ocs->circulators && in->passes > 0;
    const struct {
        bool is_needed;
        double value;
        const char *figure, *of;
    } figures[] = {
        {true, in->module->budget_db, "budget", in->module->id},
        {in->passes > 0, in->ocs ? in->ocs->loss_db : NAN, "loss", in->ocs ? in->ocs->id : ""},
        {in->fibre_m > 0, fibre->db_per_m, "fibre loss", "transport"},
        {in->connectors > 0, fibre->connector_db, "connector loss", "transport"},
        {has_circulators, fibre->circulator_db, "circulator loss", "transport"},
    };
    for (uint32_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (figures[i].is_needed && isnan(figures[i].value)) {
            loss->missing = figures[i].figure;
            loss->missing_of = figures[i].of;
            return;
        }
    }
}

/* Of the modules of that rate, the one with the least budget that is enough. */
static const weir_module_part *closing_module(const weir_loss_input *in, double loss_db)
{
    const part_items *all = &in->parts->parts[PART_MODULE];
    const weir_module_part *best = NULL;
    for (uint32_t i = 0; i < all->count; i++) {
        const weir_module_part *m = all->items[i];
        bool has_rate = !(m->bytes_per_s < in->module->bytes_per_s) &&
                        !(m->bytes_per_s > in->module->bytes_per_s);
        if (has_rate && m->kind != WEIR_MODULE_COPPER && m->budget_db >= loss_db &&
            (!best || m->budget_db < best->budget_db)) {
            best = m;
        }
    }
    return best;
}

weir_loss weir_loss_of(const weir_loss_input *in)
{
    enum { CIRCULATORS_OF_A_WAY = 2 }; /* one at each end */
    const weir_fibre_part *fibre = weir_parts_fibre(in->parts);
    weir_loss loss = {.budget_db = in->module->budget_db, .verdict = WEIR_LOSS_UNKNOWN};
    loss.fibre_db = in->fibre_m > 0 ? in->fibre_m * fibre->db_per_m : 0;
    loss.connector_db = in->connectors > 0 ? in->connectors * fibre->connector_db : 0;
    if (in->passes > 0) {
        double most = in->ocs ? in->ocs->loss_max_db : NAN;
        loss.ocs_db = in->passes * (in->ocs ? in->ocs->loss_db : NAN);
        loss.ocs_max_db = isnan(most) ? loss.ocs_db : in->passes * most;
        loss.circulator_db =
            in->ocs && in->ocs->circulators ? CIRCULATORS_OF_A_WAY * fibre->circulator_db : 0;
    }
    double passive = loss.fibre_db + loss.connector_db + loss.circulator_db;
    loss.loss_db = passive + loss.ocs_db;
    loss.loss_max_db = passive + loss.ocs_max_db;
    find_missing(in, &loss);
    if (loss.missing) {
        return loss;
    }
    if (loss.loss_max_db <= loss.budget_db) {
        loss.verdict = WEIR_LOSS_CLOSES;
    } else if (loss.loss_db <= loss.budget_db) {
        loss.verdict = WEIR_LOSS_CLOSES_TYPICAL;
        loss.would_close = closing_module(in, loss.loss_max_db);
    } else {
        loss.verdict = WEIR_LOSS_OPEN;
        loss.would_close = closing_module(in, loss.loss_db);
    }
    return loss;
}

void weir_loss_say(const weir_loss_input *input, const weir_loss *loss, weir_text *text)
{
    if (loss->verdict == WEIR_LOSS_UNKNOWN) {
        weir_text_printf(text, "the optical loss budget is open: no %s of '%s' is known",
                         loss->missing, loss->missing_of);
        return;
    }
    weir_text_printf(text, "%.2f dB", loss->loss_db);
    if (loss->loss_max_db > loss->loss_db) {
        weir_text_printf(text, " (at most %.2f dB)", loss->loss_max_db);
    }
    weir_text_printf(text, " of the %.2f dB that %s allows: ", loss->budget_db, input->module->id);
    static const char *const verdicts[] = {
        "closes", "closes at the typical loss of the switch, not at its largest", "does not close"};
    weir_text_printf(text, "%s", verdicts[loss->verdict]);
    if (loss->would_close) {
        weir_text_printf(text, "; %s (%.2f dB) would%s", loss->would_close->id,
                         loss->would_close->budget_db,
                         loss->verdict == WEIR_LOSS_CLOSES_TYPICAL ? " at both" : "");
    } else if (loss->verdict != WEIR_LOSS_CLOSES) {
        weir_text_printf(text, "; no known module of that rate would");
    }
}
