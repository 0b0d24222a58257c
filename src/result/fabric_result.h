/* fabric_result.h: what a comparison of networks has beside the ledger (output.md, "fabric").
 *
 * All pointers live in the arena of the weir_result that it belongs to. NAN: not known, JSON null.
 * Sentences begin with a capital and end with a full stop; report/ wraps them.
 *
 * Not here: how the figures come about (study/), how they are shown (report/). */
#ifndef WEIR_RESULT_FABRIC_RESULT_H
#define WEIR_RESULT_FABRIC_RESULT_H

#include "timeline/waits.h"
#include "weir/base.h"

typedef enum {
    WEIR_PART_LATENCY = 0,
    WEIR_PART_BANDWIDTH,
    WEIR_PART_CONTENTION,
    WEIR_PART_CIRCUIT,
    WEIR_PART_COUNT
} weir_communication_kind_part;
/* "latency", "bandwidth", "contention", "circuit"; NULL for WEIR_PART_COUNT. */
const char *weir_communication_part_name(weir_communication_kind_part part);

typedef struct { /* one kind of traffic of the scenario, or of the built-in contrast */
    const char *name, *axis;
    double bytes;                 /* of all devices in one step */
    double message_bytes;         /* mean of one message */
    double peak_to_mean;          /* of the demand matrix */
    double synchrony;             /* share of its senders that send at the same time */
    double fan_out;               /* partners of a device */
    double duty;                  /* share of the step in which it moves */
    double needed_bytes_per_s;    /* of a device, in the window that it has */
    double available_bytes_per_s; /* of a device, on the recommended candidate */
    double persistence;           /* 0..1, from period to period */
    const char *suits;            /* "light" or "packets" */
    const char *because;          /* one clause */
    bool is_contrast;             /* the built-in enterprise pattern */
} weir_fabric_traffic_row;

typedef struct {
    const char *item, *part, *place; /* "switch", "tomahawk5-400g", "spine" */
    uint64_t count;
    double watts;                          /* of all */
    double low_usd, typical_usd, high_usd; /* of all */
    const char *price_source;
} weir_bill_row;

typedef struct {
    const char *name, *kind;
    const char *refused; /* why it was not played; NULL: it was */
    double step_s, band_low_s, band_high_s;
    const char *band_basis;
    bool band_outside;
    int64_t wall_ns; /* the ledger's, over all devices */
    int64_t waits_ns[WEIR_WAIT_COUNT];
    int64_t exposed_communication_ns;
    int64_t parts_ns[WEIR_PART_COUNT]; /* of the exposed communication */
    uint64_t devices, switches, switch_ports, optical_ports, spare_ports, nics, cables,
        optical_cables;
    uint64_t modules[4]; /* by weir_module_kind: pluggable, linear, copackaged, copper */
    double fibre_m;
    double conversions_per_byte; /* that leaves its node */
    struct {
        double usd, watts, ns, pj_per_bit;
    } conversion;
    double loss_db, budget_db; /* NAN: no circuits */
    bool closes;
    double watts;
    double usd, usd_low, usd_high;
    double opex_usd_per_year, waiting_usd_per_year, total_usd_per_year;
    double network_usd_per_year;   /* purchase over its life, and power */
    double waiting_hours_per_year; /* of devices */
    double joules_per_step;
    double failure_step_s; /* step with one of its most harmful parts dead; NAN: not played */
    const char *failure_part;
    const char *stoppers; /* single parts without which it cannot run; NULL: none was found */
    struct {
        const char *link, *tier;
        double
            marginal_s_per_percent; /* seconds of the step for 1 % more of that tier, > 0: gains */
    } bottleneck;
    double
        marginal_s_per_percent[4]; /* by weir_tier: in_node, between_nodes, between_racks, hall */
    uint32_t resets;               /* of circuits in a step */
    const weir_bill_row *bill;
    uint32_t bill_count;
    const char *sentence; /* what is to be said about it, one sentence */
} weir_fabric_candidate_row;

typedef struct {
    double switching_time_s, message_bytes, persistence; /* NAN: none */
    const char *sentence;
} weir_fabric_break_even;

typedef struct {
    const char *price, *winner; /* from that price on another one wins */
    double at_usd;
    bool is_below; /* it wins below that price, not above */
} weir_fabric_flip;

typedef struct {             /* a kind of links that sets the pace, in exchanges played alone */
    const char *link, *tier; /* that one of them which is worth most */
    uint32_t multiplicity;   /* links like it */
    /* Seconds of a step that all of them gain with 1 % more, and lose with 1 % less: more gains
     * less where something else is full at the same time. */
    double marginal_s_per_percent, loss_s_per_percent;
    double structure_s_per_percent; /* as the bottleneck structure says: the slope of the loss */
} weir_fabric_value_row;

typedef struct { /* one link that sets the pace, in exchanges played alone */
    const char *link, *tier;
    double pace_share; /* 0..1 of a step: while the exchange's end hangs on it */
    /* As above, of this link alone: where others like it are as full, more gains nothing. */
    double marginal_s_per_percent, loss_s_per_percent, structure_s_per_percent;
} weir_fabric_single_row;

typedef struct {             /* load of a link over time, or of all links like it */
    const char *name, *tier; /* "leaf 3 -> spine 1", "between_racks"; tier NULL: unknown */
    uint32_t multiplicity;   /* links like it */
    double capacity_bytes_per_s;
    uint32_t count;
    const double *at_s;        /* moments at which it changes, ascending */
    const double *bytes_per_s; /* load from then on */
} weir_fabric_link_row;

typedef struct {
    const char *scenario_name;
    weir_fabric_traffic_row *traffic;
    uint32_t traffic_count;
    double peak_demand_bytes_per_s;
    weir_fabric_candidate_row *candidates;
    uint32_t candidate_count;
    uint32_t recommended; /* row, WEIR_NONE: none */
    weir_fabric_break_even break_even;
    const char *light_or_packets; /* "wins", "breaks even", "loses", NULL: nothing to compare */
    const char *light_sentence;
    weir_fabric_flip *flips;
    uint32_t flip_count;
    const char **pareto;
    uint32_t pareto_count;
    const char *price_note;      /* dates and confidence of the prices used */
    const char *unpriced;        /* what a year's cost lacks, and what is known without it; NULL:
                                  * nothing is missing */
    const char *assumptions;     /* eta_transport, routing, ... one sentence */
    weir_fabric_link_row *links; /* of the recommended candidate; filled only on request */
    uint32_t link_count;
    weir_fabric_value_row *values;   /* of the recommended candidate, most valuable first */
    uint32_t value_count;            /* 0: not asked for, or nothing moves */
    weir_fabric_single_row *singles; /* likewise: at most 10, the steepest first */
    uint32_t single_count;
} weir_fabric_result;

/* The same scenario at several settings: --sweep. Each point is a comparison of its own. */
typedef struct {
    const char **values;              /* of the keys, as they were given */
    const char *refused;              /* why it could not be compared; NULL: it was */
    const weir_fabric_result *fabric; /* NULL where refused; lives as long as its own result */
} weir_fabric_point;

typedef struct {
    const char **keys; /* "candidates.0.oversubscription" */
    uint32_t key_count;
    weir_fabric_point *points;
    uint32_t point_count;
} weir_fabric_sweep;

/* A question turned round: how far can this go, if the step may get slower by so much? --find */
typedef struct {
    const char *what;      /* "oversubscription", "ports", "switching" */
    const char *unit;      /* of value: "" (a ratio, a number), "s" */
    const char *candidate; /* its name */
    double lose_share;     /* what was allowed */
    const char *end;       /* "inside", "all" (every value keeps to it), "nothing" (none does) */
    double value, step_s;
    double reference_s;             /* step that the loss is counted from */
    double next_value, next_step_s; /* first that breaks it; NAN: none was found */
    const char *next_refused;       /* why that cannot be built; NULL: it can */
    const char *sentence;
} weir_fabric_find;

/* Several jobs that share one fabric: --mix */
typedef struct {
    const char *name; /* of the candidate */
    const char *refused;
    double ratio; /* weighted mean of step / the job's fastest step; NAN: refused */
    double wait_share[WEIR_WAIT_COUNT];
    const double *job_step_s; /* by job; NULL: refused */
} weir_fabric_mix_row;

typedef struct {
    const char **jobs;
    const double *weights; /* add up to 1 */
    uint32_t job_count;
    weir_fabric_mix_row *rows;
    uint32_t count;
    uint32_t best; /* row; WEIR_NONE: all are refused */
} weir_fabric_mix;

/* Bus bandwidths that were measured (nccl-tests) beside what is foretold: --compare */
typedef struct {
    uint64_t bytes; /* as nccl-tests counts */
    double measured_s, measured_bus_bytes_per_s;
    double foretold_s, foretold_bus_bytes_per_s; /* NAN: nothing is foretold */
    double limit_bus_bytes_per_s;                /* of raw links */
    double share;                                /* foretold_s / measured_s */
    const char *algorithm, *protocol;            /* foretold */
} weir_nccl_size_row;

typedef struct {
    const char *kind; /* "cross_rail" */
    uint64_t from_bytes;
    const char *sentence, *check, *source; /* check: what to look at; may be NULL, source too */
} weir_nccl_finding_row;

typedef struct {
    const char *title; /* "all_reduce_perf, 16 ranks on 2 hosts" */
    uint32_t ranks, nodes;
    double plateau_share, latency_factor, seeming_nic_bytes_per_s; /* NAN: not known */
    weir_nccl_size_row *rows;
    uint32_t row_count;
    weir_nccl_finding_row *findings; /* the weightiest first */
    uint32_t finding_count;
} weir_nccl_run_row;

#endif
