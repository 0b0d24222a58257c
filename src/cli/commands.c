#include "cli/commands.h"

static const cli_command *const COMMANDS[] = {&TRACE_COMMAND, &HELP_COMMAND};

const cli_command *const *command_list(uint32_t *count)
{
    *count = sizeof COMMANDS / sizeof *COMMANDS;
    return COMMANDS;
}
