#include "cli/commands.h"

#include <stdio.h>

static const cli_command *const COMMANDS[] = {&TRACE_COMMAND, &FABRIC_COMMAND, &TRAIN_COMMAND,
                                              &PRESETS_COMMAND, &HELP_COMMAND};

const cli_command *const *command_list(uint32_t *count)
{
    *count = sizeof COMMANDS / sizeof *COMMANDS;
    return COMMANDS;
}

int report_error(const weir_err *err)
{
    weir_text shown = {0};
    /* File names and excerpts of input stand in it: a terminal must not interpret them. */
    weir_text_escaped(&shown, weir_str_from(err->text), 0);
    fprintf(stderr, "weir: %s\n", shown.failed || !shown.p ? "no memory" : shown.p);
    weir_text_clear(&shown);
    if (err->code == WEIR_ERR_INTERNAL)
        fprintf(stderr,
                "weir: this is an error of Weir %s, not of your input: please report it with the "
                "command and the line above\n",
                weir_version());
    return err->code == WEIR_ERR_INTERNAL ? EXIT_INTERNAL : EXIT_INPUT;
}
