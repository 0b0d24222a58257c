#include "match/clock_polish.h"

#include "match/clock.h"
#include "match/clock_fit.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 4,
    MOST_ROWS = 1 << 21, /* more collectives are sampled evenly */
    ENOUGH = 8,          /* so many of the firmest level do without the next */
};

/* One node's end of one collective. */
typedef struct {
    int64_t local_ns, aligned_ns;
    uint32_t entry; /* its rows are first_row[entry] .. first_row[entry + 1] - 1 */
    uint32_t node;
} end_row;

typedef struct {
    const comm_items *items;
    const pair_lists *lists;
    weir_spans spans;
    weir_clock *clocks;
    uint32_t clock_count;
    end_row *rows;
    uint32_t row_count, row_room;
    uint32_t *first_row; /* by entry */
    uint8_t *level;      /* by entry */
    uint32_t entry_count;
    uint32_t *node_first; /* by node, count + 1: its rows in node_rows */
    uint32_t *node_rows;
    clock_point *points;
    int64_t *ends; /* of the members of one node */
} polisher;

static bool spans_nodes(const polisher *p, const align_entry *entry)
{
    const uint32_t *next = p->lists->next;
    uint32_t node = p->items->items[entry->head].node;
    for (uint32_t item = entry->head; item != WEIR_NONE; item = next[item]) {
        if (p->items->items[item].node != node) {
            return true;
        }
    }
    return false;
}

/* Members of merged lists are chained by node: each list of a node was merged as a whole. */
static void add_rows(polisher *p, const align_entry *entry)
{
    const comm_item *items = p->items->items;
    const uint32_t *next = p->lists->next;
    p->first_row[p->entry_count] = p->row_count;
    p->level[p->entry_count] = (uint8_t)align_level(entry);
    for (uint32_t item = entry->head; item != WEIR_NONE;) {
        uint32_t node = items[item].node, n = 0;
        for (; item != WEIR_NONE && items[item].node == node; item = next[item]) {
            weir_span_id s = items[item].span;
            p->ends[n++] = p->spans.start_ns[s] + p->spans.dur_ns[s];
        }
        int64_t local_ns = median_ns(p->ends, n);
        p->rows[p->row_count++] = (end_row){
            .local_ns = local_ns,
            .aligned_ns = clock_to_aligned(&p->clocks[node], local_ns),
            .entry = p->entry_count,
            .node = node,
        };
    }
    p->first_row[++p->entry_count] = p->row_count;
}

/* Lists what tells of clocks; of very many, every so many-th. */
static bool list_rows(polisher *p)
{
    uint64_t entries = 0, rows = 0, seen = 0;
    uint32_t most = 1;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t stride = rows / MOST_ROWS + 1;
        if (pass == 1) {
            p->rows = malloc((rows / stride + most + 1) * sizeof *p->rows);
            p->first_row = malloc((entries + 2) * sizeof *p->first_row);
            p->level = malloc(entries + 1);
            p->ends = malloc(most * sizeof *p->ends);
            if (!p->rows || !p->first_row || !p->level || !p->ends) {
                return false;
            }
            p->row_room = (uint32_t)(rows / stride + most);
        }
        for (uint32_t k = 0; k < p->lists->count; k++) {
            const align_list *list = &p->lists->lists[k];
            for (uint32_t i = 0; i < list->count; i++) {
                const align_entry *entry = &list->entries[i];
                if (align_level(entry) > 1 || !spans_nodes(p, entry)) {
                    continue;
                }
                if (pass == 0) {
                    entries++;
                    rows += entry->count;
                    most = entry->count > most ? entry->count : most;
                } else if (seen++ % stride == 0 && p->row_count + entry->count <= p->row_room) {
                    add_rows(p, entry);
                }
            }
        }
    }
    return true;
}

static bool index_rows(polisher *p)
{
    p->node_first = calloc((size_t)p->clock_count + 2, sizeof *p->node_first);
    p->node_rows = malloc(((size_t)p->row_count + 1) * sizeof *p->node_rows);
    p->points = malloc(((size_t)p->row_count + 1) * sizeof *p->points);
    if (!p->node_first || !p->node_rows || !p->points) {
        return false;
    }
    for (uint32_t r = 0; r < p->row_count; r++) {
        p->node_first[p->rows[r].node + 2]++;
    }
    for (uint32_t n = 0; n < p->clock_count; n++) {
        p->node_first[n + 2] += p->node_first[n + 1];
    }
    for (uint32_t r = 0; r < p->row_count; r++) {
        p->node_rows[p->node_first[p->rows[r].node + 1]++] = r;
    }
    return true;
}

/* What the other nodes of the collective show, on average. */
static int64_t end_of_others(const polisher *p, uint32_t row)
{
    uint32_t entry = p->rows[row].entry;
    int64_t base = p->rows[row].aligned_ns, sum = 0, n = 0;
    for (uint32_t r = p->first_row[entry]; r < p->first_row[entry + 1]; r++) {
        if (p->rows[r].node != p->rows[row].node) {
            sum += p->rows[r].aligned_ns - base;
            n++;
        }
    }
    return n ? base + sum / n : base;
}

/* The clock after the correction: both are straight lines. */
static void correct_clock(weir_clock *clock, const clock_fit *fit)
{
    int64_t origin = clock->drift_origin_ns;
    int64_t there = clock_to_aligned(clock, origin);
    clock->offset_ns = clock_fit_apply(fit, there) - origin;
    clock->drift += fit->drift + fit->drift * clock->drift;
    clock->residual_ns = fit->residual_ns;
}

static bool polish_node(polisher *p, uint32_t node)
{
    uint32_t first = p->node_first[node], end = p->node_first[node + 1], firm = 0, count = 0;
    for (uint32_t k = first; k < end; k++) {
        firm += p->level[p->rows[p->node_rows[k]].entry] == 0;
    }
    for (uint32_t k = first; k < end; k++) {
        const end_row *row = &p->rows[p->node_rows[k]];
        if (firm >= ENOUGH && p->level[row->entry] > 0) {
            continue;
        }
        p->points[count++] = (clock_point){
            .at_ns = row->aligned_ns,
            .ahead_ns = end_of_others(p, p->node_rows[k]) - row->aligned_ns,
            .low_ns = INT64_MIN,
            .high_ns = INT64_MAX,
            .level = p->level[row->entry],
        };
    }
    clock_fit fit;
    if (count < ENOUGH) {
        return true; /* the link's own fit is as good */
    }
    if (!clock_fit_points(p->points, count, &fit)) {
        return false;
    }
    correct_clock(&p->clocks[node], &fit);
    for (uint32_t k = first; k < end; k++) {
        end_row *row = &p->rows[p->node_rows[k]];
        row->aligned_ns = clock_to_aligned(&p->clocks[node], row->local_ns);
    }
    return true;
}

weir_code clocks_polish(const weir_timeline *t, const comm_items *items, const pair_lists *lists,
                        const uint32_t *component, weir_clock *clocks, uint32_t count,
                        weir_err *err)
{
    if (count < 3) {
        return WEIR_OK; /* one link: nothing to add to it */
    }
    polisher p = {.items = items,
                  .lists = lists,
                  .spans = weir_timeline_spans(t),
                  .clocks = clocks,
                  .clock_count = count};
    bool done = list_rows(&p) && index_rows(&p);
    for (int round = 0; done && round < ROUNDS; round++) {
        for (uint32_t n = 0; done && n < count; n++) {
            done = component[n] == n || polish_node(&p, n);
        }
    }
    free(p.rows);
    free(p.first_row);
    free(p.level);
    free(p.ends);
    free(p.node_first);
    free(p.node_rows);
    free(p.points);
    return done ? WEIR_OK
                : weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the clocks of %u nodes", count);
}
