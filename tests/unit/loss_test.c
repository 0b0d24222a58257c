/* Optical loss budgets, calculated by hand from the figures in the comments. */
#include "fabric/loss.h"

#include "parts_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect_said(const weir_loss_input *input, const weir_loss *loss, const char *expected)
{
    weir_text text = {0};
    weir_loss_say(input, loss, &text);
    assert_string_equal(text.p, expected);
    weir_text_clear(&text);
}

/* 100 m of 0.35 dB/km, 2 circulators of 0.8 dB, Palomar 2 dB (3 dB at most): 3.635 and 4.635 dB.
 * Budgets of 802.3: DR4 3.0 dB, FR4 4.0 dB, LR8 6.3 dB. */
static void adds_up_the_way_of_a_circuit_and_names_the_module_that_closes(void **state)
{
    (void)state;
    weir_parts *parts = load();
    static const struct {
        const char *module;
        weir_loss_verdict verdict;
        const char *would_close, *said;
    } cases[] = {
        {"400g-dr4", WEIR_LOSS_OPEN, "400g-fr4",
         "3.63 dB (at most 4.63 dB) of the 3.00 dB that 400g-dr4 allows: does not close; 400g-fr4 "
         "(4.00 dB) would"},
        {"400g-fr4", WEIR_LOSS_CLOSES_TYPICAL, "400g-fr4-ocs",
         "3.63 dB (at most 4.63 dB) of the 4.00 dB that 400g-fr4 allows: closes at the typical "
         "loss of the switch, not at its largest; 400g-fr4-ocs (6.30 dB) would at both"},
        {"400g-lr8", WEIR_LOSS_CLOSES, NULL,
         "3.63 dB (at most 4.63 dB) of the 6.30 dB that 400g-lr8 allows: closes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_loss_input in = {.parts = parts,
                              .module = weir_parts_module(parts, weir_str_from(cases[i].module)),
                              .ocs = weir_parts_ocs(parts, WEIR_STR("palomar")),
                              .passes = 1,
                              .fibre_m = 100};
        weir_loss loss = weir_loss_of(&in);
        expect_near(loss.fibre_db, 0.035, 1e-12);
        expect_near(loss.circulator_db, 1.6, 1e-12);
        expect_near(loss.loss_db, 3.635, 1e-12);
        expect_near(loss.loss_max_db, 4.635, 1e-12);
        assert_int_equal(loss.verdict, cases[i].verdict);
        if (cases[i].would_close) {
            assert_string_equal(loss.would_close->id, cases[i].would_close);
        } else {
            assert_null(loss.would_close);
        }
        expect_said(&in, &loss, cases[i].said);
    }
    weir_parts_free(parts);
}

static void counts_each_pass_and_each_connector(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_module_part module = {.id = "m", .bytes_per_s = 1, .budget_db = 10};
    weir_ocs_part ocs = {.id = "o", .loss_db = 1.5, .loss_max_db = NAN};
    weir_loss_input in = {parts, &module, &ocs, 3, 2000, 4};
    weir_loss loss = weir_loss_of(&in);
    /* 2 km x 0.35 + 4 x 0.5 + 3 x 1.5 = 7.2 dB, no circulators; the largest is not known. */
    expect_near(loss.loss_db, 7.2, 1e-12);
    expect_near(loss.loss_max_db, 7.2, 1e-12);
    assert_int_equal(loss.verdict, WEIR_LOSS_CLOSES);
    module.budget_db = loss.loss_db; /* exactly enough is enough */
    assert_int_equal(weir_loss_of(&in).verdict, WEIR_LOSS_CLOSES);
    module.budget_db = 7.1;
    loss = weir_loss_of(&in);
    assert_int_equal(loss.verdict, WEIR_LOSS_OPEN);
    assert_null(loss.would_close);
    expect_said(&in, &loss,
                "7.20 dB of the 7.10 dB that m allows: does not close; no known module of that "
                "rate would");
    in.passes = 0;
    in.connectors = 0;
    expect_near(weir_loss_of(&in).loss_db, 0.7, 1e-12);
    weir_parts_free(parts);
}

static void never_closes_where_a_figure_is_not_known(void **state)
{
    (void)state;
    weir_parts *parts = load();
    weir_module_part module = {.id = "m", .bytes_per_s = 1, .budget_db = NAN};
    weir_ocs_part ocs = {.id = "o", .loss_db = NAN, .loss_max_db = NAN};
    weir_loss_input in = {.parts = parts, .module = &module, .ocs = &ocs, .passes = 1};
    weir_loss loss = weir_loss_of(&in);
    assert_int_equal(loss.verdict, WEIR_LOSS_UNKNOWN);
    expect_said(&in, &loss, "the optical loss budget is open: no budget of 'm' is known");
    module.budget_db = 1000;
    loss = weir_loss_of(&in);
    assert_int_equal(loss.verdict, WEIR_LOSS_UNKNOWN);
    assert_true(isnan(loss.loss_db));
    expect_said(&in, &loss, "the optical loss budget is open: no loss of 'o' is known");
    ocs.loss_db = 1;
    assert_int_equal(weir_loss_of(&in).verdict, WEIR_LOSS_CLOSES);
    weir_parts_free(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_the_way_of_a_circuit_and_names_the_module_that_closes),
        cmocka_unit_test(counts_each_pass_and_each_connector),
        cmocka_unit_test(never_closes_where_a_figure_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
