/* Collectives and messages by kind and group: how long, how fast, how much of it is exposed. */
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>

/* Bus bandwidth as nccl-tests defines it (doc/PERFORMANCE.md): algorithm bandwidth times a factor
 * that makes it comparable with the speed of the links, whatever the number of ranks. */
static double bus_factor(weir_comm_kind kind, uint32_t ranks)
{
    double n = ranks > 1 ? (double)ranks : 2;
    switch (kind) {
    case WEIR_COMM_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case WEIR_COMM_ALL_GATHER:
    case WEIR_COMM_REDUCE_SCATTER:
    case WEIR_COMM_ALL_TO_ALL:
        return (n - 1) / n;
    case WEIR_COMM_UNKNOWN:
    case WEIR_COMM_BROADCAST:
    case WEIR_COMM_REDUCE:
    case WEIR_COMM_GATHER:
    case WEIR_COMM_SCATTER:
    case WEIR_COMM_BARRIER:
    case WEIR_COMM_SEND:
    case WEIR_COMM_RECV:
    case WEIR_COMM_SEND_RECV:
    case WEIR_COMM_KIND_COUNT:
        break;
    }
    return 1;
}

static weir_comm_kind shown_kind(const weir_instance *i)
{
    return i->is_message ? WEIR_COMM_SEND_RECV : i->kind;
}

/* Equal for those that share a row. */
static uint64_t key_of(const weir_instance *i)
{
    return (uint64_t)i->group << 8 | (uint64_t)shown_kind(i);
}

/* Instances by group and kind. *rows: how many that makes. NULL: no memory. */
static weir_sort_pair *order_instances(const weir_match *m, uint32_t *rows)
{
    weir_sort_pair *order = malloc((m->instance_count + (size_t)1) * sizeof *order);
    for (uint32_t i = 0; order && i < m->instance_count; i++) {
        order[i] = (weir_sort_pair){key_of(&m->instances[i]), i};
    }
    if (order && !weir_sort_pairs(order, m->instance_count)) {
        free(order);
        return NULL;
    }
    *rows = 0;
    for (uint32_t i = 0; order && i < m->instance_count; i++) {
        *rows += i == 0 || order[i].key != order[i - 1].key;
    }
    return order;
}

typedef struct {
    int64_t *exposed;    /* by instance, in the windows */
    int64_t measured_ns; /* of complete instances with known bytes: transfer */
    uint64_t measured_bytes;
} sums;

static void exposed_sum(const ledger_run *run, int64_t *exposed)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        const ledger_device *device = &run->device[d];
        for (uint32_t i = 0; i < device->line_count; i++) {
            const weir_line *line = &device->lines[i];
            if (line->instance != WEIR_NONE) {
                exposed[line->instance] +=
                    ledger_in_window(device, line) * run->devices[d].multiplicity;
            }
        }
    }
}

static bool member_in_window(const ledger_run *run, const weir_member *member)
{
    const ledger_device *device = &run->device[member->device];
    int64_t start = run->spans.start_ns[member->span];
    return start >= device->begin_ns && start < device->end_ns;
}

/* Adds what of an instance began in the windows. */
static void row_add(const ledger_run *run, uint32_t id, sums *s, weir_collective_row *row)
{
    const weir_match *m = run->in->match;
    const weir_instance *i = &m->instances[id];
    bool seen = false;
    for (uint32_t k = i->first_member; k < i->first_member + i->member_count; k++) {
        seen = seen || member_in_window(run, &m->members[k]);
    }
    if (!seen) {
        return;
    }
    row->instances += ledger_times(run, id);
    row->complete = row->complete && i->complete;
    row->bytes += i->bytes * ledger_times(run, id);
    row->exposed_ns += s->exposed[id];
    row->ranks = i->group_size > row->ranks ? i->group_size : row->ranks;
    row->ranks = i->member_count > row->ranks ? i->member_count : row->ranks;
    for (uint32_t k = i->first_member; k < i->first_member + i->member_count; k++) {
        const member_split *split = &run->split[k];
        if (!member_in_window(run, &m->members[k])) {
            continue;
        }
        int64_t times = run->devices[m->members[k].device].multiplicity;
        row->arrival_wait_ns +=
            (split->arrived_ns - run->spans.start_ns[m->members[k].span]) * times;
        row->transfer_ns += (split->unsplit_ns - split->arrived_ns) * times;
        row->unsplit_ns += (ledger_end(run, m->members[k].span) - split->unsplit_ns) * times;
    }
    if (i->complete && i->split && i->bytes && i->end_ns > i->last_arrival_ns) {
        s->measured_bytes += i->bytes;
        s->measured_ns += i->end_ns - i->last_arrival_ns;
    }
    const char *tier = ledger_tier(run, i); /* the link that set the pace: the farthest */
    if (tier && (!row->tier || ledger_tier_place(tier) > ledger_tier_place(row->tier))) {
        row->tier = tier;
    }
}

static const char *group_name(const ledger_run *run, weir_group_id id)
{
    if (id == WEIR_NONE) {
        return "";
    }
    const weir_group *group = &run->groups[id];
    weir_str text = weir_timeline_name(run->in->timeline, group->description);
    bool said = text.n && !weir_str_eq(text, WEIR_STR("undefined"));
    text = said ? text : weir_timeline_name(run->in->timeline, group->name);
    const char *name = weir_result_copy(run->result, text);
    return name ? name : "";
}

static int row_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_collective_row *x = a, *y = b;
    if (x->exposed_ns != y->exposed_ns) {
        return x->exposed_ns > y->exposed_ns ? -1 : 1;
    }
    return (x->transfer_ns < y->transfer_ns) - (x->transfer_ns > y->transfer_ns);
}

weir_code ledger_collectives(ledger_run *run, weir_err *err)
{
    const weir_match *m = run->in->match;
    weir_result *r = run->result;
    uint32_t n = m->instance_count, rows = 0;
    weir_sort_pair *order = order_instances(m, &rows);
    sums s = {.exposed = calloc(n + (size_t)1, sizeof *s.exposed)};
    r->collectives = weir_arena_alloc(r->arena, rows + (size_t)1, sizeof *r->collectives);
    bool ok = order && s.exposed && r->collectives;
    if (ok) {
        exposed_sum(run, s.exposed);
    }
    for (uint32_t a = 0; ok && a < n;) {
        const weir_instance *first = &m->instances[order[a].value];
        weir_collective_row *row = &r->collectives[r->collective_count++];
        *row = (weir_collective_row){.kind = shown_kind(first),
                                     .complete = true,
                                     .group = group_name(run, first->group),
                                     .axis = ledger_axis(run, first)};
        s.measured_ns = 0;
        s.measured_bytes = 0;
        for (uint64_t key = order[a].key; a < n && order[a].key == key; a++) {
            row_add(run, (uint32_t)order[a].value, &s, row);
        }
        if (row->instances == 0) {
            r->collective_count--;
            continue;
        }
        if (s.measured_ns) {
            row->algorithm_bandwidth_bytes_per_s =
                (double)s.measured_bytes * 1e9 / (double)s.measured_ns;
            row->bus_bandwidth_bytes_per_s =
                row->algorithm_bandwidth_bytes_per_s * bus_factor(row->kind, row->ranks);
        }
    }
    ok = ok &&
         weir_sort(r->collectives, r->collective_count, sizeof *r->collectives, row_compare, NULL);
    free(order);
    free(s.exposed);
    return ok ? WEIR_OK : LEDGER_NO_MEMORY(err);
}
