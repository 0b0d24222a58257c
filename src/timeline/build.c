/* Appending to a timeline: interned tables and chunks of spans. */
#include "timeline/shard.h"
#include "timeline/tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

weir_timeline *weir_timeline_new(weir_budget *budget)
{
    weir_timeline *t = calloc(1, sizeof *t);
    if (!t) {
        return NULL;
    }
    t->budget = budget;
    t->names = weir_intern_new(budget);
    t->shape_keys = weir_intern_new(budget);
    t->lane_keys = weir_intern_new(budget);
    t->group_keys = weir_intern_new(budget);
    if (!t->names || !t->shape_keys || !t->lane_keys || !t->group_keys) {
        weir_timeline_free(t);
        return NULL;
    }
    return t;
}

void weir_timeline_free(weir_timeline *t)
{
    if (!t) {
        return;
    }
    for (span_chunk *c = t->first_chunk; c;) {
        span_chunk *next = c->next;
        free(c);
        c = next;
    }
    for (uint32_t g = 0; g < t->group_count; g++) {
        free((int32_t *)(uintptr_t)t->groups[g].ranks);
    }
    weir_intern_free(t->names);
    weir_intern_free(t->shape_keys);
    weir_intern_free(t->lane_keys);
    weir_intern_free(t->group_keys);
    void *const tables[] = {t->ranks,    t->lanes,    t->groups, t->comms, t->waits, t->devices,
                            t->shapes,   t->start_ns, t->dur_ns, t->lane,  t->name,  t->correlation,
                            t->external, t->detail,   t->kind,   t->flags};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        free(tables[i]);
    }
    weir_budget_give(t->budget, t->taken);
    free(t);
}

weir_code timeline_failed(const weir_timeline *t, weir_code code, weir_err *err)
{
    if (code == WEIR_ERR_LIMIT) {
        uint64_t max = weir_budget_max(t->budget);
        bool large = max >= UINT64_C(10) << 20 || max % (1 << 20) == 0;
        return weir_err_set(
            err, code, "the trace needs more memory than --max-memory allows (%llu %s)",
            (unsigned long long)(large ? max >> 20 : max >> 10), large ? "MiB" : "KiB");
    }
    return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory while the trace was read");
}

weir_code timeline_reserve(weir_timeline *t, void *table, uint32_t count, uint32_t *capacity,
                           size_t size, weir_err *err)
{
    if (count < *capacity) {
        return WEIR_OK;
    }
    uint32_t more = *capacity ? *capacity : 16;
    if (*capacity > UINT32_MAX / 4) {
        return timeline_failed(t, WEIR_ERR_LIMIT, err);
    }
    if (!weir_budget_take(t->budget, more * size)) {
        return timeline_failed(t, WEIR_ERR_LIMIT, err);
    }
    void *old;
    memcpy(&old, table, sizeof old);
    void *grown = realloc(old, (*capacity + (size_t)more) * size);
    if (!grown) {
        weir_budget_give(t->budget, more * size);
        return timeline_failed(t, WEIR_ERR_MEMORY, err);
    }
    memcpy(table, &grown, sizeof grown);
    t->taken += more * size;
    *capacity += more;
    return WEIR_OK;
}

weir_code weir_timeline_intern(weir_timeline *t, weir_str text, weir_name_id *id, weir_err *err)
{
    weir_code code = weir_intern_add(t->names, text, id);
    return code == WEIR_OK ? code : timeline_failed(t, code, err);
}

weir_code weir_timeline_add_rank(weir_timeline *t, const weir_rank *rank, weir_rank_id *id,
                                 weir_err *err)
{
    weir_code code =
        timeline_reserve(t, &t->ranks, t->rank_count, &t->rank_capacity, sizeof *t->ranks, err);
    if (code == WEIR_OK) {
        t->ranks[t->rank_count] = *rank;
        *id = t->rank_count++;
    }
    return code;
}

weir_code weir_timeline_add_lane(weir_timeline *t, weir_lane_kind kind, weir_rank_id rank,
                                 int64_t group, int64_t number, weir_lane_id *id, weir_err *err)
{
    const lane_key key = {kind, rank, group, number};
    uint32_t row;
    weir_code code =
        weir_intern_add(t->lane_keys, (weir_str){(const char *)&key, sizeof key}, &row);
    if (code != WEIR_OK) {
        return timeline_failed(t, code, err);
    }
    if (row <= t->lane_count) {
        *id = row - 1;
        return WEIR_OK;
    }
    code = timeline_reserve(t, &t->lanes, t->lane_count, &t->lane_capacity, sizeof *t->lanes, err);
    if (code == WEIR_OK) {
        t->lanes[t->lane_count] = (weir_lane){
            .kind = kind, .rank = rank, .device = WEIR_NONE, .group = group, .number = number};
        *id = t->lane_count++;
    }
    return code;
}

void weir_timeline_label_lane(weir_timeline *t, weir_lane_id lane, weir_name_id label)
{
    t->lanes[lane].label = label;
}

weir_code weir_timeline_add_shape(weir_timeline *t, const weir_shape *shape, uint32_t *detail,
                                  weir_err *err)
{
    _Static_assert(sizeof(weir_shape) == 48, "hashed as bytes: no padding");
    weir_code code =
        weir_intern_add(t->shape_keys, (weir_str){(const char *)shape, sizeof *shape}, detail);
    return code == WEIR_OK ? code : timeline_failed(t, code, err);
}

/* The bytes that two equal groups share. */
static weir_code group_key(const weir_group *group, char **key, size_t *n, weir_err *err)
{
    const uint32_t head[4] = {group->name, group->description, group->size, group->rank_count};
    *n = sizeof head + group->rank_count * sizeof *group->ranks;
    *key = malloc(*n);
    if (!*key) {
        return weir_err_set(err, WEIR_ERR_MEMORY, "out of memory while the trace was read");
    }
    memcpy(*key, head, sizeof head);
    if (group->rank_count) {
        memcpy(*key + sizeof head, group->ranks, group->rank_count * sizeof *group->ranks);
    }
    return WEIR_OK;
}

weir_code weir_timeline_add_group(weir_timeline *t, const weir_group *group, weir_group_id *id,
                                  weir_err *err)
{
    char *key;
    size_t n;
    weir_code code = group_key(group, &key, &n, err);
    if (code != WEIR_OK) {
        return code;
    }
    uint32_t row = 0;
    code = weir_intern_add(t->group_keys, (weir_str){key, (uint32_t)n}, &row);
    free(key);
    if (code != WEIR_OK) {
        return timeline_failed(t, code, err);
    }
    if (row <= t->group_count) {
        *id = row - 1;
        return WEIR_OK;
    }
    code =
        timeline_reserve(t, &t->groups, t->group_count, &t->group_capacity, sizeof *t->groups, err);
    int32_t *ranks = NULL;
    if (code == WEIR_OK && group->rank_count) {
        if (!weir_budget_take(t->budget, group->rank_count * sizeof *ranks)) {
            return timeline_failed(t, WEIR_ERR_LIMIT, err);
        }
        t->taken += group->rank_count * sizeof *ranks;
        ranks = malloc(group->rank_count * sizeof *ranks);
        if (!ranks) {
            return timeline_failed(t, WEIR_ERR_MEMORY, err);
        }
        memcpy(ranks, group->ranks, group->rank_count * sizeof *ranks);
    }
    if (code == WEIR_OK) {
        t->groups[t->group_count] = *group;
        t->groups[t->group_count].ranks = ranks;
        *id = t->group_count++;
    }
    return code;
}

weir_code weir_timeline_add_comm(weir_timeline *t, const weir_comm *comm, uint32_t *detail,
                                 weir_err *err)
{
    weir_code code =
        timeline_reserve(t, &t->comms, t->comm_count, &t->comm_capacity, sizeof *t->comms, err);
    if (code == WEIR_OK) {
        t->comms[t->comm_count] = *comm;
        *detail = t->comm_count++ | WEIR_DETAIL_COMM;
    }
    return code;
}

weir_code weir_timeline_add_event_wait(weir_timeline *t, const weir_event_wait *wait, weir_err *err)
{
    weir_code code =
        timeline_reserve(t, &t->waits, t->wait_count, &t->wait_capacity, sizeof *t->waits, err);
    if (code == WEIR_OK) {
        t->waits[t->wait_count++] = *wait;
    }
    return code;
}

weir_code weir_timeline_add_span(weir_timeline *t, const weir_new_span *span, weir_err *err)
{
    assert(!t->sealed && span->dur_ns >= 0);
    span_chunk *c = t->last_chunk;
    if (!c || c->count == CHUNK_SPANS) {
        if (t->span_count > UINT32_MAX - 2 * CHUNK_SPANS ||
            !weir_budget_take(t->budget, sizeof *c)) {
            return timeline_failed(t, WEIR_ERR_LIMIT, err);
        }
        c = malloc(sizeof *c);
        if (!c) {
            weir_budget_give(t->budget, sizeof *c);
            return timeline_failed(t, WEIR_ERR_MEMORY, err);
        }
        t->taken += sizeof *c;
        c->next = NULL;
        c->count = 0;
        if (t->last_chunk) {
            t->last_chunk->next = c;
        } else {
            t->first_chunk = c;
        }
        t->last_chunk = c;
    }
    c->spans[c->count++] = *span;
    t->span_count++;
    return WEIR_OK;
}

void weir_timeline_label_existing(weir_timeline *t, weir_rank_id rank, int64_t group,
                                  int64_t number, weir_name_id label)
{
    static const weir_lane_kind kinds[] = {WEIR_LANE_STREAM, WEIR_LANE_THREAD};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const lane_key key = {kinds[i], rank, group, number};
        uint32_t row;
        if (weir_intern_find(t->lane_keys, (weir_str){(const char *)&key, sizeof key}, &row)) {
            t->lanes[row - 1].label = label;
        }
    }
}
