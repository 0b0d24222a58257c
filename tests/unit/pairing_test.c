/* Which spans of different ranks are the same collective: one host, one clock. */
#include "match_fixture.h"

#define SEND_RECV  "ncclDevKernel_SendRecv(ncclDevComm*, unsigned long)"
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

/* Start and duration in us of the all-to-alls of the sleep set (data/traces/torchrec), as the files
 * have them. */
static const int64_t sleep_set[4][13][2] = {
    {{740217, 249},
     {740470, 3479},
     {757599, 1004762},
     {1784968, 12836},
     {1797806, 293},
     {1798101, 2584},
     {1804226, 1014738},
     {2957800, 274},
     {2958099, 276},
     {2964453, 246},
     {2973494, 1016716},
     {4012849, 13116},
     {4025966, 293}},
    {{740212, 250},
     {740470, 3475},
     {757519, 1004826},
     {1784941, 12848},
     {1797796, 288},
     {1798092, 2581},
     {1804173, 1014738},
     {2957799, 250},
     {2958086, 263},
     {2964616, 56},
     {2973525, 1016667},
     {4012920, 13009},
     {4025930, 294}},
    {{743932, 8},
     {1750110, 12230},
     {1797762, 26},
     {1798045, 35},
     {1800664, 8},
     {2806870, 12068},
     {2957876, 191},
     {2958157, 211},
     {2964535, 155},
     {3978091, 12112},
     {4025924, 26},
     {4026206, 35}},
    {{740209, 251},
     {740468, 3473},
     {757669, 1004655},
     {1785176, 12622},
     {1797801, 292},
     {1798100, 2581},
     {1804307, 1014585},
     {2958037, 28},
     {2958327, 35},
     {2964686, 9},
     {2973620, 1016563},
     {4012953, 13010},
     {4025964, 294}},
};

static void open_sleep_set(match_fixture *f)
{
    fixture_open(f);
    for (int32_t r = 0; r < 4; r++) {
        weir_rank_id rank = fixture_rank(f, "host0", r, 4);
        for (int k = 0; k < (r == 2 ? 12 : 13); k++) {
            const int64_t *s = sleep_set[r][k];
            const int64_t when[2] = {s[0] * 1000, (s[0] + s[1]) * 1000};
            /* Devices are numbered like ranks in these files. */
            fixture_comm_on(f, rank, r, SEND_RECV, NULL, when);
        }
    }
    fixture_match(f);
}

static void pairs_the_sleep_set_though_one_rank_has_one_less(void **state)
{
    (void)state;
    match_fixture f;
    open_sleep_set(&f);
    assert_int_equal(f.match.instance_count, 13);
    assert_int_equal(fixture_complete_count(&f), 12);
    for (uint32_t k = 0; k < 13; k++) {
        uint32_t instance = fixture_instance(&f, 0, k);
        assert_int_equal(fixture_instance(&f, 1, k), instance);
        assert_int_equal(fixture_instance(&f, 3, k), instance);
        if (k > 0) {
            assert_int_equal(fixture_instance(&f, 2, k - 1), instance);
        }
        assert_int_equal(f.match.instances[instance].member_count, k > 0 ? 4 : 3);
    }
    fixture_close(&f);
}

static void finds_the_waits_of_the_sleep_set(void **state)
{
    (void)state;
    /* data/traces/collective-wait.json, wait_us_by_rank */
    static const int64_t expected_us[4] = {3032823, 3032778, 482, 3031554};
    match_fixture f;
    open_sleep_set(&f);
    for (weir_device_id d = 0; d < 4; d++) {
        assert_int_equal(fixture_wait_ns(&f, d), expected_us[d] * 1000);
    }
    fixture_close(&f);
}

/* count all-reduces, about 3 ms apart, with noise of some us on each end. Ranks skip those for
 * which `has` says no. */
typedef bool (*has_fn)(int32_t rank, uint32_t k);

static void add_all_reduces(match_fixture *f, uint32_t count, const weir_comm *comm, has_fn has)
{
    int64_t now = 1000000;
    for (uint32_t k = 0; k < count; k++) {
        now += 1000000 + (int64_t)fixture_random(f, 4000000);
        int64_t start[64], last = 0;
        for (uint32_t r = 0; r < f->rank_count; r++) {
            start[r] = now + (int64_t)fixture_random(f, 300000);
            last = start[r] > last ? start[r] : last;
        }
        for (uint32_t r = 0; r < f->rank_count; r++) {
            int64_t end = last + 200000 + (int64_t)fixture_random(f, 10000);
            weir_comm args = comm ? *comm : (weir_comm){0};
            args.seq = comm && comm->seq >= 0 ? comm->seq + k : -1;
            if (has((int32_t)r, k)) {
                fixture_comm(f, r, ALL_REDUCE, comm ? &args : NULL, start[r], end);
            }
        }
        now = last + 300000;
    }
}

static bool has_unequal_capture(int32_t rank, uint32_t k)
{
    return rank == 0 ? k < 40 : rank == 1 ? k >= 25 : k >= 3 && k < 48;
}

static void pairs_captures_that_begin_and_end_at_different_collectives(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 3; r++) {
        fixture_rank(&f, "a", r, 3);
    }
    add_all_reduces(&f, 50, NULL, has_unequal_capture);
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 50);
    assert_int_equal(fixture_complete_count(&f), 15);
    assert_int_equal(fixture_instance(&f, 0, 25), fixture_instance(&f, 1, 0));
    assert_int_equal(fixture_instance(&f, 0, 3), fixture_instance(&f, 2, 0));
    assert_int_equal(fixture_instance(&f, 1, 22), fixture_instance(&f, 2, 44));
    fixture_close(&f);
}

static bool has_all_but_some(int32_t rank, uint32_t k)
{
    return !(rank == 1 && k == 10) && !(rank == 2 && k >= 20 && k < 70) && !(rank == 0 && k == 80);
}

static void does_not_slip_where_a_member_lost_some_in_the_middle(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 3; r++) {
        fixture_rank(&f, "a", r, 3);
    }
    add_all_reduces(&f, 100, NULL, has_all_but_some);
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 100);
    assert_int_equal(fixture_complete_count(&f), 100 - 52);
    assert_int_equal(fixture_instance(&f, 0, 11), fixture_instance(&f, 1, 10));
    assert_int_equal(fixture_instance(&f, 0, 70), fixture_instance(&f, 2, 20));
    assert_int_equal(fixture_instance(&f, 1, 98), fixture_instance(&f, 2, 49));
    fixture_close(&f);
}

static bool has_every_other(int32_t rank, uint32_t k)
{
    return rank == 0 || k % 2 == 1;
}

static void pairs_by_seq_where_it_is_recorded(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 2);
    fixture_rank(&f, "a", 1, 2);
    weir_comm comm = fixture_args(WEIR_COMM_ALL_REDUCE, fixture_group(&f, "0", ranks, 2), 1000);
    add_all_reduces(&f, 40, &comm, has_every_other);
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 40);
    assert_int_equal(fixture_complete_count(&f), 20);
    for (uint32_t k = 0; k < 20; k++) {
        assert_int_equal(fixture_instance(&f, 0, 2 * k + 1), fixture_instance(&f, 1, k));
    }
    fixture_close(&f);
}

static void counts_each_device_of_a_process_as_a_member(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 2);
    fixture_rank(&f, "a", 1, 2);
    weir_comm comm = fixture_args(WEIR_COMM_ALL_REDUCE, fixture_group(&f, "0", ranks, 2), -1);
    for (int64_t k = 0; k < 5; k++) {
        for (weir_rank_id r = 0; r < 2; r++) {
            for (int64_t d = 0; d < 2; d++) {
                const int64_t when[2] = {k * 1000000 + d * 1000 + r * 5000, k * 1000000 + 300000};
                fixture_comm_on(&f, r, d, ALL_REDUCE, &comm, when);
            }
        }
    }
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(f.match.instances[i].complete);
        assert_int_equal(f.match.instances[i].group_size, 4);
        assert_int_equal(f.match.instances[i].member_count, 4);
        assert_int_equal(f.match.members[f.match.instances[i].last_member].device, 3);
    }
    fixture_close(&f);
}

static void keeps_a_lone_rank_incomplete(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 4);
    fixture_comm(&f, 0, ALL_REDUCE, NULL, 0, 100000);
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 1);
    assert_int_equal(f.match.instances[0].group_size, 4);
    assert_false(f.match.instances[0].complete);
    fixture_close(&f);
}

static void takes_a_group_of_one_as_complete(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 1);
    fixture_comm(&f, 0, ALL_REDUCE, NULL, 0, 100000);
    fixture_match(&f);
    assert_true(f.match.instances[0].complete);
    fixture_close(&f);
}

static void keeps_unrecorded_groups_apart_by_their_ends(void **state)
{
    (void)state;
    match_fixture f;
    fixture_open(&f);
    for (int32_t r = 0; r < 4; r++) {
        fixture_rank(&f, "a", r, 4);
    }
    /* {0, 1} and {2, 3} reduce at times of their own. */
    for (int64_t k = 0; k < 30; k++) {
        int64_t at[2];
        for (int g = 0; g < 2; g++) {
            at[g] = k * 5000000 + (int64_t)fixture_random(&f, 3000000);
        }
        for (weir_rank_id r = 0; r < 4; r++) {
            int64_t start = at[r / 2] + (int64_t)fixture_random(&f, 100000);
            fixture_comm(&f, r, ALL_REDUCE, NULL, start, at[r / 2] + 1000000 + r * 3000);
        }
    }
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 60);
    assert_int_equal(fixture_complete_count(&f), 60);
    for (uint32_t i = 0; i < 60; i++) {
        const weir_instance *instance = &f.match.instances[i];
        assert_int_equal(instance->member_count, 2);
        weir_device_id first = f.match.members[instance->first_member].device;
        assert_int_equal(f.match.members[instance->first_member + 1].device, first + 1);
        assert_int_equal(first % 2, 0);
    }
    fixture_close(&f);
}

static void takes_a_cut_list_of_ranks_for_the_whole_one(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    match_fixture f;
    fixture_open(&f);
    fixture_rank(&f, "a", 0, 4);
    fixture_rank(&f, "a", 1, 4);
    weir_group_id whole = fixture_group(&f, "7", ranks, 2);
    weir_group cut = {
        .name = fixture_name(&f, "7"), .description = fixture_name(&f, "test"), .size = 2};
    weir_group_id cut_id = 0;
    FIXTURE_OK(weir_timeline_add_group(f.t, &cut, &cut_id, &f.err));
    assert_int_not_equal(whole, cut_id);
    weir_comm a = fixture_args(WEIR_COMM_ALL_REDUCE, whole, -1);
    weir_comm b = fixture_args(WEIR_COMM_ALL_REDUCE, cut_id, -1);
    fixture_comm(&f, 0, ALL_REDUCE, &a, 0, 100000);
    fixture_comm(&f, 1, ALL_REDUCE, &b, 10000, 101000);
    fixture_match(&f);
    assert_int_equal(f.match.instance_count, 1);
    assert_true(f.match.instances[0].complete);
    assert_int_equal(f.match.instances[0].group, whole);
    fixture_close(&f);
}

static void counts_bytes_as_nccl_tests_does(void **state)
{
    (void)state;
    static const int32_t ranks[2] = {0, 1};
    static const struct {
        weir_comm_kind kind;
        uint64_t bytes;
    } rows[] = {{WEIR_COMM_ALL_REDUCE, 200},
                {WEIR_COMM_ALL_GATHER, 1400},
                {WEIR_COMM_REDUCE_SCATTER, 200},
                {WEIR_COMM_ALL_TO_ALL, 200}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        match_fixture f;
        fixture_open(&f);
        fixture_rank(&f, "a", 0, 2);
        weir_comm comm = fixture_args(rows[i].kind, fixture_group(&f, "0", ranks, 2), -1);
        comm.in_elements = 100;
        comm.out_elements = 700;
        comm.element_bytes = 2;
        fixture_comm(&f, 0, SEND_RECV, &comm, 0, 100);
        fixture_match(&f);
        assert_int_equal(f.match.instances[0].kind, rows[i].kind);
        assert_int_equal(f.match.instances[0].bytes, rows[i].bytes);
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_the_sleep_set_though_one_rank_has_one_less),
        cmocka_unit_test(finds_the_waits_of_the_sleep_set),
        cmocka_unit_test(pairs_captures_that_begin_and_end_at_different_collectives),
        cmocka_unit_test(does_not_slip_where_a_member_lost_some_in_the_middle),
        cmocka_unit_test(pairs_by_seq_where_it_is_recorded),
        cmocka_unit_test(counts_each_device_of_a_process_as_a_member),
        cmocka_unit_test(keeps_a_lone_rank_incomplete),
        cmocka_unit_test(takes_a_group_of_one_as_complete),
        cmocka_unit_test(keeps_unrecorded_groups_apart_by_their_ends),
        cmocka_unit_test(takes_a_cut_list_of_ranks_for_the_whole_one),
        cmocka_unit_test(counts_bytes_as_nccl_tests_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
