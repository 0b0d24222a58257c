/* Who is waited for, since when the lateness goes back, and why (DESIGN 2.5). */
#include "base/sort.h"
#include "ledger/cause_of_late.h"
#include "ledger/run.h"

#include <stdlib.h>
#include <string.h>

/* What is known of the lateness in one instance. */
typedef struct {
    int64_t waited_ns;             /* exposed waiting in the window, over all devices */
    bool exposed;                  /* somebody waited exposed, in the window or before */
    weir_device_id blamed, origin; /* WEIR_NONE: absent or unknown */
    weir_reason reason;
    weir_cause host_cause;
    double factor;
} verdict;

typedef struct {
    ledger_run *run;
    verdict *verdicts; /* by instance */
    /* by device: the last instance of each group that it was a member of, so far */
    uint32_t
        *previous; /* by member row: the row of the same device in the group's instance before */
    int64_t *begin, *end; /* room for the largest instance */
} blame;

/* Sums the exposed waiting of each instance over the windows of all devices. */
static void waits_sum(blame *b)
{
    const ledger_run *run = b->run;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const ledger_device *device = &run->device[d];
        for (uint32_t i = 0; i < device->line_count; i++) {
            const weir_line *line = &device->lines[i];
            bool waits = line->cause == WEIR_CAUSE_DEPENDENCY_STRAGGLER ||
                         line->cause == WEIR_CAUSE_DEPENDENCY_BUBBLE;
            if (!waits || line->instance == WEIR_NONE) {
                continue;
            }
            b->verdicts[line->instance].exposed = true;
            b->verdicts[line->instance].waited_ns +=
                ledger_in_window(device, line) * run->devices[d].multiplicity;
        }
    }
}

typedef struct {
    uint64_t group; /* group and message flag */
    weir_device_id device;
    int64_t arrival_ns;
    uint32_t row;
} member_key;

static int member_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const member_key *x = a, *y = b;
    if (x->group != y->group) {
        return x->group < y->group ? -1 : 1;
    }
    if (x->device != y->device) {
        return x->device < y->device ? -1 : 1;
    }
    if (x->arrival_ns != y->arrival_ns) {
        return x->arrival_ns < y->arrival_ns ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

static weir_code previous_find(blame *b, weir_err *err)
{
    const ledger_run *run = b->run;
    const weir_match *m = run->in->match;
    member_key *keys = malloc((m->member_count + (size_t)1) * sizeof *keys);
    b->previous = malloc((m->member_count + (size_t)1) * sizeof *b->previous);
    if (!keys || !b->previous) {
        free(keys);
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < m->member_count; i++) {
        const weir_instance *instance = &m->instances[m->members[i].instance];
        keys[i] = (member_key){(uint64_t)instance->group << 1 | instance->is_message,
                               m->members[i].device, run->spans.start_ns[m->members[i].span], i};
    }
    bool ok = weir_sort(keys, m->member_count, sizeof *keys, member_compare, NULL);
    for (uint32_t i = 0; ok && i < m->member_count; i++) {
        bool same = i && keys[i - 1].group == keys[i].group && keys[i - 1].device == keys[i].device;
        b->previous[keys[i].row] = same ? keys[i - 1].row : WEIR_NONE;
    }
    free(keys);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}

/* The interval of each member: from the end of the group's collective before, or from the first
 * activity of the device where there is none, to its arrival. */
static void intervals_find(blame *b, const weir_instance *instance)
{
    const ledger_run *run = b->run;
    const weir_match *m = run->in->match;
    for (uint32_t k = 0; k < instance->member_count; k++) {
        uint32_t row = instance->first_member + k, before = b->previous[row];
        int64_t first = run->device[m->members[row].device].first_ns;
        b->end[k] = run->spans.start_ns[m->members[row].span];
        b->begin[k] = before == WEIR_NONE ? first : ledger_end(run, m->members[before].span);
    }
}

/* For whom a device waited longest between two moments: the verdict of the instance in which it
 * waited most for that origin; NULL where it waited for nobody known. Instances before `before`
 * have their verdicts. */
static const verdict *waited_most_for(const blame *b, weir_device_id d, int64_t begin, int64_t end,
                                      uint32_t before)
{
    enum { ORIGINS = 64 };
    struct {
        const verdict *v;
        int64_t ns;
    } sums[ORIGINS];
    uint32_t n = 0, best = 0;
    const ledger_device *device = &b->run->device[d];
    for (uint32_t i = ledger_line_at(device, begin);
         i < device->line_count && device->lines[i].begin_ns < end; i++) {
        const weir_line *line = &device->lines[i];
        bool waits = line->cause == WEIR_CAUSE_DEPENDENCY_STRAGGLER ||
                     line->cause == WEIR_CAUSE_DEPENDENCY_BUBBLE;
        if (!waits || line->instance == WEIR_NONE || line->instance >= before) {
            continue;
        }
        const verdict *v = &b->verdicts[line->instance];
        uint32_t k = 0;
        while (k < n && sums[k].v->origin != v->origin) {
            k++;
        }
        if (k == n && n < ORIGINS) {
            sums[n].v = v;
            sums[n++].ns = 0;
        }
        if (k < n) {
            int64_t from = line->begin_ns > begin ? line->begin_ns : begin;
            int64_t to = line->end_ns < end ? line->end_ns : end;
            sums[k].ns += to - from;
            best = sums[k].ns > sums[best].ns ? k : best;
        }
    }
    return n ? sums[best].v : NULL;
}

static weir_code instance_judge(blame *b, uint32_t id, weir_err *err)
{
    const ledger_run *run = b->run;
    const weir_instance *instance = &run->in->match->instances[id];
    verdict *v = &b->verdicts[id];
    if (!run->last_is_seen[id]) { /* somebody who is absent may have come later */
        v->reason = WEIR_REASON_ABSENT;
        return WEIR_OK;
    }
    v->blamed = run->in->match->members[instance->last_member].device;
    v->origin = v->blamed;
    if (!v->exposed) {
        return WEIR_OK;
    }
    intervals_find(b, instance);
    late_cause cause;
    weir_code code = late_explain(run, instance, instance->last_member - instance->first_member,
                                  b->begin, b->end, &cause, err);
    if (code != WEIR_OK) {
        return code;
    }
    v->reason = cause.reason;
    v->factor = cause.factor;
    v->host_cause = cause.host_cause;
    uint32_t late = instance->last_member - instance->first_member;
    const verdict *from =
        cause.by_waiting ? waited_most_for(b, v->blamed, b->begin[late], b->end[late], id) : NULL;
    if (from) { /* judged already: the chain goes on */
        v->reason = from->reason;
        v->factor = from->factor;
        v->host_cause = from->host_cause;
        v->origin = from->origin;
    }
    if (v->reason == WEIR_REASON_ABSENT) {
        v->origin = WEIR_NONE;
    }
    return WEIR_OK;
}

/* --- rows --- */

typedef struct {
    weir_device_id blamed, origin;
    const char *axis;
    weir_reason reason;
    weir_cause host_cause;
    double weighted_factor; /* sum of factor * ns */
    int64_t ns;
    uint32_t instances;
} row;

/* Same rank, origin and axis, then reason and host cause. */
static int row_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const row *x = a, *y = b;
    if (x->blamed != y->blamed) {
        return x->blamed < y->blamed ? -1 : 1;
    }
    if (x->origin != y->origin) {
        return x->origin < y->origin ? -1 : 1;
    }
    int axis = strcmp(x->axis, y->axis);
    if (axis) {
        return axis;
    }
    if (x->reason != y->reason) {
        return x->reason < y->reason ? -1 : 1;
    }
    return (x->host_cause > y->host_cause) - (x->host_cause < y->host_cause);
}

static bool same_place(const row *x, const row *y)
{
    return x->blamed == y->blamed && x->origin == y->origin && strcmp(x->axis, y->axis) == 0;
}

/* Joins rows of one place; the reason that most of the waiting has speaks for all. rows are sorted.
 */
static uint32_t rows_join(row *rows, uint32_t n)
{
    uint32_t out = 0;
    for (uint32_t a = 0; a < n;) {
        row sum = rows[a], best = {0}, part = {0};
        sum.ns = 0;
        sum.instances = 0;
        uint32_t b = a;
        for (; b < n && same_place(&rows[a], &rows[b]); b++) {
            bool fresh = b == a || row_compare(&rows[b - 1], &rows[b], NULL) != 0;
            part = fresh ? rows[b] : part;
            if (!fresh) {
                part.ns += rows[b].ns;
                part.weighted_factor += rows[b].weighted_factor;
            }
            sum.ns += rows[b].ns;
            sum.instances += rows[b].instances;
            best = part.ns > best.ns ? part : best;
        }
        sum.reason = best.reason;
        sum.host_cause = best.host_cause;
        sum.weighted_factor = best.ns ? best.weighted_factor / (double)best.ns : 1;
        rows[out++] = sum;
        a = b;
    }
    return out;
}

static int straggler_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_straggler_row *x = a, *y = b;
    if (x->waited_for_ns != y->waited_for_ns) {
        return x->waited_for_ns > y->waited_for_ns ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int32_t rank_number(const ledger_run *run, weir_device_id d)
{
    return d == WEIR_NONE ? -1 : run->ranks[run->devices[d].rank].number;
}

static weir_code rows_publish(blame *b, const row *rows, uint32_t n, weir_err *err)
{
    const ledger_run *run = b->run;
    weir_result *r = run->result;
    r->stragglers = weir_arena_alloc(r->arena, n + (size_t)1, sizeof *r->stragglers);
    if (!r->stragglers) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool scaled =
            rows[i].reason == WEIR_REASON_SLOW_DEVICE || rows[i].reason == WEIR_REASON_MORE_WORK;
        r->stragglers[i] = (weir_straggler_row){
            .rank = rank_number(run, rows[i].blamed),
            .device = rows[i].blamed == WEIR_NONE ? -1 : run->devices[rows[i].blamed].number,
            .node = rows[i].blamed == WEIR_NONE
                        ? ""
                        : ledger_node_name(run, run->devices[rows[i].blamed].rank),
            .axis = rows[i].axis,
            .origin_rank = rank_number(run, rows[i].origin),
            .waited_for_ns = rows[i].ns,
            .reason = rows[i].reason,
            .factor = scaled ? rows[i].weighted_factor : 1,
            .has_host_cause = rows[i].reason == WEIR_REASON_LATE_HOST,
            .host_cause = rows[i].host_cause,
            .instances = rows[i].instances,
        };
    }
    r->straggler_count = n;
    return weir_sort(r->stragglers, n, sizeof *r->stragglers, straggler_compare, NULL)
               ? WEIR_OK
               : LEDGER_NO_MEMORY(err);
}

static weir_code rows_make(blame *b, weir_err *err)
{
    const weir_match *m = b->run->in->match;
    row *rows = malloc((m->instance_count + (size_t)1) * sizeof *rows);
    if (!rows) {
        return LEDGER_NO_MEMORY(err);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->instance_count; i++) {
        const verdict *v = &b->verdicts[i];
        if (v->waited_ns > 0) {
            rows[n++] = (row){.blamed = v->blamed,
                              .origin = v->origin,
                              .axis = ledger_axis(b->run, &m->instances[i]),
                              .reason = v->reason,
                              .host_cause = v->host_cause,
                              .weighted_factor = v->factor * (double)v->waited_ns,
                              .ns = v->waited_ns,
                              .instances = ledger_times(b->run, i)};
        }
    }
    weir_code code =
        weir_sort(rows, n, sizeof *rows, row_compare, NULL) ? WEIR_OK : LEDGER_NO_MEMORY(err);
    if (code == WEIR_OK) {
        code = rows_publish(b, rows, rows_join(rows, n), err);
    }
    free(rows);
    return code;
}

weir_code ledger_blame(ledger_run *run, weir_err *err)
{
    const weir_match *m = run->in->match;
    blame b = {.run = run};
    uint32_t largest = 0;
    for (uint32_t i = 0; i < m->instance_count; i++) {
        largest = m->instances[i].member_count > largest ? m->instances[i].member_count : largest;
    }
    run->memo = late_memo_new(run->device_count);
    b.verdicts = calloc(m->instance_count + (size_t)1, sizeof *b.verdicts);
    b.begin = malloc((largest + (size_t)1) * sizeof *b.begin);
    b.end = malloc((largest + (size_t)1) * sizeof *b.end);
    weir_code code = run->memo && b.verdicts && b.begin && b.end ? WEIR_OK : LEDGER_NO_MEMORY(err);
    for (uint32_t i = 0; code == WEIR_OK && i < m->instance_count; i++) {
        b.verdicts[i] = (verdict){.blamed = WEIR_NONE,
                                  .origin = WEIR_NONE,
                                  .factor = 1,
                                  .host_cause = WEIR_CAUSE_DEPENDENCY_UNKNOWN};
    }
    code = code == WEIR_OK ? previous_find(&b, err) : code;
    if (code == WEIR_OK) {
        waits_sum(&b);
    }
    for (uint32_t i = 0; code == WEIR_OK && i < m->instance_count; i++) {
        code = instance_judge(&b, i, err);
    }
    code = code == WEIR_OK ? rows_make(&b, err) : code;
    free(b.verdicts);
    free(b.previous);
    free(b.begin);
    free(b.end);
    return code;
}
