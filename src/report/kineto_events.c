/* The events of one rank of a simulated run, as torch.profiler writes them.
 *
 * The host of such a run is never late but where the run says so: it launches a kernel when the one
 * before begins, and where a gap has a cause of the host, at its end, with a host span over it that
 * names the cause (ledger/idle.c reads it so). */
#include "report/kineto_events.h"

#include "timeline/comm_names.h"

#include <inttypes.h>
#include <string.h>

enum { HOST_THREAD = 1 };
/* Moments of a simulation begin at 0; those of a trace are Unix times (2024-01-01), and a zero is
 * one that was not recorded. */
#define KINETO_ORIGIN_NS "1704067200000000000"
enum { KINETO_BEGIN_NS = 1000000 };

static void put_us(weir_text *out, int64_t ns)
{
    weir_text_printf(out, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

/* Up to the arguments, which follow. */
static void open_event(kineto_rank *r, const char *category, const char *name, int64_t start_ns,
                       int64_t dur_ns)
{
    weir_text *out = &r->out;
    weir_text_printf(
        out, ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"ts\": ", category, name);
    put_us(out, start_ns + KINETO_BEGIN_NS);
    weir_text_add(out, WEIR_STR(", \"dur\": "));
    put_us(out, dur_ns);
}

static void put_host_place(kineto_rank *r)
{
    weir_text_printf(&r->out, ", \"pid\": %d, \"tid\": %d, \"args\": {",
                     1000 + (int)r->rank->number, HOST_THREAD);
}

static void close_event(kineto_rank *r)
{
    weir_text_add(&r->out, WEIR_STR("}}"));
}

/* --- names --- */

/* A kernel that the table of families takes for the same wait. */
static const char *kernel_name(weir_cause cause)
{
    switch (cause) {
    case WEIR_CAUSE_COMPUTE_ATTENTION:
        return "flash_fwd_kernel";
    case WEIR_CAUSE_CACHE_OPTIMIZER:
        return "multi_tensor_apply_kernel<FusedAdamFunctor>";
    case WEIR_CAUSE_CACHE_OFFLOAD:
    case WEIR_CAUSE_CACHE_MEMCPY:
        return "Memcpy DtoH (Device -> Pinned)";
    default:
        return weir_cause_wait(cause) == WEIR_WAIT_CACHE ? "vectorized_elementwise_kernel"
                                                         : "sm90_xmma_gemm_bf16bf16_bf16f32";
    }
}

static const char *comm_name(weir_comm_kind kind)
{
    switch (kind) {
    case WEIR_COMM_ALL_REDUCE:
        return "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
    case WEIR_COMM_ALL_GATHER:
        return "ncclDevKernel_AllGather_RING_LL";
    case WEIR_COMM_REDUCE_SCATTER:
        return "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL";
    case WEIR_COMM_BROADCAST:
        return "ncclDevKernel_Broadcast_RING_LL";
    default:
        return "ncclDevKernel_SendRecv";
    }
}

/* What a host does that keeps its device waiting for such a reason. */
static const char *host_name(weir_cause cause)
{
    switch (cause) {
    case WEIR_CAUSE_DEPENDENCY_SYNC:
        return "cudaDeviceSynchronize";
    case WEIR_CAUSE_DEPENDENCY_DATA:
        return "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    case WEIR_CAUSE_DEPENDENCY_ALLOCATOR:
        return "cudaMalloc";
    case WEIR_CAUSE_DEPENDENCY_CHECKPOINT:
        return "torch.save";
    case WEIR_CAUSE_DEPENDENCY_COMPILE:
        return "cuModuleLoadData";
    default:
        return "host";
    }
}

static const char *host_category(weir_cause cause)
{
    bool is_call = cause == WEIR_CAUSE_DEPENDENCY_SYNC ||
                   cause == WEIR_CAUSE_DEPENDENCY_ALLOCATOR ||
                   cause == WEIR_CAUSE_DEPENDENCY_COMPILE;
    return is_call ? "cuda_runtime" : "user_annotation";
}

/* --- the host --- */

static void put_markers(kineto_rank *r)
{
    for (uint32_t l = 0; l < r->lane_count; l++) {
        const weir_lane *lane = &r->lanes[l];
        bool is_own = lane->kind == WEIR_LANE_THREAD && lane->rank == r->id;
        for (uint32_t k = 0; is_own && k < lane->span_count; k++) {
            weir_span_id span = lane->first_span + k;
            weir_str name = weir_timeline_name(r->request->timeline, r->spans.name[span]);
            weir_text text = {0};
            weir_text_add(&text, name);
            open_event(r, "user_annotation", text.p ? text.p : "", r->spans.start_ns[span],
                       r->spans.dur_ns[span]);
            put_host_place(r);
            close_event(r);
            weir_text_clear(&text);
        }
    }
}

static void put_gaps(kineto_rank *r)
{
    const weir_gaps *gaps = r->request->gaps;
    for (uint32_t i = gaps->first[r->device]; i < gaps->first[r->device + 1]; i++) {
        const weir_gap *gap = &gaps->gaps[i];
        if (gap->cause == WEIR_CAUSE_DEPENDENCY_LAUNCH) { /* the call itself */
            continue;
        }
        open_event(r, host_category(gap->cause), host_name(gap->cause), gap->begin_ns,
                   gap->end_ns - gap->begin_ns);
        put_host_place(r);
        if (!r->request->is_plain) {
            weir_text_printf(&r->out, "\"weir cause\": \"%s\"", weir_cause_name(gap->cause));
        }
        close_event(r);
    }
}

/* The step that the moment is in begins then. */
static int64_t step_begin(const kineto_rank *r, int64_t t)
{
    int64_t begin_ns = 0;
    for (uint32_t l = 0; l < r->lane_count; l++) {
        const weir_lane *lane = &r->lanes[l];
        bool is_own = lane->kind == WEIR_LANE_THREAD && lane->rank == r->id;
        for (uint32_t k = 0; is_own && k < lane->span_count; k++) {
            int64_t start_ns = r->spans.start_ns[lane->first_span + k];
            begin_ns = start_ns <= t && start_ns > begin_ns ? start_ns : begin_ns;
        }
    }
    return begin_ns;
}

/* The gap that ends at or after t and begins before it; NULL: there is none. *next: where to look
 * from. */
static const weir_gap *gap_before(const kineto_rank *r, int64_t t, uint32_t *next)
{
    const weir_gaps *gaps = r->request->gaps;
    uint32_t last = gaps->first[r->device + 1];
    while (*next < last && gaps->gaps[*next].end_ns < t) {
        (*next)++;
    }
    return *next < last && gaps->gaps[*next].begin_ns < t ? &gaps->gaps[*next] : NULL;
}

/* Where idle time begins that ends with that gap: gaps of several causes may follow each other. */
static const weir_gap *first_of(const kineto_rank *r, const weir_gap *gap)
{
    const weir_gap *first = r->request->gaps->gaps + r->request->gaps->first[r->device];
    while (gap && gap > first && gap[-1].end_ns >= gap->begin_ns) {
        gap--;
    }
    return gap;
}

/* When the i-th span is launched, and how long that takes. */
typedef struct {
    int64_t at_ns, dur_ns;
} launch;

static launch launch_of(const kineto_rank *r, uint32_t i, const weir_gap *gap, launch before,
                        int64_t step_ns)
{
    int64_t start_ns = r->spans.start_ns[r->order[i]];
    int64_t free_ns = before.at_ns + before.dur_ns;
    if (gap && gap->cause == WEIR_CAUSE_DEPENDENCY_LAUNCH) {
        int64_t at_ns = free_ns > gap->begin_ns ? free_ns : gap->begin_ns;
        at_ns = at_ns < start_ns ? at_ns : start_ns;
        return (launch){at_ns, start_ns - at_ns};
    }
    int64_t at_ns = gap ? start_ns : i ? r->spans.start_ns[r->order[i - 1]] : 0;
    at_ns = at_ns < free_ns ? free_ns : at_ns;
    at_ns = at_ns < step_ns ? step_ns : at_ns;
    return (launch){at_ns < start_ns ? at_ns : start_ns, 0};
}

static void put_launch(kineto_rank *r, uint32_t correlation, launch l)
{
    open_event(r, "cuda_runtime", "cudaLaunchKernel", l.at_ns, l.dur_ns);
    put_host_place(r);
    weir_text_printf(&r->out, "\"correlation\": %u", correlation);
    close_event(r);
}

/* The host waits for the device where a gap begins, since its last launch before that: that is why
 * it is late then. */
static void put_sync(kineto_rank *r, const weir_gap *gap, const launch before[2])
{
    int64_t last_ns = before[0].at_ns + before[0].dur_ns;
    int64_t from_ns = gap && last_ns < gap->begin_ns ? last_ns : before[1].at_ns + before[1].dur_ns;
    if (gap && from_ns < gap->begin_ns) {
        open_event(r, "cuda_runtime", "cudaStreamSynchronize", from_ns, gap->begin_ns - from_ns);
        put_host_place(r);
        close_event(r);
    }
}

/* --- the device --- */

static void put_ranks(weir_text *out, const weir_group *group)
{
    weir_text_char(out, '[');
    for (uint32_t i = 0; i < group->rank_count; i++) {
        weir_text_printf(out, "%s%d", i ? ", " : "", (int)group->ranks[i]);
    }
    weir_text_char(out, ']');
}

/* A ring of messages that its members send and receive at once is a batch of a group, which
 * profilers record as NCCL runs it: like an all-to-all. As single messages nothing would say who
 * meets whom. */
static weir_comm_kind comm_kind(const weir_comm *comm)
{
    bool sends = comm->kind == WEIR_COMM_SEND || comm->kind == WEIR_COMM_RECV ||
                 comm->kind == WEIR_COMM_SEND_RECV;
    return sends && comm->src_rank < 0 ? WEIR_COMM_ALL_TO_ALL : comm->kind;
}

/* Members that were played are those that can come. */
static void put_comm(kineto_rank *r, const weir_comm *comm)
{
    weir_text *out = &r->out;
    const weir_group *group = &r->groups[comm->group];
    weir_str axis = weir_timeline_name(r->request->timeline, group->name);
    bool is_message = comm->src_rank >= 0;
    bool sends = is_message && comm->src_rank == r->rank->number;
    const char *kind =
        is_message ? (sends ? "send" : "recv") : weir_comm_kind_name(comm_kind(comm));
    weir_text_printf(out, ", \"Collective name\": \"%s\", \"dtype\": \"Byte\"", kind);
    weir_text_printf(out, ", \"In msg nelems\": %" PRIu64 ", \"Out msg nelems\": %" PRIu64,
                     comm->in_elements, comm->out_elements);
    weir_text_printf(out, ", \"Group size\": %u, \"Process Group Name\": \"%u\"", group->rank_count,
                     comm->group);
    weir_text_printf(out, ", \"Process Group Description\": \"%.*s\"", (int)axis.n, axis.p);
    weir_text_add(out, WEIR_STR(", \"Process Group Ranks\": \""));
    put_ranks(out, group);
    weir_text_printf(out, "\", \"Seq\": %" PRId64, comm->seq);
    if (is_message) {
        weir_text_printf(out, ", \"Src Rank\": %d, \"Dst Rank\": %d", (int)comm->src_rank,
                         (int)comm->dst_rank);
    }
}

/* Equal grids are equal work (sim/spmd_timeline.c). */
static void put_work(kineto_rank *r, weir_span_id span)
{
    const weir_shape *shape = weir_timeline_shape_of(r->request->timeline, span);
    if (shape && shape->grid[2]) {
        weir_text_printf(&r->out, ", \"grid\": [%u, %u, %u]", shape->grid[0], shape->grid[1],
                         shape->grid[2]);
    }
}

static void put_span(kineto_rank *r, weir_span_id span, uint32_t correlation)
{
    const weir_comm *comm = weir_timeline_comm_of(r->request->timeline, span);
    weir_cause cause = (weir_cause)r->request->cause[span];
    bool copies = cause == WEIR_CAUSE_CACHE_OFFLOAD || cause == WEIR_CAUSE_CACHE_MEMCPY;
    int64_t stream = r->lanes[r->spans.lane[span]].number;
    open_event(r, copies ? "gpu_memcpy" : "kernel",
               comm ? comm_name(comm->kind) : kernel_name(cause), r->spans.start_ns[span],
               r->spans.dur_ns[span]);
    weir_text_printf(&r->out,
                     ", \"pid\": 0, \"tid\": %" PRId64 ", \"args\": {\"device\": 0, \"stream\": "
                     "%" PRId64 ", \"correlation\": %u",
                     stream, stream, correlation);
    if (!r->request->is_plain && (!comm || weir_comm_cause(comm_kind(comm)) != cause)) {
        weir_text_printf(&r->out, ", \"weir cause\": \"%s\"", weir_cause_name(cause));
    }
    if (!r->request->is_plain) {
        put_work(r, span);
    }
    if (comm) {
        put_comm(r, comm);
    }
    close_event(r);
}

/* --- all of it --- */

static void put_head(kineto_rank *r)
{
    weir_str node = weir_timeline_name(r->request->timeline, r->rank->node);
    weir_text_add(&r->out,
                  WEIR_STR("{\"schemaVersion\": 1, \"baseTimeNanoseconds\": " KINETO_ORIGIN_NS
                           ", \"host_name\": \""));
    weir_text_add(&r->out, node);
    weir_text_printf(&r->out,
                     "\", \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, "
                     "\"world_size\": %u},\n\"traceEvents\": [\n",
                     (int)r->rank->number, r->rank->world_size);
    weir_text_printf(&r->out,
                     "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"tid\": 0, \"ts\": "
                     "1000.000, \"args\": {\"name\": \"simulated by weir\"}}",
                     1000 + (int)r->rank->number);
}

void kineto_write_events(kineto_rank *r)
{
    launch last[2] = {{0}}; /* the second: the last one at an earlier moment */
    const weir_gap *seen = NULL;
    uint32_t next = r->request->gaps->first[r->device];
    put_head(r);
    put_markers(r);
    put_gaps(r);
    for (uint32_t i = 0; i < r->count; i++) {
        int64_t start_ns = r->spans.start_ns[r->order[i]];
        const weir_gap *gap = gap_before(r, start_ns, &next);
        if (gap != seen) {
            put_sync(r, first_of(r, gap), last);
            seen = gap;
        }
        launch next_launch = launch_of(r, i, gap, last[0], step_begin(r, start_ns));
        last[1] = next_launch.at_ns > last[0].at_ns ? last[0] : last[1];
        last[0] = next_launch;
        put_launch(r, i + 1, last[0]);
        put_span(r, r->order[i], i + 1);
    }
    weir_text_add(&r->out, WEIR_STR("\n]}\n"));
}
