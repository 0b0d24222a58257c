/* fabric_allocation_test.c: the n-th allocation of `weir fabric` fails: no crash, no leak, a clean
 * error; what is printed in spite of it is what would have been printed without.
 *
 * Linked with --wrap (cmake/Tests.cmake) like allocation_test. Runs are many and each reads
 * presets, plays and prints, so that n goes in strides (primes, so that loops are hit at each of
 * their places); WEIR_ALLOCATION_STRIDE=1 in the environment takes every n (minutes). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocator.h"

#include "fabric/cable_list.h"
#include "report/fabric_csv.h"
#include "report/fabric_text.h"
#include "result/json.h"
#include "study/fabric_candidate.h"
#include "study/fabric_study.h"
#include "study/fabric_traffic.h"

#include <stdlib.h>
#include <string.h>

/* --- what is run --- */

/* What a run leaves, to be compared with a run without failures. */
typedef weir_code (*runner)(const void *what, weir_text *out, weir_err *err);

typedef struct {
    runner run;
    const void *what;
    uint64_t stride;
} trial;

/* What is wrong with the run whose n-th allocation fails; NULL: nothing. */
static const char *run_with_failure(const trial *t, uint64_t n, bool for_good,
                                    const weir_text *reference, uint32_t *survived)
{
    weir_err err = {0};
    weir_text out = {0};
    const char *wrong = NULL;
    allocator.calls = 0;
    allocator.for_good = for_good;
    allocator.fail_at = n;
    weir_code code = t->run(t->what, &out, &err);
    allocator.fail_at = 0;
    *survived += code == WEIR_OK;
    if (code == WEIR_OK && (out.n != reference->n || memcmp(out.p, reference->p, out.n) != 0))
        wrong = "other bytes are printed";
    else if (code != WEIR_OK && code != WEIR_ERR_MEMORY)
        wrong = "another error than that of memory";
    else if (code != WEIR_OK && (err.code != code || !err.text[0]))
        wrong = "an error without a sentence";
    if (wrong)
        print_error("allocation %llu%s: %s (code %d, err %d '%s')\n", (unsigned long long)n,
                    for_good ? " and all later ones" : "", wrong, code, err.code, err.text);
    weir_text_clear(&out);
    return wrong;
}

static void let_fail(const trial *t, const char *name)
{
    const char *wish = getenv("WEIR_ALLOCATION_STRIDE");
    weir_text reference = {0};
    weir_err err = {0};
    uint32_t survived = 0, runs = 0, wrong = 0;
    uint64_t stride = wish && wish[0] == '1' ? 1 : t->stride;
    allocator.calls = 0;
    if (t->run(t->what, &reference, &err) != WEIR_OK)
        fail_msg("%s without failures: %s", name, err.text);
    uint64_t total = allocator.calls;
    assert_true(reference.n > 0);
    for (uint64_t n = 1; n <= total; n += stride, runs += 2) {
        wrong += run_with_failure(t, n, false, &reference, &survived) != NULL;
        wrong += run_with_failure(t, n, true, &reference, &survived) != NULL;
    }
    print_message("%s: %llu allocations, %u runs, %u survived\n", name, (unsigned long long)total,
                  runs, survived);
    weir_text_clear(&reference);
    assert_in_range(runs, 20, UINT32_MAX);
    assert_int_equal(wrong, 0);
}

/* --- scenarios: every kind of candidate, every kind of phase, disturbances --- */

#define CLUSTER                                                                                    \
    "seed: 3\n"                                                                                    \
    "cluster: {nodes: 8, devices: 2, accelerator: h100-sxm, node_link: nvlink4, nic: cx7-400g,\n"  \
    "          library: nccl-2.27}\n"

static const char packets[] = CLUSTER
    "traffic:\n"
    "  slow: [{device: 3, factor: 1.5}]\n"
    "  broken: [{link: leaf 0 -> spine 0, at: 1 ms, until: 2 ms}]\n"
    "  phases:\n"
    "    - {name: a, compute: 1 ms, collective: all_reduce, group: {size: 2}, bytes: 1 MiB}\n"
    "    - {name: b, collective: all_to_all, bytes: 1 MiB, overlap: yes, axis: expert}\n"
    "    - {name: c, pattern: hot_spot, bytes: 1 kB, hot: 0.3, group: {size: 4}}\n"
    "candidates:\n"
    "  - {name: clos, kind: clos, tiers: 2, switch: quantum2-400g, module: 400g-dr4,\n"
    "     oversubscription: 3, routing: ecmp}\n"
    "  - {name: rail, kind: rail-only, tiers: 1, switch: quantum2-400g, pxn: yes}\n"
    "  - {name: torus, kind: torus, size: [4, 2, 2]}\n"
    "  - {name: fly, kind: dragonfly, switch: quantum2-400g, groups: 4, routers: 2,\n"
    "     global_cables: 2}\n";

static const char circuits[] = CLUSTER
    "traffic:\n"
    "  jitter: 0.02\n"
    "  phases:\n"
    "    - {name: a, compute: 50 ms, collective: all_reduce, bytes: 1 GiB, axis: data,\n"
    "       overlap: yes}\n"
    "    - {name: b, compute: 9 ms, collective: all_to_all, bytes: 1 MiB, road: light}\n"
    "    - {name: c, pattern: permutation, bytes: 2 MB}\n"
    "candidates:\n"
    "  - {name: job, kind: ocs-job, switch: quantum2-400g, blocks: leaf, ocs: palomar,\n"
    "     module: {like: 400g-lr8, watts: 12 W}}\n"
    "  - {name: phase, kind: ocs-phase, switch: quantum2-400g, blocks: nic, ocs: palomar,\n"
    "     switching: 1 ms, linkup: 0 s, module: {like: 400g-lr8, watts: 12 W}}\n"
    "  - {name: rotor, kind: rotor, switch: quantum2-400g, blocks: nic, ocs: palomar,\n"
    "     slot: 100 us, switching: 1 us, linkup: 0 s, module: {like: 400g-lr8, watts: 12 W}}\n"
    "  - {name: both, kind: hybrid, switch: quantum2-400g, blocks: nic, ocs: palomar,\n"
    "     light_share: 0.5, module: {like: 400g-lr8, watts: 12 W}}\n"
    "  - {name: within, kind: hybrid, switch: quantum2-400g, blocks: nic, ocs: palomar,\n"
    "     switching: 1 us, linkup: 0 s, within: solstice, light_share: 0.5,\n"
    "     module: {like: 400g-lr8, watts: 12 W}}\n"
    "  - {name: turns, kind: ocs-phase, switch: quantum2-400g, blocks: nic, ocs: palomar,\n"
    "     switching: 1 us, linkup: 0 s, within: auto, module: {like: 400g-lr8, watts: 12 W}}\n";

/* A scenario is read, with settings; no more than its names is left. */
static weir_code read_scenario(const void *text, weir_text *out, weir_err *err)
{
    static const weir_setting sets[] = {{"cluster.nodes", "8"},
                                        {"traffic.phases.0.bytes", "3 MiB"},
                                        {"candidates.0.name", "x"},
                                        {"economics.pue", "1.2"}};
    weir_fabric_scenario s = {0};
    weir_code code = weir_fabric_scenario_parse("scenario", text, strlen(text), sets, 4, &s, err);
    if (code != WEIR_OK) {
        assert_null(s.arena);
        return code;
    }
    allocator.fail_at = 0;
    for (uint32_t i = 0; i < s.candidate_count; i++)
        weir_text_printf(out, "%s %u\n", s.candidates[i].name, s.candidates[i].kind);
    weir_fabric_scenario_clear(&s);
    return WEIR_OK;
}

static weir_code print_all(const weir_result *result, weir_text *out, weir_err *err)
{
    weir_fabric_text_options options = {.traffic = true};
    weir_code code = weir_result_json(out, result, err);
    if (code == WEIR_OK)
        code = weir_report_fabric(out, result, &options, err);
    if (code == WEIR_OK)
        code = weir_report_candidates_csv(out, result, err);
    if (code == WEIR_OK)
        code = weir_report_traffic_csv(out, result, err);
    return code;
}

/* All that `weir fabric` does with a scenario once it is read. */
static weir_code play(const void *scenario, weir_text *out, weir_err *err)
{
    weir_lines lines = {0};
    weir_spmd_run run = {0};
    weir_budget *budget = weir_budget_new(0);
    weir_result *result = weir_result_new();
    weir_code code = WEIR_ERR_MEMORY;
    if (budget && result) {
        weir_fabric_options options = {
            .threads = 1, .details = true, .link_series = true, .budget = budget};
        code = weir_fabric_study(scenario, &options, result, &run, &lines, err);
        result->note_count = 0; /* words that may be lost */
        code = code == WEIR_OK ? print_all(result, out, err) : code;
    } else {
        weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    }
    weir_lines_clear(&lines);
    weir_spmd_run_clear(&run);
    weir_result_free(result);
    weir_budget_free(budget);
    return code;
}

static void read_with_failures(const char *text, const char *name)
{
    trial t = {read_scenario, text, 31};
    let_fail(&t, name);
}

static void play_with_failures(const char *text, const char *name, uint64_t stride)
{
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    if (weir_fabric_scenario_parse("scenario", text, strlen(text), NULL, 0, &s, &err) != WEIR_OK)
        fail_msg("%s", err.text);
    trial t = {play, &s, stride};
    let_fail(&t, name);
    weir_fabric_scenario_clear(&s);
}

static void scenarios_and_settings_are_read_or_refused_for_memory(void **state)
{
    read_with_failures(packets, "reading packets");
    read_with_failures(circuits, "reading circuits");
}

static void networks_of_packets_are_played_or_refused_for_memory(void **state)
{
    play_with_failures(packets, "packets", 61);
}

static void networks_of_circuits_are_played_or_refused_for_memory(void **state)
{
    play_with_failures(circuits, "circuits", 61);
}

/* --- each kind alone: every allocation between the wish and the network --- */

static weir_code demand_of_phase(const void *scenario, uint32_t phase,
                                 const uint32_t *block_of_device, weir_demand *demand,
                                 weir_err *err)
{
    return weir_traffic_between(scenario, phase, block_of_device, 1, demand, err);
}

static weir_code build_each(const void *context, weir_text *out, weir_err *err)
{
    const weir_fabric_scenario *s = context;
    weir_candidate_demand demand = {s, demand_of_phase};
    weir_code code = WEIR_OK;
    for (uint32_t i = 0; i < s->candidate_count && code == WEIR_OK; i++) {
        weir_candidate_network network = {0};
        code = weir_candidate_network_build(s, i, &demand, &network, err);
        if (code == WEIR_OK)
            weir_text_printf(out, "%u: %s, %u links, %u designs\n", i,
                             network.refused ? network.refused : "built",
                             network.layout ? weir_net_count(weir_layout_net(network.layout)) : 0,
                             network.designs);
        weir_candidate_network_clear(&network);
    }
    if (code == WEIR_OK && out->failed)
        code = weir_err_set(err, WEIR_ERR_MEMORY, "no memory for the words");
    return code;
}

static void networks_are_built_or_refused_for_memory(void **state)
{
    static const char *const texts[] = {packets, circuits};
    for (uint32_t i = 0; i < 2; i++) {
        weir_fabric_scenario s = {0};
        weir_err err = {0};
        assert_int_equal(
            weir_fabric_scenario_parse("scenario", texts[i], strlen(texts[i]), NULL, 0, &s, &err),
            WEIR_OK);
        trial t = {build_each, &s, 3};
        let_fail(&t, i == 0 ? "building packets" : "building circuits");
        weir_fabric_scenario_clear(&s);
    }
}

/* --- files beside the scenario --- */

static weir_code read_cables(const void *text, weir_text *out, weir_err *err)
{
    weir_source *source = NULL;
    weir_cable_list list = {0};
    weir_code code = weir_source_memory(text, strlen(text), "cables.csv", &source, err);
    if (code == WEIR_OK)
        code = weir_cable_list_read(source, "cables.csv", 32, &list, err);
    allocator.fail_at = 0;
    weir_text_printf(out, "%u cables, %u switches\n", list.count, list.switches);
    weir_cable_list_clear(&list);
    weir_source_close(source);
    return code;
}

static weir_code read_demand(const void *text, weir_text *out, weir_err *err)
{
    weir_source *source = NULL;
    weir_demand demand = {0};
    weir_code code = weir_source_memory(text, strlen(text), "demand.csv", &source, err);
    if (code == WEIR_OK)
        code = weir_demand_read(source, "demand.csv", &demand, err);
    allocator.fail_at = 0;
    weir_text_printf(out, "%u nodes\n", demand.n);
    weir_demand_clear(&demand);
    weir_source_close(source);
    return code;
}

static weir_code read_quotes(const void *text, weir_text *out, weir_err *err)
{
    weir_source *source = NULL;
    weir_parts *parts = NULL;
    uint32_t count = 0;
    weir_code code = weir_source_memory(text, strlen(text), "quotes.csv", &source, err);
    if (code == WEIR_OK)
        code = weir_parts_load(&parts, err);
    if (code == WEIR_OK)
        code = weir_parts_quote(parts, source, "quotes.csv", err);
    allocator.fail_at = 0;
    if (code == WEIR_OK)
        weir_parts_prices(parts, &count);
    weir_text_printf(out, "%u prices\n", count);
    weir_parts_free(parts);
    weir_source_close(source);
    return code;
}

static void cables_are_read_or_refused_for_memory(void **state)
{
    weir_text text = {0};
    weir_text_printf(&text, "from,to,rate,latency,optical\n");
    for (uint32_t i = 0; i < 32; i++)
        weir_text_printf(&text, "d%u,sw%u,400 Gb/s,1 us,no\n", i, i / 2);
    for (uint32_t i = 0; i < 15; i++)
        weir_text_printf(&text, "sw%u,sw%u,400 Gb/s,1 us,yes\n", i, i + 1);
    trial t = {read_cables, text.p, 1};
    let_fail(&t, "cables");
    weir_text_clear(&text);
}

static void demands_are_read_or_refused_for_memory(void **state)
{
    weir_text text = {0};
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t k = 0; k < 40; k++)
            weir_text_printf(&text, "%u MB%s", i * k, k < 39 ? "," : "\n");
    trial t = {read_demand, text.p, 1};
    let_fail(&t, "demand");
    weir_text_clear(&text);
}

static void quotes_are_read_or_refused_for_memory(void **state)
{
    trial t = {read_quotes,
               "item,low_usd,typical_usd,high_usd,date,source\n"
               "tomahawk5-400g,10000,11000,12000,2026-11-01,offer\n"
               "400g-dr4,300,310,320,2026-11-01,offer\n",
               17};
    let_fail(&t, "quotes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenarios_and_settings_are_read_or_refused_for_memory),
        cmocka_unit_test(networks_are_built_or_refused_for_memory),
        cmocka_unit_test(networks_of_packets_are_played_or_refused_for_memory),
        cmocka_unit_test(networks_of_circuits_are_played_or_refused_for_memory),
        cmocka_unit_test(cables_are_read_or_refused_for_memory),
        cmocka_unit_test(demands_are_read_or_refused_for_memory),
        cmocka_unit_test(quotes_are_read_or_refused_for_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
