/* kineto_comm.h: the arguments of a collective -> a row of the timeline's communication table.
 *
 * Process groups are found or added on the way; their ranks may come later, with the metadata. */
#ifndef WEIR_IMPORT_KINETO_COMM_H
#define WEIR_IMPORT_KINETO_COMM_H

#include "import/kineto_spans.h"

/* event->has_comm must be set. shape: row of the launch shape, 0 = none. */
weir_code kineto_comm_add(kineto_shard *s, const kineto_event *event, uint32_t shape,
                          uint32_t *detail, weir_err *err);

#endif
