/* Algorithms that fit the network: how late a ring is, and rings instead of trees on circuits. */
#include "study/fabric_play.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    weir_fabric_scenario scenario;
    weir_library *library;
    weir_fabric_play play;
} fitted;

static void prepare(fitted *f, const char *text, const char *library)
{
    weir_err err = {0};
    *f = (fitted){.library = NULL};
    if (weir_fabric_scenario_parse("t.yaml", text, strlen(text), NULL, 0, &f->scenario, &err) !=
            WEIR_OK ||
        (library && weir_library_open(library, &f->library, &err) != WEIR_OK)) {
        fail_msg("%s", err.text);
    }
    const weir_fabric_wish wish = {.scenario = &f->scenario, .library = f->library};
    if (weir_fabric_play_prepare(&wish, &f->play, &err) != WEIR_OK || f->play.refused) {
        fail_msg("%s", f->play.refused ? f->play.refused : err.text);
    }
}

static void clear(fitted *f)
{
    weir_fabric_play_clear(&f->play);
    weir_library_free(f->library);
    weir_fabric_scenario_clear(&f->scenario);
}

static weir_collective_algorithm taken(const fitted *f, uint32_t phase)
{
    return f->play.program.phases[phase].choice.algorithm;
}

/* Four nodes below two leaves: half of the ring's hops pass one switch (500 ns), half of them three
 * (1500 ns). Six hops of 1 us on average. */
static void a_ring_is_as_late_as_its_hops_are_on_average(void **state)
{
    (void)state;
    fitted f;
    prepare(&f,
            "cluster: {nodes: 4, devices: 1, node_link: none,\n"
            "          nic: {rate: 400 Gb/s, latency: 0 s, watts: 0 W}}\n"
            "traffic: {phases: [{collective: all_reduce, algorithm: ring, bytes: 1 GB}]}\n"
            "candidates:\n"
            "  - {name: A, kind: clos, tiers: 2, lengths: [0 m, 0 m, 0 m],\n"
            "     switch: {ports: 4, rate: 400 Gb/s, latency: 500 ns, watts: 0 W}}\n",
            NULL);
    double latency_s = f.play.program.phases[0].choice.latency_s;
    if (fabs(latency_s - 6e-6) > 1e-15) {
        fail_msg("%.17g is not 6e-6", latency_s);
    }
    clear(&f);
}

/* 256 nodes below 32 leaves. On a Clos the library takes trees for 64 MiB. One circuit out of each
 * leaf is a ring of 32, on which a tree's messages cross many leaves; the 64 B are late in a ring,
 * and eight nodes below one leaf cross no circuit. */
static void circuits_get_rings_where_rings_are_sooner(void **state)
{
    (void)state;
#define TRAFFIC                                                                                    \
    "cluster: {accelerator: h100-sxm, nodes: 256, devices: 1, node_link: none, nic: cx7-400g}\n"   \
    "traffic:\n"                                                                                   \
    "  phases:\n"                                                                                  \
    "    - {name: large, collective: all_reduce, bytes: 64 MiB}\n"                                 \
    "    - {name: small, collective: all_reduce, bytes: 64 B}\n"                                   \
    "    - {name: inside, collective: all_reduce, group: {size: 8}, bytes: 64 KiB}\n"              \
    "candidates:\n"
#define SWITCH "switch: {ports: 16, rate: 400 Gb/s, latency: 500 ns, watts: 0 W}"
    fitted f, light;
    prepare(&f, TRAFFIC "  - {name: A, kind: clos, tiers: 3, " SWITCH "}\n", "nccl-2.27");
    prepare(&light,
            TRAFFIC "  - {name: B, kind: ocs-job, blocks: leaf, uplinks: 1, " SWITCH ",\n"
                    "     ocs: {ports: 64, switching: 1 ms, linkup: 0 s, circulators: false}}\n",
            "nccl-2.27");
    assert_int_equal(taken(&f, 0), WEIR_ALGORITHM_TREE);
    assert_int_equal(taken(&light, 0), WEIR_ALGORITHM_RING);
    assert_int_equal(taken(&f, 1), WEIR_ALGORITHM_TREE);
    assert_int_equal(taken(&light, 1), WEIR_ALGORITHM_TREE);
    assert_int_equal(taken(&light, 2), taken(&f, 2));
    /* Every circuit carries what a ring hands on, 2 x 255/256 x 64 MiB at 85 % of 50 GB/s. */
    const weir_program_phase *large = &light.play.program.phases[0];
    double bytes_s = 2 * 255.0 / 256 * (64 << 20) / 0.85 / 50e9;
    double found_s = (large->alone_s - large->choice.latency_s) * large->choice.network_efficiency;
    if (fabs(found_s - bytes_s) > 1e-9 * bytes_s) {
        fail_msg("%.17g s, expected %.17g", found_s, bytes_s);
    }
    clear(&f);
    clear(&light);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_is_as_late_as_its_hops_are_on_average),
        cmocka_unit_test(circuits_get_rings_where_rings_are_sooner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
