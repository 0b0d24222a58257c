/* Folding devices: one of each class plays what all of them would. */
#include "spmd_fixture.h"

#include <inttypes.h>

#include <math.h>

static weir_spans spans_of(const weir_spmd_run *run)
{
    return weir_timeline_spans(run->timeline);
}

/* The stream `number` of the rank that stands for a device; NULL: it has none. */
static const weir_lane *lane_of(const weir_spmd_run *run, uint32_t device, int64_t number)
{
    uint32_t count;
    const weir_lane *lanes = weir_timeline_lanes(run->timeline, &count);
    for (uint32_t l = 0; l < count; l++) {
        if (lanes[l].kind == WEIR_LANE_STREAM && lanes[l].rank == run->rank_of_device[device] &&
            lanes[l].number == number) {
            return &lanes[l];
        }
    }
    return NULL;
}

static uint32_t multiplicities(const weir_spmd_run *run)
{
    uint32_t count, sum = 0;
    const weir_device *devices = weir_timeline_devices(run->timeline, &count);
    for (uint32_t d = 0; d < count; d++) {
        sum += devices[d].multiplicity;
    }
    return sum;
}

/* --- random clusters: leaves of devices under one spine --- */

typedef struct {
    spmd_fixture f;
    uint32_t per_leaf;
    weir_link_id first_leaf_link; /* up and down of each leaf */
} cluster;

static void cluster_open(cluster *c, uint64_t *state)
{
    uint32_t leaves = 2u << pick(state, 3);
    c->per_leaf = 2u << pick(state, 2);
    spmd_open(&c->f, leaves * c->per_leaf, c->per_leaf, 1e9);
    for (uint32_t l = 0; l < leaves; l++) {
        weir_link_id link;
        double bytes_per_s = 1e9 * c->per_leaf / (1 + pick(state, 2) * 3.0);
        SPMD_OK(&c->f, weir_net_add(c->f.net, bytes_per_s, 0, &link, &c->f.err));
        c->first_leaf_link = l == 0 ? link : c->first_leaf_link;
        SPMD_OK(&c->f, weir_net_add(c->f.net, bytes_per_s, 0, &link, &c->f.err));
    }
    weir_net_seal(c->f.net);
}

static uint32_t route(const cluster *c, uint32_t from, uint32_t to, weir_link_id *links)
{
    uint32_t n = 0, a = from / c->per_leaf, b = to / c->per_leaf;
    links[n++] = up_of(from);
    if (a != b) {
        links[n++] = c->first_leaf_link + 2 * a;
        links[n++] = c->first_leaf_link + 2 * b + 1;
    }
    links[n++] = down_of(to);
    return n;
}

/* Rounds of a plan: a ring as one body, or as many shifts as there are bodies to a round. */
static weir_plan *random_plan(cluster *c, const uint32_t *members, uint32_t n, uint32_t rounds,
                              bool is_ring, double bytes)
{
    weir_plan *plan = spmd_room(&c->f, 1, sizeof *plan);
    plan->bodies = spmd_room(&c->f, (size_t)rounds * n, sizeof *plan->bodies);
    plan->rounds = spmd_room(&c->f, rounds, sizeof *plan->rounds);
    for (uint32_t r = 0; r < rounds; r++) {
        plan->rounds[r] = (weir_round){plan->body_count, is_ring ? 1 : n, 3e-6, bytes / 1e9};
        weir_link_id *links = spmd_room(&c->f, (size_t)4 * n, sizeof *links);
        uint32_t used = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t added = route(c, members[i], members[(i + r + 1) % n], links + used);
            if (!is_ring) {
                plan->bodies[plan->body_count++] =
                    (weir_body){.path = {.count = added, .links = links + used}, .size = bytes};
            }
            used += added;
        }
        if (is_ring) {
            plan->bodies[plan->body_count++] =
                (weir_body){.path = {.count = used, .links = links}, .size = bytes};
        }
    }
    plan->round_count = rounds;
    return plan;
}

static void random_exchange(cluster *c, uint64_t *state)
{
    uint32_t devices = c->f.spmd.devices, size = 2, stride = 1;
    while (size * 2 <= devices && pick(state, 2)) {
        size *= 2;
    }
    while (size * stride * 2 <= devices && pick(state, 2)) {
        stride *= 2;
    }
    uint32_t groups = devices / size;
    bool is_ring = pick(state, 2);
    uint32_t rounds = 1 + pick(state, size - 1 < 3 ? size - 1 : 3);
    double bytes = (1 + pick(state, 3)) * 1e5;
    weir_exchange_group *rows = spmd_room(&c->f, groups, sizeof *rows);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t *members = spmd_room(&c->f, size, sizeof *members);
        for (uint32_t k = 0; k < size; k++) {
            members[k] = g / stride * (size * stride) + g % stride + k * stride;
        }
        rows[g] =
            (weir_exchange_group){.members = members,
                                  .count = size,
                                  .plan = random_plan(c, members, size, rounds, is_ring, bytes)};
    }
    c->f.exchanges[c->f.spmd.exchange_count++] = (weir_exchange){.name = "exchange",
                                                                 .axis = "data",
                                                                 .kind = WEIR_COMM_ALL_TO_ALL,
                                                                 .bytes = (uint64_t)bytes,
                                                                 .groups = rows,
                                                                 .group_count = groups};
}

/* The same order of exchanges for all, two streams, computing that differs from program to
 * program. */
static void random_programs(cluster *c, uint64_t *state)
{
    uint32_t count = 1 + pick(state, 3), ops = 4 + pick(state, 8);
    uint64_t shape = next_random(state);
    for (uint32_t p = 0; p < count; p++) {
        spmd_program(&c->f);
        uint64_t same = shape;
        for (uint32_t k = 0; k < ops; k++) {
            uint32_t lane = pick(&same, 2);
            weir_program_op *op;
            if (pick(&same, 2)) {
                op = spmd_exchange(&c->f, p, lane, pick(&same, c->f.spmd.exchange_count));
            } else {
                op = spmd_compute(&c->f, p, lane, 10000 + pick(state, 4) * 7001);
            }
            if (k > 0 && pick(&same, 2)) {
                spmd_after(&c->f, op, pick(&same, k));
            }
        }
    }
    for (uint32_t d = 0; d < c->f.spmd.devices; d++) {
        c->f.program_of[d] = d / c->per_leaf % count;
    }
}

static void disturb(cluster *c, uint64_t *state, weir_slow_device *slow, weir_link_changes *changes,
                    weir_link_change *change)
{
    if (pick(state, 3) == 0) {
        *slow = (weir_slow_device){pick(state, c->f.spmd.devices), 1.3};
        c->f.spmd.slow = slow;
        c->f.spmd.slow_count = 1;
    }
    if (pick(state, 3) == 0) {
        *change = (weir_link_change){pick(state, weir_net_count(c->f.net)), 100e-6, 2e8};
        *changes = (weir_link_changes){change, 1};
        c->f.spmd.changes = changes;
    }
}

static void compare_devices(const weir_spmd_run *folded, const weir_spmd_run *all, uint32_t device,
                            uint32_t tolerance_ns)
{
    for (int64_t number = 0; number < 2; number++) {
        const weir_lane *a = lane_of(folded, device, number), *b = lane_of(all, device, number);
        assert_true((a == NULL) == (b == NULL));
        if (!a) {
            continue;
        }
        assert_int_equal(a->span_count, b->span_count);
        for (uint32_t k = 0; k < a->span_count; k++) {
            weir_span_id x = a->first_span + k, y = b->first_span + k;
            int64_t begins = spans_of(folded).start_ns[x] - spans_of(all).start_ns[y];
            int64_t ends = begins + spans_of(folded).dur_ns[x] - spans_of(all).dur_ns[y];
            if (llabs(begins) > tolerance_ns || llabs(ends) > tolerance_ns) {
                fail_msg("device %u, stream %" PRId64 ", span %u: begins %" PRId64
                         " ns, ends %" PRId64 " ns apart",
                         device, number, k, begins, ends);
            }
        }
    }
}

/* Sets *folded where it did. */
static void fold_and_compare(uint64_t seed, bool *folded)
{
    uint64_t state = seed;
    cluster c = {0};
    cluster_open(&c, &state);
    uint32_t exchanges = 1 + pick(&state, 3);
    for (uint32_t e = 0; e < exchanges; e++) {
        random_exchange(&c, &state);
    }
    random_programs(&c, &state);
    weir_slow_device slow;
    weir_link_changes changes;
    weir_link_change change;
    disturb(&c, &state, &slow, &changes, &change);
    weir_spmd_run all = {0};
    c.f.spmd.unfolded = true;
    SPMD_OK(&c.f, weir_spmd_play(&c.f.spmd, &all, &c.f.err));
    c.f.spmd.unfolded = false;
    spmd_play(&c.f);
    assert_int_equal(multiplicities(&c.f.run), c.f.spmd.devices);
    *folded = c.f.run.is_folded;
    for (uint32_t d = 0; d < c.f.spmd.devices; d++) {
        compare_devices(&c.f.run, &all, d, c.f.programs[0].count);
    }
    weir_spmd_run_clear(&all);
    spmd_close(&c.f);
}

static void folded_is_unfolded_within_a_nanosecond_an_operation(void **state)
{
    (void)state;
    uint32_t folded = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        bool is_folded;
        fold_and_compare(seed, &is_folded);
        folded += is_folded;
    }
    print_message("%u of 300 random clusters folded\n", folded);
    assert_true(folded >= 100);
}

/* The net with all links 1.25 times as wide, but for one that is half as wide (WEIR_NONE: none). */
static weir_net *wider(const weir_net *net, weir_link_id but)
{
    weir_net *made = weir_net_new();
    weir_link_id link;
    for (uint32_t l = 0; l < weir_net_count(net); l++) {
        double factor = l == but ? 0.5 : 1.25;
        assert_int_equal(weir_net_add(made, factor * weir_net_bytes_per_s(net, l), 0, &link, NULL),
                         WEIR_OK);
    }
    weir_net_seal(made);
    return made;
}

/* One stage for three nets: as it was folded, wider, and with a link that tells a class apart. */
static uint32_t play_on_one_stage(uint64_t seed)
{
    uint64_t state = seed;
    cluster c = {0};
    cluster_open(&c, &state);
    random_exchange(&c, &state);
    random_exchange(&c, &state);
    random_programs(&c, &state);
    const weir_net *own = c.f.spmd.net;
    weir_net *nets[3] = {NULL, wider(own, WEIR_NONE), wider(own, pick(&state, 8))};
    weir_spmd_stage *stage = NULL;
    int64_t ends_ns[3];
    for (uint32_t i = 0; i < 3; i++) {
        weir_spmd_run again = {0}, fresh = {0};
        c.f.spmd.net = i ? nets[i] : own;
        SPMD_OK(&c.f, weir_spmd_play_on(&c.f.spmd, &stage, &again, &c.f.err));
        SPMD_OK(&c.f, weir_spmd_play(&c.f.spmd, &fresh, &c.f.err));
        assert_non_null(stage);
        assert_int_equal(again.end_ns, fresh.end_ns);
        assert_int_equal(again.device_classes, fresh.device_classes);
        assert_int_equal(again.link_classes, fresh.link_classes);
        for (uint32_t d = 0; d < c.f.spmd.devices; d++) {
            compare_devices(&again, &fresh, d, c.f.programs[0].count);
        }
        ends_ns[i] = again.end_ns;
        weir_spmd_run_clear(&again);
        weir_spmd_run_clear(&fresh);
    }
    weir_spmd_stage_free(stage);
    c.f.spmd.net = own;
    weir_net_free(nets[1]);
    weir_net_free(nets[2]);
    spmd_close(&c.f);
    return (ends_ns[1] != ends_ns[0]) + (ends_ns[2] != ends_ns[1]);
}

static void a_stage_that_stands_plays_as_one_set_anew(void **state)
{
    (void)state;
    uint32_t differ = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        differ += play_on_one_stage(seed);
    }
    assert_true(differ > 100);
}

/* 64 devices that all do the same: one plays; two groups of 32 would, too. */
static void equal_devices_are_played_once(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 64, 8, 1e9);
    uint32_t tensor = spmd_all_reduce(&f, "tensor", 8, 1, 1e6, 1e-6);
    uint32_t data = spmd_all_reduce(&f, "data", 8, 8, 2e6, 1e-6);
    uint32_t p = spmd_program(&f);
    for (uint32_t k = 0; k < 10; k++) {
        spmd_compute(&f, p, 0, 100000);
        spmd_exchange(&f, p, 0, tensor);
    }
    spmd_exchange(&f, p, 0, data);
    spmd_play(&f);
    assert_true(f.run.is_folded);
    assert_int_equal(f.run.device_classes, 1);
    assert_int_equal(f.run.body_classes, 2);
    assert_int_equal(f.run.meeting_count, 11);
    assert_int_equal(f.run.meetings[0].multiplicity, 8);
    uint32_t count;
    assert_int_equal(weir_timeline_devices(f.run.timeline, &count)->multiplicity, 64);
    assert_int_equal(count, 1);
    /* 10 x (0.1 ms + 1 us + 2 x 7/8 MB at 1 GB/s), then 1 us + 3.5 ms */
    assert_int_equal(f.run.end_ns, 10 * (100000 + 1000 + 1750000) + 1000 + 3500000);
    spmd_close(&f);
}

/* The slow one, those it shares a tensor group with, those of its data group, the others. */
static void a_slow_device_unfolds_what_it_touches(void **state)
{
    (void)state;
    spmd_fixture f;
    spmd_open(&f, 64, 8, 1e9);
    uint32_t tensor = spmd_all_reduce(&f, "tensor", 8, 1, 1e6, 1e-6);
    uint32_t data = spmd_all_reduce(&f, "data", 8, 8, 2e6, 1e-6);
    uint32_t p = spmd_program(&f);
    spmd_compute(&f, p, 0, 100000);
    spmd_exchange(&f, p, 0, tensor);
    spmd_exchange(&f, p, 0, data);
    weir_slow_device slow = {9, 2};
    f.spmd.slow = &slow;
    f.spmd.slow_count = 1;
    spmd_play(&f);
    assert_true(f.run.is_folded);
    assert_int_equal(f.run.device_classes, 4);
    assert_int_equal(multiplicities(&f.run), 64);
    assert_int_equal(f.run.end_ns, 200000 + 1000 + 1750000 + 1000 + 3500000);
    spmd_close(&f);
}

/* --- more is never slower --- */

/* The end of a random program on one stream, with a network that is so much faster, and one device
 * that is; 0: it cannot be played. */
static int64_t end_ns(uint64_t seed, uint32_t lanes, double network, double device)
{
    spmd_fixture f;
    spmd_random(&f, seed, lanes);
    weir_net *net = weir_net_new();
    assert_non_null(net);
    for (uint32_t l = 0; l < weir_net_count(f.net); l++) {
        weir_link_id link;
        SPMD_OK(&f, weir_net_add(net, weir_net_bytes_per_s(f.net, l) * network, 0, &link, &f.err));
    }
    weir_net_seal(net);
    weir_slow_device other = {(uint32_t)(seed % f.spmd.devices), device};
    f.spmd.net = net;
    f.spmd.slow = &other;
    f.spmd.slow_count = 1;
    weir_code code = weir_spmd_play(&f.spmd, &f.run, &f.err);
    int64_t end_ns = code == WEIR_OK ? f.run.end_ns : 0;
    spmd_close(&f);
    weir_net_free(net);
    return end_ns;
}

/* On one stream no two transfers of a device share its links: an end is made of sums and maxima
 * only. A nanosecond of rounding for each op. */
static void faster_parts_never_slow_a_stream(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        int64_t base_ns = end_ns(seed, 1, 1, 1);
        assert_true(base_ns > 0);
        assert_true(end_ns(seed, 1, 1.5, 1) <= base_ns + 13);
        assert_true(end_ns(seed, 1, 1, 0.7) <= base_ns + 13);
        assert_true(end_ns(seed, 1, 0.9, 1) >= base_ns - 13);
        assert_true(end_ns(seed, 1, 1, 1.4) >= base_ns - 13);
    }
}

/* The known anomaly (of fair sharing and of list scheduling alike: Graham, Bounds on
 * multiprocessing timing anomalies, 1969): what begins earlier takes bandwidth from what is on the
 * critical path. Over streams that contend it is rare, and costs less than was gained. */
static void with_several_streams_anomalies_are_few(void **state)
{
    (void)state;
    uint32_t anomalies = 0, played = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        int64_t base_ns = end_ns(seed, 3, 1, 1), faster_ns = end_ns(seed, 3, 1.5, 1),
                device_ns = end_ns(seed, 3, 1, 0.7);
        if (base_ns > 0) {
            played++;
            anomalies += faster_ns > base_ns + 13;
            anomalies += device_ns > base_ns + 13;
            assert_true((double)faster_ns < 1.5 * (double)base_ns);
            assert_true((double)device_ns < 1.5 * (double)base_ns);
        }
    }
    print_message("%u anomalies in %u runs\n", anomalies, 2 * played);
    assert_true(played > 300 && anomalies * 20 < played);
}

/* The anomaly by hand: device 0 sends 1 MB to 2, which then computes for 10 ms; device 1 sends as
 * much to it, after computing. At 2 ms it is out of the way; at 0.02 ms both share the link into 2,
 * and the first message takes nearly twice as long. */
static int64_t contended_end_ns(double factor)
{
    spmd_fixture f;
    spmd_open(&f, 3, 1, 1e9);
    uint32_t first = spmd_message(&f, 0, 2, 1e6, 0), second = spmd_message(&f, 1, 2, 1e6, 0);
    uint32_t p = spmd_program(&f), computes = spmd_program(&f), receives = spmd_program(&f);
    f.program_of[1] = computes;
    f.program_of[2] = receives;
    spmd_exchange(&f, p, 0, first);
    spmd_compute(&f, computes, 0, 2000000);
    spmd_exchange(&f, computes, 0, second);
    spmd_exchange(&f, receives, 0, first);
    spmd_exchange(&f, receives, 1, second);
    spmd_compute(&f, receives, 0, 10000000);
    const weir_slow_device other = {1, factor};
    f.spmd.slow = &other;
    f.spmd.slow_count = 1;
    spmd_play(&f);
    int64_t end_ns = f.run.end_ns;
    spmd_close(&f);
    return end_ns;
}

static void a_faster_device_may_slow_the_step_where_transfers_contend(void **state)
{
    (void)state;
    assert_int_equal(contended_end_ns(1), 11000000);
    assert_int_equal(contended_end_ns(0.01), 11980000); /* 0.02 alone, 1.96 at half the rate */
}

/* --- the end of time --- */

/* 1 ms of computing, then a transfer that no number of nanoseconds holds: refused, not the past. */
static void a_transfer_without_end_is_refused(void **state)
{
    (void)state;
    static const double alone_s[] = {9.3e9, 1e300, INFINITY};
    for (size_t i = 0; i < sizeof alone_s / sizeof *alone_s; i++) {
        spmd_fixture f;
        spmd_open(&f, 2, 2, 1e9);
        uint32_t exchange = spmd_all_reduce(&f, "tensor", 2, 1, 1e6, 1e-6);
        weir_plan *plan = (weir_plan *)(uintptr_t)f.exchanges[exchange].groups[0].plan;
        plan->body_count = plan->rounds[0].body_count = 0;
        plan->rounds[0].alone_s = alone_s[i];
        uint32_t p = spmd_program(&f);
        spmd_compute(&f, p, 0, 1000000);
        spmd_exchange(&f, p, 0, exchange);
        assert_int_equal(weir_spmd_play(&f.spmd, &f.run, &f.err), WEIR_ERR_INPUT);
        assert_non_null(strstr(f.err.text, "expected fewer bytes or faster links"));
        spmd_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_devices_are_played_once),
        cmocka_unit_test(a_slow_device_unfolds_what_it_touches),
        cmocka_unit_test(folded_is_unfolded_within_a_nanosecond_an_operation),
        cmocka_unit_test(faster_parts_never_slow_a_stream),
        cmocka_unit_test(with_several_streams_anomalies_are_few),
        cmocka_unit_test(a_faster_device_may_slow_the_step_where_transfers_contend),
        cmocka_unit_test(a_stage_that_stands_plays_as_one_set_anew),
        cmocka_unit_test(a_transfer_without_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
