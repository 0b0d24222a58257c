/* timeline_test.c: sealing orders spans, joining renumbers them, the budget holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timeline/shard.h"

#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), WEIR_OK)

static weir_err err;

static weir_name_id name(weir_timeline *t, const char *text)
{
    weir_name_id id = 0;
    OK(weir_timeline_intern(t, weir_str_from(text), &id, &err));
    return id;
}

static weir_rank_id rank(weir_timeline *t, int32_t number, const char *node)
{
    weir_rank row = {.number = number, .node = name(t, node), .file = name(t, "f.json")};
    weir_rank_id id = 0;
    OK(weir_timeline_add_rank(t, &row, &id, &err));
    return id;
}

static weir_lane_id lane(weir_timeline *t, weir_lane_kind kind, weir_rank_id r, int64_t group,
                         int64_t number)
{
    weir_lane_id id = 0;
    OK(weir_timeline_add_lane(t, kind, r, group, number, &id, &err));
    return id;
}

static void span(weir_timeline *t, weir_lane_id l, int64_t start_ns, int64_t dur_ns,
                 const char *text)
{
    bool device = text[0] == 'k';
    weir_new_span s = {.start_ns = start_ns,
                       .dur_ns = dur_ns,
                       .lane = l,
                       .name = name(t, text),
                       .detail = WEIR_NONE,
                       .kind = device ? WEIR_SPAN_KERNEL : WEIR_SPAN_RUNTIME};
    OK(weir_timeline_add_span(t, &s, &err));
}

static void expect_spans(const weir_timeline *t, const char *const *names, uint32_t count)
{
    weir_spans s = weir_timeline_spans(t);
    assert_int_equal(s.count, count);
    for (uint32_t i = 0; i < count; i++) {
        weir_str found = weir_timeline_name(t, s.name[i]);
        if (!weir_str_eq(found, weir_str_from(names[i]))) {
            fail_msg("span %u: %.*s, expected %s", i, (int)found.n, found.p, names[i]);
        }
    }
}

static void spans_are_sorted_by_lane_start_and_longer_first(void **state)
{
    weir_timeline *t = weir_timeline_new(NULL);
    weir_rank_id r = rank(t, 0, "host");
    weir_lane_id thread = lane(t, WEIR_LANE_THREAD, r, 9, 9);
    weir_lane_id late = lane(t, WEIR_LANE_STREAM, r, 0, 20);
    weir_lane_id early = lane(t, WEIR_LANE_STREAM, r, 0, 7);
    span(t, thread, 1000, 10, "t1");
    span(t, late, 1500, 5, "k5");
    span(t, early, 1300, 5, "k4");
    span(t, early, 1200, 5, "k2 short");
    span(t, early, 1200, 50, "k1 longer");
    span(t, early, 1200, 5, "k3 short, later");
    span(t, thread, 900, 1, "t0");
    OK(weir_timeline_seal(t, &err));
    static const char *const names[] = {"k1 longer", "k2 short", "k3 short, later", "k4", "k5",
                                        "t0",        "t1"};
    expect_spans(t, names, 7);
    weir_spans s = weir_timeline_spans(t);
    assert_int_equal(s.device_count, 5);
    assert_int_equal(weir_timeline_origin_ns(t), 900);
    assert_int_equal(s.start_ns[0], 300);
    assert_int_equal(s.start_ns[5], 0);
    uint32_t devices, lanes;
    assert_int_equal(weir_timeline_devices(t, &devices)[0].lane_count, 2);
    assert_int_equal(devices, 1);
    assert_int_equal(weir_timeline_lanes(t, &lanes)[0].number, 7);
    assert_int_equal(weir_timeline_lanes(t, &lanes)[2].device, WEIR_NONE);
    weir_timeline_free(t);
}

/* More spans than a chunk holds, starting together in reverse order of length. */
static void many_ties_are_sorted_and_stay_stable(void **state)
{
    enum { COUNT = 50000 };
    weir_timeline *t = weir_timeline_new(NULL);
    weir_lane_id l = lane(t, WEIR_LANE_STREAM, rank(t, 0, "host"), 0, 7);
    weir_name_id k = name(t, "k");
    for (uint32_t i = 0; i < COUNT; i++) {
        weir_new_span s = {.start_ns = 5000 - i % 3,
                           .dur_ns = i % 1000,
                           .lane = l,
                           .name = k,
                           .correlation = i + 1,
                           .detail = WEIR_NONE};
        OK(weir_timeline_add_span(t, &s, &err));
    }
    OK(weir_timeline_seal(t, &err));
    weir_spans s = weir_timeline_spans(t);
    assert_int_equal(s.count, COUNT);
    for (uint32_t i = 1; i < COUNT; i++) {
        bool start = s.start_ns[i - 1] == s.start_ns[i], dur = s.dur_ns[i - 1] == s.dur_ns[i];
        assert_true(s.start_ns[i - 1] <= s.start_ns[i]);
        assert_true(!start || s.dur_ns[i - 1] >= s.dur_ns[i]);
        assert_true(!start || !dur || s.correlation[i - 1] < s.correlation[i]);
    }
    weir_timeline_free(t);
}

static void the_same_lane_shape_or_group_gets_one_row(void **state)
{
    weir_timeline *t = weir_timeline_new(NULL);
    weir_rank_id r = rank(t, 0, "host");
    assert_int_equal(lane(t, WEIR_LANE_STREAM, r, 0, 7), lane(t, WEIR_LANE_STREAM, r, 0, 7));
    assert_true(lane(t, WEIR_LANE_STREAM, r, 0, 7) != lane(t, WEIR_LANE_THREAD, r, 0, 7));
    uint32_t a = 0, b = 0, c = 0;
    weir_shape shape = {.grid = {1, 2, 3}, .block = {4, 5, 6}, .registers = 32};
    OK(weir_timeline_add_shape(t, &shape, &a, &err));
    OK(weir_timeline_add_shape(t, &shape, &b, &err));
    shape.bytes = 1;
    OK(weir_timeline_add_shape(t, &shape, &c, &err));
    assert_true(a == b && b != c && a > 0);
    static const int32_t two[] = {0, 1}, other[] = {0, 2};
    weir_group group = {.name = name(t, "0"), .size = 2, .rank_count = 2, .ranks = two};
    OK(weir_timeline_add_group(t, &group, &a, &err));
    OK(weir_timeline_add_group(t, &group, &b, &err));
    group.ranks = other;
    OK(weir_timeline_add_group(t, &group, &c, &err));
    assert_true(a == b && b != c);
    weir_timeline_free(t);
}

/* A shard whose numbers all differ from those of the timeline that takes it in. */
static weir_timeline *shard_make(weir_budget *budget, int32_t number)
{
    static const int32_t ranks[] = {0, 1};
    weir_timeline *t = weir_timeline_new(budget);
    char other[] = "own name 0";
    other[9] = (char)('0' + number);
    name(t, other);
    weir_rank_id r = rank(t, number, number ? "b" : "a");
    weir_lane_id thread = lane(t, WEIR_LANE_THREAD, r, 50 + number, 1);
    weir_lane_id stream = lane(t, WEIR_LANE_STREAM, r, 0, 7);
    weir_timeline_label_lane(t, stream, name(t, "stream 7"));
    uint32_t shape = 0, comm = 0;
    weir_group_id group = 0;
    weir_shape s = {.grid = {(uint32_t)number + 1, 1, 1}, .block = {1, 1, 1}};
    OK(weir_timeline_add_shape(t, &s, &shape, &err));
    weir_group g = {.name = name(t, "dp"), .size = 2, .rank_count = 2, .ranks = ranks};
    OK(weir_timeline_add_group(t, &g, &group, &err));
    weir_comm c = {.kind = WEIR_COMM_ALL_REDUCE, .group = group, .seq = 3, .shape = shape};
    OK(weir_timeline_add_comm(t, &c, &comm, &err));
    weir_new_span kernel = {.start_ns = 100 + number,
                            .dur_ns = 5,
                            .lane = stream,
                            .name = name(t, "k"),
                            .detail = shape,
                            .kind = WEIR_SPAN_KERNEL};
    OK(weir_timeline_add_span(t, &kernel, &err));
    kernel.start_ns += 20;
    kernel.detail = comm;
    OK(weir_timeline_add_span(t, &kernel, &err));
    weir_new_span op = {.start_ns = 90,
                        .dur_ns = 5,
                        .lane = thread,
                        .name = name(t, "aten::mm"),
                        .detail = name(t, "[[1, 2]]"),
                        .kind = WEIR_SPAN_OP};
    OK(weir_timeline_add_span(t, &op, &err));
    weir_event_wait wait = {.rank = r, .device = 0, .waiting_stream = 7, .recorded_stream = 8};
    OK(weir_timeline_add_event_wait(t, &wait, &err));
    return t;
}

static void joined_shards_are_renumbered_and_shifted(void **state)
{
    weir_budget *budget = weir_budget_new(0);
    weir_timeline *t = weir_timeline_new(budget);
    for (int32_t i = 0; i < 2; i++) {
        weir_timeline *shard = shard_make(budget, i);
        OK(weir_timeline_absorb(t, shard, 1000 * i, &err));
        weir_timeline_free(shard);
    }
    OK(weir_timeline_seal(t, &err));
    static const char *const names[] = {"k", "k", "k", "k", "aten::mm", "aten::mm"};
    expect_spans(t, names, 6);
    weir_spans s = weir_timeline_spans(t);
    static const int64_t starts[] = {10, 30, 1011, 1031, 0, 1000};
    uint32_t n;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(s.start_ns[i], starts[i]);
        assert_int_equal(weir_timeline_shape_of(t, i)->grid[0], i / 2 + 1);
    }
    const weir_rank *ranks = weir_timeline_ranks(t, &n);
    assert_int_equal(n, 2);
    assert_true(weir_str_eq(weir_timeline_name(t, ranks[1].node), WEIR_STR("b")));
    assert_null(weir_timeline_comm_of(t, 0));
    assert_int_equal(weir_timeline_comm_of(t, 3)->seq, 3);
    assert_int_equal(weir_timeline_comm_of(t, 1)->group, weir_timeline_comm_of(t, 3)->group);
    weir_timeline_groups(t, &n);
    assert_int_equal(n, 1); /* equal groups of different files are one */
    assert_true(weir_str_eq(weir_timeline_name(t, s.detail[5]), WEIR_STR("[[1, 2]]")));
    assert_int_equal(weir_timeline_event_waits(t, &n)[1].rank, 1);
    assert_true(weir_str_eq(weir_timeline_name(t, weir_timeline_lanes(t, &n)[0].label),
                            WEIR_STR("stream 7")));
    weir_timeline_free(t);
    assert_true(weir_budget_take(budget, 1));
    weir_budget_free(budget);
}

static void the_budget_ends_in_a_limit_that_names_itself(void **state)
{
    enum { LIMIT = 4 << 20 };
    weir_budget *budget = weir_budget_new(LIMIT);
    weir_timeline *t = weir_timeline_new(budget);
    weir_lane_id l = lane(t, WEIR_LANE_STREAM, rank(t, 0, "host"), 0, 7);
    weir_new_span s = {.lane = l, .detail = WEIR_NONE};
    weir_err limit = {0};
    weir_code code = WEIR_OK;
    while (code == WEIR_OK && s.start_ns < 1000000) {
        s.start_ns++;
        code = weir_timeline_add_span(t, &s, &limit);
    }
    assert_int_equal(code, WEIR_ERR_LIMIT);
    assert_non_null(strstr(limit.text, "--max-memory allows (4 MiB)"));
    assert_true(weir_budget_peak(budget) <= LIMIT);
    assert_true(s.start_ns > LIMIT / 80); /* 80 bytes a span are promised */
    weir_timeline_free(t);
    assert_true(weir_budget_take(budget, LIMIT)); /* all was given back */
    weir_budget_free(budget);
}

static void an_empty_timeline_can_be_sealed(void **state)
{
    weir_timeline *t = weir_timeline_new(NULL);
    OK(weir_timeline_seal(t, &err));
    assert_int_equal(weir_timeline_spans(t).count, 0);
    assert_int_equal(weir_timeline_origin_ns(t), 0);
    weir_timeline_free(t);
    weir_timeline_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_sorted_by_lane_start_and_longer_first),
        cmocka_unit_test(many_ties_are_sorted_and_stay_stable),
        cmocka_unit_test(the_same_lane_shape_or_group_gets_one_row),
        cmocka_unit_test(joined_shards_are_renumbered_and_shifted),
        cmocka_unit_test(the_budget_ends_in_a_limit_that_names_itself),
        cmocka_unit_test(an_empty_timeline_can_be_sealed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
