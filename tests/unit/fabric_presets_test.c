/* presets/fabrics: every one is read, says where its figures are from, and builds what it is named
 * after. */
#include "base/nearest.h"
#include "fabric/part_list.h"
#include "scenario/preset.h"
#include "study/fabric_candidate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TRAFFIC "traffic: {phases: [{collective: all_reduce, bytes: 1 MiB}]}\n"

static weir_fabric_scenario parse(const char *text)
{
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    if (weir_fabric_scenario_parse("t.yaml", text, strlen(text), NULL, 0, &s, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return s;
}

static void every_preset_is_a_candidate(void **state)
{
    const char *path;
    uint32_t at = 0, count = 0;
    while ((path = weir_preset_next("fabrics", &at))) {
        char text[400];
        int id = (int)(strlen(path) - strlen("fabrics/") - strlen(".yaml"));
        snprintf(text, sizeof text,
                 "cluster: {nodes: 64, nic: cx7-400g}\n" TRAFFIC
                 "candidates: [{name: p, preset: %.*s}]\n",
                 id, path + strlen("fabrics/"));
        weir_fabric_scenario s = parse(text);
        assert_string_equal(s.candidates[0].name, "p");
        weir_fabric_scenario_clear(&s);
        count++;
    }
    assert_true(count >= 15);
}

static void every_figure_says_where_it_is_from(void **state)
{
    static const char *const known[] = {"verified", "secondary", "memory", "derived", "fitted"};
    weir_part_list *list = NULL;
    weir_err err = {0};
    uint32_t count, near;
    assert_int_equal(weir_part_list_new("fabrics", &list, &err), WEIR_OK);
    const weir_part_row *rows = weir_part_list_rows(list, &count);
    assert_true(count > 60);
    for (uint32_t i = 0; i < count; i++) {
        near = weir_nearest_word(weir_str_from(rows[i].confidence), known, 5);
        if (near == WEIR_NONE || strcmp(known[near], rows[i].confidence) != 0 ||
            rows[i].source[0] == '\0') {
            fail_msg("%s: %s has no source or confidence", rows[i].id, rows[i].figure);
        }
        if (strcmp(rows[i].confidence, "verified") == 0 && rows[i].url[0] == '\0') {
            fail_msg("%s: %s is verified without a page", rows[i].id, rows[i].figure);
        }
    }
    weir_part_list_free(list);
}

static void keys_beside_a_preset_overrule_it(void **state)
{
    weir_fabric_scenario s = parse("cluster: {nodes: 64, nic: cx7-400g}\n" TRAFFIC "candidates:\n"
                                   "  - {name: a, preset: meta-24k-roce}\n"
                                   "  - {name: b, preset: meta-24k-roce, oversubscription: 2}\n"
                                   "  - {name: c, kind: clos, preset: superpod-ndr, tiers: 2}\n");
    assert_true(s.candidates[0].oversubscription[1] == 7);
    assert_true(s.candidates[1].oversubscription[0] == 2);
    assert_true(s.candidates[1].oversubscription[1] == 1);
    assert_int_equal(s.candidates[1].tiers, 3);
    assert_int_equal(s.candidates[2].kind, WEIR_CANDIDATE_CLOS);
    assert_string_equal(s.candidates[2].sw->id, "quantum2-400g");
    weir_fabric_scenario_clear(&s);
}

static void errors_in_a_preset_name_its_file(void **state)
{
    static const char text[] = "cluster: {nodes: 64, nic: cx7-400g}\n" TRAFFIC
                               "candidates: [{name: a, kind: torus, preset: superpod-ndr}]\n";
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    assert_int_equal(weir_fabric_scenario_parse("t.yaml", text, strlen(text), NULL, 0, &s, &err),
                     WEIR_ERR_INPUT);
    assert_string_equal(err.text, "presets/fabrics/superpod-ndr.yaml:5:1: key 'switch' has no "
                                  "meaning for kind torus");
    err = (weir_err){0};
    static const char unknown[] = "cluster: {nodes: 64, nic: cx7-400g}\n" TRAFFIC
                                  "candidates: [{name: a, preset: superpod-nrd}]\n";
    assert_int_equal(
        weir_fabric_scenario_parse("t.yaml", unknown, strlen(unknown), NULL, 0, &s, &err),
        WEIR_ERR_INPUT);
    assert_string_equal(err.text, "t.yaml:3:32: found 'superpod-nrd', expected 'superpod-ndr'");
}

static uint64_t switches_at(const weir_candidate_network *n, const char *place)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < n->switch_rows; i++) {
        count += strcmp(n->switches[i].place, place) == 0 ? n->switches[i].count : 0;
    }
    return count;
}

/* NVIDIA DGX SuperPOD reference architecture (B200): nodes of 8, leaves, spines, cores. */
static void a_superpod_has_the_switches_that_its_maker_counts(void **state)
{
    static const struct {
        uint32_t nodes;
        uint64_t leaves, spines, cores;
    } rows[] = {
        {64, 16, 8, 0},      {128, 32, 16, 0},      {256, 64, 32, 0},
        {512, 128, 128, 64}, {1024, 256, 256, 128}, {2048, 512, 512, 256},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        weir_candidate_network n = {0};
        weir_err err = {0};
        snprintf(text, sizeof text,
                 "cluster: {nodes: %u, nic: cx7-400g}\n" TRAFFIC
                 "candidates: [{name: p, preset: superpod-ndr}]\n",
                 rows[i].nodes);
        weir_fabric_scenario s = parse(text);
        assert_int_equal(weir_candidate_network_build(&s, 0, NULL, &n, &err), WEIR_OK);
        if (n.refused) {
            fail_msg("%u nodes: %s", rows[i].nodes, n.refused);
        }
        uint64_t found[] = {switches_at(&n, "leaf"), switches_at(&n, "spine"),
                            switches_at(&n, "core")};
        if (found[0] != rows[i].leaves || found[1] != rows[i].spines || found[2] != rows[i].cores) {
            fail_msg("%u nodes: %u leaves, %u spines, %u cores", rows[i].nodes, (unsigned)found[0],
                     (unsigned)found[1], (unsigned)found[2]);
        }
        weir_candidate_network_clear(&n);
        weir_fabric_scenario_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_is_a_candidate),
        cmocka_unit_test(every_figure_says_where_it_is_from),
        cmocka_unit_test(keys_beside_a_preset_overrule_it),
        cmocka_unit_test(errors_in_a_preset_name_its_file),
        cmocka_unit_test(a_superpod_has_the_switches_that_its_maker_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
