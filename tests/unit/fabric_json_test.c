#include "result/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_sample.h"

static weir_text json_of(const weir_result *r)
{
    weir_text text = {0};
    weir_err err = {0};
    assert_int_equal(weir_result_json(&text, r, &err), WEIR_OK);
    return text;
}

static void assert_has(const weir_text *text, const char *part)
{
    if (strstr(text->p, part) == NULL) {
        fail_msg("not found: %s\nin: %s", part, text->p);
    }
}

/* Keys one after the other, from `at` on; what lies between is not looked at. */
static const char *assert_order(const char *at, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        weir_text key = {0};
        weir_text_printf(&key, "\"%s\": ", keys[i]);
        at = strstr(at, key.p);
        if (at == NULL) {
            fail_msg("no key %s, or not in its place", keys[i]);
        }
        weir_text_clear(&key);
    }
    return at;
}

/* The order of reference/output.md; it has "band" etc. within a candidate. */
static void keys_stand_in_the_order_of_the_contract(void **state)
{
    static const char *const keys[] = {"fabric",     "traffic",    "peak_demand_bytes_per_s",
                                       "candidates", "break_even", "flips",
                                       "pareto"};
    static const char *const traffic[] = {"axis",    "bytes", "message_bytes",      "peak_to_mean",
                                          "fan_out", "duty",  "needed_bytes_per_s", "persistence",
                                          "suits"};
    static const char *const candidate[] = {"name",
                                            "kind",
                                            "step_s",
                                            "band",
                                            "low",
                                            "high",
                                            "basis",
                                            "outside",
                                            "exposed_communication_ns",
                                            "switches",
                                            "optical_ports",
                                            "modules",
                                            "pluggable",
                                            "linear",
                                            "copackaged",
                                            "conversions_per_byte",
                                            "conversion",
                                            "usd",
                                            "watts",
                                            "ns",
                                            "pj_per_bit",
                                            "loss_db",
                                            "closes",
                                            "watts",
                                            "usd",
                                            "usd_range",
                                            "opex_usd_per_year",
                                            "waiting_usd_per_year",
                                            "joules_per_step",
                                            "bottleneck",
                                            "link",
                                            "tier",
                                            "marginal_s_per_percent"};
    weir_result *r = fabric_sample();
    (void)state;
    weir_text text = json_of(r);
    assert_order(text.p, keys, sizeof(keys) / sizeof(*keys));
    const char *at = strstr(text.p, "\"traffic\": ");
    assert_order(at, traffic, sizeof(traffic) / sizeof(*traffic));
    at = strstr(text.p, "\"candidates\": ");
    assert_order(at, candidate, sizeof(candidate) / sizeof(*candidate));
    weir_text_clear(&text);
    weir_result_free(r);
}

static void what_is_not_known_is_null(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    r->fabric->break_even.persistence = NAN;
    weir_text text = json_of(r);
    assert_has(&text, "\"loss_db\": null,");
    assert_has(&text, "\"persistence\": null, \"sentence\": \"Light pays for data.\"}");
    assert_has(&text, "\"failure\": {\"part\": null, \"step_s\": null, \"stoppers\": null}");
    assert_ptr_equal(strstr(text.p, ": nan"), NULL);
    assert_ptr_equal(strstr(text.p, ": inf"), NULL);
    weir_text_clear(&text);
    weir_result_free(r);
}

static void a_simulated_run_says_what_was_played(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    weir_text text = json_of(r);
    assert_has(&text, "\"kind\": \"simulated\"");
    assert_has(&text, "\"cluster.nodes\": \"8\"");
    assert_has(&text, "\"scenario\": \"0123456789abcdef\", \"seed\": 7}");
    assert_has(&text, "\"recommended\": \"B ocs per job\"");
    assert_has(&text, "\"flips\": [\n   {\"price\": \"a port of an OCS\", \"at_usd\": 940, "
                      "\"winner\": \"A clos 1:1\", \"below\": false}\n");
    assert_has(&text, "\"pareto\": [\"A clos 1:1\", \"B ocs per job\"]");
    weir_text_clear(&text);
    weir_result_free(r);
}

/* 64 devices x 90 ms, a tenth of it latency. */
static void exposed_communication_comes_in_its_parts(void **state)
{
    weir_communication_share shares[] = {
        {WEIR_CAUSE_COMMUNICATION_ALL_REDUCE, "between_racks", WEIR_PART_CIRCUIT, 5},
        {WEIR_CAUSE_COMMUNICATION_ALL_REDUCE, NULL, WEIR_PART_COUNT, 7}};
    weir_result *r = fabric_sample();
    (void)state;
    r->communication_shares = shares;
    r->communication_share_count = 2;
    weir_text text = json_of(r);
    assert_has(&text, "\"exposed_communication_ns\": 5760000000,");
    assert_has(&text, "\"exposed_parts\": {\"latency\": 576000000, \"bandwidth\": 5184000000, "
                      "\"contention\": 0, \"circuit\": 0}");
    assert_has(&text, "{\"cause\": \"communication.all_reduce\", \"tier\": \"between_racks\", "
                      "\"part\": \"circuit\", \"ns\": 5}");
    assert_has(&text, "\"tier\": null, \"part\": null, \"ns\": 7}");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void a_measured_run_has_no_networks(void **state)
{
    weir_result *r = weir_result_new();
    (void)state;
    weir_text text = json_of(r);
    assert_ptr_equal(strstr(text.p, "\"fabric\": {"), NULL);
    assert_has(&text, "\"scenario\": null");
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_stand_in_the_order_of_the_contract),
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(a_simulated_run_says_what_was_played),
        cmocka_unit_test(exposed_communication_comes_in_its_parts),
        cmocka_unit_test(a_measured_run_has_no_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
