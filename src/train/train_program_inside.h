/* train_program_inside.h: what the files of the played step share (private to train/). */
#ifndef WEIR_TRAIN_TRAIN_PROGRAM_INSIDE_H
#define WEIR_TRAIN_TRAIN_PROGRAM_INSIDE_H

#include "train/train_program.h"
#include "train/train_timing.h"

/* Lanes of a device. */
enum { LANE_COMPUTE = 0, LANE_HIDDEN, LANE_DATA, LANE_RECEIVE, LANE_SEND, LANE_DELAY, LANE_COPY };

/* Pieces of the step that belong to no pass, as kinds of passes; WEIGHTS: gradients of weights
 * right behind those of inputs. */
enum {
    PASS_GATHER = WEIR_TASK_KINDS,
    PASS_REDUCE,
    PASS_NORM,
    PASS_STAGE_NORM, /* of the ranks of a stage only */
    PASS_MESSAGE,
    PASS_WEIGHTS,
    PASS_KINDS
};

/* One piece has several durations: alone, in the first or second pass of a pair, and what of it is
 * not hidden there. */
enum { VARIANT_REST = 2, VARIANTS = 5 };

/* One exchange: the same piece of the same pass on all stages that have it. */
typedef struct {
    uint8_t axis, pass, variant, piece;
    bool is_message;
    uint16_t slot; /* chunk of the stage */
    uint32_t from; /* message: the stage that sends */
    uint32_t to;   /* and the one that receives */
    weir_comm_kind comm;
    double *seconds;        /* by stage; NAN: it has no such piece */
    double *bytes;          /* by stage */
    uint32_t *count;        /* by stage: collectives that it stands for */
    weir_wire_parts *parts; /* by stage */
    uint32_t next;          /* of the same pass, slot and piece; WEIR_NONE: none */
} draft_exchange;

/* An op follows one more than the writer waits for: messages of a pair, parameters. */
enum { DRAFT_WAITS = 3, DRAFT_AFTER = 1 + DRAFT_WAITS };
typedef struct {
    weir_program_op op;
    uint32_t after[DRAFT_AFTER];
} draft_op;

/* Of one slot. */
typedef struct {
    uint32_t gathered;      /* op: parameters that its first pass waits for; WEIR_NONE: none */
    uint32_t first_bucket;  /* task during which its first gradients can be reduced */
    uint32_t last_gradient; /* task after which its last ones can */
    uint32_t ready;         /* op: the first bucket is there */
} draft_slot;

typedef struct {
    draft_slot *rows; /* by slot */
    draft_op *ops;    /* malloc */
    uint32_t count, room;
    uint32_t last, last_data; /* rows of the last op on lanes COMPUTE, DATA; WEIR_NONE: none */
    uint32_t delayed;         /* of lane DELAY */
    double delayed_s;         /* until when lane DELAY is taken, in time of the schedule */
} draft_program;

/* Replicas that are played as one. */
typedef struct {
    uint32_t replica; /* the first one of them */
    uint32_t times;
    uint32_t experts; /* replicas of one number share experts */
    bool is_open;     /* tensor and context ranks by themselves */
    uint32_t first_device;
} draft_column;

typedef struct {
    const weir_train_play *play;
    weir_train_program *out;
    weir_arena *arena;
    weir_train_timing timing; /* in closed form */
    double jitter_s;          /* of the stack, at that size */
    uint32_t stages, chunks;
    uint32_t inner;            /* tensor x context ranks of a stage */
    draft_program *programs;   /* by stage */
    draft_exchange *exchanges; /* malloc */
    uint32_t exchange_count, exchange_room;
    uint32_t *peers; /* [direction][stage x chunks + slot]: where its output goes, comes from */
    draft_column *columns;
    uint32_t column_count, devices;
    uint32_t *first_exchange; /* [(pass x chunks + slot) x pieces + piece]; WEIR_NONE: none */
    /* [entry of play->links x exchange_count]; WEIR_NONE: the exchange does not hang on it */
    weir_link_id *link_of;
    uint32_t *device_of_link; /* by entry of play->links */
} draft;

#define DRAFT_NO_MEMORY(err) weir_err_set(err, WEIR_ERR_MEMORY, "out of memory for the played step")

/* Writes the program of one stage. */
typedef struct {
    draft *d;
    draft_program *program;
    uint32_t stage, step;
    double begun_s;                          /* of the pieces of a pass so far */
    uint32_t waits[DRAFT_WAITS], wait_count; /* ops that the next one on lane COMPUTE waits for */
    uint8_t pair;          /* 0: the pass is alone; 1, 2: the first, the second of a pair */
    double saved_s;        /* of exposed traffic, that a pair still hides */
    double saved_behind_s; /* the same, of what is left behind its passes */
    bool failed;
} draft_writer;

/* train_program_ops.c: operations on lane 0, one behind the other, or beside what follows. */
void draft_put_time(draft_writer *w, weir_program_kind kind, weir_cause cause, double seconds);
/* The next op on lane COMPUTE waits for that one, too; WEIR_NONE: for none. */
void draft_wait_for(draft_writer *w, uint32_t op);
/* Until so long after that op has ended, and what is waited for; w->program->delayed. */
void draft_put_delay(draft_writer *w, uint32_t before, double seconds);
void draft_put_exposed(draft_writer *w, const draft_exchange *key, const weir_piece *piece);
void draft_put_hidden(draft_writer *w, const draft_exchange *key, const weir_piece *piece);
/* To or from the host, beside what follows. */
void draft_put_copy(draft_writer *w, double seconds);
/* The op; WEIR_NONE: no memory, w->failed. */
uint32_t draft_put_exchange(draft_writer *w, const draft_exchange *key, uint32_t lane,
                            const weir_piece *piece);
void draft_follow(draft_writer *w, uint32_t op, uint32_t before);
/* With jitter: ranks that a device stands for wait for the slowest of them. */
void draft_put_meet(draft_writer *w);

/* A message between stages, sent or received; the op. */
uint32_t draft_put_message(draft_writer *w, const draft_exchange *key, const weir_piece *piece);

/* train_program_tasks.c: the schedule's tasks of a stage, with messages between stages. */
weir_code draft_peers(draft *d, weir_err *err);
void draft_put_tasks(draft_writer *w);

/* train_program_step.c: what is before and behind the schedule; before all steps, what a stage
 * begins later than the first one. */
void draft_put_begin(draft_writer *w);
void draft_put_before(draft_writer *w);
void draft_put_behind(draft_writer *w);
/* Before a task's first op: parameters that it waits for, gradients that are reduced beside it. */
void draft_put_ready(draft_writer *w, uint32_t row);
/* Behind a task's last op: the last bucket of gradients, when they are all there. */
void draft_put_reduced(draft_writer *w, uint32_t row);

/* train_program_columns.c: which replicas are played as one, and the devices that play them. */
weir_code draft_columns(draft *d, weir_err *err);
static inline uint32_t draft_ranks_of(const draft *d, const draft_column *column)
{
    return column->is_open ? d->inner : 1;
}
static inline uint32_t draft_device(const draft *d, const draft_column *column, uint32_t stage,
                                    uint32_t inner)
{
    return column->first_device + stage * draft_ranks_of(d, column) + (column->is_open ? inner : 0);
}

/* train_program_groups.c: groups and plans of all exchanges. */
weir_code draft_groups(draft *d, weir_err *err);
/* train_program_links.c: links that change, of their own net. */
weir_code draft_links(draft *d, weir_err *err);
/* The job with what its weakest links carry. */
weir_train_job draft_job_with_links(const weir_train_play *play);
typedef struct {
    const draft_exchange *exchange;
    uint32_t stage; /* whose seconds and parts it has */
    const uint32_t *members;
    uint32_t count;
} draft_group;
/* The plan of that group: `alone`, or over the changing links that it has. NULL: no memory. */
const weir_plan *draft_plan_over_links(draft *d, const draft_group *group, const weir_plan *alone);

#endif
