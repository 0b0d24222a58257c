/* Max-min rates: the exact fractions of reference/network-oracles.md section 2 (tag X), the
 * properties that define max-min fairness on random nets, partial solves against full ones to the
 * bit, a water-filling solver of this file's own, and the value of links against a re-solve. */
#include "fabric/fluid.h"

#include "fluid_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect_near(const char *what, double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected))) {
        fail_msg("%s: found %.17g, expected %.17g", what, found, expected);
    }
}

/* --- exact fractions --- */

enum { MOST_LINKS = 6, MOST_BODIES = 6 };

typedef struct {
    const char *name;
    double links[MOST_LINKS]; /* capacities, 0 ends */
    struct {
        int links[MOST_LINKS]; /* numbers from 1, 0 ends */
        double factors[MOST_LINKS];
        double weight, cap, rate;
    } bodies[MOST_BODIES]; /* rate 0 ends */
} oracle;

static const oracle oracles[] = {
    {"A1 dumbbell",
     {10},
     {{.links = {1}, .rate = 5. / 2},
      {.links = {1}, .rate = 5. / 2},
      {.links = {1}, .rate = 5. / 2},
      {.links = {1}, .rate = 5. / 2}}},
    {"A2 parking lot",
     {1, 1, 1, 1},
     {{.links = {1, 2, 3, 4}, .rate = 1. / 2},
      {.links = {1}, .rate = 1. / 2},
      {.links = {2}, .rate = 1. / 2},
      {.links = {3}, .rate = 1. / 2},
      {.links = {4}, .rate = 1. / 2}}},
    {"A2b",
     {10, 4, 6},
     {{.links = {1, 2, 3}, .rate = 2},
      {.links = {1}, .rate = 8},
      {.links = {2}, .rate = 2},
      {.links = {3}, .rate = 4}}},
    {"A3",
     {10, 6, 12},
     {{.links = {1, 2}, .rate = 2},
      {.links = {2, 3}, .rate = 2},
      {.links = {1}, .rate = 8},
      {.links = {3}, .rate = 10},
      {.links = {2}, .rate = 2}}},
    {"A4 weights",
     {12},
     {{.links = {1}, .weight = 1, .rate = 2},
      {.links = {1}, .weight = 2, .rate = 4},
      {.links = {1}, .weight = 3, .rate = 6}}},
    {"A5 own cap",
     {10},
     {{.links = {1}, .cap = 1, .rate = 1},
      {.links = {1}, .rate = 9. / 2},
      {.links = {1}, .rate = 9. / 2}}},
    {"A5b weights and a cap",
     {10},
     {{.links = {1}, .weight = 1, .rate = 7. / 2},
      {.links = {1}, .weight = 1, .rate = 7. / 2},
      {.links = {1}, .weight = 2, .cap = 3, .rate = 3}}},
    {"A6 spray",
     {1, 1},
     {{.links = {1, 2}, .factors = {0.5, 0.5}, .rate = 2. / 3}, {.links = {1}, .rate = 2. / 3}}},
    {"A6b spray over 4 uplinks and a pinned flow",
     {1, 1, 1, 1},
     {{.links = {1, 2, 3, 4}, .factors = {.25, .25, .25, .25}, .rate = 1. / 2},
      {.links = {1, 2, 3, 4}, .factors = {.25, .25, .25, .25}, .rate = 1. / 2},
      {.links = {1, 2, 3, 4}, .factors = {.25, .25, .25, .25}, .rate = 1. / 2},
      {.links = {1, 2, 3, 4}, .factors = {.25, .25, .25, .25}, .rate = 1. / 2},
      {.links = {1}, .rate = 1. / 2}}},
    {"A7 triangle",
     {1, 1, 1},
     {{.links = {1, 2}, .rate = 1. / 2},
      {.links = {2, 3}, .rate = 1. / 2},
      {.links = {3, 1}, .rate = 1. / 2}}},
    {"A8 2:1 leaf: uplink, hosts",
     {2, 1, 1, 1, 1},
     {{.links = {1, 2}, .rate = 1. / 2},
      {.links = {1, 3}, .rate = 1. / 2},
      {.links = {1, 4}, .rate = 1. / 2},
      {.links = {1, 5}, .rate = 1. / 2}}},
    {"A9 victim: s1, s2, s3, d, e",
     {1, 1, 1, 1, 1},
     {{.links = {1, 4}, .rate = 1. / 3},
      {.links = {2, 4}, .rate = 1. / 3},
      {.links = {3, 4}, .rate = 1. / 3},
      {.links = {3, 5}, .rate = 2. / 3}}},
};

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

static void check_oracle(const oracle *o)
{
    uint32_t links = 0, bodies = 0;
    while (links < MOST_LINKS && o->links[links] > 0) {
        links++;
    }
    weir_net *net = net_of(o->links, links);
    weir_fluid *fluid;
    assert_int_equal(weir_fluid_new(net, &fluid, NULL), WEIR_OK);
    weir_body_id ids[MOST_BODIES];
    for (; bodies < MOST_BODIES && o->bodies[bodies].rate > 0; bodies++) {
        weir_link_id route[MOST_LINKS];
        uint32_t hops = 0;
        while (hops < MOST_LINKS && o->bodies[bodies].links[hops] > 0) {
            route[hops] = (weir_link_id)o->bodies[bodies].links[hops] - 1;
            hops++;
        }
        weir_path path = {.count = hops,
                          .links = route,
                          .weight = o->bodies[bodies].weight,
                          .cap = o->bodies[bodies].cap};
        if (o->bodies[bodies].factors[0] > 0) {
            path.bytes_per_unit = o->bodies[bodies].factors;
        }
        assert_int_equal(weir_fluid_add(fluid, &path, &ids[bodies], NULL), WEIR_OK);
        assert_int_equal(weir_fluid_start(fluid, ids[bodies], NULL), WEIR_OK);
    }
    assert_int_equal(weir_fluid_solve(fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
    for (uint32_t i = 0; i < bodies; i++) {
        expect_near(o->name, weir_fluid_rate(fluid, ids[i]), o->bodies[i].rate, 1e-15);
    }
    weir_fluid_free(fluid);
    weir_net_free(net);
}

static void shares_as_the_exact_fractions_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
        check_oracle(&oracles[i]);
    }
}

/* --- random nets --- */

enum { HOPS = 5 };

typedef struct {
    uint32_t links, room;
    double *capacities;
    struct {
        uint32_t count;
        weir_link_id links[HOPS];
        double factors[HOPS];
        bool has_factors, is_there;
        double weight, cap;
        weir_body_id id;
    } * bodies;
    uint32_t count;
    weir_net *net;
    weir_fluid *fluid;
} world;

static double random_capacity(uint64_t *seed)
{
    static const double few[] = {1, 1, 1, 2, 2, 4, 0.1, 3};
    return pick(seed, 3) ? few[pick(seed, 8)] : 0.2 + 5 * draw(seed);
}

static void add_random(world *w, uint64_t *seed)
{
    uint32_t at = w->count++;
    assert_true(at < w->room);
    bool is_plain = pick(seed, 3) > 0;
    w->bodies[at].count = pick(seed, 30) ? 1 + pick(seed, HOPS) : 0;
    w->bodies[at].has_factors = pick(seed, 4) == 0;
    w->bodies[at].weight = is_plain ? 1 : 0.5 + 3 * draw(seed);
    w->bodies[at].cap = pick(seed, 4) && w->bodies[at].count ? 0 : 0.05 + draw(seed);
    for (uint32_t j = 0; j < w->bodies[at].count; j++) {
        w->bodies[at].links[j] = pick(seed, w->links);
        w->bodies[at].factors[j] = pick(seed, 2) ? 0.25 * (1 + pick(seed, 8)) : 0.1 + draw(seed);
    }
    weir_path path = {.count = w->bodies[at].count,
                      .links = w->bodies[at].links,
                      .bytes_per_unit = w->bodies[at].has_factors ? w->bodies[at].factors : NULL,
                      .weight = w->bodies[at].weight,
                      .cap = w->bodies[at].cap};
    assert_int_equal(weir_fluid_add(w->fluid, &path, &w->bodies[at].id, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_start(w->fluid, w->bodies[at].id, NULL), WEIR_OK);
    w->bodies[at].is_there = true;
}

static void open_world(world *w, uint64_t *seed, uint32_t links, uint32_t room)
{
    *w = (world){.links = links, .room = room};
    w->capacities = malloc(links * sizeof *w->capacities);
    w->bodies = calloc(room, sizeof *w->bodies);
    for (uint32_t i = 0; i < links; i++) {
        w->capacities[i] = random_capacity(seed);
    }
    w->net = net_of(w->capacities, links);
    assert_int_equal(weir_fluid_new(w->net, &w->fluid, NULL), WEIR_OK);
}

static void close_world(world *w)
{
    weir_fluid_free(w->fluid);
    weir_net_free(w->net);
    free(w->capacities);
    free(w->bodies);
}

/* Written apart from the engine: raises the level in plain steps over all bodies and links. */
static void fill(const world *w, double *rates)
{
    bool *frozen = calloc(w->count + 1, sizeof *frozen);
    double *left = malloc(w->links * sizeof *left), *open = malloc(w->links * sizeof *open);
    for (uint32_t waiting = w->count; waiting > 0;) {
        memcpy(left, w->capacities, w->links * sizeof *left);
        memset(open, 0, w->links * sizeof *open);
        double level = INFINITY;
        for (uint32_t i = 0; i < w->count; i++) {
            for (uint32_t j = 0; j < w->bodies[i].count && w->bodies[i].is_there; j++) {
                double factor = w->bodies[i].has_factors ? w->bodies[i].factors[j] : 1;
                if (frozen[i]) {
                    left[w->bodies[i].links[j]] -= rates[i] * factor;
                } else {
                    open[w->bodies[i].links[j]] += w->bodies[i].weight * factor;
                }
            }
            if (!frozen[i] && w->bodies[i].is_there && w->bodies[i].cap > 0) {
                level = fmin(level, w->bodies[i].cap / w->bodies[i].weight);
            }
        }
        for (uint32_t l = 0; l < w->links; l++) {
            if (open[l] > 0) {
                level = fmin(level, fmax(left[l], 0) / open[l]);
            }
        }
        for (uint32_t i = 0; i < w->count; i++) {
            bool stops = !w->bodies[i].is_there ||
                         (w->bodies[i].cap > 0 &&
                          w->bodies[i].cap / w->bodies[i].weight <= level * (1 + 1e-12));
            for (uint32_t j = 0; j < w->bodies[i].count; j++) {
                weir_link_id l = w->bodies[i].links[j];
                stops = stops || (open[l] > 0 && left[l] / open[l] <= level * (1 + 1e-12));
            }
            if (!frozen[i] && stops) {
                frozen[i] = true;
                rates[i] = w->bodies[i].is_there ? level * w->bodies[i].weight : 0;
                waiting--;
            }
        }
    }
    free(frozen);
    free(left);
    free(open);
}

static void equals_a_plain_water_filling(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t s = seed;
        world w;
        open_world(&w, &s, 2 + pick(&s, 20), 60);
        for (uint32_t n = 1 + pick(&s, 50); n > 0; n--) {
            add_random(&w, &s);
        }
        double rates[60];
        fill(&w, rates);
        assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_FULL, NULL), WEIR_OK);
        for (uint32_t i = 0; i < w.count; i++) {
            double found = weir_fluid_rate(w.fluid, w.bodies[i].id);
            if (!(fabs(found - rates[i]) <= 1e-9 * rates[i])) {
                fail_msg("seed %u, body %u: found %.17g, expected %.17g", (unsigned)seed, i, found,
                         rates[i]);
            }
        }
        close_world(&w);
    }
}

/* No link carries more than it can; each body has its cap or a full link on which no other is
 * faster (by weight): then nobody can gain unless a smaller one loses. */
static void nobody_can_gain_without_harm_to_a_smaller_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t s = seed;
        world w;
        open_world(&w, &s, 40, 400);
        for (uint32_t n = 300; n > 0; n--) {
            add_random(&w, &s);
        }
        assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
        double top[40] = {0};
        for (uint32_t i = 0; i < w.count; i++) {
            double level = weir_fluid_rate(w.fluid, w.bodies[i].id) / w.bodies[i].weight;
            for (uint32_t j = 0; j < w.bodies[i].count; j++) {
                top[w.bodies[i].links[j]] = fmax(top[w.bodies[i].links[j]], level);
            }
        }
        for (uint32_t l = 0; l < w.links; l++) {
            assert_true(weir_fluid_load(w.fluid, l) <= w.capacities[l] * (1 + 1e-12));
        }
        for (uint32_t i = 0; i < w.count; i++) {
            double rate = weir_fluid_rate(w.fluid, w.bodies[i].id);
            bool held = w.bodies[i].cap > 0 && rate >= w.bodies[i].cap * (1 - 1e-12);
            for (uint32_t j = 0; j < w.bodies[i].count; j++) {
                weir_link_id l = w.bodies[i].links[j];
                held = held || (weir_fluid_load(w.fluid, l) >= w.capacities[l] * (1 - 1e-12) &&
                                rate / w.bodies[i].weight >= top[l] * (1 - 1e-12));
            }
            assert_true(held);
        }
        close_world(&w);
    }
}

/* --- partial against full --- */

static void change_randomly(world *w, uint64_t *seed)
{
    for (uint32_t n = pick(seed, 4); n > 0 && w->count < w->room; n--) {
        add_random(w, seed);
    }
    for (uint32_t n = pick(seed, 5); n > 0 && w->count > 0; n--) {
        uint32_t i = pick(seed, w->count);
        if (w->bodies[i].is_there) {
            weir_fluid_remove(w->fluid, w->bodies[i].id);
            w->bodies[i].is_there = false;
        }
    }
    if (pick(seed, 4) == 0) {
        weir_link_id link = pick(seed, w->links);
        double capacity = pick(seed, 3) ? random_capacity(seed) : pick(seed, 4) ? 0 : INFINITY;
        w->capacities[link] = capacity;
        assert_int_equal(weir_fluid_set_capacity(w->fluid, link, capacity, NULL), WEIR_OK);
    }
}

static void keep_rates(const world *w, double *rates)
{
    for (uint32_t i = 0; i < w->count; i++) {
        rates[i] = w->bodies[i].is_there ? weir_fluid_rate(w->fluid, w->bodies[i].id) : 0;
    }
}

static void compare_bits(const world *w, uint64_t seed, int round, const double *rates)
{
    for (uint32_t i = 0; i < w->count; i++) {
        double full = w->bodies[i].is_there ? weir_fluid_rate(w->fluid, w->bodies[i].id) : 0;
        if (memcmp(&full, &rates[i], sizeof full) != 0) {
            fail_msg("seed %u, round %d, body %u: partial %.17g, full %.17g", (unsigned)seed, round,
                     i, rates[i], full);
        }
    }
}

/* Each partial solve builds on the one before; a full solve in between changes nothing. */
static void a_partial_solve_equals_a_full_one_to_the_bit(void **state)
{
    (void)state;
    double *rates = malloc(4000 * sizeof *rates);
    uint64_t partial = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t s = seed * 977;
        world w;
        open_world(&w, &s, 3 + pick(&s, 120), 1200);
        for (uint32_t n = pick(&s, 150); n > 0; n--) {
            add_random(&w, &s);
        }
        uint32_t period = 1 + pick(&s, 6);
        for (int round = 0; round < 60; round++) {
            assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_PART, NULL), WEIR_OK);
            keep_rates(&w, rates);
            if ((uint32_t)round % period == 0) {
                assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_FULL, NULL), WEIR_OK);
                compare_bits(&w, seed, round, rates);
            }
            change_randomly(&w, &s);
        }
        partial += weir_fluid_work_done(w.fluid).part_solves;
        assert_int_equal(weir_fluid_work_done(w.fluid).abandoned, 0);
        close_world(&w);
    }
    assert_int_equal(partial, 400 * 60);
    free(rates);
}

/* Hashed flows on a tree, oversubscribed or not, leave one by one. */
static void partial_solves_keep_to_the_bit_on_fat_trees(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uint64_t s = seed;
        tree t = {8, 8, 4, seed % 2 ? 2 : 8, 8, NULL};
        tree_build(&t, 50e9);
        weir_fluid *fluid, *full;
        weir_body_id ids[2][512];
        assert_int_equal(weir_fluid_new(t.net, &fluid, NULL), WEIR_OK);
        assert_int_equal(weir_fluid_new(t.net, &full, NULL), WEIR_OK);
        for (uint32_t i = 0; i < 512; i++) {
            weir_link_id links[6];
            const uint32_t pair[2] = {pick(&s, 256), pick(&s, 256)};
            const weir_path path = {.count = tree_ecmp(&t, pair, i, seed, links), .links = links};
            assert_int_equal(weir_fluid_add(fluid, &path, &ids[0][i], NULL), WEIR_OK);
            assert_int_equal(weir_fluid_start(fluid, ids[0][i], NULL), WEIR_OK);
            assert_int_equal(weir_fluid_add(full, &path, &ids[1][i], NULL), WEIR_OK);
            assert_int_equal(weir_fluid_start(full, ids[1][i], NULL), WEIR_OK);
        }
        for (uint32_t gone = 0; gone < 512; gone++) {
            weir_solve how = gone % 2 ? WEIR_SOLVE_PART : WEIR_SOLVE_CHOOSE;
            assert_int_equal(weir_fluid_solve(fluid, how, NULL), WEIR_OK);
            assert_int_equal(weir_fluid_solve(full, WEIR_SOLVE_FULL, NULL), WEIR_OK);
            for (uint32_t i = gone; i < 512; i++) {
                double found = weir_fluid_rate(fluid, ids[0][i]);
                double expected = weir_fluid_rate(full, ids[1][i]);
                if (memcmp(&found, &expected, sizeof found) != 0) {
                    fail_msg("seed %u, %u gone, flow %u: partial %.17g, full %.17g", (unsigned)seed,
                             gone, i, found, expected);
                }
            }
            weir_fluid_remove(fluid, ids[0][gone]);
            weir_fluid_remove(full, ids[1][gone]);
        }
        assert_true(weir_fluid_work_done(fluid).part_solves >= 256);
        weir_fluid_free(fluid);
        weir_fluid_free(full);
        weir_net_free(t.net);
    }
}

static void lists_exactly_the_rates_that_changed(void **state)
{
    (void)state;
    double *rates = malloc(4000 * sizeof *rates);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint64_t s = seed * 31;
        world w;
        open_world(&w, &s, 60, 1200);
        for (int round = 0; round < 60; round++) {
            keep_rates(&w, rates);
            uint32_t before = w.count, differ = 0, count;
            change_randomly(&w, &s);
            assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
            const weir_body_id *changed = weir_fluid_changed(w.fluid, &count);
            for (uint32_t i = 0; i < w.count; i++) {
                double old = i < before ? rates[i] : 0;
                bool now = w.bodies[i].is_there && weir_fluid_rate(w.fluid, w.bodies[i].id) != old;
                uint32_t told = 0;
                for (uint32_t j = 0; j < count && w.bodies[i].is_there; j++) {
                    told += changed[j] == w.bodies[i].id;
                }
                assert_int_equal(told, now);
                differ += now;
            }
            assert_int_equal(count, differ);
        }
        close_world(&w);
    }
    free(rates);
}

/* The same bodies, added in the same order to a fluid that never had others. */
static void compare_with_a_fresh_one(const world *w, uint32_t first)
{
    weir_fluid *fresh;
    weir_body_id *ids = malloc(w->count * sizeof *ids);
    assert_int_equal(weir_fluid_new(w->net, &fresh, NULL), WEIR_OK);
    for (uint32_t i = first; i < w->count; i++) {
        weir_path path = {.count = w->bodies[i].count,
                          .links = w->bodies[i].links,
                          .bytes_per_unit = w->bodies[i].has_factors ? w->bodies[i].factors : NULL,
                          .weight = w->bodies[i].weight,
                          .cap = w->bodies[i].cap};
        if (w->bodies[i].is_there) {
            assert_int_equal(weir_fluid_add(fresh, &path, &ids[i], NULL), WEIR_OK);
            assert_int_equal(weir_fluid_start(fresh, ids[i], NULL), WEIR_OK);
        }
    }
    assert_int_equal(weir_fluid_solve(fresh, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
    for (uint32_t i = first; i < w->count; i++) {
        double found = 0, expected = 0;
        if (w->bodies[i].is_there) {
            found = weir_fluid_rate(w->fluid, w->bodies[i].id);
            expected = weir_fluid_rate(fresh, ids[i]);
        }
        if (memcmp(&found, &expected, sizeof found) != 0) {
            fail_msg("body %u: found %.17g, in a fresh fluid %.17g", i, found, expected);
        }
    }
    free(ids);
    weir_fluid_free(fresh);
}

static void what_is_gone_leaves_no_trace(void **state)
{
    (void)state;
    uint64_t s = 11;
    world w;
    open_world(&w, &s, 80, 60000);
    for (uint32_t first = 0; w.count < w.room; first += 200) {
        for (uint32_t n = 0; n < 200; n++) {
            add_random(&w, &s);
        }
        if (pick(&s, 10) == 0) { /* started and gone before any solve */
            weir_fluid_remove(w.fluid, w.bodies[w.count - 1].id);
            w.bodies[w.count - 1].is_there = false;
        }
        assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
        if (first % 2000 == 0) {
            compare_with_a_fresh_one(&w, first > 200 ? first - 200 : 0);
        }
        for (uint32_t i = first - (first ? 200 : 0); i < first; i++) {
            if (w.bodies[i].is_there) {
                weir_fluid_remove(w.fluid, w.bodies[i].id);
                w.bodies[i].is_there = false;
            }
        }
    }
    assert_true(weir_fluid_body_bound(w.fluid) < 5000); /* of 60000 */
    close_world(&w);
}

static void takes_the_small_road_for_small_changes(void **state)
{
    (void)state;
    uint64_t s = 5;
    world w;
    open_world(&w, &s, 2000, 3000);
    for (uint32_t n = 1500; n > 0; n--) {
        add_random(&w, &s);
    }
    assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_work_done(w.fluid).full_solves, 1);
    uint64_t visits = weir_fluid_work_done(w.fluid).visits;
    weir_fluid_remove(w.fluid, w.bodies[7].id);
    assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_work_done(w.fluid).full_solves, 1);
    assert_true(weir_fluid_work_done(w.fluid).visits - visits < 400);
    close_world(&w);
}

/* --- what a link is worth --- */

static void the_value_of_a_link_is_what_a_little_more_of_it_brings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t s = seed * 7919;
        world w;
        open_world(&w, &s, 12, 40);
        for (uint32_t n = 30; n > 0; n--) {
            add_random(&w, &s);
        }
        double gain[64], value[12];
        for (uint32_t i = 0; i < 64; i++) {
            gain[i] = draw(&s) - 0.3;
        }
        assert_int_equal(weir_fluid_values(w.fluid, gain, value, NULL), WEIR_OK);
        for (weir_link_id l = 0; l < w.links; l++) {
            double step = 1e-6 * w.capacities[l], sides[2];
            for (int side = 0; side < 2; side++) {
                assert_int_equal(weir_fluid_probe(w.fluid, l,
                                                  w.capacities[l] + (side ? step : -step), gain,
                                                  &sides[side], NULL),
                                 WEIR_OK);
            }
            double here;
            assert_int_equal(weir_fluid_probe(w.fluid, l, w.capacities[l], gain, &here, NULL),
                             WEIR_OK);
            double less = (here - sides[0]) / step, more = (sides[1] - here) / step;
            if (fabs(less - more) < 1e-6) { /* not at a tie */
                if (!(fabs(value[l] - more) < 1e-6)) {
                    fail_msg("seed %u, link %u: value %.12g, by re-solving %.12g", (unsigned)seed,
                             l, value[l], more);
                }
            }
        }
        close_world(&w);
    }
}

/* A2b by hand: link 2 (capacity 4) holds the long flow and flow 2 at 2. One more byte/s there gives
 * each half of it, and takes half from the short flows on links 1 and 3. */
static void values_by_hand(void **state)
{
    (void)state;
    const double capacities[] = {10, 4, 6};
    static const weir_link_id all[] = {0, 1, 2};
    weir_net *net = net_of(capacities, 3);
    weir_fluid *fluid;
    assert_int_equal(weir_fluid_new(net, &fluid, NULL), WEIR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        weir_path path = {.count = i ? 1 : 3, .links = i ? &all[i - 1] : all};
        weir_body_id id;
        assert_int_equal(weir_fluid_add(fluid, &path, &id, NULL), WEIR_OK);
        assert_int_equal(weir_fluid_start(fluid, id, NULL), WEIR_OK);
    }
    const double total[] = {1, 1, 1, 1}, longest[] = {1, 0, 0, 0};
    double value[3];
    assert_int_equal(weir_fluid_values(fluid, total, value, NULL), WEIR_OK);
    expect_near("link 1", value[0], 1, 1e-15);
    expect_near("link 2", value[1], 0, 1e-15);
    expect_near("link 3", value[2], 1, 1e-15);
    assert_int_equal(weir_fluid_values(fluid, longest, value, NULL), WEIR_OK);
    expect_near("link 1", value[0], 0, 1e-15);
    expect_near("link 2", value[1], 0.5, 1e-15);
    assert_int_equal(weir_fluid_bottleneck(fluid, 0), 1);
    assert_int_equal(weir_fluid_bottleneck(fluid, 1), 0);
    weir_fluid_free(fluid);
    weir_net_free(net);
}

/* --- properties of section 2 --- */

static void scaling_all_links_scales_all_rates(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        uint64_t s = seed;
        world w;
        open_world(&w, &s, 20, 100);
        for (uint32_t n = 80; n > 0; n--) {
            add_random(&w, &s);
            w.bodies[w.count - 1].cap = 0;
        }
        double rates[100];
        for (uint32_t i = 0; i < w.count; i++) { /* again, without caps */
            weir_fluid_remove(w.fluid, w.bodies[i].id);
            w.bodies[i].count += w.bodies[i].count == 0;
            weir_path path = {.count = w.bodies[i].count, .links = w.bodies[i].links};
            assert_int_equal(weir_fluid_add(w.fluid, &path, &w.bodies[i].id, NULL), WEIR_OK);
            assert_int_equal(weir_fluid_start(w.fluid, w.bodies[i].id, NULL), WEIR_OK);
        }
        assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
        keep_rates(&w, rates);
        for (uint32_t l = 0; l < w.links; l++) {
            assert_int_equal(weir_fluid_set_capacity(w.fluid, l, 1024 * w.capacities[l], NULL),
                             WEIR_OK);
        }
        assert_int_equal(weir_fluid_solve(w.fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
        for (uint32_t i = 0; i < w.count; i++) {
            expect_near("scaled", weir_fluid_rate(w.fluid, w.bodies[i].id), 1024 * rates[i], 0);
        }
        close_world(&w);
    }
}

static void one_body_of_n_connections_takes_n_shares(void **state)
{
    (void)state;
    const double capacity = 12, n = 5;
    static const weir_link_id link = 0;
    weir_net *net = net_of(&capacity, 1);
    weir_fluid *fluid;
    assert_int_equal(weir_fluid_new(net, &fluid, NULL), WEIR_OK);
    const weir_path many = {.count = 1, .links = &link, .bytes_per_unit = &n};
    const weir_path one = {.count = 1, .links = &link};
    weir_body_id a, b;
    assert_int_equal(weir_fluid_add(fluid, &many, &a, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_add(fluid, &one, &b, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_start(fluid, a, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_start(fluid, b, NULL), WEIR_OK);
    assert_int_equal(weir_fluid_start(fluid, b, NULL), WEIR_ERR_USAGE);
    assert_int_equal(weir_fluid_solve(fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
    expect_near("each connection", weir_fluid_rate(fluid, a), 2, 0);
    expect_near("the single one", weir_fluid_rate(fluid, b), 2, 0);
    expect_near("the link", weir_fluid_load(fluid, 0), 12, 0);
    weir_fluid_free(fluid);
    weir_net_free(net);
}

static void refuses_what_no_body_can_be(void **state)
{
    (void)state;
    const double capacity = 1, zero = 0, one = 1;
    static const weir_link_id good = 0, bad = 1;
    weir_net *net = net_of(&capacity, 1);
    weir_fluid *fluid;
    assert_int_equal(weir_fluid_new(net, &fluid, NULL), WEIR_OK);
    const struct {
        weir_path path;
        const char *says;
    } cases[] = {
        {{.count = 1, .links = &bad}, "a route crosses link 1; the net has 1"},
        {{.count = 1, .links = &good, .bytes_per_unit = &zero},
         "a load of 0 on link 0; it must be above 0 and finite"},
        {{.count = 1, .links = &good, .bytes_per_unit = &one, .weight = -2},
         "a weight of -2; it must be above 0 and finite"},
        {{.count = 1, .links = &good, .cap = -1}, "a rate cap of -1; it must be above 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_err err = {0};
        weir_body_id id = 99;
        assert_int_equal(weir_fluid_add(fluid, &cases[i].path, &id, &err), WEIR_ERR_INPUT);
        assert_string_equal(err.text, cases[i].says);
        assert_int_equal(id, 99);
    }
    weir_err err = {0};
    assert_int_equal(weir_fluid_set_capacity(fluid, 0, -1, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "a capacity of -1 bytes/s for link 0 of 1; it must be 0 or more");
    weir_fluid_free(fluid);
    weir_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_as_the_exact_fractions_say),
        cmocka_unit_test(equals_a_plain_water_filling),
        cmocka_unit_test(nobody_can_gain_without_harm_to_a_smaller_one),
        cmocka_unit_test(a_partial_solve_equals_a_full_one_to_the_bit),
        cmocka_unit_test(partial_solves_keep_to_the_bit_on_fat_trees),
        cmocka_unit_test(lists_exactly_the_rates_that_changed),
        cmocka_unit_test(what_is_gone_leaves_no_trace),
        cmocka_unit_test(takes_the_small_road_for_small_changes),
        cmocka_unit_test(the_value_of_a_link_is_what_a_little_more_of_it_brings),
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(scaling_all_links_scales_all_rates),
        cmocka_unit_test(one_body_of_n_connections_takes_n_shares),
        cmocka_unit_test(refuses_what_no_body_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
