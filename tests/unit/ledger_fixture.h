/* ledger_fixture.h: small timelines, drawn by hand, and the ledger that is made of them.
 *
 * Times are whole microseconds on the clock of the rank's host; a question about the ledger is
 * answered in microseconds too, and fails where a figure is not whole. Kernels have real names, so
 * that the presets class them.
 *
 * Not here: clocks that differ (match_fixture.h). */
#ifndef WEIR_TESTS_LEDGER_FIXTURE_H
#define WEIR_TESTS_LEDGER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

/* One name for each class of span. */
#define MATH       "void cudnn::winograd_nonfused::implicit_convolve_sgemm<float, 1024>(int)"
#define MATH_TOO   "void cudnn::detail::wgrad2d_implicit_convolve<float, 512>(int)"
#define MEMORY     "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>(int)"
#define COPY       "Memcpy HtoD (Pinned -> Device)"
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
#define SEND_RECV  "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"

#define LEDGER_OK(call) assert_int_equal((call), WEIR_OK)

typedef struct {
    weir_timeline *t;
    weir_families *families;
    weir_host_names *host_names;
    weir_match match;
    weir_name_classes names;
    weir_span_classes classes;
    weir_result *result;
    weir_lines lines;
    weir_err err;
    weir_ledger_options options;
    uint32_t next_correlation;
    int64_t next_seq;
} ledger_fixture;

/* Where a span runs: a stream of a rank's device, or a thread of its process. */
typedef struct {
    weir_rank_id rank;
    int64_t device; /* number; host spans: ignored */
    int64_t lane;   /* stream or thread */
} place;

typedef struct {
    int64_t begin_us, end_us;
} stretch;

static inline place on(weir_rank_id rank, int64_t lane)
{
    return (place){rank, 0, lane};
}

static inline stretch us(int64_t begin_us, int64_t end_us)
{
    return (stretch){begin_us, end_us};
}

static inline void ledger_fixture_open(ledger_fixture *f)
{
    memset(f, 0, sizeof *f);
    f->t = weir_timeline_new(NULL);
    f->result = weir_result_new();
    f->next_correlation = 100;
    f->options.segments = true;
    f->options.threads = 1;
    assert_non_null(f->t);
    assert_non_null(f->result);
    LEDGER_OK(weir_families_load(NULL, &f->families, &f->err));
    LEDGER_OK(weir_host_names_load(&f->host_names, &f->err));
}

static inline void ledger_fixture_close(ledger_fixture *f)
{
    weir_lines_clear(&f->lines);
    weir_result_free(f->result);
    weir_span_classes_clear(&f->classes);
    weir_match_clear(&f->match);
    weir_name_classes_clear(&f->names);
    weir_host_names_free(f->host_names);
    weir_families_free(f->families);
    weir_timeline_free(f->t);
}

static inline weir_name_id name_id(ledger_fixture *f, const char *text)
{
    weir_name_id id = 0;
    LEDGER_OK(weir_timeline_intern(f->t, weir_str_from(text), &id, &f->err));
    return id;
}

static inline weir_rank_id add_rank(ledger_fixture *f, int32_t number, uint32_t world, bool cut)
{
    weir_rank rank = {
        .number = number, .world_size = world, .node = name_id(f, "host"), .cut = cut};
    weir_rank_id id = 0;
    LEDGER_OK(weir_timeline_add_rank(f->t, &rank, &id, &f->err));
    return id;
}

/* Ranks 0 .. count-1 of one host. */
static inline void add_ranks(ledger_fixture *f, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        assert_int_equal(add_rank(f, (int32_t)r, count, false), r);
    }
}

static inline weir_group_id add_group(ledger_fixture *f, const char *name, const int32_t *ranks,
                                      uint32_t count)
{
    weir_group group = {.name = name_id(f, name),
                        .description = name_id(f, name),
                        .size = count,
                        .rank_count = count,
                        .ranks = ranks};
    weir_group_id id = 0;
    LEDGER_OK(weir_timeline_add_group(f->t, &group, &id, &f->err));
    return id;
}

static inline void add_span(ledger_fixture *f, weir_lane_kind lane_kind, place p,
                            weir_new_span *span, stretch when)
{
    bool stream = lane_kind == WEIR_LANE_STREAM;
    LEDGER_OK(weir_timeline_add_lane(f->t, lane_kind, p.rank,
                                     stream ? p.device : 1000 + (int64_t)p.rank, p.lane,
                                     &span->lane, &f->err));
    span->start_ns = when.begin_us * 1000;
    span->dur_ns = (when.end_us - when.begin_us) * 1000;
    LEDGER_OK(weir_timeline_add_span(f->t, span, &f->err));
}

/* A host span; for calls of the runtime the correlation to hand to what it launches. */
static inline uint32_t add_host(ledger_fixture *f, place thread, weir_span_kind kind,
                                const char *name, stretch when)
{
    weir_new_span span = {.name = name_id(f, name), .detail = WEIR_NONE, .kind = kind};
    span.correlation = kind == WEIR_SPAN_RUNTIME ? f->next_correlation++ : 0;
    add_span(f, WEIR_LANE_THREAD, thread, &span, when);
    return span.correlation;
}

/* A launch of 1 us on thread 1 of the rank. */
static inline uint32_t add_launch(ledger_fixture *f, weir_rank_id rank, int64_t at_us)
{
    return add_host(f, on(rank, 1), WEIR_SPAN_RUNTIME, "cudaLaunchKernel", us(at_us, at_us + 1));
}

static inline void add_step(ledger_fixture *f, weir_rank_id rank, const char *name, stretch when)
{
    add_host(f, on(rank, 1), WEIR_SPAN_ANNOTATION, name, when);
}

/* correlation: of the launch; 0 = none recorded. */
static inline void add_kernel(ledger_fixture *f, place stream, const char *name, stretch when,
                              uint32_t correlation)
{
    weir_new_span span = {.name = name_id(f, name),
                          .correlation = correlation,
                          .detail = WEIR_NONE,
                          .kind = strncmp(name, "Memcpy", 6) == 0 ? WEIR_SPAN_MEMCPY
                                                                  : WEIR_SPAN_KERNEL};
    add_span(f, WEIR_LANE_STREAM, stream, &span, when);
}

/* What the profiler recorded of a collective. */
static inline weir_comm collective(weir_group_id group, int64_t seq, uint64_t elements)
{
    return (weir_comm){.kind = WEIR_COMM_ALL_REDUCE,
                       .group = group,
                       .seq = seq,
                       .in_elements = elements,
                       .out_elements = elements,
                       .element_bytes = 4,
                       .src_rank = -1,
                       .dst_rank = -1,
                       .shape = 0};
}

static inline weir_comm message(weir_comm_kind kind, int32_t source, int32_t destination)
{
    return (weir_comm){.kind = kind,
                       .group = WEIR_NONE,
                       .seq = -1,
                       .in_elements = 1000,
                       .out_elements = 1000,
                       .element_bytes = 4,
                       .src_rank = source,
                       .dst_rank = destination,
                       .shape = 0};
}

static inline void add_comm(ledger_fixture *f, place stream, const weir_comm *comm, stretch when,
                            uint32_t correlation)
{
    weir_new_span span = {.correlation = correlation, .kind = WEIR_SPAN_KERNEL};
    span.name = name_id(f, comm->kind == WEIR_COMM_ALL_REDUCE ? ALL_REDUCE : SEND_RECV);
    LEDGER_OK(weir_timeline_add_comm(f->t, comm, &span.detail, &f->err));
    add_span(f, WEIR_LANE_STREAM, stream, &span, when);
}

/* As the command does it: names, match, classes, ledger. */
static inline weir_code make_ledger_code(ledger_fixture *f)
{
    LEDGER_OK(weir_timeline_seal(f->t, &f->err));
    LEDGER_OK(weir_classify_names(f->t, f->families, &f->names, &f->err));
    weir_match_options options = {f->names.is_comm, f->names.comm_kind, 1};
    LEDGER_OK(weir_match_build(f->t, &options, &f->match, &f->err));
    uint32_t count = weir_timeline_spans(f->t).device_count;
    weir_comm_kind *kinds = calloc(count + (size_t)1, sizeof *kinds);
    assert_non_null(kinds);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t instance = f->match.instance_of_span[i];
        kinds[i] = instance == WEIR_NONE ? WEIR_COMM_UNKNOWN : f->match.instances[instance].kind;
    }
    LEDGER_OK(weir_classify_spans(f->t, &f->names, f->match.launch, kinds, &f->classes, &f->err));
    free(kinds);
    weir_ledger_input input = {.timeline = f->t,
                               .match = &f->match,
                               .names = &f->names,
                               .classes = &f->classes,
                               .host_names = f->host_names,
                               .families = f->families};
    return weir_ledger_build(&input, &f->options, f->result, &f->lines, &f->err);
}

static inline void make_ledger(ledger_fixture *f)
{
    LEDGER_OK(make_ledger_code(f));
}

static inline int64_t whole_us(int64_t ns)
{
    assert_int_equal(ns % 1000, 0);
    return ns / 1000;
}

/* A moment of the sealed timeline as it was drawn. */
static inline int64_t drawn_us(const ledger_fixture *f, int64_t ns)
{
    return whole_us(ns + weir_timeline_origin_ns(f->t));
}

/* How much of the row-th device (by rank, then number) has the cause. */
static inline int64_t device_us(const ledger_fixture *f, uint32_t row, weir_cause cause)
{
    assert_true(row < f->result->device_count);
    return whole_us(f->result->devices[row].account.causes.ns[cause]);
}

static inline int64_t path_us(const ledger_fixture *f, weir_cause cause)
{
    return whole_us(f->result->critical_path.causes.ns[cause]);
}

/* One expected segment of the critical path. */
typedef struct {
    int32_t rank;
    int64_t begin_us, end_us;
    weir_cause cause;
} expected_segment;

static inline void assert_path(const ledger_fixture *f, const expected_segment *want,
                               uint32_t count)
{
    const weir_path_segment *got = f->result->critical_path.segments;
    uint32_t n = f->result->critical_path.segment_count;
    for (uint32_t i = 0; i < n && i < count; i++) {
        int64_t begin_us = drawn_us(f, got[i].begin_ns), end_us = drawn_us(f, got[i].end_ns);
        if (got[i].rank != want[i].rank || begin_us != want[i].begin_us ||
            end_us != want[i].end_us || got[i].cause != want[i].cause) {
            fail_msg(
                "segment %u is rank %d, %lld..%lld us, %s; expected rank %d, %lld..%lld us, %s", i,
                got[i].rank, (long long)begin_us, (long long)end_us, weir_cause_name(got[i].cause),
                want[i].rank, (long long)want[i].begin_us, (long long)want[i].end_us,
                weir_cause_name(want[i].cause));
        }
    }
    assert_int_equal(n, count);
}

#endif
