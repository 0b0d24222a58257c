/* cause_of_late.h: why a member of a collective arrived later than the others (DESIGN 2.5). */
#ifndef WEIR_LEDGER_CAUSE_OF_LATE_H
#define WEIR_LEDGER_CAUSE_OF_LATE_H

#include "ledger/run.h"

typedef struct {
    weir_reason reason;
    bool by_waiting;       /* it waited itself: the chain goes on */
    weir_cause host_cause; /* of late_host */
    double factor;         /* of more_work, slow_device */
} late_cause;

/* The kernels of a device in the step that was asked for last: instances are judged in the order of
 * time, so that each step is gone through once. By device. NULL: no memory. */
struct late_memo *late_memo_new(uint32_t devices);
void late_memo_free(struct late_memo *memo, uint32_t devices); /* NULL is fine */

/* begin[k], end[k] (own clocks): the interval of member k of the instance; late: the member whose
 * lateness is to be explained. */
weir_code late_explain(const ledger_run *run, const weir_instance *instance, uint32_t late,
                       const int64_t *begin, const int64_t *end, late_cause *cause, weir_err *err);

#endif
