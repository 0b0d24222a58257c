/* Folding: how far regular traffic folds (measured classes of reference/network-model.md), folded
 * against unfolded on random nets with copies, after failures, and what does not fold. */
#include "fabric/fold.h"

#include "fluid_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Bodies and their routes, of one size. */
typedef struct {
    weir_body *bodies;
    weir_link_id *links;
    double *factors;
    uint32_t count, room, link_count;
} traffic;

static void open_traffic(traffic *t, uint32_t room, uint32_t hops)
{
    *t = (traffic){.room = room};
    t->bodies = calloc(room, sizeof *t->bodies);
    t->links = malloc((size_t)room * hops * sizeof *t->links);
    t->factors = malloc((size_t)room * hops * sizeof *t->factors);
    assert_true(t->bodies && t->links && t->factors);
}

static void close_traffic(traffic *t)
{
    free(t->bodies);
    free(t->links);
    free(t->factors);
}

static void add_route(traffic *t, const tree *shape, uint32_t from, uint32_t to)
{
    weir_body *body = &t->bodies[t->count++];
    body->path.links = t->links + t->link_count;
    body->path.count = tree_d_mod_k(shape, from, to, t->links + t->link_count);
    body->size = 1e8;
    t->link_count += body->path.count;
}

static weir_fold_work fold_and_run(const weir_net *net, const traffic *t,
                                   const weir_link_changes *changes, weir_fold_end *ends)
{
    weir_err err = {0};
    weir_fold_work work;
    const weir_traffic all = {.bodies = t->bodies, .count = t->count};
    if (weir_fold_run(net, &all, changes, ends, &work, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return work;
}

static double last_end_s(const weir_fold_end *ends, uint32_t count)
{
    double last_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        last_s = fmax(last_s, ends[i].end_s);
    }
    return last_s;
}

static void a_million_flows_fold_to_three_classes(void **state)
{
    (void)state;
    tree shape = {8, 8, 16, 8, 8, NULL};
    traffic t;
    tree_build(&shape, 50e9);
    open_traffic(&t, 1024 * 1023, 6);
    for (uint32_t i = 0; i < 1024; i++) {
        for (uint32_t k = 1; k < 1024; k++) {
            add_route(&t, &shape, i, (i + k) % 1024);
        }
    }
    weir_fold *fold;
    const weir_traffic all = {.bodies = t.bodies, .count = t.count};
    assert_int_equal(weir_fold_new(shape.net, &all, &fold, NULL), WEIR_OK);
    assert_non_null(fold);
    assert_int_equal(weir_fold_body_classes(fold), 3);
    assert_int_equal(weir_fold_link_classes(fold), 3);
    uint32_t members = 0;
    for (uint32_t c = 0; c < 3; c++) {
        members += weir_fold_multiplicity(fold, c);
    }
    assert_int_equal(members, t.count);
    weir_fold_free(fold);
    weir_fold_end *ends = malloc(t.count * sizeof *ends);
    fold_and_run(shape.net, &t, NULL, ends);
    assert_true(fabs(last_end_s(ends, t.count) - 2.046) < 1e-9); /* (N-1) S/B */
    free(ends);
    close_traffic(&t);
    weir_net_free(shape.net);
}

static void a_permutation_on_fixed_routes_folds_in_part(void **state)
{
    (void)state;
    tree shape = {8, 8, 16, 8, 8, NULL};
    traffic t;
    uint64_t seed = 1;
    uint32_t *order = make_permutation(1024, &seed);
    tree_build(&shape, 50e9);
    open_traffic(&t, 1024, 6);
    for (uint32_t i = 0; i < 1024; i++) {
        add_route(&t, &shape, order[i], order[(i + 1) % 1024]);
    }
    weir_fold_end ends[1024];
    weir_fold_work work = fold_and_run(shape.net, &t, NULL, ends);
    assert_true(work.body_classes > 0 && work.body_classes < 512);
    assert_int_equal(work.folds, 1);
    assert_true(fabs(last_end_s(ends, 1024) - 0.010) < 1e-9);
    free(order);
    close_traffic(&t);
    weir_net_free(shape.net);
}

/* --- folded = unfolded --- */

static void run_unfolded(const weir_net *net, const traffic *t, const weir_link_changes *changes,
                         weir_fold_end *ends)
{
    weir_bodies *bodies;
    assert_int_equal(weir_bodies_new(net, &bodies, NULL), WEIR_OK);
    for (uint32_t i = 0; changes && i < changes->count; i++) {
        const weir_link_change *c = &changes->items[i];
        assert_int_equal(weir_bodies_set_capacity(bodies, c->link, c->at_s, c->bytes_per_s, NULL),
                         WEIR_OK);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        weir_body body = t->bodies[i];
        weir_body_id id;
        body.tag = i;
        assert_int_equal(weir_bodies_add(bodies, &body, &id, NULL), WEIR_OK);
    }
    assert_int_equal(weir_bodies_run(bodies, NULL), WEIR_OK);
    for (weir_body_end end; weir_bodies_take(bodies, &end);) {
        ends[end.tag] = (weir_fold_end){end.end_s, end.end_ns, end.stalled_by};
    }
    weir_bodies_free(bodies);
}

enum { COPIES = 6, OWN = 8, SHARED = 3, PLAYERS = 12 };

/* Six copies of one random net, which share a few links, carry the same random traffic. */
static weir_net *copied_net(uint64_t *seed)
{
    weir_net *net = weir_net_new();
    double capacities[OWN];
    weir_link_id link;
    for (uint32_t l = 0; l < OWN; l++) {
        capacities[l] = 1 + pick(seed, 4);
    }
    for (uint32_t l = 0; l < COPIES * OWN + SHARED; l++) {
        double capacity = l < COPIES * OWN ? capacities[l % OWN] : 4 + pick(seed, 10);
        assert_int_equal(weir_net_add(net, capacity, 0, &link, NULL), WEIR_OK);
    }
    weir_net_seal(net);
    return net;
}

static void copied_traffic(traffic *t, uint64_t *seed)
{
    open_traffic(t, COPIES * PLAYERS, 4);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        uint32_t hops = 1 + pick(seed, 3), route[3];
        bool is_sprayed = pick(seed, 3) == 0;
        bool is_shared = pick(seed, 2);
        weir_body body = {.size = 1 + pick(seed, 5),
                          .start_s = pick(seed, 3),
                          .latency_s = 0.25 * pick(seed, 3),
                          .path.weight = 1 + pick(seed, 2),
                          .path.cap = pick(seed, 5) ? 0 : 0.7};
        uint32_t core = COPIES * OWN + pick(seed, SHARED);
        for (uint32_t j = 0; j < 3; j++) {
            route[j] = pick(seed, OWN);
        }
        for (uint32_t copy = 0; copy < COPIES; copy++) {
            weir_body *b = &t->bodies[t->count++];
            *b = body;
            b->path.links = t->links + t->link_count;
            b->path.bytes_per_unit = is_sprayed ? t->factors + t->link_count : NULL;
            for (uint32_t j = 0; j < hops; j++) {
                t->factors[t->link_count] = 1. / (2 + j);
                t->links[t->link_count++] = copy * OWN + route[j];
            }
            if (is_shared) {
                t->factors[t->link_count] = 1;
                t->links[t->link_count++] = core;
            }
            b->path.count = hops + is_shared;
        }
    }
}

static void compare(const traffic *t, uint64_t seed, const weir_fold_end *folded,
                    const weir_fold_end *plain)
{
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t off = folded[i].end_ns - plain[i].end_ns;
        if (off < -1 || off > 1 || folded[i].stalled_by != plain[i].stalled_by) {
            fail_msg("seed %u, body %u: folded %.12g s by %u, unfolded %.12g s by %u",
                     (unsigned)seed, i, folded[i].end_s, folded[i].stalled_by, plain[i].end_s,
                     plain[i].stalled_by);
        }
    }
}

static void folded_equals_unfolded_to_the_nanosecond(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t s = seed * 4099;
        weir_fold_end folded[COPIES * PLAYERS], plain[COPIES * PLAYERS];
        weir_net *net = copied_net(&s);
        traffic t;
        copied_traffic(&t, &s);
        weir_fold_work work = fold_and_run(net, &t, NULL, folded);
        assert_int_equal(work.folds, 1);
        assert_true(work.body_classes <= PLAYERS);
        run_unfolded(net, &t, NULL, plain);
        compare(&t, seed, folded, plain);
        close_traffic(&t);
        weir_net_free(net);
    }
}

/* A failure breaks the symmetry round itself; repairs and partial losses come as well. */
static void folds_anew_after_failures(void **state)
{
    (void)state;
    uint32_t folds = 0, stalls = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t s = seed * 65537;
        weir_fold_end folded[COPIES * PLAYERS], plain[COPIES * PLAYERS];
        weir_net *net = copied_net(&s);
        traffic t;
        copied_traffic(&t, &s);
        weir_link_change items[4];
        weir_link_changes changes = {items, 1 + pick(&s, 4)};
        for (uint32_t i = 0; i < changes.count; i++) {
            items[i] = (weir_link_change){pick(&s, COPIES * OWN + SHARED), 0.5 * pick(&s, 8),
                                          pick(&s, 2) ? 0 : 0.5 * (1 + pick(&s, 4))};
        }
        folds += fold_and_run(net, &t, &changes, folded).folds;
        run_unfolded(net, &t, &changes, plain);
        compare(&t, seed, folded, plain);
        for (uint32_t i = 0; i < t.count; i++) {
            stalls += plain[i].stalled_by != WEIR_NONE;
        }
        close_traffic(&t);
        weir_net_free(net);
    }
    assert_true(folds > 300 && stalls > 300);
}

static void what_does_not_fold_is_played_body_by_body(void **state)
{
    (void)state;
    weir_net *net = weir_net_new();
    for (uint32_t l = 0; l < 20; l++) {
        weir_link_id link;
        assert_int_equal(weir_net_add(net, 1 + l, 0, &link, NULL), WEIR_OK);
    }
    weir_net_seal(net);
    traffic t;
    uint64_t s = 9;
    open_traffic(&t, 40, 1);
    for (uint32_t i = 0; i < 40; i++) {
        t.links[i] = pick(&s, 20);
        t.bodies[t.count++] =
            (weir_body){.path = {.count = 1, .links = &t.links[i]}, .size = draw(&s)};
    }
    weir_fold_end folded[40], plain[40];
    weir_fold_work work = fold_and_run(net, &t, NULL, folded);
    assert_int_equal(work.folds, 0);
    assert_int_equal(work.unfolded, 1);
    assert_int_equal(work.body_classes, 0);
    run_unfolded(net, &t, NULL, plain);
    compare(&t, 9, folded, plain);
    close_traffic(&t);
    weir_net_free(net);
}

/* Eight equal transfers on links of their own: one class; with every other link coloured, two. */
static void links_of_different_colours_do_not_fold(void **state)
{
    (void)state;
    enum { COUNT = 8 };
    weir_net *net = weir_net_new();
    weir_link_id links[COUNT];
    weir_body bodies[COUNT];
    uint64_t colours[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(weir_net_add(net, 1, 0, &links[i], NULL), WEIR_OK);
        bodies[i] = (weir_body){.path = {.count = 1, .links = &links[i]}, .size = 1};
        colours[i] = i % 2 ? 7 : 0;
    }
    weir_net_seal(net);
    for (uint32_t classes = 1; classes <= 2; classes++) {
        const weir_traffic coloured = {
            .bodies = bodies, .count = COUNT, .link_colours = classes == 2 ? colours : NULL};
        weir_fold *fold = NULL;
        assert_int_equal(weir_fold_new(net, &coloured, &fold, NULL), WEIR_OK);
        assert_non_null(fold);
        assert_int_equal(weir_fold_body_classes(fold), classes);
        assert_int_equal(weir_fold_link_classes(fold), classes);
        assert_int_equal(weir_fold_class_of_link(fold)[2], weir_fold_class_of_link(fold)[0]);
        weir_fold_free(fold);
    }
    weir_net_free(net);
}

static void refuses_changes_that_cannot_be(void **state)
{
    (void)state;
    weir_net *net = weir_net_new();
    weir_link_id link;
    assert_int_equal(weir_net_add(net, 1, 0, &link, NULL), WEIR_OK);
    weir_net_seal(net);
    const weir_body body = {.path = {.count = 1, .links = &link}, .size = 1};
    const weir_traffic one = {.bodies = &body, .count = 1};
    static const weir_link_change bad[] = {{1, 0, 1}, {0, -1, 1}, {0, INFINITY, 1}, {0, 0, -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_fold_end end;
        assert_int_equal(
            weir_fold_run(net, &one, &(weir_link_changes){&bad[i], 1}, &end, NULL, NULL),
            WEIR_ERR_INPUT);
    }
    static const weir_link_id nowhere = 3;
    const weir_body lost = {.path = {.count = 1, .links = &nowhere}, .size = 1};
    weir_fold *fold = NULL;
    weir_err err = {0};
    const weir_traffic none = {.bodies = &lost, .count = 1};
    assert_int_equal(weir_fold_new(net, &none, &fold, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "transfer 0 crosses link 3; the net has 1");
    assert_null(fold);
    const weir_traffic beside = {.bodies = &body, .count = 1, .also = &nowhere};
    assert_int_equal(weir_fold_new(net, &beside, &fold, &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "transfer 0 crosses link 3; the net has 1");
    weir_net_free(net);
}

/* --- twins --- */

enum { TWINS = 5 };

/* The net with each link five times, in a row. */
static weir_net *twin_net(const weir_net *net)
{
    weir_net *made = weir_net_new();
    for (uint32_t l = 0; l < TWINS * weir_net_count(net); l++) {
        weir_link_id link;
        double capacity = weir_net_bytes_per_s(net, l / TWINS);
        assert_int_equal(weir_net_add(made, capacity, 0, &link, NULL), WEIR_OK);
    }
    weir_net_seal(made);
    return made;
}

/* Every body crosses all five of each link alike, in turns; the last link of every other path that
 * is not sprayed is told beside it. */
static void twin_traffic(const traffic *t, traffic *twins, weir_link_id *also)
{
    open_traffic(twins, t->count, 4 * TWINS);
    for (uint32_t i = 0; i < t->count; i++) {
        const weir_path *path = &t->bodies[i].path;
        weir_body *b = &twins->bodies[twins->count++];
        *b = t->bodies[i];
        b->path.links = twins->links + twins->link_count;
        b->path.bytes_per_unit = path->bytes_per_unit ? twins->factors + twins->link_count : NULL;
        b->path.count = path->count * TWINS;
        for (uint32_t j = 0; j < b->path.count; j++) {
            twins->factors[twins->link_count] =
                path->bytes_per_unit ? path->bytes_per_unit[j % path->count] : 1;
            twins->links[twins->link_count++] =
                path->links[j % path->count] * TWINS + (j / path->count + i) % TWINS;
        }
        also[i] = WEIR_NONE;
        if (i % 2 && !path->bytes_per_unit) {
            also[i] = b->path.links[--b->path.count];
        }
    }
}

static void compare_folds(const weir_fold *one, const weir_fold *twins, const traffic *t,
                          uint64_t seed)
{
    uint32_t links = weir_net_count(weir_fold_net(one));
    assert_int_equal(weir_net_count(weir_fold_net(twins)), links);
    assert_int_equal(weir_fold_body_classes(one), weir_fold_body_classes(twins));
    assert_memory_equal(weir_fold_class_of_body(one), weir_fold_class_of_body(twins),
                        t->count * sizeof(uint32_t));
    for (uint32_t l = 0; l < TWINS * (COPIES * OWN + SHARED); l++) {
        if (weir_fold_class_of_link(one)[l / TWINS] != weir_fold_class_of_link(twins)[l]) {
            fail_msg("seed %u, link %u: class %u, alone %u", (unsigned)seed, l,
                     weir_fold_class_of_link(twins)[l], weir_fold_class_of_link(one)[l / TWINS]);
        }
    }
    for (uint32_t c = 0; c < weir_fold_body_classes(one); c++) {
        const weir_path a = weir_fold_body(one, c).path, b = weir_fold_body(twins, c).path;
        double of_one = 0, of_twins = 0; /* the same loads on the same classes, in any order */
        assert_int_equal(a.count, b.count);
        for (uint32_t j = 0; j < a.count; j++) {
            of_one += (1 + a.links[j]) * a.bytes_per_unit[j];
            of_twins += (1 + b.links[j]) * b.bytes_per_unit[j];
        }
        assert_true(fabs(of_one - of_twins) <= 1e-12 * of_one);
    }
}

static void links_that_no_body_tells_apart_fold_as_one_of_them_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t s = seed * 7919;
        weir_net *net = copied_net(&s), *wide = twin_net(net);
        weir_link_id also[COPIES * PLAYERS];
        traffic t, twins;
        copied_traffic(&t, &s);
        twin_traffic(&t, &twins, also);
        const weir_traffic alone = {.bodies = t.bodies, .count = t.count};
        const weir_traffic all = {.bodies = twins.bodies, .count = t.count, .also = also};
        weir_fold *fold = NULL, *wide_fold = NULL;
        assert_int_equal(weir_fold_new(net, &alone, &fold, NULL), WEIR_OK);
        assert_int_equal(weir_fold_new(wide, &all, &wide_fold, NULL), WEIR_OK);
        assert_true(fold && wide_fold);
        compare_folds(fold, wide_fold, &t, seed);
        weir_fold_free(fold);
        weir_fold_free(wide_fold);
        close_traffic(&t);
        close_traffic(&twins);
        weir_net_free(net);
        weir_net_free(wide);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_flows_fold_to_three_classes),
        cmocka_unit_test(a_permutation_on_fixed_routes_folds_in_part),
        cmocka_unit_test(folded_equals_unfolded_to_the_nanosecond),
        cmocka_unit_test(folds_anew_after_failures),
        cmocka_unit_test(what_does_not_fold_is_played_body_by_body),
        cmocka_unit_test(links_of_different_colours_do_not_fold),
        cmocka_unit_test(refuses_changes_that_cannot_be),
        cmocka_unit_test(links_that_no_body_tells_apart_fold_as_one_of_them_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
