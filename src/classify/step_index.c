#include "classify/step_index.h"

#include <stdlib.h>

typedef struct {
    int64_t begin_ns, end_ns;
    uint32_t parent; /* the mark round it on the same lane, WEIR_NONE = none */
    step_mark mark;
} item;

/* The marks of one sort, by (lane, begin); those of lane l are first[l] .. first[l + 1] - 1. */
typedef struct {
    item *items;
    uint32_t count;
    uint32_t *first; /* lane_count + 1 */
} layer;

struct step_index {
    layer steps, recomputed;
    const weir_lane *lanes;
    uint32_t lane_count;
    uint32_t *rank_lanes; /* lanes with steps, by (rank, lane) */
    uint32_t *rank_first; /* rank r: rank_first[r] .. rank_first[r + 1] - 1 */
};

/* What names are, found out once each: bit 0 of the kind known, the kind above it. Annotations and
 * operations are told apart. */
typedef struct {
    const weir_timeline *t;
    weir_spans spans;
    uint8_t *known; /* 2 * name_count */
} names;

static step_kind kind_of(const names *n, weir_span_id span)
{
    weir_span_kind kind = (weir_span_kind)n->spans.kind[span];
    if (kind != WEIR_SPAN_ANNOTATION && kind != WEIR_SPAN_OP) {
        return STEP_NONE;
    }
    weir_name_id name = n->spans.name[span];
    uint8_t *known = &n->known[2 * (size_t)name + (kind == WEIR_SPAN_OP)];
    if (!*known) {
        step_mark mark = step_mark_read(kind, weir_timeline_name(n->t, name));
        *known = (uint8_t)(1 + 2 * (int)mark.kind);
    }
    return (step_kind)(*known / 2);
}

static bool wanted(step_kind kind, bool steps)
{
    return steps ? kind == STEP_SIZED : kind == STEP_RECOMPUTE || kind == STEP_BACKWARD;
}

/* The mark round item i: spans of a lane are in order of start, the longer first. */
static uint32_t parent_of(const item *items, uint32_t i, uint32_t lane_first)
{
    uint32_t p = i == lane_first ? WEIR_NONE : i - 1;
    while (p != WEIR_NONE && items[p].end_ns <= items[i].begin_ns) {
        p = items[p].parent;
    }
    return p;
}

static bool fill_layer(layer *l, const names *n, const weir_lane *lanes, uint32_t lane_count,
                       bool steps)
{
    uint32_t telling = 0; /* backward calls alone recompute nothing: no layer then */
    for (weir_span_id s = n->spans.device_count; s < n->spans.count; s++) {
        step_kind kind = kind_of(n, s);
        l->count += wanted(kind, steps);
        telling += kind == (steps ? STEP_SIZED : STEP_RECOMPUTE);
    }
    l->count = telling ? l->count : 0;
    l->first = calloc((size_t)lane_count + 1, sizeof *l->first);
    l->items = l->count ? calloc(l->count, sizeof *l->items) : NULL;
    if (!l->first || (l->count && !l->items)) {
        return false;
    }
    uint32_t used = 0;
    for (weir_lane_id lane = 0; lane < lane_count; lane++) {
        l->first[lane] = used;
        weir_span_id begin = lanes[lane].first_span, end = begin + lanes[lane].span_count;
        for (weir_span_id s = begin; s < end && lanes[lane].kind == WEIR_LANE_THREAD; s++) {
            if (l->count && wanted(kind_of(n, s), steps)) {
                weir_str name = weir_timeline_name(n->t, n->spans.name[s]);
                l->items[used] = (item){
                    .begin_ns = n->spans.start_ns[s],
                    .end_ns = n->spans.start_ns[s] + n->spans.dur_ns[s],
                    .mark = step_mark_read((weir_span_kind)n->spans.kind[s], name),
                };
                l->items[used].parent = parent_of(l->items, used, l->first[lane]);
                used++;
            }
        }
    }
    l->first[lane_count] = used;
    return true;
}

static bool list_rank_lanes(step_index *index, uint32_t rank_count)
{
    index->rank_first = calloc((size_t)rank_count + 3, sizeof *index->rank_first);
    index->rank_lanes = calloc((size_t)index->lane_count + 1, sizeof *index->rank_lanes);
    if (!index->rank_first || !index->rank_lanes) {
        return false;
    }
    /* Counting sort: counts stand two places on, so that filling leaves the begins in place. */
    const uint32_t *first = index->steps.first;
    uint32_t *next = index->rank_first + 1;
    for (weir_lane_id lane = 0; lane < index->lane_count; lane++) {
        next[index->lanes[lane].rank + 1] += first[lane + 1] > first[lane];
    }
    for (uint32_t r = 0; r < rank_count; r++) {
        next[r + 1] += next[r];
    }
    for (weir_lane_id lane = 0; lane < index->lane_count; lane++) {
        if (first[lane + 1] > first[lane]) {
            index->rank_lanes[next[index->lanes[lane].rank]++] = lane;
        }
    }
    return true;
}

step_index *step_index_new(const weir_timeline *t)
{
    uint32_t rank_count;
    names n = {.t = t, .spans = weir_timeline_spans(t)};
    step_index *index = calloc(1, sizeof *index);
    n.known = calloc(2 * ((size_t)weir_timeline_name_count(t) + 1), 1);
    weir_timeline_ranks(t, &rank_count);
    bool ok = index && n.known;
    if (ok) {
        index->lanes = weir_timeline_lanes(t, &index->lane_count);
        ok = fill_layer(&index->steps, &n, index->lanes, index->lane_count, true) &&
             fill_layer(&index->recomputed, &n, index->lanes, index->lane_count, false) &&
             list_rank_lanes(index, rank_count);
    }
    free(n.known);
    if (!ok) {
        step_index_free(index);
        return NULL;
    }
    return index;
}

void step_index_free(step_index *index)
{
    if (index) {
        free(index->steps.items);
        free(index->steps.first);
        free(index->recomputed.items);
        free(index->recomputed.first);
        free(index->rank_first);
        free(index->rank_lanes);
        free(index);
    }
}

/* The innermost mark of the lane round that moment, WEIR_NONE where there is none. */
static uint32_t find_in_lane(const layer *l, weir_lane_id lane, int64_t moment_ns)
{
    uint32_t low = l->first[lane], high = l->first[lane + 1], begin = low;
    while (low < high) { /* the first that begins after the moment */
        uint32_t middle = low + (high - low) / 2;
        if (l->items[middle].begin_ns <= moment_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    uint32_t i = low == begin ? WEIR_NONE : low - 1;
    while (i != WEIR_NONE && l->items[i].end_ns <= moment_ns) {
        i = l->items[i].parent;
    }
    return i;
}

static uint32_t find_step(const layer *l, weir_lane_id lane, int64_t moment_ns, step_need need)
{
    uint32_t i = find_in_lane(l, lane, moment_ns);
    while (i != WEIR_NONE && !(need == STEP_WITH_TOKENS ? l->items[i].mark.tokens > 0
                                                        : l->items[i].mark.query_tokens > 0)) {
        i = l->items[i].parent;
    }
    return i;
}

const step_mark *step_index_find(const step_index *index, weir_lane_id lane, int64_t moment_ns,
                                 step_need need)
{
    const layer *l = &index->steps;
    if (l->count == 0) {
        return NULL;
    }
    uint32_t best = find_step(l, lane, moment_ns, need);
    weir_rank_id rank = index->lanes[lane].rank;
    for (uint32_t k = index->rank_first[rank]; best == WEIR_NONE && k < index->rank_first[rank + 1];
         k++) {
        best = find_step(l, index->rank_lanes[k], moment_ns, need);
    }
    return best == WEIR_NONE ? NULL : &l->items[best].mark;
}

bool step_index_is_recomputed(const step_index *index, weir_lane_id lane, int64_t moment_ns)
{
    const layer *l = &index->recomputed;
    if (l->count == 0) {
        return false;
    }
    uint32_t i = find_in_lane(l, lane, moment_ns);
    return i != WEIR_NONE && l->items[i].mark.kind == STEP_RECOMPUTE;
}
