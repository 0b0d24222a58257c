/* fabric_scenario.h: scenarios as they are written, and what is said about wrong ones. */
#include "study/fabric_scenario.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static weir_code parse(const char *text, weir_fabric_scenario *s, weir_err *err)
{
    return weir_fabric_scenario_parse("t.yaml", text, strlen(text), NULL, 0, s, err);
}

static weir_fabric_scenario must_parse(const char *text)
{
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    if (parse(text, &s, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return s;
}

#define CLUSTER    "cluster: {nodes: 8, devices: 8, nic: cx7-400g}\n"
#define TRAFFIC    "traffic: {phases: [{collective: all_reduce, bytes: 1 MiB}]}\n"
#define CANDIDATES "candidates: [{name: a, kind: clos, switch: tomahawk5-400g}]\n"

static void reads_a_whole_scenario(void **state)
{
    weir_fabric_scenario s = must_parse(
        "name: all keys\nseed: 7\n"
        "cluster:\n  accelerator: h100-sxm\n  nodes: 16\n  devices: 8\n  node_link: nvlink4\n"
        "  nics: 4\n  nic: cx7-400g\n  pcie: pcie5-x16\n"
        "traffic:\n  steps: 3\n  jitter: 0.02\n"
        "  slow: [{device: 17, factor: 1.3}]\n"
        "  broken: [{link: leaf 3 -> spine 1, at: 10 ms, until: 20 ms}, {link: x - y}]\n"
        "  phases:\n"
        "    - {name: tensor, compute: 12 ms, collective: all_reduce, algorithm: ring,\n"
        "       protocol: ll128, group: {size: 8, stride: 2}, bytes: 64 MiB, times: 126,\n"
        "       overlap: yes, axis: tensor, road: light, slack: 25 ms}\n"
        "    - {pattern: incast, bytes: 2 MB, degree: 32}\n"
        "    - {name: hot, pattern: hot_spot, bytes: 1 kB, hot: 0.3, group: {size: 4}}\n"
        "candidates:\n"
        "  - {name: a, kind: rail, tiers: 3, planes: 2, switch: tomahawk5-400g,\n"
        "     oversubscription: [1, 3], trunk: [2, 4], module: 400g-dr4, copper: 400g-dac,\n"
        "     optical_from: nic, lengths: [2 m, 20 m, 200 m], routing: ecmp, queue_pairs: 4,\n"
        "     pxn: yes, efficiency: 0.87, pfc: true}\n"
        "  - {name: b, kind: torus, size: [8, 4, 4], twist: [[0, 1, 2], [3]]}\n"
        "  - {name: c, kind: dragonfly, switch: tomahawk5-400g, groups: 9, routers: 4,\n"
        "     global_cables: 2, valiant: yes}\n"
        "  - {name: d, kind: ocs-phase, switch: tomahawk5-400g, blocks: leaf, ocs: palomar,\n"
        "     ocs_planes: 2, uplinks: 32, design: matching, switching: 25 ms, spare: 8}\n"
        "  - {name: e, kind: rotor, blocks: nic, ocs: palomar, slot: 100 us, linkup: 0 s}\n"
        "  - {name: f, kind: hybrid, switch: tomahawk5-400g, ocs: palomar, light_share: 0.25}\n"
        "economics: {gpu_hour: 2 USD, electricity: 0.08 USD/kWh, pue: 1.3, life: 4 years,\n"
        "            hours: 8000}\n");
    assert_string_equal(s.name, "all keys");
    assert_true(s.seed == 7);
    assert_string_equal(s.cluster.accelerator->id, "h100-sxm");
    assert_int_equal(s.cluster.nodes * 100 + s.cluster.devices * 10 + s.cluster.nics, 1684);
    assert_true(s.cluster.nic->bytes_per_s == 50e9); /* 400 Gb/s */
    assert_true(s.cluster.node_link->bytes_per_s == 450e9);
    assert_string_equal(s.cluster.pcie->id, "pcie5-x16");
    assert_int_equal(s.cluster.place.line, 4);

    assert_int_equal(s.steps, 3);
    assert_true(s.jitter == 0.02);
    assert_int_equal(s.slow[0].device, 17);
    assert_true(s.slow[0].factor == 1.3);
    assert_int_equal(s.broken_count, 2);
    assert_string_equal(s.broken[0].link, "leaf 3 -> spine 1");
    assert_true(fabs(s.broken[0].at_s - 0.01) < 1e-15 && fabs(s.broken[0].until_s - 0.02) < 1e-15);
    assert_true(s.broken[1].at_s == 0 && isinf(s.broken[1].until_s));

    const weir_phase *p = s.phases;
    assert_int_equal(s.phase_count, 3);
    assert_true(fabs(p[0].compute_s - 0.012) < 1e-15 && fabs(p[0].slack_s - 0.025) < 1e-15);
    assert_true(p[0].bytes == 67108864);
    assert_int_equal(p[0].kind, WEIR_PHASE_COLLECTIVE);
    assert_int_equal(p[0].collective, WEIR_COLLECTIVE_ALL_REDUCE);
    assert_int_equal(p[0].algorithm, WEIR_ALGORITHM_RING);
    assert_int_equal(p[0].protocol, WEIR_PROTOCOL_LL128);
    assert_int_equal(p[0].group_size * 1000 + p[0].group_stride * 100, 8200);
    assert_int_equal(p[0].times, 126);
    assert_true(p[0].overlap);
    assert_int_equal(p[0].take, WEIR_TAKE_LIGHT);
    assert_string_equal(p[1].name, "phase 2");
    assert_string_equal(p[1].axis, "other");
    assert_int_equal(p[1].kind, WEIR_PHASE_PATTERN);
    assert_int_equal(p[1].degree, 32);
    assert_int_equal(p[1].group_size, 0);
    assert_true(isnan(p[1].slack_s) && p[1].compute_s == 0 && !p[1].overlap);
    assert_true(p[2].hot_share == 0.3);

    const weir_candidate *c = s.candidates;
    assert_int_equal(s.candidate_count, 6);
    assert_int_equal(c[0].kind, WEIR_CANDIDATE_RAIL);
    assert_int_equal(c[0].tiers * 10 + c[0].planes, 32);
    assert_true(c[0].oversubscription[0] == 1 && c[0].oversubscription[1] == 3);
    assert_int_equal(c[0].trunk[0] * 10 + c[0].trunk[1], 24);
    assert_string_equal(c[0].module->id, "400g-dr4");
    assert_string_equal(c[0].copper->id, "400g-dac");
    assert_int_equal(c[0].optical_from, WEIR_OPTICAL_NIC);
    assert_true(c[0].length_m[0] == 2 && c[0].length_m[1] == 20 && c[0].length_m[2] == 200);
    assert_int_equal(c[0].routing.choice, WEIR_ROUTE_ECMP);
    assert_int_equal(c[0].routing.queue_pairs, 4);
    assert_true(c[0].routing.seed == 7 && c[0].routing.has_pxn && c[0].pfc);
    assert_true(c[0].efficiency == 0.87);
    assert_int_equal(c[1].size[0] * 100 + c[1].size[1] * 10 + c[1].size[2], 844);
    assert_int_equal(c[1].twist[0][2] * 10 + c[1].twist[1][0], 23);
    assert_true(isnan(c[1].efficiency));
    assert_int_equal(c[2].groups * 100 + c[2].routers * 10 + c[2].global_cables, 942);
    assert_true(c[2].routing.has_valiant);
    assert_int_equal(c[3].block, WEIR_BLOCK_LEAF);
    assert_int_equal(c[3].ocs_planes * 10000 + c[3].uplinks * 100 + c[3].spare, 23208);
    assert_int_equal(c[3].design, WEIR_DESIGN_MATCHING);
    assert_true(c[3].switch_s == 0.025);
    assert_true(c[3].linkup_s == c[3].ocs->linkup_s);
    assert_true(fabs(c[4].slot_s - 1e-4) < 1e-18 && c[4].linkup_s == 0);
    assert_true(c[4].switch_s == c[4].ocs->switch_s);
    assert_true(c[5].light_share == 0.25);
    assert_int_equal(c[5].place.line, 33);

    assert_true(s.economics.gpu_hour_usd == 2 && s.economics.kwh_usd == 0.08);
    assert_true(s.economics.pue == 1.3 && s.economics.life_years == 4);
    assert_true(s.economics.hours_per_year == 8000);
    weir_fabric_scenario_clear(&s);
}

static void takes_defaults(void **state)
{
    weir_fabric_scenario s = must_parse(CLUSTER TRAFFIC CANDIDATES);
    assert_string_equal(s.name, "t.yaml");
    assert_true(s.seed == 1);
    assert_int_equal(s.cluster.nics, 8);
    assert_null(s.cluster.accelerator);
    assert_null(s.cluster.node_link);
    assert_null(s.cluster.library);
    assert_int_equal(s.steps, 1);
    assert_int_equal(s.phases[0].algorithm, WEIR_ALGORITHM_COUNT);
    assert_int_equal(s.phases[0].protocol, WEIR_PROTOCOL_COUNT);
    assert_int_equal(s.phases[0].times, 1);
    const weir_candidate *c = s.candidates;
    assert_true(c->oversubscription[0] == 1 && c->oversubscription[1] == 1);
    assert_int_equal(c->tiers, 0);
    assert_int_equal(c->routing.choice, WEIR_ROUTE_SPRAY);
    assert_null(c->module);
    assert_true(isnan(s.economics.gpu_hour_usd)); /* no accelerator, no price */
    assert_true(s.economics.pue > 1);
    weir_fabric_scenario_clear(&s);
}

static void parts_may_be_written_out(void **state)
{
    weir_fabric_scenario s = must_parse(
        "cluster: {nodes: 8, nic: {rate: 100 Gb/s, watts: 10 W, latency: 1 us}}\n" TRAFFIC
        "candidates: [{name: a, kind: clos, switch: {like: tomahawk5-400g, ports: 32}}]\n");
    assert_true(s.cluster.nic->bytes_per_s == 12.5e9);
    assert_int_equal(s.candidates[0].sw->ports, 32);
    assert_true(s.candidates[0].sw->bytes_per_s == 50e9);
    weir_fabric_scenario_clear(&s);
}

static void settings_are_part_of_the_scenario(void **state)
{
    static const weir_setting set[] = {{"cluster.nodes", "64"},
                                       {"candidates.a.oversubscription", "[1, 3]"},
                                       {"traffic.phases.0.bytes", "1GiB"},
                                       {"economics.pue", "1.1"}};
    static const char text[] = CLUSTER TRAFFIC CANDIDATES;
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    assert_int_equal(weir_fabric_scenario_parse("t.yaml", text, strlen(text), set, 4, &s, &err),
                     WEIR_OK);
    assert_int_equal(s.cluster.nodes, 64);
    assert_true(s.candidates[0].oversubscription[1] == 3);
    assert_true(s.phases[0].bytes == 1073741824);
    assert_true(s.economics.pue == 1.1);
    weir_fabric_scenario_clear(&s);
}

/* --- wrong ones --- */

typedef struct {
    const char *text, *sentence;
} bad_input;

static void expect_sentences(const bad_input *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        weir_fabric_scenario s = {0};
        weir_err err = {0};
        weir_code code = parse(bad[i].text, &s, &err);
        if (code != WEIR_ERR_INPUT || strcmp(err.text, bad[i].sentence) != 0) {
            fail_msg("%s\nfound    %s\nexpected %s", bad[i].text, err.text, bad[i].sentence);
        }
        assert_null(s.arena);
    }
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void says_what_is_wrong_with_a_cluster(void **state)
{
#define BAD(cluster) "cluster: {" cluster "}\n" TRAFFIC CANDIDATES
    static const bad_input bad[] = {
        {TRAFFIC CANDIDATES, "t.yaml:1:1: found no key 'cluster', which is needed here, for "
                             "example cluster: {nodes: 8, nic: cx7-400g}"},
        {"cluster: 8\n" TRAFFIC CANDIDATES, "t.yaml:1:10: found '8', expected a mapping"},
        {BAD("devices: 8"),
         "t.yaml:1:10: found no key 'nodes', which is needed here, for example nodes: 2048"},
        {BAD("nodes: 8"),
         "t.yaml:1:10: found no key 'nic', which is needed here, for example nic: cx7-400g"},
        {BAD("nodes: 0, nic: cx7-400g"),
         "t.yaml:1:18: found '0', expected a whole number from 1 to 1048576"},
        {BAD("nodes: 1048576, devices: 8, nic: cx7-400g"),
         "t.yaml:1:18: found 1048576 nodes x 8 devices = 8388608, expected at most 1048576 in all"},
        {BAD("nodes: 8, nics: 3, nic: cx7-400g"),
         "t.yaml:1:27: found 3 nics for 8 devices, expected a number that divides the devices or "
         "is a multiple of them, such as 2"},
        {BAD("nodes: 8, nic: cx7-400g, accelerator: h100-smx"),
         "t.yaml:1:49: found 'h100-smx', expected 'h100-sxm'"},
        {BAD("nodes: 8, nic: cx7-400g, node_link: pcie5-x16"),
         "t.yaml:1:47: found 'pcie5-x16', expected a link that joins devices of a node; where the "
         "host does that: node_link: none and pcie: pcie5-x16"},
        {BAD("nodes: 8, nic: cx7-400g, nodelink: nvlink4"),
         "t.yaml:1:36: found unknown key 'nodelink', expected 'node_link'"},
    };
#undef BAD
    expect_sentences(bad, COUNT(bad));
}

static void says_what_is_wrong_with_traffic(void **state)
{
#define PHASE(phase) CLUSTER "traffic:\n  phases:\n    - {" phase "}\n" CANDIDATES
#define ALL(traffic)                                                                               \
    CLUSTER "traffic: {phases: [{collective: all_reduce, bytes: 1 MiB}],\n  " traffic              \
            "}\n" CANDIDATES
    static const bad_input bad[] = {
        {CLUSTER "traffic: {}\n" CANDIDATES,
         "t.yaml:2:10: found no key 'phases', which is needed here, for example phases: [{...}]"},
        {CLUSTER "traffic: {phases: []}\n" CANDIDATES,
         "t.yaml:2:19: found an empty list, expected a list of at least one phase"},
        {CLUSTER "traffic: {phases: 3}\n" CANDIDATES,
         "t.yaml:2:19: found '3', expected a list of at least one phase"},
        {CLUSTER "traffic: {phases: [3]}\n" CANDIDATES,
         "t.yaml:2:20: found '3', expected a mapping"},
        {PHASE("bytes: 1 MiB"),
         "t.yaml:4:7: found no traffic, expected 'collective', 'pattern' or 'demand'"},
        {PHASE("colective: all_reduce, bytes: 1 MiB"),
         "t.yaml:4:8: found unknown key 'colective', expected 'collective'"},
        {PHASE("collective: all_reduce, pattern: ring, bytes: 1 MiB"),
         "t.yaml:4:32: found 'pattern' beside 'collective', expected one of them"},
        {PHASE("collective: allreduce, bytes: 1 MiB"),
         "t.yaml:4:20: found 'allreduce', expected 'all_reduce'"},
        {PHASE("collective: all_reduce"),
         "t.yaml:4:7: found no key 'bytes', which is needed here, for example bytes: 64 MiB"},
        {PHASE("collective: all_reduce, bytes: 64"),
         "t.yaml:4:39: found '64', expected a size with its unit, such as '80 GiB'"},
        {PHASE("collective: all_reduce, bytes: 0 B"),
         "t.yaml:4:39: found '0 B', expected more than 0 B"},
        {PHASE("collective: all_reduce, bytes: 1 MiB, degree: 2"),
         "t.yaml:4:46: key 'degree' has no meaning for kind collective"},
        {PHASE("collective: all_reduce, bytes: 1 MiB, algorithm: rings"),
         "t.yaml:4:57: found 'rings', expected 'ring'"},
        {PHASE("pattern: ring, bytes: 1 MiB, algorithm: ring"),
         "t.yaml:4:37: key 'algorithm' has no meaning for kind pattern"},
        {PHASE("collective: all_reduce, bytes: 1 MiB, compute: 12"),
         "t.yaml:4:55: found '12', expected a time with its unit, such as '25 ms'"},
        {PHASE("collective: all_reduce, bytes: 1 MiB, times: 0"),
         "t.yaml:4:53: found '0', expected a whole number from 1 to 1000000000"},
        {PHASE("collective: all_reduce, bytes: 1 MiB, group: 8"),
         "t.yaml:4:53: found '8', expected a mapping"},
        {PHASE("collective: all_reduce, bytes: 1 MiB, group: {size: 12}"),
         "t.yaml:4:53: found size 12 x stride 1 = 12, expected a product that divides the 64 "
         "devices, such as 8"},
        {PHASE("collective: all_reduce, bytes: 1 MiB, group: {size: 64, stride: 2}"),
         "t.yaml:4:53: found size 64 x stride 2 = 128, expected a product that divides the 64 "
         "devices, such as 64"},
        {PHASE("pattern: hot_spot, bytes: 1 MiB"),
         "t.yaml:4:7: found no key 'hot', which is needed here"},
        {PHASE("pattern: ring, bytes: 1 MiB, hot: 0.5"),
         "t.yaml:4:37: key 'hot' has no meaning for pattern ring"},
        {PHASE("pattern: permutation, bytes: 1 MiB, degree: 3"),
         "t.yaml:4:44: key 'degree' has no meaning for pattern permutation"},
        {PHASE("pattern: incast, bytes: 1 MiB, degree: 64"),
         "t.yaml:4:47: found '64', expected at most 63: the group has 64 members"},
        {PHASE("pattern: hot_spot, bytes: 1 MiB, hot: 1.5"),
         "t.yaml:4:46: found '1.5', expected a number above 0 and up to 1"},
        {PHASE("demand: none.csv"),
         "t.yaml:4:16: found 'none.csv', expected a file: none.csv: No such file or directory"},
        {ALL("jitter: 2"), "t.yaml:3:11: found '2', expected a number from 0 to 1"},
        {ALL("slow: [{device: 64, factor: 2}]"),
         "t.yaml:3:19: found '64', expected a device from 0 to 63"},
        {ALL("slow: [{device: 6, factor: 0}]"),
         "t.yaml:3:30: found '0', expected a number above 0 and up to 1000000"},
        {ALL("broken: [{link: a, at: 2 ms, until: 1 ms}]"),
         "t.yaml:3:39: found '1 ms', expected a time after 'at'"},
        {ALL("broken: []"),
         "t.yaml:3:11: found an empty list, expected a list such as [{link: leaf 3 -> spine 1}]"},
    };
#undef PHASE
#undef ALL
    expect_sentences(bad, COUNT(bad));
}

static void says_what_is_wrong_with_candidates(void **state)
{
#define BAD(candidate) CLUSTER TRAFFIC "candidates:\n  - {" candidate "}\n"
    static const bad_input bad[] = {
        {CLUSTER TRAFFIC "candidates: []\n",
         "t.yaml:3:13: found an empty list, expected a list of at least one network"},
        {CLUSTER TRAFFIC "candidates: [clos]\n", "t.yaml:3:14: found 'clos', expected a mapping"},
        {BAD("name: a"), "t.yaml:4:5: found no key 'kind', which is needed here"},
        {BAD("kind: clos, switch: tomahawk5-400g"),
         "t.yaml:4:5: found no key 'name', which is needed here, for example name: clos 1:1"},
        {BAD("name: a, kind: close"), "t.yaml:4:21: found 'close', expected 'clos'"},
        {BAD("name: a, kind: clos"), "t.yaml:4:5: found no key 'switch', which is needed here, for "
                                     "example switch: tomahawk5-400g"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, twist: none"),
         "t.yaml:4:51: key 'twist' has no meaning for kind clos"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, tyres: 3"),
         "t.yaml:4:51: found unknown key 'tyres', expected 'tiers'"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, tiers: 4"),
         "t.yaml:4:58: found '4', expected a whole number from 1 to 3"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, oversubscription: [0.5]"),
         "t.yaml:4:70: found '0.5', expected a number from 1 to 1000"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, oversubscription: [1, 1, 1]"),
         "t.yaml:4:69: found a list of 3, expected 1 to 2 values"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, efficiency: 0"),
         "t.yaml:4:63: found '0', expected a number above 0 and up to 1"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, efficiency: 1.1"),
         "t.yaml:4:63: found '1.1', expected a number above 0 and up to 1"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, lengths: [3, 30 m]"),
         "t.yaml:4:61: found '3', expected a length with its unit, such as '30 m'"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, module: 400g-dac"),
         "t.yaml:4:59: found '400g-dac', expected a module with light (copper goes to 'copper')"},
        {BAD("name: a, kind: clos, switch: tomahawk5-400g, copper: 400g-dr4"),
         "t.yaml:4:59: found '400g-dr4', expected a cable without light"},
        {BAD("name: a, kind: torus, size: [4, 4, 5]"),
         "t.yaml:4:34: found 80 places, expected one for each of the 64 devices"},
        {BAD("name: a, kind: torus, size: [4, 4, 4], twist: 4"),
         "t.yaml:4:52: found '4', expected 'none' or a row for each dimension, such as [[0, 4], "
         "[0, 0]]"},
        {BAD("name: a, kind: torus, size: [4, 4, 4], twist: [[0, 0, 0, 0]]"),
         "t.yaml:4:53: found a list, expected a row of at most 3 numbers"},
        {BAD("name: a, kind: torus, size: [4, 4, 4], twist: [[0, x]]"),
         "t.yaml:4:57: found 'x', expected a whole number from 0 to 1048576"},
        {BAD("name: a, kind: dragonfly, switch: tomahawk5-400g, groups: 3, routers: 4"),
         "t.yaml:4:5: found no key 'global_cables', which is needed here, for example "
         "global_cables: 8"},
        {BAD("name: a, kind: list"), "t.yaml:4:5: found no key 'cables', which is needed here, for "
                                     "example cables: my-links.csv"},
        {BAD("name: a, kind: list, cables: none.csv"),
         "t.yaml:4:35: found 'none.csv', expected a file: none.csv: No such file or directory"},
        {BAD("name: a, kind: ocs-job, switch: tomahawk5-400g"),
         "t.yaml:4:5: found no key 'ocs', which is needed here, for example ocs: palomar"},
        {BAD("name: a, kind: ocs-job, ocs: palomar"),
         "t.yaml:4:5: found no key 'switch', which is needed here"},
        {BAD("name: a, kind: rotor, ocs: palomar, blocks: nic"),
         "t.yaml:4:5: found no key 'slot', which is needed here, for example slot: 100 us"},
        {BAD("name: a, kind: ocs-job, blocks: nic, ocs: palomar, slot: 1 us"),
         "t.yaml:4:57: key 'slot' has no meaning for kind ocs-job"},
        {BAD("name: a, kind: ocs-job, blocks: nic, ocs: {like: rotornet, switching: 1 us}"),
         "t.yaml:4:48: 'rotornet' has no known linkup time, expected the key 'linkup' beside it"},
        {BAD("name: a, kind: hybrid, switch: tomahawk5-400g, ocs: palomar, light_share: 1"),
         "t.yaml:4:80: found '1', expected a number above 0 and up to 0.99"},
        {CLUSTER TRAFFIC "candidates:\n  - {name: a, kind: clos, switch: tomahawk5-400g}\n"
                         "  - {name: a, kind: rail, switch: tomahawk5-400g}\n",
         "t.yaml:5:12: found 'a', expected a name that no other candidate has"},
    };
#undef BAD
    expect_sentences(bad, COUNT(bad));
}

static void says_what_is_wrong_with_the_rest(void **state)
{
#define ALL CLUSTER TRAFFIC CANDIDATES
    static const bad_input bad[] = {
        {"", "t.yaml: the file is empty, expected a document"},
        {"- 1\n", "t.yaml:1:1: found a list, expected a mapping"},
        {ALL "sede: 1\n", "t.yaml:4:1: found unknown key 'sede', expected 'seed'"},
        {ALL "seed: x\n", "t.yaml:4:7: found 'x', expected a whole number"},
        {ALL "name: ''\n", "t.yaml:4:7: found '', expected text"},
        {ALL "economics: {gpu_hour: 2.95}\n",
         "t.yaml:4:23: found '2.95', expected a price with its unit, such as '549 USD'"},
        {ALL "economics: {electricity: 0.08 USD}\n",
         "t.yaml:4:26: found '0.08 USD', expected a price of energy, such as '0.08 USD/kWh'"},
        {ALL "economics: {pue: 0.9}\n", "t.yaml:4:18: found '0.9', expected a number from 1 to 10"},
        {ALL "economics: {life: 0 years}\n",
         "t.yaml:4:19: found '0 years', expected more than 0 and at most 50 years"},
        {ALL "economics: {hours: 9000}\n",
         "t.yaml:4:20: found '9000', expected a number above 0 and up to 8784"},
        {ALL "cluster: {}\n", "t.yaml:4:1: found key 'cluster' again, it is already on line 1"},
    };
#undef ALL
    expect_sentences(bad, COUNT(bad));
}

static void errors_of_settings_name_the_setting(void **state)
{
    static const struct {
        weir_setting set;
        const char *sentence;
    } bad[] = {
        {{"cluster.nic", "400"},
         "--set cluster.nic: found '400', expected a NIC of `weir presets nics` or a mapping of "
         "its figures"},
        {{"cluster.nodes", "x"},
         "--set cluster.nodes: found 'x', expected a whole number from 1 to 1048576"},
        {{"cluster.nodez", "4"},
         "--set cluster.nodez: found unknown key 'nodez', expected 'nodes'"},
        {{"candidates.a.size", "[8, 8]"},
         "--set candidates.a.size: key 'size' has no meaning for kind clos"},
        {{"candidates.1.tiers", "2"},
         "--set candidates.1.tiers: found '1' in 'candidates', expected a position up to 0 or a "
         "name such as 'a'"},
        {{"traffic.phases.0.bytes", "1 MiBi"},
         "--set traffic.phases.0.bytes: found '1 MiBi', expected a size with its unit, such as "
         "'80 GiB'"},
    };
    static const char text[] = CLUSTER TRAFFIC CANDIDATES;
    for (size_t i = 0; i < COUNT(bad); i++) {
        weir_fabric_scenario s = {0};
        weir_err err = {0};
        assert_int_equal(
            weir_fabric_scenario_parse("t.yaml", text, strlen(text), &bad[i].set, 1, &s, &err),
            WEIR_ERR_INPUT);
        assert_string_equal(err.text, bad[i].sentence);
    }
}

/* --- files beside it --- */

static char folder[] = "/tmp/weir-scenario-XXXXXX";

static const char *file(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (text) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(text, 1, strlen(text), f);
        fclose(f);
    }
    return path;
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a.yaml", "b.yaml", "m.csv", "c.csv"};
    for (size_t i = 0; i < COUNT(names); i++) {
        unlink(file(names[i], NULL));
    }
    return rmdir(folder);
}

#define PAIR "cluster: {nodes: 2, devices: 2, nic: cx7-400g}\n"

static void a_matrix_of_nodes_is_spread_over_their_devices(void **state)
{
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    file("m.csv", "0,8 kB\n4000,0\n");
    const char *path = file(
        "a.yaml", PAIR "traffic: {phases: [{demand: m.csv, of: nodes, scale: 2}]}\n" CANDIDATES);
    if (weir_fabric_scenario_read(path, NULL, 0, &s, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    const weir_demand *d = &s.phases[0].demand;
    assert_int_equal(d->n, 4);
    assert_true(d->bytes[0 * 4 + 2] == 2000 && d->bytes[1 * 4 + 3] == 2000);
    assert_true(d->bytes[3 * 4 + 0] == 1000 && d->bytes[0 * 4 + 1] == 0);
    assert_true(s.phases[0].scale == 2);
    weir_fabric_scenario_clear(&s);
}

static void says_what_is_wrong_with_files_beside_it(void **state)
{
    static const struct {
        const char *name, *text, *scenario, *sentence; /* %s: the folder */
    } bad[] = {
        {"m.csv", "0,8\n4,0\n", PAIR "traffic: {phases: [{demand: m.csv}]}\n" CANDIDATES,
         "%s/a.yaml:2:29: found 2 rows in '%s/m.csv', expected 4, one for each device"},
        {"m.csv", "0,8,1\n4,0,1\n1,1,1\n",
         PAIR "traffic: {phases: [{demand: m.csv, of: nodes}]}\n" CANDIDATES,
         "%s/a.yaml:2:29: found 3 rows in '%s/m.csv', expected 2, one for each node"},
        {"m.csv", "0,8\n4,-1\n",
         PAIR "traffic: {phases: [{demand: m.csv, of: nodes}]}\n" CANDIDATES,
         "%s/m.csv:2:3: found '-1'; bytes are a number, 0 or more"},
        {"m.csv", "0,0\n0,0\n", PAIR "traffic: {phases: [{demand: m.csv, of: nodes}]}\n" CANDIDATES,
         NULL},
        {"c.csv", "from,to,rate\nd0,sw0,400\n",
         PAIR TRAFFIC "candidates: [{name: l, kind: list, cables: c.csv}]\n",
         "%s/c.csv:2:8: found '400', expected a rate above 0 with its unit, such as 400 Gb/s"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        weir_fabric_scenario s = {0};
        weir_err err = {0};
        char expected[512];
        file(bad[i].name, bad[i].text);
        assert_int_equal(
            weir_fabric_scenario_read(file("a.yaml", bad[i].scenario), NULL, 0, &s, &err),
            WEIR_ERR_INPUT);
        if (bad[i].sentence) {
            snprintf(expected, sizeof expected, bad[i].sentence, folder, folder);
            assert_string_equal(err.text, expected);
        } else { /* the reader of matrices words it */
            assert_non_null(strstr(err.text, "/m.csv: "));
        }
    }
}

static void jobs_of_a_mix_share_candidates(void **state)
{
    char a[128], b[128], expected[512];
    weir_fabric_scenario s = {0};
    weir_err err = {0};
    snprintf(a, sizeof a, "%s", file("a.yaml", CLUSTER TRAFFIC CANDIDATES));
    snprintf(b, sizeof b, "%s",
             file("b.yaml",
                  CLUSTER "name: b\n" TRAFFIC
                          "candidates: [{name: a, kind: rail, switch: tomahawk5-400g}]\n"));
    assert_int_equal(weir_fabric_scenario_read_mixed(b, a, NULL, 0, &s, &err), WEIR_OK);
    assert_string_equal(s.name, "b");
    assert_int_equal(s.candidates[0].kind, WEIR_CANDIDATE_CLOS);
    weir_fabric_scenario_clear(&s);

    file("b.yaml", CLUSTER TRAFFIC "candidates: [{name: z, kind: rail, switch: tomahawk5-400g}]\n");
    assert_int_equal(weir_fabric_scenario_read_mixed(b, a, NULL, 0, &s, &err), WEIR_ERR_INPUT);
    snprintf(expected, sizeof expected,
             "%s:3:21: found a candidate 'z', expected one of %s: the jobs of a mix share their "
             "candidates",
             b, a);
    assert_string_equal(err.text, expected);

    err = (weir_err){0};
    file("b.yaml", PAIR TRAFFIC);
    assert_int_equal(weir_fabric_scenario_read_mixed(b, a, NULL, 0, &s, &err), WEIR_ERR_INPUT);
    snprintf(expected, sizeof expected,
             "%s:1:10: found 2 nodes of 2 devices and 2 nics, expected 8 of 8 and 8 as in %s: the "
             "jobs of a mix share their fabric",
             b, a);
    assert_string_equal(err.text, expected);

    err = (weir_err){0};
    file("b.yaml", "cluster: {nodes: 8, devices: 8, nic: cx8-800g}\n" TRAFFIC);
    assert_int_equal(weir_fabric_scenario_read_mixed(b, a, NULL, 0, &s, &err), WEIR_ERR_INPUT);
    snprintf(expected, sizeof expected,
             "%s:1:10: found nic 'cx8-800g' of 800 Gb/s, expected 'cx7-400g' of 400 Gb/s as in %s: "
             "the jobs of a mix share their fabric",
             b, a);
    assert_string_equal(err.text, expected);
}

static void what_is_found_later_names_the_place(void **state)
{
    weir_fabric_scenario s = must_parse(CLUSTER TRAFFIC CANDIDATES);
    weir_err err = {0};
    assert_int_equal(weir_fabric_reject(&s, s.candidates[0].place, &err, "found %d, expected 2", 1),
                     WEIR_ERR_INPUT);
    assert_string_equal(err.text, "t.yaml:3:14: found 1, expected 2");
    assert_int_equal(err.line, 3);
    weir_fabric_scenario_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_whole_scenario),
        cmocka_unit_test(takes_defaults),
        cmocka_unit_test(parts_may_be_written_out),
        cmocka_unit_test(settings_are_part_of_the_scenario),
        cmocka_unit_test(says_what_is_wrong_with_a_cluster),
        cmocka_unit_test(says_what_is_wrong_with_traffic),
        cmocka_unit_test(says_what_is_wrong_with_candidates),
        cmocka_unit_test(says_what_is_wrong_with_the_rest),
        cmocka_unit_test(errors_of_settings_name_the_setting),
        cmocka_unit_test(a_matrix_of_nodes_is_spread_over_their_devices),
        cmocka_unit_test(says_what_is_wrong_with_files_beside_it),
        cmocka_unit_test(jobs_of_a_mix_share_candidates),
        cmocka_unit_test(what_is_found_later_names_the_place),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
