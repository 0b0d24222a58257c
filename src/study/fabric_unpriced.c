/* fabric_unpriced.c: what a year's cost lacks, and what is known without it (fabric_notes.h). */
#include "study/fabric_notes.h"

#include "result/quantity.h"
#include "study/fabric_compare.h"

#include <math.h>
#include <string.h>

enum { NAMES_MAX = 8 }; /* parts that are named; a sentence with more is read by nobody */

typedef struct {
    const char *names[NAMES_MAX];
    uint32_t count; /* of all, named or not */
} parts_list;

static void add_part(parts_list *list, const char *part)
{
    for (uint32_t i = 0; i < list->count && i < NAMES_MAX; i++) {
        if (strcmp(list->names[i], part) == 0) {
            return;
        }
    }
    if (list->count < NAMES_MAX) {
        list->names[list->count] = part;
    }
    list->count++;
}

/* "; no watts of efa-p5, cx9". */
static void add_list(weir_text *text, const char *what, const parts_list *list)
{
    for (uint32_t i = 0; i < list->count && i < NAMES_MAX; i++) {
        if (i == 0) {
            weir_text_printf(text, "%s no %s of ", text->n ? ";" : "", what);
        }
        weir_text_printf(text, "%s%s", i ? ", " : "", list->names[i]);
    }
    if (list->count > NAMES_MAX) {
        weir_text_add(text, WEIR_STR(", ..."));
    }
}

/* Whose network costs least a year; WEIR_NONE: not all are known. */
static uint32_t cheapest_network(const weir_fabric_result *fabric)
{
    uint32_t least = WEIR_NONE;
    for (uint32_t i = 0; i < fabric->candidate_count; i++) {
        const weir_fabric_candidate_row *row = &fabric->candidates[i];
        if (!weir_fabric_is_possible(row)) {
            continue;
        }
        if (!isfinite(row->network_usd_per_year)) {
            return WEIR_NONE;
        }
        if (least == WEIR_NONE ||
            row->network_usd_per_year < fabric->candidates[least].network_usd_per_year) {
            least = i;
        }
    }
    return least;
}

/* With network costs known only the price of a device's hour is open: from which on the fastest
 * pays for itself. */
static void add_known(weir_text *text, const weir_fabric_result *fabric)
{
    uint32_t least = cheapest_network(fabric);
    if (least == WEIR_NONE || fabric->recommended == WEIR_NONE) {
        return;
    }
    const weir_fabric_candidate_row *fast = &fabric->candidates[fabric->recommended];
    const weir_fabric_candidate_row *cheap = &fabric->candidates[least];
    double usd = fast->network_usd_per_year - cheap->network_usd_per_year;
    double hours = cheap->waiting_hours_per_year - fast->waiting_hours_per_year;
    if (!(usd > 0)) {
        weir_text_add(text, WEIR_STR("; its network and power cost least, too"));
        return;
    }
    weir_text_add(text, WEIR_STR("; "));
    weir_fabric_call(text, cheap);
    weir_text_add(text, WEIR_STR(" costs least in network and power, "));
    weir_quantity_usd(text, usd);
    weir_text_add(text, WEIR_STR(" a year less"));
    if (hours > 0) {
        weir_text_add(text, WEIR_STR(", and wins below "));
        weir_quantity_usd(text, usd / hours);
        weir_text_add(text, WEIR_STR(" a device's hour"));
    }
}

weir_code weir_fabric_tell_unpriced(const weir_fabric_scenario *scenario,
                                    const weir_fabric_evaluation *evaluations, weir_result *result,
                                    weir_err *err)
{
    const weir_accelerator *accelerator = scenario->cluster.accelerator;
    parts_list unpriced = {.count = 0}, unpowered = {.count = 0};
    if (weir_fabric_has_prices(result->fabric)) {
        return WEIR_OK;
    }
    for (uint32_t i = 0; i < scenario->candidate_count; i++) {
        const weir_bill *bill = &evaluations[i].account.bill;
        for (uint32_t k = 0; k < bill->count; k++) {
            if (isnan(bill->items[k].typical_usd)) {
                add_part(&unpriced, bill->items[k].part);
            }
            if (isnan(bill->items[k].watts)) {
                add_part(&unpowered, bill->items[k].part);
            }
        }
    }
    weir_text text = {0};
    add_list(&text, "price", &unpriced);
    add_list(&text, "watts", &unpowered);
    if (isnan(scenario->economics.gpu_hour_usd)) {
        weir_text_printf(&text, "%s no price of a device's hour (%s%s)", text.n ? ";" : "",
                         accelerator ? "gpu_hour:" : "economics.gpu_hour",
                         accelerator ? accelerator->id : "");
    }
    add_known(&text, result->fabric);
    bool told = text.n > 1;
    result->fabric->unpriced =
        !told || text.failed
            ? NULL
            : weir_result_copy(result, (weir_str){text.p + 1, (uint32_t)text.n - 1});
    weir_text_clear(&text);
    return !told || result->fabric->unpriced
               ? WEIR_OK
               : weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for missing prices");
}
