/* grow.h: room for one more row in a growing array. */
#ifndef WEIR_BASE_GROW_H
#define WEIR_BASE_GROW_H

#include "weir/base.h"

/* array: the address of the pointer to the rows. Doubles the capacity when count has reached it.
 * false: no memory, nothing changed. */
bool weir_grow(void *array, uint32_t count, uint32_t *capacity, size_t size);

#endif
