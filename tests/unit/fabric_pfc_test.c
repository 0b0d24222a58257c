/* A lossless network end to end: the incast of network-oracles.md A9 and its victim, as a phase. */
#include "study/fabric_play.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { S1, S2, S3, D, E, DEVICES };

/* s1, s2, s3 send 50 GB to d, s3 also `victim_bytes` to e, on links of 50 GB/s. */
static double step_s(const char *pfc, double victim_bytes)
{
    weir_fabric_scenario scenario = {0};
    weir_fabric_play play = {0};
    weir_err err = {0};
    weir_text text = {0};
    weir_text_printf(&text,
                     "cluster: {nodes: 5, devices: 1, node_link: none,\n"
                     "          nic: {rate: 400 Gb/s, latency: 0 s, watts: 0 W}}\n"
                     "traffic: {phases: [{pattern: ring, bytes: 1 GB}]}\n"
                     "candidates:\n"
                     "  - {name: A, kind: clos, tiers: 1, efficiency: 1, pfc: %s,\n"
                     "     lengths: [0 m, 0 m, 0 m],\n"
                     "     switch: {ports: 8, rate: 400 Gb/s, latency: 0 s, watts: 0 W}}\n",
                     pfc);
    if (weir_fabric_scenario_parse("t.yaml", text.p, text.n, NULL, 0, &scenario, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_phase *phase = &scenario.phases[0];
    phase->kind = WEIR_PHASE_DEMAND; /* a file would give it */
    phase->scale = 1;
    assert_int_equal(weir_demand_init(&phase->demand, DEVICES, &err), WEIR_OK);
    phase->demand.bytes[S1 * DEVICES + D] = 50e9;
    phase->demand.bytes[S2 * DEVICES + D] = 50e9;
    phase->demand.bytes[S3 * DEVICES + D] = 50e9;
    phase->demand.bytes[S3 * DEVICES + E] = victim_bytes;
    const weir_fabric_wish wish = {.scenario = &scenario};
    if (weir_fabric_play_run(&wish, &play, &err) != WEIR_OK || play.refused) {
        fail_msg("%s", play.refused ? play.refused : err.text);
    }
    double found = play.step_s;
    weir_fabric_play_clear(&play);
    weir_fabric_scenario_clear(&scenario);
    weir_text_clear(&text);
    return found;
}

static void expect(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * expected)) {
        fail_msg("%.12g s, expected %.12g", found, expected);
    }
}

/* Fluid: 1/3 for each of the incast, 2/3 for the victim, whose 100 GB are through with the others
 * at 3 s. With pauses both messages of s3 are one of 150 GB, a third of which goes to d, with two
 * shares there: L + L + 2L/3 = 1 gives L = 3/8, so that it moves at 3/4 until s1 and s2 are done at
 * 8/3 s, 2 of its 3 units; the third one passes s3's port in a second more. */
static void a_victim_waits_where_an_incast_pauses_its_port(void **state)
{
    (void)state;
    expect(step_s("no", 100e9), 3);
    expect(step_s("yes", 100e9), 8.0 / 3 + 1);
}

/* Without a message beside it nobody is held up. */
static void an_incast_alone_takes_as_long_with_pauses(void **state)
{
    (void)state;
    expect(step_s("no", 0), 3);
    expect(step_s("yes", 0), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_victim_waits_where_an_incast_pauses_its_port),
        cmocka_unit_test(an_incast_alone_takes_as_long_with_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
