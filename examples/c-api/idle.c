/* idle.c: builds a timeline of two streams and prints how long each one was idle. */
#include <inttypes.h>
#include <stdio.h>
#include <weir/timeline.h>

typedef struct {
    int64_t stream, start_ns, dur_ns;
    const char *name;
} row;

static const row ROWS[] = {
    {7, 1000, 400, "gemm"}, {20, 1200, 500, "all_reduce"}, {7, 1900, 300, "gemm"}};

static weir_code add(weir_timeline *t, weir_rank_id rank, const row *r, weir_err *err)
{
    weir_new_span span = {.start_ns = r->start_ns, .dur_ns = r->dur_ns,
                          .detail = WEIR_NONE, .kind = WEIR_SPAN_KERNEL};
    weir_code code = weir_timeline_intern(t, weir_str_from(r->name), &span.name, err);
    if (code == WEIR_OK) {
        code = weir_timeline_add_lane(t, WEIR_LANE_STREAM, rank, 0, r->stream, &span.lane, err);
    }
    return code == WEIR_OK ? weir_timeline_add_span(t, &span, err) : code;
}

static void print_idle(const weir_timeline *t)
{
    uint32_t count;
    const weir_lane *lanes = weir_timeline_lanes(t, &count);
    weir_spans spans = weir_timeline_spans(t);
    for (uint32_t i = 0; i < count; i++) {
        int64_t busy_ns = 0;
        uint32_t first = lanes[i].first_span, last = first + lanes[i].span_count - 1;
        for (uint32_t s = first; s <= last; s++) {
            busy_ns += spans.dur_ns[s];
        }
        int64_t span_ns = spans.start_ns[last] + spans.dur_ns[last] - spans.start_ns[first];
        printf("stream %" PRId64 ": %" PRId64 " ns busy, %" PRId64 " ns idle\n", lanes[i].number,
               busy_ns, span_ns - busy_ns);
    }
}

int main(void)
{
    weir_err err = {0};
    weir_rank_id rank;
    weir_timeline *t = weir_timeline_new(NULL); /* NULL: no memory limit */
    weir_code code = t ? weir_timeline_add_rank(t, &(weir_rank){.number = 0}, &rank, &err)
                       : WEIR_ERR_MEMORY;
    for (size_t i = 0; code == WEIR_OK && i < sizeof ROWS / sizeof *ROWS; i++) {
        code = add(t, rank, &ROWS[i], &err);
    }
    if (code == WEIR_OK) {
        code = weir_timeline_seal(t, &err);
    }
    if (code == WEIR_OK) {
        print_idle(t);
    } else {
        fprintf(stderr, "idle: %s\n", err.text);
    }
    weir_timeline_free(t);
    return code != WEIR_OK;
}
