/* How much of the peak was used, where the rest went, and what overlap costs. */
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>

/* FLOPs are called known where this share of the arithmetic has them. */
#define KNOWN_SHARE 0.9

typedef struct {
    double flop, peak_flop_in_window, peak_flop_in_compute;
    int64_t math_ns, known_ns;
} usage;

static bool same_accelerator(const ledger_run *run, weir_device_id a, weir_device_id b)
{
    const weir_rank *x = &run->ranks[run->devices[a].rank], *y = &run->ranks[run->devices[b].rank];
    return x->device_name == y->device_name && x->sm_count == y->sm_count &&
           x->device_memory_bytes == y->device_memory_bytes;
}

static bool usage_sum(const ledger_run *run, usage *u)
{
    const weir_span_classes *classes = run->in->classes;
    double peak = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const ledger_device *device = &run->device[d];
        if (d == 0 || !same_accelerator(run, d - 1, d)) {
            peak = weir_classify_peak_flops(run->in->timeline, run->devices[d].rank);
        }
        if (peak <= 0) {
            return false;
        }
        double known_s = 0;
        for (uint32_t i = 0; i < run->devices[d].lane_count; i++) {
            const weir_lane *lane = &run->lanes[run->devices[d].first_lane + i];
            for (uint32_t s = lane->first_span; s < lane->first_span + lane->span_count; s++) {
                int64_t start = run->spans.start_ns[s];
                bool math = classes->cls[s] == WEIR_CLASS_MATH;
                if (start < device->begin_ns || start >= device->end_ns ||
                    (!math && classes->flop[s] <= 0)) {
                    continue;
                }
                u->math_ns += run->spans.dur_ns[s];
                if (classes->flop[s] > 0) {
                    u->known_ns += run->spans.dur_ns[s];
                    u->flop += (double)classes->flop[s];
                    known_s += (double)run->spans.dur_ns[s] * 1e-9;
                }
            }
        }
        u->peak_flop_in_window += peak * (double)(device->end_ns - device->begin_ns) * 1e-9;
        u->peak_flop_in_compute += peak * known_s;
    }
    return true;
}

static double wait_share(const weir_result *r, weir_wait wait)
{
    return r->total.wall_ns ? (double)r->total.waits.ns[wait] / (double)r->total.wall_ns : 0;
}

/* From the peak down to what was measured: the losses and the MFU add up to 1. */
static void ladder_make(weir_result *r)
{
    const weir_causes *c = &r->total.causes;
    double wall = (double)r->total.wall_ns;
    double stragglers =
        (double)(c->ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER] + c->ns[WEIR_CAUSE_DEPENDENCY_BUBBLE]) /
        wall;
    double host =
        (double)(c->ns[WEIR_CAUSE_DEPENDENCY_HOST] + c->ns[WEIR_CAUSE_DEPENDENCY_SYNC] +
                 c->ns[WEIR_CAUSE_DEPENDENCY_DATA] + c->ns[WEIR_CAUSE_DEPENDENCY_ALLOCATOR] +
                 c->ns[WEIR_CAUSE_DEPENDENCY_COMPILE] + c->ns[WEIR_CAUSE_DEPENDENCY_CHECKPOINT] +
                 c->ns[WEIR_CAUSE_DEPENDENCY_LAUNCH]) /
        wall;
    double kernels = wait_share(r, WEIR_WAIT_COMPUTE) - r->efficiency.mfu;
    double rest = wait_share(r, WEIR_WAIT_DEPENDENCY) - stragglers - host;
    const weir_ladder_step steps[] = {{"kernels", kernels},
                                      {"memory", wait_share(r, WEIR_WAIT_CACHE)},
                                      {"network", wait_share(r, WEIR_WAIT_COMMUNICATION)},
                                      {"stragglers", stragglers},
                                      {"host", host},
                                      {"rest", rest}};
    r->efficiency.ladder_count = sizeof steps / sizeof *steps;
    for (uint32_t i = 0; i < r->efficiency.ladder_count; i++) {
        r->efficiency.ladder[i] = steps[i];
    }
}

/* --- the overlap tax: the same kernel and grid with and without communication beside it --- */

typedef struct {
    uint64_t key; /* device, name and launch shape, mixed with care not to collide */
    weir_span_id span;
} tax_key;

static int tax_compare(const void *a, const void *b, const void *context)
{
    const ledger_run *run = context;
    const tax_key *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    uint32_t p = run->spans.detail[x->span], q = run->spans.detail[y->span];
    return (p > q) - (p < q);
}

static bool starts_in_window(const ledger_run *run, weir_span_id s)
{
    const ledger_device *device = &run->device[run->lanes[run->spans.lane[s]].device];
    return run->spans.start_ns[s] >= device->begin_ns && run->spans.start_ns[s] < device->end_ns;
}

/* Of spans alike: what those beside communication took longer than the others' mean, in the window;
 * the others tell from anywhere. */
static int64_t tax_of(const ledger_run *run, const tax_key *keys, size_t n)
{
    int64_t alone_ns = 0, alone = 0, beside_ns = 0, beside = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t ns = run->spans.dur_ns[keys[i].span];
        bool is_beside = run->beside_comm[keys[i].span];
        if (is_beside && !starts_in_window(run, keys[i].span)) {
            continue;
        }
        *(is_beside ? &beside_ns : &alone_ns) += ns;
        *(is_beside ? &beside : &alone) += 1;
    }
    return alone && beside ? beside_ns - alone_ns / alone * beside : 0;
}

static weir_code tax_sum(ledger_run *run, weir_err *err)
{
    uint32_t n = 0, beside = 0;
    tax_key *keys = malloc((run->spans.device_count + (size_t)1) * sizeof *keys);
    if (!keys) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t s = 0; s < run->spans.device_count; s++) {
        if (run->in->classes->cls[s] <= WEIR_CLASS_MEMORY) {
            weir_device_id d = run->lanes[run->spans.lane[s]].device;
            keys[n++] = (tax_key){(uint64_t)d << 32 | run->spans.name[s], s};
            beside += run->beside_comm[s] && starts_in_window(run, s);
        }
    }
    int64_t tax = beside ? 0 : -1;
    bool ok = !beside || weir_sort(keys, n, sizeof *keys, tax_compare, run);
    for (uint32_t a = 0; ok && beside && a < n;) {
        uint32_t b = a + 1;
        while (b < n && tax_compare(&keys[a], &keys[b], run) == 0) {
            b++;
        }
        int64_t more = tax_of(run, keys + a, b - a);
        tax += more > 0 ? more : 0;
        a = b;
    }
    run->result->efficiency.overlap_tax_ns = tax;
    free(keys);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}

weir_code ledger_efficiency(ledger_run *run, weir_err *err)
{
    weir_result *r = run->result;
    r->efficiency.mfu = -1;
    r->efficiency.peak_share_in_compute = -1;
    usage u = {0};
    bool known = run->in->classes->flop && usage_sum(run, &u) && u.known_ns > 0 &&
                 (double)u.known_ns >= KNOWN_SHARE * (double)u.math_ns;
    if (known && u.peak_flop_in_window > 0) {
        r->efficiency.peak_share_in_compute = u.flop / u.peak_flop_in_compute;
        r->efficiency.mfu = u.flop / u.peak_flop_in_window;
        ladder_make(r);
    }
    return tax_sum(run, err);
}
