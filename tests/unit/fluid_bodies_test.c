/* Transfers over time: finish times by hand, the makespans of reference/network-oracles.md
 * (dynamics X; fat trees, two solvers agree on 9 digits), queueing laws, bodies against their
 * connections, broken links, order of ends. */
#include "fabric/bodies.h"

#include "fluid_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect_near(const char *what, double found, double expected, double allowed)
{
    if (!(fabs(found - expected) <= allowed)) {
        fail_msg("%s: found %.17g, expected %.17g", what, found, expected);
    }
}

static weir_net *net_of(const double *capacities, uint32_t count)
{
    weir_net *net = weir_net_new();
    for (uint32_t i = 0; i < count; i++) {
        weir_link_id link;
        assert_int_equal(weir_net_add(net, capacities[i], 0, &link, NULL), WEIR_OK);
    }
    weir_net_seal(net);
    return net;
}

static weir_bodies *open_bodies(const weir_net *net)
{
    weir_bodies *bodies = NULL;
    assert_int_equal(weir_bodies_new(net, &bodies, NULL), WEIR_OK);
    return bodies;
}

static weir_body_id add(weir_bodies *bodies, const weir_body *body)
{
    weir_body_id id;
    weir_err err = {0};
    if (weir_bodies_add(bodies, body, &id, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return id;
}

static void run(weir_bodies *bodies)
{
    weir_err err = {0};
    if (weir_bodies_run(bodies, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
}

/* --- by hand --- */

typedef struct {
    const char *name;
    double links[5];
    struct {
        int links[4]; /* from 1, 0 ends */
        double size, start_s, latency_s, end_s;
    } bodies[5]; /* end_s 0 ends */
} timing;

static const timing timings[] = {
    {"sizes 1, 2, 3 on one link", {1}, {{{1}, 1, 0, 0, 3}, {{1}, 2, 0, 0, 5}, {{1}, 3, 0, 0, 6}}},
    {"sizes 4, 1 arriving at 0, 1", {1}, {{{1}, 4, 0, 0, 5}, {{1}, 1, 1, 0, 3}}},
    {"parking lot", {1, 1}, {{{1, 2}, 2, 0, 0, 4}, {{1}, 1, 0, 0, 2}, {{2}, 3, 0, 0, 5}}},
    {"A9 with sizes 1",
     {1, 1, 1, 1, 1},
     {{{1, 4}, 1, 0, 0, 3}, {{2, 4}, 1, 0, 0, 3}, {{3, 4}, 1, 0, 0, 3}, {{3, 5}, 1, 0, 0, 1.5}}},
    /* The first has the link to itself for 1 ms; no sharing by round-trip time. */
    {"latencies of 1 and 2 ms", {10e9}, {{{1}, 10e9, 0, 1e-3, 2.000}, {{1}, 10e9, 0, 2e-3, 2.001}}},
    {"nothing to send", {1}, {{{1}, 0, 2, 0.5, 2.5}, {{1}, 1, 0, 0, 1}}},
    {"no link to cross", {1}, {{{0}, 5, 2, 0.25, 2.25}}},
};

static void ends_when_the_fractions_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof timings / sizeof *timings; i++) {
        const timing *t = &timings[i];
        uint32_t links = 0, count = 0;
        while (links < 5 && t->links[links] > 0) {
            links++;
        }
        weir_net *net = net_of(t->links, links);
        weir_bodies *bodies = open_bodies(net);
        for (; count < 5 && t->bodies[count].end_s > 0; count++) {
            weir_link_id route[4];
            uint32_t hops = 0;
            for (; hops < 4 && t->bodies[count].links[hops] > 0; hops++) {
                route[hops] = (weir_link_id)t->bodies[count].links[hops] - 1;
            }
            add(bodies, &(weir_body){.path = {.count = hops, .links = route},
                                     .size = t->bodies[count].size,
                                     .start_s = t->bodies[count].start_s,
                                     .latency_s = t->bodies[count].latency_s,
                                     .tag = count});
        }
        run(bodies);
        weir_body_end end;
        uint32_t ended = 0;
        for (; weir_bodies_take(bodies, &end); ended++) {
            double expected = t->bodies[end.tag].end_s;
            expect_near(t->name, end.end_s, expected, 1e-15 * expected);
            assert_int_equal(end.stalled_by, WEIR_NONE);
        }
        assert_int_equal(ended, count);
        weir_bodies_free(bodies);
        weir_net_free(net);
    }
}

/* --- fat trees --- */

typedef enum { RING, PERMUTATION, RANDOM_SIZES, ALL_TO_ALL, INCAST } pattern;

static double makespan(tree *t, pattern kind, bool is_ecmp, uint64_t seed)
{
    const double size = 1e8;
    uint32_t hosts = tree_hosts(t);
    uint64_t s = seed;
    uint32_t *order =
        kind == PERMUTATION || kind == RANDOM_SIZES ? make_permutation(hosts, &s) : NULL;
    weir_bodies *bodies = open_bodies(t->net);
    for (uint32_t i = 0; i < hosts; i++) {
        uint32_t peers = kind == ALL_TO_ALL ? hosts - 1 : 1;
        for (uint32_t k = 1; k <= peers; k++) {
            uint32_t from = order ? order[i] : i;
            uint32_t to = kind == INCAST ? 0 : order ? order[(i + 1) % hosts] : (i + k) % hosts;
            weir_link_id links[6];
            const uint32_t pair[2] = {from, to};
            weir_body body = {.size = size, .path.links = links};
            if (kind == RANDOM_SIZES) {
                body.size = floor(size * (0.5 + draw(&s)));
            }
            if (from == to) {
                continue;
            }
            body.path.count =
                is_ecmp ? tree_ecmp(t, pair, i, seed, links) : tree_d_mod_k(t, from, to, links);
            add(bodies, &body);
        }
    }
    run(bodies);
    double last_s = 0;
    for (weir_body_end end; weir_bodies_take(bodies, &end);) {
        last_s = end.end_s > last_s ? end.end_s : last_s;
    }
    weir_bodies_free(bodies);
    free(order);
    return last_s;
}

static void fat_trees_take_as_long_as_two_other_solvers_say(void **state)
{
    (void)state;
    static const struct {
        tree shape;
        pattern kind;
        bool is_ecmp;
        double expected_s;
    } cases[] = {
        {{4, 4, 4, 4, 4, NULL}, RING, false, 0.002},
        {{4, 4, 4, 4, 4, NULL}, PERMUTATION, false, 0.006},
        {{4, 4, 4, 4, 4, NULL}, RANDOM_SIZES, false, 0.005711044},
        {{4, 4, 4, 4, 4, NULL}, PERMUTATION, true, 0.008},
        {{4, 4, 4, 4, 4, NULL}, RANDOM_SIZES, true, 0.008629629},
        {{4, 4, 4, 4, 4, NULL}, ALL_TO_ALL, false, 0.126},
        {{4, 4, 4, 4, 4, NULL}, INCAST, false, 0.126},
        {{8, 8, 4, 8, 8, NULL}, RING, false, 0.002},
        {{8, 8, 4, 8, 8, NULL}, PERMUTATION, false, 0.006},
        {{8, 8, 4, 8, 8, NULL}, RANDOM_SIZES, false, 0.006911825},
        {{8, 8, 4, 8, 8, NULL}, PERMUTATION, true, 0.010},
        {{8, 8, 4, 8, 8, NULL}, RANDOM_SIZES, true, 0.010480418},
        {{8, 8, 4, 8, 8, NULL}, ALL_TO_ALL, false, 0.510},
        {{8, 8, 16, 8, 8, NULL}, RING, false, 0.002},
        {{8, 8, 16, 8, 8, NULL}, PERMUTATION, false, 0.010},
        {{8, 8, 16, 8, 8, NULL}, RANDOM_SIZES, false, 0.012491827},
        {{8, 8, 16, 8, 8, NULL}, PERMUTATION, true, 0.012},
        {{8, 8, 16, 8, 8, NULL}, RANDOM_SIZES, true, 0.011242886},
        {{8, 8, 16, 8, 8, NULL}, ALL_TO_ALL, false, 2.046},
        {{16, 16, 16, 16, 16, NULL}, RING, false, 0.002},
        {{16, 16, 16, 16, 16, NULL}, PERMUTATION, false, 0.014},
        {{16, 16, 16, 16, 16, NULL}, RANDOM_SIZES, false, 0.015052141},
        {{16, 16, 16, 16, 16, NULL}, PERMUTATION, true, 0.014},
        {{16, 16, 16, 16, 16, NULL}, RANDOM_SIZES, true, 0.014180117},
        {{8, 8, 4, 2, 8, NULL}, PERMUTATION, false, 0.014},
        {{8, 8, 4, 2, 8, NULL}, RANDOM_SIZES, false, 0.014976419},
        {{8, 8, 16, 2, 8, NULL}, PERMUTATION, false, 0.020},
        {{8, 8, 16, 2, 8, NULL}, RANDOM_SIZES, false, 0.021995092},
        {{32, 32, 64, 32, 32, NULL}, RING, false, 0.002},
        {{32, 32, 64, 32, 32, NULL}, PERMUTATION, false, 0.016},
        {{32, 32, 64, 32, 32, NULL}, PERMUTATION, true, 0.016},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tree t = cases[i].shape;
        tree_build(&t, 50e9);
        double found = makespan(&t, cases[i].kind, cases[i].is_ecmp, 1);
        if (!(fabs(found - cases[i].expected_s) <= 0.5e-9 + 1e-9 * found)) {
            fail_msg("case %u, %u hosts: found %.12g s, expected %.12g s", (unsigned)i,
                     tree_hosts(&t), found, cases[i].expected_s);
        }
        weir_net_free(t.net);
    }
}

/* Slowdown of PERM under ECMP over seeds 1..50: mean, sd, min, max of the oracles (one solver). */
static void hashed_permutations_spread_as_told(void **state)
{
    (void)state;
    static const struct {
        tree shape;
        double mean, sd, min, max;
    } cases[] = {
        {{4, 4, 8, 4, 4, NULL}, 4.360, 0.592, 4, 7},
        {{8, 8, 16, 8, 8, NULL}, 5.820, 0.517, 5, 7},
    };
    for (size_t i = 0; i < 2; i++) {
        tree t = cases[i].shape;
        tree_build(&t, 50e9);
        double sum = 0, squares = 0, min = INFINITY, max = 0;
        for (uint64_t seed = 1; seed <= 50; seed++) {
            double slowdown = makespan(&t, PERMUTATION, true, seed) / 0.002;
            sum += slowdown;
            squares += slowdown * slowdown;
            min = fmin(min, slowdown);
            max = fmax(max, slowdown);
        }
        double mean = sum / 50;
        expect_near("mean", mean, cases[i].mean, 5e-4);
        expect_near("sd", sqrt((squares - 50 * mean * mean) / 50), cases[i].sd, 1e-2);
        expect_near("min", min, cases[i].min, 1e-9);
        expect_near("max", max, cases[i].max, 1e-9);
        weir_net_free(t.net);
    }
}

/* --- closed forms --- */

/* Ring all-reduce: 2(N-1) steps of S/N on N links, 5 us a step, 50 GB/s: one body. */
static void a_ring_all_reduce_is_one_body(void **state)
{
    (void)state;
    static const struct {
        uint32_t ranks;
        double bytes, expected_s, digits;
    } cases[] = {
        {8, 1e3, 7.0035e-5, 1e-9},      {8, 1e6, 1.05e-4, 1e-9},    {8, 1e9, 3.507e-2, 1e-9},
        {64, 1e6, 6.69375e-4, 1e-9},    {64, 1e9, 4.0005e-2, 1e-9}, {1024, 1e6, 1.026996e-2, 1e-7},
        {1024, 1e9, 5.019094e-2, 1e-7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t n = cases[i].ranks;
        double capacities[1024];
        weir_link_id ring[1024];
        for (uint32_t l = 0; l < n; l++) {
            capacities[l] = 50e9;
            ring[l] = l;
        }
        weir_net *net = net_of(capacities, n);
        weir_bodies *bodies = open_bodies(net);
        add(bodies, &(weir_body){.path = {.count = n, .links = ring},
                                 .size = 2 * (n - 1) * cases[i].bytes / n,
                                 .latency_s = 2 * (n - 1) * 5e-6});
        run(bodies);
        weir_body_end end;
        assert_true(weir_bodies_take(bodies, &end));
        expect_near("ring", end.end_s, cases[i].expected_s, cases[i].digits * cases[i].expected_s);
        weir_bodies_free(bodies);
        weir_net_free(net);
    }
}

/* 2-tier Clos of 1024 hosts, 32 a leaf, 1 MB a pair, oversubscription r: pairs inside leaves are
 * one body, pairs between leaves another (oracles, section 4, X). */
static void an_all_to_all_is_one_body_for_each_class_of_pairs(void **state)
{
    (void)state;
    static const double cases[][2] = {
        {1, 0.020460}, {2, 0.039680}, {4, 0.079360}, {7, 0.138880}, {15, 0.297600}};
    enum { HOSTS = 1024, A_LEAF = 32, LEAVES = HOSTS / A_LEAF };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double capacities[2 * HOSTS + 2 * LEAVES], inside[2 * HOSTS];
        double between[2 * HOSTS + 2 * LEAVES];
        weir_link_id links[2 * HOSTS + 2 * LEAVES];
        for (uint32_t l = 0; l < 2 * HOSTS + 2 * LEAVES; l++) {
            bool is_host = l < 2 * HOSTS;
            links[l] = l;
            capacities[l] = is_host ? 50e9 : A_LEAF * 50e9 / cases[i][0];
            between[l] = (is_host ? 1 : A_LEAF) * (HOSTS - A_LEAF);
            if (is_host) {
                inside[l] = A_LEAF - 1;
            }
        }
        weir_net *net = net_of(capacities, 2 * HOSTS + 2 * LEAVES);
        weir_bodies *bodies = open_bodies(net);
        weir_path in = {.count = 2 * HOSTS, .links = links, .bytes_per_unit = inside};
        weir_path out = {.count = 2 * (HOSTS + LEAVES), .links = links, .bytes_per_unit = between};
        add(bodies, &(weir_body){.path = in, .size = 1e6});
        add(bodies, &(weir_body){.path = out, .size = 1e6});
        run(bodies);
        weir_body_end end = {0};
        while (weir_bodies_take(bodies, &end)) {
        }
        expect_near("all-to-all", end.end_s, cases[i][1], 1e-12);
        weir_bodies_free(bodies);
        weir_net_free(net);
    }
}

/* M/G/1-PS: mean time of size s at load rho is s / (C (1 - rho)) whatever the sizes; Little's law.
 */
static void one_link_obeys_processor_sharing_and_little(void **state)
{
    (void)state;
    static const double loads[] = {0.5, 0.8};
    enum { COUNT = 200000 };
    for (size_t i = 0; i < 4; i++) {
        bool has_two_sizes = i % 2;
        double rho = loads[i / 2], capacity = 1, now = 0, slow[2] = {0}, life = 0, last_s = 0;
        double *start = malloc(COUNT * sizeof *start), *size = malloc(COUNT * sizeof *size);
        uint64_t s = 42 + i, kinds[2] = {0};
        weir_net *net = net_of(&capacity, 1);
        weir_bodies *bodies = open_bodies(net);
        static const weir_link_id link = 0;
        for (uint32_t k = 0; k < COUNT; k++) {
            now += -log(1 - draw(&s)) / rho; /* mean size 1 */
            start[k] = now;
            size[k] = !has_two_sizes ? -log(1 - draw(&s)) : pick(&s, 10) ? 0.5 : 5.5;
            add(bodies, &(weir_body){.path = {.count = 1, .links = &link},
                                     .size = size[k],
                                     .start_s = now,
                                     .tag = k});
        }
        run(bodies);
        for (weir_body_end end; weir_bodies_take(bodies, &end);) {
            int kind = has_two_sizes && size[end.tag] > 1;
            slow[kind] += (end.end_s - start[end.tag]) / size[end.tag];
            kinds[kind]++;
            life += end.end_s - start[end.tag];
            last_s = end.end_s > last_s ? end.end_s : last_s;
        }
        /* three standard deviations of the mean over so many arrivals */
        double allowed = rho > 0.6 ? 0.10 : 0.03;
        for (int kind = 0; kind <= (int)has_two_sizes; kind++) {
            double mean = slow[kind] / (double)kinds[kind];
            expect_near("slowdown", mean * (1 - rho), 1, allowed);
        }
        /* L = lambda W; in PS with any sizes L = rho / (1 - rho) */
        expect_near("in the system", life / last_s / (rho / (1 - rho)), 1, allowed);
        weir_bodies_free(bodies);
        weir_net_free(net);
        free(start);
        free(size);
    }
}

/* n flows on n links by chance: the slowest has 1/max load. Monte Carlo of the oracles: +-0.01. */
static void chance_loads_links_unevenly(void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        double max, used;
    } cases[] = {{2, 1.504, 0.75}, {4, 2.125, 0.6836}, {8, 2.601, 0.6564}, {16, 3.075, 0.6439}};
    uint64_t s = 3;
    for (size_t i = 0; i < 4; i++) {
        uint32_t n = cases[i].n, trials = 20000;
        double capacities[16], max = 0, used = 0;
        for (uint32_t l = 0; l < n; l++) {
            capacities[l] = 1;
        }
        weir_net *net = net_of(capacities, n);
        weir_fluid *fluid;
        assert_int_equal(weir_fluid_new(net, &fluid, NULL), WEIR_OK);
        for (uint32_t trial = 0; trial < trials; trial++) {
            weir_body_id ids[16];
            double slowest = 1;
            for (uint32_t k = 0; k < n; k++) {
                weir_link_id link = pick(&s, n);
                assert_int_equal(
                    weir_fluid_add(fluid, &(weir_path){.count = 1, .links = &link}, &ids[k], NULL),
                    WEIR_OK);
                assert_int_equal(weir_fluid_start(fluid, ids[k], NULL), WEIR_OK);
            }
            assert_int_equal(weir_fluid_solve(fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
            for (uint32_t l = 0; l < n; l++) {
                used += weir_fluid_load(fluid, l) > 0;
            }
            for (uint32_t k = 0; k < n; k++) {
                slowest = fmin(slowest, weir_fluid_rate(fluid, ids[k]));
                weir_fluid_remove(fluid, ids[k]);
            }
            max += 1 / slowest;
        }
        expect_near("greatest load", max / trials, cases[i].max, 0.03);
        expect_near("links used", used / trials / n, cases[i].used, 0.005);
        weir_fluid_free(fluid);
        weir_net_free(net);
    }
}

/* --- bodies and their connections --- */

/* A body of n like connections that share one bottleneck level is as fast as they are. */
static void a_body_is_as_fast_as_its_connections(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t s = seed * 131;
        double capacities[30], alone_s[8], together_s[8];
        uint32_t count = 1 + pick(&s, 8), many[8], first[8];
        for (uint32_t l = 0; l < 30; l++) {
            capacities[l] = 1 + draw(&s);
        }
        weir_net *net = net_of(capacities, 30);
        weir_bodies *single = open_bodies(net), *whole = open_bodies(net);
        for (uint32_t i = 0; i < count; i++) {
            many[i] = 1 + pick(&s, 6);
            first[i] = pick(&s, 27);
            const weir_link_id route[3] = {first[i], first[i] + 1 + pick(&s, 2), 29};
            const double n = many[i], factors[3] = {n, n, n};
            weir_body body = {.path = {.count = 3, .links = route},
                              .size = 1 + draw(&s),
                              .start_s = draw(&s),
                              .latency_s = 0.1 * draw(&s),
                              .tag = i};
            for (uint32_t k = 0; k < many[i]; k++) {
                add(single, &body);
            }
            body.path.bytes_per_unit = factors;
            add(whole, &body);
        }
        run(single);
        run(whole);
        for (weir_body_end end; weir_bodies_take(single, &end);) {
            alone_s[end.tag] = end.end_s;
        }
        for (weir_body_end end; weir_bodies_take(whole, &end);) {
            together_s[end.tag] = end.end_s;
        }
        for (uint32_t i = 0; i < count; i++) {
            expect_near("body", together_s[i], alone_s[i], 1e-12 * alone_s[i]);
        }
        weir_bodies_free(single);
        weir_bodies_free(whole);
        weir_net_free(net);
    }
}

/* The members of a body move in lock-step: its slowest connection holds all back. By hand: a ring
 * over links of 4 and 1, and a message on the link of 4. The ring goes at 1, the message takes 3.
 */
static void the_slowest_link_sets_the_pace_of_a_body(void **state)
{
    (void)state;
    const double capacities[] = {4, 1};
    static const weir_link_id both[] = {0, 1};
    weir_net *net = net_of(capacities, 2);
    weir_bodies *bodies = open_bodies(net);
    weir_body_id ring = add(bodies, &(weir_body){.path = {.count = 2, .links = both}, .size = 10});
    weir_body_id message =
        add(bodies, &(weir_body){.path = {.count = 1, .links = both}, .size = 9});
    double next_s;
    assert_int_equal(weir_bodies_next_s(bodies, &next_s, NULL), WEIR_OK);
    expect_near("next", next_s, 3, 0);
    expect_near("ring", weir_fluid_rate(weir_bodies_fluid(bodies), ring), 1, 0);
    expect_near("message", weir_fluid_rate(weir_bodies_fluid(bodies), message), 3, 0);
    weir_bodies_free(bodies);
    weir_net_free(net);
}

/* --- driving it, and what breaks --- */

static void can_be_driven_step_by_step(void **state)
{
    (void)state;
    const double capacity = 2;
    static const weir_link_id link = 0;
    weir_net *net = net_of(&capacity, 1);
    weir_bodies *bodies = open_bodies(net);
    const weir_path path = {.count = 1, .links = &link};
    double next_s;
    weir_body_end end;
    assert_int_equal(weir_bodies_next_s(bodies, &next_s, NULL), WEIR_OK);
    assert_true(isinf(next_s));
    weir_body_id a = add(bodies, &(weir_body){.path = path, .size = 4, .tag = 70});
    assert_int_equal(weir_bodies_next_s(bodies, &next_s, NULL), WEIR_OK);
    expect_near("next", next_s, 2, 0);
    assert_int_equal(weir_bodies_advance(bodies, 1, NULL), WEIR_OK);
    assert_false(weir_bodies_take(bodies, &end));
    expect_near("left", weir_bodies_left(bodies, a), 2, 0);
    weir_body_id b = add(bodies, &(weir_body){.path = path, .size = 9, .tag = 71});
    add(bodies, &(weir_body){.path = path, .size = 9, .start_s = 50, .tag = 72});
    assert_int_equal(weir_bodies_next_s(bodies, &next_s, NULL), WEIR_OK);
    expect_near("next", next_s, 3, 0); /* both at 1 */
    assert_int_equal(weir_bodies_advance(bodies, 3, NULL), WEIR_OK);
    assert_true(weir_bodies_take(bodies, &end));
    assert_int_equal(end.tag, 70);
    assert_int_equal(end.end_ns, 3000000000);
    assert_false(weir_bodies_take(bodies, &end));
    weir_bodies_remove(bodies, b);
    assert_int_equal(weir_bodies_count(bodies), 1);
    assert_int_equal(weir_bodies_next_s(bodies, &next_s, NULL), WEIR_OK);
    expect_near("next", next_s, 50, 0);
    assert_int_equal(weir_bodies_advance(bodies, 2, NULL), WEIR_ERR_USAGE);
    run(bodies);
    assert_true(weir_bodies_take(bodies, &end));
    expect_near("last", end.end_s, 54.5, 0);
    weir_bodies_free(bodies);
    weir_net_free(net);
}

static void a_cut_off_flow_ends_in_a_stall_that_names_the_link(void **state)
{
    (void)state;
    const double capacities[] = {1, 1, 1};
    static const weir_link_id first[] = {0, 1}, second[] = {2};
    weir_net *net = net_of(capacities, 3);
    weir_bodies *bodies = open_bodies(net);
    add(bodies, &(weir_body){.path = {.count = 2, .links = first}, .size = 9, .tag = 1});
    add(bodies, &(weir_body){.path = {.count = 1, .links = second}, .size = 9, .tag = 2});
    add(bodies, &(weir_body){.path = {.count = 2, .links = first}, .size = 1, .tag = 3});
    add(bodies,
        &(weir_body){.path = {.count = 2, .links = first}, .size = 1, .start_s = 7, .tag = 4});
    assert_int_equal(weir_bodies_set_capacity(bodies, 1, 4, 0, NULL), WEIR_OK);
    run(bodies);
    static const struct {
        uint64_t tag;
        double end_s;
        weir_link_id stalled_by;
    } expected[] = {{3, 2, WEIR_NONE}, {1, 4, 1}, {4, 7, 1}, {2, 9, WEIR_NONE}};
    for (size_t i = 0; i < 4; i++) {
        weir_body_end end;
        assert_true(weir_bodies_take(bodies, &end));
        assert_int_equal(end.tag, expected[i].tag);
        assert_int_equal(end.stalled_by, expected[i].stalled_by);
        expect_near("end", end.end_s, expected[i].end_s, 0);
    }
    assert_int_equal(weir_bodies_count(bodies), 0);
    weir_bodies_free(bodies);
    weir_net_free(net);
}

/* 10 bytes at 2/s; from 1 s on 0, from 4 s on 1/s, from 6 s on 3/s: 2 + 0 + 2 + 6 at 8 s. */
static void a_link_that_comes_back_carries_on(void **state)
{
    (void)state;
    const double capacity = 2;
    static const weir_link_id link = 0;
    weir_net *net = net_of(&capacity, 1);
    weir_bodies *bodies = open_bodies(net);
    add(bodies, &(weir_body){.path = {.count = 1, .links = &link}, .size = 10});
    assert_int_equal(weir_bodies_set_capacity(bodies, link, 6, 3, NULL), WEIR_OK);
    assert_int_equal(weir_bodies_set_capacity(bodies, link, 1, 0, NULL), WEIR_OK);
    assert_int_equal(weir_bodies_set_capacity(bodies, link, 4, 1, NULL), WEIR_OK);
    run(bodies);
    weir_body_end end;
    assert_true(weir_bodies_take(bodies, &end));
    expect_near("end", end.end_s, 8, 0);
    assert_int_equal(end.stalled_by, WEIR_NONE);
    weir_bodies_free(bodies);
    weir_net_free(net);
}

static void ends_of_one_nanosecond_come_by_tag(void **state)
{
    (void)state;
    const double capacity = 1;
    static const weir_link_id link = 0;
    weir_net *net = net_of(&capacity, 1);
    weir_bodies *bodies = open_bodies(net);
    for (uint64_t i = 0; i < 20; i++) {
        add(bodies, &(weir_body){.path = {.count = 1, .links = &link},
                                 .size = 1,
                                 .start_s = i % 3 ? 0 : 1e-11 * (double)i,
                                 .tag = 100 - i});
    }
    run(bodies);
    weir_body_end end, before = {0};
    while (weir_bodies_take(bodies, &end)) {
        assert_true(end.end_ns > before.end_ns ||
                    (end.end_ns == before.end_ns && end.tag > before.tag));
        before = end;
    }
    assert_int_equal(before.end_ns, 20000000000);
    weir_bodies_free(bodies);
    weir_net_free(net);
}

static void refuses_what_no_transfer_can_be(void **state)
{
    (void)state;
    const double capacity = 1;
    weir_net *net = net_of(&capacity, 1);
    weir_bodies *bodies = open_bodies(net);
    weir_err err = {0};
    weir_body_id id;
    assert_int_equal(weir_bodies_add(bodies, &(weir_body){.size = -1}, &id, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "a transfer of -1 bytes, start 0 s, latency 0 s: each must be 0 "
                                  "or more, and finite");
    assert_int_equal(weir_bodies_add(bodies, &(weir_body){.latency_s = NAN}, &id, NULL),
                     WEIR_ERR_INPUT);
    assert_int_equal(weir_bodies_set_capacity(bodies, 0, INFINITY, 1, NULL), WEIR_ERR_INPUT);
    assert_int_equal(weir_bodies_set_capacity(bodies, 1, 3, 1, NULL), WEIR_ERR_INPUT);
    assert_int_equal(weir_bodies_set_capacity(bodies, 0, 3, -1, NULL), WEIR_ERR_INPUT);
    assert_int_equal(weir_bodies_count(bodies), 0);
    weir_bodies_free(bodies);
    weir_bodies_free(NULL);
    weir_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_when_the_fractions_say),
        cmocka_unit_test(fat_trees_take_as_long_as_two_other_solvers_say),
        cmocka_unit_test(hashed_permutations_spread_as_told),
        cmocka_unit_test(a_ring_all_reduce_is_one_body),
        cmocka_unit_test(an_all_to_all_is_one_body_for_each_class_of_pairs),
        cmocka_unit_test(one_link_obeys_processor_sharing_and_little),
        cmocka_unit_test(chance_loads_links_unevenly),
        cmocka_unit_test(a_body_is_as_fast_as_its_connections),
        cmocka_unit_test(the_slowest_link_sets_the_pace_of_a_body),
        cmocka_unit_test(can_be_driven_step_by_step),
        cmocka_unit_test(a_cut_off_flow_ends_in_a_stall_that_names_the_link),
        cmocka_unit_test(a_link_that_comes_back_carries_on),
        cmocka_unit_test(ends_of_one_nanosecond_come_by_tag),
        cmocka_unit_test(refuses_what_no_transfer_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
