/* event_queue.h: what will happen, ordered by (ns, operation id). A binary heap. */
#ifndef WEIR_SIM_EVENT_QUEUE_H
#define WEIR_SIM_EVENT_QUEUE_H

#include "weir/base.h"

typedef struct {
    int64_t at_ns;
    uint64_t id; /* two events of one moment have different ids */
} sim_event;

typedef struct {
    sim_event *items;
    uint32_t count, room;
} sim_queue;

bool sim_queue_push(sim_queue *queue, sim_event event); /* false: no memory */
sim_event sim_queue_pop(sim_queue *queue);              /* queue->count > 0 */
void sim_queue_clear(sim_queue *queue);

#endif
