/* Plans against closed forms: reference/network-oracles.md, sections 3 and 4. alpha = 5 us a step,
 * 50 GB/s a link, no time for adding. */
#include "plan_fixture.h"

#include <stdio.h>

static const double alpha = 5e-6, rate = 50e9;

static double log2_of(uint32_t n)
{
    double k = 0;
    for (; n > 1; n /= 2) {
        k++;
    }
    return k;
}

static weir_collective_job job_of(weir_collective_kind kind, double bytes)
{
    return (weir_collective_job){.kind = kind, .bytes = bytes};
}

static const uint32_t counts[] = {8, 64, 1024};
static const double sizes[] = {1e3, 1e6, 1e9};

typedef struct {
    weir_collective_kind kind;
    weir_collective_algorithm algorithm;
    double (*steps)(double n, double log2n);
    double (*buffers)(double n, double log2n); /* bytes on a link per byte */
} closed_form;

static double ring_steps(double n, double k)
{
    (void)k;
    return 2 * (n - 1);
}
static double half_steps(double n, double k)
{
    (void)k;
    return n - 1;
}
static double twice_log(double n, double k)
{
    (void)n;
    return 2 * k;
}
static double once_log(double n, double k)
{
    (void)n;
    return k;
}
static double ring_buffers(double n, double k)
{
    (void)k;
    return 2 * (n - 1) / n;
}
static double half_buffers(double n, double k)
{
    (void)k;
    return (n - 1) / n;
}
static double half_log(double n, double k)
{
    (void)n;
    return k / 2;
}
static double one(double n, double k)
{
    (void)n;
    (void)k;
    return 1;
}

/* Section 3, first paragraph. */
static const closed_form forms[] = {
    {WEIR_COLLECTIVE_ALL_REDUCE, WEIR_ALGORITHM_RING, ring_steps, ring_buffers},
    {WEIR_COLLECTIVE_REDUCE_SCATTER, WEIR_ALGORITHM_RING, half_steps, half_buffers},
    {WEIR_COLLECTIVE_ALL_GATHER, WEIR_ALGORITHM_RING, half_steps, half_buffers},
    {WEIR_COLLECTIVE_ALL_REDUCE, WEIR_ALGORITHM_HALVING, twice_log, ring_buffers},
    {WEIR_COLLECTIVE_REDUCE_SCATTER, WEIR_ALGORITHM_HALVING, once_log, half_buffers},
    {WEIR_COLLECTIVE_ALL_GATHER, WEIR_ALGORITHM_HALVING, once_log, half_buffers},
    {WEIR_COLLECTIVE_ALL_REDUCE, WEIR_ALGORITHM_DOUBLING, once_log, once_log},
    {WEIR_COLLECTIVE_BROADCAST, WEIR_ALGORITHM_DOUBLING, once_log, once_log},
    {WEIR_COLLECTIVE_REDUCE, WEIR_ALGORITHM_DOUBLING, once_log, once_log},
    {WEIR_COLLECTIVE_ALL_TO_ALL, WEIR_ALGORITHM_PAIRWISE, half_steps, half_buffers},
    {WEIR_COLLECTIVE_ALL_TO_ALL, WEIR_ALGORITHM_BRUCK, once_log, half_log},
    {WEIR_COLLECTIVE_ALL_GATHER, WEIR_ALGORITHM_BRUCK, once_log, half_buffers},
    {WEIR_COLLECTIVE_REDUCE_SCATTER, WEIR_ALGORITHM_BRUCK, once_log, half_buffers},
    {WEIR_COLLECTIVE_ALL_GATHER, WEIR_ALGORITHM_PAT, once_log, half_buffers},
    {WEIR_COLLECTIVE_REDUCE_SCATTER, WEIR_ALGORITHM_PAT, once_log, half_buffers},
    {WEIR_COLLECTIVE_BROADCAST, WEIR_ALGORITHM_RING, half_steps, one},
    {WEIR_COLLECTIVE_REDUCE, WEIR_ALGORITHM_CHAIN, half_steps, one},
    {WEIR_COLLECTIVE_ALL_REDUCE, WEIR_ALGORITHM_SHARP, one, one},
    {WEIR_COLLECTIVE_BROADCAST, WEIR_ALGORITHM_SHARP, one, one},
};

static void closed_forms_of_collectives_come_out(void **state)
{
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        double n = counts[c], k = log2_of(counts[c]);
        weir_layout *layout = layout_of(one_tier(counts[c], 1), spray);
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                char what[80];
                snprintf(what, sizeof what, "%s by %s, n %g, %g bytes",
                         weir_collective_kind_name(forms[f].kind),
                         weir_collective_algorithm_name(forms[f].algorithm), n, sizes[s]);
                double latency_s = alpha * forms[f].steps(n, k);
                double expected = latency_s + forms[f].buffers(n, k) * sizes[s] / rate;
                expect_near(what,
                            seconds(layout, job_of(forms[f].kind, sizes[s]),
                                    choice_of(forms[f].algorithm, latency_s)),
                            expected, 1e-9);
            }
        }
        weir_layout_free(layout);
    }
}

/* The table of section 3, as printed there (seconds, 5 to 7 digits). */
static void the_table_of_all_reduces_comes_out(void **state)
{
    static const struct {
        uint32_t n;
        double bytes, ring, halving, doubling;
    } rows[] = {
        {8, 1e3, 7.0035e-5, 3.0035e-5, 1.506e-5},
        {8, 1e6, 1.05e-4, 6.5e-5, 7.5e-5},
        {8, 1e9, 3.507e-2, 3.503e-2, 6.0015e-2},
        {64, 1e6, 6.69375e-4, 9.9375e-5, 1.5e-4},
        {64, 1e9, 4.0005e-2, 3.9435e-2, 1.20030e-1},
        {1024, 1e6, 1.026996e-2, 1.399609e-4, 2.5e-4},
        {1024, 1e9, 5.019094e-2, 4.006094e-2, 2.0005e-1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weir_layout *layout = layout_of(one_tier(rows[i].n, 1), spray);
        weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_REDUCE, rows[i].bytes);
        double k = log2_of(rows[i].n), n = rows[i].n;
        expect_near("ring",
                    seconds(layout, job, choice_of(WEIR_ALGORITHM_RING, 2 * (n - 1) * alpha)),
                    rows[i].ring, 1e-6);
        expect_near("halving",
                    seconds(layout, job, choice_of(WEIR_ALGORITHM_HALVING, 2 * k * alpha)),
                    rows[i].halving, 1e-6);
        expect_near("doubling", seconds(layout, job, choice_of(WEIR_ALGORITHM_DOUBLING, k * alpha)),
                    rows[i].doubling, 1e-6);
        weir_layout_free(layout);
    }
}

/* (N - 2 + k)(a + S/k b) at the best k: all but S b is fixed, and comes as latency. */
static void a_chain_with_the_best_pieces_comes_out(void **state)
{
    double n = 64, bytes = 1e8;
    double pieces = sqrt((n - 2) * bytes / rate / alpha);
    double expected = (n - 2 + pieces) * (alpha + bytes / pieces / rate);
    double fixed = expected - bytes / rate;
    weir_layout *layout = layout_of(one_tier(64, 1), spray);
    expect_near("chain",
                seconds(layout, job_of(WEIR_COLLECTIVE_BROADCAST, bytes),
                        choice_of(WEIR_ALGORITHM_CHAIN, fixed)),
                expected, 1e-9);
    weir_layout_free(layout);
}

/* A double binary tree: ~ 2 S b. Its busiest node has three edges in one tree and one in the other,
 * each for half of the bytes; with two or three nodes there are fewer. */
static void a_double_tree_is_two_buffers(void **state)
{
    for (uint32_t n = 2; n <= 130; n += n < 40 ? 1 : 45) {
        weir_layout *layout = layout_of(one_tier(n, 1), spray);
        double found = seconds(layout, job_of(WEIR_COLLECTIVE_ALL_REDUCE, 1e9),
                               choice_of(WEIR_ALGORITHM_TREE, 0));
        expect_near("tree", found, (n < 4 ? n / 2.0 : 2) * 1e9 / rate, 1e-9);
        weir_layout_free(layout);
    }
}

/* Hierarchy [P]: 4 nodes x 8 B200, 4 GiB, NVLink 900, NIC 50 GB/s: between nodes alone 16.106 ms,
 * serial 24.457 ms, the model must land in [16.1, 26.3] ms; measured 22.05 ms. */
static void a_hierarchy_takes_its_levels_one_after_the_other(void **state)
{
    weir_fabric f = one_tier(4, 8);
    f.nodes.cable.bytes_per_s = 900e9;
    weir_layout *layout = layout_of(f, spray);
    weir_collective_job job = job_of(WEIR_COLLECTIVE_ALL_REDUCE, 4294967296.0);
    double serial = seconds(layout, job, choice_of(WEIR_ALGORITHM_HIERARCHICAL, 0));
    expect_near("serial", serial, 24.457e-3, 1e-4);
    weir_plan plan = plan_of(layout, job, choice_of(WEIR_ALGORITHM_HIERARCHICAL, 0));
    assert_int_equal(plan.round_count, 3);
    expect_near("between nodes", plan.rounds[1].alone_s, 16.106e-3, 1e-4);
    assert_int_equal(plan.pace_tier, WEIR_TIER_BETWEEN_NODES);
    weir_plan_clear(&plan);
    double ring = seconds(layout, job, choice_of(WEIR_ALGORITHM_RING, 0));
    assert_true(ring >= 16.1e-3 && ring <= 26.3e-3);
    weir_layout_free(layout);
}

/* Section 4: T = max((N - 1) m / B, (N - h) m r / B) for N = 1024, h = 32, m = 1 MB [X]. */
static void all_to_all_on_an_oversubscribed_clos_comes_out(void **state)
{
    static const struct {
        double oversubscription, expected_s;
    } rows[] = {{1, 0.020460}, {2, 0.039680}, {4, 0.079360}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double r = rows[i].oversubscription;
        weir_clos clos = {
            .tiers = 2, .radix = {32 + (uint32_t)(32 / r), 32}, .oversubscription = {r, 1}};
        weir_layout *layout = layout_of(clos_fabric(1024, 1, clos), spray);
        expect_near("all-to-all",
                    seconds(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, 1024e6),
                            choice_of(WEIR_ALGORITHM_DIRECT, 0)),
                    rows[i].expected_s, 1e-9);
        weir_layout_free(layout);
    }
}

/* 7 and 15 do not divide 32 ports: there is one uplink, so much faster. */
static void odd_oversubscriptions_come_out_too(void **state)
{
    static const struct {
        double r, expected_s;
    } rows[] = {{7, 0.138880}, {15, 0.297600}};
    for (size_t i = 0; i < 2; i++) {
        weir_clos clos = {.tiers = 2, .radix = {33, 32}, .oversubscription = {rows[i].r, 1}};
        weir_fabric f = clos_fabric(1024, 1, clos);
        f.clos.cable[1].bytes_per_s = 32 * rate / rows[i].r;
        weir_layout *layout = layout_of(f, spray);
        expect_near("all-to-all",
                    seconds(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, 1024e6),
                            choice_of(WEIR_ALGORITHM_DIRECT, 0)),
                    rows[i].expected_s, 1e-9);
        weir_layout_free(layout);
    }
}

/* Bus bandwidth of an all-to-all over k nodes is k / (k - 1) x NIC [P: NCCL's maintainers]. */
static void bus_bandwidth_of_all_to_all_follows_the_nodes(void **state)
{
    static const struct {
        uint32_t nodes;
        double expected;
    } rows[] = {{2, 100}, {4, 66.667}, {8, 57.143}, {16, 53.333}, {128, 50.394}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t n = 8 * rows[i].nodes;
        weir_layout *layout = layout_of(one_tier(rows[i].nodes, 8), spray);
        double bytes = 1e9;
        double s = seconds(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, bytes),
                           choice_of(WEIR_ALGORITHM_DIRECT, 0));
        /* The rule counts n bytes for n - 1 that travel; nccl-tests' factor does not. */
        double bus = bytes / s / 1e9 * weir_collective_bus_factor(WEIR_COLLECTIVE_ALL_TO_ALL, n);
        expect_near("bus bandwidth", bus * n / (n - 1), rows[i].expected, 1e-4);
        weir_layout_free(layout);
    }
}

/* Rail-only forwarding through NVLink, serial: extra = (R - 1) / R x B_nic / B_nvl. */
static void forwarding_to_rails_costs_what_it_should(void **state)
{
    static const struct {
        uint32_t devices;
        double nic, node, extra;
    } rows[] = {{8, 50e9, 450e9, 0.0972},
                {256, 50e9, 450e9, 0.1107},
                {72, 100e9, 900e9, 0.1096},
                {72, 50e9, 900e9, 0.0548}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weir_clos clos = {.tiers = 1, .radix = {4}, .wiring = WEIR_CLOS_RAIL_ONLY};
        weir_fabric f = clos_fabric(4, rows[i].devices, clos);
        f.nodes.wiring = WEIR_NODE_SWITCHED;
        f.nodes.cable.bytes_per_s = rows[i].node;
        f.clos.cable[0].bytes_per_s = rows[i].nic;
        weir_layout *layout = layout_of(f, spray);
        double n = 4.0 * rows[i].devices, m = 1e6;
        double free_s = (n - rows[i].devices) * m / rows[i].nic;
        double found = seconds(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, n * m),
                               choice_of(WEIR_ALGORITHM_RAILS, 0));
        assert_true(fabs(found / free_s - 1 - rows[i].extra) < 5e-5);
        weir_layout_free(layout);
    }
}

/* Section 4: the load of each link in dimension i is m N k_i / 8; the largest sets the pace. */
static void all_to_all_on_tori_comes_out(void **state)
{
    static const struct {
        uint32_t size[3];
        double load;
    } rows[] = {{{8, 1, 1}, 8}, {{4, 4, 4}, 32}, {{8, 8, 8}, 512}, {{4, 4, 8}, 128}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t *k = rows[i].size;
        weir_layout *layout = layout_of(torus_fabric(k[0], k[1], k[2]), spray);
        double n = k[0] * k[1] * k[2], m = 1e6;
        expect_near("torus",
                    seconds(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, n * m),
                            choice_of(WEIR_ALGORITHM_DIRECT, 0)),
                    rows[i].load * m / rate, 1e-9);
        weir_layout_free(layout);
    }
}

/* The same with the x and y wraps shifting z by 4: 73.333 on every link. */
static void all_to_all_on_a_twisted_torus_comes_out(void **state)
{
    weir_fabric f = torus_fabric(4, 4, 8);
    f.torus.twist[0][2] = f.torus.twist[1][2] = 4;
    weir_layout *layout = layout_of(f, spray);
    expect_near("twisted torus",
                seconds(layout, job_of(WEIR_COLLECTIVE_ALL_TO_ALL, 128e6),
                        choice_of(WEIR_ALGORITHM_DIRECT, 0)),
                220.0 / 3 * 1e6 / rate, 1e-9);
    weir_layout_free(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_of_collectives_come_out),
        cmocka_unit_test(the_table_of_all_reduces_comes_out),
        cmocka_unit_test(a_chain_with_the_best_pieces_comes_out),
        cmocka_unit_test(a_double_tree_is_two_buffers),
        cmocka_unit_test(a_hierarchy_takes_its_levels_one_after_the_other),
        cmocka_unit_test(all_to_all_on_an_oversubscribed_clos_comes_out),
        cmocka_unit_test(odd_oversubscriptions_come_out_too),
        cmocka_unit_test(bus_bandwidth_of_all_to_all_follows_the_nodes),
        cmocka_unit_test(forwarding_to_rails_costs_what_it_should),
        cmocka_unit_test(all_to_all_on_tori_comes_out),
        cmocka_unit_test(all_to_all_on_a_twisted_torus_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
