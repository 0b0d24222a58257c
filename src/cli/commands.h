/* commands.h: the tables of the subcommands, one file each, and what they share. */
#ifndef WEIR_CLI_COMMANDS_H
#define WEIR_CLI_COMMANDS_H

#include "base/text.h"
#include "cli/options.h"

/* Exit codes of the process (DESIGN 5). */
enum { EXIT_DONE = 0, EXIT_FINDING = 1, EXIT_INPUT = 2, EXIT_INTERNAL = 3 };

extern const cli_command TRACE_COMMAND;
extern const cli_command FABRIC_COMMAND;
extern const cli_command TRAIN_COMMAND;
extern const cli_command PRESETS_COMMAND;
extern const cli_command HELP_COMMAND;

int trace_run(int argc, char **argv);
int fabric_run(int argc, char **argv);
int train_run(int argc, char **argv);
int presets_run(int argc, char **argv);
int help_run(int argc, char **argv);

/* Prints err on standard error and returns the exit code that belongs to it. */
int report_error(const weir_err *err);
/* `weir COMMAND --help` on standard output; the exit code. */
int show_command_help(const cli_command *command);

/* The recipes of `weir help capture`. */
void capture_write(weir_text *out);

#endif
