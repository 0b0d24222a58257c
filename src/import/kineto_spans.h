/* kineto_spans.h: events of one file -> spans of a shard, with what the file says about its ranks.
 *
 * Not here: how events are found in the file (kineto_file.c), several files (kineto.c). */
#ifndef WEIR_IMPORT_KINETO_SPANS_H
#define WEIR_IMPORT_KINETO_SPANS_H

#include "base/intern.h"
#include "import/kineto.h"
#include "import/kineto_event.h"

enum {
    KINETO_MAX_PROCESSES = 4096,
    KINETO_PLACES = 256,
    KINETO_LABELS = 1024,
    KINETO_MAX_GROUPS = 1 << 16
};

/* What one file turned into. Zero-initialise, then kineto_shard_init. */
typedef struct {
    weir_timeline *shard;
    weir_diags diags;
    weir_str file; /* for messages, borrowed */
    /* from the metadata; INT64_MIN or "" where absent (names are ids of the shard) */
    int64_t rank, world_size, base_ns;
    weir_name_id host, trace_name;
    struct kineto_device {
        weir_name_id name;
        uint32_t sm_count;
        uint64_t memory_bytes;
    } * devices;
    uint32_t device_count;
    /* process labels of merged files ("[TP01]"): one rank each; row 0 is the unlabelled one */
    weir_name_id labels[KINETO_LABELS];
    weir_rank_id label_ranks[KINETO_LABELS];
    uint32_t last_label; /* row that was asked for last */
    uint32_t label_count;
    uint64_t device_spans;
    int64_t earliest_ns;   /* start of its first span; INT64_MAX = no span */
    int64_t argument_rank; /* "Rank" of a collective; INT64_MIN = none */
    bool cut, is_bare_array, has_events;
    /* caches */
    struct kineto_lane_cache {
        int64_t pid, tid;
        weir_lane_id lane;
        uint32_t label;
        uint8_t kind, used;
    } lanes[KINETO_PLACES];
    uint8_t *name_flags; /* by name id: what is known of the name, see the .c file */
    uint32_t name_flag_count;
    weir_intern *group_keys;  /* arguments that name a group; id 0 is unused */
    weir_group_id *group_ids; /* by key - 1 */
    uint32_t group_count, group_capacity;
    struct kineto_label_row {
        int64_t pid, tid;
        weir_name_id label, text; /* process label, thread name */
    } * thread_names;
    uint32_t thread_name_count, thread_name_capacity;
    char *scratch; /* for unescaping */
    size_t scratch_capacity;
} kineto_shard;

weir_code kineto_shard_init(kineto_shard *s, weir_str file, weir_budget *budget, weir_err *err);
void kineto_shard_clear(kineto_shard *s);

/* line, column: where the event begins, for diagnostics (computed lazily through the callback). */
typedef struct {
    uint64_t (*line)(void *context, uint64_t *column);
    void *context;
} kineto_where;

/* Adds what the event says. Events without use change nothing. */
weir_code kineto_shard_add(kineto_shard *s, kineto_event *event, const kineto_where *where,
                           weir_err *err);
/* kineto_event_options.wants_shapes; context is the shard. */
bool kineto_shard_wants_shapes(void *shard, const kineto_event *event);
/* A member of the top-level object other than traceEvents; value is its raw text. */
weir_code kineto_shard_metadata(kineto_shard *s, weir_str key, weir_str value, weir_err *err);
/* After the last event: thread names, groups, device names. */
void kineto_shard_finish(kineto_shard *s);

/* Counts one diagnostic at the place of the current event. */
void kineto_shard_diag(kineto_shard *s, const char *kind, bool loss, const kineto_where *where,
                       weir_str excerpt);

#endif
