/* source_fuzz.c: gzip, zstd and plain bytes, whole or damaged, never read or write astray. */
#include "codec/source.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    enum { CAPACITY = 4093, MOST_BLOCKS = 4096 }; /* a prime: blocks end everywhere */
    weir_err err = {0};
    weir_source *source = NULL;
    if (weir_source_memory(bytes, n, "input", &source, &err) != WEIR_OK)
        return 0;
    char *out = malloc(CAPACITY);
    size_t got = 1;
    for (int i = 0; out && got > 0 && i < MOST_BLOCKS; i++) {
        if (weir_source_read(source, out, CAPACITY, &got, &err) != WEIR_OK)
            break;
        if (got > CAPACITY || weir_source_position(source) > n)
            abort();
    }
    weir_source_close(source);
    free(out);
    return 0;
}
