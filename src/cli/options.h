/* options.h: commands and their options as tables, and how an argument vector is read by them.
 *
 * `--help`, `weir help`, the man page and the completions are drawn from the same tables
 * (document.h), so that none of them can name what does not exist.
 *
 * Not here: what an option's value means (value.h), what a command does. */
#ifndef WEIR_CLI_OPTIONS_H
#define WEIR_CLI_OPTIONS_H

#include "weir/base.h"

typedef struct {
    int id;               /* > 0, unique within the command */
    const char *name;     /* "--top" */
    const char *argument; /* "N"; NULL = takes none */
    const char *choices;  /* words that completion offers, "@file" = file names; NULL = none */
    const char *help;     /* one sentence without its full stop */
    const char *example;  /* "--steps 3..7", NULL = none */
} cli_option;

typedef struct {
    const char *line;  /* what to type */
    const char *about; /* what for */
} cli_example;

typedef struct {
    const char *name;     /* "trace" */
    const char *operands; /* "FILE..." */
    const char *question; /* what it answers, one line */
    const char *about;    /* a paragraph */
    const cli_option *options;
    uint32_t option_count;
    const cli_example *examples;
    uint32_t example_count;
    /* argv[0] is the command's name; returns the exit code of the process. */
    int (*run)(int argc, char **argv);
} cli_command;

/* All commands that work, in the order in which help lists them. */
const cli_command *const *command_list(uint32_t *count);
/* NULL where there is none. */
const cli_command *command_find(const char *name);

enum { CLI_END = 0, CLI_OPERAND = -1, CLI_HELP = -2 };

typedef struct {
    const cli_command *command;
    int argc, next;
    char **argv;
    bool only_operands; /* "--" was seen */
} cli_args;

typedef struct {
    int id;            /* of an option, or CLI_END, CLI_OPERAND, CLI_HELP */
    const char *value; /* borrowed from argv; NULL where the option takes none */
} cli_arg;

cli_args args_start(const cli_command *command, int argc, char **argv);
/* The next option or operand. Understands --name VALUE, --name=VALUE, "--" and "-" (an operand).
 * WEIR_ERR_USAGE names the option and, where one is near, the one that was meant. */
weir_code args_next(cli_args *args, cli_arg *arg, weir_err *err);

/* The entry of names nearest to text, or NULL where none is close (base/nearest.h). */
const char *nearest_name(const char *text, const char *const *names, uint32_t count);
/* The same among the commands. */
const char *nearest_command(const char *text);

#endif
