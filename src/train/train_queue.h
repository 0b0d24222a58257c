/* train_queue.h: a host that launches kernels, a device that runs them, and what the device waits.
 *
 * The host is ahead of the device as long as launching is faster than running. Where it has to read
 * what the device calculated (the rows of each expert), it loses its lead: the device is idle until
 * what follows is launched. Not here: how many kernels an operation takes (train_chains.h). */
#ifndef WEIR_TRAIN_TRAIN_QUEUE_H
#define WEIR_TRAIN_TRAIN_QUEUE_H

#include "weir/base.h"

typedef struct {
    double launches; /* >= 0; 0: inside a graph that is launched already, or beside */
    double device_s; /* of all of them */
    bool reads;      /* before it, the host waits for all that it launched */
} weir_queue_item;

/* Seconds that the device is idle while it runs the items once more, after they ran before: what
 * one of many equal layers takes beyond the sum of device_s. launch_s: host time of a launch;
 * read_s: from the end of a kernel to the host's next launch where it reads. */
double weir_queue_idle_s(const weir_queue_item *items, uint32_t count, double launch_s,
                         double read_s);

#endif
