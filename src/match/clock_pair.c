#include "match/clock_pair.h"

#include "match/clock_fit.h"
#include "match/clock_shift.h"

#include <stdlib.h>
#include <string.h>

/* Candidates are weighed on so many entries of each list, the best is then fitted on all. */
enum { WEIGHED_ENTRIES = 1024, SHIFTED_LISTS = 4 };

/* Clocks that are set by NTP agree this well: the captures are then aligned as they are. */
static const int64_t SET_CLOCKS_NS = 5000000;

static const int64_t SAME_GROUP_MOST_NS = 200000;

typedef struct {
    align_entry *moved; /* entries of b on a's clock */
    uint32_t *of;
    clock_point *points;
    int64_t *spread;
    uint32_t point_count, point_capacity;
} weigher;

static bool weigher_init(weigher *w, const clock_lists *lists, uint32_t count)
{
    size_t longest = 1, total = 1;
    for (uint32_t k = 0; k < count; k++) {
        longest = lists[k].b->count > longest ? lists[k].b->count : longest;
        total += lists[k].b->count;
    }
    memset(w, 0, sizeof *w);
    w->moved = malloc(longest * sizeof *w->moved);
    w->of = malloc(longest * sizeof *w->of);
    w->spread = malloc(longest * sizeof *w->spread);
    w->points = malloc(total * sizeof *w->points);
    w->point_capacity = (uint32_t)total;
    return w->moved && w->of && w->spread && w->points;
}

static void weigher_clear(weigher *w)
{
    free(w->moved);
    free(w->of);
    free(w->spread);
    free(w->points);
}

/* The middle of a long list, and what of the other one lies beside it. */
static void cut_lists(const clock_lists *lists, const clock_fit *fit, uint32_t most, align_list *a,
                      align_list *b)
{
    *a = *lists->a;
    *b = *lists->b;
    if (a->exact || (a->count <= most && b->count <= most)) {
        return;
    }
    uint32_t first = a->count > most ? (a->count - most) / 2 : 0;
    a->count = a->count > most ? most : a->count;
    a->entries += first;
    int64_t begin = a->entries[0].first_end_ns, end = a->entries[a->count - 1].end_ns;
    uint32_t from = 0, to = b->count;
    while (from < to && clock_fit_apply(fit, b->entries[from].end_ns) < begin) {
        from++;
    }
    while (to > from && clock_fit_apply(fit, b->entries[to - 1].first_end_ns) > end) {
        to--;
    }
    from = from > 16 ? from - 16 : 0;
    b->entries += from;
    b->count = (to + 16 < lists->b->count ? to + 16 : lists->b->count) - from;
}

static void move_entries(const align_list *b, const clock_fit *fit, align_entry *moved)
{
    for (uint32_t j = 0; j < b->count; j++) {
        moved[j] = b->entries[j];
        moved[j].arrival_ns = clock_fit_apply(fit, b->entries[j].arrival_ns);
        moved[j].first_end_ns = clock_fit_apply(fit, b->entries[j].first_end_ns);
        moved[j].end_ns = clock_fit_apply(fit, b->entries[j].end_ns);
        moved[j].anchor_ns = clock_fit_apply(fit, b->entries[j].anchor_ns);
    }
}

/* Aligns two lists with the clocks of fit and adds a point for each pair. Returns how far apart
 * they end then. */
static int64_t weigh_lists(weigher *w, const clock_lists *lists, const clock_fit *fit,
                           uint32_t most)
{
    align_list a, b;
    cut_lists(lists, fit, most, &a, &b);
    align_list moved = b;
    moved.entries = w->moved;
    move_entries(&b, fit, w->moved);
    int64_t slack_ns = align_slack_ns(fit->residual_ns);
    if (a.exact) {
        align_exact(&a, &b, w->of);
    } else {
        align_lists(&a, &moved, slack_ns, w->of);
    }
    uint32_t n = 0;
    for (uint32_t j = 0; j < b.count; j++) {
        if (w->of[j] != WEIR_NONE) {
            const align_entry *x = &a.entries[w->of[j]], *y = &b.entries[j];
            w->spread[n++] = llabs(x->anchor_ns - w->moved[j].anchor_ns);
            w->points[w->point_count++] = clock_point_of(x, y);
        }
    }
    return n > 0 ? median_ns(w->spread, n) : INT64_MAX;
}

/* Pairs with the clocks of *fit, then fits the clocks to the pairs. Lists without a recorded group
 * belong together where they end together: as in pairing.c, within ten times what the closest do.
 */
static bool refine(weigher *w, const clock_lists *lists, uint32_t count, uint32_t most,
                   clock_fit *fit)
{
    int64_t apart[CLOCK_LISTS], closest = INT64_MAX;
    uint32_t first[CLOCK_LISTS + 1], kept = 0;
    w->point_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        first[k] = w->point_count;
        apart[k] = weigh_lists(w, &lists[k], fit, most);
        closest = apart[k] < closest ? apart[k] : closest;
    }
    first[count] = w->point_count;
    int64_t limit = closest < SAME_GROUP_MOST_NS ? 10 * closest : SAME_GROUP_MOST_NS;
    limit += align_slack_ns(fit->residual_ns) - ALIGN_SLACK_NS;
    for (uint32_t k = 0; k < count; k++) {
        if (lists[k].recorded || apart[k] <= limit) {
            memmove(&w->points[kept], &w->points[first[k]],
                    (first[k + 1] - first[k]) * sizeof *w->points);
            kept += first[k + 1] - first[k];
        }
    }
    w->point_count = kept;
    return clock_fit_points(w->points, w->point_count, fit);
}

/* Where Seq was recorded, the pairs are known and only the clocks are sought. */
static bool fit_exact(weigher *w, const clock_lists *lists, uint32_t count, clock_fit *fit,
                      bool *found)
{
    w->point_count = 0;
    clock_fit none = {0};
    for (uint32_t k = 0; k < count; k++) {
        if (lists[k].a->exact && lists[k].recorded) {
            weigh_lists(w, &lists[k], &none, UINT32_MAX);
        }
    }
    *found = w->point_count > 0;
    return !*found || clock_fit_points(w->points, w->point_count, fit);
}

/* Candidates of several channels repeat each other, and most fit far worse than the best. */
static bool is_hopeless(const clock_fit *candidates, uint32_t c, int64_t least_residual_ns)
{
    if (candidates[c].residual_ns > 20 * (least_residual_ns + 10000)) {
        return true;
    }
    for (uint32_t k = 0; k < c; k++) {
        if (llabs(clock_fit_apply(&candidates[k], candidates[c].origin_ns) -
                  clock_fit_apply(&candidates[c], candidates[c].origin_ns)) < 20000) {
            return true;
        }
    }
    return false;
}

static bool list_candidates(const clock_lists *lists, uint32_t count, clock_fit *candidates,
                            uint32_t *candidate_count, int64_t *chance_ns)
{
    uint32_t n = 0;
    *chance_ns = 0;
    for (uint32_t k = 0; k < count && k < SHIFTED_LISTS; k++) {
        uint32_t found;
        int64_t chance;
        if (!clock_shift_find(lists[k].a, lists[k].b, &candidates[n], &found, &chance)) {
            return false;
        }
        n += found;
        *chance_ns = chance > *chance_ns ? chance : *chance_ns;
    }
    int64_t least = INT64_MAX / 32;
    for (uint32_t c = 0; c < n; c++) {
        least = candidates[c].residual_ns < least ? candidates[c].residual_ns : least;
    }
    *candidate_count = 0;
    for (uint32_t c = 0; c < n; c++) {
        candidates[*candidate_count] = candidates[c];
        *candidate_count += !is_hopeless(candidates, *candidate_count, least);
    }
    candidates[(*candidate_count)++] = (clock_fit){.residual_ns = SET_CLOCKS_NS / 4};
    return true;
}

static bool fit_candidates(weigher *w, const clock_lists *lists, uint32_t count, clock_fit *best)
{
    clock_fit candidates[SHIFTED_LISTS * CLOCK_SHIFTS + 1];
    uint32_t n;
    int64_t chance_ns;
    if (!list_candidates(lists, count, candidates, &n, &chance_ns)) {
        return false;
    }
    double most = 0;
    for (uint32_t c = 0; c < n; c++) {
        clock_fit fit = candidates[c];
        for (int round = 0; round < 2; round++) {
            if (!refine(w, lists, count, WEIGHED_ENTRIES, &fit)) {
                return false;
            }
        }
        double evidence = clock_fit_evidence(&fit, chance_ns);
        if (fit.pairs > 0 && (best->pairs == 0 || evidence > most)) {
            most = evidence;
            *best = fit;
        }
    }
    return true;
}

/* Messages bound the offset: what is received was sent before. */
static void bound_by_messages(const weigher *w, clock_fit *fit)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    for (uint32_t i = 0; i < w->point_count; i++) {
        const clock_point *p = &w->points[i];
        int64_t bend = clock_fit_apply(fit, p->at_ns) - p->at_ns - fit->offset_ns;
        if (p->low_ns != INT64_MIN) {
            low = p->low_ns - bend > low ? p->low_ns - bend : low;
        }
        if (p->high_ns != INT64_MAX) {
            high = p->high_ns - bend < high ? p->high_ns - bend : high;
        }
    }
    if (low > high) {
        return; /* some pair is wrong or the clock jumped: no bound can be trusted */
    }
    fit->offset_ns = fit->offset_ns < low ? low : fit->offset_ns;
    fit->offset_ns = fit->offset_ns > high ? high : fit->offset_ns;
}

bool clock_pair_fit(const clock_lists *lists, uint32_t count, clock_fit *fit)
{
    weigher w;
    bool exact = false, done = weigher_init(&w, lists, count);
    memset(fit, 0, sizeof *fit);
    done = done && fit_exact(&w, lists, count, fit, &exact);
    if (done && !exact) {
        done = fit_candidates(&w, lists, count, fit);
    }
    for (int round = 0; done && fit->pairs > 0 && round < 2; round++) {
        done = refine(&w, lists, count, UINT32_MAX, fit);
    }
    if (done && fit->pairs > 0 && fit->level >= 2) {
        bound_by_messages(&w, fit);
    }
    weigher_clear(&w);
    return done;
}
