#include "classify/classify.h"

#include <stdlib.h>

void weir_name_classes_clear(weir_name_classes *names)
{
    free(names->names);
    free(names->is_comm);
    free(names->comm_kind);
    *names = (weir_name_classes){0};
}

weir_code weir_classify_names(const weir_timeline *t, const weir_families *families,
                              weir_name_classes *names, weir_err *err)
{
    weir_spans spans = weir_timeline_spans(t);
    uint32_t count = weir_timeline_name_count(t);
    weir_name_classes made = {
        .names = calloc((size_t)count + 1, sizeof *made.names),
        .is_comm = calloc((size_t)count + 1, sizeof *made.is_comm),
        .comm_kind = calloc((size_t)count + 1, sizeof *made.comm_kind),
        .name_count = count,
    };
    uint8_t *seen = calloc((size_t)count + 1, 1);
    if (!made.names || !made.is_comm || !made.comm_kind || !seen) {
        weir_name_classes_clear(&made);
        free(seen);
        return weir_err_set(err, WEIR_ERR_MEMORY, "no memory to classify %u names", count);
    }
    for (weir_span_id s = 0; s < spans.device_count; s++) {
        weir_name_id name = spans.name[s];
        /* What the profiler calls a copy is one, whatever its text; spans.c needs no name for it.
         */
        if (seen[name] || spans.kind[s] != WEIR_SPAN_KERNEL) {
            continue;
        }
        seen[name] = 1;
        made.names[name] = weir_families_classify(families, weir_timeline_name(t, name));
        made.is_comm[name] = made.names[name].cls == WEIR_CLASS_COMM;
        made.comm_kind[name] = made.names[name].comm;
    }
    free(seen);
    *names = made;
    return WEIR_OK;
}
