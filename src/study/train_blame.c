/* train_blame.c: whose slow GPU or weak link a step waits for, where the scenario says so.
 *
 * Waits alone need not tell. A collective on a weak link takes all its members as long, and in a
 * pipeline the others' bubbles take up most of what a slow GPU adds. The simulation was told who it
 * is, and knows how long the step takes without it. */
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

/* The one that takes longest; NULL: none. */
static const weir_slow_entry *slowest(const weir_train_scenario *scenario)
{
    const weir_slow_entry *found = NULL;
    for (uint32_t i = 0; i < scenario->slow_count; i++) {
        if (scenario->slow[i].factor > (found ? found->factor : 1)) {
            found = &scenario->slow[i];
        }
    }
    return found;
}

static void say_link(weir_text *text, const weir_train_link *link)
{
    weir_text_printf(text, "its %s carries ", link->is_node_link ? "node link" : "NIC");
    weir_quantity_fixed(text, link->share * PERCENT, 0);
    weir_text_add(text, WEIR_STR(" % of its rate"));
    if (isfinite(link->until_s)) {
        weir_text_add(text, WEIR_STR(" from "));
        weir_quantity_seconds(text, link->at_s, 2);
        weir_text_add(text, WEIR_STR(" to "));
        weir_quantity_seconds(text, link->until_s, 2);
    }
}

static void say_slow(weir_text *text, const weir_slow_entry *entry)
{
    weir_text_add(text, WEIR_STR("its kernels take "));
    weir_quantity_fixed(text, entry->factor, 2);
    weir_text_add(text, WEIR_STR(" times as long"));
}

static const char *keep(weir_result *result, const weir_text *text)
{
    return text->failed || !text->p
               ? NULL
               : weir_result_copy(result, (weir_str){text->p, (uint32_t)text->n});
}

/* One of the two is NULL. */
static void say(weir_text *text, const weir_train_link *link, const weir_slow_entry *slow,
                const char *node, double more_s)
{
    weir_text_printf(
        text, "Rank %u (%s) makes the others wait: ", link ? link->device : slow->device, node);
    if (link) {
        say_link(text, link);
    } else {
        say_slow(text, slow);
    }
    weir_text_add(text, WEIR_STR(", and the step takes "));
    weir_quantity_seconds(text, more_s, 2);
    weir_text_printf(text, " longer. Not its %s or its host.", link ? "GPU" : "links");
}

weir_code train_blame(const train_figures *f, weir_err *err)
{
    const weir_train_scenario *scenario = f->scenario;
    weir_result *result = f->result;
    const weir_train_link *link = weakest(scenario);
    const weir_slow_entry *slow = slowest(scenario);
    double more_s = result->training->step_s - result->training->closed_step_s;
    bool is_alone = (link == NULL) != (slow == NULL) && !(scenario->jitter > 0);
    if (!is_alone || more_s * PERCENT < result->training->step_s) { /* below 1 %: no verdict */
        return WEIR_OK;
    }
    uint32_t each = scenario->job.network.devices_per_node;
    uint32_t device = link ? link->device : slow->device;
    weir_text node = {0}, sentence = {0};
    weir_text_printf(&node, "node %u", device / (each ? each : 1));
    say(&sentence, link, slow, node.p ? node.p : "", more_s);
    result->verdict.blames = true;
    result->verdict.rank = (int32_t)device;
    result->verdict.device = 0;
    result->verdict.reason = link ? WEIR_REASON_SLOW_LINK : WEIR_REASON_SLOW_DEVICE;
    result->verdict.node = keep(result, &node);
    result->verdict.sentence = keep(result, &sentence);
    weir_text_clear(&node);
    weir_text_clear(&sentence);
    return result->verdict.node && result->verdict.sentence ? WEIR_OK : TRAIN_NO_MEMORY(err);
}
