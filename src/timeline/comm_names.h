/* comm_names.h: how frameworks call collectives, one table for all who read such names. */
#ifndef WEIR_TIMELINE_COMM_NAMES_H
#define WEIR_TIMELINE_COMM_NAMES_H

#include "timeline/waits.h"
#include "weir/timeline.h"

/* The kind that a "Collective name" argument or the part of an annotation behind "nccl:" tells:
 * "allreduce", "_allgather_base", "all_to_allv", "send" ...; UNKNOWN where it tells nothing. */
weir_comm_kind weir_comm_kind_find(weir_str collective_name);

/* Bytes of an element of a dtype as record_param_comms writes it ("Float", "BFloat16"); 0 =
 * unknown. */
uint32_t weir_comm_element_bytes(weir_str dtype);

/* The cause that the transfer of a collective has. SEND_RECV that nothing resolved may be a message
 * or an all-to-all: neither is claimed. */
weir_cause weir_comm_cause(weir_comm_kind kind);

#endif
