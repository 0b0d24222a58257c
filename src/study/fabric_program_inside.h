/* fabric_program_inside.h: what the files that make a program of a scenario share. */
#ifndef WEIR_STUDY_FABRIC_PROGRAM_INSIDE_H
#define WEIR_STUDY_FABRIC_PROGRAM_INSIDE_H

#include "study/fabric_program.h"

typedef struct {
    const weir_program_network *network;
    weir_traffic_program *made;
    uint32_t *exchange_of_phase; /* first of the two; WEIR_NONE: nothing moves */
    uint32_t positions;          /* of the switches, as the phases name them */
    double *scratch;             /* by link */
} program_builder;

weir_code program_no_memory(weir_err *err);

/* fabric_program_ops.c: the operations of a device, once all exchanges are made. */
weir_code program_write(program_builder *b, weir_err *err);

#endif
