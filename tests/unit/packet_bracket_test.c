/* Fluid against packets: makespans that a packet simulator needed (htsim_uec, 400 Gb/s, MTU 4 KiB,
 * links of 500 ns; reference/network-oracles.md, section 1) lie between the fluid figure and
 * 1.4 times that + 15 us. Hashed single paths are compared as distributions only: the hashes
 * differ. */
#include "route_fixture.h"

static const tree tree_128 = {4, 4, 8, 4, 4, 0}, tree_1024 = {8, 8, 16, 8, 8, 0};

static void expect_bracket(const char *what, double fluid_s, double packet_s)
{
    if (!(fluid_s <= packet_s && packet_s <= 1.4 * fluid_s + 15e-6)) {
        fail_msg("%s: fluid %.1f us, packets %.1f us, most %.1f us", what, 1e6 * fluid_s,
                 1e6 * packet_s, 1e6 * (1.4 * fluid_s + 15e-6));
    }
}

typedef struct {
    network net;
    weir_bodies *bodies;
    uint64_t flow;
} play;

static play play_new(const tree *x, weir_routing routing)
{
    play p = {.net = network_new(tree_fabric(x), routing)};
    weir_err err = {0};
    expect_ok(weir_bodies_new(weir_topology_net(p.net.t), &p.bodies, &err), &err);
    return p;
}

static void play_send(play *p, uint32_t from, uint32_t to, double bytes)
{
    weir_err err = {0};
    weir_body body = {.path = find(p->net, from, to, p->flow++).path, .size = bytes};
    weir_body_id id;
    expect_ok(weir_bodies_add(p->bodies, &body, &id, &err), &err);
}

static double play_end_s(play *p)
{
    weir_err err = {0};
    expect_ok(weir_bodies_run(p->bodies, &err), &err);
    double end_s = weir_bodies_now_s(p->bodies);
    weir_bodies_free(p->bodies);
    network_free(p->net);
    return end_s;
}

static double permutation_s(const tree *x, weir_routing routing, uint64_t seed, double bytes)
{
    play p = play_new(x, routing);
    uint32_t hosts = tree_hosts(x), *order = make_permutation(hosts, &seed);
    for (uint32_t i = 0; i < hosts; i++)
        play_send(&p, order[i], order[(i + 1) % hosts], bytes);
    free(order);
    return play_end_s(&p);
}

static double ring_s(const tree *x, double bytes)
{
    play p = play_new(x, (weir_routing){0});
    uint32_t hosts = tree_hosts(x);
    for (uint32_t i = 0; i < hosts; i++)
        play_send(&p, i, (i + 1) % hosts, bytes);
    return play_end_s(&p);
}

static double all_to_all_s(const tree *x, double bytes)
{
    play p = play_new(x, (weir_routing){0});
    uint32_t hosts = tree_hosts(x);
    for (uint32_t from = 0; from < hosts; from++)
        for (uint32_t by = 1; by < hosts; by++)
            play_send(&p, from, (from + by) % hosts, bytes);
    return play_end_s(&p);
}

static void sprayed_and_ring_rows_lie_in_the_bracket(void **state)
{
    (void)state;
    const weir_routing spray = {0};
    expect_bracket("ring, 128 x 2 MB", ring_s(&tree_128, 2e6), 47.2e-6);
    expect_bracket("permutation, 128 x 2 MB", permutation_s(&tree_128, spray, 1, 2e6), 54.6e-6);
    expect_bracket("permutation, 1024 x 2 MB", permutation_s(&tree_1024, spray, 1, 2e6), 54.5e-6);
    expect_bracket("all-to-all, 128 x 100 KB", all_to_all_s(&tree_128, 1e5), 270.9e-6);
    expect_bracket("permutation, 128 x 100 MB", permutation_s(&tree_128, spray, 1, 1e8), 2428.9e-6);
}

/* Where packets fall among 50 draws of ours: not below the luckiest, not above the bracket of the
 * unluckiest. */
static void expect_among_draws(const char *what, const tree *x, double packet_s)
{
    double least_s = INFINITY, most_s = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const weir_routing ecmp = {.choice = WEIR_ROUTE_ECMP, .seed = seed};
        double s = permutation_s(x, ecmp, seed, 2e6);
        least_s = fmin(least_s, s);
        most_s = fmax(most_s, s);
    }
    if (!(least_s <= packet_s && packet_s <= 1.4 * most_s + 15e-6)) {
        fail_msg("%s: packets %.1f us, ours %.1f .. %.1f us", what, 1e6 * packet_s, 1e6 * least_s,
                 1e6 * most_s);
    }
}

static void hashed_rows_lie_among_the_draws(void **state)
{
    (void)state;
    expect_among_draws("hashed permutation, 128", &tree_128, 206.0e-6);
    expect_among_draws("hashed permutation, 1024", &tree_1024, 259.4e-6);
}

/* ns-3.37, 100 Gb/s leaf-spine, packets sprayed, UDP paced at 95 %: 2 MB in 172.6 us (16 hosts) and
 * 177.0 us (64 hosts); 168.4 us is what 95 % of the rate takes. */
static void paced_datagrams_lie_in_the_bracket(void **state)
{
    (void)state;
    const struct {
        tree x;
        double packet_s;
    } rows[] = {{{4, 4, 1, 4, 1, 0}, 172.6e-6}, {{8, 8, 1, 8, 1, 0}, 177.0e-6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* the trees' links carry 50 GB/s; time scales with the rate */
        double fluid_s = permutation_s(&rows[i].x, (weir_routing){0}, 1, 2e6) * 50e9 / 12.5e9;
        expect_bracket("ns-3", fluid_s, rows[i].packet_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sprayed_and_ring_rows_lie_in_the_bracket),
        cmocka_unit_test(hashed_rows_lie_among_the_draws),
        cmocka_unit_test(paced_datagrams_lie_in_the_bracket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
