#include "cli/fabric_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 16 };

/* Cuts line at '|' into an argument vector. */
static weir_code parse(const char *line, fabric_options *options, weir_err *err)
{
    static char words[1024];
    char *argv[WORDS];
    int argc = 0;
    size_t n = strlen(line);
    assert_true(n < sizeof words);
    memcpy(words, line, n + 1);
    argv[argc++] = words;
    for (char *p = words; *p; p++) {
        if (*p == '|') {
            *p = '\0';
            assert_true(argc < WORDS);
            argv[argc++] = p + 1;
        }
    }
    return fabric_options_parse(argc, argv, options, err);
}

static void reads_settings_candidates_and_sweeps_in_their_order(void **state)
{
    fabric_options o;
    weir_err err = {0};
    (void)state;
    assert_int_equal(parse("fabric|job.yaml|--set|cluster.nodes=64|--set=name=a=b|--candidate|A|"
                           "--sweep|seed=1,2,3|--sweep|candidates.0.oversubscription=[1,1],[3,1]",
                           &o, &err),
                     WEIR_OK);
    assert_string_equal(o.scenario, "job.yaml");
    assert_int_equal(o.setting_count, 2);
    assert_string_equal(o.settings[0].key, "cluster.nodes");
    assert_string_equal(o.settings[0].value, "64");
    assert_string_equal(o.settings[1].key, "name");
    assert_string_equal(o.settings[1].value, "a=b");
    assert_int_equal(o.candidate_count, 1);
    assert_int_equal(o.sweep_count, 2);
    assert_int_equal(o.sweep[0].count, 3);
    assert_string_equal(o.sweep[1].values[1], "[3,1]");
    fabric_options_clear(&o);
}

static void reads_what_is_to_be_found_and_what_may_be_lost(void **state)
{
    fabric_options o;
    weir_err err = {0};
    (void)state;
    assert_int_equal(parse("fabric|-|--find|switching|--lose|2.5%", &o, &err), WEIR_OK);
    assert_true(o.finds);
    assert_int_equal(o.find, WEIR_FIND_SWITCHING);
    assert_true(o.lose_share > 0.02499 && o.lose_share < 0.02501);
    fabric_options_clear(&o);
}

static void a_mix_names_its_scenarios_itself(void **state)
{
    fabric_options o;
    weir_err err = {0};
    (void)state;
    assert_int_equal(parse("fabric|--mix|a.yaml:3,b.yaml:1", &o, &err), WEIR_OK);
    assert_null(o.scenario);
    assert_int_equal(o.mix_count, 2);
    assert_string_equal(o.mix[1].path, "b.yaml");
    assert_true(o.mix[0].weight > 0.7499 && o.mix[0].weight < 0.7501);
    fabric_options_clear(&o);
}

static void several_scenarios_are_played_one_after_the_other(void **state)
{
    fabric_options o;
    weir_err err = {0};
    (void)state;
    assert_int_equal(parse("fabric|a.yaml|--|b.yaml", &o, &err), WEIR_OK);
    assert_int_equal(o.scenario_count, 2);
    assert_string_equal(o.scenario, "a.yaml");
    assert_string_equal(o.scenarios[1], "b.yaml");
    fabric_options_clear(&o);
}

static void several_series_stand_in_one_list(void **state)
{
    fabric_options o;
    weir_err err = {0};
    (void)state;
    assert_int_equal(parse("fabric|a.yaml|--json|--series|links,timeline", &o, &err), WEIR_OK);
    assert_true(o.series_links && o.series_timeline);
    fabric_options_clear(&o);
}

static void wrong_usage_is_named(void **state)
{
    static const struct {
        const char *line, *sentence;
    } rows[] = {
        {"fabric", "fabric: no scenario is named; see weir help fabric"},
        {"fabric|a.yaml|b.yaml|--json", "fabric: several scenarios have text only; --mix is for "
                                        "jobs that share a fabric"},
        {"fabric|a.yaml|--set|nodes", "--set: expected KEY=VALUE, such as cluster.nodes=64, found "
                                      "nodes"},
        {"fabric|a.yaml|--set|=3", "--set: expected KEY=VALUE, such as cluster.nodes=64, found =3"},
        {"fabric|a.yaml|--json|--csv", "fabric: --json and --csv exclude each other"},
        {"fabric|a.yaml|--find|ports", "fabric: --find and --lose need each other, e.g. --find "
                                       "oversubscription --lose 2%"},
        {"fabric|a.yaml|--lose|2%", "fabric: --find and --lose need each other, e.g. --find "
                                    "oversubscription --lose 2%"},
        {"fabric|a.yaml|--lose|2", "--lose: expected a percentage such as 2%, found 2"},
        {"fabric|a.yaml|--find|ports|--lose|1%|--sweep|seed=1,2",
         "fabric: --sweep, --find, --mix and --compare exclude each other"},
        {"fabric|a.yaml|--sweep|seed=1,2|--bom|x",
         "fabric: questions and --bom or --perfetto exclude each other"},
        {"fabric|a.yaml|--mix|a.yaml:1,b.yaml:1", "fabric: SCENARIO and --mix exclude each other"},
        {"fabric|a.yaml|--series|links", "fabric: --series needs --json"},
        {"fabric|a.yaml|--candidat|A", "fabric: unknown option --candidat; did you mean "
                                       "--candidate?"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fabric_options o;
        weir_err err = {0};
        assert_int_equal(parse(rows[i].line, &o, &err), WEIR_ERR_USAGE);
        assert_string_equal(err.text, rows[i].sentence);
        assert_null(o.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_settings_candidates_and_sweeps_in_their_order),
        cmocka_unit_test(reads_what_is_to_be_found_and_what_may_be_lost),
        cmocka_unit_test(a_mix_names_its_scenarios_itself),
        cmocka_unit_test(several_scenarios_are_played_one_after_the_other),
        cmocka_unit_test(several_series_stand_in_one_list),
        cmocka_unit_test(wrong_usage_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
