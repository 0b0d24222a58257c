/* What of an exchange is exposed, by hand and against a play of each repetition, and that circuits
 * go where something is. */
#include "candidate_fixture.h"
#include "study/candidate_light.h"

/* --- lanes --- */

static void the_later_lane_ends_the_step(void **state)
{
    (void)state;
    const weir_phase phases[] = {
        {.compute_s = 2, .times = 2, .overlap = true}, /* beside: 2..5 and 5..8 */
        {.compute_s = 3, .times = 1},                  /* computes 4..7, exchanges 7..10 */
        {.times = 1, .overlap = true},                 /* beside: 10..15 */
    };
    const double exchange_s[] = {6, 3, 5};
    expect_close("one phase", candidate_lanes_s(phases, exchange_s, 1), 8);
    expect_close("two", candidate_lanes_s(phases, exchange_s, 2), 10);
    expect_close("three", candidate_lanes_s(phases, exchange_s, 3), 15);
    const weir_phase slow = {.compute_s = 4, .times = 2, .overlap = true}; /* 4..5 and 8..9 */
    expect_close("computing sets the pace", candidate_lanes_s(&slow, &(double){2}, 1), 9);
    const weir_phase silent = {.compute_s = 4, .times = 2, .overlap = true};
    expect_close("no exchange", candidate_lanes_s(&silent, &(double){0}, 1), 8);
}

/* As devices do it, one repetition after the other. */
static double play_each(const weir_phase *phases, const double *exchange_s, uint32_t count)
{
    double blocking = 0, beside = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < phases[i].times; k++) {
            double one = exchange_s[i] / phases[i].times;
            blocking += phases[i].compute_s;
            if (!phases[i].overlap) {
                blocking += one;
            } else if (one > 0) {
                beside = fmax(beside, blocking) + one;
            }
        }
    }
    return fmax(blocking, beside);
}

/* All steps of three phases out of 36. */
static void repetitions_need_not_be_played_one_by_one(void **state)
{
    (void)state;
    static const double computes_s[] = {0, 1, 4}, exchanges_s[] = {0, 1, 9};
    static const uint32_t times[] = {1, 3};
    for (uint32_t run = 0; run < 36 * 36 * 36; run++) {
        weir_phase phases[3] = {0};
        double exchange_s[3];
        for (uint32_t i = 0, rest = run; i < 3; i++, rest /= 36) {
            phases[i].compute_s = computes_s[rest % 3];
            phases[i].times = times[rest / 3 % 2];
            phases[i].overlap = rest / 6 % 2 == 1;
            exchange_s[i] = exchanges_s[rest / 12 % 3];
        }
        double found = candidate_lanes_s(phases, exchange_s, 3);
        double expected = play_each(phases, exchange_s, 3);
        if (!(fabs(found - expected) <= 1e-12)) {
            fail_msg("step %u: found %.17g, expected %.17g", run, found, expected);
        }
    }
}

/* The step of 15 above: without the first exchange 15, without the second 13, without the third
 * 10. */
static void exposed_is_what_the_step_gains(void **state)
{
    (void)state;
    const weir_phase phases[] = {{.compute_s = 2, .times = 2, .overlap = true},
                                 {.compute_s = 3, .times = 1},
                                 {.times = 1, .overlap = true},
                                 {.times = 1}};
    double exchange_s[] = {6, 3, 5, 0}, share[4];
    candidate_exposed_shares(phases, exchange_s, 4, share);
    expect_close("hidden", share[0], 0);
    expect_close("in part", share[1], 2.0 / 3);
    expect_close("exposed", share[2], 1);
    expect_close("nothing to gain", share[3], 0);
    expect_close("left as it was", exchange_s[1], 3);
}

static void all_that_blocks_is_exposed_to_the_last_digit(void **state)
{
    (void)state;
    const weir_phase phases[] = {{.compute_s = 0.1, .times = 3}, {.compute_s = 0.7, .times = 7}};
    double exchange_s[] = {1e-7 / 3, 11.1 / 7}, share[2];
    candidate_exposed_shares(phases, exchange_s, 2, share);
    assert_true(share[0] == 1 && share[1] == 1);
}

/* --- circuits --- */

enum { NODES = 4 };

/* What goes each way between two nodes, for each phase. */
typedef struct {
    struct {
        uint32_t a, b;
        double bytes;
    } pair[FIXTURE_PHASES][NODES];
} pairs;

static weir_code between(const void *context, uint32_t phase, const uint32_t *block_of_device,
                         weir_demand *demand, weir_err *err)
{
    const pairs *p = context;
    (void)err;
    for (uint32_t i = 0; i < NODES; i++) {
        size_t a = block_of_device[p->pair[phase][i].a], b = block_of_device[p->pair[phase][i].b];
        demand->bytes[a * demand->n + b] += p->pair[phase][i].bytes;
        demand->bytes[b * demand->n + a] += p->pair[phase][i].bytes;
    }
    return WEIR_OK;
}

/* Across: 10 GB between 0 and 2. Around: 5 GB between neighbours. 50 GB/s a NIC. */
static const pairs crossed = {
    {{{0, 2, 10e9}}, {{0, 1, 5e9}, {1, 2, 5e9}, {2, 3, 5e9}, {3, 0, 5e9}}}};
static const weir_candidate_demand crossed_demand = {&crossed, between};

static void begin(fixture *f, uint32_t uplinks, bool overlap, double compute_s)
{
    weir_candidate c = candidate_of(WEIR_CANDIDATE_OCS_JOB);
    c.block = WEIR_BLOCK_NIC;
    c.sw = NULL;
    c.uplinks = uplinks;
    c.design = WEIR_DESIGN_GREEDY;
    fixture_begin(f, NODES, 1, c);
    f->scenario.phase_count = 2;
    f->phases[0] = (weir_phase){.name = "across", .times = 1, .slack_s = NAN, .overlap = overlap};
    f->phases[1] =
        (weir_phase){.name = "around", .times = 1, .slack_s = NAN, .compute_s = compute_s};
}

static double hops(weir_candidate_network *n, uint32_t from, uint32_t to)
{
    weir_route route = route_of(n, 0, from, to);
    double sum = 0;
    for (uint32_t i = 0; i < route.path.count; i++) {
        bool is_circuit = weir_layout_tier(n->layout, route.path.links[i]) == WEIR_TIER_HALL;
        sum += is_circuit ? route.path.bytes_per_unit[i] : 0;
    }
    return sum;
}

/* Two ends of a node. By bytes alone 0-2 comes first, then two of its neighbours' pairs, and no end
 * is left for node 3. Across takes 0.2 s on all ends, behind 1 s of computing: the four pairs
 * around come first, and it goes over two of them. */
static void a_hidden_phase_loses_the_port_to_an_exposed_one_with_less_bytes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 2, true, 1);
    weir_candidate_network n = build_played(&f, &crossed_demand);
    for (uint32_t i = 0; i < NODES; i++) {
        expect_close("around", hops(&n, i, (i + 1) % NODES), 1);
    }
    expect_close("across", hops(&n, 0, 2), 2);
    assert_non_null(strstr(n.notes[0], "greedy by what is exposed (0 % of 'across', the least)"));
    weir_candidate_network_clear(&n);

    f.phases[0].overlap = false;
    expect_refused(&f, &crossed_demand, "design greedy of 2 ends a block leaves blocks without");
    fixture_end(&f);
}

/* Nothing to hide behind: 0.2 s across and 0.2 s around, beside each other from the start; without
 * either the step is as long. So 0 of both is exposed, and bytes alone count. */
static void phases_that_are_exposed_alike_count_by_their_bytes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 2, true, 0);
    expect_refused(&f, &crossed_demand, "design greedy of 2 ends a block leaves blocks without");
    fixture_end(&f);
}

/* 10 bytes of which all counts, and 30 of which nothing does. */
static void a_cell_of_two_phases_is_exposed_in_part(void **state)
{
    (void)state;
    double bytes[2][4] = {{0, 10, 0, 0}, {0, 30, 5, 0}}, share[] = {1, 0};
    uint32_t phase[] = {0, 1};
    weir_demand demands[] = {{2, bytes[0]}, {2, bytes[1]}};
    const light_traffic traffic = {
        .count = 2, .phase = phase, .demands = demands, .share = share, .phase_count = 2};
    expect_close("both", candidate_cell_share(&traffic, 1), 0.25);
    expect_close("one", candidate_cell_share(&traffic, 2), 0);
    expect_close("empty", candidate_cell_share(&traffic, 0), 1);
    const light_traffic unknown = {.sum = demands[1]};
    expect_close("not known", candidate_cell_share(&unknown, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_later_lane_ends_the_step),
        cmocka_unit_test(repetitions_need_not_be_played_one_by_one),
        cmocka_unit_test(exposed_is_what_the_step_gains),
        cmocka_unit_test(all_that_blocks_is_exposed_to_the_last_digit),
        cmocka_unit_test(a_hidden_phase_loses_the_port_to_an_exposed_one_with_less_bytes),
        cmocka_unit_test(phases_that_are_exposed_alike_count_by_their_bytes),
        cmocka_unit_test(a_cell_of_two_phases_is_exposed_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
