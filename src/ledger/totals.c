/* Sums: devices, nodes, steps and the whole, and the check that nothing was lost or counted twice.
 */
#include "base/sort.h"
#include "ledger/run.h"

#include <stdlib.h>

static void account_add(weir_account *a, const weir_causes *causes, const weir_hidden *hidden,
                        int64_t times)
{
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        int64_t ns = causes->ns[c] * times;
        a->causes.ns[c] += ns;
        a->waits.ns[weir_cause_wait((weir_cause)c)] += ns;
        a->wall_ns += ns;
    }
    a->hidden.communication_ns += hidden->communication_ns * times;
    a->hidden.arrival_wait_ns += hidden->arrival_wait_ns * times;
    a->hidden.copy_ns += hidden->copy_ns * times;
}

/* Conservation (DESIGN 2.8): the causes of each step add up to its length. */
static weir_code device_check(const ledger_run *run, weir_device_id d, weir_err *err)
{
    const ledger_device *device = &run->device[d];
    for (uint32_t s = 0; s < device->step_count; s++) {
        int64_t sum = 0;
        for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
            sum += device->steps[s].causes.ns[c];
        }
        int64_t length = device->bounds[s + 1] - device->bounds[s];
        if (sum != length) {
            return weir_err_set(err, WEIR_ERR_INTERNAL,
                                "conservation failed: rank %d, device %d, step %u: the causes add "
                                "up to %lld ns, the step is %lld ns",
                                run->ranks[run->devices[d].rank].number, run->devices[d].number, s,
                                (long long)sum, (long long)length);
        }
    }
    return WEIR_OK;
}

/* Rows are still in the order of devices. */
static void collectives_add(const ledger_run *run, weir_device_row *rows)
{
    const weir_match *m = run->in->match;
    for (uint32_t i = 0; i < m->member_count; i++) {
        weir_device_row *row = &rows[m->members[i].device];
        const member_split *split = &run->split[i];
        row->collectives.instances++;
        row->collectives.arrival_wait_ns +=
            split->arrived_ns - run->spans.start_ns[m->members[i].span];
        row->collectives.transfer_ns += split->unsplit_ns - split->arrived_ns;
        row->collectives.unsplit_ns += ledger_end(run, m->members[i].span) - split->unsplit_ns;
    }
}

static void device_row(const ledger_run *run, weir_device_id d, weir_device_row *row)
{
    const ledger_device *device = &run->device[d];
    const weir_rank *rank = &run->ranks[run->devices[d].rank];
    row->rank = rank->number;
    row->node = ledger_node_name(run, run->devices[d].rank);
    row->device = run->devices[d].number;
    row->multiplicity = run->devices[d].multiplicity;
    for (uint32_t s = 0; s < device->step_count; s++) {
        account_add(&row->account, &device->steps[s].causes, &device->steps[s].hidden, 1);
    }
    row->intervals.span_ns = device->last_ns - device->first_ns;
    row->intervals.busy_ns = device->intervals.busy_ns;
    row->intervals.compute_ns = device->intervals.compute_ns;
    row->intervals.communication_ns = device->intervals.communication_ns;
    row->intervals.copy_ns = device->intervals.copy_ns;
    row->intervals.communication_under_compute_ns =
        device->intervals.communication_under_compute_ns;
}

static int row_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_device_row *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return (x->device > y->device) - (x->device < y->device);
}

static weir_code devices_sum(ledger_run *run, weir_err *err)
{
    weir_result *r = run->result;
    r->devices = weir_arena_alloc(r->arena, run->device_count + (size_t)1, sizeof *r->devices);
    if (!r->devices) {
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        weir_code code = device_check(run, d, err);
        if (code != WEIR_OK) {
            return code;
        }
        device_row(run, d, &r->devices[d]);
        const weir_account *a = &r->devices[d].account;
        account_add(&r->total, &a->causes, &a->hidden, run->devices[d].multiplicity);
    }
    collectives_add(run, r->devices);
    r->device_count = run->device_count;
    if (!weir_sort(r->devices, r->device_count, sizeof *r->devices, row_compare, NULL)) {
        return LEDGER_NO_MEMORY(err);
    }
    return WEIR_OK;
}

static void step_extend(const ledger_run *run, weir_device_id d, uint32_t s, weir_step_row *row)
{
    weir_rank_id rank = run->devices[d].rank;
    int64_t origin = weir_timeline_origin_ns(run->in->timeline);
    const int64_t *bounds = run->device[d].bounds;
    int64_t begin = origin + weir_match_to_aligned(run->in->match, rank, bounds[s]);
    int64_t end = origin + weir_match_to_aligned(run->in->match, rank, bounds[s + 1]);
    bool first = row->begin_ns == 0 && row->end_ns == 0;
    row->begin_ns = first || begin < row->begin_ns ? begin : row->begin_ns;
    row->end_ns = first || end > row->end_ns ? end : row->end_ns;
}

static weir_code steps_sum(ledger_run *run, weir_err *err)
{
    weir_result *r = run->result;
    if (!run->has_markers) {
        return WEIR_OK;
    }
    r->steps = weir_arena_alloc(r->arena, run->step_total, sizeof *r->steps);
    if (!r->steps) {
        return LEDGER_NO_MEMORY(err);
    }
    r->step_count = run->step_total;
    for (uint32_t s = 0; s < run->step_total; s++) {
        r->steps[s].index = run->steps[s];
        for (uint32_t d = 0; d < run->device_count; d++) {
            if (s < run->device[d].step_count) {
                step_extend(run, d, s, &r->steps[s]);
                account_add(&r->steps[s].account, &run->device[d].steps[s].causes,
                            &run->device[d].steps[s].hidden, run->devices[d].multiplicity);
            }
        }
    }
    return WEIR_OK;
}

static weir_code nodes_sum(ledger_run *run, weir_err *err)
{
    weir_result *r = run->result;
    r->nodes = weir_arena_alloc(r->arena, run->rank_count + (size_t)1, sizeof *r->nodes);
    weir_name_id *names = calloc(run->rank_count + (size_t)1, sizeof *names);
    if (!r->nodes || !names) {
        free(names);
        return LEDGER_NO_MEMORY(err);
    }
    for (uint32_t d = 0; d < run->device_count; d++) {
        weir_rank_id rank = run->devices[d].rank;
        uint32_t n = 0;
        while (n < r->node_count && names[n] != run->ranks[rank].node) {
            n++;
        }
        if (n == r->node_count) {
            names[r->node_count++] = run->ranks[rank].node;
            r->nodes[n].node = ledger_node_name(run, rank);
        }
        r->nodes[n].devices += run->devices[d].multiplicity;
        for (uint32_t s = 0; s < run->device[d].step_count; s++) {
            account_add(&r->nodes[n].account, &run->device[d].steps[s].causes,
                        &run->device[d].steps[s].hidden, run->devices[d].multiplicity);
        }
    }
    free(names);
    return WEIR_OK;
}

/* Exposed communication by cause and tier. */
static weir_code communication_sum(ledger_run *run, weir_err *err)
{
    enum { TIERS = LEDGER_TIERS + 1 }; /* and one for what is not known */
    int64_t ns[WEIR_CAUSE_COUNT][TIERS] = {{0}};
    weir_result *r = run->result;
    for (uint32_t d = 0; d < run->device_count; d++) {
        const ledger_device *device = &run->device[d];
        for (uint32_t i = 0; i < device->line_count; i++) {
            const weir_line *line = &device->lines[i];
            int64_t in_window_ns = ledger_in_window(device, line);
            if (weir_cause_wait((weir_cause)line->cause) != WEIR_WAIT_COMMUNICATION ||
                in_window_ns == 0) {
                continue;
            }
            const char *tier = line->instance == WEIR_NONE
                                   ? NULL
                                   : ledger_tier(run, &run->in->match->instances[line->instance]);
            ns[line->cause][ledger_tier_place(tier)] += in_window_ns * run->devices[d].multiplicity;
        }
    }
    r->communication =
        weir_arena_alloc(r->arena, (size_t)WEIR_CAUSE_COUNT * TIERS, sizeof *r->communication);
    if (!r->communication) {
        return LEDGER_NO_MEMORY(err);
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        for (int k = 0; k < TIERS; k++) {
            if (ns[c][k]) {
                r->communication[r->communication_count++] =
                    (weir_communication_part){(weir_cause)c, ledger_tier_name(k), ns[c][k]};
            }
        }
    }
    return WEIR_OK;
}

static void window_describe(ledger_run *run)
{
    weir_result *r = run->result;
    int64_t begin = INT64_MAX, end = INT64_MIN, origin = weir_timeline_origin_ns(run->in->timeline);
    uint32_t ranks = 0, devices = 0;
    weir_rank_id last_rank = WEIR_NONE;
    for (uint32_t d = 0; d < run->device_count; d++) {
        weir_rank_id rank = run->devices[d].rank;
        ranks += rank != last_rank ? run->devices[d].multiplicity : 0;
        devices += run->devices[d].multiplicity;
        last_rank = rank;
        if (run->device[d].step_count) {
            int64_t b = weir_match_to_aligned(run->in->match, rank, run->device[d].begin_ns);
            int64_t e = weir_match_to_aligned(run->in->match, rank, run->device[d].end_ns);
            begin = b < begin ? b : begin;
            end = e > end ? e : end;
        }
    }
    r->window.begin_ns = begin <= end ? origin + begin : origin;
    r->window.end_ns = begin <= end ? origin + end : origin;
    r->window.devices = devices;
    r->window.ranks = ranks;
    r->window.nodes = r->node_count;
    r->window.steps = run->has_markers ? run->step_total : 0;
    int64_t steps = 0;
    for (uint32_t d = 0; run->has_markers && d < run->device_count; d++) {
        steps += run->device[d].step_count * (int64_t)run->devices[d].multiplicity;
    }
    r->window.step_ns = steps ? r->total.wall_ns / steps : 0;
}

weir_code ledger_totals(ledger_run *run, weir_err *err)
{
    weir_code code = devices_sum(run, err);
    code = code == WEIR_OK ? steps_sum(run, err) : code;
    code = code == WEIR_OK ? nodes_sum(run, err) : code;
    code = code == WEIR_OK ? communication_sum(run, err) : code;
    if (code != WEIR_OK) {
        return code;
    }
    window_describe(run);
    int64_t evidence[WEIR_BY_COUNT] = {0}, all = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        for (int e = 0; e < WEIR_BY_COUNT; e++) {
            evidence[e] += run->device[d].evidence_ns[e];
            all += run->device[d].evidence_ns[e];
        }
    }
    for (int e = 0; e < WEIR_BY_COUNT; e++) {
        run->result->classes[e] = all ? (double)evidence[e] / (double)all : 0;
    }
    return WEIR_OK;
}
