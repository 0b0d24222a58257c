#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

typedef int (*compare_fn)(const void *a, const void *b, const void *context);

static bool is_sorted(const char *items, size_t count, size_t size, compare_fn compare,
                      const void *context)
{
    for (size_t i = 1; i < count; i++) {
        if (compare(items + (i - 1) * size, items + i * size, context) > 0) {
            return false;
        }
    }
    return true;
}

/* Merges from[a..b) and from[b..c) into to[a..c). */
static void merge_runs(const char *from, char *to, const size_t run[3], size_t size,
                       compare_fn compare, const void *context)
{
    size_t i = run[0], j = run[1], k = run[0];
    while (i < run[1] && j < run[2]) {
        size_t *take = compare(from + i * size, from + j * size, context) <= 0 ? &i : &j;
        memcpy(to + k * size, from + *take * size, size);
        (*take)++;
        k++;
    }
    memcpy(to + k * size, from + i * size, (run[1] - i) * size);
    k += run[1] - i;
    memcpy(to + k * size, from + j * size, (run[2] - j) * size);
}

bool weir_sort(void *items, size_t count, size_t size,
               int (*compare)(const void *a, const void *b, const void *context),
               const void *context)
{
    if (count < 2 || is_sorted(items, count, size, compare, context)) {
        return true;
    }
    char *spare = malloc(count * size);
    if (!spare) {
        return false;
    }
    char *from = items, *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t a = 0; a < count; a += 2 * width) {
            size_t b = a + width < count ? a + width : count;
            size_t c = b + width < count ? b + width : count;
            const size_t run[3] = {a, b, c};
            merge_runs(from, to, run, size, compare, context);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != (char *)items) {
        memcpy(items, from, count * size);
    }
    free(spare);
    return true;
}

bool weir_sort_pairs(weir_sort_pair *pairs, size_t count)
{
    uint64_t any = 0, all = UINT64_MAX;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        any |= pairs[i].key;
        all &= pairs[i].key;
        sorted = sorted && (i == 0 || pairs[i - 1].key <= pairs[i].key);
    }
    if (sorted) {
        return true;
    }
    weir_sort_pair *spare = malloc(count * sizeof *spare);
    if (!spare) {
        return false;
    }
    weir_sort_pair *from = pairs, *to = spare;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (((any ^ all) >> shift & 0xff) == 0) {
            continue; /* this byte is the same in every key */
        }
        size_t at[257] = {0};
        for (size_t i = 0; i < count; i++) {
            at[(from[i].key >> shift & 0xff) + 1]++;
        }
        for (unsigned b = 0; b < 256; b++) {
            at[b + 1] += at[b];
        }
        for (size_t i = 0; i < count; i++) {
            to[at[from[i].key >> shift & 0xff]++] = from[i];
        }
        weir_sort_pair *swap = from;
        from = to;
        to = swap;
    }
    if (from != pairs) {
        memcpy(pairs, from, count * sizeof *pairs);
    }
    free(spare);
    return true;
}
