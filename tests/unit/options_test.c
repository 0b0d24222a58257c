#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/options.h"

#include <string.h>

enum { OPT_TOP = 1, OPT_JSON };
static const cli_option OPTIONS[] = {
    {OPT_TOP, "--top", "N", NULL, "rows", NULL},
    {OPT_JSON, "--json", NULL, NULL, "as JSON", NULL},
};
static const cli_command COMMAND = {.name = "trace", .options = OPTIONS, .option_count = 2};

static void expect_next(cli_args *args, int id, const char *value)
{
    weir_err err = {0};
    cli_arg arg = {0};
    assert_int_equal(args_next(args, &arg, &err), WEIR_OK);
    assert_int_equal(arg.id, id);
    if (value)
        assert_string_equal(arg.value, value);
    else
        assert_null(arg.value);
}

static void expect_error(char *text, const char *part)
{
    char command[] = "trace";
    char *argv[] = {command, text, NULL};
    cli_args args = args_start(&COMMAND, 2, argv);
    weir_err err = {0};
    cli_arg arg = {0};
    assert_int_equal(args_next(&args, &arg, &err), WEIR_ERR_USAGE);
    assert_non_null(strstr(err.text, part));
}

static void both_ways_to_give_a_value_are_read(void **state)
{
    char words[][16] = {"trace", "--top", "3", "--top=4", "-", "--json", "--", "--json"};
    char *argv[9] = {0};
    for (uint32_t i = 0; i < 8; i++)
        argv[i] = words[i];
    cli_args args = args_start(&COMMAND, 8, argv);
    expect_next(&args, OPT_TOP, "3");
    expect_next(&args, OPT_TOP, "4");
    expect_next(&args, CLI_OPERAND, "-");
    expect_next(&args, OPT_JSON, NULL);
    expect_next(&args, CLI_OPERAND, "--json");
    expect_next(&args, CLI_END, NULL);
    expect_next(&args, CLI_END, NULL);
}

static void an_unknown_option_names_the_nearest(void **state)
{
    char jsn[] = "--jsn";
    char tpo[] = "--tpo=3";
    char far_away[] = "--colour";
    expect_error(jsn, "did you mean --json?");
    expect_error(tpo, "unknown option --tpo; did you mean --top?");
    expect_error(far_away, "see weir help trace");
}

static void values_are_neither_missing_nor_superfluous(void **state)
{
    char top[] = "--top";
    char json[] = "--json=yes";
    expect_error(top, "--top needs a value");
    expect_error(json, "--json takes no value, found yes");
}

static void a_very_long_unknown_option_is_cut(void **state)
{
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[0] = text[1] = '-';
    text[sizeof text - 1] = '\0';
    expect_error(text, "unknown option --xxx");
}

static void nearness_counts_edits(void **state)
{
    static const char *const NAMES[] = {"trace", "help"};
    assert_string_equal(nearest_name("trcae", NAMES, 2), "trace"); /* a swap is one edit */
    assert_string_equal(nearest_name("hlp", NAMES, 2), "help");
    assert_null(nearest_name("fabric", NAMES, 2));
    assert_null(nearest_name("trace", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_to_give_a_value_are_read),
        cmocka_unit_test(an_unknown_option_names_the_nearest),
        cmocka_unit_test(values_are_neither_missing_nor_superfluous),
        cmocka_unit_test(a_very_long_unknown_option_is_cut),
        cmocka_unit_test(nearness_counts_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
