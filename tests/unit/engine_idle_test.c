/* Idle time with a cause, eager messages, exchanges of a given time, devices that stand for many:
 * moments calculated by hand, and folding. */
#include "spmd_fixture.h"

#include "study/sim_ledger.h"

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

static void assert_span(const spmd_fixture *f, weir_span_id span, int64_t start_ns, int64_t end_ns)
{
    weir_spans spans = weir_timeline_spans(f->run.timeline);
    assert_int_equal(spans.start_ns[span], start_ns);
    assert_int_equal(spans.start_ns[span] + spans.dur_ns[span], end_ns);
}

static void open_star(spmd_fixture *f, uint32_t devices, uint32_t per_node, double bytes_per_s)
{
    spmd_open(f, devices, per_node, bytes_per_s);
    weir_net_seal(f->net);
}

static weir_program_op *put_idle(spmd_fixture *f, uint32_t program, int64_t ns, weir_cause cause)
{
    weir_program_op *op = spmd_op(f, program, WEIR_STEP_IDLE);
    op->duration_ns = ns;
    op->cause = cause;
    return op;
}

static weir_result *ledger_of(spmd_fixture *f)
{
    weir_result *result = weir_result_new();
    assert_non_null(result);
    SPMD_OK(f, weir_sim_ledger_build(&f->spmd, &f->run, NULL, result, NULL, &f->err));
    return result;
}

/* A plan without bodies. */
static const weir_plan *fixed_plan(spmd_fixture *f, double latency_s, double alone_s)
{
    weir_plan *plan = spmd_room(f, 1, sizeof *plan);
    plan->rounds = spmd_room(f, 1, sizeof *plan->rounds);
    plan->rounds[0] = (weir_round){.latency_s = latency_s, .alone_s = alone_s};
    plan->round_count = 1;
    plan->pace_link = WEIR_NONE;
    return plan;
}

static uint32_t add_exchange(spmd_fixture *f, weir_exchange exchange, const uint32_t *members,
                             uint32_t count, const weir_plan *plan)
{
    weir_exchange_group *group = spmd_room(f, 1, sizeof *group);
    uint32_t *own = spmd_room(f, count, sizeof *own);
    memcpy(own, members, count * sizeof *own);
    *group = (weir_exchange_group){.members = own, .count = count, .plan = plan};
    exchange.groups = group;
    exchange.group_count = 1;
    f->exchanges[f->spmd.exchange_count] = exchange;
    return f->spmd.exchange_count++;
}

static uint32_t add_eager(spmd_fixture *f, uint32_t from, uint32_t to, double seconds)
{
    const uint32_t members[2] = {from, to};
    return add_exchange(f,
                        (weir_exchange){.name = "message",
                                        .axis = "pipeline",
                                        .kind = WEIR_COMM_SEND,
                                        .is_message = true,
                                        .is_eager = true,
                                        .bytes = 1000},
                        members, 2, fixed_plan(f, 0, seconds));
}

/* 1 ms of computing, 2 ms of which the host is late, 3 ms of computing. */
static void idle_time_takes_time_and_leaves_a_gap_with_its_cause(void **state)
{
    (void)state;
    spmd_fixture f;
    open_star(&f, 1, 1, 1e9);
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000000);
    put_idle(&f, p, 2000000, WEIR_CAUSE_DEPENDENCY_CHECKPOINT);
    spmd_compute(&f, p, 0, 3000000);
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 6000000);
    assert_int_equal(weir_timeline_spans(f.run.timeline).device_count, 2);
    assert_span(&f, span_at(&f, 0, 0, 1), 3000000, 6000000);
    assert_int_equal(f.run.bound_by[span_at(&f, 0, 0, 1)], span_at(&f, 0, 0, 0));
    weir_result *result = ledger_of(&f);
    assert_int_equal(result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_CHECKPOINT], 2000000);
    assert_int_equal(result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_UNKNOWN], 0);
    assert_int_equal(result->critical_path.causes.ns[WEIR_CAUSE_DEPENDENCY_CHECKPOINT], 2000000);
    assert_int_equal(result->critical_path.length_ns, 6000000);
    assert_int_equal(result->total.wall_ns, 6000000);
    weir_result_free(result);
    spmd_close(&f);
}

static void idle_time_at_either_end_is_booked_too(void **state)
{
    (void)state;
    spmd_fixture f;
    open_star(&f, 1, 1, 1e9);
    uint32_t p = spmd_program(&f);
    put_idle(&f, p, 500, WEIR_CAUSE_DEPENDENCY_DATA);
    spmd_compute(&f, p, 0, 1000);
    put_idle(&f, p, 300, WEIR_CAUSE_DEPENDENCY_HOST);
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 1800);
    weir_result *result = ledger_of(&f);
    assert_int_equal(result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_DATA], 500);
    assert_int_equal(result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_HOST], 300);
    assert_int_equal(result->critical_path.causes.ns[WEIR_CAUSE_DEPENDENCY_DATA], 500);
    assert_int_equal(result->critical_path.causes.ns[WEIR_CAUSE_DEPENDENCY_HOST], 300);
    weir_result_free(result);
    spmd_close(&f);
}

static void a_slow_device_idles_no_longer(void **state)
{
    (void)state;
    spmd_fixture f;
    open_star(&f, 1, 1, 1e9);
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000);
    put_idle(&f, p, 700, WEIR_CAUSE_DEPENDENCY_HOST);
    const weir_slow_device slow = {0, 3};
    f.spmd.slow = &slow;
    f.spmd.slow_count = 1;
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 3 * 1000 + 700);
    spmd_close(&f);
}

/* Device 0 sends at 1 us and at 2 us and goes on; device 1 is there from 0 on, then at 5 us. */
static void an_eager_message_does_not_hold_its_sender(void **state)
{
    (void)state;
    spmd_fixture f;
    open_star(&f, 2, 1, 1e9);
    uint32_t e = add_eager(&f, 0, 1, 500e-9);
    uint32_t sends = spmd_program(&f), receives = spmd_program(&f);
    f.program_of[1] = receives;
    for (uint32_t k = 0; k < 2; k++) {
        spmd_compute(&f, sends, 0, 1000);
        spmd_after(&f, spmd_exchange(&f, sends, 1, e), 2 * k);
    }
    spmd_compute(&f, sends, 0, 1000);
    spmd_exchange(&f, receives, 1, e);
    weir_program_op *op = spmd_compute(&f, receives, 0, 3500);
    spmd_after(&f, op, 0);
    op = spmd_exchange(&f, receives, 1, e);
    spmd_after(&f, op, 1);
    op = spmd_compute(&f, receives, 0, 1000);
    spmd_after(&f, op, 2);
    spmd_play(&f);
    assert_span(&f, span_at(&f, 0, 0, 2), 2000, 3000); /* not held */
    assert_span(&f, span_at(&f, 0, 1, 0), 1000, 1500);
    assert_span(&f, span_at(&f, 0, 1, 1), 2000, 2500);
    assert_span(&f, span_at(&f, 1, 1, 0), 0, 1500); /* waits, then takes it */
    assert_span(&f, span_at(&f, 1, 0, 0), 1500, 5000);
    assert_span(&f, span_at(&f, 1, 1, 1), 2000, 2500); /* was there before it came */
    assert_span(&f, span_at(&f, 1, 0, 1), 5000, 6000);
    weir_result *result = ledger_of(&f);
    assert_int_equal(result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_BUBBLE], 1000);
    assert_int_equal(result->devices[1].account.causes.ns[WEIR_CAUSE_COMMUNICATION_P2P], 500);
    weir_result_free(result);
    spmd_close(&f);
}

/* Two messages that were sent at once, the shorter one taken first: a stream holds both. */
static void messages_that_begin_together_are_told_apart(void **state)
{
    (void)state;
    spmd_fixture f;
    open_star(&f, 3, 1, 1e9);
    uint32_t shorter = add_eager(&f, 0, 2, 500e-9), longer = add_eager(&f, 1, 2, 900e-9);
    const uint32_t sends[2] = {spmd_program(&f), spmd_program(&f)};
    uint32_t receives = spmd_program(&f);
    f.program_of[1] = sends[1];
    f.program_of[2] = receives;
    spmd_exchange(&f, sends[0], 0, shorter);
    spmd_exchange(&f, sends[1], 0, longer);
    spmd_compute(&f, receives, 0, 5000);
    spmd_after(&f, spmd_exchange(&f, receives, 1, shorter), 0);
    spmd_exchange(&f, receives, 1, longer);
    spmd_play(&f);
    weir_span_id first = span_at(&f, 2, 1, 0), second = span_at(&f, 2, 1, 1);
    assert_span(&f, first, 0, 900);
    assert_span(&f, second, 0, 500);
    assert_int_equal(f.run.meetings[f.run.parts[first].meeting].end_ns, 900);
    assert_int_equal(f.run.meetings[f.run.parts[second].meeting].end_ns, 500);
    spmd_close(&f);
}

static void a_plan_without_bodies_takes_its_time_on_any_net(void **state)
{
    (void)state;
    spmd_fixture f;
    open_star(&f, 2, 1, 1); /* a byte per second */
    const uint32_t members[2] = {0, 1};
    uint32_t e = add_exchange(
        &f, (weir_exchange){.name = "sum", .axis = "data", .kind = WEIR_COMM_ALL_REDUCE}, members,
        2, fixed_plan(&f, 1e-6, 2e-6));
    uint32_t p = spmd_program(&f);
    spmd_exchange(&f, p, 0, e);
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 3000);
    const weir_span_parts *parts = &f.run.parts[span_at(&f, 0, 0, 0)];
    assert_int_equal(parts->latency_ns, 1000);
    assert_int_equal(parts->bandwidth_ns, 2000);
    assert_int_equal(parts->contention_ns, 0);
    spmd_close(&f);
}

static void a_device_that_stands_for_many_weighs_as_many(void **state)
{
    (void)state;
    spmd_fixture f;
    static const uint32_t times[2] = {5, 7}, ranks[2] = {40, 80};
    open_star(&f, 2, 1, 1e9);
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 1000);
    f.spmd.times_of_device = times;
    f.spmd.rank_of_device = ranks;
    f.spmd.unfolded = true;
    spmd_play(&f);
    weir_result *result = ledger_of(&f);
    assert_int_equal(result->window.devices, 12);
    assert_int_equal(result->total.wall_ns, 12000);
    assert_int_equal(result->devices[0].rank, 40);
    assert_int_equal(result->devices[1].multiplicity, 7);
    weir_result_free(result);
    spmd_close(&f);
}

/* Pairs: one computes, sends, idles; the other waits for it; all meet. */
static void play_pairs(spmd_fixture *f, uint32_t pairs, bool unfolded, const weir_slow_device *slow)
{
    open_star(f, 2 * pairs, 2, 1e9);
    uint32_t *all = spmd_room(f, (size_t)2 * pairs, sizeof *all);
    weir_exchange_group *groups = spmd_room(f, pairs, sizeof *groups);
    for (uint32_t k = 0; k < pairs; k++) {
        uint32_t *members = spmd_room(f, 2, sizeof *members);
        members[0] = all[2 * k] = 2 * k;
        members[1] = all[2 * k + 1] = 2 * k + 1;
        f->program_of[2 * k + 1] = 1;
        groups[k] = (weir_exchange_group){
            .members = members, .count = 2, .plan = fixed_plan(f, 1e-6, 2e-6)};
    }
    f->exchanges[f->spmd.exchange_count++] = (weir_exchange){.name = "message",
                                                             .axis = "pipeline",
                                                             .kind = WEIR_COMM_SEND,
                                                             .is_message = true,
                                                             .is_eager = true,
                                                             .groups = groups,
                                                             .group_count = pairs};
    uint32_t e = add_exchange(
        f, (weir_exchange){.name = "sum", .axis = "data", .kind = WEIR_COMM_ALL_REDUCE}, all,
        2 * pairs, fixed_plan(f, 1e-6, 5e-6));
    spmd_program(f);
    spmd_program(f);
    for (uint32_t k = 0; k < 3; k++) {
        spmd_compute(f, 0, 0, 10000 + 100 * k);
        spmd_exchange(f, 0, 0, 0);
        put_idle(f, 0, 700, WEIR_CAUSE_DEPENDENCY_LAUNCH);
        spmd_exchange(f, 1, 0, 0);
        spmd_compute(f, 1, 0, 8000);
    }
    spmd_exchange(f, 0, 0, e);
    spmd_exchange(f, 1, 0, e);
    f->spmd.unfolded = unfolded;
    f->spmd.slow = slow;
    f->spmd.slow_count = slow ? 1 : 0;
    spmd_play(f);
}

static void folded_and_unfolded_agree(void **state)
{
    (void)state;
    static const weir_slow_device slow = {5, 1.5};
    for (int disturbed = 0; disturbed < 2; disturbed++) {
        spmd_fixture a, b;
        play_pairs(&a, 64, false, disturbed ? &slow : NULL);
        play_pairs(&b, 64, true, disturbed ? &slow : NULL);
        assert_true(a.run.is_folded);
        assert_true(a.run.device_classes <= (disturbed ? 4 : 2));
        assert_int_equal(a.run.end_ns, b.run.end_ns);
        weir_result *x = ledger_of(&a), *y = ledger_of(&b);
        for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
            assert_int_equal(x->total.causes.ns[c], y->total.causes.ns[c]);
        }
        weir_result_free(x);
        weir_result_free(y);
        spmd_close(&a);
        spmd_close(&b);
    }
}

/* What a fixed exchange takes tells groups apart. */
static void exchanges_of_other_times_do_not_fold_together(void **state)
{
    (void)state;
    spmd_fixture f;
    open_star(&f, 8, 2, 1e9);
    weir_exchange_group *groups = spmd_room(&f, 4, sizeof *groups);
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t *members = spmd_room(&f, 2, sizeof *members);
        members[0] = 2 * k;
        members[1] = 2 * k + 1;
        groups[k] = (weir_exchange_group){
            .members = members, .count = 2, .plan = fixed_plan(&f, 0, k == 3 ? 9e-6 : 2e-6)};
    }
    f.exchanges[f.spmd.exchange_count++] = (weir_exchange){.name = "sum",
                                                           .axis = "data",
                                                           .kind = WEIR_COMM_ALL_REDUCE,
                                                           .groups = groups,
                                                           .group_count = 4};
    uint32_t p = spmd_program(&f);
    spmd_exchange(&f, p, 0, 0);
    spmd_play(&f);
    assert_int_equal(f.run.end_ns, 9000);
    assert_span(&f, span_at(&f, 0, 0, 0), 0, 2000);
    assert_span(&f, span_at(&f, 7, 0, 0), 0, 9000);
    spmd_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_time_takes_time_and_leaves_a_gap_with_its_cause),
        cmocka_unit_test(idle_time_at_either_end_is_booked_too),
        cmocka_unit_test(a_slow_device_idles_no_longer),
        cmocka_unit_test(an_eager_message_does_not_hold_its_sender),
        cmocka_unit_test(messages_that_begin_together_are_told_apart),
        cmocka_unit_test(a_plan_without_bodies_takes_its_time_on_any_net),
        cmocka_unit_test(a_device_that_stands_for_many_weighs_as_many),
        cmocka_unit_test(folded_and_unfolded_agree),
        cmocka_unit_test(exchanges_of_other_times_do_not_fold_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
