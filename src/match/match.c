#include "match/match.h"

#include "match/clock.h"
#include "match/clock_polish.h"
#include "match/instances.h"
#include "match/items.h"
#include "match/launch.h"
#include "match/pairing.h"

#include <stdlib.h>
#include <string.h>

static weir_code no_memory(weir_err *err)
{
    return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to match the spans of the timeline");
}

/* One clock for each node, in the order of the ranks. */
static bool list_clocks(const weir_timeline *t, weir_match *m)
{
    uint32_t rank_count;
    const weir_rank *ranks = weir_timeline_ranks(t, &rank_count);
    m->clocks = calloc((size_t)rank_count + 1, sizeof *m->clocks);
    m->clock_of_rank = calloc((size_t)rank_count + 1, sizeof *m->clock_of_rank);
    uint32_t *clock_of_name = malloc(((size_t)weir_timeline_name_count(t) + 1) * sizeof(uint32_t));
    if (!m->clocks || !m->clock_of_rank || !clock_of_name) {
        free(clock_of_name);
        return false;
    }
    memset(clock_of_name, 0xff, ((size_t)weir_timeline_name_count(t) + 1) * sizeof(uint32_t));
    for (uint32_t r = 0; r < rank_count; r++) {
        uint32_t *clock = &clock_of_name[ranks[r].node];
        if (*clock == WEIR_NONE) {
            *clock = m->clock_count;
            m->clocks[m->clock_count++].node = ranks[r].node;
        }
        m->clock_of_rank[r] = *clock;
    }
    free(clock_of_name);
    return true;
}

static weir_code link_launches(const weir_timeline *t, weir_match *m, weir_err *err)
{
    size_t count = (size_t)weir_timeline_spans(t).device_count + 1;
    m->launch = malloc(count * sizeof *m->launch);
    m->instance_of_span = malloc(count * sizeof *m->instance_of_span);
    m->member_of_span = malloc(count * sizeof *m->member_of_span);
    launch_index *index = launch_index_new(t);
    if (!m->launch || !m->instance_of_span || !m->member_of_span || !index) {
        launch_index_free(index);
        return no_memory(err);
    }
    memset(m->instance_of_span, 0xff, count * sizeof *m->instance_of_span);
    memset(m->member_of_span, 0xff, count * sizeof *m->member_of_span);
    launch_link(t, index, m->launch);
    weir_code code = launch_edges(t, index, m->launch, &m->edges, &m->edge_count, err);
    launch_index_free(index);
    return code;
}

/* From here on, items and lists are on the aligned clock. */
static void align_times(const weir_clock *clocks, comm_items *items, pair_lists *lists)
{
    for (uint32_t i = 0; i < items->item_count; i++) {
        comm_item *item = &items->items[i];
        item->start_ns = clock_to_aligned(&clocks[item->node], item->start_ns);
        item->end_ns = clock_to_aligned(&clocks[item->node], item->end_ns);
    }
    for (uint32_t k = 0; k < lists->count; k++) {
        const weir_clock *clock = &clocks[lists->lists[k].node];
        for (uint32_t i = 0; i < lists->lists[k].count; i++) {
            align_entry *entry = &lists->lists[k].entries[i];
            entry->arrival_ns = clock_to_aligned(clock, entry->arrival_ns);
            entry->first_end_ns = clock_to_aligned(clock, entry->first_end_ns);
            entry->end_ns = clock_to_aligned(clock, entry->end_ns);
            entry->anchor_ns = clock_to_aligned(clock, entry->anchor_ns);
        }
    }
}

/* The clocks have changed: times anew from the spans; entries have their members already. */
static void realign_times(const weir_timeline *t, const weir_clock *clocks, comm_items *items,
                          pair_lists *lists)
{
    weir_spans spans = weir_timeline_spans(t);
    for (uint32_t i = 0; i < items->item_count; i++) {
        comm_item *item = &items->items[i];
        int64_t start_ns = spans.start_ns[item->span];
        item->start_ns = clock_to_aligned(&clocks[item->node], start_ns);
        item->end_ns = clock_to_aligned(&clocks[item->node], start_ns + spans.dur_ns[item->span]);
    }
    for (uint32_t k = 0; k < lists->count; k++) {
        for (uint32_t i = 0; i < lists->lists[k].count; i++) {
            pair_set_times(items, lists, &lists->lists[k].entries[i]);
        }
    }
}

/* What is said of all clocks together. */
static bool sum_up_clocks(const comm_items *items, weir_match *m)
{
    bool *talks = calloc((size_t)m->clock_count + 1, sizeof *talks);
    if (!talks) {
        return false;
    }
    for (uint32_t i = 0; i < items->item_count; i++) {
        talks[items->items[i].node] = true;
    }
    m->aligned = true;
    for (uint32_t c = 0; c < m->clock_count; c++) {
        const weir_clock *clock = &m->clocks[c];
        if (!clock->linked) {
            m->unlinked_count++;
            m->aligned = m->aligned && !talks[c];
            continue;
        }
        int64_t offset_ns = clock->offset_ns < 0 ? -clock->offset_ns : clock->offset_ns;
        m->max_offset_ns = offset_ns > m->max_offset_ns ? offset_ns : m->max_offset_ns;
        m->residual_ns = clock->residual_ns > m->residual_ns ? clock->residual_ns : m->residual_ns;
    }
    free(talks);
    return true;
}

static weir_code pair_collectives(const weir_timeline *t, const weir_match_options *options,
                                  weir_match *m, weir_err *err)
{
    comm_items items = {0};
    pair_lists lists = {0};
    size_t room = (size_t)m->clock_count + 1;
    uint32_t *component = calloc(room, sizeof *component);
    int64_t *residual_ns = calloc(room, sizeof *residual_ns);
    weir_code code = component && residual_ns ? WEIR_OK : no_memory(err);
    if (code == WEIR_OK) {
        code = items_collect(t, options, m->launch, m->clock_of_rank, &items, err);
    }
    if (code == WEIR_OK) {
        code = pair_in_nodes(&items, &lists, err);
    }
    if (code == WEIR_OK) {
        code = clocks_align(&items, &lists, options->threads, m->clocks, component, m->clock_count,
                            err);
    }
    if (code == WEIR_OK) {
        align_times(m->clocks, &items, &lists);
        for (uint32_t c = 0; c < m->clock_count; c++) {
            residual_ns[c] = m->clocks[c].residual_ns;
        }
        code = pair_over_nodes(&items, component, residual_ns, &lists, err);
    }
    if (code == WEIR_OK) {
        code = clocks_polish(t, &items, &lists, component, m->clocks, m->clock_count, err);
    }
    if (code == WEIR_OK) {
        realign_times(t, m->clocks, &items, &lists);
    }
    if (code == WEIR_OK) {
        code = sum_up_clocks(&items, m) ? WEIR_OK : no_memory(err);
    }
    if (code == WEIR_OK) {
        code = instances_build(&items, &lists, component, m, err);
    }
    pair_lists_clear(&lists);
    items_clear(&items);
    free(component);
    free(residual_ns);
    return code;
}

weir_code weir_match_build(const weir_timeline *t, const weir_match_options *options,
                           weir_match *match, weir_err *err)
{
    weir_match m = {0};
    weir_code code = list_clocks(t, &m) ? link_launches(t, &m, err) : no_memory(err);
    if (code == WEIR_OK) {
        code = pair_collectives(t, options, &m, err);
    }
    if (code != WEIR_OK) {
        weir_match_clear(&m);
        return code;
    }
    *match = m;
    return WEIR_OK;
}

void weir_match_clear(weir_match *match)
{
    free(match->clocks);
    free(match->clock_of_rank);
    free(match->launch);
    free(match->instance_of_span);
    free(match->member_of_span);
    free(match->instances);
    free(match->members);
    free(match->edges);
    memset(match, 0, sizeof *match);
}

int64_t weir_match_to_aligned(const weir_match *m, weir_rank_id rank, int64_t local_ns)
{
    return clock_to_aligned(&m->clocks[m->clock_of_rank[rank]], local_ns);
}

int64_t weir_match_to_local(const weir_match *m, weir_rank_id rank, int64_t aligned_ns)
{
    return clock_to_local(&m->clocks[m->clock_of_rank[rank]], aligned_ns);
}
