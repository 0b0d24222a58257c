/* Launches by correlation and edges by events. */
#include "match_fixture.h"

static void links_each_device_span_to_the_call_of_its_rank(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 2; r++) {
        weir_rank_id rank = fixture_rank(&f, "a", r, 2);
        weir_lane_id lane = fixture_stream(&f, rank, 0, 7);
        int64_t at = 1000 * r;
        fixture_host_span(&f, rank, WEIR_SPAN_RUNTIME, "cudaLaunchKernel", 11, at, 5);
        fixture_host_span(&f, rank, WEIR_SPAN_RUNTIME, "cudaGraphLaunch", 12, at + 10, 5);
        fixture_host_span(&f, rank, WEIR_SPAN_OP, "aten::mm", 13, at + 20, 5);
        fixture_kernel(&f, lane, rank, "k", 11, WEIR_NONE, (int64_t[]){at + 30, at + 40});
        fixture_kernel(&f, lane, rank, "k", 12, WEIR_NONE, (int64_t[]){at + 50, at + 60});
        fixture_kernel(&f, lane, rank, "k", 12, WEIR_NONE, (int64_t[]){at + 70, at + 80});
        fixture_kernel(&f, lane, rank, "k", 13, WEIR_NONE, (int64_t[]){at + 90, at + 95});
        fixture_kernel(&f, lane, rank, "k", 0, WEIR_NONE, (int64_t[]){at + 96, at + 97});
    }
    fixture_match(&f);
    weir_spans spans = weir_timeline_spans(f.t);
    assert_int_equal(spans.device_count, 10);
    for (uint32_t r = 0; r < 2; r++) {
        const weir_span_id *launch = f.match.launch + 5 * r;
        assert_int_equal(spans.start_ns[launch[0]], 1000 * r);
        assert_int_equal(spans.start_ns[launch[1]], 1000 * r + 10);
        assert_int_equal(launch[2], launch[1]);
        assert_int_equal(launch[3], WEIR_NONE); /* an operation is no launch */
        assert_int_equal(launch[4], WEIR_NONE);
    }
    fixture_close(&f);
}

static void does_not_link_to_another_rank(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    weir_rank_id a = fixture_rank(&f, "a", 0, 2), b = fixture_rank(&f, "a", 1, 2);
    fixture_host_span(&f, a, WEIR_SPAN_RUNTIME, "cudaLaunchKernel", 5, 0, 5);
    fixture_kernel(&f, fixture_stream(&f, b, 0, 7), b, "k", 5, WEIR_NONE, (int64_t[]){10, 20});
    fixture_match(&f);
    assert_int_equal(f.match.launch[0], WEIR_NONE);
    fixture_close(&f);
}

static void takes_the_last_call_before_the_span_of_several_alike(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    weir_rank_id rank = fixture_rank(&f, "a", 0, 1);
    for (int64_t at = 0; at < 400; at += 100) {
        fixture_host_span(&f, rank, WEIR_SPAN_RUNTIME, "hipLaunchKernel", 5, at, 5);
    }
    weir_lane_id lane = fixture_stream(&f, rank, 0, 7);
    fixture_kernel(&f, lane, rank, "k", 5, WEIR_NONE, (int64_t[]){250, 260});
    fixture_match(&f);
    weir_spans spans = weir_timeline_spans(f.t);
    assert_int_equal(spans.start_ns[f.match.launch[0]], 200);
    fixture_close(&f);
}

static void links_numbers_that_are_far_apart(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    weir_rank_id rank = fixture_rank(&f, "a", 0, 1);
    weir_lane_id lane = fixture_stream(&f, rank, 0, 7);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t number = 4000000000u - 39999999u * i; /* falling */
        int64_t at = 100 * (int64_t)i;
        fixture_host_span(&f, rank, WEIR_SPAN_RUNTIME, "cuLaunchKernel", number, at, 5);
        fixture_kernel(&f, lane, rank, "k", number, WEIR_NONE, (int64_t[]){at + 20, at + 30});
    }
    fixture_match(&f);
    weir_spans spans = weir_timeline_spans(f.t);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(spans.start_ns[f.match.launch[i]], 100 * i);
    }
    fixture_close(&f);
}

/* Stream 7 runs A, B; an event is recorded between their launches; stream 9 waits for it between
 * the launches of X and Y. So Y waits for A. */
static weir_edge only_edge(int64_t start_of_y)
{
    match_fixture f;
    fixture_open(&f);
    weir_rank_id rank = fixture_rank(&f, "a", 0, 1);
    weir_lane_id s7 = fixture_stream(&f, rank, 0, 7), s9 = fixture_stream(&f, rank, 0, 9);
    static const struct {
        const char *name;
        uint32_t correlation;
    } calls[] = {{"cudaLaunchKernel", 1},     {"cudaEventRecord", 2},     {"cudaLaunchKernel", 3},
                 {"cudaLaunchKernel", 4},     {"cudaStreamWaitEvent", 5}, {"cudaLaunchKernel", 6},
                 {"cudaDeviceSynchronize", 7}};
    for (int64_t i = 0; i < 7; i++) {
        fixture_host_span(&f, rank, WEIR_SPAN_RUNTIME, calls[i].name, calls[i].correlation,
                          10000 * i, 5000);
    }
    fixture_kernel(&f, s7, rank, "A", 1, WEIR_NONE, (int64_t[]){20000, 80000});
    fixture_kernel(&f, s7, rank, "B", 3, WEIR_NONE, (int64_t[]){80000, 300000});
    fixture_kernel(&f, s9, rank, "X", 4, WEIR_NONE, (int64_t[]){40000, 50000});
    fixture_kernel(&f, s9, rank, "Y", 6, WEIR_NONE, (int64_t[]){start_of_y, 90000});
    weir_event_wait wait = {.rank = rank,
                            .device = 0,
                            .waiting_stream = 9,
                            .wait_correlation = 5,
                            .recorded_stream = 7,
                            .record_correlation = 2};
    for (int twice = 0; twice < 2; twice++) {
        FIXTURE_OK(weir_timeline_add_event_wait(f.t, &wait, &f.err));
    }
    wait.record_correlation = 99; /* a call that was not recorded */
    FIXTURE_OK(weir_timeline_add_event_wait(f.t, &wait, &f.err));
    fixture_match(&f);
    weir_edge edge = {WEIR_NONE, WEIR_NONE};
    assert_true(f.match.edge_count <= 1);
    if (f.match.edge_count == 1) {
        edge = f.match.edges[0];
    }
    fixture_close(&f);
    return edge;
}

static void turns_an_event_into_an_edge_between_spans(void **state)
{
    (void)state;
    weir_edge edge = only_edge(81000);
    assert_int_equal(edge.before, 0); /* A: stream 7 comes first */
    assert_int_equal(edge.after, 3);  /* Y */
}

static void drops_an_edge_that_the_times_contradict(void **state)
{
    (void)state;
    assert_int_equal(only_edge(70000).after, WEIR_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_each_device_span_to_the_call_of_its_rank),
        cmocka_unit_test(does_not_link_to_another_rank),
        cmocka_unit_test(takes_the_last_call_before_the_span_of_several_alike),
        cmocka_unit_test(links_numbers_that_are_far_apart),
        cmocka_unit_test(turns_an_event_into_an_edge_between_spans),
        cmocka_unit_test(drops_an_edge_that_the_times_contradict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
