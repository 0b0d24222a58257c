#include "report/fabric_questions.h"
#include "result/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_sample.h"

static void assert_has(const weir_text *text, const char *part)
{
    if (strstr(text->p, part) == NULL) {
        fail_msg("not found: %s\nin:\n%s", part, text->p);
    }
}

static weir_text json_of(const weir_result *r)
{
    weir_text text = {0};
    weir_err err = {0};
    assert_int_equal(weir_result_json(&text, r, &err), WEIR_OK);
    return text;
}

static void a_sweep_shows_the_best_and_each_step(void **state)
{
    const char *keys[] = {"cluster.nodes"}, *eight[] = {"8"}, *none[] = {"0"};
    weir_result *r = fabric_sample();
    weir_fabric_point points[] = {{eight, NULL, r->fabric}, {none, "No nodes.", NULL}};
    weir_fabric_sweep sweep = {keys, 1, points, 2};
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    r->sweep = &sweep;
    assert_int_equal(weir_report_sweep(&text, r, false, &err), WEIR_OK);
    assert_int_equal(strncmp(text.p, "SIMULATED  ", 11), 0);
    assert_has(&text, "\nnodes     best        A        B        C  D\n");
    assert_has(&text, "\n    8        B  1.000 s  1.010 s  1.060 s  -\n");
    assert_has(&text, "\n    0  refused        -        -        -  -\n"
                      "Refused: No nodes.\n");
    weir_text_clear(&text);
    text = json_of(r);
    assert_has(&text, "\"sweep\": {\n  \"keys\": [\"cluster.nodes\"],");
    assert_has(&text, "\"values\": [\"8\"],\n    \"refused\": null,\n    \"recommended\": "
                      "\"B ocs per job\"");
    assert_has(&text, "\"refused\": \"No nodes.\",\n    \"recommended\": null,\n    "
                      "\"candidates\": []");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void what_was_found_is_a_sentence_for_each_candidate(void **state)
{
    weir_fabric_find find = {.what = "oversubscription",
                             .unit = "",
                             .candidate = "A clos 1:1",
                             .lose_share = 0.02,
                             .end = "inside",
                             .value = 3,
                             .step_s = 1.01,
                             .reference_s = 1,
                             .next_value = 4,
                             .next_step_s = 1.03,
                             .sentence = "A takes 3:1."};
    weir_result *r = fabric_sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    r->finds = &find;
    r->find_count = 1;
    assert_int_equal(weir_report_find(&text, r, false, &err), WEIR_OK);
    assert_has(&text, "oversubscription for at most 2.0 % of the step\n\nA takes 3:1.\n");
    weir_text_clear(&text);
    text = json_of(r);
    assert_has(&text, "{\"what\": \"oversubscription\", \"candidate\": \"A clos 1:1\", "
                      "\"lose_share\": 0.02, \"end\": \"inside\", \"value\": 3, \"unit\": \"\", "
                      "\"step_s\": 1.01, \"reference_s\": 1, \"next_value\": 4, "
                      "\"next_step_s\": 1.03, \"next_refused\": null, "
                      "\"sentence\": \"A takes 3:1.\"}");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void a_mix_shows_its_jobs_and_marks_the_best(void **state)
{
    const char *jobs[] = {"dense.yaml", "moe.yaml"};
    const double weights[] = {0.6, 0.4}, steps[] = {1, 2};
    weir_fabric_mix_row rows[] = {
        {.name = "A clos 1:1", .ratio = 1.05, .wait_share = {0.9, 0.1}, .job_step_s = steps},
        {.name = "D torus", .refused = "Too few places.", .ratio = NAN}};
    weir_fabric_mix mix = {jobs, weights, 2, rows, 2, 0};
    weir_result *r = fabric_sample();
    weir_text text = {0};
    weir_err err = {0};
    (void)state;
    r->mix = &mix;
    assert_int_equal(weir_report_mix(&text, r, false, &err), WEIR_OK);
    assert_has(&text, "\n  job 1: dense.yaml, 60 %\n  job 2: moe.yaml, 40 %\n");
    assert_has(&text, "\nA clos 1:1         1.050      10.0 %  1.000 s  2.000 s  <-\n");
    assert_has(&text, "\nD torus          refused\n");
    assert_has(&text, "\nRefused: D torus: Too few places.\n");
    weir_text_clear(&text);
    text = json_of(r);
    assert_has(&text, "\"best\": \"A clos 1:1\"");
    assert_has(&text, "{\"scenario\": \"moe.yaml\", \"weight\": 0.4}");
    assert_has(&text, "\"ratio\": null, \"wait_shares\"");
    assert_has(&text, "\"job_step_s\": [1, 2]}");
    weir_text_clear(&text);
    weir_result_free(r);
}

static void links_are_a_series_where_they_are_asked_for(void **state)
{
    const double at_s[] = {0, 0.5}, load[] = {5e10, 0};
    weir_fabric_link_row link = {.name = "leaf 0 -> spine 1",
                                 .tier = "between_racks",
                                 .multiplicity = 4,
                                 .capacity_bytes_per_s = 5e10,
                                 .count = 2,
                                 .at_s = at_s,
                                 .bytes_per_s = load};
    weir_result *r = fabric_sample();
    (void)state;
    r->fabric->links = &link;
    r->fabric->link_count = 1;
    weir_text text = json_of(r);
    assert_null(strstr(text.p, "\"series\""));
    weir_text_clear(&text);
    r->with_links = true;
    text = json_of(r);
    assert_has(&text, "{\"link\": \"leaf 0 -> spine 1\", \"tier\": \"between_racks\", "
                      "\"multiplicity\": 4, \"capacity_bytes_per_s\": 50000000000, "
                      "\"at_s\": [0, 0.5], \"bytes_per_s\": [50000000000, 0]}");
    weir_text_clear(&text);
    weir_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_shows_the_best_and_each_step),
        cmocka_unit_test(what_was_found_is_a_sentence_for_each_candidate),
        cmocka_unit_test(a_mix_shows_its_jobs_and_marks_the_best),
        cmocka_unit_test(links_are_a_series_where_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
