/* items.h: the communication spans of a timeline, by channel, device and time.
 *
 * A channel is what keeps its order on every member: the collectives of one process group, or the
 * messages from one rank to another. Where no group was recorded, a communication stream stands
 * for it. Not here: which items of a channel are the same collective (pairing.h). */
#ifndef WEIR_MATCH_ITEMS_H
#define WEIR_MATCH_ITEMS_H

#include "match/match.h"

typedef struct {
    int64_t start_ns, end_ns; /* local clock, until the clocks are known: then aligned */
    int64_t seq;              /* -1 = not recorded, or not comparable (messages) */
    uint64_t bytes;           /* as nccl-tests counts; 0 = unknown */
    weir_span_id span;
    weir_device_id device;
    uint32_t channel; /* WEIR_NONE = its peers are not known */
    uint32_t node;    /* clock */
    uint8_t kind;     /* weir_comm_kind */
    bool is_message;
} comm_item;

typedef struct {
    weir_group_id group; /* WEIR_NONE = not recorded */
    uint32_t size;       /* members expected; 0 = unknown */
    uint32_t first_item, item_count;
    bool is_message;
    bool exact; /* every item has its Seq */
} comm_channel;

typedef struct {
    comm_item *items; /* by (channel, device, start, span); those without channel last */
    uint32_t item_count;
    comm_channel *channels;
    uint32_t channel_count;
    uint32_t world; /* members of a collective without recorded group; 0 = unknown */
    bool whole;     /* every member of the world is present */
} comm_items;

weir_code items_collect(const weir_timeline *t, const weir_match_options *options,
                        const weir_span_id *launch, const uint32_t *clock_of_rank,
                        comm_items *items, weir_err *err);
void items_clear(comm_items *items);

#endif
