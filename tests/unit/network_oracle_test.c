/* What reference/network-oracles.md says of networks and no other test holds: barriers on fat trees
 * (section 1), properties of max-min rates (2), bisection and hops of tori (4), the three ways of
 * circuits E8 (6); and bodies whose connections have several bottlenecks against a coupled solve
 * that is written here. docs/validation/oracles.md says where all other rows are held. */
#include "fabric/circuit.h"
#include "fabric/decompose.h"

#include "route_fixture.h"

/* --- section 1: barriers --- */

/* Each round begins when the last message of the one before has ended. */
static double play_rounds(const tree *x, uint32_t rounds, bool is_ring, double bytes)
{
    weir_bodies *bodies;
    weir_err err = {0};
    uint32_t hosts = tree_hosts(x);
    expect_ok(weir_bodies_new(x->net, &bodies, &err), &err);
    for (uint32_t round = 1; round <= rounds; round++) {
        for (uint32_t from = 0; from < hosts; from++) {
            weir_link_id links[6];
            weir_body_id id;
            uint32_t to = (from + (is_ring ? 1 : round)) % hosts;
            weir_body body = {.path.links = links,
                              .path.count = tree_d_mod_k(x, from, to, links),
                              .size = bytes,
                              .start_s = weir_bodies_now_s(bodies)};
            expect_ok(weir_bodies_add(bodies, &body, &id, &err), &err);
        }
        expect_ok(weir_bodies_run(bodies, &err), &err);
        for (weir_body_end end; weir_bodies_take(bodies, &end);) {
            assert_int_equal(end.stalled_by, WEIR_NONE);
        }
    }
    double last_s = weir_bodies_now_s(bodies);
    weir_bodies_free(bodies);
    return last_s;
}

static tree tree_of(uint32_t hosts)
{
    tree x = hosts == 64    ? (tree){4, 4, 4, 4, 4, NULL}
             : hosts == 256 ? (tree){8, 8, 4, 8, 8, NULL}
                            : (tree){8, 8, 16, 8, 8, NULL};
    tree_build(&x, 50e9);
    return x;
}

/* Printed to a nanosecond, by two solvers. */
static void expect_printed(const char *what, double found_s, double printed_s)
{
    if (!(fabs(found_s - printed_s) <= 0.5e-9 + 1e-12)) {
        fail_msg("%s: found %.12g s, printed %.9f s", what, found_s, printed_s);
    }
}

static void an_all_to_all_in_shifts_is_as_fast_as_all_at_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t hosts;
        double seconds;
    } rows[] = {{64, 0.126}, {256, 0.510}, {1024, 2.046}};
    for (size_t i = 0; i < 3; i++) {
        tree x = tree_of(rows[i].hosts);
        expect_printed("shifts", play_rounds(&x, rows[i].hosts - 1, false, 1e8), rows[i].seconds);
        weir_net_free(x.net);
    }
}

/* 1e8 bytes in 2(N-1) barriers of S/N. SimGrid sends whole bytes only, 97656 where N is 1024. */
static void a_ring_all_reduce_in_barriers_takes_the_closed_form(void **state)
{
    (void)state;
    static const struct {
        uint32_t hosts;
        double seconds, simgrid_s;
    } rows[] = {{64, 0.003937500, 0.003937500},
                {256, 0.003984375, 0.003984375},
                {1024, 0.003996094, 0.003996084}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t n = rows[i].hosts;
        tree x = tree_of(n);
        double found_s = play_rounds(&x, 2 * (n - 1), true, 1e8 / n);
        expect_printed("barriers", found_s, rows[i].seconds);
        expect_near("closed form", found_s, 2 * (n - 1) * 1e8 / n / 50e9, 1e-12);
        expect_printed("whole bytes", play_rounds(&x, 2 * (n - 1), true, floor(1e8 / n)),
                       rows[i].simgrid_s);
        weir_net_free(x.net);
    }
}

/* --- section 2: properties, and bodies against a coupled solve --- */

enum { LINKS = 14, FLOWS = 24 };

/* flow f puts load[f][l] on link l for each unit of its progress. */
typedef struct {
    uint32_t flows;
    double capacity[LINKS], load[FLOWS][LINKS], size[FLOWS], enter_s[FLOWS];
    weir_net *net;
} world;

/* BODIES: several connections on a link, another number of them on each. WHOLE: messages on links
 * of 1, 2, 4 or 8. */
typedef enum { MESSAGES, WHOLE, BODIES } world_kind;

static void world_draw(world *w, uint64_t *seed, world_kind kind)
{
    weir_link_id link;
    *w = (world){.flows = 2 + pick(seed, FLOWS - 2), .net = weir_net_new()};
    for (uint32_t l = 0; l < LINKS; l++) {
        w->capacity[l] = kind == WHOLE ? 1 << pick(seed, 4) : 0.5 + 4 * draw(seed);
        assert_int_equal(weir_net_add(w->net, w->capacity[l], 0, &link, NULL), WEIR_OK);
    }
    weir_net_seal(w->net);
    for (uint32_t f = 0; f < w->flows; f++) {
        for (uint32_t hops = 1 + pick(seed, 5); hops > 0; hops--) {
            w->load[f][pick(seed, LINKS)] = kind == BODIES ? 0.5 * (1 + pick(seed, 8)) : 1;
        }
        w->size[f] = 0.5 + 3 * draw(seed);
        w->enter_s[f] = pick(seed, 3) ? 2 * draw(seed) : 0;
    }
}

static weir_path path_of(const world *w, uint32_t f, weir_link_id *links, double *factors)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < LINKS; l++) {
        if (w->load[f][l] > 0) {
            links[count] = l;
            factors[count++] = w->load[f][l];
        }
    }
    return (weir_path){.count = count, .links = links, .bytes_per_unit = factors};
}

/* Rates of the flows that order lists, by number of flow. */
static void solve(const world *w, const uint32_t *order, uint32_t count, double *rates)
{
    weir_fluid *fluid;
    weir_body_id ids[FLOWS];
    assert_int_equal(weir_fluid_new(w->net, &fluid, NULL), WEIR_OK);
    for (uint32_t i = 0; i < count; i++) {
        weir_link_id links[LINKS];
        double factors[LINKS];
        weir_path path = path_of(w, order[i], links, factors);
        assert_int_equal(weir_fluid_add(fluid, &path, &ids[i], NULL), WEIR_OK);
        assert_int_equal(weir_fluid_start(fluid, ids[i], NULL), WEIR_OK);
    }
    assert_int_equal(weir_fluid_solve(fluid, WEIR_SOLVE_CHOOSE, NULL), WEIR_OK);
    for (uint32_t i = 0; i < count; i++) {
        rates[order[i]] = weir_fluid_rate(fluid, ids[i]);
    }
    weir_fluid_free(fluid);
}

static void adding_a_flow_never_raises_the_least_rate(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t s = seed * 31;
        uint32_t order[FLOWS];
        double last = INFINITY;
        world w;
        world_draw(&w, &s, seed % 2 ? BODIES : MESSAGES);
        for (uint32_t n = 1; n <= w.flows; n++) {
            double rates[FLOWS], least = INFINITY;
            order[n - 1] = n - 1;
            solve(&w, order, n, rates);
            for (uint32_t f = 0; f < n; f++) {
                least = fmin(least, rates[f]);
            }
            if (!(least <= last * (1 + 1e-12))) {
                fail_msg("seed %u, flow %u: %.17g after %.17g", (unsigned)seed, n, least, last);
            }
            last = least;
        }
        weir_net_free(w.net);
    }
}

/* Sums run in the order of start: to the bit where they are exact (all rates in 2^-20ths), else
 * within rounding. */
static void the_order_of_flows_changes_nothing(void **state)
{
    (void)state;
    uint32_t exact_count = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t s = seed * 37;
        uint32_t plain[FLOWS], *mixed;
        double first[FLOWS] = {0}, second[FLOWS] = {0};
        bool is_exact = true;
        world w;
        world_draw(&w, &s, seed % 4 == 0 ? BODIES : seed % 4 == 1 ? MESSAGES : WHOLE);
        mixed = make_permutation(w.flows, &s);
        for (uint32_t f = 0; f < w.flows; f++) {
            plain[f] = f;
        }
        solve(&w, plain, w.flows, first);
        solve(&w, mixed, w.flows, second);
        for (uint32_t f = 0; f < w.flows; f++) {
            double parts = ldexp(first[f], 20);
            is_exact = is_exact && !(parts < floor(parts)) && !(parts > floor(parts));
        }
        exact_count += is_exact;
        for (uint32_t f = 0; f < w.flows; f++) {
            double allowed = is_exact ? 0 : 1e-13 * first[f];
            if (!(fabs(second[f] - first[f]) <= allowed)) {
                fail_msg("seed %u, flow %u: %.17g, in another order %.17g", (unsigned)seed, f,
                         first[f], second[f]);
            }
        }
        free(mixed);
        weir_net_free(w.net);
    }
    assert_true(exact_count >= 100);
}

/* Progressive filling in plain steps: all flows at one level, until a link is full. */
static void fill(const world *w, const bool *is_there, double *rates)
{
    bool frozen[FLOWS];
    uint32_t waiting = 0;
    for (uint32_t f = 0; f < w->flows; f++) {
        frozen[f] = !is_there[f];
        rates[f] = 0;
        waiting += is_there[f];
    }
    while (waiting > 0) {
        double share[LINKS], level = INFINITY;
        for (uint32_t l = 0; l < LINKS; l++) {
            double left = w->capacity[l], open = 0;
            for (uint32_t f = 0; f < w->flows; f++) {
                left -= rates[f] * w->load[f][l];
                open += frozen[f] ? 0 : w->load[f][l];
            }
            share[l] = open > 0 ? fmax(left, 0) / open : INFINITY;
            level = fmin(level, share[l]);
        }
        bool stops[FLOWS] = {false};
        for (uint32_t f = 0; f < w->flows; f++) {
            for (uint32_t l = 0; l < LINKS && !frozen[f]; l++) {
                stops[f] = stops[f] || (w->load[f][l] > 0 && share[l] <= level * (1 + 1e-12));
            }
        }
        for (uint32_t f = 0; f < w->flows; f++) {
            if (stops[f]) {
                frozen[f] = true;
                rates[f] = level;
                waiting--;
            }
        }
    }
}

/* From moment to moment: until the next flow enters or the first one is through. */
static void play_coupled(const world *w, double *end_s)
{
    double left[FLOWS], rates[FLOWS], now_s = 0;
    bool is_there[FLOWS] = {false}, is_done[FLOWS] = {false};
    memcpy(left, w->size, sizeof left);
    for (uint32_t waiting = w->flows; waiting > 0;) {
        double next_s = INFINITY;
        for (uint32_t f = 0; f < w->flows; f++) {
            is_there[f] = !is_done[f] && w->enter_s[f] <= now_s;
        }
        fill(w, is_there, rates);
        for (uint32_t f = 0; f < w->flows; f++) {
            if (!is_done[f]) {
                next_s = fmin(next_s, is_there[f] ? now_s + left[f] / rates[f] : w->enter_s[f]);
            }
        }
        for (uint32_t f = 0; f < w->flows; f++) {
            left[f] -= is_there[f] ? rates[f] * (next_s - now_s) : 0;
            if (is_there[f] && left[f] <= 1e-11 * w->size[f]) {
                is_done[f] = true;
                end_s[f] = next_s;
                waiting--;
            }
        }
        now_s = next_s;
    }
}

/* The connections of a body advance together: a body with a connection on a thin link and others on
 * wide ones is held back on all of them, and what it leaves there goes to others. */
static void bodies_with_several_bottlenecks_end_as_a_coupled_solve_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        uint64_t s = seed * 41;
        double expected_s[FLOWS];
        weir_bodies *bodies;
        weir_body_end end;
        uint32_t ended = 0;
        world w;
        world_draw(&w, &s, BODIES);
        play_coupled(&w, expected_s);
        assert_int_equal(weir_bodies_new(w.net, &bodies, NULL), WEIR_OK);
        for (uint32_t f = 0; f < w.flows; f++) {
            weir_link_id links[LINKS];
            double factors[LINKS], latency_s = w.enter_s[f] * draw(&s);
            weir_body_id id;
            weir_body body = {.path = path_of(&w, f, links, factors),
                              .size = w.size[f],
                              .start_s = w.enter_s[f] - latency_s,
                              .latency_s = latency_s,
                              .tag = f};
            assert_int_equal(weir_bodies_add(bodies, &body, &id, NULL), WEIR_OK);
        }
        assert_int_equal(weir_bodies_run(bodies, NULL), WEIR_OK);
        for (; weir_bodies_take(bodies, &end); ended++) {
            expect_near("end", end.end_s, expected_s[end.tag], 1e-9);
        }
        assert_int_equal(ended, w.flows);
        weir_bodies_free(bodies);
        weir_net_free(w.net);
    }
}

/* --- section 4: tori --- */

/* Links from the lower to the upper half of the longest dimension, the wraps included. */
static uint32_t cut_in_half(const uint32_t size[3])
{
    uint32_t longest = size[1] > size[0] ? 1 : 0, count = 0, inner = 1;
    longest = size[2] > size[longest] ? 2 : longest;
    for (uint32_t d = longest + 1; d < 3; d++) {
        inner *= size[d]; /* the last dimension is the fastest */
    }
    network n = network_new(torus_fabric(size[0], size[1], size[2]), (weir_routing){0});
    for (uint32_t l = 0; l < weir_net_count(weir_topology_net(n.t)); l++) {
        weir_link link = weir_topology_link(n.t, l);
        bool is_low = link.from / inner % size[longest] < size[longest] / 2;
        count += is_low && link.to / inner % size[longest] >= size[longest] / 2;
    }
    network_free(n);
    return count;
}

/* 2 N / k_max in one direction. 16^3 at 50 GB/s: 25.6 TB/s. */
static void half_a_torus_sees_the_other_over_twice_its_cross_section(void **state)
{
    (void)state;
    static const uint32_t sizes[][3] = {{16, 16, 16}, {8, 8, 8},  {4, 4, 8},
                                        {4, 8, 8},    {8, 8, 16}, {4, 4, 256}};
    assert_int_equal(cut_in_half(sizes[0]), 512);
    assert_true(cut_in_half(sizes[0]) * cable.bytes_per_s == 25.6e12);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t *k = sizes[i];
        uint32_t most = k[2] > k[1] ? k[2] : k[1];
        assert_int_equal(cut_in_half(k), 2 * k[0] * k[1] * k[2] / most);
    }
}

typedef struct {
    double hops,
        busiest; /* mean over all receivers, the sender too; bytes on a link for each pair */
} torus_load;

static torus_load measure_torus(weir_fabric fabric)
{
    network n = network_new(fabric, (weir_routing){.choice = WEIR_ROUTE_SPRAY});
    uint32_t devices = weir_topology_devices(n.t);
    double along[3] = {0};
    torus_load found = {0, 0};
    for (uint32_t to = 1; to < devices; to++) {
        weir_route route = find(n, 0, to, 0);
        for (uint32_t i = 0; i < route.path.count; i++) {
            along[route.path.links[i] / 2 % 3] += route.path.bytes_per_unit[i];
            found.hops += route.path.bytes_per_unit[i] / devices;
        }
    }
    for (uint32_t d = 0; d < 3; d++) {
        found.busiest = fmax(found.busiest, along[d] / 2);
    }
    network_free(n);
    return found;
}

static void a_twist_shortens_the_ways_and_evens_the_load(void **state)
{
    (void)state;
    static const struct {
        uint32_t size[3], twist[3][3];
        double hops, twisted_hops, gain; /* hops 0: not among the oracles */
    } rows[] = {
        {{4, 4, 8}, {{0, 0, 4}, {0, 0, 4}, {0, 0, 0}}, 4.0, 3.4375, 1.745},
        {{4, 8, 8}, {{0, 4, 4}, {0, 0, 0}, {0, 0, 0}}, 5.0, 4.3125, 1.391},
        {{8, 8, 16}, {{0, 0, 8}, {0, 0, 8}, {0, 0, 0}}, 0, 0, 1.722},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_fabric f = torus_fabric(rows[i].size[0], rows[i].size[1], rows[i].size[2]);
        torus_load regular = measure_torus(f);
        memcpy(f.torus.twist, rows[i].twist, sizeof f.torus.twist);
        torus_load twisted = measure_torus(f);
        if (rows[i].hops > 0) {
            expect_near("hops", regular.hops, rows[i].hops, 1e-12);
            expect_near("hops", twisted.hops, rows[i].twisted_hops, 1e-12);
        }
        assert_true(fabs(regular.busiest / twisted.busiest - rows[i].gain) <= 0.5e-3);
    }
}

/* --- section 6: E8 --- */

/* Rows 0 10 1 / 1 0 10 / 10 1 0, circuits of rate 1, a packet net of 0.1: permutations one after
 * the other 11 + 2 d; one setting and the rest on packets max(10 + d, 10); a ring that forwards 12
 * + d.
 */
static void forwarding_beats_permutations_and_the_hybrid_beats_both(void **state)
{
    (void)state;
    static const double rows[][4] = {
        {0, 11, 10, 12}, {1, 13, 11, 13}, {2, 15, 12, 14}, {5, 21, 15, 17}};
    static const weir_circuit_switch sw = {.ports = 6, .planes = 1, .node_ports = 1};
    static const uint32_t order[3] = {0, 1, 2};
    double cells[9] = {0, 10, 1, 1, 0, 10, 10, 1, 0};
    const weir_demand demand = {3, cells};
    weir_circuit_design ring = {.n = 3};
    weir_circuit_load load;
    assert_int_equal(weir_circuit_from_ring(&sw, order, 3, &ring, NULL), WEIR_OK);
    assert_int_equal(weir_circuit_carry(&ring, &demand, true, &load, NULL), WEIR_OK);
    for (size_t i = 0; i < 4; i++) {
        double delay = rows[i][0], forwarded = load.max_circuit_bytes + delay;
        weir_decompose_terms terms = {.bytes_per_s = 1, .switch_s = delay};
        weir_configurations pure, hybrid;
        assert_int_equal(weir_decompose(&demand, WEIR_DECOMPOSE_BIRKHOFF, &terms, &pure, NULL),
                         WEIR_OK);
        terms.packet_bytes_per_s = 0.1;
        assert_int_equal(weir_decompose(&demand, WEIR_DECOMPOSE_SOLSTICE, &terms, &hybrid, NULL),
                         WEIR_OK);
        expect_near("permutations", pure.times.total_s, rows[i][1], 1e-12);
        expect_near("hybrid", hybrid.times.total_s, rows[i][2], 1e-12);
        expect_near("forwarding", forwarded, rows[i][3], 1e-12);
        assert_true((pure.times.total_s > forwarded) == (delay > 1));
        assert_true(hybrid.times.total_s < pure.times.total_s);
        weir_configurations_clear(&pure);
        weir_configurations_clear(&hybrid);
    }
    weir_circuit_design_clear(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_all_to_all_in_shifts_is_as_fast_as_all_at_once),
        cmocka_unit_test(a_ring_all_reduce_in_barriers_takes_the_closed_form),
        cmocka_unit_test(adding_a_flow_never_raises_the_least_rate),
        cmocka_unit_test(the_order_of_flows_changes_nothing),
        cmocka_unit_test(bodies_with_several_bottlenecks_end_as_a_coupled_solve_says),
        cmocka_unit_test(half_a_torus_sees_the_other_over_twice_its_cross_section),
        cmocka_unit_test(a_twist_shortens_the_ways_and_evens_the_load),
        cmocka_unit_test(forwarding_beats_permutations_and_the_hybrid_beats_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
