#include "fabric/circuit.h"
#include "fabric/circuit_rule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

static const weir_circuit_switch roomy = {.ports = 1000, .planes = 1, .node_ports = 1};

/* cmocka compares floats; these are doubles. */
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

static bool has(const weir_circuit_design *design, weir_circuit c)
{
    for (uint32_t k = 0; k < design->count; k++) {
        const weir_circuit *d = &design->circuits[k];
        if (d->from == c.from && d->to == c.to && d->plane == c.plane) {
            return true;
        }
    }
    return false;
}

/* Oracle E12: 65 536 links on switches of 136 duplex ports are 482 switches. */
static void counts_the_switches_of_the_oracle(void **state)
{
    weir_circuit_switch sw = {.ports = 136, .circulators = true};
    (void)state;
    assert_int_equal(weir_circuit_link_ends(&sw), 136);
    assert_int_equal(weir_circuit_switch_count(&sw, 65536), 482);
    sw.circulators = false; /* a fibre for each direction: half of them */
    assert_int_equal(weir_circuit_link_ends(&sw), 68);
    assert_int_equal(weir_circuit_switch_count(&sw, 65536), 964);
}

static void failures_use_up_the_spare_ports_first(void **state)
{
    weir_circuit_switch sw = {.ports = 136, .spare = 8, .circulators = true};
    (void)state;
    assert_int_equal(weir_circuit_link_ends(&sw), 128);
    sw.failed = 8;
    assert_int_equal(weir_circuit_link_ends(&sw), 128);
    sw.failed = 10;
    assert_int_equal(weir_circuit_link_ends(&sw), 126);
    sw.failed = 200;
    assert_int_equal(weir_circuit_link_ends(&sw), 0);
    assert_int_equal(weir_circuit_switch_count(&sw, 1), 0);
}

static void refuses_more_circuits_than_ports(void **state)
{
    static const struct {
        weir_circuit_switch sw;
        weir_circuit circuits[3];
        uint32_t count;
        const char *part;
    } rows[] = {
        {{.ports = 8, .planes = 1, .node_ports = 1},
         {{0, 1, 0}, {0, 2, 0}},
         2,
         "node 0 has 2 circuits that leave on plane 0; it has 1 ports there"},
        {{.ports = 8, .planes = 2, .node_ports = 1},
         {{0, 1, 1}, {2, 1, 1}, {3, 1, 0}},
         3,
         "node 1 has 2 circuits that arrive on plane 1"},
        {{.ports = 8, .failed = 1, .planes = 1, .node_ports = 1},
         {{0, 1, 0}},
         1,
         "need 4 on a plane; its switch has 3 (8 ports, 0 spare, 1 failed"},
        {{.ports = 8, .planes = 1, .node_ports = 1}, {{2, 2, 0}}, 1, "two different nodes"},
        {{.ports = 8, .planes = 1, .node_ports = 1}, {{0, 4, 0}}, 1, "below 4"},
        {{.ports = 8, .planes = 1, .node_ports = 1}, {{0, 1, 1}}, 1, "there are 1 planes"},
        {{.ports = 8, .planes = 1, .node_ports = 1, .circulators = true},
         {{0, 1, 0}, {1, 2, 0}},
         2,
         "no opposite"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_circuit_design design = {.n = 4};
        weir_err err = {0};
        for (uint32_t k = 0; k < rows[i].count; k++) {
            assert_int_equal(weir_circuit_add(&design, rows[i].circuits[k], NULL), WEIR_OK);
        }
        assert_int_equal(weir_circuit_check(&rows[i].sw, &design, &err), WEIR_ERR_INPUT);
        if (!strstr(err.text, rows[i].part)) {
            fail_msg("row %zu: %s", i, err.text);
        }
        weir_circuit_design_clear(&design);
    }
}

/* Oracle E8, third number: static ring with forwarding 12 + d. */
static void a_standing_ring_carries_the_oracle_by_forwarding(void **state)
{
    const uint32_t order[3] = {0, 1, 2};
    double cells[9] = {0, 10, 1, 1, 0, 10, 10, 1, 0};
    const weir_demand demand = {3, cells};
    weir_circuit_design design = {.n = 3};
    weir_circuit_load load;
    (void)state;
    assert_int_equal(weir_circuit_from_ring(&roomy, order, 3, &design, NULL), WEIR_OK);
    assert_int_equal(weir_circuit_carry(&design, &demand, true, &load, NULL), WEIR_OK);
    assert_true(load.max_circuit_bytes == 12 && load.byte_hops == 36 && load.carried_bytes == 33);
    assert_true(load.rest_line_bytes == 0);
    assert_int_equal(weir_circuit_carry(&design, &demand, false, &load, NULL), WEIR_OK);
    assert_true(load.max_circuit_bytes == 10 && load.rest_line_bytes == 1);
    weir_circuit_design_clear(&design);
}

/* From 0 to 3 over 1, to which two circuits lead, or over 2: three ways, two of them over 1 -> 3.
 */
static void all_shortest_ways_carry_the_same(void **state)
{
    static const weir_circuit list[] = {{0, 1, 0}, {0, 1, 1}, {1, 3, 0}, {0, 2, 2},
                                        {2, 3, 1}, {0, 4, 3}, {4, 2, 0}};
    double cells[25] = {[3] = 9};
    const weir_demand demand = {5, cells};
    weir_circuit_design design = {.n = 5};
    weir_circuit_load load;
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assert_int_equal(weir_circuit_add(&design, list[i], NULL), WEIR_OK);
    }
    assert_int_equal(weir_circuit_carry(&design, &demand, true, &load, NULL), WEIR_OK);
    assert_near(load.max_circuit_bytes, 6, 1e-12);
    assert_true(load.byte_hops == 18);
    weir_circuit_design_clear(&design);
    /* 400 blocks in a row, two circuits between neighbours: 2^399 ways. */
    enum { N = 400 };
    weir_demand far;
    assert_int_equal(weir_demand_init(&far, N, NULL), WEIR_OK);
    far.bytes[N - 1] = 8;
    design = (weir_circuit_design){.n = N};
    for (uint32_t i = 0; i + 1 < N; i++) {
        assert_int_equal(weir_circuit_add(&design, (weir_circuit){i, i + 1, 0}, NULL), WEIR_OK);
        assert_int_equal(weir_circuit_add(&design, (weir_circuit){i, i + 1, 1}, NULL), WEIR_OK);
    }
    assert_int_equal(weir_circuit_carry(&design, &far, true, &load, NULL), WEIR_OK);
    assert_near(load.max_circuit_bytes, 4, 1e-12);
    weir_demand_clear(&far);
    weir_circuit_design_clear(&design);
}

/* Oracle E9: every rank of a ring sends 100 MB to distance k at 50 GB/s: k m / B when forwarded;
 * circuits pay below (k - 1) m / B. */
static void break_even_of_the_ring_is_that_of_the_oracle(void **state)
{
    static const struct {
        uint32_t distance;
        double break_even_s;
    } rows[] = {{2, 2e-3}, {4, 6e-3}, {8, 14e-3}, {64, 126e-3}};
    enum { N = 128 };
    uint32_t order[N];
    weir_circuit_design design = {.n = N};
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        order[i] = i;
    }
    assert_int_equal(weir_circuit_from_ring(&roomy, order, N, &design, NULL), WEIR_OK);
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        weir_demand demand;
        weir_circuit_load load;
        assert_int_equal(weir_demand_init(&demand, N, NULL), WEIR_OK);
        for (uint32_t i = 0; i < N; i++) {
            demand.bytes[i * N + (i + rows[r].distance) % N] = 100e6;
        }
        assert_int_equal(weir_circuit_carry(&design, &demand, true, &load, NULL), WEIR_OK);
        assert_near(load.max_circuit_bytes, rows[r].distance * 100e6, 1);
        double found = weir_circuit_break_even_s(rows[r].distance, 100e6, 50e9);
        assert_near(found, rows[r].break_even_s, 1e-15);
        assert_near(found, (load.max_circuit_bytes - 100e6) / 50e9, 1e-12);
        assert_near(weir_circuit_break_even_bytes(rows[r].distance, found, 50e9), 100e6, 1e-6);
        weir_demand_clear(&demand);
    }
    assert_true(weir_circuit_break_even_s(1, 1e9, 1) == 0);
    assert_true(isinf(weir_circuit_break_even_bytes(1, 1, 1)));
    weir_circuit_design_clear(&design);
}

/* Oracle E10: 9 d B for 90 % duty at 50 GB/s (its last row is rounded: 1 728 B). */
static void bytes_for_ninety_percent_duty_are_those_of_the_oracle(void **state)
{
    static const double rows[][2] = {{25e-3, 11.25e9}, {10e-3, 4.5e9}, {80e-6, 36e6},
                                     {20e-6, 9e6},     {1e-6, 450e3},  {3.84e-9, 1728}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const weir_circuit_rule rule = {.bytes_per_s = 50e9, .delay_s = rows[i][0], .ports = 1};
        assert_near(weir_circuit_duty_bytes(&rule) / rows[i][1], 1, 1e-12);
        assert_near(weir_circuit_duty_persistence(&rule, rows[i][1] / 4), 0.75, 1e-12);
        assert_true(weir_circuit_duty_persistence(&rule, rows[i][1] * 2) == 0);
    }
}

/* reference/network-model.md section 2: light iff bytes / B > 9 d, fan-out <= ports, slack >= d. */
static void chooses_light_only_where_all_three_hold(void **state)
{
    const weir_circuit_rule rule = {.bytes_per_s = 50e9, .delay_s = 1e-3, .ports = 4};
    static const struct {
        weir_circuit_flow flow;
        weir_carrier expected;
    } rows[] = {
        {{451e6, 1e-3, 0, 4}, WEIR_CARRIER_LIGHT},
        {{451e6, 1e-3, 0, 5}, WEIR_CARRIER_PACKETS_FAN_OUT},
        {{449e6, 1e-3, 0, 4}, WEIR_CARRIER_PACKETS_BYTES},
        {{451e6, 0.9e-3, 0, 4}, WEIR_CARRIER_PACKETS_SLACK},
        {{46e6, 1e-3, 0.9, 1}, WEIR_CARRIER_LIGHT},
        {{44e6, 1e-3, 0.9, 1}, WEIR_CARRIER_PACKETS_BYTES},
        {{1, 0, 1, 1}, WEIR_CARRIER_LIGHT}, /* set once for good */
        {{0, 1, 1, 1}, WEIR_CARRIER_PACKETS_BYTES},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(weir_circuit_rule_choose(&rule, &rows[i].flow), rows[i].expected);
    }
}

static void splits_a_demand_by_size_and_ports(void **state)
{
    const weir_circuit_rule rule = {.bytes_per_s = 1, .delay_s = 1, .ports = 1};
    double cells[9] = {99, 10, 20, 20, 0, 8, 30, 9.5, 0};
    const weir_demand demand = {3, cells};
    bool light[9];
    (void)state;
    assert_int_equal(weir_circuit_rule_split(&rule, &demand, 1, 0, light, NULL), WEIR_OK);
    /* 30 (2-0) first; 20 (0-2); 20 (1-0) finds no input; 10 (0-1), 9.5 (2-1) no output; 8 too few
     */
    for (int i = 0; i < 9; i++) {
        assert_int_equal(light[i], i == 6 || i == 2);
    }
    assert_int_equal(weir_circuit_rule_split(&rule, &demand, 0.5, 0, light, NULL), WEIR_OK);
    for (int i = 0; i < 9; i++) {
        assert_false(light[i]);
    }
}

/* Follows one cycle; returns its length. */
static uint32_t follow(const weir_circuit_design *design, uint32_t first, uint32_t plane)
{
    uint32_t node = first, length = 0;
    do {
        for (uint32_t k = 0; k < design->count; k++) {
            if (design->circuits[k].plane == plane && design->circuits[k].from == node) {
                node = design->circuits[k].to;
                break;
            }
        }
        length++;
    } while (node != first && length <= design->count);
    return length;
}

static void rings_are_single_cycles_with_different_strides(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 30; n++) {
        weir_circuit_switch sw = {.ports = 1000, .planes = 3, .node_ports = 1};
        weir_circuit_design design = {.n = n};
        uint32_t order[30];
        for (uint32_t i = 0; i < n; i++) {
            order[i] = n - 1 - i;
        }
        assert_int_equal(weir_circuit_from_ring(&sw, order, n, &design, NULL), WEIR_OK);
        assert_int_equal(design.count, 3 * n);
        for (uint32_t p = 0; p < 3; p++) {
            assert_int_equal(follow(&design, 0, p), n);
        }
        assert_true(n < 3 || !has(&design, (weir_circuit){order[0], order[1], 1}));
        weir_circuit_design_clear(&design);
    }
}

static void duplex_rings_take_two_ports(void **state)
{
    weir_circuit_switch sw = {.ports = 100, .planes = 1, .node_ports = 2, .circulators = true};
    const uint32_t order[5] = {4, 2, 0, 1, 3}, twice[3] = {0, 1, 1};
    weir_circuit_design design = {.n = 5};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_circuit_from_ring(&sw, order, 5, &design, NULL), WEIR_OK);
    assert_int_equal(design.count, 10);
    assert_true(has(&design, (weir_circuit){4, 2, 0}) && has(&design, (weir_circuit){2, 4, 0}));
    assert_int_equal(weir_circuit_from_ring(&sw, order, 5, &design, &err), WEIR_ERR_INPUT);
    assert_int_equal(design.count, 10); /* a second one does not fit; the first stays */
    assert_non_null(strstr(err.text, "4 circuits"));
    weir_circuit_design_clear(&design);
    sw.node_ports = 1;
    err = (weir_err){0};
    assert_int_equal(weir_circuit_from_ring(&sw, order, 5, &design, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "2 ports"));
    assert_int_equal(weir_circuit_from_ring(&sw, order, 2, &design, NULL), WEIR_OK);
    assert_int_equal(design.count, 2);
    weir_circuit_design_clear(&design);
    err = (weir_err){0};
    assert_int_equal(weir_circuit_from_ring(&sw, twice, 3, &design, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "different nodes"));
}

/* The mean distance on a ring of 4 is 1, of 2 it is 1/2: 2.5 hops for each of 32 x 32 pairs. */
static void a_torus_has_the_distances_of_a_torus(void **state)
{
    const weir_circuit_switch sw = {.ports = 64, .planes = 3, .node_ports = 2, .circulators = true};
    const uint32_t sizes[3] = {4, 4, 2}, wrong[3] = {4, 0, 2}, twice[2] = {0, 0};
    uint32_t order[32];
    weir_circuit_design design = {.n = 32};
    weir_circuit_load load;
    weir_demand demand;
    weir_err err = {0};
    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        order[i] = (i * 7 + 3) % 32;
    }
    assert_int_equal(weir_circuit_from_torus(&sw, order, sizes, 3, &design, NULL), WEIR_OK);
    assert_true(has(&design, (weir_circuit){order[0], order[3], 0}));
    assert_true(has(&design, (weir_circuit){order[13], order[1], 1}));
    assert_int_equal(design.count, 32 * (2 + 2 + 1));
    assert_int_equal(weir_demand_init(&demand, 32, NULL), WEIR_OK);
    for (uint32_t i = 0; i < 32 * 32; i++) {
        demand.bytes[i] = 1;
    }
    assert_int_equal(weir_circuit_carry(&design, &demand, true, &load, NULL), WEIR_OK);
    assert_true(load.byte_hops == 32 * 32 * 2.5 && load.rest_line_bytes == 0);
    /* 32 bytes a node x 1 hop over 2 circuits, x 1/2 hop over one: all are as busy. */
    assert_near(load.max_circuit_bytes, 16, 1e-12);
    weir_demand_clear(&demand);
    weir_circuit_design_clear(&design);
    assert_int_equal(weir_circuit_from_torus(&sw, order, wrong, 3, &design, &err), WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "2 to 32 places"));
    err = (weir_err){0};
    assert_int_equal(weir_circuit_from_torus(&sw, twice, sizes + 2, 1, &design, &err),
                     WEIR_ERR_INPUT);
    assert_non_null(strstr(err.text, "different nodes"));
}

static void matchings_give_the_heavy_pairs_their_circuits(void **state)
{
    double cells[16] = {0, 8, 3, 0, 0, 0, 8, 3, 3, 0, 0, 8, 8, 3, 0, 0};
    const weir_demand demand = {4, cells};
    weir_circuit_switch sw = {.ports = 16, .planes = 2, .node_ports = 1};
    weir_circuit_design design = {.n = 4};
    (void)state;
    assert_int_equal(weir_circuit_from_matching(&sw, &demand, &design, NULL), WEIR_OK);
    for (uint32_t i = 0; i < 4; i++) { /* 8 first; then 4 (halved) is still above 3 */
        assert_true(has(&design, (weir_circuit){i, (i + 1) % 4, 0}));
        assert_true(has(&design, (weir_circuit){i, (i + 1) % 4, 1}));
    }
    assert_int_equal(design.count, 8);
    weir_circuit_design_clear(&design);
}

/* Both ways together: 8 between neighbours, 6 across. {01, 23} and {03, 12} weigh 16 each, {02, 13}
 * 12: two planes
 * take one of these each, a third one the last, for the first ones then weigh 8. */
static void with_circulators_matchings_are_of_pairs(void **state)
{
    double cells[16] = {0, 8, 3, 0, 0, 0, 8, 3, 3, 0, 0, 8, 8, 3, 0, 0};
    const weir_demand demand = {4, cells};
    weir_circuit_switch sw = {.ports = 16, .planes = 2, .node_ports = 1, .circulators = true};
    weir_circuit_design design = {.n = 4};
    weir_err err = {0};
    (void)state;
    assert_int_equal(weir_circuit_from_matching(&sw, &demand, &design, &err), WEIR_OK);
    assert_int_equal(design.count, 8);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t next = (i + 1) % 4;
        assert_true(has(&design, (weir_circuit){i, next, 0}) !=
                    has(&design, (weir_circuit){i, next, 1}));
        assert_true(has(&design, (weir_circuit){next, i, 0}) !=
                    has(&design, (weir_circuit){next, i, 1}));
    }
    sw.planes = 3;
    design.count = 0;
    assert_int_equal(weir_circuit_from_matching(&sw, &demand, &design, &err), WEIR_OK);
    assert_true(has(&design, (weir_circuit){0, 2, 2}) && has(&design, (weir_circuit){3, 1, 2}));
    weir_circuit_design_clear(&design);
}

/* Circuits 2 B/s, packets 1 B/s. First circuit of w bytes gains w/2, the second w/4, the third
 * w/12.
 */
static void greedy_sets_the_circuit_that_gains_most(void **state)
{
    const weir_circuit_transfer transfers[] = {
        {0, 1, 6, 1},      {0, 1, 4, 1}, /* together 10: gains 5, then 2.5 */
        {0, 2, 12, 0.5},                 /* 6: gains 3 */
        {3, 2, 100, 0.02},               /* 2: gains 1, then 0.5 */
        {3, 1, 100, 0},                  /* off the critical path */
    };
    const weir_circuit_rates rates = {2, 1}, fast_packets = {2, 2};
    weir_circuit_switch sw = {.ports = 64, .planes = 1, .node_ports = 3};
    weir_circuit_design design = {.n = 4};
    (void)state;
    assert_int_equal(weir_circuit_greedy(&sw, transfers, 5, &rates, &design, NULL), WEIR_OK);
    /* node 0: 5, 3, 2.5, no port is left for 1.5; node 3: 1, 0.5, then node 2 is full */
    const weir_circuit expected[] = {{0, 1, 0}, {0, 2, 0}, {0, 1, 0}, {3, 2, 0}, {3, 2, 0}};
    assert_int_equal(design.count, 5);
    for (uint32_t k = 0; k < 5; k++) {
        assert_memory_equal(&design.circuits[k], &expected[k], sizeof expected[k]);
    }
    weir_circuit_design_clear(&design);
    assert_int_equal(weir_circuit_greedy(&sw, transfers, 5, &fast_packets, &design, NULL), WEIR_OK);
    assert_int_equal(design.count, 0);
    sw.node_ports = 1;
    sw.circulators = true; /* 0 and 1 are taken by the first: 2 and 3 remain */
    assert_int_equal(weir_circuit_greedy(&sw, transfers, 5, &rates, &design, NULL), WEIR_OK);
    assert_int_equal(design.count, 4);
    assert_true(has(&design, (weir_circuit){1, 0, 0}) && has(&design, (weir_circuit){2, 3, 0}));
    weir_circuit_design_clear(&design);
}

/* Without packets bytes that nobody waits for must arrive too: after the first circuits of all that
 * are critical, before the second ones. More than one is wasted on them. */
static void greedy_joins_what_is_not_critical_last_and_once(void **state)
{
    const weir_circuit_transfer transfers[] = {
        {0, 1, 100, 0}, {0, 2, 1, 0.5}, {0, 3, 2, 1}, {2, 1, 0, 1}};
    const weir_circuit_rates rates = {2, 0};
    weir_circuit_switch sw = {.ports = 64, .planes = 1, .node_ports = 5};
    weir_circuit_design design = {.n = 4};
    (void)state;
    assert_int_equal(weir_circuit_greedy(&sw, transfers, 4, &rates, &design, NULL), WEIR_OK);
    /* then 2 x (1/2 - 1/4) against 0.5 x (1/2 - 1/4), and 2 x (1/4 - 1/6) */
    const weir_circuit expected[] = {{0, 3, 0}, {0, 2, 0}, {0, 1, 0}, {0, 3, 0}, {0, 3, 0}};
    assert_int_equal(design.count, 5);
    for (uint32_t k = 0; k < 5; k++) {
        assert_memory_equal(&design.circuits[k], &expected[k], sizeof expected[k]);
    }
    weir_circuit_design_clear(&design);
}

static void greedy_refuses_transfers_that_lead_nowhere(void **state)
{
    static const weir_circuit_transfer rows[] = {
        {0, 0, 1, 1}, {0, 4, 1, 1}, {0, 1, -1, 1}, {0, 1, 1, 2}, {0, 1, NAN, 1}};
    const weir_circuit_rates rates = {2, 1};
    weir_circuit_design design = {.n = 4};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        weir_err err = {0};
        assert_int_equal(weir_circuit_greedy(&roomy, &rows[i], 1, &rates, &design, &err),
                         WEIR_ERR_INPUT);
        assert_non_null(strstr(err.text, "transfer 0"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_the_switches_of_the_oracle),
        cmocka_unit_test(failures_use_up_the_spare_ports_first),
        cmocka_unit_test(refuses_more_circuits_than_ports),
        cmocka_unit_test(a_standing_ring_carries_the_oracle_by_forwarding),
        cmocka_unit_test(all_shortest_ways_carry_the_same),
        cmocka_unit_test(break_even_of_the_ring_is_that_of_the_oracle),
        cmocka_unit_test(bytes_for_ninety_percent_duty_are_those_of_the_oracle),
        cmocka_unit_test(chooses_light_only_where_all_three_hold),
        cmocka_unit_test(splits_a_demand_by_size_and_ports),
        cmocka_unit_test(rings_are_single_cycles_with_different_strides),
        cmocka_unit_test(duplex_rings_take_two_ports),
        cmocka_unit_test(a_torus_has_the_distances_of_a_torus),
        cmocka_unit_test(matchings_give_the_heavy_pairs_their_circuits),
        cmocka_unit_test(with_circulators_matchings_are_of_pairs),
        cmocka_unit_test(greedy_sets_the_circuit_that_gains_most),
        cmocka_unit_test(greedy_joins_what_is_not_critical_last_and_once),
        cmocka_unit_test(greedy_refuses_transfers_that_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
