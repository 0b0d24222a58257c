/* run.h: what the files of the ledger share while one ledger is made.
 *
 * Order: window (steps of each device) -> split (members of collectives) -> sweep (lines and
 * accounts of each device, in parallel) -> blame, control, path, totals.
 *
 * Not for other modules: they see ledger.h. */
#ifndef WEIR_LEDGER_RUN_H
#define WEIR_LEDGER_RUN_H

#include "base/sort.h"
#include "ledger/ledger.h"

/* One step (or, without markers, the whole window) on one device. */
typedef struct {
    weir_causes causes;
    weir_causes planned; /* of communication: what it takes at the median bandwidth of its like */
    weir_hidden hidden;
} step_account;

typedef struct {
    int64_t begin_ns, end_ns;  /* window, own clock; equal = none */
    int64_t first_ns, last_ns; /* first start and last end of all its spans, own clock */
    uint32_t step_count;       /* of the run's steps that this device has (a cut one: fewer) */
    int64_t *bounds;           /* step_count + 1 moments, own clock */
    step_account *steps;       /* step_count */
    weir_line *lines;          /* over everything recorded and the window, in time order */
    uint32_t line_count, line_capacity;
    struct {
        int64_t busy_ns, compute_ns, communication_ns, copy_ns, communication_under_compute_ns;
    } intervals;                        /* plain unions over everything recorded */
    int64_t evidence_ns[WEIR_BY_COUNT]; /* of kernels in the window, by how their class is known */
    bool failed;                        /* no memory */
} ledger_device;

/* How one member's span divides (own clock): waiting, then transfer, then unsplit. */
typedef struct {
    int64_t arrived_ns; /* start .. arrived: waiting for the others */
    int64_t unsplit_ns; /* arrived .. unsplit: transfer; unsplit .. end: cannot be told */
    int64_t typical_ns; /* median transfer time of its like */
} member_split;

typedef struct {
    const weir_ledger_input *in;
    const weir_ledger_options *options;
    weir_result *result;
    weir_spans spans;
    const weir_rank *ranks;
    const weir_device *devices;
    const weir_lane *lanes;
    const weir_group *groups;
    uint32_t rank_count, device_count, lane_count, group_count;
    int64_t *steps;      /* numbers of the steps in the window; step_total long */
    uint32_t step_total; /* >= 1: without markers one step that is the window */
    bool has_markers;
    ledger_device *device;   /* device_count */
    member_split *split;     /* by member of the match */
    bool *last_is_seen;      /* by instance: who arrived last is among the members seen */
    weir_span_id *parent;    /* by host span (id - device_count of spans): enclosing span */
    uint8_t *host_activity;  /* by name id: weir_host_activity of such a host span */
    uint8_t *told_cause;     /* by name id: 1 + weir_cause that a simulation wrote down, or 0 */
    uint8_t *blocks;         /* by host span: the call returned after the copy that it started */
    weir_sort_pair *orphans; /* starts of graph launches without a kernel in the trace, by rank */
    uint32_t *orphan_first;  /* rank_count + 1 */
    const char **group_axis; /* by group; in the result's arena */
    uint8_t *beside_comm;    /* by device span: communication ran beside it */
    struct late_memo *memo;  /* by device: its kernels in one step (cause_of_late.c) */
} ledger_run;

#define LEDGER_NO_MEMORY(err) weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the ledger")

/* window.c: steps, windows and bounds of all devices. */
weir_code ledger_windows(ledger_run *run, weir_err *err);
/* split.c: waiting and transfer of each member. */
weir_code ledger_split(ledger_run *run, weir_err *err);
/* host.c: parents and activities of host spans. */
weir_code ledger_hosts(ledger_run *run, weir_err *err);
/* host.c: what a host span says of idle time under it. */
weir_host_activity ledger_host_activity(const ledger_run *run, weir_span_id span);
/* host.c: graph launches of which nothing was recorded. */
weir_code ledger_orphans(ledger_run *run, weir_err *err);

/* sweep.c: lines and accounts of one device. */
void ledger_sweep(ledger_run *run, weir_device_id device);

typedef struct {
    ledger_run *run;
    ledger_device *device;
    weir_device_id id;
    uint32_t step; /* cursor */
} line_writer;
/* What else ran during a line that computes. */
enum { HIDDEN_TRANSFER = 1, HIDDEN_ARRIVAL = 2, HIDDEN_COPY = 4 };
typedef struct {
    int64_t begin_ns, end_ns;
    weir_cause cause;
    weir_span_id span;
    uint32_t instance;
    uint32_t hidden;               /* HIDDEN_ bits */
    int64_t typical_ns, actual_ns; /* of a transfer: median of its like, and its own */
} line_part;
/* Appends to lines and adds to the step's account; parts must come in time order. */
void ledger_line(line_writer *w, const line_part *part);

/* idle.c: splits the gap [begin, end) before span `next` (WEIR_NONE: none follows). previous:
 * the span launched last before the gap, or WEIR_NONE. */
void ledger_idle(line_writer *w, int64_t begin_ns, int64_t end_ns, weir_span_id next,
                 weir_span_id previous);

/* idle.c: the first known gap of the device that ends after t: a row of run->in->gaps; the end of
 * the device's rows where none does. */
uint32_t ledger_gap_at(const ledger_run *run, weir_device_id device, int64_t t);

/* What thread was doing over [begin, end): one call for each stretch, in time order. cause is what
 * the names say, dependency.host where they say nothing. innermost: host span, or WEIR_NONE. */
typedef void (*ledger_host_visitor)(void *context, int64_t begin_ns, int64_t end_ns,
                                    weir_cause cause, weir_span_id innermost);
void ledger_host_parts(const ledger_run *run, const weir_lane *thread, int64_t begin_ns,
                       int64_t end_ns, ledger_host_visitor visit, void *context);

/* intervals.c: plain unions over everything recorded for a device. */
weir_code ledger_intervals(ledger_run *run, weir_device_id device);

/* blame.c: who is waited for, its origin and reason -> result->stragglers. */
weir_code ledger_blame(ledger_run *run, weir_err *err);
/* control.c */
weir_code ledger_control(ledger_run *run, weir_err *err);
/* path.c */
weir_code ledger_path(ledger_run *run, weir_err *err);
/* totals.c: devices, nodes, steps, total; checks conservation. */
weir_code ledger_totals(ledger_run *run, weir_err *err);
/* collectives.c */
weir_code ledger_collectives(ledger_run *run, weir_err *err);
/* efficiency.c */
weir_code ledger_efficiency(ledger_run *run, weir_err *err);
/* kernels.c */
weir_code ledger_kernels(ledger_run *run, weir_err *err);

/* Small questions that several files ask. */
int64_t ledger_end(const ledger_run *run, weir_span_id span);           /* own clock */
const char *ledger_node_name(const ledger_run *run, weir_rank_id rank); /* copied to the arena */
/* names.c: what each group is for; before ledger_axis is asked. */
weir_code ledger_axes(ledger_run *run, weir_err *err);
const char *ledger_axis(const ledger_run *run, const weir_instance *instance);
/* "in_node", "between_nodes", or NULL where hosts are not recorded; told tiers may be farther. */
const char *ledger_tier(const ledger_run *run, const weir_instance *instance);
/* How many instances alike this one stands for. */
uint32_t ledger_times(const ledger_run *run, uint32_t instance);
/* The tiers by name, nearest first, LEDGER_TIERS of them; where a tier stands among them, and
 * LEDGER_TIERS for NULL. */
enum { LEDGER_TIERS = 4 };
const char *ledger_tier_name(int place);
int ledger_tier_place(const char *tier);
/* lookup.c: the first span of lane that starts after t; first_span + span_count where none does. */
weir_span_id ledger_first_after(const ledger_run *run, const weir_lane *lane, int64_t t);
/* Of the spans whose end an event makes `span` wait for: the one that ends last, or WEIR_NONE. */
weir_span_id ledger_producer(const ledger_run *run, weir_span_id span);
/* How much of a line lies in the device's window. */
int64_t ledger_in_window(const ledger_device *device, const weir_line *line);
/* The host span on lane at local moment t that is innermost, or WEIR_NONE. */
weir_span_id ledger_innermost(const ledger_run *run, const weir_lane *lane, int64_t t);
/* Line of the device that holds t, or line_count. */
uint32_t ledger_line_at(const ledger_device *device, int64_t t);

#endif
