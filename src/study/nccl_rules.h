/* nccl_rules.h: the thresholds by which measured bandwidths are judged, presets/diagnosis.yaml. */
#ifndef WEIR_STUDY_NCCL_RULES_H
#define WEIR_STUDY_NCCL_RULES_H

#include "base/arena.h"

/* X(enumerator, name in the preset and in output) */
#define WEIR_NCCL_FINDINGS(X)                                                                      \
    X(AS_EXPECTED, "as_expected")                                                                  \
    X(IMPOSSIBLE, "impossible")                                                                    \
    X(RANK_COUNT, "rank_count")                                                                    \
    X(RANKS_REPEATED, "ranks_repeated")                                                            \
    X(WRONG_RESULTS, "wrong_results")                                                              \
    X(COLLAPSE, "collapse")                                                                        \
    X(PART_OF_NICS, "part_of_nics")                                                                \
    X(NO_GDR, "no_gdr")                                                                            \
    X(SOCKETS, "sockets")                                                                          \
    X(CROSS_RAIL, "cross_rail")                                                                    \
    X(NO_NODE_REDUCTION, "no_node_reduction")                                                      \
    X(THROUGH_PCIE, "through_pcie")                                                                \
    X(LATENCY, "latency")                                                                          \
    X(SLOW, "slow")                                                                                \
    X(FASTER, "faster")

typedef enum {
#define X(finding, name) WEIR_NCCL_##finding,
    WEIR_NCCL_FINDINGS(X)
#undef X
        WEIR_NCCL_FINDING_COUNT
} weir_nccl_finding_kind;

const char *weir_nccl_finding_name(weir_nccl_finding_kind kind);

typedef struct {
    double plateau_bytes, small_bytes;
    double good_share, fast_share, impossible_share; /* of what is foretold; of raw links */
    double latency_factor, collapse_factor;
    double near; /* relative: how far from what a cause predicts */
    double staged_least_bytes_per_s, staged_most_bytes_per_s; /* of a NIC */
    double sockets_most_bytes_per_s;                          /* of a node */
    double pcie_most_bytes_per_s;                             /* of a device */
    double cross_rail_nodes;
    const char *check[WEIR_NCCL_FINDING_COUNT];  /* what to look at */
    const char *source[WEIR_NCCL_FINDING_COUNT]; /* where that is from */
    weir_arena *arena;
} weir_nccl_rules;

weir_code weir_nccl_rules_load(weir_nccl_rules *rules, weir_err *err);
void weir_nccl_rules_clear(weir_nccl_rules *rules); /* a zeroed one is fine */

#endif
