/* nccl_compare.h: measured against foretold bus bandwidth, size by size, and what a gap may mean.
 *
 * What is foretold is the library's choice on the scenario's cluster, alone on an idle network. A
 * gap at large sizes is turned into the rate that a NIC (in one node: a device's link) seems to
 * have had; causes that predict such a rate are named, the nearest first. They are candidates: each
 * says what to look at. Thresholds: presets/diagnosis.yaml. */
#ifndef WEIR_STUDY_NCCL_COMPARE_H
#define WEIR_STUDY_NCCL_COMPARE_H

#include "import/nccl_tests.h"
#include "study/fabric_scenario.h"
#include "study/nccl_rules.h"

typedef struct {
    uint64_t bytes;
    double measured_s, measured_bus_bytes_per_s;
    double foretold_s, foretold_bus_bytes_per_s; /* NAN: the kind is unknown */
    double limit_bus_bytes_per_s;                /* what raw links allow; NAN the same */
    double share;                                /* foretold_s / measured_s */
    weir_collective_algorithm algorithm;         /* foretold */
    weir_collective_protocol protocol;
} weir_nccl_compared;

typedef struct {
    weir_nccl_finding_kind kind;
    uint64_t from_bytes;  /* of the size where it shows */
    const char *sentence; /* with figures */
    const char *check;    /* what to look at; of the rules */
    const char *source;
} weir_nccl_finding;

enum { WEIR_NCCL_FINDINGS_MOST = WEIR_NCCL_FINDING_COUNT };

typedef struct {
    const char *title;           /* "all_reduce_perf, 16 ranks on 2 hosts" */
    weir_collective_shape shape; /* of the largest size */
    weir_nccl_compared *rows;    /* one for each size, out of place where measured */
    uint32_t row_count;
    double plateau_share;           /* median of share from plateau_bytes on; NAN: none */
    double latency_factor;          /* median of measured_s / foretold_s up to small_bytes; NAN */
    double seeming_nic_bytes_per_s; /* of a device's NICs, by the plateau; NAN: not asked */
    weir_nccl_finding findings[WEIR_NCCL_FINDINGS_MOST]; /* the weightiest first */
    uint32_t finding_count;                              /* 1 or more */
} weir_nccl_comparison;

typedef struct {
    weir_nccl_comparison *runs; /* as in the file */
    uint32_t run_count;
    weir_nccl_rules rules;
    weir_arena *arena;
} weir_nccl_report;

typedef struct {
    const char *network_transport; /* the library's name, "efa-v2"; NULL: by rate */
    double oversubscription;       /* of the network between nodes; 0 or 1: none */
} weir_nccl_options;

/* Ranks and nodes are those of the run, else what its quotient implies, else the cluster's.
 * WEIR_ERR_INPUT: a cluster without links where ranks need some, a transport that is not known. */
weir_code weir_nccl_compare(const weir_cluster *cluster, const weir_nccl_tests *tests,
                            const weir_nccl_options *options, weir_nccl_report *report,
                            weir_err *err);
void weir_nccl_report_clear(weir_nccl_report *report); /* a zeroed one is fine */

#endif
