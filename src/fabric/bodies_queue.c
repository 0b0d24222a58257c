#include "fabric/bodies_queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bodies_queue_clear(bodies_queue *queue)
{
    free(queue->items);
    free(queue->places);
    *queue = (bodies_queue){0};
}

bool bodies_queue_reserve(bodies_queue *queue, uint32_t bound)
{
    if (bound <= queue->place_room) {
        return true;
    }
    uint32_t room = bound > UINT32_MAX / 2 ? UINT32_MAX : 2 * bound;
    bodies_moment *items = realloc(queue->items, room * sizeof *items);
    if (!items) {
        return false;
    }
    queue->items = items;
    queue->item_room = room;
    uint32_t *places = realloc(queue->places, room * sizeof *places);
    if (!places) {
        return false;
    }
    memset(places + queue->place_room, 0xff, (room - queue->place_room) * sizeof *places);
    queue->places = places;
    queue->place_room = room;
    return true;
}

static bool is_before(bodies_moment a, bodies_moment b)
{
    return a.at_s < b.at_s || (a.at_s <= b.at_s && a.number < b.number);
}

static void put(bodies_queue *queue, uint32_t at, bodies_moment item)
{
    queue->items[at] = item;
    queue->places[item.number] = at;
}

static void move_up(bodies_queue *queue, uint32_t at)
{
    bodies_moment moved = queue->items[at];
    while (at > 0 && is_before(moved, queue->items[(at - 1) / 2])) {
        put(queue, at, queue->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(queue, at, moved);
}

static void move_down(bodies_queue *queue, uint32_t at)
{
    bodies_moment moved = queue->items[at];
    for (uint64_t child; (child = 2 * (uint64_t)at + 1) < queue->count; at = (uint32_t)child) {
        if (child + 1 < queue->count && is_before(queue->items[child + 1], queue->items[child])) {
            child++;
        }
        if (!is_before(queue->items[child], moved)) {
            break;
        }
        put(queue, at, queue->items[child]);
    }
    put(queue, at, moved);
}

void bodies_queue_note(bodies_queue *queue, uint32_t number, double at_s)
{
    uint32_t at = queue->places[number];
    if (at == WEIR_NONE) {
        at = queue->count++;
    }
    put(queue, at, (bodies_moment){at_s, number});
}

void bodies_queue_set(bodies_queue *queue, uint32_t number, double at_s)
{
    bodies_queue_note(queue, number, at_s);
    move_up(queue, queue->places[number]);
    move_down(queue, queue->places[number]);
}

void bodies_queue_order(bodies_queue *queue)
{
    for (uint32_t i = queue->count / 2; i-- > 0;) {
        move_down(queue, i);
    }
}

void bodies_queue_drop(bodies_queue *queue, uint32_t number)
{
    uint32_t at = queue->places[number];
    if (at == WEIR_NONE) {
        return;
    }
    bodies_moment last = queue->items[--queue->count];
    queue->places[number] = WEIR_NONE;
    if (at < queue->count) {
        put(queue, at, last);
        move_up(queue, at);
        move_down(queue, queue->places[last.number]);
    }
}

double bodies_queue_first_s(const bodies_queue *queue)
{
    return queue->count ? queue->items[0].at_s : INFINITY;
}

static bool is_ascending(const uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (numbers[i - 1] > numbers[i]) {
            return false;
        }
    }
    return true;
}

/* Heap sort, in place: never short of memory. */
static void sort_numbers(uint32_t *numbers, uint32_t count)
{
    if (is_ascending(numbers, count)) {
        return;
    }
    for (uint32_t end = count, start = count / 2; end > 1;) {
        uint32_t moved;
        if (start > 0) {
            moved = numbers[--start];
        } else {
            moved = numbers[--end];
            numbers[end] = numbers[0];
        }
        uint64_t at = start;
        for (uint64_t child; (child = 2 * at + 1) < end; at = child) {
            child += child + 1 < end && numbers[child + 1] > numbers[child];
            if (numbers[child] <= moved) {
                break;
            }
            numbers[at] = numbers[child];
        }
        numbers[at] = moved;
    }
}

/* All of the heap's top whose moment has come: a body is due only if its parent is. */
static uint32_t find_due(const bodies_queue *queue, double until_s, uint32_t *out)
{
    uint32_t count = 0;
    if (queue->count && queue->items[0].at_s <= until_s) {
        out[count++] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint64_t child = 2 * (uint64_t)out[i] + 1;
             child < queue->count && child <= 2 * (uint64_t)out[i] + 2; child++) {
            if (queue->items[child].at_s <= until_s) {
                out[count++] = (uint32_t)child;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i] = queue->items[out[i]].number;
    }
    return count;
}

/* Removes the due, and puts the rest in order again. */
static void remove_many(bodies_queue *queue, uint32_t *out, uint32_t due)
{
    const uint32_t is_due = WEIR_NONE - 1;
    uint32_t kept = 0, found = 0, last = 0;
    for (uint32_t i = 0; i < due; i++) {
        queue->places[out[i]] = is_due;
        last = out[i] > last ? out[i] : last;
    }
    for (uint32_t i = 0; i < queue->count; i++) {
        if (queue->places[queue->items[i].number] != is_due) {
            put(queue, kept++, queue->items[i]);
        }
    }
    queue->count = kept;
    bodies_queue_order(queue);
    if (due < last / 16) {
        for (uint32_t i = 0; i < due; i++) {
            queue->places[out[i]] = WEIR_NONE;
        }
        sort_numbers(out, due);
        return;
    }
    for (uint32_t number = 0; found < due; number++) { /* sorts them, too */
        if (queue->places[number] == is_due) {
            queue->places[number] = WEIR_NONE;
            out[found++] = number;
        }
    }
}

uint32_t bodies_queue_take(bodies_queue *queue, double until_s, uint32_t *out)
{
    uint32_t due = find_due(queue, until_s, out);
    if (due >= queue->count / 8) {
        remove_many(queue, out, due);
        return due;
    }
    for (uint32_t i = 0; i < due; i++) {
        bodies_queue_drop(queue, out[i]);
    }
    sort_numbers(out, due);
    return due;
}
