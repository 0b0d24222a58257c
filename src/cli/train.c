/* train.c: `weir train`: where would this training step wait? */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/train_lines.h"
#include "cli/value.h"

#include <string.h>

enum { OPT_SET = 1, OPT_LINES, OPT_JSON, MOST_SETTINGS = 256 };

static const cli_option TRAIN_OPTIONS[] = {
    {OPT_SET, "--set", "KEY=VALUE", NULL,
     "replace a part of the scenario; may be given several times", "--set plan.tensor=4"},
    {OPT_LINES, "--lines", "FILE", "@file",
     "a scenario on each line (JSON), instead of SCENARIO; a result on each line out", NULL},
    {OPT_JSON, "--json", NULL, NULL, "print the result as one JSON object", NULL},
};

static const cli_example TRAIN_EXAMPLES[] = {
    {"weir train examples/train/llama3-70b-64.yaml", "where a step waits"},
};

const cli_command TRAIN_COMMAND = {
    .name = "train",
    .operands = "SCENARIO",
    .question = "where would this training step wait?",
    .about = "Calculates a training step of a model on a cluster: time, memory, the four waits.",
    .options = TRAIN_OPTIONS,
    .option_count = sizeof TRAIN_OPTIONS / sizeof *TRAIN_OPTIONS,
    .examples = TRAIN_EXAMPLES,
    .example_count = sizeof TRAIN_EXAMPLES / sizeof *TRAIN_EXAMPLES,
    .run = train_run,
};

static weir_code one(const char *path, const weir_setting *settings, uint32_t count, weir_err *err)
{
    weir_text out = {0};
    weir_train_scenario scenario = {0};
    weir_train_step step;
    weir_train_scratch *scratch = weir_train_scratch_new();
    weir_code code = scratch ? weir_train_scenario_read(path, settings, count, &scenario, err)
                             : weir_err_set(err, WEIR_ERR_MEMORY, "no memory");
    if (code == WEIR_OK) {
        code = weir_train_step_of(&scenario.job, scratch, &step, err);
    }
    if (code == WEIR_OK) {
        train_step_write(&out, &scenario, &step);
        weir_text_char(&out, '\n');
        code = output_print(&out, err);
    }
    weir_text_clear(&out);
    weir_train_scratch_free(scratch);
    weir_train_scenario_clear(&scenario);
    return code;
}

int train_run(int argc, char **argv)
{
    weir_err err = {0};
    weir_setting settings[MOST_SETTINGS];
    uint32_t setting_count = 0;
    const char *scenario = NULL, *lines = NULL;
    cli_args args = args_start(&TRAIN_COMMAND, argc, argv);
    cli_arg arg = {0};
    weir_code code = args_next(&args, &arg, &err);
    for (; code == WEIR_OK && arg.id != CLI_END; code = args_next(&args, &arg, &err)) {
        if (arg.id == CLI_HELP) {
            return show_command_help(&TRAIN_COMMAND);
        }
        if (arg.id == OPT_LINES) {
            lines = arg.value;
        } else if (arg.id == CLI_OPERAND) {
            scenario = arg.value;
        } else if (arg.id == OPT_SET && setting_count < MOST_SETTINGS) {
            const char *equals = strchr(arg.value, '=');
            char *key = equals ? strndup(arg.value, (size_t)(equals - arg.value)) : NULL;
            if (!key) {
                code = weir_err_set(&err, WEIR_ERR_USAGE, "--set needs KEY=VALUE");
                break;
            }
            settings[setting_count++] = (weir_setting){key, equals + 1};
        }
    }
    if (code == WEIR_OK && !lines && !scenario) {
        code = weir_err_set(&err, WEIR_ERR_USAGE, "weir train needs a scenario");
    }
    if (code == WEIR_OK) {
        code = lines ? train_lines(lines, settings, setting_count, &err)
                     : one(scenario, settings, setting_count, &err);
    }
    return code == WEIR_OK ? EXIT_DONE : report_error(&err);
}
