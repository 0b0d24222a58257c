/* Waiting and transfer of each member of a collective or message (DESIGN 2.1). */
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>

/* Instances alike: same kind, group and bytes. */
static int like_compare(const void *a, const void *b, const void *context)
{
    const weir_instance *instances = context;
    const weir_instance *x = &instances[*(const uint32_t *)a],
                        *y = &instances[*(const uint32_t *)b];
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->group != y->group) {
        return x->group < y->group ? -1 : 1;
    }
    if (x->group_size != y->group_size) {
        return x->group_size < y->group_size ? -1 : 1;
    }
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int64_t transfer_of(const weir_instance *i)
{
    int64_t ns = i->end_ns - i->last_arrival_ns;
    return ns > 0 ? ns : 0;
}

typedef struct {
    int64_t shortest, median;
    int64_t usual;  /* half as long again as the median: what is no outlier */
    uint32_t count; /* of instances that tell */
    bool complete;  /* they are of complete instances */
} like_times;

/* Transfer times of the instances order[0 .. n-1], which are alike. Complete ones
 * tell; where there are none, all do. */
static bool like_measure(const weir_instance *instances, const uint32_t *order, uint32_t n,
                         like_times *like)
{
    weir_sort_pair *times = malloc((n + (size_t)1) * sizeof *times);
    if (!times) {
        return false;
    }
    uint32_t used = 0;
    like->complete = false;
    for (int all = 0; all < 2 && used == 0; all++) {
        like->complete = all == 0;
        for (uint32_t k = 0; k < n; k++) {
            const weir_instance *i = &instances[order[k]];
            if (all || (i->complete && i->split)) {
                times[used++] = (weir_sort_pair){(uint64_t)transfer_of(i), 0};
            }
        }
    }
    bool ok = weir_sort_pairs(times, used);
    like->shortest = ok && used ? (int64_t)times[0].key : 0;
    like->median = ok && used ? (int64_t)times[(used - 1) / 2].key : 0;
    like->usual = like->median + like->median / 2;
    like->count = used;
    free(times);
    return ok;
}

static void member_divide(ledger_run *run, const weir_instance *i, uint32_t row,
                          const like_times *like)
{
    const weir_member *member = &run->in->match->members[row];
    int64_t start = run->spans.start_ns[member->span], end = ledger_end(run, member->span);
    int64_t arrived =
        weir_match_to_local(run->in->match, run->devices[member->device].rank, i->last_arrival_ns);
    arrived = !i->split || arrived < start ? start : arrived > end ? end : arrived;
    int64_t unsplit = i->complete && i->split ? end : arrived + like->shortest;
    /* Without bytes, or without another of its kind, nothing foretells how long it takes. */
    int64_t typical = i->bytes && like->count > 1 ? like->median : 0;
    run->split[row] = (member_split){arrived, unsplit > end ? end : unsplit, typical};
}

/* Instances by kind and group first, which is fast, then by the rest where that differs. NULL: no
 * memory. */
static uint32_t *order_instances(const weir_match *m)
{
    uint32_t n = m->instance_count;
    uint32_t *order = malloc((n + (size_t)1) * sizeof *order);
    weir_sort_pair *pairs = malloc((n + (size_t)1) * sizeof *pairs);
    bool ok = order && pairs;
    for (uint32_t i = 0; ok && i < n; i++) {
        const weir_instance *instance = &m->instances[i];
        pairs[i] = (weir_sort_pair){(uint64_t)instance->kind << 32 | instance->group, i};
    }
    ok = ok && weir_sort_pairs(pairs, n);
    for (uint32_t i = 0; ok && i < n; i++) {
        order[i] = (uint32_t)pairs[i].value;
    }
    for (uint32_t a = 0; ok && a < n;) {
        uint32_t b = a + 1;
        while (b < n && pairs[b].key == pairs[a].key) {
            b++;
        }
        ok = weir_sort(order + a, b - a, sizeof *order, like_compare, m->instances);
        a = b;
    }
    free(pairs);
    if (!ok) {
        free(order);
        return NULL;
    }
    return order;
}

weir_code ledger_split(ledger_run *run, weir_err *err)
{
    const weir_match *m = run->in->match;
    uint32_t n = m->instance_count;
    uint32_t *order = order_instances(m);
    run->split = calloc(m->member_count + (size_t)1, sizeof *run->split);
    run->last_is_seen = calloc(n + (size_t)1, sizeof *run->last_is_seen);
    bool ok = order && run->split && run->last_is_seen;
    for (uint32_t a = 0; ok && a < n;) {
        uint32_t b = a + 1;
        while (b < n && like_compare(&order[a], &order[b], m->instances) == 0) {
            b++;
        }
        like_times like;
        ok = like_measure(m->instances, order + a, b - a, &like);
        for (uint32_t k = a; ok && k < b; k++) {
            const weir_instance *i = &m->instances[order[k]];
            /* It ended as soon after its last seen member as complete ones do: none was later. */
            run->last_is_seen[order[k]] =
                i->split && (i->complete || (like.complete && transfer_of(i) <= like.usual));
            for (uint32_t row = i->first_member; row < i->first_member + i->member_count; row++) {
                member_divide(run, i, row, &like);
            }
        }
        a = b;
    }
    free(order);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}
