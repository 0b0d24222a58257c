/* result.h: the one object that text, JSON, CSV, HTML and pictures are drawn from.
 *
 * The fields are those of reference/output.md, in its order; docs/schema/ has the JSON Schema.
 * A result owns one arena: every pointer in it lives there and dies with weir_result_free. All
 * _ns are int64 nanoseconds. Shares are 0..1.
 *
 * Not here: how the numbers come about (ledger/), how they are shown (report/). */
#ifndef WEIR_RESULT_RESULT_H
#define WEIR_RESULT_RESULT_H

#include "base/arena.h"
#include "base/diag.h"
#include "result/fabric_result.h"
#include "result/lines.h"
#include "result/training_result.h"
#include "timeline/waits.h"
#include "weir/timeline.h"

typedef struct {
    int64_t ns[WEIR_WAIT_COUNT];
} weir_waits;

typedef struct {
    int64_t ns[WEIR_CAUSE_COUNT];
} weir_causes;

typedef struct {
    int64_t communication_ns; /* transfer that ran under computation */
    int64_t arrival_wait_ns;  /* waiting for members under computation */
    int64_t copy_ns;
} weir_hidden;

typedef struct {
    weir_causes planned, steady, erratic, unknown; /* add up to the causes */
    uint32_t places_for_half;
} weir_control;

typedef enum {
    WEIR_REASON_UNKNOWN = 0,
    WEIR_REASON_LATE_HOST,
    WEIR_REASON_MORE_WORK,
    WEIR_REASON_SLOW_DEVICE,
    WEIR_REASON_SLOW_LINK,
    WEIR_REASON_ABSENT,
    WEIR_REASON_COUNT
} weir_reason;
const char *weir_reason_name(weir_reason reason); /* "late_host", ... */

typedef struct { /* exposed communication by cause and tier */
    weir_cause cause;
    const char *tier; /* "in_node", "between_nodes"; NULL = unknown */
    int64_t ns;
} weir_communication_part;

typedef struct { /* the same in a simulated run, which also knows what it consists of */
    weir_cause cause;
    const char *tier;                  /* NULL = unknown */
    weir_communication_kind_part part; /* WEIR_PART_COUNT = unknown */
    int64_t ns;
} weir_communication_share;

/* The ledger of one device, node, axis or step: whatever the row is of. */
typedef struct {
    int64_t wall_ns;
    weir_waits waits;
    weir_causes causes;
    weir_hidden hidden;
} weir_account;

typedef struct {
    int32_t rank;
    const char *node;
    int32_t device; /* number as the profiler wrote it */
    uint32_t multiplicity;
    weir_account account;
    struct { /* over everything recorded, whatever the window: plain unions */
        int64_t span_ns, busy_ns, compute_ns, communication_ns, copy_ns,
            communication_under_compute_ns;
    } intervals;
    struct {
        uint32_t instances;
        int64_t arrival_wait_ns, transfer_ns, unsplit_ns;
    } collectives;
} weir_device_row;

typedef struct {
    int64_t index;            /* number of the step marker */
    int64_t begin_ns, end_ns; /* aligned, Unix ns: first begin and last end over the devices */
    weir_account account;     /* over all devices */
} weir_step_row;

typedef struct { /* --by node */
    const char *node;
    uint32_t devices;
    weir_account account;
} weir_node_row;

typedef struct {
    int32_t rank;   /* -1 = absent, JSON null */
    int32_t device; /* number as the profiler wrote it; -1 = absent */
    const char *node;
    const char *axis;
    int32_t origin_rank;   /* -1 = unknown, JSON null */
    int64_t waited_for_ns; /* sum over the devices that waited */
    weir_reason reason;
    double factor; /* of slow_device and more_work: time over the group's median; else 1 */
    bool has_host_cause;
    weir_cause host_cause; /* of late_host */
    uint32_t instances;
} weir_straggler_row;

typedef struct {
    weir_comm_kind kind;
    const char *group; /* name or description; "" = not recorded */
    const char *axis;  /* "data", "tensor", "pipeline", "context", "expert", "world", "unknown" */
    const char *tier;  /* NULL = unknown */
    uint32_t ranks;
    bool complete; /* all instances are */
    uint32_t instances;
    uint64_t bytes;                                   /* of all instances; 0 = unknown */
    int64_t transfer_ns, arrival_wait_ns, unsplit_ns; /* sums over members, hidden or not */
    int64_t exposed_ns; /* transfer and arrival wait that the ledger holds */
    double algorithm_bandwidth_bytes_per_s, bus_bandwidth_bytes_per_s; /* 0 = unknown, JSON null */
} weir_collective_row;

typedef struct {        /* --by kernel, --unknown-kernels */
    const char *name;   /* as recorded; escape before showing */
    const char *family; /* NULL = unknown */
    weir_cause cause;   /* that most of its time has */
    const char *cls;    /* "math", "memory", "communication", "copy" */
    uint64_t count;
    int64_t ns; /* sum of durations */
} weir_kernel_row;

typedef struct {
    int32_t rank;
    const char *lane;
    const char *name;
    int64_t begin_ns, end_ns; /* aligned clock */
    weir_cause cause;
    weir_span_id span; /* WEIR_NONE = waiting between spans */
} weir_path_segment;

typedef struct {
    const char *loss; /* "kernels", "memory", "network", "stragglers", "host", "rest" */
    double share;
} weir_ladder_step;

typedef struct {
    const char *command; /* "trace" */
    bool simulated;
    const char **inputs;
    uint32_t input_count;
    struct weir_preset_row { /* what was read of presets/, and the user's own files */
        const char *name;
        const char *hash; /* 16 hexadecimal digits of the bytes (weir_hash) */
    } * presets;
    uint32_t preset_count;
    struct weir_scenario_row { /* what was simulated, key by key, as --set takes them */
        const char *key, *value;
    } * scenario;
    uint32_t scenario_count;
    const char *scenario_hash; /* 16 hexadecimal digits; NULL: measured */
    uint64_t seed;
    struct {
        int64_t begin_ns, end_ns; /* aligned, Unix ns */
        uint32_t steps, devices, ranks, nodes;
        int64_t step_ns; /* mean wall time of a step; 0 without steps */
    } window;
    struct {
        weir_wait wait;
        weir_cause cause;
        double share; /* of total.wall_ns */
        const char *sentence;
        bool blames;
        int32_t rank, device;
        const char *node;
        weir_reason reason;
    } verdict;
    weir_account total;
    weir_communication_part *communication;
    uint32_t communication_count;
    weir_communication_share *communication_shares; /* simulated: instead of communication */
    uint32_t communication_share_count;
    weir_control control;
    weir_device_row *devices;
    uint32_t device_count;
    weir_node_row *nodes;
    uint32_t node_count;
    weir_step_row *steps;
    uint32_t step_count;
    struct {
        int64_t length_ns;
        weir_waits waits;
        weir_causes causes;
        struct weir_rank_share {
            int32_t rank;
            int64_t ns;
        } * ranks; /* most first */
        uint32_t rank_count;
        weir_path_segment *segments; /* in time order; filled only on request */
        uint32_t segment_count;
        int64_t slack_ns; /* median over devices of what they could be slower without making the
                           * window longer: their waiting for others and their tail */
    } critical_path;
    weir_straggler_row *stragglers; /* most waited for first */
    uint32_t straggler_count;
    weir_collective_row *collectives; /* most exposed first */
    uint32_t collective_count;
    struct {
        double mfu;                   /* < 0 = not known, JSON null */
        double peak_share_in_compute; /* < 0 = not known */
        weir_ladder_step ladder[8];
        uint32_t ladder_count;  /* 0 = not known, JSON null */
        int64_t overlap_tax_ns; /* < 0 = not known */
    } efficiency;
    struct {
        bool aligned;
        uint32_t hosts;
        int64_t max_offset_ns, residual_ns;
        struct weir_clock_row {
            const char *node;
            bool linked;             /* to the clock of the first host */
            int64_t offset_ns;       /* added to its moments, at drift_origin_ns */
            double drift;            /* ns per ns */
            int64_t drift_origin_ns; /* Unix ns, of the host's own clock */
        } * nodes;
        uint32_t node_count;
    } clock;
    double classes[5];        /* share of device busy time by weir_evidence: counted .. unknown */
    weir_kernel_row *kernels; /* most time first; filled only on request */
    uint32_t kernel_count;
    weir_training_result *training; /* of a training step; NULL: none */
    weir_fabric_result *fabric;     /* comparison of networks; NULL: none */
    weir_fabric_sweep *sweep;       /* --sweep; NULL: none */
    weir_fabric_find *finds;        /* --find */
    uint32_t find_count;
    weir_fabric_mix *mix;        /* --mix; NULL: none */
    weir_nccl_run_row *compared; /* --compare */
    uint32_t compared_count;
    bool with_links; /* series.links is asked for */
    /* series.timeline is asked for: what the devices did, moment by moment. Borrowed; NULL: not */
    const weir_timeline *timeline;
    const weir_lines *lines;
    weir_diags diags; /* what was dropped or repaired */
    const char **notes;
    uint32_t note_count, note_capacity;
    weir_arena *arena; /* owns all of the above, except diags (owned too, freed with it) */
} weir_result;

weir_result *weir_result_new(void); /* NULL: no memory */
void weir_result_free(weir_result *result);
/* Copies into the arena; NULL on lack of memory. */
const char *weir_result_copy(weir_result *result, weir_str text);
const char *weir_result_printf(weir_result *result, const char *fmt, ...) WEIR_PRINTF(2, 3);
/* Adds a note (formatted, copied); lost on lack of memory. The same text is kept once. */
void weir_result_note(weir_result *result, const char *fmt, ...) WEIR_PRINTF(2, 3);

#endif
