/* classify.h: what bounds each device span, and which cause it has (DESIGN 2.2, 2.3).
 *
 * In two steps: names once each (the families of presets/kernels.yaml), then spans, where shapes,
 * step markers, graph sizes, grid and tile overrule the name.
 *
 * Not here: launches and collectives (match/), the roofline rule itself (machine/). */
#ifndef WEIR_CLASSIFY_CLASSIFY_H
#define WEIR_CLASSIFY_CLASSIFY_H

#include "timeline/waits.h"
#include "weir/timeline.h"

typedef enum {
    WEIR_CLASS_MATH = 0, /* A: bound by arithmetic */
    WEIR_CLASS_MEMORY,   /* M: bound by memory */
    WEIR_CLASS_COMM,     /* N: communication */
    WEIR_CLASS_COPY,     /* P: copies and fills */
    WEIR_CLASS_COUNT
} weir_class;

typedef enum {                      /* how the class became known */
               WEIR_BY_COUNTED = 0, /* simulation, or counted FLOPs and bytes */
               WEIR_BY_SHAPE,
               WEIR_BY_MARKER,
               WEIR_BY_NAME,
               WEIR_BY_NOTHING, /* unknown */
               WEIR_BY_COUNT
} weir_evidence;

/* What a kernel's name alone tells. */
typedef struct {
    bool known;        /* some family matched */
    bool is_gemm;      /* a GEMM is not arithmetic by name: rows decide */
    bool is_experts;   /* a GEMM whose rows are shared out among experts */
    bool is_attention; /* prefill or decode is told by name, shape or marker */
    weir_class cls;
    weir_cause cause;
    weir_comm_kind comm; /* of WEIR_CLASS_COMM; UNKNOWN, SEND_RECV where the name does not tell */
    uint32_t family;     /* row of families, WEIR_NONE where none matched */
} weir_name_class;

typedef struct weir_families weir_families;

/* The families of the presets (embedded in the binary), with those of extra_path (NULL = none)
 * tried first. Errors name file, line, what was found and what was expected. */
weir_code weir_families_load(const char *extra_path, weir_families **families, weir_err *err);
void weir_families_free(weir_families *families);
weir_name_class weir_families_classify(const weir_families *families, weir_str kernel_name);
const char *weir_families_name(const weir_families *families, uint32_t family); /* "cublas-gemm" */

typedef struct {
    /* by name id, name_count long; only meaningful for names of device spans */
    weir_name_class *names;
    bool *is_comm;
    weir_comm_kind *comm_kind;
    uint32_t name_count;
} weir_name_classes;

/* Classifies every name of the timeline that a device span carries. */
weir_code weir_classify_names(const weir_timeline *t, const weir_families *families,
                              weir_name_classes *names, weir_err *err);
void weir_name_classes_clear(weir_name_classes *names);

typedef struct {
    /* by device span, span_count long */
    uint8_t *cls;      /* weir_class */
    uint8_t *cause;    /* weir_cause; of communication: by collective kind */
    uint8_t *evidence; /* weir_evidence */
    float *flop;       /* 0 = not known; NULL where nothing has shapes */
    uint32_t span_count;
} weir_span_classes;

/* launch: by device span, its launching host span or WEIR_NONE (match/). instance_kind: by device
 * span, the resolved kind of its collective (match/), WEIR_COMM_UNKNOWN where none; may be NULL. */
weir_code weir_classify_spans(const weir_timeline *t, const weir_name_classes *names,
                              const weir_span_id *launch, const weir_comm_kind *instance_kind,
                              weir_span_classes *spans, weir_err *err);
void weir_span_classes_clear(weir_span_classes *spans);

/* Peak FLOP/s of the device for the 16-bit dense format that GEMMs run in, from
 * presets/accelerators by deviceProperties name; 0 = unknown accelerator. */
double weir_classify_peak_flops(const weir_timeline *t, weir_rank_id rank);

/* What a host span's name says of idle time under it (presets/host-spans.yaml, DESIGN 2.4). */
typedef enum {
    WEIR_HOST_OTHER = 0,
    WEIR_HOST_DATA,
    WEIR_HOST_ALLOCATOR,
    WEIR_HOST_COMPILE,
    WEIR_HOST_CHECKPOINT,
    WEIR_HOST_SYNC, /* a blocking synchronisation with the device */
    WEIR_HOST_COUNT
} weir_host_activity;

typedef struct weir_host_names weir_host_names;
weir_code weir_host_names_load(weir_host_names **names, weir_err *err);
void weir_host_names_free(weir_host_names *names);
weir_host_activity weir_host_names_classify(const weir_host_names *names, weir_span_kind kind,
                                            weir_str name);

#endif
