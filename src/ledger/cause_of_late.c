#include "ledger/cause_of_late.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static const weir_member *member_of(const ledger_run *run, const weir_instance *i, uint32_t k)
{
    return &run->in->match->members[i->first_member + k];
}

static int64_t *part_of(late_parts *p, weir_cause cause)
{
    switch (weir_cause_wait(cause)) {
    case WEIR_WAIT_COMPUTE:
    case WEIR_WAIT_CACHE:
        return &p->work_ns;
    case WEIR_WAIT_COMMUNICATION:
        return &p->link_ns;
    case WEIR_WAIT_DEPENDENCY:
    case WEIR_WAIT_COUNT:
        break;
    }
    bool waits = cause == WEIR_CAUSE_DEPENDENCY_STRAGGLER || cause == WEIR_CAUSE_DEPENDENCY_BUBBLE;
    return waits ? &p->wait_ns : &p->host_ns;
}

/* Sums the device's lines between two moments; causes may be NULL. */
static late_parts parts_between(const ledger_device *device, int64_t begin, int64_t end,
                                weir_causes *causes)
{
    late_parts p = {0};
    for (uint32_t i = ledger_line_at(device, begin);
         i < device->line_count && device->lines[i].begin_ns < end; i++) {
        const weir_line *line = &device->lines[i];
        int64_t from = line->begin_ns > begin ? line->begin_ns : begin;
        int64_t to = line->end_ns < end ? line->end_ns : end;
        *part_of(&p, (weir_cause)line->cause) += to - from;
        if (causes) {
            causes->ns[line->cause] += to - from;
        }
    }
    return p;
}

static int64_t median_of(int64_t *values, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) { /* groups are small; large ones cost little beside a sweep */
        int64_t v = values[i];
        uint32_t k = i;
        for (; k > 0 && values[k - 1] > v; k--) {
            values[k] = values[k - 1];
        }
        values[k] = v;
    }
    return n ? values[(n - 1) / 2] : 0;
}

/* Kernels of one member in its interval: how often and how long each (name, shape) ran. */
typedef struct {
    uint64_t key;
    int64_t ns;
    uint32_t count;
} kernel_sum;

static int kernel_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    uint64_t x = ((const kernel_sum *)a)->key, y = ((const kernel_sum *)b)->key;
    return (x > y) - (x < y);
}

static uint64_t kernel_key(const ledger_run *run, weir_span_id s)
{
    const weir_shape *shape = weir_timeline_shape_of(run->in->timeline, s);
    uint64_t grid = 0;
    if (shape) {
        grid = (uint64_t)shape->grid[0] * 31 * 31 + (uint64_t)shape->grid[1] * 31 + shape->grid[2];
    }
    return (uint64_t)run->spans.name[s] << 32 | (grid & UINT32_MAX);
}

/* The first span of lane that starts at or after t. */
static uint32_t lane_from(const ledger_run *run, const weir_lane *lane, int64_t t)
{
    uint32_t low = lane->first_span, high = lane->first_span + lane->span_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (run->spans.start_ns[middle] < t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool kernels_of(const ledger_run *run, weir_device_id d, int64_t begin, int64_t end,
                       kernel_sum **sums, uint32_t *count)
{
    uint32_t n = 0, capacity = 0;
    *sums = NULL;
    for (uint32_t i = 0; i < run->devices[d].lane_count; i++) {
        const weir_lane *lane = &run->lanes[run->devices[d].first_lane + i];
        for (uint32_t s = lane_from(run, lane, begin);
             s < lane->first_span + lane->span_count && run->spans.start_ns[s] < end; s++) {
            if (run->in->classes->cls[s] > WEIR_CLASS_MEMORY) {
                continue;
            }
            if (n == capacity) {
                capacity = capacity ? 2 * capacity : 256;
                kernel_sum *grown = realloc(*sums, capacity * sizeof *grown);
                if (!grown) {
                    return false;
                }
                *sums = grown;
            }
            (*sums)[n++] = (kernel_sum){kernel_key(run, s), run->spans.dur_ns[s], 1};
        }
    }
    if (n && !weir_sort(*sums, n, sizeof **sums, kernel_compare, NULL)) {
        return false;
    }
    *count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (*count && (*sums)[*count - 1].key == (*sums)[i].key) {
            (*sums)[*count - 1].ns += (*sums)[i].ns;
            (*sums)[*count - 1].count++;
        } else {
            (*sums)[(*count)++] = (*sums)[i];
        }
    }
    return true;
}

/* The excess of a over b that the same kernels make by taking longer. */
static int64_t same_kernels_excess(const kernel_sum *a, uint32_t n, const kernel_sum *b, uint32_t m)
{
    int64_t excess = 0;
    for (uint32_t i = 0, k = 0; i < n && k < m;) {
        if (a[i].key != b[k].key) {
            a[i].key < b[k].key ? i++ : k++;
            continue;
        }
        int64_t both = a[i].count < b[k].count ? a[i].count : b[k].count;
        excess += both * (a[i].ns / a[i].count - b[k].ns / b[k].count);
        i++;
        k++;
    }
    return excess;
}

/* More or larger kernels, or the same ones taking longer? Compared with the median member. */
static bool work_judge(const ledger_run *run, const weir_instance *i, uint32_t late,
                       uint32_t typical, const int64_t *begin, const int64_t *end,
                       late_cause *cause)
{
    kernel_sum *a = NULL, *b = NULL;
    uint32_t n = 0, m = 0;
    bool ok = kernels_of(run, member_of(run, i, late)->device, begin[late], end[late], &a, &n) &&
              kernels_of(run, member_of(run, i, typical)->device, begin[typical], end[typical], &b,
                         &m);
    int64_t x = 0, y = 0;
    for (uint32_t k = 0; ok && k < n; k++) {
        x += a[k].ns;
    }
    for (uint32_t k = 0; ok && k < m; k++) {
        y += b[k].ns;
    }
    if (ok) {
        int64_t same = same_kernels_excess(a, n, b, m);
        cause->reason = 2 * same > x - y ? WEIR_REASON_SLOW_DEVICE : WEIR_REASON_MORE_WORK;
        cause->factor = y > 0 ? (double)x / (double)y : 1;
    }
    free(a);
    free(b);
    return ok;
}

static weir_cause largest_host_cause(const weir_causes *causes)
{
    weir_cause best = WEIR_CAUSE_DEPENDENCY_UNKNOWN;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        bool host = weir_cause_wait((weir_cause)c) == WEIR_WAIT_DEPENDENCY &&
                    c != WEIR_CAUSE_DEPENDENCY_STRAGGLER && c != WEIR_CAUSE_DEPENDENCY_BUBBLE;
        if (host && causes->ns[c] > causes->ns[best]) {
            best = (weir_cause)c;
        }
    }
    return best;
}

/* The instance in which the device waited longest for others between two moments. */
static uint32_t longest_wait(const ledger_device *device, int64_t begin, int64_t end)
{
    uint32_t best = WEIR_NONE;
    int64_t most = 0;
    for (uint32_t i = ledger_line_at(device, begin);
         i < device->line_count && device->lines[i].begin_ns < end; i++) {
        const weir_line *line = &device->lines[i];
        int64_t from = line->begin_ns > begin ? line->begin_ns : begin;
        int64_t to = line->end_ns < end ? line->end_ns : end;
        bool waits = line->cause == WEIR_CAUSE_DEPENDENCY_STRAGGLER ||
                     line->cause == WEIR_CAUSE_DEPENDENCY_BUBBLE;
        if (waits && to - from > most) {
            most = to - from;
            best = line->instance;
        }
    }
    return best;
}

weir_code late_explain(const ledger_run *run, const weir_instance *instance, uint32_t late,
                       const int64_t *begin, const int64_t *end, late_cause *cause, weir_err *err)
{
    enum { WAIT, LINK, HOST, WORK, PARTS };
    uint32_t n = instance->member_count, others = 0;
    int64_t *values[PARTS], own[PARTS], excess[PARTS];
    int64_t *memory = malloc(PARTS * (n + (size_t)1) * sizeof *memory);
    int64_t *work_by_member = malloc((n + (size_t)1) * sizeof *work_by_member);
    *cause = (late_cause){.reason = WEIR_REASON_UNKNOWN, .factor = 1, .waited_instance = WEIR_NONE};
    if (!memory || !work_by_member) {
        free(memory);
        free(work_by_member);
        return LEDGER_NO_MEMORY(err);
    }
    weir_causes causes = {{0}};
    for (int p = 0; p < PARTS; p++) {
        values[p] = memory + (size_t)p * n;
    }
    for (uint32_t k = 0; k < n; k++) {
        const ledger_device *device = &run->device[member_of(run, instance, k)->device];
        late_parts parts = parts_between(device, begin[k], end[k], k == late ? &causes : NULL);
        const int64_t all[PARTS] = {parts.wait_ns, parts.link_ns, parts.host_ns, parts.work_ns};
        work_by_member[k] = parts.work_ns;
        for (int p = 0; p < PARTS; p++) {
            if (k == late) {
                own[p] = all[p];
            } else {
                values[p][others] = all[p];
            }
        }
        others += k != late;
    }
    int best = WAIT;
    for (int p = 0; p < PARTS; p++) {
        excess[p] = own[p] - median_of(values[p], others);
        best = excess[p] > excess[best] ? p : best;
    }
    int64_t typical_work = others ? values[WORK][(others - 1) / 2] : 0;
    bool ok = true;
    if (excess[best] > 0 && best == WAIT) {
        cause->by_waiting = true;
        cause->waited_instance = longest_wait(
            &run->device[member_of(run, instance, late)->device], begin[late], end[late]);
    } else if (excess[best] > 0 && best == LINK) {
        cause->reason = WEIR_REASON_SLOW_LINK;
    } else if (excess[best] > 0 && best == HOST) {
        cause->reason = WEIR_REASON_LATE_HOST;
        cause->host_cause = largest_host_cause(&causes);
    } else if (excess[best] > 0) {
        uint32_t typical = late;
        for (uint32_t k = 0; k < n && typical == late; k++) {
            typical = k != late && work_by_member[k] == typical_work ? k : late;
        }
        ok = typical == late || work_judge(run, instance, late, typical, begin, end, cause);
    }
    free(memory);
    free(work_by_member);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}
