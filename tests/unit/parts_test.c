/* Parts and prices: presets, inline parts of scenarios, quotes. Figures are typed from
 * network-facts.csv and prices.csv anew. */
#include "fabric/part_list.h"
#include "fabric/prices.h"

#include "parts_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void has_the_figures_of_the_sources(void **state)
{
    (void)state;
    weir_parts *parts = load();
    const weir_link_part *nvlink = weir_parts_link(parts, WEIR_STR("nvlink4"));
    assert_non_null(nvlink);
    assert_int_equal(nvlink->wiring, WEIR_NODE_SWITCHED);
    expect_near(nvlink->bytes_per_s, 450e9, 1);
    const weir_link_part *xgmi = weir_parts_link(parts, WEIR_STR("xgmi"));
    assert_int_equal(xgmi->wiring, WEIR_NODE_MESHED);
    expect_near(xgmi->bytes_per_s, 64e9, 1); /* of a pair */
    const weir_link_part *hccs = weir_parts_link(parts, WEIR_STR("hccs"));
    assert_int_equal(hccs->wiring, WEIR_NODE_MESHED);
    expect_near(2 * 7 * hccs->bytes_per_s, 392e9, 1); /* of a device, both directions */
    expect_near(weir_parts_link(parts, WEIR_STR("pcie5-x16"))->bytes_per_s, 63e9, 1);
    const weir_switch_part *th5 = weir_parts_switch(parts, WEIR_STR("tomahawk5-400g"));
    assert_int_equal(th5->ports, 128);
    expect_near(th5->bytes_per_s, 50e9, 1);
    expect_near(th5->latency_s, 600e-9, 1e-15);
    expect_near(th5->watts, 500, 0);
    assert_true(isnan(weir_parts_switch(parts, WEIR_STR("tomahawk6-1600g"))->watts));
    const weir_ocs_part *palomar = weir_parts_ocs(parts, WEIR_STR("palomar"));
    assert_int_equal(palomar->ports, 136);
    assert_true(palomar->circulators);
    expect_near(palomar->switch_s, 1.2e-3, 1e-12);
    expect_near(palomar->linkup_s, 9, 1e-12); /* kept apart */
    expect_near(palomar->watts, 108, 0);
    expect_near(weir_parts_ocs(parts, WEIR_STR("polatis-7000"))->ports, 768, 0); /* 384 x 384 */
    const weir_module_part *dr4 = weir_parts_module(parts, WEIR_STR("400g-dr4"));
    assert_int_equal(dr4->kind, WEIR_MODULE_PLUGGABLE);
    assert_int_equal(dr4->fibres, 4);
    expect_near(dr4->watts, 9, 0);
    assert_true(weir_parts_module(parts, WEIR_STR("400g-dac"))->is_cable);
    expect_near(weir_parts_nic(parts, WEIR_STR("ici-v5p"))->bytes_per_s, 90e9, 1);
    assert_null(weir_parts_switch(parts, WEIR_STR("tomahawk5")));
    weir_parts_free(parts);
}

static void prices_fall_back_from_the_part_to_its_kind(void **state)
{
    (void)state;
    weir_parts *parts = load();
    /* BAND 64x400G NDR switch: 25,000 / 36,000 / 50,000 USD, the whole box */
    weir_unit_price box =
        weir_price_of_switch(parts, weir_parts_switch(parts, WEIR_STR("quantum2-400g")));
    expect_near(box.price->low_usd, 25000, 0);
    expect_near(box.price->typical_usd, 36000, 0);
    expect_near(box.price->high_usd, 50000, 0);
    expect_near(box.units, 1, 0);
    /* an unknown switch of 400G ports: 1,090 USD for each of them (paper table) */
    weir_switch_part own = {.id = "own", .ports = 48, .bytes_per_s = 50e9};
    weir_unit_price port = weir_price_of_switch(parts, &own);
    expect_near(port.price->typical_usd * port.units, 48 * 1090.0, 0);
    own.bytes_per_s = 51e9;
    assert_null(weir_price_of_switch(parts, &own).price);
    /* 520 USD for a port with circulators; an N x N switch has N of them, with two fibres each */
    weir_unit_price palomar = weir_price_of_ocs(parts, weir_parts_ocs(parts, WEIR_STR("palomar")));
    expect_near(palomar.price->typical_usd * palomar.units, 136 * 520.0, 0);
    weir_unit_price polatis =
        weir_price_of_ocs(parts, weir_parts_ocs(parts, WEIR_STR("polatis-7000")));
    expect_near(polatis.price->typical_usd * polatis.units, 384 * 520.0, 0);
    weir_unit_price robot = weir_price_of_ocs(parts, weir_parts_ocs(parts, WEIR_STR("telescent")));
    expect_near(robot.price->typical_usd * robot.units, 1008 * 100.0, 0);
    expect_near(weir_price_of_gpu_hour(parts, "h100-sxm")->typical_usd, 2.95, 0);
    assert_null(weir_price_of_gpu_hour(parts, "a10"));
    assert_null(weir_price_of_gpu_hour(parts, NULL));
    expect_near(weir_parts_price(parts, WEIR_STR("electricity"))->typical_usd, 0.087, 0);
    weir_parts_free(parts);
}

/* network-model.md: 0.82 to 0.93; htsim, 100 MB sprayed permutation: 2000 / 2428.9 us. */
static void transport_has_a_share_for_each_pattern(void **state)
{
    (void)state;
    weir_parts *parts = load();
    static const char *const patterns[] = {"permutation", "all_to_all", "ring",       "shift",
                                           "incast",      "hot_spot",   "never heard"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const weir_transport_part *t = weir_parts_transport(parts, weir_str_from(patterns[i]));
        assert_true(t->low_share <= t->share && t->share <= t->high_share);
        assert_true(t->share >= 0.82 && t->share <= 0.93);
    }
    expect_near(weir_parts_transport(parts, WEIR_STR("permutation"))->share, 2000 / 2428.9, 0.005);
    assert_string_equal(weir_parts_transport(parts, WEIR_STR("?"))->id, "default");
    expect_near(weir_parts_fibre(parts)->s_per_m, 4.9e-9, 1e-15);
    weir_parts_free(parts);
}

/* --- inline parts -------------------------------------------------------------------------- */

static weir_yaml *parse(const char *text)
{
    weir_yaml *doc = NULL;
    weir_err err = {0};
    if (weir_yaml_parse("s.yaml", text, strlen(text), &doc, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return doc;
}

static const weir_yaml_node *member(const weir_yaml *doc, const char *key)
{
    const weir_yaml_node *node = weir_yaml_find(weir_yaml_root(doc), key);
    assert_non_null(node);
    return node;
}

static void a_scenario_names_a_part_or_gives_it_inline(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_yaml *doc = parse("named: tomahawk5-400g\n"
                           "own: {ports: 40, rate: 200 Gb/s, latency: 300 ns, price: 9000 USD}\n"
                           "like: {like: tomahawk5-400g, latency: {value: 1 us, source: me}}\n"
                           "id: {like: tomahawk5-400g, id: mine, price: {low: 1 USD, "
                           "typical: 2 USD, high: 3 USD}}\n"
                           "again: mine\n"
                           "ocs: {like: palomar, linkup: 8.7 us, circulators: false}\n"
                           "link: {kind: ring, rate: 10 GB/s}\n");
    weir_err err = {0};
    const weir_switch_part *s = NULL;
    const weir_ocs_part *o = NULL;
    const weir_link_part *l = NULL;
    assert_int_equal(weir_parts_read_switch(parts, doc, member(doc, "named"), &s, &err), WEIR_OK);
    assert_ptr_equal(s, weir_parts_switch(parts, WEIR_STR("tomahawk5-400g")));
    assert_int_equal(weir_parts_read_switch(parts, doc, member(doc, "own"), &s, &err), WEIR_OK);
    assert_string_equal(s->id, "switch of line 2");
    assert_int_equal(s->ports, 40);
    expect_near(s->bytes_per_s, 25e9, 1);
    assert_true(isnan(s->watts));
    expect_near(weir_price_of_switch(parts, s).price->high_usd, 9000, 0);
    assert_int_equal(weir_parts_read_switch(parts, doc, member(doc, "like"), &s, &err), WEIR_OK);
    assert_int_equal(s->ports, 128);
    expect_near(s->latency_s, 1e-6, 1e-15);
    expect_near(weir_price_of_switch(parts, s).price->typical_usd, 70391, 0);
    assert_int_equal(weir_parts_read_switch(parts, doc, member(doc, "id"), &s, &err), WEIR_OK);
    expect_near(weir_price_of_switch(parts, s).price->high_usd, 3, 0);
    const weir_switch_part *again = NULL;
    assert_int_equal(weir_parts_read_switch(parts, doc, member(doc, "again"), &again, &err),
                     WEIR_OK);
    assert_ptr_equal(again, s);
    assert_int_equal(weir_parts_read_ocs(parts, doc, member(doc, "ocs"), &o, &err), WEIR_OK);
    expect_near(o->linkup_s, 8.7e-6, 1e-15);
    assert_false(o->circulators);
    assert_string_equal(o->technology, "mems");
    assert_int_equal(weir_parts_read_link(parts, doc, member(doc, "link"), &l, &err), WEIR_OK);
    assert_int_equal(l->wiring, WEIR_NODE_RING);
    weir_yaml_free(doc);
    weir_parts_free(parts);
}

static void a_wrong_part_is_one_sentence_with_its_place(void **state)
{
    (void)state;
    weir_parts *parts = load();
    static const struct {
        const char *yaml, *text;
    } cases[] = {
        {"part: tomahawk5-40g\n",
         "s.yaml:1:7: found 'tomahawk5-40g', expected 'tomahawk5-400g' or another one of `weir "
         "presets switches` or a mapping of its figures"},
        {"part: {like: tomahawk5-400, ports: 3}\n", "s.yaml:1:14: found 'tomahawk5-400'"},
        {"part: {ports: 64}\n", "s.yaml:1:7: found no key 'rate', which is needed here"},
        {"part: {ports: 64, rate: 400}\n",
         "s.yaml:1:25: found '400', expected a rate with its unit, such as '400 Gb/s'"},
        {"part: {ports: -1, rate: 400 Gb/s}\n", "s.yaml:1:15: found '-1', expected a whole number"},
        {"part: {port: 64, rate: 400 Gb/s}\n",
         "s.yaml:1:8: found unknown key 'port', expected 'ports'"},
        {"part: {like: tomahawk5-400g, watts: {source: me}}\n",
         "s.yaml:1:37: found no key 'value', which is needed here"},
        {"part: {like: tomahawk5-400g, price: 5}\n",
         "s.yaml:1:37: found '5', expected a price with its unit, such as '549 USD'"},
        {"part: {like: tomahawk5-400g, price: {low: 9 USD, typical: 5 USD}}\n",
         "expected low <= typical <= high"},
        {"part: [1]\n", "s.yaml:1:7: found a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_yaml *doc = parse(cases[i].yaml);
        const weir_switch_part *s = NULL;
        weir_err err = {0};
        assert_int_equal(weir_parts_read_switch(parts, doc, member(doc, "part"), &s, &err),
                         WEIR_ERR_INPUT);
        if (!strstr(err.text, cases[i].text)) {
            fail_msg("found: %s\nexpected: %s", err.text, cases[i].text);
        }
        assert_null(s);
        weir_yaml_free(doc);
    }
    weir_err err = {0};
    assert_int_equal(weir_parts_need("x", "watts", NAN, "15 W", &err), WEIR_ERR_INPUT);
    assert_string_equal(err.text, "'x' has no known watts; give it one: {like: x, watts: 15 W}");
    assert_int_equal(weir_parts_need("x", "watts", 0, "15 W", NULL), WEIR_OK);
    weir_parts_free(parts);
}

/* --- quotes -------------------------------------------------------------------------------- */

static weir_code quote(weir_parts *parts, const char *csv, weir_err *err)
{
    weir_source *source = NULL;
    assert_int_equal(weir_source_memory(csv, strlen(csv), "q.csv", &source, NULL), WEIR_OK);
    weir_code code = weir_parts_quote(parts, source, "q.csv", err);
    weir_source_close(source);
    return code;
}

static void quotes_replace_and_add_prices(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_err err = {0};
    weir_code code = quote(parts,
                           "item,low_usd,typical_usd,high_usd,date,source\n"
                           "tomahawk5-400g,40000,50000,60000,2026-11,our buyer\n"
                           "quantum-x800,,300000,,,\n"
                           "gpu_hour:mi300x,1.5,1.99 USD/h,3,2026-11,\"a, b\"\n"
                           "electricity,0.05,0.06,0.07,2026-11,contract\n",
                           &err);
    if (code != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    const weir_price *p = weir_parts_price(parts, WEIR_STR("tomahawk5-400g"));
    expect_near(p->low_usd, 40000, 0);
    expect_near(p->high_usd, 60000, 0);
    assert_string_equal(p->source, "our buyer");
    assert_string_equal(p->confidence, "quoted");
    p = weir_parts_price(parts, WEIR_STR("quantum-x800"));
    expect_near(p->low_usd, 300000, 0);
    expect_near(p->high_usd, 300000, 0);
    assert_string_equal(p->source, "q.csv");
    p = weir_price_of_gpu_hour(parts, "mi300x");
    expect_near(p->typical_usd, 1.99, 0);
    assert_string_equal(p->source, "a, b");
    expect_near(weir_parts_price(parts, WEIR_STR("electricity"))->typical_usd, 0.06, 0);
    assert_int_equal(quote(parts, "source,typical_usd,item\nme,1,ocs_port\n", &err), WEIR_OK);
    expect_near(weir_parts_price(parts, WEIR_STR("ocs_port"))->typical_usd, 1, 0);
    weir_parts_free(parts);
}

static void wrong_quotes_are_one_sentence_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *csv, *text;
    } cases[] = {
        {"", "q.csv: no rows"},
        {"item,price\n", "q.csv:1:6: found 'price', expected each of the columns item, low_usd"},
        {"item,item,typical_usd\n", "q.csv:1:6: found 'item'"},
        {"item,low_usd\n", "q.csv:1:1: found 'item', expected a first row with the columns item "
                           "and typical_usd"},
        {"item,typical_usd\n400g-dr5,5\n",
         "q.csv:2:1: found '400g-dr5', expected '400g-dr4' or another item of `weir presets`"},
        {"item,typical_usd\n400g-dr4,\n", "q.csv:2:10: found '', expected a price in USD"},
        {"item,typical_usd\n400g-dr4,-5\n", "q.csv:2:10: found '-5'"},
        {"item,typical_usd\n400g-dr4,5 EUR\n", "q.csv:2:10: found '5 EUR'"},
        {"item,typical_usd\n400g-dr4\n", "q.csv:2:1: found '400g-dr4', expected 2 fields"},
        {"item,typical_usd,low_usd\n400g-dr4,5,6\n", "expected low_usd <= typical_usd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_parts *parts = load();
        weir_err err = {0};
        assert_int_equal(quote(parts, cases[i].csv, &err), WEIR_ERR_INPUT);
        if (!strstr(err.text, cases[i].text)) {
            fail_msg("found: %s\nexpected: %s", err.text, cases[i].text);
        }
        weir_parts_free(parts);
    }
}

/* --- what every preset must have ------------------------------------------------------------- */

static void every_figure_says_where_it_is_from_and_how_sure_it_is(void **state)
{
    (void)state;
    static const char *const folders[] = {"links", "switches", "nics",          "optics",
                                          "ocs",   "prices",   "transport.yaml"};
    static const uint32_t least[] = {12, 16, 14, 20, 15, 50, 10};
    static const char *const words[] = {"verified", "secondary", "memory", "derived", "fitted"};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        weir_part_list *list = NULL;
        weir_err err = {0};
        uint32_t count = 0;
        assert_int_equal(weir_part_list_new(folders[f], &list, &err), WEIR_OK);
        const weir_part_row *rows = weir_part_list_rows(list, &count);
        assert_true(count >= least[f]);
        for (uint32_t i = 0; i < count; i++) {
            bool has_word = false;
            for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
                has_word = has_word || strcmp(rows[i].confidence, words[w]) == 0;
            }
            bool has_date = strcmp(folders[f], "prices") != 0 || *rows[i].date;
            if (!has_word || !*rows[i].source || !*rows[i].value || !*rows[i].name || !has_date) {
                fail_msg("%s of %s (%s) does not say where it is from", rows[i].figure, rows[i].id,
                         folders[f]);
            }
        }
        weir_part_list_free(list);
    }
}

static void lists_presets_of_other_kinds_too(void **state)
{
    (void)state;
    weir_part_list *list = NULL;
    weir_err err = {0};
    uint32_t count = 0, found = 0;
    assert_int_equal(weir_part_list_new("accelerators", &list, &err), WEIR_OK);
    const weir_part_row *rows = weir_part_list_rows(list, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].id, "h100-sxm") == 0 && strcmp(rows[i].figure, "peaks.bf16") == 0) {
            assert_string_equal(rows[i].value, "989.4 TFLOP/s");
            assert_true(
                weir_str_starts(weir_str_from(rows[i].source), WEIR_STR("NVIDIA H100 datasheet")));
            found++;
        }
    }
    assert_int_equal(found, 1);
    weir_part_list_free(list);
    assert_int_equal(weir_part_list_new("nothing", &list, &err), WEIR_OK);
    weir_part_list_rows(list, &count);
    assert_int_equal(count, 0);
    weir_part_list_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_figures_of_the_sources),
        cmocka_unit_test(prices_fall_back_from_the_part_to_its_kind),
        cmocka_unit_test(transport_has_a_share_for_each_pattern),
        cmocka_unit_test(a_scenario_names_a_part_or_gives_it_inline),
        cmocka_unit_test(a_wrong_part_is_one_sentence_with_its_place),
        cmocka_unit_test(quotes_replace_and_add_prices),
        cmocka_unit_test(wrong_quotes_are_one_sentence_with_their_place),
        cmocka_unit_test(every_figure_says_where_it_is_from_and_how_sure_it_is),
        cmocka_unit_test(lists_presets_of_other_kinds_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
