#include "match/groups.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static bool has_rank(const weir_group *g, int32_t number)
{
    uint32_t low = 0, high = g->rank_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (g->ranks[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < g->rank_count && g->ranks[low] == number;
}

/* A list that was cut: the only full list of the same name, description and size that has the
 * rank, else the row itself. */
static weir_group_id whole_of(const weir_group *groups, uint32_t count, const group_use *use)
{
    const weir_group *cut = &groups[use->row];
    weir_group_id found = WEIR_NONE;
    for (uint32_t g = 0; g < count; g++) {
        bool same = groups[g].rank_count > 0 && groups[g].name == cut->name &&
                    groups[g].description == cut->description &&
                    (cut->size == 0 || groups[g].size == cut->size) &&
                    has_rank(&groups[g], use->number);
        if (same && found != WEIR_NONE) {
            return use->row;
        }
        found = same ? g : found;
    }
    return found == WEIR_NONE ? use->row : found;
}

static int compare_members(const weir_group *a, const weir_group *b)
{
    if (a->description != b->description) {
        return a->description < b->description ? -1 : 1;
    }
    if (a->rank_count != b->rank_count) {
        return a->rank_count < b->rank_count ? -1 : 1;
    }
    return memcmp(a->ranks, b->ranks, a->rank_count * sizeof *a->ranks);
}

typedef struct {
    const weir_group *groups;
    const group_use *uses;
} use_context;

static int compare_uses(const void *a, const void *b, const void *context)
{
    const use_context *c = context;
    const group_use *x = &c->uses[*(const uint32_t *)a], *y = &c->uses[*(const uint32_t *)b];
    int order = compare_members(&c->groups[x->same], &c->groups[y->same]);
    if (order != 0) {
        return order;
    }
    if (x->number != y->number) {
        return x->number < y->number ? -1 : 1;
    }
    return x->same < y->same ? -1 : x->same > y->same;
}

/* order[0..count): the uses of groups with the same members and description, by rank. Where each
 * rank has just one, it is the same group, whatever name each process gave it. */
static void unite_names(group_use *uses, const uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const group_use *use = &uses[order[i]], *last = i > 0 ? &uses[order[i - 1]] : NULL;
        if (last && last->number == use->number && last->same != use->same) {
            return;
        }
    }
    weir_group_id first = uses[order[0]].same;
    for (uint32_t i = 1; i < count; i++) {
        first = uses[order[i]].same < first ? uses[order[i]].same : first;
    }
    for (uint32_t i = 0; i < count; i++) {
        uses[order[i]].same = first;
    }
}

weir_code groups_unite(const weir_timeline *t, group_use *uses, uint32_t count, weir_err *err)
{
    uint32_t group_count;
    const weir_group *groups = weir_timeline_groups(t, &group_count);
    uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
    if (!order) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u process groups", count);
    }
    uint32_t whole = 0;
    for (uint32_t i = 0; i < count; i++) {
        const weir_group *g = &groups[uses[i].row];
        uses[i].same = g->rank_count > 0 ? uses[i].row : whole_of(groups, group_count, &uses[i]);
        if (groups[uses[i].same].rank_count > 0) {
            order[whole++] = i;
        }
    }
    use_context context = {groups, uses};
    if (!weir_sort(order, whole, sizeof *order, compare_uses, &context)) {
        free(order);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory for %u process groups", count);
    }
    for (uint32_t i = 0, end; i < whole; i = end) {
        const weir_group *g = &groups[uses[order[i]].same];
        for (end = i + 1; end < whole; end++) {
            if (compare_members(g, &groups[uses[order[end]].same]) != 0) {
                break;
            }
        }
        unite_names(uses, order + i, end - i);
    }
    free(order);
    return WEIR_OK;
}
