/* lines.h: the ledger of every device, moment by moment.
 *
 * What the ledger hands to those who draw: gapless over the device's window, in time order.
 *
 * Not here: sums (result.h), how the lines come about (ledger/). */
#ifndef WEIR_RESULT_LINES_H
#define WEIR_RESULT_LINES_H

#include "timeline/waits.h"
#include "weir/timeline.h"

typedef struct {
    int64_t begin_ns, end_ns; /* clock of the device's own host */
    weir_span_id span;        /* device span that names the cause, WEIR_NONE when idle */
    uint32_t instance;        /* of match: communication, straggler, bubble; else WEIR_NONE */
    uint8_t cause;            /* weir_cause */
} weir_line;

/* lines[first[d]] .. lines[first[d + 1] - 1] are those of device d. Owned; free with clear. */
typedef struct {
    weir_line *lines;
    uint64_t *first;            /* device_count + 1 */
    int64_t *begin_ns, *end_ns; /* by device: its window, own clock; equal = no window */
    uint32_t device_count;
} weir_lines;

void weir_lines_clear(weir_lines *lines);

#endif
