/* Clocks of several hosts, together with the pairing over them. */
#include "match_fixture.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
#define BROADCAST  "ncclDevKernel_Broadcast_RING_LL"

static const int64_t MS = 1000000;

/* Which collectives a rank's capture holds: first .. end - 1 of all. */
typedef struct {
    uint32_t first, end;
} capture;

typedef struct {
    const char *kernel;
    weir_comm args;
    const int32_t *ranks; /* members; rank ids are numbers in these tests */
    uint32_t rank_count;
    uint32_t count;
    int64_t begin_ns, gap_ns; /* at least gap_ns, up to three times that, between two */
    int64_t skew_ns;          /* spread of arrivals */
    int64_t noise_ns;         /* spread of ends */
    const capture *captures;  /* by rank, NULL = everything */
} series;

static void add_series(match_fixture *f, const series *s)
{
    int64_t now = s->begin_ns;
    for (uint32_t k = 0; k < s->count; k++) {
        now += s->gap_ns + (int64_t)fixture_random(f, (uint64_t)(2 * s->gap_ns));
        int64_t start[64], last = 0;
        for (uint32_t i = 0; i < s->rank_count; i++) {
            start[i] = now + (int64_t)fixture_random(f, (uint64_t)s->skew_ns);
            last = start[i] > last ? start[i] : last;
        }
        for (uint32_t i = 0; i < s->rank_count; i++) {
            int64_t end = last + 100000 + (int64_t)fixture_random(f, (uint64_t)s->noise_ns + 1);
            int32_t r = s->ranks[i];
            bool seen = !s->captures || (k >= s->captures[r].first && k < s->captures[r].end);
            weir_comm args = s->args;
            args.seq = args.seq >= 0 ? args.seq + k : -1;
            if (seen) {
                fixture_comm(f, (weir_rank_id)r, s->kernel, &args, start[i], end);
            }
        }
        now = last + 110000;
    }
}

/* The clock of `rank` is right within tolerance at the moment, given on the true clock; the
 * reference is the clock of rank 0. The timeline's zero is its earliest local moment. */
static int64_t clock_error_ns(const match_fixture *f, weir_rank_id rank, int64_t true_ns)
{
    int64_t origin = weir_timeline_origin_ns(f->t);
    int64_t reference = weir_match_to_aligned(&f->match, 0, fixture_local(f, 0, true_ns) - origin);
    int64_t aligned =
        weir_match_to_aligned(&f->match, rank, fixture_local(f, rank, true_ns) - origin);
    return llabs(aligned - reference);
}

static void assert_clock(const match_fixture *f, weir_rank_id rank, const int64_t *moments,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t error = clock_error_ns(f, rank, moments[i]);
        if (error > 1000) {
            print_message("rank %u at %lld: %lld ns off\n", rank, (long long)moments[i],
                          (long long)error);
        }
        assert_true(error <= 1000);
    }
}

static void finds_offset_and_drift_of_unequal_captures(void **state)
{
    (void)state;
    static const int32_t ranks[4] = {0, 1, 2, 3};
    static const capture captures[4] = {{0, 560}, {2, 560}, {37, 600}, {35, 598}};
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 4; r++) {
        fixture_rank(&f, r < 2 ? "a" : "b", r, 4);
    }
    fixture_clock(&f, 2, 5000 * MS, 20e-6);
    fixture_clock(&f, 3, 5000 * MS, 20e-6);
    weir_group_id world = fixture_group(&f, "0", ranks, 4);
    add_series(&f, &(series){.kernel = ALL_REDUCE,
                             .args = fixture_args(WEIR_COMM_ALL_REDUCE, world, -1),
                             .ranks = ranks,
                             .rank_count = 4,
                             .count = 600,
                             .begin_ns = 100 * MS,
                             .gap_ns = 10 * MS,
                             .skew_ns = 2 * MS,
                             .noise_ns = 6000,
                             .captures = captures});
    fixture_match(&f);
    assert_true(f.match.aligned);
    assert_int_equal(f.match.clock_count, 2);
    assert_true(f.match.clocks[1].linked);
    assert_true(f.match.clocks[1].residual_ns < 6000);
    assert_true(fabs(f.match.clocks[1].drift - 20e-6) < 0.3e-6);
    assert_false(f.match.refused);
    assert_clock(&f, 2, (const int64_t[]){1000 * MS, 6000 * MS, 11000 * MS}, 3);
    assert_int_equal(f.match.instance_count, 600);
    assert_int_equal(fixture_complete_count(&f), 560 - 37);
    assert_int_equal(fixture_instance(&f, 0, 100), fixture_instance(&f, 2, 63));
    fixture_close(&f);
}

static void finds_an_offset_of_hours_in_a_short_capture(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    static const capture captures[2] = {{0, 12}, {3, 14}};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 2);
    fixture_rank(&f, "b", 1, 2);
    fixture_clock(&f, 1, -9000000 * MS, 0);
    add_series(&f, &(series){.kernel = ALL_REDUCE,
                             .args = fixture_args(WEIR_COMM_ALL_REDUCE,
                                                  fixture_group(&f, "0", ranks, 2), -1),
                             .ranks = ranks,
                             .rank_count = 2,
                             .count = 14,
                             .begin_ns = 0,
                             .gap_ns = 10 * MS,
                             .skew_ns = MS,
                             .noise_ns = 500,
                             .captures = captures});
    fixture_match(&f);
    assert_true(f.match.aligned);
    assert_clock(&f, 1, (const int64_t[]){0, 300 * MS}, 2);
    assert_int_equal(fixture_complete_count(&f), 9);
    assert_int_equal(fixture_instance(&f, 0, 3), fixture_instance(&f, 1, 0));
    fixture_close(&f);
}

static void finds_the_shift_of_long_captures(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    static const capture captures[2] = {{0, 5000}, {1234, 6000}};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 2);
    fixture_rank(&f, "b", 1, 2);
    fixture_clock(&f, 1, 77777 * MS, -35e-6);
    add_series(&f, &(series){.kernel = ALL_REDUCE,
                             .args = fixture_args(WEIR_COMM_ALL_REDUCE,
                                                  fixture_group(&f, "0", ranks, 2), -1),
                             .ranks = ranks,
                             .rank_count = 2,
                             .count = 6000,
                             .begin_ns = 0,
                             .gap_ns = 2 * MS,
                             .skew_ns = MS / 2,
                             .noise_ns = 8000,
                             .captures = captures});
    fixture_match(&f);
    assert_clock(&f, 1, (const int64_t[]){10000 * MS, 15000 * MS, 25000 * MS}, 3);
    assert_int_equal(f.match.instance_count, 6000);
    assert_int_equal(fixture_instance(&f, 0, 1234), fixture_instance(&f, 1, 0));
    assert_int_equal(fixture_instance(&f, 0, 4999), fixture_instance(&f, 1, 3765));
    fixture_close(&f);
}

/* Nodes a, b, c; {0, 1} link a and b, {1, 2} link b and c; nothing links a and c directly. */
static void aligns_a_host_that_is_linked_only_through_another(void **state)
{
    (void)state;
    static const int32_t ab[2] = {0, 1}, bc[2] = {1, 2};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 3);
    fixture_rank(&f, "b", 1, 3);
    fixture_rank(&f, "c", 2, 3);
    fixture_clock(&f, 1, 40 * MS, 15e-6);
    fixture_clock(&f, 2, -3000 * MS, -10e-6);
    series s = {.kernel = ALL_REDUCE,
                .args = fixture_args(WEIR_COMM_ALL_REDUCE, fixture_group(&f, "1", ab, 2), -1),
                .ranks = ab,
                .rank_count = 2,
                .count = 400,
                .begin_ns = 50 * MS,
                .gap_ns = 5 * MS,
                .skew_ns = MS,
                .noise_ns = 3000};
    add_series(&f, &s);
    s.args.group = fixture_group(&f, "2", bc, 2);
    s.ranks = bc;
    s.begin_ns = 53 * MS;
    add_series(&f, &s);
    fixture_match(&f);
    assert_true(f.match.aligned);
    assert_int_equal(f.match.unlinked_count, 0);
    const int64_t moments[] = {100 * MS, 2000 * MS, 4000 * MS};
    assert_clock(&f, 1, moments, 3);
    assert_clock(&f, 2, moments, 3);
    assert_int_equal(fixture_complete_count(&f), 800);
    fixture_close(&f);
}

static void names_a_host_that_nothing_links(void **state)
{
    (void)state;
    static const int32_t ab[2] = {0, 1}, cd[2] = {2, 3};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 4);
    fixture_rank(&f, "b", 1, 4);
    fixture_rank(&f, "c", 2, 4);
    fixture_rank(&f, "c", 3, 4);
    series s = {.kernel = ALL_REDUCE,
                .args = fixture_args(WEIR_COMM_ALL_REDUCE, fixture_group(&f, "1", ab, 2), -1),
                .ranks = ab,
                .rank_count = 2,
                .count = 30,
                .begin_ns = 50 * MS,
                .gap_ns = 5 * MS,
                .skew_ns = MS,
                .noise_ns = 3000};
    add_series(&f, &s);
    s.args.group = fixture_group(&f, "2", cd, 2);
    s.ranks = cd;
    add_series(&f, &s);
    fixture_match(&f);
    assert_false(f.match.aligned);
    assert_int_equal(f.match.unlinked_count, 1);
    assert_true(f.match.clocks[1].linked);
    assert_false(f.match.clocks[2].linked);
    /* Its own members share a clock all the same. */
    assert_int_equal(fixture_complete_count(&f), 60);
    fixture_close(&f);
}

static void does_not_trust_ends_that_differ_by_design(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 2);
    fixture_rank(&f, "b", 1, 2);
    fixture_clock(&f, 1, 123 * MS, 0);
    weir_group_id world = fixture_group(&f, "0", ranks, 2);
    weir_comm broadcast = fixture_args(WEIR_COMM_BROADCAST, world, -1);
    /* Many broadcasts whose root (rank 0) leaves 400 us before the other ... */
    for (int64_t k = 0; k < 40; k++) {
        int64_t at = k * 7 * MS + (int64_t)fixture_random(&f, 3000000);
        fixture_comm(&f, 0, BROADCAST, &broadcast, at, at + 500000);
        fixture_comm(&f, 1, BROADCAST, &broadcast, at + 10000, at + 900000);
    }
    /* ... and a few all-reduces. */
    add_series(&f, &(series){.kernel = ALL_REDUCE,
                             .args = fixture_args(WEIR_COMM_ALL_REDUCE, world, -1),
                             .ranks = ranks,
                             .rank_count = 2,
                             .count = 5,
                             .begin_ns = 400 * MS,
                             .gap_ns = 5 * MS,
                             .skew_ns = MS,
                             .noise_ns = 500});
    fixture_match(&f);
    assert_clock(&f, 1, (const int64_t[]){100 * MS}, 1);
    fixture_close(&f);
}

static void refuses_to_split_what_the_clocks_cannot_resolve(void **state)
{
    (void)state;
    static const int32_t ranks[4] = {0, 1, 2, 3};
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 4; r++) {
        fixture_rank(&f, r < 2 ? "a" : "b", r, 4);
    }
    static const int32_t inside[2] = {0, 1};
    series s = {.kernel = ALL_REDUCE,
                .args = fixture_args(WEIR_COMM_ALL_REDUCE, fixture_group(&f, "0", ranks, 4), -1),
                .ranks = ranks,
                .rank_count = 4,
                .count = 60,
                .begin_ns = 0,
                .gap_ns = 20 * MS,
                .skew_ns = 1000,
                .noise_ns = 90000};
    add_series(&f, &s);
    s.args.group = fixture_group(&f, "1", inside, 2);
    s.ranks = inside;
    s.rank_count = 2;
    add_series(&f, &s);
    fixture_match(&f);
    assert_true(f.match.refused);
    assert_true(f.match.residual_ns > 10000);
    for (uint32_t i = 0; i < f.match.instance_count; i++) {
        const weir_instance *instance = &f.match.instances[i];
        assert_int_equal(instance->split, instance->member_count == 2);
    }
    fixture_close(&f);
}

static void finds_clocks_by_seq(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    static const capture captures[2] = {{0, 50}, {45, 90}};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 2);
    fixture_rank(&f, "b", 1, 2);
    fixture_clock(&f, 1, 60000 * MS, 0);
    add_series(&f, &(series){.kernel = ALL_REDUCE,
                             .args = fixture_args(WEIR_COMM_ALL_REDUCE,
                                                  fixture_group(&f, "0", ranks, 2), 500),
                             .ranks = ranks,
                             .rank_count = 2,
                             .count = 90,
                             .begin_ns = 0,
                             .gap_ns = 10 * MS,
                             .skew_ns = MS,
                             .noise_ns = 900,
                             .captures = captures});
    fixture_match(&f);
    assert_int_equal(fixture_complete_count(&f), 5);
    assert_clock(&f, 1, (const int64_t[]){1000 * MS}, 1);
    fixture_close(&f);
}

/* Only messages link the hosts: forward 0 -> 1, backward 1 -> 0, as in a pipeline. */
static void finds_clocks_by_messages(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 2);
    fixture_rank(&f, "b", 1, 2);
    fixture_clock(&f, 1, 800 * MS, 0);
    weir_group_id world = fixture_group(&f, "0", ranks, 2);
    int64_t now = 0;
    for (int k = 0; k < 60; k++) {
        int32_t src = k % 2;
        weir_comm send = fixture_args(WEIR_COMM_SEND, world, -1), recv = send;
        recv.kind = WEIR_COMM_RECV;
        send.src_rank = recv.src_rank = src;
        send.dst_rank = recv.dst_rank = 1 - src;
        now += 4 * MS + (int64_t)fixture_random(&f, 5000000);
        int64_t end = now + 300000;
        fixture_comm(&f, (weir_rank_id)src, "ncclDevKernel_SendRecv", &send, now, end);
        fixture_comm(&f, (weir_rank_id)(1 - src), "ncclDevKernel_SendRecv", &recv, now - 2 * MS,
                     end + (int64_t)fixture_random(&f, 1000));
    }
    fixture_match(&f);
    assert_true(f.match.aligned);
    assert_clock(&f, 1, (const int64_t[]){100 * MS}, 1);
    assert_int_equal(fixture_complete_count(&f), 60);
    fixture_close(&f);
}

static void goes_back_and_forth_between_clocks_within_a_nanosecond(void **state)
{
    (void)state;
    weir_clock clocks[2] = {{.linked = true},
                            {.linked = true,
                             .offset_ns = -123456789012345,
                             .drift = 437.3e-6,
                             .drift_origin_ns = 987654321}};
    uint32_t clock_of_rank[2] = {0, 1};
    weir_match m = {.clock_count = 2, .clocks = clocks, .clock_of_rank = clock_of_rank};
    for (int64_t x = -5000000000; x < 900000000000; x += 7777777777) {
        assert_int_equal(weir_match_to_aligned(&m, 0, x), x);
        int64_t back = weir_match_to_local(&m, 1, weir_match_to_aligned(&m, 1, x));
        assert_true(llabs(back - x) <= 1);
        int64_t forth = weir_match_to_aligned(&m, 1, weir_match_to_local(&m, 1, x));
        assert_true(llabs(forth - x) <= 1);
    }
}

/* Node a shares six all-reduces with b, c and d; those share forty more among themselves. */
static void takes_all_collectives_together_where_links_have_few(void **state)
{
    (void)state;
    static const int32_t all[4] = {0, 1, 2, 3}, rest[3] = {1, 2, 3};
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 4; r++) {
        fixture_rank(&f, (const char *[]){"a", "b", "c", "d"}[r], r, 4);
        fixture_clock(&f, (weir_rank_id)r, r * 1000 * MS, r == 3 ? 12e-6 : 0);
    }
    series s = {.kernel = ALL_REDUCE,
                .args = fixture_args(WEIR_COMM_ALL_REDUCE, fixture_group(&f, "0", all, 4), -1),
                .ranks = all,
                .rank_count = 4,
                .count = 6,
                .begin_ns = 50 * MS,
                .gap_ns = 40 * MS,
                .skew_ns = MS,
                .noise_ns = 1500};
    add_series(&f, &s);
    s.args.group = fixture_group(&f, "1", rest, 3);
    s.ranks = rest;
    s.rank_count = 3;
    s.count = 60;
    s.gap_ns = 4 * MS;
    add_series(&f, &s);
    fixture_match(&f);
    assert_true(f.match.aligned);
    assert_int_equal(fixture_complete_count(&f), 66);
    for (weir_rank_id r = 1; r < 4; r++) {
        assert_clock(&f, r, (const int64_t[]){50 * MS, 250 * MS, 450 * MS}, 3);
    }
    fixture_close(&f);
}

static void add_eight_hosts(match_fixture *f)
{
    static int32_t ranks[32];
    static capture captures[32];
    for (int32_t r = 0; r < 32; r++) {
        char node[8] = {'n', (char)('0' + r / 4), '\0'};
        fixture_rank(f, node, r, 32);
        fixture_clock(f, (weir_rank_id)r, (r / 4) * 17 * MS, (r / 4) * 3e-6);
        ranks[r] = r;
        captures[r] = (capture){(uint32_t)(r / 4) * 3, 200 + (uint32_t)(r % 4)};
    }
    add_series(f, &(series){.kernel = ALL_REDUCE,
                            .args = fixture_args(WEIR_COMM_ALL_REDUCE,
                                                 fixture_group(f, "0", ranks, 32), -1),
                            .ranks = ranks,
                            .rank_count = 32,
                            .count = 210,
                            .begin_ns = 500 * MS,
                            .gap_ns = 10 * MS,
                            .skew_ns = MS,
                            .noise_ns = 5000,
                            .captures = captures});
}

static void gives_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    match_fixture f[2];
    for (int i = 0; i < 2; i++) {
        fixture_open(&f[i]);
        f[i].threads = i == 0 ? 1 : 8;
        add_eight_hosts(&f[i]);
        fixture_match(&f[i]);
    }
    const weir_match *a = &f[0].match, *b = &f[1].match;
    assert_int_equal(a->instance_count, b->instance_count);
    assert_int_equal(a->member_count, b->member_count);
    assert_memory_equal(a->members, b->members, a->member_count * sizeof *a->members);
    for (uint32_t c = 0; c < a->clock_count; c++) {
        assert_int_equal(a->clocks[c].offset_ns, b->clocks[c].offset_ns);
        assert_true(a->clocks[c].drift == b->clocks[c].drift);
    }
    for (weir_rank_id r = 0; r < 32; r += 4) {
        assert_clock(&f[0], r, (const int64_t[]){1000 * MS, 4000 * MS}, 2);
    }
    assert_int_equal(a->instance_count, 203);
    fixture_close(&f[0]);
    fixture_close(&f[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_offset_and_drift_of_unequal_captures),
        cmocka_unit_test(finds_an_offset_of_hours_in_a_short_capture),
        cmocka_unit_test(finds_the_shift_of_long_captures),
        cmocka_unit_test(aligns_a_host_that_is_linked_only_through_another),
        cmocka_unit_test(names_a_host_that_nothing_links),
        cmocka_unit_test(does_not_trust_ends_that_differ_by_design),
        cmocka_unit_test(refuses_to_split_what_the_clocks_cannot_resolve),
        cmocka_unit_test(finds_clocks_by_seq),
        cmocka_unit_test(finds_clocks_by_messages),
        cmocka_unit_test(takes_all_collectives_together_where_links_have_few),
        cmocka_unit_test(goes_back_and_forth_between_clocks_within_a_nanosecond),
        cmocka_unit_test(gives_the_same_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
