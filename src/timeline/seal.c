/* Sealing: chunks of spans in order of arrival -> sorted columns. */
#include "base/sort.h"
#include "timeline/tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int lane_compare(const void *a, const void *b, const void *context)
{
    const weir_lane *lanes = context;
    const weir_lane *x = &lanes[*(const uint32_t *)a], *y = &lanes[*(const uint32_t *)b];
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->group != y->group) {
        return x->group < y->group ? -1 : 1;
    }
    return (x->number > y->number) - (x->number < y->number);
}

/* Sorts the lanes and returns old lane -> new lane, or NULL. */
static uint32_t *lanes_order(weir_timeline *t)
{
    uint32_t n = t->lane_count;
    uint32_t *order = malloc((n + (size_t)1) * sizeof *order);
    uint32_t *rows = malloc((n + (size_t)1) * sizeof *rows);
    weir_lane *sorted = malloc((n + (size_t)1) * sizeof *sorted);
    bool ok = order && rows && sorted;
    for (uint32_t i = 0; ok && i < n; i++) {
        order[i] = i;
    }
    ok = ok && weir_sort(order, n, sizeof *order, lane_compare, t->lanes);
    for (uint32_t i = 0; ok && i < n; i++) {
        sorted[i] = t->lanes[order[i]];
        rows[order[i]] = i;
    }
    if (ok && n) {
        memcpy(t->lanes, sorted, n * sizeof *sorted);
    }
    free(order);
    free(sorted);
    if (!ok) {
        free(rows);
        return NULL;
    }
    return rows;
}

/* Counts spans per lane and finds the origin. */
static void lanes_count(weir_timeline *t, const uint32_t *rows)
{
    int64_t origin = INT64_MAX;
    for (span_chunk *c = t->first_chunk; c; c = c->next) {
        for (uint32_t i = 0; i < c->count; i++) {
            c->spans[i].lane = rows[c->spans[i].lane];
            t->lanes[c->spans[i].lane].span_count++;
            origin = c->spans[i].start_ns < origin ? c->spans[i].start_ns : origin;
        }
    }
    t->origin_ns = t->span_count ? origin : 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < t->lane_count; i++) {
        t->lanes[i].first_span = first;
        first += t->lanes[i].span_count;
        if (t->lanes[i].kind == WEIR_LANE_STREAM) {
            t->device_span_count = first;
        }
    }
}

enum { COLUMN_BYTES = 8 + 8 + 5 * 4 + 2 };

static weir_code columns_new(weir_timeline *t, weir_err *err)
{
    size_t n = t->span_count + 1;
    /* The chunks are given back one by one while the columns fill up, so that what is resident
     * stays near one copy; only the difference is asked for. */
    t->start_ns = malloc(n * sizeof *t->start_ns);
    t->dur_ns = malloc(n * sizeof *t->dur_ns);
    t->lane = malloc(n * sizeof *t->lane);
    t->name = malloc(n * sizeof *t->name);
    t->correlation = malloc(n * sizeof *t->correlation);
    t->external = malloc(n * sizeof *t->external);
    t->detail = malloc(n * sizeof *t->detail);
    t->kind = malloc(n);
    t->flags = malloc(n);
    bool ok = t->start_ns && t->dur_ns && t->lane && t->name && t->correlation && t->external &&
              t->detail && t->kind && t->flags;
    return ok ? WEIR_OK : timeline_failed(t, WEIR_ERR_MEMORY, err);
}

static void columns_set(weir_timeline *t, uint32_t at, const weir_new_span *span)
{
    t->start_ns[at] = span->start_ns - t->origin_ns;
    t->dur_ns[at] = span->dur_ns;
    t->lane[at] = span->lane;
    t->name[at] = span->name;
    t->correlation[at] = span->correlation;
    t->external[at] = span->external;
    t->detail[at] = span->detail;
    t->kind[at] = (uint8_t)span->kind;
    t->flags[at] = span->flags;
}

/* Scatters the chunks to their lanes, keeping the order of arrival, and frees them. */
static weir_code columns_fill(weir_timeline *t, weir_err *err)
{
    uint32_t *next = malloc((t->lane_count + (size_t)1) * sizeof *next);
    if (!next) {
        return timeline_failed(t, WEIR_ERR_MEMORY, err);
    }
    for (uint32_t i = 0; i < t->lane_count; i++) {
        next[i] = t->lanes[i].first_span;
    }
    while (t->first_chunk) {
        span_chunk *c = t->first_chunk;
        for (uint32_t i = 0; i < c->count; i++) {
            columns_set(t, next[c->spans[i].lane]++, &c->spans[i]);
        }
        uint64_t columns = (uint64_t)c->count * COLUMN_BYTES;
        uint64_t surplus = sizeof *c > columns ? sizeof *c - columns : 0;
        weir_budget_give(t->budget, surplus);
        t->taken -= surplus;
        t->first_chunk = c->next;
        free(c);
    }
    t->last_chunk = NULL;
    free(next);
    return WEIR_OK;
}

static bool lane_is_sorted(const weir_timeline *t, uint32_t first, uint32_t n)
{
    for (uint32_t i = first + 1; i < first + n; i++) {
        int64_t before = t->start_ns[i - 1], now = t->start_ns[i];
        if (before > now || (before == now && t->dur_ns[i - 1] < t->dur_ns[i])) {
            return false;
        }
    }
    return true;
}

/* Orders the spans that start together: longer first (a parent before its child), else as they
 * came. Few, mostly: insertion sort on short runs, merge sort on long ones. */
static int pair_longer_first(const void *a, const void *b, const void *context)
{
    const int64_t *dur = context;
    int64_t x = dur[((const weir_sort_pair *)a)->value],
            y = dur[((const weir_sort_pair *)b)->value];
    return (x < y) - (x > y);
}

static bool ties_order(const weir_timeline *t, uint32_t first, weir_sort_pair *pairs, uint32_t n)
{
    for (uint32_t a = 0; a < n;) {
        uint32_t b = a + 1;
        while (b < n && pairs[b].key == pairs[a].key) {
            b++;
        }
        if (!weir_sort(pairs + a, b - a, sizeof *pairs, pair_longer_first, t->dur_ns + first)) {
            return false;
        }
        a = b;
    }
    return true;
}

/* column[i] = column[order[i]] for items of size bytes; spare holds n of them. */
static void column_permute(void *column, void *spare, size_t size, const weir_sort_pair *order,
                           uint32_t n)
{
    char *from = column, *to = spare;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(to + i * size, from + order[i].value * size, size);
    }
    memcpy(from, to, n * size);
}

static bool lane_sort(weir_timeline *t, const weir_lane *lane)
{
    uint32_t first = lane->first_span, n = lane->span_count;
    if (lane_is_sorted(t, first, n)) {
        return true;
    }
    weir_sort_pair *order = malloc(n * sizeof *order);
    void *spare = malloc(n * sizeof(int64_t));
    bool ok = order && spare;
    for (uint32_t i = 0; ok && i < n; i++) {
        order[i] = (weir_sort_pair){(uint64_t)t->start_ns[first + i], i};
    }
    ok = ok && weir_sort_pairs(order, n) && ties_order(t, first, order, n);
    if (ok) {
        column_permute(t->start_ns + first, spare, sizeof *t->start_ns, order, n);
        column_permute(t->dur_ns + first, spare, sizeof *t->dur_ns, order, n);
        column_permute(t->name + first, spare, sizeof *t->name, order, n);
        column_permute(t->correlation + first, spare, sizeof *t->correlation, order, n);
        column_permute(t->external + first, spare, sizeof *t->external, order, n);
        column_permute(t->detail + first, spare, sizeof *t->detail, order, n);
        column_permute(t->kind + first, spare, sizeof *t->kind, order, n);
        column_permute(t->flags + first, spare, sizeof *t->flags, order, n);
    }
    free(order);
    free(spare);
    return ok;
}

/* Sums over all spans and over all devices must stay in int64, whatever adds them up later and
 * compares them with tenths: 18 years of all devices together. */
static weir_code sums_check(const weir_timeline *t, weir_err *err)
{
    const uint64_t most = INT64_MAX / 16, day_ns = UINT64_C(86400000000000);
    uint64_t total = 0, last = 0;
    for (uint64_t i = 0; i < t->span_count && total <= most; i++) {
        uint64_t end = (uint64_t)t->start_ns[i] + (uint64_t)t->dur_ns[i];
        total += (uint64_t)t->dur_ns[i];
        last = end > last ? end : last;
    }
    if (total <= most && last <= most / (t->device_count + 1u)) {
        return WEIR_OK;
    }
    return weir_err_set(err, WEIR_ERR_INPUT,
                        "%llu days from the first to the last span on %u devices, or %llu days in "
                        "all spans, are more than can be added up: are the files of one run?",
                        (unsigned long long)(last / day_ns), t->device_count,
                        (unsigned long long)(total / day_ns));
}

static weir_code devices_build(weir_timeline *t, weir_err *err)
{
    t->devices = calloc(t->lane_count + (size_t)1, sizeof *t->devices);
    if (!t->devices) {
        return timeline_failed(t, WEIR_ERR_MEMORY, err);
    }
    for (uint32_t i = 0; i < t->lane_count && t->lanes[i].kind == WEIR_LANE_STREAM; i++) {
        weir_lane *lane = &t->lanes[i];
        bool same = i > 0 && lane[-1].rank == lane->rank && lane[-1].group == lane->group;
        uint32_t times = t->ranks[lane->rank].multiplicity;
        if (!same) {
            t->devices[t->device_count++] = (weir_device){.rank = lane->rank,
                                                          .number = (int32_t)lane->group,
                                                          .first_lane = i,
                                                          .multiplicity = times ? times : 1};
        }
        lane->device = t->device_count - 1;
        t->devices[lane->device].lane_count++;
    }
    return WEIR_OK;
}

static weir_code shapes_build(weir_timeline *t, weir_err *err)
{
    uint32_t n = weir_intern_count(t->shape_keys);
    t->shapes = calloc(n, sizeof *t->shapes);
    if (!t->shapes) {
        return timeline_failed(t, WEIR_ERR_MEMORY, err);
    }
    for (uint32_t i = 1; i < n; i++) {
        memcpy(&t->shapes[i], weir_intern_text(t->shape_keys, i).p, sizeof *t->shapes);
    }
    return WEIR_OK;
}

weir_code weir_timeline_seal(weir_timeline *t, weir_err *err)
{
    assert(!t->sealed);
    uint32_t *rows = lanes_order(t);
    if (!rows) {
        return timeline_failed(t, WEIR_ERR_MEMORY, err);
    }
    lanes_count(t, rows);
    free(rows);
    weir_code code = columns_new(t, err);
    code = code == WEIR_OK ? columns_fill(t, err) : code;
    code = code == WEIR_OK ? devices_build(t, err) : code;
    code = code == WEIR_OK ? shapes_build(t, err) : code;
    code = code == WEIR_OK ? sums_check(t, err) : code;
    for (uint32_t i = 0; code == WEIR_OK && i < t->lane_count; i++) {
        if (!lane_sort(t, &t->lanes[i])) {
            code = timeline_failed(t, WEIR_ERR_MEMORY, err);
        }
        for (uint32_t k = 0; code == WEIR_OK && k < t->lanes[i].span_count; k++) {
            t->lane[t->lanes[i].first_span + k] = i;
        }
    }
    t->sealed = code == WEIR_OK;
    return code;
}
