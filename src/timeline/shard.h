/* shard.h: timelines that were built side by side become one.
 *
 * Each file is read into an unsealed timeline of its own (a shard), in any thread; then the shards
 * are absorbed in a fixed order, so that the result does not depend on who was first. */
#ifndef WEIR_TIMELINE_SHARD_H
#define WEIR_TIMELINE_SHARD_H

#include "weir/timeline.h"

/* Moves all that shard (not sealed, same budget) holds to the end of into, with its names, ranks,
 * lanes, groups renumbered and its spans shift_ns later (no sum may leave int64: the caller has
 * checked). The shard is empty afterwards and only good to be freed. */
weir_code weir_timeline_absorb(weir_timeline *into, weir_timeline *shard, int64_t shift_ns,
                               weir_err *err);

/* The budget that t was made with; NULL = none. */
weir_budget *weir_timeline_budget(const weir_timeline *t);
/* The number of the first device that rank drives in an unsealed timeline, or -1. */
int64_t weir_timeline_first_device(const weir_timeline *t, weir_rank_id rank);

/* Drops the spans that begin weeks away from the bulk of an unsealed timeline: no profile lasts
 * that long, such moments are damage (a time stamp that was never written). Returns how many;
 * *earliest_ns becomes the first start of those that stay. O(spans). */
uint64_t weir_timeline_drop_strays(weir_timeline *t, int64_t *earliest_ns);

/* The ranks of an unsealed timeline, to be completed before sealing. */
weir_rank *weir_timeline_edit_ranks(weir_timeline *t, uint32_t *count);
/* Likewise its groups; ranks given to a group must come from malloc and are owned by t then. */
weir_group *weir_timeline_edit_groups(weir_timeline *t, uint32_t *count);

/* Labels the lanes (of either kind) of rank with this group and number, where there are any. */
void weir_timeline_label_existing(weir_timeline *t, weir_rank_id rank, int64_t group,
                                  int64_t number, weir_name_id label);

#endif
