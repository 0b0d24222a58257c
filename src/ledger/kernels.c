/* Time by kernel name, on request (--by kernel, --unknown-kernels). */
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>

static const char *class_name(weir_class cls)
{
    static const char *const names[] = {"math", "memory", "communication", "copy"};
    return cls < WEIR_CLASS_COUNT ? names[cls] : "unknown";
}

typedef struct {
    int64_t ns[WEIR_CLASS_COUNT];
    int64_t most_ns; /* of the cause below */
    uint64_t count;
    uint8_t cause;
} name_sum;

static int row_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_kernel_row *x = a, *y = b;
    if (x->ns != y->ns) {
        return x->ns > y->ns ? -1 : 1;
    }
    return weir_str_cmp(weir_str_from(x->name), weir_str_from(y->name));
}

static void kernel_row(const ledger_run *run, weir_name_id name, const name_sum *sum,
                       weir_kernel_row *row)
{
    const weir_name_class *known = &run->in->names->names[name];
    int64_t ns = 0;
    int best = 0;
    for (int c = 0; c < WEIR_CLASS_COUNT; c++) {
        ns += sum->ns[c];
        best = sum->ns[c] > sum->ns[best] ? c : best;
    }
    const char *text = weir_result_copy(run->result, weir_timeline_name(run->in->timeline, name));
    *row = (weir_kernel_row){
        .name = text ? text : "",
        .family = known->family == WEIR_NONE ? NULL
                                             : weir_families_name(run->in->families, known->family),
        .cause = (weir_cause)sum->cause,
        .cls = class_name((weir_class)best),
        .count = sum->count,
        .ns = ns,
    };
}

weir_code ledger_kernels(ledger_run *run, weir_err *err)
{
    weir_result *r = run->result;
    uint32_t names = weir_timeline_name_count(run->in->timeline), n = 0;
    name_sum *sums = calloc(names + (size_t)1, sizeof *sums);
    if (!sums) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t s = 0; s < run->spans.device_count; s++) {
        name_sum *sum = &sums[run->spans.name[s]];
        weir_class cls = (weir_class)run->in->classes->cls[s];
        n += sum->count == 0;
        sum->count++;
        sum->ns[cls] += run->spans.dur_ns[s];
        if (run->spans.dur_ns[s] >=
            sum->most_ns) { /* the longest span's cause stands for the name */
            sum->most_ns = run->spans.dur_ns[s];
            sum->cause = run->in->classes->cause[s];
        }
    }
    r->kernels = weir_arena_alloc(r->arena, n + (size_t)1, sizeof *r->kernels);
    for (uint32_t i = 0; r->kernels && i < names; i++) {
        if (sums[i].count) {
            kernel_row(run, i, &sums[i], &r->kernels[r->kernel_count++]);
        }
    }
    free(sums);
    bool ok =
        r->kernels && weir_sort(r->kernels, r->kernel_count, sizeof *r->kernels, row_compare, NULL);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}
