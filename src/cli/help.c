#include "cli/commands.h"
#include "cli/document.h"
#include "cli/output.h"
#include "cli/value.h"

#include <string.h>

/* For packagers (cmake/Install.cmake), which is why help does not list them. */
enum { OPT_MAN = 1, OPT_COMPLETION };
static const cli_option HIDDEN[] = {
    {OPT_MAN, "--man", NULL, NULL, "the man page", NULL},
    {OPT_COMPLETION, "--completion", "SHELL", "bash zsh", "the completion of a shell", NULL},
};
static const cli_command HIDDEN_HELP = {
    .name = "help", .options = HIDDEN, .option_count = sizeof HIDDEN / sizeof *HIDDEN};

static const cli_example HELP_EXAMPLES[] = {
    {"weir help trace", "options and examples of weir trace"},
    {"weir help capture", "how to record: torch.profiler, vLLM, SGLang"},
};

const cli_command HELP_COMMAND = {
    .name = "help",
    .operands = "[COMMAND|capture]",
    .question = "what can Weir do, and how is a trace recorded?",
    .about = "Without an operand, lists the commands.",
    .examples = HELP_EXAMPLES,
    .example_count = sizeof HELP_EXAMPLES / sizeof *HELP_EXAMPLES,
    .run = help_run,
};

static weir_code write_topic(weir_text *out, const char *topic, weir_err *err)
{
    const cli_command *command = command_find(topic);
    if (command) {
        document_command(out, command);
        return WEIR_OK;
    }
    if (strcmp(topic, "capture") == 0) {
        capture_write(out);
        return WEIR_OK;
    }
    const char *near = nearest_command(topic);
    if (near)
        return weir_err_set(err, WEIR_ERR_USAGE, "help: no command or topic %s; did you mean %s?",
                            topic, near);
    return weir_err_set(err, WEIR_ERR_USAGE, "help: no command or topic %s; see weir help", topic);
}

static weir_code write_completion(weir_text *out, const char *shell, weir_err *err)
{
    uint32_t choice = 0;
    weir_code code = value_choice("--completion", shell, HIDDEN[1].choices, &choice, err);
    if (code == WEIR_OK)
        (choice == 0 ? document_bash : document_zsh)(out);
    return code;
}

static weir_code write_help(weir_text *out, int argc, char **argv, weir_err *err)
{
    cli_args args = args_start(&HIDDEN_HELP, argc, argv);
    cli_arg arg;
    weir_code code = args_next(&args, &arg, err);
    if (code != WEIR_OK)
        return code;
    switch (arg.id) {
    case CLI_END:
        document_overview(out);
        return WEIR_OK;
    case CLI_HELP:
        return write_topic(out, "help", err);
    case OPT_MAN:
        document_man(out);
        return WEIR_OK;
    case OPT_COMPLETION:
        return write_completion(out, arg.value, err);
    default:
        return write_topic(out, arg.value, err);
    }
}

int show_command_help(const cli_command *command)
{
    weir_err err = {0};
    weir_text out = {0};
    document_command(&out, command);
    weir_code code = output_print(&out, &err);
    weir_text_clear(&out);
    return code == WEIR_OK ? EXIT_DONE : report_error(&err);
}

int help_run(int argc, char **argv)
{
    weir_err err = {0};
    weir_text out = {0};
    weir_code code = write_help(&out, argc, argv, &err);
    if (code == WEIR_OK)
        code = output_print(&out, &err);
    weir_text_clear(&out);
    return code == WEIR_OK ? EXIT_DONE : report_error(&err);
}
