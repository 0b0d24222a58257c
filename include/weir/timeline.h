/* timeline.h: what ran, where and when: the one object that measured and simulated runs share.
 *
 * A timeline is built by appending (one writer), then sealed, and never edited after that; a sealed
 * timeline may be read by any number of threads. Columns, not rows: 40 bytes a span, plus the side
 * tables. Sealing sorts spans by (lane, start, longer first, order of arrival); lanes are sorted so
 * that all device lanes come first, therefore device spans have the ids 0 .. device_span_count-1.
 *
 * Times are int64 nanoseconds of the clock of the rank's own host. They are appended as they were
 * read (Unix ns in measured runs); sealing subtracts the earliest start of all spans, which is then
 * weir_timeline_origin_ns(). Clocks of different hosts are aligned by match/, not here.
 *
 * Not here: what a span waited for (ledger/), its class (classify/), launches (match/). */
#ifndef WEIR_TIMELINE_H
#define WEIR_TIMELINE_H

#include "weir/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Indices into the tables of one timeline. WEIR_NONE where there is nothing. */
typedef uint32_t weir_rank_id;   /* a process whose profile was read: a row of ranks */
typedef uint32_t weir_device_id; /* an accelerator driven by a rank: a row of devices */
typedef uint32_t weir_lane_id;
typedef uint32_t weir_name_id; /* an interned string; 0 is the empty string */
typedef uint32_t weir_group_id;
typedef uint32_t weir_span_id;

typedef enum {
    WEIR_LANE_STREAM = 0, /* of a device */
    WEIR_LANE_THREAD,     /* of a host process */
} weir_lane_kind;

typedef enum {
    WEIR_SPAN_KERNEL = 0, /* device */
    WEIR_SPAN_MEMCPY,     /* device */
    WEIR_SPAN_MEMSET,     /* device */
    WEIR_SPAN_OP,         /* host: cpu_op */
    WEIR_SPAN_ANNOTATION, /* host: user_annotation */
    WEIR_SPAN_RUNTIME,    /* host: cuda_runtime, cuda_driver, hip, mtia_runtime, ... */
    WEIR_SPAN_PYTHON,     /* host: python_function, only on request */
} weir_span_kind;

enum {                        /* bits of weir_spans.flags */
       WEIR_SPAN_GRAPH = 1,   /* device: belongs to a CUDA/HIP graph replay */
       WEIR_SPAN_OPEN = 2,    /* host: had not finished when the capture ended */
       WEIR_SPAN_CLAMPED = 4, /* its duration was repaired; counted in the diagnostics */
};

typedef struct {
    int32_t number;               /* global rank, or the number given to it (numbered = true) */
    uint32_t world_size;          /* 0 = unknown */
    weir_name_id node;            /* host name; ranks of one node share a clock */
    weir_name_id file;            /* the path it was read from */
    weir_name_id device_name;     /* deviceProperties name, "" = unknown */
    uint32_t sm_count;            /* of the device; 0 = unknown */
    uint64_t device_memory_bytes; /* 0 = unknown */
    bool numbered;                /* no rank in file or name: numbered by order of files */
    bool cut;                     /* the file ended before its document did */
    uint32_t multiplicity;        /* ranks alike that it stands for; 0 counts as 1 */
} weir_rank;

typedef struct {
    weir_rank_id rank;
    int32_t number; /* device index as the profiler wrote it */
    weir_lane_id first_lane;
    uint32_t lane_count;   /* its streams: lanes first_lane .. first_lane + lane_count - 1 */
    uint32_t multiplicity; /* ranks alike that this one stands for; 1 in measured runs */
} weir_device;

typedef struct {
    weir_lane_kind kind;
    weir_rank_id rank;
    weir_device_id device; /* WEIR_NONE for threads */
    int64_t group;         /* device number, or process id */
    int64_t number;        /* stream, or thread id */
    weir_name_id label;    /* thread_name, "" = none */
    weir_span_id first_span;
    uint32_t span_count; /* spans first_span .. first_span + span_count - 1, by start */
} weir_lane;

/* Columns of the sealed spans, `count` long; borrowed until the timeline is freed. */
typedef struct {
    uint32_t count;
    uint32_t device_count; /* spans 0 .. device_count-1 are on device lanes */
    const int64_t *start_ns;
    const int64_t *dur_ns; /* >= 0 */
    const weir_lane_id *lane;
    const weir_name_id *name;
    const uint32_t *correlation; /* links a device span to its launch, within one rank; 0 = none */
    const uint32_t
        *external; /* links a device or runtime span to its op, within one rank; 0 = none */
    const uint32_t *detail; /* see below */
    const uint8_t *kind;    /* weir_span_kind */
    const uint8_t *flags;
} weir_spans;
/* detail: KERNEL, MEMCPY, MEMSET: row of the shapes table, or, with the bit WEIR_DETAIL_COMM, row
 * of comms. OP: row of comms likewise (record_param_comms), or the name id of "Input Dims\nInput
 * type\nConcrete Inputs" (verbatim JSON text) for operations whose FLOPs can be counted, else 0.
 * WEIR_NONE where there is none. */
#define WEIR_DETAIL_COMM 0x80000000u

/* How a kernel was launched; equal rows are stored once. 0 = not recorded. */
typedef struct {
    uint32_t grid[3], block[3];
    uint32_t graph_id; /* CUDA graph */
    uint32_t registers;
    uint64_t bytes; /* of a copy or memset */
    uint32_t
        told_cause;    /* 1 + weir_cause (timeline/waits.h) that a simulation wrote down; 0: none */
    uint32_t reserved; /* 0 */
} weir_shape;

typedef enum {
    WEIR_COMM_UNKNOWN = 0,
    WEIR_COMM_ALL_REDUCE,
    WEIR_COMM_ALL_GATHER,
    WEIR_COMM_REDUCE_SCATTER,
    WEIR_COMM_ALL_TO_ALL,
    WEIR_COMM_BROADCAST,
    WEIR_COMM_REDUCE,
    WEIR_COMM_GATHER,
    WEIR_COMM_SCATTER,
    WEIR_COMM_BARRIER,
    WEIR_COMM_SEND,
    WEIR_COMM_RECV,
    WEIR_COMM_SEND_RECV, /* a bare SendRecv kernel: message or all-to-all, nothing told yet */
    WEIR_COMM_KIND_COUNT
} weir_comm_kind;

/* What the profiler recorded of one communication span (side table of kernels). */
typedef struct {
    weir_comm_kind kind;                /* from "Collective name"; UNKNOWN where not recorded */
    weir_group_id group;                /* WEIR_NONE = not recorded */
    int64_t seq;                        /* "Seq" of the process group; -1 = not recorded */
    uint64_t in_elements, out_elements; /* of "In/Out msg nelems"; 0 = not recorded */
    uint32_t element_bytes;             /* of dtype; 0 = not recorded */
    int32_t src_rank, dst_rank;         /* of a message, -1 = none */
    uint32_t shape;                     /* row of shapes; 0: none */
} weir_comm;

/* A process group as the files describe it; equal groups of different files are one row. */
typedef struct {
    weir_name_id name;        /* "0", "dp" ... */
    weir_name_id description; /* "default_pg", "TENSOR_MODEL_PARALLEL_GROUP", ... "" = none */
    uint32_t size;            /* 0 = unknown */
    uint32_t rank_count;      /* of ranks below; 0 where the list was absent or cut ("...") */
    const int32_t *ranks;     /* ascending global ranks */
} weir_group;

typedef struct weir_timeline weir_timeline;

/* budget may be NULL and must outlive the timeline. NULL on lack of memory. */
WEIR_API weir_timeline *weir_timeline_new(weir_budget *budget);
WEIR_API void weir_timeline_free(weir_timeline *timeline); /* NULL is fine */

/* --- building: one thread, before sealing --- */

/* Copies text; the same text always gives the same id. *id is untouched on failure. */
WEIR_API weir_code weir_timeline_intern(weir_timeline *t, weir_str text, weir_name_id *id,
                                        weir_err *err);
WEIR_API weir_code weir_timeline_add_rank(weir_timeline *t, const weir_rank *rank, weir_rank_id *id,
                                          weir_err *err);
/* Finds or adds the lane (kind, rank, group, number). */
WEIR_API weir_code weir_timeline_add_lane(weir_timeline *t, weir_lane_kind kind, weir_rank_id rank,
                                          int64_t group, int64_t number, weir_lane_id *id,
                                          weir_err *err);
WEIR_API void weir_timeline_label_lane(weir_timeline *t, weir_lane_id lane, weir_name_id label);
WEIR_API weir_code weir_timeline_add_shape(weir_timeline *t, const weir_shape *shape,
                                           uint32_t *detail, weir_err *err);
/* ranks: ascending, copied; equal groups (name, description, size, ranks) get one id. */
WEIR_API weir_code weir_timeline_add_group(weir_timeline *t, const weir_group *group,
                                           weir_group_id *id, weir_err *err);
WEIR_API weir_code weir_timeline_add_comm(weir_timeline *t, const weir_comm *comm, uint32_t *detail,
                                          weir_err *err);

typedef struct {
    int64_t start_ns, dur_ns; /* dur_ns >= 0 */
    weir_lane_id lane;
    weir_name_id name;
    uint32_t correlation, external, detail;
    weir_span_kind kind;
    uint8_t flags;
} weir_new_span;
WEIR_API weir_code weir_timeline_add_span(weir_timeline *t, const weir_new_span *span,
                                          weir_err *err);

/* A stream that was told to wait for an event: what `waiting_stream` was given after the call
 * `wait_correlation` cannot start before what `recorded_stream` had been given when the call
 * `record_correlation` was made has ended. match/ turns these into edges between spans. */
typedef struct {
    weir_rank_id rank;
    int64_t device; /* number of the device */
    int64_t waiting_stream;
    uint32_t wait_correlation; /* of the runtime call that waits */
    int64_t recorded_stream;
    uint32_t record_correlation; /* of the runtime call that recorded the event */
} weir_event_wait;
WEIR_API weir_code weir_timeline_add_event_wait(weir_timeline *t, const weir_event_wait *wait,
                                                weir_err *err);

/* Sorts, freezes, builds devices. After it only the functions below may be called. */
WEIR_API weir_code weir_timeline_seal(weir_timeline *t, weir_err *err);

/* --- reading: after sealing; every pointer is good until weir_timeline_free --- */

WEIR_API weir_spans weir_timeline_spans(const weir_timeline *t);
WEIR_API const weir_rank *weir_timeline_ranks(const weir_timeline *t, uint32_t *count);
WEIR_API const weir_device *weir_timeline_devices(const weir_timeline *t, uint32_t *count);
WEIR_API const weir_lane *weir_timeline_lanes(const weir_timeline *t, uint32_t *count);
WEIR_API const weir_group *weir_timeline_groups(const weir_timeline *t, uint32_t *count);
WEIR_API const weir_comm *weir_timeline_comms(const weir_timeline *t, uint32_t *count);
WEIR_API const weir_shape *weir_timeline_shapes(const weir_timeline *t, uint32_t *count);
WEIR_API const weir_event_wait *weir_timeline_event_waits(const weir_timeline *t, uint32_t *count);
WEIR_API weir_str weir_timeline_name(const weir_timeline *t, weir_name_id id);
WEIR_API uint32_t weir_timeline_name_count(const weir_timeline *t);
WEIR_API int64_t weir_timeline_origin_ns(const weir_timeline *t); /* Unix ns of time 0 */

/* Shorthands over the tables above, for device and OP spans. */
WEIR_API const weir_comm *weir_timeline_comm_of(const weir_timeline *t,
                                                weir_span_id span); /* or NULL */
WEIR_API const weir_shape *weir_timeline_shape_of(const weir_timeline *t,
                                                  weir_span_id span); /* or NULL */
WEIR_API const char *weir_comm_kind_name(weir_comm_kind kind);        /* "all_reduce", ... */

#ifdef __cplusplus
}
#endif
#endif
