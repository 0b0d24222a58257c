#include "timeline/comm_names.h"

weir_comm_kind weir_comm_kind_find(weir_str name)
{
    /* The first part that occurs decides, hence the order: longer words before what they contain.
     */
    static const struct {
        weir_str part;
        weir_comm_kind kind;
    } table[] = {
        {{"reduce_scatter", 14}, WEIR_COMM_REDUCE_SCATTER},
        {{"reducescatter", 13}, WEIR_COMM_REDUCE_SCATTER},
        {{"all_reduce", 10}, WEIR_COMM_ALL_REDUCE},
        {{"allreduce", 9}, WEIR_COMM_ALL_REDUCE},
        {{"all_gather", 10}, WEIR_COMM_ALL_GATHER},
        {{"allgather", 9}, WEIR_COMM_ALL_GATHER},
        {{"all_to_all", 10}, WEIR_COMM_ALL_TO_ALL},
        {{"alltoall", 8}, WEIR_COMM_ALL_TO_ALL},
        {{"broadcast", 9}, WEIR_COMM_BROADCAST},
        {{"barrier", 7}, WEIR_COMM_BARRIER},
        {{"scatter", 7}, WEIR_COMM_SCATTER},
        {{"gather", 6}, WEIR_COMM_GATHER},
        {{"reduce", 6}, WEIR_COMM_REDUCE},
        {{"send_recv", 9}, WEIR_COMM_SEND_RECV},
        {{"sendrecv", 8}, WEIR_COMM_SEND_RECV},
        {{"send", 4}, WEIR_COMM_SEND},
        {{"recv", 4}, WEIR_COMM_RECV},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (weir_str_has(name, table[i].part)) {
            return table[i].kind;
        }
    }
    return WEIR_COMM_UNKNOWN;
}

uint32_t weir_comm_element_bytes(weir_str dtype)
{
    static const struct {
        weir_str name;
        uint32_t bytes;
    } table[] = {
        {{"Float", 5}, 4},
        {{"BFloat16", 8}, 2},
        {{"Half", 4}, 2},
        {{"Double", 6}, 8},
        {{"Long", 4}, 8},
        {{"Int", 3}, 4},
        {{"Short", 5}, 2},
        {{"Char", 4}, 1},
        {{"Byte", 4}, 1},
        {{"Bool", 4}, 1},
        {{"Float8_e4m3fn", 13}, 1},
        {{"Float8_e5m2", 11}, 1},
        {{"ComplexFloat", 12}, 8},
        {{"UInt16", 6}, 2},
        {{"UInt32", 6}, 4},
        {{"UInt64", 6}, 8},
        {{"ComplexDouble", 13}, 16},
        {{"Float8_e4m3fnuz", 15}, 1},
        {{"Float8_e5m2fnuz", 15}, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (weir_str_eq(dtype, table[i].name)) {
            return table[i].bytes;
        }
    }
    return 0;
}

weir_cause weir_comm_cause(weir_comm_kind kind)
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
