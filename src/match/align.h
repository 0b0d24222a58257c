/* align.h: lists of collectives of one channel, and which of two lists are the same ones.
 *
 * All members of a channel run the same operations in the same order; lists differ only where
 * captures begin, end or have holes. Two lists are aligned like two texts: the cheapest way to pair
 * entries without crossing, where a pair costs the distance of its ends, and an entry left alone a
 * fixed price. O(n): a window slides along both lists.
 *
 * Not here: which lists to align (pairing.h), the clocks (clock.h): times are of one clock. */
#ifndef WEIR_MATCH_ALIGN_H
#define WEIR_MATCH_ALIGN_H

#include "match/items.h"

/* One collective as seen by those members that were merged so far. */
typedef struct {
    int64_t arrival_ns;           /* latest start */
    int64_t first_end_ns, end_ns; /* earliest and latest end */
    int64_t anchor_ns;            /* what stands for its end: the members' median */
    int64_t seq;                  /* -1 = not recorded */
    uint64_t bytes;               /* 0 = unknown */
    uint32_t head;                /* first member: an item, its next in pair_lists.next */
    uint32_t count;               /* members */
    uint8_t kind;
    bool is_message;
} align_entry;

typedef struct {
    align_entry *entries; /* in order of the channel; owned */
    uint32_t count;
    uint32_t channel;
    uint32_t node;    /* clock; of merged nodes: the first */
    uint32_t members; /* devices */
    bool exact;       /* sorted and paired by Seq */
} align_list;

/* Longest distance at which two clocks of one host are taken to show the same moment: the stamps
 * of two accelerators are converted to host time to some 10 us. */
enum { ALIGN_SLACK_NS = 100000 };

/* The same for clocks of two hosts whose ends differ by residual_ns on median. */
int64_t align_slack_ns(int64_t residual_ns);

/* Ends of the kind agree on all members (0: as closely as clocks do; 1: mostly; 2: not by design;
 * 3: messages). */
enum { ALIGN_LEVELS = 4 };
int align_level(const align_entry *entry);

/* The two may be the same operation, as far as kind, size and Seq tell. */
bool align_may_pair(const align_entry *a, const align_entry *b);

/* of[j] = entry of `a` that is b's entry j, or WEIR_NONE; increasing. slack_ns: how well the clocks
 * of both agree. */
void align_lists(const align_list *a, const align_list *b, int64_t slack_ns, uint32_t *of);

/* The same by Seq alone; both lists are sorted with align_compare_seq. */
void align_exact(const align_list *a, const align_list *b, uint32_t *of);
int align_compare_seq(const void *a, const void *b, const void *context);

/* Distance of the ends of a pair: 0 within the ends that were seen. */
int64_t align_distance(const align_entry *a, const align_entry *b);

#endif
