/* quotes_fuzz.c: any bytes as quotes: taken or refused with a sentence; prices stay in order. */
#include "fabric/prices.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void expect_orderly(const weir_parts *parts)
{
    uint32_t count = 0;
    const weir_price *prices = weir_parts_prices(parts, &count);
    for (uint32_t i = 0; i < count; i++) {
        const weir_price *p = &prices[i];
        bool in_order = p->low_usd >= 0 && p->low_usd <= p->typical_usd &&
                        p->typical_usd <= p->high_usd && !isinf(p->high_usd);
        if (!in_order || !p->id || !p->date || !p->source || !p->confidence)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    weir_err err = {0};
    weir_source *source = NULL;
    weir_parts *parts = NULL;
    if (weir_source_memory(bytes, n, "quotes.csv", &source, &err) != WEIR_OK)
        return 0;
    if (weir_parts_load(&parts, &err) == WEIR_OK) {
        if (weir_parts_quote(parts, source, "quotes.csv", &err) != WEIR_OK && !err.text[0])
            abort();
        expect_orderly(parts);
    }
    weir_parts_free(parts);
    weir_source_close(source);
    return 0;
}
