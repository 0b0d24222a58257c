/* idle.c: builds a timeline of one stream and prints how long it was idle. */
#include <inttypes.h>
#include <stdio.h>
#include <weir/timeline.h>

int main(void)
{
    weir_err err = {0};
    weir_rank_id rank;
    weir_new_span span = {.detail = WEIR_NONE, .kind = WEIR_SPAN_KERNEL, .dur_ns = 400};
    weir_timeline *t = weir_timeline_new(NULL); /* NULL: no memory limit */
    weir_code code = t ? weir_timeline_add_rank(t, &(weir_rank){.number = 0}, &rank, &err)
                       : WEIR_ERR_MEMORY;
    if (code == WEIR_OK)
        code = weir_timeline_intern(t, weir_str_from("gemm"), &span.name, &err);
    if (code == WEIR_OK)
        code = weir_timeline_add_lane(t, WEIR_LANE_STREAM, rank, 0, 7, &span.lane, &err);
    for (; code == WEIR_OK && span.start_ns < 3000; span.start_ns += 1000)
        code = weir_timeline_add_span(t, &span, &err);
    if (code == WEIR_OK)
        code = weir_timeline_seal(t, &err); /* sorted, never edited again */
    if (code == WEIR_OK) {
        weir_spans spans = weir_timeline_spans(t); /* columns, borrowed until the free below */
        int64_t idle_ns = 0;
        for (uint32_t i = 1; i < spans.count; i++)
            idle_ns += spans.start_ns[i] - spans.start_ns[i - 1] - spans.dur_ns[i - 1];
        printf("%" PRIu32 " spans, %" PRId64 " ns idle between them\n", spans.count, idle_ns);
    }
    weir_timeline_free(t);
    return code != WEIR_OK;
}
