#include "classify/op_index.h"

#include <stdlib.h>

typedef struct {
    weir_rank_id rank;
    uint32_t external; /* 0 = free */
    weir_span_id op;
    uint32_t kernels;
} slot_row;

struct op_index {
    slot_row *slots; /* open addressing, at most half full */
    uint32_t mask;
    uint32_t used;
};

static bool has_shapes(const weir_spans *spans, weir_span_id s)
{
    uint32_t detail = spans->detail[s];
    return spans->kind[s] == WEIR_SPAN_OP && spans->external[s] != 0 && detail != 0 &&
           detail != WEIR_NONE && !(detail & WEIR_DETAIL_COMM);
}

static uint32_t home(const op_index *index, weir_rank_id rank, uint32_t external)
{
    uint64_t h = ((uint64_t)rank << 32 | external) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> 32) & index->mask;
}

static uint32_t probe(const op_index *index, weir_rank_id rank, uint32_t external)
{
    uint32_t i = home(index, rank, external);
    while (index->slots[i].external != 0 &&
           (index->slots[i].external != external || index->slots[i].rank != rank)) {
        i = (i + 1) & index->mask;
    }
    return i;
}

op_index *op_index_new(const weir_timeline *t)
{
    weir_spans spans = weir_timeline_spans(t);
    uint32_t lane_count;
    const weir_lane *lanes = weir_timeline_lanes(t, &lane_count);
    uint32_t count = 0;
    for (weir_span_id s = spans.device_count; s < spans.count; s++) {
        count += has_shapes(&spans, s);
    }
    uint64_t capacity = 16;
    while (capacity < 2 * (uint64_t)count) {
        capacity *= 2;
    }
    op_index *index = calloc(1, sizeof *index);
    if (index) {
        index->mask = (uint32_t)(capacity - 1);
        index->slots = calloc(capacity, sizeof *index->slots);
    }
    if (!index || !index->slots) {
        op_index_free(index);
        return NULL;
    }
    for (weir_span_id s = spans.device_count; s < spans.count; s++) {
        if (has_shapes(&spans, s)) {
            weir_rank_id rank = lanes[spans.lane[s]].rank;
            slot_row *slot = &index->slots[probe(index, rank, spans.external[s])];
            if (slot->external == 0) { /* an id twice in one file: the first one stays */
                *slot = (slot_row){rank, spans.external[s], s, 0};
                index->used++;
            }
        }
    }
    return index;
}

void op_index_free(op_index *index)
{
    if (index) {
        free(index->slots);
        free(index);
    }
}

bool op_index_is_empty(const op_index *index)
{
    return index->used == 0;
}

weir_span_id op_index_find(const op_index *index, weir_rank_id rank, uint32_t external,
                           uint32_t *slot)
{
    if (external == 0 || index->used == 0) {
        return WEIR_NONE;
    }
    *slot = probe(index, rank, external);
    return index->slots[*slot].external ? index->slots[*slot].op : WEIR_NONE;
}

void op_index_count(op_index *index, uint32_t slot)
{
    index->slots[slot].kernels++;
}

uint32_t op_index_kernels(const op_index *index, uint32_t slot)
{
    return index->slots[slot].kernels;
}
