#include "match/median.h"

/* Hoare's selection with the middle as pivot: no random numbers. */
#define SELECT(type)                                                                               \
    size_t low = 0, high = count - 1, want = (count - 1) / 2;                                      \
    while (low < high) {                                                                           \
        type pivot = values[low + (high - low) / 2];                                               \
        size_t i = low, j = high;                                                                  \
        for (;;) {                                                                                 \
            while (values[i] < pivot) {                                                            \
                i++;                                                                               \
            }                                                                                      \
            while (values[j] > pivot) {                                                            \
                j--;                                                                               \
            }                                                                                      \
            if (i >= j) {                                                                          \
                break;                                                                             \
            }                                                                                      \
            type swap = values[i];                                                                 \
            values[i++] = values[j];                                                               \
            values[j--] = swap;                                                                    \
        }                                                                                          \
        if (want <= j) {                                                                           \
            high = j;                                                                              \
        } else {                                                                                   \
            low = j + 1;                                                                           \
        }                                                                                          \
    }                                                                                              \
    return values[want];

int64_t median_ns(int64_t *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    SELECT(int64_t)
}

double median_number(double *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    SELECT(double)
}
