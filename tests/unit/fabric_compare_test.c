#include "study/fabric_compare.h"

#include "study/fabric_break_even.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Step in seconds; dollars a year of network with power, and of waiting. */
static weir_fabric_candidate_row make_row(const char *name, const char *kind, double step_s,
                                          double network, double waiting)
{
    return (weir_fabric_candidate_row){.name = name,
                                       .kind = kind,
                                       .closes = true,
                                       .step_s = step_s,
                                       .band_low_s = step_s,
                                       .band_high_s = step_s,
                                       .wall_ns = 1000,
                                       .exposed_communication_ns = 100,
                                       .parts_ns = {10, 80, 10, 0},
                                       .watts = network / 2,
                                       .waiting_usd_per_year = waiting,
                                       .network_usd_per_year = network,
                                       .total_usd_per_year = network + waiting,
                                       .bottleneck = {.tier = "between_racks"}};
}

typedef struct {
    weir_result *result;
    weir_fabric_result fabric;
    weir_fabric_candidate_row rows[4];
} compared;

static void set_up(compared *c)
{
    *c = (compared){.result = weir_result_new(),
                    .rows = {make_row("A clos", "clos", 1.0, 80e6, 20e6),
                             make_row("B 3:1", "clos", 1.2, 60e6, 45e6),
                             make_row("C ocs", "ocs-job", 1.01, 60e6, 21e6),
                             make_row("D rotor", "rotor", 1.3, 90e6, 60e6)}};
    c->fabric = (weir_fabric_result){.candidates = c->rows, .candidate_count = 4};
    c->result->fabric = &c->fabric;
}

static void the_least_cost_of_a_year_is_recommended(void **state)
{
    compared c;
    (void)state;
    set_up(&c);
    assert_int_equal(weir_fabric_compare(c.result, NULL), WEIR_OK);
    assert_int_equal(c.fabric.recommended, 2);
    assert_int_equal(weir_fabric_best_packets(&c.fabric), 0);
    assert_string_equal(c.fabric.light_or_packets, "wins");
    assert_string_equal(c.rows[1].sentence,
                        "Waits 10 % of the time for the network, most of it bandwidth between "
                        "racks; 105 M$ a year with power and waiting, 29.6 % more than C.");
    weir_result_free(c.result);
}

static void without_a_price_the_shortest_step_is_recommended(void **state)
{
    compared c;
    (void)state;
    set_up(&c);
    c.rows[3].total_usd_per_year = NAN;
    c.rows[2].step_s = 1.008;
    assert_int_equal(weir_fabric_compare(c.result, NULL), WEIR_OK);
    assert_int_equal(c.fabric.recommended, 0);
    assert_string_equal(c.fabric.light_or_packets, "breaks even"); /* 1.008 against 1 */
    weir_result_free(c.result);
}

static void what_is_slower_and_dearer_than_another_is_not_in_the_pareto_set(void **state)
{
    compared c;
    (void)state;
    set_up(&c);
    assert_int_equal(weir_fabric_compare(c.result, NULL), WEIR_OK);
    /* A: fastest; C: cheapest and faster than B, which costs the same; D: slowest and dearest. */
    assert_int_equal(c.fabric.pareto_count, 2);
    assert_string_equal(c.fabric.pareto[0], "A clos");
    assert_string_equal(c.fabric.pareto[1], "C ocs");
    weir_result_free(c.result);
}

static void a_refused_candidate_is_not_compared(void **state)
{
    compared c;
    (void)state;
    set_up(&c);
    c.rows[2].refused = "candidate 'C ocs': too few ports";
    c.rows[3].closes = false;
    assert_int_equal(weir_fabric_compare(c.result, NULL), WEIR_OK);
    assert_int_equal(c.fabric.recommended, 0);
    assert_null(c.fabric.light_or_packets); /* no light is left */
    assert_string_equal(c.rows[2].sentence, "Was not played: candidate 'C ocs': too few ports.");
    weir_result_free(c.result);
}

static void light_breaks_even_within_a_percent_or_the_common_error(void **state)
{
    (void)state;
    weir_fabric_side packets = {100, 20};
    assert_string_equal(weir_fabric_light_verdict((weir_fabric_side){97, 20}, packets, 0), "wins");
    assert_string_equal(weir_fabric_light_verdict((weir_fabric_side){99.5, 20}, packets, 0),
                        "breaks even");
    assert_string_equal(weir_fabric_light_verdict((weir_fabric_side){103, 20}, packets, 0),
                        "loses");
    /* 3 more, of which 20 are waiting: communication that takes 16 % less turns it; but an error
     * that both share cannot, where both wait the same. */
    assert_string_equal(weir_fabric_light_verdict((weir_fabric_side){103, 40}, packets, 0.16),
                        "breaks even");
    assert_string_equal(weir_fabric_light_verdict((weir_fabric_side){103, 20}, packets, 0.5),
                        "loses");
    assert_string_equal(weir_fabric_light_verdict((weir_fabric_side){97, 20}, packets, NAN),
                        "wins");
}

static void the_sentence_on_light_names_what_decides(void **state)
{
    compared c;
    (void)state;
    set_up(&c);
    c.rows[2] = make_row("C ocs", "ocs-phase", 1.1, 60e6, 60e6);
    c.rows[2].parts_ns[WEIR_PART_CIRCUIT] = 300;
    weir_fabric_traffic_row traffic = {.axis = "data",
                                       .bytes = 1e9,
                                       .peak_to_mean = 3,
                                       .suits = "light",
                                       .because = "1.00 GB to each of 1 partner, always the same"};
    c.fabric.traffic = &traffic;
    c.fabric.traffic_count = 1;
    assert_int_equal(weir_fabric_compare(c.result, NULL), WEIR_OK);
    assert_string_equal(c.fabric.light_or_packets, "loses");
    /* What speaks for light is no reason why it loses. */
    assert_string_equal(
        c.fabric.light_sentence,
        "Light loses: against A, C saves 20.0 M$ a year in network and power and waits for 40.0 M$ "
        "more; circuits are waited for when they are set (30 % of the time).");
    traffic.suits = "packets";
    traffic.because = "90 partners at a time, more than the 32 circuits";
    assert_int_equal(weir_fabric_compare(c.result, NULL), WEIR_OK);
    assert_non_null(strstr(c.fabric.light_sentence, "(30 % of the time); data: 90 partners"));
    /* Devices that cost nothing wait for nothing; what speaks for packets is no reason to win. */
    c.rows[1].network_usd_per_year = 90e6;
    for (uint32_t i = 0; i < 4; i++) {
        c.rows[i].waiting_usd_per_year = 0;
        c.rows[i].total_usd_per_year = c.rows[i].network_usd_per_year;
    }
    assert_int_equal(weir_fabric_compare(c.result, NULL), WEIR_OK);
    assert_string_equal(c.fabric.light_sentence,
                        "Light wins: against A, C saves 20.0 M$ a year in network and power.");
    weir_result_free(c.result);
}

static void of_two_that_take_as_long_the_cheaper_network_is_better(void **state)
{
    compared c;
    (void)state;
    set_up(&c);
    for (uint32_t i = 0; i < 4; i++) { /* no price of a device's hour */
        c.rows[i].waiting_usd_per_year = c.rows[i].total_usd_per_year = NAN;
        c.rows[i].step_s = 1;
        c.rows[i].network_usd_per_year = i == 1 ? 5e6 : 6e6;
    }
    assert_int_equal(weir_fabric_best(&c.fabric), 1);
    c.rows[2].step_s = 0.5;
    assert_int_equal(weir_fabric_best(&c.fabric), 2);
    weir_result_free(c.result);
}

/* --- bisection --- */

static weir_code cube(void *context, double x, double *value, weir_err *err)
{
    (void)err;
    (*(uint32_t *)context)++;
    *value = x * x * x - 8;
    return WEIR_OK;
}

static void bisection_finds_the_root_to_its_precision(void **state)
{
    (void)state;
    uint32_t calls = 0;
    int sign = 0;
    double root = 0;
    weir_fabric_difference function = {&calls, cube};
    weir_fabric_bracket wide = {1e-9, 1e3, 0.01, true}, narrow = {0, 10, 0.001, false};
    assert_int_equal(weir_fabric_bisect(&function, &wide, &root, &sign, NULL), WEIR_OK);
    assert_true(fabs(root / 2 - 1) <= 0.01);
    assert_int_equal(sign, -1);
    assert_true(calls <= 16); /* 12 decades to 1 % */
    assert_int_equal(weir_fabric_bisect(&function, &narrow, &root, &sign, NULL), WEIR_OK);
    assert_true(fabs(root - 2) <= 0.01);
    weir_fabric_bracket above = {3, 10, 0.01, true};
    assert_int_equal(weir_fabric_bisect(&function, &above, &root, &sign, NULL), WEIR_OK);
    assert_true(isnan(root));
    assert_int_equal(sign, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_cost_of_a_year_is_recommended),
        cmocka_unit_test(without_a_price_the_shortest_step_is_recommended),
        cmocka_unit_test(what_is_slower_and_dearer_than_another_is_not_in_the_pareto_set),
        cmocka_unit_test(a_refused_candidate_is_not_compared),
        cmocka_unit_test(light_breaks_even_within_a_percent_or_the_common_error),
        cmocka_unit_test(the_sentence_on_light_names_what_decides),
        cmocka_unit_test(of_two_that_take_as_long_the_cheaper_network_is_better),
        cmocka_unit_test(bisection_finds_the_root_to_its_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
