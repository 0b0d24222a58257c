/* waits.h: the four waits and their causes (DESIGN 2.1, 2.3), one table for code, JSON and docs.
 *
 * Not here: when a cause applies (ledger/), the sentence that a reader sees (report/). */
#ifndef WEIR_TIMELINE_WAITS_H
#define WEIR_TIMELINE_WAITS_H

#include "weir/base.h"

typedef enum {
    WEIR_WAIT_COMPUTE = 0,
    WEIR_WAIT_COMMUNICATION,
    WEIR_WAIT_DEPENDENCY,
    WEIR_WAIT_CACHE,
    WEIR_WAIT_COUNT
} weir_wait;

/* X(enumerator, wait, identifier after the dot, what it means in a few words) */
#define WEIR_CAUSES(X)                                                                             \
    X(COMPUTE_GEMM, COMPUTE, "gemm", "matrix multiplication above the roofline's ridge")           \
    X(COMPUTE_ATTENTION, COMPUTE, "attention", "attention over long queries")                      \
    X(COMPUTE_CONVOLUTION, COMPUTE, "convolution", "convolution")                                  \
    X(COMPUTE_OTHER, COMPUTE, "other", "other arithmetic")                                         \
    X(COMPUTE_UNKNOWN, COMPUTE, "unknown", "a kernel whose bound nothing tells")                   \
    X(COMPUTE_REDUNDANT, COMPUTE, "redundant", "recomputation, padding, rejected drafts")          \
    X(COMMUNICATION_ALL_REDUCE, COMMUNICATION, "all_reduce", "all-reduce")                         \
    X(COMMUNICATION_ALL_GATHER, COMMUNICATION, "all_gather", "all-gather")                         \
    X(COMMUNICATION_REDUCE_SCATTER, COMMUNICATION, "reduce_scatter", "reduce-scatter")             \
    X(COMMUNICATION_ALL_TO_ALL, COMMUNICATION, "all_to_all", "all-to-all")                         \
    X(COMMUNICATION_BROADCAST, COMMUNICATION, "broadcast", "broadcast")                            \
    X(COMMUNICATION_P2P, COMMUNICATION, "p2p", "point-to-point messages")                          \
    X(COMMUNICATION_KV_TRANSFER, COMMUNICATION, "kv_transfer", "KV cache from another instance")   \
    X(COMMUNICATION_OTHER, COMMUNICATION, "other", "other collectives")                            \
    X(COMMUNICATION_UNSPLIT, COMMUNICATION, "unsplit", "transfer or waiting: members are absent")  \
    X(DEPENDENCY_STRAGGLER, DEPENDENCY, "straggler", "the others of a collective had not arrived") \
    X(DEPENDENCY_BUBBLE, DEPENDENCY, "bubble", "the other end of a message had not arrived")       \
    X(DEPENDENCY_HOST, DEPENDENCY, "host", "the host had not launched the next kernel")            \
    X(DEPENDENCY_SYNC, DEPENDENCY, "sync", "the host waited for the device before going on")       \
    X(DEPENDENCY_DATA, DEPENDENCY, "data", "the data loader")                                      \
    X(DEPENDENCY_ALLOCATOR, DEPENDENCY, "allocator", "device memory was allocated or freed")       \
    X(DEPENDENCY_COMPILE, DEPENDENCY, "compile", "kernels were compiled or loaded")                \
    X(DEPENDENCY_CHECKPOINT, DEPENDENCY, "checkpoint", "a checkpoint was written or read")         \
    X(DEPENDENCY_LAUNCH, DEPENDENCY, "launch", "inside the launch call")                           \
    X(DEPENDENCY_TURNAROUND, DEPENDENCY, "turnaround", "queued on the device, not yet started")    \
    X(DEPENDENCY_STREAM, DEPENDENCY, "stream", "another stream had not finished")                  \
    X(DEPENDENCY_TAIL, DEPENDENCY, "tail", "after the last kernel")                                \
    X(DEPENDENCY_UNKNOWN, DEPENDENCY, "unknown", "idle without evidence of a reason")              \
    X(DEPENDENCY_CLIENT, DEPENDENCY, "client", "not yet sent by the client")                       \
    X(DEPENDENCY_API, DEPENDENCY, "api", "in the front end")                                       \
    X(DEPENDENCY_QUEUE, DEPENDENCY, "queue", "queued")                                             \
    X(DEPENDENCY_INTERFERENCE, DEPENDENCY, "interference", "others' prefill in the same step")     \
    X(DEPENDENCY_SERIAL, DEPENDENCY, "serial",                                                     \
      "one more pass over the weights for one more token")                                         \
    X(DEPENDENCY_FAILURE, DEPENDENCY, "failure", "a failure and what it took to go on")            \
    X(CACHE_WEIGHTS, CACHE, "weights", "reading weights")                                          \
    X(CACHE_KV, CACHE, "kv", "reading the KV cache")                                               \
    X(CACHE_ACTIVATIONS, CACHE, "activations", "element-wise work, norms, reductions")             \
    X(CACHE_OPTIMIZER, CACHE, "optimizer", "optimiser states")                                     \
    X(CACHE_OFFLOAD, CACHE, "offload", "moved to or from a lower tier")                            \
    X(CACHE_MEMCPY, CACHE, "memcpy", "copies and fills")                                           \
    X(CACHE_MISS, CACHE, "miss", "fetched from a lower tier")                                      \
    X(CACHE_BLOCKS, CACHE, "blocks", "no free KV block")                                           \
    X(CACHE_EVICTED, CACHE, "evicted", "computed again because it was evicted")

typedef enum {
#define X(name, wait, id, meaning) WEIR_CAUSE_##name,
    WEIR_CAUSES(X)
#undef X
        WEIR_CAUSE_COUNT
} weir_cause;

const char *weir_wait_name(weir_wait wait);          /* "compute", ... */
const char *weir_cause_name(weir_cause cause);       /* "compute.gemm", ... */
const char *weir_cause_short_name(weir_cause cause); /* "gemm", ... */
const char *weir_cause_meaning(weir_cause cause);
weir_wait weir_cause_wait(weir_cause cause);
/* What the names of host spans begin with whose cause a simulation wrote down. */
#define WEIR_TOLD_PREFIX "weir cause: "
/* Finds "wait.cause"; false where there is none. */
bool weir_cause_find(weir_str name, weir_cause *cause);

#endif
