#include "report/fabric_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_sample.h"

static weir_text text_of(const weir_result *r, bool traffic)
{
    weir_text text = {0};
    weir_err err = {0};
    weir_fabric_text_options options = {.traffic = traffic};
    assert_int_equal(weir_report_fabric(&text, r, &options, &err), WEIR_OK);
    return text;
}

static void assert_has(const weir_text *text, const char *part)
{
    if (strstr(text->p, part) == NULL) {
        fail_msg("not found: %s\nin:\n%s", part, text->p);
    }
}

/* Wherever the line is broken. */
static void assert_says(const weir_text *text, const char *part)
{
    weir_text flat = {0};
    for (size_t i = 0; i < text->n; i++) {
        bool broken = strncmp(text->p + i, "\n  ", 3) == 0;
        weir_text_char(&flat, broken ? ' ' : text->p[i]);
        i += broken ? 2 : 0;
    }
    assert_has(&flat, part);
    weir_text_clear(&flat);
}

static void assert_has_not(const weir_text *text, const char *part)
{
    if (strstr(text->p, part) != NULL) {
        fail_msg("found: %s\nin:\n%s", part, text->p);
    }
}

static void assert_narrow(const weir_text *text)
{
    size_t begin = 0;
    for (size_t i = 0; i < text->n; i++) {
        if (text->p[i] == '\n') {
            if (i - begin > 80) {
                fail_msg("%zu columns: %.*s", i - begin, (int)(i - begin), text->p + begin);
            }
            begin = i + 1;
        }
    }
    assert_int_equal(begin, text->n);
}

/* The figures of the sample, by hand: waiting 64 x 80 ms of 64 x 1000 ms is 8.0 %. */
static void the_table_has_a_row_for_each_candidate_and_one_arrow(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    weir_text text = text_of(r, false);
    assert_int_equal(strncmp(text.p, "SIMULATED  ", 11), 0);
    assert_has(&text, "64 devices, 8 nodes, 4 candidates");
    assert_has(&text,
               "\nA clos 1:1       1.00 s  8.0 %  4.00 6.07 355 (248-436)    5.50     132\n");
    assert_has(&text,
               "\nB ocs per job    1.01 s  8.9 %  2.00 2.90 211 (151-290)    2.60     149 <-\n");
    assert_ptr_equal(strstr(strstr(text.p, "<-") + 2, "<-"), NULL);
    assert_has(&text, "\nD torus         refused\n");
    assert_has(&text, "Refused: D torus: 4 x 4 x 3 are 48 places for 64 devices.\n");
    assert_narrow(&text);
    weir_text_clear(&text);
    weir_result_free(r);
}

static void sentences_name_what_decides(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    weir_text text = text_of(r, false);
    assert_says(&text,
                "B costs least; with a port of an OCS above $ 940 A wins. Light is set once");
    assert_says(&text, "Light stops paying at: switching + link-up > 41 ms, or messages < 4.50 MB, "
                       "or persistence < 0.83.");
    assert_says(&text, "B 3.1 of 4.0 dB, closes; C 5.2 of 4.0 dB, does NOT close.");
    assert_says(&text, "in nodes 0.21 %, hall 0.09 %"); /* 0.0021 and 0.0009 of 1.01 s */
    assert_says(&text, "One dead: A spine 0 +5.0 %; B OCS 0 +1.6 % (8 spare ports).");
    assert_says(&text, "94 % of it suits light. Light: data.");
    assert_says(&text, "Packets: expert.");
    assert_says(&text, "communication latency 10 %, bandwidth 90 %.");
    assert_says(&text, "Not modelled: ");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void the_next_dollar_goes_where_something_is_gained(void **state)
{
    weir_result *r = fabric_sample();
    weir_fabric_candidate_row *best = &r->fabric->candidates[r->fabric->recommended];
    (void)state;
    best->bottleneck.link = "spine 0 -> core 0";
    for (int i = 0; i < 4; i++) {
        best->marginal_s_per_percent[i] = i == 3 ? best->step_s * 0.0072 : 0;
    }
    weir_text text = text_of(r, false);
    assert_says(&text, "gains hall 0.72 %; nothing in nodes, between nodes, between racks; most at "
                       "spine 0 -> core 0.");
    weir_text_clear(&text);
    best->marginal_s_per_percent[3] = best->step_s * 0.00004; /* is shown as 0.00 % */
    best->marginal_s_per_percent[0] = NAN;                    /* it has no such links */
    text = text_of(r, false);
    assert_says(&text, "1 % more bandwidth of one tier alone gains nothing (tried: between nodes, "
                       "between racks, hall).");
    assert_has_not(&text, "most at");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void nothing_is_said_about_prices_that_are_missing(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    r->fabric->flip_count = 0;
    weir_text text = text_of(r, false);
    assert_says(&text, "at every price in the ranges. Light is set once");
    weir_text_clear(&text);
    for (uint32_t i = 0; i < r->fabric->candidate_count; i++) {
        weir_fabric_candidate_row *row = &r->fabric->candidates[i];
        row->usd = row->usd_low = row->usd_high = row->total_usd_per_year = NAN;
        row->opex_usd_per_year = row->waiting_usd_per_year = row->watts = NAN;
    }
    r->fabric->unpriced = "no price of nic-x";
    text = text_of(r, false);
    assert_says(&text, "B is the fastest; its cost a year is not known: no price of nic-x.");
    assert_has_not(&text, "costs least");
    assert_has_not(&text, " nan");
    assert_narrow(&text);
    weir_text_clear(&text);
    weir_result_free(r);
}

/* A name of one letter is in every sentence. */
static void a_refusal_names_its_candidate(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    weir_fabric_candidate_row *row = &r->fabric->candidates[r->fabric->candidate_count - 1];
    row->name = "c";
    row->refused = "'b' never ends: the link of device 0 is broken";
    weir_text text = text_of(r, false);
    assert_says(&text, "Refused: c: 'b' never ends");
    weir_text_clear(&text);
    row->refused = "candidate 'c': no way round";
    text = text_of(r, false);
    assert_says(&text, "Refused: candidate 'c': no way round");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void who_holds_up_the_others_is_said(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    r->verdict.sentence = "Rank 5 makes the others wait.";
    weir_text text = text_of(r, false);
    assert_has_not(&text, "Rank 5"); /* a verdict that blames nobody is in the table already */
    weir_text_clear(&text);
    r->verdict.blames = true;
    text = text_of(r, false);
    assert_says(&text, "Rank 5 makes the others wait.");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void a_candidate_that_never_ends_is_not_the_best(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    r->total.causes.ns[WEIR_CAUSE_DEPENDENCY_FAILURE] = 1;
    weir_text text = text_of(r, false);
    assert_says(&text, "B never ends the step: a broken link stops it (dependency.failure).");
    assert_has_not(&text, "costs least");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void one_missing_price_ends_the_comparison_of_prices(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    r->fabric->candidates[0].total_usd_per_year = NAN;
    weir_text text = text_of(r, false);
    assert_has(&text, "B is the fastest.");
    weir_text_clear(&text);
    r->fabric->candidates[0].refused = "Too few ports.";
    text = text_of(r, false);
    assert_has(&text, "B costs least");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void a_part_whose_loss_cuts_devices_off_stops_the_job(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    r->fabric->candidates[0].failure_step_s = INFINITY;
    weir_text text = text_of(r, false);
    assert_says(&text, "One dead: A without spine 0 not at all; B OCS 0 +1.6 %");
    weir_text_clear(&text);
    r->fabric->candidates[1].stoppers = "leaf 0, the first NIC's link";
    text = text_of(r, false);
    assert_says(&text, "B OCS 0 +1.6 %, without leaf 0, the first NIC's link not at all (8 spare");
    weir_text_clear(&text);
    for (uint32_t i = 0; i < 3; i++) {
        r->fabric->candidates[i].failure_step_s = INFINITY;
        r->fabric->candidates[i].failure_part = r->fabric->candidates[i].stoppers = "leaf 0";
    }
    text = text_of(r, false);
    assert_says(&text, "One dead: without leaf 0 the job does not run.");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void the_traffic_table_says_why_and_what_is_for_contrast(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    weir_text text = text_of(r, true);
    assert_has(&text,
               "\ngradients  data     94.0 GB 64.0 MB   2.0   6.1  0.97   20.0 50.0 light\n");
    assert_has(&text, "  tokens: packets, because 63 partners that change.\n");
    assert_has(&text, "(for contrast: not\n    carried here)");
    assert_narrow(&text);
    weir_text_clear(&text);
    weir_result_free(r);
}

static void names_cannot_drive_the_terminal_nor_widen_the_page(void **state)
{
    weir_result *r = fabric_sample();
    (void)state;
    r->fabric->candidates[0].name = "A\033[31m a name that is far too long for any column of this";
    r->fabric->candidates[1].name = "circuits";
    weir_text text = text_of(r, true);
    assert_ptr_equal(strchr(text.p, '\033'), NULL);
    assert_has(&text, "circuits costs least");
    assert_narrow(&text);
    weir_text_clear(&text);
    weir_result_free(r);
}

static void an_empty_comparison_is_a_page_too(void **state)
{
    weir_result *r = weir_result_new();
    (void)state;
    r->simulated = true;
    r->fabric = weir_arena_alloc(r->arena, 1, sizeof(*r->fabric));
    r->fabric->recommended = WEIR_NONE;
    r->fabric->break_even = (weir_fabric_break_even){NAN, NAN, NAN, NULL};
    weir_text text = text_of(r, true);
    assert_int_equal(strncmp(text.p, "SIMULATED  ", 11), 0);
    assert_has_not(&text, "Light stops");
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_a_row_for_each_candidate_and_one_arrow),
        cmocka_unit_test(sentences_name_what_decides),
        cmocka_unit_test(the_next_dollar_goes_where_something_is_gained),
        cmocka_unit_test(nothing_is_said_about_prices_that_are_missing),
        cmocka_unit_test(a_refusal_names_its_candidate),
        cmocka_unit_test(who_holds_up_the_others_is_said),
        cmocka_unit_test(a_candidate_that_never_ends_is_not_the_best),
        cmocka_unit_test(one_missing_price_ends_the_comparison_of_prices),
        cmocka_unit_test(a_part_whose_loss_cuts_devices_off_stops_the_job),
        cmocka_unit_test(the_traffic_table_says_why_and_what_is_for_contrast),
        cmocka_unit_test(names_cannot_drive_the_terminal_nor_widen_the_page),
        cmocka_unit_test(an_empty_comparison_is_a_page_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
