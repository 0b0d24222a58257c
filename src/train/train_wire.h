/* train_wire.h: seconds and bytes of one group's collective or message.
 *
 * Not here: what hides them (train_layer.c, train_step.c). */
#ifndef WEIR_TRAIN_TRAIN_WIRE_H
#define WEIR_TRAIN_TRAIN_WIRE_H

#include "train/train_stage.h"

/* Which devices exchange. */
typedef enum {
    WEIR_GROUP_TENSOR = 0,
    WEIR_GROUP_CONTEXT,
    WEIR_GROUP_EXPERT,
    WEIR_GROUP_EXPERT_TENSOR,
    WEIR_GROUP_PIPELINE,         /* neighbouring stages; of different nodes where there are some */
    WEIR_GROUP_PIPELINE_IN_NODE, /* of the same node */
    WEIR_GROUP_DATA,             /* data x context, or the part that shares states out */
    WEIR_GROUP_EXPERT_DATA
} weir_train_group;

/* The group whose collectives the traffic of an axis is. */
weir_train_group weir_train_group_of(weir_train_axis axis);

typedef struct {
    double seconds;
    double bytes; /* that a device sends: over its NIC, or in the node where all are in one */
    weir_wire_parts parts;
} weir_wire;

/* One behind the other; several, or a share. */
weir_wire weir_wire_join(weir_wire a, weir_wire b);
weir_wire weir_wire_times(weir_wire wire, double times);

/* bytes as nccl-tests counts them. Nothing for a group of one. */
weir_wire weir_train_wire(const weir_train_job *job, weir_train_group group,
                          weir_collective_kind kind, double bytes);

/* Between how many nodes a group exchanges; where nothing but NICs joins the devices of a node, as
 * many as it has ranks. */
weir_axis_span weir_train_wire_span(const weir_train_job *job, weir_train_group group);

weir_train_axis weir_train_group_axis(weir_train_group group);
weir_comm_kind weir_train_comm_kind(weir_collective_kind kind);
weir_cause weir_train_comm_cause(weir_collective_kind kind);

/* A piece of that kind (exposed or hidden) and group. */
weir_piece weir_train_wire_piece(weir_piece_kind kind, weir_train_group group,
                                 weir_collective_kind collective, const weir_wire *wire);

#endif
