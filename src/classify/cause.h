/* cause.h: collective kinds as causes of communication. */
#ifndef WEIR_CLASSIFY_CAUSE_H
#define WEIR_CLASSIFY_CAUSE_H

#include "timeline/waits.h"
#include "weir/timeline.h"

/* SEND_RECV that nothing resolved may be a message or an all-to-all: neither is claimed. */
static inline weir_cause cause_of_comm(weir_comm_kind kind)
{
    switch (kind) {
    case WEIR_COMM_ALL_REDUCE:
        return WEIR_CAUSE_COMMUNICATION_ALL_REDUCE;
    case WEIR_COMM_ALL_GATHER:
        return WEIR_CAUSE_COMMUNICATION_ALL_GATHER;
    case WEIR_COMM_REDUCE_SCATTER:
        return WEIR_CAUSE_COMMUNICATION_REDUCE_SCATTER;
    case WEIR_COMM_ALL_TO_ALL:
        return WEIR_CAUSE_COMMUNICATION_ALL_TO_ALL;
    case WEIR_COMM_BROADCAST:
        return WEIR_CAUSE_COMMUNICATION_BROADCAST;
    case WEIR_COMM_SEND:
    case WEIR_COMM_RECV:
        return WEIR_CAUSE_COMMUNICATION_P2P;
    default:
        return WEIR_CAUSE_COMMUNICATION_OTHER;
    }
}

#endif
