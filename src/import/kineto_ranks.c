#include "import/kineto_ranks.h"

#include "base/sort.h"
#include "codec/json_scan.h"

#include <stdlib.h>

enum { MOST_RANKS = 1 << 20 };

static int rank_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int32_t *kineto_ranks_parse(weir_str text, uint32_t *count)
{
    *count = 0;
    if (weir_str_has(text, WEIR_STR("...")) || weir_str_has(text, WEIR_STR("\xe2\x80\xa6"))) {
        return NULL;
    }
    uint32_t most = 1; /* one more than commas */
    for (uint32_t i = 0; i < text.n; i++) {
        most += text.p[i] == ',';
    }
    int32_t *ranks = most <= MOST_RANKS ? malloc(most * sizeof *ranks) : NULL;
    uint32_t n = 0;
    for (const char *p = text.p, *end = text.p + text.n; ranks && p < end && n < most;) {
        if (*p != '-' && !is_digit(*p)) {
            p++;
            continue;
        }
        int64_t value;
        bool saturated;
        const char *after = weir_json_integer(p, end, &value, &saturated);
        if (after && value >= 0 && value <= INT32_MAX) {
            ranks[n++] = (int32_t)value;
        }
        for (p = after ? after : p + 1; p < end && is_digit(*p); p++) {
            /* digits of what is no rank: never looked at again */
        }
    }
    if (n == 0 || !weir_sort(ranks, n, sizeof *ranks, rank_compare, NULL)) {
        free(ranks);
        return NULL;
    }
    *count = 1;
    for (uint32_t i = 1; i < n; i++) {
        if (ranks[i] != ranks[*count - 1]) {
            ranks[(*count)++] = ranks[i];
        }
    }
    return ranks;
}
