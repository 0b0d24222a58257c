#include "study/sim_ledger.h"

#include "base/sort.h"
#include "result/verdict.h"
#include "study/sim_planned.h"
#include "timeline/comm_names.h"

#include <stdlib.h>

/* The tables that the ledger of a trace reads, written from what is known. */
typedef struct {
    const weir_spmd *spmd;
    const weir_spmd_run *run;
    weir_spans spans;
    weir_match match;
    weir_name_classes names;
    weir_span_classes classes;
    weir_host_names *host_names;
    const char **tiers; /* by instance */
    uint32_t *times;    /* by instance: groups alike */
    weir_ledger_plan plan;
} sim_tables;

#define NO_MEMORY(err) weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the ledger")

static void clear(sim_tables *s)
{
    free(s->match.clocks);
    free(s->match.clock_of_rank);
    free(s->match.launch);
    free(s->match.instance_of_span);
    free(s->match.member_of_span);
    free(s->match.instances);
    free(s->match.members);
    free(s->match.edges);
    free(s->names.names);
    free(s->names.is_comm);
    free(s->names.comm_kind);
    free(s->classes.cls);
    free(s->classes.cause);
    free(s->classes.evidence);
    weir_host_names_free(s->host_names);
    free(s->tiers);
    free(s->times);
    free((void *)(uintptr_t)s->plan.causes);
}

static weir_comm_kind kind_of(const weir_exchange *exchange)
{
    bool is_message = exchange->is_message || exchange->kind == WEIR_COMM_SEND_RECV;
    return is_message ? WEIR_COMM_SEND : exchange->kind;
}

static const weir_exchange *exchange_of(const sim_tables *s, const weir_meeting *meeting)
{
    return &s->spmd->exchanges[meeting->exchange];
}

/* --- classes --- */

static weir_class class_of(weir_cause cause)
{
    bool copies = cause == WEIR_CAUSE_CACHE_MEMCPY || cause == WEIR_CAUSE_CACHE_OFFLOAD;
    return copies                                      ? WEIR_CLASS_COPY
           : weir_cause_wait(cause) == WEIR_WAIT_CACHE ? WEIR_CLASS_MEMORY
                                                       : WEIR_CLASS_MATH;
}

static weir_code class_spans(sim_tables *s, weir_err *err)
{
    uint32_t n = s->spans.device_count, names = weir_timeline_name_count(s->run->timeline);
    s->classes = (weir_span_classes){.cls = malloc(n + (size_t)1),
                                     .cause = malloc(n + (size_t)1),
                                     .evidence = malloc(n + (size_t)1),
                                     .span_count = n};
    s->names =
        (weir_name_classes){.names = calloc(names + (size_t)1, sizeof *s->names.names),
                            .is_comm = calloc(names + (size_t)1, sizeof *s->names.is_comm),
                            .comm_kind = calloc(names + (size_t)1, sizeof *s->names.comm_kind),
                            .name_count = names};
    if (!s->classes.cls || !s->classes.cause || !s->classes.evidence || !s->names.names ||
        !s->names.is_comm || !s->names.comm_kind) {
        return NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < names; i++) {
        s->names.names[i].family = WEIR_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t meeting = s->run->parts[i].meeting;
        weir_cause cause = (weir_cause)s->run->cause[i];
        weir_class cls = meeting == WEIR_NONE ? class_of(cause) : WEIR_CLASS_COMM;
        weir_name_class *name = &s->names.names[s->spans.name[i]];
        s->classes.cls[i] = (uint8_t)cls;
        s->classes.cause[i] = (uint8_t)cause;
        s->classes.evidence[i] = WEIR_BY_COUNTED;
        name->known = true;
        name->cls = cls;
        name->cause = cause;
        if (meeting != WEIR_NONE) {
            s->names.is_comm[s->spans.name[i]] = true;
            name->comm = kind_of(exchange_of(s, &s->run->meetings[meeting]));
            s->names.comm_kind[s->spans.name[i]] = name->comm;
        }
    }
    return WEIR_OK;
}

/* --- who belongs together --- */

/* One clock for all. */
static weir_code match_clocks(sim_tables *s, weir_err *err)
{
    uint32_t ranks;
    const weir_rank *rows = weir_timeline_ranks(s->run->timeline, &ranks);
    s->match.clocks = calloc(1, sizeof *s->match.clocks);
    s->match.clock_of_rank = calloc(ranks + (size_t)1, sizeof *s->match.clock_of_rank);
    if (!s->match.clocks || !s->match.clock_of_rank) {
        return NO_MEMORY(err);
    }
    s->match.clocks[0] = (weir_clock){.node = ranks ? rows[0].node : 0, .linked = true};
    s->match.clock_count = 1;
    s->match.aligned = true;
    return WEIR_OK;
}

/* A meeting that was cut off before all had come: what its members do from their own arrivals on is
 * failing, not waiting for somebody. */
static weir_instance instance_of(const sim_tables *s, const weir_meeting *meeting)
{
    const weir_exchange *exchange = exchange_of(s, meeting);
    const weir_exchange_group *group = &exchange->groups[meeting->group];
    weir_span_id first = s->run->member_spans[meeting->first_member];
    const weir_comm *comm = weir_timeline_comm_of(s->run->timeline, first);
    return (weir_instance){.kind = kind_of(exchange),
                           .is_message = exchange->is_message,
                           .complete = true,
                           .split = true,
                           .group = comm ? comm->group : WEIR_NONE,
                           .group_size = group->ranks ? group->ranks : group->count,
                           .bytes = exchange->bytes,
                           .last_arrival_ns = meeting->last_arrival_ns,
                           .end_ns = meeting->end_ns};
}

static int member_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    const weir_member *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

static weir_code match_members(sim_tables *s, uint32_t meeting_id, weir_instance *instance,
                               weir_err *err)
{
    const weir_meeting *meeting = &s->run->meetings[meeting_id];
    uint32_t lane_count, id = s->match.instance_count;
    const weir_lane *lanes = weir_timeline_lanes(s->run->timeline, &lane_count);
    instance->first_member = s->match.member_count;
    instance->member_count = meeting->member_count;
    weir_member *rows = s->match.members + instance->first_member;
    for (uint32_t i = 0; i < meeting->member_count; i++) {
        weir_span_id span = s->run->member_spans[meeting->first_member + i];
        rows[i] = (weir_member){span, lanes[s->spans.lane[span]].device, id};
    }
    if (!weir_sort(rows, meeting->member_count, sizeof *rows, member_compare, NULL)) {
        return NO_MEMORY(err);
    }
    s->match.member_count += meeting->member_count;
    instance->last_member = instance->first_member;
    for (uint32_t i = 0; i < meeting->member_count && !meeting->is_complete; i++) {
        int64_t start_ns = s->spans.start_ns[rows[i].span];
        bool is_earlier = start_ns < instance->last_arrival_ns;
        instance->last_arrival_ns = is_earlier ? start_ns : instance->last_arrival_ns;
    }
    for (uint32_t i = 0; i < meeting->member_count; i++) {
        uint32_t row = instance->first_member + i;
        weir_span_id last = s->match.members[instance->last_member].span;
        if (s->spans.start_ns[rows[i].span] > s->spans.start_ns[last]) {
            instance->last_member = row;
        }
        s->match.instance_of_span[rows[i].span] = id;
        s->match.member_of_span[rows[i].span] = row;
    }
    return WEIR_OK;
}

static weir_code match_make(sim_tables *s, weir_err *err)
{
    size_t spans = (size_t)s->spans.device_count + 1, meetings = s->run->meeting_count + (size_t)1;
    s->match.launch = malloc(spans * sizeof *s->match.launch);
    s->match.instance_of_span = malloc(spans * sizeof *s->match.instance_of_span);
    s->match.member_of_span = malloc(spans * sizeof *s->match.member_of_span);
    s->match.edges = malloc(spans * sizeof *s->match.edges);
    s->match.members = malloc(spans * sizeof *s->match.members);
    s->match.instances = malloc(meetings * sizeof *s->match.instances);
    s->tiers = malloc(meetings * sizeof *s->tiers);
    s->times = malloc(meetings * sizeof *s->times);
    if (!s->match.launch || !s->match.instance_of_span || !s->match.member_of_span ||
        !s->match.edges || !s->match.members || !s->match.instances || !s->tiers || !s->times) {
        return NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < s->spans.device_count; i++) {
        s->match.launch[i] = WEIR_NONE;
        s->match.instance_of_span[i] = WEIR_NONE;
        s->match.member_of_span[i] = WEIR_NONE;
    }
    return match_clocks(s, err);
}

/* Instances stand in the order of their last arrivals. */
static weir_code match_meetings(sim_tables *s, weir_err *err)
{
    uint32_t n = s->run->meeting_count;
    weir_sort_pair *order = malloc((n + (size_t)1) * sizeof *order);
    if (!order) {
        return NO_MEMORY(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = (weir_sort_pair){(uint64_t)s->run->meetings[i].last_arrival_ns, i};
    }
    weir_code code = weir_sort_pairs(order, n) ? WEIR_OK : NO_MEMORY(err);
    for (uint32_t i = 0; i < n && code == WEIR_OK; i++) {
        uint32_t id = (uint32_t)order[i].value;
        const weir_meeting *meeting = &s->run->meetings[id];
        if (meeting->member_count == 0) {
            continue;
        }
        weir_instance instance = instance_of(s, meeting);
        code = match_members(s, id, &instance, err);
        s->tiers[s->match.instance_count] = weir_tier_name(meeting->tier);
        s->times[s->match.instance_count] = (uint32_t)meeting->multiplicity;
        s->match.instances[s->match.instance_count++] = instance;
    }
    free(order);
    return code;
}

/* Bound by another lane of the device: that is what an event would record. */
static void match_edges(sim_tables *s)
{
    for (uint32_t i = 0; i < s->spans.device_count; i++) {
        weir_span_id before = s->run->bound_by[i];
        if (before != WEIR_NONE && s->spans.lane[before] != s->spans.lane[i]) {
            s->match.edges[s->match.edge_count++] = (weir_edge){before, i};
        }
    }
}

/* --- what the ledger does not say --- */

enum { TIERS = WEIR_TIER_COUNT };

typedef struct {
    int64_t ns[WEIR_CAUSE_COUNT][TIERS][WEIR_PART_COUNT];
} share_sums;

static int64_t overlap(int64_t begin, int64_t end, int64_t from, int64_t until)
{
    begin = begin > from ? begin : from;
    end = end < until ? end : until;
    return end > begin ? end - begin : 0;
}

/* The parts follow each other in the span, from the last arrival to its end. */
static void add_line(const sim_tables *s, const weir_line *line, int64_t times, share_sums *sums)
{
    const weir_span_parts *parts = &s->run->parts[line->span];
    weir_tier tier = s->run->meetings[parts->meeting].tier;
    const int64_t length[WEIR_PART_COUNT] = {[WEIR_PART_CIRCUIT] = parts->circuit_ns,
                                             [WEIR_PART_LATENCY] = parts->latency_ns,
                                             [WEIR_PART_BANDWIDTH] = parts->bandwidth_ns,
                                             [WEIR_PART_CONTENTION] = parts->contention_ns};
    static const weir_communication_kind_part order[WEIR_PART_COUNT] = {
        WEIR_PART_CIRCUIT, WEIR_PART_LATENCY, WEIR_PART_BANDWIDTH, WEIR_PART_CONTENTION};
    int64_t at = parts->arrived_ns;
    for (int i = 0; i < WEIR_PART_COUNT; i++) {
        int64_t ns = overlap(line->begin_ns, line->end_ns, at, at + length[order[i]]);
        sums->ns[line->cause][tier][order[i]] += ns * times;
        at += length[order[i]];
    }
}

static weir_code publish_shares(const share_sums *sums, weir_result *result, weir_err *err)
{
    uint32_t count = 0;
    const int64_t *all = &sums->ns[0][0][0];
    for (size_t i = 0; i < sizeof sums->ns / sizeof *all; i++) {
        count += all[i] != 0;
    }
    result->communication_shares =
        weir_arena_alloc(result->arena, count + (size_t)1, sizeof *result->communication_shares);
    if (!result->communication_shares) {
        return NO_MEMORY(err);
    }
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        for (int t = 0; t < TIERS; t++) {
            for (int p = 0; p < WEIR_PART_COUNT; p++) {
                if (sums->ns[c][t][p]) {
                    result->communication_shares[result->communication_share_count++] =
                        (weir_communication_share){.cause = (weir_cause)c,
                                                   .tier = weir_tier_name((weir_tier)t),
                                                   .part = (weir_communication_kind_part)p,
                                                   .ns = sums->ns[c][t][p]};
                }
            }
        }
    }
    return WEIR_OK;
}

/* Exposed communication by cause, tier and part; adds up to what the ledger has of each cause. */
static weir_code share_communication(const sim_tables *s, const weir_lines *lines,
                                     weir_result *result, weir_err *err)
{
    share_sums *sums = calloc(1, sizeof *sums);
    if (!sums) {
        return NO_MEMORY(err);
    }
    uint32_t device_count;
    const weir_device *devices = weir_timeline_devices(s->run->timeline, &device_count);
    for (uint32_t d = 0; d < lines->device_count; d++) {
        for (uint64_t i = lines->first[d]; i < lines->first[d + 1]; i++) {
            const weir_line *line = &lines->lines[i];
            if (weir_cause_wait((weir_cause)line->cause) == WEIR_WAIT_COMMUNICATION) {
                add_line(s, line, devices[d].multiplicity, sums);
            }
        }
    }
    weir_code code = publish_shares(sums, result, err);
    free(sums);
    return code;
}

/* Without disturbances the schedule foretells all of it (DESIGN 2.6). */
static void plan_control(const sim_tables *s, weir_result *result)
{
    if (!sim_is_disturbed(s->spmd)) {
        uint32_t places = result->control.places_for_half;
        result->control =
            (weir_control){.planned = result->total.causes, .places_for_half = places};
    }
}

static uint32_t count_nodes(const weir_spmd *spmd)
{
    if (!spmd->node_of_device) {
        return 1;
    }
    uint32_t most = 0;
    for (uint32_t d = 0; d < spmd->devices; d++) {
        most = spmd->node_of_device[d] > most ? spmd->node_of_device[d] : most;
    }
    return most + 1;
}

static weir_code tables_make(sim_tables *s, uint32_t threads, weir_err *err)
{
    weir_code code = weir_host_names_load(&s->host_names, err);
    code = code == WEIR_OK ? class_spans(s, err) : code;
    code = code == WEIR_OK ? match_make(s, err) : code;
    code = code == WEIR_OK ? match_meetings(s, err) : code;
    if (code == WEIR_OK) {
        match_edges(s);
    }
    if (code == WEIR_OK && sim_is_disturbed(s->spmd)) {
        code = sim_planned_make(s->spmd, s->run, threads, &s->plan, err);
    }
    return code;
}

weir_code weir_sim_ledger_build(const weir_spmd *spmd, const weir_spmd_run *run,
                                const weir_ledger_options *options, weir_result *result,
                                weir_lines *lines, weir_err *err)
{
    sim_tables s = {.spmd = spmd, .run = run, .spans = weir_timeline_spans(run->timeline)};
    weir_lines own = {0};
    weir_code code = tables_make(&s, options ? options->threads : 0, err);
    if (code == WEIR_OK) {
        const weir_ledger_input input = {.timeline = run->timeline,
                                         .match = &s.match,
                                         .names = &s.names,
                                         .classes = &s.classes,
                                         .host_names = s.host_names,
                                         .instance_tiers = s.tiers,
                                         .instance_times = s.times,
                                         .gaps = run->gaps.gaps ? &run->gaps : NULL,
                                         .plan = s.plan.causes ? &s.plan : NULL};
        result->simulated = true;
        code = weir_ledger_build(&input, options, result, &own, err);
    }
    code = code == WEIR_OK ? share_communication(&s, &own, result, err) : code;
    if (code == WEIR_OK) {
        plan_control(&s, result);
        result->window.nodes = count_nodes(spmd);
        code = weir_verdict_compose(result, err); /* nobody is blamed for what was planned */
    }
    if (code == WEIR_OK && lines) {
        *lines = own;
    } else {
        weir_lines_clear(&own);
    }
    clear(&s);
    return code;
}
