/* candidate_fixture.h: scenarios for the tests of candidate networks, made without a file. */
#ifndef WEIR_TESTS_CANDIDATE_FIXTURE_H
#define WEIR_TESTS_CANDIDATE_FIXTURE_H

#include "study/fabric_candidate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Parts with round figures: what a test expects is counted by hand from these. */
static const weir_nic_part nic_50 = {"nic-50", "NIC", 50e9, 0, 20};
static const weir_switch_part switch_16 = {"switch-16", "16 ports", 16, 50e9, 500e-9, 300};
static const weir_module_part module_50 = {.id = "module-50",
                                           .kind = WEIR_MODULE_PLUGGABLE,
                                           .bytes_per_s = 50e9,
                                           .watts = 10,
                                           .latency_s = 100e-9,
                                           .budget_db = 6,
                                           .reach_m = 500};
static const weir_link_part node_link_400 = {"node-link", "switched", WEIR_NODE_SWITCHED, 400e9, 0};
static const weir_ocs_part ocs_32 = {.id = "ocs-32",
                                     .ports = 32,
                                     .circulators = true,
                                     .switch_s = 10e-3,
                                     .linkup_s = 5e-3,
                                     .loss_db = 2,
                                     .watts = 100};

enum { FIXTURE_PHASES = 3 };

typedef struct {
    weir_fabric_scenario scenario;
    weir_phase phases[FIXTURE_PHASES];
    weir_candidate candidate;
} fixture;

static inline weir_candidate candidate_of(weir_candidate_kind kind)
{
    return (weir_candidate){.name = "tried",
                            .kind = kind,
                            .sw = &switch_16,
                            .oversubscription = {1, 1},
                            .module = &module_50,
                            .optical_from = WEIR_OPTICAL_LEAF,
                            .length_m = {3, 30, 100},
                            .efficiency = NAN,
                            .block = WEIR_BLOCK_LEAF,
                            .ocs = &ocs_32,
                            .switch_s = 10e-3,
                            .linkup_s = 5e-3,
                            .slot_s = 100e-6,
                            .light_share = 0.5};
}

static inline void fixture_begin(fixture *f, uint32_t nodes, uint32_t devices,
                                 weir_candidate candidate)
{
    weir_err err = {0};
    memset(f, 0, sizeof *f);
    f->candidate = candidate;
    f->scenario.cluster =
        (weir_cluster){.nodes = nodes, .devices = devices, .nics = devices, .nic = &nic_50};
    f->scenario.cluster.node_link = devices > 1 ? &node_link_400 : NULL;
    f->phases[0] = (weir_phase){.name = "ring", .times = 1, .slack_s = NAN};
    f->phases[0].collective = WEIR_COLLECTIVE_ALL_REDUCE;
    f->scenario.phases = f->phases;
    f->scenario.phase_count = 1;
    f->scenario.steps = 1;
    f->scenario.candidates = &f->candidate;
    f->scenario.candidate_count = 1;
    if (weir_parts_load(&f->scenario.parts, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
}

static inline void fixture_end(fixture *f)
{
    weir_parts_free(f->scenario.parts);
}

static inline weir_candidate_network build(const fixture *f, const weir_candidate_demand *demand)
{
    weir_candidate_network n = {0};
    weir_err err = {0};
    if (weir_candidate_network_build(&f->scenario, 0, demand, &n, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return n;
}

static inline weir_candidate_network build_played(const fixture *f,
                                                  const weir_candidate_demand *demand)
{
    weir_candidate_network n = build(f, demand);
    if (n.refused) {
        fail_msg("refused: %s", n.refused);
    }
    return n;
}

static inline void expect_refused(const fixture *f, const weir_candidate_demand *demand,
                                  const char *because)
{
    weir_candidate_network n = build(f, demand);
    if (!n.refused || !strstr(n.refused, because)) {
        fail_msg("refused: %s, expected: %s", n.refused ? n.refused : "not", because);
    }
    assert_null(n.layout);
    weir_candidate_network_clear(&n);
}

static inline weir_route route_of(weir_candidate_network *n, weir_road road, uint32_t from,
                                  uint32_t to)
{
    weir_route route;
    weir_err err = {0};
    if (weir_layout_find(n->layout, road, from, to, 0, &route, &err) != WEIR_OK) {
        fail_msg("%s", err.text);
    }
    return route;
}

static inline void expect_close(const char *what, double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected))) {
        fail_msg("%s: found %.17g, expected %.17g", what, found, expected);
    }
}

static inline const weir_switch_need *switches_at(const weir_candidate_network *n,
                                                  const char *place)
{
    for (uint32_t i = 0; i < n->switch_rows; i++) {
        if (strcmp(n->switches[i].place, place) == 0) {
            return &n->switches[i];
        }
    }
    fail_msg("no switches at %s", place);
    return NULL;
}

static inline const weir_cable_need *cables_at(const weir_candidate_network *n, const char *place)
{
    for (uint32_t i = 0; i < n->cable_rows; i++) {
        if (strcmp(n->cables[i].place, place) == 0) {
            return &n->cables[i];
        }
    }
    fail_msg("no cables at %s", place);
    return NULL;
}

#endif
