/* bodies_queue.h: numbers by moment: the earliest is found in O(1), moved in O(log n).
 *
 * A binary heap by (moment, number) that knows where each number stands. Moments may be INFINITY.
 */
#ifndef WEIR_FABRIC_BODIES_QUEUE_H
#define WEIR_FABRIC_BODIES_QUEUE_H

#include "weir/base.h"

typedef struct {
    double at_s;
    uint32_t number;
} bodies_moment;

typedef struct {
    bodies_moment *items;
    uint32_t *places; /* by number: where in items, WEIR_NONE: not there */
    uint32_t count, item_room, place_room;
} bodies_queue;

void bodies_queue_clear(bodies_queue *queue); /* frees; leaves it empty and usable */
/* Room for the numbers 0 .. bound-1. false: no memory, nothing changed. */
bool bodies_queue_reserve(bodies_queue *queue, uint32_t bound);
void bodies_queue_set(bodies_queue *queue, uint32_t number, double at_s); /* adds or moves */
/* The same for many at a time: no order until bodies_queue_order. */
void bodies_queue_note(bodies_queue *queue, uint32_t number, double at_s);
void bodies_queue_order(bodies_queue *queue);
void bodies_queue_drop(bodies_queue *queue, uint32_t number); /* not there: nothing */
double bodies_queue_first_s(const bodies_queue *queue);       /* empty: INFINITY */
/* Removes all that are due until then, ascending numbers, into out (room for all of them). */
uint32_t bodies_queue_take(bodies_queue *queue, double until_s, uint32_t *out);

#endif
