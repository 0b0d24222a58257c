/* Queues whose means are known: a link that is shared is a processor-sharing server, a stream that
 * runs in order is a first-come-first-served one (network-oracles.md, section 5).
 *
 * A mean over many customers, who depend on each other, is judged by its batches: 25 of them tell
 * its standard error, and it must lie within three of it. Arrivals are Poisson, seeded. */
#include "spmd_fixture.h"

#include "fluid_fixture.h"

#include <math.h>

enum { BATCHES = 25, PER_BATCH = 4000 };

static double exponential(uint64_t *state, double mean)
{
    return -mean * log(1 - draw(state));
}

typedef struct {
    double sums[BATCHES];
    uint32_t counts[BATCHES];
} batches;

/* Customers before the first batch warm the queue up. */
static void batches_add(batches *b, uint32_t customer, double value)
{
    uint32_t batch = customer / PER_BATCH;
    if (batch >= 1 && batch <= BATCHES) {
        b->sums[batch - 1] += value;
        b->counts[batch - 1]++;
    }
}

static double batches_mean(const batches *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < BATCHES; i++) {
        sum += b->sums[i] / b->counts[i];
    }
    return sum / BATCHES;
}

static double batches_error(const batches *b)
{
    double mean = batches_mean(b), squares = 0;
    for (uint32_t i = 0; i < BATCHES; i++) {
        double off = b->sums[i] / b->counts[i] - mean;
        squares += off * off;
    }
    return sqrt(squares / (BATCHES - 1) / BATCHES);
}

static void expect_mean(const char *what, const batches *b, double expected)
{
    double mean = batches_mean(b), error = batches_error(b);
    if (!(fabs(mean - expected) <= 3 * error) || !(error < 0.1 * expected)) {
        fail_msg("%s: %g, standard error %g; expected %g", what, mean, error, expected);
    }
}

/* --- sharing: M/G/1-PS --- */

typedef enum { SIZE_EQUAL, SIZE_EXPONENTIAL, SIZE_TWO_KINDS, SIZE_KINDS } size_kind;

/* Mean 1. Two kinds: nine in ten of 1/2, one of 5.5. */
static double draw_size(size_kind kind, uint64_t *state)
{
    if (kind == SIZE_EXPONENTIAL) {
        return exponential(state, 1);
    }
    double drawn = draw(state);
    return kind == SIZE_EQUAL ? 1 : drawn < 0.9 ? 0.5 : 5.5;
}

typedef struct {
    batches slowdown; /* time over the time alone */
    batches time, seen;
    double *size, *start_s; /* by customer */
} sharing;

static void take_ends(weir_bodies *bodies, sharing *s)
{
    for (weir_body_end end; weir_bodies_take(bodies, &end);) {
        uint32_t customer = (uint32_t)end.tag;
        double time_s = end.end_s - s->start_s[customer];
        batches_add(&s->slowdown, customer, time_s / s->size[customer]);
        batches_add(&s->time, customer, time_s);
    }
}

static void share(size_kind kind, double load, uint64_t seed, sharing *s)
{
    uint32_t customers = (BATCHES + 2) * PER_BATCH;
    weir_net *net = weir_net_new();
    weir_bodies *bodies = NULL;
    weir_link_id link;
    uint64_t state = seed;
    double now_s = 0;
    *s = (sharing){.size = calloc(customers, sizeof *s->size),
                   .start_s = calloc(customers, sizeof *s->start_s)};
    assert_int_equal(weir_net_add(net, 1, 0, &link, NULL), WEIR_OK);
    weir_net_seal(net);
    assert_int_equal(weir_bodies_new(net, &bodies, NULL), WEIR_OK);
    for (uint32_t c = 0; c < customers; c++) {
        now_s += exponential(&state, 1 / load);
        s->size[c] = draw_size(kind, &state);
        s->start_s[c] = now_s;
        assert_int_equal(weir_bodies_advance(bodies, now_s, NULL), WEIR_OK);
        take_ends(bodies, s);
        batches_add(&s->seen, c, weir_bodies_count(bodies));
        weir_body_id id;
        const weir_body body = {
            .path = {.count = 1, .links = &link}, .size = s->size[c], .start_s = now_s, .tag = c};
        assert_int_equal(weir_bodies_add(bodies, &body, &id, NULL), WEIR_OK);
    }
    assert_int_equal(weir_bodies_run(bodies, NULL), WEIR_OK);
    take_ends(bodies, s);
    weir_bodies_free(bodies);
    weir_net_free(net);
    free(s->size);
    free(s->start_s);
}

/* s / (C (1 - rho)) for every distribution of sizes: twice, five times, ten times. */
static void a_shared_link_slows_all_sizes_alike(void **state)
{
    (void)state;
    static const double loads[] = {0.5, 0.8, 0.9};
    for (int kind = 0; kind < SIZE_KINDS; kind++) {
        for (uint32_t i = 0; i < 3; i++) {
            sharing s;
            share((size_kind)kind, loads[i], 17 + i, &s);
            expect_mean("slowdown", &s.slowdown, 1 / (1 - loads[i]));
            expect_mean("time", &s.time, 1 / (1 - loads[i]));
        }
    }
}

/* Who arrives sees the mean number (Poisson arrivals see time averages): rho / (1 - rho), which is
 * arrivals per second times the mean time. */
static void littles_law_holds_on_a_shared_link(void **state)
{
    (void)state;
    static const double loads[] = {0.5, 0.8, 0.9};
    for (uint32_t i = 0; i < 3; i++) {
        sharing s;
        share(SIZE_EXPONENTIAL, loads[i], 99 + i, &s);
        expect_mean("number seen", &s.seen, loads[i] / (1 - loads[i]));
        batches difference = s.seen;
        for (uint32_t k = 0; k < BATCHES; k++) {
            difference.sums[k] -= loads[i] * s.time.sums[k];
        }
        double off = batches_mean(&difference), error = batches_error(&difference);
        if (!(fabs(off) <= 3 * error)) {
            fail_msg("L - lambda W is %g, standard error %g", off, error);
        }
    }
}

/* --- waiting in line: streams --- */

typedef struct {
    batches wait; /* in units of the mean service */
} line;

/* Stream 1 draws the gaps between arrivals, stream 0 serves behind each: by computing for an
 * exponential time, or by a message that takes 1 us on its links. */
static void serve(bool is_message, double load, uint64_t seed, line *l)
{
    enum { UNIT_NS = 1000 };
    uint32_t customers = (BATCHES + 2) * PER_BATCH;
    spmd_fixture f;
    uint64_t state = seed;
    spmd_open(&f, 2, 1, 1e9);
    uint32_t e = spmd_message(&f, 0, 1, 1000, 0);
    weir_program_op *ops = spmd_room(&f, (size_t)2 * customers, sizeof *ops);
    weir_program_op *others = spmd_room(&f, customers, sizeof *others);
    uint32_t *gaps = spmd_room(&f, customers, sizeof *gaps);
    for (uint32_t c = 0; c < customers; c++) {
        gaps[c] = 2 * c;
        ops[2 * c] =
            (weir_program_op){.lane = 1,
                              .name = "gap",
                              .duration_ns = 1 + (int64_t)exponential(&state, UNIT_NS / load)};
        ops[2 * c + 1] =
            (weir_program_op){.kind = is_message ? WEIR_STEP_EXCHANGE : WEIR_STEP_COMPUTE,
                              .name = "service",
                              .duration_ns = 1 + (int64_t)exponential(&state, UNIT_NS),
                              .exchange = e,
                              .after = &gaps[c],
                              .after_count = 1};
        others[c] = (weir_program_op){.kind = WEIR_STEP_EXCHANGE, .name = "service", .exchange = e};
    }
    f.programs[0] = (weir_program){ops, 2 * customers};
    f.programs[1] = (weir_program){others, is_message ? customers : 0};
    f.spmd.program_count = 2;
    f.program_of[1] = 1;
    spmd_play(&f);
    uint32_t lane_count;
    const weir_lane *lanes = weir_timeline_lanes(f.run.timeline, &lane_count);
    weir_spans spans = weir_timeline_spans(f.run.timeline);
    assert_int_equal(lanes[0].span_count, customers);
    *l = (line){0};
    for (uint32_t c = 0; c < customers; c++) {
        weir_span_id gap = lanes[1].first_span + c;
        int64_t arrival_ns = spans.start_ns[gap] + spans.dur_ns[gap];
        int64_t wait_ns = spans.start_ns[lanes[0].first_span + c] - arrival_ns;
        assert_true(wait_ns >= 0);
        batches_add(&l->wait, c, (double)wait_ns / UNIT_NS);
    }
    spmd_close(&f);
}

/* M/D/1 at 0.8: rho / (2 mu (1 - rho)) = 2 / mu. M/M/1: rho / (mu (1 - rho)) = 4 / mu, so that with
 * its own service a customer is there for 5 / mu. */
static void a_stream_is_a_first_come_first_served_queue(void **state)
{
    (void)state;
    line l;
    serve(true, 0.8, 3, &l);
    expect_mean("wait, M/D/1", &l.wait, 2);
    serve(false, 0.8, 4, &l);
    expect_mean("wait, M/M/1", &l.wait, 4);
    serve(true, 0.5, 5, &l);
    expect_mean("wait, M/D/1 at 0.5", &l.wait, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_link_slows_all_sizes_alike),
        cmocka_unit_test(littles_law_holds_on_a_shared_link),
        cmocka_unit_test(a_stream_is_a_first_come_first_served_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
