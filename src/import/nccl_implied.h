/* nccl_implied.h: what the names of programs and the quotient busbw / algbw tell of a run. */
#ifndef WEIR_IMPORT_NCCL_IMPLIED_H
#define WEIR_IMPORT_NCCL_IMPLIED_H

#include "import/nccl_tests.h"

typedef struct {
    const char *name; /* of the program, before _perf */
    weir_comm_kind kind;
} weir_nccl_name;

/* The program whose name, followed by this ending, occurs in the text; NULL: none. */
const weir_nccl_name *weir_nccl_find_name(weir_str text, weir_str ending);

/* Fills the ranks that all rows allow, each within its last digit; the kind, where nothing tells it
 * and ranks and factor leave only one (has_sum: rows are sums). */
void weir_nccl_imply(weir_nccl_run *run, bool has_sum);

#endif
