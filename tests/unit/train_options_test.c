#include "cli/train_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 16 };

/* Cuts line at '|' into an argument vector. */
static weir_code parse(const char *line, train_options *options, weir_err *err)
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
    return train_options_parse(argc, argv, options, err);
}

static void refused(const char *line, const char *sentence)
{
    train_options o;
    weir_err err = {0};
    assert_int_equal(parse(line, &o, &err), WEIR_ERR_USAGE);
    assert_string_equal(err.text, sentence);
    assert_null(o.arena);
}

static void reads_settings_and_sweeps_in_their_order(void **state)
{
    train_options o;
    weir_err err = {0};
    assert_int_equal(parse("train|job.yaml|--set|plan.tensor=8|--set=name=a=b|"
                           "--sweep|plan.zero=0,1,3|--threads|2",
                           &o, &err),
                     WEIR_OK);
    assert_string_equal(o.scenario, "job.yaml");
    assert_int_equal(o.setting_count, 2);
    assert_string_equal(o.settings[1].key, "name");
    assert_string_equal(o.settings[1].value, "a=b");
    assert_int_equal(o.sweep_count, 1);
    assert_int_equal(o.sweep[0].count, 3);
    assert_int_equal(o.threads, 2);
    train_options_clear(&o);
}

static void reads_what_is_played(void **state)
{
    train_options o;
    weir_err err = {0};
    assert_int_equal(parse("train|-|--json|--series|timeline|--flops|palm|--fail-if|"
                           "communication>10%|--perfetto|a.pftrace|--ignore-memory",
                           &o, &err),
                     WEIR_OK);
    assert_true(o.json && o.series_timeline && o.ignores_memory);
    assert_int_equal(o.flops, WEIR_FLOPS_PALM);
    assert_int_equal(o.condition_count, 1);
    assert_string_equal(o.perfetto, "a.pftrace");
    train_options_clear(&o);
}

static void refuses_what_does_not_go_together(void **state)
{
    refused("train", "train: no scenario is named; see weir help train");
    refused("train|a.yaml|b.yaml", "train: one scenario at a time, found a.yaml and b.yaml; "
                                   "--lines and --sweep take many");
    refused("train|a.yaml|--lines|b.ndjson", "train: SCENARIO and --lines exclude each other");
    refused("train|a.yaml|--json|--csv", "train: --json and --csv exclude each other");
    refused("train|--lines|-|--json", "train: --lines has JSON lines only");
    refused("train|a.yaml|--series|timeline", "train: --series needs --json");
    refused("train|a.yaml|--sweep|plan.tensor=1,2|--perfetto|x",
            "train: closed forms (--sweep, --lines) and what is played (--perfetto, --kineto, "
            "--series, --fail-if) exclude each other");
    refused("train|a.yaml|--set|plan.tensor",
            "--set: expected KEY=VALUE, such as plan.tensor=4, found plan.tensor");
    refused("train|a.yaml|--flops|exat",
            "--flops: expected one of exact megatron palm megatron-2021, found exat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_settings_and_sweeps_in_their_order),
        cmocka_unit_test(reads_what_is_played),
        cmocka_unit_test(refuses_what_does_not_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
