#include "study/fabric_traffic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DEVICES = 16 };

static const char head[] = "name: t\n"
                           "seed: 1\n"
                           "cluster: {nodes: 8, devices: 2, node_link: none, nic: cx7-400g}\n"
                           "candidates:\n"
                           "  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g}\n"
                           "traffic:\n"
                           "  phases:\n";

/* phase: the keys of one phase, on one line. */
static weir_fabric_scenario read_phase(const char *phase)
{
    weir_fabric_scenario scenario = {0};
    weir_err err = {0};
    weir_text text = {0};
    weir_text_printf(&text, "%s    - {%s}\n", head, phase);
    if (weir_fabric_scenario_parse("t.yaml", text.p, text.n, NULL, 0, &scenario, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_text_clear(&text);
    return scenario;
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

typedef struct {
    double bytes[DEVICES][DEVICES];
    uint32_t pairs;
} table;

static void keep_pair(void *context, uint32_t from, uint32_t to, double bytes)
{
    table *t = context;
    t->bytes[from][to] += bytes;
    t->pairs++;
}

static table visit_all(const weir_fabric_scenario *scenario)
{
    table t = {.pairs = 0};
    weir_err err = {0};
    weir_traffic_groups groups = {0};
    weir_traffic_visitor visitor = {keep_pair, &t};
    assert_int_equal(weir_traffic_group(scenario, 0, &groups, &err), WEIR_OK);
    for (uint32_t g = 0; g < groups.count; g++) {
        assert_int_equal(weir_traffic_visit(scenario, 0, g, &visitor, &err), WEIR_OK);
    }
    return t;
}

static void groups_of_a_stride_stand_side_by_side(void **state)
{
    (void)state;
    weir_fabric_scenario s =
        read_phase("name: p, collective: all_reduce, group: {size: 4, stride: 2}, bytes: 8 MB");
    weir_traffic_groups groups = {0};
    bool seen[DEVICES] = {false};
    assert_int_equal(weir_traffic_group(&s, 0, &groups, NULL), WEIR_OK);
    assert_int_equal(groups.count, 4);
    /* b * size * stride + o + k * stride, written out for the second group of the second block */
    assert_int_equal(weir_traffic_member(&groups, 3, 0), 9);
    assert_int_equal(weir_traffic_member(&groups, 3, 3), 15);
    for (uint32_t g = 0; g < groups.count; g++) {
        for (uint32_t k = 0; k < groups.size; k++) {
            uint32_t device = weir_traffic_member(&groups, g, k);
            assert_false(seen[device]);
            seen[device] = true;
        }
    }
    weir_fabric_scenario_clear(&s);
}

static void groups_that_do_not_divide_the_devices_are_named_with_their_place(void **state)
{
    (void)state;
    weir_fabric_scenario s =
        read_phase("name: p, collective: all_reduce, group: {size: 4, stride: 1}, bytes: 8 MB");
    weir_traffic_groups groups = {7, 7, 7};
    weir_err err = {0};
    s.phases[0].group_size = 3; /* the reader of scenarios would have refused it */
    assert_int_equal(weir_traffic_group(&s, 0, &groups, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "t.yaml:8:"));
    assert_non_null(strstr(err.text, "3"));
    assert_non_null(strstr(err.text, "16 devices"));
    assert_int_equal(groups.size, 7); /* untouched */
    weir_fabric_scenario_clear(&s);
}

static void a_ring_all_reduce_hands_each_neighbour_its_share(void **state)
{
    (void)state;
    weir_fabric_scenario s =
        read_phase("name: p, collective: all_reduce, group: {size: 4, stride: 1}, bytes: 8 MB");
    weir_traffic_shape shape = {0};
    table t = visit_all(&s);
    assert_int_equal(t.pairs, 16);
    assert_near(t.bytes[0][1], 2 * 3.0 / 4 * 8e6); /* 2 (n-1)/n S: Patarasuk and Yuan 2009 */
    assert_near(t.bytes[7][4], 12e6);
    assert_int_equal(weir_traffic_measure(&s, 0, &shape, NULL), WEIR_OK);
    assert_near(shape.bytes, 16 * 12e6);
    assert_near(shape.message_bytes, 12e6);
    assert_near(shape.fan_out, 1);
    assert_int_equal(shape.senders, 16);
    weir_fabric_scenario_clear(&s);
}

static void an_all_to_all_is_measured_as_its_pairs_are(void **state)
{
    (void)state;
    weir_fabric_scenario s =
        read_phase("name: p, collective: all_to_all, group: {size: 8, stride: 2}, bytes: 8 MB");
    weir_traffic_shape shape = {0};
    table t = visit_all(&s);
    double sum = 0;
    for (uint32_t i = 0; i < DEVICES; i++) {
        for (uint32_t j = 0; j < DEVICES; j++) {
            sum += t.bytes[i][j];
        }
    }
    assert_int_equal(weir_traffic_measure(&s, 0, &shape, NULL), WEIR_OK);
    assert_near(shape.bytes, sum);
    assert_near(shape.message_bytes, 1e6); /* S / n to each, nccl-tests */
    assert_near(shape.fan_out, 7);
    assert_near(shape.device_bytes, 7e6);
    weir_fabric_scenario_clear(&s);
}

/* splitmix64 and PERM of network-oracles.md, section 0, written apart from the code under test. */
static uint64_t splitmix(uint64_t *s)
{
    uint64_t z = *s += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void the_permutation_is_that_of_the_oracles(void **state)
{
    (void)state;
    weir_fabric_scenario s = read_phase("name: p, pattern: permutation, bytes: 2 MB");
    table t = visit_all(&s);
    uint32_t p[DEVICES];
    uint64_t seed = 1;
    for (uint32_t i = 0; i < DEVICES; i++) {
        p[i] = i;
    }
    for (uint32_t i = DEVICES - 1; i >= 1; i--) {
        uint32_t j = (uint32_t)(splitmix(&seed) % (i + 1)), kept = p[i];
        p[i] = p[j];
        p[j] = kept;
    }
    assert_int_equal(t.pairs, DEVICES);
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_near(t.bytes[p[i]][p[(i + 1) % DEVICES]], 2e6);
    }
    weir_fabric_scenario_clear(&s);
}

static void an_incast_has_as_many_senders_as_its_degree(void **state)
{
    (void)state;
    weir_fabric_scenario s =
        read_phase("name: p, pattern: incast, group: {size: 8, stride: 1}, degree: 5, bytes: 1 MB");
    table t = visit_all(&s);
    assert_int_equal(t.pairs, 10);
    assert_near(t.bytes[5][0], 1e6);
    assert_true(t.bytes[6][0] == 0);
    assert_near(t.bytes[9][8], 1e6);
    s.phases[0].degree = 8;
    weir_traffic_groups groups;
    weir_err err = {0};
    assert_int_equal(weir_traffic_group(&s, 0, &groups, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "at most 7"));
    weir_fabric_scenario_clear(&s);
}

static void a_hot_spot_gets_its_share_of_every_senders_bytes(void **state)
{
    (void)state;
    weir_fabric_scenario s = read_phase("name: p, pattern: hot_spot, hot: 0.3, bytes: 15 MB");
    table t = visit_all(&s);
    double sent = 0;
    for (uint32_t j = 0; j < DEVICES; j++) {
        sent += t.bytes[3][j];
    }
    assert_near(sent, 15e6);
    assert_near(t.bytes[3][0], 0.3 * 15e6 + 0.7 * 15e6 / 15);
    assert_near(t.bytes[3][4], 0.7 * 15e6 / 15);
    weir_fabric_scenario_clear(&s);
}

static void a_shift_goes_its_distance_round_the_group(void **state)
{
    (void)state;
    weir_fabric_scenario s =
        read_phase("name: p, pattern: shift, group: {size: 8, stride: 1}, degree: 3, bytes: 1 MB");
    table t = visit_all(&s);
    assert_int_equal(t.pairs, DEVICES);
    assert_near(t.bytes[0][3], 1e6);
    assert_near(t.bytes[14][9], 1e6); /* 6 + 3 = 9 = 1 of the group that begins at 8 */
    weir_fabric_scenario_clear(&s);
}

static void traffic_between_blocks_is_the_sum_of_its_pairs(void **state)
{
    static const char *const phases[] = {
        "name: p, collective: all_to_all, group: {size: 8, stride: 2}, bytes: 8 MB",
        "name: p, pattern: all_to_all, bytes: 1 MB",
        "name: p, collective: all_reduce, bytes: 8 MB",
        "name: p, pattern: permutation, group: {size: 8, stride: 1}, bytes: 8 MB",
    };
    (void)state;
    for (uint32_t k = 0; k < sizeof phases / sizeof *phases; k++) {
        weir_fabric_scenario s = read_phase(phases[k]);
        uint32_t block_of_device[DEVICES];
        double expected[5][5] = {{0}};
        table t = visit_all(&s);
        weir_demand demand = {0};
        for (uint32_t i = 0; i < DEVICES; i++) {
            block_of_device[i] = i * 5 / DEVICES; /* uneven blocks */
        }
        for (uint32_t i = 0; i < DEVICES; i++) {
            for (uint32_t j = 0; j < DEVICES; j++) {
                expected[block_of_device[i]][block_of_device[j]] += 3 * t.bytes[i][j];
            }
        }
        assert_int_equal(weir_demand_init(&demand, 5, NULL), WEIR_OK);
        assert_int_equal(weir_traffic_between(&s, 0, block_of_device, 3, &demand, NULL), WEIR_OK);
        for (uint32_t i = 0; i < 25; i++) {
            assert_near(demand.bytes[i], expected[i / 5][i % 5]);
        }
        weir_demand_clear(&demand);
        weir_fabric_scenario_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_a_stride_stand_side_by_side),
        cmocka_unit_test(groups_that_do_not_divide_the_devices_are_named_with_their_place),
        cmocka_unit_test(a_ring_all_reduce_hands_each_neighbour_its_share),
        cmocka_unit_test(an_all_to_all_is_measured_as_its_pairs_are),
        cmocka_unit_test(the_permutation_is_that_of_the_oracles),
        cmocka_unit_test(an_incast_has_as_many_senders_as_its_degree),
        cmocka_unit_test(a_hot_spot_gets_its_share_of_every_senders_bytes),
        cmocka_unit_test(a_shift_goes_its_distance_round_the_group),
        cmocka_unit_test(traffic_between_blocks_is_the_sum_of_its_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
