/* pairing.h: merges the lists of a channel's members until each entry is one collective.
 *
 * First the devices of one node, whose clocks agree; the lists of nodes then give the clocks
 * (clock.h), with which they are merged over nodes. Not here: how two lists are aligned (align.h).
 */
#ifndef WEIR_MATCH_PAIRING_H
#define WEIR_MATCH_PAIRING_H

#include "match/align.h"

typedef struct {
    align_list *lists; /* by (channel, first device) */
    uint32_t count, capacity;
    uint32_t *next; /* by item: the next member of the same entry, or WEIR_NONE */
} pair_lists;

/* One list for each channel and node; more where no group was recorded and ends tell that the
 * devices are of different groups. */
weir_code pair_in_nodes(const comm_items *items, pair_lists *lists, weir_err *err);

/* Merges over nodes. Times of items (and lists) must be on the aligned clock. By node: the set of
 * nodes that it is linked with, and how well its clock agrees. */
weir_code pair_over_nodes(const comm_items *items, const uint32_t *component,
                          const int64_t *residual_ns, pair_lists *lists, weir_err *err);

/* Arrival and ends of an entry from those of its members. */
void pair_set_times(const comm_items *items, const pair_lists *lists, align_entry *entry);

void pair_lists_clear(pair_lists *lists);

#endif
