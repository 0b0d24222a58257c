#include "study/fabric_study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* 2 nodes of 2 devices, each with its own NIC of 50 GB/s, under one switch; no library, transport
 * that reaches the fluid rates: everything can be calculated by hand. */
static const char two_by_two[] =
    "name: t\n"
    "seed: 1\n"
    "cluster: {accelerator: h100-sxm, nodes: 2, devices: 2, node_link: none, nic: cx7-400g}\n"
    "economics: {gpu_hour: 2 USD, electricity: 0.1 USD/kWh, pue: 1.5, life: 4 years, hours: "
    "8000}\n";
static const char ring[] =
    "traffic:\n"
    "  phases:\n"
    "    - {name: gradients, compute: 10 ms, collective: all_reduce, algorithm: ring,\n"
    "       bytes: 1 GB, axis: data}\n";
static const char one_switch[] =
    "  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g, efficiency: 1}\n";

typedef struct {
    weir_fabric_scenario scenario;
    weir_result *result;
    weir_err err;
} studied;

static void quote(weir_fabric_scenario *scenario, const char *text)
{
    weir_source *source = NULL;
    weir_err err = {0};
    assert_int_equal(weir_source_memory(text, strlen(text), "quotes.csv", &source, &err), WEIR_OK);
    if (weir_parts_quote(scenario->parts, source, "quotes.csv", &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    weir_source_close(source);
}

static weir_code study(studied *s, const char *const *texts, const char *quotes,
                       const weir_fabric_options *options)
{
    weir_text text = {0};
    *s = (studied){.result = weir_result_new()};
    for (uint32_t i = 0; texts[i]; i++) {
        weir_text_add(&text, weir_str_from(texts[i]));
    }
    if (weir_fabric_scenario_parse("t.yaml", text.p, text.n, NULL, 0, &s->scenario, &s->err) !=
        WEIR_OK) {
        fail_msg("%s", s->err.text);
    }
    weir_text_clear(&text);
    if (quotes) {
        quote(&s->scenario, quotes);
    }
    return weir_fabric_study(&s->scenario, options, s->result, NULL, NULL, &s->err);
}

static const weir_fabric_candidate_row *row(const studied *s, uint32_t i)
{
    return &s->result->fabric->candidates[i];
}

static void clear(studied *s)
{
    weir_result_free(s->result);
    weir_fabric_scenario_clear(&s->scenario);
}

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

/* Ring all-reduce: 2 (n-1)/n S / B = 1.5 x 1 GB / 50 GB/s = 30 ms, and 6 rounds of a switch of
 * 600 ns and two cables of 3 m at 4.9 ns/m. */
static void a_ring_takes_its_closed_form(void **state)
{
    (void)state;
    const char *texts[] = {two_by_two, ring, "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    double latency_s = 6 * (600e-9 + 2 * 3 * 4.9e-9);
    assert_near(row(&s, 0)->step_s, 0.010 + 0.030 + latency_s, 2e-9);
    assert_int_equal(row(&s, 0)->wall_ns, 4 * s.result->window.step_ns);
    assert_int_equal(row(&s, 0)->waits_ns[WEIR_WAIT_COMPUTE], 4 * 10000000);
    assert_near((double)row(&s, 0)->parts_ns[WEIR_PART_BANDWIDTH], 4 * 30e6, 4);
    assert_near((double)row(&s, 0)->parts_ns[WEIR_PART_LATENCY], 4e9 * latency_s, 8);
    assert_int_equal(row(&s, 0)->parts_ns[WEIR_PART_CONTENTION], 0);
    assert_int_equal(row(&s, 0)->parts_ns[WEIR_PART_CIRCUIT], 0);
    assert_int_equal(s.result->fabric->recommended, 0);
    assert_true(s.result->simulated);
    assert_string_equal(s.result->command, "fabric");
    clear(&s);
}

static void a_year_costs_purchase_power_and_waiting(void **state)
{
    (void)state;
    const char *texts[] = {two_by_two, ring, "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts,
                           "item,low_usd,typical_usd,high_usd,date,source\n"
                           "tomahawk5-400g,9000,10000,12000,2026-09,a quote\n"
                           "cx7-400g,900,1000,1100,2026-09,a quote\n",
                           &options),
                     WEIR_OK);
    const weir_fabric_candidate_row *r = row(&s, 0);
    assert_near(r->usd, 10000 + 4 * 1000, 1e-6);
    assert_near(r->usd_low, 9000 + 4 * 900, 1e-6);
    assert_near(r->usd_high, 12000 + 4 * 1100, 1e-6);
    assert_near(r->watts, 500 + 4 * 25, 1e-9);
    assert_int_equal(r->switches, 1);
    assert_int_equal(r->nics, 4);
    /* 0.6 kW all year with PUE 1.5 at 10 cents; 4 devices wait 30 of 40 ms of 8000 h at 2 USD. */
    assert_near(r->opex_usd_per_year, 0.6 * 8760 * 1.5 * 0.1, 1e-6);
    double waits = 1 - 0.010 / r->step_s;
    assert_near(r->waiting_usd_per_year, 4 * 8000 * 2 * waits, 0.01);
    assert_near(r->total_usd_per_year, 14000 / 4.0 + r->opex_usd_per_year + r->waiting_usd_per_year,
                1e-6);
    assert_near(r->joules_per_step, 600 * r->step_s, 1e-9);
    clear(&s);
}

static void traffic_that_overlaps_hides_under_the_next_computing(void **state)
{
    (void)state;
    static const char overlapped[] =
        "traffic:\n"
        "  phases:\n"
        "    - {name: early, compute: 5 ms, collective: all_reduce, algorithm: ring,\n"
        "       bytes: 1 GB, overlap: true, axis: data}\n"
        "    - {name: rest, compute: 50 ms, collective: all_reduce, algorithm: ring,\n"
        "       bytes: 100 MB, axis: data}\n";
    const char *texts[] = {two_by_two, overlapped, "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    /* 30 ms run beside 50 ms; only the second all-reduce, 3 ms, is waited for. */
    assert_near(row(&s, 0)->step_s, 0.005 + 0.050 + 0.003, 10e-6);
    assert_near((double)row(&s, 0)->exposed_communication_ns, 4 * 3e6, 4 * 10e3);
    clear(&s);
}

/* 20 ms of computing, then 30 ms of traffic beside 10 ms of computing: 10 ms hide, not 30. */
static void traffic_that_overlaps_begins_where_it_stands(void **state)
{
    (void)state;
    static const char overlapped[] =
        "traffic:\n"
        "  phases:\n"
        "    - {name: first, compute: 20 ms, collective: all_reduce, algorithm: ring,\n"
        "       bytes: 100 MB, axis: data}\n"
        "    - {name: late, collective: all_reduce, algorithm: ring, bytes: 1 GB, overlap: true,\n"
        "       axis: data}\n"
        "    - {name: last, compute: 10 ms, collective: all_reduce, algorithm: ring,\n"
        "       bytes: 1 kB, axis: data}\n";
    const char *texts[] = {two_by_two, overlapped, "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    assert_near(row(&s, 0)->step_s, 0.020 + 0.003 + 0.030, 20e-6);
    clear(&s);
}

static void a_slow_device_is_waited_for(void **state)
{
    (void)state;
    const char *texts[] = {two_by_two,
                           "traffic:\n"
                           "  slow: [{device: 2, factor: 1.5}]\n"
                           "  phases:\n"
                           "    - {name: gradients, compute: 10 ms, collective: all_reduce,\n"
                           "       algorithm: ring, bytes: 1 GB, axis: data}\n",
                           "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    assert_near(row(&s, 0)->step_s, 0.015 + 0.030, 10e-6);
    /* Three devices wait 5 ms each for the fourth. */
    assert_near((double)row(&s, 0)->waits_ns[WEIR_WAIT_DEPENDENCY], 3 * 5e6, 10);
    clear(&s);
}

static void more_bandwidth_never_takes_longer(void **state)
{
    (void)state;
    static const char *const nics[] = {"cx5-100g", "cx6-200g", "cx7-400g", "cx8-800g"};
    double before_s = INFINITY;
    for (uint32_t i = 0; i < 4; i++) {
        weir_text cluster = {0};
        weir_text_printf(&cluster,
                         "name: t\ncluster: {nodes: 2, devices: 2, node_link: none, nic: %s}\n",
                         nics[i]);
        const char *texts[] = {cluster.p, ring, "candidates:\n", one_switch, NULL};
        weir_fabric_options options = {.threads = 1};
        studied s;
        assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
        assert_true(row(&s, 0)->step_s <= before_s);
        before_s = row(&s, 0)->step_s;
        clear(&s);
        weir_text_clear(&cluster);
    }
}

static void what_cannot_be_built_is_refused_and_the_others_are_played(void **state)
{
    (void)state;
    static const char small[] = "  - {name: B, kind: clos, tiers: 1, switch: {ports: 2, rate: 400 "
                                "Gb/s, latency: 600 ns, watts: 10 W}}\n";
    const char *texts[] = {two_by_two, ring, "candidates:\n", small, one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    assert_non_null(row(&s, 0)->refused);
    assert_non_null(strstr(row(&s, 0)->sentence, "Was not played"));
    assert_null(row(&s, 1)->refused);
    assert_int_equal(s.result->fabric->recommended, 1);
    clear(&s);
    const char *alone[] = {two_by_two, ring, "candidates:\n", small, NULL};
    assert_int_equal(study(&s, alone, NULL, &options), WEIR_ERR_INPUT);
    assert_non_null(strstr(s.err.text, "t.yaml"));
    assert_non_null(strstr(s.err.text, "no candidate can be built"));
    clear(&s);
}

/* network-oracles.md, section 4: T = max((N-1) m / B, (N-h) m r / B) with h hosts on a leaf. A leaf
 * of 8 ports has 4 hosts at 1:1 and 6 at 3:1. */
static void an_all_to_all_on_an_oversubscribed_clos_takes_its_closed_form(void **state)
{
    (void)state;
    const char *texts[] = {
        "name: t\n"
        "cluster:\n"
        "  {nodes: 24, devices: 1, node_link: none,\n"
        "   nic: {rate: 400 Gb/s, latency: 0 s, watts: 0 W}}\n"
        "traffic:\n"
        "  phases:\n"
        "    - {name: all, pattern: all_to_all, bytes: 1 MB}\n"
        "candidates:\n",
        "  - {name: A, kind: clos, tiers: 2, efficiency: 1, lengths: [0 m, 0 m, 0 m],\n"
        "     switch: {ports: 8, rate: 400 Gb/s, latency: 0 s, watts: 0 W}}\n",
        "  - {name: B, kind: clos, tiers: 2, efficiency: 1, lengths: [0 m, 0 m, 0 m],\n"
        "     switch: {ports: 8, rate: 400 Gb/s, latency: 0 s, watts: 0 W},\n"
        "     oversubscription: [3, 1]}\n",
        NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    assert_near(row(&s, 0)->step_s, 23 * 1e6 / 50e9, 2e-9);
    assert_near(row(&s, 1)->step_s, (24 - 6) * 3 * 1e6 / 50e9, 2e-9);
    clear(&s);
}

static const char broken_traffic[] =
    "traffic:\n"
    "  broken: [{link: 'device 0 -> leaf 0', at: 20 ms}]\n"
    "  phases:\n"
    "    - {name: gradients, compute: 10 ms, collective: all_reduce, algorithm: ring,\n"
    "       bytes: 1 GB, axis: data}\n";

static void a_cut_that_nothing_mends_is_a_named_stall(void **state)
{
    (void)state;
    const char *texts[] = {two_by_two, broken_traffic, "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    assert_true(s.result->total.causes.ns[WEIR_CAUSE_DEPENDENCY_FAILURE] > 0);
    bool told = false;
    for (uint32_t i = 0; i < s.result->note_count; i++) {
        told = told || strstr(s.result->notes[i], "'gradients' never ends");
    }
    assert_true(told);
    assert_true(isnan(row(&s, 0)->step_s)); /* not the 20 ms until then */
    clear(&s);
    /* Beside a network without that link the cut one is not compared. */
    const char *both[] = {two_by_two,
                          broken_traffic,
                          "candidates:\n",
                          one_switch,
                          "  - {name: C, kind: torus, size: [2, 2, 1]}\n",
                          NULL};
    assert_int_equal(study(&s, both, NULL, &options), WEIR_OK);
    assert_non_null(strstr(row(&s, 0)->refused, "device 0 -> leaf 0"));
    assert_int_equal(s.result->fabric->recommended, 1);
    clear(&s);
}

/* A tier of one leaf: out for 5 ms while everybody sends, all are 5 ms later. */
static void a_link_that_fails_for_a_while_is_named_and_waited_for(void **state)
{
    (void)state;
    const char *texts[] = {
        two_by_two,
        "traffic:\n"
        "  broken: [{link: 'device 0 -> leaf 0', at: 1 ms, until: 6 ms}]\n"
        "  phases:\n"
        "    - {name: g, collective: all_reduce, algorithm: ring, bytes: 1 GB}\n",
        "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied hit, whole;
    assert_int_equal(study(&hit, texts, NULL, &options), WEIR_OK);
    texts[1] = "traffic:\n"
               "  phases:\n"
               "    - {name: g, collective: all_reduce, algorithm: ring, bytes: 1 GB}\n";
    assert_int_equal(study(&whole, texts, NULL, &options), WEIR_OK);
    assert_near(row(&hit, 0)->step_s - row(&whole, 0)->step_s, 5e-3, 2e-9);
    assert_true(hit.result->note_count > 0);
    assert_non_null(
        strstr(hit.result->notes[0], "'device 0 -> leaf 0' carries nothing from 1.0 ms to 6.0 ms"));
    clear(&hit);
    clear(&whole);
}

static void a_broken_link_that_no_network_has_is_an_error_with_its_place(void **state)
{
    (void)state;
    const char *texts[] = {two_by_two,
                           "traffic:\n"
                           "  broken: [{link: 'leaf 7 -> spine 1', at: 1 ms}]\n"
                           "  phases:\n"
                           "    - {name: g, collective: all_reduce, bytes: 1 GB}\n",
                           "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_ERR_INPUT);
    assert_non_null(strstr(s.err.text, "t.yaml:6:"));
    assert_non_null(strstr(s.err.text, "leaf 7 -> spine 1"));
    clear(&s);
}

static void too_many_repetitions_are_refused_with_their_place(void **state)
{
    (void)state;
    const char *texts[] = {
        two_by_two,
        "traffic:\n"
        "  phases:\n"
        "    - {name: g, collective: all_reduce, bytes: 1 GB, times: 900000000}\n",
        "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_ERR_INPUT);
    assert_non_null(strstr(s.err.text, "t.yaml:7:"));
    assert_non_null(strstr(s.err.text, "900000000 repetitions"));
    clear(&s);
}

static void any_number_of_threads_gives_the_same_rows(void **state)
{
    (void)state;
    static const char many[] =
        "  - {name: A, kind: clos, tiers: 1, switch: tomahawk5-400g}\n"
        "  - {name: B, kind: clos, tiers: 2, switch: tomahawk5-400g, oversubscription: [3, 1]}\n"
        "  - {name: C, kind: torus, size: [2, 2, 1]}\n";
    const char *texts[] = {two_by_two, ring, "candidates:\n", many, NULL};
    studied one, three;
    weir_fabric_options options = {.threads = 1, .details = true};
    assert_int_equal(study(&one, texts, NULL, &options), WEIR_OK);
    options.threads = 3;
    assert_int_equal(study(&three, texts, NULL, &options), WEIR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        const weir_fabric_candidate_row *a = row(&one, i), *b = row(&three, i);
        assert_memory_equal(&a->step_s, &b->step_s, sizeof a->step_s);
        assert_memory_equal(&a->total_usd_per_year, &b->total_usd_per_year, sizeof a->step_s);
        assert_memory_equal(a->marginal_s_per_percent, b->marginal_s_per_percent,
                            sizeof a->marginal_s_per_percent);
        assert_memory_equal(a->parts_ns, b->parts_ns, sizeof a->parts_ns);
        assert_string_equal(a->sentence, b->sentence);
    }
    clear(&one);
    clear(&three);
}

/* 30 of 40 ms scale with the NICs' bandwidth: 1 % more takes 30 (1 - 1/1.01) ms off the step. */
static void a_percent_more_bandwidth_gains_what_the_closed_form_says(void **state)
{
    (void)state;
    const char *texts[] = {two_by_two, ring, "candidates:\n", one_switch, NULL};
    weir_fabric_options options = {.threads = 1, .details = true};
    studied s;
    assert_int_equal(study(&s, texts, NULL, &options), WEIR_OK);
    const weir_fabric_candidate_row *r = row(&s, 0);
    assert_string_equal(r->bottleneck.tier, "between_nodes");
    assert_near(r->bottleneck.marginal_s_per_percent, 0.030 * (1 - 1 / 1.01), 2e-9);
    assert_true(isnan(r->marginal_s_per_percent[3])); /* there is no such tier */
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_takes_its_closed_form),
        cmocka_unit_test(a_year_costs_purchase_power_and_waiting),
        cmocka_unit_test(traffic_that_overlaps_hides_under_the_next_computing),
        cmocka_unit_test(traffic_that_overlaps_begins_where_it_stands),
        cmocka_unit_test(a_slow_device_is_waited_for),
        cmocka_unit_test(more_bandwidth_never_takes_longer),
        cmocka_unit_test(what_cannot_be_built_is_refused_and_the_others_are_played),
        cmocka_unit_test(an_all_to_all_on_an_oversubscribed_clos_takes_its_closed_form),
        cmocka_unit_test(a_cut_that_nothing_mends_is_a_named_stall),
        cmocka_unit_test(a_link_that_fails_for_a_while_is_named_and_waited_for),
        cmocka_unit_test(a_broken_link_that_no_network_has_is_an_error_with_its_place),
        cmocka_unit_test(too_many_repetitions_are_refused_with_their_place),
        cmocka_unit_test(any_number_of_threads_gives_the_same_rows),
        cmocka_unit_test(a_percent_more_bandwidth_gains_what_the_closed_form_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
