/* Lanes, meetings, circuits, stalls: moments calculated by hand. */
#include "spmd_fixture.h"

/* The k-th span of stream `lane` of the played device that stands for `device`. */
static weir_span_id span_at(const spmd_fixture *f, uint32_t device, int64_t lane, uint32_t k)
{
    uint32_t count;
    const weir_lane *lanes = weir_timeline_lanes(f->run.timeline, &count);
    for (uint32_t l = 0; l < count; l++) {
        if (lanes[l].kind == WEIR_LANE_STREAM && lanes[l].number == lane &&
            lanes[l].rank == f->run.rank_of_device[device]) {
            assert_true(k < lanes[l].span_count);
            return lanes[l].first_span + k;
        }
    }
    fail_msg("device %u has no lane %d", device, (int)lane);
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

static int64_t parts_sum(const weir_span_parts *parts)
{
    return parts->arrived_ns + parts->circuit_ns + parts->latency_ns + parts->bandwidth_ns +
           parts->contention_ns;
}

/* compute 1 ms, then 4 MB over 4 devices at 1 GB/s: 2 x 3/4 x 4 MB = 6 MB, 6 ms, after 10 us. */
static void a_ring_step_is_compute_and_estimate(void **state)
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
    assert_int_equal(f.run.bound_by[span_at(&f, 0, 0, 0)], WEIR_NONE);
    spmd_close(&f);
}

/* Two devices, one twice as slow: the other arrives at 1 ms, the transfer begins at 2 ms. */
static void a_span_begins_at_its_own_arrival(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t e = spmd_all_reduce(&f, "data", 2, 1, 1e6, 0); /* 1 ms */
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000000);
    spmd_exchange(&f, p, 0, e);
    const weir_slow_device slow = {1, 2};
    f.spmd.slow = &slow;
    f.spmd.slow_count = 1;
    spmd_play(&f);
    weir_span_id early = span_at(&f, 0, 0, 1), late = span_at(&f, 1, 0, 1);
    assert_int_equal(start_of(&f, early), 1000000);
    assert_int_equal(start_of(&f, late), 2000000);
    assert_int_equal(end_of(&f, early), 3000000);
    assert_int_equal(end_of(&f, late), 3000000);
    assert_int_equal(f.run.parts[early].arrived_ns, 2000000);
    assert_int_equal(f.run.meetings[0].last_arrival_ns, 2000000);
    spmd_close(&f);
}

/* Stream 1 moves while stream 0 computes; the op behind both starts when the later one ends. */
static void lanes_run_beside_each_other(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t e = spmd_all_reduce(&f, "data", 2, 1, 3e6, 0); /* 3 ms */
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000000);
    spmd_after(&f, spmd_exchange(&f, p, 1, e), 0);
    spmd_compute(&f, p, 0, 2000000);
    spmd_after(&f, spmd_compute(&f, p, 0, 500000), 1);
    spmd_play(&f);
    assert_int_equal(start_of(&f, span_at(&f, 0, 1, 0)), 1000000);
    assert_int_equal(end_of(&f, span_at(&f, 0, 1, 0)), 4000000);
    assert_int_equal(start_of(&f, span_at(&f, 0, 0, 1)), 1000000);
    assert_int_equal(start_of(&f, span_at(&f, 0, 0, 2)), 4000000);
    assert_int_equal(f.run.end_ns, 4500000);
    assert_int_equal(f.run.bound_by[span_at(&f, 0, 0, 2)], span_at(&f, 0, 1, 0));
    assert_int_equal(f.run.bound_by[span_at(&f, 0, 1, 0)], span_at(&f, 0, 0, 0));
    assert_int_equal(f.run.bound_by[span_at(&f, 0, 0, 1)], span_at(&f, 0, 0, 0));
    spmd_close(&f);
}

/* Two streams' collectives over the same links: each gets half. 1 MB and 2 MB at 1 GB/s, begun
 * together: the small one ends at 2 ms, the large one at 3 ms. */
static void transfers_that_share_links_contend(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t small = spmd_all_reduce(&f, "tensor", 2, 1, 1e6, 0);
    uint32_t large = spmd_all_reduce(&f, "data", 2, 1, 2e6, 0);
    uint32_t p = spmd_program(&f);
    spmd_exchange(&f, p, 0, small);
    spmd_exchange(&f, p, 1, large);
    spmd_play(&f);
    weir_span_id a = span_at(&f, 0, 0, 0), b = span_at(&f, 0, 1, 0);
    assert_int_equal(end_of(&f, a), 2000000);
    assert_int_equal(end_of(&f, b), 3000000);
    assert_int_equal(f.run.parts[a].bandwidth_ns, 1000000);
    assert_int_equal(f.run.parts[a].contention_ns, 1000000);
    assert_int_equal(f.run.parts[b].bandwidth_ns, 2000000);
    assert_int_equal(f.run.parts[b].contention_ns, 1000000);
    spmd_close(&f);
}

/* A pipeline of two devices: 1 ms forward on each, messages of 1 ms; the second idles, waiting for
 * the first message, then for the second. */
static void a_pipeline_of_two_has_its_bubble(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t first = spmd_message(&f, 0, 1, 1e6, 0), second = spmd_message(&f, 0, 1, 1e6, 0);
    uint32_t sender = spmd_program(&f), receiver = spmd_program(&f);
    f.program_of[1] = receiver;
    spmd_compute(&f, sender, 0, 1000000);
    spmd_exchange(&f, sender, 0, first);
    spmd_compute(&f, sender, 0, 1000000);
    spmd_exchange(&f, sender, 0, second);
    spmd_exchange(&f, receiver, 0, first);
    spmd_compute(&f, receiver, 0, 500000);
    spmd_exchange(&f, receiver, 0, second);
    spmd_compute(&f, receiver, 0, 500000);
    spmd_play(&f);
    assert_int_equal(start_of(&f, span_at(&f, 1, 0, 0)), 0);
    assert_int_equal(f.run.parts[span_at(&f, 1, 0, 0)].arrived_ns, 1000000);
    assert_int_equal(end_of(&f, span_at(&f, 1, 0, 0)), 2000000);
    assert_int_equal(start_of(&f, span_at(&f, 1, 0, 2)), 2500000);
    assert_int_equal(f.run.parts[span_at(&f, 1, 0, 2)].arrived_ns, 3000000);
    assert_int_equal(f.run.end_ns, 4500000);
    spmd_close(&f);
}

/* Devices that are in none of an exchange's groups pass over it. */
static void an_exchange_of_others_takes_no_time(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 3, 1, 1e9);
    uint32_t e = spmd_message(&f, 0, 1, 1e6, 0);
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000);
    spmd_exchange(&f, p, 0, e);
    spmd_compute(&f, p, 0, 2000);
    spmd_play(&f);
    assert_int_equal(end_of(&f, span_at(&f, 2, 0, 1)), 3000);
    assert_int_equal(f.run.bound_by[span_at(&f, 2, 0, 1)], span_at(&f, 2, 0, 0));
    assert_int_equal(end_of(&f, span_at(&f, 0, 0, 2)), 1003000);
    spmd_close(&f);
}

/* The same exchange twice: the n-th op meets the n-th of the others. */
static void an_exchange_may_occur_again(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t e = spmd_all_reduce(&f, "data", 2, 1, 1e6, 0);
    uint32_t p = spmd_program(&f);
    for (uint32_t k = 0; k < 3; k++) {
        spmd_compute(&f, p, 0, 1000000);
        spmd_exchange(&f, p, 0, e);
    }
    spmd_play(&f);
    assert_int_equal(f.run.meeting_count, 3);
    assert_int_equal(f.run.end_ns, 6000000);
    const weir_comm *comm = weir_timeline_comm_of(f.run.timeline, span_at(&f, 0, 0, 5));
    assert_non_null(comm);
    assert_int_equal(comm->seq, 2);
    assert_int_equal(comm->in_elements, 1000000);
    spmd_close(&f);
}

/* Rounds follow each other, each with its latency; a round may move nothing. */
static void rounds_follow_each_other(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t e = spmd_message(&f, 0, 1, 1e6, 0);
    weir_plan *plan = (weir_plan *)(uintptr_t)f.exchanges[e].groups[0].plan;
    plan->rounds = spmd_room(&f, 3, sizeof *plan->rounds);
    plan->rounds[0] = (weir_round){0, 1, 1e-3, 1e-3};
    plan->rounds[1] = (weir_round){1, 0, 2e-3, 0};
    plan->rounds[2] = (weir_round){0, 1, 3e-3, 1e-3};
    plan->round_count = 3;
    uint32_t p = spmd_program(&f);
    spmd_exchange(&f, p, 0, e);
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 8000000);
    const weir_span_parts *parts = &f.run.parts[span_at(&f, 0, 0, 0)];
    assert_int_equal(parts->latency_ns, 6000000);
    assert_int_equal(parts->bandwidth_ns, 2000000);
    spmd_close(&f);
}

/* --- circuits: exposed = max(0, delay - slack), network-oracles.md E11 --- */

/* Computing of so long before each of four exchanges that alternate between two positions. */
static int64_t circuit_wait_ns(int64_t compute_ns, double circuit_s)
{
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t a = spmd_all_reduce(&f, "data", 2, 1, 1e6, 0);
    uint32_t b = spmd_all_reduce(&f, "pipeline", 2, 1, 1e6, 0);
    f.exchanges[a].circuits = 1;
    f.exchanges[b].circuits = 2;
    uint32_t p = spmd_program(&f);
    for (uint32_t k = 0; k < 4; k++) {
        spmd_compute(&f, p, 0, compute_ns);
        spmd_exchange(&f, p, 0, k % 2 ? b : a);
    }
    f.spmd.circuit_s = circuit_s;
    spmd_play(&f);
    int64_t waits = 0;
    for (uint32_t k = 0; k < 4; k++) {
        weir_span_id span = span_at(&f, 0, 0, 2 * k + 1);
        assert_int_equal(parts_sum(&f.run.parts[span]), end_of(&f, span));
        waits += f.run.parts[span].circuit_ns;
    }
    assert_int_equal(f.run.end_ns, 4 * (compute_ns + 1000000) + waits);
    spmd_close(&f);
    return waits;
}

static void circuits_cost_what_the_gap_does_not_hide(void **state)
{
    (void)state;
    /* d = 10 ms, slack 8 ms: 2 ms for each of the three switches after the first position */
    assert_int_equal(circuit_wait_ns(8000000, 10e-3), 3 * 2000000);
    assert_int_equal(circuit_wait_ns(8000000, 8e-3), 0);
    assert_int_equal(circuit_wait_ns(8000000, 1e-6), 0);
    assert_int_equal(circuit_wait_ns(1000, 5e-3), 3 * (5000000 - 1000));
}

static void circuits_that_stay_cost_nothing(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t a = spmd_all_reduce(&f, "data", 2, 1, 1e6, 0);
    f.exchanges[a].circuits = 7;
    uint32_t p = spmd_program(&f);
    spmd_exchange(&f, p, 0, a);
    spmd_exchange(&f, p, 0, a);
    f.spmd.circuit_s = 1;
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 2000000);
    spmd_close(&f);
}

/* The optical layer moves on when the last group has left it: group 1 is slow. */
static void circuits_wait_for_all_groups(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 4, 1, 1e9);
    uint32_t a = spmd_all_reduce(&f, "data", 2, 1, 1e6, 0);
    uint32_t b = spmd_all_reduce(&f, "tensor", 2, 1, 1e6, 0);
    f.exchanges[a].circuits = 1;
    f.exchanges[b].circuits = 2;
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000000);
    spmd_exchange(&f, p, 0, a);
    spmd_exchange(&f, p, 0, b);
    const weir_slow_device slow = {2, 5};
    f.spmd.slow = &slow;
    f.spmd.slow_count = 1;
    f.spmd.circuit_s = 2e-3;
    spmd_play(&f);
    /* group 0 is through at 2 ms, group 1 at 6 ms; the reset ends at 8 ms */
    assert_int_equal(f.run.parts[span_at(&f, 0, 0, 2)].circuit_ns, 6000000);
    assert_int_equal(f.run.parts[span_at(&f, 2, 0, 2)].circuit_ns, 2000000);
    assert_int_equal(f.run.end_ns, 9000000);
    spmd_close(&f);
}

/* --- links that break --- */

/* 2 MB at 1 GB/s from 0 on; the link is down from 1 ms to 4 ms: 5 ms. */
static void a_flapping_link_delays(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t e = spmd_message(&f, 0, 1, 2e6, 0);
    uint32_t p = spmd_program(&f);
    spmd_exchange(&f, p, 0, e);
    spmd_compute(&f, p, 0, 1000);
    const weir_link_change changes[] = {{down_of(1), 1e-3, 0}, {down_of(1), 4e-3, 1e9}};
    const weir_link_changes all = {changes, 2};
    f.spmd.changes = &all;
    spmd_play(&f);
    assert_int_equal(end_of(&f, span_at(&f, 1, 0, 0)), 5000000);
    assert_int_equal(f.run.meetings[0].stalled_by, WEIR_NONE);
    assert_int_equal(f.run.stalled_by, WEIR_NONE);
    assert_int_equal(f.run.end_ns, 5001000);
    spmd_close(&f);
}

/* The pair 0-1 is cut off at 1 ms, for good; the pair 2-3 goes on until 6 ms. What 1 sends to 2
 * afterwards never begins, and 2 waits for it. */
static void a_broken_link_ends_in_a_named_stall(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 4, 1, 1e9);
    uint32_t cut = spmd_message(&f, 0, 1, 2e6, 0), other = spmd_message(&f, 2, 3, 5e6, 0);
    uint32_t never = spmd_message(&f, 1, 2, 1e6, 0);
    uint32_t p = spmd_program(&f);
    spmd_exchange(&f, p, 0, cut);
    spmd_exchange(&f, p, 0, other);
    spmd_compute(&f, p, 0, 1000000);
    spmd_exchange(&f, p, 0, never);
    const weir_link_change change = {down_of(1), 1e-3, 0};
    const weir_link_changes all = {&change, 1};
    f.spmd.changes = &all;
    spmd_play(&f);
    assert_int_equal(f.run.meeting_count, 3);
    assert_int_equal(f.run.stalled_by, down_of(1));
    for (uint32_t m = 0; m < 3; m++) {
        const weir_meeting *meeting = &f.run.meetings[m];
        assert_int_equal(meeting->stalled_by, meeting->exchange == other ? WEIR_NONE : down_of(1));
        assert_int_equal(meeting->is_complete, meeting->exchange != never);
    }
    /* 3 computes until 6 ms; 2 arrives then at what never begins, a nanosecond long */
    assert_int_equal(f.run.end_ns, 6000001);
    assert_int_equal(end_of(&f, span_at(&f, 0, 0, 0)), f.run.end_ns);
    assert_int_equal(f.run.cause[span_at(&f, 0, 0, 0)], WEIR_CAUSE_DEPENDENCY_FAILURE);
    assert_int_equal(f.run.cause[span_at(&f, 2, 0, 2)], WEIR_CAUSE_DEPENDENCY_FAILURE);
    spmd_close(&f);
}

/* --- disturbances --- */

static int64_t jittered_end(uint64_t seed, double jitter)
{
    spmd_fixture f;
    spmd_open(&f, 16, 8, 1e9);
    uint32_t e = spmd_all_reduce(&f, "data", 16, 1, 1e6, 0);
    uint32_t p = spmd_program(&f);
    for (uint32_t k = 0; k < 20; k++) {
        spmd_compute(&f, p, 0, 1000000);
        spmd_exchange(&f, p, 0, e);
    }
    f.spmd.jitter = jitter;
    f.spmd.seed = seed;
    spmd_play(&f);
    assert_int_equal(f.run.is_folded, !(jitter > 0));
    int64_t end_ns = f.run.end_ns;
    spmd_close(&f);
    return end_ns;
}

/* The latest of 16 normal draws lies 1.766 deviations late on average (Harter 1961, table of
 * expected normal order statistics); 20 steps of 1 ms at 5 %. */
static void jitter_costs_the_latest_of_the_group(void **state)
{
    (void)state;
    int64_t steady_ns = jittered_end(1, 0), sum_ns = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        sum_ns += jittered_end(seed, 0.05) - steady_ns;
    }
    double late = (double)sum_ns / 50 / 20 / (0.05 * 1e6);
    /* deviation of the maximum of 16: 0.53; over 1000 draws 0.017; three of them 0.05 */
    assert_true(late > 1.766 - 0.05 && late < 1.766 + 0.05);
}

static void the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    assert_int_equal(jittered_end(5, 0.1), jittered_end(5, 0.1));
    assert_int_not_equal(jittered_end(5, 0.1), jittered_end(6, 0.1));
}

/* --- links over time --- */

static void links_are_watched_when_asked(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t e = spmd_message(&f, 0, 1, 2e6, 0);
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000000);
    spmd_exchange(&f, p, 0, e);
    spmd_compute(&f, p, 0, 1000000);
    spmd_play(&f);
    assert_int_equal(f.run.link_count, 0);
    f.spmd.link_series = true;
    spmd_play(&f);
    assert_int_equal(f.run.link_count, 2);
    assert_int_equal(f.run.links[0].link, up_of(0));
    assert_int_equal(f.run.links[1].link, down_of(1));
    for (uint32_t l = 0; l < 2; l++) {
        assert_int_equal(f.run.links[l].count, 2);
        assert_true(f.run.links[l].at_s[0] > 0.999e-3 && f.run.links[l].at_s[0] < 1.001e-3);
        assert_true(f.run.links[l].at_s[1] > 2.999e-3 && f.run.links[l].at_s[1] < 3.001e-3);
        assert_true(f.run.links[l].bytes_per_s[0] > 0.999e9);
        assert_true(f.run.links[l].bytes_per_s[1] < 1);
        double bytes =
            (f.run.links[l].at_s[1] - f.run.links[l].at_s[0]) * f.run.links[l].bytes_per_s[0];
        assert_true(bytes > 2e6 * (1 - 1e-9) && bytes < 2e6 * (1 + 1e-9));
    }
    spmd_close(&f);
}

/* --- what cannot be played --- */

static void refuse(spmd_fixture *f, weir_code code, const char *text)
{
    weir_spmd_run run = {0};
    f->err = (weir_err){0};
    assert_int_equal(weir_spmd_play(&f->spmd, &run, &f->err), code);
    if (!strstr(f->err.text, text)) {
        fail_msg("\"%s\" is not in \"%s\"", text, f->err.text);
    }
    assert_null(run.timeline);
}

static void names_what_cannot_be_played(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 4, 1, 1e9);
    uint32_t e = spmd_all_reduce(&f, "data", 2, 1, 1e6, 0);
    uint32_t goes = spmd_program(&f), stays = spmd_program(&f);
    weir_program_op *op = spmd_exchange(&f, goes, 0, e);
    f.program_of[3] = stays;
    refuse(&f, WEIR_ERR_INPUT, "data waits for device 3, which never comes to it");
    f.program_of[3] = 7;
    refuse(&f, WEIR_ERR_INPUT, "device 3 runs program 7; there are 2");
    f.program_of[3] = goes;
    op->exchange = 5;
    refuse(&f, WEIR_ERR_INPUT, "exchange 5 of 1 does not exist");
    op->exchange = e;
    spmd_after(&f, op, 0);
    refuse(&f, WEIR_ERR_INPUT, "it waits for operation 0, which does not come before it");
    op->after_count = 0;
    uint32_t *members = (uint32_t *)(uintptr_t)f.exchanges[e].groups[1].members;
    members[1] = 0;
    refuse(&f, WEIR_ERR_INPUT, "data: device 0 is in two of its groups");
    members[1] = 9;
    refuse(&f, WEIR_ERR_INPUT, "data: device 9 of 4 does not exist");
    members[1] = 3;
    const weir_slow_device slow = {4, 1.3};
    f.spmd.slow = &slow;
    f.spmd.slow_count = 1;
    refuse(&f, WEIR_ERR_INPUT, "device 4 of 4 is slow by the factor 1.3");
    f.spmd.slow_count = 0;
    f.spmd.jitter = -1;
    refuse(&f, WEIR_ERR_INPUT, "a jitter of -1");
    spmd_close(&f);
}

/* One half needs position 1 first, the other position 2: nobody can be served. */
static void names_circuits_that_are_never_set(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 4, 1, 1e9);
    uint32_t a = spmd_all_reduce(&f, "data", 2, 1, 1e6, 0);
    uint32_t b = spmd_all_reduce(&f, "tensor", 2, 1, 1e6, 0);
    f.exchanges[a].circuits = 1;
    f.exchanges[b].circuits = 2;
    uint32_t forth = spmd_program(&f), back = spmd_program(&f);
    spmd_exchange(&f, forth, 0, a);
    spmd_exchange(&f, forth, 0, b);
    spmd_exchange(&f, back, 0, b);
    spmd_exchange(&f, back, 0, a);
    f.program_of[2] = f.program_of[3] = back;
    refuse(&f, WEIR_ERR_INPUT, "tensor waits for circuits that are never set");
    spmd_close(&f);
}

static void memory_is_bounded_by_the_budget(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t p = spmd_program(&f);
    weir_net_seal(f.net);
    for (uint32_t k = 0; k < 4000; k++) {
        spmd_compute(&f, p, 0, 1000);
    }
    f.spmd.budget = weir_budget_new(100000);
    refuse(&f, WEIR_ERR_LIMIT, "--max-memory");
    weir_budget_free(f.spmd.budget);
    f.spmd.budget = weir_budget_new(100000000);
    spmd_play(&f);
    assert_true(weir_budget_peak(f.spmd.budget) > 4000 * 40);
    assert_int_equal(f.run.end_ns, 4000000);
    weir_spmd_run_clear(&f.run);
    weir_budget_free(f.spmd.budget);
    spmd_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_step_is_compute_and_estimate),
        cmocka_unit_test(a_span_begins_at_its_own_arrival),
        cmocka_unit_test(lanes_run_beside_each_other),
        cmocka_unit_test(transfers_that_share_links_contend),
        cmocka_unit_test(a_pipeline_of_two_has_its_bubble),
        cmocka_unit_test(an_exchange_of_others_takes_no_time),
        cmocka_unit_test(an_exchange_may_occur_again),
        cmocka_unit_test(rounds_follow_each_other),
        cmocka_unit_test(circuits_cost_what_the_gap_does_not_hide),
        cmocka_unit_test(circuits_that_stay_cost_nothing),
        cmocka_unit_test(circuits_wait_for_all_groups),
        cmocka_unit_test(a_flapping_link_delays),
        cmocka_unit_test(a_broken_link_ends_in_a_named_stall),
        cmocka_unit_test(jitter_costs_the_latest_of_the_group),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(links_are_watched_when_asked),
        cmocka_unit_test(names_what_cannot_be_played),
        cmocka_unit_test(names_circuits_that_are_never_set),
        cmocka_unit_test(memory_is_bounded_by_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
