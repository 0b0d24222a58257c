#include "ledger/cause_of_late.h"
#include "base/grow.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Kernel time of a step over its median among ranks with the same work: at most 1.5 % above it in
 * all 36 steps of torchrec's a2a_optimizer_3, _5 and qcomm sets (2.4 % below). */
#define LEAST_FACTOR 1.02

static const weir_member *member_of(const ledger_run *run, const weir_instance *i, uint32_t k)
{
    return &run->in->match->members[i->first_member + k];
}

/* What a device did between the previous matched collective of the group and its arrival. */
enum { PART_WAIT, PART_LINK, PART_HOST, PART_WORK, PART_UNSPLIT, PARTS };
typedef struct {
    int64_t ns[PARTS];
} late_parts;

static int part_of(weir_cause cause)
{
    switch (weir_cause_wait(cause)) {
    case WEIR_WAIT_COMPUTE:
    case WEIR_WAIT_CACHE:
        return PART_WORK;
    case WEIR_WAIT_COMMUNICATION:
        return cause == WEIR_CAUSE_COMMUNICATION_UNSPLIT ? PART_UNSPLIT : PART_LINK;
    case WEIR_WAIT_DEPENDENCY:
    case WEIR_WAIT_COUNT:
        break;
    }
    bool waits = cause == WEIR_CAUSE_DEPENDENCY_STRAGGLER || cause == WEIR_CAUSE_DEPENDENCY_BUBBLE;
    return waits ? PART_WAIT : PART_HOST;
}

/* Sums the device's lines between two moments. */
static weir_causes causes_between(const ledger_device *device, int64_t begin, int64_t end)
{
    weir_causes causes = {{0}};
    for (uint32_t i = ledger_line_at(device, begin);
         i < device->line_count && device->lines[i].begin_ns < end; i++) {
        const weir_line *line = &device->lines[i];
        int64_t from = line->begin_ns > begin ? line->begin_ns : begin;
        int64_t to = line->end_ns < end ? line->end_ns : end;
        causes.ns[line->cause] += to - from;
    }
    return causes;
}

/* Quickselect (Hoare, Algorithm 65, 1961): what is smaller moves down, what is larger up, around
 * the value in the middle, until the place of the median stands alone. O(n) unless contrived. */
static int64_t median_of(int64_t *values, uint32_t n)
{
    int64_t low = 0, high = (int64_t)n - 1, place = ((int64_t)n - 1) / 2;
    while (low < high) {
        int64_t pivot = values[low + (high - low) / 2], i = low, k = high;
        while (i <= k) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[k] > pivot) {
                k--;
            }
            if (i <= k) {
                int64_t swap = values[i];
                values[i++] = values[k];
                values[k--] = swap;
            }
        }
        if (place <= k) {
            high = k;
        } else if (place >= i) {
            low = i;
        } else {
            break;
        }
    }
    return n ? values[place] : 0;
}

/* Kernels of one device over a stretch of time, by name and grid. */
typedef struct {
    weir_name_id name;
    uint32_t grid; /* grid and FLOPs, folded: equal work is equal */
    int64_t ns;
    uint32_t count;
} kernel_sum;

static int kernel_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const kernel_sum *x = a, *y = b;
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return (x->grid > y->grid) - (x->grid < y->grid);
}

/* Persistent kernels have one grid whatever their work: FLOPs tell it where shapes are known. */
static uint32_t grid_of(const ledger_run *run, weir_span_id s)
{
    const weir_shape *shape = weir_timeline_shape_of(run->in->timeline, s);
    uint32_t fold = shape ? (shape->grid[0] * 31 + shape->grid[1]) * 31 + shape->grid[2] : 0;
    if (run->in->classes->flop) {
        uint32_t bits;
        memcpy(&bits, &run->in->classes->flop[s], sizeof bits);
        fold = (fold ^ bits) * 0x9e3779b1u;
    }
    return fold;
}

/* The kernels that start in [begin, end), sorted and joined. */
static bool kernels_of(const ledger_run *run, weir_device_id d, int64_t begin, int64_t end,
                       kernel_sum **sums, uint32_t *count)
{
    uint32_t n = 0, capacity = 0;
    for (uint32_t i = 0; i < run->devices[d].lane_count; i++) {
        const weir_lane *lane = &run->lanes[run->devices[d].first_lane + i];
        for (uint32_t s = ledger_first_after(run, lane, begin - 1);
             s < lane->first_span + lane->span_count && run->spans.start_ns[s] < end; s++) {
            if (run->in->classes->cls[s] > WEIR_CLASS_MEMORY) {
                continue;
            }
            if (!weir_grow(sums, n, &capacity, sizeof **sums)) {
                return false;
            }
            (*sums)[n++] =
                (kernel_sum){run->spans.name[s], grid_of(run, s), run->spans.dur_ns[s], 1};
        }
    }
    if (n && !weir_sort(*sums, n, sizeof **sums, kernel_compare, NULL)) {
        return false;
    }
    *count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (*count && kernel_compare(&(*sums)[*count - 1], &(*sums)[i], NULL) == 0) {
            (*sums)[*count - 1].ns += (*sums)[i].ns;
            (*sums)[*count - 1].count++;
        } else {
            (*sums)[(*count)++] = (*sums)[i];
        }
    }
    return true;
}

struct late_memo {
    int64_t begin_ns, end_ns;
    kernel_sum *sums;
    uint32_t count;
    bool is_known;
};

struct late_memo *late_memo_new(uint32_t devices)
{
    return calloc(devices + (size_t)1, sizeof(struct late_memo));
}

void late_memo_free(struct late_memo *memo, uint32_t devices)
{
    for (uint32_t d = 0; memo && d < devices; d++) {
        free(memo[d].sums);
    }
    free(memo);
}

/* NULL: no memory. */
static const struct late_memo *recall_kernels(const ledger_run *run, weir_device_id d,
                                              int64_t begin, int64_t end)
{
    struct late_memo *memo = &run->memo[d];
    if (memo->is_known && memo->begin_ns == begin && memo->end_ns == end) {
        return memo;
    }
    free(memo->sums);
    *memo = (struct late_memo){.begin_ns = begin, .end_ns = end};
    memo->is_known = kernels_of(run, d, begin, end, &memo->sums, &memo->count);
    return memo->is_known ? memo : NULL;
}

/* How the work of a differs from that of b, kernel by kernel. */
typedef struct {
    int64_t same_ns;    /* excess because the same kernels take longer */
    int64_t more_ns;    /* excess because there are more kernels, or larger ones */
    int64_t a_ns, b_ns; /* all of their time */
} work_difference;

/* One name: rows a[0 .. n-1] against b[0 .. m-1], by grid. */
static void name_compare(const kernel_sum *a, uint32_t n, const kernel_sum *b, uint32_t m,
                         work_difference *d)
{
    int64_t x = 0, y = 0, same = 0;
    for (uint32_t i = 0; i < n; i++) {
        x += a[i].ns;
    }
    for (uint32_t k = 0; k < m; k++) {
        y += b[k].ns;
    }
    for (uint32_t i = 0, k = 0; i < n && k < m;) {
        if (a[i].grid == b[k].grid) {
            int64_t both = a[i].count < b[k].count ? a[i].count : b[k].count;
            same += both * (a[i].ns / a[i].count - b[k].ns / b[k].count);
            i++;
            k++;
        } else if (a[i].grid < b[k].grid) {
            i++;
        } else {
            k++;
        }
    }
    d->same_ns += same;
    d->more_ns += x - y - same;
    d->a_ns += x;
    d->b_ns += y;
}

static uint32_t name_end(const kernel_sum *sums, uint32_t from, uint32_t n)
{
    uint32_t end = from + 1;
    while (end < n && sums[end].name == sums[from].name) {
        end++;
    }
    return end;
}

static work_difference work_compare(const kernel_sum *a, uint32_t n, const kernel_sum *b,
                                    uint32_t m)
{
    work_difference d = {0};
    for (uint32_t i = 0, k = 0; i < n || k < m;) {
        bool take_a = i < n && (k == m || a[i].name <= b[k].name);
        bool take_b = k < m && (i == n || b[k].name <= a[i].name);
        uint32_t i_end = take_a ? name_end(a, i, n) : i, k_end = take_b ? name_end(b, k, m) : k;
        name_compare(take_a ? a + i : a, i_end - i, take_b ? b + k : b, k_end - k, &d);
        i = i_end;
        k = k_end;
    }
    return d;
}

/* The step of a device that holds t; all that was recorded where there is none. Kernels are
 * compared over steps, since between two collectives that overlap with computing the members do
 * different things: the early ones have run ahead. */
static void step_around(const ledger_device *device, int64_t t, int64_t *begin, int64_t *end)
{
    *begin = device->first_ns;
    *end = device->last_ns;
    for (uint32_t s = 0; s < device->step_count; s++) {
        if (device->bounds[s] <= t && t < device->bounds[s + 1]) {
            *begin = device->bounds[s];
            *end = device->bounds[s + 1];
        }
    }
}

/* More or larger kernels, or the same ones taking longer? Compared with the median member. */
static bool work_judge(const ledger_run *run, const weir_instance *i, uint32_t late,
                       uint32_t typical, const int64_t *arrival, late_cause *cause)
{
    const struct late_memo *kernels[2] = {NULL, NULL};
    const uint32_t members[2] = {late, typical};
    bool ok = true;
    for (int k = 0; ok && k < 2; k++) {
        weir_device_id d = member_of(run, i, members[k])->device;
        int64_t begin, end;
        step_around(&run->device[d], arrival[members[k]], &begin, &end);
        kernels[k] = recall_kernels(run, d, begin, end);
        ok = kernels[k] != NULL;
    }
    if (ok) {
        work_difference d =
            work_compare(kernels[0]->sums, kernels[0]->count, kernels[1]->sums, kernels[1]->count);
        double factor = d.b_ns > 0 ? (double)d.a_ns / (double)d.b_ns : 1;
        bool alike = factor < LEAST_FACTOR; /* a turn in the schedule, not a fault of the device */
        cause->factor = alike ? 1 : factor;
        cause->reason = alike                   ? WEIR_REASON_UNKNOWN
                        : d.same_ns > d.more_ns ? WEIR_REASON_SLOW_DEVICE
                                                : WEIR_REASON_MORE_WORK;
    }
    return ok;
}

/* The cause in which the late member exceeds a typical one most. */
static weir_cause largest_host_cause(const weir_causes *late, const weir_causes *typical)
{
    weir_cause best = WEIR_CAUSE_DEPENDENCY_UNKNOWN;
    int64_t most = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        int64_t excess = late->ns[c] - typical->ns[c];
        if (part_of((weir_cause)c) == PART_HOST && excess > most) {
            best = (weir_cause)c;
            most = excess;
        }
    }
    return best;
}

/* Idle time without a launch, or behind one, is not the host's. */
static bool is_of_host(weir_cause cause)
{
    return cause != WEIR_CAUSE_DEPENDENCY_UNKNOWN && cause != WEIR_CAUSE_DEPENDENCY_TURNAROUND &&
           cause != WEIR_CAUSE_DEPENDENCY_STREAM && cause != WEIR_CAUSE_DEPENDENCY_TAIL;
}

/* What each member did before it arrived. */
typedef struct {
    weir_causes *causes; /* by member */
    late_parts *parts;   /* by member */
    int64_t *scratch;
    uint32_t count, late;
} comparison;

/* The member other than the late one whose part is the median; the late one where it is alone. */
static uint32_t typical_member(const comparison *c, int part)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->count; k++) {
        if (k != c->late) {
            c->scratch[n++] = c->parts[k].ns[part];
        }
    }
    int64_t median = median_of(c->scratch, n);
    for (uint32_t k = 0; k < c->count; k++) {
        if (k != c->late && c->parts[k].ns[part] == median) {
            return k;
        }
    }
    return c->late;
}

static void members_sum(const ledger_run *run, const weir_instance *instance, const int64_t *begin,
                        const int64_t *end, comparison *c)
{
    for (uint32_t k = 0; k < c->count; k++) {
        const ledger_device *device = &run->device[member_of(run, instance, k)->device];
        c->causes[k] = causes_between(device, begin[k], end[k]);
        for (int cause = 0; cause < WEIR_CAUSE_COUNT; cause++) {
            c->parts[k].ns[part_of((weir_cause)cause)] += c->causes[k].ns[cause];
        }
    }
}

/* The part with the largest excess over a typical member, or PARTS where there is none. */
static int largest_excess(const comparison *c, uint32_t *typical)
{
    int best = PARTS;
    int64_t most = 0;
    for (int p = 0; p < PARTS; p++) {
        uint32_t other = typical_member(c, p);
        int64_t usual = other == c->late ? 0 : c->parts[other].ns[p];
        if (c->parts[c->late].ns[p] - usual > most) {
            most = c->parts[c->late].ns[p] - usual;
            best = p;
            *typical = other;
        }
    }
    return best;
}

/* end: arrivals, by member. false: no memory. */
static bool part_judge(const ledger_run *run, const weir_instance *instance, const comparison *c,
                       const int64_t *end, late_cause *cause)
{
    static const weir_causes nothing;
    uint32_t typical = c->late;
    switch (largest_excess(c, &typical)) {
    case PART_WAIT:
        cause->by_waiting = true;
        break;
    case PART_UNSPLIT:
        cause->reason = WEIR_REASON_ABSENT; /* waiting for whom nobody saw, or a transfer */
        break;
    case PART_LINK:
        cause->reason = WEIR_REASON_SLOW_LINK;
        break;
    case PART_HOST:
        cause->host_cause = largest_host_cause(&c->causes[c->late],
                                               typical == c->late ? &nothing : &c->causes[typical]);
        cause->reason = is_of_host(cause->host_cause) ? WEIR_REASON_LATE_HOST : WEIR_REASON_UNKNOWN;
        break;
    case PART_WORK:
        return typical == c->late || work_judge(run, instance, c->late, typical, end, cause);
    default:
        break;
    }
    return true;
}

weir_code late_explain(const ledger_run *run, const weir_instance *instance, uint32_t late,
                       const int64_t *begin, const int64_t *end, late_cause *cause, weir_err *err)
{
    uint32_t n = instance->member_count;
    comparison c = {.causes = calloc(n + (size_t)1, sizeof *c.causes),
                    .parts = calloc(n + (size_t)1, sizeof *c.parts),
                    .scratch = calloc(n + (size_t)1, sizeof *c.scratch),
                    .count = n,
                    .late = late};
    *cause = (late_cause){.reason = WEIR_REASON_UNKNOWN, .factor = 1};
    bool ok = c.causes && c.parts && c.scratch;
    if (ok) {
        members_sum(run, instance, begin, end, &c);
        ok = part_judge(run, instance, &c, end, cause);
    }
    free(c.causes);
    free(c.parts);
    free(c.scratch);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}
