#include "match/launch.h"

#include "base/sort.h"

#include <stdlib.h>

/* The runtime spans of one rank, by (correlation, id). Profilers number calls upwards, so that a
 * table of starts over the range of numbers is usually small; else rows are searched. */
typedef struct {
    uint32_t first_row, row_count;
    uint32_t low, high; /* correlations seen; low > high: none */
    uint32_t *start;    /* by correlation - low: first row; NULL = search */
} rank_rows;

struct launch_index {
    uint32_t rank_count;
    rank_rows *ranks;
    const int64_t *start_ns;
    uint32_t *correlation; /* by row */
    weir_span_id *span;    /* by row */
};

typedef void (*visit_fn)(launch_index *index, weir_rank_id rank, weir_span_id span,
                         uint32_t number);

/* Calls visit for each runtime span with a correlation, in order of span id. */
static void for_each_call(const weir_timeline *t, launch_index *index, visit_fn visit)
{
    weir_spans spans = weir_timeline_spans(t);
    uint32_t lane_count;
    const weir_lane *lanes = weir_timeline_lanes(t, &lane_count);
    for (uint32_t l = 0; l < lane_count; l++) {
        if (lanes[l].kind != WEIR_LANE_THREAD || lanes[l].rank >= index->rank_count) {
            continue;
        }
        weir_span_id end = lanes[l].first_span + lanes[l].span_count;
        for (weir_span_id s = lanes[l].first_span; s < end; s++) {
            if (spans.kind[s] == WEIR_SPAN_RUNTIME && spans.correlation[s] != 0) {
                visit(index, lanes[l].rank, s, spans.correlation[s]);
            }
        }
    }
}

static void count_call(launch_index *index, weir_rank_id rank, weir_span_id span, uint32_t number)
{
    (void)span;
    rank_rows *r = &index->ranks[rank];
    r->row_count++;
    r->low = number < r->low ? number : r->low;
    r->high = number > r->high ? number : r->high;
}

static void place_call(launch_index *index, weir_rank_id rank, weir_span_id span, uint32_t number)
{
    rank_rows *r = &index->ranks[rank];
    uint32_t row = r->first_row + r->row_count++;
    index->correlation[row] = number;
    index->span[row] = span;
}

/* Counting sort of the rows of one rank over the range of its correlations. */
static bool sort_dense(launch_index *index, rank_rows *r)
{
    size_t range = (size_t)(r->high - r->low) + 1;
    uint32_t *start = calloc(range + 1, sizeof *start);
    weir_span_id *span = malloc(r->row_count * sizeof *span);
    uint32_t *number = malloc(r->row_count * sizeof *number);
    if (!start || !span || !number) {
        free(start);
        free(span);
        free(number);
        return false;
    }
    const uint32_t *old_number = index->correlation + r->first_row;
    const weir_span_id *old_span = index->span + r->first_row;
    for (uint32_t i = 0; i < r->row_count; i++) {
        start[old_number[i] - r->low + 1]++;
    }
    for (size_t c = 0; c < range; c++) {
        start[c + 1] += start[c];
    }
    for (uint32_t i = 0; i < r->row_count; i++) {
        uint32_t at = start[old_number[i] - r->low]++;
        number[at] = old_number[i];
        span[at] = old_span[i];
    }
    for (size_t c = range; c > 0; c--) { /* the fill moved each start to its end */
        start[c] = start[c - 1];
    }
    start[0] = 0;
    for (uint32_t i = 0; i < r->row_count; i++) {
        index->correlation[r->first_row + i] = number[i];
        index->span[r->first_row + i] = span[i];
    }
    free(span);
    free(number);
    r->start = start;
    return true;
}

static int compare_calls(const void *a, const void *b, const void *context)
{
    (void)context;
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool sort_sparse(launch_index *index, const rank_rows *r)
{
    uint64_t *keys = malloc(r->row_count * sizeof *keys);
    if (!keys) {
        return false;
    }
    for (uint32_t i = 0; i < r->row_count; i++) {
        keys[i] =
            (uint64_t)index->correlation[r->first_row + i] << 32 | index->span[r->first_row + i];
    }
    bool done = weir_sort(keys, r->row_count, sizeof *keys, compare_calls, NULL);
    for (uint32_t i = 0; done && i < r->row_count; i++) {
        index->correlation[r->first_row + i] = (uint32_t)(keys[i] >> 32);
        index->span[r->first_row + i] = (uint32_t)keys[i];
    }
    free(keys);
    return done;
}

static int compare_starts(const void *a, const void *b, const void *context)
{
    const int64_t *start_ns = context;
    int64_t x = start_ns[*(const weir_span_id *)a], y = start_ns[*(const weir_span_id *)b];
    return (x > y) - (x < y);
}

/* Calls that share a correlation, by start: the one before a moment is found by halving. */
static bool sort_runs(launch_index *index, const rank_rows *r)
{
    uint32_t end = r->first_row + r->row_count;
    for (uint32_t a = r->first_row; a < end;) {
        uint32_t b = a + 1;
        while (b < end && index->correlation[b] == index->correlation[a]) {
            b++;
        }
        if (!weir_sort(index->span + a, b - a, sizeof *index->span, compare_starts,
                       index->start_ns)) {
            return false;
        }
        a = b;
    }
    return true;
}

static bool sort_ranks(launch_index *index)
{
    for (uint32_t i = 0; i < index->rank_count; i++) {
        rank_rows *r = &index->ranks[i];
        if (r->row_count == 0) {
            continue;
        }
        bool dense = (uint64_t)(r->high - r->low) < 4 * (uint64_t)r->row_count + 1024;
        if (!(dense ? sort_dense(index, r) : sort_sparse(index, r)) || !sort_runs(index, r)) {
            return false;
        }
    }
    return true;
}

launch_index *launch_index_new(const weir_timeline *t)
{
    launch_index *index = calloc(1, sizeof *index);
    if (!index) {
        return NULL;
    }
    weir_timeline_ranks(t, &index->rank_count);
    index->start_ns = weir_timeline_spans(t).start_ns;
    index->ranks = calloc((size_t)index->rank_count + 1, sizeof *index->ranks);
    if (!index->ranks) {
        goto failed;
    }
    for (uint32_t i = 0; i < index->rank_count; i++) {
        index->ranks[i].low = UINT32_MAX;
    }
    for_each_call(t, index, count_call);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < index->rank_count; i++) {
        index->ranks[i].first_row = rows;
        rows += index->ranks[i].row_count;
        index->ranks[i].row_count = 0;
    }
    index->correlation = malloc(((size_t)rows + 1) * sizeof *index->correlation);
    index->span = malloc(((size_t)rows + 1) * sizeof *index->span);
    if (!index->correlation || !index->span) {
        goto failed;
    }
    for_each_call(t, index, place_call);
    if (!sort_ranks(index)) {
        goto failed;
    }
    return index;

failed:
    launch_index_free(index);
    return NULL;
}

void launch_index_free(launch_index *index)
{
    if (!index) {
        return;
    }
    for (uint32_t i = 0; index->ranks && i < index->rank_count; i++) {
        free(index->ranks[i].start);
    }
    free(index->ranks);
    free(index->correlation);
    free(index->span);
    free(index);
}

/* The first row whose correlation is not smaller. */
static uint32_t lower_row(const launch_index *index, const rank_rows *r, uint64_t correlation)
{
    uint32_t low = r->first_row, high = r->first_row + r->row_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->correlation[middle] < correlation) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first of the rows low .. high-1 (by start) that starts later than, or not before, a moment.
 */
static uint32_t row_after(const launch_index *index, uint32_t low, uint32_t high, int64_t moment_ns,
                          bool or_at)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int64_t start = index->start_ns[index->span[middle]];
        if (start < moment_ns || (start == moment_ns && !or_at)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

weir_span_id launch_find(const launch_index *index, weir_rank_id rank, uint32_t correlation,
                         int64_t before_ns)
{
    if (correlation == 0 || rank >= index->rank_count) {
        return WEIR_NONE;
    }
    const rank_rows *r = &index->ranks[rank];
    if (r->row_count == 0 || correlation < r->low || correlation > r->high) {
        return WEIR_NONE;
    }
    uint32_t row =
        r->start ? r->first_row + r->start[correlation - r->low] : lower_row(index, r, correlation);
    uint32_t end = r->start ? r->first_row + r->start[correlation - r->low + 1]
                            : lower_row(index, r, (uint64_t)correlation + 1);
    if (row == end) {
        return WEIR_NONE;
    }
    if (row + 1 == end) {
        return index->span[row];
    }
    uint32_t after = row_after(index, row, end, before_ns, false);
    if (after == row) { /* all start later: the clocks disagree */
        return index->span[row];
    }
    int64_t latest = index->start_ns[index->span[after - 1]];
    return index->span[row_after(index, row, after, latest, true)];
}

void launch_link(const weir_timeline *t, const launch_index *index, weir_span_id *launch)
{
    weir_spans spans = weir_timeline_spans(t);
    uint32_t lane_count;
    const weir_lane *lanes = weir_timeline_lanes(t, &lane_count);
    for (uint32_t s = 0; s < spans.device_count; s++) {
        weir_rank_id rank = lanes[spans.lane[s]].rank;
        launch[s] = launch_find(index, rank, spans.correlation[s], spans.start_ns[s]);
    }
}
