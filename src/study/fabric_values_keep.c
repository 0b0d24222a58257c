/* fabric_values_keep.c: the kinds of links and the single links that are worth most, as rows of the
 * result (fabric_values.h). */
#include "study/fabric_values_inside.h"

#include "base/text.h"

#include <math.h>

static void find_best(link_values *v)
{
    for (weir_link_id i = 0; i < v->links; i++) {
        link_kind *kind = v->kind_of[i] < KINDS_MAX ? &v->kinds[v->kind_of[i]] : NULL;
        if (kind && v->seconds[i] > kind->best_s * (1 + 1e-9)) {
            kind->best = i;
            kind->best_s = v->seconds[i];
        }
    }
}

void values_choose_singles(link_values *v)
{
    for (; v->single_count < SHOWN_MAX; v->single_count++) {
        weir_link_id best = WEIR_NONE;
        for (weir_link_id i = 0; i < v->links; i++) {
            bool is_taken = !(v->seconds[i] > 0);
            for (uint32_t k = 0; k < v->single_count && !is_taken; k++) {
                is_taken = v->singles[k].link == i;
            }
            if (!is_taken && (best == WEIR_NONE || v->seconds[i] > v->seconds[best] * (1 + 1e-9))) {
                best = i;
            }
        }
        if (best == WEIR_NONE) {
            return;
        }
        v->singles[v->single_count] = (single_link){.link = best};
    }
}

/* Worth more: by what less of it costs, which ties do not hide. NULL: no other is worth a thing. */
static link_kind *take_next(link_values *v)
{
    link_kind *best = NULL;
    for (uint32_t i = 0; i < v->kind_count; i++) {
        link_kind *kind = &v->kinds[i];
        if (kind->count > 0 && kind->structure_s > 0 &&
            (!best || kind->structure_s > best->structure_s * (1 + 1e-9))) {
            best = kind;
        }
    }
    return best;
}

/* NULL: no memory. */
static const char *name_of(const link_values *v, weir_result *result, weir_link_id link)
{
    weir_text name = {0};
    weir_layout_name(v->layout, link, &name);
    const char *kept =
        name.failed ? NULL : weir_result_copy(result, (weir_str){name.p, (uint32_t)name.n});
    weir_text_clear(&name);
    return kept;
}

weir_code values_keep_kinds(link_values *v, weir_result *result, weir_err *err)
{
    weir_fabric_result *fabric = result->fabric;
    weir_fabric_value_row *rows = weir_arena_alloc(result->arena, SHOWN_MAX, sizeof *rows);
    uint32_t count = 0;
    if (!rows) {
        return values_no_memory(err);
    }
    find_best(v);
    for (link_kind *kind; count < SHOWN_MAX && (kind = take_next(v)) != NULL;) {
        rows[count] = (weir_fabric_value_row){.link = name_of(v, result, kind->best),
                                              .tier = weir_tier_name(kind->tier),
                                              .multiplicity = kind->count,
                                              .marginal_s_per_percent = kind->gain_s,
                                              .loss_s_per_percent = kind->loss_s,
                                              .structure_s_per_percent = kind->structure_s};
        if (!rows[count++].link) {
            return values_no_memory(err);
        }
        kind->count = 0; /* taken */
    }
    fabric->values = rows;
    fabric->value_count = count;
    return WEIR_OK;
}

weir_code values_keep_singles(const link_values *v, double step_s, weir_result *result,
                              weir_err *err)
{
    weir_fabric_single_row *rows = weir_arena_alloc(result->arena, SHOWN_MAX, sizeof *rows);
    if (!rows) {
        return values_no_memory(err);
    }
    for (uint32_t i = 0; i < v->single_count; i++) {
        const single_link *single = &v->singles[i];
        weir_link_id link = single->link;
        rows[i] = (weir_fabric_single_row){
            .link = name_of(v, result, link),
            .tier = weir_tier_name(weir_layout_tier(v->layout, link)),
            .pace_share = step_s > 0 ? fmin(1, v->pace_s[link] / step_s) : 0,
            .marginal_s_per_percent = single->gain_s,
            .loss_s_per_percent = single->loss_s,
            .structure_s_per_percent = v->seconds[link]};
        if (!rows[i].link) {
            return values_no_memory(err);
        }
    }
    result->fabric->singles = rows;
    result->fabric->single_count = v->single_count;
    return WEIR_OK;
}
