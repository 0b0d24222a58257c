/* match.h: which spans of a timeline belong together: launches, events, collectives, clocks.
 *
 * Everything is derived from a sealed timeline and never changes it. Collectives of different ranks
 * are paired by Seq where recorded, else by order and by agreement of their ends, together with the
 * clocks of the hosts (DESIGN 2, "Across ranks").
 *
 * Not here: what the waiting costs and who is to blame (ledger/). */
#ifndef WEIR_MATCH_MATCH_H
#define WEIR_MATCH_MATCH_H

#include "weir/timeline.h"

/* One clock per node (host). aligned = local + offset + drift * (local - drift_origin). */
typedef struct {
    weir_name_id node;
    bool linked; /* tied to the reference clock (that of node 0) by matched collectives */
    int64_t offset_ns;
    double drift; /* ns per ns */
    int64_t drift_origin_ns;
    int64_t residual_ns; /* median distance that is left between ends that should agree */
} weir_clock;

/* One occurrence of a collective (or message) with the members that were seen. */
typedef struct {
    weir_comm_kind kind;   /* resolved: never SEND_RECV where arguments or annotations tell */
    bool is_message;       /* two ends: a missing peer is a bubble, not a straggler */
    bool complete;         /* every member of the group was seen */
    bool split;            /* clocks are good enough to tell waiting from transfer */
    weir_group_id group;   /* WEIR_NONE = not recorded (taken to be all ranks) */
    uint32_t group_size;   /* members expected; 0 = unknown */
    uint64_t bytes;        /* message size as nccl-tests counts it; 0 = unknown */
    uint32_t first_member; /* members first_member .. + member_count - 1 */
    uint32_t member_count;
    uint32_t last_member;    /* row of members: who arrived last (tie: lower device) */
    int64_t last_arrival_ns; /* aligned */
    int64_t end_ns;          /* aligned, latest end of the members */
} weir_instance;

typedef struct {
    weir_span_id span;
    weir_device_id device;
    uint32_t instance;
} weir_member;

/* after could not start before `before` had ended. Both are device spans. */
typedef struct {
    weir_span_id before, after;
} weir_edge;

typedef struct {
    uint32_t clock_count;
    weir_clock *clocks;
    uint32_t *clock_of_rank;    /* by rank id */
    weir_span_id *launch;       /* by device span: the host span that launched it, or WEIR_NONE */
    uint32_t *instance_of_span; /* by device span: its instance, or WEIR_NONE */
    uint32_t *member_of_span;   /* by device span: its row in members, or WEIR_NONE */
    uint32_t instance_count, member_count, edge_count;
    weir_instance *instances; /* by last arrival */
    weir_member *members;     /* of one instance: by device */
    weir_edge *edges;         /* by (after, before) */
    bool aligned;             /* all nodes with collectives are linked */
    int64_t max_offset_ns, residual_ns;
    uint32_t unlinked_count; /* nodes that nothing links */
    bool refused;            /* residual exceeds the waits: nothing between nodes was split */
} weir_match;

/* is_comm[name id]: this kernel name is communication; kind_of[name id]: the collective that the
 * name tells (UNKNOWN or SEND_RECV where it does not). Both weir_timeline_name_count() long, from
 * classify. threads: 0 = one for each core; the result does not depend on it. */
typedef struct {
    const bool *is_comm;
    const weir_comm_kind *kind_of;
    uint32_t threads;
} weir_match_options;

weir_code weir_match_build(const weir_timeline *t, const weir_match_options *options,
                           weir_match *match, weir_err *err);
void weir_match_clear(weir_match *match);

/* Moments of a rank's clock to the aligned clock, and back (inverse within 1 ns). */
int64_t weir_match_to_aligned(const weir_match *m, weir_rank_id rank, int64_t local_ns);
int64_t weir_match_to_local(const weir_match *m, weir_rank_id rank, int64_t aligned_ns);

#endif
