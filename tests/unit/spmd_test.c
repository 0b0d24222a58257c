/* Programs on devices, with hand-calculated moments. */
#include "spmd_fixture.h"

/* The k-th span of stream `lane` of the played device that stands for `device`. */
static weir_span_id span_at(const spmd_fixture *f, uint32_t device, uint32_t lane, uint32_t k)
{
    uint32_t rank_count, lane_count;
    const weir_rank *ranks = weir_timeline_ranks(f->run.timeline, &rank_count);
    const weir_lane *lanes = weir_timeline_lanes(f->run.timeline, &lane_count);
    for (uint32_t l = 0; l < lane_count; l++) {
        if (lanes[l].kind == WEIR_LANE_STREAM && lanes[l].number == lane &&
            ranks[lanes[l].rank].number == (int32_t)device) {
            assert_true(k < lanes[l].span_count);
            return lanes[l].first_span + k;
        }
    }
    fail_msg("device %u has no lane %u", device, lane);
    return 0;
}

static int64_t start_of(const spmd_fixture *f, weir_span_id span)
{
    return weir_timeline_spans(f->run.timeline).start_ns[span];
}

static int64_t end_of(const spmd_fixture *f, weir_span_id span)
{
    return start_of(f, span) + weir_timeline_spans(f->run.timeline).dur_ns[span];
}

/* compute 1 ms, then 4 MB over 4 devices at 1 GB/s: 2 x 3/4 x 4 MB = 6 MB, 6 ms, after 10 us. */
static void ring_step_is_compute_and_estimate(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 4, 2, 1e9);
    uint32_t e = spmd_all_reduce(&f, "data", 4, 1, 4e6, 10e-6);
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000000);
    spmd_exchange(&f, p, 0, e);
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 1000000 + 10000 + 6000000);
    weir_span_id span = span_at(&f, 0, 0, 1);
    const weir_span_parts *parts = &f.run.parts[span];
    assert_int_equal(parts->arrived_ns, 1000000);
    assert_int_equal(parts->latency_ns, 10000);
    assert_int_equal(parts->bandwidth_ns, 6000000);
    assert_int_equal(parts->contention_ns, 0);
    assert_int_equal(f.run.bound_by[span], span_at(&f, 0, 0, 0));
    spmd_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_step_is_compute_and_estimate),
    };
    (void)end_of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
