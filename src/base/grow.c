#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

bool weir_grow(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    if (*capacity > UINT32_MAX / 2) {
        return false;
    }
    uint32_t more = *capacity ? 2 * *capacity : 32;
    void *old;
    memcpy(&old, array, sizeof old);
    void *grown = realloc(old, more * size);
    if (!grown) {
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = more;
    return true;
}
