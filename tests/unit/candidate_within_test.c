/* Circuits that are set within a phase, counted by hand. Eight leaves of 8 nodes, 8 ends of 50 GB/s
 * each, two switches of 4 ends of each leaf, with or without circulators; d = 15 ms. */
#include "study/candidate_within.h"

#include "candidate_fixture.h"

enum { NODES = 64, LEAF_NODES = 8, BLOCKS = 8 };

/* Device d sends so much to the one that is so many further on: up to two such rows. */
typedef struct {
    uint32_t shift[2];
    double bytes[2];
} shifts;

static weir_code between(const void *context, uint32_t phase, const uint32_t *block_of_device,
                         weir_demand *demand, weir_err *err)
{
    const shifts *s = context;
    (void)phase;
    (void)err;
    for (uint32_t d = 0; d < NODES; d++) {
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t to = block_of_device[(d + s->shift[k]) % NODES];
            demand->bytes[(size_t)block_of_device[d] * demand->n + to] += s->bytes[k];
        }
    }
    return WEIR_OK;
}

static void begin(fixture *f, weir_ocs_part *ocs, bool circulators)
{
    fixture_begin(f, NODES, 1, candidate_of(WEIR_CANDIDATE_OCS_PHASE));
    *ocs = ocs_32;
    ocs->ports = circulators ? 32 : 64;
    ocs->circulators = circulators;
    f->candidate.ocs = ocs;
    f->candidate.within = WEIR_WITHIN_BIRKHOFF;
    f->phases[0] = (weir_phase){.name = "two shifts",
                                .times = 1,
                                .slack_s = NAN,
                                .kind = WEIR_PHASE_PATTERN,
                                .pattern = WEIR_PATTERN_SHIFT,
                                .degree = 1,
                                .bytes = 1};
}

/* Of what block 0 sends to another one, by part. */
static double part_of(const weir_candidate_network *n, uint32_t part, uint32_t to)
{
    const weir_phase_part *p = &n->phases[0].parts[part];
    return p->to[0] == to ? p->share[0] : 0;
}

static uint32_t circuits_of(weir_candidate_network *n, weir_road road, uint32_t to)
{
    weir_route route = route_of(n, road, 0, to * LEAF_NODES);
    uint32_t count = 0;
    for (uint32_t i = 0; i < route.path.count; i++) {
        count += weir_layout_is_circuit(n->layout, route.path.links[i]);
    }
    return count;
}

/* 8 GB a block to the next one, 4 GB to the one after it: two permutations with all 8 ends each. */
static void each_setting_leads_all_ends_of_a_block_to_one_other(void **state)
{
    (void)state;
    const shifts s = {{LEAF_NODES, 2 * LEAF_NODES}, {1e9, 0.5e9}};
    const weir_candidate_demand demand = {&s, between};
    weir_ocs_part ocs;
    fixture f;
    begin(&f, &ocs, false);
    weir_candidate_network n = build_played(&f, &demand);
    const weir_phase_road *road = &n.phases[0];
    assert_int_equal(road->part_count, 2);
    assert_int_equal(road->blocks, BLOCKS);
    assert_int_equal(n.resets, 2);
    assert_int_equal(n.designs, 2);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t partner = road->parts[k].to[0];
        assert_int_equal(road->parts[k].circuits, k + 1);
        assert_int_equal(circuits_of(&n, road->parts[k].road, partner), 8);
        assert_int_equal(road->parts[k].has_inside, k == 0);
    }
    expect_close("next", part_of(&n, 0, 1) + part_of(&n, 1, 1), 1);
    expect_close("after it", part_of(&n, 0, 2) + part_of(&n, 1, 2), 1);
    assert_string_equal(n.notes[n.note_count - 2],
                        "phase 'two shifts': design: birkhoff, 2 settings within the phase");
    assert_string_equal(n.notes[n.note_count - 1],
                        "circuits are set 2 times a period, 30 ms of it waited for");
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* A cycle of eight: 4 of the 8 ends lead on, 4 back. Half of the way round is a set of pairs. */
static void with_circulators_a_cycle_has_half_of_the_ends_and_pairs_have_all(void **state)
{
    (void)state;
    const shifts s = {{LEAF_NODES, 4 * LEAF_NODES}, {1e9, 0.5e9}};
    const weir_candidate_demand demand = {&s, between};
    weir_ocs_part ocs;
    fixture f;
    begin(&f, &ocs, true);
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.phases[0].part_count, 2);
    for (uint32_t k = 0; k < 2; k++) {
        const weir_phase_part *part = &n.phases[0].parts[k];
        assert_int_equal(circuits_of(&n, part->road, part->to[0]), part->to[0] == 4 ? 8 : 4);
    }
    weir_candidate_network_clear(&n);
    f.candidate.ocs_planes = 8; /* one end on each */
    expect_refused(&f, &demand, "a block needs two ends on each optical switch");
    fixture_end(&f);
}

/* One permutation fits one set of circuits, whatever was asked for. */
static void a_demand_that_one_set_carries_stays_as_it_was(void **state)
{
    (void)state;
    const shifts s = {{LEAF_NODES, LEAF_NODES}, {1e9, 1e9}};
    const weir_candidate_demand demand = {&s, between};
    weir_ocs_part ocs;
    fixture f;
    begin(&f, &ocs, false);
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.phases[0].part_count, 0);
    assert_int_equal(n.resets, 0);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* A ring needs all of its circuits at once. */
static void rings_are_not_taken_apart(void **state)
{
    (void)state;
    const shifts s = {{LEAF_NODES, 2 * LEAF_NODES}, {1e9, 0.5e9}};
    const weir_candidate_demand demand = {&s, between};
    weir_ocs_part ocs;
    fixture f;
    begin(&f, &ocs, false);
    f.phases[0].kind = WEIR_PHASE_COLLECTIVE;
    f.phases[0].collective = WEIR_COLLECTIVE_ALL_REDUCE;
    f.phases[0].algorithm = WEIR_ALGORITHM_COUNT;
    weir_candidate_network n = build_played(&f, &demand);
    assert_int_equal(n.phases[0].part_count, 0);
    weir_candidate_network_clear(&n);
    fixture_end(&f);
}

/* 3 repetitions of 2 settings of 20 and 10 ms, d = 15 ms, 5 ms computed before each: within
 * 3 x (30 + 15), entered 3 times for 10 (the last setting leads back to the first), or twice where
 * another phase set them before. */
static void the_time_of_a_sequence_is_its_settings_and_the_delays_between(void **state)
{
    (void)state;
    weir_ocs_part ocs;
    fixture f;
    begin(&f, &ocs, false);
    f.phases[0].times = 3;
    f.phases[0].compute_s = 5e-3;
    weir_candidate_network n = {.circuit_s = 15e-3};
    const candidate_build b = {&f.scenario, &f.candidate, NULL, &n};
    light_sequence two = {.count = 2, .transfer_s = 30e-3};
    double waited_s;
    expect_close("again", candidate_sequence_s(&b, 0, &two, true, &waited_s), 165e-3);
    expect_close("waited", waited_s, 75e-3);
    expect_close("once", candidate_sequence_s(&b, 0, &two, false, &waited_s), 155e-3);
    assert_int_equal(candidate_sequence_resets(&b, 0, &two, true), 6);
    assert_int_equal(candidate_sequence_resets(&b, 0, &two, false), 5);
    two.packets_s = 50e-3; /* beside them: longer than 30 + 15 */
    expect_close("packets", candidate_sequence_s(&b, 0, &two, false, &waited_s), 170e-3);
    const light_sequence one = {.count = 1, .transfer_s = 30e-3};
    expect_close("one", candidate_sequence_s(&b, 0, &one, true, &waited_s), 90e-3);
    assert_int_equal(candidate_sequence_resets(&b, 0, &one, true), 0);
    fixture_end(&f);
}

/* All 8 ends to the next block for 8 GB, to the one after it for 4 GB: 20 + 10 + 2 x 15 = 60 ms.
 * Circuits that stay are whole ends: at best 5 and 3 of 8, 8 GB over 5 of 50 GB/s: 32 ms. With a
 * hundred times the bytes: 3000 + 30 against 3200 ms. */
static void auto_takes_what_is_faster(void **state)
{
    (void)state;
    static const struct {
        double times;
        uint32_t parts;
    } rows[] = {{1, 0}, {100, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double each = rows[i].times * 1e9;
        const shifts s = {{LEAF_NODES, 2 * LEAF_NODES}, {each, each / 2}};
        const weir_candidate_demand demand = {&s, between};
        weir_ocs_part ocs;
        fixture f;
        begin(&f, &ocs, false);
        f.candidate.within = WEIR_WITHIN_AUTO;
        f.candidate.design = WEIR_DESIGN_MATCHING;
        weir_candidate_network n = build_played(&f, &demand);
        if (n.phases[0].part_count != rows[i].parts) {
            fail_msg("row %zu: %u parts, expected %u", i, n.phases[0].part_count, rows[i].parts);
        }
        weir_candidate_network_clear(&n);
        fixture_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_setting_leads_all_ends_of_a_block_to_one_other),
        cmocka_unit_test(with_circulators_a_cycle_has_half_of_the_ends_and_pairs_have_all),
        cmocka_unit_test(a_demand_that_one_set_carries_stays_as_it_was),
        cmocka_unit_test(rings_are_not_taken_apart),
        cmocka_unit_test(the_time_of_a_sequence_is_its_settings_and_the_delays_between),
        cmocka_unit_test(auto_takes_what_is_faster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
