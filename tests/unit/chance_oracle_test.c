/* Section 5 of reference/network-oracles.md where route_oracle_test.c and queueing_test.c leave
 * off: how often hashed flows do not collide, up to 64 links, queue pairs from 1 to 128; Little's
 * law and the mean load on every link of a net with several. Draws are seeded; what is drawn is
 * judged by three standard deviations, and the oracles' own Monte Carlo by the 0.01 that it states.
 */
#include "fabric/ecmp.h"

#include "route_fixture.h"

/* n senders below one leaf, n receivers below the other, n uplinks. */
static network two_leaves(uint32_t n, uint32_t queue_pairs)
{
    weir_clos clos = {.tiers = 2, .radix = {2 * n, 2}, .trunk = {1}};
    weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = 11, .queue_pairs = queue_pairs};
    return network_new(clos_fabric(2 * n, 1, clos), ecmp);
}

typedef struct {
    double most, used; /* means: of the largest load, of the share of links with any */
    double even;       /* share of draws without a collision */
} collisions;

static collisions draw_flows(uint32_t n, uint32_t queue_pairs, uint32_t draws)
{
    network x = two_leaves(n, queue_pairs);
    double *loads = loads_new(x);
    uint64_t flow = 0;
    collisions found = {0, 0, 0};
    for (uint32_t round = 0; round < draws; round++) {
        double most = 0;
        for (uint32_t j = 0; j < n; j++) {
            loads[4 * n + 2 * j] = 0; /* behind the 2 n cables of hosts */
        }
        for (uint32_t j = 0; j < n; j++) {
            load(x, loads, j, n + j, flow++);
        }
        for (uint32_t j = 0; j < n; j++) {
            most = fmax(most, loads[4 * n + 2 * j]);
            found.used += loads[4 * n + 2 * j] > 0 ? 1.0 / n : 0;
        }
        found.most += most;
        found.even += most < 1.5;
    }
    free(loads);
    network_free(x);
    return (collisions){found.most / draws, found.used / draws, found.even / draws};
}

static void expect_within(const char *what, double found, double expected, double allowed)
{
    if (!(fabs(found - expected) <= allowed)) {
        fail_msg("%s: found %.6g, expected %.6g +- %.2g", what, found, expected, allowed);
    }
}

static void few_flows_find_a_link_each_as_rarely_as_chance_says(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    static const struct {
        uint32_t n;
        double even, used, most;
    } rows[] = {
        {2, 0.5, 0.75, 1.504},         {4, 0.09375, 0.6836, 2.125}, {8, 2.403e-3, 0.6564, 2.601},
        {16, 1.134e-6, 0.6439, 3.075}, {32, 0, 0, 3.540},           {64, 0, 0, 3.951},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double n = rows[i].n, used = 1 - pow(1 - 1 / n, n);
        collisions found = draw_flows(rows[i].n, 1, DRAWS);
        /* The largest load of so many draws has a deviation of 0.7 / sqrt(DRAWS) = 0.0035. */
        expect_within("largest load", found.most, rows[i].most, 0.01 + 3 * 0.0035);
        /* Links used: n draws without independence have at most the variance of n that have it. */
        expect_within("links used", found.used, used, 3 * sqrt(used * (1 - used) / n / DRAWS));
        if (rows[i].used > 0) {
            expect_within("printed", used, rows[i].used, 0.5e-4);
            double even = rows[i].even;
            expect_within("no collision", found.even, even, 3 * sqrt(even * (1 - even) / DRAWS));
        }
    }
}

/* 16 of 16: once in 881,658 draws. A draw ends at its first collision. */
static void sixteen_flows_hardly_ever_find_a_link_each(void **state)
{
    (void)state;
    enum { DRAWS = 20000000, LINKS = 16 };
    uint64_t flow = 0;
    uint32_t even = 0;
    for (uint32_t round = 0; round < DRAWS; round++, flow += LINKS) {
        uint32_t taken = 0, count = 0;
        for (; count < LINKS; count++) {
            uint32_t link = 1u << (ecmp_hash(flow + count, 5) % LINKS);
            if (taken & link) {
                break;
            }
            taken |= link;
        }
        even += count == LINKS;
    }
    double expected = 1.134e-6 * DRAWS; /* 22.7 */
    expect_within("no collision", even, expected, 3 * sqrt(expected));
}

/* E[max]/mean for n flows on 8 links; here 8 flows of n/8 queue pairs each. */
static void queue_pairs_even_the_load_out_as_more_flows_would(void **state)
{
    (void)state;
    static const struct {
        uint32_t queue_pairs;
        double ratio;
    } rows[] = {{1, 2.61}, {4, 1.77}, {8, 1.53}, {32, 1.26}, {128, 1.13}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        collisions found = draw_flows(8, rows[i].queue_pairs, 20000);
        expect_within("largest / mean", found.most, rows[i].ratio, 0.015);
    }
}

/* --- Little's law and the mean load, on every link --- */

enum { LINKS = 3, KINDS = 4, BATCHES = 25, PER_BATCH = 4000, BATCH_COUNT = BATCHES + 2 };

/* By batch of arrivals, the first and last of which are left out. */
typedef struct {
    double seen[BATCH_COUNT][LINKS];   /* on the link, as those who arrive see it */
    double load[BATCH_COUNT][LINKS];   /* of its capacity, at the same moments */
    double time_s[BATCH_COUNT][LINKS]; /* sojourns of those who crossed the link */
    double first_s[BATCH_COUNT + 1];   /* when the batch began */
} watch;

static const double link_rates[LINKS] = {1, 2, 1.5};
/* Long flows cross all links, short ones one of them; per second, of mean size 1. */
static const double arrivals[KINDS] = {0.3, 0.4, 1.2, 0.7};

static bool crosses(uint32_t kind, uint32_t link)
{
    return kind == 0 || kind - 1 == link;
}

static uint32_t draw_kind(uint64_t *state, double all)
{
    double drawn = draw(state) * all;
    uint32_t kind = 0;
    for (; kind < KINDS - 1 && drawn >= arrivals[kind]; kind++) {
        drawn -= arrivals[kind];
    }
    return kind;
}

typedef struct {
    weir_bodies *bodies;
    double *start_s;
    uint8_t *kind;
    int32_t present[LINKS];
    watch *w;
} line;

static void take_ends(line *x)
{
    for (weir_body_end end; weir_bodies_take(x->bodies, &end);) {
        for (uint32_t l = 0; l < LINKS; l++) {
            if (crosses(x->kind[end.tag], l)) {
                x->present[l]--;
                x->w->time_s[end.tag / PER_BATCH][l] += end.end_s - x->start_s[end.tag];
            }
        }
    }
}

static void arrive(line *x, uint32_t customer, double now_s, uint64_t *state)
{
    static const weir_link_id links[] = {0, 1, 2};
    uint32_t batch = customer / PER_BATCH, kind = x->kind[customer];
    weir_body_id id;
    double next_s;
    assert_int_equal(weir_bodies_advance(x->bodies, now_s, NULL), WEIR_OK);
    assert_int_equal(weir_bodies_next_s(x->bodies, &next_s, NULL), WEIR_OK);
    take_ends(x);
    for (uint32_t l = 0; l < LINKS; l++) {
        double load = weir_fluid_load(weir_bodies_fluid(x->bodies), l);
        x->w->seen[batch][l] += x->present[l];
        x->w->load[batch][l] += load / link_rates[l];
        x->present[l] += crosses(kind, l);
    }
    x->start_s[customer] = now_s;
    const weir_body body = {
        .path = {.count = kind ? 1 : LINKS, .links = kind ? &links[kind - 1] : links},
        .size = -log(1 - draw(state)),
        .start_s = now_s,
        .tag = customer};
    assert_int_equal(weir_bodies_add(x->bodies, &body, &id, NULL), WEIR_OK);
}

static void play_line(watch *w, uint64_t seed)
{
    enum { CUSTOMERS = BATCH_COUNT * PER_BATCH };
    double all = 0, now_s = 0;
    weir_net *net = weir_net_new();
    line x = {.start_s = calloc(CUSTOMERS, sizeof *x.start_s),
              .kind = calloc(CUSTOMERS, sizeof *x.kind),
              .w = w};
    assert_true(net && x.start_s && x.kind);
    for (uint32_t l = 0; l < LINKS; l++) {
        weir_link_id link;
        assert_int_equal(weir_net_add(net, link_rates[l], 0, &link, NULL), WEIR_OK);
    }
    for (uint32_t k = 0; k < KINDS; k++) {
        all += arrivals[k];
    }
    weir_net_seal(net);
    assert_int_equal(weir_bodies_new(net, &x.bodies, NULL), WEIR_OK);
    for (uint32_t c = 0; c < CUSTOMERS; c++) {
        now_s += -log(1 - draw(&seed)) / all;
        w->first_s[c / PER_BATCH] = c % PER_BATCH ? w->first_s[c / PER_BATCH] : now_s;
        x.kind[c] = (uint8_t)draw_kind(&seed, all);
        arrive(&x, c, now_s, &seed);
    }
    w->first_s[BATCH_COUNT] = now_s;
    assert_int_equal(weir_bodies_run(x.bodies, NULL), WEIR_OK);
    take_ends(&x);
    for (uint32_t l = 0; l < LINKS; l++) {
        assert_int_equal(x.present[l], 0);
    }
    weir_bodies_free(x.bodies);
    weir_net_free(net);
    free(x.start_s);
    free(x.kind);
}

/* The mean over the batches but the first and last is 0 within three of its standard errors. */
static void expect_no_mean(const char *what, const double *off)
{
    double mean = 0, squares = 0;
    for (uint32_t b = 1; b <= BATCHES; b++) {
        mean += off[b] / BATCHES;
    }
    for (uint32_t b = 1; b <= BATCHES; b++) {
        squares += (off[b] - mean) * (off[b] - mean);
    }
    expect_within(what, mean, 0, 3 * sqrt(squares / (BATCHES - 1) / BATCHES));
}

/* L = lambda W: L as arrivals see it (they are Poisson, and see time averages), lambda W as the
 * time spent on the link for each second. The load is what arrives: nothing is lost, no link idles
 * while somebody could use it, whatever else the long flows wait for. */
static void littles_law_holds_on_every_link_of_a_net(void **state)
{
    (void)state;
    watch *w = calloc(1, sizeof *w);
    assert_non_null(w);
    play_line(w, 23);
    for (uint32_t l = 0; l < LINKS; l++) {
        double law[BATCH_COUNT], load[BATCH_COUNT], rho = (arrivals[0] + arrivals[l + 1]);
        for (uint32_t b = 0; b < BATCH_COUNT; b++) {
            double span_s = w->first_s[b + 1] - w->first_s[b];
            law[b] = w->seen[b][l] / PER_BATCH - w->time_s[b][l] / span_s;
            load[b] = w->load[b][l] / PER_BATCH - rho / link_rates[l];
        }
        expect_no_mean("L - lambda W", law);
        expect_no_mean("load - rho", load);
    }
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_flows_find_a_link_each_as_rarely_as_chance_says),
        cmocka_unit_test(sixteen_flows_hardly_ever_find_a_link_each),
        cmocka_unit_test(queue_pairs_even_the_load_out_as_more_flows_would),
        cmocka_unit_test(littles_law_holds_on_every_link_of_a_net),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
