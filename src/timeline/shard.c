#include "timeline/shard.h"

#include "timeline/tables.h"

#include <assert.h>
#include <stdlib.h>

/* Old row -> new row, for each table of the shard. */
typedef struct {
    uint32_t *names, *ranks, *lanes, *shapes, *groups, *comms;
} renumbering;

static uint32_t *rows_new(weir_timeline *shard, uint32_t count, weir_err *err)
{
    uint32_t *rows = malloc((count + (size_t)1) * sizeof *rows);
    if (!rows) {
        timeline_failed(shard, WEIR_ERR_MEMORY, err);
    }
    return rows;
}

static weir_code absorb_names(weir_timeline *into, weir_timeline *shard, renumbering *r,
                              weir_err *err)
{
    uint32_t names = weir_intern_count(shard->names), shapes = weir_intern_count(shard->shape_keys);
    r->names = rows_new(shard, names, err);
    r->shapes = rows_new(shard, shapes, err);
    if (!r->names || !r->shapes) {
        return WEIR_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < names; i++) {
        weir_code code =
            weir_timeline_intern(into, weir_intern_text(shard->names, i), &r->names[i], err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    for (uint32_t i = 0; i < shapes; i++) {
        weir_code code = weir_intern_add(into->shape_keys, weir_intern_text(shard->shape_keys, i),
                                         &r->shapes[i]);
        if (code != WEIR_OK) {
            return timeline_failed(into, code, err);
        }
    }
    return WEIR_OK;
}

static void lanes_count_spans(weir_timeline *shard)
{
    for (uint32_t i = 0; i < shard->lane_count; i++) {
        shard->lanes[i].span_count = 0;
    }
    for (const span_chunk *c = shard->first_chunk; c; c = c->next) {
        for (uint32_t i = 0; i < c->count; i++) {
            shard->lanes[c->spans[i].lane].span_count++;
        }
    }
}

static weir_code absorb_ranks(weir_timeline *into, weir_timeline *shard, renumbering *r,
                              weir_err *err)
{
    r->ranks = rows_new(shard, shard->rank_count, err);
    r->lanes = rows_new(shard, shard->lane_count, err);
    if (!r->ranks || !r->lanes) {
        return WEIR_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < shard->rank_count; i++) {
        weir_rank rank = shard->ranks[i];
        rank.node = r->names[rank.node];
        rank.file = r->names[rank.file];
        rank.device_name = r->names[rank.device_name];
        weir_code code = weir_timeline_add_rank(into, &rank, &r->ranks[i], err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    lanes_count_spans(shard);
    for (uint32_t i = 0; i < shard->lane_count; i++) {
        const weir_lane *lane = &shard->lanes[i];
        if (lane->span_count == 0) {
            continue; /* all its spans were strays */
        }
        weir_code code = weir_timeline_add_lane(into, lane->kind, r->ranks[lane->rank], lane->group,
                                                lane->number, &r->lanes[i], err);
        if (code != WEIR_OK) {
            return code;
        }
        weir_timeline_label_lane(into, r->lanes[i], r->names[lane->label]);
    }
    return WEIR_OK;
}

static weir_code absorb_comms(weir_timeline *into, weir_timeline *shard, renumbering *r,
                              weir_err *err)
{
    r->groups = rows_new(shard, shard->group_count, err);
    r->comms = rows_new(shard, shard->comm_count, err);
    if (!r->groups || !r->comms) {
        return WEIR_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < shard->group_count; i++) {
        weir_group group = shard->groups[i];
        group.name = r->names[group.name];
        group.description = r->names[group.description];
        weir_code code = weir_timeline_add_group(into, &group, &r->groups[i], err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    for (uint32_t i = 0; i < shard->comm_count; i++) {
        weir_comm comm = shard->comms[i];
        comm.group = comm.group == WEIR_NONE ? WEIR_NONE : r->groups[comm.group];
        comm.shape = r->shapes[comm.shape];
        weir_code code = weir_timeline_add_comm(into, &comm, &r->comms[i], err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    for (uint32_t i = 0; i < shard->wait_count; i++) {
        weir_event_wait wait = shard->waits[i];
        wait.rank = r->ranks[wait.rank];
        weir_code code = weir_timeline_add_event_wait(into, &wait, err);
        if (code != WEIR_OK) {
            return code;
        }
    }
    return WEIR_OK;
}

static uint32_t detail_renumber(const weir_new_span *span, const renumbering *r)
{
    if (span->detail == WEIR_NONE) {
        return WEIR_NONE;
    }
    switch (span->kind) {
    case WEIR_SPAN_KERNEL:
    case WEIR_SPAN_MEMCPY:
    case WEIR_SPAN_MEMSET:
        return span->detail & WEIR_DETAIL_COMM ? r->comms[span->detail & ~WEIR_DETAIL_COMM]
                                               : r->shapes[span->detail];
    case WEIR_SPAN_OP:
        return span->detail & WEIR_DETAIL_COMM ? r->comms[span->detail & ~WEIR_DETAIL_COMM]
                                               : r->names[span->detail];
    case WEIR_SPAN_ANNOTATION:
    case WEIR_SPAN_RUNTIME:
    case WEIR_SPAN_PYTHON:
        break;
    }
    return span->detail;
}

static void absorb_spans(weir_timeline *into, weir_timeline *shard, const renumbering *r,
                         int64_t shift_ns)
{
    for (span_chunk *c = shard->first_chunk; c; c = c->next) {
        for (uint32_t i = 0; i < c->count; i++) {
            weir_new_span *span = &c->spans[i];
            span->detail = detail_renumber(span, r);
            span->name = r->names[span->name];
            span->lane = r->lanes[span->lane];
            span->start_ns += shift_ns;
        }
        shard->taken -= sizeof *c;
        into->taken += sizeof *c;
    }
    if (shard->first_chunk) {
        if (into->last_chunk) {
            into->last_chunk->next = shard->first_chunk;
        } else {
            into->first_chunk = shard->first_chunk;
        }
        into->last_chunk = shard->last_chunk;
    }
    into->span_count += shard->span_count;
    shard->first_chunk = shard->last_chunk = NULL;
    shard->span_count = 0;
}

weir_code weir_timeline_absorb(weir_timeline *into, weir_timeline *shard, int64_t shift_ns,
                               weir_err *err)
{
    assert(!into->sealed && !shard->sealed && into->budget == shard->budget);
    renumbering r = {0};
    weir_code code = WEIR_OK;
    if (into->span_count + shard->span_count > UINT32_MAX - 1) {
        code = weir_err_set(err, WEIR_ERR_LIMIT, "more than 4,294,967,294 spans");
    }
    code = code == WEIR_OK ? absorb_names(into, shard, &r, err) : code;
    code = code == WEIR_OK ? absorb_ranks(into, shard, &r, err) : code;
    code = code == WEIR_OK ? absorb_comms(into, shard, &r, err) : code;
    if (code == WEIR_OK) {
        absorb_spans(into, shard, &r, shift_ns);
    }
    free(r.names);
    free(r.ranks);
    free(r.lanes);
    free(r.shapes);
    free(r.groups);
    free(r.comms);
    return code;
}

/* Starts are told apart in steps of 13 days, over all that an importer lets through (2^61 ns). */
enum { STRAY_SHIFT = 50, STRAY_STEPS = 1 << 12 };

static uint32_t stray_step(int64_t start_ns)
{
    return (uint32_t)((uint64_t)(start_ns + (INT64_C(1) << 61)) >> STRAY_SHIFT) % STRAY_STEPS;
}

static uint32_t stray_bulk(const weir_timeline *t)
{
    uint32_t counts[STRAY_STEPS] = {0}, bulk = 0;
    for (const span_chunk *c = t->first_chunk; c; c = c->next) {
        for (uint32_t i = 0; i < c->count; i++) {
            counts[stray_step(c->spans[i].start_ns)]++;
        }
    }
    for (uint32_t i = 0; i < STRAY_STEPS; i++) {
        bulk = counts[i] > counts[bulk] ? i : bulk;
    }
    return bulk;
}

uint64_t weir_timeline_drop_strays(weir_timeline *t, int64_t *earliest_ns)
{
    assert(!t->sealed);
    uint32_t bulk = stray_bulk(t);
    uint64_t before = t->span_count;
    *earliest_ns = INT64_MAX;
    for (span_chunk *c = t->first_chunk; c; c = c->next) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < c->count; i++) {
            int64_t start = c->spans[i].start_ns;
            uint32_t step = stray_step(start);
            if (step + 1 < bulk || step > bulk + 1) {
                continue;
            }
            *earliest_ns = start < *earliest_ns ? start : *earliest_ns;
            c->spans[kept++] = c->spans[i];
        }
        t->span_count -= c->count - kept;
        c->count = kept;
    }
    return before - t->span_count;
}

weir_rank *weir_timeline_edit_ranks(weir_timeline *t, uint32_t *count)
{
    assert(!t->sealed);
    *count = t->rank_count;
    return t->ranks;
}

weir_group *weir_timeline_edit_groups(weir_timeline *t, uint32_t *count)
{
    assert(!t->sealed);
    *count = t->group_count;
    return t->groups;
}

weir_budget *weir_timeline_budget(const weir_timeline *t)
{
    return t->budget;
}

int64_t weir_timeline_first_device(const weir_timeline *t, weir_rank_id rank)
{
    for (uint32_t i = 0; i < t->lane_count; i++) {
        if (t->lanes[i].kind == WEIR_LANE_STREAM && t->lanes[i].rank == rank) {
            return t->lanes[i].group;
        }
    }
    return -1;
}
