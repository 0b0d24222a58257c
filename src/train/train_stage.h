/* train_stage.h: what each pass of each chunk does, piece by piece, and how long it takes.
 *
 * A pass (forward, gradients of inputs, gradients of weights of the chunk at one position, for one
 * micro-batch) becomes a short list of pieces in the order in which the device runs them: computing
 * by cause, exposed communication by axis, waiting for the host; and hidden communication beside.
 * Chunks with the same layers share their costs.
 *
 * Formulas: docs/model/training.md. Not here: the order of passes (schedule.h), the step
 * (train_step.h). */
#ifndef WEIR_TRAIN_TRAIN_STAGE_H
#define WEIR_TRAIN_TRAIN_STAGE_H

#include "timeline/waits.h"
#include "train/schedule.h"
#include "weir/timeline.h"

typedef enum {
    WEIR_PIECE_COMPUTE = 0, /* cause: compute.* or cache.* */
    WEIR_PIECE_IDLE,        /* the device waits; cause: dependency.* */
    WEIR_PIECE_EXCHANGE,    /* exposed communication of the axis; cause: communication.* */
    WEIR_PIECE_HIDDEN,      /* communication under the computing of the same pass */
    WEIR_PIECE_COPIED       /* to or from the host under it; cause: cache.offload */
} weir_piece_kind;

/* What of an exchange is in a node, and what it hangs on: with links that carry a share of their
 * rate it takes (1 / share - 1) times nic_s or node_link_s longer. */
typedef struct {
    double near_s, near_bytes;
    double nic_s, node_link_s; /* 0 where the network names no weak ones */
} weir_wire_parts;

static inline void weir_wire_parts_add(weir_wire_parts *to, const weir_wire_parts *more,
                                       double times)
{
    to->near_s += more->near_s * times;
    to->near_bytes += more->near_bytes * times;
    to->nic_s += more->nic_s * times;
    to->node_link_s += more->node_link_s * times;
}

typedef struct {
    uint8_t kind, cause, axis;
    weir_comm_kind comm;
    double seconds;
    double bytes; /* on the wire of a device, summed */
    weir_wire_parts parts;
    double flop;
    uint32_t count; /* kernels or collectives */
} weir_piece;

enum { WEIR_PIECES_MAX = 24 };

typedef struct {
    uint32_t count;
    weir_piece piece[WEIR_PIECES_MAX];
    double seconds; /* of all but what is hidden or copied beside it */
    double flop, model_flop;
} weir_pass_cost;

typedef struct {
    uint32_t layers;
    weir_pass_cost forward, dgrad, wgrad; /* recomputation is in dgrad (cause compute.redundant) */
    double dense_parameters;              /* on this rank, replicated over data x context */
    double expert_parameters; /* on this rank, replicated over the ranks that share experts */
} weir_chunk_cost;

typedef struct {
    uint32_t positions;
    const weir_chunk_cost **chunk; /* by position */
    double send_s;                 /* a hand-over between stages, mean */
    const double *hop_s; /* by stage: with the one behind it, of the last with the first */
    const weir_wire_parts *hop_parts; /* by stage, as hop_s */
    weir_wire_parts send_parts;       /* mean */
    double send_bytes;
    const weir_pair_share *pair; /* by position: what DualPipe's pairs hide; NULL: nothing */
} weir_stage_costs;

/* Whether all-to-alls of experts run beside the other pass of a pair, not of their own. */
bool weir_train_pairs_passes(const weir_train_job *job);
static inline bool weir_train_is_expert_wire(const weir_piece *piece)
{
    return piece->axis == WEIR_AXIS_EXPERT && piece->cause == WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL;
}

/* The tables live in the arena. */
weir_code weir_train_stage_costs(const weir_train_job *job, weir_arena *arena,
                                 weir_stage_costs *costs, weir_err *err);

/* Seconds of a collective of one group of the axis, as the library has it, with the network's
 * factor; bytes as nccl-tests counts. 0 for groups of one. */
double weir_train_collective_s(const weir_train_job *job, weir_train_axis axis,
                               weir_collective_kind kind, double bytes);

#endif
