/* train_link_blame.c: whose weak link a step waits for.
 *
 * A collective on a weak link takes all its members as long: what was recorded cannot tell whose it
 * is. The simulation was told, and knows how long the step takes without it. */
#include "study/train_figures.h"

#include "result/quantity.h"

#include <math.h>

enum { PERCENT = 100 };

/* The one that carries least; NULL: none. */
static const weir_train_link *weakest(const weir_train_scenario *scenario)
{
    const weir_train_link *found = NULL;
    for (uint32_t i = 0; i < scenario->link_count; i++) {
        if (!found || scenario->links[i].share < found->share) {
            found = &scenario->links[i];
        }
    }
    return found;
}

static void say(weir_text *text, const train_figures *f, const weir_train_link *link, double more_s)
{
    const char *node = f->result->verdict.node;
    weir_text_printf(text, "Rank %u (%s) makes the others wait: its %s carries ", link->device,
                     node ? node : "", link->is_node_link ? "node link" : "NIC");
    weir_quantity_fixed(text, link->share * PERCENT, 0);
    weir_text_add(text, WEIR_STR(" % of its rate"));
    if (isfinite(link->until_s)) {
        weir_text_add(text, WEIR_STR(" from "));
        weir_quantity_seconds(text, link->at_s, 2);
        weir_text_add(text, WEIR_STR(" to "));
        weir_quantity_seconds(text, link->until_s, 2);
    }
    weir_text_add(text, WEIR_STR(", and the step takes "));
    weir_quantity_seconds(text, more_s, 2);
    weir_text_add(text, WEIR_STR(" longer. Not its GPU or its host."));
}

weir_code train_blame_link(const train_figures *f, weir_err *err)
{
    const weir_train_scenario *scenario = f->scenario;
    const weir_training_result *t = f->result->training;
    const weir_train_link *link = weakest(scenario);
    double more_s = t->step_s - t->closed_step_s;
    bool is_alone = scenario->slow_count == 0 && !(scenario->jitter > 0);
    if (!link || !is_alone || more_s * PERCENT < t->step_s) { /* below 1 %: not worth a verdict */
        return WEIR_OK;
    }
    uint32_t each = scenario->job.network.devices_per_node;
    weir_text node = {0}, text = {0};
    weir_text_printf(&node, "node %u", link->device / (each ? each : 1));
    f->result->verdict.blames = true;
    f->result->verdict.rank = (int32_t)link->device;
    f->result->verdict.device = 0;
    f->result->verdict.node =
        node.failed ? NULL : weir_result_copy(f->result, weir_str_from(node.p));
    f->result->verdict.reason = WEIR_REASON_SLOW_LINK;
    say(&text, f, link, more_s);
    f->result->verdict.sentence =
        text.failed ? NULL : weir_result_copy(f->result, (weir_str){text.p, (uint32_t)text.n});
    bool ok = f->result->verdict.node && f->result->verdict.sentence;
    weir_text_clear(&node);
    weir_text_clear(&text);
    return ok ? WEIR_OK : TRAIN_NO_MEMORY(err);
}
