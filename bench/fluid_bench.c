/* fluid_bench.c: what the fluid engine costs, in CPU seconds of this process.
 *
 * Built and run by bench/fluid. One line a case; making the bodies is included. Arguments: CPU
 * seconds of SimGrid for the all-to-all of 256 hosts and for the permutation with random sizes, 0
 * where it was not run: then the figure of issue 3 stands there, marked with a star. */
#include "../tests/unit/fluid_fixture.h"

#include "fabric/fold.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void must(weir_code code, const weir_err *err)
{
    if (code != WEIR_OK) {
        fprintf(stderr, "fluid_bench: %s\n", err->text);
        exit(3);
    }
}

typedef struct {
    const char *name;
    double peer_s;    /* CPU seconds of the peer; 0: not known */
    bool is_measured; /* in this run; else as issue 3 gives it */
    double target_s;
} goal;

static void report(const goal *g, uint64_t flows, double makespan_s, double took_s,
                   const weir_fluid_work *work)
{
    printf("%-52s %9llu %11.6f %9.4f", g->name, (unsigned long long)flows, makespan_s, took_s);
    if (g->peer_s > 0) {
        printf(" %9.2f%c %8.0fx", g->peer_s, g->is_measured ? ' ' : '*', g->peer_s / took_s);
    } else {
        printf(" %9s  %9s", "", "");
    }
    if (g->target_s > 0) {
        printf("  %s %.2f s", took_s <= g->target_s ? "within" : "OVER", g->target_s);
    }
    if (work) {
        printf("  (%llu full, %llu partial solves)", (unsigned long long)work->full_solves,
               (unsigned long long)work->part_solves);
    }
    printf("\n");
    fflush(stdout);
}

static double last_end_s(weir_bodies *bodies)
{
    double last_s = 0;
    for (weir_body_end end; weir_bodies_take(bodies, &end);) {
        last_s = end.end_s > last_s ? end.end_s : last_s;
    }
    return last_s;
}

typedef enum { ALL_TO_ALL, RANDOM_SIZES, HASHED } pattern;

static void add_flow(weir_bodies *bodies, const tree *t, const uint32_t pair[2], double size,
                     uint64_t hash_id, bool is_hashed)
{
    weir_err err = {0};
    weir_link_id links[6];
    weir_body_id id;
    weir_body body = {.path.links = links, .size = size};
    body.path.count = is_hashed ? tree_ecmp(t, pair, hash_id, 1, links)
                                : tree_d_mod_k(t, pair[0], pair[1], links);
    must(weir_bodies_add(bodies, &body, &id, &err), &err);
}

static double play(tree shape, pattern kind, const goal *g)
{
    weir_err err = {0};
    weir_bodies *bodies;
    tree t = shape;
    tree_build(&t, 50e9);
    uint32_t hosts = tree_hosts(&t);
    uint64_t s = 1, flows = 0;
    uint32_t *order = kind == ALL_TO_ALL ? NULL : make_permutation(hosts, &s);
    double begin_s = cpu_s();
    must(weir_bodies_new(t.net, &bodies, &err), &err);
    for (uint32_t i = 0; i < hosts; i++) {
        for (uint32_t k = 1; k < (kind == ALL_TO_ALL ? hosts : 2); k++, flows++) {
            const uint32_t pair[2] = {order ? order[i] : i,
                                      order ? order[(i + 1) % hosts] : (i + k) % hosts};
            double size = kind == RANDOM_SIZES ? floor(1e8 * (0.5 + draw(&s))) : 1e8;
            add_flow(bodies, &t, pair, size, i, kind == HASHED);
        }
    }
    must(weir_bodies_run(bodies, &err), &err);
    double makespan_s = last_end_s(bodies), took_s = cpu_s() - begin_s;
    weir_fluid_work work = weir_fluid_work_done(weir_bodies_fluid(bodies));
    report(g, flows, makespan_s, took_s, &work);
    weir_bodies_free(bodies);
    weir_net_free(t.net);
    free(order);
    return took_s;
}

/* Ring all-reduce of 100 MB: one body over all its links, or 2(N-1) steps of N messages each. */
static void play_ring(tree shape, bool is_one, const goal *g)
{
    weir_err err = {0};
    weir_bodies *bodies;
    tree t = shape;
    tree_build(&t, 50e9);
    uint32_t hosts = tree_hosts(&t), steps = 2 * (hosts - 1), count = 0;
    double begin_s = cpu_s(), makespan_s = 0;
    weir_link_id *links = malloc(6 * (size_t)hosts * sizeof *links);
    uint32_t *lengths = malloc(hosts * sizeof *lengths);
    must(weir_bodies_new(t.net, &bodies, &err), &err);
    if (is_one) {
        for (uint32_t i = 0; i < hosts; i++) {
            count += tree_d_mod_k(&t, i, (i + 1) % hosts, links + count);
        }
        weir_body_id id;
        weir_body body = {.path = {.count = count, .links = links}, .size = steps * 1e8 / hosts};
        must(weir_bodies_add(bodies, &body, &id, &err), &err);
        must(weir_bodies_run(bodies, &err), &err);
        makespan_s = last_end_s(bodies);
    }
    for (uint32_t i = 0; i < hosts && !is_one; i++) { /* routes are found once */
        lengths[i] = tree_d_mod_k(&t, i, (i + 1) % hosts, links + 6 * (size_t)i);
    }
    for (uint32_t step = 0; !is_one && step < steps; step++) {
        for (uint32_t i = 0; i < hosts; i++) {
            weir_body_id id;
            weir_body body = {.path = {.count = lengths[i], .links = links + 6 * (size_t)i},
                              .size = 1e8 / hosts};
            must(weir_bodies_add(bodies, &body, &id, &err), &err);
        }
        must(weir_bodies_run(bodies, &err), &err);
        makespan_s = last_end_s(bodies);
    }
    weir_fluid_work work = weir_fluid_work_done(weir_bodies_fluid(bodies));
    report(g, is_one ? 1 : (uint64_t)hosts * steps, makespan_s, cpu_s() - begin_s, &work);
    free(links);
    free(lengths);
    weir_bodies_free(bodies);
    weir_net_free(t.net);
}

/* Routes, folding, playing and handing out every end; the net lies there. */
static void play_folded(tree shape, uint32_t first_shift, uint32_t last_shift, const goal *g)
{
    weir_err err = {0};
    tree t = shape;
    tree_build(&t, 50e9);
    uint32_t hosts = tree_hosts(&t), count = hosts * (last_shift - first_shift + 1), at = 0;
    double begin_s = cpu_s(), makespan_s = 0;
    weir_body *bodies = calloc(count, sizeof *bodies);
    weir_link_id *links = malloc(6 * (size_t)count * sizeof *links), *route = links;
    weir_fold_end *ends = malloc(count * sizeof *ends);
    for (uint32_t i = 0; i < hosts; i++) {
        for (uint32_t k = first_shift; k <= last_shift; k++) {
            uint32_t hops = tree_d_mod_k(&t, i, (i + k) % hosts, route);
            bodies[at++] = (weir_body){.path = {.count = hops, .links = route}, .size = 1e8};
            route += hops;
        }
    }
    weir_fold_work work;
    const weir_traffic traffic = {.bodies = bodies, .count = count};
    must(weir_fold_run(t.net, &traffic, NULL, ends, &work, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        makespan_s = ends[i].end_s > makespan_s ? ends[i].end_s : makespan_s;
    }
    report(g, count, makespan_s, cpu_s() - begin_s, NULL);
    printf("      %u classes of bodies, %u of links\n", work.body_classes, work.link_classes);
    free(bodies);
    free(links);
    free(ends);
    weir_net_free(t.net);
}

/* The XGFT's leaf, pod and core links in equal shares: ideal spraying, as htsim_uec was run. */
static void play_sprayed(tree shape, double bytes, const goal *g)
{
    weir_err err = {0};
    weir_bodies *bodies;
    tree t = shape;
    tree_build(&t, 50e9);
    uint32_t hosts = tree_hosts(&t), ways = t.w2 * t.w3;
    uint64_t s = 1;
    uint32_t *order = make_permutation(hosts, &s);
    weir_link_id *links = malloc(6 * (size_t)ways * sizeof *links);
    double *shares = malloc(6 * (size_t)ways * sizeof *shares);
    double begin_s = cpu_s();
    must(weir_bodies_new(t.net, &bodies, &err), &err);
    for (uint32_t i = 0; i < hosts; i++) {
        uint32_t count = 0;
        for (uint32_t way = 0; way < ways; way++) {
            const uint32_t ac[2] = {way / t.w3, way % t.w3};
            uint32_t hops = tree_route(&t, order[i], order[(i + 1) % hosts], ac, links + count);
            for (uint32_t hop = 0; hop < hops; hop++)
                shares[count + hop] = 1.0 / ways;
            count += hops;
        }
        weir_body_id id;
        weir_body body = {.path = {.count = count, .links = links, .bytes_per_unit = shares},
                          .size = bytes};
        must(weir_bodies_add(bodies, &body, &id, &err), &err);
    }
    must(weir_bodies_run(bodies, &err), &err);
    double makespan_s = last_end_s(bodies);
    report(g, hosts, makespan_s, cpu_s() - begin_s, NULL);
    weir_bodies_free(bodies);
    weir_net_free(t.net);
    free(order);
    free(links);
    free(shares);
}

static void show_growth(void)
{
    static const struct {
        tree shape;
        const char *name;
        pattern kind;
    } cases[] = {
        {{4, 4, 8, 4, 4, NULL}, "  all-to-all, 128 hosts", ALL_TO_ALL},
        {{8, 8, 4, 8, 8, NULL}, "  all-to-all, 256 hosts", ALL_TO_ALL},
        {{8, 8, 8, 8, 8, NULL}, "  all-to-all, 512 hosts", ALL_TO_ALL},
        {{8, 8, 16, 8, 8, NULL}, "  all-to-all, 1024 hosts", ALL_TO_ALL},
        {{16, 16, 4, 16, 16, NULL}, "  random sizes, 1024 hosts", RANDOM_SIZES},
        {{16, 16, 16, 16, 16, NULL}, "  random sizes, 4096 hosts", RANDOM_SIZES},
        {{32, 32, 16, 32, 32, NULL}, "  random sizes, 16384 hosts", RANDOM_SIZES},
        {{32, 32, 64, 32, 32, NULL}, "  random sizes, 65536 hosts", RANDOM_SIZES},
    };
    printf("\nhow the cost grows (microseconds a flow, divided by log2 of the flows):\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const goal g = {.name = cases[i].name};
        double hosts = tree_hosts(&cases[i].shape);
        double flows = cases[i].kind == ALL_TO_ALL ? hosts * (hosts - 1) : hosts;
        double took_s = play(cases[i].shape, cases[i].kind, &g);
        printf("      %.4f\n", 1e6 * took_s / flows / log2(flows));
    }
}

static double figure(const char *text)
{
    double value = 0;
    return text && sscanf(text, "%lf", &value) == 1 ? value : 0;
}

int main(int argc, char **argv)
{
    double all_s = argc > 1 ? figure(argv[1]) : 0, random_s = argc > 2 ? figure(argv[2]) : 0;
    printf("%-52s %9s %11s %9s %10s %9s\n", "case", "flows", "makespan s", "CPU s", "peer CPU s",
           "ratio");
    play((tree){8, 8, 4, 8, 8, NULL}, ALL_TO_ALL,
         &(goal){"all-to-all, 256 hosts (SimGrid)", all_s > 0 ? all_s : 61.5, all_s > 0, 0});
    play((tree){8, 8, 16, 8, 8, NULL}, ALL_TO_ALL,
         &(goal){"all-to-all, 1024 hosts, unfolded", 0, false, 0.3});
    play_ring((tree){8, 8, 16, 8, 8, NULL}, true,
              &(goal){"ring all-reduce, 1024 hosts, one body (SimGrid)", 8.4, false, 0.084});
    play_ring((tree){8, 8, 16, 8, 8, NULL}, false,
              &(goal){"ring all-reduce, 1024 hosts, every message", 8.4, false, 0.084});
    play((tree){16, 16, 16, 16, 16, NULL}, RANDOM_SIZES,
         &(goal){"permutation, random sizes, 4096 hosts (SimGrid)", random_s > 0 ? random_s : 0.32,
                 random_s > 0, 0});
    play_sprayed((tree){8, 8, 16, 8, 8, NULL}, 2e6,
                 &(goal){"sprayed permutation, 1024 x 2 MB (htsim)", 12.7, false, 0.0127});
    play((tree){8, 8, 16, 8, 8, NULL}, HASHED,
         &(goal){"hashed permutation, 1024 x 100 MB", 0, false, 0});
    play((tree){32, 32, 64, 32, 32, NULL}, HASHED,
         &(goal){"hashed permutation, 65536 hosts", 0, false, 0.5});
    play_folded((tree){32, 32, 128, 32, 32, NULL}, 33, 33,
                &(goal){"shift by 33, 131072 hosts, folded", 0, false, 0.1});
    play_folded((tree){8, 8, 16, 8, 8, NULL}, 1, 1023,
                &(goal){"all-to-all, 1024 hosts, folded", 0, false, 0});
    printf("* as issue 3 gives it, of a like machine; the others were measured in this run\n");
    show_growth();
    return 0;
}
