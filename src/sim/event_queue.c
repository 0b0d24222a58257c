#include "sim/event_queue.h"

#include "base/grow.h"

#include <stdlib.h>

static bool is_before(sim_event a, sim_event b)
{
    return a.at_ns < b.at_ns || (a.at_ns == b.at_ns && a.id < b.id);
}

bool sim_queue_push(sim_queue *queue, sim_event event)
{
    if (!weir_grow(&queue->items, queue->count, &queue->room, sizeof *queue->items)) {
        return false;
    }
    uint32_t at = queue->count++;
    for (; at > 0 && is_before(event, queue->items[(at - 1) / 2]); at = (at - 1) / 2) {
        queue->items[at] = queue->items[(at - 1) / 2];
    }
    queue->items[at] = event;
    return true;
}

sim_event sim_queue_pop(sim_queue *queue)
{
    sim_event first = queue->items[0], last = queue->items[--queue->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= queue->count) {
            break;
        }
        if (child + 1 < queue->count && is_before(queue->items[child + 1], queue->items[child])) {
            child++;
        }
        if (!is_before(queue->items[child], last)) {
            break;
        }
        queue->items[at] = queue->items[child];
        at = child;
    }
    queue->items[at] = last;
    return first;
}

void sim_queue_clear(sim_queue *queue)
{
    free(queue->items);
    *queue = (sim_queue){0};
}
