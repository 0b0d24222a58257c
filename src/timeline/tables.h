/* tables.h: the inside of a timeline, shared by the files that build, seal and read it.
 *
 * Not for other modules: they see include/weir/timeline.h. */
#ifndef WEIR_TIMELINE_TABLES_H
#define WEIR_TIMELINE_TABLES_H

#include "base/intern.h"
#include "weir/timeline.h"

enum { CHUNK_SPANS = 8192 };

/* Spans as they were appended; moved, never copied, from shard to timeline. */
typedef struct span_chunk {
    struct span_chunk *next;
    uint32_t count;
    weir_new_span spans[CHUNK_SPANS];
} span_chunk;

typedef struct {
    weir_lane_kind kind;
    weir_rank_id rank;
    int64_t group, number;
} lane_key; /* no padding: it is hashed as bytes */

struct weir_timeline {
    weir_budget *budget;
    uint64_t taken; /* by the tables below; the intern tables count for themselves */
    bool sealed;
    int64_t origin_ns;
    weir_intern *names, *shape_keys, *lane_keys, *group_keys;
    weir_rank *ranks;
    weir_lane *lanes;
    weir_group *groups;
    weir_comm *comms;
    weir_event_wait *waits;
    weir_device *devices;
    weir_shape *shapes; /* built when sealed */
    uint32_t rank_count, lane_count, group_count, comm_count, wait_count, device_count;
    uint32_t rank_capacity, lane_capacity, group_capacity, comm_capacity, wait_capacity;
    span_chunk *first_chunk, *last_chunk;
    uint64_t span_count;
    uint32_t device_span_count;
    /* columns, allocated when sealed */
    int64_t *start_ns, *dur_ns;
    uint32_t *lane, *name, *correlation, *external, *detail;
    uint8_t *kind, *flags;
};

/* Room for one more item of `size` bytes in a growing table, counted against the budget. */
weir_code timeline_reserve(weir_timeline *t, void *table, uint32_t count, uint32_t *capacity,
                           size_t size, weir_err *err);
weir_code timeline_failed(const weir_timeline *t, weir_code code, weir_err *err);

#endif
