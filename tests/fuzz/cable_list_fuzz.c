/* cable_list_fuzz.c: any bytes as a list of cables: taken or refused with a sentence; what is taken
 * joins ends that exist, at rates that a network can have. */
#include "fabric/cable_list.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { DEVICES = 4 };

static void expect_sound(const weir_cable_list *list)
{
    if (list->count == 0)
        abort();
    for (uint32_t i = 0; i < list->count; i++) {
        const weir_listed_cable *c = &list->cables[i];
        bool is_sound = c->from != c->to && c->from < DEVICES + list->switches &&
                        c->to < DEVICES + list->switches && c->cable.bytes_per_s > 0 &&
                        !isinf(c->cable.bytes_per_s) && c->cable.latency_s >= 0 &&
                        !isinf(c->cable.latency_s);
        if (!is_sound)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    weir_err err = {0};
    weir_source *source = NULL;
    weir_cable_list list = {0};
    if (weir_source_memory(bytes, n, "cables.csv", &source, &err) != WEIR_OK)
        return 0;
    weir_code code = weir_cable_list_read(source, "cables.csv", DEVICES, &list, &err);
    if (code == WEIR_OK)
        expect_sound(&list);
    else if (!err.text[0] || list.cables)
        abort();
    weir_cable_list_clear(&list);
    weir_source_close(source);
    return 0;
}
