/* spmd_writer.h: what the files that write a run's timeline share (private to sim/). */
#ifndef WEIR_SIM_SPMD_WRITER_H
#define WEIR_SIM_SPMD_WRITER_H

#include "sim/spmd_timeline.h"

typedef struct {
    const sim_engine *engine;
    weir_spmd_run *run;
    weir_timeline *t;
    weir_lane_id *lanes;    /* by row of engine.lanes, as added */
    uint32_t *group_of;     /* by row of cast.meetings; WEIR_NONE: not yet added */
    int64_t *next_seq;      /* by group */
    uint32_t *detail;       /* by meeting: its comm */
    uint32_t *span_of;      /* by record */
    uint32_t *lane_of_item; /* by record: row of engine.lanes */
    weir_name_id *op_names; /* by op of all programs, in order */
    uint32_t *op_work;      /* the same: shape that tells how much work it is */
    uint64_t *first_name;   /* by program */
    uint32_t world_size;
    uint32_t span_count; /* records that are no idle time */
} spmd_writer;

/* spmd_tables.c: causes, parts, gaps and meetings beside the sealed spans. */
weir_code spmd_fill_tables(spmd_writer *w, weir_err *err);

#endif
