/* What holds for every ledger, whatever the timeline: random ones, from a generator of our own. */
#include "ledger_fixture.h"

enum { CASES = 200, MOST_SPANS = 160 };

/* Xorshift (G. Marsaglia, 2003): the same numbers on every machine. */
static int64_t draw(uint64_t *state, int64_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int64_t)(*state % (uint64_t)below);
}

/* A span still to be added, so that the order of adding can be permuted. */
typedef struct {
    weir_lane_kind lane_kind;
    place where;
    const char *name;
    weir_span_kind kind;
    weir_comm comm;
    bool is_comm;
    uint32_t correlation;
    int64_t start_ns, dur_ns;
} sketch;

typedef struct {
    sketch spans[MOST_SPANS];
    uint32_t count;
    uint32_t ranks;
    bool cut[4];
    int64_t steps;
} picture;

static sketch *sketch_new(picture *p, weir_lane_kind lane_kind, place where, const char *name)
{
    assert_true(p->count < MOST_SPANS);
    sketch *s = &p->spans[p->count++];
    *s = (sketch){.lane_kind = lane_kind, .where = where, .name = name};
    s->kind = lane_kind == WEIR_LANE_STREAM ? WEIR_SPAN_KERNEL : WEIR_SPAN_RUNTIME;
    return s;
}

/* A kernel of any class somewhere in the step, with or without a launch. */
static void sketch_kernel(picture *p, uint64_t *r, weir_rank_id rank, int64_t begin_ns)
{
    static const char *const names[] = {MATH, MATH_TOO, MEMORY, COPY};
    int64_t launched = begin_ns + draw(r, 900000);
    uint32_t correlation = 0;
    if (draw(r, 4)) {
        static const char *const calls[] = {"cudaLaunchKernel", "cudaGraphLaunch"};
        sketch *call = sketch_new(p, WEIR_LANE_THREAD, on(rank, 1 + draw(r, 2)), calls[draw(r, 2)]);
        call->correlation = correlation = 100 + p->count;
        call->start_ns = launched;
        call->dur_ns = draw(r, 20000);
    }
    const place where = {rank, draw(r, 2), 7 + draw(r, 2)};
    uint32_t name = (uint32_t)draw(r, 4);
    sketch *s = sketch_new(p, WEIR_LANE_STREAM, where, names[name]);
    s->kind = name == 3 ? WEIR_SPAN_MEMCPY : WEIR_SPAN_KERNEL;
    s->correlation = correlation;
    s->start_ns = launched + draw(r, 200000);
    s->dur_ns = draw(r, 5) ? draw(r, 150000) : 0;
}

/* A collective of all ranks; now and then a member is missing. */
static void sketch_collective(picture *p, uint64_t *r, int64_t seq, int64_t begin_ns)
{
    int64_t end = begin_ns + 500000 + draw(r, 400000);
    for (weir_rank_id rank = 0; rank < p->ranks; rank++) {
        if (draw(r, 12) == 0) {
            continue;
        }
        sketch *s = sketch_new(p, WEIR_LANE_STREAM, on(rank, 9), ALL_REDUCE);
        s->is_comm = true;
        s->comm = collective(0, seq, 1000);
        s->start_ns = end - 1 - draw(r, 450000);
        s->dur_ns = end + draw(r, 3000) - s->start_ns;
    }
}

static void sketch_host(picture *p, uint64_t *r, weir_rank_id rank, int64_t begin_ns)
{
    static const char *const names[] = {"cudaMalloc", "cudaDeviceSynchronize", "cudaEventRecord"};
    sketch *s = sketch_new(p, WEIR_LANE_THREAD, on(rank, 1 + draw(r, 3)), names[draw(r, 3)]);
    s->start_ns = begin_ns + draw(r, 900000);
    s->dur_ns = draw(r, 200000);
}

static void draw_picture(picture *p, uint64_t *r)
{
    static const char *const markers[] = {"ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"};
    *p = (picture){.ranks = 1 + (uint32_t)draw(r, 4), .steps = draw(r, 4)};
    for (weir_rank_id rank = 0; rank < p->ranks; rank++) {
        p->cut[rank] = draw(r, 5) == 0;
        for (int64_t s = 0; s < p->steps; s++) {
            sketch *marker = sketch_new(p, WEIR_LANE_THREAD, on(rank, 1), markers[s]);
            marker->kind = WEIR_SPAN_ANNOTATION;
            marker->start_ns = s * 1000000;
            marker->dur_ns = 1000000;
        }
    }
    int64_t steps = p->steps ? p->steps : 1;
    for (int64_t s = 0; s < steps; s++) {
        for (weir_rank_id rank = 0; rank < p->ranks; rank++) {
            int64_t kernels = draw(r, 5);
            for (int64_t k = 0; k < kernels; k++) {
                sketch_kernel(p, r, rank, s * 1000000);
            }
            sketch_host(p, r, rank, s * 1000000);
        }
        sketch_collective(p, r, s + 1, s * 1000000);
    }
    sketch *anchor = sketch_new(p, WEIR_LANE_STREAM, on(0, 7), MATH);
    anchor->start_ns = 400000;
    anchor->dur_ns = 100000;
}

/* Lanes, names and spans of a rank in another order; groups and ranks keep theirs. */
static void permute(picture *p, uint64_t *r)
{
    for (uint32_t i = p->count; i > 1; i--) {
        uint32_t k = (uint32_t)draw(r, i);
        sketch swap = p->spans[i - 1];
        p->spans[i - 1] = p->spans[k];
        p->spans[k] = swap;
    }
}

static void build(ledger_fixture *f, const picture *p)
{
    static const int32_t all[] = {0, 1, 2, 3};
    ledger_fixture_open(f);
    for (uint32_t rank = 0; rank < p->ranks; rank++) {
        add_rank(f, (int32_t)rank, p->ranks, p->cut[rank]);
    }
    add_group(f, "dp", all, p->ranks);
    for (uint32_t i = 0; i < p->count; i++) {
        const sketch *s = &p->spans[i];
        weir_new_span span = {.start_ns = s->start_ns,
                              .dur_ns = s->dur_ns,
                              .name = name_id(f, s->name),
                              .correlation = s->correlation,
                              .detail = WEIR_NONE,
                              .kind = s->kind};
        if (s->is_comm) {
            LEDGER_OK(weir_timeline_add_comm(f->t, &s->comm, &span.detail, &f->err));
        }
        bool stream = s->lane_kind == WEIR_LANE_STREAM;
        LEDGER_OK(weir_timeline_add_lane(f->t, s->lane_kind, s->where.rank,
                                         stream ? s->where.device : 1000 + (int64_t)s->where.rank,
                                         s->where.lane, &span.lane, &f->err));
        LEDGER_OK(weir_timeline_add_span(f->t, &span, &f->err));
    }
    make_ledger(f);
}

static int64_t causes_sum(const weir_causes *causes)
{
    int64_t sum = 0;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        assert_true(causes->ns[c] >= 0);
        sum += causes->ns[c];
    }
    return sum;
}

static void check_account(const weir_account *a)
{
    int64_t waits[WEIR_WAIT_COUNT] = {0};
    assert_int_equal(causes_sum(&a->causes), a->wall_ns);
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        waits[weir_cause_wait((weir_cause)c)] += a->causes.ns[c];
    }
    for (int w = 0; w < WEIR_WAIT_COUNT; w++) {
        assert_int_equal(a->waits.ns[w], waits[w]);
    }
    /* What is hidden lies under lines 1 and 2. */
    int64_t above = a->waits.ns[WEIR_WAIT_COMPUTE] + a->waits.ns[WEIR_WAIT_CACHE];
    assert_true(a->hidden.communication_ns >= 0 && a->hidden.communication_ns <= above);
    assert_true(a->hidden.arrival_wait_ns >= 0 && a->hidden.arrival_wait_ns <= above);
    assert_true(a->hidden.copy_ns >= 0 && a->hidden.copy_ns <= above);
}

static void check_sums(const weir_result *r)
{
    int64_t devices = 0, steps = 0, nodes = 0;
    for (uint32_t d = 0; d < r->device_count; d++) {
        check_account(&r->devices[d].account);
        devices += r->devices[d].account.wall_ns;
        const weir_device_row *row = &r->devices[d];
        assert_true(row->intervals.busy_ns <= row->intervals.span_ns);
        assert_true(row->intervals.communication_under_compute_ns >= 0);
        assert_true(row->collectives.arrival_wait_ns >= 0 && row->collectives.transfer_ns >= 0 &&
                    row->collectives.unsplit_ns >= 0);
        assert_true(row->collectives.arrival_wait_ns + row->collectives.transfer_ns +
                        row->collectives.unsplit_ns >=
                    row->intervals.communication_ns);
    }
    for (uint32_t s = 0; s < r->step_count; s++) {
        check_account(&r->steps[s].account);
        steps += r->steps[s].account.wall_ns;
    }
    for (uint32_t n = 0; n < r->node_count; n++) {
        nodes += r->nodes[n].account.wall_ns;
    }
    check_account(&r->total);
    assert_int_equal(devices, r->total.wall_ns);
    assert_int_equal(nodes, r->total.wall_ns);
    assert_true(r->step_count == 0 || steps == r->total.wall_ns);
}

static void check_control(const weir_result *r)
{
    const weir_control *control = &r->control;
    for (int c = 0; c < WEIR_CAUSE_COUNT; c++) {
        const int64_t parts[] = {control->planned.ns[c], control->steady.ns[c],
                                 control->erratic.ns[c], control->unknown.ns[c]};
        int64_t sum = 0;
        for (int i = 0; i < 4; i++) {
            assert_true(parts[i] >= 0);
            sum += parts[i];
        }
        assert_int_equal(sum, r->total.causes.ns[c]);
    }
}

/* As long as the window, without a gap, and the make-up adds up. */
static void check_path(const weir_result *r)
{
    int64_t window = r->window.end_ns - r->window.begin_ns;
    assert_int_equal(r->critical_path.length_ns, window);
    assert_int_equal(causes_sum(&r->critical_path.causes), window);
    int64_t ranks = 0;
    for (uint32_t i = 0; i < r->critical_path.rank_count; i++) {
        ranks += r->critical_path.ranks[i].ns;
    }
    assert_int_equal(ranks, window);
    for (uint32_t i = 0; i < r->critical_path.segment_count; i++) {
        const weir_path_segment *s = &r->critical_path.segments[i];
        assert_true(s->begin_ns < s->end_ns);
        assert_true(i == 0 || s[-1].end_ns == s->begin_ns);
    }
}

/* Who is waited for adds up to the waiting. */
static void check_blame(const weir_result *r)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->straggler_count; i++) {
        assert_true(r->stragglers[i].waited_for_ns > 0);
        sum += r->stragglers[i].waited_for_ns;
    }
    assert_int_equal(sum, r->total.causes.ns[WEIR_CAUSE_DEPENDENCY_STRAGGLER] +
                              r->total.causes.ns[WEIR_CAUSE_DEPENDENCY_BUBBLE]);
}

static void check_lines(const ledger_fixture *f)
{
    for (uint32_t d = 0; d < f->lines.device_count; d++) {
        int64_t t = f->lines.begin_ns[d];
        for (uint64_t i = f->lines.first[d]; i < f->lines.first[d + 1]; i++) {
            assert_int_equal(f->lines.lines[i].begin_ns, t);
            t = f->lines.lines[i].end_ns;
        }
        assert_int_equal(t, f->lines.end_ns[d]);
    }
}

static bool same_result(const weir_result *a, const weir_result *b)
{
    bool same = a->device_count == b->device_count && a->straggler_count == b->straggler_count &&
                memcmp(&a->total, &b->total, sizeof a->total) == 0 &&
                memcmp(&a->control, &b->control, sizeof a->control) == 0 &&
                memcmp(&a->critical_path.causes, &b->critical_path.causes,
                       sizeof a->critical_path.causes) == 0;
    for (uint32_t i = 0; same && i < a->device_count; i++) {
        same = memcmp(&a->devices[i].account, &b->devices[i].account,
                      sizeof a->devices[i].account) == 0;
    }
    for (uint32_t i = 0; same && i < a->straggler_count; i++) {
        same = a->stragglers[i].rank == b->stragglers[i].rank &&
               a->stragglers[i].waited_for_ns == b->stragglers[i].waited_for_ns &&
               a->stragglers[i].reason == b->stragglers[i].reason;
    }
    return same;
}

static void holds_for_random_timelines(void **state)
{
    uint64_t *seed = *state;
    static picture p;
    for (*seed = 1; *seed <= CASES; (*seed)++) {
        uint64_t r = *seed * 0x9e3779b97f4a7c15u;
        draw_picture(&p, &r);
        ledger_fixture first, second;
        build(&first, &p);
        check_sums(first.result);
        check_control(first.result);
        check_path(first.result);
        check_blame(first.result);
        check_lines(&first);
        permute(&p, &r);
        build(&second, &p);
        if (!same_result(first.result, second.result)) {
            fail_msg("another order of adding spans gives another ledger");
        }
        ledger_fixture_close(&first);
        ledger_fixture_close(&second);
    }
}

static int name_the_seed(void **state)
{
    const uint64_t *seed = *state;
    if (*seed <= CASES) {
        print_error("it was seed %llu\n", (unsigned long long)*seed);
    }
    return 0;
}

int main(void)
{
    uint64_t seed = 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate_setup_teardown(
        holds_for_random_timelines, NULL, name_the_seed, &seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
